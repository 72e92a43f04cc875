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
from ..items import Item, find_items
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
        """Take all tasks, a shard or some separate files at a time."""
        while self._tasks:
            yield self.take(_TOGETHER)

    def put_back(self, tasks: Sequence[SweepTask]) -> None:
        """Have tasks taken again, before all others."""
        self._tasks.extendleft(reversed(tasks))


def sweep_tasks(patterns: Sequence[str], sweep: Sequence[tuple[str, Sequence[str | Given]]]) -> list[SweepTask]:
    """Return a task for each input that matches a pattern, and for each combination of the sweep's values.

    InvalidArgumentError for values with the same name.
    """
    items: Sequence[Item | None] = find_items(patterns) or [None]
    settings = [[(name, value) for value in values] for name, values in sweep]
    tasks = [
        SweepTask(_name(item.name if item else None, chosen), item, chosen)
        for item in items
        for chosen in itertools.product(*settings)
    ]
    if len({task.name for task in tasks}) < len(tasks):
        raise InvalidArgumentError("--sweep repeats a value")
    return tasks


def _name(item: str | None, settings: Pairs) -> str:
    """Return the name of a result from the name of the input and the settings."""
    words = [f"{name}={_word(value)}".replace(os.sep, "_") for name, value in settings]
    return ",".join([*([item] if item is not None else []), *words])


def _word(given: str | Given) -> str:
    value = plain(given.value) if isinstance(given, Given) else given
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
