"""A batch: the tasks that are left, the place where they run, and the report."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.atomic import file_errors
from ...core.support.display import Report
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.hints import extra_hint
from ...core.support.places import exists, is_folder, make_folders
from ...core.support.words import counted
from ..loading import load
from ..saving import to_bytes
from .each_pool import ProcessPool
from .each_recipe import BatchOutput, Recipe
from .each_results import SweepReport, reports, shard_path, writing_results
from .each_stamp import Manifest, Record, Stamp, job_facts
from .each_tasks import SweepTask, SweepTasks, TaskQueue
from .each_worker import Worker

if TYPE_CHECKING:
    from ...core.engines.automatic import AutoRuntime
    from ...core.engines.engine_runtime import EngineRuntime

_HERE: Final = "local:0"
_PLACES: Final = ("local:", "dask:")


@dataclasses.dataclass(frozen=True, slots=True)
class FailedInput:
    """An input without a result."""

    name: str
    """The name of the input, with the values of a sweep."""
    error: str
    """The error of the run."""


@dataclasses.dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of a batch."""

    computed: int
    """The inputs computed so far, their results written or not."""
    total: int
    """The inputs to compute."""
    seconds: float
    """The time since the start of the first run."""

    @property
    def rate(self) -> float:
        """Inputs per second."""
        return self.computed / max(self.seconds, 1e-6)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class BatchReport(Report):
    """The result of a batch: how many results were written, and which inputs failed."""

    main_table: ClassVar[str] = "failed"

    done: int
    """The number of results that were computed and written."""
    skipped: int
    """The number of results that were there before."""
    failed: tuple[FailedInput, ...]
    """The inputs without a result."""
    seconds: float
    """The time of all runs."""
    cpu: float
    """The CPU time of all runs in all processes, in seconds."""
    shards: int = 0
    """The number of shards that exist; 0 for a folder of results."""

    def headline(self) -> str:
        failed = [f"{len(self.failed)} failed"] if self.failed else []
        return ", ".join([counted(self.done, "result"), *failed, f"{self.skipped} already there", f"{self.seconds:.1f} s"])


class BatchJob:
    """A batch. The session's `on` names the place: `local:N` for N processes, `dask://HOST:PORT`, or a TensorFlow cluster."""

    def __init__(
        self, graph: Graph, recipe: Recipe, tasks: SweepTasks, *, engine: EngineRuntime | AutoRuntime | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """`engine` is the engine of runs in this process, by default a new engine of the recipe's name."""
        recipe.output.check()
        on = recipe.session.on or _HERE
        is_place = on.startswith(_PLACES)
        self._on = on if is_place else _HERE
        self._graph = graph
        self._note = note
        self._tasks = _placed(tasks, recipe.output)
        self._record = _record(recipe, self._tasks)
        seed = recipe.session.seed if recipe.output.overwrite else self._record.adopt_seed(recipe.session.seed)
        # All processes have the same seed, and again after a resume, so that initializers draw the same numbers.
        self._seed = secrets.randbits(31) if seed is None and is_place else seed
        session = dataclasses.replace(recipe.session, seed=self._seed, on=None if is_place else on)
        self._recipe = dataclasses.replace(recipe, session=session)
        self._session = session if engine is None else dataclasses.replace(session, engine=engine, precision=None)

    def run(self, progress: Callable[[BatchProgress], None] | None = None) -> BatchReport:
        """Compute all missing results, and return the report; stop at a failure, unless the batch is to keep going."""
        folder = self._recipe.output.place
        with file_errors(folder):
            make_folders(folder)
        left = self._record.open(self._seed, self._tasks)
        done, cpu, failed, started = 0, 0.0, [], time.monotonic()
        for report in self._recorded(left) if left else ():
            done += sum(outcome.error is None for outcome in report.outcomes)
            cpu += sum(outcome.cpu for outcome in report.outcomes)
            failed += [FailedInput(outcome.task.name, outcome.error) for outcome in report.outcomes if outcome.error]
            if progress is not None:
                progress(BatchProgress(report.computed, len(left), time.monotonic() - started))
        shards = sum(map(exists, self._tasks.shards))
        return BatchReport(done, len(self._tasks) - len(left), tuple(failed), time.monotonic() - started, cpu, shards)

    def _recorded(self, tasks: Sequence[SweepTask]) -> Generator[SweepReport]:
        """Yield reports on the tasks, and record the results."""
        told = self._reports(TaskQueue(tasks))
        self._record.begin()
        try:
            with contextlib.closing(told):
                for report in told:
                    self._record.count(report.outcomes)
                    yield report
                    if not self._recipe.output.keep_going and any(outcome.error is not None for outcome in report.outcomes):
                        break
        finally:
            self._record.end(tasks)

    def _reports(self, queue: TaskQueue) -> Generator[SweepReport]:
        """Return reports on the tasks from the place of the batch, after a check of the settings."""
        worker = Worker(self._graph, self._session, self._recipe.request, self._recipe.output, self._recipe.batch, self._note)
        worker.check()
        kind, _, rest = self._on.partition(":")
        if kind == "dask":
            return self._on_dask(rest.removeprefix("//"), queue)
        if not rest.isdecimal():
            raise InvalidArgumentError(f"'{self._on}' is not a number of processes", hint="write local:4 for four processes")
        return ProcessPool(self._recipe, int(rest)).reports(queue) if int(rest) else self._here(worker, queue)

    def _here(self, worker: Worker, queue: TaskQueue) -> Generator[SweepReport]:
        with writing_results(self._recipe.output) as results, contextlib.closing(worker):
            yield from reports(worker.outcomes, results, queue.batches(), self._recipe.output.keep_going)

    def _on_dask(self, address: str, queue: TaskQueue) -> Generator[SweepReport]:
        try:
            from .each_dask import Dask
        except ImportError as error:
            problem = f"dask:// needs {error.name}, which is not installed"
            raise UnimplementedError(problem, hint=extra_hint("dask")) from None
        dask = Dask(address, self._portable(), self._note)

        def written() -> Generator[SweepReport]:
            with writing_results(self._recipe.output) as results:
                yield from dask.reports(queue, results)

        return written()

    def _portable(self) -> Recipe:
        """Return the recipe with the bytes of the graph's file, for workers that lack the file."""
        recipe = self._recipe
        if recipe.path is None or is_folder(recipe.path):
            return recipe
        # Ops are mapped when the graph is loaded, here and there alike.
        return dataclasses.replace(recipe, data=to_bytes(load(recipe.path, tags=recipe.reading.tags)))


def _placed(tasks: SweepTasks, output: BatchOutput) -> SweepTasks:
    """Return the tasks with their shards."""
    if output.shards is None:
        return tasks
    ends = tasks.shard_ends(output.shard_size)
    return tasks.placed([shard_path(output.shards, number, len(ends)) for number in range(len(ends))], ends)


def _record(recipe: Recipe, tasks: SweepTasks) -> Record:
    facts = dict(job_facts(recipe))
    return Stamp(recipe.output, facts) if recipe.output.shards is None else Manifest(recipe.output, facts, tasks)
