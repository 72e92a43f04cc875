"""Concatenation and reshaping of quantized integers with their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import arrays, everywhere, kernel, shape, without_gradient, zero_flops
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import may_equal, require, scalar
from ..shared.quantized_ranges import limits, range_of, tensor_from_float, tensor_to_float
from ..shared.shape_arguments import ints, normalize_axis, scalar_int, shape_from, unknown_dims
from .requantize import with_range


def _joined_range(xp: Any, ranges: list[tuple[Any, Any]], dtype: DType) -> tuple[Any, Any]:
    """Return the range that holds all and zero; symmetric for signed types."""
    low, high = np.float32(0), ranges[0][1]
    for bounds in ranges:
        low, high = xp.minimum(low, bounds[0]), xp.maximum(high, bounds[1])
    if limits(dtype)[0] < 0:
        # Signed types need a symmetric range, in which 0 is an integer.
        high = xp.maximum(-low, high)
        low = -high
    return low, high


def _concat(
    xp: Any, axis: int, values: list[Any], mins: list[Any], maxes: list[Any], dtype: DType, is_negative_cut: bool = False
) -> tuple[Any, ...]:
    ranges = [range_of(low, high, f"input {i}", xp) for i, (low, high) in enumerate(zip(mins, maxes))]
    rank = values[0].ndim
    require(-rank <= axis < rank or (rank == 0 and axis == 0), f"axis {axis} is not in [-{rank}, {rank})")
    for value in values:
        others = ([n for i, n in enumerate(each.shape) if i != axis % rank] for each in (value, values[0]))
        fits = value.ndim == rank and may_equal(*others)
        require(fits, f"shapes {values[0].shape} and {value.shape} cannot be joined along axis {axis}")
    both = _joined_range(xp, [(np.float32(0), high) for _, high in ranges] if is_negative_cut else ranges, dtype)
    parts = []
    for q, bounds in zip(values, ranges):
        changed = tensor_from_float(tensor_to_float(q, *bounds, dtype, xp), *both, dtype, xp)
        # Integers of a range that stays are copied: converting them there and back may round.
        parts.append(xp.where((bounds[0] == both[0]) & (bounds[1] == both[1]), q, changed))
    return xp.concatenate(parts, axis), *both


@everywhere("QuantizedConcat", static=(0,))
def quantized_concat(
    xp: Any, concat_dim: Array, values: list[Any], input_mins: list[Any], input_maxes: list[Any], *, T: DType
) -> tuple[Any, ...]:
    """Tensors joined along a dimension, in a range that holds all."""
    return _concat(xp, scalar(concat_dim, "concat_dim"), values, input_mins, input_maxes, T)


def _concat_shape(axis: Any, values: Any) -> Any:
    if any(v.shape.dims is None for v in values):
        return with_range(Shape())
    rank = len(values[0].shape)
    if axis.value is None:
        return with_range(unknown_dims(rank))
    at = normalize_axis(scalar_int(axis.value, "axis"), rank)
    dims = list(values[0].shape)
    dims[at] = sum(v.shape[at] for v in values)
    return with_range(Shape(dims))


@shape("QuantizedConcat")
def quantized_concat_shape(
    concat_dim: TensorSpec, values: list[TensorSpec], input_mins: list[TensorSpec], input_maxes: list[TensorSpec]
) -> list[Shape]:
    return _concat_shape(concat_dim, values)


@everywhere("QuantizedConcatV2", static=(1,))
def quantized_concat_v2(
    xp: Any, values: list[Any], axis: Array, input_mins: list[Any], input_maxes: list[Any], *, T: DType
) -> tuple[Any, ...]:
    """Tensors joined along an axis. TensorFlow's kernel lets the range start at 0, so that negative values become 0."""
    return _concat(xp, scalar(axis, "axis"), values, input_mins, input_maxes, T, is_negative_cut=True)


@shape("QuantizedConcatV2")
def quantized_concat_v2_shape(
    values: list[TensorSpec], axis: TensorSpec, input_mins: list[TensorSpec], input_maxes: list[TensorSpec]
) -> list[Shape]:
    return _concat_shape(axis, values)


@kernel("QuantizedReshape")
def quantized_reshape(tensor: Array, shape: Array, input_min: Array, input_max: Array) -> tuple[Result, Result, Result]:
    """Another shape; the range stays."""
    low, high = range_of(input_min, input_max, "tensor")
    dims = ints(shape, "shape")
    missing = dims.count(-1)
    count = int(np.prod([d for d in dims if d != -1], dtype=np.int64))
    require(missing <= 1 and min(dims, default=0) >= -1, f"{dims} is not a shape")
    fits = tensor.size == count if not missing else count > 0 and tensor.size % count == 0
    require(fits, f"{tensor.size} elements do not fit into shape {dims}")
    return tensor.reshape(dims), low, high


@shape("QuantizedReshape")
def quantized_reshape_shape(
    tensor: TensorSpec, shape: TensorSpec, input_min: TensorSpec, input_max: TensorSpec
) -> list[Shape]:
    return with_range(shape_from(shape))


without_gradient("QuantizedConcat", "QuantizedConcatV2", "QuantizedReshape")
zero_flops("QuantizedConcat", "QuantizedConcatV2", "QuantizedReshape")


@arrays("QuantizedReshape", static=(1,), sizes=(1,))
def _reshape_of_arrays(xp: Any, tensor: Any, shape: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    return xp.reshape(tensor, shape), *range_of(low, high, "tensor", xp)
