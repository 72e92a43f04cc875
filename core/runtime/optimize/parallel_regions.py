"""Parallel regions of a plan: stretches of steps that fall into independent branches.

`find_regions` chooses stretches so that the run takes the least time, by the measured times of the steps.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ...planning.plan import Step
from ...support.grouping import grouped
from ...types.dtypes import DType
from ..steps.constant_steps import only_computes
from .pad_fusion import PadFused
from .step_fusion import Fused, all_steps

_LONGEST: Final = 64
"""The largest number of steps in a region; the search takes this many times the number of all steps."""
HANDING_OUT: Final = 5e-5
"""The seconds for handing branches to threads and for waiting for the threads."""
TAKING_TURNS: Final = 2e-5
"""The seconds that a step in a branch loses, since threads take turns at Python code."""


class StepTiming(NamedTuple):
    """The seconds of a step: the time of its own thread alone, and the time of all threads together."""

    alone: float
    divided: float

    @property
    def seconds(self) -> float:
        """By the clock."""
        return self.alone + self.divided


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """The steps from `start` to `stop`, and the steps of each branch in order; the longest branch comes first."""

    start: int
    stop: int
    branches: tuple[tuple[int, ...], ...]


def find_regions(
    steps: Sequence[Step],
    timings: Sequence[StepTiming],
    threads: int,
) -> list[Region]:
    """Return the regions that `threads` threads run in less time than a single thread, in their order."""
    sources, able = _sources(steps), [*map(_is_able_in_thread, steps)]
    # Shortest path over places between steps: seconds[i] is the least time of the steps before place i.
    seconds = [0.0] + [math.inf] * len(steps)
    begins = [0] * (len(steps) + 1)  # start of the last step or region before each place
    for start, timing in enumerate(timings):
        if seconds[start] + timing.seconds <= seconds[start + 1]:
            seconds[start + 1], begins[start + 1] = seconds[start] + timing.seconds, start
        stretch = _Stretch(start, threads)
        for i in _steps_from(start, able):
            stretch.add(i, sources[i], timings[i])
            if len(stretch.work) > 1 and seconds[start] + stretch.estimate() < seconds[i + 1]:
                seconds[i + 1], begins[i + 1] = seconds[start] + stretch.estimate(), start
    return [_region(_Stretch(ends[0], threads), ends[1], sources, timings) for ends in _region_ends(begins)]


def _steps_from(start: int, able: Sequence[bool]) -> Iterator[int]:
    """Return the indices of the steps that a region from `start` on may have."""
    stop = min(start + _LONGEST, len(able))
    return itertools.takewhile(able.__getitem__, range(start, stop))


def _region_ends(begins: Sequence[int]) -> list[tuple[int, int]]:
    """Return (start, stop) of the regions on the way to the last step."""
    ends = []
    stop = len(begins) - 1
    while stop:
        start = begins[stop]
        if stop - start > 1:
            ends.append((start, stop))
        stop = start
    return ends[::-1]


def _region(stretch: _Stretch, stop: int, sources: Sequence[Iterable[int]], timings: Sequence[StepTiming]) -> Region:
    for i in range(stretch.start, stop):
        stretch.add(i, sources[i], timings[i])
    return stretch.region()


def _sources(steps: Sequence[Step]) -> list[set[int]]:
    """Return for each step the steps that make its inputs."""
    makers: dict[int, int] = {}
    sources = []
    for i, step in enumerate(steps):
        sources.append({makers[slot] for slot in step.inputs if slot in makers})
        makers.update(dict.fromkeys(step.outputs, i))
    return sources


def _is_able_in_thread(step: Step) -> bool:
    """True for a step that any thread can run: the step makes arrays from arrays and touches nothing else.

    Handles and lists of tensors may lead to objects that steps share.
    """
    if isinstance(step, (Fused, PadFused)):
        return all(map(_is_able_in_thread, all_steps(step)))
    return only_computes(step) and not any(dtype is None or dtype.is_object for dtype in _dtypes(step))


def _dtypes(step: Step) -> list[DType | None]:
    """Return the dtypes of all inputs and outputs of a step."""
    return [*step.node.output_dtypes, *(value.dtype for value in step.node.inputs)]


class _Stretch:
    """Consecutive steps, in branches that merge when a step takes values of several branches.

    `work` is the time of each branch on a single thread, by the branch's first step.
    """

    def __init__(self, start: int, threads: int) -> None:
        self.start = start
        self.threads = threads
        self.parents: dict[int, int] = {}
        self.work: dict[int, float] = {}
        self.total = self.longest = 0.0

    def add(self, i: int, sources: Iterable[int], timing: StepTiming) -> None:
        """Add the next step."""
        work = timing.alone + timing.divided * self.threads
        roots = {self.root(source) for source in sources if source >= self.start}
        root = min(roots, default=i)
        self.parents[i] = root
        for other in roots:
            self.parents[other] = root
        joined = work + sum([self.work.pop(other) for other in roots])
        self.work[root] = joined
        self.total += work
        self.longest = max(self.longest, joined)

    def root(self, i: int) -> int:
        """Return the first step of a step's branch."""
        while self.parents[i] != i:
            self.parents[i] = self.parents[self.parents[i]]
            i = self.parents[i]
        return i

    def estimate(self) -> float:
        """Return the seconds that the threads need for the branches."""
        lost = HANDING_OUT + TAKING_TURNS * len(self.parents)
        return max(self.total / min(self.threads, len(self.work)), self.longest) + lost

    def region(self) -> Region:
        """Return the region of the steps so far."""
        branches = grouped((self.root(i), i) for i in self.parents)
        longest_first = sorted(branches, key=lambda root: -self.work[root])
        return Region(self.start, self.start + len(self.parents), tuple([tuple(branches[root]) for root in longest_first]))
