"""Processing of a single input, in any process: feed its values, run the steps, encode the result."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.runtime.session.runner import Runner
from ...core.support.errors import InternalError, InvalidArgumentError, NotFoundError, TfgError
from ...core.support.regular_files import open_regular
from ...formats.api.each_inputs import InputArrays, SharedRuns
from ...formats.items import Item
from ..options import GraphReader
from ..sections.run_sections import encoded_steps
from ..sessions import SessionOptions
from .each_shards import shard_entry
from .run_job import RunJob, RunOptions

_EACH: Final = re.compile(r"@each(?::([^?]*))?(\?.*)?")


@dataclasses.dataclass(frozen=True, slots=True)
class SweepTask:
    """A result to compute: an input, and the settings of the sweep. `name` names the result, `shard` the file of many
    results.
    """

    name: str
    item: Item | None
    settings: tuple[tuple[str, str], ...] = ()
    shard: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a task: the result or the error, and the CPU time in seconds.

    The result is the bytes of a file, or the output of `shard_entry` for a shard; empty after writing.
    """

    task: SweepTask
    result: Any = b""
    error: str | None = None
    cpu: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a process needs to work on tasks: the graph, as a file or as bytes, and the options."""

    path: str
    digest: str
    data: bytes | None
    reader: GraphReader
    session: SessionOptions
    options: RunOptions

    def load(self) -> Graph:
        """Load the graph from its file if this machine has the same file, otherwise from the bytes."""
        if self.digest == digest_of(self.path):
            return self.reader.load(self.path)
        if self.data is None:
            raise NotFoundError(f"'{self.path}' is missing here, or differs from the graph of the job")
        return self.reader.load_bytes(self.data)


def digest_of(path: str) -> str | None:
    """Return a checksum of a graph's file, or of the description of a SavedModel's folder; None without a file."""
    names = [os.path.join(path, name) for name in ("saved_model.pb", "saved_model.pbtxt")] if os.path.isdir(path) else [path]
    for name in names:
        if os.path.isfile(name):
            with open_regular(name) as file:
                return hashlib.file_digest(file, "blake2b").hexdigest()
    return None


class TaskQueue:
    """The tasks that nobody works on, in their order."""

    def __init__(self, tasks: Iterable[SweepTask]) -> None:
        self._tasks = deque(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def take(self, count: int) -> list[SweepTask]:
        """Remove and return the next tasks: all tasks of a shard, or up to `count` tasks with separate files."""
        taken: list[SweepTask] = []
        while self._tasks and (not taken or self._tasks[0].shard == taken[0].shard):
            if taken and taken[0].shard is None and len(taken) >= count:
                break
            taken.append(self._tasks.popleft())
        return taken

    def batches(self) -> Iterator[list[SweepTask]]:
        """Take all tasks, a shard or a task at a time."""
        while self._tasks:
            yield self.take(1)

    def put_back(self, tasks: Sequence[SweepTask]) -> None:
        """Have tasks taken again, before all others."""
        self._tasks.extendleft(reversed(tasks))


class Worker:
    """A worker for tasks. Tasks share a session if no step writes or draws; otherwise each task has a new session."""

    def __init__(self, graph: Graph, session: SessionOptions, options: RunOptions) -> None:
        fixed = tuple((name, text) for name, text in options.feeds if not _EACH.fullmatch(text))
        each = [(name, match) for name, text in options.feeds if (match := _EACH.fullmatch(text))]
        self._parts = {name: (match[1] or "") + (match[2] or "") for name, match in each}
        """The parts of an input, KEY?OPTIONS, by the words of --feed."""
        self._graph = graph
        self._session = session
        self._options = dataclasses.replace(options, feeds=fixed)
        self._job = RunJob(graph, session, self._options)
        self._variables = find_variables(graph)
        self._sessions = SharedRuns(graph)
        self._format = options.format

    def check(self) -> None:
        """Raise errors that concern all tasks before the first task starts."""
        _ = self._arrays
        if not self._job.fetches() and not self._job.targets():
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
        assigned = tuple((name, text) for name, text in task.settings if name in self._variables)
        fed = [(name, text) for name, text in task.settings if name not in self._variables]
        values = self._job.names.feeds(fed) | (self._arrays.of(task.item) if task.item is not None else {})
        orders = self._job.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        steps = self._job.shown(result for result in runner.steps(orders) if result.values)
        if task.shard is not None:
            return shard_entry(task.name, steps, task.shard)
        return encoded_steps(steps, self._format)

    def _runner(self, assigned: tuple[tuple[str, str], ...], names: tuple[str, ...], values: Mapping[str, Any]) -> Runner:
        """Return a session: the session of the previous task if its runs change no state, otherwise a new session."""
        options = dataclasses.replace(self._options, assign=(*self._options.assign, *assigned), quiet=True)
        return self._sessions.runner(
            names, values, lambda: RunJob(self._graph, self._session, options).prepared(), own=bool(assigned),
            always=self._session.on is not None,
        )  # fmt: skip

    @functools.cached_property
    def _arrays(self) -> InputArrays:
        """What an input feeds; InvalidArgumentError for options of a picture that do not exist."""
        job = self._job
        return InputArrays(
            self._graph, job.names.inputs, (*job.fetches().values(), *job.targets()), self._parts, job.names.input
        )
