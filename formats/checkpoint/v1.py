"""Checkpoints of version 1: a table per shard, with a description of all tensors and a TensorProto for each slice."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.runtime.state.file_access import OPEN, FileGate
from ...core.support.atomic import file_errors, replacing
from ...core.support.errors import DataLossError
from ...core.support.regular_files import PositionedFile
from ...core.types import dtypes
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..codecs.scan import parse
from ..codecs.tensor_proto import decode_static_shape, decode_tensor, encode_static_shape, encode_tensor
from ..codecs.tensor_values import append_values, decode_elements
from ..protos.checkpoint_pb2 import SavedSlice, SavedTensorSlices
from ..protos.graph_pb2 import TensorProto
from .reader import CheckpointReader, StoredPart, StoredTensor
from .sorted_table import SortedTable, write_table
from .tensor_slices import FULL, Extents, SliceSpec, decode_extents, encode_extents, slice_key

_META_KEY = b""
_VERSION = 1


def open_v1(prefix: str, paths: Sequence[str], files: FileGate = OPEN) -> CheckpointReader:
    """Open the tables of a checkpoint."""
    tensors: dict[str, StoredTensor] = {}
    for path in paths:
        with file_errors(path), files.open(path) as file:
            data = PositionedFile(file)
        with _table_errors(path):
            _add_tensors(tensors, SortedTable(data), path)
    return CheckpointReader(
        prefix, 1, tensors, lambda: {name: (tensor.dtype, tensor.shape) for name, tensor in tensors.items()}
    )


@contextlib.contextmanager
def _table_errors(path: str) -> Iterator[None]:
    """Add the file's name to errors of a damaged table."""
    try:
        yield
    except DataLossError as error:
        raise DataLossError(f"checkpoint '{path}': {error.message}") from None


def _add_tensors(tensors: dict[str, StoredTensor], table: SortedTable, path: str) -> None:
    described = table.get(_META_KEY)
    if described is None:
        raise DataLossError("it lacks the description of its tensors")
    for meta in parse(SavedTensorSlices, described).meta.tensor:
        dtype, shape = dtypes.from_number(meta.type), decode_static_shape(meta.shape)
        parts = tuple(_part(meta.name, dtype, shape, decode_extents(proto), table, path) for proto in meta.slice)
        existing = tensors.get(meta.name)
        if existing is not None:
            parts = existing.parts + parts
        tensors[meta.name] = StoredTensor(meta.name, dtype, shape, functools.partial(tuple, parts))


def _part(name: str, dtype: DType, shape: tuple[int, ...], extents: Extents, table: SortedTable, path: str) -> StoredPart:
    part_shape = SliceSpec(shape, extents).shape

    def read() -> np.ndarray[Any, Any]:
        with _table_errors(path):
            encoded = table.get(slice_key(name, extents))
            if encoded is None:
                raise DataLossError(f"it lists a missing slice of tensor '{name}'")
            data: SavedSlice = parse(SavedTensorSlices, encoded).data
            if data.name != name:
                raise DataLossError(f"a slice of tensor '{name}' carries the name '{data.name}'")
            return decode_elements(data.data, data.data.tensor_content, dtype, part_shape, decode_tensor)

    return StoredPart(extents, read, lambda: None)


def write_v1(
    path: str, tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]], files: FileGate = OPEN
) -> None:
    """Write (name, full shape, extents of the slice or None, value) as a single table, whole or not at all."""
    described = SavedTensorSlices()
    described.meta.versions.producer = _VERSION
    metas = {}
    items: dict[bytes, bytes] = {}
    for name, full_shape, extents, tensor in tensors:
        extents = (FULL,) * len(full_shape) if extents is None else extents
        if name not in metas:
            shape = encode_static_shape(full_shape)
            metas[name] = described.meta.tensor.add(name=name, shape=shape, type=tensor.dtype.enum_name)
        metas[name].slice.append(encode_extents(extents))
        items[slice_key(name, extents)] = _encode_slice(name, extents, tensor)
    items[_META_KEY] = described.SerializeToString(deterministic=True)
    with file_errors(path), replacing(files.to_replace(path)) as file:
        write_table(file, sorted(items.items()))


def _encode_slice(name: str, extents: Extents, tensor: Tensor) -> bytes:
    """Encode a slice with typed lists: TensorFlow reads the elements from the typed lists only."""
    values = TensorProto()
    append_values(values, tensor.dtype, tensor.read().ravel(), encode_tensor)
    message = SavedTensorSlices(data=SavedSlice(name=name, slice=encode_extents(extents), data=values))
    return message.SerializeToString(deterministic=True)
