"""TFRecord files: length, masked checksum of it, data, masked checksum of that.

Source: https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

from .crc32c import masked_crc32c
from .unpacking import unpacked_limit

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")


class RecordError(ValueError):
    """The file is cut off or damaged."""


def encode_record(data: bytes) -> bytes:
    """One record as it stands in a file."""
    length = struct.pack("<Q", len(data))
    return length + _FOOTER.pack(masked_crc32c(length)) + data + _FOOTER.pack(masked_crc32c(data))


def decode_record(contents: bytes, position: int) -> tuple[bytes, int]:
    """(data, position after the record); RecordError where it is cut off or a checksum is wrong."""
    if position + _HEADER.size > len(contents):
        raise RecordError(f"truncated record at {position}")
    length, checksum = _HEADER.unpack_from(contents, position)
    start = position + _HEADER.size
    if masked_crc32c(contents[position : position + 8]) != checksum:
        raise RecordError(f"corrupted record at {position}")
    end = start + length
    if end + _FOOTER.size > len(contents):
        raise RecordError(f"truncated record at {start}")
    data = contents[start:end]
    if _FOOTER.unpack_from(contents, end)[0] != masked_crc32c(data):
        raise RecordError(f"corrupted record at {start}")
    return data, end + _FOOTER.size


def read_record(stream: Any) -> bytes | None:
    """The next record of a file that is read in pieces, None behind the last; RecordError as for `decode_record`."""
    head = stream.read(_HEADER.size)
    if not head:
        return None
    if len(head) < _HEADER.size:
        raise RecordError("truncated record")
    length, checksum = _HEADER.unpack(head)
    if masked_crc32c(head[:8]) != checksum:
        raise RecordError("corrupted record")
    data = _read_all(stream, length)
    foot = stream.read(_FOOTER.size)
    if len(data) < length or len(foot) < _FOOTER.size:
        raise RecordError("truncated record")
    if _FOOTER.unpack(foot)[0] != masked_crc32c(data):
        raise RecordError("corrupted record")
    return data


def _read_all(stream: Any, length: int) -> bytes:
    """As many bytes as there are, up to `length`: what a header claims is not allocated before it is there."""
    if length <= _PIECE:
        return bytes(stream.read(length))
    pieces = []
    while length and (piece := stream.read(min(length, _PIECE))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


_PIECE: Final = 1 << 24


def uncompressed(contents: bytes, compression: str) -> bytes:
    """A file's contents behind its compression: '', ZLIB or GZIP; RecordError where it is damaged or a bomb."""
    if not compression:
        return contents
    unpacker, limit = zlib.decompressobj(15 if compression == "ZLIB" else 31), unpacked_limit(len(contents))
    try:
        unpacked = unpacker.decompress(contents, limit)
    except zlib.error as error:
        raise RecordError(f"cannot uncompress: {error}") from error
    if unpacker.unconsumed_tail:
        raise RecordError(f"{len(contents):,} bytes would uncompress to more than {limit:,}")
    return unpacked
