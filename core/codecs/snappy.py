"""Snappy's block format, used by old checkpoints, some tables and snapshots of datasets.

Source: https://github.com/google/snappy/blob/main/format_description.txt. TensorFlow's files are frames of TensorFlow's
own: the size of a block as four big-endian bytes, and the block. Blocks are decompressed by cramjam (the optional extra
`tfg[fast]`) where it is installed.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, Final

from ..support.errors import DataLossError
from . import wire
from .varint import varint

_SIZE: Final = struct.Struct(">I")
_FRAME: Final = 1 << 18
"""The number of bytes in a frame: the buffer size of TensorFlow's readers."""


def unframed(data: bytes) -> bytes:
    """Decompress the contents of a file; DataLossError for a damaged file."""
    view, position, blocks = memoryview(data), 0, []
    while position < len(view):
        start = position + _SIZE.size
        if start > len(view):
            raise DataLossError(f"a snappy file is truncated at byte {position}")
        position = start + _SIZE.unpack_from(view, start - _SIZE.size)[0]
        if position > len(view):
            raise DataLossError(f"a snappy file is truncated: a block ends {position - len(view)} bytes past its end")
        blocks.append(decompress(view[start:position]))
    return b"".join(blocks)


def framed(data: bytes) -> bytes:
    """Compress contents into a file of frames."""
    blocks = (compress(data[start : start + _FRAME]) for start in range(0, len(data), _FRAME))
    return b"".join(_SIZE.pack(len(block)) + block for block in blocks)


def compress(data: bytes) -> bytes:
    """Return a block with the contents as literals: in Python, searching for repetitions would take longer than the disk."""
    head = varint(len(data))
    if not data:
        return head
    size = len(data) - 1
    if size < _SHORT:
        return head + bytes([size << 2]) + data
    width = (size.bit_length() + 7) // 8
    return head + bytes([_SHORT - 1 + width << 2]) + size.to_bytes(width, "little") + data


_SHORT: Final = 60
"""The largest length of a literal that is encoded in the literal's first byte."""


def decompress(data: memoryview) -> bytes:
    """Decompress a snappy block; DataLossError for a damaged block."""
    size, position = wire.read_varint(data, 0, len(data))
    if size > 256 * len(data):  # an element of 2 or 3 bytes yields at most 64 bytes
        raise DataLossError(f"a snappy block of {len(data)} bytes claims to hold {size}")
    cramjam = c_extension()
    if cramjam is None:
        return decompress_elements(data, position, size)
    try:
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise DataLossError(f"a snappy block is damaged: {error}") from None


@functools.cache
def c_extension() -> Any:
    """Return the module cramjam; None where it is not installed."""
    try:
        import cramjam
    except ImportError:
        return None
    return cramjam


def decompress_elements(data: memoryview, position: int, size: int) -> bytes:
    """Decompress the elements from `position` on, which claim to hold `size` bytes."""
    result = bytearray()
    try:
        while position < len(data):
            position = _element(data, position, result)
    except IndexError:
        raise DataLossError(f"a snappy block is truncated at byte {position}") from None
    if len(result) != size:
        raise DataLossError(f"a snappy block holds {len(result)} bytes, not the {size} of its header")
    return bytes(result)


def _element(data: memoryview, position: int, result: bytearray) -> int:
    """Append a literal or a copy; return the position after the element."""
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
    """Repeat the bytes that lie `offset` bytes back; source and target of a copy may overlap."""
    if not 0 < offset <= len(result):
        raise DataLossError(f"a snappy block refers back {offset} bytes, but has only {len(result)}")
    start = len(result) - offset
    if offset >= length:
        result += result[start : start + length]
        return
    pattern = bytes(result[start:])
    result += (pattern * (length // offset + 1))[:length]
