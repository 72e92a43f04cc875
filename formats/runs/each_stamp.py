"""The stamp of a results folder of `tfg run --each`: the job of the results, so that jobs never mix results."""

from __future__ import annotations

import abc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError
from ...core.support.hints import Hint, option
from ...core.types.tensors import Tensor
from ..checkpoint import open_checkpoint
from ..codecs.source import read_regular
from ..codecs.tensor_proto import encode_tensor
from .each_recipe import BatchOutput, Recipe, digest_of, digest_of_bytes
from .each_results import result_path
from .each_tasks import Outcome, SweepTask, SweepTasks
from .graph_reading import GraphReading
from .names import Given
from .run_plan import RunRequest

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
        return self._read().get(_SEED) if seed is None and os.path.exists(self._path) else seed

    def open(self, seed: int | None, tasks: SweepTasks) -> Sequence[SweepTask]:
        """Begin or resume the job: the tasks that are left. InvalidArgumentError if there are results of another job."""
        self._job[_SEED] = seed
        self._was_there = os.path.exists(self._path)
        known = self._read() if self._was_there and not self._output.overwrite else None
        if known is None and not self._output.overwrite and any(map(os.path.exists, self._results(tasks))):
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
        if self._is_new and not self._was_there and not any(map(os.path.exists, self._results(tasks))):
            os.unlink(self._path)

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
        since = os.stat(self._path).st_mtime_ns
        return [task for task in tasks if not is_there(result_path(self._output, task), [task], since)]

    def _head(self) -> bytes:
        return json.dumps(self._job, indent=1, sort_keys=True).encode()

    def _parsed(self, data: bytes) -> Any:
        return json.loads(data)


def is_there(result: str, tasks: Sequence[SweepTask], since: int = 0) -> bool:
    """Return True if a file is not older than the inputs of its tasks, nor than `since` in nanoseconds."""
    with file_errors(result):
        try:
            made = os.stat(result).st_mtime_ns
            sources = {task.item.path for task in tasks if task.item is not None}
            return made >= max([since, *(os.stat(source).st_mtime_ns for source in sources)])
        except FileNotFoundError:
            return False


def job_facts(recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield the facts that determine the results, by the name of the option; for files a checksum of the contents."""
    yield "graph", _digest_of_graph(recipe)
    yield from _facts(recipe.reading, GraphReading._fields)
    yield "libraries", [_digest(library) for library in recipe.reading.op_library if os.path.isfile(library)]
    yield from _facts(recipe.request, RunRequest.__dataclass_fields__)
    yield "format_", recipe.output.format
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
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _digest_of_value(value: Any) -> str:
    tensor = value if isinstance(value, Tensor) else Tensor.from_numpy(value)
    return digest_of_bytes(encode_tensor(tensor).SerializeToString(deterministic=True))


def _state_file(state: str) -> str:
    """The archive, or the prefix of the checkpoint that a folder's or a file's name stands for."""
    return state if os.path.isfile(state) else open_checkpoint(state).prefix


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
