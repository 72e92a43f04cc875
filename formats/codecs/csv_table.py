"""CSV files with a header: columns by name, and rows by their bytes."""

from __future__ import annotations

import csv
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...core.support.regular_files import open_regular
from ...core.types.arrays import Array
from ...core.types.dtypes import DType, string
from ...core.types.shapes import UNKNOWN, Shape
from ...core.types.tensors import as_bytes_array
from .source import read_source

_BOM: Final = b"\xef\xbb\xbf"
_TRUTH: Final = {"true": 1, "false": 0}

Row = tuple[int, int]
"""The first byte of a row and the byte behind it."""


def read_header(path: str) -> list[str]:
    """Return the names of the columns; DataLossError for a file without a header, InvalidArgumentError for equal names."""
    with file_errors(path):
        return list(_header(path, os.stat(path).st_mtime_ns)[0])


def find_rows(path: str) -> Iterator[Row]:
    """Yield the places of the rows below the header; a quoted cell may hold line ends. Blank lines are no rows."""
    with file_errors(path):
        start = _header(path, os.stat(path).st_mtime_ns)[1]
        with open_regular(path) as file:
            file.seek(start)
            yield from (place for place, cells in _records(path, file, start) if cells)


def read_row(path: str, row: Row) -> dict[str, str]:
    """Return the cells of a row by column; DataLossError for a row of another length than the header."""
    names = read_header(path)
    data = bytes(read_source(path)[row[0] : row[1]])
    cells = next(iter(_records(path, data.splitlines(keepends=True), row[0])))[1]
    if len(cells) != len(names):
        problem = f"{row_place(path, row)}: the row has {len(cells)} cells, but the header has {len(names)}"
        raise DataLossError(problem, hint="put a cell with a comma into double quotes")
    return dict(zip(names, cells))


def row_place(path: str, row: Row) -> str:
    """Return the file, the number of a row below the header and the number of its first line, in words."""
    number = next(number for number, place in enumerate(find_rows(path), 1) if place == row)
    line = 1 + bytes(read_source(path)[: row[0]]).count(b"\n")
    return f"'{path}', row {number:,} (line {line:,})"


def read_columns(path: str, columns: Sequence[str] = (), dtype: DType | None = None, shape: Shape = UNKNOWN) -> Array:
    """Return columns as an array, all columns by default: (rows) of one column, (rows, columns) of several.

    The rank of `shape`, 2 or 1, decides where it is known and one column is read.
    """
    names, rows = list(columns) or read_header(path), {row: read_row(path, row) for row in find_rows(path)}
    array = cells_as_array(path, rows, names, dtype).reshape(len(rows), len(names))
    return array[:, 0] if len(names) == 1 and shape.rank != 2 else array


def pick(row: Mapping[str, str], names: Sequence[str], path: str) -> list[str]:
    """Return the cells of columns; NotFoundError names the columns that exist."""
    for name in names:
        if name not in row:
            raise NotFoundError(f"'{path}' has no column '{name}'", hint=f"the columns are {', '.join(row)}")
    return [row[name] for name in names]


def cells_as_array(path: str, rows: Mapping[Row, Mapping[str, str]], names: Sequence[str], dtype: DType | None) -> Array:
    """Return the cells of columns as numbers, or as strings of bytes for `string`; without a dtype as numbers where all are
    numbers. `rows` maps the places of rows to their cells.

    InvalidArgumentError names the row and the column of a cell that is no number.
    """
    cells = [pick(row, names, path) for row in rows.values()]
    if dtype is string:
        return as_bytes_array(cells)
    numbers = [list(map(_number, row)) for row in cells]
    missing = next(((row, column) for row, values in enumerate(numbers) for column, v in enumerate(values) if v is None), None)
    if missing is None:
        return np.array(numbers)
    if dtype is None:
        return as_bytes_array(cells)
    row, column = missing
    cell = cells[row][column].strip()
    place = f"{row_place(path, list(rows)[row])}, column '{names[column]}'"
    problem = f"the cell '{cell[:80]}' is not a number" if cell else "the cell is empty"
    hint = "write nan for a missing number, or feed other columns: @FILE.csv:COLUMN,COLUMN"
    raise InvalidArgumentError(f"{place}: {problem}", hint=hint)


def _number(cell: str) -> int | float | None:
    text = cell.strip().lower()
    if text in _TRUTH:
        return _TRUTH[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


@functools.lru_cache(maxsize=16)
def _header(path: str, changed: int) -> tuple[tuple[str, ...], int]:
    """Return the names of the columns and the first byte below them; `changed` is the time of the file's last change."""
    with open_regular(path) as file:
        start = len(_BOM) if file.read(len(_BOM)) == _BOM else 0
        file.seek(start)
        place, cells = next(_records(path, file, start), ((0, 0), []))
    names = tuple(cell.strip() for cell in cells)
    if not any(names):
        raise DataLossError(f"'{path}' has no header", hint="the first line of a CSV file names the columns")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidArgumentError(f"'{path}' has two columns '{twice}'")
    return names, place[1]


def _records(path: str, lines: Iterator[bytes] | Sequence[bytes], start: int) -> Iterator[tuple[Row, list[str]]]:
    """Yield the place and the cells of each record, blank lines as records without cells; lines begin at byte `start`."""
    end = start

    def texts() -> Iterator[str]:
        nonlocal end
        for line in lines:
            end += len(line)
            yield line.decode("utf-8")

    try:
        for cells in csv.reader(texts(), strict=True):
            yield (start, end), cells
            start = end
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataLossError(f"'{path}' is not a CSV file: {error}, at byte {start}") from None
