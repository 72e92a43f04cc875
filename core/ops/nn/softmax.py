"""Softmax, its logarithm, and the cross entropies and norms of losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import of_input
from ...numerics.channel_sums import row_maxima, summed
from ...numerics.half_precision import wide
from ...registry.registry import Cost, arrays, arrays_as, everywhere, flops, gradient, kernel, layout, profiled, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.decompositions import by_ops

_BLOCK: Final = 1 << 16
"""The elements of a block of rows that stays in a cache together with the intermediate results."""


def _require_logits(logits: Array) -> None:
    if logits.ndim < 1:
        raise InvalidArgumentError(f"logits must have >= 1 dimension, got {Shape(logits.shape)}")


def _shifted(logits: Array) -> Array:
    """Logits less their largest, so that no exponential overflows."""
    # A row of -inf alone becomes NaN by this, as in TensorFlow.
    # Callers write into the result, so it is a copy where there is nothing to shift.
    return logits - row_maxima(logits) if logits.size else logits.copy()


@kernel("Softmax", shape="... classes -> ... classes", facts=("last_axis", "half_infer", "unit_range", "not_negative"))
def softmax(logits: Array) -> Result:
    """exp(x) / sum(exp(x)) along the last dimension."""
    _require_logits(logits)
    return _by_rows(_softmax, logits)


def _softmax(x: Array, y: Array) -> None:
    powers = _shifted(wide(x))
    np.exp(powers, out=powers)
    np.divide(powers, summed(powers, (powers.ndim - 1,), True), out=y, casting="same_kind")


def _by_rows(evaluate: Callable[[Array, Array], None], logits: Array) -> Array:
    """Evaluate blocks of rows, which stay in a cache through all steps."""
    result = np.empty(logits.shape, logits.dtype)
    columns = logits.shape[-1]
    if logits.size <= _BLOCK:
        evaluate(logits, result)
        return result
    rows, results = logits.reshape(-1, columns), result.reshape(-1, columns)
    step = max(_BLOCK // columns, 1)
    for start in range(0, len(rows), step):
        evaluate(rows[start : start + step], results[start : start + step])
    return result


@kernel("LogSoftmax", shape="... classes -> ... classes", facts=("last_axis", "half_infer"))
def log_softmax(logits: Array) -> Array:
    """x - log(sum(exp(x))) along the last dimension."""
    _require_logits(logits)
    return _by_rows(_log_softmax, logits)


def _log_softmax(x: Array, y: Array) -> None:
    # TensorFlow rounds each step to half precision here, unlike in Softmax.
    shifted = _shifted(wide(x)).astype(x.dtype, copy=False)
    exponentials = np.exp(wide(shifted)).astype(x.dtype, copy=False)
    total = summed(wide(exponentials), (exponentials.ndim - 1,), True).astype(x.dtype, copy=False)
    np.subtract(wide(shifted), np.log(wide(total)), out=y, casting="same_kind")


@gradient("Softmax")
def softmax_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """(dy - sum(dy y)) y."""
    y = node.output()
    return [g.Mul(g.Sub(grad, g.Sum(g.Mul(grad, y), [-1], keep_dims=True)), y)]


@gradient("LogSoftmax")
def log_softmax_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """dy - sum(dy) softmax(x)."""
    return [g.Sub(grad, g.Mul(g.Sum(grad, [-1], keep_dims=True), g.Exp(node.output())))]


@flops("Softmax")
def softmax_flops(logits: TensorSpec) -> Cost:
    """Maximum, shift, sum and division, and one exponential for each element."""
    elements = logits.shape.num_elements
    return Cost(4 * elements - 2 * logits.shape[:-1].num_elements, transcendentals=elements)


profiled(of_input(5), "Softmax", differs="5 an element there; exponentials are counted apart here")


@flops("LogSoftmax")
def log_softmax_flops(logits: TensorSpec) -> Cost:
    """Count maximum, shift, sum and difference, and an exponential for each element; a logarithm for each row."""
    elements, rows = logits.shape.num_elements, logits.shape[:-1].num_elements
    return Cost(4 * elements - 2 * rows, transcendentals=elements + rows)


@kernel("SoftmaxCrossEntropyWithLogits", facts=("own_gradient", "half_deny"))
def softmax_cross_entropy(features: Array, labels: Array) -> tuple[Result, Result]:
    """Return -sum(labels log_softmax(features)) for each row, and the gradient softmax(features) - labels."""
    try:
        features_wide, labels_wide = np.broadcast_arrays(wide(features), wide(labels))
    except ValueError:
        raise InvalidArgumentError(
            f"logits and labels must be broadcastable: logits_size={Shape(features.shape)} labels_size={Shape(labels.shape)}"
        ) from None
    if features_wide.ndim != 2:
        raise InvalidArgumentError(f"logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional: "
                                   f"{Shape(features.shape)} and {Shape(labels.shape)}")  # fmt: skip
    logarithms = log_softmax(features_wide)
    # A label of 0 for logits of -inf makes the loss NaN, as in TensorFlow on CPUs.
    loss = -summed(labels_wide * logarithms, (1,))
    backprop = np.exp(logarithms) - labels_wide
    return loss.astype(features.dtype, copy=False), backprop.astype(features.dtype, copy=False)


@kernel("SparseSoftmaxCrossEntropyWithLogits", shape="rows classes, rows -> rows, rows classes", facts=("half_deny",))
def sparse_softmax_cross_entropy(features: Array, labels: Array) -> tuple[Result, Result]:
    """Return -log_softmax(features)[label] for each row, and the gradient."""
    if features.ndim != 2:
        raise InvalidArgumentError(f"logits must be 2-D, but got shape {Shape(features.shape)}")
    if labels.ndim != 1 or len(labels) != len(features):
        raise InvalidArgumentError(
            f"logits and labels must have the same first dimension, got logits shape {Shape(features.shape)} and labels "
            f"shape {Shape(labels.shape)}"
        )
    if features.shape[1] == 0:
        raise InvalidArgumentError(f"Must have at least one class, but got logits shape {Shape(features.shape)}")
    # TensorFlow's CPU kernel refuses such labels, its GPU kernel returns NaN.
    bad = labels[(labels < 0) | (labels >= features.shape[1])]
    if bad.size:
        limit = features.shape[1]
        raise InvalidArgumentError(f"Received a label value of {bad[0]} which is outside the valid range of [0, {limit})")
    logarithms = log_softmax(wide(features))
    rows = np.arange(len(labels))
    backprop = np.exp(logarithms)
    backprop[rows, labels] -= 1
    return (-logarithms[rows, labels]).astype(features.dtype, copy=False), backprop.astype(features.dtype, copy=False)


@shape("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_shape(features: TensorSpec, labels: TensorSpec) -> list[Shape]:
    # A tensor of less dimensions is broadcast, and both together are a matrix.
    matrix = Shape([None, None])
    both = broadcast_shapes(*(matrix if x.rank is None else x.shape for x in (features, labels)))
    if len(both) != 2:
        raise InvalidArgumentError(f"logits and labels must be 2-dimensional, not {features.shape} and {labels.shape}")
    return [both[:1], both]


def _cross_entropy_gradient(g: GradientBuilder, node: Node, grad_loss: Output, grad_backprop: Output) -> Output:
    """Return row by row the loss's gradient times backprop, plus the gradient through backprop itself."""
    logits, backprop = node.inputs[0], node.output(1)
    scaled = g.Mul(g.ExpandDims(grad_loss, -1), backprop)
    probabilities = g.Softmax(logits)
    # The op's second output depends on the logits too, so second derivatives flow through it.
    through = g.Mul(g.Sub(grad_backprop, g.Sum(g.Mul(grad_backprop, probabilities), [1], keep_dims=True)), probabilities)
    return g.AddV2(scaled, through)


@gradient("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_gradient(g: GradientBuilder, node: Node, grad_loss: Output, grad_backprop: Output) -> Gradients:
    logits, labels = node.inputs
    dlogits = _cross_entropy_gradient(g, node, grad_loss, grad_backprop)
    dlabels = g.Mul(g.ExpandDims(grad_loss, -1), g.Neg(g.LogSoftmax(logits)))
    return [g.reduce_to(dlogits, logits, labels), g.reduce_to(dlabels, labels, logits)]


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy_gradient(
    g: GradientBuilder, node: Node, grad_loss: Output, grad_backprop: Output
) -> Gradients:
    # Labels are row numbers, which have no gradient.
    return [_cross_entropy_gradient(g, node, grad_loss, grad_backprop), None]


@flops("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_flops(*, outputs: list[TensorSpec]) -> Cost:
    """The softmax (maximum, shift, sum, division) less the labels, and the sum of labels times log-probabilities."""
    elements, rows = outputs[1].shape.num_elements, outputs[0].shape.num_elements
    return Cost(8 * elements - 3 * rows, transcendentals=elements + rows)


@flops("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy_flops(*, outputs: list[TensorSpec]) -> Cost:
    """The softmax (maximum, shift, sum, division), and for each row a difference for the loss and another for the gradient."""
    elements, rows = outputs[1].shape.num_elements, outputs[0].shape.num_elements
    return Cost(4 * elements, transcendentals=elements + rows)


@everywhere("L2Loss", shape="-> ()", gradient=by_ops("Mul 0 dy"), facts=("half_deny",))
def l2_loss(xp: Any, t: Any) -> Any:
    """Half the sum of squares."""
    # TensorFlow halves each square in the dtype of t, before the sum: two large squares do not overflow, a half of 300 does.
    return xp.sum(wide(t * t * t.dtype.type(0.5))).astype(t.dtype)


@flops("L2Loss")
def l2_loss_flops(t: TensorSpec) -> Cost:
    """A square, a half and a sum."""
    return Cost(3 * t.shape.num_elements - 1)


layout("T -> .", "L2Loss")
profiled(of_input(3, less=1), "L2Loss")
arrays_as(Softmax="softmax", LogSoftmax="log_softmax")


@arrays("SoftmaxCrossEntropyWithLogits")
def _softmax_cross_entropy_of_arrays(xp: Any, features: Any, labels: Any) -> tuple[Any, Any]:
    """The loss of each row and its gradient."""
    features, labels = xp.broadcast_arrays(features, labels)
    logs = xp.log_softmax(features)
    return -xp.sum(labels * logs, -1), xp.exp(logs) - labels


@arrays("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_cross_entropy_of_arrays(xp: Any, features: Any, labels: Any) -> tuple[Any, Any]:
    """The loss of each row and its gradient, by one-hot rows of the labels."""
    xp.require(((labels >= 0) & (labels < features.shape[1])).all())
    is_label = labels[:, None] == xp.arange(features.shape[1])
    logs = xp.log_softmax(features)
    probabilities = xp.exp(logs)
    return -xp.sum(xp.where(is_label, logs, 0), -1), xp.where(is_label, probabilities - 1, probabilities)
