"""Arithmetic on quantized integers with their ranges: sums, products, activations, pooling, norms, concatenation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..dtypes import DType
from ..errors import InvalidArgumentError
from ..numerics import pooling as pooling_numerics
from ..numerics import resize as resize_numerics
from ..numerics.integers import truncated_quotient
from ..numerics.resize import Taps
from ..registry import ZERO, Cost, flops, kernel, multiply_adds, not_differentiable, shape, zero_flops
from ..shapes import Shape, TensorSpec, broadcast_shapes
from ._checks import require, require_rank, scalar, with_rank
from ._elementwise import unary_flops
from ._quantization import (
    from_float,
    limits,
    product_range,
    range_of,
    scalar_range,
    tensor_from_float,
    tensor_to_float,
    to_float,
    unclamped,
)
from ._shapes import ints, normalize_axis, scalar_int, shape_from
from .convolution import Geometry, convolution_shape
from .convolution import convolve as convolve_checked
from .pooling import Pool
from .requantize import DEQUANTIZING, QUANTIZING, requantization_range_flops, with_range


def _wrapped(x: Array) -> Array:
    """int32 from wider integers or exact floats, wrapping around."""
    return np.asarray(x).astype(np.int64).astype(np.int32)


def _without_zero(q: Array, bounds: tuple[Any, Any], dtype: DType) -> Array:
    """The integers less the one that stands for zero, exact in float64."""
    return q.astype(np.float64) - unclamped(0.0, *bounds, dtype)


def _sum_range(a: tuple[Any, Any], b: tuple[Any, Any], bits: int) -> tuple[Any, Any]:
    """A symmetric range, 2^bits times as wide as the operands."""
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
    """The ranges of two operands, none of them empty; the operands must broadcast."""
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
    parts = [(_in_range if one else _by_steps)(*part, (low, high), Toutput) for part, one in zip(both, lone)]
    return _wrapped(parts[0] + parts[1]), low, high


def _in_range(q: Array, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Array:
    return from_float(to_float(q, *old, old_type), *new, new_type).astype(np.int64)


def _by_steps(q: Array, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Array:
    """As _in_range, with one step rounded and multiplied, which is how TensorFlow adds tensors."""
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
    return _wrapped(_without_zero(x, a, T1) * _without_zero(y, b, T2)), *product_range(a, T1, b, T2, Toutput)


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


not_differentiable("QuantizedAdd", "QuantizedMul")


@kernel("QuantizedMatMul")
def quantized_mat_mul(
    a: Array,
    b: Array,
    min_a: Array,
    max_a: Array,
    min_b: Array,
    max_b: Array,
    *,
    T1: DType,
    T2: DType,
    Toutput: DType,
    transpose_a: bool,
    transpose_b: bool,
) -> tuple[Result, Result, Result]:
    """The matrix product; a step of the result is the product of their steps."""
    ranges = range_of(min_a, max_a, "a"), range_of(min_b, max_b, "b")
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    a = a.T if transpose_a else a
    b = b.T if transpose_b else b
    require(a.shape[1] == b.shape[0], f"matrices of {a.shape} and {b.shape} do not fit")
    require(a.shape[1] > 0, f"matrices of {a.shape} and {b.shape} share no dimension")
    product = _without_zero(a, ranges[0], T1) @ _without_zero(b, ranges[1], T2)
    return _wrapped(product), *product_range(ranges[0], T1, ranges[1], T2, Toutput)


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


not_differentiable("QuantizedMatMul")


@kernel("QuantizedBiasAdd")
def quantized_bias_add(
    input: Array,
    bias: Array,
    min_input: Array,
    max_input: Array,
    min_bias: Array,
    max_bias: Array,
    *,
    T1: DType,
    T2: DType,
    out_type: DType,
) -> tuple[Result, Result, Result]:
    """A vector added to the last dimension, in a range wide enough for both."""
    a, b = range_of(min_input, max_input, "input"), range_of(min_bias, max_bias, "bias")
    require(input.ndim >= 2, f"input must have at least rank 2, not shape {input.shape}")
    require_rank(bias, 1, "bias")
    require(bias.shape == input.shape[-1:], f"bias {bias.shape} does not fit input {input.shape}")
    low, high = _sum_range(a, b, 17)
    parts = [
        tensor_from_float(tensor_to_float(q, *bounds, dtype), low, high, out_type).astype(np.int64)
        for q, bounds, dtype in ((input, a, T1), (bias, b, T2))
    ]
    zero = int(from_float(np.float32(0), low, high, out_type))
    return _wrapped(parts[0] + parts[1] - zero), low, high


@shape("QuantizedBiasAdd")
def quantized_unary_shape(x: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    return with_range(x.shape)


@flops("QuantizedBiasAdd")
def quantized_bias_add_flops(input: TensorSpec, bias: TensorSpec, *ranges: TensorSpec) -> Cost:
    """The change of range of either operand, two and five operations, and two sums."""
    elements = input.shape.num_elements
    return (DEQUANTIZING + QUANTIZING) * (elements + bias.shape.num_elements) + Cost(2) * elements


not_differentiable("QuantizedBiasAdd")


@kernel("QuantizedConv2D")
def quantized_conv2d(
    input: Array,
    filter: Array,
    min_input: Array,
    max_input: Array,
    min_filter: Array,
    max_filter: Array,
    *,
    Tinput: DType,
    Tfilter: DType,
    out_type: DType,
    strides: list[int],
    padding: str,
    dilations: list[int],
) -> tuple[Result, Result, Result]:
    """The convolution (NHWC); a step of the result is the product of the steps."""
    a, b = range_of(min_input, max_input, "input"), range_of(min_filter, max_filter, "filter")
    require_rank(input, 4, "input")
    require_rank(filter, 4, "filter")
    require(input.shape[3] == filter.shape[2], f"input has {input.shape[3]} channels, the filter {filter.shape[2]}")
    geometry = Geometry(4, strides, padding, (), "NHWC", dilations)
    require(geometry.strides[0] == geometry.strides[1], f"the strides of height and width differ: {list(strides)}")
    result = convolve_checked(_without_zero(input, a, Tinput), _without_zero(filter, b, Tfilter), geometry)
    return _wrapped(result), *product_range(a, Tinput, b, Tfilter, out_type)


@shape("QuantizedConv2D")
def quantized_conv2d_shape(
    input: TensorSpec, filter: TensorSpec, *ranges: TensorSpec, strides: list[int], padding: str, dilations: list[int]
) -> list[Shape]:
    return with_range(convolution_shape(input, filter, Geometry(4, strides, padding, (), "NHWC", dilations)))


@flops("QuantizedConv2D")
def quantized_conv2d_flops(input: TensorSpec, filter: TensorSpec, *ranges: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A difference for each element and the convolution."""
    height, width, depth, _ = with_rank(filter.shape, 4)
    return _centered_cost(input, filter) + multiply_adds(outputs[0].shape.num_elements * (height * width * depth))


not_differentiable("QuantizedConv2D")


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

not_differentiable("QuantizedRelu", "QuantizedRelu6", "QuantizedReluX")


def _pooled(x: Array, ksize: list[int], strides: list[int], padding: str, function: Callable[..., Any]) -> Array:
    pool = Pool(4, ksize, strides, padding, "NHWC")
    require_rank(x, 4, "input")
    require(pool.depth == 1 and pool.depth_stride == 1, "pooling over channels")
    return function(x, pool.windows, pool.strides, pool.pads(x.shape[1:3]))


@kernel("QuantizedMaxPool")
def quantized_max_pool(
    input: Array, min_input: Array, max_input: Array, *, ksize: list[int], strides: list[int], padding: str
) -> tuple[Result, Result, Result]:
    """The largest integer of each window; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    return _pooled(input, ksize, strides, padding, pooling_numerics.max_pool), low, high


@flops("QuantizedMaxPool")
def quantized_max_pool_flops(input: TensorSpec, *ranges: TensorSpec, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """One comparison less than the window has elements."""
    return Cost(math.prod(ksize) - 1) * outputs[0].shape.num_elements


@kernel("QuantizedAvgPool")
def quantized_avg_pool(
    input: Array, min_input: Array, max_input: Array, *, T: DType, ksize: list[int], strides: list[int], padding: str
) -> tuple[Result, Result, Result]:
    """The mean of each window, rounded; the range stays."""
    low, high = scalar_range(min_input, max_input, "input")
    mean = _pooled(input.astype(np.float64), ksize, strides, padding, pooling_numerics.average_pool)
    return np.rint(mean).astype(T.numpy), low, high


@shape("QuantizedMaxPool", "QuantizedAvgPool")
def quantized_pool_shape(
    input: TensorSpec, *ranges: TensorSpec, ksize: list[int], strides: list[int], padding: str
) -> list[Shape]:
    batch, height, width, channels = with_rank(input.shape, 4)
    return with_range(Shape((batch, *Pool(4, ksize, strides, padding, "NHWC").sizes((height, width)), channels)))


@flops("QuantizedAvgPool")
def quantized_avg_pool_flops(input: TensorSpec, *ranges: TensorSpec, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window, a division and a rounding."""
    return Cost(math.prod(ksize) + 1) * outputs[0].shape.num_elements


not_differentiable("QuantizedMaxPool", "QuantizedAvgPool")


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
    """Moments and the norm, 6 each, and 2 for each channel; the range, unless given, and the change to it, 5."""
    batch, _, _, channels = with_rank(x.shape, 4)
    normed = Cost(6) * x.shape.num_elements + Cost(2) * (batch * channels)
    return normed + QUANTIZING * x.shape.num_elements + (ZERO if output_range_given else requantization_range_flops(x))


@kernel("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm_with_global_normalization(
    t: Array,
    t_min: Array,
    t_max: Array,
    m: Array,
    m_min: Array,
    m_max: Array,
    v: Array,
    v_min: Array,
    v_max: Array,
    beta: Array,
    beta_min: Array,
    beta_max: Array,
    gamma: Array,
    gamma_min: Array,
    gamma_max: Array,
    *,
    Tinput: DType,
    out_type: DType,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[Result, Result, Result]:
    """Batch normalization in fixed point within [-2^20, 2^20]."""
    require_rank(t, 4, "t")
    for name, vector in (("m", m), ("v", v), ("beta", beta), ("gamma", gamma)):
        require(vector.shape == t.shape[3:], f"{name} must have shape {t.shape[3:]}, not {vector.shape}")
    low, high = np.float32(-(1 << 20)), np.float32(1 << 20)
    mean = to_float(m, *range_of(m_min, m_max, "m"), Tinput)
    variance = to_float(v, *range_of(v_min, v_max, "v"), Tinput)
    scale = np.float32(1) / np.sqrt(variance + np.float32(variance_epsilon))
    if scale_after_normalization:
        scale = scale * to_float(gamma, *range_of(gamma_min, gamma_max, "gamma"), Tinput)
    offset = -mean * scale + to_float(beta, *range_of(beta_min, beta_max, "beta"), Tinput)
    scale, offset, one = (from_float(x, low, high, out_type).astype(np.int64) for x in (scale, offset, np.float32(1)))
    values = _in_range(t, range_of(t_min, t_max, "t"), Tinput, (low, high), out_type)
    products = _wrapped(values * scale).astype(np.int64)
    return _wrapped(truncated_quotient(products, one) + offset), low, high


shape("QuantizedInstanceNorm", "QuantizedBatchNormWithGlobalNormalization")(quantized_unary_shape)

not_differentiable("QuantizedInstanceNorm")


@flops("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm_flops(x: TensorSpec, *rest: TensorSpec, scale_after_normalization: bool) -> Cost:
    """The change of range, a product, a division and a sum; for each channel the scale and the offset in the new range."""
    of_channel = QUANTIZING * 2 + DEQUANTIZING * 3 + Cost(5) + (DEQUANTIZING + Cost(1) if scale_after_normalization else ZERO)
    return (DEQUANTIZING + QUANTIZING + Cost(3)) * x.shape.num_elements + of_channel * with_rank(x.shape, 4)[3]


not_differentiable("QuantizedBatchNormWithGlobalNormalization")


def _joined_range(ranges: list[tuple[Any, ...]], dtype: DType) -> tuple[Any, Any]:
    """The range that holds all and zero; symmetric for signed types."""
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
        return with_range(Shape([None] * rank))
    at = normalize_axis(scalar_int(axis.value, "axis"), rank)
    dims = list(values[0].shape)
    dims[at] = sum(v.shape[at] for v in values)
    return with_range(Shape(dims))


@shape("QuantizedConcat")
def quantized_concat_shape(
    concat_dim: TensorSpec, values: list[TensorSpec], input_mins: list[TensorSpec], input_maxes: list[TensorSpec]
) -> Any:
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
) -> Any:
    return _concat_shape(axis, values)


_MOVING = ("QuantizedConcat", "QuantizedConcatV2", "QuantizedReshape")

zero_flops(*_MOVING)


@kernel("QuantizedReshape")
def quantized_reshape(tensor: Array, shape: Array, input_min: Array, input_max: Array) -> tuple[Result, Result, Result]:
    """Another shape; the range stays."""
    low, high = range_of(input_min, input_max, "tensor")
    dims = ints(shape, "shape")
    missing = dims.count(-1)
    known = int(np.prod([d for d in dims if d != -1], dtype=np.int64))
    require(missing <= 1 and min(dims, default=0) >= -1, f"shape {dims} is no shape")
    fits = tensor.size == known if not missing else known > 0 and tensor.size % known == 0
    require(fits, f"{tensor.size} elements do not fit into shape {dims}")
    return tensor.reshape(dims), low, high


@shape("QuantizedReshape")
def quantized_reshape_shape(tensor: TensorSpec, shape: TensorSpec, input_min: TensorSpec, input_max: TensorSpec) -> Any:
    return with_range(shape_from(shape))


not_differentiable("QuantizedConcat", "QuantizedConcatV2", "QuantizedReshape")


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


not_differentiable("QuantizedResizeBilinear")
