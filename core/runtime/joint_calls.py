"""A step's call on its way to be a team's: rehearsed, proved, and then made by all processes.

A step may become a team's that computes floats from floats, divides most of its work among threads already, and whose other
inputs are small and the same in every run. It stays one's own process's for inputs of other shapes, or other such values, than
it was rehearsed with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..numerics.rehearsal import Rehearsal
from ..numerics.shared_memory import SharedMemory
from ..numerics.team import Lost, Team
from ..numerics.teamwork import MOST_ARRAYS, Form, JointStep, here
from ..op_facts import has_fact
from ..planning.plan import Step
from .fused_calls import FusedCall
from .instructions import ON_SLOTS, Call, Instruction
from .parallel_regions import Timing, is_able_in_thread
from .step_calls import Reading

_WORTH_REHEARSING: Final = 4e-5
_WORTH_A_STEP: Final = 2e-5
"""Seconds that a step takes, and that a team saves, from which on it is worth it."""
_SMALL: Final = 1 << 10
"""Bytes of an input up to which its value may be known before."""
_MOST_FAILURES: Final = 3
"""Runs in a row that fail before the team does not try a step again."""


def joint_call(
    instruction: Instruction,
    timing: Timing,
    initial: Sequence[Any],
    rehearsal: Rehearsal,
    by_parts: Callable[[Step], Call | None],
) -> Call:
    """What takes the place of an instruction's call, which took so long; itself where a team cannot make it.

    `by_parts` gives a call that does the same in parts where the instruction's own does not. Values of variables are read
    before: as far as the team knows they come as others do.
    """
    kind, call, *_, step = instruction
    if isinstance(call, Reading):
        plain = (kind, call.call, *instruction[2:-1], dataclasses.replace(step, dereferenced=()))
        made = joint_call(plain, timing, initial, rehearsal, by_parts)
        return Reading(made, call.places)
    only_computes = is_able_in_thread(step)
    if kind != ON_SLOTS and not step.controls and timing.seconds >= _WORTH_REHEARSING and only_computes:
        return JointCall(call, [initial[slot] for slot in step.inputs], rehearsal, by_parts(step))
    may_keep = not only_computes and not has_fact(step.node.op, "training")
    return OwnCall(call, rehearsal.memory, timing.divided > 0, may_keep) if timing.divided or may_keep else call


class OwnCall:
    """A call that is not the team's. If it `has_threads`, the members sleep meanwhile.

    One that `may_keep` values beyond the run gets copies of what lies in the shared memory, which one that is forked from this
    process would lose, and makes none there.
    """

    def __init__(self, call: Call, memory: SharedMemory, has_threads: bool, may_keep: bool) -> None:
        self.call = call
        self.memory = memory
        self.has_threads = has_threads
        self.may_keep = may_keep
        self.team: Team | None = None

    def __call__(self, *inputs: Any) -> Any:
        if self.team is not None and self.has_threads:
            self.team.rest()
        return self._call_apart(inputs) if self.may_keep else self.call(*inputs)

    def _call_apart(self, inputs: Sequence[Any]) -> Any:
        memory, here.memory = here.memory, None
        try:
            return self.call(*map(self._own, inputs))
        finally:
            here.memory = memory

    def _own(self, value: Any) -> Any:
        is_shared = type(value) is np.ndarray and self.memory.offset(value) is not None
        return value.copy() if is_shared else value


class JointCall:
    """A call that a team may make. `constants` are the inputs that are the same in every run, None the others.

    The team makes it by `joint`, where that is given.
    """

    def __init__(self, call: Call, constants: Sequence[Any], rehearsal: Rehearsal, joint: Call | None = None) -> None:
        self.call = call
        self.constants = tuple(constants)
        self.is_proved = False
        self._joint = joint or call
        self._rehearsal = rehearsal
        self._forms: tuple[Form | None, ...] | None = None
        self._expected: tuple[tuple[int, Any], ...] = ()
        self._seconds: list[float] = []
        self._saved: list[float] = []
        self._is_sound = len(constants) <= MOST_ARRAYS
        self._way: Callable[..., Any] = self._rehearse
        self._team: Team | None = None
        self._number = self._failures = 0

    def __call__(self, *inputs: Any) -> Any:
        return self._way(*inputs)

    @property
    def seconds(self) -> float:
        """What the call takes one process."""
        return min(self._seconds, default=0.0)

    @property
    def gain(self) -> float:
        """The seconds that a team saves of it; 0 where it cannot make the call."""
        saved = min(self._saved, default=0.0)
        return saved if self._is_sound and saved > _WORTH_A_STEP else 0.0

    @property
    def is_open(self) -> bool:
        """True of a step of a team that is neither proved nor refuted."""
        return self._team is not None and not self.is_proved

    def joint_step(self) -> JointStep:
        """The step as a team knows it. What runs of other shapes teach this call does not reach the team's."""
        assert self._forms is not None
        return JointStep(_frozen(self._joint), self._forms, self.constants)

    def join(self, team: Team, number: int) -> None:
        """Be the team's step of this number, on trial."""
        self._team, self._number = team, number
        self._way = self._prove

    def leave(self) -> None:
        """Be one's own again."""
        self._team, self._way, self.is_proved = None, self.call, False

    def play(self) -> None:
        """Be the team's from now on where that was proved."""
        if self.is_proved:
            self._way = self._play
        else:
            self.leave()

    def _rehearse(self, *inputs: Any) -> Any:
        is_first = self._forms is None
        if is_first:
            self._expect(inputs)
        if not self._is_sound or not self._fits(inputs):
            self._is_sound = False
            return self.call(*inputs)
        result = self.call(*inputs)
        found, seconds, saved = self._rehearsal.rehearse(self._joint, inputs)
        self._seconds.append(seconds)
        self._saved.append(saved)
        self._is_sound = self._rehearsal.has_threads or _is_same(found, result)
        if is_first and self._is_sound:
            self._is_sound = self._rehearsal.leaves_alone(self._joint, inputs)
        return result

    def _expect(self, inputs: Sequence[Any]) -> None:
        """Note what floats are like and what other inputs are; it is not sound where these are too large to be told."""
        self._forms = tuple([None if given is not None else _form(value) for given, value in zip(self.constants, inputs)])
        unknown = [i for i, form in enumerate(self._forms) if form is None and self.constants[i] is None]
        self._is_sound = self._is_sound and all(_is_known(inputs[i]) for i in unknown)
        expected = {i: inputs[i].copy() for i in unknown} if self._is_sound else {}
        self._expected = tuple(expected.items())
        self.constants = tuple([expected.get(i, given) for i, given in enumerate(self.constants)])

    def _prove(self, *inputs: Any) -> Any:
        """The result as without a team, and whether all processes together come to the same bits."""
        assert self._team is not None
        if not self._fits(inputs):
            return self.call(*inputs)
        expected = self.call(*inputs)
        try:
            found, is_shared = self._team.run_patiently(self._number, inputs)
        except (Lost, Exception):
            self.leave()
            return expected
        if _is_same(found, expected):
            self.is_proved = is_shared
        else:
            self.leave()
        return expected

    def _play(self, *inputs: Any) -> Any:
        """The team's result; one's own where it fails, which also tells by its own error what is wrong."""
        assert self._team is not None
        if not self._fits(inputs):
            return self.call(*inputs)
        try:
            found = self._team.run(self._number, inputs)
        except (Lost, Exception):
            self._failures += 1
            if self._failures == _MOST_FAILURES:
                self.leave()
            return self.call(*inputs)
        self._failures = 0
        return found

    def _fits(self, inputs: Sequence[Any]) -> bool:
        for form, value in zip(self._forms or (), inputs):
            if form is None:
                continue
            if value.__class__ is not np.ndarray or value.shape != form.shape:
                return False
            if value.dtype is not form.dtype and value.dtype != form.dtype:  # comparing takes longer
                return False
        return not self._expected or all(_is_same(inputs[i], value) for i, value in self._expected)


def _form(value: Any) -> Form | None:
    """What an array of floats is like; None of another value, by which what is done, and not only with what, may vary."""
    if type(value) is not np.ndarray or value.dtype.kind != "f" or not value.ndim:
        return None
    return Form(value.shape, value.dtype)


def _is_known(value: Any) -> bool:
    """True of integers and the like that are few."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub" and value.nbytes <= _SMALL


def _frozen(call: Call) -> Call:
    """A call that learns nothing more from others that are made of it."""
    return call.frozen() if isinstance(call, FusedCall) else call


def _is_same(first: Any, second: Any) -> bool:
    """True of arrays with the same bits, and of tuples of them."""
    if isinstance(first, tuple):
        return isinstance(second, tuple) and len(first) == len(second) and all(map(_is_same, first, second))
    if type(first) is not np.ndarray or type(second) is not np.ndarray:
        return type(first) is type(second) and bool(first == second)
    return first.shape == second.shape and first.dtype == second.dtype and first.tobytes() == second.tobytes()
