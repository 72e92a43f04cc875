"""Protobuf's wire format, without protobuf and without NumPy, as reading a graph must not import NumPy.

Messages are walked without copying their contents.

For files or tensors too big to be parsed by protobuf as a whole, and for the few small messages that kernels read and write
themselves. Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ..support.errors import DataLossError

MASK_64: Final = (1 << 64) - 1
"""The largest number of 64 bits."""
_SHORT: Final = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """Encode a number as a varint; a negative number as 64 bits."""
    # Most tags, lengths and small numbers are a single byte.
    if 0 <= value <= 0x7F:
        return _SHORT[value]
    value &= MASK_64
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


VARINT, FIXED64, LENGTH_DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
"""The wire types of protocol buffers."""
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}

Buffer = bytes | memoryview


class Field(NamedTuple):
    """A field of the message in `data`: number, wire type, where the tag starts, where the payload starts and ends."""

    number: int
    wire_type: int
    tag_start: int
    start: int
    end: int
    data: Buffer

    @property
    def payload(self) -> bytes:
        """Return the encoded bytes of the field, without tag and length."""
        return bytes(self.data[self.start : self.end])


def fields(data: Buffer, start: int = 0, end: int | None = None, groups: bool = False) -> Iterator[Field]:
    """Yield the fields of the message in data[start:end], in order; DataLossError for an incomplete message.

    A group, which ends with a tag of its own, is a field only with `groups`: TensorFlow's messages have none.
    """
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
        elif wire_type == START_GROUP and groups:
            after = _group_end(data, number, payload, end)
        else:
            raise DataLossError(f"no protobuf field starts at byte {position}")
        # Protobuf has no field 0; zeros in a damaged file look like it.
        if number == 0:
            raise DataLossError(f"no protobuf field starts at byte {position}")
        if after > end:
            raise DataLossError(f"the message is truncated: field at byte {position} ends {after - end} bytes past the end")
        yield Field(number, wire_type, position, payload, after, data)
        position = after


def _group_end(data: Buffer, number: int, position: int, end: int) -> int:
    """Return the position after the end tag of the group that begins before `position`."""
    open_groups = [number]
    while open_groups:
        tag, payload = read_varint(data, position, end)
        if tag & 7 == START_GROUP:
            open_groups.append(tag >> 3)
        elif tag & 7 == END_GROUP and open_groups.pop() != tag >> 3:
            raise DataLossError(f"the group that ends at byte {position} has another number than its start")
        position = payload if tag & 7 in (START_GROUP, END_GROUP) else next(fields(data, position, end)).end
    return position


def read_varint(data: Buffer, position: int, end: int) -> tuple[int, int]:
    """Return (value from 0 to 2**64 - 1, position after the varint); DataLossError past `end` or after ten bytes."""
    result = shift = 0
    # Ten bytes hold 64 bits; more are damage, not a longer number.
    for i in range(position, min(end, position + 10)):
        byte = data[i]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            # The tenth byte may hold bits beyond the 64th, which protobuf drops.
            return result & MASK_64, i + 1
        shift += 7
    raise DataLossError(f"the protobuf message is truncated or damaged at byte {position}")


def read_varints(data: Buffer, count: int) -> tuple[list[int], int]:
    """Return (values, position after them) of the varints at the start of `data`."""
    values, position = [], 0
    for _ in range(count):
        value, position = read_varint(data, position, len(data))
        values.append(value)
    return values, position


def pieces(data: Buffer, position: int, sizes: Iterable[int]) -> list[bytes]:
    """Cut the bytes from `position` on into pieces of the given sizes."""
    ends = itertools.accumulate(sizes, initial=position)
    return [bytes(data[start:end]) for start, end in itertools.pairwise(ends)]


def parts(data: bytes) -> list[tuple[int, bytes]]:
    """Return (number, contents) of the strings and messages in a message; DataLossError for an incomplete message.

    The same result as `fields` without an object per field: fields with a short tag and a short length are read inline.
    """
    entries: list[tuple[int, bytes]] = []
    position, end = 0, len(data)
    while position < end:
        tag = data[position]
        # 0x80 sends a truncated field the general way, which raises the error.
        size = data[position + 1] if position + 1 < end else 0x80
        after = position + 2 + size
        # One test for a tag of one byte and its wire type.
        if tag & 0x87 == LENGTH_DELIMITED and tag > 7 and size < 0x80 and after <= end:
            entries.append((tag >> 3, data[position + 2 : after]))
            position = after
            continue
        field = next(fields(data, position, end))
        if field.wire_type == LENGTH_DELIMITED:
            entries.append((field.number, field.payload))
        position = field.end
    return entries


def sole(data: bytes) -> tuple[int, bytes] | None:
    """Return (number, contents) of a message that is a single string or message field, as most small messages are; else
    None.
    """
    if len(data) < 2 or data[0] & 0x87 != LENGTH_DELIMITED or data[0] < 8:
        return None
    size, start = (data[1], 2) if data[1] < 0x80 else read_varint(data, 1, len(data))
    return (data[0] >> 3, data[start:]) if start + size == len(data) else None


def contents(data: bytes, number: int) -> list[bytes]:
    """Return the strings or messages in the fields of a number; like protobuf, skip fields of another wire type."""
    return [payload for field_number, payload in parts(data) if field_number == number]


def repeated_integers(occurrences: Iterable[Field]) -> list[int]:
    """Return the signed 64-bit numbers of a repeated integer field, packed or not."""
    numbers: list[int] = []
    for field in occurrences:
        # Parsers take both forms of a repeated number, and skip a field of any other wire type.
        position = field.start if field.wire_type in (VARINT, LENGTH_DELIMITED) else field.end
        numbers += packed_integers(bytes(field.data[position : field.end]))
    return numbers


def integers(data: Buffer, number: int) -> list[int]:
    """Return the signed 64-bit numbers in the fields of a number."""
    return repeated_integers(field for field in fields(data) if field.number == number)


def packed_integers(data: bytes) -> list[int]:
    """Return the signed 64-bit numbers that follow each other in `data`."""
    if data.isascii():  # no continuation bits: each byte is a whole varint
        return list(data)
    numbers: list[int] = []
    position, end = 0, len(data)
    while position < end:
        value, position = read_varint(data, position, end)
        numbers.append(value - (1 << 64) if value >= 1 << 63 else value)
    return numbers


def repeated_fixed(occurrences: Iterable[Field], size: int) -> bytes:
    """Return the concatenated little-endian numbers of `size` bytes, 4 or 8, of a repeated field, packed or not."""
    wire_types = (LENGTH_DELIMITED, FIXED32 if size == 4 else FIXED64)
    data = b"".join(field.payload for field in occurrences if field.wire_type in wire_types)
    if len(data) % size:
        raise DataLossError("a packed field is truncated")
    return data


def length_prefix(number: int, size: int) -> bytes:
    """Return tag and length of a length-delimited field."""
    return varint(number << 3 | LENGTH_DELIMITED) + varint(size)


def varint_field(number: int, value: int, always: bool = False) -> bytes:
    """Encode an integer field; nothing for 0 unless `always`."""
    # Proto3 writes no field that has its default.
    return varint(number << 3) + varint(value) if value or always else b""


def bytes_field(number: int, value: bytes) -> bytes:
    """Encode a string or message field, also an empty field."""
    return length_prefix(number, len(value)) + value


def string_field(number: int, value: bytes) -> bytes:
    """Encode a string field; nothing for an empty string."""
    return bytes_field(number, value) if value else b""


def double_field(number: int, value: float) -> bytes:
    """Encode a double field; nothing for 0 (but for -0)."""
    data = struct.pack("<d", value)
    return varint(number << 3 | FIXED64) + data if any(data) else b""


def float_field(number: int, value: float, always: bool = False) -> bytes:
    """Encode a float32 field; nothing for 0 (but for -0) unless `always`."""
    data = struct.pack("<f", value)
    return varint(number << 3 | FIXED32) + data if always or any(data) else b""


def packed_doubles(number: int, values: Sequence[float]) -> bytes:
    """Encode a packed field of doubles; nothing for no doubles."""
    return string_field(number, struct.pack(f"<{len(values)}d", *values))
