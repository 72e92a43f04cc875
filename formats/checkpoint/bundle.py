"""Checkpoints of version 2, tensor bundles: a table of entries, PREFIX.index, and the bytes, PREFIX.data-00000-of-00001."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import IO, Any, BinaryIO, Final

import numpy as np

from ...core.codecs import wire
from ...core.codecs.tfrecord import crc32c, mask
from ...core.codecs.wire import varint
from ...core.runtime.state.file_access import OPEN, FileGate, escape_pattern
from ...core.runtime.state.tensor_lists import live, stored
from ...core.runtime.state.variants import StoredVariant
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
from ...core.support.places import exists, is_address, make_folders, remove, resolved
from ...core.support.regular_files import LEFT_OUT, WITHOUT_VALUES, PositionedFile, is_current, require_no_pointer
from ...core.types import dtypes
from ...core.types.arrays import object_array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from ..codecs.scan import parse
from ..codecs.tensor_proto import decode_static_shape, encode_static_shape
from ..codecs.tensor_values import little_endian_bytes
from ..protos.checkpoint_pb2 import BundleEntryProto, BundleHeaderProto
from .reader import CheckpointReader, Kind, StoredPart, StoredTensor
from .sorted_table import SortedTable, write_table
from .tensor_slices import FULL, Extents, decode_extents, decode_name, decode_names, encode_extents, encode_name, slice_key

_VERSION = 1
_ATTEMPTS = 100
# TensorFlow's keys: the header has the empty key, which sorts before all others.
HEADER_KEY = b""
_NAMES = b"\1"
"""The first possible key of a tensor's name; the key of a slice begins with 0."""


def index_path(prefix: str) -> str:
    """Return the path of a bundle's table."""
    return f"{prefix}.index"


Index = tuple[BundleHeaderProto, dict[bytes, BundleEntryProto]]


def read_index(prefix: str, files: FileGate = OPEN) -> Index:
    """Read the header and all entries of a bundle; NotFoundError, or DataLossError for a damaged index."""
    path = index_path(prefix)
    with file_errors(path), files.open(path) as file:
        header, items = _read_table(prefix, file)
    with _index_errors(prefix):
        return header, {key: parse(BundleEntryProto, value) for key, value in items.items()}


@contextlib.contextmanager
def _index_errors(prefix: str) -> Iterator[None]:
    """Add the file's name to errors of a damaged index."""
    try:
        yield
    except DataLossError as error:
        raise DataLossError(f"checkpoint index '{index_path(prefix)}': {error.message}") from None


def _read_table(prefix: str, file: BinaryIO) -> tuple[BundleHeaderProto, dict[bytes, bytes]]:
    """Read the header of a bundle, and the messages of the bundle's entries by key."""
    contents = PositionedFile(file)
    require_fetched(contents, index_path(prefix))
    with _index_errors(prefix):
        items = {key: bytes(value) for key, value in SortedTable(contents).items()}
        encoded = items.pop(HEADER_KEY, None)
        if encoded is None:
            raise DataLossError("it has no header")
        header = parse(BundleHeaderProto, encoded)
    if header.endianness != BundleHeaderProto.LITTLE:
        raise UnimplementedError(f"tfg does not read big-endian checkpoints such as '{prefix}'")
    return header, items


def open_bundle(prefix: str, files: FileGate = OPEN) -> CheckpointReader:
    """Open a bundle at a consistent moment: if another bundle replaces the files meanwhile, open the new bundle."""
    path = index_path(prefix)
    # The table is opened before the data files and looked at again after them: if the same table is still there, no writer
    # came between, and the data files are those that the table describes.
    for _ in range(_ATTEMPTS):
        with file_errors(path), files.open(path) as index:
            header, items = _read_table(prefix, index)
            with _index_errors(prefix):
                used = _shards_of(items.values())
            try:
                shards = Shards(prefix, header.num_shards, used, files)
            except NotFoundError:
                if is_current(index, files.to_read(path)):
                    raise
                continue  # another writer replaced the table, and removed the old shards
            if is_current(index, files.to_read(path)):
                tensors = _Tensors(prefix, items, shards)
                return CheckpointReader(prefix, 2, tensors, tensors.kinds)
    raise UnavailableError(f"checkpoint '{prefix}' keeps changing while tfg reads it")


class _Tensors(Mapping[str, StoredTensor]):
    """The tensors of a bundle by name. An entry of the index is decoded at first use."""

    def __init__(self, prefix: str, items: Mapping[bytes, bytes], shards: Shards) -> None:
        self._prefix = prefix
        self._shards = shards
        self._slices = {key: encoded for key, encoded in items.items() if key < _NAMES}
        # Names are decoded together, and entries only when they are asked for: a listing of 100,000 tensors reads no entry
        # whole.
        keys = [key for key in items if key >= _NAMES]
        self._encoded = dict(zip(decode_names(keys), map(items.__getitem__, keys)))
        self._kinds: dict[bytes, Kind] = {}

    def __len__(self) -> int:
        return len(self._encoded)

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __getitem__(self, name: str) -> StoredTensor:
        return StoredTensor(name, *self._kind(self._encoded[name]), functools.partial(self._parts, name))

    def kinds(self) -> dict[str, Kind]:
        """Return dtype and shape of each tensor by name."""
        known = self._kinds
        kinds = {}
        for name, encoded in self._encoded.items():
            # `_kind` is a call for each tensor, and this loop avoids the call for all but the first of each head.
            kinds[name] = (len(encoded) > 4 and known.get(encoded[: encoded[3] + 4])) or self._kind(encoded)
        return kinds

    def _kind(self, encoded: bytes) -> Kind:
        head = encoded[: _end_of_head(encoded)]
        kind = self._kinds.get(head)
        if kind is None:
            with _index_errors(self._prefix):
                entry = parse(BundleEntryProto, head or encoded)
            kind = dtypes.from_number(entry.dtype), decode_static_shape(entry.shape)
            if head:
                self._kinds[head] = kind
        return kind

    def _parts(self, name: str) -> tuple[StoredPart, ...]:
        with _index_errors(self._prefix):
            entry = parse(BundleEntryProto, self._encoded[name])
            if not entry.slices:
                return (self._part(name, entry, (FULL,) * len(entry.shape.dim)),)
            return tuple([self._slice(name, decode_extents(proto)) for proto in entry.slices])

    def _slice(self, name: str, extents: Extents) -> StoredPart:
        encoded = self._slices.get(slice_key(name, extents))
        if encoded is None:
            raise DataLossError(f"it lists a missing slice of tensor '{name}'")
        return self._part(name, parse(BundleEntryProto, encoded), extents)

    def _part(self, name: str, entry: BundleEntryProto, extents: Extents) -> StoredPart:
        shards = self._shards
        return StoredPart(extents, lambda: shards.read(name, entry), lambda: shards.check(name, entry))


# Tags at the beginning of an entry, in every writer's order: dtype, shape, then any of the other fields.
_DTYPE, _SHAPE, _SHARD, _OFFSET, _SIZE, _CRC = 0x08, 0x12, 0x18, 0x20, 0x28, 0x35


def _end_of_head(encoded: bytes) -> int:
    """Return the end of dtype and shape, a prefix shared by many entries; 0 if an entry begins otherwise."""
    is_usual = len(encoded) > 4 and encoded[0] == _DTYPE and encoded[2] == _SHAPE and encoded[1] < 0x80 and encoded[3] < 0x80
    return 4 + encoded[3] if is_usual else 0


def _shards_of(entries: Collection[bytes]) -> set[int]:
    """Return the numbers of the data files in use. Entries with equal bytes up to the number are examined once."""
    # Only data files in use are opened: others may be missing, as in a checkpoint of which a part was copied.
    shards = {beginning: _usual_shard(beginning) for beginning in set(map(_beginning, entries))}
    numbers = {number for number in shards.values() if number is not None}
    if None in shards.values():
        unusual = [parse(BundleEntryProto, entry) for entry in entries if shards[_beginning(entry)] is None]
        numbers.update(entry.shard_id for entry in unusual if not entry.slices)  # slices have entries of their own
    return numbers


def _beginning(encoded: bytes) -> bytes:
    """Return the bytes of an entry up to the number of the data file, if dtype and shape come first."""
    return encoded[: encoded[3] + 6] if len(encoded) > 3 else encoded


def _usual_shard(beginning: bytes) -> int | None:
    """Return the number of the data file if the number follows dtype and shape, or is left out as 0; else None."""
    end = _end_of_head(beginning)
    if not end or end + 1 >= len(beginning):
        return None
    tag, number = beginning[end : end + 2]
    if tag == _SHARD and number < 0x80:
        return number
    return 0 if tag in (_OFFSET, _SIZE, _CRC) else None


def write_bundle(
    prefix: str, tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]], files: FileGate = OPEN
) -> None:
    """Write (name, full shape, extents of the slice or None, value) as a bundle of a single shard, whole or not at all."""
    data = files.to_replace(shard_path(prefix, 0, 1))
    index = files.to_replace(index_path(prefix))
    # A bundle of more shards has no data file of this name; then the table tells the permissions.
    with file_errors(prefix), staged_file(data, replaced=data if exists(data) else index) as file:
        entries = _write_tensors(file, tensors)
        finish(file)
        _install(prefix, [file.name], entries, files)


def _write_tensors(
    file: IO[bytes], tensors: Sequence[tuple[str, tuple[int, ...], Extents | None, Tensor]]
) -> dict[bytes, BundleEntryProto]:
    """Write the tensors' bytes into the file and return the table's entries."""
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
    """Install the `staged` files, a file per shard, as a bundle's data; a reader always sees the whole old or the whole new
    bundle.

    The number of shards is part of each data file's name. Where the number changes, the new files lie beside the old files
    until the new table is renamed over the old. Where the number stays, the bundle is installed twice, first with an extra
    shard.
    """
    count = max(len(staged), 1)
    # Two writers of one prefix take turns: each removes the other's data files only after its own table is in place.
    with locked_folder(os.path.dirname(files.to_replace(index_path(prefix)))):
        used = _shard_count(prefix, files)
        if used == count:
            _swap(prefix, staged, count + 1, entries, files)
        _swap(prefix, staged, count, entries, files)
        for stale in {used, count + 1} - {count}:
            for path in files.matching(f"{escape_pattern(prefix)}.data-?????-of-{stale:05d}"):
                remove(files.to_replace(path))


def _shard_count(prefix: str, files: FileGate) -> int:
    """Return the number of shards in the names of a bundle's data files; 0 for a missing or unreadable bundle."""
    try:
        return read_index(prefix, files)[0].num_shards
    # A bundle that cannot be read is replaced like a missing one; its data files, of unknown number, stay.
    except (NotFoundError, DataLossError, UnimplementedError):
        return 0


def _swap(prefix: str, staged: Sequence[str], count: int, entries: Mapping[bytes, BundleEntryProto], files: FileGate) -> None:
    index = files.to_replace(index_path(prefix))
    for shard, source in enumerate(staged):
        place_copy(source, files.to_replace(shard_path(prefix, shard, count)), staged_name(index))
    # The names of the data files must be on the disk before the table that names them: after a loss of power, a table without
    # its data would stand in the place of a whole bundle.
    flush_folder(index)
    write_index(index, entries, count)


def _list_slice(
    entries: dict[bytes, BundleEntryProto], name: str, full_shape: tuple[int, ...], extents: Extents, dtype: DType
) -> None:
    """Add a slice to the entry of the whole tensor."""
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
        chunks, crc = _string_chunks(tensor.read().ravel().tolist())
    elif tensor.dtype is dtypes.variant:
        chunks, crc = _variant_chunks(tensor.read().ravel().tolist())
    elif tensor.dtype.is_object:
        raise UnimplementedError(f"tensors of dtype {tensor.dtype} cannot be written to a checkpoint")
    else:
        content = little_endian_bytes(tensor.read())
        chunks, crc = [content], crc32c(content)
    for chunk in chunks:
        file.write(chunk)
    entry.size = sum(map(len, chunks))
    entry.crc32c = mask(crc)
    return entry


def _string_chunks(strings: Sequence[bytes]) -> tuple[list[bytes | memoryview], int]:
    """Return the pieces that `_read_strings` reads, and their checksum."""
    sizes = list(map(len, strings))
    crc = crc32c(size_bytes(sizes))
    checksum = mask(crc).to_bytes(4, "little")
    characters = b"".join(strings)
    return [b"".join(map(varint, sizes)), checksum, characters], crc32c(characters, crc32c(checksum, crc))


def _variant_chunks(variants: Sequence[Any]) -> tuple[list[bytes | memoryview], int]:
    """Return the pieces that `_read_variants` reads, and their checksum."""
    chunks: list[bytes | memoryview] = []
    crc = 0
    for message in (stored(variant).message for variant in variants):
        size = len(message)
        crc = crc32c(message, crc32c(size.to_bytes(8, "little"), crc))
        checksum = mask(crc).to_bytes(4, "little")
        crc = crc32c(checksum, crc)
        chunks += [varint(size), message, checksum]
    return chunks, crc


def merge_bundles(
    prefixes: Sequence[str], destination: str, delete_old: bool, allow_missing: bool, files: FileGate = OPEN
) -> None:
    """Merge several bundles: the data files become shards of one, the tables are merged, and old tables removed."""
    bundles = [
        (prefix, *read_index(prefix, files))
        for prefix in prefixes
        if not allow_missing or exists(files.to_read(index_path(prefix)))
    ]
    if not bundles:
        raise NotFoundError(f"none of {', '.join(prefixes)} is a checkpoint to merge")
    entries: dict[bytes, BundleEntryProto] = {}
    shards: list[str] = []
    old: list[str] = []
    target = resolved(files.to_write(index_path(destination)))
    for prefix, header, items in bundles:
        index = resolved(files.to_write(index_path(prefix)))
        used = sorted({entry.shard_id for entry in items.values() if not entry.slices})
        data = [resolved(files.to_write(shard_path(prefix, shard, header.num_shards))) for shard in used]
        _merge_entries(entries, items, {shard: len(shards) + i for i, shard in enumerate(used)}, prefix)
        shards += data
        # A checkpoint may be merged into itself with others; then the new table has replaced its table, and `_install`
        # has replaced or removed its data.
        old += [] if index == target else [index, *data]
    with file_errors(destination):
        make_folders(files.to_write(os.path.dirname(destination) or "."))
        _install(destination, shards, entries, files)
        _remove(old, [os.path.dirname(prefix) for prefix in prefixes] if delete_old else [], files)


def _merge_entries(
    target: dict[bytes, BundleEntryProto], entries: Mapping[bytes, BundleEntryProto], shards: Mapping[int, int], prefix: str
) -> None:
    for key, entry in entries.items():
        existing = target.get(key)
        if existing is None:
            target[key] = entry
            if not entry.slices:
                entry.shard_id = shards[entry.shard_id]
        # Each task saves the slices that it has of a partitioned variable: the entries of the whole tensor list different
        # slices.
        elif existing.slices and entry.slices:
            existing.slices.extend(entry.slices)
        else:
            raise DataLossError(f"tensor '{decode_name(key)}' of '{prefix}' is in another checkpoint too")


def _remove(paths: Sequence[str], folders: Sequence[str], files: FileGate) -> None:
    """Remove the remaining files of merged bundles, tables first, and folders that are empty afterwards."""
    # Tables go first, so a removal that is interrupted leaves data without a table, which no reader takes for a checkpoint.
    for path in filter(exists, paths):
        remove(path)
    # An object store has no folders of its own: a folder is gone with its last file.
    for folder in filterfalse(is_address, set(folders) - {""}):
        if os.path.isdir(files.to_write(folder)) and not os.listdir(folder):
            os.rmdir(folder)


# The data files of a bundle; tensors are read at first use.

_LARGEST_POINTER: Final = 1024
"""The bytes that a Git LFS pointer stays below."""
_PIECE: Final = 1 << 20
"""The number of bytes that are read and checked at a time, while they are in the processor's cache."""


def shard_path(prefix: str, shard: int, count: int) -> str:
    """Return the path of a bundle's data file."""
    return f"{prefix}.data-{shard:05d}-of-{count:05d}"


class Shards:
    """The data files named by the entries of a bundle, in their state at opening.

    A large file stays open, and each tensor is read from the descriptor. The file may be replaced, renamed or removed
    meanwhile: the descriptor still leads to the old contents. The file may also be overwritten or truncated in place; then
    the tensor's checksum or end is wrong, a DataLossError. A memory mapping has neither property: truncating a mapped file
    ends the process by SIGBUS, and overwriting a mapped file changes numbers that a session already uses.
    """

    def __init__(self, prefix: str, count: int, used: Iterable[int], files: FileGate) -> None:
        self._prefix = prefix
        self._count = count
        opened = {shard: _open_shard(shard_path(prefix, shard, count), files) for shard in sorted(used)}
        self._open = {shard: data for shard, data in opened.items() if data is not None}
        self._good: set[tuple[int, int, int, int]] = set()

    def check(self, name: str, entry: BundleEntryProto) -> None:
        """Raise NotFoundError or DataLossError if the file of an entry is missing or too short. Nothing is read."""
        self._located(name, entry)

    def read(self, name: str, entry: BundleEntryProto) -> np.ndarray[Any, Any]:
        """Read the value of an entry; DataLossError names tensor, file and offset for a cut value or a wrong checksum."""
        data, where = self._located(name, entry)
        dtype, shape = dtypes.from_number(entry.dtype), decode_static_shape(entry.shape)
        if dtype is dtypes.string:
            return object_array(_read_strings(_content(data, entry), math.prod(shape), entry.crc32c, where), shape)
        if dtype is dtypes.variant:
            return object_array(_read_variants(_content(data, entry), math.prod(shape), entry.crc32c, where), shape)
        if dtype.is_object:
            raise UnimplementedError(f"tfg does not read tensor '{name}' of dtype {dtype} from checkpoints")
        # The size of the entry is inside the file, so a shape that fits the size allocates no more memory than the file has
        # bytes.
        if entry.size != math.prod(shape) * dtype.size:
            raise DataLossError(f"{where} has {entry.size} bytes, which do not fit {dtype} of shape {list(shape)}")
        array = np.empty(shape, dtype.numpy)
        self._fill(array.reshape(-1).view(np.uint8).data, data, entry, where)
        return array

    def _fill(self, target: memoryview, data: PositionedFile, entry: BundleEntryProto, where: str) -> None:
        """Read the bytes of an entry; bytes in memory never change, so their checksum is compared only once."""
        key = entry.shard_id, entry.offset, entry.size, entry.crc32c
        # A file on the disk may change at any time, so its checksums are compared at each read.
        crc, is_good = 0, key in self._good
        for start in range(0, len(target), _PIECE):
            piece = target[start : start + _PIECE]
            if data.read_into(piece, entry.offset + start) < len(piece):
                raise DataLossError(f"{where} was truncated after tfg opened the file")
            crc = crc if is_good else crc32c(piece, crc)
        if not is_good and mask(crc) != entry.crc32c:
            raise DataLossError(f"the checksum of {where} is wrong")
        if data.is_in_memory:
            self._good.add(key)

    def _located(self, name: str, entry: BundleEntryProto) -> tuple[PositionedFile, str]:
        """Return the file of an entry, and a description of the entry's place for errors."""
        path = shard_path(self._prefix, entry.shard_id, self._count)
        data = self._open.get(entry.shard_id)
        if data is None:
            problem = f"file '{path}' with tensor '{name}' does not exist"
            raise NotFoundError(problem, hint=LEFT_OUT, details=WITHOUT_VALUES)
        where = f"tensor '{name}' at byte {entry.offset} of '{path}'"
        require_fetched(data, path)
        if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > len(data):
            raise DataLossError(f"{where} needs {entry.size} bytes; the file ends at byte {len(data)}")
        return data, where


def require_fetched(data: PositionedFile, path: str) -> None:
    """Raise NotFoundError if a file of a checkpoint is a Git LFS pointer."""
    if len(data) < _LARGEST_POINTER:
        require_no_pointer(bytes(data.read_at(0, len(data))), path)


def _open_shard(path: str, files: FileGate) -> PositionedFile | None:
    """Open a data file; None for a missing file, an error only for readers of tensors in the file."""
    if not exists(files.to_read(path)):
        return None
    with file_errors(path), files.open(path) as file:
        return PositionedFile(file)


def _content(data: PositionedFile, entry: BundleEntryProto) -> memoryview:
    return memoryview(data.read_at(entry.offset, entry.size))


def _read_strings(content: memoryview, count: int, stored_crc: int, where: str) -> list[bytes]:
    """Read strings: the lengths as varints, a checksum of the lengths, then all characters."""
    try:
        sizes, position = wire.read_varints(content, count)
    except DataLossError:
        raise DataLossError(f"{where} is truncated: expected {count} strings") from None
    checksum, characters = content[position : position + 4], position + 4
    crc = crc32c(size_bytes(sizes))
    if mask(crc) != int.from_bytes(checksum, "little") or characters + sum(sizes) != len(content):
        raise DataLossError(f"the lengths of the strings of {where} are damaged")
    if mask(crc32c(content[characters:], crc32c(checksum, crc))) != stored_crc:
        raise DataLossError(f"the checksum of {where} is wrong")
    return wire.pieces(content, characters, sizes)


def size_bytes(sizes: Sequence[int]) -> bytes:
    """Return the lengths in the checksum's form: 32 bits each, 64 if needed."""
    # The file has the lengths as varints, but TensorFlow's checksum takes them as numbers of 32 or 64 bits.
    return b"".join(size.to_bytes(4 if size < 1 << 32 else 8, "little") for size in sizes)


def _read_variants(content: memoryview, count: int, stored_crc: int, where: str) -> list[Any]:
    """Read variants, each stored as length, message and a checksum of all bytes before."""
    variants: list[Any] = []
    position = crc = 0
    for _ in range(count):
        try:
            size, start = wire.read_varint(content, position, len(content))
        except DataLossError:
            raise DataLossError(f"{where} is truncated: expected {count} variants") from None
        position = start + size + 4
        message, checksum = bytes(content[start : start + size]), bytes(content[start + size : position])
        # The file has the length as a varint, but TensorFlow's checksum takes the eight bytes that the length has in memory.
        crc = crc32c(message, crc32c(size.to_bytes(8, "little"), crc))
        if position > len(content) or checksum != mask(crc).to_bytes(4, "little"):
            raise DataLossError(f"a variant of {where} is damaged")
        crc = crc32c(checksum, crc)
        variants.append(live(StoredVariant(message)))
    if position != len(content) or mask(crc) != stored_crc:
        raise DataLossError(f"the checksum of {where} is wrong")
    return variants
