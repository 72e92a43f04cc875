"""Implementation of `tfg run --each` and `--sweep`: a task and a result file for each input and setting."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import secrets
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

import click

from ...core.graph.graph import Graph
from ...core.support.atomic import file_errors
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.optional_packages import extra_hint
from ...core.support.words import counted
from ...formats.items import Item, find_items
from ...formats.saving import to_bytes
from .. import render
from ..main import DONE, REFUSED
from ..options import GraphReader
from ..sessions import SessionOptions
from .each_manifest import Manifest
from .each_results import SweepReport, reports, results_folder, writing_results
from .each_shards import shard_path
from .each_stamp import Record, Stamp, job_facts
from .each_worker import Outcome, Recipe, SweepTask, TaskQueue, Worker, digest_of
from .run_job import RunOptions

_MAX_LISTED = 10
_TELL_SECONDS: Final = 60.0


class EachJob:
    """A run of `tfg run` over many inputs: the remaining tasks, and the place where they run."""

    def __init__(self, path: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> None:
        if options.out_dir is None and options.out is None:
            raise click.UsageError("--each and --sweep need --out-dir DIR, or --output FILE for shards")
        self._path = path
        self._reader = reader
        self._quiet = options.quiet
        self._on = session.on or "local:0"
        is_remote = self._on.startswith("grpc")
        if options.out is not None:
            self._options = dataclasses.replace(options, out=os.path.abspath(options.out))
        else:
            self._options = dataclasses.replace(options, format_=options.format_ or "npz")
        self._tasks = _tasks(self._options)
        self._record = _record(self._options, dict(job_facts(path, reader, session, self._options)), self._tasks)
        self._session = session if is_remote else dataclasses.replace(session, on=None, seed=self._seed(session))

    def run(self) -> int:
        """Compute all missing results; return 1 if any task failed, otherwise 0."""
        folder = results_folder(self._options)
        with file_errors(folder):
            os.makedirs(folder, exist_ok=True)
        left = self._record.open(self._session.seed, self._tasks)
        tally = Tally(len(left))
        if left:
            self._work(left, tally)
        self._summarize(len(self._tasks) - len(left), tally)
        return REFUSED if tally.failed else DONE

    def _work(self, tasks: Sequence[SweepTask], tally: Tally) -> None:
        reports = self._reports(TaskQueue(tasks))
        self._record.begin()
        try:
            with contextlib.closing(reports), render.ProgressBar("input", len(tasks), self._quiet) as progress:
                for report in reports:
                    tally.count(report)
                    self._record.count(report.outcomes)
                    progress.update(report.computed, tally.pace)
                    tally.tell(self._quiet)
                    if tally.failed and not self._options.keep_going:
                        break
        finally:
            self._record.end(tasks)

    def _seed(self, session: SessionOptions) -> int:
        """Return the seed for all processes, the same after a resume, so that initializers draw the same numbers."""
        seed = session.seed if self._options.overwrite else self._record.adopt_seed(session.seed)
        return secrets.randbits(31) if seed is None else seed

    def _reports(self, queue: TaskQueue) -> Generator[SweepReport]:
        """Yield reports on the tasks from the place that --on names, after a check of the options."""
        kind, _, rest = self._on.partition(":")
        if kind == "dask":
            return self._on_dask(rest.removeprefix("//"), queue)
        graph = self._reader.load(self._path)
        make: Callable[[], Worker] = lambda: Worker(graph, self._session, self._options)  # noqa: E731
        worker, count = make(), _count(rest) if kind == "local" else 0
        worker.check()
        if not count:
            return self._here(worker, queue)
        from .each_pool import ProcessPool

        return ProcessPool(make, self._options, count).reports(queue)

    def _here(self, worker: Worker, queue: TaskQueue) -> Generator[SweepReport]:
        with writing_results(self._options) as results:
            yield from reports(worker.work, results, queue.batches(), self._options.keep_going)

    def _on_dask(self, address: str, queue: TaskQueue) -> Generator[SweepReport]:
        try:
            from .each_dask import Dask
        except ImportError as error:
            problem = f"dask:// needs {error.name}, which is not installed"
            raise UnimplementedError(problem, hint=extra_hint("dask")) from None
        dask = Dask(address, self._recipe(), lambda text: render.note(text, self._quiet))

        def written() -> Generator[SweepReport]:
            with writing_results(self._options) as results:
                yield from dask.reports(queue, results)

        return written()

    def _recipe(self) -> Recipe:
        graph: Graph = self._reader.load(self._path)
        Worker(graph, self._session, self._options).check()
        path = os.path.abspath(self._path)
        is_folder = os.path.isdir(path)
        # Ops are mapped when the graph is loaded, here and there alike.
        data = None if is_folder else to_bytes(GraphReader((), (), None).load(path))
        return Recipe(path, digest_of(path) or "", data, self._reader, self._session, self._options)

    def _summarize(self, skipped: int, tally: Tally) -> None:
        failed, worked = tally.failed, tally.done + len(tally.failed)
        for outcome in failed[:_MAX_LISTED]:
            render.note(f"error: {outcome.task.name}: {outcome.error}")
        if len(failed) > _MAX_LISTED:
            render.note(f"error: {len(failed) - _MAX_LISTED} more failed")
        shards = counted(len({task.shard for task in self._tasks}), "shard")
        place = self._options.out_dir or f"{shards} of {self._options.out}"
        parts = [f"{counted(tally.done, 'result')} written to {place}", *([f"{len(failed)} failed"] if failed else [])]
        parts += [f"{skipped} already there"] if skipped else []
        if worked:
            rate, cpu = worked / tally.seconds, tally.cpu / worked * 1e3
            parts.append(f"{tally.seconds:.1f} s, {rate:.1f} a second, {cpu:.1f} ms of CPU time each")
        render.note("; ".join(parts), self._quiet)


class Tally:
    """The progress of a job: finished and failed tasks, and the speed."""

    def __init__(self, total: int) -> None:
        self.done = 0
        self.failed: list[Outcome] = []
        self.cpu = 0.0
        self._total = total
        self._computed = 0
        self._started = self._told = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the job has worked."""
        return max(time.monotonic() - self._started, 1e-6)

    def count(self, report: SweepReport) -> None:
        """Note a report."""
        self._computed = max(self._computed, report.computed)
        for outcome in report.outcomes:
            self.cpu += outcome.cpu
            if outcome.error is None:
                self.done += 1
            else:
                self.failed.append(outcome)

    @property
    def pace(self) -> str:
        """How many tasks a second are computed, and how long the others will take at this rate."""
        rate = self._computed / self.seconds
        return f"{rate:.3g}/s, {_duration((self._total - self._computed) / rate)} left" if rate else ""

    def tell(self, quiet: bool) -> None:
        """Print the progress once a minute, if no terminal shows a progress bar."""
        if not sys.stderr.isatty() and time.monotonic() - self._told > _TELL_SECONDS:
            self._told = time.monotonic()
            render.note(f"{self._computed} of {counted(self._total, 'input')}, {self.pace}", quiet)


def _duration(seconds: float) -> str:
    """Return a duration in words, with one or two units."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _tasks(options: RunOptions) -> list[SweepTask]:
    """Return the tasks of a job: a task for each input and setting, with its shard if results go to shards."""
    items: Sequence[Item | None] = find_items(options.each) or [None]
    settings = [[(name, text) for text in _values(values)] for name, values in options.sweep]
    tasks = [
        SweepTask(_name(item.name if item else None, chosen), item, chosen)
        for item in items
        for chosen in itertools.product(*settings)
    ]
    if len({task.name for task in tasks}) < len(tasks):
        raise InvalidArgumentError("--sweep repeats a value")
    if options.out is None:
        return tasks
    size = options.shard_size
    shards = [shard_path(options.out, number, -(-len(tasks) // size)) for number in range(-(-len(tasks) // size))]
    return [dataclasses.replace(task, shard=shards[number // size]) for number, task in enumerate(tasks)]


def _record(options: RunOptions, job: Mapping[str, Any], tasks: Sequence[SweepTask]) -> Record:
    return Stamp(options, job) if options.out is None else Manifest(options, job, tasks)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise click.UsageError(f"--on local:{text}: '{text}' is not a number of processes")
    return int(text)


def _values(text: str) -> list[str]:
    """Split values at commas outside brackets and quotes."""
    depth, is_quoted, start, items = 0, False, 0, []
    for i, character in enumerate(text):
        is_quoted ^= character == '"'
        depth += (character in "[(") - (character in ")]") if not is_quoted else 0
        if character == "," and not depth and not is_quoted:
            items.append(text[start:i].strip())
            start = i + 1
    return [*items, text[start:].strip()]


def _name(item: str | None, settings: Sequence[tuple[str, str]]) -> str:
    """Return the name of a result: the name of its input, and its settings."""
    words = [f"{name}={text}".replace(os.sep, "_") for name, text in settings]
    return ",".join([*([item] if item is not None else []), *words])
