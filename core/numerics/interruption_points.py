"""The points where a long computation pauses, so that the caller may end the computation: between pieces of bounded size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PIECE = 1 << 18
"""The elements of a piece: milliseconds of work, and temporaries of a few megabytes."""

_watchers: list[Callable[[], None]] = []


def watch(watcher: Callable[[], None]) -> None:
    """Call `watcher` at every pause; an exception of the watcher ends the computation."""
    _watchers.append(watcher)


def pause() -> None:
    """Let the watchers look at the time: to be called in loops over pieces."""
    for watcher in _watchers:
        watcher()


def in_pieces(compute: Callable[[int, int], Any], count: int) -> np.ndarray[Any, Any]:
    """Return `count` doubles, computed by `compute(start, stop)` in pieces."""
    if count <= PIECE:
        return np.asarray(compute(0, count))
    result = np.empty(count)
    for start in range(0, count, PIECE):
        pause()
        stop = min(start + PIECE, count)
        result[start:stop] = compute(start, stop)
    return result
