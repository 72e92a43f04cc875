"""The stamp of a results folder of `tfg run --each`: the job of the results, so that jobs never mix results."""

from __future__ import annotations

import abc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors, flush
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...core.support.escaping import masked
from ...core.support.hints import Hint, option
from ...core.support.places import exists, is_address, is_file, modified, remove, times_below
from ...core.types.tensors import Tensor
from ..api.graph_reading import GraphReading
from ..api.names import Given
from ..api.run_plan import RunRequest
from ..checkpoint.store import open_checkpoint
from ..codecs.source import read_regular
from ..codecs.tensor_proto import encode_tensor
from .each_results import result_path
from .each_tasks import SHARD_SIZE, BatchOutput, Outcome, Recipe, SweepTask, SweepTasks, digest_of, digest_of_bytes

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
        return self._read().get(_SEED) if seed is None and exists(self._path) else seed

    def open(self, seed: int | None, tasks: SweepTasks) -> Sequence[SweepTask]:
        """Begin or resume the job: the tasks that are left. InvalidArgumentError if there are results of another job."""
        self._job[_SEED] = seed
        self._was_there = exists(self._path)
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
            remove(self._path)

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
        since, written = modified(self._path), WrittenFiles(self._output)
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
        self._listed = times_below(output.place, depth) if is_address(output.place) else None
        self._inputs: dict[str, int | None] = {}

    def is_there(self, result: str, tasks: Sequence[SweepTask], since: int = 0) -> bool:
        """Return True if a file is not older than the inputs of its tasks, nor than `since`."""
        made = self.time(result)
        if made is None or made < since:
            return False
        times = [self._input(task.item.path) for task in tasks if task.item is not None]
        return all(time is not None and made >= time for time in times)

    def time(self, result: str) -> int | None:
        """Return the time of a result; None where there is none."""
        return _time(result) if self._listed is None else self._listed.get(result)

    def _input(self, path: str) -> int | None:
        if path not in self._inputs:
            self._inputs[path] = _time(path)
        return self._inputs[path]


def _time(path: str) -> int | None:
    with file_errors(path):
        try:
            return modified(path)
        except FileNotFoundError:
            return None


def job_facts(recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield the facts that determine the results, by the name of the option; for files a checksum of the contents."""
    yield "graph", _digest_of_graph(recipe)
    yield from _facts(recipe.reading, GraphReading._fields)
    yield "libraries", [_digest(library) for library in recipe.reading.op_library if is_file(library)]
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
    yield "state", session.state and _digest(_state_file(session.state))
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


def _state_file(state: str) -> str:
    """The archive, or the prefix of the checkpoint that a folder's or a file's name stands for."""
    return state if is_file(state) else open_checkpoint(state).prefix


def _digest_of_graph(recipe: Recipe) -> str:
    """Return a checksum of a graph's file or bytes, and of the variables of a SavedModel."""
    if recipe.path is not None:
        return _digest(recipe.path)
    prefix = recipe.meta.variables_prefix if recipe.meta is not None else None
    return f"{recipe.digest}{_digest(prefix) if prefix is not None else ''}"


def _digest(path: str) -> str:
    """Return a checksum of a graph, a state or a feed. The index of a checkpoint holds the checksums of all its tensors."""
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
"""A file in a store is written anew where it lacks more than this part of its lines, so that the bytes sent stay few."""


def manifest_path(out: str) -> str:
    """The manifest beside the shards of `out`."""
    return f"{os.path.splitext(out)[0]}.manifest.jsonl"


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
            names.update(f"{task.name}\0".encode("utf-8", "surrogateescape"))
        job = {**job, "inputs": names.hexdigest(), "shard_size": _shard_size(output, tasks)}
        super().__init__(manifest_path(output.shards), output, job)
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
        if is_address(self._path):
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
        if names and not exists(shard):  # a shard without a result has no file
            hint = Hint(option("output"), " must be in a folder shared by this machine and all workers")
            raise NotFoundError(f"a worker wrote the shard '{shard}', but this machine does not have the file", hint=hint)
        entry = {_SHARD: os.path.basename(shard), _RESULTS: names} | ({_FAILED: errors} if errors else {})
        return f"{json.dumps(entry)}\n".encode()

    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        return iter(self._shards)

    def _left(self, tasks: SweepTasks) -> Sequence[SweepTask]:
        done = {entry[_SHARD]: _FAILED not in entry for entry in self._lines(bytes(read_regular(self._path)))[1:]}
        places = {number: tasks.of_shard(number) for number in range(len(tasks.shards))}
        written = WrittenFiles(self._output)
        return tasks.in_shards(
            number for number, shard in enumerate(tasks.shards)
            if not done.get(os.path.basename(shard))
            or not written.is_there(shard, tasks[places[number].start : places[number].stop])
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
