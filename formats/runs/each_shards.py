"""Shards: files of many results of `tfg run --each`, called `results-00003-of-00010.npz`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ...core.codecs.tfrecord import encode_record
from ...core.runtime.session.runner import StepResult
from ...core.support.atomic import file_errors
from ...core.support.errors import InvalidArgumentError
from ...core.support.file_formats import CSV, NPZ, SHARDS, TFRECORD, format_of
from ...core.support.file_groups import StagedFile
from ...core.support.json_documents import json_line
from ...core.types.tensors import Tensor
from ..codecs.npz import NpzWriter
from ..codecs.tensor_proto import encode_tensor
from ..protos.example_pb2 import Example
from .step_files import fetched_tensors, steps_csv

NAME = "name"
"""The key of a result's name in JSON lines and Examples."""


def shard_path(out: str, number: int, count: int) -> str:
    """Return the path of a shard from its number, from 0, and the number of shards."""
    stem, ending = os.path.splitext(out)
    return f"{stem}-{number:05d}-of-{count:05d}{ending}"


def shard_entry(name: str, steps: Sequence[StepResult], shard: str) -> Any:
    """Return a result in the form for `Shard.add`: named tensors for .npz, bytes for .tfrecord and .jsonl, the header and
    the rows for .csv, with the name of the result in the first column.
    """
    kind = format_of(shard, SHARDS)
    if kind is NPZ:
        return {f"{name}/{tensor}": value for tensor, value in fetched_tensors(steps).items()}
    if kind is TFRECORD:
        return encode_record(_example(name, fetched_tensors(steps)))
    if kind is CSV:
        header, _, rows = steps_csv(steps, name).partition(b"\n")
        return header + b"\n", rows
    return json_line("tfg.run.result/1", {NAME: name, "steps": steps})


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
        kind = format_of(staged.path, SHARDS)
        self._archive = NpzWriter(file) if kind is NPZ else None
        self._is_table = kind is CSV
        self._header: bytes | None = None

    def add(self, entry: Any) -> None:
        """Write a result in the form of `shard_entry`."""
        with file_errors(self._staged.path):
            if self._is_table:
                self._file.write(self._row_bytes(*entry))
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
            if self._archive is not None:
                self._archive.close()
            self._file.close()
        return self._staged
