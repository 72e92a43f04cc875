"""Where a plan forks: stretches of steps that fall into branches, no one of which takes what another gives.

`find_regions` chooses stretches so that the run takes the least time, by what the steps took when they ran one by one.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ...planning.plan import Step
from ...types.dtypes import DType
from ..steps.constant_steps import only_computes
from .pad_fusion import Framed
from .step_fusion import Fused, all_steps

_LONGEST: Final = 64
"""Steps of a region at most: looking for them takes as many times the number of all steps."""
HANDING_OUT: Final = 5e-5
"""Seconds in which branches are handed to threads and these waited for."""
TAKING_TURNS: Final = 2e-5
"""Seconds that a step loses, since threads take turns at what runs in Python."""


class Timing(NamedTuple):
    """The seconds that a step took: what its own thread did alone, and what all threads did together."""

    alone: float
    divided: float

    @property
    def seconds(self) -> float:
        """By the clock."""
        return self.alone + self.divided


@dataclasses.dataclass(frozen=True, slots=True)
class Region:
    """Steps `start` to `stop`, and which of them make a branch, each in order; the longest branch comes first."""

    start: int
    stop: int
    branches: tuple[tuple[int, ...], ...]


def find_regions(
    steps: Sequence[Step],
    timings: Sequence[Timing],
    threads: int,
) -> list[Region]:
    """The regions of steps that so many threads do in less time than one step after the other, in their order."""
    sources, able = _sources(steps), [*map(_is_able_in_thread, steps)]
    seconds = [0.0] + [math.inf] * len(steps)
    begins = [0] * (len(steps) + 1)  # where the last step or region before each place begins
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
    """The steps that a region from `start` on may have."""
    stop = min(start + _LONGEST, len(able))
    return itertools.takewhile(able.__getitem__, range(start, stop))


def _region_ends(begins: Sequence[int]) -> list[tuple[int, int]]:
    """(start, stop) of the regions on the way to the last step."""
    found = []
    stop = len(begins) - 1
    while stop:
        start = begins[stop]
        if stop - start > 1:
            found.append((start, stop))
        stop = start
    return found[::-1]


def _region(stretch: _Stretch, stop: int, sources: Sequence[Iterable[int]], timings: Sequence[Timing]) -> Region:
    for i in range(stretch.start, stop):
        stretch.add(i, sources[i], timings[i])
    return stretch.region()


def _sources(steps: Sequence[Step]) -> list[set[int]]:
    """For each step the steps that make what it takes."""
    makers: dict[int, int] = {}
    found = []
    for i, step in enumerate(steps):
        found.append({makers[slot] for slot in step.inputs if slot in makers})
        makers.update(dict.fromkeys(step.outputs, i))
    return found


def _is_able_in_thread(step: Step) -> bool:
    """True of a step that any thread can do: it makes arrays of arrays and has nothing to do with anything else.

    Handles and lists of tensors may lead to what steps share.
    """
    if isinstance(step, (Fused, Framed)):
        return all(map(_is_able_in_thread, all_steps(step)))
    return only_computes(step) and not any(dtype is None or dtype.is_object for dtype in _dtypes(step))


def _dtypes(step: Step) -> list[DType | None]:
    """Those of all that a step takes and gives."""
    return [*step.node.output_dtypes, *(value.dtype for value in step.node.inputs)]


class _Stretch:
    """Steps from one on, in branches that grow together when a step takes values of several.

    `work` is what one thread would need for each branch, by the branch's first step.
    """

    def __init__(self, start: int, threads: int) -> None:
        self.start = start
        self.threads = threads
        self.parents: dict[int, int] = {}
        self.work: dict[int, float] = {}
        self.total = self.longest = 0.0

    def add(self, i: int, sources: Iterable[int], timing: Timing) -> None:
        """The next step."""
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
        """The first step of a step's branch."""
        while self.parents[i] != i:
            self.parents[i] = self.parents[self.parents[i]]
            i = self.parents[i]
        return i

    def estimate(self) -> float:
        """The seconds that the threads need for the branches."""
        lost = HANDING_OUT + TAKING_TURNS * len(self.parents)
        return max(self.total / min(self.threads, len(self.work)), self.longest) + lost

    def region(self) -> Region:
        """The region as it is now."""
        branches: Mapping[int, list[int]] = collections.defaultdict(list)
        for i in self.parents:
            branches[self.root(i)].append(i)
        longest_first = sorted(branches, key=lambda root: -self.work[root])
        return Region(self.start, self.start + len(self.parents), tuple([tuple(branches[root]) for root in longest_first]))
