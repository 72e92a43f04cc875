"""Calls of parallel regions: their branches run in several threads, where a trial showed that threads take less time.

`benchmarks/__main__.py` shows the worth of the thresholds here: MobileNetV2, LSTM train step.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ...parallel.blas_threads import one_thread
from ...parallel.gemm import run_branches
from ...support.errors import TfgError
from ...support.log import tell
from ...support.trials import Trial
from ..steps.instructions import ON_SLOTS, Instruction, released_slots, releasing
from .parallel_regions import Region, StepTiming, find_regions
from .step_fusion import all_steps
from .tiers import TIMED_RUNS

LEAST_MEAN: Final = 2e-5
"""The mean seconds of a step from which regions are searched: shorter steps lose to turns at Python code."""

Execute = Callable[[Sequence[Instruction], list[Any]], None]


class RegionTimings:
    """The timings of a program's steps in some runs."""

    def __init__(self) -> None:
        self.runs: list[Sequence[StepTiming]] = []
        self.is_over = False

    def add(self, timings: Sequence[StepTiming]) -> None:
        """Note the timings of a run; a run that had to wait for others has no timings, and its program gets no regions."""
        self.runs.append(timings)
        is_worth = sum(timing.seconds for timing in timings) > LEAST_MEAN * len(timings)
        self.is_over = len(self.runs) >= TIMED_RUNS or not is_worth
        if not is_worth:
            self.runs.clear()

    def fastest(self) -> list[StepTiming]:
        """Return the shortest timing of each step; nothing where there are no timings."""
        return [min(times, key=lambda timing: timing.seconds) for times in zip(*self.runs)]

    def with_regions(self, instructions: Sequence[Instruction], execute: Execute) -> list[Instruction]:
        """Return the instructions with each region as a single instruction."""
        timings = self.fastest()
        return with_regions(instructions, timings, one_thread.share, execute) if timings else list(instructions)


def with_all_regions(instructions: Sequence[Instruction], execute: Execute) -> list[Instruction]:
    """Return the instructions with each region as a single instruction that runs in branches, as if each step took a
    second.
    """
    threads = max(one_thread.share, 2)
    return with_regions(instructions, [StepTiming(1.0, 0.0)] * len(instructions), threads, execute, is_forced=True)


def with_regions(
    instructions: Sequence[Instruction], timings: Sequence[StepTiming], threads: int, execute: Execute, is_forced: bool = False
) -> list[Instruction]:
    """Return the instructions with each region as a single instruction. Regions that are not forced are tried both ways."""
    result: list[Instruction] = []
    done = 0
    for region in find_regions([instruction[-1] for instruction in instructions], timings, threads):
        result += instructions[done : region.start]
        call = RegionCall(instructions, region, execute, is_forced)
        result.append((ON_SLOTS, call, None, None, (), None, instructions[region.start][-1]))
        done = region.stop
    return [*result, *instructions[done:]]


def single_instructions(instructions: Sequence[Instruction]) -> Iterator[Instruction]:
    """Yield the instructions without regions."""
    for instruction in instructions:
        if instruction[0] == ON_SLOTS:
            yield from instruction[1].in_order  # type: ignore[attr-defined]
        else:
            yield instruction


class RegionCall:
    """Branches of instructions on the slots of a run.

    Each branch clears the slots that only the branch uses; all other slots are cleared after the branches.
    """

    def __init__(self, instructions: Sequence[Instruction], region: Region, execute: Execute, is_forced: bool = False) -> None:
        self.in_order = instructions[region.start : region.stop]
        self.branches, self.released = _branches_of(instructions, region)
        self.execute = execute
        self.place = {name: i for i, instruction in enumerate(self.in_order) for name in _names(instruction)}
        self.is_forced = is_forced
        self.trial = Trial()

    @property
    def is_parallel(self) -> bool:
        """Whether branches run in threads, once that is settled."""
        return self.is_forced or bool(self.trial.choice)

    def __call__(self, slots: list[Any]) -> None:
        if self.is_parallel and (self.is_forced or one_thread.share > 1):
            self._run_branches(slots)
        elif self.trial.choice is None and one_thread.share > 1:
            self._try(slots)
        else:
            self.execute(self.in_order, slots)

    def _try(self, slots: list[Any]) -> None:
        self.trial.run(functools.partial(self.execute, self.in_order, slots), functools.partial(self._run_branches, slots))
        if self.trial.choice is not None:
            word = "kept" if self.trial.choice else "given up"
            name = self.in_order[0][-1].node.name
            in_order, in_branches = self.trial.least
            tell("%s: branches in threads are %s, %.6f s beside %.6f s", name, word, in_branches, in_order)

    def _run_branches(self, slots: list[Any]) -> None:
        """Run all branches; of several errors, raise the error of the earliest step."""
        errors: list[TfgError] = []

        def run(branch: Sequence[Instruction]) -> None:
            try:
                self.execute(branch, slots)
            except TfgError as error:
                errors.append(error)

        run_branches([functools.partial(run, branch) for branch in self.branches])
        if errors:
            raise min(errors, key=lambda error: self.place.get(error.node or "", 0))
        for slot in self.released:
            slots[slot] = None


def _names(instruction: Instruction) -> list[str]:
    """Return the names of the nodes that an instruction runs."""
    return [step.node.name for step in all_steps(instruction[-1])]


def _branches_of(instructions: Sequence[Instruction], region: Region) -> tuple[list[list[Instruction]], list[int]]:
    """Return (the instructions of each branch, the slots that are cleared after all of them)."""
    users = collections.Counter(slot for branch in region.branches for slot in _used([instructions[i] for i in branch]))
    branches = [
        [releasing(instructions[i], [slot for slot in released_slots(instructions[i]) if users[slot] == 1]) for i in branch]
        for branch in region.branches
    ]
    inside = instructions[region.start : region.stop]
    return branches, [slot for instruction in inside for slot in released_slots(instruction) if users[slot] > 1]


def _used(instructions: Sequence[Instruction]) -> set[int]:
    """Return the slots that instructions read or write."""
    return {slot for instruction in instructions for slot in (*instruction[-1].inputs, *instruction[-1].outputs)}
