"""Parquet and Arrow files, and tables of pyarrow: columns as arrays, and arrays as columns. The extra `arrow` has pyarrow."""

from __future__ import annotations

import bisect
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final

import numpy as np

from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ...core.support.hints import extra_hint
from ...core.support.places import plain
from ...core.support.regular_files import open_regular
from ...core.types.arrays import Array
from ...core.types.tensors import as_bytes_array
from .csv_table import missing_column

PARQUET: Final = (".parquet", ".pq")
ARROW: Final = (".arrow", ".feather")


def pyarrow() -> Any:
    """Return the package with its submodules for files; UnimplementedError without the extra."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise UnimplementedError("Arrow and Parquet need pyarrow, which is not installed", hint=extra_hint("arrow")) from None
    return pyarrow


@contextlib.contextmanager
def _damage(path: str) -> Iterator[None]:
    """Have errors of pyarrow name the file."""
    with file_errors(path):
        try:
            yield
        except (pyarrow().ArrowException, OSError) as error:
            # An OSError of the system has a number; pyarrow's own OSErrors about damaged files have none.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise DataLossError(f"'{path}' is damaged: {error}") from None


class ArrowFile:
    """An open Parquet or Arrow file: the names of its columns, and its rows. `close` closes the file.

    A group of rows, as the file has them, is in memory at a time.
    """

    def __init__(self, path: str) -> None:
        """Open a file; DataLossError if it is damaged."""
        self.path = path
        arrow = pyarrow()
        with file_errors(path):
            # The file is not opened by pyarrow, which would open pipes and devices, too.
            self._file = open_regular(path)
        try:
            with _damage(path):
                if plain(path).lower().endswith(PARQUET):
                    parquet = arrow.parquet.ParquetFile(self._file)
                    groups = parquet.metadata.num_row_groups
                    sizes = [parquet.metadata.row_group(i).num_rows for i in range(groups)]
                    self._read, self._schema = parquet.read_row_group, parquet.schema_arrow
                else:
                    reader = arrow.ipc.open_file(self._file)
                    sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
                    self._read, self._schema = lambda i: arrow.Table.from_batches([reader.get_batch(i)]), reader.schema
        except BaseException:
            self._file.close()
            raise
        self.names: list[str] = list(self._schema.names)
        self._columns = frozenset(self.names)
        self.ends = list(itertools.accumulate(sizes))
        """The numbers of rows up to the end of each group of rows."""
        self._group: tuple[int, Any] = (-1, None)

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def rows(self, start: int, end: int) -> Any:
        """Return rows as a table of pyarrow."""
        parts = []
        with _damage(self.path):
            while start < end:
                number = bisect.bisect_right(self.ends, start)
                first = self.ends[number - 1] if number else 0
                # Rows are asked for in order, so the group of the last row is kept, and no other.
                if self._group[0] != number:
                    self._group = number, self._read(number)
                last = min(end, self.ends[number])
                parts.append(self._group[1].slice(start - first, last - start))
                start = last
            return pyarrow().concat_tables(parts) if len(parts) > 1 else parts[0]

    def check(self, names: Sequence[str]) -> None:
        """NotFoundError for a column that the file lacks."""
        missing = next((name for name in names if name not in self._columns), None)
        if missing is not None:
            raise missing_column(f"'{self.path}'", missing, self.names)


def column_array(column: Any, name: str) -> Array:
    """Return a column of pyarrow, (rows) and the axes of lists; InvalidArgumentError for missing values in integers and
    strings, for lists of several lengths, and for types without a dtype.
    """
    arrow = pyarrow()
    array = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    if isinstance(array, arrow.ChunkedArray):  # a column without rows
        array = arrow.concat_arrays(array.chunks) if array.num_chunks else arrow.array([], array.type)
    kind = array.type
    if arrow.types.is_dictionary(kind):
        return column_array(array.dictionary_decode(), name)
    if isinstance(kind, arrow.BaseExtensionType):
        tensors = isinstance(kind, arrow.FixedShapeTensorType)
        return np.asarray(array.to_numpy_ndarray()) if tensors else column_array(array.storage, name)
    # A missing float becomes NaN; no other type has such a value.
    if array.null_count and not arrow.types.is_floating(kind):
        raise InvalidArgumentError(f"column '{name}' has missing values", hint="fill them, or feed other columns")
    if arrow.types.is_fixed_size_list(kind) or arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
        return _of_lists(array, name)
    if arrow.types.is_boolean(kind) or arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    texts = ("is_string", "is_large_string", "is_binary", "is_large_binary", "is_fixed_size_binary", "is_string_view")
    if not any(getattr(arrow.types, test)(kind) for test in texts):
        raise InvalidArgumentError(f"column '{name}' has the type {kind}, which no tensor has")
    return as_bytes_array(array.to_pylist())


def _of_lists(array: Any, name: str) -> Array:
    lengths = set(pyarrow().compute.list_value_length(array).to_pylist())
    if len(lengths) > 1:
        raise InvalidArgumentError(f"the lists of column '{name}' have several lengths")
    inner = column_array(array.flatten(), name)
    return inner.reshape(len(array), lengths.pop() if lengths else 0, *inner.shape[1:])


def arrow_column(array: Any, name: str) -> Any:
    """Return an array, (rows, ...), as a column: lists for the axes behind the first, binary for strings.

    InvalidArgumentError for complex numbers.
    """
    arrow = pyarrow()
    values = np.asarray(array)
    if values.dtype.kind == "c":
        raise InvalidArgumentError(f"'{name}' has complex numbers, which a table cannot hold", hint="write .npz")
    flat = values.ravel()
    if values.dtype == object or values.dtype.kind == "S":
        column = arrow.array(flat.tolist(), arrow.binary())
    else:
        is_own = values.dtype.isbuiltin == 1
        # Arrow has no bfloat16 and no float8: the next wider type holds each of their numbers.
        column = arrow.array(flat if is_own else flat.astype(np.float32 if values.dtype.itemsize > 1 else np.float16))
    # Lists are made from the innermost axis outwards, by offsets alone: the numbers are not copied.
    for axis in range(values.ndim - 1, 0, -1):
        lists = int(np.prod(values.shape[:axis]))
        offsets = np.arange(lists + 1, dtype=np.int64) * values.shape[axis]
        column = arrow.LargeListArray.from_arrays(arrow.array(offsets), column)
    return column


class ArrowWriter:
    """A writer of results to a Parquet or an Arrow file: all are a group of rows, written at the end. The file stays open."""

    def __init__(self, file: IO[bytes], is_parquet: bool) -> None:
        self._file = file
        self._is_parquet = is_parquet
        self._tables: list[Any] = []

    def add(self, names: Sequence[str], columns: Mapping[str, Any], keys: Any = None) -> None:
        """Add rows: the name of the result of each, columns of the input as a table, and arrays as columns."""
        arrow = pyarrow()
        kept = {} if keys is None else dict(zip(keys.column_names, keys.columns))
        made = {name: arrow_column(array, name) for name, array in columns.items()}
        table = arrow.table({"name": arrow.array(names, arrow.string()), **kept, **made})
        if self._tables and table.schema != self._tables[0].schema:
            raise InvalidArgumentError("a result has other columns than the results before", hint="use .npz or .jsonl")
        self._tables.append(table)

    def close(self) -> None:
        """Write the rows."""
        arrow = pyarrow()
        table = arrow.concat_tables(self._tables).combine_chunks() if self._tables else arrow.table({})
        if self._is_parquet:
            # pyarrow divides a table of more than a million rows by itself; readers take the shard as one group.
            arrow.parquet.write_table(table, self._file, row_group_size=max(table.num_rows, 1))
            return
        with arrow.ipc.new_file(self._file, table.schema) as writer:
            writer.write_table(table)
