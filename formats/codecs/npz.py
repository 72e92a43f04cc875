"""State files: arrays by name in a NumPy .npz archive.

Types that NumPy has are stored plainly, so that `numpy.load` reads them, and strings as NumPy's bytes (`S`). Types like
bfloat16 are stored as a larger NumPy type, strings that `S` cannot hold as characters, and a JSON entry records their types;
nothing is ever pickled.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from ...core.support.atomic import atomic_file
from ...core.support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ...core.types import dtypes
from ...core.types.arrays import Array, object_array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor
from .npy import StoredArray, archive_in, open_archive

MANIFEST = "__tfg__"
_LONGEST_NAME = (1 << 16) - 1 - len(".npy")
"""The largest length of a tensor's name, in bytes: a zip archive counts the bytes of a member's name in 16 bits."""

_MOST_PADDED = 1 << 16
"""The number of bytes of an array of strings up to which padding does not matter."""
_WIDEST = 4
"""The largest ratio of an array of strings to its characters."""


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
    with contextlib.closing(NpzWriter(file)) as writer:
        for name, tensor in tensors.items():
            writer.add(name, tensor)


class NpzWriter:
    """A writer of tensors to an archive in an open file; the file stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(file, "w", allowZip64=True)
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
    """Return the array to store, and the manifest's entry where the array is not the tensor itself."""
    dtype, array = tensor.dtype, tensor.read()
    if dtype is dtypes.string:
        strings = array.ravel().tolist()
        if _fits_numpy(strings):
            return np.array(strings, np.bytes_).reshape(array.shape), None
        characters = np.frombuffer(b"".join(strings), np.uint8)
        return characters, {"dtype": dtype.name, "shape": list(array.shape), "lengths": [len(s) for s in strings]}
    if dtype.is_object:
        raise UnimplementedError(f"a state file cannot hold tensor '{name}' of dtype {dtype}")
    storage = _storage(dtype)
    if dtype is dtypes.from_numpy(storage):
        return array, None
    return _converted(array, storage), {"dtype": dtype.name}


def _fits_numpy(strings: Sequence[bytes]) -> bool:
    """Return False for strings that end with NUL, which NumPy drops, and where one long string would widen all others."""
    longest = max(map(len, strings), default=0)
    is_wide = longest * len(strings) > _MOST_PADDED + _WIDEST * sum(map(len, strings))
    return not is_wide and not any(text.endswith(b"\0") for text in strings)


def _converted(array: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(invalid="ignore"):  # NumPy warns of NaNs
        return array.astype(dtype)


def _storage(dtype: DType) -> np.dtype[Any]:
    """Return a type of NumPy's own that holds every number of a dtype."""
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
    """Decode a manifest's entry; ValueError, KeyError or TypeError where the entry is malformed."""
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
