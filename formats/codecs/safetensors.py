"""Arrays by name in safetensors files, as Hugging Face's library writes and reads them.

A file is the length of a header (8 bytes, little-endian), the header (a JSON object with dtype, shape and offsets of each
array) and the data. https://github.com/huggingface/safetensors describes the format. The reader refuses each file that the
library refuses, and a file that names an array twice.
"""

from __future__ import annotations

import functools
import json
import math
import os
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from ...core.support.regular_files import PositionedFile, open_regular
from ...core.types import dtypes
from ...core.types.arrays import Array
from ...core.types.dtypes import DType
from ...core.types.tensors import Tensor

MAX_HEADER: Final = 100_000_000
"""The largest length of a header in bytes, as in the library."""
_METADATA: Final = "__metadata__"
_LENGTH: Final = struct.Struct("<Q")
_ALIGNMENT: Final = 8
_MAX_RANK: Final = 32
_MAX_SIZE: Final = (1 << 63) - 1
_NAMES: Final = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "half", "BF16": "bfloat16", "F32": "float", "F64": "double", "C64": "complex64",
    "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn", "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E4M3FNUZ": "float8_e4m3fnuz",
}  # fmt: skip
_DTYPES: Final = {word: dtypes.from_name(name) for word, name in _NAMES.items()}
_WORDS: Final = {dtype: word for word, dtype in _DTYPES.items()}
_FOREIGN: Final = frozenset(("F4", "F6_E2M3", "F6_E3M2", "F8_E8M0"))
"""Types of the format that TensorFlow lacks, or stores in another layout."""


def write_safetensors(path: str | os.PathLike[str], tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, whole or not at all, in the order of the library: wide types first, then by name.

    UnimplementedError for a dtype that the format lacks, InvalidArgumentError for a name that the format cannot hold.
    """
    # After wide elements narrow ones are aligned, too, so that the file can be mapped into memory.
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.size, name))
    header = _encoded_header({name: tensors[name] for name in names})
    with atomic_file(path) as file:
        file.write(_LENGTH.pack(len(header)) + header)
        for name in names:
            # One tensor at a time is in memory.
            array = np.ascontiguousarray(tensors[name].read(), _stored(tensors[name].dtype))
            file.write(array.reshape(-1).view(np.uint8).data)


def _encoded_header(tensors: Mapping[str, Tensor]) -> bytes:
    entries, end = {}, 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.size * tensor.dtype.size
        entries[name] = {"dtype": _word(name, tensor.dtype), "shape": list(tensor.shape), "data_offsets": [begin, end]}
    # Readers take this entry for notes about the file.
    if _METADATA in tensors:
        raise InvalidArgumentError(f"a safetensors file cannot hold a tensor named '{_METADATA}'")
    try:
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError("the name of a tensor is not UTF-8", hint="write a checkpoint") from None
    header = text + b" " * (-len(text) % _ALIGNMENT)
    if len(header) > MAX_HEADER:
        raise ResourceExhaustedError(
            f"the names and shapes of {len(entries):,} tensors take {len(header):,} bytes, but a header has at most "
                f"{MAX_HEADER:,}", hint="write a checkpoint"
        )  # fmt: skip
    return header


def can_hold(dtype: DType) -> bool:
    """Return True for a dtype that the format has."""
    return dtype in _WORDS


def _word(name: str, dtype: DType) -> str:
    if not can_hold(dtype):
        hint = "write an .npz file or a checkpoint, or leave the tensor out"
        raise UnimplementedError(f"a safetensors file cannot hold tensor '{name}' of dtype {dtype}", hint=hint)
    return _WORDS[dtype]


def _stored(dtype: DType) -> np.dtype[Any]:
    """Return the little-endian NumPy dtype of stored elements."""
    return dtype.numpy.newbyteorder("<")


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the tensors of a file by name; only the header is read until a tensor's elements are asked for.

    DataLossError for a header that does not fit the file: ranges that overlap, leave gaps or differ from the shapes.
    UnimplementedError for a type that TensorFlow lacks.
    """
    where = f"'{os.fspath(path)}'"
    with file_errors(path), open_regular(path) as file:
        contents = PositionedFile(file)
    entries, start = _read_header(contents, where)
    _check_coverage(entries, len(contents) - start, where)
    return {
        name: Tensor(entry.dtype, entry.shape, functools.partial(_read, contents, start, entry, f"'{name}' of {where}"))
        for name, entry in entries.items()
    }


class _TensorEntry:
    """The dtype, shape and range of bytes of an array, decoded from the header."""

    __slots__ = ("begin", "dtype", "end", "shape")

    def __init__(self, fields: Mapping[str, Any], where: str) -> None:
        word, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
        if word in _FOREIGN:
            raise UnimplementedError(f"{where} has type {word}, which TensorFlow lacks")
        self.dtype = _DTYPES[word]
        self.shape = _sizes(shape)
        self.begin, self.end = _sizes(offsets)
        if len(shape) > _MAX_RANK or math.prod(size for size in shape if size) > _MAX_SIZE:
            raise ValueError(f"the shape {shape} is too large")
        if self.end - self.begin != math.prod(self.shape) * self.dtype.size:
            raise ValueError(f"{self.end - self.begin} bytes for the shape {shape} of {word}")


def _sizes(numbers: Sequence[Any]) -> tuple[int, ...]:
    # JSON has true and 1.0 too, which would pass for sizes.
    if not isinstance(numbers, list) or not all(type(number) is int and 0 <= number <= _MAX_SIZE for number in numbers):
        raise ValueError(f"{str(numbers)[:80]} are not sizes")
    return tuple(numbers)


def _read_header(contents: PositionedFile, where: str) -> tuple[dict[str, _TensorEntry], int]:
    """Return the entries of the header by name, and the position of the data."""
    head = contents.read_at(0, _LENGTH.size)
    if len(head) < _LENGTH.size:
        raise DataLossError(f"{where} is too short for a safetensors file")
    (length,) = _LENGTH.unpack(head)
    if length > min(len(contents) - _LENGTH.size, MAX_HEADER):
        raise DataLossError(f"{where} of {len(contents):,} bytes claims a header of {length:,} bytes")
    try:
        fields = json.loads(contents.read_at(_LENGTH.size, length).decode(), object_pairs_hook=_without_duplicates)
        _check_metadata(fields.pop(_METADATA, None))
        entries = {name: _TensorEntry(entry, f"'{name}' of {where}") for name, entry in fields.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataLossError(f"{where} has a damaged header: {error}") from None
    return entries, _LENGTH.size + length


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"'{name}' is a duplicate")
    return fields


def _check_metadata(metadata: Any) -> None:
    if metadata is not None and not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError(f"{_METADATA} has a value that is not a string")


def _check_coverage(entries: Mapping[str, _TensorEntry], size: int, where: str) -> None:
    """Raise DataLossError if the ranges of the arrays do not cover the data exactly, each byte once."""
    position = 0
    # An empty array has no bytes, and stands before the array that begins where it does.
    ranges = sorted((entry.begin, entry.end, name) for name, entry in entries.items())
    for begin, end, name in ranges:
        # The library refuses gaps and overlaps: bytes that no array shows could hide another file in this one.
        if begin != position:
            fault = "overlaps the previous array" if begin < position else f"leaves a gap of {begin - position:,} bytes"
            raise DataLossError(f"{where} has a damaged header: '{name}' {fault}")
        position = end
    if position != size:
        raise DataLossError(f"{where} has {size:,} bytes of data, but its header says {position:,}")


def _read(contents: PositionedFile, start: int, entry: _TensorEntry, where: str) -> Array:
    data = contents.read_at(start + entry.begin, entry.end - entry.begin)
    if len(data) != entry.end - entry.begin:
        raise DataLossError(f"{where} is truncated")
    # NumPy computes wrong results with a bool whose byte is neither 0 nor 1.
    if entry.dtype is dtypes.bool_:
        array: Array = np.frombuffer(data, np.uint8) != 0
    else:
        array = np.frombuffer(data, _stored(entry.dtype)).astype(entry.dtype.numpy, copy=False)
    return array.reshape(entry.shape)
