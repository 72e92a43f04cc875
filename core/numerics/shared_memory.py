"""Memory that this process shares with those forked from it, for arrays that they work on together."""

from __future__ import annotations

import bisect
import collections
import functools
import math
import mmap
import weakref
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arrays import Array

_LINE: Final = 64
"""Bytes of a cache line: each array begins with one."""


class SharedMemory:
    """So many bytes; the first `reserved` of them are the owner's, the rest is handed out as arrays.

    An array lies where there is room first, so that few pages are in use, again and again; they take memory when they are
    first written to. One thread at a time may ask for arrays; they may end in any.
    """

    def __init__(self, size: int, reserved: int) -> None:
        self.bytes = mmap.mmap(-1, size)
        self._size = size
        self._free: list[tuple[int, int]] = [(_aligned(reserved), size)]
        self._ended: collections.deque[tuple[int, int]] = collections.deque()
        self._arrays: dict[int, tuple[int, weakref.ref[Array]]] = {}
        self.start = address(np.frombuffer(self.bytes, np.uint8))

    def empty(self, shape: Sequence[int], dtype: Any) -> Array | None:
        """An array of numbers that are anything; None where there is no room for it."""
        placed = self.placed(shape, dtype)
        return None if placed is None else placed[0]

    def placed(self, shape: Sequence[int], dtype: Any) -> tuple[Array, int] | None:
        """The same and where it begins."""
        dtype = np.dtype(dtype)
        size = max(_aligned(math.prod(shape) * dtype.itemsize), _LINE)
        offset = self._taken(size)
        if offset is None:
            return None
        array = self.view(offset, shape, dtype)
        key = id(array)
        self._arrays[key] = offset, weakref.ref(array, functools.partial(self._end, key, offset, offset + size))
        return array, offset

    def view(self, offset: int, shape: Sequence[int], dtype: Any) -> Array:
        """The array in C order that begins at some place."""
        return np.ndarray(shape, dtype, self.bytes, offset)

    def offset(self, array: Array) -> int | None:
        """Where an array begins; None of one that is elsewhere."""
        known = self._arrays.get(id(array))
        if known is not None:
            return known[0]
        if array.base is None:
            return None
        offset = address(array) - self.start
        return offset if 0 <= offset < self._size else None

    def _taken(self, size: int) -> int | None:
        """Where so many bytes begin that are free no more."""
        while self._ended:
            self._put_back(*self._ended.popleft())
        for i, (start, stop) in enumerate(self._free):
            if stop - start > size:
                self._free[i] = start + size, stop
                return start
            if stop - start == size:
                del self._free[i]
                return start
        return None

    def _put_back(self, start: int, stop: int) -> None:
        free = self._free
        i = bisect.bisect(free, (start,))
        if i < len(free) and free[i][0] == stop:
            stop = free.pop(i)[1]
        if i and free[i - 1][1] == start:
            start = free.pop(i - 1)[0]
            i -= 1
        free.insert(i, (start, stop))

    def _end(self, key: int, start: int, stop: int, _: Any) -> None:
        """An array is gone: this may be told at any time, while room is looked for too."""
        del self._arrays[key]
        self._ended.append((start, stop))


def address(array: Array) -> int:
    """Where an array's elements begin."""
    found: int = array.__array_interface__["data"][0]
    return found


def _aligned(size: int) -> int:
    return -(-size // _LINE) * _LINE
