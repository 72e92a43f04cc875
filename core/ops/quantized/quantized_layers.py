"""Activations, pooling, norms and resizing of quantized integers with their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics import pooling as pooling_numerics
from ...numerics import resize as resize_numerics
from ...numerics.integers import truncated_quotient
from ...numerics.resize import Taps
from ...registry.registry import ZERO, Cost, flops, kernel, onnx, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, scalar, with_rank
from ..shared.elementwise_tables import unary_flops
from ..shared.pooling_shared import PoolingAttributes
from ..shared.quantized_ranges import from_float, range_of, scalar_range, tensor_from_float, to_float
from ..shared.shape_arguments import ints, shape_from
from ..shared.window_geometry import WindowAttributes
from . import _onnx_arithmetic as in_onnx
from .quantized import in_range, quantized_unary_shape, wrapped
from .requantize import DEQUANTIZING, QUANTIZING, requantization_range_flops, with_range


@kernel("QuantizedRelu")
def quantized_relu(
    features: Array, min_features: Array, max_features: Array, *, Tinput: DType
) -> tuple[Result, Result, Result]:
    """max(x, 0)."""
    low, high = scalar_range(min_features, max_features, "features")
    zero = from_float(np.float32(0), low, high, Tinput)
    return np.maximum(features, zero), low, high


flops("QuantizedRelu")(unary_flops(1))


@kernel("QuantizedRelu6")
def quantized_relu6(
    features: Array, min_features: Array, max_features: Array, *, Tinput: DType
) -> tuple[Result, Result, Result]:
    """min(max(x, 0), 6)."""
    return quantized_relu_x(features, np.float32(6), min_features, max_features, Tinput=Tinput)


@kernel("QuantizedReluX")
def quantized_relu_x(
    features: Array, max_value: Any, min_features: Array, max_features: Array, *, Tinput: DType
) -> tuple[Result, Result, Result]:
    """min(max(x, 0), max_value)."""
    low, high = scalar_range(min_features, max_features, "features")
    zero = from_float(np.float32(0), low, high, Tinput)
    top = from_float(np.float32(scalar(max_value, "max_value")), low, high, Tinput)
    return np.minimum(np.maximum(features, zero), top), low, high


shape("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")(quantized_unary_shape)

flops("QuantizedRelu6", "QuantizedReluX")(unary_flops(2))

without_gradient("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")


def _pooled(x: Array, window: WindowAttributes, function: Callable[..., Any]) -> Array:
    pool = PoolingAttributes(4, window)
    require_rank(x, 4, "input")
    require(pool.depth == 1 and pool.depth_stride == 1, "pooling over channels")
    return function(x, *pool.geometry(x.shape[1:3]))


@kernel("QuantizedMaxPool")
def quantized_max_pool(
    input: Array, min_input: Array, max_input: Array, *, window: WindowAttributes
) -> tuple[Result, Result, Result]:
    """The largest integer of each window; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    return _pooled(input, window, pooling_numerics.max_pool), low, high


@flops("QuantizedMaxPool")
def quantized_max_pool_flops(input: TensorSpec, *ranges: TensorSpec, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A comparison for each element of the window but the first."""
    return Cost(math.prod(ksize) - 1) * outputs[0].shape.num_elements


@kernel("QuantizedAvgPool")
def quantized_avg_pool(
    input: Array, min_input: Array, max_input: Array, *, T: DType, window: WindowAttributes
) -> tuple[Result, Result, Result]:
    """The mean of each window, rounded; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    mean = _pooled(input.astype(np.float64), window, pooling_numerics.average_pool)
    return np.rint(mean).astype(T.numpy), low, high


@shape("QuantizedMaxPool", "QuantizedAvgPool")
def quantized_pool_shape(input: TensorSpec, *ranges: TensorSpec, window: WindowAttributes) -> list[Shape]:
    batch, height, width, channels = with_rank(input.shape, 4)
    return with_range(Shape((batch, *PoolingAttributes(4, window).sizes((height, width)), channels)))


@flops("QuantizedAvgPool")
def quantized_avg_pool_flops(input: TensorSpec, *ranges: TensorSpec, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window, a division and a rounding."""
    return Cost(math.prod(ksize) + 1) * outputs[0].shape.num_elements


without_gradient("QuantizedMaxPool", "QuantizedAvgPool")


@kernel("QuantizedInstanceNorm")
def quantized_instance_norm(
    x: Array,
    x_min: Array,
    x_max: Array,
    *,
    T: DType,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> tuple[Result, Result, Result]:
    """Each channel of each image with mean 0 and variance 1, in the range given or found."""
    require(not output_range_given or given_y_min < given_y_max, f"range [{given_y_min}, {given_y_max}] is empty")
    low, high = np.float32(scalar(x_min, "x_min")), np.float32(scalar(x_max, "x_max"))
    require(low < high, f"x_min {low} must be smaller than x_max {high}")
    require_rank(x, 4, "x")
    scale = (high - low) / np.float32(255)
    values = x.astype(np.float32)
    centered = scale * (values - np.mean(values, (1, 2), keepdims=True, dtype=np.float32))
    variance = np.mean(np.square(centered), (1, 2), keepdims=True, dtype=np.float32)
    normed = centered / np.sqrt(variance + np.float32(variance_epsilon))
    if output_range_given:
        least, most = np.float32(given_y_min), np.float32(given_y_max)
    else:
        least, most = np.float32(normed.min(initial=np.inf)), np.float32(normed.max(initial=-np.inf))
    if most - least < min_separation:
        most = least + np.float32(min_separation)
    return tensor_from_float(normed, least, most, T), least, most


@flops("QuantizedInstanceNorm")
def quantized_instance_norm_flops(x: TensorSpec, *rest: TensorSpec, output_range_given: bool) -> Cost:
    """Moments and the norm, 6 each, and 2 for each channel; the range, unless given, and the change to that range, 5."""
    batch, _, _, channels = with_rank(x.shape, 4)
    normed = Cost(6) * x.shape.num_elements + Cost(2) * (batch * channels)
    return normed + QUANTIZING * x.shape.num_elements + (ZERO if output_range_given else requantization_range_flops(x))


class Ranged(NamedTuple):
    """Integers, and the range of the numbers that they stand for."""

    values: Array
    low: Array
    high: Array

    def to_float(self, name: str, dtype: DType) -> Any:
        """Return the numbers that the integers stand for."""
        return to_float(self.values, *range_of(self.low, self.high, name), dtype)


@kernel("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm_with_global_normalization(
    t: Ranged, m: Ranged, v: Ranged, beta: Ranged, gamma: Ranged, *,
    Tinput: DType, out_type: DType, variance_epsilon: float, scale_after_normalization: bool,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """Batch normalization in fixed point within [-2^20, 2^20]."""
    require_rank(t.values, 4, "t")
    channels = t.values.shape[3:]
    for name, vector in (("m", m), ("v", v), ("beta", beta), ("gamma", gamma)):
        require(vector.values.shape == channels, f"{name} must have shape {channels}, not {vector.values.shape}")
    low, high = np.float32(-(1 << 20)), np.float32(1 << 20)
    mean = m.to_float("m", Tinput)
    variance = v.to_float("v", Tinput)
    scale = np.float32(1) / np.sqrt(variance + np.float32(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma.to_float("gamma", Tinput)
    offset = -mean * scale + beta.to_float("beta", Tinput)
    scale, offset, one = (from_float(x, low, high, out_type).astype(np.int64) for x in (scale, offset, np.float32(1)))
    values = in_range(t.values, range_of(t.low, t.high, "t"), Tinput, (low, high), out_type)
    products = wrapped(values * scale).astype(np.int64)
    return wrapped(truncated_quotient(products, one) + offset), low, high


shape("QuantizedInstanceNorm", "QuantizedBatchNormWithGlobalNormalization")(quantized_unary_shape)

without_gradient("QuantizedInstanceNorm")


@flops("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm_flops(x: TensorSpec, *rest: TensorSpec, scale_after_normalization: bool) -> Cost:
    """The change of range, a product, a division and a sum; for each channel the scale and the offset in the new range."""
    of_channel = QUANTIZING * 2 + DEQUANTIZING * 3 + Cost(5) + (DEQUANTIZING + Cost(1) if scale_after_normalization else ZERO)
    return (DEQUANTIZING + QUANTIZING + Cost(3)) * x.shape.num_elements + of_channel * with_rank(x.shape, 4)[3]


without_gradient("QuantizedBatchNormWithGlobalNormalization")


@kernel("QuantizedResizeBilinear")
def quantized_resize_bilinear(
    images: Array, size: Array, min: Array, max: Array, *, T: DType, align_corners: bool, half_pixel_centers: bool
) -> tuple[Result, Result, Result]:
    """Bilinear interpolation; the range stays."""
    low, high = range_of(min, max, "images")
    require_rank(images, 4, "images")
    require(not (align_corners and half_pixel_centers), "align_corners and half_pixel_centers exclude each other")
    height, width = ints(size, "size", 2)
    require(height > 0 and width > 0, f"size must be positive, not {(height, width)}")
    require(images.size > 0, f"images must not be empty: {images.shape}")
    settings = (align_corners, half_pixel_centers)
    rows = resize_numerics.bilinear(images.shape[1], height, *settings)
    columns = resize_numerics.bilinear(images.shape[2], width, *settings)
    if T.is_quantized:
        return _interpolated_exactly(images, rows, columns, T), low, high
    return resize_numerics.resample(images, rows, columns), low, high


_LERP_BITS = {"quint8": 7, "qint32": 30}


def _interpolated_exactly(q: Array, rows: Taps, columns: Taps, dtype: DType) -> Array:
    """Bilinear interpolation of integers in fixed point, rounded as TensorFlow does."""
    bits = _LERP_BITS[dtype.name]
    one = np.int64(1) << bits
    across = (columns.weights[:, 1].astype(np.float32) * np.float32(one)).astype(np.int64)[:, None]
    down = (rows.weights[:, 1].astype(np.float32) * np.float32(one)).astype(np.int64)[:, None, None]
    x = q.astype(np.int64)
    left, right = (np.take(x, columns.indices[:, i], 2) for i in range(2))
    x = left * one + (right - left) * across
    top, bottom = (np.take(x, rows.indices[:, i], 1) for i in range(2))
    result = top + truncated_quotient(bottom - top, one) * down
    return truncated_quotient(result + one // 2, one).astype(dtype.numpy)


@shape("QuantizedResizeBilinear")
def quantized_resize_bilinear_shape(images: TensorSpec, size: TensorSpec, min: TensorSpec, max: TensorSpec) -> list[Shape]:
    batch, _, _, channels = with_rank(images.shape, 4)
    return with_range(Shape((batch, *shape_from(size, 2), channels)))


@flops("QuantizedResizeBilinear")
def quantized_resize_bilinear_flops(
    images: TensorSpec, size: TensorSpec, *ranges: TensorSpec, T: DType, outputs: list[TensorSpec]
) -> Cost:
    """Three interpolations; in fixed point a product or a division more in each, a sum and a division at the end."""
    return Cost(14 if T.is_quantized else 9, macs=3) * outputs[0].shape.num_elements


without_gradient("QuantizedResizeBilinear")


@onnx("QuantizedRelu6")
def _relu6_onnx(g: Any, x: Any, low: Any, high: Any, *, Tinput: DType) -> Any:
    return in_onnx.clipped(g, x, low, high, Tinput=Tinput, top=g.constant(np.float32(6)))


@onnx("QuantizedReluX")
def _relu_x_onnx(g: Any, x: Any, top: Any, low: Any, high: Any, *, Tinput: DType) -> Any:
    return in_onnx.clipped(g, x, low, high, Tinput=Tinput, top=top)


@onnx("QuantizedRelu")
def _relu_onnx(g: Any, x: Any, low: Any, high: Any, *, Tinput: DType) -> Any:
    return in_onnx.clipped(g, x, low, high, Tinput=Tinput)


onnx("QuantizedMaxPool")(in_onnx.max_pooled)
onnx("QuantizedAvgPool")(in_onnx.average_pooled)
onnx("QuantizedInstanceNorm")(in_onnx.instance_normed)
onnx("QuantizedBatchNormWithGlobalNormalization")(in_onnx.batch_normed)
onnx("QuantizedResizeBilinear")(in_onnx.resized)
