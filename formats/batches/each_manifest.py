"""The manifest of the shards of `tfg run --each`: the job, and the names of the results in each finished shard."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors, flush
from ...core.support.errors import NotFoundError
from ...core.support.places import exists, is_address
from ..codecs.source import read_regular
from .each_recipe import BatchOutput
from .each_stamp import Record, WrittenFiles
from .each_tasks import SHARD_SIZE, Outcome, SweepTask, SweepTasks

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
        data = bytes(read_regular(self._path))
        if not data.endswith(b"\n"):
            with atomic_file(self._path) as file:
                file.write(data[: data.rfind(b"\n") + 1])

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes, and write a line for each complete shard. NotFoundError if the shard is missing."""
        lines = []
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
        if names and not exists(shard):  # a shard without a result has no file
            hint = "--output must be in a folder shared by this machine and all workers"
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
