"""Arithmetic on quantized integers with their ranges: sums, products, convolution."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics.array_namespace import NUMPY
from ...registry.registry import Cost, everywhere, flops, kernel, lower, multiply_adds, onnx, shape, without_gradient
from ...types import dtypes
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.argument_checks import may_equal, require, require_broadcast, require_rank, with_rank
from ..shared.convolution_shared import Geometry, convolution_shape, convolved
from ..shared.convolution_shared import convolve as convolve_checked
from ..shared.onnx_lowerings import channels_first, filter_first, in_format, transposed, window_attrs, window_of
from ..shared.quantized_ranges import (
    from_float,
    limits,
    product_range,
    range_of,
    tensor_from_float,
    tensor_to_float,
    to_float,
    unclamped,
    zero_point,
)
from ..shared.window_geometry import WindowAttributes
from .requantize import DEQUANTIZING, QUANTIZING, quantized_unary_shape, with_range


def wrapped(x: Any) -> Any:
    """int32 from wider integers or exact floats, wrapping around."""
    return x.astype(np.int64).astype(np.int32)


def _centered(xp: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the integers less the zero point, int32; as TensorFlow's, differences and products wrap around."""
    return q.astype(np.int32) - zero_point(*bounds, dtype, xp).astype(np.int32)


def _sum_range(xp: Any, a: tuple[Any, Any], b: tuple[Any, Any], bits: int) -> tuple[Any, Any]:
    """Return a symmetric range, 2^bits times as wide as the operands."""
    extreme = xp.maximum(abs(xp.minimum(a[0], b[0])), abs(xp.maximum(a[1], b[1]))) * np.float32(1 << bits)
    return -extreme, extreme


def _operand_ranges(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the ranges of two operands, none of them empty; the operands must broadcast."""
    a, b = range_of(min_x, max_x, "x", xp), range_of(min_y, max_y, "y", xp)
    xp.require(a[0] < a[1], f"min_x {a[0]} must be smaller than max_x {a[1]}")
    xp.require(b[0] < b[1], f"min_y {b[0]} must be smaller than max_y {b[1]}")
    require_broadcast(x, y)
    return a, b


@everywhere("QuantizedAdd")
def quantized_add(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Any, Any, Any]:
    """x + y in a range wide enough for both."""
    a, b = _operand_ranges(xp, x, y, min_x, max_x, min_y, max_y)
    # 14 bits more than the operands' range: sums of int32 have room, and a step stays fine enough.
    new = _sum_range(xp, a, b, 14)
    both = (x, a, T1), (y, b, T2)
    # TensorFlow has another kernel for a scalar operand, which rounds the scalar once and exactly.
    lone = [q.ndim == 0 and other.ndim > 0 for q, other in ((x, y), (y, x))]
    parts = [(in_range if one else _by_steps)(xp, *part, new, Toutput) for part, one in zip(both, lone)]
    return wrapped(parts[0] + parts[1]), *new


def in_range(xp: Any, q: Any, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Any:
    return from_float(to_float(q, *old, old_type, xp), *new, new_type, xp).astype(np.int64)


def _by_steps(xp: Any, q: Any, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Any:
    """As in_range, but a single step is rounded and multiplied, as TensorFlow does in additions."""
    zero, one = (unclamped(to_float(np.int64(n), *old, old_type, xp), *new, new_type, xp) for n in (0, 1))
    lowest, highest = limits(old_type)
    if xp.is_eager and old_type.size == 1 and q.size > highest - lowest:
        # A look-up is three passes less over a long tensor than a product, a sum and clips in 64 bits.
        levels = np.clip(zero + np.arange(lowest, highest + 1) * (one - zero), *limits(new_type)).astype(np.int32)
        # The sign bit turned over makes a signed byte its distance from the lowest.
        return levels.take(q if lowest == 0 else q.view(np.uint8) ^ 0x80)
    return xp.clip(zero + q.astype(np.int64) * (one - zero), *limits(new_type))


@flops("QuantizedAdd")
def quantized_add_flops(x: TensorSpec, y: TensorSpec, *ranges: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A product, a sum and two clips for either operand, and the sum."""
    return Cost(4) * (x.shape.num_elements + y.shape.num_elements) + Cost(1) * outputs[0].shape.num_elements


@everywhere("QuantizedMul")
def quantized_mul(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Any, Any, Any]:
    """x * y; a step of the result is the product of their steps."""
    a, b = _operand_ranges(xp, x, y, min_x, max_x, min_y, max_y)
    return _centered(xp, x, a, T1) * _centered(xp, y, b, T2), *product_range(a, T1, b, T2, Toutput)


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

    min_a: Any
    max_a: Any
    min_b: Any
    max_b: Any

    def of(self, first: str, second: str, xp: Any = NUMPY) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Both ranges, checked; the names are for errors."""
        return range_of(self.min_a, self.max_a, first, xp), range_of(self.min_b, self.max_b, second, xp)


def _exact(xp: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the integers less the zero point in a dtype of exact sums of products.

    Of float64 NumPy has fast products, exact up to 2^53. Elsewhere it is int32, which wraps around as TensorFlow's does.
    """
    return q.astype(np.float64) - zero_point(*bounds, dtype) if xp.is_eager else _centered(xp, q, bounds, dtype)


def quantized_mat_mul(
    xp: Any, a: Any, b: Any, edges: OperandRanges, *,
    T1: DType, T2: DType, Toutput: DType, transpose_a: bool, transpose_b: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The matrix product; a step of the result is the product of their steps."""
    first, second = edges.of("a", "b", xp)
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    require(a.shape[1] == b.shape[0], f"matrices of {a.shape} and {b.shape} do not fit")
    require(a.shape[1] > 0, f"matrices of {a.shape} and {b.shape} share no dimension")
    sums = xp.matmul(_exact(xp, a, first, T1), _exact(xp, b, second, T2))
    return wrapped(sums), *product_range(first, T1, second, T2, Toutput)


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


@everywhere("QuantizedBiasAdd")
def quantized_bias_add(
    xp: Any, input: Any, bias: Any, edges: OperandRanges, *, T1: DType, T2: DType, out_type: DType
) -> tuple[Any, Any, Any]:
    """A vector added to the last dimension, in a range wide enough for both."""
    a, b = edges.of("input", "bias", xp)
    require(input.ndim >= 2, f"input must have at least rank 2, not shape {input.shape}")
    require_rank(bias, 1, "bias")
    require(may_equal(bias.shape, input.shape[-1:]), f"bias {bias.shape} does not fit input {input.shape}")
    # 17 bits, where QuantizedAdd takes 14: the results of TensorFlow's kernels have these ranges.
    new = _sum_range(xp, a, b, 17)
    parts = [
        tensor_from_float(tensor_to_float(q, *bounds, dtype, xp), *new, out_type, xp).astype(np.int64)
        for q, bounds, dtype in ((input, a, T1), (bias, b, T2))
    ]
    # Either part counts the integer of zero once, and so must the sum.
    zero = from_float(np.float32(0), *new, out_type, xp).astype(np.int64)
    return wrapped(parts[0] + parts[1] - zero), *new


shape("QuantizedBiasAdd")(quantized_unary_shape)


@flops("QuantizedBiasAdd")
def quantized_bias_add_flops(input: TensorSpec, bias: TensorSpec, *ranges: TensorSpec) -> Cost:
    """The change of range of either operand, two and five operations, and two sums."""
    elements = input.shape.num_elements
    return (DEQUANTIZING + QUANTIZING) * (elements + bias.shape.num_elements) + Cost(2) * elements


without_gradient("QuantizedBiasAdd")


def quantized_conv2d(
    xp: Any, x: Any, w: Any, edges: OperandRanges, *,
    Tinput: DType, Tfilter: DType, out_type: DType, window: WindowAttributes,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The convolution (NHWC); a step of the result is the product of the steps."""
    first, second = edges.of("input", "filter", xp)
    require_rank(x, 4, "input")
    require_rank(w, 4, "filter")
    require(x.shape[3] == w.shape[2], f"input has {x.shape[3]} channels, the filter {w.shape[2]}")
    geometry = Geometry(4, window)
    require(geometry.strides[0] == geometry.strides[1], f"the strides of height and width differ: {list(window.strides)}")
    operands = _exact(xp, x, first, Tinput), _exact(xp, w, second, Tfilter)
    sums = convolve_checked(*operands, geometry) if xp.is_eager else convolved(xp, *operands, window)
    return wrapped(sums), *product_range(first, Tinput, second, Tfilter, out_type)


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

for _op, _program in (("QuantizedMatMul", quantized_mat_mul), ("QuantizedConv2D", quantized_conv2d)):
    kernel(_op)(functools.partial(_program, np))
    lower(_op)(_program)


# ONNX has operators for products of integers of 8 bits, which subtract zero points.


def products(g: Any, product: Callable[..., Any], x: Any, w: Any, zeros: tuple[Any, ...]) -> Any:
    """Return sums of products of integers less their zero points, of int32 that wraps around.

    `product` takes operands and zero points of uint8, the only dtype of older runtimes' convolutions. Zero points beyond 8
    bits need three further products.
    """
    if x.dtype.size > 1 or w.dtype.size > 1:
        g.refuse("ONNX multiplies quantized integers of 8 bits only")
    zeros = tuple(g.Sub(zero, limits(v.dtype)[0]) for v, zero in zip((x, w), zeros))
    x, w = (_without_sign(g, operand) for operand in (x, w))
    # ONNX takes zero points of the operand's own 8 bits, so one beyond is cut here and made up for below.
    near = [g.Max(g.Min(zero, limits(v.dtype)[1]), limits(v.dtype)[0]) for v, zero in zip((x, w), zeros)]
    near_x, near_w = (g.cast(zero, v.dtype) for v, zero in zip((x, w), near))
    direct = product(x, w, near_x, near_w)

    def corrected() -> list[Any]:
        # (x - zx)(w - zw) with the cut zero points, plus the products that the differences leave.
        rest_x, rest_w = (g.Sub(*pair) for pair in zip(near, zeros))
        one_x, one_w = (g.Expand(g.like(1, value), g.dims(value)) for value in (x, w))
        none_x, none_w = g.like(0, x), g.like(0, w)
        terms = [
            (product(one_x, w, none_x, near_w), rest_x),
            (product(x, one_w, near_x, none_w), rest_w),
            (product(one_x, one_w, none_x, none_w), g.Mul(rest_x, rest_w)),
        ]
        total = g.cast(direct, dtypes.int64)
        for sums, factor in terms:
            total = g.Add(total, g.Mul(g.cast(sums, dtypes.int64), factor))
        return [g.cast(total, dtypes.int32)]

    # The usual zero points are among the integers, and then one product is all that runs.
    is_within = [g.cast(g.Equal(*pair), dtypes.int64) for pair in zip(near, zeros)]
    return g.choose(g.Greater(g.Mul(*is_within), 0), [corrected, lambda: [direct]])[0]


def _without_sign(g: Any, x: Any) -> Any:
    """Return integers of 8 bits from 0 on, uint8."""
    lowest = limits(x.dtype)[0]
    return g.cast(g.Sub(g.cast(x, dtypes.int32), lowest), dtypes.uint8) if lowest else x


def matrix_product(g: Any, a: Any, b: Any, zero_a: Any, zero_b: Any) -> Any:
    return g.op("MatMulInteger", a, b, zero_a, zero_b, dtype=dtypes.int32)


def convolution_of(g: Any, window: WindowAttributes, is_depthwise: bool = False) -> Callable[..., Any]:
    """Return the function of images, filters and zero points that convolves."""

    def sums_of(x: Any, w: Any, zero_x: Any, zero_w: Any) -> Any:
        attrs = window_attrs(x, window_of(g, w), window)
        filters = filter_first(g, w)
        if is_depthwise:
            channels, multiplier = w.shape.known()[2:]
            filters = g.reshape(g.transpose(w, [2, 3, 0, 1]), [channels * multiplier, 1, *window_of(g, w)])
            attrs["group"] = channels
        first = channels_first(g, x, window.data_format)
        sums = g.op("ConvInteger", first, filters, zero_x, zero_w, dtype=dtypes.int32, **attrs)
        return in_format(g, sums, 4, window.data_format)

    return sums_of


@onnx("QuantizedMatMul")
def _mat_mul_onnx(
    g: Any, a: Any, b: Any, min_a: Any, max_a: Any, min_b: Any, max_b: Any, *,
    T1: DType, T2: DType, Toutput: DType, transpose_a: bool, transpose_b: bool,
) -> Any:  # fmt: skip
    a, b = transposed(g, a) if transpose_a else a, transposed(g, b) if transpose_b else b
    (*zeros, low, high) = g.evaluate(_zeros_and_range, (), (), (min_a, max_a, min_b, max_b), {"types": (T1, T2, Toutput)})
    return products(g, lambda *operands: matrix_product(g, *operands), a, b, tuple(zeros)), low, high


@onnx("QuantizedConv2D")
def _conv2d_onnx(
    g: Any, x: Any, w: Any, min_x: Any, max_x: Any, min_w: Any, max_w: Any, *,
    Tinput: DType, Tfilter: DType, out_type: DType, window: WindowAttributes,
) -> Any:  # fmt: skip
    types = {"types": (Tinput, Tfilter, out_type)}
    (*zeros, low, high) = g.evaluate(_zeros_and_range, (), (), (min_x, max_x, min_w, max_w), types)
    return products(g, convolution_of(g, window), x, w, tuple(zeros)), low, high


def _zeros_and_range(xp: Any, *ends: Any, types: tuple[DType, DType, DType]) -> list[Any]:
    """Return the zero points of two operands, and the range of their product."""
    a, b = OperandRanges(*ends).of("the first", "the second", xp)
    zeros = [zero_point(*bounds, dtype, xp) for bounds, dtype in zip((a, b), types)]
    return [*zeros, *product_range(a, types[0], b, types[1], types[2])]
