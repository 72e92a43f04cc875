"""Comparing a gradient with central differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..building.gradbuilder import GradientBuilder
from ..graph.graph import GraphLike, as_graph
from ..runtime.session.session import Session
from ..runtime.session.session_like import SessionLike
from ..runtime.state.edge_values import scalar_object
from ..runtime.state.resources import Variable
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.hints import Hint, option
from ..types.shapes import UNKNOWN
from .backward import add_gradients

# By the size of the numbers: how far to step, and what then passes.
_STEPS = {8: 1e-6, 4: 5e-3, 2: 1e-1}
_TOLERANCES = {8: 1e-4, 4: 1e-3, 2: 5e-2}


@dataclasses.dataclass(frozen=True, slots=True)
class GradientCheck:
    """The distance of an x's gradient from central differences: the worst element, and the smallest tolerance that passes."""

    x: str
    """The tensor that was varied."""
    elements: int
    """How many elements x has."""
    worst_index: tuple[int, ...]
    """The place of the element with the largest difference."""
    analytic: float
    """The gradient of this element."""
    numeric: float
    """The central difference of this element."""
    tolerance_needed: float
    """The smallest tolerance that passes."""
    passed: bool
    """True where the difference is within the tolerance."""


@checked
def check_gradient(
    graph: GraphLike,
    y: str,
    x: str,
    feeds: Mapping[str, Any] | None = None,
    *,
    tolerance: float | None = None,
    session: SessionLike | None = None,
    max_elements: int = 1000,
) -> GradientCheck:
    """Check the gradient of the sum of r*y with respect to x, where r are fixed random numbers.

    The error of an element is |analytic - numeric| / max(1, |analytic|, |numeric|); by default 1e-4 passes in double
    precision, 1e-3 in single. Of more than `max_elements` elements a fixed sample is checked. Raises InvalidArgumentError
    where x is no floating-point tensor that a feed can replace; a resource variable's handle stands for the variable's
    value.
    """
    graph = as_graph(graph)
    feeds = dict(feeds or {})
    work = graph.copy()
    builder = GradientBuilder(work)
    target, variable = work.output(y), work.output(x)
    weights = builder.Placeholder(dtype=target.base_dtype, shape=UNKNOWN, name="weights")
    (grad,) = add_gradients(work, [target], [variable], [weights])
    run = Session(work) if session is None else session.on_graph(work)
    x_value, y_value = run.run([x, y], feeds)
    if x_value.dtype == object and not run.takes_hooks:
        raise UnimplementedError(
            f"'{x}' is a handle of a cluster, which only the servers can replace",
            hint=Hint("check without ", option("on"), ", or name the tensor read from the variable"),
        )
    fed: Callable[[Any], Any] = np.asarray
    if x_value.dtype == object and isinstance(x_value.item(), Variable):
        fed, x_value = _handles(x_value.item())
    if x_value.dtype.kind != "f":
        raise InvalidArgumentError(f"'{x}' is {x_value.dtype}: central differences need real floating-point numbers")
    r = np.asarray(np.random.default_rng(0).uniform(0.5, 1.5, y_value.shape), y_value.dtype)
    gradient = builder.zeros_like(variable) if grad is None else builder.densify(grad)
    analytic = np.asarray(run.run(gradient.name, {**feeds, weights.name: r, x: fed(x_value)}), np.float64)
    count = min(x_value.size, max_elements)
    chosen = np.sort(np.random.default_rng(1).choice(x_value.size, count, replace=False))
    step = _STEPS[x_value.dtype.itemsize]
    numeric = np.array([_difference(run, y, x, feeds, x_value, fed, int(i), step, r) for i in chosen])
    allowed = _TOLERANCES[x_value.dtype.itemsize] if tolerance is None else tolerance
    return _verdict(x, x_value.shape, chosen, analytic.ravel()[chosen], numeric, allowed)


def _handles(variable: Variable) -> tuple[Callable[[Any], Any], Any]:
    """Return a maker of handles to variables with other values, and the current value."""

    def handle(value: Any) -> Any:
        moved = Variable(variable.name, variable.dtype, variable.shape)
        moved.assign(value)
        return scalar_object(moved)

    return handle, variable.read()


def _difference(
    run: SessionLike,
    y: str,
    x: str,
    feeds: Mapping[str, Any],
    value: Any,
    fed: Callable[[Any], Any],
    index: int,
    step: float,
    weights: Any,
) -> float:
    """Return (f(x + h) - f(x - h)) / 2h at an element, f the weighted sum of y."""
    results = []
    for sign in (1, -1):
        moved = value.copy()
        moved.ravel()[index] += sign * step
        results.append((moved.ravel()[index], float(np.sum(run.run(y, {**feeds, x: fed(moved)}) * weights, dtype=np.float64))))
    (high, f_high), (low, f_low) = results
    return (f_high - f_low) / float(high - low)


def _verdict(x: str, shape: tuple[int, ...], chosen: Any, analytic: Any, numeric: Any, tolerance: float) -> GradientCheck:
    if not chosen.size:
        return GradientCheck(x, 0, (), 0.0, 0.0, 0.0, True)
    errors = np.abs(analytic - numeric) / np.maximum(1.0, np.maximum(np.abs(analytic), np.abs(numeric)))
    errors = np.where(np.isfinite(errors), errors, np.inf)
    worst = int(np.argmax(errors))
    index = tuple(int(i) for i in np.unravel_index(chosen[worst], shape))
    needed = float(errors[worst])
    return GradientCheck(x, chosen.size, index, float(analytic[worst]), float(numeric[worst]), needed, needed <= tolerance)
