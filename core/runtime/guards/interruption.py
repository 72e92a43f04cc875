"""Interruption of kernels that hold the interpreter: at the deadline Python raises an error in the thread of the kernel."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ...parallel.blas_threads import OWN_THREADS
from ...support.user_signals import is_importing

_AGAIN: Final = 0.1
"""The seconds after which an interruption is repeated. Code in between, such as a finalizer, may have swallowed the first."""
IDLE_SECONDS: Final = 1.0
"""The seconds between checks for calls; the thread ends where no call is left."""


class DeadlineInterruption(BaseException):
    """The end of a call's deadline. A BaseException, so that no handler in a kernel takes this for an error of its own."""


class _KernelCall:
    """A kernel at work in a thread, as long as the kernel's frame is on the thread's stack."""

    def __init__(self, deadline: float, frame: types.FrameType) -> None:
        self.thread = threading.get_ident()
        self.deadline = deadline
        self.frame: types.FrameType | None = frame

    def interrupt(self) -> bool:
        """Raise Interruption in the thread if the call is still at work; return True where the call is.

        The caller holds the interpreter, so the thread raises the error before its next instruction.
        """
        innermost = sys._current_frames().get(self.thread)
        if self.frame is None or self.frame not in _frames(innermost):
            return False
        if not is_importing(innermost):
            error = ctypes.py_object(DeadlineInterruption)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)
        return True


def _frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


class _Watchdog:
    """A thread that interrupts calls at their deadlines. The thread starts with a call, and ends a second after the last.

    Code in the threads of calls may be interrupted there as well. That code acquires the lock directly: no Python
    instruction lies between the lock and the block that releases it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._calls: list[_KernelCall] = []
        self._wakes_at: float | None = None

    def begin(self, call: _KernelCall) -> None:
        """Watch a call from here on."""
        with self._lock:
            self._calls.append(call)
            if self._wakes_at is None:
                self._wakes_at = call.deadline
                threading.Thread(target=self._serve, name=f"{OWN_THREADS}deadlines", daemon=True).start()
            elif call.deadline < self._wakes_at:
                self._wakes_at = call.deadline
                self._changed.notify()

    def end(self, call: _KernelCall) -> None:
        """Forget a call."""
        with self._lock:
            call.frame = None
            if call in self._calls:
                self._calls.remove(call)

    def _serve(self) -> None:
        with self._lock:
            while True:
                now = time.monotonic()
                late = [call for call in self._calls if call.deadline <= now]
                for call in late:
                    if call.interrupt():
                        call.deadline = now + _AGAIN
                    else:  # an interruption that came as the call ended has kept it from saying so
                        self._calls.remove(call)
                self._wakes_at = min((call.deadline for call in self._calls), default=math.inf)
                if not self._changed.wait(min(max(self._wakes_at - now, 0), IDLE_SECONDS)) and not self._calls:
                    self._wakes_at = None
                    return


_watchdog = _Watchdog()


def _renew() -> None:
    global _watchdog
    _watchdog = _Watchdog()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)  # the child has only the thread that forked


def call_until(deadline: float, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Return the result of a call; raise Interruption in the call once `time.monotonic()` is past the deadline."""
    watched = _KernelCall(deadline, sys._getframe())
    try:
        _watchdog.begin(watched)
        return call(*inputs)
    finally:
        _watchdog.end(watched)
