"""The runs of a graph on the values of inputs: sessions that runs share, and the rows of inputs that may run together."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.comparing.row_blocks import BlockRows
from ...core.graph.graph import Graph
from ...core.runtime.session.runner import Runner, StepResult
from ...core.support.errors import InvalidArgumentError
from ..api.run_plan import Pairs, RunPlan
from ..api.session_setup import SessionSetup
from .each_inputs import SharedRuns


class StepRuns:
    """The runs of a plan. Runs share a session if no step writes or draws; otherwise each run has a new session."""

    def __init__(self, graph: Graph, session: SessionSetup, plan: RunPlan) -> None:
        self._graph, self._session, self._plan = graph, session, plan
        self._sessions = SharedRuns(graph)
        self._closing = contextlib.ExitStack()

    def steps(self, values: Mapping[str, Any], assigned: Pairs = ()) -> list[StepResult]:
        """Return the results of the steps with these feeds, and with these values of variables."""
        orders = self._plan.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        return [result for result in runner.steps(orders) if result.values]

    def rows(self, fed: Mapping[str, Any]) -> BlockRows:
        """Return the rows of the graph; InvalidArgumentError where runs are more than fetches that leave nothing behind."""
        orders = self._plan.orders(fed)
        if orders.targets or orders.steps != 1 or orders.inside:
            raise InvalidArgumentError("a run is more than a step that fetches tensors")
        if not self._sessions.leaves_nothing(list(orders.fetches.values()), fed):
            raise InvalidArgumentError("a run changes the state of the next run, or draws random numbers")
        return BlockRows(self._graph, orders.fetches, list(fed), [name for name in orders.feeds if name not in fed])

    def close(self) -> None:
        """End the sessions on a cluster."""
        self._closing.close()

    def _runner(self, assigned: Pairs, names: tuple[str, ...], values: Mapping[str, Any]) -> Runner:
        """Return a session: the session of the previous task if its runs change no state, otherwise a new session."""

        def prepared() -> Runner:
            runner = self._session.open(self._graph, quiet=True)
            if (close := getattr(runner.session, "close", None)) is not None:
                self._closing.callback(close)
            self._plan.assign(runner, assigned)
            return runner

        return self._sessions.runner(names, values, prepared, own=bool(assigned), always=self._session.on is not None)


def values_of(steps: Sequence[StepResult]) -> dict[str, Any]:
    """Return the values of a step by name."""
    return {item.name: item.value for step in steps for item in step.values}
