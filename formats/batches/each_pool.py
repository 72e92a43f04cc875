"""A pool of local processes for tasks: replaces killed processes and restarts their tasks."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Sequence
from typing import Any, Final

from ...core.support import dataclasses
from ...core.support.child_python import python_process
from ...core.support.errors import UnavailableError
from ...core.support.file_groups import remove_staging
from .each_process import COUNT, RECIPE, begun_tasks, serve
from .each_recipe import Recipe
from .each_results import SweepReport
from .each_tasks import Outcome, SweepTask, TaskQueue

_ATTEMPTS: Final = 3
"""Attempts for a task whose process is killed each time, and for a process that ends before its first task."""
_AHEAD_SECONDS: Final = 1.0
"""Seconds of queued work for each process; longer than a sync of the disk, after which processes report outcomes."""
_MOST_AHEAD: Final = 1000
_POLL_SECONDS: Final = 0.5
"""How often the processes' counts of tasks are read while none tells of outcomes."""
_CODE: Final = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from {} import serve; serve({!r}, {})"
"""The code of a process. Ctrl-C is for the process that began the job, which ends the others."""


class ProcessPool:
    """New processes that read the graph and write the results. This process is not forked."""

    def __init__(self, recipe: Recipe, count: int) -> None:
        self._recipe = recipe
        self._count = count
        self._members: list[_Member] = []
        self._messages: queue.SimpleQueue[tuple[_Member, Any]] = queue.SimpleQueue()
        self._deaths: Counter[str] = Counter()
        self._settled = 0
        self._started = 0

    def reports(self, tasks: TaskQueue) -> Generator[SweepReport]:
        """Yield reports on the tasks, each outcome once. UnavailableError where processes end before their first task."""
        with tempfile.TemporaryDirectory(prefix="tfg", ignore_cleanup_errors=True) as folder:
            self._write_recipe(folder)
            try:
                while tasks or any(member.tasks for member in self._members):
                    self._start_members(folder, tasks)
                    self._assign(tasks)
                    outcomes = self._received(tasks)
                    self._settled += len(outcomes)
                    yield SweepReport(outcomes, self._settled + sum(member.unwritten for member in self._members))
            finally:
                for member in self._members:
                    member.end()
                remove_staging(self._recipe.output.place)

    def _write_recipe(self, folder: str) -> None:
        """Write the recipe; a graph given as bytes is written to a file, which all processes share in memory."""
        recipe = self._recipe
        if recipe.data is not None:
            path = os.path.join(folder, "graph")
            with open(path, "wb") as file:
                file.write(recipe.data)
            recipe = dataclasses.replace(recipe, path=path, data=None)
        with open(os.path.join(folder, RECIPE), "wb") as file:
            pickle.dump(recipe, file)

    def _start_members(self, folder: str, tasks: TaskQueue) -> None:
        idle = sum(not member.tasks for member in self._members)
        for _ in range(min(self._count - len(self._members), len(tasks) - idle)):
            self._members.append(_Member(folder, self._started, self._messages))
            self._started += 1

    def _assign(self, tasks: TaskQueue) -> None:
        for member in self._members:
            share = len(tasks) // (2 * self._count) + 1  # the last tasks are for whoever has none left
            if tasks and member.wanted:
                member.begin(tasks.take(min(member.wanted, share)))

    def _received(self, tasks: TaskQueue) -> list[Outcome]:
        """Return the outcomes that processes sent, after a wait for the first message."""
        outcomes: list[Outcome] = []
        with contextlib.suppress(queue.Empty):
            outcomes += self._outcomes(*self._messages.get(timeout=_POLL_SECONDS), tasks)
            while True:
                outcomes += self._outcomes(*self._messages.get_nowait(), tasks)
        return outcomes

    def _outcomes(self, member: _Member, message: Any, tasks: TaskQueue) -> Sequence[Outcome]:
        """Return the outcomes in a message. Requeue the tasks of a dead process; fail a task with too many attempts."""
        if message is None:
            return self._lost(member, tasks)
        if isinstance(message, BaseException):
            raise message
        outcomes: Sequence[Outcome] = message
        member.settle(len(outcomes))
        return outcomes

    def _lost(self, member: _Member, queue: TaskQueue) -> list[Outcome]:
        current, begun, code = member.current, member.running, member.end()
        self._members.remove(member)
        # Tasks of a block begin together, and any of them may have killed the process. From now on each of them runs alone, so
        # the next death tells which.
        tasks = [
            dataclasses.replace(task, is_alone=True) if place < begun else task for place, task in enumerate(member.tasks)
        ]
        name = current.name if current is not None else ""
        self._deaths[name] += current is not None or not member.is_ready
        failed: list[Outcome] = []
        if self._deaths[name] == _ATTEMPTS:
            if current is None:
                raise UnavailableError(f"{_ATTEMPTS} processes ended before their first task, the last {_how(code)}")
            del tasks[begun - 1]
            failed = [Outcome(current, error=f"its process was killed {_ATTEMPTS} times, last {_how(code)}")]
        queue.put_back(tasks)
        return failed


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"


class _Member:
    """A process, and its tasks without a known outcome."""

    def __init__(self, folder: str, number: int, messages: queue.SimpleQueue[tuple[_Member, Any]]) -> None:
        self.tasks: deque[SweepTask] = deque()
        self.is_ready = False
        self._begun = begun_tasks(folder, number)
        self._settled = 0
        self._started = time.monotonic()
        command, environment = python_process(_CODE.format(serve.__module__, folder, number))
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
        self._reader = threading.Thread(target=self._read, args=(messages,), daemon=True)
        self._reader.start()

    def _read(self, messages: queue.SimpleQueue[tuple[_Member, Any]]) -> None:
        """Put the messages of the process into the queue, None last."""
        assert self._process.stdout is not None
        try:
            while True:
                messages.put((self, pickle.load(self._process.stdout)))
        except (EOFError, OSError, pickle.UnpicklingError):
            messages.put((self, None))

    @property
    def running(self) -> int:
        """The number of tasks that began and have no known outcome."""
        begun: int = COUNT.unpack_from(self._begun)[0]
        return begun - self._settled

    @property
    def wanted(self) -> int:
        """Return the number of tasks to send; 0 while the process has enough work."""
        rate = self._settled / max(time.monotonic() - self._started, 1e-3)
        ahead = min(int(rate * _AHEAD_SECONDS), _MOST_AHEAD)
        lacking = ahead - (len(self.tasks) - self.running)
        return max(lacking, 1) if not self.tasks or lacking > ahead // 4 else 0

    @property
    def unwritten(self) -> int:
        """Return the number of computed tasks without a known outcome."""
        return max(self.running - 1, 0)

    @property
    def current(self) -> SweepTask | None:
        """Return the task that started last; None if the outcomes of all started tasks are known."""
        return self.tasks[self.running - 1] if self.running else None

    def begin(self, tasks: Sequence[SweepTask]) -> None:
        """Send tasks. A dead process is noticed later, when the pool waits for an answer."""
        self.tasks.extend(tasks)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(pickle.dumps(tasks))
            self._process.stdin.flush()

    def settle(self, count: int) -> None:
        """Remove the first `count` tasks, whose outcomes are known. The first message comes from a process that is ready."""
        if not self.is_ready:
            self.is_ready, self._started = True, time.monotonic()
        self._settled += count
        for _ in range(count):
            self.tasks.popleft()

    def end(self) -> int | None:
        """Kill the process, if still alive, and return its exit code."""
        self._process.kill()
        self._reader.join()  # `communicate` below must not read the pipe beside the reader
        with contextlib.suppress(OSError):  # tasks that a dead process did not read
            self._process.communicate()
        self._begun.close()
        return self._process.returncode
