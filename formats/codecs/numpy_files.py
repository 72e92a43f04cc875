"""Arrays in NumPy's .npy files and .npz archives, whoever wrote them: only headers are read until somebody needs the numbers.

https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html describes the format. Nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import itertools
import json
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from ...core.codecs.snappy import unpacked_limit
from ...core.support import dataclasses
from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from ...core.support.regular_files import PositionedFile, open_regular, open_size
from ...core.types import dtypes
from ...core.types.arrays import Array, object_array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000  # NumPy's own limit for untrusted files
_LENGTHS = {1: ("<H", "latin-1"), 2: ("<I", "latin-1"), 3: ("<I", "utf-8")}
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, KeyError, OverflowError, OSError)
MANIFEST = "__tfg__"
_LONGEST_NAME = (1 << 16) - 1 - len(".npy")
"""The largest length of a tensor's name, in bytes: a zip archive counts the bytes of a member's name in 16 bits."""
_MOST_PADDED = 1 << 16
"""The number of bytes of an array of strings up to which padding does not matter."""
_WIDEST = 4
"""The largest ratio of an array of strings to its characters."""


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
        # No file stays open between the header and the elements: an input may be one of a hundred thousand files.
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
        # The whole archive counts: a thousand arrays may each be within the limit of one.
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
        # The sizes come from the archive's directory, which anybody can write; a stored member cannot be larger than the
        # file.
        if info.compress_type == zipfile.ZIP_STORED and not info.file_size == info.compress_size <= self._size:
            raise DataLossError(f"{where} claims {info.file_size} bytes in {info.compress_size} of {self._size}")
        with _zip_errors(where), self._archive.open(info) as member:
            header = _read_header(member, where)
        # The pickle of Python objects has no size that the header would tell.
        if not header.dtype.hasobject:
            _check_size(header, info.file_size, where)
        return StoredArray(header.dtype, header.shape, lambda: self._read(info, header, where))

    def _read(self, info: zipfile.ZipInfo, header: _Header, where: str) -> Array:
        header.require_plain(where)
        if info.compress_type != zipfile.ZIP_STORED:
            self._check_room()
        with _zip_errors(where), self._archive.open(info) as member:
            # The member is read from the beginning: a compressed one cannot be read from the middle, and the checksum is of
            # all bytes.
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
    # NumPy itself would take True for a size, and has at most 32 dimensions before its version 2.
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


# Tensors of a state in an archive; those of types that NumPy lacks have an entry in the manifest.


def write_npz(path: str | os.PathLike[str], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, whole or not at all; UnimplementedError for resources and variants."""
    with atomic_file(path) as file:
        _write_archive(file, tensors)


def npz_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """Return the archive of `write_npz` as bytes."""
    buffer = io.BytesIO()
    _write_archive(buffer, tensors)
    return buffer.getvalue()


def _write_archive(file: IO[bytes], tensors: Mapping[str, Tensor]) -> None:
    for name in tensors:
        _check_name(name)
    writer = NpzWriter(file)
    for name, tensor in tensors.items():
        writer.add(name, tensor)
    writer.close()


class _WrittenZip(zipfile.ZipFile):
    """An archive that is ended by `close` alone: what an error or a signal left unfinished is not ended by the collector,
    which would find an open member, or a closed file, and print a traceback.
    """

    def __del__(self) -> None:
        pass


class NpzWriter:
    """A writer of tensors to an archive in an open file; the file stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = _WrittenZip(file, "w", allowZip64=True)
        self._names: set[str] = set()
        self._manifest: dict[str, dict[str, Any]] = {}

    def add(self, name: str, tensor: Tensor) -> None:
        """Write a tensor; InvalidArgumentError for a name that cannot be or is there, UnimplementedError as `write_npz`."""
        _check_name(name)
        if name in self._names:
            raise InvalidArgumentError(f"an archive cannot hold two tensors named '{name}'")
        array, entry = _pack(name, tensor)
        if entry is not None:
            self._manifest[name] = entry
        self._names.add(name)
        self._write(name, array)

    def close(self) -> None:
        """Write the manifest, if any tensor needs an entry, and the directory of the archive."""
        if self._manifest:
            self._write(MANIFEST, np.frombuffer(json.dumps(self._manifest).encode(), np.uint8))
        self._archive.close()

    def _write(self, name: str, array: Array) -> None:
        """Write an array without `numpy.savez`, where `file`, `args` and other argument names cannot be names of arrays."""
        # The member has no time of its own, so that equal tensors make equal files. The size is not known before the array is
        # written, and may need 64 bits.
        with self._archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _check_name(name: str) -> None:
    """Raise InvalidArgumentError for an impossible name of a zip archive's member, or for the manifest's name."""
    if name == MANIFEST:
        raise InvalidArgumentError(f"a state file cannot hold a tensor named '{MANIFEST}'")
    try:
        is_too_long = len(name.encode()) > _LONGEST_NAME
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"the tensor name {name!r} is not UTF-8", hint="write a checkpoint") from None
    if is_too_long or "\0" in name:
        problem = "contains a NUL" if "\0" in name else "is too long for an archive"
        raise InvalidArgumentError(f"the tensor name {name[:80]!r} {problem}", hint="write a checkpoint")


def _pack(name: str, tensor: Tensor) -> tuple[Array, dict[str, Any] | None]:
    """Return the array to store, and the manifest's entry if the array is not the tensor itself."""
    dtype, array = tensor.dtype, tensor.read()
    if dtype is dtypes.string:
        strings = array.ravel().tolist()
        if _fits_numpy(strings):
            return np.array(strings, np.bytes_).reshape(array.shape), None
        # Strings of very different lengths, or with zeros at their ends, are stored as one row of bytes with the lengths
        # apart.
        characters = np.frombuffer(b"".join(strings), np.uint8)
        return characters, {"dtype": dtype.name, "shape": list(array.shape), "lengths": [len(s) for s in strings]}
    if dtype.is_object:
        raise UnimplementedError(f"a state file cannot hold tensor '{name}' of dtype {dtype}")
    storage = _storage(dtype)
    if dtype is dtypes.from_numpy(storage):
        return array, None
    return _converted(array, storage), {"dtype": dtype.name}


def _fits_numpy(strings: Sequence[bytes]) -> bool:
    """Return False for strings that end with NUL, which NumPy drops, and if one long string would widen all others."""
    longest = max(map(len, strings), default=0)
    is_wide = longest * len(strings) > _MOST_PADDED + _WIDEST * sum(map(len, strings))
    return not is_wide and not any(text.endswith(b"\0") for text in strings)


def _converted(array: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(invalid="ignore"):  # NumPy warns of NaNs
        return array.astype(dtype)


def _storage(dtype: DType) -> np.dtype[Any]:
    """Return a type of NumPy's own that holds every number of a dtype."""
    # `isbuiltin` is 2 for types that another package has registered, such as ml_dtypes; numpy.load reads them as raw bytes.
    is_own = dtype.numpy.isbuiltin == 1
    return dtype.numpy if is_own else np.dtype({"f": np.float32, "i": np.int8, "u": np.uint8}[dtype.kind])


def read_npz(path: str | os.PathLike[str], only: str | None = None) -> dict[str, Tensor]:
    """Open an archive and return the tensors by name, all or `only` one; a tensor's elements are read on first use.

    A damaged archive raises DataLossError, an encrypted archive UnimplementedError. The first use of a tensor with a
    suspicious compression ratio raises ResourceExhaustedError; Python objects and types unknown to TensorFlow raise
    InvalidArgumentError, as `lack` of the tensor says, and do not stand in the way of other tensors.
    """
    return _tensors(open_archive(path, None if only is None else (only, MANIFEST)), os.fspath(path))


def npz_tensors(data: bytes, name: str) -> dict[str, Tensor]:
    """Return the tensors of an archive in memory, as `read_npz`; `name` stands for the archive in errors."""
    return _tensors(archive_in(data, name), name)


def _tensors(arrays: dict[str, StoredArray], where: str) -> dict[str, Tensor]:
    packed = arrays.pop(MANIFEST, None)
    manifest = {} if packed is None else _read_manifest(packed, where)
    return {name: _tensor(stored, manifest.get(name), f"'{name}' of '{where}'") for name, stored in arrays.items()}


def _read_manifest(stored: StoredArray, path: str) -> dict[str, _ForeignType]:
    """Return the manifest's entries: tensors of types that NumPy lacks."""
    try:
        manifest = json.loads(stored.read().tobytes())
        return {name: _read_entry(entry) for name, entry in manifest.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidArgumentError) as error:
        raise DataLossError(f"the entry '{MANIFEST}' of '{path}' is damaged: {error}") from None


class _ForeignType(NamedTuple):
    """The type of a tensor that NumPy lacks; for strings, stored as bytes, the shape and lengths as well."""

    dtype: DType
    shape: tuple[int, ...] = ()
    lengths: Sequence[int] = ()


def _read_entry(entry: Mapping[str, Any]) -> _ForeignType:
    """Decode a manifest's entry; ValueError, KeyError or TypeError if the entry is malformed."""
    dtype = dtypes.from_name(entry["dtype"])
    if dtype is not dtypes.string:
        if dtype.is_object:
            raise ValueError(f"a tensor of dtype {dtype}")
        return _ForeignType(dtype)
    decoded = _ForeignType(dtype, tuple(entry["shape"]), entry["lengths"])
    if not all(type(number) is int and number >= 0 for number in (*decoded.shape, *decoded.lengths)):
        raise ValueError("invalid sizes")
    if math.prod(decoded.shape) != len(decoded.lengths):
        raise ValueError(f"{len(decoded.lengths)} strings for the shape {list(decoded.shape)}")
    return decoded


def _tensor(stored: StoredArray, entry: _ForeignType | None, where: str) -> Tensor:
    if entry is None:
        return _plain_tensor(stored, where)
    if entry.dtype is dtypes.string:
        return _strings(stored, entry, where)
    dtype, storage = entry.dtype, _storage(entry.dtype)
    if stored.dtype.newbyteorder("=") != storage:
        raise DataLossError(f"{where} holds {stored.dtype}, but {dtype} is stored as {storage}")
    return Tensor(dtype, stored.shape, lambda: _converted(stored.read(), dtype.numpy))


def _strings(stored: StoredArray, entry: _ForeignType, where: str) -> Tensor:
    size = sum(entry.lengths)
    if stored.dtype != np.uint8 or math.prod(stored.shape) != size:
        raise DataLossError(f"{where} does not have the {size} bytes that the entry '{MANIFEST}' states")
    return Tensor(
        entry.dtype, entry.shape, lambda: object_array(_split(stored.read().tobytes(), entry.lengths), entry.shape)
    )  # fmt: skip


def _plain_tensor(stored: StoredArray, where: str) -> Tensor:
    if stored.dtype.hasobject:
        # A pickle can run any program. The tensor is listed with its error, so that other arrays can be read.
        error = InvalidArgumentError(f"{where} holds Python objects, which are never unpickled")
        return Tensor.lacking(dtypes.string if stored.dtype.kind == "O" else dtypes.variant, stored.shape, error)
    try:
        dtype = dtypes.from_numpy(stored.dtype.newbyteorder("="))
    except InvalidArgumentError as error:
        unlike = InvalidArgumentError(f"{where}: {error.message}")
        return Tensor.lacking(dtypes.variant, stored.shape, unlike)
    return Tensor(dtype, stored.shape, lambda: Tensor.from_numpy(stored.read(), dtype).numpy())


def _split(characters: bytes, lengths: Sequence[int]) -> list[bytes]:
    ends = itertools.accumulate(lengths)
    return [characters[end - length : end] for end, length in zip(ends, lengths)]
