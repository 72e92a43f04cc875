"""Garbage collection during the building of graphs: many small objects are made, and hardly any becomes garbage."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from typing import Final

RARELY: Final = 1_000_000
"""Objects to be allocated before Python collects the youngest generation; Python's default is 700."""


class _Depth:
    """The depth of nested blocks with rare collection, over all threads, and the thresholds to restore."""

    def __init__(self) -> None:
        self.lock: Final = threading.Lock()
        self.count = 0
        self.before = gc.get_threshold()


_depth: Final = _Depth()


@contextlib.contextmanager
def rare_collection() -> Iterator[None]:
    """Collect garbage rarely in the whole process, for as long as some thread is inside; a decorator too.

    Thresholds that are higher anyhow stay, and so does a collector that was turned off by a threshold of 0 or otherwise.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _depth.lock:
        _depth.count += 1
        if _depth.count == 1:
            # Only the outermost block remembers the thresholds: an inner one would remember RARELY.
            _depth.before = young, *older = gc.get_threshold()
            if 0 < young < RARELY:
                gc.set_threshold(RARELY, *older)


def _leave() -> None:
    with _depth.lock:
        _depth.count -= 1
        # Do not override a threshold that the program has set meanwhile.
        if _depth.count == 0 and gc.get_threshold() == (RARELY, *_depth.before[1:]):
            gc.set_threshold(*_depth.before)
