"""Processes of this machine that work on tasks: one that is killed is replaced, and its task is begun again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final

from .each_worker import Outcome, Task, Worker

_ATTEMPTS: Final = 3
"""How often a task is begun whose process is killed each time."""


class Pool:
    """`count` processes, each forked with the graph that is loaded here."""

    def __init__(self, make_worker: Callable[[], Worker], count: int) -> None:
        self._make_worker = make_worker
        self._count = count
        self._members: list[_Member] = []

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """What became of each task, as it is known; each comes once."""
        waiting = deque(tasks)
        begun: dict[Task, int] = {}
        try:
            while waiting or any(member.task for member in self._members):
                self._assign(waiting, begun)
                ready = wait([member.connection for member in self._members])
                for member in [member for member in self._members if member.connection in ready]:
                    yield from self._received(member, waiting, begun)
        finally:
            for member in self._members:
                member.end()

    def _assign(self, waiting: deque[Task], begun: dict[Task, int]) -> None:
        while waiting and len(self._members) < self._count and all(member.task for member in self._members):
            self._members.append(_Member(self._make_worker, [member.connection for member in self._members]))
            self._members[-1].begin(_next(waiting, begun))
        for member in self._members:
            if waiting and member.task is None:
                member.begin(_next(waiting, begun))

    def _received(self, member: _Member, waiting: deque[Task], begun: dict[Task, int]) -> Iterator[Outcome]:
        """What a process sent; where it is gone, its task waits again, unless it was begun too often."""
        try:
            outcome = member.connection.recv()
        except (EOFError, OSError):
            task, code = member.task, member.end()
            self._members.remove(member)
            if task is not None and begun[task] < _ATTEMPTS:
                waiting.appendleft(task)
            elif task is not None:
                yield Outcome(task, error=f"its process was ended {_ATTEMPTS} times, at last {_how(code)}")
            return
        member.task = None
        if isinstance(outcome, BaseException):
            raise outcome
        yield outcome


def _next(waiting: deque[Task], begun: dict[Task, int]) -> Task:
    task = waiting.popleft()
    begun[task] = begun.get(task, 0) + 1
    return task


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"


class _Member:
    """A process and the task that it is at."""

    def __init__(self, make_worker: Callable[[], Worker], others: Sequence[Connection]) -> None:
        self.task: Task | None = None
        self.connection, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        arguments = (make_worker, theirs, [self.connection, *others])
        self._process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, task: Task) -> None:
        """Send a task; one that a dead process does not take is noticed where its answer is waited for."""
        self.task = task
        try:
            self.connection.send(task)
        except OSError:
            return

    def end(self) -> int | None:
        """End the process, which may have ended already; its exit code."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        return self._process.exitcode


def _serve(make_worker: Callable[[], Worker], connection: Connection, inherited: Sequence[Connection]) -> None:
    """Work on tasks until there are no more, or nobody is left who wants the outcomes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that began the job, which ends this one
    for other in inherited:
        other.close()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        worker = make_worker()
        while True:
            connection.send(worker.work(connection.recv()))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        connection.send(error)
