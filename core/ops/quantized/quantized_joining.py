"""Concatenation and reshaping of quantized integers with their ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import kernel, onnx, shape, without_gradient, zero_flops
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, scalar
from ..shared.quantized_ranges import limits, range_of, tensor_from_float, tensor_to_float
from ..shared.shape_arguments import ints, normalize_axis, scalar_int, shape_from, unknown_dims
from . import _onnx_arithmetic as in_onnx
from .requantize import with_range


def _joined_range(ranges: list[tuple[Any, ...]], dtype: DType) -> tuple[Any, Any]:
    """Return the range that holds all and zero; symmetric for signed types."""
    low = min(0, *(r[0] for r in ranges))
    high = max(r[1] for r in ranges)
    if limits(dtype)[0] < 0:
        largest = max(-low, high)
        low, high = -largest, largest
    return np.float32(low), np.float32(high)


def _concat(
    axis: int, values: list[Array], mins: list[Array], maxes: list[Array], dtype: DType, is_negative_cut: bool = False
) -> tuple[Array, ...]:
    ranges = [range_of(low, high, f"input {i}") for i, (low, high) in enumerate(zip(mins, maxes))]
    rank = values[0].ndim
    require(-rank <= axis < rank or (rank == 0 and axis == 0), f"axis {axis} is not in [-{rank}, {rank})")
    for value in values:
        fits = value.ndim == rank and all(
            n == k for i, (n, k) in enumerate(zip(value.shape, values[0].shape)) if i != axis % rank
        )
        require(fits, f"shapes {values[0].shape} and {value.shape} cannot be joined along axis {axis}")
    both = _joined_range([(0, high) for _, high in ranges] if is_negative_cut else ranges, dtype)
    parts = [
        q if bounds == both else tensor_from_float(tensor_to_float(q, *bounds, dtype), *both, dtype)
        for q, bounds in zip(values, ranges)
    ]
    return np.concatenate(parts, axis), *both


@kernel("QuantizedConcat")
def quantized_concat(
    concat_dim: Array, values: list[Array], input_mins: list[Array], input_maxes: list[Array], *, T: DType
) -> tuple[Result, ...]:
    """Tensors joined along a dimension, in a range that holds all."""
    return _concat(scalar(concat_dim, "concat_dim"), values, input_mins, input_maxes, T)


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


@kernel("QuantizedConcatV2")
def quantized_concat_v2(
    values: list[Array], axis: Array, input_mins: list[Array], input_maxes: list[Array], *, T: DType
) -> tuple[Result, ...]:
    """Tensors joined along an axis. TensorFlow's kernel lets the range start at 0, so that negative values become 0."""
    return _concat(scalar(axis, "axis"), values, input_mins, input_maxes, T, is_negative_cut=True)


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


@onnx("QuantizedConcat")
def _concat_onnx(g: Any, axis: Any, values: list[Any], input_mins: list[Any], input_maxes: list[Any], *, T: DType) -> Any:
    return in_onnx.joined(g, axis, values, input_mins, input_maxes, T, is_negative_cut=False)


@onnx("QuantizedConcatV2")
def _concat_v2_onnx(g: Any, values: list[Any], axis: Any, input_mins: list[Any], input_maxes: list[Any], *, T: DType) -> Any:
    return in_onnx.joined(g, axis, values, input_mins, input_maxes, T, is_negative_cut=True)


onnx("QuantizedReshape")(in_onnx.reshaped)
