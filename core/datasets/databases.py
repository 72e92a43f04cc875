"""Datasets of databases: rows of an SQLite query, pairs of keys and values of LMDB."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import pathlib
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

import numpy as np

from ..numerics.interruption_points import pause
from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import check_time
from ..support.errors import InvalidArgumentError, UnknownError
from ..types.dtypes import DType
from .dataset import Dataset, Element, Pull, deferred, pull_of
from .file_records import OpenFile

_STEPS: Final = 200
"""Instructions of SQLite's virtual machine between two checks of the run's deadline."""

_LONGEST: Final = 1 << 20
"""Bytes of the longest value that a query may make, so that an instruction (a call of printf, say) takes milliseconds.

A value stored in a database may be as long as its file.
"""
_READING: Final = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
_DANGEROUS: Final = ("load_extension", "fts3_tokenizer")
_ASKING: Final = ("table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list")
"""Pragmas with an argument that names the subject of a query, and sets nothing."""
_CAREFULLY: Final = ("trusted_schema = OFF", "cell_size_check = ON")
"""Pragmas for untrusted databases, advised by https://www.sqlite.org/security.html."""


class Query(Dataset, kind="Sql"):
    """The rows that a query gives; values are converted as SQLite converts them. The database is not written to."""

    path: str
    query: str
    dtypes: Sequence[DType]

    def begin(self) -> Pull:
        return deferred(lambda: pull_of(self._rows(*self._opened())))

    def _opened(self) -> tuple[sqlite3.Connection, sqlite3.Cursor]:
        with _sqlite_errors():
            # The file is named by an address, which escapes `?` in a name and forbids SQLite to write, even a journal.
            connection = sqlite3.connect(f"{pathlib.Path(self.path).absolute().as_uri()}?mode=ro", uri=True)
            # Text may have any encoding, and TensorFlow's strings are bytes.
            connection.text_factory = bytes
            for pragma in _CAREFULLY:
                connection.execute(f"PRAGMA {pragma}")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(_LONGEST, os.path.getsize(self.path)))
            connection.set_authorizer(_permission)
            connection.set_progress_handler(check_time, _STEPS)
            cursor = connection.execute(self.query)
        columns = len(cursor.description or ())
        if columns != len(self.dtypes):
            raise InvalidArgumentError(
                f"The number of columns in query ({columns}) must match the number of elements in output_types "
                f"({len(self.dtypes)})."
            )
        return connection, cursor

    def _rows(self, connection: sqlite3.Connection, cursor: sqlite3.Cursor) -> Iterator[Element]:
        with contextlib.closing(connection), _sqlite_errors():
            for row in cursor:
                # SQLite has a type for each value, not for each column, so that every value is converted.
                yield tuple([_converted(connection, value, dtype) for value, dtype in zip(row, self.dtypes)])


@contextlib.contextmanager
def _sqlite_errors() -> Iterator[None]:
    try:
        yield
    # SQLite loses the exception of a progress handler and reports an interruption, so the deadline is asked once more.
    except sqlite3.OperationalError as error:
        check_time()
        raise UnknownError(f"the query failed: {error}") from error
    except (sqlite3.Error, UnicodeEncodeError) as error:
        raise InvalidArgumentError(f"the query failed: {error}") from error


def _permission(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Authorize an action of SQLite: a query may read this database. Opening, creating, setting and addresses are denied."""
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = second not in _DANGEROUS
    elif action == sqlite3.SQLITE_PRAGMA:
        is_allowed = second is None or str(first).lower() in _ASKING
    else:
        is_allowed = action in _READING
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _converted(connection: sqlite3.Connection, value: Any, dtype: DType) -> Any:
    """Convert a value of a row to its dtype: by SQLite's own casts, integers cut to their bits, NULL as 0."""
    if dtype.is_object:
        return scalar_object(value if isinstance(value, bytes) else _cast(connection, value, "TEXT") or b"")
    if dtype.is_floating:
        return dtype.numpy.type(value if isinstance(value, float) else _cast(connection, value, "REAL") or 0)
    integer = value if isinstance(value, int) else _cast(connection, value, "INTEGER") or 0
    return np.int64(integer).astype(dtype.numpy)


def _cast(connection: sqlite3.Connection, value: Any, kind: str) -> Any:
    return connection.execute(f"SELECT CAST(? AS {kind})", (value,)).fetchone()[0]


class Pairs(Dataset, kind="LMDB"):
    """The keys and values of LMDB databases, in the order of the keys."""

    paths: Sequence[bytes]
    open: OpenFile

    def begin(self) -> Pull:
        return pull_of(pair for path in self.paths for pair in self._pairs(path))

    def _pairs(self, path: bytes) -> Iterator[Element]:
        try:
            with self.open(path) as file:
                for key, value in lmdb_pairs(file):
                    yield scalar_object(key), scalar_object(value)
        except LmdbError as error:
            raise InvalidArgumentError(f"{path.decode('utf-8', 'replace')}: {error}") from error


# Databases of LMDB, read in the order of their keys: two meta pages, of which the later is valid, and a B+ tree.
# Source of the format: the structures MDB_page, MDB_node and MDB_meta in the documentation of LMDB's internals,
# http://www.lmdb.tech/doc/group__internal.html, on a little-endian machine of 64 bits.

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


class LmdbError(ValueError):
    """The file is no database, or is damaged."""


def lmdb_pairs(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of the main tree; LmdbError for a damaged file."""
    try:
        yield from _LmdbFile(file).pairs()
    except (struct.error, IndexError) as error:
        raise LmdbError(f"the database is damaged: {error}") from error


class _LmdbFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = file.seek(0, io.SEEK_END)
        file.seek(0)
        first = file.read(_FIRST)
        _, size = self._meta(first)
        file.seek(size)
        # A transaction writes the meta page that the one before it did not, so both are read.
        metas = [self._meta(first)[0], self._meta(file.read(size))[0]]
        self._size = size
        # The page of the later transaction counts. The other page is the state before, in case the transaction was cut off.
        _, self._flags, self._root = max(metas)
        if self._flags & ~_PLAIN_FLAGS:
            raise LmdbError("databases with duplicate keys are not supported")

    def _meta(self, page: bytes) -> tuple[tuple[int, int, int], int]:
        """Return ((transaction, flags and root of the main tree), size of pages)."""
        position = _HEADER.size
        magic, version, _, _ = _META.unpack_from(page, position)
        if magic != _MAGIC or version != 1:
            raise LmdbError("the file is not an LMDB database")
        free = _TREE.unpack_from(page, position + _META.size)
        main = _TREE.unpack_from(page, position + _META.size + _TREE.size)
        transaction = struct.unpack_from("<QQ", page, position + _META.size + 2 * _TREE.size)[1]
        if free[0] < 512 or free[0] > 1 << 16:
            raise LmdbError(f"pages of {free[0]} bytes are not supported")
        return (transaction, main[1], main[7]), free[0]

    def _page(self, number: int, count: int = 1) -> bytes:
        if number * self._size >= self._end:
            raise LmdbError(f"page {number} does not exist")
        self._file.seek(number * self._size)
        return self._file.read(count * self._size)

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and values of the main tree; LmdbError for a damaged file."""
        if self._root == _NO_PAGE:
            return
        pending = [(self._root, 1)]
        for seen in itertools.count():
            if not pending:
                return
            # A walk over more pages than the file has means that a damaged tree leads around in a circle.
            if seen * self._size >= self._end:
                raise LmdbError("a page has several parents")
            pause()
            number, depth = pending.pop()
            page = self._page(number)
            _, _, flags, lower, _ = _HEADER.unpack_from(page)
            offsets = struct.unpack_from(f"<{(lower - _HEADER.size) // 2}H", page, _HEADER.size)
            if depth > _MAX_DEPTH or not flags & (_BRANCH | _LEAF):
                raise LmdbError(f"page {number} is not part of the tree")
            if flags & _LEAF:
                yield from (self._pair(page, offset) for offset in offsets)
            else:
                # The children are pushed in reverse, so that the stack gives the keys in order.
                pending += [(_child(page, offset), depth + 1) for offset in reversed(offsets)]

    def _pair(self, page: bytes, offset: int) -> tuple[bytes, bytes]:
        low, high, flags, length = _NODE.unpack_from(page, offset)
        start, size = offset + _NODE.size + length, low | high << 16
        key = page[offset + _NODE.size : start]
        value = self._big(page, start, size) if flags & _BIG else page[start : start + size]
        if flags & ~_BIG or len(key) != length or len(value) != size:
            raise LmdbError("an entry of the database is truncated or of an unsupported kind")
        return key, value

    def _big(self, page: bytes, start: int, size: int) -> bytes:
        """Return a value stored on overflow pages."""
        number = struct.unpack_from("<Q", page, start)[0]
        pages = self._page(number, -(-(size + _HEADER.size) // self._size))
        if not _HEADER.unpack_from(pages)[2] & _OVERFLOW:
            raise LmdbError(f"page {number} holds no value")
        return pages[_HEADER.size : _HEADER.size + size]


def _child(page: bytes, offset: int) -> int:
    low, high, flags, _ = _NODE.unpack_from(page, offset)
    return int(low | high << 16 | flags << 32)
