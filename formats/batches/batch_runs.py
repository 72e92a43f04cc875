"""The functions behind `tfg run --each` with files of results: many inputs, in processes and on clusters; the tasks that are
left, the place where they run, and the report.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Unpack

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.arguments import checked, expect
from ...core.support.atomic import file_errors
from ...core.support.display import Report
from ...core.support.errors import InvalidArgumentError, UnimplementedError
from ...core.support.hints import extra_hint
from ...core.support.places import absolute, exists, is_folder, make_folders
from ...core.support.words import counted
from ..api.graph_reading import GraphReading
from ..api.names import Given
from ..api.prepared_sessions import named, names_of
from ..api.run_plan import Pairs, RunPlan, RunRequest, StepKeywords, given_pairs
from ..api.session_setup import SessionSetup
from ..items import EACH
from ..loading import load
from ..saving import to_bytes
from ..state import State
from .each_inputs import EachKeywords, in_batches
from .each_pool import ProcessPool
from .each_results import SweepReport, reports, shard_path, writing_results
from .each_stamp import Manifest, Record, Stamp, job_facts
from .each_tasks import BatchOutput, Recipe, SweepTask, SweepTasks, TaskQueue, graph_recipe, sweep_tasks
from .each_worker import Worker
from .table_batches import TableFunction, is_table

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
        # A TensorFlow cluster runs the steps of sessions that this process opens; the other places run whole tasks.
        on = recipe.session.on or _HERE
        is_place = on.startswith(_PLACES)
        self._on = on if is_place else _HERE
        self._graph = graph
        self._note = note
        self._tasks = _placed(tasks, recipe.output)
        self._record = _record(recipe, self._tasks)
        # A resumed job must draw the numbers of its first start, even if the user gave no seed.
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
        # The record is opened before any result is written, so that a refusal leaves the results of another job as they are.
        left = self._record.open(self._seed, self._tasks)
        # The clock starts here: reading the record of a long job is no run.
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
            # An error or Ctrl-C must end the processes of the pool before the record ends.
            with contextlib.closing(told):
                for report in told:
                    self._record.count(report.outcomes)
                    yield report
                    # `closing` ends the processes. Results on the disk stay, and a later job continues after them.
                    if not self._recipe.output.keep_going and any(outcome.error is not None for outcome in report.outcomes):
                        break
        finally:
            self._record.end(tasks)

    def _reports(self, queue: TaskQueue) -> Generator[SweepReport]:
        """Return reports on the tasks from the place of the batch, after a check of the settings."""
        # The worker is made here even if other processes do the runs, so that errors that concern all inputs are told once,
        # before they start.
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


class BatchKeywords(EachKeywords, StepKeywords, total=False):
    """The inputs and the steps of runs."""


@checked
def run_batch(
    graph: Graph | str | os.PathLike[str],
    inputs: Sequence[str] | str | Any = (),
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    out_dir: str | os.PathLike[str] | None = None,
    format: Literal["npz", "npy", "json", "csv"] = "npz",
    shard_size: int | None = None,
    overwrite: bool = False,
    on: str | None = None,
    state: str | State | None = None,
    seed: int | None = None,
    session: SessionSetup | None = None,
    op_libraries: Sequence[str] | str = (),
    progress: Callable[[BatchProgress], None] | None = None,
    note: Callable[[str], None] | None = None,
    **options: Unpack[BatchKeywords],
) -> BatchReport | Any:
    """Run a graph once for each input, write the results to files, and return the report.

    `inputs`, `fetches` and `feeds` are as in `run_each`. The results go to `out_dir`, a folder with a file of `format` for
    each input, or to shards of `shard_size` results: `output="results.npz"` writes `results-00000-of-00010.npz` and so on;
    other shards are .tfrecord, .jsonl, .csv, .parquet and .arrow. By default a shard has 1,000 results, or those of a group
    of rows in Parquet and Arrow files. A later call computes the results that are missing or older than their inputs; with
    `overwrite` all. InvalidArgumentError where the place has results of another graph or of other settings.

    `on` names the place of the runs: by default this process; `local:4` for four processes, `dask://HOST:PORT`, or
    `grpc://HOST:PORT` for a TensorFlow cluster. New processes import no module of the caller, and load `op_libraries`,
    which are files and names of modules. They read a graph from its path; a Graph travels as bytes.

    Before the first step, variables are initialized, then set by `state`, a file or values, then changed by `assign`,
    `assign_add` and `assign_sub`. `session` has further settings, such as the engine.

    `progress` is called after each report, and `note` with remarks, such as on a wait for workers. A failure ends the batch
    unless `keep_going`; the report has the errors.

    `inputs` may be a table as for `map_batches`: a DataFrame of pandas or polars, a table of pyarrow, or a dictionary of
    arrays. Then no file is written, and the result is a table of the same kind: the columns that feed nothing, and a column
    for each fetch. The error of a row names the row.
    """
    reading = GraphReading(op_library=names_of(op_libraries))
    loaded = graph if isinstance(graph, Graph) else reading.load(graph)
    parts, batch, sweep, keep_going = options["parts"], options["batch"], options["sweep"], options["keep_going"]
    feeding = given_pairs(feeds) + _parts({} if is_table(inputs) else parts)
    request = RunRequest.of_values(fetches, feeding, options)
    setup = _setup(session or SessionSetup(), on, state, seed)
    if is_table(inputs):
        _require_defaults(
            output=output, out_dir=out_dir, format=format != "npz", shard_size=shard_size, on=setup.on, sweep=sweep,
            keep_going=keep_going, overwrite=overwrite, targets=request.targets, steps=request.steps != 1,
            top_k=request.top_k, labels=request.labels, progress=progress,
        )  # fmt: skip
        return TableFunction(loaded, request, dict(parts or {}), batch, setup, note)(inputs)
    files = BatchOutput(
        None if out_dir is None else os.fspath(out_dir), None if output is None else absolute(output), format,
        shard_size, overwrite, keep_going,
    )  # fmt: skip
    # A graph in a file is opened by each process on its own machine; only a Graph of this process must travel.
    path = None if isinstance(graph, Graph) else os.fspath(graph)
    note = (lambda _: None) if note is None else note
    loaded, path, size = batched(loaded, path, request, setup.signature, batch, note)
    recipe = graph_recipe(loaded, path, reading, setup.of_many_runs(), request, files, size)
    return BatchJob(loaded, recipe, sweep_tasks(names_of(inputs), _settings(sweep)), note=note).run(progress)


def _require_defaults(**given: Any) -> None:
    """InvalidArgumentError for a parameter that has no effect on a table."""
    for name, value in given.items():
        if value:
            hint = f"leave out `{name}`, or give the files of the inputs"
            raise InvalidArgumentError(f"`{name}` has no effect on a table, which gives a table", hint=hint)


def batched(
    graph: Graph, path: str | None, request: RunRequest, signature: str | None, batch: BlockSize | Literal["?"],
    note: Callable[[str], None],
) -> tuple[Graph, str | None, BlockSize]:  # fmt: skip
    """Return a graph that takes `batch` rows, its file where the graph is still the file's, and the inputs in a block."""
    # The plan of a run is needed only to find the batch of the graph.
    if batch == "auto":
        return graph, path, batch
    fetches = list(RunPlan(graph, request, signature).fetches.values())
    changed, size = in_batches(graph, fetches, batch, note)
    return changed, path if changed is graph else None, size


def _setup(session: SessionSetup, on: str | None, state: str | State | None, seed: int | None) -> SessionSetup:
    """Return the settings of a session with the arguments in their places."""
    return dataclasses.replace(
        session, on=on or session.on, state=state if isinstance(state, str) else session.state,
        variable_values=session.variable_values if state is None or isinstance(state, str) else state,
        seed=session.seed if seed is None else seed,
    )  # fmt: skip


def _parts(parts: Mapping[str, str] | None) -> Pairs:
    """Return feeds that stand for parts of an input: `@each:KEY?OPTIONS`."""
    return tuple((name, f"{EACH}{text if text.startswith('?') else f':{text}'}") for name, text in named(parts).items())


def _settings(sweep: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, list[Given]]]:
    expect(list | tuple, *named(sweep).values())
    return [(name, list(map(Given, values))) for name, values in named(sweep).items()]
