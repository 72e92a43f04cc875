"""A pool of local processes for tasks: replaces killed processes and restarts their tasks."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawValue
from typing import Any, Final

from ...core.support.file_groups import remove_staging
from .each_results import SweepReport, reports, results_folder, writing_results
from .each_worker import Outcome, SweepTask, TaskQueue, Worker
from .run_job import RunOptions

_ATTEMPTS: Final = 3
"""Attempts for a task whose process is killed each time."""
_AHEAD_SECONDS: Final = 1.0
"""Seconds of queued work for each process; longer than a sync of the disk, after which processes report outcomes."""
_MOST_AHEAD: Final = 1000
_POLL_SECONDS: Final = 0.5
"""How often the processes' counts of tasks are read while none tells of outcomes."""


class ProcessPool:
    """`count` processes, each forked with the graph that is loaded here. They write the results."""

    def __init__(self, make_worker: Callable[[], Worker], options: RunOptions, count: int) -> None:
        self._make_worker = make_worker
        self._options = options
        self._count = count
        self._members: list[_Member] = []
        self._deaths: Counter[str] = Counter()
        self._settled = 0

    def reports(self, queue: TaskQueue) -> Generator[SweepReport]:
        """Yield reports on the tasks, each outcome once."""
        try:
            while queue or any(member.tasks for member in self._members):
                self._assign(queue)
                ready = wait([member.connection for member in self._members], _POLL_SECONDS)
                outcomes = [
                    outcome
                    for member in [member for member in self._members if member.connection in ready]
                    for outcome in self._received(member, queue)
                ]
                self._settled += len(outcomes)
                yield SweepReport(outcomes, self._settled + sum(member.unwritten for member in self._members))
        finally:
            for member in self._members:
                member.end()
            remove_staging(results_folder(self._options))

    def _assign(self, queue: TaskQueue) -> None:
        while queue and len(self._members) < self._count and all(member.tasks for member in self._members):
            others = [member.connection for member in self._members]
            self._members.append(_Member(self._make_worker, self._options, others))
            self._members[-1].begin(queue.take(1))
        for member in self._members:
            share = len(queue) // (2 * self._count) + 1  # the last tasks are for whoever has none left
            if queue and member.wanted:
                member.begin(queue.take(min(member.wanted, share)))

    def _received(self, member: _Member, queue: TaskQueue) -> Sequence[Outcome]:
        """Return the outcomes that a process sent. If the process is dead, requeue its tasks, and fail a task with too many
        attempts.
        """
        try:
            sent = member.connection.recv()
        except (EOFError, OSError):
            return self._lost(member, queue)
        if isinstance(sent, BaseException):
            raise sent
        outcomes: Sequence[Outcome] = sent
        member.settle(len(outcomes))
        return outcomes

    def _lost(self, member: _Member, queue: TaskQueue) -> list[Outcome]:
        current, code = member.current, member.end()
        self._members.remove(member)
        tasks = list(member.tasks)
        failed: list[Outcome] = []
        if current is not None:
            self._deaths[current.name] += 1
            if self._deaths[current.name] == _ATTEMPTS:
                tasks.remove(current)
                failed = [Outcome(current, error=f"its process was killed {_ATTEMPTS} times, last {_how(code)}")]
        queue.put_back(tasks)
        return failed


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"


class _Member:
    """A process, and its tasks without a known outcome."""

    def __init__(self, make_worker: Callable[[], Worker], options: RunOptions, others: Sequence[Connection]) -> None:
        self.tasks: deque[SweepTask] = deque()
        self.connection, theirs = multiprocessing.Pipe()
        self._begun = RawValue(ctypes.c_int64, 0)
        self._settled = 0
        self._started = time.monotonic()
        context = multiprocessing.get_context("fork")
        arguments = (make_worker, options, theirs, self._begun, [self.connection, *others])
        self._process: BaseProcess = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    @property
    def wanted(self) -> int:
        """Return the number of tasks to send; 0 while the process has enough work."""
        rate = self._settled / max(time.monotonic() - self._started, 1e-3)
        ahead = min(int(rate * _AHEAD_SECONDS), _MOST_AHEAD)
        lacking = ahead - (len(self.tasks) - (self._begun.value - self._settled))
        return max(lacking, 1) if not self.tasks or lacking > ahead // 4 else 0

    @property
    def unwritten(self) -> int:
        """Return the number of computed tasks without a known outcome."""
        return max(self._begun.value - self._settled - 1, 0)

    @property
    def current(self) -> SweepTask | None:
        """Return the task that started last; None if the outcomes of all started tasks are known."""
        number = self._begun.value - self._settled
        return self.tasks[number - 1] if number else None

    def begin(self, tasks: Sequence[SweepTask]) -> None:
        """Send tasks. A dead process is noticed later, when the pool waits for an answer."""
        self.tasks.extend(tasks)
        try:
            self.connection.send(tasks)
        except OSError:
            return

    def settle(self, count: int) -> None:
        """Remove the first `count` tasks, whose outcomes are known."""
        self._settled += count
        for _ in range(count):
            self.tasks.popleft()

    def end(self) -> int | None:
        """Kill the process, if still alive, and return its exit code."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        return self._process.exitcode


def _serve(
    make_worker: Callable[[], Worker], options: RunOptions, connection: Connection, begun: Any, inherited: Sequence[Connection]
) -> None:
    """Run tasks until the queue or the parent process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that began the job, which ends this one
    for other in inherited:
        other.close()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        worker = make_worker()

        def work(task: SweepTask) -> Outcome:
            begun.value += 1
            return worker.work(task)

        with writing_results(options) as results:

            def batches() -> Iterator[list[SweepTask]]:
                while True:
                    if not connection.poll() and (outcomes := results.finish()):
                        connection.send(outcomes)
                    yield connection.recv()

            for report in reports(work, results, batches(), options.keep_going):
                if report.outcomes:
                    connection.send(report.outcomes)
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        connection.send(error)
