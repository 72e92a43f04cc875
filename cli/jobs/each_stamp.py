"""The stamp of a results folder of `tfg run --each`: which job its results are of, so that another job's are never taken."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError
from ...formats.checkpoint import open_checkpoint
from ...formats.codecs.source import read_regular
from ..options import GraphReader
from ..sessions import SessionOptions
from .each_worker import digest_of
from .run_job import RunOptions

NAME: Final = ".tfg-job"
_MANY: Final = frozenset(
    ("each", "sweep", "out_dir", "keep_going", "overwrite", "quiet", "save_state", "save_model", "out", "cache_stats")
)
"""The options of a run that change no result of one input."""
_SEED: Final = "seed"
_NEVER: Final = 1 << 63
"""Nanoseconds after which a result of a job that has no stamp yet would have to be made."""


class Stamp:
    """What decides the results of a job, and the file that says so in the folder of its results.

    A result counts as there where it is younger than the stamp and than its input. So a job that starts a folder anew need
    not remove the results of the job before, and may be killed at any moment.
    """

    def __init__(self, folder: str, path: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> None:
        self._folder = folder
        self._path = os.path.join(folder, NAME)
        self._job = dict(_job(path, reader, session, options))
        self._since = _NEVER
        self._unwritten: dict[str, Any] | None = None

    def adopt_seed(self, seed: int | None) -> int | None:
        """Return the seed to run with: the one given, or the one that the folder's job drew where none is given."""
        return self._read().get(_SEED) if seed is None and os.path.exists(self._path) else seed

    def open(self, seed: int | None, results: Iterator[str], overwrite: bool) -> None:
        """Begin or resume the job; InvalidArgumentError where the folder has results of another one."""
        job = {**self._job, _SEED: seed}
        known = self._read() if os.path.exists(self._path) and not overwrite else None
        if known is None and not overwrite and any(map(os.path.exists, results)):
            raise self._refusal("does not say which job its results are of")
        if known is not None and known != job:
            unlike = sorted(key for key in {*known, *job} if known.get(key) != job.get(key))
            raise self._refusal(f"has the results of another job: {', '.join(unlike)} differ{'s' * (len(unlike) == 1)}")
        self._unwritten = job if known is None else None
        self._since = _NEVER if self._unwritten else os.stat(self._path).st_mtime_ns

    def write(self) -> None:
        """Put the stamp into the folder, before the first result of a job that begins."""
        if self._unwritten is not None:
            with atomic_file(self._path) as file:
                file.write(json.dumps(self._unwritten, indent=1, sort_keys=True).encode())
            self._unwritten = None

    def has(self, result: str, source: str | None) -> bool:
        """True where a result is there, of this job and younger than the file that it was made of."""
        try:
            made = os.stat(result).st_mtime_ns
            return made >= max(self._since, os.stat(source).st_mtime_ns if source is not None else 0)
        except FileNotFoundError:
            return False

    def _read(self) -> dict[str, Any]:
        try:
            job = json.loads(bytes(read_regular(self._path)))
        except (ValueError, RecursionError):
            raise DataLossError(f"'{self._path}' is damaged", hint="--overwrite starts the folder anew") from None
        return job if isinstance(job, dict) else {}

    def _refusal(self, problem: str) -> InvalidArgumentError:
        hint = "give another --out-dir, or run all inputs again with --overwrite"
        return InvalidArgumentError(f"'{self._folder}' {problem}", hint=hint)


def _job(path: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> Iterator[tuple[str, Any]]:
    """Yield what decides the results, by the name of the option; of files their contents."""
    yield "graph", _digest(path)
    for name in ("map_op", "op_library", "tags", "function"):
        yield name, _plain(getattr(reader, name))
    yield "libraries", [_digest(library) for library in reader.op_library if os.path.isfile(library)]
    for name in options.__dataclass_fields__:
        if name not in _MANY:
            yield name, _plain(getattr(options, name))
    given = (*options.feeds, *options.assign, *options.assign_add, *options.assign_sub)
    yield "files", [_digest(text[1:]) for _, text in given if text.startswith("@")]
    for name in ("init", "init_op", "signature", "optimize"):
        yield name, getattr(session, name)
    yield "state", session.state and _digest(_state_file(session.state))
    yield "engine", None if session.engine is None else f"{session.engine.engine.name}: {session.engine.engine.note}"


def _plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    return json.loads(json.dumps(value))


def _state_file(state: str) -> str:
    """The archive, or the prefix of the checkpoint that a folder's or a file's name stands for."""
    return state if os.path.isfile(state) else open_checkpoint(state).prefix


def _digest(path: str) -> str:
    """A checksum of a graph, a state or a feed. The index of a checkpoint has the checksums of all its tensors."""
    head, key = path.partition(".npz:")[::2]
    files = [head + ".npz"] if key else [path, f"{path}.index", os.path.join(path, "variables", "variables.index")]
    found = hashlib.blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16)
    for file in files:
        with file_errors(file):
            found.update((digest_of(file) or "").encode())
    return found.hexdigest()
