"""Threads of this process that sleep until they are given a task. Python's executors take several times as long.

All sessions share these threads. A thread ends after a second without a task, so that nothing is left when sessions are gone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

from .blas_threads import OWN_THREADS, one_thread

IDLE_SECONDS: Final = 1.0
"""Seconds after which a thread without a task ends. Starting a thread takes about 0.1 ms."""


class Task:
    """Something for a thread to do, unless its owner takes it back before.

    When the owner goes on, nothing here refers to what was worked on: a result that nobody else has need not be copied.
    """

    __slots__ = ("_begun", "_done", "_error", "_work")

    def __init__(self, work: Callable[[], object]) -> None:
        self._work: Callable[[], object] | None = work
        self._begun, self._done = threading.Lock(), threading.Lock()
        self._error: BaseException | None = None
        self._done.acquire()

    def run(self) -> None:
        """Do it; what it raises is kept. Its owner waits for `end`."""
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
        """What it raised; waits for its end if it has begun, and keeps it from beginning otherwise."""
        if self._begun.acquire(blocking=False):
            self._work = None
        else:
            self._done.acquire()
        return self._error


class _Helper:
    """A thread that sleeps until it is given a task, and ends when no task came for a while.

    Of several that sleep the one that worked last is given the next: it may still be awake, and no other is woken in vain, to
    take turns with it. A task ends when its thread is ready for another.
    """

    def __init__(self, pool: _Pool) -> None:
        self._given = threading.Lock()
        self._given.acquire()
        self._pool = pool
        self._task: Task | None = None
        threading.Thread(target=self._serve, name=f"{OWN_THREADS}numerics", daemon=True).start()

    def give(self, task: Task) -> None:
        """Have it do a task; it must have been idle."""
        self._task = task
        self._given.release()

    def _serve(self) -> None:
        while True:
            if not self._given.acquire(timeout=IDLE_SECONDS):
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
    """The helper threads of this process. They are started when a task needs them."""

    def __init__(self) -> None:
        self.idle: list[_Helper] = []
        self._count = 0
        self._lock = threading.Lock()

    def take(self, count: int) -> list[_Helper]:
        """Up to `count` helpers, each of which must be given a task."""
        helpers: list[_Helper] = []
        while len(helpers) < count:
            try:
                helpers.append(self.idle.pop())  # atomic: other threads take helpers at the same time
            except IndexError:
                if not self._may_start():
                    break
                helpers.append(_Helper(self))
        return helpers

    def end(self, helper: _Helper) -> bool:
        """Remove an idle helper; False where somebody has taken it meanwhile."""
        with self._lock:
            try:
                self.idle.remove(helper)
            except ValueError:
                return False
            self._count -= 1
            return True

    def _may_start(self) -> bool:
        with self._lock:
            may_start = self._count < one_thread.available
            self._count += may_start
            return may_start


_pool = _Pool()


def idle_helpers(count: int) -> list[_Helper]:
    """Up to `count` threads, each of which must be given a task."""
    return _pool.take(count)


def renew() -> None:
    """Begin without threads, as a process does that was forked: it has only the thread that forked."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=renew)
