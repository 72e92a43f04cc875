"""Inputs in files: the files that match patterns, their rows and lines, and the values of tensors that each one has."""

from __future__ import annotations

import abc
import array
import bisect
import contextlib
import functools
import glob
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, Protocol, TypeVar

import numpy as np

from ..core.comparing.row_blocks import InputBlock, row_count
from ..core.graph.graph import Graph, Output
from ..core.graph.metagraph import Signature, argument_tensor
from ..core.planning.reachability import needed_nodes
from ..core.runtime.session.named_components import Composite, composite_of
from ..core.support import dataclasses
from ..core.support.atomic import file_errors
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from ..core.support.grouping import grouped
from ..core.support.hints import Hint, step, value_place
from ..core.support.places import is_address, is_folder, matching, plain
from ..core.support.regular_files import open_regular
from ..core.types.arrays import Array
from ..core.types.shapes import Shape
from ..core.types.tensors import Tensor
from .codecs.arrow_table import ARROW, PARQUET, ArrowFile, column_array
from .codecs.casts import cast_value
from .codecs.csv_table import CsvFile, Row, find_rows
from .codecs.json_inputs import WHOLE, is_json, named_values, parse_json
from .codecs.numpy_files import open_array, read_npz
from .codecs.source import read_source
from .pictures import is_picture, parse_transform
from .value_literals import fed_shape, joined_rows, records_in, value_of

CSV: Final = ".csv"
_DOCUMENT: Final = ".json"
_LINES: Final = (".jsonl", ".ndjson", _DOCUMENT)
_TABLES: Final = (*PARQUET, *ARROW)
_KINDS: Final = (
    f"inputs are pictures, and files with the extension .npz, .npy, .tfrecord, {CSV}, {', '.join((*_TABLES, *_LINES))}"
)
EACH: Final = "@each"
"""The value of a --feed that stands for an input, with `:KEY` for an array or for columns, with `?OPTIONS` for a picture."""
_ALL: Final = (WHOLE, "*")
"""The keys of all columns."""
_PART: Final = re.compile(r"([^?]*)(\?.*)?", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """An input: a file, or its lines or rows from byte `start` up to `end`, from line `line` on. `name` is the result's."""

    name: str
    path: str
    start: int | None = None
    end: int = 0
    line: int = 0

    @property
    def row(self) -> Row | None:
        """Return the place of a row of a CSV file, None for another input."""
        # The name is compared without a query: the last part of a signed address may be a piece of the signature.
        if self.start is None or not plain(self.path).lower().endswith(CSV):
            return None
        return Row(self.start, self.end, int(self.name.rpartition("-")[2]), self.line)

    @property
    def is_arrow(self) -> bool:
        """Return True for a row of a Parquet or Arrow file, whose `start` is the number of the row, from 0."""
        return self.start is not None and plain(self.path).lower().endswith(_TABLES)

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
        # The name decides without a look into the file: `find_items` has let nothing else pass, and the question is asked for
        # each input of a job.
        is_array = _is_records(self.path) or plain(self.path).lower().endswith((".npz", ".npy"))
        return self.start is None and not is_array

    @property
    def is_slow(self) -> bool:
        """Return True for a picture, which is decoded and resized outside of Python's lock, and for a file that is fetched
        from an address, which is mostly waiting.
        """
        return self.start is None and (is_address(self.path) or self.is_picture)


_Made = TypeVar("_Made")


# A job may have millions of rows, of which one block is in work: a list of all would be hundreds of megabytes.
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
    """The rows or lines of a file, made on demand. `stem` and a number are the name of a row."""

    path: str
    stem: str

    @property
    @abc.abstractmethod
    def numbers(self) -> Sequence[int]:
        """The numbers of the rows, in order."""

    def shared_name(self, others: _FileRows) -> str | None:
        """Return the name of a row that has the name of a row of another file."""
        if others.stem != self.stem:
            return None
        # A range answers `in` by arithmetic, while a set of all rows takes memory.
        theirs = others.numbers if isinstance(others.numbers, range) else set(others.numbers)
        shared = next((number for number in self.numbers if number in theirs), None)
        return None if shared is None else f"{self.stem}-{shared:06d}"

    def has(self, name: str) -> bool:
        """Return True if a row has the name."""
        stem, _, number = name.rpartition("-")
        # Only the spelling of the row's own name counts: `t-7` and `t-0000007` are other names.
        return stem == self.stem and number.isdecimal() and f"{int(number):06d}" == number and int(number) in self.numbers


class _TextRows(_FileRows):
    """The rows or lines of a file of text: three numbers each, where an Item takes some 400 bytes."""

    def __init__(self, path: str, items: Iterator[Item]) -> None:
        self.path = path
        self.stem = ""
        # The module array stores 8 bytes a number; a list of int objects would take four times as much.
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

    @property
    def numbers(self) -> Sequence[int]:
        return self._numbers


class _ArrowRows(_FileRows):
    """The rows of a Parquet or Arrow file from one place up to another: they take no memory each."""

    def __init__(self, path: str, stem: str, start: int, end: int, groups: Sequence[int] = ()) -> None:
        """`groups` are the ends of the file's groups of rows."""
        self.path, self.stem, self.groups = path, stem, groups
        self._rows = range(start, end)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def numbers(self) -> Sequence[int]:
        return range(self._rows.start + 1, self._rows.stop + 1)

    def _at(self, index: int) -> Item:
        row = self._rows[index]
        return Item(f"{self.stem}-{row + 1:06d}", self.path, row, row + 1, row + 1)

    def part(self, start: int, end: int) -> _ArrowRows:
        """Return some of the rows, by their places among these."""
        return _ArrowRows(self.path, self.stem, self._rows.start + start, self._rows.start + end)


class Items(Chained[Item]):
    """Inputs in their order: rows are made on demand."""

    def __init__(self, parts: Sequence[Sequence[Item]]) -> None:
        super().__init__(parts)
        self._check_names()

    def part(self, start: int, end: int) -> Sequence[Item]:
        """Return the inputs from one place up to another."""
        number = bisect.bisect_right(self._ends, start)
        rows, first = self._parts[number], self._ends[number - 1] if number else 0
        # A part of a file stays a range, which a task carries to another process in a few bytes.
        if isinstance(rows, _ArrowRows) and end <= self._ends[number]:
            return rows.part(start - first, end - first)
        return list(self[start:end])

    def group_ends(self, least: int) -> list[int] | None:
        """Return the ends of the groups of rows in Parquet and Arrow files, small groups of a file joined to groups of at
        least so many rows; None if other inputs are among them.
        """
        ends: list[int] = []
        for rows, end in zip(self._parts, self._ends):
            if not isinstance(rows, _ArrowRows):
                return None
            first = start = end - len(rows)
            for group in rows.groups:
                # No group joins two files: a worker then reads whole groups, of one file at a time.
                if first + group - start >= least or first + group == end:
                    start = first + group
                    ends.append(start)
        return ends

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
        # Only files of the same stem can have rows of the same name, so pairs of others are not looked at.
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
    spelled = [os.path.abspath(plain(path)) for path in paths]  # an address as if it were a path, for the names
    folders = set(map(os.path.dirname, spelled))
    shared = os.path.commonpath(folders) if folders else ""
    items = Items([_part(path, os.path.relpath(own, shared)) for path, own in zip(paths, spelled)])
    if paths and not items:
        raise NotFoundError(f"'{paths[0]}' has no rows", hint="the command runs once for each row or line of the file")
    return items


def _part(path: str, below: str) -> Sequence[Item]:
    """Return the inputs of a file."""
    stem, ending = os.path.splitext(below)
    if ending.lower() in _TABLES:
        with contextlib.closing(ArrowFile(path)) as table:
            return _ArrowRows(path, stem, 0, len(table), sorted({*table.ends} - {0}))
    items = _items(path, below)
    # The first item tells whether the file is one input or many, before its lines are counted.
    first = next(items, None)
    if first is None or first.start is None:
        return [] if first is None else [first]
    return _TextRows(path, itertools.chain([first], items))


def _matching(pattern: str) -> list[str]:
    if is_folder(pattern):
        paths = list(filter(_is_input, matching(os.path.join(glob.escape(pattern), "**"))))
        if not paths:
            raise NotFoundError(f"folder '{pattern}' has no inputs", hint=_KINDS)
        return paths
    paths = matching(pattern)
    if not paths:
        # TENSOR=@FILES is how feeds name the tensor.
        tensor, equals, files = pattern.partition("=")
        hint = Hint(step("each", tensor=tensor, files=files.removeprefix("@")), f" feeds each file to {tensor}")
        raise NotFoundError(f"no file matches '{pattern}'", hint=hint if equals else None)
    return paths


def _is_input(path: str) -> bool:
    ending = os.path.splitext(plain(path))[1].lower()
    if not is_address(path) and not os.path.isfile(path):
        return False  # a pipe, for example
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
    elif is_picture(path):
        yield Item(stem, path)
    else:
        raise InvalidArgumentError(f"'{path}' is not an input", hint=_KINDS)


def _is_records(path: str) -> bool:
    return ".tfrecord" in os.path.basename(plain(path))


def _lines(path: str, stem: str) -> Iterator[Item]:
    """Yield the lines that are not blank; a .json file of a single document, in several lines, is a line."""
    start = 0
    with file_errors(path), open_regular(path) as file:
        # A .json file may hold lines of JSON, or one document printed over several lines; its name does not tell.
        if plain(path).endswith(_DOCUMENT) and _is_document(file):
            yield Item(f"{stem}-{1:06d}", path, 0, file.seek(0, os.SEEK_END), 1)
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            if line.strip():
                yield Item(f"{stem}-{number:06d}", path, start, start + len(line), number)
            start += len(line)


def _is_document(file: BinaryIO) -> bool:
    """Return True for a file that is JSON as a whole, and whose first line is none."""
    # The first line decides nearly always, and is short; the whole file is parsed only if that line is no JSON.
    return not is_json(next(filter(bytes.strip, file), b"")) and file.seek(0) == 0 and is_json(file.read())


class ItemReader:
    """Reads inputs. The file of the last line or row stays open, so that its next line costs no more than itself."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._file: Any = None

    def close(self) -> None:
        """Close the open file."""
        if self._file is not None:
            self._file.close()
        self._path = self._file = None

    def read(self, item: Item) -> Mapping[str, Any]:
        """Return the arrays of a file by name, which is no picture and no file of lines; as tensors for an npz file.

        An npy file and a TFRecord file, a vector of strings, have the name `WHOLE`. NotFoundError if the file is gone,
        DataLossError if the file is damaged.
        """
        if _is_records(item.path):
            return {WHOLE: records_in(read_source(item.path), item.path)}
        if plain(item.path).endswith(".npy"):
            return {WHOLE: open_array(item.path).read()}
        return read_npz(item.path)

    def document(self, item: Item) -> Any:
        """Return the value of a line of JSON; DataLossError if it is not JSON."""
        try:
            return parse_json(self._line(item))
        except InvalidArgumentError as error:
            raise DataLossError(f"{item.place} is {error.message}") from None

    def documents(self, items: Sequence[Item]) -> list[Any]:
        """Return the values of lines of a file, read at once; InvalidArgumentError if one is not JSON."""
        # A block of lines is one read. Lines in between that are no input, such as blank ones, are cut out by the places.
        first, last = items[0], items[-1]
        data = self._line(dataclasses.replace(first, end=last.end))
        start = first.start or 0
        return [parse_json(data[(item.start or 0) - start : item.end - start]) for item in items]

    def table(self, path: str) -> CsvFile:
        """Return an open CSV file."""
        return self._opened(path, CsvFile)

    def arrow(self, path: str) -> ArrowFile:
        """Return an open Parquet or Arrow file."""
        return self._opened(path, ArrowFile)

    def _line(self, item: Item) -> bytes:
        assert item.start is not None
        with file_errors(item.path):
            lines = self._opened(item.path, open_regular)
            lines.seek(item.start)
            return lines.read(item.end - item.start)

    def _opened(self, path: str, open_file: Callable[[str], _Made]) -> _Made:
        """Return a file, which stays open; the name of a file says what opens it, so that the same path is the same file."""
        # With short lines, opening the file again for each of them would take most of the time.
        if self._path != path:
            self.close()
            self._file, self._path = open_file(path), path
        file: _Made = self._file
        return file


class ColumnNames(Protocol):
    """A table, as far as its columns feed tensors."""

    names: list[str]


class InputArrays:
    """The values to feed for an input: its arrays by the names of tensors."""

    def __init__(
        self,
        graph: Graph,
        signature: Signature | None,
        fetches: Sequence[str],
        parts: Mapping[str, str],
        find: Callable[[str], Output] | None = None,
    ) -> None:
        """`parts` say for tensors which part of an input feeds them. `signature` has the names of inputs.

        `find` returns the tensor of a name. InvalidArgumentError for wrong options of pictures.
        """
        self._graph, self._signature, self._fetches = graph, signature, fetches
        words = self._words = {} if signature is None else signature.fed
        # The same few names are asked for in each row.
        self._composite = functools.cache(functools.partial(composite_of, graph, signature))
        self._reader = ItemReader()
        self._found: tuple[ColumnNames | None, Sequence[str]] = None, ()
        self._find = find or (lambda word: graph.output(argument_tensor(word, words, graph)))
        matches = {name: _PART.fullmatch(text) for name, text in parts.items()}
        self._tensors = {match[1] or WHOLE: name for name, match in matches.items() if match}
        self._options = {name: match[2] or "" for name, match in matches.items() if match}
        for name, options in self._options.items():
            self._find(name)
            parse_transform(options)

    def of(self, item: Item) -> dict[str, Any]:
        """Return the values to feed by the names of tensors."""
        if item.row is not None:
            return self._of_row(self._reader.table(item.path), item.row)
        if item.is_arrow:
            return self._of_arrow(self._reader.arrow(item.path), [item])
        if item.start is not None:
            return self._of_document(item)
        if item.is_picture:
            word = self._tensor(WHOLE)
            fed = self._find(word)
            picture = f"@{item.path}{self._options.get(word, '')}"
            return {fed.name: value_of(picture, fed.dtype, value_place("feed", word), fed_shape(fed))}
        values: dict[str, Any] = {}
        given = self._reader.read(item)
        for key, value in given.items():
            if isinstance(value, Tensor) and value.lack is not None and not self._is_fed(key):
                continue  # nobody can read it, and no tensor takes it
            arrays = self._divided(item, key, value, given)
            if arrays is None:
                fed = self._find(self._tensor(key))
                arrays = {fed.name: _cast(value, fed, key, functools.partial(_place, item, key))}
            _add(values, arrays, item, key)
        return values

    def _of_document(self, item: Item) -> dict[str, Any]:
        """Return the values of a line of JSON."""
        parsed, values = self._reader.document(item), dict[str, Any]()
        try:
            given = named_values(parsed, self._signature, self._is_fed)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{item.place}: {error.message}", hint=error.hint) from None
        for key, value in given.items():
            arrays = self._divided(item, key, value, given)
            if arrays is None:
                fed = self._find(self._tensor(key))
                arrays = {fed.name: value_of(json.dumps(value), fed.dtype, _place(item, key))}
            _add(values, arrays, item, key)
        return values

    def _divided(self, item: Item, key: str, value: Any, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the arrays for the components of a sparse or ragged input; None for a value of a tensor."""
        composite = self._composite_input(key, given)
        if composite is None:
            return None
        whole = value.numpy() if isinstance(value, Tensor) else value
        if not composite.takes(whole):
            return None
        try:
            return composite.arrays(whole)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{_place(item, key)}: {error.message}", hint=error.hint) from None

    def _composite_input(self, key: str, given: Iterable[str]) -> Composite | None:
        """Return the sparse or ragged input of a name, unless other names are those of its components."""
        composite = self._composite(self._tensor(key))
        tensors = (self._words.get(name, name) for name in given if name != WHOLE)
        return None if composite is None or composite.is_fed_in_parts(tensors) else composite

    def close(self) -> None:
        """Close the file of the last line or row."""
        self._reader.close()

    def block(self, items: Sequence[Item]) -> InputBlock | None:
        """Return rows of a table, or lines of JSON, read and stacked at once; None for other inputs and other shapes."""
        # A block is one read of one file; anything else is read input by input.
        if items[0].start is None or any(item.path != items[0].path for item in items):
            return None
        if items[0].is_arrow:
            arrays = self._of_arrow(self._reader.arrow(items[0].path), items)
            count = row_count(arrays)
            # Each row must give the same number of rows of the batch, or results cannot be told apart.
            return InputBlock(arrays, [count // len(items)] * len(items)) if count and not count % len(items) else None
        rows = [row for item in items if (row := item.row) is not None]
        return self._block_of_rows(items[0].path, rows) if rows else self._block_of_documents(items)

    def _block_of_rows(self, path: str, rows: Sequence[Row]) -> InputBlock | None:
        table = self._reader.table(path)
        cells = table.read_rows(rows)
        if cells is None:
            return None
        columns = self._of_rows(table, rows, cells)
        # The first row shows the shape of each, as rows of a CSV file have equal numbers of cells.
        shapes = {name: _of_rank(array[:1], rank).shape for name, (array, rank) in columns.items()}
        firsts = {shape[:1] for shape in shapes.values()}
        if len(firsts) != 1 or () in firsts:
            return None
        ((count,),) = firsts
        arrays = {name: columns[name][0].reshape(len(rows) * count, *shape[1:]) for name, shape in shapes.items()}
        return InputBlock(arrays, [count] * len(rows))

    def _block_of_documents(self, items: Sequence[Item]) -> InputBlock | None:
        given = [named_values(parsed, self._signature, self._is_fed) for parsed in self._reader.documents(items)]
        keys = given[0].keys()
        # Lines of sparse or ragged inputs have indices of their own and do not stack; they run one by one.
        if any(one.keys() != keys for one in given) or any(self._composite_input(key, keys) for key in keys):
            return None
        arrays, counts = {}, [len(one[key]) if isinstance(one[key], list) else 0 for key in keys for one in given]
        # The values of a line are rows of one batch, so each line must have equally many in all its keys.
        if counts != counts[: len(items)] * len(keys):
            return None
        for key in keys:
            fed = self._find(self._tensor(key))
            array = None if fed.dtype is None else joined_rows([one[key] for one in given], fed.dtype.base)
            if array is None or fed_shape(fed).rank not in (None, array.ndim):
                return None
            arrays[fed.name] = array
        return InputBlock(arrays, counts[: len(items)])

    def keys(self, items: Sequence[Item]) -> Any:
        """Return the columns of rows of a Parquet or Arrow file that feed nothing, as a table; None for other inputs."""
        if not items[0].is_arrow or any(item.path != items[0].path for item in items):
            return None
        table = self._reader.arrow(items[0].path)
        fed = self.fed_columns(table)
        rows = table.rows(items[0].start or 0, items[-1].end)
        # A table of results has a column `name` of its own, with the names of the inputs.
        left = [name for name in table.names if name not in fed and name != "name"]
        return rows.select(left) if left and rows.num_rows == len(items) else None

    def _of_arrow(self, table: ArrowFile, items: Sequence[Item]) -> dict[str, Any]:
        """Return the values of rows behind each other, stacked."""
        rows = table.rows(items[0].start or 0, items[-1].end)
        if rows.num_rows != len(items):
            raise InvalidArgumentError("other rows are between the rows")  # rows that a job computed before
        for key in self._keys_of(table):
            table.check(self._columns(key, table.names))
        return self.of_columns(table, lambda name: column_array(rows.column(name), name), items[0].place)

    def of_columns(self, table: ColumnNames, array: Callable[[str], Array], place: str) -> dict[str, Any]:
        """Return the values of the rows of a table, stacked; `array` returns a column, (rows, ...)."""
        values = {}
        for key in self._keys_of(table):
            fed = self._of_column(key)
            arrays = list(map(array, self._columns(key, table.names)))
            if len({one.shape for one in arrays}) > 1:
                raise InvalidArgumentError(f"{place}: the columns {key} have lists of several lengths")
            stacked = _fed_by(arrays[0] if len(arrays) == 1 else np.stack(arrays, -1), fed_shape(fed).rank)
            values[fed.name] = _cast(stacked, fed, key, lambda: place)
        return values

    def fed_columns(self, table: ColumnNames) -> set[str]:
        """Return the columns of a table that feed tensors."""
        return {name for key in self._keys_of(table) for name in self._columns(key, table.names)}

    def _columns(self, key: str, names: Sequence[str]) -> Sequence[str]:
        """Return the columns that a key stands for."""
        if key in _ALL:
            return names
        return [key] if key in names else [name.strip() for name in key.split(",")]

    def _keys_of(self, table: ColumnNames) -> Sequence[str]:
        return list(self._tensors) or self._keys(table)

    def _of_row(self, table: CsvFile, row: Row) -> dict[str, Any]:
        """Return the cells of a row, fed by the names of columns, or to the tensors that name the columns."""
        values = self._of_rows(table, [row], [table.read(row)])
        return {name: _of_rank(array, rank) for name, (array, rank) in values.items()}

    def _of_rows(
        self, table: CsvFile, rows: Sequence[Row], cells: Sequence[Sequence[str]]
    ) -> dict[str, tuple[Any, int | None]]:
        """Return the cells of rows, (rows, columns), and the rank of the tensor that they feed."""
        values = {}
        for key in self._keys_of(table):
            columns = self._columns(key, table.names)
            fed = self._of_column(key)
            places = table.places(columns)
            # All columns in their order is the usual case, and needs no copy of the cells.
            own = cells if places == list(range(len(table.names))) else [[row[place] for place in places] for row in cells]
            array = table.as_array(rows, own, columns, fed.dtype)
            values[fed.name] = _cast(array, fed, key, functools.partial(rows[0].place, table.path)), fed_shape(fed).rank
        return values

    def _keys(self, table: ColumnNames) -> Sequence[str]:
        """Return the keys of a table without --feed: its columns, or all together if they fit the only input."""
        # The answer belongs to a file: the next may have other columns.
        if table is not self._found[0]:
            known = [name for name in table.names if self._is_tensor(name)]
            # A table without a tensor's name in its header, as `a,b,c,d`, is fed whole if its width fits the only input.
            is_one = not known and self._takes(len(table.names))
            own = table.names if isinstance(table, CsvFile) or not known else known  # other columns are keys of the rows
            self._found = table, [WHOLE] if is_one else own
        return self._found[1]

    def _is_fed(self, key: str) -> bool:
        return key in self._tensors or self._composite(key) is not None or self._is_tensor(key)

    def _is_tensor(self, word: str) -> bool:
        try:
            self._find(word)
        except TfgError:
            return False
        return True

    def _takes(self, count: int) -> bool:
        """Return True if the graph has a single input, whose rows have this number of elements."""
        names = self._inputs()
        if len(names) != 1:
            return False
        dims = fed_shape(self._find(names[0])).dims
        if not dims:
            # A scalar takes one column, and a shape that is not declared takes any number.
            return dims is None or count == 1
        return not isinstance(dims[-1], int) or dims[-1] == count

    def _of_column(self, key: str) -> Output:
        """Return the tensor that columns feed; NotFoundError for a column without a tensor of its name."""
        try:
            return self._find(self._tensor(key))
        except NotFoundError as error:
            problem = Hint(error.message, ": choose the columns of a tensor with ", step("each_columns"))
            raise NotFoundError(problem, hint=error.hint) from None

    def _tensor(self, key: str) -> str:
        """Return the name of the tensor for an array of the input."""
        if key in self._tensors:
            return self._tensors[key]
        return key if key != WHOLE else self._sole_input

    @functools.cached_property
    def _sole_input(self) -> str:
        """The only tensor for an input without a name; InvalidArgumentError if there is none, or several."""
        names = self._inputs()
        if len(names) != 1:
            several = ", ".join(names) or "none"
            raise InvalidArgumentError(
                f"the inputs have no names, and several tensors may take them: {several}",
                hint=Hint("choose the tensor with ", step("each_tensor")),
            )
        return names[0]

    def _inputs(self) -> list[str]:
        """Return the inputs of the signature, else the placeholders that the fetches need."""
        if self._words:
            return list(self._words)
        needed = needed_nodes([self._graph.fetch(name) for name in self._fetches])
        return [node.name for node in needed if node.must_be_fed]


def _place(item: Item, key: str) -> str:
    """Return the place of a value: the file or the line, and the name."""
    return item.place if key == WHOLE else f"{item.place}, key '{key}'"


def _add(values: dict[str, Any], arrays: Mapping[str, Any], item: Item, key: str) -> None:
    """Add the arrays for a key; InvalidArgumentError if another key feeds one of their tensors."""
    for name in arrays:
        if name in values:
            raise InvalidArgumentError(f"{_place(item, key)}: '{name}' is already fed")
    values.update(arrays)


def _cast(value: Array | Tensor, fed: Output, key: str, place: Callable[[], str]) -> Array:
    """Return an array in the dtype of a tensor; an error begins with the place of the array."""
    try:
        array = value.numpy() if isinstance(value, Tensor) else value
        return cast_value(array, fed.dtype.base if fed.dtype is not None else None, key or "the input")
    except TfgError as error:
        raise type(error)(f"{place()}: {error.message}", hint=error.hint) from None


def _fed_by(array: Any, rank: int | None) -> Any:
    """Return rows, (rows, ...), as a stack of arrays of a rank: axes of size 1 are behind the rows. A row may have no axis of
    rows.
    """
    if rank is None or rank == array.ndim:
        return array
    if rank > array.ndim:
        return array.reshape(len(array), *(1,) * (rank - array.ndim), *array.shape[1:])
    if rank < array.ndim - 1 or len(array) != 1:
        raise InvalidArgumentError(f"rows of shape {Shape(array.shape[1:])} do not stack to rank {rank}")
    return array[0, ...]


def _of_rank(cells: Any, rank: int | None) -> Any:
    """Return one row of cells, (1, columns), as an array of a rank: the columns last, a single column as one element."""
    count = cells.shape[1]
    if rank is None or (rank == 0 and count > 1):
        rank = 0 if count == 1 else 1
    return cells.reshape((1,) * (rank - 1) + (count,)) if rank else cells.reshape(())
