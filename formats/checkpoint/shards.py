"""The data files of a bundle; tensors are read at first use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from ...core.codecs import wire
from ...core.codecs.crc32c import crc32c, mask
from ...core.runtime.state.file_access import FileGate
from ...core.runtime.state.stored_lists import live
from ...core.runtime.state.stored_variants import StoredVariant
from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError, NotFoundError, UnimplementedError
from ...core.support.places import exists
from ...core.support.regular_files import LEFT_OUT, WITHOUT_VALUES, PositionedFile, require_no_pointer
from ...core.types import dtypes
from ..codecs.tensor_proto import decode_static_shape
from ..codecs.tensor_values import object_array
from ..protos.checkpoint_pb2 import BundleEntryProto

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
        """Raise NotFoundError or DataLossError where the file of an entry is missing or too short. Nothing is read."""
        self._located(name, entry)

    def read(self, name: str, entry: BundleEntryProto) -> np.ndarray[Any, Any]:
        """Read the value of an entry; DataLossError names tensor, file and offset for a truncated value or a wrong
        checksum.
        """
        data, where = self._located(name, entry)
        dtype, shape = dtypes.from_number(entry.dtype), decode_static_shape(entry.shape)
        if dtype is dtypes.string:
            return object_array(_read_strings(_content(data, entry), math.prod(shape), entry.crc32c, where), shape)
        if dtype is dtypes.variant:
            return object_array(_read_variants(_content(data, entry), math.prod(shape), entry.crc32c, where), shape)
        if dtype.is_object:
            raise UnimplementedError(f"tfg does not read tensor '{name}' of dtype {dtype} from checkpoints")
        if entry.size != math.prod(shape) * dtype.size:
            raise DataLossError(f"{where} has {entry.size} bytes, which do not fit {dtype} of shape {list(shape)}")
        array = np.empty(shape, dtype.numpy)
        self._fill(array.reshape(-1).view(np.uint8).data, data, entry, where)
        return array

    def _fill(self, target: memoryview, data: PositionedFile, entry: BundleEntryProto, where: str) -> None:
        """Read the bytes of an entry; bytes in memory never change, so their checksum is compared only once."""
        key = entry.shard_id, entry.offset, entry.size, entry.crc32c
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
    """Raise NotFoundError where a file of a checkpoint is a Git LFS pointer."""
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
    """Return the lengths in the checksum's form: 32 bits each, 64 where needed."""
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
        crc = crc32c(message, crc32c(size.to_bytes(8, "little"), crc))
        if position > len(content) or checksum != mask(crc).to_bytes(4, "little"):
            raise DataLossError(f"a variant of {where} is damaged")
        crc = crc32c(checksum, crc)
        variants.append(live(StoredVariant(message)))
    if position != len(content) or mask(crc) != stored_crc:
        raise DataLossError(f"the checksum of {where} is wrong")
    return variants
