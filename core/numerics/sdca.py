"""Stochastic dual coordinate ascent: losses, their duals, and the pass over a mini-batch.

Shalev-Shwartz and Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization", JMLR 14 (2013).
`norm` is the example's squared norm over l2, `partitions` how many workers add their deltas up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..support import dataclasses
from ..types.arrays import Array

_NEWTON_STEPS: Final = 10
"""Steps of Newton's method for the logistic loss, the same number as in TensorFlow."""
_INFINITE_LOSS: Final = float(np.finfo(np.float64).max)
_GAMMA: Final = 1.0
"""How smooth the smooth hinge is."""


@dataclasses.dataclass(frozen=True, slots=True)
class Loss:
    """The functions of a loss: convert a label (None if refused), update the dual, and compute the primal and dual loss."""

    convert: Callable[[float], float | None]
    dual: Callable[[float, float, float, float], float]
    """(label, dual, wx, scale) -> new dual, where scale = partitions * weight * norm"""
    primal_loss: Callable[[float, float], float]
    dual_loss: Callable[[float, float], float]
    derivative: Callable[[float, float], float]
    smoothness: float


def _binary_label(label: float) -> float | None:
    return {0.0: -1.0, 1.0: 1.0}.get(label)


def _logistic_dual(label: float, dual: float, wx: float, scale: float) -> float:
    x = 0.0
    for _ in range(_NEWTON_STEPS):
        t = math.tanh(x)
        numerator = -2 * label * x - wx - scale * (0.5 * (1 + t) / label - dual)
        x -= numerator / (-2 * label - scale * (1 - t * t) * 0.5 / label)
    return 0.5 * (1 + math.tanh(x)) / label


def _logistic_loss(wx: float, label: float) -> float:
    y = label * wx
    # Both forms are the same number; the exponent is never positive, so that nothing overflows.
    return math.log1p(math.exp(-y)) if y > 0 else math.log1p(math.exp(y)) - y


def _logistic_dual_loss(dual: float, label: float) -> float:
    y = dual * label
    return sum(p * math.log(p) for p in (y, 1 - y) if p > 0)


def _logistic_derivative(wx: float, label: float) -> float:
    y = label * wx
    return -label * math.exp(-y) / (1 + math.exp(-y)) if y > 0 else -label / (1 + math.exp(y))


def _clipped(candidate: float, label: float) -> float:
    """Clip the dual variable to its range: label times dual in [0, 1]."""
    product = label * candidate
    return 0.0 if product < 0 else label if product > 1 else candidate


def _hinge_dual(label: float, dual: float, wx: float, scale: float) -> float:
    # NumPy's quotient by 0 is infinite, as C++'s, where Python's would raise; the clipping then takes the bound.
    step = np.float64(label - wx) / np.float64(scale)
    return _clipped(float(dual + step), label)


def _hinge_dual_loss(dual: float, label: float) -> float:
    product = dual * label
    return -product if 0 <= product <= 1 else _INFINITE_LOSS


def _smooth_hinge_dual_loss(dual: float, label: float) -> float:
    product = dual * label
    return -product + 0.5 * _GAMMA * product * product if 0 <= product <= 1 else _INFINITE_LOSS


def _smooth_hinge_loss(wx: float, label: float) -> float:
    y = label * wx
    if y >= 1:
        return 0.0
    return 1 - y - _GAMMA / 2 if y <= 1 - _GAMMA else (1 - y) ** 2 * 0.5 / _GAMMA


def _smooth_hinge_derivative(wx: float, label: float) -> float:
    y = label * wx
    return 0.0 if y >= 1 else -label if y <= 1 - _GAMMA else (y - 1) * label / _GAMMA


def _exp(x: float) -> float:
    """Return e to the power of x, infinite if C's is."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def poisson_dual(label: float, dual: float, wx: float, scale: float) -> float:
    gap = label - dual
    x = math.log(gap) if gap > 0 else 0.0
    # x is the logarithm of label less dual, which keeps their difference positive.
    for _ in range(_NEWTON_STEPS):
        e = _exp(x)
        x -= (x - wx - scale * (gap - e)) / (1 + scale * e)
    return label - _exp(x)


def _poisson_dual_loss(dual: float, label: float) -> float:
    gap = label - dual
    return 0.0 if gap == 0 else _INFINITE_LOSS if gap < 0 else gap * (math.log(gap) - 1)


LOSSES: Final = {
    "logistic_loss": Loss(_binary_label, _logistic_dual, _logistic_loss, _logistic_dual_loss, _logistic_derivative, 4),
    "squared_loss": Loss(
        lambda label: label,
        lambda label, dual, wx, scale: dual + (label - dual - wx) / (1 + scale),
        lambda wx, label: 0.5 * (wx - label) ** 2,
        lambda dual, label: dual * (0.5 * dual - label),
        lambda wx, label: wx - label,
        1,
    ),
    "hinge_loss": Loss(
        _binary_label,
        _hinge_dual,
        lambda wx, label: max(0.0, 1 - label * wx),
        _hinge_dual_loss,
        lambda wx, label: -label if label * wx < 1 else 0.0,
        0,
    ),
    "smooth_hinge_loss": Loss(
        _binary_label,
        lambda label, dual, wx, scale: _clipped(dual + (label - wx - _GAMMA * dual) / (scale + _GAMMA), label),
        _smooth_hinge_loss,
        _smooth_hinge_dual_loss,
        _smooth_hinge_derivative,
        _GAMMA,
    ),
    "poisson_loss": Loss(
        lambda label: label if label >= 0 else None,
        poisson_dual,
        lambda wx, label: _exp(wx) - wx * label,
        _poisson_dual_loss,
        lambda wx, label: _exp(wx) - label,
        1,
    ),
}


@dataclasses.dataclass(slots=True)
class FeatureGroup:
    """A group of weights with, for each example, the places and values of its features."""

    weights: Array
    deltas: Array
    places: Sequence[Any]
    values: Sequence[Array]


@dataclasses.dataclass(frozen=True, slots=True)
class SdcaSettings:
    """The loss, the regularization and the number of workers; quotients by an `l2` of 0 are infinite or not a number."""

    loss: Loss
    l1: float
    l2: np.float64
    partitions: int

    def shrink(self, weights: Array) -> Array:
        """Soft thresholding by l1 / l2."""
        return np.sign(weights) * np.maximum(np.abs(weights) - self.l1 / self.l2, 0)


def squared_norms(groups: Sequence[FeatureGroup], count: int) -> Array:
    """Return the squared norm of each example."""
    return np.array([sum(float(np.dot(g.values[i], g.values[i])) for g in groups) for i in range(count)])


def predictions(settings: SdcaSettings, groups: Sequence[FeatureGroup], example: int) -> tuple[float, float]:
    """Return the example's score before this mini-batch, and with the deltas so far."""
    before = now = 0.0
    for group in groups:
        places, values = group.places[example], group.values[example]
        weights = group.weights[places]
        before += float(np.dot(values, settings.shrink(weights)))
        now += float(np.dot(values, settings.shrink(weights + group.deltas[places] * settings.partitions)))
    return before, now


def train_example(
    settings: SdcaSettings,
    groups: Sequence[FeatureGroup],
    example: int,
    label: float,
    weight: float,
    norm: float,
    state: Array,
) -> None:
    """Move the example's dual variable to its best value, and the deltas of its weights accordingly.

    Writes `state` (dual, primal loss, dual loss, weight) of the example; the losses are computed before the step.
    """
    dual = float(state[0])
    before, now = predictions(settings, groups, example)
    updated = settings.loss.dual(label, dual, now, settings.partitions * weight * norm / settings.l2)
    step = (updated - dual) * weight / settings.l2
    for group in groups:
        group.deltas[group.places[example]] += group.values[example] * np.float32(step)
    # As in TensorFlow, primal and dual loss are those before the step: their difference is the gap at one point.
    primal = settings.loss.primal_loss(before, label) * weight
    state[:] = updated, primal, settings.loss.dual_loss(dual, label) * weight, weight


def adaptive_probabilities(
    settings: SdcaSettings, groups: Sequence[FeatureGroup], labels: Sequence[float], weights: Array, norms: Array, duals: Array
) -> Array:
    """Return an unnormalized probability for drawing each example.

    Csiba, Qu and Richtarik, "Stochastic Dual Coordinate Ascent with Adaptive Probabilities", 2015.
    """
    scores = [predictions(settings, groups, i)[1] for i in range(len(labels))]
    residuals = [float(d) + settings.loss.derivative(s, y) for d, s, y in zip(duals, scores, labels)]
    return weights * np.sqrt(norms + settings.l2 * settings.loss.smoothness) * np.abs(residuals)
