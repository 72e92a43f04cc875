"""Datasets that read files: lines, records, names. A file is opened when its turn comes; a damaged file is skipped."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, ClassVar, Final

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


@dataclasses.dataclass(eq=False)
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


@dataclasses.dataclass(eq=False)
class TextLines(Files):
    """Lines without their ends."""

    kind: ClassVar[str] = "TextLine"
    compression: str

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return _guarded(path, self._lines(path))

    def _lines(self, path: bytes) -> Iterator[bytes]:
        with self.open(path) as file:
            stream, most = uncompressing(file, self.compression, path), longest(file, self.compression)
            while line := stream.readline(most):
                if len(line) == most:
                    raise DataLossError(f"{_shown(path)} would uncompress to a line of more than {most:,} bytes")
                yield line.rstrip(b"\n").replace(b"\r", b"") if b"\r" in line else line.rstrip(b"\n")


@dataclasses.dataclass(eq=False)
class Records(Files):
    """The records of TFRecord files; `offsets`, if present, holds a byte to begin at for each file."""

    kind: ClassVar[str] = "TFRecord"
    compression: str
    offsets: Sequence[int]

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return read_records(self.open, path, self.compression, self.offsets[place] if self.offsets else 0)


def read_records(open_file: OpenFile, path: bytes, compression: str, offset: int = 0) -> Iterator[bytes]:
    """Yield the records of a TFRecord file from a byte on; DataLossError where the file is damaged."""
    return _guarded(path, _records(open_file, path, compression, offset))


_FARTHEST: Final = 1 << 42
"""Offset in bytes beyond the end of any file, to which every operating system can seek."""


def _records(open_file: OpenFile, path: bytes, compression: str, offset: int) -> Iterator[bytes]:
    with open_file(path) as file:
        stream = uncompressing(file, compression, path)
        if offset:
            stream.seek(min(offset, _FARTHEST))
        yield from tfrecord.read_records(stream, longest(file, compression))


@dataclasses.dataclass(eq=False)
class FixedLengthRecords(Files):
    """Records of equal length between a header and a footer."""

    kind: ClassVar[str] = "FixedLengthRecord"
    header: int
    size: int
    footer: int
    compression: str

    def read(self, place: int, path: bytes) -> Iterator[bytes]:
        return _guarded(path, self._records(path))

    def _records(self, path: bytes) -> Iterator[bytes]:
        with self.open(path) as file:
            stream = uncompressing(file, self.compression, path)
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


@dataclasses.dataclass(eq=False)
class MatchingFiles(Dataset):
    """The names of files that patterns match, in order."""

    kind: ClassVar[str] = "MatchingFiles"
    spec: Spec = dataclasses.field(default=_TEXT, init=False)
    patterns: Sequence[bytes]
    matching: Callable[[str], Sequence[str]]

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        return True

    def begin(self) -> Pull:
        return deferred(self._names)

    def _names(self) -> Pull:
        patterns = [pattern.decode("utf-8", "surrogateescape") for pattern in self.patterns]
        names = sorted(name for pattern in patterns for name in self.matching(pattern))
        return pull_of((scalar_object(name.encode("utf-8", "surrogateescape")),) for name in names)
