"""The stamp of a results folder of `tfg run --each`: the job of the results, so that jobs never mix results."""

from __future__ import annotations

import abc
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError
from ...formats.checkpoint import open_checkpoint
from ...formats.codecs.source import read_regular
from ..options import GraphReader
from ..sessions import SessionOptions
from .each_results import result_path, results_folder
from .each_worker import Outcome, SweepTask, digest_of
from .run_job import RunOptions

NAME: Final = ".tfg-job"
_MANY: Final = frozenset(
    ("each", "sweep", "out_dir", "out", "shard_size", "keep_going", "overwrite", "quiet")
    + ("save_state", "save_model", "cache_stats")
)
"""The options of a run without influence on the result of a single input."""
_SEED: Final = "seed"


class Record(abc.ABC):
    """The file that records the job of results. The values of `job` determine the results."""

    def __init__(self, path: str, options: RunOptions, job: Mapping[str, Any]) -> None:
        self._path = path
        self._options = options
        self._job = dict(job)
        self._is_new = False
        self._was_there = False

    def adopt_seed(self, seed: int | None) -> int | None:
        """Return the seed of the run: the user's seed, or else the seed that the job drew before."""
        return self._read().get(_SEED) if seed is None and os.path.exists(self._path) else seed

    def open(self, seed: int | None, tasks: Sequence[SweepTask]) -> list[SweepTask]:
        """Begin or resume the job: the tasks that are left. InvalidArgumentError if there are results of another job."""
        self._job[_SEED] = seed
        self._was_there = os.path.exists(self._path)
        known = self._read() if self._was_there and not self._options.overwrite else None
        if known is None and not self._options.overwrite and any(map(os.path.exists, self._results(tasks))):
            raise self._refusal("has results but no record of their job")
        if known is not None and known != self._job:
            unlike = sorted(key for key in {*known, *self._job} if known.get(key) != self._job.get(key))
            raise self._refusal(f"has the results of another job: {', '.join(unlike)} differ{'s' * (len(unlike) == 1)}")
        self._is_new = known is None
        return list(tasks) if self._is_new else self._left(tasks)

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
    def _left(self, tasks: Sequence[SweepTask]) -> list[SweepTask]:
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
            raise DataLossError(f"'{self._path}' is damaged", hint="restart the job with --overwrite") from None
        return job if isinstance(job, dict) else {}

    def _refusal(self, problem: str) -> InvalidArgumentError:
        option = "--output" if self._options.out is not None else "--out-dir"
        hint = f"choose another {option}, or run all inputs again with --overwrite"
        return InvalidArgumentError(f"'{self._options.out or self._options.out_dir}' {problem}", hint=hint)


class Stamp(Record):
    """The stamp of a folder with a separate file for each result.

    A result is complete if its file is newer than the stamp and its input. So a job can start over without removing old
    results, and may be killed at any moment.
    """

    def __init__(self, options: RunOptions, job: Mapping[str, Any]) -> None:
        super().__init__(os.path.join(results_folder(options), NAME), options, job)

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Do nothing: the file of a result is the record."""

    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        return (result_path(self._options, task) for task in tasks)

    def _left(self, tasks: Sequence[SweepTask]) -> list[SweepTask]:
        since = os.stat(self._path).st_mtime_ns
        return [task for task in tasks if not is_there(result_path(self._options, task), [task], since)]

    def _head(self) -> bytes:
        return json.dumps(self._job, indent=1, sort_keys=True).encode()

    def _parsed(self, data: bytes) -> Any:
        return json.loads(data)


def is_there(result: str, tasks: Sequence[SweepTask], since: int = 0) -> bool:
    """Return True if a file is not older than the inputs of its tasks, nor than `since` in nanoseconds."""
    try:
        made = os.stat(result).st_mtime_ns
        sources = {task.item.path for task in tasks if task.item is not None}
        return made >= max([since, *(os.stat(source).st_mtime_ns for source in sources)])
    except FileNotFoundError:
        return False


def job_facts(path: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> Iterator[tuple[str, Any]]:
    """Yield the facts that determine the results, by the name of the option; for files a checksum of the contents."""
    yield "graph", _digest(path)
    for name in ("map_op", "op_library", "tags", "function"):
        yield name, _plain(getattr(reader, name))
    yield "libraries", [_digest(library) for library in reader.op_library if os.path.isfile(library)]
    for name in options.__dataclass_fields__:
        if name not in _MANY:
            yield name, _plain(getattr(options, name))
    assignments = (*options.feeds, *options.assign, *options.assign_add, *options.assign_sub)
    yield "files", [_digest(text[1:]) for _, text in assignments if text.startswith("@")]
    for name in ("init", "init_op", "signature", "optimize"):
        yield name, getattr(session, name)
    yield "state", session.state and _digest(_state_file(session.state))
    yield "engine", session.engine and session.engine.note


def _plain(value: Any) -> Any:
    """Return a value in its JSON form."""
    return json.loads(json.dumps(value))


def _state_file(state: str) -> str:
    """The archive, or the prefix of the checkpoint that a folder's or a file's name stands for."""
    return state if os.path.isfile(state) else open_checkpoint(state).prefix


def _digest(path: str) -> str:
    """Return a checksum of a graph, a state or a feed. The index of a checkpoint holds the checksums of all its tensors."""
    head, key = path.partition(".npz:")[::2]
    files = [head + ".npz"] if key else [path, f"{path}.index", os.path.join(path, "variables", "variables.index")]
    digest = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16)
    for file in files:
        with file_errors(file):
            digest.update((digest_of(file) or "").encode())
    return digest.hexdigest()
