"""Records of CSV files, read in pieces. A malformed record raises an error and is skipped together with its line.

Quoting is RFC 4180's. A record with a wrong quote is read to the record's end before the error is raised, as in TensorFlow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from ..codecs.tfrecord import RecordError
from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import DataLossError, InvalidArgumentError
from .dataset import Dataset, Element, Pull
from .file_records import OpenFile, guarded_error, longest, uncompressing

_PIECE: Final = 1 << 18
_QUOTE: Final = b'"'


@dataclasses.dataclass(frozen=True, slots=True)
class CsvFormat:
    """Format of records: the delimiter of fields, whether quotes count, whether the first record is a header."""

    delimiter: bytes
    quotes: bool
    header: bool


@dataclasses.dataclass(eq=False)
class CsvRecords(Dataset):
    """The records of files, `convert`ed from their fields."""

    kind: ClassVar[str] = "CSV"
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
            searched = len(self._data) - self._position
            if not self._more():
                end = len(self._data)
                break
        if self._position == len(self._data):
            return None
        line = self._data[self._position : end]
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
