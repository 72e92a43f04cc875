"""Ops on quantized integers with their ranges: sums, products, convolution, activations, pooling, norms, resizing, joining."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics import pooling as pooling_numerics
from ...numerics import resize as resize_numerics
from ...numerics.array_namespace import NUMPY
from ...numerics.resize import Taps
from ...registry.registry import (
    WITHOUT_GRADIENT,
    ZERO,
    Cost,
    everywhere,
    flops,
    kernel,
    lower,
    multiply_adds,
    onnx,
    shape,
    without_gradient,
    zero_cost,
)
from ...support.errors import UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, unknown_dims
from ..nn.pooling import max_of_windows, mean_of_windows, pooled
from ..shared.argument_checks import (
    is_empty,
    may_equal,
    require,
    require_broadcast,
    require_rank,
    require_shape,
    scalar,
    with_rank,
)
from ..shared.convolution_shared import Geometry, convolution_shape, convolved
from ..shared.convolution_shared import convolve as convolve_checked
from ..shared.elementwise_tables import unary_flops
from ..shared.onnx_lowerings import channels_first, filter_first, in_format, transposed, window_attrs, window_of
from ..shared.pooling_shared import PoolingAttributes, reject_depth
from ..shared.quantized_ranges import (
    from_float,
    limits,
    product_range,
    range_of,
    scalar_range,
    tensor_from_float,
    tensor_to_float,
    to_float,
    unclamped,
    zero_point,
)
from ..shared.shape_arguments import ints, normalize_axis, scalar_int
from ..shared.window_geometry import WindowAttributes, spatial
from .quantize import DEQUANTIZING, QUANTIZING, requantization_range_flops, with_range


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


@everywhere("QuantizedAdd", gradient=WITHOUT_GRADIENT, shape="~..., ~... -> ~..., (), ()")
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
def quantized_add_flops(x: TensorSpec, y: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A product, a sum and two clips for either operand, and the sum."""
    return Cost(4) * (x.shape.num_elements + y.shape.num_elements) + Cost(1) * outputs[0].shape.num_elements


@everywhere("QuantizedMul", gradient=WITHOUT_GRADIENT, shape="~..., ~... -> ~..., (), ()")
def quantized_mul(
    xp: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Any, Any, Any]:
    """x * y; a step of the result is the product of their steps."""
    a, b = _operand_ranges(xp, x, y, min_x, max_x, min_y, max_y)
    return _centered(xp, x, a, T1) * _centered(xp, y, b, T2), *product_range(a, T1, b, T2, Toutput)


def _centered_cost(x: TensorSpec, y: TensorSpec) -> Cost:
    """The integer that stands for zero is taken away from both operands."""
    return Cost(1) * (x.shape.num_elements + y.shape.num_elements)


@flops("QuantizedMul")
def quantized_mul_flops(x: TensorSpec, y: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A difference for either operand and a product."""
    return _centered_cost(x, y) + Cost(1) * outputs[0].shape.num_elements


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
def quantized_mat_mul_shape(a: TensorSpec, b: TensorSpec, *, transpose_a: bool, transpose_b: bool) -> list[Shape]:
    rows, columns = with_rank(a.shape, 2)[1 if transpose_a else 0], with_rank(b.shape, 2)[0 if transpose_b else 1]
    return with_range(Shape((rows, columns)))


@flops("QuantizedMatMul")
def quantized_mat_mul_flops(a: TensorSpec, b: TensorSpec, *, transpose_a: bool, outputs: list[TensorSpec]) -> Cost:
    """A difference for each element and the product."""
    depth = with_rank(a.shape, 2)[0 if transpose_a else 1]
    return _centered_cost(a, b) + multiply_adds(outputs[0].shape.num_elements * depth)


without_gradient("QuantizedMatMul")


@everywhere("QuantizedBiasAdd", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT)
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


@flops("QuantizedBiasAdd")
def quantized_bias_add_flops(input: TensorSpec, bias: TensorSpec) -> Cost:
    """The change of range of either operand, two and five operations, and two sums."""
    elements = input.shape.num_elements
    return (DEQUANTIZING + QUANTIZING) * (elements + bias.shape.num_elements) + Cost(2) * elements


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
def quantized_conv2d_shape(input: TensorSpec, filter: TensorSpec, *, window: WindowAttributes) -> list[Shape]:
    return with_range(convolution_shape(input, filter, Geometry(4, window)))


@flops("QuantizedConv2D")
def quantized_conv2d_flops(input: TensorSpec, filter: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A difference for each element and the convolution."""
    height, width, depth, _ = with_rank(filter.shape, 4)
    return _centered_cost(input, filter) + multiply_adds(outputs[0].shape.num_elements * (height * width * depth))


without_gradient("QuantizedConv2D")

for _op, _program in (("QuantizedMatMul", quantized_mat_mul), ("QuantizedConv2D", quantized_conv2d)):
    kernel(_op)(functools.partial(_program, NUMPY))
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


@everywhere("QuantizedRelu", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT, flops=unary_flops(1))
def quantized_relu(xp: Any, features: Any, min_features: Any, max_features: Any, *, Tinput: DType) -> tuple[Any, Any, Any]:
    """max(x, 0)."""
    bounds = scalar_range(min_features, max_features, "features", xp)
    return xp.maximum(features, from_float(np.float32(0), *bounds, Tinput, xp)), *bounds


@everywhere("QuantizedRelu6", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT, flops=unary_flops(2))
def quantized_relu6(xp: Any, features: Any, min_features: Any, max_features: Any, *, Tinput: DType) -> tuple[Any, Any, Any]:
    """min(max(x, 0), 6)."""
    return quantized_relu_x(xp, features, np.float32(6), min_features, max_features, Tinput=Tinput)


@everywhere("QuantizedReluX", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT, flops=unary_flops(2))
def quantized_relu_x(
    xp: Any, features: Any, max_value: Any, min_features: Any, max_features: Any, *, Tinput: DType
) -> tuple[Any, Any, Any]:
    """min(max(x, 0), max_value)."""
    require(max_value.ndim == 0, f"max_value must be a scalar, not of shape {max_value.shape}")
    bounds = scalar_range(min_features, max_features, "features", xp)
    zero, top = (from_float(end, *bounds, Tinput, xp) for end in (np.float32(0), max_value))
    return xp.minimum(xp.maximum(features, zero), top), *bounds


def _pooled(x: Array, window: WindowAttributes, function: Callable[..., Any]) -> Array:
    pool = PoolingAttributes(window)
    require_rank(x, 4, "input")
    require(pool.depth == 1 and pool.depth_stride == 1, "pooling over channels")
    return function(x, *pool.geometry(x.shape[1:3]))


@kernel("QuantizedMaxPool", gradient=WITHOUT_GRADIENT)
def quantized_max_pool(
    input: Array, min_input: Array, max_input: Array, *, window: WindowAttributes
) -> tuple[Result, Result, Result]:
    """The largest integer of each window; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    return _pooled(input, window, pooling_numerics.max_pool), low, high


@flops("QuantizedMaxPool")
def quantized_max_pool_flops(*, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A comparison for each element of the window but the first."""
    return Cost(math.prod(ksize) - 1) * outputs[0].shape.num_elements


@kernel("QuantizedAvgPool", gradient=WITHOUT_GRADIENT)
def quantized_avg_pool(
    input: Array, min_input: Array, max_input: Array, *, T: DType, window: WindowAttributes
) -> tuple[Result, Result, Result]:
    """The mean of each window, rounded; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    # In double precision, of which every sum of integers of a window is exact.
    mean = _pooled(input.astype(np.float64), window, pooling_numerics.average_pool)
    return np.rint(mean).astype(T.numpy), low, high


@shape("QuantizedMaxPool", "QuantizedAvgPool")
def quantized_pool_shape(input: TensorSpec, *, window: WindowAttributes) -> list[Shape]:
    batch, height, width, channels = with_rank(input.shape, 4)
    return with_range(Shape((batch, *PoolingAttributes(window).sizes((height, width)), channels)))


@flops("QuantizedAvgPool")
def quantized_avg_pool_flops(*, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window, a division and a rounding."""
    return Cost(math.prod(ksize) + 1) * outputs[0].shape.num_elements


@everywhere("QuantizedInstanceNorm", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT)
def quantized_instance_norm(
    xp: Any, x: Any, x_min: Any, x_max: Any, *,
    T: DType, output_range_given: bool, given_y_min: float, given_y_max: float, variance_epsilon: float, min_separation: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Each channel of each image with mean 0 and variance 1, in the range given or found."""
    require(not output_range_given or given_y_min < given_y_max, f"range [{given_y_min}, {given_y_max}] is empty")
    low, high = scalar_range(x_min, x_max, "x", xp)
    xp.require(low < high, f"x_min {low} must be smaller than x_max {high}")
    require_rank(x, 4, "x")
    values = x.astype(np.float32)
    # 255 steps: TensorFlow has this kernel for quint8 alone.
    centered = (values - xp.mean(values, (1, 2), keepdims=True)) * ((high - low) / np.float32(255))
    variance = xp.mean(xp.square(centered), (1, 2), keepdims=True)
    normed = centered / xp.sqrt(variance + np.float32(variance_epsilon))
    if output_range_given:
        least, most = np.float32(given_y_min), np.float32(given_y_max)
    else:
        least, most = (np.float32(np.inf), np.float32(-np.inf)) if is_empty(xp, x) else (xp.min(normed), xp.max(normed))
    # A constant image has no range, and the step of an empty one would be 0.
    most = xp.where(most - least < min_separation, least + np.float32(min_separation), most)
    return tensor_from_float(normed, least, most, T, xp), least, most


@flops("QuantizedInstanceNorm")
def quantized_instance_norm_flops(x: TensorSpec, *, output_range_given: bool) -> Cost:
    """Moments and the norm, 6 each, and 2 for each channel; the range, unless given, and the change to that range, 5."""
    batch, _, _, channels = with_rank(x.shape, 4)
    normed = Cost(6) * x.shape.num_elements + Cost(2) * (batch * channels)
    return normed + QUANTIZING * x.shape.num_elements + (ZERO if output_range_given else requantization_range_flops(x))


class Ranged(NamedTuple):
    """Integers, and the range of the numbers that they stand for."""

    values: Any
    low: Any
    high: Any

    def to_float(self, xp: Any, name: str, dtype: DType) -> Any:
        """Return the numbers that the integers stand for."""
        return to_float(self.values, *range_of(self.low, self.high, name, xp), dtype, xp)


@everywhere("QuantizedBatchNormWithGlobalNormalization", shape="... -> ..., (), ()", gradient=WITHOUT_GRADIENT)
def quantized_batch_norm_with_global_normalization(
    xp: Any, t: Ranged, m: Ranged, v: Ranged, beta: Ranged, gamma: Ranged, *,
    Tinput: DType, out_type: DType, variance_epsilon: float, scale_after_normalization: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Batch normalization in fixed point within [-2^20, 2^20]."""
    require_rank(t.values, 4, "t")
    channels = t.values.shape[3:]
    for name, vector in (("m", m), ("v", v), ("beta", beta), ("gamma", gamma)):
        require_shape(vector.values, channels, name)
    new = np.float32(-(1 << 20)), np.float32(1 << 20)
    mean, variance = m.to_float(xp, "m", Tinput), v.to_float(xp, "v", Tinput)
    scale = np.float32(1) / xp.sqrt(variance + np.float32(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma.to_float(xp, "gamma", Tinput)
    offset = -mean * scale + beta.to_float(xp, "beta", Tinput)
    numbers = (scale, offset, np.float32(1), t.to_float(xp, "t", Tinput))
    scale, offset, one, values = (from_float(x, *new, out_type, xp).astype(np.int64) for x in numbers)
    # TensorFlow multiplies int32, which wraps around before the division; the quotient is C++'s, rounded towards zero.
    products = wrapped(values * scale).astype(np.int64)
    return wrapped(xp.truncated_quotient(products, one) + offset), *new


@flops("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm_flops(x: TensorSpec, *, scale_after_normalization: bool) -> Cost:
    """The change of range, a product, a division and a sum; for each channel the scale and the offset in the new range."""
    of_channel = QUANTIZING * 2 + DEQUANTIZING * 3 + Cost(5) + (DEQUANTIZING + Cost(1) if scale_after_normalization else ZERO)
    return (DEQUANTIZING + QUANTIZING + Cost(3)) * x.shape.num_elements + of_channel * with_rank(x.shape, 4)[3]


@everywhere("QuantizedResizeBilinear", static=(1,), gradient=WITHOUT_GRADIENT, shape="b _ _ c, <h w> -> b h w c, (), ()")
def quantized_resize_bilinear(
    xp: Any, images: Any, size: Array, min: Any, max: Any, *, T: DType, align_corners: bool, half_pixel_centers: bool
) -> tuple[Any, Any, Any]:
    """Bilinear interpolation; the range stays."""
    bounds = range_of(min, max, "images", xp)
    require_rank(images, 4, "images")
    require(not (align_corners and half_pixel_centers), "align_corners and half_pixel_centers exclude each other")
    height, width = ints(size, "size", 2)
    require(height > 0 and width > 0, f"size must be positive, not {(height, width)}")
    require(not is_empty(xp, images), f"images must not be empty: {images.shape}")
    settings = (align_corners, half_pixel_centers)
    rows = resize_numerics.bilinear(images.shape[1], height, *settings)
    columns = resize_numerics.bilinear(images.shape[2], width, *settings)
    if T.is_quantized:
        return _interpolated_exactly(xp, images, rows, columns, T), *bounds
    if not xp.is_eager:
        raise UnimplementedError("its images are floats")
    return resize_numerics.resample(images, rows, columns), *bounds


# TensorFlow's numbers of bits behind the point for the weights of neighbours.
_LERP_BITS = {"quint8": 7, "qint32": 30}


def _interpolated_exactly(xp: Any, q: Any, rows: Taps, columns: Taps, dtype: DType) -> Any:
    """Bilinear interpolation of integers in fixed point, rounded as TensorFlow does."""
    bits = _LERP_BITS[dtype.name]
    one = np.int64(1) << bits
    across = (columns.weights[:, 1].astype(np.float32) * np.float32(one)).astype(np.int64)[:, None]
    down = (rows.weights[:, 1].astype(np.float32) * np.float32(one)).astype(np.int64)[:, None, None]
    x = q.astype(np.int64)
    left, right = (xp.take(x, columns.indices[:, i], 2) for i in range(2))
    x = left * one + (right - left) * across
    top, bottom = (xp.take(x, rows.indices[:, i], 1) for i in range(2))
    # TensorFlow divides before it multiplies here, which rounds, and at the end once more.
    result = top + xp.truncated_quotient(bottom - top, one) * down
    return xp.truncated_quotient(result + one // 2, one).astype(dtype.numpy)


@flops("QuantizedResizeBilinear")
def quantized_resize_bilinear_flops(*, T: DType, outputs: list[TensorSpec]) -> Cost:
    """Three interpolations; in fixed point a product or a division more in each, a sum and a division at the end."""
    return Cost(14 if T.is_quantized else 9, macs=3) * outputs[0].shape.num_elements


@lower("QuantizedMaxPool")
def _max_pool_lowering(xla: Any, x: Any, low: Any, high: Any, *, window: WindowAttributes) -> tuple[Any, Any, Any]:
    reject_depth(PoolingAttributes(window))
    return max_of_windows(xla, x, window), *scalar_range(low, high, "input", xla)


@lower("QuantizedAvgPool")
def _average_pool_lowering(xla: Any, x: Any, low: Any, high: Any, *, T: DType, window: WindowAttributes) -> Any:
    reject_depth(PoolingAttributes(window))
    mean = mean_of_windows(xla, x.astype(np.float64), window=window)
    return xla.rint(mean).astype(T.numpy), *scalar_range(low, high, "input", xla)


@onnx("QuantizedMaxPool")
def _max_pool_onnx(g: Any, x: Any, low: Any, high: Any, *, window: WindowAttributes) -> tuple[Any, Any, Any]:
    return pooled(g, x, "MaxPool", window), g.reshape(low, []), g.reshape(high, [])


@onnx("QuantizedAvgPool")
def _average_pool_onnx(g: Any, x: Any, low: Any, high: Any, *, T: DType, window: WindowAttributes) -> tuple[Any, Any, Any]:
    """Return the rounded mean of each window; the range stays.

    The integer sums of a window and the number of its elements come back from means, so that halves are exact.
    """
    if T.size > 1:
        g.refuse("ONNX has means of quantized integers of 8 bits only")
    # Means of float32 are rounded quotients; sums of up to 2^16 bytes are exact.
    size = int(np.prod(spatial(window.ksize, window.data_format)))
    ones = g.Expand(g.constant(np.float32(1)), g.dims(x))
    sums, counts = (
        g.Round(g.Mul(pooled(g, value, "AveragePool", window, count_include_pad=1), size))
        for value in (g.cast(x, dtypes.float32), ones)
    )
    return g.cast(g.Round(g.Div(sums, counts)), T), g.reshape(low, []), g.reshape(high, [])


def _joined_range(xp: Any, ranges: list[tuple[Any, Any]], dtype: DType) -> tuple[Any, Any]:
    """Return the range that holds all and zero; symmetric for signed types."""
    # From 0 on: a quantized type must have an integer for zero.
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


def _concat_shape(axis: Any, values: Any, *ranges: Any) -> Any:
    if any(v.shape.dims is None for v in values):
        return with_range(Shape())
    rank = len(values[0].shape)
    if axis.value is None:
        return with_range(unknown_dims(rank))
    at = normalize_axis(scalar_int(axis.value, "axis"), rank)
    dims = list(values[0].shape)
    dims[at] = sum(v.shape[at] for v in values)
    return with_range(Shape(dims))


@everywhere("QuantizedConcat", shape=_concat_shape, flops=zero_cost, static=(0,))
def quantized_concat(
    xp: Any, concat_dim: Array, values: list[Any], input_mins: list[Any], input_maxes: list[Any], *, T: DType
) -> tuple[Any, ...]:
    """Tensors joined along a dimension, in a range that holds all."""
    return _concat(xp, scalar(concat_dim, "concat_dim"), values, input_mins, input_maxes, T)


@everywhere("QuantizedConcatV2", shape=lambda values, axis, *ranges: _concat_shape(axis, values), flops=zero_cost, static=(1,))
def quantized_concat_v2(
    xp: Any, values: list[Any], axis: Array, input_mins: list[Any], input_maxes: list[Any], *, T: DType
) -> tuple[Any, ...]:
    """Tensors joined along an axis. TensorFlow's kernel lets the range start at 0, so that negative values become 0."""
    return _concat(xp, scalar(axis, "axis"), values, input_mins, input_maxes, T, is_negative_cut=True)


@everywhere("QuantizedReshape", shape="*, <...> -> ..., (), ()", flops=zero_cost, static=(1,), sizes=(1,))
def quantized_reshape(xp: Any, tensor: Any, shape: Any, input_min: Any, input_max: Any) -> tuple[Any, Any, Any]:
    """Another shape; the range stays."""
    bounds = range_of(input_min, input_max, "tensor", xp)
    if xp.is_eager:
        _require_elements(tensor.size, ints(shape, "shape"))
    return xp.reshape(tensor, shape), *bounds


def _require_elements(size: int, dims: tuple[int, ...]) -> None:
    """Require a shape of at most one open dimension that takes as many elements."""
    missing, count = dims.count(-1), math.prod(d for d in dims if d != -1)
    require(missing <= 1 and min(dims, default=0) >= -1, f"{dims} is not a shape")
    fits = size == count if not missing else count > 0 and size % count == 0
    require(fits, f"{size} elements do not fit into shape {dims}")


without_gradient("QuantizedConcat", "QuantizedConcatV2", "QuantizedReshape")
