"""The tasks of a batch: a task for each input and each setting of a sweep."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...core.support.errors import InvalidArgumentError
from ...core.support.json_documents import plain
from ..items import Chained, Item, MadeOnDemand, find_items
from .names import Given
from .run_plan import Pairs

_TOGETHER: Final = 1000
"""Tasks with separate files that are taken at a time."""


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

    def take(self, count: int) -> list[SweepTask]:
        """Remove and return the next tasks: all tasks of a shard, or up to `count` tasks with separate files."""
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

    def batches(self) -> Iterator[list[SweepTask]]:
        """Take all tasks, a shard or some separate files at a time."""
        while self:
            yield self.take(_TOGETHER)

    def put_back(self, tasks: Sequence[SweepTask]) -> None:
        """Have tasks taken again, before all others."""
        self._back.extendleft(reversed(tasks))


class SweepTasks(MadeOnDemand[SweepTask]):
    """Tasks in their order, made on demand: a job may have many more than memory holds."""

    def __init__(
        self, items: Sequence[Item | None], settings: Sequence[Pairs], shards: Sequence[str] = (), shard_size: int = 1,
        places: Sequence[range] | None = None,
    ) -> None:  # fmt: skip
        """`shards` have `shard_size` tasks each, by default each task has a file of its own; `places` choose some tasks."""
        self._items, self._settings, self.shards, self._shard_size = items, settings, shards, shard_size
        self._places = Chained([range(len(items) * len(settings))] if places is None else places)

    def __len__(self) -> int:
        return len(self._places)

    def _at(self, index: int) -> SweepTask:
        place = self._places[index]
        item, chosen = self._items[place // len(self._settings)], self._settings[place % len(self._settings)]
        shard = self.shards[place // self._shard_size] if self.shards else None
        return SweepTask(_name(item.name if item else None, chosen), item, chosen, shard)

    def placed(self, shards: Sequence[str], shard_size: int) -> SweepTasks:
        """Return the tasks with their shards."""
        return SweepTasks(self._items, self._settings, shards, shard_size)

    def of_shard(self, number: int) -> range:
        """Return the places of the tasks of a shard among all tasks."""
        return range(number * self._shard_size, min((number + 1) * self._shard_size, len(self)))

    def in_shards(self, numbers: Iterable[int]) -> SweepTasks:
        """Return the tasks of some shards."""
        return SweepTasks(self._items, self._settings, self.shards, self._shard_size, list(map(self.of_shard, numbers)))


def sweep_tasks(patterns: Sequence[str], sweep: Sequence[tuple[str, Sequence[str | Given]]]) -> SweepTasks:
    """Return a task for each input that matches a pattern, and for each combination of the sweep's values.

    InvalidArgumentError for values with the same name.
    """
    items: Sequence[Item | None] = find_items(patterns) or [None]
    settings = [[(name, value) for value in values] for name, values in sweep]
    combinations = list(itertools.product(*settings))
    if len({_name(None, chosen) for chosen in combinations}) < len(combinations):
        raise InvalidArgumentError("the sweep repeats a value")
    return SweepTasks(items, combinations)


def _name(item: str | None, settings: Pairs) -> str:
    """Return the name of a result from the name of the input and the settings."""
    words = [f"{name}={_word(value)}".replace(os.sep, "_") for name, value in settings]
    return ",".join([*([item] if item is not None else []), *words])


def _word(given: str | Given) -> str:
    value = plain(given.value) if isinstance(given, Given) else given
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
