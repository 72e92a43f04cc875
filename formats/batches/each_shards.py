"""Shards: files of many results of `tfg run --each`, called `results-00003-of-00010.npz`."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ...core.codecs.tfrecord import encode_record
from ...core.runtime.session.runner import StepResult
from ...core.support.atomic import file_errors
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import ARROW, CSV, NPZ, PARQUET, SHARDS, TFRECORD, FileFormat, format_of
from ...core.support.file_groups import StagedFile
from ...core.support.json_documents import json_line
from ...core.types.tensors import Tensor
from ..api.step_files import fetched_tensors, step_arrays, steps_csv
from ..codecs.arrow_table import ArrowWriter
from ..codecs.npz import NpzWriter
from ..codecs.tensor_proto import encode_tensor
from ..protos.example_pb2 import Example

NAME = "name"
"""The key of a result's name in JSON lines and Examples."""
COLUMNS = (PARQUET, ARROW)
"""The formats of shards with a column for each tensor."""


def shard_path(out: str, number: int, count: int) -> str:
    """Return the path of a shard from its number, from 0, and the number of shards."""
    stem, ending = os.path.splitext(out)
    return f"{stem}-{number:05d}-of-{count:05d}{ending}"


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
            if self._is_table:
                self._file.write(self._row_bytes(*entry))
                return
            if self._columns is not None:
                self._columns.add(*entry)
                return
            if self._archive is None:
                self._file.write(entry)
                return
            for name, tensor in entry.items():
                self._archive.add(name, tensor)

    def _row_bytes(self, header: bytes, rows: bytes) -> bytes:
        """Return the rows of a result, behind the header at the beginning of a shard."""
        is_first, self._header = self._header is None, self._header or header
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
