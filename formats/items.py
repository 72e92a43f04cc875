"""The inputs of a batch job: files that match patterns, and lines of JSON, each read as arrays."""

from __future__ import annotations

import abc
import array
import bisect
import contextlib
import dataclasses
import glob
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np

from ..core.codecs.tfrecord import RecordError, decode_record
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ..core.support.grouping import grouped
from ..core.support.hints import Hint, step
from ..core.support.regular_files import open_regular
from .codecs.arrow_table import ARROW, PARQUET, ArrowFile
from .codecs.csv_table import CsvFile, Row, find_rows
from .codecs.json_inputs import WHOLE, parse_json
from .codecs.npy import open_array
from .codecs.npz import read_npz
from .codecs.source import read_source
from .pictures import is_picture

CSV: Final = ".csv"
_DOCUMENT: Final = ".json"
_LINES: Final = (".jsonl", ".ndjson", _DOCUMENT)
_TABLES: Final = (*PARQUET, *ARROW)
_KINDS: Final = (
    f"inputs are pictures, and files with the extension .npz, .npy, .tfrecord, {CSV}, {', '.join((*_TABLES, *_LINES))}"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """An input: a file, or the part of a file of lines or rows from byte `start` up to `end`, which begins in line `line`.
    `name` names the input's result.
    """

    name: str
    path: str
    start: int | None = None
    end: int = 0
    line: int = 0

    @property
    def row(self) -> Row | None:
        """Return the place of a row of a CSV file, None for another input."""
        if self.start is None or not self.path.lower().endswith(CSV):
            return None
        return Row(self.start, self.end, int(self.name.rpartition("-")[2]), self.line)

    @property
    def is_arrow(self) -> bool:
        """Return True for a row of a Parquet or Arrow file, whose `start` is the number of the row, from 0."""
        return self.start is not None and self.path.lower().endswith(_TABLES)

    @property
    def place(self) -> str:
        """Return the file, and the number of a line of JSON or of a row, in words."""
        if self.is_arrow:
            return f"'{self.path}', row {self.line:,}"
        line = "" if self.start is None else f"line {self.line:,} of "
        return f"{line}'{self.path}'"

    @property
    def is_picture(self) -> bool:
        """Return True for an image file."""
        is_array = _is_records(self.path) or self.path.lower().endswith((".npz", ".npy"))
        return self.start is None and not is_array


_Made = TypeVar("_Made")


class MadeOnDemand(Sequence[_Made]):
    """A sequence whose elements are made when they are asked for."""

    @abc.abstractmethod
    def _at(self, index: int) -> _Made:
        """Make the element at a place, from 0."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._at(index)


class Chained(MadeOnDemand[_Made]):
    """Sequences one behind the other."""

    def __init__(self, parts: Sequence[Sequence[_Made]]) -> None:
        self._parts = parts
        self._ends = list(itertools.accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _at(self, index: int) -> _Made:
        part = bisect.bisect_right(self._ends, index)
        return self._parts[part][index - (self._ends[part - 1] if part else 0)]


class _FileRows(MadeOnDemand[Item]):
    """The rows or lines of a file: three numbers each, where an Item takes some 400 bytes."""

    def __init__(self, path: str, items: Iterator[Item]) -> None:
        self.path = path
        self.stem = ""
        self._places, self._numbers = array.array("q"), array.array("q")
        for item in items:
            self.stem, _, number = item.name.rpartition("-")
            self._places.extend((item.start or 0, item.end, item.line))
            self._numbers.append(int(number))

    def __len__(self) -> int:
        return len(self._numbers)

    def _at(self, index: int) -> Item:
        number = self._numbers[index]
        start, end, line = self._places[3 * index : 3 * index + 3]
        return Item(f"{self.stem}-{number:06d}", self.path, start, end, line)

    def shared_name(self, others: _FileRows) -> str | None:
        """Return the name of a row that has the name of a row of another file."""
        numbers = set(self._numbers).intersection(others._numbers) if others.stem == self.stem else ()
        return f"{self.stem}-{min(numbers):06d}" if numbers else None

    def has(self, name: str) -> bool:
        """Return True where a row has the name."""
        stem, _, number = name.rpartition("-")
        return stem == self.stem and number.isdecimal() and f"{int(number):06d}" == number and int(number) in self._numbers


class Items(Chained[Item]):
    """Inputs in their order: rows are made on demand."""

    def __init__(self, parts: Sequence[Sequence[Item]]) -> None:
        super().__init__(parts)
        self._check_names()

    def _check_names(self) -> None:
        """InvalidArgumentError for two inputs with the same name."""
        rows = [part for part in self._parts if isinstance(part, _FileRows)]
        names: dict[str, Item] = {}
        for item in (item for part in self._parts if not isinstance(part, _FileRows) for item in part):
            other = names.setdefault(item.name, item)
            if other is not item:
                raise _shared(other.path, item.path, item.name)
        stems = {part.stem for part in rows}
        for name, item in names.items():
            if name.rpartition("-")[0] in stems:
                for part in rows:
                    if part.has(name):
                        raise _shared(part.path, item.path, name)
        by_stem = grouped((part.stem, part) for part in rows)
        for pair in itertools.chain.from_iterable(itertools.combinations(own, 2) for own in by_stem.values()):
            if (shared := pair[0].shared_name(pair[1])) is not None:
                raise _shared(pair[0].path, pair[1].path, shared)


def _shared(path: str, other: str, name: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"'{path}' and '{other}' would share the result '{name}'")


def find_items(patterns: Sequence[str]) -> Items:
    """Return the inputs that match patterns, sorted in each: npz, npy and TFRecord files, pictures, the lines of files of
    JSON, and the rows of CSV files. A folder stands for its files of these kinds, in folders below too.

    Names are paths below the files' common folder, without endings; lines and rows are numbered from 1. NotFoundError for a
    pattern without a match and for files without a row or line, InvalidArgumentError for a file of another kind and for two
    inputs with the same name.
    """
    paths = list(dict.fromkeys(path for pattern in patterns for path in _matching(pattern)))
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}
    shared = os.path.commonpath(folders) if folders else ""
    items = Items([_part(path, os.path.relpath(os.path.abspath(path), shared)) for path in paths])
    if paths and not items:
        raise NotFoundError(f"'{paths[0]}' has no rows", hint="the command runs once for each row or line of the file")
    return items


def _part(path: str, below: str) -> Sequence[Item]:
    """Return the inputs of a file."""
    items = _items(path, below)
    first = next(items, None)
    if first is None or first.start is None:
        return [] if first is None else [first]
    return _FileRows(path, itertools.chain([first], items))


def _feeding(pattern: str) -> str | None:
    """Return the step for a pattern of the form TENSOR=@FILES, as feeds have it."""
    tensor, equals, files = pattern.partition("=")
    if not equals:
        return None
    return Hint(step("each", tensor=tensor, files=files.removeprefix("@")), f" feeds each file to {tensor}")


def _matching(pattern: str) -> list[str]:
    if os.path.isdir(pattern):
        below = glob.glob(os.path.join(glob.escape(pattern), "**"), recursive=True)
        paths = sorted(path for path in below if os.path.isfile(path) and _is_input(path))
        if not paths:
            raise NotFoundError(f"folder '{pattern}' has no inputs", hint=_KINDS)
        return paths
    paths = sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    if not paths:
        raise NotFoundError(f"no file matches '{pattern}'", hint=_feeding(pattern))
    return paths


def _is_input(path: str) -> bool:
    ending = os.path.splitext(path)[1].lower()
    return _is_records(path) or ending in (".npz", ".npy", CSV, *_TABLES, *_LINES) or is_picture(path)


def _items(path: str, below: str) -> Iterator[Item]:
    stem, ending = os.path.splitext(below)
    if _is_records(path):
        yield Item(below.replace(".tfrecords", "").replace(".tfrecord", ""), path)
    elif ending in (".npz", ".npy"):
        yield Item(stem, path)
    elif ending in _LINES:
        yield from _lines(path, stem)
    elif ending == CSV:
        yield from (Item(f"{stem}-{row.number:06d}", path, row.start, row.end, row.line) for row in find_rows(path))
    elif ending.lower() in _TABLES:
        with contextlib.closing(ArrowFile(path)) as table:
            yield from (Item(f"{stem}-{row + 1:06d}", path, row, row + 1, row + 1) for row in range(len(table)))
    elif is_picture(path):
        yield Item(stem, path)
    else:
        raise InvalidArgumentError(f"'{path}' is not an input", hint=_KINDS)


def _is_records(path: str) -> bool:
    return ".tfrecord" in os.path.basename(path)


def _lines(path: str, stem: str) -> Iterator[Item]:
    """Yield the lines that are not blank; a .json file of a single document, in several lines, is a line."""
    start = 0
    with file_errors(path), open_regular(path) as file:
        if path.endswith(_DOCUMENT) and _is_document(file):
            yield Item(f"{stem}-{1:06d}", path, 0, file.seek(0, os.SEEK_END), 1)
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Item(f"{stem}-{number:06d}", path, start, start + len(line), number)
            start += len(line)


def _is_document(file: BinaryIO) -> bool:
    """Return True for a file that is JSON as a whole, and whose first line is none."""
    return not _is_json(next(filter(bytes.strip, file), b"")) and file.seek(0) == 0 and _is_json(file.read())


def _is_json(text: bytes) -> bool:
    try:
        parse_json(text)
    except InvalidArgumentError:
        return False
    return True


class ItemReader:
    """Reads inputs. The file of the last line or row stays open, so that its next line costs no more than itself."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._lines: BinaryIO | None = None
        self._table: CsvFile | None = None
        self._arrow: ArrowFile | None = None

    def close(self) -> None:
        """Close the open file."""
        for file in (self._lines, self._table, self._arrow):
            if file is not None:
                file.close()
        self._path = self._lines = self._table = self._arrow = None

    def read(self, item: Item) -> Mapping[str, Any]:
        """Return the arrays of a file by name, which is no picture and no file of lines; as tensors for an npz file.

        An npy file and a TFRecord file, a vector of strings, have the name `WHOLE`. NotFoundError where the file is gone,
        DataLossError where the file is damaged.
        """
        if _is_records(item.path):
            return {WHOLE: _records(item.path)}
        if item.path.endswith(".npy"):
            return {WHOLE: open_array(item.path).read()}
        return read_npz(item.path)

    def document(self, item: Item) -> Any:
        """Return the value of a line of JSON; DataLossError where it is not JSON."""
        try:
            return parse_json(self._line(item))
        except InvalidArgumentError as error:
            raise DataLossError(f"{item.place} is {error.message}") from None

    def documents(self, items: Sequence[Item]) -> list[Any]:
        """Return the values of lines of a file, read at once; InvalidArgumentError where one is not JSON."""
        first, last = items[0], items[-1]
        data = self._line(dataclasses.replace(first, end=last.end))
        start = first.start or 0
        return [parse_json(data[(item.start or 0) - start : item.end - start]) for item in items]

    def table(self, path: str) -> CsvFile:
        """Return an open CSV file."""
        if self._table is None or self._path != path:
            self.close()
            self._table = CsvFile(path)
            self._path = path
        return self._table

    def arrow(self, path: str) -> ArrowFile:
        """Return an open Parquet or Arrow file."""
        if self._arrow is None or self._path != path:
            self.close()
            self._arrow = ArrowFile(path)
            self._path = path
        return self._arrow

    def _line(self, item: Item) -> bytes:
        assert item.start is not None
        with file_errors(item.path):
            if self._lines is None or self._path != item.path:
                self.close()
                self._lines = open_regular(item.path)
                self._path = item.path
            self._lines.seek(item.start)
            return self._lines.read(item.end - item.start)


def _records(path: str) -> Any:
    data, position, records = bytes(read_source(path)), 0, []
    try:
        while position < len(data):
            record, position = decode_record(data, position)
            records.append(record)
    except RecordError as error:
        raise DataLossError(f"record {len(records) + 1:,} of '{path}' is damaged: {error}") from None
    result = np.empty(len(records), object)
    result[:] = records
    return result
