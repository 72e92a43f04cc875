"""Bounds on one case of a fuzzer: seconds by timers, memory by a limit on the address space of the process."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any

from tfg.core.errors import DeadlineExceededError

SECONDS = 10.0
MEMORY = 3 << 30
_ASLEEP = 5
"""How many times as long a case may sleep as compute: other work on the machine takes it for sleep."""
_AGAIN = 0.2


class TooSlow(BaseException):
    """A case ran past its time. No Exception, so that nothing takes it for an error of the graph."""


@contextlib.contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """In the block: DeadlineExceededError after so many seconds, and again while it goes on, as --timeout raises it."""
    if seconds is None:
        yield
        return

    def stop(*_: Any) -> None:
        raise DeadlineExceededError(f"more than the {seconds:g} seconds allowed")

    with _timer(signal.ITIMER_REAL, signal.SIGALRM, seconds, stop, _AGAIN):
        yield


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise TooSlow in the block once it has computed for so many seconds, or slept for longer still."""

    def stop(*_: Any) -> None:
        raise TooSlow(f"more than {seconds:g} seconds")

    with (
        _timer(signal.ITIMER_REAL, signal.SIGALRM, _ASLEEP * seconds, stop),
        _timer(signal.ITIMER_PROF, signal.SIGPROF, seconds, stop),
    ):
        yield


@contextlib.contextmanager
def _timer(kind: int, number: int, seconds: float, stop: Callable[..., None], again: float = 0.0) -> Iterator[None]:
    """Call `stop` after so many seconds of a timer; then the one before goes on."""
    handler = signal.signal(number, stop)
    before = signal.setitimer(kind, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(kind, *before)
        signal.signal(number, handler)


def limit_memory(size: int = MEMORY) -> None:
    """Bound the address space of this process for good: what asks for more gets a MemoryError."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size, hard))


@contextlib.contextmanager
def memory_limit(size: int = MEMORY) -> Iterator[None]:
    """Bound the address space of this process in the block."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
