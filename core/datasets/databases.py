"""Datasets of databases: rows of an SQLite query, pairs of keys and values of LMDB."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from ..codecs import lmdb
from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import check_time
from ..support import dataclasses
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


@dataclasses.dataclass(eq=False)
class Query(Dataset):
    """The rows that a query gives; values are converted as SQLite converts them. The database is not written to."""

    kind: ClassVar[str] = "Sql"
    path: str
    query: str
    dtypes: Sequence[DType]

    def begin(self) -> Pull:
        return deferred(lambda: pull_of(self._rows(*self._opened())))

    def _opened(self) -> tuple[sqlite3.Connection, sqlite3.Cursor]:
        with _sqlite_errors():
            connection = sqlite3.connect(f"{pathlib.Path(self.path).absolute().as_uri()}?mode=ro", uri=True)
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
                yield tuple([_converted(connection, value, dtype) for value, dtype in zip(row, self.dtypes)])


@contextlib.contextmanager
def _sqlite_errors() -> Iterator[None]:
    try:
        yield
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


@dataclasses.dataclass(eq=False)
class Pairs(Dataset):
    """The keys and values of LMDB databases, in the order of the keys."""

    kind: ClassVar[str] = "LMDB"
    paths: Sequence[bytes]
    open: OpenFile

    def begin(self) -> Pull:
        return pull_of(pair for path in self.paths for pair in self._pairs(path))

    def _pairs(self, path: bytes) -> Iterator[Element]:
        try:
            with self.open(path) as file:
                for key, value in lmdb.pairs(file):
                    yield scalar_object(key), scalar_object(value)
        except lmdb.DatabaseError as error:
            raise InvalidArgumentError(f"{path.decode('utf-8', 'replace')}: {error}") from error
