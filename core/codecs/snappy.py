"""Snappy's block format, used by old checkpoints, some tables and snapshots of datasets; and bounds of unpacked data.

Source: https://github.com/google/snappy/blob/main/format_description.txt. TensorFlow's files are frames of TensorFlow's
own: the size of a block as four big-endian bytes, and the block. The package cramjam compresses and decompresses blocks.
"""

from __future__ import annotations

import struct
from typing import Final

from ..support.errors import DataLossError
from . import wire

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
    """Compress contents into a snappy block."""
    import cramjam

    return bytes(cramjam.snappy.compress_raw(data))


def decompress(data: memoryview) -> bytes:
    """Decompress a snappy block; DataLossError for a damaged block."""
    import cramjam

    # The block begins with its size, which would be allocated before a byte is read.
    size = wire.read_varint(data, 0, len(data))[0]
    if size > 256 * len(data):  # an element of 2 or 3 bytes yields at most 64 bytes
        raise DataLossError(f"a snappy block of {len(data)} bytes claims to hold {size}")
    try:
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise DataLossError(f"a snappy block is damaged: {error}") from None


ROOM, _RATIO = 1 << 28, 64
"""The decompressed size, in bytes, that is always allowed, and the largest ratio of larger sizes to the packed bytes."""


def unpacked_limit(size: int) -> int:
    """Return the largest decompressed size, in bytes, of `size` packed bytes, so that a small file cannot fill the memory.

    Graphs and checkpoints compress 2 to 20 times, decompression bombs 1000 times.
    """
    return max(ROOM, _RATIO * size)
