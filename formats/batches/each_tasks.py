"""The tasks of a batch: a task for each input and each setting of a sweep; and the recipe that a process works by."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.file_formats import CSV, JSON, NPY, NPZ, SHARDS, TABLE, format_of
from ...core.support.json_documents import plain
from ...core.support.places import absolute, is_file, is_folder
from ...core.support.regular_files import open_regular
from ...core.support.untrusted import is_untrusted
from ..api.graph_reading import GraphReading
from ..api.names import Given
from ..api.run_plan import Pairs, RunRequest
from ..api.session_setup import SessionSetup
from ..detect import MODEL_FILES
from ..items import Chained, Item, Items, MadeOnDemand, find_items
from ..saving import to_bytes

if TYPE_CHECKING:
    from ...core.graph.metagraph import MetaGraph
    from ...core.runtime.session.runner import StepResult

_TOGETHER: Final = 1000
"""Tasks with separate files that are taken at a time."""
SHARD_SIZE: Final = 1000
"""The number of results in a shard by default, and the least if groups of rows are shards."""


@dataclasses.dataclass(frozen=True, slots=True)
class SweepTask:
    """A result to compute: an input, and the settings of the sweep. `name` names the result, `shard` the file of many
    results.
    """

    name: str
    item: Item | None
    settings: Pairs = ()
    shard: str | None = None
    is_alone: bool = False
    """Run the input by itself, as a process died of a block with the input."""


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a task: the result or the error, and the CPU time in seconds.

    The result is the bytes of a file, or the output of `shard_entry` for a shard; empty after writing. The result of the
    first task of a block may hold the results of the whole block, and the others are None.
    """

    task: SweepTask
    result: Any = b""
    error: str | None = None
    cpu: float = 0.0


class TaskQueue:
    """The tasks that nobody works on, in their order."""

    def __init__(self, tasks: Sequence[SweepTask]) -> None:
        # Counted and not removed: the tasks are made on demand, of millions of inputs too.
        self._tasks = tasks
        self._taken = 0
        self._back: deque[SweepTask] = deque()

    def __len__(self) -> int:
        return len(self._back) + len(self._tasks) - self._taken

    def _next(self) -> SweepTask | None:
        """Return the next task."""
        if self._back:
            return self._back[0]
        return self._tasks[self._taken] if self._taken < len(self._tasks) else None

    def take(self, count: int) -> Sequence[SweepTask]:
        """Remove and return the next tasks: all tasks of a shard, or up to `count` tasks with separate files."""
        # The shard is a slice whose tasks are made on demand: it is a few numbers, even on the way to another process.
        if self and not self._back and isinstance(self._tasks, SweepTasks) and self._tasks.shards:
            shard = self._tasks.shard_from(self._taken)
            self._taken += len(shard)
            return shard
        taken: list[SweepTask] = []
        while (task := self._next()) is not None and (not taken or task.shard == taken[0].shard):
            if taken and taken[0].shard is None and len(taken) >= count:
                break
            taken.append(task)
            if self._back:
                self._back.popleft()
            else:
                self._taken += 1
        return taken

    def batches(self) -> Iterator[Sequence[SweepTask]]:
        """Take all tasks, a shard or some separate files at a time."""
        while self:
            yield self.take(_TOGETHER)

    def put_back(self, tasks: Sequence[SweepTask]) -> None:
        """Have tasks taken again, before all others."""
        self._back.extendleft(reversed(tasks))


class SweepTasks(MadeOnDemand[SweepTask]):
    """Tasks in their order, made on demand: a job may have many more than memory holds."""

    def __init__(
        self, items: Sequence[Item | None], settings: Sequence[Pairs], shards: Sequence[str] = (), ends: Sequence[int] = (),
        places: Sequence[range] | None = None,
    ) -> None:  # fmt: skip
        """`shards` have the tasks up to their `ends`, by default each task has its own file; `places` choose some tasks."""
        self._items, self._settings, self.shards, self._ends = items, settings, shards, ends
        self._places = Chained([range(len(items) * len(settings))] if places is None else places)

    def __len__(self) -> int:
        return len(self._places)

    def _at(self, index: int) -> SweepTask:
        place = self._places[index]
        item, chosen = self._items[place // len(self._settings)], self._settings[place % len(self._settings)]
        shard = self.shards[bisect.bisect_right(self._ends, place)] if self.shards else None
        return SweepTask(_name(item.name if item else None, chosen), item, chosen, shard)

    def shard_ends(self, size: int | None) -> list[int]:
        """Return the ends of shards of `size` tasks; with None of the groups of rows, if all inputs are Parquet and Arrow."""
        groups = self._items.group_ends(SHARD_SIZE) if size is None and isinstance(self._items, Items) else None
        if groups is not None:
            return [end * len(self._settings) for end in groups]
        size = size or SHARD_SIZE
        return [*range(size, len(self), size), len(self)]

    def placed(self, shards: Sequence[str], ends: Sequence[int]) -> SweepTasks:
        """Return the tasks with their shards."""
        return SweepTasks(self._items, self._settings, shards, ends)

    def of_shard(self, number: int) -> range:
        """Return the places of the tasks of a shard among all tasks."""
        return range(self._ends[number - 1] if number else 0, self._ends[number])

    def in_shards(self, numbers: Iterable[int]) -> SweepTasks:
        """Return the tasks of some shards."""
        return SweepTasks(self._items, self._settings, self.shards, self._ends, list(map(self.of_shard, numbers)))

    def shard_from(self, index: int) -> SweepTasks:
        """Return the tasks from one on that are in its shard: a few numbers for rows of a table, also when pickled."""
        start = self._places[index]
        number = bisect.bisect_right(self._ends, start)
        end = min(self._ends[number], start + len(self) - index)
        each = len(self._settings)
        first, last = start // each, -(-end // each)
        items = self._items.part(first, last) if isinstance(self._items, Items) else self._items[first:last]
        places = range(start - first * each, end - first * each)
        return SweepTasks(items, self._settings, [self.shards[number]], [places.stop], [places])


def sweep_tasks(patterns: Sequence[str], sweep: Sequence[tuple[str, Sequence[str | Given]]]) -> SweepTasks:
    """Return a task for each input that matches a pattern, and for each combination of the sweep's values.

    InvalidArgumentError for values with the same name.
    """
    items: Sequence[Item | None] = find_items(patterns) or [None]
    settings = [[(name, value) for value in values] for name, values in sweep]
    combinations = list(itertools.product(*settings))
    # Two equal names would be one file, in which the later result replaces the earlier.
    if len({_name(None, chosen) for chosen in combinations}) < len(combinations):
        raise InvalidArgumentError("the sweep repeats a value")
    return SweepTasks(items, combinations)


def _name(item: str | None, settings: Pairs) -> str:
    """Return the name of a result from the name of the input and the settings."""
    # A value such as `a/b` must not become a folder.
    words = [f"{name}={_word(value)}".replace(os.sep, "_") for name, value in settings]
    return ",".join([*([item] if item is not None else []), *words])


def _word(given: str | Given) -> str:
    value = plain(given.value) if isinstance(given, Given) else given
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


# The recipe: everything that a process needs to work on the tasks of a batch.

_FORMATS = {file_format.word: file_format.extensions[0] for file_format in (NPZ, NPY, JSON, CSV, TABLE)}


@dataclasses.dataclass(frozen=True, slots=True)
class BatchOutput:
    """The place and the form of the results: a folder with a file for each result, or shards of many results."""

    folder: str | None = None
    """The folder with a file for each result."""
    shards: str | None = None
    """The name of the shards without their numbers; the extension is the format."""
    format: str = NPZ.word
    """The format of the files in the folder."""
    shard_size: int | None = None
    """The number of results in a shard; None for 1,000, or for the groups of rows of Parquet and Arrow files."""
    overwrite: bool = False
    """Compute results again that are there."""
    keep_going: bool = False
    """Continue after a failure."""
    encode: Callable[[Sequence[StepResult]], bytes] | None = None
    """The function that makes a file's contents; by default the encoder of the format."""

    def check(self) -> None:
        """InvalidArgumentError without a place, with two places, for unknown formats, and for shards without a result."""
        if (self.folder is None) == (self.shards is None):
            raise InvalidArgumentError("the results need a place", hint="name either a folder or a file for shards")
        if self.shards is not None:
            format_of(self.shards, SHARDS)
        if self.shard_size is not None and self.shard_size < 1:
            raise InvalidArgumentError(f"a shard of {self.shard_size} results is empty")
        if self.format not in _FORMATS or (self.format == TABLE.word and self.encode is None):
            raise InvalidArgumentError(f"'{self.format}' is not a format of results", hint="use npz, npy, json or csv")

    @property
    def place(self) -> str:
        """The folder that the results go to."""
        return os.path.dirname(self.shards) if self.shards is not None else str(self.folder)

    @property
    def ending(self) -> str:
        """The extension of a result's own file."""
        return _FORMATS[self.format]


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a process needs to work on tasks: the graph, as a file or as bytes, and the settings.

    A graph as bytes is read without the metadata, which is beside the bytes.
    """

    path: str | None
    digest: str
    data: bytes | None
    reading: GraphReading
    session: SessionSetup
    request: RunRequest
    output: BatchOutput
    meta: MetaGraph | None = None
    untrusted: bool = False
    batch: BlockSize = "auto"
    """The number of inputs in a run."""

    def load(self) -> Graph:
        """Load the graph from its file if this machine has the same file, otherwise from the bytes."""
        # By the contents: a machine of a cluster may have another file of this name.
        if self.path is not None and self.digest == digest_of(self.path):
            graph = self.reading.load(self.path)
        elif self.data is not None:
            graph = self.reading._replace(tags=None).load(self.data)
        else:
            raise NotFoundError(f"'{self.path}' is missing here, or differs from the graph of the job")
        graph.meta = self.meta or graph.meta
        if self.untrusted:
            graph.distrust()
        return graph


def graph_recipe(
    graph: Graph, path: str | None, reading: GraphReading, session: SessionSetup, request: RunRequest, output: BatchOutput,
    batch: BlockSize,
) -> Recipe:  # fmt: skip
    """Return the recipe for a graph in a file, or for a graph of this process, which travels as bytes."""
    digest = None if path is None else digest_of(path)
    untrusted = graph.is_untrusted or is_untrusted()
    if path is not None and digest is not None:
        return Recipe(absolute(path), digest, None, reading, session, request, output, None, untrusted, batch)
    data = to_bytes(graph, "graph")
    # The ops of the graph have their names by now, and its function and tags are chosen.
    own = GraphReading(op_library=reading.op_library)
    return Recipe(None, digest_of_bytes(data), data, own, session, request, output, graph.meta, untrusted, batch)


def digest_of(path: str) -> str | None:
    """Return a checksum of a graph's file, or of the description of a SavedModel's folder; None without a file."""
    names = [os.path.join(path, name) for name in MODEL_FILES] if is_folder(path) else [path]
    for name in names:
        if is_file(name):
            with open_regular(name) as file:
                # The checksum is of the whole file, while beginnings tell remembered choices apart: results of other weights
                # must never mix.
                return hashlib.file_digest(file, "blake2b").hexdigest()
    return None


def digest_of_bytes(data: bytes) -> str:
    """Return the checksum of `digest_of` for the contents of a file."""
    return hashlib.blake2b(data).hexdigest()
