"""The files that results of `tfg run --each` go to: written while the next input computes, synced many at a time."""

from __future__ import annotations

import abc
import concurrent.futures
import contextlib
import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final, NamedTuple

from ...core.codecs.tfrecord import encode_record
from ...core.runtime.session.runner import StepResult
from ...core.support.atomic import file_errors
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import ARROW, CSV, NPZ, PARQUET, SHARDS, TFRECORD, FileFormat, format_of
from ...core.support.file_groups import FileGroup, StagedFile, file_group
from ...core.support.json_documents import json_line
from ...core.types.tensors import Tensor
from ..api.step_results import fetched_tensors, step_arrays, steps_csv
from ..codecs.arrow_table import ArrowWriter
from ..codecs.numpy_files import NpzWriter
from ..codecs.tensor_proto import encode_tensor
from ..protos.example_pb2 import Example
from .each_tasks import BatchOutput, Outcome, SweepTask

_SYNC_SECONDS: Final = 0.25
"""Seconds that written files wait for further files, so that all share a sync."""


class SweepReport(NamedTuple):
    """The outcomes that became known, and how many tasks were computed so far, their results on the disk or not."""

    outcomes: Sequence[Outcome]
    computed: int


class Results(abc.ABC):
    """A writer of results that reports the outcome of a task once the result is on the disk.

    A thread waits for the disk: a single sync covers all files written since the last sync began.
    """

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor) -> None:
        self._group = group
        self._disk = disk
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._syncing: concurrent.futures.Future[None] | None = None
        self._is_syncing = False
        self._written: list[tuple[StagedFile | None, Sequence[Outcome]]] = []
        self._known: list[Outcome] = []

    @abc.abstractmethod
    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the results of tasks that ran together."""

    @abc.abstractmethod
    def end_batch(self) -> None:
        """End a batch of tasks that were given to a worker together."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the file of a batch that was not ended."""

    def known(self) -> list[Outcome]:
        """Return the outcomes that became known since the last call, in the order of their tasks."""
        if self._syncing is not None and self._syncing.done():
            self._syncing.result()  # raises the error of the disk
        with self._lock:
            known, self._known = self._known, []
        return known

    def finish(self) -> list[Outcome]:
        """Wait for the disk; return the other outcomes of all that was written and of all batches that were ended."""
        self._hurry.set()
        if self._syncing is not None:
            self._syncing.result()
        self._hurry.clear()
        self._group.finish()
        return self.known()

    def publish(self, file: StagedFile | None, outcomes: Sequence[Outcome]) -> None:
        """Schedule the sync and renaming of a closed file; its outcomes become known after the sync."""
        with self._lock:
            self._written.append((file, outcomes))
            # One sync runs at a time, because a second would wait for the disk without covering other files.
            was_syncing, self._is_syncing = self._is_syncing, True
        if not was_syncing:
            self._syncing = self._disk.submit(self._sync)

    def _sync(self) -> None:
        while True:
            # A sync takes about as long for one file as for many.
            self._hurry.wait(_SYNC_SECONDS)
            with self._lock:
                written, self._written = self._written, []
                # Decided under the lock of `publish`: a file that comes later finds no sync under way, and starts one.
                self._is_syncing = bool(written)
            if not written:
                return
            # Files are renamed only after the sync, so that the file of a result is complete even if the machine loses its
            # power.
            self._group.publish([file for file, _ in written if file is not None])
            with self._lock:
                self._known += [outcome for _, outcomes in written for outcome in outcomes]


class ResultFiles(Results):
    """Writes a file for each result."""

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor, output: BatchOutput) -> None:
        super().__init__(group, disk)
        self._output = output

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Write the result of each task; its outcome becomes known after the next sync."""
        for outcome in outcomes:
            staged = None
            if outcome.error is None:
                path = result_path(self._output, outcome.task)
                file, staged = self._group.create(path)
                with file_errors(path), file:
                    file.write(outcome.result)
            self.publish(staged, [_without_result(outcome)])

    def end_batch(self) -> None:
        """Do nothing: each result has a separate file."""

    def close(self) -> None:
        """Do nothing: no file is open."""


class ResultShards(Results):
    """A writer that adds the results of each batch to the shard of its tasks."""

    def __init__(self, group: FileGroup, disk: concurrent.futures.Executor) -> None:
        super().__init__(group, disk)
        self._shard: ResultShard | None = None
        self._outcomes: list[Outcome] = []

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Add the results of tasks to their shard."""
        shard = outcomes[0].task.shard
        assert shard is not None
        if self._shard is None:
            self._shard = ResultShard(*self._group.create(shard))
        for outcome in outcomes:
            if outcome.error is None and outcome.result is not None:
                self._shard.add(outcome.result)
        self._outcomes += map(_without_result, outcomes)

    def end_batch(self) -> None:
        """Close the shard; the outcomes of its tasks become known after the next sync."""
        if self._shard is not None:
            self.publish(self._shard.close(), self._outcomes)
            self._shard, self._outcomes = None, []

    def close(self) -> None:
        """Close the shard of a batch that was not ended."""
        if self._shard is not None:
            self._shard.close()


@contextlib.contextmanager
def writing_results(output: BatchOutput) -> Iterator[Results]:
    """Yield the writer of a job's results for this process; the folder must exist."""
    with file_group(output.place) as group, concurrent.futures.ThreadPoolExecutor(1) as disk:
        results = ResultFiles(group, disk, output) if output.shards is None else ResultShards(group, disk)
        with contextlib.closing(results):
            yield results


def result_path(output: BatchOutput, task: SweepTask) -> str:
    """The file of a result."""
    return os.path.join(output.place, task.name + output.ending)


def reports(
    work: Callable[[Sequence[SweepTask]], Iterable[Sequence[Outcome]]], results: Results,
    batches: Iterable[Sequence[SweepTask]], keep_going: bool,
) -> Iterator[SweepReport]:  # fmt: skip
    """Run batches of tasks in order and write their results; stop at a failure unless `keep_going`."""
    computed = 0
    for batch in batches:
        for outcomes in work(batch):
            results.write(outcomes)
            computed += len(outcomes)
            failed = None if keep_going else next((outcome for outcome in outcomes if outcome.error is not None), None)
            if failed is not None:
                # The failure comes last, and the outcomes before it are on the disk: a resumed job continues after them.
                yield SweepReport([*(known for known in results.finish() if known.error is None), failed], computed)
                return
            yield SweepReport(results.known(), computed)
        results.end_batch()
    yield SweepReport(results.finish(), computed)


def _without_result(outcome: Outcome) -> Outcome:
    return Outcome(outcome.task, error=outcome.error, cpu=outcome.cpu)


# Shards: files of many results of `tfg run --each`, called `results-00003-of-00010.npz`.

NAME = "name"
"""The key of a result's name in JSON lines and Examples."""
COLUMNS = (PARQUET, ARROW)
"""The formats of shards with a column for each tensor."""


def shard_path(out: str, number: int, count: int) -> str:
    """Return the path of a shard from its number, from 0, and the number of shards."""
    stem, ending = os.path.splitext(out)
    return f"{stem}-{number:05d}-of-{count:05d}{ending}"


# Asked for each result, of one shard or a few at a time.
@functools.lru_cache(maxsize=8)
def kind_of(shard: str) -> FileFormat:
    """Return the format of a shard."""
    return format_of(shard, SHARDS)


def shard_entry(name: str, steps: Sequence[StepResult], shard: str, keys: Any = None) -> Any:
    """Return a result in the form for `Shard.add`: named tensors for .npz, bytes for .tfrecord and .jsonl, the header and
    the rows for .csv, with the name of the result in the first column, and names, columns and `keys` for Parquet and Arrow.
    """
    kind = kind_of(shard)
    if kind in COLUMNS:
        # A scalar is a row; arrays of several heights are a cell each, in a single row.
        columns = {key: array if array.ndim else array[None] for key, array in step_arrays(steps).items()}
        heights = {len(array) for array in columns.values()}
        if len(heights) > 1:
            columns, heights = {key: array[None] for key, array in columns.items()}, {1}
        height = heights.pop() if heights else 0
        return [name] * height, columns, keys if height == 1 else None
    if kind is NPZ:
        return {f"{name}/{tensor}": value for tensor, value in fetched_tensors(steps).items()}
    if kind is TFRECORD:
        return encode_record(_example(name, fetched_tensors(steps)))
    if kind is CSV:
        # The header travels along, as only the writer of the shard knows whether a result is the first.
        header, _, rows = steps_csv(steps, itertools.repeat(name)).partition(b"\n")
        return header + b"\n", rows
    return json_line("tfg.run.result/1", {NAME: name, "steps": steps})


def table_entry(names: Sequence[str], steps: Sequence[StepResult], count: int, shard: str, keys: Any = None) -> Any:
    """Return the first `count` rows of results in the form for a shard of a table, with the name of a result for each row."""
    if kind_of(shard) in COLUMNS:
        return names, {key: array[:count] for key, array in step_arrays(steps).items()}, keys
    header, _, rows = steps_csv(steps, names, count).partition(b"\n")
    return header + b"\n", rows


def _example(name: str, tensors: Mapping[str, Tensor]) -> bytes:
    """Return a tf.Example with the name, and with each tensor serialized as by `tf.io.serialize_tensor`."""
    # The name of the result has this key in each Example.
    if NAME in tensors:
        raise InvalidArgumentError(f"a shard of Examples cannot hold a tensor named '{NAME}'", hint="use .npz or .jsonl")
    example = Example()
    example.features.feature[NAME].bytes_list.value.append(os.fsencode(name))
    for key, tensor in tensors.items():
        example.features.feature[key].bytes_list.value.append(encode_tensor(tensor).SerializeToString())
    return example.SerializeToString(deterministic=True)


class ResultShard:
    """A shard that is being written."""

    def __init__(self, file: IO[bytes], staged: StagedFile) -> None:
        self._file = file
        self._staged = staged
        kind = kind_of(staged.path)
        self._archive = NpzWriter(file) if kind is NPZ else None
        self._is_table = kind is CSV
        self._columns = ArrowWriter(file, kind is PARQUET) if kind in COLUMNS else None
        self._header: bytes | None = None

    def add(self, entry: Any) -> None:
        """Write a result in the form of `shard_entry`."""
        with file_errors(self._staged.path):
            if self._columns is not None:
                self._columns.add(*entry)
            elif self._archive is not None:
                for name, tensor in entry.items():
                    self._archive.add(name, tensor)
            else:
                self._file.write(self._row_bytes(*entry) if self._is_table else entry)

    def _row_bytes(self, header: bytes, rows: bytes) -> bytes:
        """Return the rows of a result, behind the header at the beginning of a shard."""
        is_first, self._header = self._header is None, self._header or header
        # A table has one header, at its beginning.
        if header != self._header:
            raise InvalidArgumentError("a result has other columns than the results before", hint="use .npz or .jsonl")
        return header + rows if is_first else rows

    def close(self) -> StagedFile:
        """End the file."""
        with file_errors(self._staged.path):
            for writer in (self._archive, self._columns):
                if writer is not None:
                    writer.close()
            self._file.close()
        return self._staged
