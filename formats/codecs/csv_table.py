"""CSV files with a header: columns by name, and rows as a stream or by their bytes."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np

from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...core.support.regular_files import open_regular
from ...core.types.arrays import Array
from ...core.types.dtypes import DType, string
from ...core.types.shapes import UNKNOWN, Shape
from ...core.types.tensors import as_bytes_array
from .casts import cast_value

_BOM: Final = b"\xef\xbb\xbf"
_TRUTH: Final = {"true": 1, "false": 0}
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 64) - 1
"""The integers of all dtypes."""
_EXACT: Final = 15
"""The number of digits of an integer that a double holds exactly."""
_FEW: Final = 20
"""The largest number of columns that an error lists."""


class Row(NamedTuple):
    """A place in a file: the first byte, the byte behind, and the numbers, from 1, of the row and of its first line."""

    start: int
    end: int
    number: int
    line: int

    def place(self, path: str) -> str:
        """Return the file and the place in words."""
        return f"'{path}', row {self.number:,} (line {self.line:,})"


class CsvFile:
    """An open CSV file: the names of its columns, and its rows. `close` closes the file."""

    def __init__(self, path: str) -> None:
        """Open a file; DataLossError for a file without a header, InvalidArgumentError for two columns of a name."""
        self.path = path
        with file_errors(path):
            self._file: BinaryIO = open_regular(path)
        try:
            self.names = self._read_header()
        except BaseException:
            self._file.close()
            raise
        self._columns = {name: place for place, name in enumerate(self.names)}

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read_header(self) -> list[str]:
        with file_errors(self.path):
            # Spreadsheets write a byte order mark, which would be a part of the first column's name.
            start = len(_BOM) if self._file.read(len(_BOM)) == _BOM else 0
            self._file.seek(start)
            header, cells = next(_records(self.path, self._file, Row(start, start, 0, 1)), (Row(0, 0, 0, 1), []))
            self._file.seek(start)
            lines = self._file.read(header.end - start).count(b"\n")
        self._below = Row(header.end, header.end, 0, 1 + lines)
        names = [cell.strip() for cell in cells]
        if not any(names):
            raise DataLossError(f"'{self.path}' has no header", hint="the first line of a CSV file names the columns")
        # A column is chosen by its name, so two of a name could not be told apart.
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise InvalidArgumentError(f"'{self.path}' has two columns '{twice}'")
        return names

    def rows(self) -> Iterator[tuple[Row, list[str]]]:
        """Yield the rows below the header in order; a quoted cell may hold line ends. Blank lines are no rows."""
        with file_errors(self.path):
            self._file.seek(self._below.start)
            filled = (record for record in _records(self.path, self._file, self._below) if record[1])
            for number, (row, cells) in enumerate(filled, 1):
                yield row._replace(number=number), cells

    def read(self, row: Row) -> list[str]:
        """Return the cells of a row; DataLossError for a row of another length than the header."""
        with file_errors(self.path):
            self._file.seek(row.start)
            lines = self._file.read(row.end - row.start).splitlines(keepends=True)
        return self.whole(row, next((cells for _, cells in _records(self.path, lines, row)), []))

    def read_rows(self, rows: Sequence[Row]) -> list[list[str]] | None:
        """Return the cells of rows that stand one behind the other, read at once; None if others are between them."""
        with file_errors(self.path):
            self._file.seek(rows[0].start)
            lines = io.BytesIO(self._file.read(rows[-1].end - rows[0].start))
        cells = [record for _, record in _records(self.path, lines, rows[0]) if record]
        return list(map(self.whole, rows, cells)) if len(cells) == len(rows) else None

    def whole(self, row: Row, cells: list[str]) -> list[str]:
        """Return the cells of a row; DataLossError for another number of cells than of columns."""
        if len(cells) != len(self.names):
            problem = f"{row.place(self.path)}: the row has {len(cells)} cells, but the header has {len(self.names)}"
            raise DataLossError(problem, hint="put a cell with a comma into double quotes")
        return cells

    def places(self, names: Iterable[str]) -> list[int]:
        """Return the places of columns in a row; NotFoundError names the columns that exist."""
        places = []
        for name in names:
            if name not in self._columns:
                raise missing_column(f"'{self.path}'", name, self.names)
            places.append(self._columns[name])
        return places

    def as_array(
        self, rows: Sequence[Row], cells: Sequence[Sequence[str]], names: Sequence[str], dtype: DType | None
    ) -> Array:
        """Return the cells of columns, (rows, columns), in a dtype; without a dtype as numbers if all are numbers, or else
        as strings of bytes.

        InvalidArgumentError names the row and the column of a cell that is no number, or that does not fit the dtype.
        """
        if dtype is string:
            return as_bytes_array(cells)
        # Most cells are plain numbers, and NumPy converts all of them together.
        if dtype is not None and dtype.is_floating and (plain := _plain_numbers(cells)) is not None:
            return self._cast(plain, rows, names, dtype)
        numbers = [list(map(_number, row)) for row in cells]
        missing = next((place for place, row in enumerate(numbers) if None in row), None)
        if missing is None:
            return self._cast(np.array(numbers), rows, names, dtype)
        if dtype is None:
            return as_bytes_array(cells)
        column = numbers[missing].index(None)
        cell = cells[missing][column].strip()
        place = f"{rows[missing].place(self.path)}, column '{names[column]}'"
        problem = f"the cell '{cell[:80]}' is not a number" if cell else "the cell is empty"
        hint = "write nan for a missing number, or feed other columns: @FILE.csv:COLUMN,COLUMN"
        raise InvalidArgumentError(f"{place}: {problem}", hint=hint)

    def _cast(self, numbers: Array, rows: Sequence[Row], names: Sequence[str], dtype: DType | None) -> Array:
        """Return numbers, (rows, columns), in a dtype; an error names the first cell that does not fit."""
        try:
            return cast_value(numbers, dtype.base if dtype is not None else None, "the cells")
        except InvalidArgumentError:
            # All cells are cast at once. Only after an error are they cast one by one, to find the place of the cell.
            for row, cells in zip(rows, numbers):
                for name, cell in zip(names, cells):
                    self._cast_cell(cell, f"{row.place(self.path)}, column '{name}'", dtype)
            raise

    def _cast_cell(self, cell: Any, place: str, dtype: DType | None) -> None:
        try:
            cast_value(np.asarray(cell), dtype.base if dtype is not None else None, str(cell))
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{place}: {error.message}", hint=error.hint) from None


def find_rows(path: str) -> Iterator[Row]:
    """Yield the places of the rows below the header."""
    file = CsvFile(path)
    try:
        yield from (row for row, _ in file.rows())
    finally:
        file.close()


def read_columns(path: str, columns: Sequence[str] = (), dtype: DType | None = None, shape: Shape = UNKNOWN) -> Array:
    """Return columns as an array, all columns by default: (rows) of one column, (rows, columns) of several.

    The rank of `shape`, 2 or 1, decides where it is known and one column is read.
    """
    file = CsvFile(path)
    try:
        names = list(columns) or file.names
        places, rows, cells = file.places(names), [], []
        for row, texts in file.rows():
            whole = file.whole(row, texts)
            rows.append(row)
            cells.append([whole[place] for place in places])
        array = file.as_array(rows, cells, names, dtype).reshape(len(rows), len(names))
    finally:
        file.close()
    return array[:, 0] if len(names) == 1 and shape.rank != 2 else array


def missing_column(table: str, name: str, names: Sequence[str]) -> NotFoundError:
    """Return the error for a column that a table lacks, with the columns that exist."""
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return NotFoundError(f"{table} has no column '{name}'", hint=f"the columns are {', '.join(names[:_FEW])}{more}")


def _plain_numbers(cells: Sequence[Sequence[str]]) -> Array | None:
    """Return cells as doubles, if these are what `_number` reads: no words, and no digits that a double rounds."""
    try:
        numbers = np.array([list(map(float, row)) for row in cells])
    except ValueError:
        return None
    return numbers if max((len(cell) for row in cells for cell in row), default=0) <= _EXACT else None


def _number(cell: str) -> int | float | None:
    text = cell.strip().lower()
    if text in _TRUTH:
        return _TRUTH[text]
    # int first: a float would round the last digits of a large integer.
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if kind is float or _LEAST <= number <= _MOST:  # a larger integer is no number of NumPy
            return number
    return None


def _records(path: str, lines: Iterable[bytes], at: Row) -> Iterator[tuple[Row, list[str]]]:
    """Yield the place and the cells of each record, blank lines as records without cells; lines begin at the place `at`."""
    start = end = at.start

    def texts() -> Iterator[str]:
        nonlocal end
        for line in lines:
            end += len(line)
            yield line.decode("utf-8")

    # The reader is strict: a quote that is never closed would otherwise make one cell of all that follows. The reader takes a
    # line only when a record needs it, so `end` is the byte behind the record.
    reader, line = csv.reader(texts(), strict=True), at.line
    try:
        for cells in reader:
            yield Row(start, end, at.number, line), cells
            start, line = end, at.line + reader.line_num
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataLossError(f"'{path}' is not a CSV file: {error}, at byte {start}") from None


def table_bytes(name: str, array: Any, between: str = ",") -> bytes:
    """Return a tensor as CSV in columns of its name, or between tabs: without a header, as projectors read vectors.

    InvalidArgumentError for a tensor of more than two dimensions.
    """
    if array.ndim > 2:
        problem = f"'{name}' has {array.ndim} dimensions, but a table has only rows and columns"
        raise InvalidArgumentError(problem, hint="write .npy or .npz")
    columns = columns_of(name, array)
    return csv_bytes([*([tuple(columns)] if between == "," else []), *zip(*columns.values())], between)


def columns_of(name: str, array: Any) -> dict[str, list[str]]:
    """Return the cells of a tensor of at most two dimensions by the names of columns."""
    flat = array.reshape(array.shape[0] if array.ndim else 1, math.prod(array.shape[1:]))
    return {name if array.ndim < 2 else f"{name}_{i}": list(map(_text, flat[:, i])) for i in range(flat.shape[1])}


def csv_bytes(rows: Iterable[Sequence[Any]], between: str = ",") -> bytes:
    """Return rows of cells as the lines of a file."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=between, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _text(value: Any) -> str:
    """Return text, or the shortest decimal that reads as the same number of the dtype."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
