"""Trying several ways to do the same, and keeping the fastest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

_Result = TypeVar("_Result")

TIMES: Final = 4
"""Runs of each alternative before a choice: the least time excludes the effect of other work on the machine."""
_MOST: Final = 8
"""By how much each way may be tried more often where runs are short."""
GAIN: Final = 0.96
"""The largest ratio of a later alternative's time to the earlier time that wins: above lies the scatter of measured times."""


class Trial:
    """Timed alternatives, by number. Each alternative is run some times; of equal alternatives the first wins.

    With `seconds` each alternative is run until its total reaches the time, or a limit of runs: the times of short runs
    scatter. `turn` runs of an alternative follow each other, and a later alternative wins below `gain` times the best,
    by default GAIN.
    """

    def __init__(
        self, ways: int = 2, times: int = TIMES, seconds: float = 0.0, *, turn: int = 1, gain: float | None = None
    ) -> None:
        self.times = times
        self.turn = turn
        self.gain = GAIN if gain is None else gain
        self.seconds = seconds
        self.totals = [0.0] * ways
        self.counts = [0] * ways
        self.least: list[float | None] = [None] * ways
        """The least time of each alternative in seconds, None before its first run."""
        self.choice: int | None = None
        """The number of the chosen alternative, None before the choice."""

    @property
    def next(self) -> int:
        """The way that had the fewest turns."""
        turns = [count // self.turn for count in self.counts]
        return turns.index(min(turns))

    def run(self, *ways: Callable[[], _Result]) -> _Result:
        """Run and time the alternative with the fewest runs, and return its result; a failing run is not timed."""
        number = self.next
        begun = time.perf_counter()
        result = ways[number]()
        self.note(number, time.perf_counter() - begun)
        return result

    def note(self, number: int, seconds: float) -> None:
        """Note the time of an alternative, and choose the fastest as soon as all were run often enough."""
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
            best = way if seconds < self.gain * times[best] else best
        return best
