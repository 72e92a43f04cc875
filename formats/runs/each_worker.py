"""Processing of inputs, in any process: feed their values, run the steps, encode the results."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core.comparing.row_blocks import BlockRows, BlockRunner, BlockSize, BlockWork, Ran, lacks_rows
from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.runtime.session.runner import FetchedValue, Runner, StepResult
from ...core.support.errors import InternalError, InvalidArgumentError, TfgError
from ..api.each_inputs import InputArrays, SharedRuns
from .each_recipe import BatchOutput, Recipe
from .each_shards import shard_entry
from .each_tasks import Outcome, SweepTask
from .names import Given
from .run_plan import Pairs, RunPlan, RunRequest
from .session_setup import SessionSetup
from .step_files import encoded_steps

_EACH: Final = re.compile(r"@each(?::([^?]*))?(\?.*)?")


class Worker:
    """A worker for tasks. Tasks share a session if no step writes or draws; otherwise each task has a new session."""

    def __init__(
        self, graph: Graph, session: SessionSetup, request: RunRequest, output: BatchOutput, batch: BlockSize,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        texts = [(name, value) for name, value in request.feeds if not isinstance(value, Given)]
        each = {name: match for name, text in texts if (match := _EACH.fullmatch(text))}
        self._parts_of_inputs = {name: (match[1] or "") + (match[2] or "") for name, match in each.items()}
        """The parts of an input, KEY?OPTIONS, by the words of --feed."""
        fixed = tuple((name, value) for name, value in request.feeds if name not in each)
        self._graph = graph
        self._session = session
        self._output = output
        self._plan = RunPlan(graph, dataclasses.replace(request, feeds=fixed), session.signature, note)
        self._variables = find_variables(graph)
        self._sessions = SharedRuns(graph)
        self._closing = contextlib.ExitStack()
        self._batch = batch
        self._note = note
        self._local = threading.local()

    def check(self) -> None:
        """Raise errors that concern all tasks before the first task starts."""
        self._session.check_trust(self._graph)
        _ = self._own, self._plan.labels
        if not self._plan.fetches and not self._plan.targets:
            raise InvalidArgumentError("nothing to fetch: add --fetch")

    def outcomes(self, tasks: Sequence[SweepTask], begin: Callable[[int], None] = lambda _: None) -> Iterator[Outcome]:
        """Yield the outcomes of tasks in their order; an error of the graph or of an input is in the outcome.

        Inputs run in blocks where they can be stacked. `begin` is called with the number of tasks before a run.
        """
        for is_alone, group in itertools.groupby(
            tasks, lambda task: task.is_alone or task.item is None or bool(task.settings)
        ):
            if not is_alone:
                for ran in self._own.runner.results(list(group), begin):
                    yield from self._encoded(ran)
                continue
            for task in group:
                begin(1)
                yield self._alone(task)

    def _alone(self, task: SweepTask) -> Outcome:
        started = time.process_time()
        try:
            entry = self._entry(task, self._plan.shown(self._steps(task, self._fed(task))))
        except InternalError:
            raise
        except TfgError as error:
            return Outcome(task, error=error.summary, cpu=time.process_time() - started)
        return Outcome(task, entry, cpu=time.process_time() - started)

    def _encoded(self, ran: Ran[SweepTask]) -> Iterator[Outcome]:
        """Yield the outcome of each input that ran."""
        if ran.error is not None:
            yield Outcome(ran.inputs[0], error=ran.error.summary, cpu=ran.seconds)
            return
        for task, steps in zip(ran.inputs, self._parts(ran)):
            started = time.process_time()
            try:
                entry, error = self._entry(task, steps), None
            except InternalError:
                raise
            except TfgError as fault:
                entry, error = b"", fault.summary
            yield Outcome(task, entry, error, ran.seconds + time.process_time() - started)

    def _parts(self, ran: Ran[SweepTask]) -> Iterator[Sequence[StepResult]]:
        """Yield the steps of each input that ran."""
        steps = self._plan.shown(ran.result)
        rows = self._own.runner.rows
        if not ran.counts or rows is None:
            yield steps
            return
        (step,) = steps
        columns = [(item, rows.split(item.name, item.value, ran.counts)) for item in step.values]
        for place in range(len(ran.inputs)):
            parts = ((item, values[place]) for item, values in columns)
            yield (StepResult(step.step, tuple(FetchedValue(item.name, item.dtype, np.shape(v), v) for item, v in parts)),)

    def _entry(self, task: SweepTask, steps: Sequence[StepResult]) -> Any:
        if task.shard is not None:
            return shard_entry(task.name, steps, task.shard)
        return self._output.encode(steps) if self._output.encode is not None else encoded_steps(steps, self._output.format)

    def _fed(self, task: SweepTask) -> dict[str, Any]:
        fed = [(name, value) for name, value in task.settings if name not in self._variables]
        return self._plan.names.feeds(fed) | (self._own.arrays.of(task.item) if task.item is not None else {})

    def _steps(self, task: SweepTask | None, values: Mapping[str, Any]) -> list[StepResult]:
        """Return the results of the steps with these feeds, and the variables of a task."""
        settings = () if task is None else task.settings
        assigned = tuple((name, value) for name, value in settings if name in self._variables)
        orders = self._plan.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        return [result for result in runner.steps(orders) if result.values]

    def _rows(self, fed: Mapping[str, Any]) -> BlockRows:
        """Return the rows of the graph; InvalidArgumentError where runs are more than fetches that leave nothing behind."""
        orders = self._plan.orders(fed)
        if orders.targets or orders.steps != 1 or orders.inside:
            raise InvalidArgumentError("a run is more than a step that fetches tensors")
        if not self._sessions.leaves_nothing(list(orders.fetches.values()), fed):
            raise InvalidArgumentError("a run changes the state of the next run, or draws random numbers")
        return BlockRows(self._graph, orders.fetches, list(fed), [name for name in orders.feeds if name not in fed])

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

    @property
    def _own(self) -> _OfThread:
        """The readers and the blocks of this thread: a cluster's worker may have several."""
        if not hasattr(self._local, "own"):
            self._local.own = self._of_thread()
        own: _OfThread = self._local.own
        return own

    def _of_thread(self) -> _OfThread:
        """Return new readers; InvalidArgumentError for options of a picture that do not exist."""
        plan = self._plan
        fetches = (*plan.fetches.values(), *plan.targets)
        arrays = InputArrays(self._graph, plan.names.signature, fetches, self._parts_of_inputs, plan.names.input)
        self._closing.callback(arrays.close)
        work = BlockWork(
            self._fed, lambda tasks: arrays.block([task.item for task in tasks if task.item is not None]),
            functools.partial(self._steps, None), _values, self._rows, functools.partial(lacks_rows, self._graph), self._note,
        )  # fmt: skip
        return _OfThread(arrays, BlockRunner(work, self._batch))


@dataclasses.dataclass(frozen=True, slots=True)
class _OfThread:
    """The parts of a worker that threads do not share."""

    arrays: InputArrays
    runner: BlockRunner[SweepTask]


def _values(steps: Sequence[StepResult]) -> dict[str, Any]:
    return {item.name: item.value for step in steps for item in step.values}


def recipe_worker(recipe: Recipe) -> Worker:
    """Return the worker of a recipe in another process."""
    return Worker(recipe.load(), recipe.session, recipe.request, recipe.output, recipe.batch)
