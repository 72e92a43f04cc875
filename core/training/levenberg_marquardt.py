"""Levenberg-Marquardt: least squares by damped Gauss-Newton steps inside a trust region.

The algorithm is from J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory" (1978). The largest column
norms of the Jacobian so far scale the variables. The damping keeps the scaled step within a radius. The ratio of actual to
predicted reduction sets the next radius. The singular value decomposition of the scaled Jacobian solves the damped
equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..support import dataclasses
from ..support.errors import InvalidArgumentError, ResourceExhaustedError
from ..support.hints import Blank, Hint, option
from ..support.words import counted

Vector = NDArray[np.float64]

_RADIUS_FACTOR = 100.0
_DAMPING_STEPS = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Tolerances:
    """When to stop: relative reduction of the cost, relative step, cosine between residual and Jacobian columns."""

    cost: float = 1e-15
    step: float = 1e-15
    gradient: float = 1e-15
    max_iterations: int = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Iteration:
    """An accepted or refused step: half the sum of squares afterwards, the damping and the trust radius."""

    number: int
    """The number of the iteration, from 1."""
    cost: float
    """Half the sum of squares after the step."""
    damping: float
    """The damping of the step."""
    radius: float
    """The trust radius of the step."""
    accepted: bool
    """True where the step was taken."""


@dataclasses.dataclass(frozen=True, slots=True)
class Solution:
    """The parameters found, half the sum of squared residuals there, and why the search ended."""

    parameters: Vector
    cost: float
    reason: str
    iterations: tuple[Iteration, ...]
    converged: bool


@dataclasses.dataclass(slots=True)
class _SearchPoint:
    """Where the search is: parameters, residuals and Jacobian there, the scale of each parameter and the trust radius."""

    x: Vector
    residuals: Vector
    jacobian: Vector
    scale: Vector
    radius: float

    @property
    def cost(self) -> float:
        return 0.5 * float(self.residuals @ self.residuals)


def minimize(
    residuals: Callable[[Vector], Vector],
    jacobian: Callable[[Vector], Vector],
    start: Vector,
    tolerances: Tolerances | None = None,
    *,
    max_bytes: int = 2 * 2**30,
    on_step: Callable[[Iteration, Vector], None] | None = None,
) -> Solution:
    """Minimize half the sum of squares of `residuals(x)`, m numbers, over x, n numbers; `jacobian(x)` is m x n.

    `on_step` sees every iteration with the best parameters so far. InvalidArgumentError where the start gives residuals or
    derivatives that are not finite or fewer residuals than parameters; ResourceExhaustedError where the Jacobian would take
    more than `max_bytes`.
    """
    tolerances = tolerances or Tolerances()
    state = _start(residuals, jacobian, np.asarray(start, np.float64), max_bytes)
    history: list[Iteration] = []
    for iteration, reason in _search(state, residuals, jacobian, tolerances):
        history.append(iteration)
        if on_step is not None:
            on_step(iteration, state.x)
        if reason:
            return Solution(state.x, state.cost, reason, tuple(history), True)
        if len(history) == tolerances.max_iterations:
            break
    if not history:
        return Solution(state.x, state.cost, "the starting point is stationary", (), True)
    return Solution(state.x, state.cost, f"no convergence in {counted(len(history), 'iteration')}", tuple(history), False)


def _start(
    residuals: Callable[[Vector], Vector], jacobian: Callable[[Vector], Vector], x: Vector, max_bytes: int
) -> _SearchPoint:
    r = residuals(x)
    needed = 4 * r.size * x.size * 8
    if needed > max_bytes:
        sizes = f"{counted(x.size, 'parameter')} and {counted(r.size, 'residual')}"
        raise ResourceExhaustedError(
            f"{sizes} need {needed / 2**30:.1f} GiB for the Jacobian and its decomposition",
            hint=Hint("train fewer variables (", option("var", Blank("REGEX")), ") or use a first-order optimizer"),
        )
    if r.size < x.size:
        raise InvalidArgumentError(f"{counted(r.size, 'residual')} cannot determine {counted(x.size, 'parameter')}")
    j = jacobian(x)
    if not (np.isfinite(r).all() and np.isfinite(j).all()):
        raise InvalidArgumentError("residuals or derivatives are not finite at the start", hint="choose other initial values")
    scale = _column_norms(j)
    scale[scale == 0] = 1.0
    norm = float(np.linalg.norm(scale * x))
    return _SearchPoint(x, r, j, scale, _RADIUS_FACTOR * norm if norm else _RADIUS_FACTOR)


def _search(
    state: _SearchPoint, residuals: Callable[[Vector], Vector], jacobian: Callable[[Vector], Vector], tolerances: Tolerances
) -> Iterator[tuple[Iteration, str]]:
    """Step until a stopping rule holds; yield each iteration with the reason to stop, empty to go on."""
    number = 0
    while _gradient_cosine(state) > tolerances.gradient:
        u, s, vt = np.linalg.svd(state.jacobian / state.scale, full_matrices=False)
        projected = u.T @ state.residuals
        accepted = False
        while not accepted:
            number += 1
            damping = _damping(s, projected, state.radius)
            scaled = -vt.T @ (_filtered(s, damping) * projected)
            accepted, ratio, reduction = _try_step(state, residuals, scaled, s, vt, damping, number == 1)
            reason = _stop_reason(state, scaled, ratio, reduction, tolerances)
            if accepted:
                state.jacobian = jacobian(state.x)
                state.scale = np.maximum(state.scale, _column_norms(state.jacobian))
            yield Iteration(number, state.cost, damping, state.radius, accepted), reason
            if reason:
                return


def _try_step(
    state: _SearchPoint,
    residuals: Callable[[Vector], Vector],
    scaled: Vector,
    s: Vector,
    vt: Vector,
    damping: float,
    is_first: bool,
) -> tuple[bool, float, float]:
    """Take the step where the cost falls enough, and fit the radius; return (accepted, ratio, relative reduction)."""
    length = float(np.linalg.norm(scaled))
    if is_first:
        state.radius = min(state.radius, length)
    x = state.x + scaled / state.scale
    r = residuals(x)
    with np.errstate(over="ignore", invalid="ignore"):
        norm, new_norm = float(np.linalg.norm(state.residuals)), float(np.linalg.norm(r))
    # As in MINPACK, a residual that grew tenfold counts as a failed step, whose square might overflow.
    actual = 1.0 - (new_norm / norm) ** 2 if np.isfinite(new_norm) and 0.1 * new_norm < norm else -1.0
    linear = float(np.linalg.norm(s * (vt @ scaled))) / norm
    damped = np.sqrt(damping) * length / norm
    predicted = linear**2 + 2.0 * damped**2
    ratio = actual / predicted if predicted else 0.0
    _fit_radius(state, ratio, actual, linear**2 + damped**2, length, damping)
    if ratio < 1e-4:
        return False, ratio, max(abs(actual), predicted)
    state.x, state.residuals = x, r
    return True, ratio, max(abs(actual), predicted)


def _fit_radius(state: _SearchPoint, ratio: float, actual: float, directional: float, length: float, damping: float) -> None:
    """Shrink the trust radius after a poor step, widen the radius after a good step."""
    if ratio <= 0.25:
        # The minimum of the parabola through both costs and the slope at the old point, as in MINPACK.
        shrink = 0.5 if actual >= 0 else 0.5 * directional / (directional - 0.5 * actual)
        state.radius = max(shrink, 0.1) * min(state.radius, 10.0 * length)
    elif damping == 0 or ratio >= 0.75:
        state.radius = 2.0 * length


def _stop_reason(state: _SearchPoint, scaled: Vector, ratio: float, reduction: float, tolerances: Tolerances) -> str:
    if state.cost == 0:
        return "the residuals are zero"
    if reduction <= tolerances.cost and ratio <= 2.0:
        return "the cost no longer decreases"
    if state.radius <= tolerances.step * float(np.linalg.norm(state.scale * state.x)):
        return "the steps are too small to matter"
    return "" if np.isfinite(scaled).all() else "the step is not finite"


def _damping(s: Vector, projected: Vector, radius: float) -> float:
    """Return the damping at which the scaled step has length `radius` (within a tenth), 0 where the full step is shorter.

    Newton's method on 1/length - 1/radius, a nearly linear function of the damping.
    """
    if float(np.linalg.norm(_filtered(s, 0.0) * projected)) <= 1.1 * radius:
        return 0.0
    upper = float(np.linalg.norm(s * projected)) / radius
    lower, damping = 0.0, 1e-3 * upper
    for _ in range(_DAMPING_STEPS):
        step = _filtered(s, damping) * projected
        length = float(np.linalg.norm(step))
        if abs(length - radius) <= 0.1 * radius:
            break
        lower, upper = (damping, upper) if length > radius else (lower, damping)
        slope = -float(np.sum(step**2 / (s**2 + damping))) / length
        damping = damping - (length / radius) * (length - radius) / slope
        if not lower < damping < upper:
            damping = max(1e-3 * upper, float(np.sqrt(lower * upper)))
    return damping


def _filtered(s: Vector, damping: float) -> Vector:
    """Return s / (s^2 + damping); zero for directions that the Jacobian does not see."""
    # Singular values below rounding are noise: dividing by them would make the step arbitrarily long.
    cutoff = s[0] * len(s) * np.finfo(np.float64).eps if s.size else 0.0
    return np.where(s > cutoff, s / np.where(s > cutoff, s**2 + damping, 1.0), 0.0) if damping == 0 else s / (s**2 + damping)


def _column_norms(matrix: Vector) -> Vector:
    norms: Vector = np.linalg.norm(matrix, axis=0)
    return norms


def _gradient_cosine(state: _SearchPoint) -> float:
    """Return the largest cosine between the residual and a column of the Jacobian: zero at a stationary point."""
    norm = float(np.linalg.norm(state.residuals))
    columns = _column_norms(state.jacobian)
    columns[columns == 0] = np.inf
    return float(np.max(np.abs(state.jacobian.T @ state.residuals) / columns)) / norm if norm else 0.0
