"""The manifest of the shards of `tfg run --each`: the job, and the names of the results in each finished shard."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...core.support.atomic import atomic_file, file_errors, flush
from ...core.support.errors import NotFoundError
from ...core.support.hints import Hint, option
from ..codecs.source import read_regular
from .each_recipe import BatchOutput
from .each_stamp import Record, is_there
from .each_tasks import Outcome, SweepTask, SweepTasks

_SHARD: Final = "shard"
_RESULTS: Final = "results"
_FAILED: Final = "failed"


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
        job = {**job, "inputs": names.hexdigest(), "shard_size": output.shard_size}
        super().__init__(manifest_path(output.shards), output, job)
        self._missing = {shard: len(tasks.of_shard(number)) for number, shard in enumerate(tasks.shards)}
        self._shards = tasks.shards
        self._names: dict[str, list[str]] = {}
        self._errors: dict[str, dict[str, str]] = {}

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
            with file_errors(self._path), open(self._path, "ab") as file:
                file.write(b"".join(lines))
                flush(file)

    def _line(self, shard: str) -> bytes:
        names, errors = self._names.pop(shard, []), self._errors.pop(shard, {})
        if names and not os.path.exists(shard):  # a shard without a result has no file
            hint = Hint(option("output"), " must be in a folder shared by this machine and all workers")
            raise NotFoundError(f"a worker wrote the shard '{shard}', but this machine does not have the file", hint=hint)
        entry = {_SHARD: os.path.basename(shard), _RESULTS: names} | ({_FAILED: errors} if errors else {})
        return f"{json.dumps(entry)}\n".encode()

    def _results(self, tasks: Sequence[SweepTask]) -> Iterator[str]:
        return iter(self._shards)

    def _left(self, tasks: SweepTasks) -> Sequence[SweepTask]:
        done = {entry[_SHARD]: _FAILED not in entry for entry in self._lines(bytes(read_regular(self._path)))[1:]}
        places = {number: tasks.of_shard(number) for number in range(len(tasks.shards))}
        return tasks.in_shards(
            number for number, shard in enumerate(tasks.shards)
            if not (done.get(os.path.basename(shard)) and is_there(shard, tasks[places[number].start : places[number].stop]))
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


def _shard(task: SweepTask) -> str:
    assert task.shard is not None
    return task.shard
