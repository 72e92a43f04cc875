"""Processes that work on one step together: this one, which leads, and copies of it, made by fork, which know what it knew.

Two threads of one interpreter take turns at all that is not NumPy, and one that has to wait falls asleep; processes do not.
The leader tells the members which step it begins and where its inputs lie. A member may come late, or not at all: the leader
waits only for parts that a member has begun. Where anything goes wrong in a member, the step is Lost, for the leader to do
it again by itself; a team of which one is gone is dismissed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from ..arrays import Array
from .shared_memory import SharedMemory
from .team_member import serve
from .teamwork import (
    APART,
    ARRAYS,
    BEGUN,
    COUNT,
    DONE,
    FAILED,
    INPUTS,
    LAST,
    MOST_ARRAYS,
    REST,
    RESULTS,
    SEQUENCE,
    SLEEPS,
    STEP,
    TICKET,
    JointStep,
    Side,
    init_lock,
)

_Part = TypeVar("_Part")

_LOOKS: Final = 256
"""How often the leader looks whether all parts are done before it looks at the clock."""
_PATIENCE: Final = 5e-4
_PAUSE: Final = 5e-5
"""Seconds after which it sleeps between looks, and looks whether all members are alive, and for which."""
_MOMENT: Final = 0.02
"""Seconds for which a patient leader waits for a member to begin: one that sleeps has to wake up."""


class Lost(BaseException):
    """A part failed, or a member is gone: the leader has to do the step by itself. No kernel may take it for its own error."""


class Team(Side):
    """The leader's side. `steps` are what it may do with the members; there are `size` processes, the leader among them.

    OSError where no process can be made.
    """

    def __init__(self, memory: SharedMemory, steps: Sequence[JointStep], size: int) -> None:
        init_lock(memory)
        super().__init__(memory, 0, size)
        self.steps = steps
        self.leader = os.getpid()
        self._members: list[_Member] = []
        self._is_patient = self._are_all_shared = False
        self._dismiss = weakref.finalize(self, _end, self._members, self.leader)
        try:
            for number in range(1, size):
                self._members.append(_fork(memory, steps, number, size))
        except OSError:
            self.dismiss()
            raise

    @property
    def is_there(self) -> bool:
        """False where it was dismissed, or belongs to the process that this one was forked from."""
        return self._dismiss.alive and self.leader == os.getpid()

    def dismiss(self) -> None:
        """End the members."""
        self._dismiss()

    def run(self, number: int, inputs: Sequence[Any]) -> Any:
        """What a step's call makes of inputs of the step's forms. Lost where that was in vain, or there is no room."""
        if not self.is_there:
            raise Lost
        step = self.steps[number]
        operands = self._placed(step, inputs)
        self._announce(number)
        return self.call(step.call, operands)

    def run_patiently(self, number: int, inputs: Sequence[Any]) -> tuple[Any, bool]:
        """As `run`, waiting a moment for members to begin; (what it gives, whether they did a part of each division)."""
        self._is_patient, self._are_all_shared = True, True
        try:
            return self.run(number, inputs), self._are_all_shared
        finally:
            self._is_patient = False

    def rest(self) -> None:
        """Have the members sleep until the next step."""
        if self.is_there and self.board[STEP] != REST:
            self.sequence += 1
            self.board[STEP] = REST
            self.board[SEQUENCE] = self.sequence

    def _placed(self, step: JointStep, inputs: Sequence[Any]) -> list[Any]:
        """The inputs where all processes see them, told on the board."""
        operands = list(inputs)
        for i, form in enumerate(step.forms):
            if form is not None:
                operands[i], self.board[INPUTS + i] = self._shared(inputs[i])
        return operands

    def _shared(self, value: Array) -> tuple[Array, int]:
        """(an array in the shared memory, its place there)."""
        if value.flags.carray:
            offset = self.memory.offset(value)
            if offset is not None:
                return value, offset
        placed = self.memory.placed(value.shape, value.dtype)
        if placed is None:
            raise Lost
        placed[0][...] = value
        return placed

    def _announce(self, number: int) -> None:
        board = self.board
        self.sequence += 1
        board[STEP] = number
        board[ARRAYS] = 0
        board[SEQUENCE] = self.sequence
        for member in self._members:
            if board[member.sleeps]:
                member.wake()

    def next_array(self, shape: Sequence[int], dtype: Any) -> Array | None:
        placed = self.memory.placed(shape, dtype) if self.arrays < MOST_ARRAYS else None
        if placed is None:
            self.arrays = MOST_ARRAYS  # what comes is not to be taken for this one
            return None
        found, self.board[RESULTS + self.arrays] = placed
        self.arrays += 1
        self.board[ARRAYS] = self.arrays
        return found

    def divide_jointly(self, work: Callable[[_Part], object], parts: Sequence[_Part], ticket: int) -> None:
        try:
            self._open(ticket, len(parts))
            if self._is_patient:
                self._let_begin()
            error, own = self._work(work, parts, ticket)
            begun = self._close()
            self._are_all_shared = self._are_all_shared and begun > own
            self._wait(begun - own)
        except BaseException:  # a signal, at any place: nobody may write any more
            self.dismiss()
            raise
        if error is not None:  # what the leader would make of it is nothing that members know of
            raise Lost from error
        if any(self.board[member.failed] == self.sequence for member in self._members):
            raise Lost

    def _open(self, ticket: int, count: int) -> None:
        board = self.board
        self.lock()
        for member in self._members:
            board[member.done] = 0
        board[self.done] = board[BEGUN] = board[LAST] = 0
        board[COUNT] = count
        board[TICKET] = ticket
        self.unlock()

    def _let_begin(self) -> None:
        """Wait until a member has begun a part, for a moment."""
        end = time.monotonic() + _MOMENT
        while not self.board[BEGUN] and time.monotonic() < end:
            self.look_after_others()

    def _work(self, work: Callable[[_Part], object], parts: Sequence[_Part], ticket: int) -> tuple[Exception | None, int]:
        """Do parts until there are none; (what one of them raised, how many the leader has begun)."""
        own = 0
        while (number := self.claim(ticket)) >= 0:
            own += 1
            try:
                work(parts[number])
            except Exception as error:
                return error, own
            self.board[self.done] = own
        return None, own

    def _close(self) -> int:
        """Let nobody begin a part; how many were begun."""
        self.lock()
        begun = self.board[BEGUN]
        self.board[BEGUN] = self.board[COUNT]
        self.unlock()
        return begun

    def look_after_others(self) -> None:
        time.sleep(_PAUSE)
        if not all(member.is_alive() for member in self._members):
            raise Lost

    def _wait(self, count: int) -> None:
        """Wait until the members have done so many parts; Lost where one is gone."""
        done = [member.done for member in self._members]
        board = self.board
        begun = time.monotonic()
        while True:
            for _ in range(_LOOKS):
                if sum([board[place] for place in done]) == count:
                    return
            if time.monotonic() - begun > _PATIENCE:
                self.look_after_others()


class _Member:
    """A member, as its leader sees it."""

    def __init__(self, process: int, number: int, writer: int) -> None:
        self.process = process
        self.done = DONE + APART * number
        self.sleeps, self.failed = self.done + SLEEPS, self.done + FAILED
        self._writer = writer

    def wake(self) -> None:
        """Let it look at the board."""
        with contextlib.suppress(OSError):  # it is gone, or has been woken too often to need more
            os.write(self._writer, b"\0")

    def is_alive(self) -> bool:
        """False of one that has ended, by whatever."""
        with contextlib.suppress(ChildProcessError):  # somebody else has waited for it
            return os.waitpid(self.process, os.WNOHANG) == (0, 0)
        return False

    def end(self) -> None:
        """Nothing is left of it afterwards."""
        os.close(self._writer)
        if self.is_alive():  # what is no child any more may be another's process by now
            os.kill(self.process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.process, 0)


def _end(members: list[_Member], leader: int) -> None:
    if os.getpid() == leader:
        while members:
            members.pop().end()


def _fork(memory: SharedMemory, steps: Sequence[JointStep], number: int, size: int) -> _Member:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    leader = os.getpid()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # until the member has let go of handlers
    try:
        with _no_warning_of_threads():
            process = os.fork()
            if not process:
                serve(memory, steps, number, size, leader, reader, blocked)
    except OSError:
        os.close(writer)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(reader)
    return _Member(process, number, writer)


@contextlib.contextmanager
def _no_warning_of_threads() -> Iterator[None]:
    """Python warns of forks where there are threads: those of BLAS and this package's sleep, and the member needs none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
