"""Datasets that read files: lines, records, names. A file is opened when its turn comes; a damaged file is skipped."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, Final

from ..codecs import snappy, tfrecord
from ..codecs.snappy import unpacked_limit
from ..codecs.tfrecord import RecordError
from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import check_time, reserve
from ..support import dataclasses
from ..support.errors import DataLossError, InvalidArgumentError, TfgError
from ..types.dtypes import string
from ..types.shapes import SCALAR
from .dataset import Dataset, Element, Pull, Spec, deferred, pull_of

OpenFile = Callable[[bytes], BinaryIO]
"""Opens a file that a graph names, with TensorFlow's errors."""

_TEXT: Final = Spec((string,), (SCALAR,))
"""Spec of elements with a single string."""


class Files(Dataset):
    """The contents of files, in sequence."""

    spec: Spec = dataclasses.field(default=_TEXT, init=False)
    paths: Sequence[bytes]
    open: OpenFile

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        return True

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        """Yield the contents of the file from the moment of opening."""
        raise NotImplementedError

    def begin(self) -> Pull:
        place = 0
        current: Iterator[bytes] | None = None

        def next_element() -> Element | None:
            nonlocal place, current
            while current is not None or place < len(self.paths):
                try:
                    if current is None:
                        current = self.read(place, self.paths[place])
                    record = next(current, None)
                except TfgError as error:
                    current = None
                    # A damaged file would fail at the same place for ever, so it is left; a file that is not there may come,
                    # and is tried again.
                    if isinstance(error, DataLossError):
                        place += 1
                    raise
                if record is not None:
                    return (scalar_object(record),)
                current, place = None, place + 1
                check_time()
            return None

        return next_element


def uncompressing(file: BinaryIO, compression: str, path: bytes) -> Any:
    """Return a reader of the uncompressed file; `compression` is '', ZLIB, GZIP or SNAPPY."""
    if compression == "GZIP":
        return gzip.GzipFile(fileobj=file)
    if compression == "ZLIB":
        contents = file.read()
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(contents, unpacked_limit(len(contents)))
        if unpacker.unconsumed_tail:
            raise DataLossError(f"{_shown(path)}: {len(contents):,} bytes would uncompress to too many")
        return io.BytesIO(unpacked)
    if compression == "SNAPPY":
        return io.BytesIO(snappy.unframed(file.read()))
    return file


def longest(file: BinaryIO, compression: str) -> int:
    """Return the largest number of bytes of a line or record: a small file must not fill the memory by decompression."""
    return unpacked_limit(os.fstat(file.fileno()).st_size) if compression == "GZIP" else sys.maxsize


def require_compression(compression: str) -> str:
    """Return the compression of a file of lines or records without checksums; InvalidArgumentError for an unknown
    compression.
    """
    if compression not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(f"Unsupported compression_type: {compression}")
    return compression


def _shown(path: bytes) -> str:
    return path.decode("utf-8", "replace")


@contextlib.contextmanager
def guarded_error(path: bytes) -> Iterator[None]:
    """Raise errors of the compression as DataLossErrors that name the file."""
    try:
        yield
    except (zlib.error, gzip.BadGzipFile, EOFError, RecordError) as error:
        raise DataLossError(f"{_shown(path)}: {error}") from error


def _guarded(path: bytes, records: Iterator[bytes]) -> Iterator[bytes]:
    """Yield records, and raise the compression's errors as DataLossErrors that name the file."""
    with guarded_error(path):
        yield from records


class TextLines(Files, kind="TextLine"):
    """Lines without their ends."""

    compression: str

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return _guarded(path, self._lines(path))

    def _lines(self, path: bytes) -> Iterator[bytes]:
        with self.open(path) as file:
            stream, most = uncompressing(file, self.compression, path), longest(file, self.compression)
            while line := stream.readline(most):
                if len(line) == most:
                    raise DataLossError(f"{_shown(path)} would uncompress to a line of more than {most:,} bytes")
                # TensorFlow's reader of lines drops every carriage return, not only the one before a newline.
                yield line.rstrip(b"\n").replace(b"\r", b"") if b"\r" in line else line.rstrip(b"\n")


class Records(Files, kind="TFRecord"):
    """The records of TFRecord files; `offsets`, if present, holds a byte to begin at for each file."""

    compression: str
    offsets: Sequence[int]

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return read_records(self.open, path, self.compression, self.offsets[place] if self.offsets else 0)


def read_records(open_file: OpenFile, path: bytes, compression: str, offset: int = 0) -> Iterator[bytes]:
    """Yield the records of a TFRecord file from a byte on; DataLossError if the file is damaged."""
    return _guarded(path, _records(open_file, path, compression, offset))


_FARTHEST: Final = 1 << 42
"""Offset in bytes beyond the end of any file, to which every operating system can seek."""


def _records(open_file: OpenFile, path: bytes, compression: str, offset: int) -> Iterator[bytes]:
    with open_file(path) as file:
        stream = uncompressing(file, compression, path)
        if offset:
            stream.seek(min(offset, _FARTHEST))
        yield from tfrecord.read_records(stream, longest(file, compression))


class FixedLengthRecords(Files, kind="FixedLengthRecord"):
    """Records of equal length between a header and a footer."""

    header: int
    size: int
    footer: int
    compression: str

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return _guarded(path, self._records(path))

    def _records(self, path: bytes) -> Iterator[bytes]:
        with self.open(path) as file:
            stream = uncompressing(file, self.compression, path)
            # Of a compressed file this unpacks all once: where its footer begins is known at its end only.
            total = stream.seek(0, io.SEEK_END)
            body = total - self.header - self.footer
            if body < 0 or body % self.size:
                raise InvalidArgumentError(
                    f"Excluding the header ({self.header} bytes) and footer ({self.footer} bytes), input file "
                    f'"{_shown(path)}" has body length {body} bytes, which is not an exact multiple of the record length '
                    f"({self.size} bytes)."
                )
            stream.seek(self.header)
            for _ in range(body // self.size):
                check_time()
                reserve(self.size)
                yield stream.read(self.size)


class MatchingFiles(Dataset):
    """The names of files that patterns match, in order."""

    spec: Spec = dataclasses.field(default=_TEXT, init=False)
    patterns: Sequence[bytes]
    matching: Callable[[str], Sequence[str]]

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        return True

    def begin(self) -> Pull:
        # A file that comes between the beginning of the pass and the first demand is among the names.
        return deferred(self._names)

    def _names(self) -> Pull:
        patterns = [pattern.decode("utf-8", "surrogateescape") for pattern in self.patterns]
        names = sorted(name for pattern in patterns for name in self.matching(pattern))
        return pull_of((scalar_object(name.encode("utf-8", "surrogateescape")),) for name in names)


# Records of CSV files, read in pieces. A malformed record raises an error and is skipped together with its line.
# Quoting is RFC 4180's. A record with a wrong quote is read to the record's end before the error is raised, as in TensorFlow.

_PIECE: Final = 1 << 18
_QUOTE: Final = b'"'


@dataclasses.dataclass(frozen=True, slots=True)
class CsvFormat:
    """Format of records: the delimiter of fields, whether quotes count, whether the first record is a header."""

    delimiter: bytes
    quotes: bool
    header: bool


class CsvRecords(Dataset, kind="CSV"):
    """The records of files, `convert`ed from their fields."""

    paths: Sequence[bytes]
    open: OpenFile
    compression: str
    form: CsvFormat
    convert: Callable[[list[bytes]], Element]

    def begin(self) -> Pull:
        place = 0
        current: _FileBuffer | None = None

        def next_element() -> Element | None:
            nonlocal place, current
            while current is not None or place < len(self.paths):
                path = self.paths[place]
                try:
                    with guarded_error(path):
                        if current is None:
                            current = self._reader(path)
                            if self.form.header and current.record() is None:
                                current, place = None, place + 1
                                raise InvalidArgumentError("Can't read header of file")
                        fields = current.record()
                except DataLossError:
                    current, place = None, place + 1
                    raise
                if fields is not None:
                    return self.convert(fields)
                # The file is closed at once: a pass over thousands of files would run out of descriptors before Python
                # collects them.
                current.close()
                current, place = None, place + 1
                check_time()
            return None

        return next_element

    def _reader(self, path: bytes) -> _FileBuffer:
        file = self.open(path)
        return _FileBuffer(uncompressing(file, self.compression, path), self.form, longest(file, self.compression))


class _FileBuffer:
    """Buffered data of a file; the unread bytes begin at `position`."""

    def __init__(self, stream: Any, form: CsvFormat, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._form = form
        self._data = b""
        self._position = 0
        self._is_over = False
        self._plain = re.compile(rb"[^\r\n" + re.escape(form.delimiter) + rb"]*")

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _more(self) -> bool:
        """Read another piece; return False at the end of the file."""
        # The data held at least doubles, so that joining pieces to one long record stays linear in its length.
        piece = b"" if self._is_over else self._stream.read(max(_PIECE, len(self._data) - self._position))
        self._is_over = not piece
        self._data = self._data[self._position :] + piece if self._position else self._data + piece
        self._position = 0
        self._require_length(len(self._data))
        return not self._is_over

    def _require_length(self, size: int) -> None:
        if size > self._longest:
            raise RecordError(f"a record would uncompress to more than {self._longest:,} bytes")

    def record(self) -> list[bytes] | None:
        """Return the fields of the next record, None behind the last; InvalidArgumentError for wrong quotes."""
        searched = 0
        while (end := self._data.find(b"\n", self._position + searched)) < 0:
            check_time()
            # The part without a newline is not searched again after another piece.
            searched = len(self._data) - self._position
            if not self._more():
                end = len(self._data)
                break
        if self._position == len(self._data):
            return None
        line = self._data[self._position : end]
        # Most lines have neither: a split of the whole line is far faster than field after field.
        if b"\r" in line or (self._form.quotes and _QUOTE in line):
            return self._quoted_record()
        self._position = min(end + 1, len(self._data))
        return line.split(self._form.delimiter)

    def _quoted_record(self) -> list[bytes]:
        fields: list[bytes] = []
        problems: list[str] = []
        while True:
            is_quoted = self._form.quotes and self._peek() == _QUOTE
            fields.append(self._quoted_field(problems) if is_quoted else self._plain_field(problems))
            end = self._peek()
            self._position += len(end)
            if end == self._form.delimiter:
                continue
            if end == b"\r" and self._peek() == b"\n":
                self._position += 1
            if problems:
                raise InvalidArgumentError(f"{problems[0]} in record")
            return fields

    def _peek(self) -> bytes:
        """Return the next byte; nothing at the end of the file."""
        if self._position == len(self._data):
            self._more()
        return self._data[self._position : self._position + 1]

    def _plain_field(self, problems: list[str]) -> bytes:
        while True:
            match = self._plain.match(self._data, self._position)
            assert match is not None
            if match.end() < len(self._data) or not self._more():
                break
        self._position = match.end()
        if self._form.quotes and _QUOTE in match[0]:
            problems.append("Unquoted fields cannot have quotes inside")
        return match[0]

    def _quoted_field(self, problems: list[str]) -> bytes:
        self._position += 1
        pieces: list[bytes] = []
        while True:
            quote = self._data.find(_QUOTE, self._position)
            pieces.append(self._data[self._position : quote if quote >= 0 else None])
            self._require_length(sum(map(len, pieces)))
            self._position = quote + 1 if quote >= 0 else len(self._data)
            if quote < 0:
                if self._more():
                    continue
                problems.append("Reached end of file without closing quoted field")
                # TensorFlow stops here, with this problem and not with the first of the record.
                problems[:] = problems[-1:]
                return b"".join(pieces)
            following = self._peek()
            if following in (b"", b"\r", b"\n", self._form.delimiter):
                return b"".join(pieces)
            if following != _QUOTE:
                problems.append("Quote inside a string has to be escaped by another quote")
                continue
            self._position += 1
            pieces.append(_QUOTE)
