"""What a kernel says to let processes share its work: `result_array` for what they fill, `products.divide` for who fills what.

A process at work on a step of a team (`team`, `team_member`) is a Side. All of them run the same call, so all come to the same
arrays, in the same order, and to the same divisions of work. The parts of a division that writes into such an array go to
whoever asks for the next one; everything else each does for itself. So outside of parts nothing may be written into such an
array; `rehearsal` looks at that.

Numbers on a board at the beginning of the shared memory tell what is going on. A process writes what belongs together before
the number that announces it, and others see it in that order: that is so on x86, which is why there are no teams elsewhere.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from ..arrays import Array
from .shared_memory import SharedMemory

_Part = TypeVar("_Part")

SEQUENCE, STEP, TICKET, BEGUN, LAST, COUNT, ARRAYS = range(0, 56, 8)
"""Places on the board, each in a line of a cache: the number of the step that was announced last, and which one it is; which
division is going on, how many of its parts were begun, how many of them from its end, how many it has; how many arrays the
leader made for the step.
"""
DONE: Final = 64
APART: Final = 8
"""From here on each process, so far from the next, says how many parts of a division it has done."""
SLEEPS: Final = 1
FAILED: Final = 2
"""So far behind it whether it sleeps, and the number of the step that it failed in last."""
MOST_PROCESSES: Final = 64
MOST_ARRAYS: Final = 64
INPUTS: Final = DONE + APART * MOST_PROCESSES
RESULTS: Final = INPUTS + MOST_ARRAYS
"""From here on where in the memory inputs lie, and arrays that are made: so many at most."""
_LOCK: Final = RESULTS + MOST_ARRAYS
BOARD_BYTES: Final = 8 * (_LOCK + 8)

_PATIENCE: Final = 1 << 12
"""How often one looks whether a lock is free before it sleeps between looks: that takes some milliseconds."""
REST: Final = -1
"""The step at which members sleep."""
_DIVISIONS: Final = 1 << 16
"""Tickets of a step: more than it has divisions."""


class Form(NamedTuple):
    """What an input is like that lies elsewhere in each run."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class JointStep(NamedTuple):
    """A call that makes its result of its inputs alone, and comes to the same arrays and divisions whenever it is made.

    An input without a form is the same in every run, and among the `constants`.
    """

    call: Callable[..., Any]
    forms: tuple[Form | None, ...]
    constants: tuple[Any, ...]


class Side:
    """A process at work on a step: `number` in a team of `size`, the leader being 0."""

    def __init__(self, memory: SharedMemory, number: int, size: int) -> None:
        self.memory = memory
        self.board = memoryview(memory.bytes).cast("q")
        self.sequence = 0
        self.arrays = self.divisions = 0
        self.is_in_part = False
        self.done = DONE + APART * number
        self.takes_last = number > 0
        self.results: list[Array] = []
        """The arrays of the step: held until it ends, for a slow member may still read one that its leader needs no more."""
        self._counts = [DONE + APART * i for i in range(size)]
        self._try_lock, self.unlock = _lock(memory)

    def call(self, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """A step's call, made as this side of it."""
        self.arrays = self.divisions = 0
        self.is_in_part = False
        here.side = self
        try:
            return call(*inputs)
        finally:
            here.side = None
            self.results.clear()

    def result_array(self, shape: Sequence[int], dtype: Any, workers: int) -> Array:
        """An array that all processes fill; for one worker, and within a part, one that this process fills."""
        if self.is_in_part or workers == 1:
            return np.empty(shape, dtype)
        found = self.next_array(shape, dtype)
        if found is None:
            return np.empty(shape, dtype)
        self.results.append(found)
        return found

    def next_array(self, shape: Sequence[int], dtype: Any) -> Array | None:
        """The next array of the step in the shared memory; None where it is not there."""
        raise NotImplementedError

    def divide(self, work: Callable[[_Part], object], parts: Sequence[_Part], into: Array | None) -> None:
        """`work` on all parts, by all processes where it writes into an array of `result_array` or a view of it."""
        if len(parts) < 2 or self.is_in_part or into is None or not self._is_result(into):
            for part in parts:
                work(part)
            return
        self.divisions += 1
        self.is_in_part = True
        try:
            self.divide_jointly(work, parts, self.sequence * _DIVISIONS + self.divisions)
        finally:
            self.is_in_part = False

    def _is_result(self, array: Array) -> bool:
        return any(array is result or array.base is result for result in self.results)

    def divide_jointly(self, work: Callable[[_Part], object], parts: Sequence[_Part], ticket: int) -> None:
        """The same with the others, who know this division by its ticket."""
        raise NotImplementedError

    def claim(self, ticket: int) -> int:
        """The next part of a division that nobody has begun; -1 where there is none.

        The leader takes the first and members the last: what lies in the cache of a process is what it did of the step before.
        """
        board = self.board
        number = -1
        self.lock()
        begun, last, count = board[BEGUN], board[LAST], board[COUNT]
        if begun < count and board[TICKET] == ticket:
            board[BEGUN] = begun + 1
            number = begun - last
            if self.takes_last:
                board[LAST] = last + 1
                number = count - 1 - last
        self.unlock()
        return number

    def lock(self) -> None:
        """Keep others from claiming; who has to wait does not sleep, unless the one who has it does not come to its end."""
        looks = 0
        while self._try_lock():
            looks += 1
            if looks > _PATIENCE:
                self.look_after_others()

    def look_after_others(self) -> None:
        """Sleep a moment, and end what goes on where a process is gone that this one waits for."""
        raise NotImplementedError

    def finished(self) -> int:
        """How many parts of the division are done."""
        board = self.board
        return sum([board[place] for place in self._counts])


class _Here(threading.local):
    """What this thread works for: a side at work on a step, a memory for other results, a team of so many processes."""

    side: Side | None = None
    memory: SharedMemory | None = None
    size = 0


here = _Here()


def result_array(shape: Sequence[int], dtype: Any, workers: int = 2) -> Array:
    """`np.empty`; where a team is at work, an array that its processes fill: outside of the parts of a division nobody may.

    What one of `workers` fills alone is its own.
    While a step is done by one process alone it lies where the team sees it, so that the next step need not copy it.
    """
    if here.side is not None:
        return here.side.result_array(shape, dtype, workers)
    found = None if here.memory is None else here.memory.empty(shape, dtype)
    return np.empty(shape, dtype) if found is None else found


def init_lock(memory: SharedMemory) -> None:
    """Make the lock of a board; before anybody takes it."""
    ctypes.CDLL(None).sem_init(ctypes.c_void_p(_lock_address(memory)), 1, 1)


def _lock(memory: SharedMemory) -> tuple[Callable[[], int], Callable[[], int]]:
    """(a function that takes the lock and gives 0, or else another number, one that gives it back): a POSIX semaphore."""
    library, address = ctypes.PyDLL(None), ctypes.c_void_p(_lock_address(memory))
    return functools.partial(library.sem_trywait, address), functools.partial(library.sem_post, address)


def _lock_address(memory: SharedMemory) -> int:
    return memory.start + 8 * _LOCK
