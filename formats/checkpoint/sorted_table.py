"""Sorted string tables: the file format of checkpoint indexes and of V1 checkpoints.

A file is data blocks, a metaindex block, an index block that says where the data blocks lie, and a footer of 48 bytes. In a
block each key leaves out what it shares with the key before it; every 16th key, a restart point, is whole. Each block has a
trailer: its compression and the masked CRC-32C of both.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import IO

from ...core.codecs import snappy, wire
from ...core.codecs.crc32c import crc32c, mask, masked_crc32c
from ...core.codecs.varint import varint
from ...core.support.errors import DataLossError, UnimplementedError

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_SIZE, _TRAILER_SIZE = 48, 5
_RESTART_INTERVAL = 16
_BLOCK_SIZE = 1 << 18
_NO_COMPRESSION, _SNAPPY = 0, 1


def is_table(data: memoryview) -> bool:
    """True for data that ends as a table does."""
    return len(data) >= _FOOTER_SIZE and data[-8:] == MAGIC


def read_table(data: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """(key, value) in the order of the keys; DataLossError with the offset where the table is damaged or truncated."""
    if not is_table(data):
        raise DataLossError(f"it does not end as a table does: damaged, or truncated at byte {len(data)}")
    footer_start = len(data) - _FOOTER_SIZE
    position = footer_start
    for _ in range(2):  # the metaindex is of no use
        position = wire.read_varint(data, position, len(data))[1]
    index, _ = _read_handle(data, position)
    for _, handle in _entries(_read_block(data, *index), index[0]):
        block, _ = _read_handle(handle, 0)
        yield from _entries(_read_block(data, *block), block[0])


def _read_handle(data: memoryview, position: int) -> tuple[tuple[int, int], int]:
    offset, position = wire.read_varint(data, position, len(data))
    size, position = wire.read_varint(data, position, len(data))
    return (offset, size), position


def _read_block(data: memoryview, offset: int, size: int) -> memoryview:
    end = offset + size
    if end + _TRAILER_SIZE > len(data):
        raise DataLossError(f"the block at byte {offset} ends past the end of the table")
    stored = int.from_bytes(data[end + 1 : end + _TRAILER_SIZE], "little")
    if masked_crc32c(data[offset : end + 1]) != stored:
        raise DataLossError(f"the checksum of the block at byte {offset} is wrong")
    compression = data[end]
    if compression == _NO_COMPRESSION:
        return data[offset:end]
    if compression == _SNAPPY:
        return memoryview(snappy.decompress(data[offset:end]))
    raise UnimplementedError(f"the block at byte {offset} has compression {compression}, which tfg does not know")


def _entries(block: memoryview, offset: int) -> Iterator[tuple[bytes, memoryview]]:
    if len(block) < 4:
        raise DataLossError(f"the block at byte {offset} is too short")
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise DataLossError(f"the block at byte {offset} has no room for its {restarts} restart points")
    key, position = b"", 0
    while position < end:
        shared, unshared, size, position = _sizes(block, position, end)
        if shared > len(key) or position + unshared + size > end:
            raise DataLossError(f"an entry of the block at byte {offset} is damaged")
        key = key[:shared] + bytes(block[position : position + unshared])
        position += unshared
        yield key, block[position : position + size]
        position += size


def _sizes(block: memoryview, position: int, end: int) -> tuple[int, int, int, int]:
    """Read the three varints that an entry begins with; the position after them comes last."""
    head = bytes(block[position : position + 3])
    if len(head) == 3 and position + 3 <= end and max(head) < 0x80:  # nearly all are single bytes
        return head[0], head[1], head[2], position + 3
    shared, position = wire.read_varint(block, position, end)
    unshared, position = wire.read_varint(block, position, end)
    size, position = wire.read_varint(block, position, end)
    return shared, unshared, size, position


def write_table(file: IO[bytes], items: Iterable[tuple[bytes, bytes]]) -> None:
    """Write a table; keys must come in order and without repetition."""
    offset = 0
    index = _BlockBuilder(1)
    block = _BlockBuilder(_RESTART_INTERVAL)
    full: tuple[bytes, bytes] | None = None  # last key and handle of a block that awaits the key after it
    for key, value in items:
        if full is not None:
            index.add(_separator(full[0], key), full[1])
            full = None
        block.add(key, value)
        if block.size >= _BLOCK_SIZE:
            handle, offset = _write_block(file, block, offset)
            full = key, handle
            block = _BlockBuilder(_RESTART_INTERVAL)
    if block.last_key is not None:
        handle, offset = _write_block(file, block, offset)
        full = block.last_key, handle
    if full is not None:
        index.add(_successor(full[0]), full[1])
    metaindex_handle, offset = _write_block(file, _BlockBuilder(_RESTART_INTERVAL), offset)
    index_handle, offset = _write_block(file, index, offset)
    file.write((metaindex_handle + index_handle).ljust(_FOOTER_SIZE - len(MAGIC), b"\0") + MAGIC)


def _separator(last: bytes, following: bytes) -> bytes:
    """A short key that is not before `last` and before `following`, as the index has for a block."""
    at = _common_prefix(last, following)
    if at < min(len(last), len(following)) and last[at] + 1 < following[at]:
        return last[:at] + bytes([last[at] + 1])
    return last


def _successor(last: bytes) -> bytes:
    """A short key that is not before `last`."""
    for i, byte in enumerate(last):
        if byte != 0xFF:
            return last[:i] + bytes([byte + 1])
    return last


def _write_block(file: IO[bytes], block: _BlockBuilder, offset: int) -> tuple[bytes, int]:
    """The handle of the block written at `offset`, and the offset after it."""
    contents = block.finish()
    trailer = bytes([_NO_COMPRESSION])
    checksum = mask(crc32c(trailer, crc32c(contents)))
    file.write(contents + trailer + struct.pack("<I", checksum))
    handle = varint(offset) + varint(len(contents))
    return handle, offset + len(contents) + _TRAILER_SIZE


class _BlockBuilder:
    """A block in the making."""

    def __init__(self, restart_interval: int) -> None:
        self.last_key: bytes | None = None
        self._interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._count = 0

    @property
    def size(self) -> int:
        return len(self._data)

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count == self._interval:
            self._restarts.append(len(self._data))
            self._count = 0
        elif self.last_key is not None:
            shared = _common_prefix(self.last_key, key)
        for number in (shared, len(key) - shared, len(value)):
            self._data += varint(number)
        self._data += key[shared:] + value
        self.last_key = key
        self._count += 1

    def finish(self) -> bytes:
        return bytes(self._data) + struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))


def _common_prefix(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)
