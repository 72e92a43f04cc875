"""A pool of local processes for tasks, which replaces killed processes and restarts their tasks; and the work of a process."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import pickle
import queue
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import IO, Any, Final

from ...core.support import dataclasses
from ...core.support.errors import UnavailableError, UnimplementedError
from ...core.support.file_groups import remove_staging
from ...core.support.gc_control import RARELY
from ...core.support.untrusted import keep_untrusted
from .each_results import SweepReport, reports, writing_results
from .each_tasks import Outcome, Recipe, SweepTask, TaskQueue
from .each_worker import recipe_worker

_ATTEMPTS: Final = 3
"""Attempts for a task whose process is killed each time, and for a process that ends before its first task."""
_AHEAD_SECONDS: Final = 1.0
"""Seconds of queued work for each process; longer than a sync of the disk, after which processes report outcomes."""
_MOST_AHEAD: Final = 1000
_POLL_SECONDS: Final = 0.5
"""How often the processes' counts of tasks are read while none tells of outcomes."""
_CODE: Final = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from {} import serve; serve({!r}, {})"
"""The code of a process. Ctrl-C is for the process that began the job, which ends the others."""
_RECIPE: Final = "recipe"
"""The name of the file with the recipe in the folder of a pool."""
_COUNT: Final = struct.Struct("<q")
"""The number of tasks that a process began, in a file of the folder, which outlives the process.

It is no message of the pipe: a process that the system kills sends nothing more, and the pool must know what it began.
"""


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
        """Yield reports on the tasks, each outcome once. UnavailableError if processes end before their first task."""
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
        # In the pickle, each process would have its own copy of the weights.
        if recipe.data is not None:
            path = os.path.join(folder, "graph")
            with open(path, "wb") as file:
                file.write(recipe.data)
            recipe = dataclasses.replace(recipe, path=path, data=None)
        with open(os.path.join(folder, _RECIPE), "wb") as file:
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
            # The wait has a limit: the counts of tasks, from which the progress is told, move on without a message.
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
        # A process that ends before its first task blames no task; such deaths count together.
        name = current.name if current is not None else ""
        # A process that was ready, and ran nothing when it died, counts for no task: another takes its place.
        self._deaths[name] += current is not None or not member.is_ready
        failed: list[Outcome] = []
        if self._deaths[name] == _ATTEMPTS:
            if current is None:
                raise UnavailableError(f"{_ATTEMPTS} processes ended before their first task, the last {_how(code)}")
            # Of tasks that run alone the one that began last killed the process. Those before it are computed, but not
            # written, and run again.
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
        self._begun = _begun_tasks(folder, number)
        self._settled = 0
        self._started = time.monotonic()
        command, environment = _python_process(_CODE.format(__name__, folder, number))
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
        begun: int = _COUNT.unpack_from(self._begun)[0]
        return begun - self._settled

    @property
    def wanted(self) -> int:
        """Return the number of tasks to send; 0 while the process has enough work."""
        rate = self._settled / max(time.monotonic() - self._started, 1e-3)
        # The rate so far decides, because an input may take microseconds or minutes.
        ahead = min(int(rate * _AHEAD_SECONDS), _MOST_AHEAD)
        lacking = ahead - (len(self.tasks) - self.running)
        # Many at a time: a message for each task that ends would take longer than a short task.
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
        # The process is killed rather than asked: results that are not on the disk are computed again, and a kernel may run
        # for long.
        self._process.kill()
        self._reader.join()  # `communicate` below must not read the pipe beside the reader
        with contextlib.suppress(OSError):  # tasks that a dead process did not read
            self._process.communicate()
        self._begun.close()
        return self._process.returncode


def _python_process(code: str) -> tuple[list[str], Mapping[str, str]]:
    """Return the command line and the environment of a new Python process that runs `code`.

    The process finds modules where this process does, except in the current folder, which may hold downloaded files.
    UnimplementedError in a program without an interpreter of its own.
    """
    if not sys.executable:
        raise UnimplementedError("this program has no Python interpreter to start a process with")
    return [sys.executable, "-P", "-c", code], {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


# A process of the pool: reads tasks from standard input, and writes outcomes to standard output.


def serve(folder: str, number: int) -> None:
    """Work on tasks until standard input ends. The process has a number in the pool."""
    # The graph is many objects that live as long as the process, and each full collection would walk through them.
    gc.set_threshold(RARELY)
    orders: queue.SimpleQueue[Sequence[SweepTask]] = queue.SimpleQueue()
    # In a thread, since a kernel may compute for long: at the end of the pipe the job is over, and this process ends at once.
    threading.Thread(target=_read, args=(os.fdopen(os.dup(0), "rb"), orders), daemon=True).start()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a kernel that reads standard input gets no tasks
    try:
        _answer(folder, number, orders)
    except OSError as error:
        # The job ended while this process began, or died: nobody reads an answer, and its folder is gone.
        if os.path.exists(folder) and not isinstance(error, BrokenPipeError):
            raise


def _answer(folder: str, number: int, orders: queue.SimpleQueue[Sequence[SweepTask]]) -> None:
    with os.fdopen(os.dup(1), "wb") as answers, _begun_tasks(folder, number) as begun:
        os.dup2(2, 1)  # keeps prints of kernels out of the answers
        try:
            _work(folder, orders, answers, begun)
        except BrokenPipeError:
            raise
        except Exception as error:
            _send(answers, error)


def _begun_tasks(folder: str, number: int) -> mmap.mmap:
    """Return the memory, shared by way of a file, with the number of tasks that a process began."""
    with open(os.path.join(folder, str(number)), "a+b") as file:
        file.truncate(_COUNT.size)
        return mmap.mmap(file.fileno(), _COUNT.size)


def _read(pipe: IO[bytes], orders: queue.SimpleQueue[Sequence[SweepTask]]) -> None:
    """Put the tasks of the pipe into the queue; end this process with the process that began the job."""
    try:
        while True:
            orders.put(pickle.load(pipe))
    except (EOFError, OSError):
        os._exit(1)


def _work(folder: str, orders: queue.SimpleQueue[Sequence[SweepTask]], answers: IO[bytes], begun: mmap.mmap) -> None:
    with open(os.path.join(folder, _RECIPE), "rb") as file:
        recipe: Recipe = pickle.load(file)
    if recipe.untrusted:
        keep_untrusted()
    worker = recipe_worker(recipe)
    _send(answers, [])

    def begin(count: int) -> None:
        # The count is written before the run, in memory that outlives the process: a killed process can say nothing more.
        _COUNT.pack_into(begun, 0, _COUNT.unpack_from(begun)[0] + count)

    def work(tasks: Sequence[SweepTask]) -> Iterator[Sequence[Outcome]]:
        return worker.outcomes(tasks, begin)

    with writing_results(recipe.output) as results:

        def batches() -> Iterator[Sequence[SweepTask]]:
            while True:
                # There is nothing to do until the next order, which the pool may send only when it knows the outcomes.
                if orders.empty() and (outcomes := results.finish()):
                    _send(answers, outcomes)
                yield orders.get()

        for report in reports(work, results, batches(), recipe.output.keep_going):
            if report.outcomes:
                _send(answers, report.outcomes)


def _send(answers: IO[bytes], message: object) -> None:
    answers.write(pickle.dumps(message))
    answers.flush()
