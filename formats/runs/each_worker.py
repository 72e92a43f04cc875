"""Processing of a single input, in any process: feed its values, run the steps, encode the result."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.runtime.session.runner import Runner
from ...core.support.errors import InternalError, InvalidArgumentError, TfgError
from ..api.each_inputs import InputArrays, SharedRuns
from .each_recipe import BatchOutput
from .each_shards import shard_entry
from .each_tasks import Outcome, SweepTask
from .names import Given
from .run_plan import Pairs, RunPlan, RunRequest
from .session_setup import SessionSetup
from .step_files import encoded_steps

_EACH: Final = re.compile(r"@each(?::([^?]*))?(\?.*)?")


def parts_of_inputs(feeds: Pairs) -> tuple[dict[str, str], Pairs]:
    """Return the parts of an input, KEY?OPTIONS, by the words of feeds with `@each`; and the other feeds."""
    texts = [(name, value) for name, value in feeds if not isinstance(value, Given)]
    each = {name: match for name, text in texts if (match := _EACH.fullmatch(text))}
    parts = {name: (match[1] or "") + (match[2] or "") for name, match in each.items()}
    return parts, tuple((name, value) for name, value in feeds if name not in each)


class Worker:
    """A worker for tasks. Tasks share a session if no step writes or draws; otherwise each task has a new session."""

    def __init__(
        self, graph: Graph, session: SessionSetup, request: RunRequest, output: BatchOutput,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._parts, fixed = parts_of_inputs(request.feeds)
        self._graph = graph
        self._session = session
        self._output = output
        self._plan = RunPlan(graph, dataclasses.replace(request, feeds=fixed), session.signature, note)
        self._variables = find_variables(graph)
        self._sessions = SharedRuns(graph)
        self._closing = contextlib.ExitStack()

    def check(self) -> None:
        """Raise errors that concern all tasks before the first task starts."""
        self._session.check_trust(self._graph)
        _ = self._arrays, self._plan.labels
        if not self._plan.fetches and not self._plan.targets:
            raise InvalidArgumentError("nothing to fetch: add --fetch")

    def work(self, task: SweepTask) -> Outcome:
        """The result of a task; an error of the graph or of the input is in the outcome."""
        started = time.process_time()
        try:
            result = self._result(task)
        except InternalError:
            raise
        except TfgError as error:
            return Outcome(task, error=error.summary, cpu=time.process_time() - started)
        return Outcome(task, result, cpu=time.process_time() - started)

    def _result(self, task: SweepTask) -> Any:
        plan = self._plan
        assigned = tuple((name, value) for name, value in task.settings if name in self._variables)
        fed = [(name, value) for name, value in task.settings if name not in self._variables]
        values = plan.names.feeds(fed) | (self._arrays.of(task.item) if task.item is not None else {})
        orders = plan.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        steps = plan.shown(result for result in runner.steps(orders) if result.values)
        if task.shard is not None:
            return shard_entry(task.name, steps, task.shard)
        return self._output.encode(steps) if self._output.encode is not None else encoded_steps(steps, self._output.format)

    def _runner(self, assigned: Pairs, names: tuple[str, ...], values: Mapping[str, Any]) -> Runner:
        """Return a session: the session of the previous task if its runs change no state, otherwise a new session."""

        def prepared() -> Runner:
            runner = self._session.open(self._graph, quiet=True)
            if (close := getattr(runner.session, "close", None)) is not None:
                self._closing.callback(close)
            self._plan.assign(runner, assigned)
            return runner

        return self._sessions.runner(names, values, prepared, own=bool(assigned), always=self._session.on is not None)

    def close(self) -> None:
        """End the sessions on a cluster, and close the file of the last input."""
        self._closing.close()

    @functools.cached_property
    def _arrays(self) -> InputArrays:
        """What an input feeds; InvalidArgumentError for options of a picture that do not exist."""
        plan = self._plan
        fetches = (*plan.fetches.values(), *plan.targets)
        arrays = InputArrays(self._graph, plan.names.signature, fetches, self._parts, plan.names.input)
        self._closing.callback(arrays.close)
        return arrays
