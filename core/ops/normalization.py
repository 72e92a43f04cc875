"""Batch normalization in its fused forms and local response normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..errors import InvalidArgumentError
from ..graph import Node, Output
from ..numerics.widening import wide
from ..registry import Cost, facts, flops, gradient, kernel, layout, not_differentiable, shape
from ..shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ._windows import from_channels_last, is_channels_first, to_channels_last

_FORWARD = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_BACKWARD = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
_GRADIENT_OPS = dict(zip(_FORWARD, _BACKWARD))


def _check_vectors(channels: int, **vectors: Any) -> None:
    """Every named vector must have one element a channel."""
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise InvalidArgumentError(f"{name} must be 1-dimensional: {Shape(vector.shape)}")
        if vector.shape[0] != channels:
            raise InvalidArgumentError(f"{name} must have {channels} elements, one for each channel, not {vector.shape[0]}")


def _channels_last(x: Array, data_format: str) -> Array:
    if x.ndim not in (4, 5):
        raise InvalidArgumentError(f"input must be 4 or 5-dimensional: {Shape(x.shape)}")
    return to_channels_last(x, data_format)


def fused_batch_norm(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset for each channel.

    In training with the batch's own moments; returned are then the moving averages (the variance with Bessel's correction)
    and, in the reserved outputs, the batch's mean and variance as the gradient needs them.
    """
    values = wide(_channels_last(x, data_format))
    channels = values.shape[-1]
    _check_vectors(channels, scale=scale, offset=offset)
    if not is_training or exponential_avg_factor != 1.0:
        _check_vectors(channels, mean=mean, variance=variance)
    if is_training:
        new_mean, new_variance, used_mean, used_variance = _moments(values, mean, variance, exponential_avg_factor, scale)
    else:
        new_mean = used_mean = mean
        new_variance = used_variance = variance
    factor = scale / np.sqrt(used_variance + scale.dtype.type(epsilon))
    y = values * factor + (offset - used_mean * factor)
    result = from_channels_last(y.astype(x.dtype, copy=False), data_format)
    return result, new_mean, new_variance, used_mean, used_variance


def _moments(values: Array, mean: Array, variance: Array, factor: float, scale: Array) -> tuple[Array, Array, Array, Array]:
    """(moving mean, moving variance, batch mean, batch variance); NaN moving averages over an empty batch."""
    axes = tuple(range(values.ndim - 1))
    count = values.size // max(values.shape[-1], 1)
    if count == 0:
        empty = np.full(values.shape[-1], np.nan, scale.dtype)
        return empty, empty, np.zeros_like(empty), np.zeros_like(empty)
    batch_mean = np.mean(values, axes, dtype=values.dtype)
    batch_variance = np.mean(np.square(values - batch_mean), axes, dtype=values.dtype)
    unbiased = batch_variance * values.dtype.type(count / max(count - 1, 1))
    if factor == 1.0:
        return batch_mean, unbiased, batch_mean, batch_variance
    pairs = (mean, batch_mean), (variance, unbiased)
    moved_mean, moved_variance = (((1 - factor) * old + factor * new).astype(scale.dtype) for old, new in pairs)
    return moved_mean, moved_variance, batch_mean, batch_variance


@kernel("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm_v2(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
) -> tuple[Result, Result, Result, Result, Result]:
    return fused_batch_norm(
        x, scale, offset, mean, variance, epsilon=epsilon, exponential_avg_factor=exponential_avg_factor,
        data_format=data_format, is_training=is_training,
    )  # fmt: skip


@kernel("FusedBatchNormV3")
def fused_batch_norm_v3(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
) -> tuple[Result, Result, Result, Result, Result, Result]:
    results = fused_batch_norm(
        x, scale, offset, mean, variance, epsilon=epsilon, exponential_avg_factor=exponential_avg_factor,
        data_format=data_format, is_training=is_training,
    )  # fmt: skip
    return (*results, _reserve(x, scale))


def _reserve(x: Array, scale: Array) -> Array:
    """The last reserved output, which holds nothing: as TensorFlow shapes it."""
    return np.zeros(0 if x.ndim == 4 and x.dtype != np.float16 else (), scale.dtype)


@shape("FusedBatchNorm", "FusedBatchNormV2")
def fused_batch_norm_shape(
    x: TensorSpec, scale: TensorSpec, offset: TensorSpec, mean: TensorSpec, variance: TensorSpec, *, data_format: str
) -> list[Shape]:
    channels = Shape([x.shape[1 if is_channels_first(data_format) else -1]])
    for vector in (scale, offset):
        channels = merge_shapes(channels, vector.shape)
    return [x.shape, channels, channels, channels, channels]


@shape("FusedBatchNormV3")
def fused_batch_norm_v3_shape(
    x: TensorSpec, scale: TensorSpec, offset: TensorSpec, mean: TensorSpec, variance: TensorSpec, *, data_format: str
) -> list[Shape]:
    shapes = fused_batch_norm_shape(x, scale, offset, mean, variance, data_format=data_format)
    return [*shapes, Shape()]


layout("T.... -> T.*", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
facts("batch_normalization", of=("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))


@gradient(*_FORWARD)
def fused_batch_norm_gradient(g: GradientBuilder, node: Node, grad: Output, *_: Output) -> Gradients:
    """Only the gradient of y counts; in inference the moments are constants of their own."""
    x, scale = node.inputs[:2]
    training = node.attr("is_training")
    saved = [node.output(3), node.output(4)] if training else [node.inputs[3], node.inputs[4]]
    attrs = {name: node.attr(name) for name in ("epsilon", "data_format", "is_training")}
    extra = [node.output(5)] if node.op == "FusedBatchNormV3" else []
    dx, dscale, doffset, *_rest = g.apply(_GRADIENT_OPS[node.op], grad, x, scale, *saved, *extra, **attrs)
    return [dx, dscale, doffset, None, None]


def fused_batch_norm_grad(
    y_backprop: Array,
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[Array, Array, Array]:
    """The gradients of x, scale and offset; `mean` and `variance` are the forward pass's batch or fixed moments."""
    if y_backprop.shape != x.shape:
        shapes = f"{Shape(x.shape)} and {Shape(y_backprop.shape)}"
        raise InvalidArgumentError(f"x and y_backprop must have the same shape: {shapes}")
    dy, values = wide(_channels_last(y_backprop, data_format)), wide(_channels_last(x, data_format))
    _check_vectors(values.shape[-1], scale=scale, mean=mean, variance=variance)
    axes = tuple(range(values.ndim - 1))
    count = max(values.size // max(values.shape[-1], 1), 1)
    inverse = 1 / np.sqrt(variance + scale.dtype.type(epsilon))
    centered = values - mean
    doffset = np.sum(dy, axes, dtype=dy.dtype)
    dot = np.sum(dy * centered, axes, dtype=dy.dtype)
    dscale = dot * inverse
    dx = dy * (scale * inverse)
    if is_training:
        t = dy.dtype.type
        dx -= (scale * inverse * doffset * t(1 / count)) + centered * (scale * inverse**3 * dot * t(1 / count))
    return from_channels_last(dx.astype(x.dtype, copy=False), data_format), dscale, doffset


@kernel("FusedBatchNormGrad", "FusedBatchNormGradV2")
def fused_batch_norm_grad_v2(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[Result, Result, Result, Result, Result]:
    moments = (reserve_space_1, reserve_space_2)
    attrs: dict[str, Any] = {"epsilon": epsilon, "data_format": data_format, "is_training": is_training}
    results = fused_batch_norm_grad(y_backprop, x, scale, *moments, **attrs)
    nothing = np.zeros((), scale.dtype)
    return (*results, nothing, nothing)


@kernel("FusedBatchNormGradV3")
def fused_batch_norm_grad_v3(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    reserve_space_3: Array,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[Result, Result, Result, Result, Result]:
    attrs: dict[str, Any] = {"epsilon": epsilon, "data_format": data_format, "is_training": is_training}
    return fused_batch_norm_grad_v2(y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)


@shape("FusedBatchNormGrad", "FusedBatchNormGradV2")
def fused_batch_norm_grad_shape(
    y_backprop: TensorSpec, x: TensorSpec, scale: TensorSpec, reserve_space_1: TensorSpec, reserve_space_2: TensorSpec
) -> list[Shape]:
    return [merge_shapes(x.shape, y_backprop.shape), scale.shape, scale.shape, SCALAR, SCALAR]


@shape("FusedBatchNormGradV3")
def fused_batch_norm_grad_v3_shape(
    y_backprop: TensorSpec,
    x: TensorSpec,
    scale: TensorSpec,
    reserve_space_1: TensorSpec,
    reserve_space_2: TensorSpec,
    reserve_space_3: TensorSpec,
) -> list[Shape]:
    return fused_batch_norm_grad_shape(y_backprop, x, scale, reserve_space_1, reserve_space_2)


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
    data_format = node.attr("data_format").decode()
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
def fused_batch_norm_flops(
    x: TensorSpec, scale: TensorSpec, offset: TensorSpec, mean: TensorSpec, variance: TensorSpec, *, is_training: bool
) -> Cost:
    """A product and a sum an element; in training also the moments: two sums, a difference and a square. A few a channel."""
    elements, channels = x.shape.num_elements, scale.shape.num_elements
    return Cost(6 * elements + 4 * channels if is_training else 2 * elements + 5 * channels)


@flops(*_BACKWARD)
def fused_batch_norm_grad_flops(
    y_backprop: TensorSpec, x: TensorSpec, scale: TensorSpec, *rest: TensorSpec, is_training: bool
) -> Cost:
    """Two sums, a difference, a product and dx; in training dx less its two projections. A few a channel."""
    elements, channels = x.shape.num_elements, scale.shape.num_elements
    return Cost(8 * elements + 7 * channels if is_training else 5 * elements + 3 * channels)


def _window_sums(squares: Array, radius: int) -> Array:
    """Sums over channels within `radius`, along the last dimension."""
    padded = np.pad(squares, [(0, 0)] * (squares.ndim - 1) + [(radius + 1, radius)])
    sums = np.cumsum(padded, -1, dtype=np.float64)
    depth = squares.shape[-1]
    return (sums[..., 2 * radius + 1 :][..., :depth] - sums[..., :depth]).astype(squares.dtype)


def _check_lrn(x: Array) -> None:
    if x.ndim != 4:
        raise InvalidArgumentError(f"in must be 4-dimensional: {Shape(x.shape)}")


@kernel("LRN")
def lrn(input: Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Result:
    """x / (bias + alpha * sum of squares of the neighbouring channels) ** beta."""
    _check_lrn(input)
    x = wide(input)
    norm = bias + alpha * _window_sums(np.square(x), min(depth_radius, x.shape[-1]))
    return (x * norm.astype(x.dtype) ** x.dtype.type(-beta)).astype(input.dtype)


@kernel("LRNGrad")
def lrn_grad(
    input_grads: Array, input_image: Array, output_image: Array, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Result:
    _check_lrn(input_image)
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise InvalidArgumentError("input_grads, input_image and output_image must have the same shape")
    grads, x, y = wide(input_grads), wide(input_image), wide(output_image)
    radius = min(depth_radius, x.shape[-1])
    norm = bias + alpha * _window_sums(np.square(x), radius)
    through = _window_sums(grads * y / norm, radius)
    result = grads * norm.astype(x.dtype) ** x.dtype.type(-beta) - 2 * alpha * beta * x * through
    return result.astype(input_grads.dtype)


@shape("LRN")
def lrn_shape(input: TensorSpec) -> Shape:
    return merge_shapes(input.shape, Shape([None] * 4))


@shape("LRNGrad")
def lrn_grad_shape(input_grads: TensorSpec, input_image: TensorSpec, output_image: TensorSpec) -> Shape:
    return merge_shapes(input_grads.shape, merge_shapes(input_image.shape, output_image.shape))


@gradient("LRN")
def lrn_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = {name: node.attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return [g.LRNGrad(grad, node.inputs[0], node.output(), **attrs)]


not_differentiable("LRNGrad")


@flops("LRN")
def lrn_flops(input: TensorSpec, *, depth_radius: int) -> Cost:
    """A square, a sum over the window, a product and a sum, a power and a product for each element."""
    return Cost(2 * depth_radius + 4, transcendentals=1) * input.shape.num_elements


@flops("LRNGrad")
def lrn_grad_flops(input_grads: TensorSpec, input_image: TensorSpec, output_image: TensorSpec, *, depth_radius: int) -> Cost:
    """The norm and its power again, a sum over the window and six operations for each element."""
    return Cost(4 * depth_radius + 9, transcendentals=1) * input_image.shape.num_elements
