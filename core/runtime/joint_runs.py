"""Runs of a program by a team of processes: chosen by how steps behave when they are tried out, where it takes less time.

The first runs rehearse: they find the steps that divide most of their work, leave alone what is not theirs, and have inputs
that another process can be told of; then the stretches of steps that take less time branch by branch. Then the team is made,
and all that it does must give the bits that come of it without a team before it counts. A few runs tell whether the team
takes less time than threads did.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..graph import Function
from ..journal import tell
from ..numerics.rehearsal import Rehearsal
from ..numerics.shared_memory import SharedMemory
from ..numerics.team import Team
from ..numerics.teamwork import BOARD_BYTES, MOST_PROCESSES, here
from ..numerics.threads import OWN_THREADS, one_thread
from ..planning.plan import Step
from .allocation import has_limited_memory
from .constant_steps import only_computes
from .instructions import ON_SLOTS, Call, Instruction, released_slots
from .joint_calls import JointCall, OwnCall, joint_call
from .joint_regions import JointRegion
from .parallel_regions import Costs, Region, Timing, find_regions, is_able_in_process, lists_of
from .region_calls import Execute
from .step_calls import Reading

_PROOFS: Final = 3
"""Runs that prove steps at most."""
_SLOW: Final = 0.1
"""Seconds from which on a run is too long to be made more often than it takes."""
_WORTH_A_TEAM: Final = 1e-3
"""Seconds that it saves of a run."""
_GAIN: Final = 0.96
"""Which part of the time with threads it may take."""
_NEARLY: Final = 1.15
_RUNS_TO_AGAIN: Final = 100
"""One that takes up to this part has another trial after so many runs: something else may have gone on meanwhile."""
_COSTS: Final = Costs(4e-5, 2e-6)
"""Of branches: results are copied where others see them."""
_MOST_TEAMS: Final = 4
_MOST_MEMORY: Final = 4 << 30
_PART_OF_MEMORY: Final = 4
"""Bytes that a team shares at most, and which part of the machine's; pages count when they are written to."""

_teams: weakref.WeakSet[Team] = weakref.WeakSet()


def team_size() -> int:
    """How many processes a team of this one would have; 1 where there can be none.

    There is none where another thread may hold what a copy of this process would wait for, where memory is limited, and in
    a process that is itself one of several at work.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64" or has_limited_memory() or _is_worker():
        return 1
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    if not all(thread.name.startswith(OWN_THREADS) for thread in others):
        return 1
    return min(one_thread.available, MOST_PROCESSES)


def _is_worker() -> bool:
    """True of a process that Python's multiprocessing made."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


class _Times(NamedTuple):
    """How many runs there are before, how many rehearse steps, how many branches, and with how many at least and at most runs
    in threads are compared.

    In the first ones of the team memory is still copied that the processes have in common no more.
    """

    before: int
    steps: int
    regions: int
    least: int
    most: int


_OF_FAST: Final = _Times(0, 3, 3, 3, 12)
_OF_SLOW: Final = _Times(10, 1, 1, 1, 3)
"""What rehearsals take of long runs is worth it only where more of these are to come: some have come."""


def _nothing() -> None:
    """What is to be done after a run that another one is to be compared with."""


class JointRuns:
    """The runs of one program's instructions by a team, as soon as it has one; it is known what each took with threads.

    One run at a time. `is_over` says that there will be no team, or none any more.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        timings: Sequence[Timing],
        initial: Sequence[Any],
        execute: Execute,
        functions: Mapping[str, Function],
        by_parts: Callable[[Step], Call | None],
        size: int,
    ) -> None:
        self._size = size
        self._functions = functions
        self._process = os.getpid()
        """Whose memory it is: one that is forked from it must not use the same."""
        self._in_threads = sum(timing.seconds for timing in timings)
        self.is_over = self._in_threads < _WORTH_A_TEAM
        if self.is_over:
            return
        is_slow = self._in_threads > _SLOW
        self._times = _OF_SLOW if is_slow else _OF_FAST
        self._before = self._times.before
        self._memory = _shared_memory()
        self._rehearsal = Rehearsal(self._memory, self._size, has_threads=is_slow)
        self._initial = initial
        self._execute = execute
        ordered = _with_late_lists(list(zip(instructions, timings)), initial)
        self._alone = [instruction for instruction, _ in ordered]
        self._timings = [timing for _, timing in ordered]
        self._instructions = [self._joint(*pair, by_parts) for pair in ordered]
        self._steps: list[Instruction] = []
        self._singles: dict[JointRegion, slice] = {}
        self._calls: list[JointCall] = []
        self._team: Team | None = None
        self._lock = threading.Lock()
        self._seconds: list[float] = []
        self._others: list[float] = []
        self._is_trial = self._is_last_trial = False
        self._next: Callable[[], object] = self._rehearsed

    def try_run(self, slots: list[Any]) -> bool:
        """Run on the slots; False where that is to be done otherwise: others run in this process, or around this run."""
        is_alone = not here.size and one_thread.share >= self._size
        if self.is_over or not is_alone or not self._lock.acquire(blocking=False):
            return False
        try:
            if self._before:
                self._before -= 1
                return False
            if self._process != os.getpid() or (self._team is not None and not self._team.is_there):
                self._end()
                return False
            (self._run_in_threads if self._is_trial and len(self._others) < len(self._seconds) else self._run)(slots)
        finally:
            self._lock.release()
        return True

    def _run(self, slots: list[Any]) -> None:
        try:
            here.memory, here.size = self._memory, self._size
            begun = time.perf_counter()
            self._execute(self._instructions, slots)
            self._seconds.append(time.perf_counter() - begun)
            self._next()
        finally:
            here.memory, here.size = None, 0

    def _run_in_threads(self, slots: list[Any]) -> None:
        """For comparison with the run of the team before."""
        assert self._team is not None
        self._team.rest()
        begun = time.perf_counter()
        self._execute(self._alone, slots)
        self._others.append(time.perf_counter() - begun)
        self._compare()

    def _joint(self, instruction: Instruction, timing: Timing, by_parts: Callable[[Step], Call | None]) -> Instruction:
        call = joint_call(instruction, timing, self._initial, self._rehearsal, by_parts)
        return (instruction[0], call, *instruction[2:])

    def _rehearsed(self) -> None:
        """After a rehearsal of single steps: the last of some finds what goes by branches."""
        if len(self._seconds) < self._times.steps:
            return
        self._seconds.clear()
        steps = [instruction[-1] for instruction in self._alone]
        self._timings = [_timing(*pair, self._size) for pair in zip(self._instructions, self._timings)]
        is_able = functools.partial(is_able_in_process, self._functions)
        regions = find_regions(steps, self._timings, self._size, _COSTS, is_able)
        self._instructions = self._with_regions(regions)
        self._next = self._regions_rehearsed
        if not regions:
            self._form()

    def _with_regions(self, regions: Sequence[Region]) -> list[Instruction]:
        self._steps = self._instructions
        found: list[Instruction] = []
        done = 0
        for region in regions:
            joint = JointRegion(self._alone, region, self._initial, self._rehearsal, self._execute)
            if not joint.outputs:
                continue
            found += self._instructions[done : region.start]
            found.append((ON_SLOTS, joint, None, None, (), None, self._alone[region.start][-1]))
            self._singles[joint] = slice(region.start, region.stop)
            done = region.stop
        return [*found, *self._instructions[done:]]

    def _regions_rehearsed(self) -> None:
        """After a rehearsal of branches: the last of some takes apart those that are of no use, and makes the team."""
        if len(self._seconds) < self._times.regions:
            return
        self._seconds.clear()
        self._instructions = [part for found in self._instructions for part in self._apart_where_better(found)]
        self._form()

    def _apart_where_better(self, instruction: Instruction) -> Sequence[Instruction]:
        """A region as one instruction or, where a team would do its steps one by one in less time, as these."""
        region = instruction[1]
        if not isinstance(region, JointRegion):
            return [instruction]
        inside = self._singles[region]
        one_by_one = sum(timing.seconds for timing in self._timings[inside])
        is_better = region.call.gain and region.call.seconds - region.call.gain < one_by_one
        return [instruction] if is_better else self._steps[inside]

    def _form(self) -> None:
        """Make the team, where it saves enough."""
        self._seconds.clear()
        calls = [call for call in map(_joint_call_of, self._instructions) if call is not None]
        chosen = [call for call in calls if call.gain]
        is_worth = sum(call.gain for call in chosen) > _WORTH_A_TEAM
        has_room = sum(team.is_there for team in _teams) < _MOST_TEAMS and team_size() >= self._size
        self._team = self._formed(chosen) if is_worth and has_room else None
        if self._team is None:
            self._end()
            return
        for call in calls:
            call.leave()
        for number, call in enumerate(chosen):
            call.join(self._team, number)
        for _, own, *_ in self._instructions:
            own = own.call if isinstance(own, Reading) else own
            if isinstance(own, OwnCall):
                own.team = self._team
        self._calls = chosen
        self._next = self._proved

    def _formed(self, calls: Sequence[JointCall]) -> Team | None:
        """The team for these steps; None where the system has no processes for it."""
        try:
            team = Team(self._memory, [call.joint_step() for call in calls], self._size)
        except OSError as error:
            tell("no team of processes: %s", error)
            return None
        _teams.add(team)
        return team

    def _proved(self) -> None:
        """After a run that proves what the team does."""
        if len(self._seconds) < _PROOFS and any(call.is_open for call in self._calls):
            return
        self._seconds.clear()
        for call in self._calls:
            call.play()
        self._is_trial = True
        self._next = _nothing

    def _compare(self) -> None:
        """After a run of the team and one in threads: whether the team stays, as soon as it takes little enough time."""
        team, threads = min(self._seconds), min(self._others)
        count = len(self._others)
        if count >= self._times.least and team < _GAIN * threads:
            self._is_trial, self._alone = False, []
            self._next = self._seconds.clear
            steps = sum(call.is_proved for call in self._calls)
            tell("%d processes share %d steps: %.4f s, not %.4f", self._size, steps, team, threads)
        elif count == self._times.most and (self._is_last_trial or team > _NEARLY * threads):
            self._end()
        elif count == self._times.most:
            self._put_off()

    def _put_off(self) -> None:
        """Try a team again later, for the last time."""
        assert self._team is not None
        self._team.dismiss()
        for call in self._calls:
            call.leave()
        self._team, self._before, self._next = None, _RUNS_TO_AGAIN, self._form
        self._is_trial, self._is_last_trial = False, True
        self._seconds.clear()
        self._others.clear()

    def _end(self) -> None:
        self.is_over = True
        if self._team is not None:
            self._team.dismiss()
        self._team = None
        self._calls, self._instructions, self._steps, self._alone, self._singles = [], [], [], [], {}


def _with_late_lists(
    timed: Sequence[tuple[Instruction, Timing]], initial: Sequence[Any]
) -> list[tuple[Instruction, Timing]]:
    """The instructions, with those that make lists of tensors of what is there from the start right before who takes these.

    Plans have them first, and who takes a list has to be in one region with who makes it.
    """
    found: list[tuple[Instruction, Timing]] = []
    waiting: dict[int, tuple[Instruction, Timing]] = {}
    for instruction, timing in timed:
        step = instruction[-1]
        found += [waiting.pop(slot) for slot in step.inputs if slot in waiting]
        makes_a_list = len(step.outputs) == 1 and lists_of(step) and only_computes(step)
        if makes_a_list and all(initial[slot] is not None for slot in step.inputs) and not released_slots(instruction):
            waiting[step.outputs[0]] = (instruction, timing)
        else:
            found.append((instruction, timing))
    return [*found, *waiting.values()]


def _joint_call_of(instruction: Instruction) -> JointCall | None:
    """What a team may make of an instruction."""
    call = instruction[1]
    if isinstance(call, JointRegion):
        return call.call
    call = call.call if isinstance(call, Reading) else call
    return call if isinstance(call, JointCall) else None


def _timing(instruction: Instruction, in_threads: Timing, size: int) -> Timing:
    """What an instruction would take a team: its leader alone, and all together."""
    call = _joint_call_of(instruction)
    if call is None or not call.seconds:
        return in_threads
    by_all = call.gain / (size - 1)
    return Timing(call.seconds - by_all * size, by_all)


def _shared_memory() -> SharedMemory:
    bytes_there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return SharedMemory(min(bytes_there // _PART_OF_MEMORY, _MOST_MEMORY), BOARD_BYTES)
