"""Protobuf's wire format, walked without copying: for files too big, or with tensors too big, to hand to protobuf whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..core.errors import DataLossError
from ..core.numerics.varint import varint

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """A field of a message: its number and wire type, where its tag starts, and where its payload starts and ends."""

    number: int
    wire_type: int
    tag_start: int
    start: int
    end: int


def read_varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """(value, position after it); DataLossError where it runs past `end` or is longer than ten bytes."""
    result = shift = 0
    for i in range(position, min(end, position + 10)):
        byte = data[i]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, i + 1
        shift += 7
    raise DataLossError(f"the protobuf message is cut off or damaged at byte {position}")


def read_varints(data: memoryview, count: int) -> tuple[list[int], int]:
    """(values, position after them) of the varints that `data` begins with."""
    values, position = [], 0
    for _ in range(count):
        value, position = read_varint(data, position, len(data))
        values.append(value)
    return values, position


def pieces(data: memoryview, position: int, sizes: Iterable[int]) -> list[bytes]:
    """The bytes from `position` on, cut into pieces of these sizes."""
    ends = itertools.accumulate(sizes, initial=position)
    return [bytes(data[start:end]) for start, end in itertools.pairwise(ends)]


def length_prefix(number: int, size: int) -> bytes:
    """Tag and length of a length-delimited field."""
    return varint(number << 3 | LENGTH_DELIMITED) + varint(size)


def fields(data: memoryview, start: int = 0, end: int | None = None) -> Iterator[Field]:
    """The fields of the message in data[start:end]; DataLossError where it is no complete message."""
    position = start
    end = len(data) if end is None else end
    while position < end:
        tag, payload = read_varint(data, position, end)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == LENGTH_DELIMITED:
            size, payload = read_varint(data, payload, end)
            after = payload + size
        elif wire_type == VARINT:
            after = read_varint(data, payload, end)[1]
        elif wire_type in _FIXED_SIZES:
            after = payload + _FIXED_SIZES[wire_type]
        else:
            raise DataLossError(f"byte {position} is no start of a protobuf field")
        if number == 0:
            raise DataLossError(f"byte {position} is no start of a protobuf field")
        if after > end:
            raise DataLossError(f"the file is truncated: the field at byte {position} ends {after - end} bytes past the end")
        yield Field(number, wire_type, position, payload, after)
        position = after
