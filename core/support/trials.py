"""Trying several ways to do the same, and keeping the fastest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

_Result = TypeVar("_Result")

TIMES: Final = 4
"""How often each way is tried before one is chosen: the least of the times leaves out what other work on the machine took."""
_MOST: Final = 8
"""By how much each way may be tried more often where runs are short."""
_GAIN: Final = 0.96
"""The part of an earlier way's time that a later way may take to be chosen: less is within what times scatter by."""


class Trial:
    """Two or more ways to do the same, by their numbers. Each is tried some times; of equal ways the first is kept.

    Where `seconds` are given, each way is tried more often until it took so long in all: the times of short runs scatter.
    """

    def __init__(self, ways: int = 2, times: int = TIMES, seconds: float = 0.0) -> None:
        self.times = times
        self.seconds = seconds
        self.totals = [0.0] * ways
        self.counts = [0] * ways
        self.least: list[float | None] = [None] * ways
        """The least time of each way in seconds, None where it was not tried."""
        self.choice: int | None = None
        """The number of the way that was chosen, as soon as one is."""

    @property
    def next(self) -> int:
        """The way that was tried least often."""
        return self.counts.index(min(self.counts))

    def run(self, *ways: Callable[[], _Result]) -> _Result:
        """The result of the way that was tried least often, which is timed; an error says nothing of its time."""
        number = self.next
        begun = time.perf_counter()
        result = ways[number]()
        self.note(number, time.perf_counter() - begun)
        return result

    def note(self, number: int, seconds: float) -> None:
        """Note the time of a way; choose one as soon as all were tried often enough."""
        before = self.least[number]
        self.least[number] = seconds if before is None else min(before, seconds)
        self.counts[number] += 1
        self.totals[number] += seconds
        is_long = min(self.totals) >= self.seconds or min(self.counts) >= _MOST * self.times
        if self.choice is None and min(self.counts) >= self.times and is_long:
            self.choice = self._fastest()

    def _fastest(self) -> int:
        best = 0
        times = [least or 0.0 for least in self.least]
        for way, seconds in enumerate(times):
            best = way if seconds < _GAIN * times[best] else best
        return best
