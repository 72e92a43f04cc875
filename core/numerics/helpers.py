"""Threads of this process that sleep until they are given a task. Python's executors take several times as long."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable

from .threads import OWN_THREADS, one_thread


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
    """A thread that sleeps until it is given a task.

    Of several that sleep the one that worked last is given the next: it may still be awake, and no other is woken in vain, to
    take turns with it. A task ends when its thread is ready for another.
    """

    def __init__(self, number: int, idle: list[_Helper]) -> None:
        self._given = threading.Lock()
        self._given.acquire()
        self._idle = idle
        self._task: Task | None = None
        idle.append(self)
        threading.Thread(target=self._serve, name=f"{OWN_THREADS}numerics-{number}", daemon=True).start()

    def give(self, task: Task) -> None:
        """Have it do a task; it must have been idle."""
        self._task = task
        self._given.release()

    def _serve(self) -> None:
        while True:
            self._given.acquire()
            task, self._task = self._task, None
            assert task is not None
            task.run()
            self._idle.append(self)
            task.end()
            del task


@functools.cache
def _helpers() -> list[_Helper]:
    """The threads of this process that have nothing to do."""
    idle: list[_Helper] = []
    for i in range(one_thread.available):
        _Helper(i, idle)
    return idle


def idle_helpers(count: int) -> list[_Helper]:
    """Up to so many threads, which have to be given something."""
    idle = _helpers()
    found: list[_Helper] = []
    try:
        while len(found) < count:
            found.append(idle.pop())  # atomic: others take theirs at the same time
    except IndexError:
        pass
    return found


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_helpers.cache_clear)
