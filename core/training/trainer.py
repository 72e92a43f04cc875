"""Running a training graph step by step, and Levenberg-Marquardt on the variables of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..gradients.jacobian import Derivative
from ..graph.graph import Graph
from ..graph.variable_nodes import variable
from ..runtime.session.runner import Runner
from ..runtime.session.session import Session
from ..runtime.session.session_like import SessionLike
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, InvalidArgumentError
from ..types.arrays import Array
from .levenberg_marquardt import Iteration, Solution, Tolerances, minimize
from .train_step import TrainingGraph, trainable_variables


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
        """How many rows a step is fed; None where no feed has any."""
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
            part = x[start : start + value.size].reshape(value.shape).astype(value.dtype)
            self.runner.assign(node.name, lambda _, part=part: part)  # type: ignore[misc]
            start += value.size
