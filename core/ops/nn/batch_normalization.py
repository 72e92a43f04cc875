"""Batch normalization of graphs older than the fused ops, and the ops that Grappler fuses with an activation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...numerics.elementwise import positive_part
from ...numerics.half_precision import wide
from ...registry.registry import Cost, everywhere, facts, flops, kernel, layout, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require_rank, require_same_shape, require_shape, with_rank
from ..shared.decompositions import by_outputs, composed
from .normalization import (
    BatchNormAttributes,
    Saved,
    Vectors,
    fused_batch_norm,
    fused_batch_norm_flops,
    fused_batch_norm_grad,
    fused_batch_norm_grad_flops,
    fused_batch_norm_shape,
    grad_shapes,
)


def _checked(t: Any, **vectors: Any) -> tuple[Any, ...]:
    """Return t and the vectors, of an element for each channel, as they are computed with.

    Half precision is computed in float32, as Eigen does, and rounded once at the end.
    """
    require_rank(t, 4, "t")
    for name, vector in vectors.items():
        require_shape(vector, t.shape[3:], name)
    return tuple(map(wide, (t, *vectors.values())))


def _factors(xp: Any, v: Any, gamma: Any, epsilon: float, is_scaled: bool) -> tuple[Any, Any]:
    """Return the reciprocal of the deviation, and the factor of the centered numbers."""
    inverse = 1 / xp.sqrt(v + v.dtype.type(epsilon))
    return inverse, inverse * gamma if is_scaled else inverse


@everywhere(
    "BatchNormWithGlobalNormalization",
    shape="n h w c, c, c, c, c -> n h w c",
    gradient=by_outputs("BatchNormWithGlobalNormalizationGrad 0 1 2 4 dy"),
)
def batch_norm_with_global_normalization(
    xp: Any, t: Any, m: Any, v: Any, beta: Any, gamma: Any, *, variance_epsilon: float, scale_after_normalization: bool
) -> Any:
    """(t - m) / sqrt(v + epsilon) [* gamma] + beta for each channel."""
    x, m, v, beta, gamma = _checked(t, m=m, v=v, beta=beta, gamma=gamma)
    _, factor = _factors(xp, v, gamma, variance_epsilon, scale_after_normalization)
    return ((x - m) * factor + beta).astype(t.dtype, copy=False)


@flops("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization_flops(t: TensorSpec, *, scale_after_normalization: bool) -> Cost:
    """A difference, a product and a sum an element; a sum, a root, a division and, to scale, a product a channel."""
    return Cost(3 * t.shape.num_elements + (4 if scale_after_normalization else 3) * with_rank(t.shape, 4)[3])


@everywhere("BatchNormWithGlobalNormalizationGrad", shape="n h w c, c, c, c, n h w c -> n h w c, c, c, c, c")
def batch_norm_with_global_normalization_grad(
    xp: Any, t: Any, m: Any, v: Any, gamma: Any, backprop: Any, *, variance_epsilon: float, scale_after_normalization: bool
) -> Any:
    """Return the gradients for t, m, v, beta and gamma; zeros for an unused gamma."""
    require_same_shape(t, backprop, "t and backprop")
    dtype, (t, m, v, gamma), backprop = t.dtype, _checked(t, m=m, v=v, gamma=gamma), wide(backprop)
    inverse, factor = _factors(xp, v, gamma, variance_epsilon, scale_after_normalization)
    centered = xp.sum(backprop * (t - m), (0, 1, 2))
    d_beta = xp.sum(backprop, (0, 1, 2))
    # TensorFlow returns a gradient for gamma in any case: zeros where gamma is not used.
    d_gamma = centered * inverse if scale_after_normalization else xp.zeros_like(gamma)
    d_variance = centered * factor * (inverse * inverse) * -0.5
    return tuple(x.astype(dtype, copy=False) for x in (backprop * factor, -(d_beta * factor), d_variance, d_beta, d_gamma))


@flops("BatchNormWithGlobalNormalizationGrad")
def batch_norm_with_global_normalization_grad_flops(t: TensorSpec, *, scale_after_normalization: bool) -> Cost:
    """A difference, a product, two sums and a product an element; a few operations a channel."""
    return Cost(5 * t.shape.num_elements + (9 if scale_after_normalization else 7) * with_rank(t.shape, 4)[3])


facts("backward", of=("BatchNormWithGlobalNormalizationGrad",))
without_gradient("BatchNormWithGlobalNormalizationGrad")


@kernel("_FusedBatchNormEx")
def fused_batch_norm_ex(
    x: Array, vectors: Vectors[Array], side_input: list[Array], *, settings: BatchNormAttributes, activation_mode: str
) -> tuple[Result, ...]:
    """activation(batch norm of x + side input)."""
    y, *moments = fused_batch_norm(x, vectors, settings=settings)
    for side in side_input:
        require_same_shape(side, x, "side_input and x")
        y = y + side
    if activation_mode == "Relu":
        y = positive_part(y)
    # The last reserve is empty on a CPU; a GPU keeps its library's workspace there.
    return (y, *moments, np.zeros(0, vectors.scale.dtype))


@shape("_FusedBatchNormEx")
def fused_batch_norm_ex_shape(
    x: TensorSpec, vectors: Vectors[TensorSpec], *, data_format: str, is_training: bool
) -> list[Shape]:
    return [*fused_batch_norm_shape(x, vectors, data_format=data_format, is_training=is_training), Shape([None])]


layout("T....T* -> T.*", "_FusedBatchNormEx")


@flops("_FusedBatchNormEx")
def fused_batch_norm_ex_flops(
    x: TensorSpec, vectors: Vectors[TensorSpec], side_input: list[TensorSpec], *, is_training: bool, activation_mode: str
) -> Cost:
    """As FusedBatchNorm, with a sum for the side input and a comparison for Relu."""
    normalized = fused_batch_norm_flops(x, vectors, is_training=is_training)
    return normalized + Cost((len(side_input) + (activation_mode == "Relu")) * x.shape.num_elements)


@composed("_FusedBatchNormEx")
def fused_batch_norm_ex_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Batch normalization, the sum with the side input, and the activation."""
    names = ("epsilon", "exponential_avg_factor", "data_format", "is_training")
    y, *moments = g.FusedBatchNormV3(*inputs[:5], **{name: node.attr(name) for name in names})
    for side in inputs[5:]:
        y = g.AddV2(y, side)
    return [g.Relu(y) if node.attr("activation_mode") == b"Relu" else y, *moments]


@kernel("_FusedBatchNormGradEx")
def fused_batch_norm_grad_ex(
    y_backprop: Array, saved: Saved[Array], reserve_space_3: Array, offset: Array, y: Array, *,
    settings: BatchNormAttributes, activation_mode: str, num_side_inputs: int,
) -> Any:  # fmt: skip
    """The gradients of x, scale, offset and the side input; an activation stops them where y is not positive."""
    if activation_mode == "Relu":
        require_same_shape(y, y_backprop, "y and y_backprop")
        # The output stands for the sum before the activation: both are positive at the same places.
        y_backprop = np.where(y > 0, y_backprop, y_backprop.dtype.type(0))
    # The side input was added to the normalized values, so its gradient is that of the sum.
    results = fused_batch_norm_grad(y_backprop, saved, settings)
    # Two outputs only hold places: the op takes as many reserve spaces as the forward pass gives.
    empty = np.zeros(0, saved.scale.dtype)
    return (*results, empty, empty, [y_backprop] * num_side_inputs)


@shape("_FusedBatchNormGradEx")
def fused_batch_norm_grad_ex_shape(
    y_backprop: TensorSpec, saved: Saved[TensorSpec], *, num_side_inputs: int, data_format: str
) -> list[Shape | list[Any]]:
    gradients = grad_shapes(saved.x, y_backprop, data_format, *saved[1:])
    return [*gradients, Shape([0]), Shape([0]), [gradients[0]] * num_side_inputs]


@flops("_FusedBatchNormGradEx")
def fused_batch_norm_grad_ex_flops(
    y_backprop: TensorSpec, x: TensorSpec, scale: TensorSpec, *, is_training: bool, activation_mode: str
) -> Cost:
    """As FusedBatchNormGrad, with a comparison for Relu."""
    normalized = fused_batch_norm_grad_flops(y_backprop, x, scale, is_training=is_training)
    return normalized + Cost((activation_mode == "Relu") * x.shape.num_elements)


# The op appears when a finished graph is optimized, after its gradients were built; TensorFlow has none either.
without_gradient("_FusedBatchNormGradEx")
