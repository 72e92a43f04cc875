"""Division of work among the threads that a run may take, and the threads.

Work is cut alike for any number of threads, so that results do not depend on the load of the machine.
`benchmarks/thresholds.py` and `benchmarks/threads.py` measure the thresholds of this file.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import functools
import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from .blas_threads import OWN_THREADS, one_thread
from .float_mode import flushed

Array = Any
_Part = TypeVar("_Part")

BLOCK_ELEMENTS: Final = 1 << 18
"""The elements of a block of rows, images or variables: 1 MiB of float32, a second-level cache. Larger blocks leave the
cache, smaller blocks take more calls of NumPy (benchmarks/__main__.py: ResNet50, MobileNetV2).
"""
TILE_ELEMENTS: Final = 1 << 17
"""The elements of a tile for several elementwise steps: some operands stay in a second-level cache, and a tile is worth a
call of NumPy (benchmarks/__main__.py: LSTM train step).
"""
ELEMENT_WORK: Final = 16
"""The multiply-adds that take as long as an operation of NumPy on a single element: shared work is counted in multiply-adds
(benchmarks/threads.py).
"""
WORTH_DIVIDING: Final = 1 << 24
"""The multiply-adds from which a product takes much longer than distributing parts: on a virtual machine, waking a thread
of another core and contending for Python's lock takes 0.1 to 0.2 ms.
"""
_is_undivided: contextvars.ContextVar[bool] = contextvars.ContextVar("is_undivided", default=False)
"""Whether the caller does all parts of divided work by itself."""


class NotFinite(Exception):
    """Raised by a part with a non-finite number, where the algorithm needs finite numbers."""


def workers_for(multiply_adds: int) -> int:
    """Return the number of threads for work of `multiply_adds`: 1 for little work."""
    return one_thread.share if multiply_adds >= WORTH_DIVIDING else 1


@functools.lru_cache(1024)
def product_parts(rows: int, columns: int, count: int) -> list[tuple[slice, slice]]:
    """Cut a matrix into `count` parts along the longer side."""
    if rows >= columns:
        return [(part, slice(0, columns)) for part in cut(rows, count)]
    return [(slice(0, rows), part) for part in cut(columns, count)]


def cut(size: int, count: int) -> list[slice]:
    """Cut a range into `count` slices of nearly equal length."""
    ends = (size * i // count for i in range(count + 1))
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def even(count: int, workers: int) -> int:
    """Round a count of parts up to a multiple of the workers."""
    return -(-count // workers) * workers


def parts_of_each(images: int, lines: int, count: int, workers: int) -> int:
    """Return the number of parts, at least `count`, of each image's lines that gives every worker the same number of parts."""
    return min(even(count, workers // math.gcd(images, workers)), lines)


def divide(work: Callable[[_Part], object], parts: Sequence[_Part], most: int | None = None) -> None:
    """Call `work` on all parts, by at most `most` of the threads that this run may take; each thread takes part after part.

    All threads have the caller's error state of NumPy. The first error is raised when all threads have stopped; each stops
    after the current part. A thread that has not begun when all parts are taken is not waited for.
    """
    threads = 1 if is_undivided() else one_thread.share
    workers = min(threads, len(parts), most or len(parts))
    if workers <= 1:
        for part in parts:
            work(part)
        return
    _divide(work, parts, workers)


def _divide(work: Callable[[_Part], object], parts: Sequence[_Part], workers: int) -> None:
    remaining = iter(parts)

    def take() -> None:
        try:
            for part in remaining:  # next() of a list's iterator is atomic
                work(part)
        except BaseException:
            collections.deque(remaining, maxlen=0)  # the others stop too
            raise

    # Each task has a context of its own, because two threads cannot enter the same. It has the error state of NumPy and the
    # run.
    tasks = [Task(functools.partial(contextvars.copy_context().run, take)) for _ in range(workers - 1)]
    for task, worker in zip(tasks, idle_workers(len(tasks))):
        worker.give(task)
    try:
        # The caller takes parts too, so that the work is done if no worker is free or awake.
        take()
    finally:
        # The caller waits even after an error here, because workers may still write to its arrays.
        failures = [task.failure() for task in tasks]
    for failure in failures:
        if failure is not None:
            raise failure


def is_undivided() -> bool:
    """Return True inside `undivided`."""
    return _is_undivided.get()


@contextlib.contextmanager
def undivided() -> Iterator[None]:
    """Let a single thread do all parts of divided work inside, cut as usual: the other threads have work of their own."""
    token = _is_undivided.set(True)
    try:
        yield
    finally:
        _is_undivided.reset(token)


def ordered_sum(
    add: Callable[[_Part, Array, bool], None], parts: Sequence[_Part], shares: int, shape: Sequence[int], dtype: Any
) -> Array:
    """Return the sum of the contributions of `add(part, total, is_first)` to totals of `shape`: independent of the threads'
    timing.

    There are at most `shares` totals, each of neighbouring parts.
    """
    # Neighbouring parts share a total, and the totals are added in their order: floats add to other sums in another order.
    runs = [parts[some] for some in cut(len(parts), min(shares, len(parts)))]
    totals = np.empty((len(runs), *shape), dtype)

    def add_run(number: int) -> None:
        for i, part in enumerate(runs[number]):
            add(part, totals[number], i == 0)

    divide(add_run, range(len(runs)))
    total: Array = totals[0]
    for i, other in enumerate(totals[1:]):
        total = np.add(total, other, out=total if i else None)
    return total


# Threads of this process that sleep until they get a task. Python's executors take several times as long.
#
# All sessions share the threads. A thread ends after a second without a task, so that none remains when sessions are gone.

IDLE_SECONDS: Final = 1.0
"""The seconds after which a thread without a task ends. Starting a thread takes about 0.1 ms."""


class Task:
    """A task for a thread, unless the owner takes the task back first.

    When the owner goes on, the task holds no reference to the work: a result without other references need not be copied.
    """

    __slots__ = ("_begun", "_done", "_error", "_work")

    def __init__(self, work: Callable[[], object]) -> None:
        self._work: Callable[[], object] | None = work
        self._begun, self._done = threading.Lock(), threading.Lock()
        self._error: BaseException | None = None
        # A lock that is held until the end serves as the signal. An Event would need a lock, a condition and a list of
        # waiters.
        self._done.acquire()

    def run(self) -> None:
        """Do the work and record an exception for the owner; the owner waits for `end`."""
        if not self._begun.acquire(blocking=False):
            return
        # The frame must not keep the arrays of the caller alive, see the class.
        work, self._work = self._work, None
        assert work is not None
        try:
            work()
        except BaseException as error:
            self._error = error

    def end(self) -> None:
        """Let the owner go on."""
        self._done.release()

    def failure(self) -> BaseException | None:
        """Return the exception of the work; wait for work that has begun, and keep other work from beginning."""
        if self._begun.acquire(blocking=False):
            self._work = None
        else:
            self._done.acquire()
        return self._error


class _Worker:
    """A thread that sleeps until a task comes, and ends when no task comes for a while.

    The sleeping thread that worked last gets the next task: that thread may still be awake, and no other thread is woken in
    vain, to contend with the first. A task ends when the task's thread is ready for another.
    """

    def __init__(self, pool: _Pool) -> None:
        self._has_task = threading.Lock()
        self._has_task.acquire()
        self._pool = pool
        self._task: Task | None = None
        threading.Thread(target=flushed, args=(self._serve,), name=f"{OWN_THREADS}numerics", daemon=True).start()

    def give(self, task: Task) -> None:
        """Give a task to the idle thread."""
        self._task = task
        self._has_task.release()

    def _serve(self) -> None:
        while True:
            # Another thread may take this worker at the moment when the time is over: only the pool knows, under its lock.
            if not self._has_task.acquire(timeout=IDLE_SECONDS):
                if self._pool.end(self):
                    return
                continue
            task, self._task = self._task, None
            assert task is not None
            task.run()
            # The thread is idle before `end`, so that the owner finds it for the next task, which often follows at once.
            self._pool.idle.append(self)
            task.end()
            # Otherwise the loop would hold the last task, and what it refers to, until the next task.
            del task


class _Pool:
    """The worker threads of this process. They are started when a task needs them."""

    def __init__(self) -> None:
        self.idle: list[_Worker] = []
        self._count = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> list[_Worker]:
        """Return up to `count` workers, each of which must get a task."""
        workers: list[_Worker] = []
        while len(workers) < count:
            try:
                workers.append(self.idle.pop())  # atomic: other threads take workers at the same time
            except IndexError:
                if not self._may_start():
                    break
                workers.append(_Worker(self))
        return workers

    def end(self, worker: _Worker) -> bool:
        """Remove an idle worker; False where another thread has taken the worker meanwhile."""
        with self._lock:
            try:
                self.idle.remove(worker)
            except ValueError:
                return False
            self._count -= 1
            return True

    def _may_start(self) -> bool:
        with self._lock:
            may_start = self._count < one_thread.cores
            self._count += may_start
            return may_start


_pool = _Pool()


def idle_workers(count: int) -> list[_Worker]:
    """Return up to `count` threads, each of which must get a task."""
    return _pool.take(count)


def renew() -> None:
    """Begin without threads in a forked process: only the forking thread exists there."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=renew)
