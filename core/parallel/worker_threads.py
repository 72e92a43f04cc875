"""Threads of this process that sleep until they get a task. Python's executors take several times as long.

All sessions share the threads. A thread ends after a second without a task, so that no thread remains when sessions are
gone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

from .blas_threads import OWN_THREADS, one_thread
from .float_mode import flushed

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
        self._done.acquire()

    def run(self) -> None:
        """Do the work and record an exception for the owner; the owner waits for `end`."""
        if not self._begun.acquire(blocking=False):
            return
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
            if not self._has_task.acquire(timeout=IDLE_SECONDS):
                if self._pool.end(self):
                    return
                continue
            task, self._task = self._task, None
            assert task is not None
            task.run()
            self._pool.idle.append(self)
            task.end()
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
