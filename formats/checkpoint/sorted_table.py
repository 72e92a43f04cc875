"""Sorted string tables: the file format of checkpoint indexes and of V1 checkpoints.

A file is data blocks, a metaindex block, an index block with the places of the data blocks, and a footer of 48 bytes. In a
block each key leaves out the prefix shared with the key before; every 16th key, a restart point, is whole. Each block has a
trailer: the block's compression and the masked CRC-32C of both.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable, Iterator
from typing import IO

from ...core.codecs import snappy, wire
from ...core.codecs.tfrecord import crc32c, mask, masked_crc32c
from ...core.codecs.wire import Buffer, varint
from ...core.support.errors import DataLossError, UnimplementedError
from ...core.support.regular_files import PositionedFile

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_SIZE, _TRAILER_SIZE = 48, 5
# The interval and the size of blocks are those of TensorFlow's own writer (table_options.h).
_RESTART_INTERVAL = 16
_BLOCK_SIZE = 1 << 18
_COPIED = 1 << 20
"""The largest size, in bytes, of a block that is copied to be parsed: bytes are sliced faster than a view.

A larger block is mostly a tensor.
"""
_NO_COMPRESSION, _SNAPPY = 0, 1


def is_table(data: PositionedFile) -> bool:
    """Return True for data that ends like a table."""
    return len(data) >= _FOOTER_SIZE and data.read_at(len(data) - len(MAGIC), len(MAGIC)) == MAGIC


class SortedTable:
    """A table with blocks that are read at first use of an entry.

    DataLossError tells the offset of damage or truncation.
    """

    def __init__(self, data: PositionedFile) -> None:
        if not is_table(data):
            raise DataLossError(f"it lacks the footer of a table: damaged, or truncated at byte {len(data)}")
        self._data = data
        footer = data.read_at(len(data) - _FOOTER_SIZE, _FOOTER_SIZE)
        position = 0
        for _ in range(2):  # the metaindex is of no use
            position = wire.read_varint(footer, position, len(footer))[1]
        index = _read_handle(footer, position)
        entries = [(last, _read_handle(handle, 0)) for last, handle in _entries(_read_block(data, *index), index[0])]
        self._last_keys = [last for last, _ in entries]
        self._blocks = [block for _, block in entries]

    def items(self) -> Iterator[tuple[bytes, Buffer]]:
        """Yield (key, value) in the order of the keys."""
        for block in self._blocks:
            yield from self._items(block)

    def get(self, key: bytes) -> Buffer | None:
        """Return the value of a key."""
        place = bisect.bisect_left(self._last_keys, key)
        if place == len(self._blocks):
            return None
        return next((value for entry_key, value in self._items(self._blocks[place]) if entry_key == key), None)

    def _items(self, block: tuple[int, int]) -> list[tuple[bytes, Buffer]]:
        return _entries(_read_block(self._data, *block), block[0])


def _read_handle(data: Buffer, position: int) -> tuple[int, int]:
    """Return the offset and the size of a block."""
    offset, position = wire.read_varint(data, position, len(data))
    return offset, wire.read_varint(data, position, len(data))[0]


def _read_block(data: PositionedFile, offset: int, size: int) -> Buffer:
    if offset + size + _TRAILER_SIZE > len(data):
        raise DataLossError(f"the block at byte {offset} ends past the end of the table")
    block = memoryview(data.read_at(offset, size + _TRAILER_SIZE))
    # The compression is under the checksum, too: a changed byte there would send the block to another decoder.
    if len(block) != size + _TRAILER_SIZE or masked_crc32c(block[: size + 1]) != int.from_bytes(block[size + 1 :], "little"):
        raise DataLossError(f"the checksum of the block at byte {offset} is wrong")
    compression = block[size]
    if compression == _NO_COMPRESSION:
        return block[:size]
    if compression == _SNAPPY:
        return snappy.decompress(block[:size])
    raise UnimplementedError(f"the block at byte {offset} has unknown compression {compression}")


def _entries(block: Buffer, offset: int) -> list[tuple[bytes, Buffer]]:
    """Return the keys and values of a block, in the order of the keys."""
    if len(block) < 4:
        raise DataLossError(f"the block at byte {offset} is too short")
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise DataLossError(f"the block at byte {offset} has no room for its {restarts} restart points")
    content = bytes(block) if len(block) <= _COPIED else block
    entries: list[tuple[bytes, Buffer]] = []
    key, position = b"", 0
    while position < end:
        shared, unshared, size = content[position : position + 3]  # the number of restart points follows the last entry
        start = position + 3
        if shared > 0x7F or unshared > 0x7F or size > 0x7F:  # nearly all are single bytes
            shared, unshared, size, start = _sizes(content, position, end)
        middle = start + unshared
        position = middle + size
        if shared > len(key) or position > end:
            raise DataLossError(f"an entry of the block at byte {offset} is damaged")
        key = key[:shared] + content[start:middle]
        entries.append((key, content[middle:position]))
    return entries


def _sizes(block: Buffer, position: int, end: int) -> tuple[int, int, int, int]:
    """Read the three varints that an entry begins with; the position after them comes last."""
    shared, position = wire.read_varint(block, position, end)
    unshared, position = wire.read_varint(block, position, end)
    size, position = wire.read_varint(block, position, end)
    return shared, unshared, size, position


def write_table(file: IO[bytes], items: Iterable[tuple[bytes, bytes]]) -> None:
    """Write a table; keys must come in order and without repetition."""
    offset = 0
    # Every key of the index is a restart point, as in TensorFlow's files: a reader in C++ searches the restart points by
    # bisection.
    index = _BlockBuilder(1)
    block = _BlockBuilder(_RESTART_INTERVAL)
    full: tuple[bytes, bytes] | None = None  # last key and handle of a full block; the index entry waits for the next key
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
    """Return a short key, not before `last` and before `following`, for a block's entry in the index."""
    # As in LevelDB, the key of a block in the index is any key up to the next block, and a short key makes a small index.
    at = _common_prefix(last, following)
    if at < min(len(last), len(following)) and last[at] + 1 < following[at]:
        return last[:at] + bytes([last[at] + 1])
    return last


def _successor(last: bytes) -> bytes:
    """Return a short key that is not before `last`."""
    for i, byte in enumerate(last):
        if byte != 0xFF:
            return last[:i] + bytes([byte + 1])
    return last


def _write_block(file: IO[bytes], block: _BlockBuilder, offset: int) -> tuple[bytes, int]:
    """Write a block at `offset`; return the block's handle, and the offset after the block."""
    contents = block.finish()
    trailer = bytes([_NO_COMPRESSION])
    checksum = mask(crc32c(trailer, crc32c(contents)))
    file.write(contents + trailer + struct.pack("<I", checksum))
    handle = varint(offset) + varint(len(contents))
    return handle, offset + len(contents) + _TRAILER_SIZE


class _BlockBuilder:
    """A builder of a block."""

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
        # A restart point has its whole key, so a reader can begin there without the keys before.
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
