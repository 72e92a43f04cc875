"""Arithmetic on quantized integers in ONNX: MatMulInteger and ConvInteger, otherwise step by step in wider numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...numerics import resize as resize_numerics
from ...types import dtypes
from ...types.dtypes import DType
from ..nn.pooling import pooled
from ..shared.onnx_lowerings import channels_first, filter_first, in_format, transposed, window_attrs, window_of
from ..shared.quantized_ranges import limits
from ..shared.window_geometry import WindowAttributes, spatial
from ._onnx_ranges import (
    from_float,
    product_range,
    range_of,
    requantized,
    tensor_from_float,
    tensor_to_float,
    to_float,
    unclamped,
    zero_point,
)

_ZERO = np.float32(0)


def products(g: Any, product: Callable[..., Any], x: Any, w: Any, zeros: tuple[Any, ...]) -> Any:
    """Return sums of products of integers less their zero points, of int32 that wraps around.

    `product` takes operands and zero points of uint8, the only dtype of older runtimes' convolutions. Zero points beyond 8
    bits need three further products.
    """
    if x.dtype.size > 1 or w.dtype.size > 1:
        g.refuse("ONNX multiplies quantized integers of 8 bits only")
    zeros = tuple(g.Sub(zero, limits(v.dtype)[0]) for v, zero in zip((x, w), zeros))
    x, w = (_without_sign(g, operand) for operand in (x, w))
    near = [g.Max(g.Min(zero, limits(v.dtype)[1]), limits(v.dtype)[0]) for v, zero in zip((x, w), zeros)]
    near_x, near_w = (g.cast(zero, v.dtype) for v, zero in zip((x, w), near))
    direct = product(x, w, near_x, near_w)

    def corrected() -> list[Any]:
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

    def convolved(x: Any, w: Any, zero_x: Any, zero_w: Any) -> Any:
        attrs = window_attrs(x, window_of(g, w), window)
        filters = filter_first(g, w)
        if is_depthwise:
            channels, multiplier = w.shape.known()[2:]
            filters = g.reshape(g.transpose(w, [2, 3, 0, 1]), [channels * multiplier, 1, *window_of(g, w)])
            attrs["group"] = channels
        first = channels_first(g, x, window.data_format)
        sums = g.op("ConvInteger", first, filters, zero_x, zero_w, dtype=dtypes.int32, **attrs)
        return in_format(g, sums, 4, window.data_format)

    return convolved


def mat_mul(
    g: Any, a: Any, b: Any, min_a: Any, max_a: Any, min_b: Any, max_b: Any,
    *, T1: DType, T2: DType, Toutput: DType, transpose_a: bool, transpose_b: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the matrix product and its range."""
    first, second = range_of(g, min_a, max_a), range_of(g, min_b, max_b)
    a, b = transposed(g, a) if transpose_a else a, transposed(g, b) if transpose_b else b
    zeros = zero_point(g, first, T1), zero_point(g, second, T2)
    sums = products(g, lambda *operands: matrix_product(g, *operands), a, b, zeros)
    return sums, *product_range(g, first, T1, second, T2, Toutput)


def convolution(
    g: Any, x: Any, w: Any, min_x: Any, max_x: Any, min_w: Any, max_w: Any,
    *, Tinput: DType, Tfilter: DType, out_type: DType, window: WindowAttributes,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the convolution and its range."""
    first, second = range_of(g, min_x, max_x), range_of(g, min_w, max_w)
    zeros = zero_point(g, first, Tinput), zero_point(g, second, Tfilter)
    return products(g, convolution_of(g, window), x, w, zeros), *product_range(g, first, Tinput, second, Tfilter, out_type)


def _sum_range(g: Any, a: tuple[Any, Any], b: tuple[Any, Any], bits: int) -> tuple[Any, Any]:
    """Return a symmetric range, 2^bits times as wide as the operands."""
    extreme = g.Mul(g.Max(g.Abs(g.Min(a[0], b[0])), g.Abs(g.Max(a[1], b[1]))), 1 << bits)
    return g.Neg(extreme), extreme


def added(
    g: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Any, Any, Any]:
    """Return x + y in a range wide enough for both; a scalar is converted, of a tensor a single step."""
    a, b = range_of(g, min_x, max_x), range_of(g, min_y, max_y)
    bounds, ranks = _sum_range(g, a, b, 14), (g.rank(x), g.rank(y))
    parts = []
    for q, old, dtype, is_scalar in ((x, a, T1, ranks[0] == 0 < ranks[1]), (y, b, T2, ranks[1] == 0 < ranks[0])):
        if is_scalar:
            parts.append(g.cast(from_float(g, to_float(g, q, old, dtype), bounds, Toutput), dtypes.int64))
            continue
        ends = [to_float(g, g.constant(np.int64(number)), old, dtype) for number in (0, 1)]
        zero, one = (unclamped(g, end, bounds, Toutput) for end in ends)
        sums = g.Add(g.Mul(g.cast(q, dtypes.int64), g.Sub(one, zero)), zero)
        parts.append(g.Max(g.Min(sums, limits(Toutput)[1]), limits(Toutput)[0]))
    return g.cast(g.Add(*parts), dtypes.int32), *bounds


def multiplied(
    g: Any, x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, T1: DType, T2: DType, Toutput: DType
) -> tuple[Any, Any, Any]:
    """Return x * y and its range."""
    a, b = range_of(g, min_x, max_x), range_of(g, min_y, max_y)
    centered = [g.Sub(g.cast(q, dtypes.int64), zero_point(g, bounds, dtype)) for q, bounds, dtype in ((x, a, T1), (y, b, T2))]
    return g.cast(g.Mul(*centered), dtypes.int32), *product_range(g, a, T1, b, T2, Toutput)


def bias_added(
    g: Any, x: Any, bias: Any, min_x: Any, max_x: Any, min_bias: Any, max_bias: Any, *, T1: DType, T2: DType, out_type: DType
) -> tuple[Any, Any, Any]:
    """Return the sum with a vector, in a range wide enough for both."""
    a, b = range_of(g, min_x, max_x), range_of(g, min_bias, max_bias)
    bounds = _sum_range(g, a, b, 17)
    parts = [
        g.cast(tensor_from_float(g, tensor_to_float(g, q, old, dtype), bounds, out_type), dtypes.int64)
        for q, old, dtype in ((x, a, T1), (bias, b, T2))
    ]
    zero = g.cast(from_float(g, g.constant(_ZERO), bounds, out_type), dtypes.int64)
    return g.cast(g.Sub(g.Add(*parts), zero), dtypes.int32), *bounds


def clipped(g: Any, x: Any, low: Any, high: Any, *, Tinput: DType, top: Any = None) -> tuple[Any, Any, Any]:
    """Return max(x, 0), and min(.., top) for a `top`; the range stays."""
    bounds = range_of(g, low, high)
    result = g.Max(x, g.cast(from_float(g, g.constant(_ZERO), bounds, Tinput), Tinput))
    if top is not None:
        result = g.Min(result, g.cast(from_float(g, g.reshape(top, []), bounds, Tinput), Tinput))
    return result, *bounds


def max_pooled(g: Any, x: Any, low: Any, high: Any, *, window: WindowAttributes) -> tuple[Any, Any, Any]:
    """Return the largest integer of each window; the range stays."""
    return pooled(g, x, "MaxPool", window), *range_of(g, low, high)


def average_pooled(g: Any, x: Any, low: Any, high: Any, *, T: DType, window: WindowAttributes) -> tuple[Any, Any, Any]:
    """Return the rounded mean of each window; the range stays.

    The integer sums of a window and the number of its elements come back from means, so that halves are exact.
    """
    if T.size > 1:
        g.refuse("ONNX has means of quantized integers of 8 bits only")
    size = int(np.prod(spatial(window.ksize, window.data_format)))
    ones = g.Expand(g.constant(np.float32(1)), g.dims(x))
    sums, counts = (
        g.Round(g.Mul(pooled(g, value, "AveragePool", window, count_include_pad=1), size))
        for value in (g.cast(x, dtypes.float32), ones)
    )
    return g.cast(g.Round(g.Div(sums, counts)), T), *range_of(g, low, high)


def _used_range(g: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> tuple[Any, Any]:
    """Return the range between zero or the smallest integer, and the largest integer."""
    low, high = (to_float(g, end, bounds, dtype) for end in (g.ReduceMin(q, keepdims=0), g.ReduceMax(q, keepdims=0)))
    return g.Min(low, 0), high


def used_range(g: Any, q: Any, low: Any, high: Any, *, Tinput: DType) -> tuple[Any, Any]:
    """Return the range that the integers use."""
    bounds = [g.reshape(g.slice(g.reshape(end, [-1]), 0, 1), []) for end in (low, high)]
    return _used_range(g, q, (bounds[0], bounds[1]), Tinput)


def requantize(
    g: Any, q: Any, low: Any, high: Any, new_low: Any, new_high: Any, *, Tinput: DType, out_type: DType
) -> tuple[Any, Any, Any]:
    """Return integers of another range and dtype."""
    new = range_of(g, new_low, new_high)
    return requantized(g, q, range_of(g, low, high), new, (Tinput, out_type)), *new


def shrunk(g: Any, q: Any, low: Any, high: Any, *, Tinput: DType, out_type: DType) -> tuple[Any, Any, Any]:
    """Return integers of fewer bits, in the range that the integers use."""
    old = range_of(g, low, high)
    new = _used_range(g, q, old, Tinput)
    return requantized(g, q, old, new, (Tinput, out_type)), *new


def _magnitudes(g: Any, low: Any, high: Any) -> Any:
    return g.cast(g.Max(*(g.Abs(g.reshape(end, [-1])) for end in (low, high))), dtypes.float64)


def used_range_of_channels(g: Any, q: Any, low: Any, high: Any, *, clip_value_max: float) -> tuple[Any, Any]:
    """Return a range for all channels, symmetric unless no integer is negative."""
    wide = g.cast(q, dtypes.int64)
    largest = g.ReduceMax(g.Abs(wide), [0, 1, 2], keepdims=0)
    values = g.Div(g.Mul(_magnitudes(g, low, high), g.cast(largest, dtypes.float64)), 2.0**31)
    top = g.cast(g.Min(g.ReduceMax(values, keepdims=0), clip_value_max), dtypes.float32)
    return g.Where(g.GreaterOrEqual(g.ReduceMin(wide, keepdims=0), 0), 0, g.Neg(top)), top


def requantize_channels(
    g: Any, q: Any, low: Any, high: Any, new_low: Any, new_high: Any, *, out_type: DType
) -> tuple[Any, Any, Any]:
    """Return integers of a common range."""
    new = range_of(g, new_low, new_high)
    lowest, highest = limits(out_type)
    largest = g.cast(g.Max(*(g.Abs(end) for end in new)), dtypes.float64)
    scale = g.Div(g.Div(g.Mul(_magnitudes(g, low, high), highest), largest), 2.0**31)
    scaled = g.Round(g.Mul(g.cast(q, dtypes.float64), scale))
    return g.cast(g.Max(g.Min(scaled, highest), max(lowest, -highest - 1)), out_type), *new


def joined(
    g: Any, axis: Any, values: Sequence[Any], lows: Sequence[Any], highs: Sequence[Any], dtype: DType, is_negative_cut: bool
) -> tuple[Any, Any, Any]:
    """Return tensors joined along an axis, in a range that holds all and zero, symmetric for signed types."""
    ranges = [range_of(g, *bounds) for bounds in zip(lows, highs)]
    high = g.Max(*(bounds[1] for bounds in ranges))
    low = g.constant(_ZERO) if is_negative_cut else g.Min(*(bounds[0] for bounds in ranges), 0)
    if limits(dtype)[0] < 0:
        high = g.Max(g.Neg(low), high)
        low = g.Neg(high)
    parts = []
    for q, bounds in zip(values, ranges):
        is_same = g.And(g.Equal(bounds[0], low), g.Equal(bounds[1], high))
        changed = tensor_from_float(g, tensor_to_float(g, q, bounds, dtype), (low, high), dtype)
        parts.append(g.Where(is_same, q, changed))
    return g.Concat(*parts, axis=g.axis(axis, values[0].rank)), low, high


def reshaped(g: Any, x: Any, shape: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return another shape; the range stays."""
    return g.reshape(x, g.vector(shape)), *range_of(g, low, high)


def instance_normed(
    g: Any, x: Any, low: Any, high: Any, *, T: DType, output_range_given: bool, given_y_min: float, given_y_max: float,
    variance_epsilon: float, min_separation: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return each channel of each image with mean 0 and variance 1, in the range given or found."""
    low, high = range_of(g, low, high)
    values = g.cast(x, dtypes.float32)
    centered = g.Mul(g.Sub(values, g.ReduceMean(values, [1, 2])), g.Div(g.Sub(high, low), 255))
    variance = g.ReduceMean(g.Mul(centered, centered), [1, 2])
    normed = g.Div(centered, g.Sqrt(g.Add(variance, variance_epsilon)))
    least, most = g.constant(np.float32(given_y_min)), g.constant(np.float32(given_y_max))
    if not output_range_given:
        least, most = g.ReduceMin(normed, keepdims=0), g.ReduceMax(normed, keepdims=0)
    most = g.Where(g.Less(g.Sub(most, least), min_separation), g.Add(least, min_separation), most)
    return tensor_from_float(g, normed, (least, most), T), least, most


def batch_normed(
    g: Any, *inputs: Any, Tinput: DType, out_type: DType, variance_epsilon: float, scale_after_normalization: bool
) -> tuple[Any, Any, Any]:
    """Return the batch normalization in fixed point within [-2^20, 2^20]; each input comes with its range."""
    tensors, ranges = inputs[::3], [range_of(g, *pair) for pair in zip(inputs[1::3], inputs[2::3])]
    bounds = g.constant(np.float32(-(1 << 20))), g.constant(np.float32(1 << 20))
    values, mean, variance, beta, gamma = (to_float(g, q, old, Tinput) for q, old in zip(tensors, ranges))
    root = g.Sqrt(g.Add(variance, variance_epsilon))
    scale = g.Div(g.like(1, root), root)
    scale = g.Mul(scale, gamma) if scale_after_normalization else scale
    offset = g.Add(g.Mul(g.Neg(mean), scale), beta)
    scale, offset, one, values = (
        g.cast(from_float(g, x, bounds, out_type), dtypes.int64) for x in (scale, offset, g.constant(np.float32(1)), values)
    )
    wrapped = g.cast(g.cast(g.Mul(values, scale), dtypes.int32), dtypes.int64)
    return g.cast(g.Add(g.Div(wrapped, one), offset), dtypes.int32), *bounds


_LERP_BITS = {"quint8": 7, "qint32": 30}


def resized(
    g: Any, images: Any, size: Any, low: Any, high: Any, *, T: DType, align_corners: bool, half_pixel_centers: bool
) -> tuple[Any, Any, Any]:
    """Return images interpolated in fixed point, rounded as TensorFlow does; the range stays."""
    sizes = (images.shape.dims or (None,) * 4)[1:3]
    if T.name not in _LERP_BITS or not all(isinstance(length, int) for length in sizes):
        g.refuse("the sizes of its images are unknown, or its integers are of other bits than 8 and 32")
    one = 1 << _LERP_BITS[T.name]
    x = g.cast(images, dtypes.int64)
    for axis, length, wanted in ((2, sizes[1], 1), (1, sizes[0], 0)):
        taps = resize_numerics.bilinear(length, int(g.known(size, "sizes")[wanted]), align_corners, half_pixel_centers)
        weights = (taps.weights[:, 1].astype(np.float32) * np.float32(one)).astype(np.int64)
        first, second = (g.Gather(x, taps.indices[:, side].astype(np.int64), axis=axis) for side in (0, 1))
        step = g.Sub(second, first)
        step = g.Mul(g.Div(step, one) if axis == 1 else step, weights.reshape([-1] + [1] * (3 - axis)))
        x = g.Add(g.Mul(first, one) if axis == 2 else first, step)
    return g.cast(g.Div(g.Add(x, one // 2), one), T), *range_of(g, low, high)
