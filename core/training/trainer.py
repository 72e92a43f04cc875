"""Running a training graph step by step, and Levenberg-Marquardt on the variables of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gradients.jacobian import Derivative
from ..graph.graph import Graph
from ..graph.variable_nodes import variable
from ..runtime.session.runner import Runner
from ..runtime.session.session import Session
from ..runtime.session.session_like import SessionLike
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from ..support.hints import Blank, Hint, option
from ..support.words import counted
from ..types.arrays import Array
from .train_step import TrainingGraph, trainable_variables

# Levenberg-Marquardt: least squares by damped Gauss-Newton steps inside a trust region.
# The algorithm is from J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory" (1978). The largest column
# norms of the Jacobian so far scale the variables. The damping keeps the scaled step within a radius. The ratio of actual to
# predicted reduction sets the next radius. The singular value decomposition of the scaled Jacobian solves the damped
# equations.

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
    """True if the step was taken."""


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

    `on_step` sees every iteration with the best parameters so far. InvalidArgumentError if the start gives residuals or
    derivatives that are not finite or fewer residuals than parameters; ResourceExhaustedError if the Jacobian would take
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
    # The Jacobian, the scaled copy, u of the decomposition, and the copy that LAPACK overwrites, in doubles.
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
    # A parameter that nothing depends on at the start would divide by 0.
    scale[scale == 0] = 1.0
    norm = float(np.linalg.norm(scale * x))
    return _SearchPoint(x, r, j, scale, _RADIUS_FACTOR * norm if norm else _RADIUS_FACTOR)


def _search(
    state: _SearchPoint, residuals: Callable[[Vector], Vector], jacobian: Callable[[Vector], Vector], tolerances: Tolerances
) -> Iterator[tuple[Iteration, str]]:
    """Step until a stopping rule holds; yield each iteration with the reason to stop, empty to go on."""
    number = 0
    while _gradient_cosine(state) > tolerances.gradient:
        # One decomposition serves all dampings that are tried from this point.
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
                # As in MINPACK, a scale never shrinks.
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
        # As in MINPACK: the first radius is a guess from the size of x, and a shorter step says more.
        state.radius = min(state.radius, length)
    x = state.x + scaled / state.scale
    r = residuals(x)
    # A step too far may give residuals beyond all floats, which then count as a failed step.
    with np.errstate(over="ignore", invalid="ignore"):
        norm, new_norm = float(np.linalg.norm(state.residuals)), float(np.linalg.norm(r))
    # As in MINPACK, a residual that grew tenfold counts as a failed step, whose square might overflow.
    actual = 1.0 - (new_norm / norm) ** 2 if np.isfinite(new_norm) and 0.1 * new_norm < norm else -1.0
    linear = float(np.linalg.norm(s * (vt @ scaled))) / norm
    damped = np.sqrt(damping) * length / norm
    predicted = linear**2 + 2.0 * damped**2
    ratio = actual / predicted if predicted else 0.0
    _fit_radius(state, ratio, actual, linear**2 + damped**2, length, damping)
    # MINPACK's threshold, as are 0.25, 0.75 and the factors of the radius below.
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
    # A far better reduction than predicted says that the model was poor here, not that the search has ended.
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
            # Newton's method left the bracket; Moré begins again inside.
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
    # A column of zeros has no direction: its cosine counts as 0.
    columns[columns == 0] = np.inf
    return float(np.max(np.abs(state.jacobian.T @ state.residuals) / columns)) / norm if norm else 0.0


# Training graphs.


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """The loss of a step before the update of the variables; steps are counted from 1."""

    step: int
    """The number of the step, from 1."""
    loss: float
    """The loss before the update."""


class Trainer:
    """A session on a training graph, and the feeds of each step; the default session reads no files."""

    def __init__(
        self, training: TrainingGraph, feeds: Mapping[str, Any], batch: int | None = None, session: SessionLike | None = None
    ) -> None:
        self.training = training
        self.runner = Runner(session or Session(training.graph))
        self.feeds = feeds
        self.batch = batch
        self.done = 0
        """The number of steps behind the values from which the training starts."""

    def initialize(self, operation: str | None = None) -> None:
        """Run the graph's initializers, or the operation given, and the initializer of the training nodes."""
        self.runner.initialize(operation)
        self.runner.initialize(self.training.init_op)

    @property
    def rows(self) -> int | None:
        """How many rows a step is fed; None if no feed has any."""
        return self.batch or max((np.shape(value)[0] for value in self.feeds.values() if np.ndim(value)), default=None)

    def steps(self, count: int, done: int = 0) -> Iterator[Progress]:
        """Yield the progress of each training step up to step `count`, after the steps already `done`."""
        for number in range(done + 1, count + 1):
            feeds = self._feeds(number)
            loss, _ = self.runner.session.run([self.training.loss, self.training.train_op], feeds)
            yield Progress(number, float(np.mean(loss)))

    def _feeds(self, step: int) -> Mapping[str, Any]:
        """Return all feeds, or the step's batch: rows of the feeds that have as many rows as the longest, round and round."""
        if self.batch is None:
            return self.feeds
        rows = max((np.shape(value)[0] for value in self.feeds.values() if np.ndim(value)), default=0)
        if not rows:
            raise InvalidArgumentError("a batch needs a feed with rows")
        # The number of the step chooses the rows, so that a resumed training continues with the same rows.
        chosen = np.arange((step - 1) * self.batch, step * self.batch) % rows
        return {k: v[chosen] if np.ndim(v) and np.shape(v)[0] == rows else v for k, v in self.feeds.items()}


class LeastSquares:
    """The residuals of a graph as a function of its variables, for Levenberg-Marquardt.

    The variables are written by the assign ops of their own kind; where the search fails they keep the best values so far.
    """

    def __init__(self, graph: Graph, residuals: str, feeds: Mapping[str, Any], pattern: str, runner: Runner) -> None:
        self.runner = runner
        self._residuals = graph.output(residuals).name
        self.feeds = feeds
        self.variables = trainable_variables(graph, graph.output(residuals), pattern)
        self._derivatives = [Derivative(graph, residuals, f"{v.name}:0", runner.session) for v in self.variables]
        state = runner.state()
        names = [variable(graph, node.name).name for node in self.variables]
        for name, node in zip(names, self.variables):
            if name not in state:
                hint = "initialize the variables in `open_session`"
                raise FailedPreconditionError(f"variable '{name}' has no value", node=node.name, op=node.op, hint=hint)
        self._values = [state[name].numpy() for name in names]
        self._best = self._flat()

    def fit(self, tolerances: Tolerances, on_step: Callable[[Iteration], None] | None = None) -> Solution:
        """Minimize half the sum of squared residuals; the variables hold the solution afterwards."""
        start = self._best = self._flat()

        def remember(iteration: Iteration, x: Any) -> None:
            self._best = x.copy()
            if on_step is not None:
                on_step(iteration)

        try:
            return minimize(self.residuals_at, self.jacobian_at, start, tolerances, on_step=remember)
        finally:
            self.keep_best()

    def keep_best(self) -> None:
        """Set the variables to the best values so far; an interrupted search may leave half-written values behind."""
        self._assign(self._best)

    def _flat(self) -> Any:
        return np.concatenate([np.ravel(value) for value in self._values]).astype(np.float64)

    def residuals_at(self, x: Array) -> Array:
        """Return the residuals, flattened, where the variables' elements are x."""
        self._assign(x)
        return np.ravel(self.runner.session.run(self._residuals, self.feeds)).astype(np.float64)

    def jacobian_at(self, x: Array) -> Array:
        """Return the derivatives of the residuals, a column for each element of x."""
        self._assign(x)
        parts = [d.jacobian(self.feeds) for d in self._derivatives]
        columns = [part.reshape(-1, value.size) for part, value in zip(parts, self._values)]
        return np.concatenate(columns, 1).astype(np.float64)

    def _assign(self, x: Any) -> None:
        start = 0
        for node, value in zip(self.variables, self._values):
            # The search is in doubles whatever the variables are, because its tolerances are near the rounding of doubles.
            part = x[start : start + value.size].reshape(value.shape).astype(value.dtype)
            self.runner.assign(node.name, lambda _, part=part: part)  # type: ignore[misc]
            start += value.size
