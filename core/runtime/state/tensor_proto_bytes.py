"""TensorProto's bytes, as SerializeTensor writes and ParseTensor reads them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...codecs import wire
from ...codecs.wire import varint
from ...support.errors import InvalidArgumentError, TfgError
from ...types import dtypes
from ...types.arrays import object_array
from ...types.dtypes import DType
from .edge_values import is_of

_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
"""The numbers of a TensorProto's fields."""
_FLOATS = {5: "<f4", 6: "<f8", 9: "<f4", 12: "<f8"}
"""The dtypes of the fields that repeat floating-point numbers, by the fields' numbers."""
_INTEGERS = (7, 10, 11, 13, 16, 17)
"""The numbers of the fields that repeat integers."""
_BITS = ("half", "bfloat16")


def serialize(array: np.ndarray[Any, Any], dtype: DType) -> bytes:
    """Return the message: numbers as a block of bytes, strings as fields; InvalidArgumentError for elements of another
    dtype.
    """
    head = _head(array, dtype)
    if dtype is dtypes.string:
        return head + b"".join(wire.bytes_field(_STRINGS, text) for text in array.ravel().tolist())
    return head + wire.string_field(_CONTENT, np.ascontiguousarray(array).tobytes())


def serialize_content(array: np.ndarray[Any, Any], dtype: DType) -> bytes:
    """Return the message with all elements in a single block: strings as all lengths, then all bytes."""
    if dtype is not dtypes.string:
        return serialize(array, dtype)
    head, texts = _head(array, dtype), array.ravel().tolist()
    content = b"".join([*(varint(len(text)) for text in texts), *texts])
    return head + wire.string_field(_CONTENT, content)


def _head(array: np.ndarray[Any, Any], dtype: DType) -> bytes:
    if not is_of(array, dtype):
        raise InvalidArgumentError(f"a tensor of {array.dtype} cannot be written as {dtype}")
    return _dtype_and_shape(dtype.number, array.shape)


@functools.lru_cache(maxsize=256)
def _dtype_and_shape(number: int, shape: tuple[int, ...]) -> bytes:
    return wire.varint_field(_DTYPE, number) + wire.bytes_field(_SHAPE, shape_message(shape))


def shape_message(shape: Iterable[int]) -> bytes:
    """Return a TensorShapeProto, whose sizes are -1 if they are unknown."""
    return b"".join(wire.bytes_field(2, wire.varint_field(1, size)) for size in shape)


def parse(data: bytes) -> tuple[np.ndarray[Any, Any], DType]:
    """Return the tensor in a message; DataLossError for bytes that are none, ValueError for a message that is no tensor."""
    by_number: dict[int, list[wire.Field]] = {}
    for field in wire.fields(data):
        by_number.setdefault(field.number, []).append(field)
    number = (wire.repeated_integers(by_number.get(_DTYPE, [])) or [0])[-1]
    try:
        dtype = dtypes.from_number(number)
    except TfgError as error:
        raise ValueError(error.message) from None
    shape = _parse_shape(by_number.get(_SHAPE, []))
    return _elements(by_number, dtype, math.prod(shape)).reshape(shape), dtype


def _parse_shape(fields: list[wire.Field]) -> tuple[int, ...]:
    message = b"".join(f.payload for f in fields)
    sizes = sizes_in(message)
    if any(size < 0 for size in sizes):
        raise ValueError(f"the shape {sizes} has an unknown dimension")
    return tuple(sizes)


def sizes_in(message: bytes) -> list[int]:
    """Return the sizes in a TensorShapeProto."""
    return [(wire.integers(dim, 1) or [0])[-1] for dim in wire.contents(message, 2)]


def _elements(by_number: dict[int, list[wire.Field]], dtype: DType, count: int) -> np.ndarray[Any, Any]:
    """Return `count` elements; the last element fills missing places."""
    if dtype is dtypes.string and _CONTENT in by_number:
        return object_array(_split_texts(by_number[_CONTENT][-1].payload, count), (-1,))
    if dtype is dtypes.string:
        return _filled(object_array([f.payload for f in by_number.get(_STRINGS, [])], (-1,)), count, b"")
    if dtype.is_object:
        raise ValueError(f"tensors of {dtype} cannot be parsed")
    content = by_number[_CONTENT][-1].payload if _CONTENT in by_number else b""
    if content:
        if len(content) != count * dtype.size:
            raise ValueError(f"{len(content)} bytes are not {count} elements of {dtype}")
        return np.frombuffer(content, dtype.numpy)
    return _filled(_typed(by_number, dtype), count, 0)


def _split_texts(content: bytes, count: int) -> list[Any]:
    """Return the strings in a block of `count` lengths and the bytes of all."""
    lengths, position = wire.read_varints(content, count)
    if position + sum(lengths) != len(content):
        raise ValueError(f"{len(content)} bytes are not {count} strings")
    return wire.pieces(content, position, lengths)


def _typed(by_number: dict[int, list[wire.Field]], dtype: DType) -> np.ndarray[Any, Any]:
    for number, form in _FLOATS.items():
        if number in by_number:
            values = np.frombuffer(wire.repeated_fixed(by_number[number], np.dtype(form).itemsize), form)
            return values.view(dtype.numpy) if dtype.is_complex else values.astype(dtype.numpy)
    for number in _INTEGERS:
        if number in by_number:
            # half_val holds the bits of 16-bit floats, not their values.
            integers = np.array(wire.repeated_integers(by_number[number]), np.int64)
            return integers.astype(np.uint16).view(dtype.numpy) if dtype.name in _BITS else integers.astype(dtype.numpy)
    return np.empty(0, dtype.numpy)


def _filled(values: np.ndarray[Any, Any], count: int, zero: Any) -> np.ndarray[Any, Any]:
    if len(values) > count:
        raise ValueError(f"{len(values)} elements do not fit a shape of {count}")
    if len(values) <= 1:  # an element that is repeated takes no memory, however large the claimed shape is
        return np.broadcast_to(values if len(values) else np.array([zero], values.dtype), (count,))
    missing = np.empty(count - len(values), values.dtype)
    missing[:] = values[-1]
    return np.concatenate([values, missing])
