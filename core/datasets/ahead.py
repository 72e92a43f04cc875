"""Elements made ahead of demand by threads of `core.numerics.work_division`.

The order of elements and errors is the order of a pass without threads: a dataset says by `comes_early` that no run can
tell when the elements were made. A thread works until a bounded buffer is full and never waits for the consumer, so a
dropped pass leaves no thread behind.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import contextvars
import functools
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Final

from ..numerics.blas_threads import one_thread
from ..numerics.work_division import Task, divide, idle_workers, undivided
from ..runtime.state.run_context import Run, check_time, current
from .dataset import Element, Pull

Outcome = Element | Exception | None
WORTH_THREADS: Final = 1e-3
"""Least seconds for an element before threads make others meanwhile. A thread wakes up after 0.1 ms, and a shorter element
works on small arrays, for which threads only take turns of Python.
"""


def outcome_of(pull: Callable[[], Element | None]) -> Outcome:
    """Return the next element, or the error raised by the pull."""
    try:
        return pull()
    except Exception as error:
        return error


def outcomes(
    function: Callable[[Element], Element | None], elements: Sequence[Element | Exception], most: int
) -> list[Outcome]:
    """Return a function's result for each element, or the error, in order; an error in the input stays in place.

    At most `most` calls are made at a time (-1: the number of threads), and only where the first call took long. A run with
    a hook makes a single call at a time, since the hook must see kernels in order.
    """
    results: list[Outcome] = [None] * len(elements)

    def call(place: int) -> None:
        element = elements[place]
        results[place] = element if isinstance(element, Exception) else outcome_of(functools.partial(function, element))

    run, begun = current(None), time.perf_counter()
    if elements:
        call(0)
    # The time of the first call is a sample for all calls.
    is_slow, others = time.perf_counter() - begun > WORTH_THREADS, range(1, len(elements))
    if not is_slow or run is None or run.hook is not None or run.reserve is not None:
        for place in others:
            call(place)
        return results

    def call_apart(place: int) -> None:
        # Each call gets a part of the run: a Run keeps the token of its context, so it can be current in only one thread.
        with run.part():
            call(place)

    divide(call_apart, others, most if most > 0 else None)
    return results


Function = Callable[[Element], Element | None]
_MOMENT: Final = 0.1
"""Seconds between two checks of the run's deadline, in a pass that waits for a thread."""
TRIED_ELEMENTS: Final = 2
"""Elements made by the caller before threads may take over: the first element also pays for the plan of the function."""


def _given(outcome: Outcome) -> Element | None:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _free_run() -> Run | None:
    """Return the caller's run if threads may work ahead in the run, otherwise None.

    Threads may not where a hook must see kernels in order, or under limits, which belong to a single run.
    """
    run = current(None)
    is_free = run is not None and run.hook is None and not run.is_bounded and one_thread.unlocked_share > 1
    return run if is_free else None


class _Worth:
    """Decision whether threads may make elements ahead: elements must come early and take long enough, by the least time of
    the first ones.
    """

    def __init__(self, comes_early: Callable[[], bool]) -> None:
        self._comes_early = comes_early
        self._tried = 0
        self._least = float("inf")
        self.answer: bool | None = None
        """The decision, or None before enough elements were timed."""

    def timed(self, make: Callable[[], Element | None]) -> Element | None:
        """Return the result of `make` and note the call's time."""
        begun = time.perf_counter()
        try:
            return make()
        finally:
            self._note(time.perf_counter() - begun)

    def _note(self, seconds: float) -> None:
        self._tried += 1
        self._least = min(self._least, seconds)
        if self._tried == TRIED_ELEMENTS:
            self.answer = self._least >= WORTH_THREADS and self._comes_early()


class _PassState:
    """State shared by the threads of a pass and the consumer of the elements. `changed` guards every field."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.active = 0
        self.is_dropped = False
        _all.add(self)

    def start(self, run: Run) -> bool:
        """Have an idle thread work; False if there is none."""
        for worker in idle_workers(1):
            with self.changed:
                self.active += 1
            serve = functools.partial(self._serve, run.part())
            worker.give(Task(functools.partial(contextvars.copy_context().run, serve)))
            return True
        return False

    def _serve(self, run: Run) -> None:
        try:
            with one_thread.limited(), run:
                while self.step():
                    pass
        finally:
            with self.changed:
                self.active -= 1
                self.changed.notify_all()

    def step(self) -> bool:
        """Make an element; False if there is none to make."""
        raise NotImplementedError

    def drop(self) -> None:
        """Let threads end behind the element that they are at."""
        self.is_dropped = True


_all: weakref.WeakSet[_PassState] = weakref.WeakSet()


@atexit.register
def _end() -> None:
    """Wait for threads that are at work: compiled code must not meet an interpreter that is gone."""
    for work in list(_all):
        work.drop()
        with work.changed:
            work.changed.wait_for(lambda: not work.active, _LONGEST_END)  # noqa: B023 - called at once


def _renew() -> None:
    """Reset the work in a forked process, which inherits no threads."""
    for work in list(_all):
        work.changed, work.active = threading.Condition(), 0


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_renew)

_LONGEST_END: Final = 5.0
"""Seconds that the end of the process waits for an element that nobody wants any more."""


class _Pass:
    """A pass with elements that threads may make ahead."""

    def __init__(self, work: _PassState, comes_early: Callable[[], bool]) -> None:
        self._worth = _Worth(comes_early)
        self._shared = work

    def __del__(self) -> None:
        # Nobody reads this pass any more, and its threads would fill the buffer for nothing.
        self._shared.drop()


class _Elements(_PassState):
    """The next elements of a pass, in their order."""

    def __init__(self, pull: Pull, size: int) -> None:
        super().__init__()
        self.pull = pull
        self.size = size
        self.ready: collections.deque[Outcome] = collections.deque()

    def step(self) -> bool:
        # No lock is needed to look: only this thread appends, and the consumer only takes.
        if self.is_dropped or len(self.ready) >= self.size:
            return False
        outcome = outcome_of(self.pull)
        with self.changed:
            self.ready.append(outcome)
            self.changed.notify_all()
        return outcome is not None


class Prefetched(_Pass):
    """A pass with up to `size` elements ready, made by a single thread."""

    def __init__(self, pull: Pull, size: int, comes_early: Callable[[], bool]) -> None:
        self._work = _Elements(pull, size)
        super().__init__(self._work, comes_early)

    def next(self) -> Element | None:
        """Return the next element."""
        work, worth = self._work, self._worth
        # The answer is None as long as elements are timed, and False if they are too fast or must not come early.
        if not worth.answer:
            return work.pull() if worth.answer is False else worth.timed(work.pull)
        with work.changed:
            while not work.ready and work.active:
                work.changed.wait(_MOMENT)
                check_time()
            is_ready, outcome = bool(work.ready), work.ready.popleft() if work.ready else None
        # Nothing is ready and no thread is at work, so the consumer may use the pull.
        element = _given(outcome) if is_ready else work.pull()
        run = _free_run() if element is not None and not work.active else None
        if run is not None:
            work.start(run)
        return element


class _Slot:
    """An element of the source, and the outcome of the function."""

    __slots__ = ("is_done", "outcome", "source")

    def __init__(self, source: Outcome) -> None:
        self.source = source
        self.is_done = source is None or isinstance(source, Exception)
        self.outcome = source if self.is_done else None


class _Calls(_PassState):
    """Calls of a function; the calls in `waiting` have not begun."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.waiting: collections.deque[_Slot] = collections.deque()

    def step(self) -> bool:
        with self.changed:
            slot = self.waiting.popleft() if self.waiting and not self.is_dropped else None
        if slot is not None:
            self.make(slot)
        return slot is not None

    def make(self, slot: _Slot) -> None:
        """Call the function for a slot; where that is interrupted, the call waits again."""
        outcome: Outcome = None
        is_done = False
        try:
            # While other calls wait, a kernel stays in its thread: divided, it would take the threads that they wait for.
            with undivided() if self.waiting else contextlib.nullcontext():
                outcome = outcome_of(functools.partial(self.function, slot.source))  # type: ignore[arg-type]
            is_done = True
        finally:
            with self.changed:
                slot.outcome, slot.is_done = outcome, is_done
                if not is_done:
                    # The slot goes back to the front, where it came from, because the consumer wants the slots in order.
                    self.waiting.appendleft(slot)
                self.changed.notify_all()


# Without this class, decoding a folder of JPEGs kept only one core busy.
class MappedAhead(_Pass):
    """A pass over a function's results: up to `calls` calls at a time, up to `size` results ahead of demand.

    The consumer's thread takes the source's elements, in their order.
    """

    def __init__(self, pull: Pull, function: Function, calls: int, size: int, comes_early: Callable[[], bool]) -> None:
        self._pull = pull
        self._function = function
        self._limit = calls
        self._size = size
        self._work = _Calls(function)
        self._slots: collections.deque[_Slot] = collections.deque()
        super().__init__(self._work, comes_early)

    def next(self) -> Element | None:
        """Return the next element."""
        run = _free_run() if self._worth.answer else None
        if run is not None:
            self._fill()
            self._start_threads(run)
        if not self._slots:
            element = self._pull()
            if element is None or self._worth.answer is not None:
                return None if element is None else self._function(element)
            return self._worth.timed(functools.partial(self._function, element))
        slot = self._slots[0]
        self._complete(slot)
        self._slots.popleft()
        return _given(slot.outcome)

    def _fill(self) -> None:
        """Take elements of the source until `size` slots are full or the source ends."""
        size = self._size if self._size > 0 else 2 * self._threads
        while len(self._slots) < size and (not self._slots or self._slots[-1].source is not None):
            slot = _Slot(outcome_of(self._pull))
            self._slots.append(slot)
            if not slot.is_done:
                with self._work.changed:
                    self._work.waiting.append(slot)

    @property
    def _threads(self) -> int:
        """How many calls are made at a time."""
        return min(self._limit, one_thread.unlocked_share) if self._limit > 0 else one_thread.unlocked_share

    def _start_threads(self, run: Run) -> None:
        """Start threads for waiting calls. The consumer makes calls too, unless the limit is a single call."""
        work = self._work
        while work.active < min(max(self._threads - 1, 1), len(work.waiting)):
            if not work.start(run):
                break

    def _complete(self, slot: _Slot) -> None:
        """Wait for the outcome of a slot, and make calls meanwhile."""
        work = self._work
        while True:
            with work.changed:
                if slot.is_done:
                    return
                mine = None
                if work.waiting and work.active < self._threads:
                    mine = work.waiting.popleft()
                elif not work.active:
                    mine = slot  # the slot's thread is gone, as in a forked process
                else:
                    work.changed.wait(_MOMENT)
            if mine is not None:
                work.make(mine)
            check_time()
