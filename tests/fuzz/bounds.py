"""Bounds on one case of a fuzzer: seconds by timers, memory by a limit on the address space of the process."""

from __future__ import annotations

import contextlib
import pathlib
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any

from tfg.core.support.errors import DeadlineExceededError

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

    with _timers({signal.SIGALRM: (signal.ITIMER_REAL, seconds)}, stop, _AGAIN):
        yield


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise TooSlow in the block once it has computed for so many seconds, or slept for longer still."""

    def stop(*_: Any) -> None:
        raise TooSlow(f"more than {seconds:g} seconds")

    limits = {signal.SIGALRM: (signal.ITIMER_REAL, _ASLEEP * seconds), signal.SIGPROF: (signal.ITIMER_PROF, seconds)}
    with _timers(limits, stop):
        yield


@contextlib.contextmanager
def _timers(limits: dict[int, tuple[int, float]], stop: Callable[..., None], again: float = 0.0) -> Iterator[None]:
    """Call `stop` in the block when a timer runs out; `limits` maps a signal to its timer and seconds.

    Earlier timers and handlers go on after the block.
    """
    is_active = True

    def expire(*_: Any) -> None:
        if is_active:  # an exception in the clean-up below would leave the other timer running
            stop()

    handlers = {number: signal.signal(number, expire) for number in limits}
    before = {kind: signal.setitimer(kind, seconds, again) for kind, seconds in limits.values()}
    try:
        yield
    finally:
        is_active = False
        for kind, timer in before.items():
            signal.setitimer(kind, *timer)
        for number, handler in handlers.items():
            # SIGPROF may be pending in a thread of a library: the default action would end the process.
            signal.signal(number, _ignore if handler is signal.SIG_DFL else handler)


def _ignore(*_: Any) -> None:
    """Ignore a signal; unlike SIG_IGN, this handler is not inherited by programs that are started."""


def limit_memory(size: int = MEMORY) -> None:
    """Bound what this process adds to its address space for good: what asks for more gets a MemoryError.

    Libraries of engines that another test imported take gigabytes: without room, a thread would never start.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + size, hard))


def _address_space() -> int:
    pages = pathlib.Path("/proc/self/statm")
    return int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0


@contextlib.contextmanager
def memory_limit(size: int = MEMORY) -> Iterator[None]:
    """Bound what the block adds to the address space of this process."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
