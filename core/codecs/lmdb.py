"""Databases of LMDB, read in the order of their keys: two meta pages, of which the later is valid, and a B+ tree.

Source of the format: the structures MDB_page, MDB_node and MDB_meta in the documentation of LMDB's internals,
http://www.lmdb.tech/doc/group__internal.html, on a little-endian machine of 64 bits.
"""

from __future__ import annotations

import io
import itertools
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from ..parallel.interruption_points import pause

_HEADER: Final = struct.Struct("<QHHHH")
"""The header of a page: page number, padding, flags, end of the node pointers, start of the nodes."""
_META: Final = struct.Struct("<IIQQ")
_TREE: Final = struct.Struct("<IHHQQQQQ")
_NODE: Final = struct.Struct("<HHHH")
_MAGIC: Final = 0xBEEFC0DE
"""The number that begins a meta page (MDB_MAGIC in mdb.c)."""
_BRANCH, _LEAF, _OVERFLOW = 1, 2, 4
"""The flags of pages (P_BRANCH, P_LEAF, P_OVERFLOW in mdb.c)."""
_BIG: Final = 1
"""The flag of an entry with data on overflow pages (F_BIGDATA in mdb.c)."""
_PLAIN_FLAGS: Final = 0x08
"""The flags of a tree without duplicates; only integer keys, a flag that changes nothing but the order, are allowed."""
_NO_PAGE: Final = 2**64 - 1
"""The page number of a tree without pages (P_INVALID in mdb.c)."""
_MAX_DEPTH: Final = 32
"""The largest number of pages from root to leaf (CURSOR_STACK in mdb.c); more are damage."""
_FIRST: Final = 4096
"""The number of bytes read to find out the size of pages."""


class DatabaseError(ValueError):
    """The file is no database, or is damaged."""


def pairs(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of the main tree; DatabaseError for a damaged file."""
    try:
        yield from _Database(file).pairs()
    except (struct.error, IndexError) as error:
        raise DatabaseError(f"the database is damaged: {error}") from error


class _Database:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = file.seek(0, io.SEEK_END)
        file.seek(0)
        first = file.read(_FIRST)
        _, size = self._meta(first)
        file.seek(size)
        metas = [self._meta(first)[0], self._meta(file.read(size))[0]]
        self._size = size
        _, self._flags, self._root = max(metas)
        if self._flags & ~_PLAIN_FLAGS:
            raise DatabaseError("databases with duplicate keys are not supported")

    def _meta(self, page: bytes) -> tuple[tuple[int, int, int], int]:
        """Return ((transaction, flags and root of the main tree), size of pages)."""
        position = _HEADER.size
        magic, version, _, _ = _META.unpack_from(page, position)
        if magic != _MAGIC or version != 1:
            raise DatabaseError("the file is not an LMDB database")
        free = _TREE.unpack_from(page, position + _META.size)
        main = _TREE.unpack_from(page, position + _META.size + _TREE.size)
        transaction = struct.unpack_from("<QQ", page, position + _META.size + 2 * _TREE.size)[1]
        if free[0] < 512 or free[0] > 1 << 16:
            raise DatabaseError(f"pages of {free[0]} bytes are not supported")
        return (transaction, main[1], main[7]), free[0]

    def _page(self, number: int, count: int = 1) -> bytes:
        if number * self._size >= self._end:
            raise DatabaseError(f"page {number} does not exist")
        self._file.seek(number * self._size)
        return self._file.read(count * self._size)

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and values of the main tree; DatabaseError for a damaged file."""
        if self._root == _NO_PAGE:
            return
        pending = [(self._root, 1)]
        for seen in itertools.count():
            if not pending:
                return
            if seen * self._size >= self._end:
                raise DatabaseError("a page has several parents")
            pause()
            number, depth = pending.pop()
            page = self._page(number)
            _, _, flags, lower, _ = _HEADER.unpack_from(page)
            offsets = struct.unpack_from(f"<{(lower - _HEADER.size) // 2}H", page, _HEADER.size)
            if depth > _MAX_DEPTH or not flags & (_BRANCH | _LEAF):
                raise DatabaseError(f"page {number} is not part of the tree")
            if flags & _LEAF:
                yield from (self._pair(page, offset) for offset in offsets)
            else:
                pending += [(_child(page, offset), depth + 1) for offset in reversed(offsets)]

    def _pair(self, page: bytes, offset: int) -> tuple[bytes, bytes]:
        low, high, flags, length = _NODE.unpack_from(page, offset)
        start, size = offset + _NODE.size + length, low | high << 16
        key = page[offset + _NODE.size : start]
        value = self._big(page, start, size) if flags & _BIG else page[start : start + size]
        if flags & ~_BIG or len(key) != length or len(value) != size:
            raise DatabaseError("an entry of the database is truncated or of an unsupported kind")
        return key, value

    def _big(self, page: bytes, start: int, size: int) -> bytes:
        """Return a value stored on overflow pages."""
        number = struct.unpack_from("<Q", page, start)[0]
        pages = self._page(number, -(-(size + _HEADER.size) // self._size))
        if not _HEADER.unpack_from(pages)[2] & _OVERFLOW:
            raise DatabaseError(f"page {number} holds no value")
        return pages[_HEADER.size : _HEADER.size + size]


def _child(page: bytes, offset: int) -> int:
    low, high, flags, _ = _NODE.unpack_from(page, offset)
    return int(low | high << 16 | flags << 32)
