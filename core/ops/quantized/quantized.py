"""Arithmetic on quantized integers with their ranges: sums, products, convolution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...registry.registry import Cost, flops, kernel, multiply_adds, onnx, shape, without_gradient
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.convolution_shared import Geometry, convolution_shape
from ..shared.convolution_shared import convolve as convolve_checked
from ..shared.quantized_ranges import (
    from_float,
    limits,
    product_range,
    range_of,
    tensor_from_float,
    tensor_to_float,
    to_float,
    unclamped,
)
from ..shared.window_geometry import WindowAttributes
from . import _onnx_arithmetic as in_onnx
from .requantize import DEQUANTIZING, QUANTIZING, with_range


def wrapped(x: Array) -> Array:
    """int32 from wider integers or exact floats, wrapping around."""
    return np.asarray(x).astype(np.int64).astype(np.int32)


def _without_zero(q: Array, bounds: tuple[Any, Any], dtype: DType) -> Array:
    """Return the integers less the zero point, exact in float64."""
    return q.astype(np.float64) - unclamped(0.0, *bounds, dtype)


def _sum_range(a: tuple[Any, Any], b: tuple[Any, Any], bits: int) -> tuple[Any, Any]:
    """Return a symmetric range, 2^bits times as wide as the operands."""
    extreme = max(abs(min(a[0], b[0])), abs(max(a[1], b[1])))
    return np.float32(-extreme * np.float32(1 << bits)), np.float32(extreme * np.float32(1 << bits))


def _broadcast(x: Array, y: Array) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(np.shape(x), np.shape(y))
    except ValueError:
        raise InvalidArgumentError(f"shapes {np.shape(x)} and {np.shape(y)} do not broadcast") from None


def _operand_ranges(
    x: Array, y: Array, min_x: Array, max_x: Array, min_y: Array, max_y: Array
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the ranges of two operands, none of them empty; the operands must broadcast."""
    a, b = range_of(min_x, max_x, "x"), range_of(min_y, max_y, "y")
    require(a[0] < a[1], f"min_x {a[0]} must be smaller than max_x {a[1]}")
    require(b[0] < b[1], f"min_y {b[0]} must be smaller than max_y {b[1]}")
    _broadcast(x, y)
    return a, b


@kernel("QuantizedAdd")
def quantized_add(
    x: Array, y: Array, min_x: Array, max_x: Array, min_y: Array, max_y: Array, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Result, Result, Result]:
    """x + y in a range wide enough for both."""
    a, b = _operand_ranges(x, y, min_x, max_x, min_y, max_y)
    low, high = _sum_range(a, b, 14)
    both = (x, a, T1), (y, b, T2)
    lone = [q.ndim == 0 and other.ndim > 0 for q, other in ((x, y), (y, x))]
    parts = [(in_range if one else _by_steps)(*part, (low, high), Toutput) for part, one in zip(both, lone)]
    return wrapped(parts[0] + parts[1]), low, high


def in_range(q: Array, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Array:
    return from_float(to_float(q, *old, old_type), *new, new_type).astype(np.int64)


def _by_steps(q: Array, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Array:
    """As in_range, but a single step is rounded and multiplied, as TensorFlow does in additions."""
    zero, one = (unclamped(to_float(np.int64(n), *old, old_type), *new, new_type) for n in (0, 1))
    return np.clip(zero + q.astype(np.int64) * (one - zero), *limits(new_type))


@flops("QuantizedAdd")
def quantized_add_flops(x: TensorSpec, y: TensorSpec, *ranges: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A product, a sum and two clips for either operand, and the sum."""
    return Cost(4) * (x.shape.num_elements + y.shape.num_elements) + Cost(1) * outputs[0].shape.num_elements


@kernel("QuantizedMul")
def quantized_mul(
    x: Array, y: Array, min_x: Array, max_x: Array, min_y: Array, max_y: Array, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Result, Result, Result]:
    """x * y; a step of the result is the product of their steps."""
    a, b = _operand_ranges(x, y, min_x, max_x, min_y, max_y)
    return wrapped(_without_zero(x, a, T1) * _without_zero(y, b, T2)), *product_range(a, T1, b, T2, Toutput)


@shape("QuantizedAdd", "QuantizedMul")
def quantized_binary_shape(x: TensorSpec, y: TensorSpec, *ranges: TensorSpec) -> list[Shape]:
    return with_range(broadcast_shapes(x.shape, y.shape))


def _centered_cost(x: TensorSpec, y: TensorSpec) -> Cost:
    """The integer that stands for zero is taken away from both operands."""
    return Cost(1) * (x.shape.num_elements + y.shape.num_elements)


@flops("QuantizedMul")
def quantized_mul_flops(x: TensorSpec, y: TensorSpec, *ranges: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A difference for either operand and a product."""
    return _centered_cost(x, y) + Cost(1) * outputs[0].shape.num_elements


without_gradient("QuantizedAdd", "QuantizedMul")


class OperandRanges(NamedTuple):
    """The least and the greatest number that the integers of two operands stand for."""

    min_a: Array
    max_a: Array
    min_b: Array
    max_b: Array

    def of(self, first: str, second: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Both ranges, checked; the names are for errors."""
        return range_of(self.min_a, self.max_a, first), range_of(self.min_b, self.max_b, second)


@kernel("QuantizedMatMul")
def quantized_mat_mul(
    a: Array, b: Array, edges: OperandRanges, *, T1: DType, T2: DType, Toutput: DType, transpose_a: bool, transpose_b: bool
) -> tuple[Result, Result, Result]:
    """The matrix product; a step of the result is the product of their steps."""
    ranges = edges.of("a", "b")
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    a = a.T if transpose_a else a
    b = b.T if transpose_b else b
    require(a.shape[1] == b.shape[0], f"matrices of {a.shape} and {b.shape} do not fit")
    require(a.shape[1] > 0, f"matrices of {a.shape} and {b.shape} share no dimension")
    product = _without_zero(a, ranges[0], T1) @ _without_zero(b, ranges[1], T2)
    return wrapped(product), *product_range(ranges[0], T1, ranges[1], T2, Toutput)


@shape("QuantizedMatMul")
def quantized_mat_mul_shape(
    a: TensorSpec, b: TensorSpec, *ranges: TensorSpec, transpose_a: bool, transpose_b: bool
) -> list[Shape]:
    rows, columns = with_rank(a.shape, 2)[1 if transpose_a else 0], with_rank(b.shape, 2)[0 if transpose_b else 1]
    return with_range(Shape((rows, columns)))


@flops("QuantizedMatMul")
def quantized_mat_mul_flops(
    a: TensorSpec, b: TensorSpec, *ranges: TensorSpec, transpose_a: bool, outputs: list[TensorSpec]
) -> Cost:
    """A difference for each element and the product."""
    depth = with_rank(a.shape, 2)[0 if transpose_a else 1]
    return _centered_cost(a, b) + multiply_adds(outputs[0].shape.num_elements * depth)


without_gradient("QuantizedMatMul")


@kernel("QuantizedBiasAdd")
def quantized_bias_add(
    input: Array, bias: Array, edges: OperandRanges, *, T1: DType, T2: DType, out_type: DType
) -> tuple[Result, Result, Result]:
    """A vector added to the last dimension, in a range wide enough for both."""
    a, b = edges.of("input", "bias")
    require(input.ndim >= 2, f"input must have at least rank 2, not shape {input.shape}")
    require_rank(bias, 1, "bias")
    require(bias.shape == input.shape[-1:], f"bias {bias.shape} does not fit input {input.shape}")
    low, high = _sum_range(a, b, 17)
    parts = [
        tensor_from_float(tensor_to_float(q, *bounds, dtype), low, high, out_type).astype(np.int64)
        for q, bounds, dtype in ((input, a, T1), (bias, b, T2))
    ]
    zero = int(from_float(np.float32(0), low, high, out_type))
    return wrapped(parts[0] + parts[1] - zero), low, high


@shape("QuantizedBiasAdd")
def quantized_unary_shape(x: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    return with_range(x.shape)


@flops("QuantizedBiasAdd")
def quantized_bias_add_flops(input: TensorSpec, bias: TensorSpec, *ranges: TensorSpec) -> Cost:
    """The change of range of either operand, two and five operations, and two sums."""
    elements = input.shape.num_elements
    return (DEQUANTIZING + QUANTIZING) * (elements + bias.shape.num_elements) + Cost(2) * elements


without_gradient("QuantizedBiasAdd")


@kernel("QuantizedConv2D")
def quantized_conv2d(
    input: Array,
    filter: Array,
    edges: OperandRanges,
    *,
    Tinput: DType,
    Tfilter: DType,
    out_type: DType,
    window: WindowAttributes,
) -> tuple[Result, Result, Result]:
    """The convolution (NHWC); a step of the result is the product of the steps."""
    a, b = edges.of("input", "filter")
    require_rank(input, 4, "input")
    require_rank(filter, 4, "filter")
    require(input.shape[3] == filter.shape[2], f"input has {input.shape[3]} channels, the filter {filter.shape[2]}")
    geometry = Geometry(4, window)
    require(geometry.strides[0] == geometry.strides[1], f"the strides of height and width differ: {list(window.strides)}")
    result = convolve_checked(_without_zero(input, a, Tinput), _without_zero(filter, b, Tfilter), geometry)
    return wrapped(result), *product_range(a, Tinput, b, Tfilter, out_type)


@shape("QuantizedConv2D")
def quantized_conv2d_shape(
    input: TensorSpec, filter: TensorSpec, *ranges: TensorSpec, window: WindowAttributes
) -> list[Shape]:
    return with_range(convolution_shape(input, filter, Geometry(4, window)))


@flops("QuantizedConv2D")
def quantized_conv2d_flops(input: TensorSpec, filter: TensorSpec, *ranges: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A difference for each element and the convolution."""
    height, width, depth, _ = with_rank(filter.shape, 4)
    return _centered_cost(input, filter) + multiply_adds(outputs[0].shape.num_elements * (height * width * depth))


without_gradient("QuantizedConv2D")

onnx("QuantizedAdd")(in_onnx.added)
onnx("QuantizedMul")(in_onnx.multiplied)
onnx("QuantizedMatMul")(in_onnx.mat_mul)
onnx("QuantizedBiasAdd")(in_onnx.bias_added)
onnx("QuantizedConv2D")(in_onnx.convolution)
