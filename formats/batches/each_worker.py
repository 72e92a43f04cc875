"""Processing of inputs, in any process: feed their values, run the steps, encode the results."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ...core.comparing.row_blocks import BlockRunner, BlockSize, BlockWork, Ran, lacks_rows
from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.runtime.session.runner import FetchedValue, StepResult
from ...core.support import dataclasses
from ...core.support.errors import InternalError, InvalidArgumentError, TfgError
from ...core.support.file_formats import CSV
from ...core.support.hints import Hint, option
from ..api.names import Given
from ..api.run_plan import Pairs, RunPlan, RunRequest
from ..api.session_setup import SessionSetup
from ..api.step_results import encoded_steps
from ..items import InputArrays
from .each_inputs import StepRuns, values_of
from .each_results import COLUMNS, kind_of, shard_entry, table_entry
from .each_tasks import BatchOutput, Outcome, Recipe, SweepTask

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
        self, graph: Graph, session: SessionSetup, request: RunRequest, output: BatchOutput, batch: BlockSize,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        self._parts_of_inputs, fixed = parts_of_inputs(request.feeds)
        self._graph, self._session, self._output = graph, session, output
        self._plan = RunPlan(graph, dataclasses.replace(request, feeds=fixed), session.signature, note)
        self._variables = find_variables(graph)
        self._runs = StepRuns(graph, session, self._plan)
        self._closing = contextlib.ExitStack()
        self._batch = batch
        self._note = note
        # Readers hold an open file and a place in it; Dask's worker may have several threads.
        self._local = threading.local()

    def check(self) -> None:
        """Raise errors that concern all tasks before the first task starts."""
        self._session.check_trust(self._graph)
        # Both are made at their first use, which is here: wrong options and an unreadable file of labels concern all tasks.
        _ = self._own, self._plan.labels
        if not self._plan.fetches and not self._plan.targets:
            raise InvalidArgumentError("nothing to fetch", hint=Hint("add ", option("fetch")))

    def outcomes(
        self, tasks: Sequence[SweepTask], begin: Callable[[int], None] = lambda _: None
    ) -> Iterator[Sequence[Outcome]]:
        """Yield the outcomes of tasks in their order, of those that ran together at once.

        An error of the graph or of an input is in the outcome. `begin` is called with the number of tasks before a run.
        """
        # With values of a sweep each input may set variables, so the runs cannot be joined into one.
        for is_alone, group in itertools.groupby(
            tasks, lambda task: task.is_alone or task.item is None or bool(task.settings)
        ):
            if not is_alone:
                for ran in self._own.runner.results(list(group), begin):
                    yield self._encoded(ran)
                continue
            for task in group:
                begin(1)
                yield [self._alone(task)]

    def _alone(self, task: SweepTask) -> Outcome:
        started = time.process_time()
        assigned = tuple((name, value) for name, value in task.settings if name in self._variables)
        entry, error = self._tried(task, lambda: self._plan.shown(self._runs.steps(self._fed(task), assigned)))
        return Outcome(task, entry, error, time.process_time() - started)

    def _encoded(self, ran: Ran[SweepTask]) -> Sequence[Outcome]:
        """Return the outcome of each input that ran."""
        if ran.error is not None:
            return [Outcome(ran.inputs[0], error=ran.error.summary, cpu=ran.seconds)]
        started = time.process_time()
        steps = self._plan.shown(ran.result)
        table = self._table(ran, steps)
        entries = [(table, None), *[(None, None)] * (len(ran.inputs) - 1)] if table is not None else [
            self._tried(task, functools.partial(tuple, own)) for task, own in zip(ran.inputs, self._parts(ran, steps))
        ]  # fmt: skip
        # CPU time, because the report adds the times over all processes, and waiting for the disk must not count.
        seconds = ran.seconds + (time.process_time() - started) / len(ran.inputs)
        return [Outcome(task, entry, error, seconds) for task, (entry, error) in zip(ran.inputs, entries)]

    def _table(self, ran: Ran[SweepTask], steps: Sequence[StepResult]) -> Any:
        """Return the rows of a block for a shard of a table; None for other shards, and for results that fit no table."""
        rows, shard = self._own.runner.rows, ran.inputs[0].shard
        if not ran.counts or rows is None or shard is None or kind_of(shard) not in (CSV, *COLUMNS):
            return None
        # A table has as many rows in each column; a value that all inputs share, or one with several parts a row, fits none.
        times = {rows.times(item.name) for step in steps for item in step.values}
        if len(times) != 1 or 0 in times:
            return None
        heights = np.array(ran.counts) * times.pop()
        try:
            items = [task.item for task in ran.inputs if task.item is not None]
            keys = self._own.arrays.keys(items) if kind_of(shard) in COLUMNS and max(heights) == 1 else None
            names = np.repeat([task.name for task in ran.inputs], heights).tolist()
            return table_entry(names, steps, len(names), shard, keys)
        except InvalidArgumentError:
            return None  # the results one by one have the error

    def _tried(self, task: SweepTask, steps: Callable[[], Sequence[StepResult]]) -> tuple[Any, str | None]:
        """Return the entry of a task, and its error."""
        try:
            return self._entry(task, steps()), None
        # A fault of tfg is no fault of an input: with `keep_going` it would be hidden in the report.
        except InternalError:
            raise
        except TfgError as error:
            return b"", error.summary

    def _parts(self, ran: Ran[SweepTask], steps: Sequence[StepResult]) -> Iterator[Sequence[StepResult]]:
        """Yield the steps of each input that ran."""
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
            keys = self._own.arrays.keys([task.item]) if task.item is not None and kind_of(task.shard) in COLUMNS else None
            return shard_entry(task.name, steps, task.shard, keys)
        return self._output.encode(steps) if self._output.encode is not None else encoded_steps(steps, self._output.format)

    def _fed(self, task: SweepTask) -> dict[str, Any]:
        # A name of a sweep that is no variable's is a tensor's.
        fed = [(name, value) for name, value in task.settings if name not in self._variables]
        return self._plan.names.feeds(fed) | (self._own.arrays.of(task.item) if task.item is not None else {})

    def close(self) -> None:
        """End the sessions on a cluster, and close the file of the last input."""
        self._closing.close()
        self._runs.close()

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
            self._runs.steps, values_of, self._runs.rows, functools.partial(lacks_rows, self._graph), self._note,
            lambda task: task.item is not None and task.item.is_slow, self._runs.runs_at_once,
        )  # fmt: skip
        return _OfThread(arrays, BlockRunner(work, self._batch))


@dataclasses.dataclass(frozen=True, slots=True)
class _OfThread:
    """The parts of a worker that threads do not share."""

    arrays: InputArrays
    runner: BlockRunner[SweepTask]


def recipe_worker(recipe: Recipe) -> Worker:
    """Return the worker of a recipe in another process."""
    return Worker(recipe.load(), recipe.session, recipe.request, recipe.output, recipe.batch)
