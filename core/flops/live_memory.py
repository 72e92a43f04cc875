"""The memory that values of a run hold, by the arrays that are alive."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np


class LiveMemory:
    """The bytes of arrays that nodes returned and that are alive, and the largest sum so far.

    Views count once, with the array that owns the memory. Scratch memory inside a kernel does not count, nor do numbers and
    strings outside of arrays.
    """

    def __init__(self) -> None:
        self.peak = 0
        self.path = ""
        self._bytes = 0
        self._alive: dict[int, weakref.ref[Any]] = {}

    def add(self, path: str, result: Any) -> None:
        """Note the result of a node: an array, or several in a list or tuple."""
        for value in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(value, np.ndarray):
                self._add_owner(_owner(value))
        if self._bytes > self.peak:
            self.peak, self.path = self._bytes, path

    def _add_owner(self, owner: np.ndarray[Any, Any]) -> None:
        key = id(owner)  # unique while the array is alive; its end removes the key
        if key not in self._alive:
            self._alive[key] = weakref.ref(owner, functools.partial(self._forget, key, owner.nbytes))
            self._bytes += owner.nbytes

    def _forget(self, key: int, size: int, _: weakref.ref[Any]) -> None:
        del self._alive[key]
        self._bytes -= size


def _owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
