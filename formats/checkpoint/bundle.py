"""Checkpoints of version 2, tensor bundles: a table of entries, PREFIX.index, and the bytes, PREFIX.data-00000-of-00001."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.errors import DataLossError, NotFoundError, UnimplementedError
from ...core.numerics.crc32c import crc32c, mask
from ...core.numerics.varint import varint
from ...core.tensors import Tensor
from .. import wire
from ..protos.checkpoint_pb2 import BundleEntryProto, BundleHeaderProto
from ..scan import parse
from ..source import atomic_file, file_errors, read_file
from ..tensor_proto import decode_static_shape, encode_static_shape
from ..tensor_values import little_endian_bytes, object_array
from .reader import CheckpointReader, StoredPart, StoredTensor
from .slices import FULL, Extents, decode_extents, decode_name, encode_extents, encode_name, slice_key
from .table import read_table, write_table

_VERSION = 1
HEADER_KEY = b""


def index_path(prefix: str) -> str:
    """The path of a bundle's table."""
    return f"{prefix}.index"


def shard_path(prefix: str, shard: int, count: int) -> str:
    """The path of one of a bundle's data files."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


def read_index(prefix: str) -> tuple[BundleHeaderProto, dict[bytes, BundleEntryProto]]:
    """The header and all entries of a bundle; NotFoundError, or DataLossError where the index is damaged."""
    path = index_path(prefix)
    with file_errors(path), open(path, "rb") as file:
        data = read_file(file)
    try:
        items = list(read_table(data))
        if not items or items[0][0] != HEADER_KEY:
            raise DataLossError("it has no header")
        header = parse(BundleHeaderProto, items[0][1])
        entries = {key: parse(BundleEntryProto, value) for key, value in items[1:]}
    except DataLossError as error:
        raise DataLossError(f"checkpoint index '{path}': {error.message}") from None
    if header.endianness != BundleHeaderProto.LITTLE:
        raise UnimplementedError(f"checkpoint '{prefix}' is big-endian, which tfg does not read")
    return header, entries


def open_bundle(prefix: str) -> CheckpointReader:
    """A reader of a bundle; its data files are opened when values are asked for."""
    header, entries = read_index(prefix)
    shards = _Shards(prefix, header.num_shards)
    tensors = {}
    for key, entry in entries.items():
        if key.startswith(b"\0"):
            continue  # a slice; the tensor's own entry names it
        name = decode_name(key)
        tensors[name] = _stored_tensor(name, entry, entries, shards)
    return CheckpointReader(prefix, 2, tensors)


def _stored_tensor(
    name: str, entry: BundleEntryProto, entries: Mapping[bytes, BundleEntryProto], shards: _Shards
) -> StoredTensor:
    dtype, shape = dtypes.from_number(entry.dtype), decode_static_shape(entry.shape)
    if not entry.slices:
        return StoredTensor(name, dtype, shape, (_part(name, entry, (FULL,) * len(shape), shards),))
    parts = []
    for proto in entry.slices:
        extents = decode_extents(proto)
        part_entry = entries.get(slice_key(name, extents))
        if part_entry is None:
            raise DataLossError(f"the index lists a slice of tensor '{name}' that it does not have")
        parts.append(_part(name, part_entry, extents, shards))
    return StoredTensor(name, dtype, shape, tuple(parts))


def _part(name: str, entry: BundleEntryProto, extents: Extents, shards: _Shards) -> StoredPart:
    return StoredPart(extents, entry.size, lambda: shards.read(name, entry))


class _Shards:
    """The data files of a bundle, mapped into memory at first touch."""

    def __init__(self, prefix: str, count: int) -> None:
        self._prefix = prefix
        self._count = count
        self._open: dict[int, memoryview] = {}

    def read(self, name: str, entry: BundleEntryProto) -> np.ndarray[Any, Any]:
        """The value of an entry; DataLossError names tensor, file and offset where it is cut off or its checksum is wrong."""
        path = shard_path(self._prefix, entry.shard_id, self._count)
        where = f"tensor '{name}' at byte {entry.offset} of '{path}'"
        data = self._shard(entry.shard_id, path, name)
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > len(data):
            raise DataLossError(f"{where} needs {entry.size} bytes; the file ends at byte {len(data)}")
        content = data[entry.offset : entry.offset + entry.size]
        dtype, shape = dtypes.from_number(entry.dtype), decode_static_shape(entry.shape)
        if dtype is dtypes.string:
            return object_array(_read_strings(content, math.prod(shape), entry.crc32c, where), shape)
        if dtype.is_object:
            raise UnimplementedError(f"tensor '{name}' is of dtype {dtype}, which tfg does not read from checkpoints")
        if mask(crc32c(content)) != entry.crc32c:
            raise DataLossError(f"the checksum of {where} is wrong")
        if entry.size != math.prod(shape) * dtype.size:
            raise DataLossError(f"{where} has {entry.size} bytes, which is not {dtype} of shape {list(shape)}")
        return np.frombuffer(content, dtype.numpy).reshape(shape)

    def _shard(self, shard: int, path: str, name: str) -> memoryview:
        if shard not in self._open:
            if not os.path.exists(path):
                raise NotFoundError(f"there is no file '{path}', in which tensor '{name}' lies")
            with file_errors(path), open(path, "rb") as file:
                self._open[shard] = read_file(file)
        return self._open[shard]


def _read_strings(content: memoryview, count: int, stored_crc: int, where: str) -> list[bytes]:
    """Strings: the lengths as varints, a checksum of the lengths, then all characters."""
    try:
        sizes, position = wire.read_varints(content, count)
    except DataLossError:
        raise DataLossError(f"{where} is cut off: it should hold {count} strings") from None
    checksum, characters = content[position : position + 4], position + 4
    crc = crc32c(_size_bytes(sizes))
    if mask(crc) != int.from_bytes(checksum, "little") or characters + sum(sizes) != len(content):
        raise DataLossError(f"the lengths of the strings of {where} are damaged")
    if mask(crc32c(content[characters:], crc32c(checksum, crc))) != stored_crc:
        raise DataLossError(f"the checksum of {where} is wrong")
    return wire.pieces(content, characters, sizes)


def _size_bytes(sizes: Sequence[int]) -> bytes:
    """The lengths as their checksum takes them: 32 bits each, 64 where they need them."""
    return b"".join(size.to_bytes(4 if size < 1 << 32 else 8, "little") for size in sizes)


def write_bundle(prefix: str, tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]]) -> None:
    """Write (name, full shape, extents of the slice or None, value) as a bundle of one shard, whole or not at all."""
    entries: dict[bytes, BundleEntryProto] = {}
    with atomic_file(shard_path(prefix, 0, 1)) as file:
        offset = 0
        for name, full_shape, extents, tensor in tensors:
            entry = _write_tensor(file, tensor, offset)
            offset += entry.size
            if extents is None:
                entries[encode_name(name)] = entry
            else:
                entries[slice_key(name, extents)] = entry
                _list_slice(entries, name, full_shape, extents, tensor.dtype)
    write_index(prefix, entries, 1)


def _list_slice(
    entries: dict[bytes, BundleEntryProto], name: str, full_shape: tuple[int, ...], extents: Extents, dtype: DType
) -> None:
    """Add a slice to the entry of the tensor that it is a part of."""
    whole = entries.setdefault(
        encode_name(name), BundleEntryProto(dtype=dtype.enum_name, shape=encode_static_shape(full_shape))
    )
    whole.slices.append(encode_extents(extents))


def write_index(prefix: str, entries: Mapping[bytes, BundleEntryProto], shard_count: int) -> None:
    """Write the table of a bundle, whole or not at all."""
    header = BundleHeaderProto(num_shards=shard_count)
    header.version.producer = _VERSION
    with atomic_file(index_path(prefix)) as file:
        items = [(HEADER_KEY, header.SerializeToString(deterministic=True))]
        items += [(key, entries[key].SerializeToString(deterministic=True)) for key in sorted(entries)]
        write_table(file, items)


def _write_tensor(file: IO[bytes], tensor: Tensor, offset: int) -> BundleEntryProto:
    entry = BundleEntryProto(dtype=tensor.dtype.enum_name, shape=encode_static_shape(tensor.shape), offset=offset)
    if tensor.dtype is dtypes.string:
        chunks, crc = _string_chunks(tensor.numpy().ravel().tolist())
    elif tensor.dtype.is_object:
        raise UnimplementedError(f"tensors of dtype {tensor.dtype} cannot be written to a checkpoint")
    else:
        content = little_endian_bytes(tensor.numpy())
        chunks, crc = [content], crc32c(content)
    for chunk in chunks:
        file.write(chunk)
    entry.size = sum(map(len, chunks))
    entry.crc32c = mask(crc)
    return entry


def _string_chunks(strings: Sequence[bytes]) -> tuple[list[bytes | memoryview], int]:
    """The pieces that `_read_strings` reads, and their checksum."""
    sizes = list(map(len, strings))
    crc = crc32c(_size_bytes(sizes))
    checksum = mask(crc).to_bytes(4, "little")
    characters = b"".join(strings)
    return [b"".join(map(varint, sizes)), checksum, characters], crc32c(characters, crc32c(checksum, crc))


def merge_bundles(prefixes: Sequence[str], destination: str, delete_old: bool, allow_missing: bool) -> None:
    """Make one bundle of several: the data files are renamed to shards of one bundle, the tables merged."""
    bundles = [
        (prefix, *read_index(prefix)) for prefix in prefixes if not allow_missing or os.path.exists(index_path(prefix))
    ]
    if not bundles:
        raise NotFoundError(f"there is no checkpoint to merge among {', '.join(prefixes)}")
    count = sum(header.num_shards for _, header, _ in bundles)
    entries: dict[bytes, BundleEntryProto] = {}
    moves: list[tuple[str, str]] = []
    for prefix, header, found in bundles:
        first = len(moves)
        moves += [
            (shard_path(prefix, i, header.num_shards), shard_path(destination, first + i, count))
            for i in range(header.num_shards)
        ]
        _merge_entries(entries, found, first, prefix)
    _move_shards(moves)
    write_index(destination, entries, count)
    for old in _leftovers([prefix for prefix, _, _ in bundles], destination):
        os.unlink(old)
    if delete_old:
        _remove_empty_folders(prefixes)


def _merge_entries(
    target: dict[bytes, BundleEntryProto], found: Mapping[bytes, BundleEntryProto], first_shard: int, prefix: str
) -> None:
    for key, entry in found.items():
        known = target.get(key)
        if known is None:
            target[key] = entry
            if not entry.slices:
                entry.shard_id += first_shard
        elif known.slices and entry.slices:
            known.slices.extend(entry.slices)
        else:
            raise DataLossError(f"tensor '{decode_name(key)}' of '{prefix}' is in another checkpoint too")


def _move_shards(moves: Sequence[tuple[str, str]]) -> None:
    for source, target in moves:
        if os.path.exists(source):  # a bundle without tensors has no data file
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
            with file_errors(source):
                os.replace(source, target)


def _leftovers(prefixes: Sequence[str], destination: str) -> Iterator[str]:
    return (index_path(prefix) for prefix in prefixes if prefix != destination)


def _remove_empty_folders(prefixes: Sequence[str]) -> None:
    for folder in {os.path.dirname(prefix) for prefix in prefixes}:
        if folder and os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
