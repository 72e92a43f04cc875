"""What a member of a team does: it waits for steps and does parts of them, until its leader is gone.

It is a copy of the leader in the middle of a run. It uses what was there then, and nothing but the shared memory leads out of
it: it closes all files, leaves signals to the leader, never returns, and finalizes nothing that was the leader's.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeVar

from ..arrays import Array
from .shared_memory import SharedMemory
from .teamwork import ARRAYS, COUNT, FAILED, INPUTS, REST, RESULTS, SEQUENCE, SLEEPS, STEP, TICKET, JointStep, Side

_Part = TypeVar("_Part")

_LOOKS: Final = 256
"""How often a member looks for the next step before it looks at the clock."""
_PATIENCE: Final = 4096
"""How often it looks whether a step goes on before it pauses between looks."""
_AWAKE: Final = 1e-3
"""Seconds for which it does so before it sleeps."""
_PAUSE: Final = 5e-5
_SLEEP: Final = 1.0
"""Seconds between looks at a step that does not go on, and after which one that sleeps looks whether its leader is alive:
another child of that may hold the pipe open.
"""


class _Late(BaseException):
    """The leader has gone on without this member."""


def serve(
    memory: SharedMemory,
    steps: Sequence[JointStep],
    number: int,
    size: int,
    leader: int,
    reader: int,
    blocked: Iterable[int],
) -> NoReturn:
    """Be a member, which `reader` wakes, with these signals blocked from now on. This process ends with it."""
    try:
        _let_go(reader)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        _MemberSide(memory, steps, number, size, leader, reader).serve()
    finally:
        os._exit(0)


def _let_go(reader: int) -> None:
    """Leave to the leader what the two have in common."""
    gc.freeze()
    gc.enable()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
    for name in os.listdir("/proc/self/fd"):
        if int(name) != reader:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue
    for _ in range(3):
        os.open(os.devnull, os.O_RDWR)


class _MemberSide(Side):
    """The member's side."""

    def __init__(
        self, memory: SharedMemory, steps: Sequence[JointStep], number: int, size: int, leader: int, reader: int
    ) -> None:
        super().__init__(memory, number, size)
        self.steps = steps
        self.leader = leader
        self.reader = reader
        self.sleeps, self.failed = self.done + SLEEPS, self.done + FAILED
        self._looks = 0

    def serve(self) -> None:
        """Do steps as they come."""
        while self._next():
            number = self.board[STEP]
            if number == REST:
                if not self._sleep():
                    return
                continue
            try:
                self._run(number)
            except _Late:
                continue
            except Exception:
                self.board[self.failed] = self.sequence

    def _next(self) -> bool:
        """Wait for a step; False where the leader is gone."""
        board, known, until = self.board, self.sequence, 0.0
        while True:
            for _ in range(_LOOKS):
                if board[SEQUENCE] != known:
                    self.sequence = board[SEQUENCE]
                    return True
            now = time.monotonic()
            until = until or now + _AWAKE
            if now > until and not self._sleep():
                return False

    def _sleep(self) -> bool:
        """Sleep until the leader wakes this member; False where it is gone."""
        self.board[self.sleeps] = 1
        try:
            while self.board[SEQUENCE] == self.sequence:
                if select.select([self.reader], [], [], _SLEEP)[0] and not os.read(self.reader, 1 << 12):
                    return False
                if os.getppid() != self.leader:
                    return False
        finally:
            self.board[self.sleeps] = 0
        return True

    def _run(self, number: int) -> None:
        step, board, view = self.steps[number], self.board, self.memory.view
        inputs = [
            constant if form is None else view(board[INPUTS + i], form.shape, form.dtype)
            for i, (form, constant) in enumerate(zip(step.forms, step.constants))
        ]
        self._check()
        self._looks = 0
        self.call(step.call, inputs)

    def _check(self) -> None:
        """_Late where the step is not the leader's any more; to be asked again and again by one that waits for it."""
        if self.board[SEQUENCE] != self.sequence:
            raise _Late
        self._looks += 1
        if self._looks > _PATIENCE:
            self.look_after_others()

    def look_after_others(self) -> None:
        time.sleep(_PAUSE)
        if os.getppid() != self.leader:
            raise SystemExit

    def next_array(self, shape: Sequence[int], dtype: Any) -> Array | None:
        board = self.board
        while board[ARRAYS] <= self.arrays:
            self._check()
        offset = board[RESULTS + self.arrays]
        self._check()
        self.arrays += 1
        return self.memory.view(offset, shape, dtype)

    def divide_jointly(self, work: Callable[[_Part], object], parts: Sequence[_Part], ticket: int) -> None:
        board, done = self.board, 0
        while board[TICKET] < ticket:
            self._check()
        if board[TICKET] == ticket and board[COUNT] != len(parts):
            board[self.failed] = self.sequence
            raise _Late
        while (number := self.claim(ticket)) >= 0:
            done += 1
            try:
                work(parts[number])
            except BaseException:
                board[self.failed] = self.sequence
                raise
            finally:
                board[self.done] = done
        while board[TICKET] == ticket and self.finished() < len(parts):
            self._check()
