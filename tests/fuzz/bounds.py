"""Bounds on one case of a fuzzer: seconds by an alarm, memory by a limit on the address space of the process."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from typing import Any

from tfg.core.errors import DeadlineExceededError

SECONDS = 10.0
MEMORY = 3 << 30


class TooSlow(BaseException):
    """A case ran past its time. No Exception, so that nothing takes it for an error of the graph."""


@contextlib.contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """In the block, which is under a time limit: DeadlineExceededError after so many seconds, as --timeout raises it."""
    if seconds is None:
        yield
        return

    def stop(*_: Any) -> None:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        raise DeadlineExceededError(f"more than the {seconds:g} seconds allowed")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise TooSlow in the block once the seconds are over."""

    def stop(*_: Any) -> None:
        raise TooSlow(f"more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
