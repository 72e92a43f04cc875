"""Decoder of snappy's block format, in which old checkpoints and some tables are compressed."""

from __future__ import annotations

from ...core.errors import DataLossError
from ...core.numerics import wire


def decompress(data: memoryview) -> bytes:
    """The contents of a snappy block; DataLossError where it is damaged."""
    size, position = wire.read_varint(data, 0, len(data))
    if size > 256 * len(data):  # no element makes more than 64 bytes of its two or three
        raise DataLossError(f"a snappy block of {len(data)} bytes claims to hold {size}")
    result = bytearray()
    try:
        while position < len(data):
            position = _element(data, position, result)
    except IndexError:
        raise DataLossError(f"a snappy block is cut off at byte {position}") from None
    if len(result) != size:
        raise DataLossError(f"a snappy block holds {len(result)} bytes, not the {size} it claims")
    return bytes(result)


def _element(data: memoryview, position: int, result: bytearray) -> int:
    """Append one literal or copy; the position after it."""
    tag = data[position]
    kind = tag & 3
    if kind == 0:
        return _literal(data, position, result)
    if kind == 1:
        length, offset, after = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[position + 1], position + 2
    else:
        width = 2 if kind == 2 else 4
        after = position + 1 + width
        if after > len(data):
            raise IndexError
        length, offset = (tag >> 2) + 1, int.from_bytes(data[position + 1 : after], "little")
    _copy(result, offset, length)
    return after


def _literal(data: memoryview, position: int, result: bytearray) -> int:
    length = (data[position] >> 2) + 1
    position += 1
    if length > 60:
        width = length - 60
        length = int.from_bytes(data[position : position + width], "little") + 1
        position += width
    if position + length > len(data):
        raise IndexError
    result += data[position : position + length]
    return position + length


def _copy(result: bytearray, offset: int, length: int) -> None:
    """Repeat what lies `offset` bytes back; a copy may run into itself."""
    if not 0 < offset <= len(result):
        raise DataLossError(f"a snappy block refers back {offset} bytes, {len(result)} are there")
    start = len(result) - offset
    if offset >= length:
        result += result[start : start + length]
        return
    pattern = bytes(result[start:])
    result += (pattern * (length // offset + 1))[:length]
