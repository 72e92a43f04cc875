"""One call of Session.run: what belongs to it rather than to the session, known to whatever runs on its behalf.

Several threads may be inside one session. A kernel is bound once for all of them, so it finds the run that it works for
through `current`, a context variable, instead of through what it was bound with.
"""

from __future__ import annotations

import contextvars
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from ...graph.graph import Node
from ...parallel import interruption_points
from ...support.errors import DeadlineExceededError
from . import blocking
from .resources import ResourceManager


class Hook(Protocol):
    """Called around every kernel: profiling, tracing, NaN checks and limits are built on it."""

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Run `call(*inputs)` and return what it returns."""
        ...


class Attempt(Protocol):
    """What a kernel began and could not finish at once."""

    def withdraw(self) -> None:
        """Undo what was done of it: nobody comes back for it."""
        ...


class Run:
    """A call of Session.run; as a context it is the current one, around which an outer one may be waiting.

    `number` tells the runs of a session apart, `deadline` is the time.monotonic() that ends it, `depth` counts the functions
    that it is in; `is_over` says that nothing of it runs any more. `is_watched` says that its hook looks at values, which that
    of limits does not. `reserve` refuses bytes that it must not take.
    """

    deadline = timeout = math.inf
    reserve: Callable[[int], None] | None = None
    depth = 0
    is_over = False
    _resources: ResourceManager | None = None
    _attempts: dict[Any, tuple[Attempt, Any]] | None = None

    def __init__(self, number: int, hook: Hook | None = None) -> None:
        self.number = number
        self.hook = hook
        self.is_watched = hook is not None

    def start_clock(self, seconds: float) -> None:
        """End so many seconds from now."""
        self.timeout, self.deadline = seconds, time.monotonic() + seconds

    def check_time(self) -> None:
        """DeadlineExceededError where its time is over."""
        if time.monotonic() > self.deadline:
            raise self.overdue()

    def overdue(self) -> DeadlineExceededError:
        """The error of a run whose time is over."""
        return DeadlineExceededError(f"the run took more than the {self.timeout:g} seconds allowed")

    @property
    def is_bounded(self) -> bool:
        """True where it has limits."""
        return self.reserve is not None or self.deadline < math.inf

    def part(self) -> Run:
        """A run for a thread that does a part of this one's work and is done before it: under the same number and deadline."""
        other = Run(self.number, self.hook)
        other.is_watched = self.is_watched
        other.timeout, other.deadline, other.reserve, other.depth = self.timeout, self.deadline, self.reserve, self.depth
        return other

    @property
    def resources(self) -> ResourceManager:
        """What lives as long as the run: temporary variables, stacks, tensor arrays."""
        if self._resources is None:
            self._resources = ResourceManager()
        return self._resources

    @property
    def attempts(self) -> dict[Any, tuple[Attempt, Any]]:
        """What the run's kernels asked for and have to wait for, and what must live as long, by keys of theirs."""
        if self._attempts is None:
            self._attempts = {}
        return self._attempts

    def __enter__(self) -> Run:
        self._outer = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._outer)
        self.is_over = True
        for attempt, _ in (self._attempts or {}).values():
            attempt.withdraw()
        if blocking.waiting:
            blocking.changed()


_current: contextvars.ContextVar[Run] = contextvars.ContextVar("run")

current = _current.get
"""The run that the caller works for; LookupError outside of all runs."""


def check_time() -> None:
    """DeadlineExceededError where the run that the caller works for has no time left: to be asked in long loops of kernels."""
    run = _current.get(None)
    if run is not None:
        run.check_time()


def sleep(seconds: float) -> None:
    """Sleep, and look now and then whether the run that the caller works for has time left."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, _MOMENT))
        check_time()


_MOMENT: Final = 0.1
"""Seconds after which one that sleeps looks whether its run is over."""

interruption_points.watch(check_time)


def is_bounded() -> bool:
    """True where the run that the caller works for has limits."""
    run = _current.get(None)
    return run is not None and run.is_bounded


def reserve(size: int) -> None:
    """ResourceExhaustedError where the run that the caller works for must not take so many bytes more.

    To be asked before what no shape function foretells is allocated.
    """
    run = _current.get(None)
    if run is not None and run.reserve is not None:
        run.reserve(size)
