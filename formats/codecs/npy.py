"""Arrays in NumPy's .npy files and .npz archives, whoever wrote them: only headers are read until somebody needs the numbers.

https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html describes the format. Nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import IO, Any

import numpy as np

from ...core.codecs.snappy import unpacked_limit
from ...core.support import dataclasses
from ...core.support.atomic import file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, TfgError, UnimplementedError
from ...core.support.regular_files import PositionedFile, open_regular, open_size
from ...core.types.arrays import Array

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000  # NumPy's own limit for untrusted files
_LENGTHS = {1: ("<H", "latin-1"), 2: ("<I", "latin-1"), 3: ("<I", "utf-8")}
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, KeyError, OverflowError, OSError)


@dataclasses.dataclass(frozen=True, slots=True)
class StoredArray:
    """An array's NumPy dtype and shape, and a function that reads the elements."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    read: Callable[[], Array]


@dataclasses.dataclass(frozen=True, slots=True)
class _Header:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_fortran: bool
    offset: int

    @property
    def size(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def require_plain(self, where: str) -> None:
        """InvalidArgumentError for Python objects."""
        if self.dtype.hasobject:
            raise InvalidArgumentError(f"{where} holds Python objects, which are never unpickled")

    def decode(self, data: bytes) -> Array:
        """Return the array of the bytes; InvalidArgumentError for a shape with more elements than NumPy can count."""
        try:
            count = math.prod(self.shape)
            array: Array = np.frombuffer(data, self.dtype) if self.dtype.itemsize else np.empty(count, self.dtype)
            return array.reshape(self.shape, order="F" if self.is_fortran else "C")
        except ValueError as error:
            raise InvalidArgumentError(f"shape {self.shape} is impossible: {error}") from None


def open_array(path: str | os.PathLike[str]) -> StoredArray:
    """Open the array of an .npy file; DataLossError for a damaged file, InvalidArgumentError for an array of Python
    objects.
    """
    name = f"'{os.fspath(path)}'"
    with file_errors(path), open_regular(path) as file:
        header = _read_header(file, name)
        header.require_plain(name)
        _check_size(header, open_size(file), name)

    def read() -> Array:
        with file_errors(path), open_regular(path) as again:
            again.seek(header.offset)
            return header.decode(_exactly(again, header.size, name))

    return StoredArray(header.dtype, header.shape, read)


def open_archive(path: str | os.PathLike[str], only: Collection[str] | None = None) -> dict[str, StoredArray]:
    """Open the arrays of an .npz archive by name, all or the arrays of these names. Errors as `open_array`, and
    UnimplementedError for unsupported compression or encryption. An array of Python objects is an error when it is read.
    """
    name = f"'{os.fspath(path)}'"
    with file_errors(path), open_regular(path) as file:
        contents = PositionedFile(file)
    with _zip_errors(name):
        archive = zipfile.ZipFile(io.BufferedReader(_Positions(contents)))
    return _Archive(archive, len(contents), name).arrays(only)


def archive_in(data: bytes, name: str) -> dict[str, StoredArray]:
    """Open the arrays of an archive in memory, as `open_archive`."""
    with _zip_errors(f"'{name}'"):
        archive = zipfile.ZipFile(io.BytesIO(data))
    return _Archive(archive, len(data), f"'{name}'").arrays()


class _Positions(io.RawIOBase):
    """A file with a private position: forked processes share a descriptor and would move each other's position."""

    def __init__(self, contents: PositionedFile) -> None:
        self._contents = contents
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: len(self._contents)}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._position = start + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        piece = self._contents.read_at(self._position, len(buffer))
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


class _Archive:
    """An open archive, the archive's size in bytes, and a name for errors."""

    def __init__(self, archive: zipfile.ZipFile, size: int, name: str) -> None:
        self._archive = archive
        self._size = size
        self._name = name
        self._unpacked = sum(info.file_size for info in archive.infolist())

    def arrays(self, only: Collection[str] | None = None) -> dict[str, StoredArray]:
        arrays: dict[str, StoredArray] = {}
        for info in self._archive.infolist():
            key = info.filename.removesuffix(".npy")
            if only is not None and key not in only:
                continue
            if key in arrays or key == info.filename:
                raise DataLossError(f"entry '{info.filename}' of {self._name} is not an array, or a duplicate")
            arrays[key] = self._stored(info, f"'{key}' of {self._name}")
        return arrays

    def _stored(self, info: zipfile.ZipInfo, where: str) -> StoredArray:
        if info.flag_bits & 1:
            raise UnimplementedError(f"{where} is encrypted")
        if info.compress_type == zipfile.ZIP_STORED and not info.file_size == info.compress_size <= self._size:
            raise DataLossError(f"{where} claims {info.file_size} bytes in {info.compress_size} of {self._size}")
        with _zip_errors(where), self._archive.open(info) as member:
            header = _read_header(member, where)
        if not header.dtype.hasobject:
            _check_size(header, info.file_size, where)
        return StoredArray(header.dtype, header.shape, lambda: self._read(info, header, where))

    def _read(self, info: zipfile.ZipInfo, header: _Header, where: str) -> Array:
        header.require_plain(where)
        if info.compress_type != zipfile.ZIP_STORED:
            self._check_room()
        with _zip_errors(where), self._archive.open(info) as member:
            data = _exactly(member, header.offset + header.size, where)
            if member.read(1):  # zipfile compares the checksum at the end
                raise DataLossError(f"{where} is longer than its header says")
        return header.decode(memoryview(data)[header.offset :])  # type: ignore[arg-type]

    def _check_room(self) -> None:
        """Raise ResourceExhaustedError for an archive with a suspicious compression ratio."""
        if self._unpacked > unpacked_limit(self._size):
            raise ResourceExhaustedError(
                f"{self._name} of {self._size:,} bytes would unpack to {self._unpacked:,}",
                hint="if you trust the file, unpack it and save the arrays again with numpy.savez",
            )


@contextlib.contextmanager
def _zip_errors(where: str) -> Iterator[None]:
    """Turn zipfile's errors about damaged or unsupported archives into TfgErrors."""
    try:
        yield
    except TfgError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        raise UnimplementedError(f"{where} cannot be unpacked: {error}") from None
    except _DAMAGED as error:
        raise DataLossError(f"{where} is damaged or truncated: {error}") from None


def _read_header(file: IO[bytes], where: str) -> _Header:
    start = file.read(8)
    length = _LENGTHS.get(start[6]) if len(start) == 8 and start.startswith(_MAGIC) else None
    if length is None:
        raise DataLossError(f"{where} is not a .npy file")
    layout, encoding = length
    (size,) = struct.unpack(layout, _exactly(file, struct.calcsize(layout), where))
    if size > _MAX_HEADER:
        raise DataLossError(f"{where} has a header of {size} bytes")
    text = _exactly(file, size, where)
    try:
        return _decode_header(ast.literal_eval(text.decode(encoding)), 8 + struct.calcsize(layout) + size)
    except (ValueError, SyntaxError, TypeError, KeyError, AttributeError, RecursionError, MemoryError):
        raise DataLossError(f"{where} has a damaged header") from None


def _decode_header(fields: Mapping[str, Any], offset: int) -> _Header:
    dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(fields["descr"])
    shape, is_fortran = fields["shape"], fields["fortran_order"]
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape) or len(shape) > 32:
        raise ValueError("no shape")
    if dtype.subdtype is not None:
        raise ValueError("no plain dtype")
    return _Header(dtype, shape, bool(is_fortran), offset)


def _check_size(header: _Header, size: int, where: str) -> None:
    if header.offset + header.size != size:
        raise DataLossError(f"{where} has {size - header.offset} bytes, but its header says {header.size}")


def _exactly(file: IO[bytes], size: int, where: str) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise DataLossError(f"{where} is truncated")
    return data


def npy_bytes(name: str, array: Any) -> bytes:
    """Return a tensor as an .npy file; UnimplementedError for a dtype that NumPy lacks, and for strings."""
    if array.dtype.kind not in "biufc":
        raise UnimplementedError(f".npy cannot hold the dtype of '{name}'", hint="write .npz")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
