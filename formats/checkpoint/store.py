"""Checkpoints by prefix: reading detects the version, and a write appears whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.runtime.state.file_access import OPEN, FileAccess, FileGate, escape_pattern
from ...core.support.atomic import file_errors, replacing
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...core.support.gc_control import rare_collection
from ...core.support.hints import Hint, command
from ...core.support.keyed_cache import KeyedCache
from ...core.support.places import exists, is_file, is_folder, make_folders, stamp
from ...core.support.regular_files import PositionedFile
from ...core.types import dtypes
from ...core.types.arrays import Array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..codecs.scan import parse
from ..codecs.tensor_proto import decode_static_shape, decode_tensor, encode_static_shape, encode_tensor
from ..codecs.tensor_values import append_values, decode_elements
from ..protos.checkpoint_pb2 import SavedSlice, SavedTensorSlices
from ..protos.graph_pb2 import TensorProto
from .bundle import index_path, merge_bundles, open_bundle, write_bundle
from .reader import CheckpointReader, StoredPart, StoredTensor, check_disjoint
from .sorted_table import SortedTable, is_table, write_table
from .tensor_slices import FULL, Extents, SliceSpec, decode_extents, encode_extents, parse_extents, parse_spec, slice_key

_STATE_FILE = "checkpoint"
_MOST_READERS = 16
"""The number of checkpoints that a store keeps open; the large files of each are open."""
_Stamp = list[tuple[object, ...]]
_SHARD_SUFFIX = re.compile(r"\.data-\d{5}-of-\d{5}$")


class Partitioned:
    """A tensor of `shape` to be written in slices: (start, length) for each dimension, or text like `0,5:-`, and values."""

    def __init__(self, shape: Sequence[int], slices: Sequence[tuple[Extents | str, Any]]) -> None:
        self.shape = tuple(shape)
        self.slices = [(parse_extents(part) if isinstance(part, str) else part, value) for part, value in slices]


@rare_collection()
def open_checkpoint(path: str | os.PathLike[str], files: FileGate = OPEN) -> CheckpointReader:
    """Open the checkpoint at a prefix, in a folder with a `checkpoint` state file, or of a file that belongs to a
    checkpoint.

    NotFoundError for a missing checkpoint, DataLossError for a damaged checkpoint.
    """
    # People name what they see in the folder: a data file, an index, the folder itself.
    prefix = _SHARD_SUFFIX.sub("", os.fspath(path))
    if is_folder(files.to_read(prefix)):
        prefix = _latest(prefix, files)
    if prefix.endswith(".index") and exists(files.to_read(prefix)):
        prefix = prefix.removesuffix(".index")
    if exists(files.to_read(index_path(prefix))):
        return open_bundle(prefix, files)
    tables = _tables(prefix, files)
    if not tables:
        raise NotFoundError(f"checkpoint '{prefix}' does not exist", hint=_others(prefix, files))
    for table in tables:
        with file_errors(table), files.open(table) as file:
            if not is_table(PositionedFile(file)):
                hint = Hint(
                    "give the prefix, the part before .index; for a graph, ", command("explain", table), " lists the variables"
                )
                raise InvalidArgumentError(f"'{table}' is not a checkpoint", hint=hint)
    return open_v1(prefix, tables, files)


def checkpoint_beside(graph: str) -> str | None:
    """Return the prefix of the checkpoint that lies beside a graph's file: of the same name, the latest, or the only one."""
    # A Saver writes the graph beside the checkpoint, under the checkpoint's name.
    own = graph.removesuffix(".meta")
    if own != graph and exists(index_path(own)):
        return own
    folder = os.path.dirname(graph)
    try:
        latest = _latest(folder or os.curdir, OPEN)
    except NotFoundError:  # none, or several
        return None
    # The state file may have an absolute path of the machine that trained; beside the graph only the name counts.
    prefix = os.path.join(folder, os.path.basename(latest))
    return prefix if exists(index_path(prefix)) else None


def _tables(prefix: str, files: FileGate) -> list[str]:
    """Return the files of format V1 that a prefix or a pattern names."""
    if is_file(files.to_read(prefix)):
        return [prefix]
    return files.matching(prefix) or files.matching(f"{escape_pattern(prefix)}-?????-of-?????")


def _indexes(folder: str, files: FileGate) -> list[str]:
    """Return the tables of format V2 in a folder."""
    return files.matching(os.path.join(escape_pattern(folder), "*.index"))


def _latest(folder: str, files: FileGate) -> str:
    """Return the prefix of the checkpoint that a folder's state file names, of a SavedModel's, or of the only one there is."""
    state = os.path.join(folder, _STATE_FILE)
    if exists(files.to_read(state)):
        with file_errors(state), files.open(state) as file:
            # A CheckpointState as text, of which this field alone counts: protobuf's parser of text is slow to import.
            match = re.search(rb'^\s*model_checkpoint_path\s*:\s*"([^"]*)"', file.read(), re.MULTILINE)
        if match is not None:
            # An absolute path stays as it is; any other is relative to the folder.
            return os.path.join(folder, os.fsdecode(match[1]))
    indexes = _indexes(folder, files)
    if len(indexes) == 1:
        return indexes[0].removesuffix(".index")
    variables = os.path.join(folder, "variables", "variables")
    if exists(files.to_read(index_path(variables))):
        return variables
    names = ", ".join(os.path.basename(index).removesuffix(".index") for index in indexes[:5])
    raise NotFoundError(f"folder '{folder}' has no checkpoint", hint=f"the checkpoints are {names}" if names else None)


def _others(prefix: str, files: FileGate) -> str | None:
    """Return a hint with a checkpoint beside the missing checkpoint."""
    indexes = _indexes(os.path.dirname(prefix), files)
    return f"did you mean '{indexes[-1].removesuffix('.index')}'?" if indexes else None


def write_checkpoint(prefix: str | os.PathLike[str], tensors: Mapping[str, Any], version: int = 2) -> None:
    """Write arrays, Tensors or Partitioned tensors by name, in format V2 or V1.

    InvalidArgumentError for slices that overlap or do not fit, UnimplementedError for resources and variants.
    """
    items: list[tuple[str, tuple[int, ...], Extents | None, Tensor]] = []
    for name, value in tensors.items():
        if isinstance(value, Partitioned):
            # Readers put slices together in any order, so two that overlap would make the value a matter of chance.
            check_disjoint(name, value.shape, [extents for extents, _ in value.slices])
            items += [(name, value.shape, extents, _as_tensor(part)) for extents, part in value.slices]
        else:
            tensor = _as_tensor(value)
            items.append((name, tensor.shape, None, tensor))
    _write(os.fspath(prefix), items, version, OPEN)


def _as_tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor.from_numpy(value)


def _write(
    prefix: str, items: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]], version: int, files: FileGate
) -> None:
    for name, full_shape, extents, tensor in items:
        # All shapes are checked before the first byte is written.
        expected = full_shape if extents is None else SliceSpec(full_shape, extents).shape
        if tensor.shape != expected:
            raise InvalidArgumentError(f"tensor '{name}' has shape {list(tensor.shape)}, but its slice has {list(expected)}")
    if version not in (1, 2):
        raise InvalidArgumentError(f"unknown checkpoint format V{version}")
    if os.path.basename(prefix) in ("", ".", ".."):
        raise InvalidArgumentError(f"'{prefix}' is a folder, not a prefix of file names")
    with file_errors(prefix):
        make_folders(files.to_write(os.path.dirname(prefix) or "."))
    (write_bundle if version == 2 else write_v1)(prefix, items, files)


def merge_checkpoints(
    prefixes: Sequence[str], destination: str, delete_old: bool = True, allow_missing: bool = False, files: FileGate = OPEN
) -> None:
    """Merge several checkpoints into a V2 checkpoint; data files are moved, and `delete_old` removes folders left empty.

    NotFoundError for a missing checkpoint, DataLossError for a tensor in two checkpoints.
    """
    merge_bundles(list(prefixes), destination, delete_old, allow_missing, files)


class FileCheckpointStore:
    """core's CheckpointStore on files."""

    def __init__(self) -> None:
        self._readers: KeyedCache[tuple[str, FileAccess], tuple[_Stamp, CheckpointReader]] = KeyedCache(_MOST_READERS)

    def names(self, prefix: str, *, files: FileGate = OPEN) -> list[str]:
        """Return the names of all tensors."""
        return self._reader(prefix, files).names()

    def dtype(self, prefix: str, name: str, *, files: FileGate = OPEN) -> DType:
        """Return the dtype of a tensor."""
        return self._reader(prefix, files).dtype(name)

    def read(self, prefix: str, name: str, spec: str = "", *, files: FileGate = OPEN) -> Array:
        """Read the value of a tensor or of a slice of a tensor."""
        return self._reader(prefix, files).read(name, spec)

    def deferred(self, prefix: str, name: str, spec: str = "", *, files: FileGate = OPEN) -> Tensor:
        """Return the value of a tensor or of a slice of a tensor, to be read later."""
        return self._reader(prefix, files).deferred(name, spec)

    def write(
        self, prefix: str, tensors: Sequence[tuple[str, str, Tensor]], version: int = 2, *, files: FileGate = OPEN
    ) -> None:
        """Write (name, spec, value)."""
        items: list[tuple[str, tuple[int, ...], Extents | None, Tensor]] = []
        for name, spec, tensor in tensors:
            part = parse_spec(spec)
            items.append((name, tensor.shape, None, tensor) if part is None else (name, part.full_shape, part.extents, tensor))
        _write(prefix, items, version, files)

    def merge(
        self,
        prefixes: Sequence[str],
        destination: str,
        delete_old: bool = True,
        allow_missing: bool = False,
        *,
        files: FileGate = OPEN,
    ) -> None:
        """Merge several checkpoints."""
        merge_checkpoints(prefixes, destination, delete_old, allow_missing, files)

    def _reader(self, prefix: str, files: FileGate) -> CheckpointReader:
        """Return a reader, cached until a file changes: a graph restores each variable by itself."""
        # The files may change between two restores of a run: a training in another process writes the same prefix again.
        index = files.to_read(index_path(prefix))
        paths = [index] if exists(index) else [files.to_read(table) for table in _tables(prefix, files)]
        stamps = [stamp(path) for path in paths if exists(path)]
        # The gate is a part of the key: a session that may open fewer files gets no reader that another session opened.
        key = prefix, files.access
        cached = self._readers.get(key)
        if cached is None or cached[0] != stamps:
            cached = stamps, open_checkpoint(prefix, files)
            self._readers[key] = cached
        return cached[1]


# Checkpoints of version 1: a table per shard, with a description of all tensors and a TensorProto for each slice.

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
        # In V1 each task writes a table of its own, and a partitioned variable has slices in several of them.
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

    # A table of V1 has its own checksum for each block, so nothing can be checked without reading.
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
