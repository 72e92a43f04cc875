"""Batch normalization in its fused forms and local response normalization."""

from __future__ import annotations

import functools
import math
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import channel_sums
from ...numerics.array_namespace import NUMPY
from ...numerics.gemm import matmul
from ...numerics.half_precision import wide
from ...registry.registry import (
    WITHOUT_GRADIENT,
    Cost,
    affine,
    arrays,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    lower,
    onnx,
    shape,
    shaped,
)
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import may_equal, with_rank
from ..shared.decompositions import by_ops
from ..shared.onnx_lowerings import on_channels_first
from ..shared.window_geometry import from_channels_last, is_channels_first, to_channels_last

_Value = TypeVar("_Value")
_FORWARD = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_BACKWARD = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
_GRADIENT_OPS = dict(zip(_FORWARD, _BACKWARD))


def _check_vectors(channels: int, **vectors: Any) -> None:
    """Raise InvalidArgumentError unless every named vector has an element for each channel."""
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise InvalidArgumentError(f"{name} must be 1-dimensional: {Shape(vector.shape)}")
        if vector.shape[0] != channels:
            raise InvalidArgumentError(f"{name} must have {channels} elements, one for each channel, not {vector.shape[0]}")


def _channels_last(x: Array, data_format: str) -> Array:
    if x.ndim not in (4, 5):
        raise InvalidArgumentError(f"input must be 4 or 5-dimensional: {Shape(x.shape)}")
    return to_channels_last(x, data_format)


class Vectors(NamedTuple, Generic[_Value]):
    """The vectors that normalize the channels, a number for each channel."""

    scale: _Value
    offset: _Value
    mean: _Value
    variance: _Value


class BatchNormAttributes(NamedTuple):
    """The attributes of batch normalization; its backward ops have no factor of moving averages."""

    epsilon: float
    data_format: str
    is_training: bool
    exponential_avg_factor: float = 1.0


def fused_batch_norm(
    x: Array, vectors: Vectors[Array], *, settings: BatchNormAttributes
) -> tuple[Array, Array, Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.

    In training with the batch's own moments; returned are then the moving averages (the variance with Bessel's correction)
    and, in the reserved outputs, the batch's mean and variance as the gradient needs them.
    """
    scale, offset, mean, variance = vectors
    average, is_training = settings.exponential_avg_factor, settings.is_training
    values = wide(_channels_last(x, settings.data_format))
    channels = values.shape[-1]
    _check_vectors(channels, scale=scale, offset=offset)
    # In training with a factor of 1 the moving moments are replaced without being read, and TensorFlow takes them empty.
    if not is_training or average != 1.0:
        _check_vectors(channels, mean=mean, variance=variance)
    if is_training:
        new_mean, new_variance, used_mean, used_variance = _moments(values, mean, variance, average, scale)
    else:
        new_mean = used_mean = mean
        new_variance = used_variance = variance
    used = Vectors(scale, offset, used_mean, used_variance)
    factor, bias = _factor_and_bias(used, settings.epsilon)
    # One product and one sum an element, with all else computed for each channel.
    y = channel_sums.scaled(values, factor, bias) if values.size else values
    result = from_channels_last(y.astype(x.dtype, copy=False), settings.data_format)
    return result, new_mean, new_variance, used_mean, used_variance


def _factor_and_bias(vectors: Vectors[Array], epsilon: float) -> tuple[Array, Array]:
    """Return the vectors that normalize: x * factor + bias."""
    scale, offset, mean, variance = vectors
    factor = scale / np.sqrt(variance + scale.dtype.type(epsilon))
    return factor, offset - mean * factor


@affine(*_FORWARD)
def fused_batch_norm_affine(
    x: Array, scale: Array, offset: Array, mean: Array, variance: Array, *, epsilon: float, data_format: str
) -> tuple[Array, Array]:
    """Return factor and bias of a normalization with given moments."""
    channels = _channels_last(x, data_format).shape[-1]
    _check_vectors(channels, scale=scale, offset=offset, mean=mean, variance=variance)
    return _factor_and_bias(Vectors(scale, offset, mean, variance), epsilon)


def _moments(values: Array, mean: Array, variance: Array, factor: float, scale: Array) -> tuple[Array, Array, Array, Array]:
    """(moving mean, moving variance, batch mean, batch variance); NaN moving averages over an empty batch."""
    count = values.size // max(values.shape[-1], 1)
    # TensorFlow returns NaN for the moving averages of no elements, and leaves its reserves unwritten; here they are zeros.
    if count == 0:
        empty = np.full(values.shape[-1], np.nan, scale.dtype)
        return empty, empty, np.zeros_like(empty), np.zeros_like(empty)
    batch_mean, batch_variance = channel_sums.moments(values)
    # Bessel's correction is for the moving variance alone: y and the gradient use the biased one. A single element would
    # divide by 0.
    unbiased = batch_variance * values.dtype.type(count / max(count - 1, 1))
    if factor == 1.0:
        return batch_mean, unbiased, batch_mean, batch_variance
    pairs = (mean, batch_mean), (variance, unbiased)
    moved_mean, moved_variance = (((1 - factor) * old + factor * new).astype(scale.dtype) for old, new in pairs)
    return moved_mean, moved_variance, batch_mean, batch_variance


kernel("FusedBatchNorm", "FusedBatchNormV2")(fused_batch_norm)


@kernel("FusedBatchNormV3")
def fused_batch_norm_v3(
    x: Array, vectors: Vectors[Array], *, settings: BatchNormAttributes
) -> tuple[Result, Result, Result, Result, Result, Result]:
    reserve_space_3 = np.zeros(_reserved_dims(x.ndim, x.dtype == np.float16), vectors.scale.dtype)
    return (*fused_batch_norm(x, vectors, settings=settings), reserve_space_3)


def _reserved_dims(rank: int, is_half: bool) -> tuple[int, ...]:
    # TensorFlow's oneDNN kernel, for floats of rank 4, allocates no elements; its other kernels allocate a scalar.
    return (0,) if rank == 4 and not is_half else ()


@shape("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm_shape(x: TensorSpec, vectors: Vectors[TensorSpec], *, data_format: str, is_training: bool) -> list[Shape]:
    dims = list(with_rank(x.shape, x.rank or len(data_format)))
    place = 1 if is_channels_first(data_format) else -1
    channels = Shape(dims[place:][:1])
    # Training may leave out the moments, which are empty then.
    for vector in vectors[:2] if is_training else vectors:
        channels = merge_shapes(channels, vector.shape)
    dims[place] = channels[0]
    return [Shape(dims), channels, channels, channels, channels]


@shape("FusedBatchNormV3")
def fused_batch_norm_v3_shape(
    x: TensorSpec, vectors: Vectors[TensorSpec], *, data_format: str, is_training: bool
) -> list[Shape]:
    return [*fused_batch_norm_shape(x, vectors, data_format=data_format, is_training=is_training), Shape()]


layout("T.... -> T.*", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
facts("batch_normalization", of=("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))


@gradient(*_FORWARD)
def fused_batch_norm_gradient(g: GradientBuilder, node: Node, grad: Output, *_: Output) -> Gradients:
    """Only the gradient of y counts; in inference the moments are constants of their own."""
    x, scale = node.inputs[:2]
    training = node.attr("is_training")
    saved = [node.output(3), node.output(4)] if training else [node.inputs[3], node.inputs[4]]
    attrs = {name: node.attr(name) for name in ("epsilon", "data_format", "is_training")}
    # Only the third version has a third reserve to hand on.
    extra = [node.output(5)] if node.op == "FusedBatchNormV3" else []
    dx, dscale, doffset, *_rest = g.apply(_GRADIENT_OPS[node.op], grad, x, scale, *saved, *extra, **attrs)
    return [dx, dscale, doffset, None, None]


class Saved(NamedTuple, Generic[_Value]):
    """The inputs of a backward op after the gradient: inputs of the forward op, and its moments."""

    x: _Value
    scale: _Value
    reserve_space_1: _Value
    reserve_space_2: _Value


def fused_batch_norm_grad(y_backprop: Array, saved: Saved[Array], settings: BatchNormAttributes) -> tuple[Array, Array, Array]:
    """Return the gradients of x, scale and offset; `mean` and `variance` are the forward pass's batch or fixed moments."""
    x, scale, mean, variance = saved
    is_training, data_format = settings.is_training, settings.data_format
    if y_backprop.shape != x.shape:
        shapes = f"{Shape(x.shape)} and {Shape(y_backprop.shape)}"
        raise InvalidArgumentError(f"x and y_backprop must have the same shape: {shapes}")
    dy, values = (wide(_channels_last(array, data_format)) for array in (y_backprop, x))
    _check_vectors(values.shape[-1], scale=scale, mean=mean, variance=variance)
    inverse = 1 / np.sqrt(variance + scale.dtype.type(settings.epsilon))
    if not values.size:
        nothing = np.zeros_like(inverse)
        return np.zeros_like(x), nothing, nothing
    part = dy.dtype.type(values.shape[-1] / values.size)
    # Where the mean is small beside the deviation, sums over x can replace sums over x - mean without cancellation, which
    # saves a pass.
    is_near = is_training and channel_sums.is_near(mean, variance)
    doffset, dot = channel_sums.gradient_sums(dy, values, mean, is_near)
    factor = scale * inverse
    if is_training:
        # In training the moments depend on x: dy loses its mean and its projection on the normalized x.
        dx = channel_sums.combined(dy, factor, values, mean, inverse**2 * dot * part, doffset * part, is_near)
    else:
        dx = dy * factor
    dscale = dot * inverse
    return from_channels_last(dx.astype(x.dtype, copy=False), data_format), dscale, doffset


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", facts=("backward", "stated_reserves"))
def fused_batch_norm_grad_v2(
    y_backprop: Array, saved: Saved[Array], *unused: Array, settings: BatchNormAttributes
) -> tuple[Result, Result, Result, Result, Result]:
    # Scalars come from TensorFlow's kernels of oneDNN; the others give vectors without elements.
    nothing = np.zeros((), saved.scale.dtype)
    return (*fused_batch_norm_grad(y_backprop, saved, settings), nothing, nothing)


@shape("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad_shape(y_backprop: TensorSpec, saved: Saved[TensorSpec], *, data_format: str) -> list[Shape]:
    return [*grad_shapes(saved.x, y_backprop, data_format, *saved[1:]), SCALAR, SCALAR]


def grad_shapes(x: TensorSpec, y_backprop: TensorSpec, data_format: str, *vectors: TensorSpec) -> list[Shape]:
    """Return the shapes of the gradients of x, scale and offset; a number of each vector belongs to a channel."""
    both = merge_shapes(x.shape, y_backprop.shape)
    dims = list(with_rank(both, both.rank or len(data_format)))
    place = 1 if is_channels_first(data_format) else -1
    channels = functools.reduce(merge_shapes, (vector.shape for vector in vectors), Shape(dims[place:][:1]))
    dims[place] = channels[0]
    return [Shape(dims), channels, channels]


layout("TT.* -> T.*", "FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")


def _mean_of(g: GradientBuilder, x: Any, axes: Any) -> Any:
    return g.Mean(x, axes, keep_dims=True)


@gradient(*_BACKWARD)
def fused_batch_norm_grad_gradient(
    g: GradientBuilder, node: Node, grad_dx: Output, grad_dscale: Output, grad_doffset: Output, *_: Output
) -> Gradients:
    """The gradient of the backward op, by the formulas of the op written out on channels-last float32 values.

    With xh the normalized x and s = scale / sqrt(variance + epsilon): dx = s (dy - mean(dy) - xh mean(dy xh)) in training and
    s dy in inference, dscale = sum(dy xh), doffset = sum(dy).
    """
    data_format = node.attr("data_format").decode("utf-8", "replace")
    rank = len(data_format)
    first = is_channels_first(data_format)
    to_last, to_first = [0, *range(2, rank), 1], [0, rank - 1, *range(1, rank - 1)]
    last = (lambda v: g.Transpose(v, to_last)) if first else (lambda v: v)
    back = (lambda v: g.Transpose(v, to_first)) if first else (lambda v: v)
    dtype = node.inputs[0].base_dtype
    widen = lambda v: g.Cast(last(v), DstT="float")  # noqa: E731 - local shorthand in a formula
    dy, x, gx = widen(node.inputs[0]), widen(node.inputs[1]), widen(grad_dx)
    scale, mean, variance = node.inputs[2:5]
    axes = list(range(rank - 1))
    inverse = g.Rsqrt(g.AddV2(variance, g.scalar_like(variance, node.attr("epsilon"))))
    xh = g.Mul(g.Sub(x, mean), inverse)
    s = g.Mul(scale, inverse)
    if not node.attr("is_training"):
        ddy = g.AddV2(g.AddV2(g.Mul(gx, s), g.Mul(grad_dscale, xh)), grad_doffset)
        dx = g.Mul(g.Mul(dy, grad_dscale), inverse)
        dscale = g.Sum(g.Mul(g.Mul(gx, dy), inverse), axes)
        return [g.Cast(back(ddy), DstT=dtype), g.Cast(back(dx), DstT=dtype), dscale, *[None] * (len(node.inputs) - 3)]
    project = lambda v: g.Sub(g.Sub(v, _mean_of(g, v, axes)), g.Mul(xh, _mean_of(g, g.Mul(v, xh), axes)))  # noqa: E731
    projected_dy = project(dy)
    ddy = g.AddV2(g.AddV2(g.Mul(s, project(gx)), g.Mul(grad_dscale, xh)), grad_doffset)
    dscale = g.Sum(g.Mul(g.Mul(gx, projected_dy), inverse), axes)
    # The derivative with respect to xh, taken through xh = (x - mean) / std with the batch's own moments.
    through = g.Sub(
        g.Mul(dy, grad_dscale),
        g.Mul(s, g.AddV2(g.Mul(gx, _mean_of(g, g.Mul(dy, xh), axes)), g.Mul(dy, _mean_of(g, g.Mul(gx, xh), axes)))),
    )
    through_std = g.Neg(g.Mul(xh, _mean_of(g, g.Mul(g.Mul(gx, s), projected_dy), axes)))
    dx = g.Mul(inverse, g.AddV2(project(through), through_std))
    return [g.Cast(back(ddy), DstT=dtype), g.Cast(back(dx), DstT=dtype), dscale, *[None] * (len(node.inputs) - 3)]


@flops(*_FORWARD)
def fused_batch_norm_flops(x: TensorSpec, vectors: Vectors[TensorSpec], *, is_training: bool) -> Cost:
    """A product and a sum an element; in training also the moments: two sums, a difference and a square. A few a channel."""
    elements, channels = x.shape.num_elements, vectors.scale.shape.num_elements
    return Cost(6 * elements + 4 * channels if is_training else 2 * elements + 5 * channels)


@flops(*_BACKWARD)
def fused_batch_norm_grad_flops(y_backprop: TensorSpec, x: TensorSpec, scale: TensorSpec, *, is_training: bool) -> Cost:
    """Two sums, a difference, a product and dx; in training dx less its two projections. A few for each channel."""
    elements, channels = x.shape.num_elements, scale.shape.num_elements
    return Cost(8 * elements + 7 * channels if is_training else 5 * elements + 3 * channels)


def _along_channels(xp: Any, v: Any, data_format: str) -> Any:
    return xp.reshape(v, [-1 if name == "C" else 1 for name in data_format])


facts("own_gradient", of=[*_FORWARD, *_BACKWARD])


def _statistics(xp: Any, x: Any, vectors: Vectors[Any], settings: BatchNormAttributes) -> tuple[Any, ...]:
    """Return the running mean and variance, and the mean and variance to normalize by: in training those of the batch."""
    running, data_format = (vectors.mean, vectors.variance), settings.data_format
    if not settings.is_training:
        return *running, *running
    axes = tuple(axis for axis, name in enumerate(data_format) if name != "C")
    mean = xp.mean(x, axes)
    centered = x - _along_channels(xp, mean, data_format)
    variance = xp.mean(centered * centered, axes)
    size = xp.size(x)
    count = xp.asarray(size // x.shape[data_format.index("C")]).astype(x.dtype)
    # A batch's variance is returned without bias, and saved for the gradient with bias.
    new, factor = (mean, variance * (count / xp.maximum(count - 1, 1))), settings.exponential_avg_factor
    # The mean of nothing is NaN, as TensorFlow returns it in the running moments; the batch's own are 0 there.
    if not isinstance(size, int) or not size:
        mean, variance = (xp.where(count > 0, value, xp.zeros_like(value)) for value in (mean, variance))
    return *(new if factor == 1 else (a * (1 - factor) + b * factor for a, b in zip(running, new))), mean, variance


@lower("FusedBatchNormV3")
def _fused_batch_norm_lowering(xla: Any, x: Any, vectors: Vectors[Any], *, settings: BatchNormAttributes) -> Any:
    x, data_format = x.astype(vectors.scale.dtype), settings.data_format  # squares of half precision would overflow
    *returned, mean, variance = _statistics(xla, x, vectors, settings)
    multiple = _along_channels(xla, xla.rsqrt(variance + settings.epsilon) * vectors.scale, data_format)
    y = (x - _along_channels(xla, mean, data_format)) * multiple + _along_channels(xla, vectors.offset, data_format)
    return y, *returned, mean, variance, np.zeros(0, np.float32)


@lower("FusedBatchNorm", "FusedBatchNormV2")
def _fused_batch_norm_v2_lowering(xla: Any, x: Any, vectors: Vectors[Any], *, settings: BatchNormAttributes) -> Any:
    return _fused_batch_norm_lowering(xla, x, vectors, settings=settings)[:5]


@arrays("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _fused_batch_norm_grad_of_arrays(
    xp: Any, grad: Any, saved: Saved[Any], *unused: Any, settings: BatchNormAttributes
) -> tuple[Any, ...]:
    """In training the statistics of the batch depend on x."""
    x, scale, mean, variance = saved
    data_format = settings.data_format
    x, dy = x.astype(scale.dtype), grad.astype(scale.dtype)
    axes = tuple(axis for axis, name in enumerate(data_format) if name != "C")
    inverse = xp.rsqrt(variance + settings.epsilon)
    normal = (x - _along_channels(xp, mean, data_format)) * _along_channels(xp, inverse, data_format)
    d_scale, d_offset = xp.sum(dy * normal, axes), xp.sum(dy, axes)
    if settings.is_training:
        of_scale, of_offset = (xp.mean(value, axes, keepdims=True) for value in (dy * normal, dy))
        dy = dy - of_offset - normal * of_scale
    dx = (dy * _along_channels(xp, scale * inverse, data_format)).astype(grad.dtype)
    nothing = np.zeros((), np.float32)
    return dx, d_scale, d_offset, nothing, nothing


@onnx("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm_onnx(
    g: Any, x: Any, vectors: Vectors[Any], *, settings: BatchNormAttributes, outputs: list[TensorSpec]
) -> Any:
    """Normalize by ONNX's operator, which runtimes fuse with a convolution before it."""
    scale, offset, _, _ = vectors
    wide_x = g.cast(x, scale.dtype)
    *returned, mean, variance = g.evaluate(_statistics, (), (), (wide_x, vectors, settings), {})

    def normalized(first: Any) -> Any:
        return g.BatchNormalization(first, scale, offset, mean, variance, epsilon=settings.epsilon)

    y = g.cast(on_channels_first(g, wide_x, settings.data_format, normalized), x.dtype)
    reserved = np.zeros(_reserved_dims(len(settings.data_format), x.dtype.name == "half"))
    return [y, *returned, mean, variance, *[g.constant(reserved, scale.dtype)] * len(outputs[5:])]


facts("half_infer", of=["FusedBatchNormGradV2", "FusedBatchNormGradV3", "FusedBatchNormV2", "FusedBatchNormV3"])


def _window_sums(xp: Any, x: Any, radius: int) -> Any:
    """Sum over the channels within `radius` along the last dimension: the product with a band matrix."""
    channels = np.arange(x.shape[-1])
    # The band matrix grows with the square of the channels, which an input of few rows need not have memory for.
    reserve(len(channels) ** 2 * x.itemsize)
    # A matrix product sums the neighbours faster than shifted sums, and rounds each sum alone: running sums would carry
    # errors along.
    near = (np.abs(channels[:, None] - channels) <= radius).astype(x.dtype)
    if xp is not np:
        return xp.matmul(x, near)
    return matmul(x.reshape(math.prod(x.shape[:-1]), len(channels)), near).reshape(x.shape)


def _inverse_power(xp: Any, norm: Any, beta: float) -> Any:
    """Return norm to the power of -beta by TensorFlow's two functions: a power would differ in the last digits."""
    return 1 / norm if beta == 1 else xp.exp(xp.log(norm) * norm.dtype.type(-beta))


def _check_lrn(x: Array, depth_radius: int) -> None:
    if not 0 <= depth_radius < 1 << 31:
        raise InvalidArgumentError(f"depth_radius = {depth_radius} larger than int max")
    if x.ndim != 4:
        raise InvalidArgumentError(f"in must be 4-dimensional: {Shape(x.shape)}")


def lrn(xp: Any, input: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """x / (bias + alpha * sum of squares of the neighbouring channels) ** beta."""
    _check_lrn(input, depth_radius)
    x = wide(input)
    norm = bias + alpha * _window_sums(xp, x * x, depth_radius)
    return (x * _inverse_power(xp, norm, beta)).astype(input.dtype, copy=False)


kernel("LRN")(functools.partial(lrn, NUMPY))
lower("LRN")(lrn)


@everywhere("LRNGrad", shape="n h w c, n h w c, n h w c -> n h w c", gradient=WITHOUT_GRADIENT, facts=("backward",))
def lrn_grad(
    xp: Any,
    input_grads: Any,
    input_image: Any,
    output_image: Any,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Any:
    _check_lrn(input_image, depth_radius)
    for value in (input_grads, output_image):
        if not may_equal(value.shape, input_image.shape):
            raise InvalidArgumentError("input_grads, input_image and output_image must have the same shape")
    grads, x, y = map(wide, (input_grads, input_image, output_image))
    norm = bias + alpha * _window_sums(xp, x * x, depth_radius)
    through = _window_sums(xp, grads * y / norm, depth_radius)
    result = grads * _inverse_power(xp, norm, beta) - 2 * alpha * beta * x * through
    return result.astype(input_grads.dtype, copy=False)


shaped("a b c d -> a b c d", "LRN")
gradient("LRN")(by_ops("LRNGrad dy 0 y"))


@flops("LRN")
def lrn_flops(input: TensorSpec, *, depth_radius: int) -> Cost:
    """A square, a sum over the window, a product and a sum, a power and a product for each element."""
    return Cost(2 * depth_radius + 4, transcendentals=1) * input.shape.num_elements


@flops("LRNGrad")
def lrn_grad_flops(input_grads: TensorSpec, input_image: TensorSpec, *, depth_radius: int) -> Cost:
    """The norm and its power again, a sum over the window and six operations for each element."""
    return Cost(4 * depth_radius + 9, transcendentals=1) * input_image.shape.num_elements


facts("row_wise", of=("LRN",))


# An operator in place of the product with a band matrix.
@onnx("LRN")
def _lrn_onnx(g: Any, x: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """ONNX divides alpha by the size of the window."""
    size = 2 * depth_radius + 1
    return g.channels_last(g.LRN(g.channels_first(x), size=size, alpha=alpha * size, beta=beta, bias=bias), 4)
