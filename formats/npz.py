"""State files: arrays by name in a NumPy .npz archive.

What NumPy holds by itself is stored plainly, so that `numpy.load` reads it. Strings and types such as bfloat16 are stored as
bytes, and a JSON entry says what they are; nothing is ever pickled.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from ..core import dtypes
from ..core.atomic import atomic_file, file_errors
from ..core.dtypes import DType
from ..core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ..core.tensors import Tensor
from .tensor_values import object_array

MANIFEST = "__tfg__"
_PLAIN_KINDS = "biufc"


def write_npz(path: str | os.PathLike[str], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, whole or not at all; UnimplementedError for resources and variants."""
    arrays = _pack_all(tensors)
    with atomic_file(path) as file:
        _write_archive(file, arrays)


def npz_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """The archive that `write_npz` writes."""
    buffer = io.BytesIO()
    _write_archive(buffer, _pack_all(tensors))
    return buffer.getvalue()


def _pack_all(tensors: Mapping[str, Tensor]) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays to store, with the manifest where one is needed."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    manifest: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        if name == MANIFEST:
            raise InvalidArgumentError(f"a tensor cannot be called '{MANIFEST}' in a state file")
        arrays[name], entry = _pack(name, tensor)
        if entry is not None:
            manifest[name] = entry
    if manifest:
        arrays[MANIFEST] = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
    return arrays


def _write_archive(file: IO[bytes], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """`numpy.savez` cannot take the names `file` and `args`, nor names of keyword arguments of its own."""
    with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _pack(name: str, tensor: Tensor) -> tuple[np.ndarray[Any, Any], dict[str, Any] | None]:
    """The array to store, and what the manifest says of it where it is not the tensor itself."""
    dtype, array = tensor.dtype, tensor.numpy()
    if dtype is dtypes.string:
        strings = array.ravel().tolist()
        characters = np.frombuffer(b"".join(strings), np.uint8)
        return characters, {"dtype": dtype.name, "shape": list(array.shape), "lengths": [len(s) for s in strings]}
    if dtype.is_object:
        raise UnimplementedError(f"tensor '{name}' is of dtype {dtype}, which no state file can hold")
    if array.dtype.kind in _PLAIN_KINDS and dtype is dtypes.from_numpy(array.dtype):
        return array, None
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return raw, {"dtype": dtype.name, "shape": list(array.shape)}


def read_npz(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Tensors by name; DataLossError where the archive is damaged, InvalidArgumentError where it holds Python objects."""
    try:
        with file_errors(path), np.load(os.fspath(path), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise DataLossError(f"'{os.fspath(path)}' is a damaged or truncated .npz archive: {error}") from None
    except ValueError as error:
        raise InvalidArgumentError(f"'{os.fspath(path)}': {error}") from None
    strange = next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None)
    if strange is not None:
        raise DataLossError(f"entry '{strange}' of '{os.fspath(path)}' is no array")
    packed = arrays.pop(MANIFEST, None)
    try:
        manifest = {} if packed is None else json.loads(packed.tobytes())
        return {name: _unpack(array, manifest.get(name)) for name, array in arrays.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise DataLossError(f"the entry '{MANIFEST}' of '{os.fspath(path)}' does not fit: {error}") from None


def _unpack(array: np.ndarray[Any, Any], entry: Mapping[str, Any] | None) -> Tensor:
    if entry is None:
        return Tensor.from_numpy(array)
    dtype = dtypes.from_name(entry["dtype"])
    shape = tuple(entry["shape"])
    if dtype is dtypes.string:
        return Tensor.from_numpy(object_array(_split(array.tobytes(), entry["lengths"]), shape), dtype)
    return Tensor.from_numpy(_typed(array, dtype).reshape(shape), dtype)


def _typed(array: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    return np.frombuffer(array.tobytes(), dtype.numpy)


def _split(characters: bytes, lengths: list[int]) -> list[bytes]:
    if sum(lengths) != len(characters):
        raise ValueError(f"strings of {sum(lengths)} bytes in {len(characters)}")
    strings, position = [], 0
    for length in lengths:
        strings.append(characters[position : position + length])
        position += length
    return strings
