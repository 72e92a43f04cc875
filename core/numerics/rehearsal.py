"""How a call behaves that is to become a step of a team: tried out in one process, before there are others."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from ..arrays import Array
from .products import divide
from .shared_memory import SharedMemory
from .teamwork import Side, here

_Part = TypeVar("_Part")

_MARK: Final = 0xA5
"""What the bytes of an array hold that nobody is to write to."""


class Rehearsed(NamedTuple):
    """What a call gave, how many seconds it took, and how many of them a team would save."""

    result: Any
    seconds: float
    saved: float


class Rehearsal(Side):
    """A team of one, for one of `size` processes. One that `has_threads` takes less time; its results may round otherwise."""

    def __init__(self, memory: SharedMemory, size: int, has_threads: bool = False) -> None:
        super().__init__(memory, 0, 1)
        self._size = size
        self._saved = 0.0
        self.has_threads = has_threads
        self._marked: list[Array] | None = None

    def rehearse(self, call: Callable[..., Any], inputs: Sequence[Any]) -> Rehearsed:
        """A call as the team would make it."""
        self._saved = 0.0
        begun = time.perf_counter()
        result = self.call(call, inputs)
        seconds = time.perf_counter() - begun
        return Rehearsed(result, seconds + self._saved if self.has_threads else seconds, self._saved)

    def leaves_alone(self, call: Callable[..., Any], inputs: Sequence[Any]) -> bool:
        """True of a call that writes nothing into its arrays but the parts of divisions, of which it does none here.

        That is what a member does that comes late, when the arrays may have become somebody else's.
        """
        self._marked = []
        try:
            self.call(call, inputs)
        except Exception:  # by what was not computed: only the arrays count
            return self._are_untouched(self._marked)
        else:
            return self._are_untouched(self._marked)
        finally:
            self._marked = None

    def _are_untouched(self, arrays: Sequence[Array]) -> bool:
        return all(bool((_bytes(array) == _MARK).all()) for array in arrays)

    def next_array(self, shape: Sequence[int], dtype: Any) -> Array | None:
        found = self.memory.empty(shape, dtype)
        if found is not None and self._marked is not None:
            _bytes(found)[...] = _MARK
            self._marked.append(found)
        return found

    def divide_jointly(self, work: Callable[[_Part], object], parts: Sequence[_Part], ticket: int) -> None:
        if self._marked is not None:
            return
        if self.has_threads:
            self._divide_in_threads(work, parts)
            return
        times = [time.perf_counter()]
        for part in parts:
            work(part)
            times.append(time.perf_counter())
        whole = times[-1] - times[0]
        longest = max(end - begin for begin, end in itertools.pairwise(times))
        self._saved += whole - max(longest, whole / self._size)


    def _divide_in_threads(self, work: Callable[[_Part], object], parts: Sequence[_Part]) -> None:
        begun = time.perf_counter()
        here.side = None
        try:
            divide(work, parts)
        finally:
            here.side = self
        self._saved += (time.perf_counter() - begun) * (self._size - 1)


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view("u1")
