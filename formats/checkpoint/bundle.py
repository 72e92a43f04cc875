"""Checkpoints of version 2, tensor bundles: a table of entries, PREFIX.index, and the bytes, PREFIX.data-00000-of-00001."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any, BinaryIO

import numpy as np

from ...core.codecs import wire
from ...core.codecs.crc32c import crc32c, mask
from ...core.codecs.varint import varint
from ...core.runtime.state.file_access import OPEN, FileGate, escape_pattern
from ...core.runtime.state.stored_variants import StoredVariant
from ...core.support.atomic import (
    file_errors,
    finish,
    flush_folder,
    locked_folder,
    place_copy,
    replacing,
    staged_file,
    staged_name,
)
from ...core.support.errors import DataLossError, NotFoundError, UnavailableError, UnimplementedError
from ...core.types import dtypes
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..codecs.scan import parse
from ..codecs.source import read_file
from ..codecs.tensor_proto import decode_static_shape, encode_static_shape
from ..codecs.tensor_values import little_endian_bytes, object_array
from ..protos.checkpoint_pb2 import BundleEntryProto, BundleHeaderProto
from .reader import CheckpointReader, StoredPart, StoredTensor
from .sorted_table import read_table, write_table
from .tensor_slices import FULL, Extents, decode_extents, decode_name, encode_extents, encode_name, slice_key

_VERSION = 1
_ATTEMPTS = 100
HEADER_KEY = b""


def index_path(prefix: str) -> str:
    """The path of a bundle's table."""
    return f"{prefix}.index"


def shard_path(prefix: str, shard: int, count: int) -> str:
    """The path of one of a bundle's data files."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


Index = tuple[BundleHeaderProto, dict[bytes, BundleEntryProto]]


def read_index(prefix: str, files: FileGate = OPEN) -> Index:
    """The header and all entries of a bundle; NotFoundError, or DataLossError where the index is damaged."""
    path = index_path(prefix)
    with file_errors(path), files.open(path) as file:
        return _decode_index(prefix, file)


def _decode_index(prefix: str, file: BinaryIO) -> Index:
    try:
        items = list(read_table(read_file(file)))
        if not items or items[0][0] != HEADER_KEY:
            raise DataLossError("it has no header")
        header = parse(BundleHeaderProto, items[0][1])
        entries = {key: parse(BundleEntryProto, value) for key, value in items[1:]}
    except DataLossError as error:
        raise DataLossError(f"checkpoint index '{index_path(prefix)}': {error.message}") from None
    if header.endianness != BundleHeaderProto.LITTLE:
        raise UnimplementedError(f"checkpoint '{prefix}' is big-endian, which tfg does not read")
    return header, entries


def open_bundle(prefix: str, files: FileGate = OPEN) -> CheckpointReader:
    """A reader of a bundle as it was at one moment: where another is written meanwhile, that one is read."""
    path = index_path(prefix)
    for _ in range(_ATTEMPTS):
        with file_errors(path), files.open(path) as index:
            header, entries = _decode_index(prefix, index)
            try:
                shards = _Shards(prefix, header.num_shards, entries, files)
            except NotFoundError:
                if _is_current(index, files.to_read(path)):
                    raise
                continue  # its shards went with it when it was replaced
            if _is_current(index, files.to_read(path)):
                return CheckpointReader(prefix, 2, _stored_tensors(entries, shards))
    raise UnavailableError(f"checkpoint '{prefix}' is written again and again while it is read")


def _is_current(file: BinaryIO, path: str) -> bool:
    """True where the path still names the open file."""
    return os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), os.stat(path))


def _stored_tensors(entries: Mapping[bytes, BundleEntryProto], shards: _Shards) -> dict[str, StoredTensor]:
    tensors = {}
    for key, entry in entries.items():
        if key.startswith(b"\0"):
            continue  # a slice; the tensor's own entry names it
        name = decode_name(key)
        tensors[name] = _stored_tensor(name, entry, entries, shards)
    return tensors


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
    """The data files that the entries of a bundle name, as they were when it was opened; large ones are mapped into memory."""

    def __init__(self, prefix: str, count: int, entries: Mapping[bytes, BundleEntryProto], files: FileGate) -> None:
        self._prefix = prefix
        self._count = count
        opened = {shard: _open_shard(shard_path(prefix, shard, count), files) for shard in _used_shards(entries)}
        self._open = {shard: data for shard, data in opened.items() if data is not None}
        self._good: set[tuple[int, int, int, int]] = set()

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
        if dtype is dtypes.variant:
            return object_array(_read_variants(content, math.prod(shape), entry.crc32c, where), shape)
        if dtype.is_object:
            raise UnimplementedError(f"tensor '{name}' is of dtype {dtype}, which tfg does not read from checkpoints")
        if not self._is_good(entry, content):
            raise DataLossError(f"the checksum of {where} is wrong")
        if entry.size != math.prod(shape) * dtype.size:
            raise DataLossError(f"{where} has {entry.size} bytes, which is not {dtype} of shape {list(shape)}")
        return np.frombuffer(content, dtype.numpy).reshape(shape)

    def _is_good(self, entry: BundleEntryProto, content: memoryview) -> bool:
        """True where the checksum is right; of bytes in memory, which nobody changes, that is found out once."""
        key = entry.shard_id, entry.offset, entry.size, entry.crc32c
        if key in self._good:
            return True
        if mask(crc32c(content)) != entry.crc32c:
            return False
        if isinstance(content.obj, bytes):
            self._good.add(key)
        return True

    def _shard(self, shard: int, path: str, name: str) -> memoryview:
        if shard not in self._open:
            raise NotFoundError(f"there is no file '{path}', in which tensor '{name}' lies")
        return self._open[shard]


def _used_shards(entries: Mapping[bytes, BundleEntryProto]) -> list[int]:
    """The numbers of the data files in which something lies."""
    return sorted({entry.shard_id for entry in entries.values() if not entry.slices})


def _open_shard(path: str, files: FileGate) -> memoryview | None:
    """The contents of a data file; None where there is none, which only matters to those who ask for what lies in it."""
    if not os.path.exists(files.to_read(path)):
        return None
    with file_errors(path), files.open(path) as file:
        return read_file(file)


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


def _read_variants(content: memoryview, count: int, stored_crc: int, where: str) -> list[StoredVariant]:
    """Variants, each as its length, its message and a checksum of all that comes before."""
    found: list[StoredVariant] = []
    position = crc = 0
    for _ in range(count):
        try:
            size, start = wire.read_varint(content, position, len(content))
        except DataLossError:
            raise DataLossError(f"{where} is cut off: it should hold {count} variants") from None
        position = start + size + 4
        message, checksum = bytes(content[start : start + size]), bytes(content[start + size : position])
        crc = crc32c(message, crc32c(size.to_bytes(8, "little"), crc))
        if position > len(content) or checksum != mask(crc).to_bytes(4, "little"):
            raise DataLossError(f"a variant of {where} is damaged")
        crc = crc32c(checksum, crc)
        found.append(StoredVariant(message))
    if position != len(content) or mask(crc) != stored_crc:
        raise DataLossError(f"the checksum of {where} is wrong")
    return found


def write_bundle(
    prefix: str, tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]], files: FileGate = OPEN
) -> None:
    """Write (name, full shape, extents of the slice or None, value) as a bundle of one shard, whole or not at all."""
    data = files.to_replace(shard_path(prefix, 0, 1))
    index = files.to_replace(index_path(prefix))
    with file_errors(prefix), staged_file(data, replaced=data if os.path.exists(data) else index) as file:
        entries = _write_tensors(file, tensors)
        finish(file)
        _install(prefix, [file.name], entries, files)


def _write_tensors(
    file: IO[bytes], tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]]
) -> dict[bytes, BundleEntryProto]:
    """The table's entries for the tensors, whose bytes go into the file."""
    entries: dict[bytes, BundleEntryProto] = {}
    offset = 0
    for name, full_shape, extents, tensor in tensors:
        entry = _write_tensor(file, tensor, offset)
        offset += entry.size
        if extents is None:
            entries[encode_name(name)] = entry
        else:
            entries[slice_key(name, extents)] = entry
            _list_slice(entries, name, full_shape, extents, tensor.dtype)
    return entries


def _install(prefix: str, staged: Sequence[str], entries: Mapping[bytes, BundleEntryProto], files: FileGate) -> None:
    """Install the `staged` files, one per shard, as a bundle's data; a reader always finds the old or the new bundle whole.

    The number of shards is part of each data file's name. Where it changes, the new files lie beside the old ones until the
    new table is renamed over the old. Where it stays, the bundle is installed twice, first with one shard too many.
    """
    count = max(len(staged), 1)
    with locked_folder(os.path.dirname(files.to_replace(index_path(prefix)))):
        used = _shard_count(prefix, files)
        if used == count:
            _swap(prefix, staged, count + 1, entries, files)
        _swap(prefix, staged, count, entries, files)
        for stale in {used, count + 1} - {count}:
            _remove_shards(prefix, stale, files)


def _shard_count(prefix: str, files: FileGate) -> int:
    """The number of shards by which a bundle's table names its data files; 0 where nothing can be read there anyway."""
    try:
        return read_index(prefix, files)[0].num_shards
    except (NotFoundError, DataLossError, UnimplementedError):
        return 0


def _swap(prefix: str, staged: Sequence[str], count: int, entries: Mapping[bytes, BundleEntryProto], files: FileGate) -> None:
    index = files.to_replace(index_path(prefix))
    for shard, source in enumerate(staged):
        place_copy(source, files.to_replace(shard_path(prefix, shard, count)), staged_name(index))
    flush_folder(index)
    write_index(index, entries, count)


def _remove_shards(prefix: str, count: int, files: FileGate) -> None:
    """Remove all data files of that number."""
    for path in files.matching(f"{escape_pattern(prefix)}.data-?????-of-{count:05d}"):
        os.unlink(files.to_replace(path))


def _list_slice(
    entries: dict[bytes, BundleEntryProto], name: str, full_shape: tuple[int, ...], extents: Extents, dtype: DType
) -> None:
    """Add a slice to the entry of the tensor that it is a part of."""
    whole = entries.setdefault(
        encode_name(name), BundleEntryProto(dtype=dtype.enum_name, shape=encode_static_shape(full_shape))
    )
    whole.slices.append(encode_extents(extents))


def write_index(path: str, entries: Mapping[bytes, BundleEntryProto], shard_count: int) -> None:
    """Write the table of a bundle, whole or not at all."""
    header = BundleHeaderProto(num_shards=shard_count)
    header.version.producer = _VERSION
    with replacing(path) as file:
        items = [(HEADER_KEY, header.SerializeToString(deterministic=True))]
        items += [(key, entries[key].SerializeToString(deterministic=True)) for key in sorted(entries)]
        write_table(file, items)


def _write_tensor(file: IO[bytes], tensor: Tensor, offset: int) -> BundleEntryProto:
    entry = BundleEntryProto(dtype=tensor.dtype.enum_name, shape=encode_static_shape(tensor.shape), offset=offset)
    if tensor.dtype is dtypes.string:
        chunks, crc = _string_chunks(tensor.numpy().ravel().tolist())
    elif tensor.dtype is dtypes.variant:
        chunks, crc = _variant_chunks(tensor.numpy().ravel().tolist())
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


def _variant_chunks(variants: Sequence[StoredVariant]) -> tuple[list[bytes | memoryview], int]:
    """The pieces that `_read_variants` reads, and their checksum."""
    chunks: list[bytes | memoryview] = []
    crc = 0
    for variant in variants:
        size = len(variant.message)
        crc = crc32c(variant.message, crc32c(size.to_bytes(8, "little"), crc))
        checksum = mask(crc).to_bytes(4, "little")
        crc = crc32c(checksum, crc)
        chunks += [varint(size), variant.message, checksum]
    return chunks, crc


def merge_bundles(
    prefixes: Sequence[str], destination: str, delete_old: bool, allow_missing: bool, files: FileGate = OPEN
) -> None:
    """Make one bundle of several: the data files become shards of one bundle, the tables are merged, then the old ones go."""
    bundles = [
        (prefix, *read_index(prefix, files))
        for prefix in prefixes
        if not allow_missing or os.path.exists(files.to_read(index_path(prefix)))
    ]
    if not bundles:
        raise NotFoundError(f"there is no checkpoint to merge among {', '.join(prefixes)}")
    entries: dict[bytes, BundleEntryProto] = {}
    shards: list[str] = []
    old: list[str] = []
    target = os.path.realpath(files.to_write(index_path(destination)))
    for prefix, header, found in bundles:
        index = os.path.realpath(files.to_write(index_path(prefix)))
        used = _used_shards(found)
        data = [os.path.realpath(files.to_write(shard_path(prefix, shard, header.num_shards))) for shard in used]
        _merge_entries(entries, found, {shard: len(shards) + i for i, shard in enumerate(used)}, prefix)
        shards += data
        old += [] if index == target else [index, *data]
    with file_errors(destination):
        os.makedirs(files.to_write(os.path.dirname(destination) or "."), exist_ok=True)
        _install(destination, shards, entries, files)
        _remove(old, [os.path.dirname(prefix) for prefix in prefixes] if delete_old else [], files)


def _merge_entries(
    target: dict[bytes, BundleEntryProto], found: Mapping[bytes, BundleEntryProto], shards: Mapping[int, int], prefix: str
) -> None:
    for key, entry in found.items():
        known = target.get(key)
        if known is None:
            target[key] = entry
            if not entry.slices:
                entry.shard_id = shards[entry.shard_id]
        elif known.slices and entry.slices:
            known.slices.extend(entry.slices)
        else:
            raise DataLossError(f"tensor '{decode_name(key)}' of '{prefix}' is in another checkpoint too")


def _remove(paths: Sequence[str], folders: Sequence[str], files: FileGate) -> None:
    """Remove what is left of merged bundles, tables first, and of these folders those that are empty then."""
    for path in filter(os.path.exists, paths):
        os.unlink(path)
    for folder in set(folders) - {""}:
        if os.path.isdir(files.to_write(folder)) and not os.listdir(folder):
            os.rmdir(folder)
