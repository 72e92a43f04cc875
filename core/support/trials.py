"""Trials of several alternatives to do the same, of which the fastest is kept."""

from __future__ import annotations

import functools
import glob
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

_Result = TypeVar("_Result")

TIMES: Final = 4
"""Runs of each alternative before a choice: the least time excludes the effect of other work on the machine."""
_MOST: Final = 8
"""By how much each alternative may be tried more often if runs are short."""
GAIN: Final = 0.96
"""The largest ratio of a later alternative's time to the earlier time that wins: above lies the scatter of measured times."""

PAIRS: Final = 5
"""Pairs of turns before a choice."""
_TURN: Final = 2
"""Runs of a turn: the first may convert what the other alternative wrote."""
_FAR: Final = 2.0
"""By how much an alternative is ahead, in the first two pairs or after the least number of runs, if a trial ends at once."""

_SURE, _MARGIN = 3, 0.9
"""Pairs after which a trial ends where all ratios lie on the same side, so far from GAIN."""

_OVERLOADED: Final = 2.0
"""The load of the machine by its cores from which waits for cores are left out: a run itself makes a load of 1."""


def cores() -> int:
    """Return the number of cores that this process may use: in a container fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def gpus() -> list[str]:
    """Return the files of the GPUs of this machine."""
    return sorted(glob.glob("/dev/nvidia[0-9]*"))


class RunTimer:
    """The time since its making, by the wall and as on a machine without other work."""

    __slots__ = ("_cpu", "_wall")

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """The seconds of wall time."""
        return time.perf_counter() - self._wall

    @property
    def quiet_seconds(self) -> float:
        """The seconds of wall time, as on a machine without other work.

        On an overloaded machine most of the wall time is a wait for cores, which differs by ten times from run to run. A run
        that waits for nothing else takes at most the CPU time of all threads.
        """
        wall, cpu = self.seconds, time.process_time() - self._cpu
        # A GPU computes without CPU time. Elsewhere, too, only an overloaded machine has its waits left out: an engine may
        # wait for a device that tfg does not know.
        is_overloaded = hasattr(os, "getloadavg") and os.getloadavg()[0] > _OVERLOADED * cores()
        return min(wall, cpu) if is_overloaded and not gpus() else wall


class PairedTrial:
    """Two alternatives in turns, compared turn by turn: other work on the machine slows both turns of a pair.

    The time of a turn is the least of its runs. The later alternative wins if the median of the pairs' ratios is below
    GAIN. A trial in which the first pairs agree ends early. Any other takes at least `seconds` for each alternative, or
    several times PAIRS pairs of short runs.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.times: tuple[list[float], list[float]] = [], []
        self.choice: int | None = None
        """The number of the chosen alternative, None before the choice."""

    @property
    def next(self) -> int:
        """The number of the alternative whose turn it is."""
        first, second = (len(times) // _TURN for times in self.times)
        return int(second < first)

    @property
    def least(self) -> tuple[float | None, float | None]:
        """Return the least time of each alternative in seconds, None before its first run."""
        first, second = (min(times, default=None) for times in self.times)
        return first, second

    def note(self, number: int, seconds: float) -> None:
        """Note the time of an alternative, and choose after enough pairs."""
        self.times[number].append(seconds)
        first, second = ([min(times[i : i + _TURN]) for i in range(0, len(times) - _TURN + 1, _TURN)] for times in self.times)
        # A clock may tell no time at all for a short run.
        ratios = [later / max(earlier, 1e-9) for earlier, later in zip(first, second)]
        is_long = min(map(sum, self.times)) >= self.seconds or len(ratios) >= _MOST * PAIRS
        # No later pair is likely to turn this round, and each costs the user the slower run.
        if len(ratios) == 2 and min(ratios) > _FAR * GAIN:
            self.choice = 0
        elif is_long and len(ratios) >= 2 and max(ratios) < GAIN / _FAR:
            self.choice = 1
        elif is_long and len(ratios) == _SURE and (max(ratios) < GAIN * _MARGIN or min(ratios) > GAIN / _MARGIN):
            self.choice = int(max(ratios) < GAIN)
        elif self.choice is None and len(ratios) >= PAIRS and is_long:
            # The median and not the mean: a pair in which another program woke up says nothing.
            self.choice = int(statistics.median(ratios) < GAIN)


class Trial:
    """Timed alternatives, by number. Each alternative is run some times; of equal alternatives the first wins.

    With `seconds` each alternative is run until its total reaches the time, or a limit of runs, unless one is far ahead: the
    times of short runs scatter. A later alternative wins below `gain` times the best, by default GAIN.
    """

    def __init__(self, alternatives: int = 2, times: int = TIMES, seconds: float = 0.0, *, gain: float | None = None) -> None:
        self.times = times
        self.gain = GAIN if gain is None else gain
        self.seconds = seconds
        self.totals = [0.0] * alternatives
        self.counts = [0] * alternatives
        self.least: list[float | None] = [None] * alternatives
        """The least time of each alternative in seconds, None before its first run."""
        self.choice: int | None = None
        """The number of the chosen alternative, None before the choice."""

    @property
    def next(self) -> int:
        """The number of the alternative that had the fewest runs."""
        return self.counts.index(min(self.counts))

    @property
    def least_pair(self) -> tuple[float | None, float | None]:
        """Return the least times of the first two alternatives."""
        return self.least[0], self.least[1]

    def decide(self, choice: int, least: Sequence[float | None]) -> None:
        """Take a choice and the least times of an earlier trial."""
        self.choice, self.least = choice, list(least)

    def run(self, *alternatives: Callable[[], _Result]) -> _Result:
        """Run and time the alternative with the fewest runs, and return its result; a failing run is not timed."""
        number = self.next
        timer = RunTimer()
        result = alternatives[number]()
        self.note(number, timer.quiet_seconds)
        return result

    def note(self, number: int, seconds: float) -> None:
        """Note the time of an alternative, and choose the fastest as soon as all were run often enough."""
        before = self.least[number]
        self.least[number] = seconds if before is None else min(before, seconds)
        self.counts[number] += 1
        self.totals[number] += seconds
        is_over = min(self.totals) >= self.seconds or min(self.counts) >= _MOST * self.times or self._is_clear()
        if self.choice is None and min(self.counts) >= self.times and is_over:
            self.choice = self._fastest()

    def _is_clear(self) -> bool:
        """Return whether the fastest is so far ahead that no scatter of times is likely to turn this round."""
        best, *others = sorted(least or 0.0 for least in self.least)
        return min(others) > _FAR * max(self.gain, 1.0) * best

    def _fastest(self) -> int:
        best = 0
        times = [least or 0.0 for least in self.least]
        for number, seconds in enumerate(times):
            best = number if seconds < self.gain * times[best] else best
        return best
