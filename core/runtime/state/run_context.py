"""The state of a single call of Session.run, known to all code that works for the run.

Several threads may be inside a session. A kernel is bound once for all of them, and finds its run through `current`, a
context variable, instead of through bound arguments.
"""

from __future__ import annotations

import contextvars
import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from ...graph.graph import Node
from ...numerics import interruption_points
from ...numerics.float_mode import as_outside, flushed
from ...support.errors import DeadlineExceededError
from . import resources
from .resources import ResourceManager


class Hook(Protocol):
    """A function called around every kernel: the base of profiling, tracing, NaN checks and limits."""

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """Run `call(*inputs)` and return the result."""
        ...


def users_hook(hook: Hook) -> Hook:
    """Return a user's hook for a run: its own code runs in the float mode of the user's thread, the kernels in the run's."""
    return lambda node, call, inputs: as_outside(hook, node, functools.partial(flushed, call), inputs)


class Attempt(Protocol):
    """An action that a kernel began and could not finish at once."""

    def withdraw(self) -> None:
        """Undo the attempt: nobody will retry."""
        ...


class Run:
    """A call of Session.run; as a context, the current run. An outer run may wait for an inner run.

    `number` tells the runs of a session apart, `deadline` is the time.monotonic() that ends the run, and `depth` counts
    nested functions; `is_over` says that no kernel of the run is at work any more. `is_watched` says that the hook reads
    values; the hook of limits does not. `reserve` raises for bytes beyond the limit. `takes_dead` says that a fetched value
    may be dead, and is None then.
    """

    # The defaults are in the class, because each call of Session.run makes a Run, and most runs change none of these.
    deadline = timeout = math.inf
    reserve: Callable[[int], None] | None = None
    depth = 0
    is_over = False
    takes_dead = False
    _resources: ResourceManager | None = None
    _attempts: dict[Any, tuple[Attempt, Any]] | None = None

    def __init__(self, number: int, hook: Hook | None = None) -> None:
        self.number = number
        self.hook = hook
        self.is_watched = hook is not None

    def start_clock(self, seconds: float) -> None:
        """Set the deadline `seconds` from now."""
        self.timeout, self.deadline = seconds, time.monotonic() + seconds

    def check_time(self) -> None:
        """Raise DeadlineExceededError after the deadline."""
        if time.monotonic() > self.deadline:
            raise self.overdue()

    def overdue(self) -> DeadlineExceededError:
        """Return the error of a run past the deadline."""
        return DeadlineExceededError(f"the run exceeded its time limit of {self.timeout:g} seconds")

    @property
    def is_bounded(self) -> bool:
        """True for a run with limits."""
        return self.reserve is not None or self.deadline < math.inf

    def part(self) -> Run:
        """Return a run for a thread that does a part of this run's work, with the same number and deadline, and ends first."""
        other = Run(self.number, self.hook)
        other.is_watched = self.is_watched
        other.timeout, other.deadline, other.reserve, other.depth = self.timeout, self.deadline, self.reserve, self.depth
        return other

    @property
    def resources(self) -> ResourceManager:
        """Resources that live as long as the run: temporary variables, stacks, tensor arrays."""
        if self._resources is None:
            self._resources = ResourceManager()
        return self._resources

    def forget_resources(self) -> None:
        """Begin anew: the next stacks and arrays are others."""
        self._resources = None

    @property
    def attempts(self) -> dict[Any, tuple[Attempt, Any]]:
        """The pending attempts of the run's kernels, by keys of theirs, each with an object to keep alive as long."""
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
        # Another run may wait for what an attempt of this run held.
        if resources.waiting:
            resources.changed()


_current: contextvars.ContextVar[Run] = contextvars.ContextVar("run")

current = _current.get
"""The run that the caller works for; LookupError outside of all runs."""


def check_time() -> None:
    """Raise DeadlineExceededError if the caller's run is past its deadline; long loops of kernels call this."""
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
"""The seconds between checks of a sleeping kernel for the end of its run."""

interruption_points.watch(check_time)


def is_bounded() -> bool:
    """True if the run that the caller works for has limits."""
    run = _current.get(None)
    return run is not None and run.is_bounded


def reserve(size: int) -> None:
    """Raise ResourceExhaustedError if the caller's run may not take `size` bytes more.

    Kernels call this before they allocate memory that no shape function foretells.
    """
    run = _current.get(None)
    if run is not None and run.reserve is not None:
        run.reserve(size)
