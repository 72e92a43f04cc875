"""A process of a pool: reads tasks from standard input, and writes outcomes to standard output."""

from __future__ import annotations

import gc
import mmap
import os
import pickle
import queue
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Final

from ...core.support.gc_control import RARELY
from ...core.support.untrusted import keep_untrusted
from .each_recipe import Recipe
from .each_results import reports, writing_results
from .each_tasks import Outcome, SweepTask
from .each_worker import recipe_worker

RECIPE: Final = "recipe"
"""The name of the file with the recipe in the folder of a pool."""
COUNT: Final = struct.Struct("<q")
"""The number of tasks that a process began, in a file of the folder, which outlives the process.

It is no message of the pipe: a process that the system kills sends nothing more, and the pool must know what it began.
"""


def serve(folder: str, number: int) -> None:
    """Work on tasks until standard input ends. The process has a number in the pool."""
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
    with os.fdopen(os.dup(1), "wb") as answers, begun_tasks(folder, number) as begun:
        os.dup2(2, 1)  # keeps prints of kernels out of the answers
        try:
            _work(folder, orders, answers, begun)
        except BrokenPipeError:
            raise
        except Exception as error:
            _send(answers, error)


def begun_tasks(folder: str, number: int) -> mmap.mmap:
    """Return the memory, shared by way of a file, with the number of tasks that a process began."""
    with open(os.path.join(folder, str(number)), "a+b") as file:
        file.truncate(COUNT.size)
        return mmap.mmap(file.fileno(), COUNT.size)


def _read(pipe: IO[bytes], orders: queue.SimpleQueue[Sequence[SweepTask]]) -> None:
    """Put the tasks of the pipe into the queue; end this process with the process that began the job."""
    try:
        while True:
            orders.put(pickle.load(pipe))
    except (EOFError, OSError):
        os._exit(1)


def _work(folder: str, orders: queue.SimpleQueue[Sequence[SweepTask]], answers: IO[bytes], begun: mmap.mmap) -> None:
    with open(os.path.join(folder, RECIPE), "rb") as file:
        recipe: Recipe = pickle.load(file)
    if recipe.untrusted:
        keep_untrusted()
    worker = recipe_worker(recipe)
    _send(answers, [])

    def begin(count: int) -> None:
        COUNT.pack_into(begun, 0, COUNT.unpack_from(begun)[0] + count)

    def work(tasks: Sequence[SweepTask]) -> Iterator[Sequence[Outcome]]:
        return worker.outcomes(tasks, begin)

    with writing_results(recipe.output) as results:

        def batches() -> Iterator[Sequence[SweepTask]]:
            while True:
                if orders.empty() and (outcomes := results.finish()):
                    _send(answers, outcomes)
                yield orders.get()

        for report in reports(work, results, batches(), recipe.output.keep_going):
            if report.outcomes:
                _send(answers, report.outcomes)


def _send(answers: IO[bytes], message: object) -> None:
    answers.write(pickle.dumps(message))
    answers.flush()
