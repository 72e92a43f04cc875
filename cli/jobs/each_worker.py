"""What is done with one of many inputs, in whichever process: its values fed, the steps run, the result encoded."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.functions.callers import called_functions
from ...core.graph.graph import Graph, Output
from ...core.graph.traversal import topological_order
from ...core.graph.variable_nodes import find_variables
from ...core.ordering.effects import READ, accesses
from ...core.planning.reachability import needed_nodes
from ...core.registry.op_facts import has_fact
from ...core.runtime.session.runner import Runner
from ...core.support.errors import InternalError, InvalidArgumentError, NotFoundError, TfgError
from ...core.support.regular_files import open_regular
from ...formats.codecs.csv_table import Row, cells_as_array, pick, read_row
from ...formats.items import WHOLE, Item, read_item
from ...formats.pictures import parse_transform
from ...formats.value_literals import cast_value
from ..names import fed_shape, value_of
from ..options import GraphReader
from ..sections.run_sections import encoded_steps
from ..sessions import SessionOptions
from .each_shards import shard_entry
from .run_job import RunJob, RunOptions

EACH = "@each"
"""The value of a --feed that stands for an input, with `:KEY` for an array or for columns, with `?OPTIONS` for a picture."""
_EACH: Final = re.compile(r"@each(?::([^?]*))?(\?.*)?")


@dataclasses.dataclass(frozen=True, slots=True)
class SweepTask:
    """One result to make: an input, and what the sweep sets for it. `name` names the result, `shard` the file of many."""

    name: str
    item: Item | None
    settings: tuple[tuple[str, str], ...] = ()
    shard: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: the result, or why there is none; the CPU time that it took in seconds.

    The result is the bytes of a file, or what `shard_entry` makes for a shard; none once it is written.
    """

    task: SweepTask
    result: Any = b""
    error: str | None = None
    cpu: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """All that a process needs to work on tasks: the graph, by its file or as bytes, and what is done with it."""

    path: str
    digest: str
    data: bytes | None
    reader: GraphReader
    session: SessionOptions
    options: RunOptions

    def load(self) -> Graph:
        """The graph: from its file where that is the same here, from the bytes otherwise."""
        if self.digest == digest_of(self.path):
            return self.reader.load(self.path)
        if self.data is None:
            raise NotFoundError(f"'{self.path}' is not here, or is another graph than where the job was begun")
        return self.reader.load_bytes(self.data)


def digest_of(path: str) -> str | None:
    """A checksum of a graph's file, of a SavedModel's folder that of its description; None where there is none."""
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
        """Remove the next tasks: all of one shard, or up to `count` that have files of their own."""
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
    """Works on tasks one by one. Where no step writes or draws, they share a session; otherwise each has its own."""

    def __init__(self, graph: Graph, session: SessionOptions, options: RunOptions) -> None:
        fixed = tuple((name, text) for name, text in options.feeds if not _EACH.fullmatch(text))
        each = [(name, match) for name, text in options.feeds if (match := _EACH.fullmatch(text))]
        self._each = {match[1] or WHOLE: name for name, match in each}
        self._options_of = {name: match[2] or "" for name, match in each}
        """The options of pictures, such as `?scale=1/255`, by the words of --feed."""
        self._graph = graph
        self._session = session
        self._options = dataclasses.replace(options, feeds=fixed)
        self._job = RunJob(graph, session, self._options)
        self._variables = find_variables(graph)
        self._shared: Runner | None = None
        self._format = options.format
        self._leaving: dict[frozenset[str], bool] = {}

    def check(self) -> None:
        """Refuse what no task can be done with, before any is begun."""
        for name in self._each.values():
            self._job.names.input(name)
            parse_transform(self._options_of[name])
        if not self._job.fetches() and not self._job.targets():
            raise InvalidArgumentError("nothing to fetch: give --fetch")

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
        values = self._job.names.feeds(fed) | (self._values(task.item) if task.item is not None else {})
        orders = self._job.orders(values)
        runner = self._runner(assigned, (*orders.fetches.values(), *orders.targets), values)
        steps = self._job.shown(result for result in runner.steps(orders) if result.values)
        if task.shard is not None:
            return shard_entry(task.name, steps, task.shard)
        return encoded_steps(steps, self._format)

    def _values(self, item: Item) -> dict[str, Any]:
        if item.row is not None:
            return self._row_values(item.path, item.row)
        if item.is_picture:
            word = self._tensor(WHOLE)
            return self._job.names.feeds([(word, f"@{item.path}{self._options_of.get(word, '')}")])
        values: dict[str, Any] = {}
        for key, value in read_item(item).items():
            fed = self._job.names.input(self._tensor(key))
            is_parsed = item.start is not None
            values[fed.name] = value_of(json.dumps(value), fed.dtype, f"'{key}' of {item.name}") if is_parsed else value
        return values

    def _row_values(self, path: str, row: Row) -> dict[str, Any]:
        """The cells of a row, fed by the names of columns, or as --feed TENSOR=@each:COLUMN,COLUMN says."""
        cells, values = read_row(path, row), {}
        for key in self._each or cells:
            columns = [name.strip() for name in key.split(",")] if key != WHOLE else list(cells)
            fed = self._column_input(key)
            array = cells_as_array([pick(cells, columns, path)], fed.dtype, path)
            values[fed.name] = cast_value(_of_rank(array, fed_shape(fed).rank), fed.dtype, f"{key} of {path}")
        return values

    def _column_input(self, key: str) -> Output:
        """The tensor that columns feed; NotFoundError where a column has the name of none, and no --feed says more."""
        try:
            return self._job.names.input(self._tensor(key))
        except NotFoundError as error:
            way = f"--feed TENSOR={EACH}:COLUMN,COLUMN says which columns feed a tensor"
            raise NotFoundError(f"{error.message}: {way}", hint=error.hint) from None

    def _tensor(self, key: str) -> str:
        """What an input's array is fed to: as --feed TENSOR=@each:KEY says, or the tensor called so."""
        if key in self._each:
            return self._each[key]
        return key if key != WHOLE else self._sole_input

    @functools.cached_property
    def _sole_input(self) -> str:
        """The only tensor that an input without a name can be for; InvalidArgumentError if there is none or are several."""
        names = list(self._job.names.inputs) or self._placeholders()
        if len(names) != 1:
            several = ", ".join(names) or "none"
            raise InvalidArgumentError(f"an input without a name could be for {several}", hint=f"give --feed TENSOR={EACH}")
        return names[0]

    def _placeholders(self) -> list[str]:
        """The placeholders that the fetches need."""
        job = self._job
        fetches = [self._graph.fetch(name) for name in (*job.fetches().values(), *job.targets())]
        return [node.name for node in needed_nodes(fetches) if node.must_be_fed]

    def _runner(self, assigned: tuple[tuple[str, str], ...], names: tuple[str, ...], values: Mapping[str, Any]) -> Runner:
        """A session to run in: that of the task before, where it left nothing behind that this one would see."""
        is_shared = not assigned and (self._session.on is not None or self._leaves_nothing(names, values))
        if is_shared and self._shared is not None:
            return self._shared
        options = dataclasses.replace(self._options, assign=(*self._options.assign, *assigned), quiet=True)
        runner = RunJob(self._graph, self._session, options).prepared()
        self._shared = runner if is_shared else None
        return runner

    def _leaves_nothing(self, names: tuple[str, ...], values: Mapping[str, Any]) -> bool:
        """True where a run of the tensors and operations with these tensors fed writes and draws nothing."""
        key = frozenset(values)
        if key not in self._leaving:
            self._leaving[key] = self._finds_no_trace(names, values)
        return self._leaving[key]

    def _finds_no_trace(self, names: tuple[str, ...], values: Mapping[str, Any]) -> bool:
        fed = frozenset(self._graph.output(name) for name in values)
        needed = needed_nodes([self._graph.fetch(name) for name in names], list(fed))
        order = topological_order(node for node in self._graph if node in needed)
        if any(access.kind != READ for access in accesses(self._graph, order, fed)):
            return False
        bodies = [self._graph.functions[name].body for name in called_functions(self._graph, order)]
        return not any(has_fact(node.op, "random") for node in itertools.chain(order, *bodies))


def _of_rank(cells: Any, rank: int | None) -> Any:
    """One row of cells, (1, columns), as an array of a rank: the columns last, a single column as one element."""
    count = cells.shape[1]
    if rank is None or (rank == 0 and count > 1):
        rank = 0 if count == 1 else 1
    return cells.reshape((1,) * (rank - 1) + (count,)) if rank else cells.reshape(())
