"""The functions behind `tfg run --each` with files of results: many inputs, in processes and on clusters; the tasks that are
left, the place where they run, the record of the job, and the report.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

from ...core.comparing.row_blocks import BlockSize
from ...core.graph.graph import Graph
from ...core.support import dataclasses, places
from ...core.support.arguments import checked, expect, named, names_of
from ...core.support.atomic import atomic_file, file_errors, flush
from ...core.support.display import Report
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ...core.support.escaping import masked
from ...core.support.hints import Hint, extra_hint, option
from ...core.support.words import counted
from ...core.types.tensors import Tensor
from ..api.graph_reading import GraphReading
from ..api.names import Given
from ..api.run_plan import Pairs, RunPlan, RunRequest, StepKeywords, given_pairs
from ..api.session_setup import SessionSetup
from ..checkpoint.store import open_checkpoint
from ..codecs.source import read_regular
from ..codecs.tensor_proto import encode_tensor
from ..items import EACH
from ..loading import load
from ..saving import to_bytes
from ..state import State
from .each_inputs import EachKeywords, in_batches
from .each_pool import ProcessPool
from .each_results import SweepReport, reports, result_path, shard_path, writing_results
from .each_tasks import (
    SHARD_SIZE,
    BatchOutput,
    Outcome,
    Recipe,
    SweepTask,
    SweepTasks,
    TaskQueue,
    digest_of,
    digest_of_bytes,
    graph_recipe,
    sweep_tasks,
)
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
class BatchReport(Report, main_table="failed"):
    """The result of a batch: how many results were written, and which inputs failed."""

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
            places.make_folders(folder)
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
        shards = sum(map(places.exists, self._tasks.shards))
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
        # Connected before the first report is asked for: a wrong address then leaves no record of the job behind.
        dask = Dask(address, self._portable(), self._note)

        def written() -> Generator[SweepReport]:
            with writing_results(self._recipe.output) as results:
                yield from dask.reports(queue, results)

        return written()

    def _portable(self) -> Recipe:
        """Return the recipe with the bytes of the graph's file, for workers that lack the file."""
        recipe = self._recipe
        if recipe.path is None or places.is_folder(recipe.path):
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
    `overwrite` all. InvalidArgumentError if the place has results of another graph or of other settings.

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
    given = session or SessionSetup()
    setup = dataclasses.replace(
        given, on=on or given.on, state=state if isinstance(state, str) else given.state,
        variable_values=given.variable_values if state is None or isinstance(state, str) else state,
        seed=given.seed if seed is None else seed,
    )  # fmt: skip
    if is_table(inputs):
        _require_defaults(
            output=output, out_dir=out_dir, format=format != "npz", shard_size=shard_size, on=setup.on, sweep=sweep,
            keep_going=keep_going, overwrite=overwrite, targets=request.targets, steps=request.steps != 1,
            top_k=request.top_k, labels=request.labels, progress=progress,
        )  # fmt: skip
        return TableFunction(loaded, request, dict(parts or {}), batch, setup, note)(inputs)
    files = BatchOutput(
        None if out_dir is None else os.fspath(out_dir), None if output is None else places.absolute(output), format,
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
    """Return a graph that takes `batch` rows, its file if the graph is still the file's, and the inputs in a block."""
    # The plan of a run is needed only to find the batch of the graph.
    if batch == "auto":
        return graph, path, batch
    fetches = list(RunPlan(graph, request, signature).fetches.values())
    changed, size = in_batches(graph, fetches, batch, note)
    return changed, path if changed is graph else None, size


def _parts(parts: Mapping[str, str] | None) -> Pairs:
    """Return feeds that stand for parts of an input: `@each:KEY?OPTIONS`."""
    return tuple((name, f"{EACH}{text if text.startswith('?') else f':{text}'}") for name, text in named(parts).items())


def _settings(sweep: Mapping[str, Sequence[Any]] | None) -> list[tuple[str, list[Given]]]:
    expect(list | tuple, *named(sweep).values())
    return [(name, list(map(Given, values))) for name, values in named(sweep).items()]


# The record of a job beside its results: the stamp of a folder, or the manifest of shards, so that jobs never mix results.

NAME: Final = ".tfg-job"
_SEED: Final = "seed"


class Record(abc.ABC):
    """The file that records the job of results. The values of `job` determine the results."""

    def __init__(self, path: str, output: BatchOutput, job: Mapping[str, Any]) -> None:
        self._path = path
        self._output = output
        self._job = dict(job)
        self._is_new = False
        self._was_there = False

    def adopt_seed(self, seed: int | None) -> int | None:
        """Return the seed of the run: the user's seed, or else the seed that the job drew before."""
        return self._read().get(_SEED) if seed is None and places.exists(self._path) else seed

    def open(self, seed: int | None, tasks: SweepTasks) -> Sequence[SweepTask]:
        """Begin or resume the job: the tasks that are left. InvalidArgumentError if there are results of another job."""
        self._job[_SEED] = seed
        self._was_there = places.exists(self._path)
        # With --overwrite the record of the other job does not matter, nor whether it is damaged.
        known = self._read() if self._was_there and not self._output.overwrite else None
        # Results without a record may be of anything; to take them for this job's would mix two jobs.
        if known is None and not self._output.overwrite and self._has_results(tasks):
            raise self._refusal("has results but no record of their job")
        if known is not None and known != self._job:
            unlike = sorted(key for key in {*known, *self._job} if known.get(key) != self._job.get(key))
            raise self._refusal(f"has the results of another job: {', '.join(unlike)} differ{'s' * (len(unlike) == 1)}")
        self._is_new = known is None
        return tasks if self._is_new else self._left(tasks)

    def begin(self) -> None:
        """Write the file, before the first result of a job that begins."""
        if self._is_new:
            with atomic_file(self._path) as file:
                file.write(self._head())

    @abc.abstractmethod
    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes whose results are on the disk."""

    def end(self, tasks: Sequence[SweepTask]) -> None:
        """Remove the file of a new job without results, so that another job can use the folder."""
        if self._is_new and not self._was_there and not self._has_results(tasks):
            places.remove(self._path)

    def _has_results(self, tasks: Sequence[SweepTask]) -> bool:
        written = WrittenFiles(self._output)
        return any(written.time(result) is not None for result in self._results(tasks))

    @abc.abstractmethod
    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        """The files that the results go to."""

    @abc.abstractmethod
    def _left(self, tasks: SweepTasks) -> Sequence[SweepTask]:
        """Return the tasks with missing results, or with results older than their inputs."""

    @abc.abstractmethod
    def _head(self) -> bytes:
        """The contents of the file when the job begins."""

    @abc.abstractmethod
    def _parsed(self, data: bytes) -> Any:
        """The job that the contents of the file tell of; ValueError if they are damaged."""

    def _read(self) -> dict[str, Any]:
        try:
            job = self._parsed(bytes(read_regular(self._path)))
        except (ValueError, RecursionError):
            raise DataLossError(
                f"'{self._path}' is damaged", hint=Hint("restart the job with ", option("overwrite"))
            ) from None
        return job if isinstance(job, dict) else {}

    def _refusal(self, problem: str) -> InvalidArgumentError:
        place = option("output" if self._output.shards is not None else "out-dir")
        hint = Hint("choose another ", place, ", or run all inputs again with ", option("overwrite"))
        return InvalidArgumentError(f"'{self._output.shards or self._output.folder}' {problem}", hint=hint)


class Stamp(Record):
    """The stamp of a folder with a separate file for each result.

    A result is complete if its file is newer than the stamp and its input. So a job can start over without removing old
    results, and may be killed at any moment.
    """

    def __init__(self, output: BatchOutput, job: Mapping[str, Any]) -> None:
        super().__init__(os.path.join(output.place, NAME), output, job)

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Do nothing: the file of a result is the record."""

    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        return (result_path(self._output, task) for task in tasks)

    def _left(self, tasks: SweepTasks) -> Sequence[SweepTask]:
        # The times of the files tell what is done: a list of results would have to be written again after each of them.
        since, written = places.modified(self._path), WrittenFiles(self._output)
        return [task for task in tasks if not written.is_there(result_path(self._output, task), [task], since)]

    def _head(self) -> bytes:
        return json.dumps(self._job, indent=1, sort_keys=True).encode()

    def _parsed(self, data: bytes) -> Any:
        return json.loads(data)


class WrittenFiles:
    """The times, in nanoseconds, at which results and inputs were last written. A folder at an address is listed once."""

    def __init__(self, output: BatchOutput) -> None:
        # A request for each file would take longer than the runs, and shards lie in one folder.
        depth = None if output.shards is None else 1
        self._listed = places.times_below(output.place, depth) if places.is_address(output.place) else None
        self._inputs: dict[str, int | None] = {}

    def is_there(self, result: str, tasks: Sequence[SweepTask], since: int = 0) -> bool:
        """Return True if a file is not older than the inputs of its tasks, nor than `since`."""
        written = self.time(result)
        if written is None or written < since:
            return False
        times = [self._input(task.item.path) for task in tasks if task.item is not None]
        return all(time is not None and written >= time for time in times)

    def time(self, result: str) -> int | None:
        """Return the time of a result; None if there is none."""
        return _time(result) if self._listed is None else self._listed.get(result)

    def _input(self, path: str) -> int | None:
        if path not in self._inputs:
            self._inputs[path] = _time(path)
        return self._inputs[path]


def _time(path: str) -> int | None:
    with file_errors(path):
        try:
            return places.modified(path)
        except FileNotFoundError:
            return None


def job_facts(recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield the facts that determine the results, by the name of the option; for files a checksum of the contents."""
    yield "graph", _digest_of_graph(recipe)
    yield from _facts(recipe.reading, GraphReading._fields)
    yield "libraries", [_digest(library) for library in recipe.reading.op_library if places.is_file(library)]
    yield from _facts(recipe.request, RunRequest.__dataclass_fields__)
    yield "format_", recipe.output.format
    # Results in blocks differ in their last digits from those one by one, so that the two are different jobs.
    if recipe.batch != 1:
        yield "batch", f"{recipe.batch}: results of inputs in blocks are equal to rounding"
    request, session = recipe.request, recipe.session
    texts = [value for _, value in (*request.feeds, *request.assign, *request.assign_add, *request.assign_sub)]
    yield "files", [_digest(text[1:]) for text in texts if isinstance(text, str) and text.startswith("@")]
    for name in ("init", "init_op", "fills_variables", "signature", "optimize", "engine", "precision"):
        yield name, getattr(session, name)
    # A folder's or a file's name may stand for a checkpoint, which is known by its prefix.
    is_prefix = session.state is not None and not places.is_file(session.state)
    yield "state", session.state and _digest(open_checkpoint(session.state).prefix if is_prefix else session.state)
    if session.state_map:
        yield "state_map", _digest(session.state_map)
    yield "variable_values", {name: _digest_of_value(value) for name, value in (session.variable_values or {}).items()}


def _facts(settings: GraphReading | RunRequest, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    return ((name, _plain(getattr(settings, name))) for name in names)


def _plain(value: Any) -> Any:
    """Return a value of a setting in its JSON form; a checksum for the elements of an array."""
    if isinstance(value, Given):
        return _digest_of_value(value.value)
    if isinstance(value, str):
        return masked(value)  # signatures of addresses change from day to day, and are secrets
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _digest_of_value(value: Any) -> str:
    tensor = value if isinstance(value, Tensor) else Tensor.from_numpy(value)
    return digest_of_bytes(encode_tensor(tensor).SerializeToString(deterministic=True))


def _digest_of_graph(recipe: Recipe) -> str:
    """Return a checksum of a graph's file or bytes, and of the variables of a SavedModel."""
    if recipe.path is not None:
        return _digest(recipe.path)
    prefix = recipe.meta.variables_prefix if recipe.meta is not None else None
    return f"{recipe.digest}{_digest(prefix) if prefix is not None else ''}"


def _digest(path: str) -> str:
    """Return a checksum of a graph, a state or a feed. The index of a checkpoint holds the checksums of all its tensors."""
    # A feed may be an array of an archive, FILE.npz:KEY, and then depends on the key too.
    head, key = path.partition(".npz:")[::2]
    files = [head + ".npz"] if key else [path, f"{path}.index", os.path.join(path, "variables", "variables.index")]
    digest = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16)
    for file in files:
        with file_errors(file):
            digest.update((digest_of(file) or "").encode())
    return digest.hexdigest()


# The manifest of the shards of `tfg run --each`: the job, and the names of the results in each finished shard.

_SHARD: Final = "shard"
_RESULTS: Final = "results"
_FAILED: Final = "failed"
_PART: Final = 8
"""A file in a store is written anew if it lacks more than this part of its lines, so that the bytes sent stay few."""


class Manifest(Record):
    """A file of JSON lines: first the job, then a line for each shard on the disk.

    A line has the name of the shard, the names of its results in their order, and the errors of failed inputs. A later run
    computes shards with failed inputs again. The last line of a shard counts; a truncated last line does not.
    """

    def __init__(self, output: BatchOutput, job: Mapping[str, Any], tasks: SweepTasks) -> None:
        assert output.shards is not None
        # The names of all inputs and the sizes of shards decide which shard has which inputs.
        names = hashlib.blake2b(digest_size=16)
        for task in tasks:
            # The zero keeps names apart: `a`, `bc` must not look like `ab`, `c`.
            names.update(f"{task.name}\0".encode("utf-8", "surrogateescape"))
        job = {**job, "inputs": names.hexdigest(), "shard_size": _shard_size(output, tasks)}
        super().__init__(f"{os.path.splitext(output.shards)[0]}.manifest.jsonl", output, job)
        self._missing = {shard: len(tasks.of_shard(number)) for number, shard in enumerate(tasks.shards)}
        self._shards = tasks.shards
        self._names: dict[str, list[str]] = {}
        self._errors: dict[str, dict[str, str]] = {}
        self._size, self._unwritten = 0, b""

    def begin(self) -> None:
        """Write the file for a new job; drop a truncated last line."""
        super().begin()
        # A killed job may leave half a line. The next line would continue it, and the file would count as damaged.
        data = bytes(read_regular(self._path))
        if not data.endswith(b"\n"):
            with atomic_file(self._path) as file:
                file.write(data[: data.rfind(b"\n") + 1])

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes, and write a line for each complete shard. NotFoundError if the shard is missing."""
        lines = []  # written together: each flush waits for the disk
        for outcome in outcomes:
            shard = _shard(outcome.task)
            if outcome.error is None:
                self._names.setdefault(shard, []).append(outcome.task.name)
            else:
                self._errors.setdefault(shard, {})[outcome.task.name] = outcome.error
            self._missing[shard] -= 1
            if not self._missing[shard]:
                lines.append(self._line(shard))
        if lines:
            self._add(b"".join(lines))

    def _add(self, lines: bytes) -> None:
        if places.is_address(self._path):
            self._unwritten += lines
            # The sum of the rewritten sizes then grows as a geometric series: all in all at most nine times the last size is
            # sent, however many shards there are.
            if len(self._unwritten) * _PART > self._size:
                self._rewrite()
            return
        with file_errors(self._path), open(self._path, "ab") as file:
            file.write(lines)
            flush(file)

    def _rewrite(self) -> None:
        """Write the whole file with the lines that it lacks: nobody can append to a file in a store."""
        data = bytes(read_regular(self._path)) + self._unwritten
        with atomic_file(self._path) as file:
            file.write(data)
        self._size, self._unwritten = len(data), b""

    def end(self, tasks: Sequence[SweepTask]) -> None:
        """Write the lines that wait, and remove the file of a new job without results."""
        if self._unwritten:
            self._rewrite()
        super().end(tasks)

    def _line(self, shard: str) -> bytes:
        names, errors = self._names.pop(shard, []), self._errors.pop(shard, {})
        # On a cluster whose workers write to a folder of their own, each would report success.
        if names and not places.exists(shard):  # a shard without a result has no file
            hint = Hint(option("output"), " must be in a folder shared by this machine and all workers")
            raise NotFoundError(f"a worker wrote the shard '{shard}', but this machine does not have the file", hint=hint)
        entry = {_SHARD: os.path.basename(shard), _RESULTS: names} | ({_FAILED: errors} if errors else {})
        return f"{json.dumps(entry)}\n".encode()

    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        return iter(self._shards)

    def _left(self, tasks: SweepTasks) -> Sequence[SweepTask]:
        done = {entry[_SHARD]: _FAILED not in entry for entry in self._lines(bytes(read_regular(self._path)))[1:]}
        ranges = {number: tasks.of_shard(number) for number in range(len(tasks.shards))}
        written = WrittenFiles(self._output)
        return tasks.in_shards(
            number for number, shard in enumerate(tasks.shards)
            if not done.get(os.path.basename(shard))
            or not written.is_there(shard, tasks[ranges[number].start : ranges[number].stop])
        )  # fmt: skip

    def _head(self) -> bytes:
        return f"{json.dumps(self._job, sort_keys=True)}\n".encode()

    def _parsed(self, data: bytes) -> Any:
        return self._lines(data)[0]

    @staticmethod
    def _lines(data: bytes) -> list[dict[str, Any]]:
        """The whole lines; ValueError if they are no manifest's."""
        lines = [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
        if not lines or not all(isinstance(line, dict) for line in lines) or not all(_SHARD in line for line in lines[1:]):
            raise ValueError("no manifest")
        return lines


def _shard_size(output: BatchOutput, tasks: SweepTasks) -> int | str:
    """Return the number of results in a shard, or a checksum of the ends of shards that are groups of rows."""
    if output.shard_size is not None:
        return output.shard_size
    ends = [tasks.of_shard(number).stop for number in range(len(tasks.shards))]
    if ends == tasks.shard_ends(SHARD_SIZE):
        return SHARD_SIZE
    return f"groups of rows {hashlib.blake2b(repr(ends).encode(), digest_size=8).hexdigest()}"


def _shard(task: SweepTask) -> str:
    assert task.shard is not None
    return task.shard
