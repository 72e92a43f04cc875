"""Protobuf's wire format, for the few small messages that kernels read and write themselves.

https://protobuf.dev/programming-guides/encoding. Payloads: int for varints, bytes for everything else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .varint import MASK_64, varint

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no protobuf message."""


class Field(NamedTuple):
    """One field of a message."""

    number: int
    wire_type: int
    payload: Any


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message, in their order; WireError where it is cut off or damaged."""
    position, end = 0, len(data)
    while position < end:
        tag, position = read_varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise WireError("a field has number 0")
        if wire_type == VARINT:
            value, position = read_varint(data, position)
            yield Field(number, wire_type, value)
            continue
        size, position = _payload_size(data, position, wire_type)
        if position + size > end:
            raise WireError("the message is cut off")
        yield Field(number, wire_type, data[position : position + size])
        position += size


def _payload_size(data: bytes, position: int, wire_type: int) -> tuple[int, int]:
    if wire_type == BYTES:
        return read_varint(data, position)
    if wire_type in (FIXED64, FIXED32):
        return (8 if wire_type == FIXED64 else 4), position
    raise WireError(f"wire type {wire_type} is not supported")


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """(value, position after it)."""
    result = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & MASK_64, position
        shift += 7
    raise WireError("a varint is cut off or too long")


def signed(value: int) -> int:
    """A varint as a signed 64-bit number."""
    return value - (1 << 64) if value >= 1 << 63 else value


def repeated_varints(found: Iterable[Field]) -> list[int]:
    """The signed numbers of a repeated integer field, packed or not."""
    numbers: list[int] = []
    for field in found:
        if field.wire_type == VARINT:
            numbers.append(signed(field.payload))
            continue
        position = 0
        while position < len(field.payload):
            value, position = read_varint(field.payload, position)
            numbers.append(signed(value))
    return numbers


def repeated_fixed(found: Iterable[Field], dtype: str) -> np.ndarray[Any, Any]:
    """The numbers of a repeated float or double field, packed or not."""
    data = b"".join(field.payload for field in found if field.wire_type != VARINT)
    if len(data) % np.dtype(dtype).itemsize:
        raise WireError("a packed field is cut off")
    return np.frombuffer(data, dtype)


def varint_field(number: int, value: int, always: bool = False) -> bytes:
    """An integer field; nothing for 0 unless it is written always."""
    return varint(number << 3) + varint(value) if value or always else b""


def bytes_field(number: int, value: bytes) -> bytes:
    """A string or message field; also where it is empty."""
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def string_field(number: int, value: bytes) -> bytes:
    """A string field; nothing where it is empty."""
    return bytes_field(number, value) if value else b""


def double_field(number: int, value: float) -> bytes:
    """A double field; nothing for 0 (but for -0)."""
    data = struct.pack("<d", value)
    return varint(number << 3 | FIXED64) + data if any(data) else b""


def float_field(number: int, value: float, always: bool = False) -> bytes:
    """A float field; nothing for 0 (but for -0) unless it is written always."""
    data = np.float32(value).tobytes()
    return varint(number << 3 | FIXED32) + data if always or any(data) else b""


def packed_doubles(number: int, values: Any) -> bytes:
    """A packed field of doubles; nothing where there are none."""
    return string_field(number, np.asarray(values, "<f8").tobytes())
