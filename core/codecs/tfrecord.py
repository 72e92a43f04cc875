"""TFRecord files, and the checksum of TensorFlow's tables, bundles and records.

A record is the length, the masked checksum of the length, the data, and the masked checksum of the data.
Source: https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details".
"""

from __future__ import annotations

import functools
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from .snappy import unpacked_limit

# CRC-32C (Castagnoli), the checksum of TensorFlow's tables, bundles and records, computed by the package google-crc32c.
# Polynomial: Castagnoli, Braeuer and Herrmann, IEEE Trans. Commun. 41 (1993), also in RFC 3720; the mask is LevelDB's.

Buffer = bytes | bytearray | memoryview

_MASK_DELTA = 0xA282EAD8
"""The number that TFRecord and LevelDB add to a rotated checksum."""
_COPIED = 1 << 20
"""The size, in bytes, of the pieces that google-crc32c gets: the library takes `bytes` only, so a view is copied."""


def crc32c(data: Buffer, crc: int = 0) -> int:
    """Return the checksum of `data`; `crc` is the checksum of preceding data."""
    extend = _extend()
    if isinstance(data, bytes):
        return extend(crc, data)
    view = memoryview(data).cast("B")
    for start in range(0, len(view), _COPIED):
        crc = extend(crc, bytes(view[start : start + _COPIED]))
    return crc


@functools.cache
def _extend() -> Callable[[int, bytes], int]:
    """Return google-crc32c's function (checksum before, data) -> checksum, imported when the first checksum is computed."""
    import google_crc32c

    extend: Callable[[int, bytes], int] = google_crc32c.extend
    return extend


def mask(crc: int) -> int:
    """Return the masked checksum stored in files; masking keeps checksums of data that contains checksums sound."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: Buffer) -> int:
    """Return the masked checksum of `data`."""
    return mask(crc32c(data))


# Records.

_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_FOOTER = struct.Struct("<I")


class RecordError(ValueError):
    """The file is cut off or damaged."""


def encode_record(data: bytes) -> bytes:
    """Encode a record with length and checksums."""
    length = struct.pack("<Q", len(data))
    return length + _FOOTER.pack(masked_crc32c(length)) + data + _FOOTER.pack(masked_crc32c(data))


def decode_record(contents: bytes, position: int) -> tuple[bytes, int]:
    """Return (data, position after the record); RecordError for a truncated record or a wrong checksum."""
    if position + _HEADER.size > len(contents):
        raise RecordError(f"truncated record at {position}")
    length, checksum = _HEADER.unpack_from(contents, position)
    start = position + _HEADER.size
    # Before the length is used: a damaged length would ask for any amount of memory.
    if masked_crc32c(contents[position : position + 8]) != checksum:
        raise RecordError(f"corrupted record at {position}")
    end = start + length
    if end + _FOOTER.size > len(contents):
        raise RecordError(f"truncated record at {start}")
    data = contents[start:end]
    if _FOOTER.unpack_from(contents, end)[0] != masked_crc32c(data):
        raise RecordError(f"corrupted record at {start}")
    return data, end + _FOOTER.size


def read_records(stream: Any, longest: int = sys.maxsize) -> Iterator[bytes]:
    """Yield the records of a file, read in pieces; RecordError as for `decode_record`, after all records before the damage.

    A record of more than `longest` bytes counts as damaged.
    """
    contents = b""
    while piece := stream.read1(READ_BYTES):  # read1 returns the data before damage in a compressed file
        # Most pieces end within a record, whose beginning is kept for the next.
        contents = contents + piece if contents else piece
        spans, position = _whole_records(contents)
        yield from _checked(contents, spans)
        contents = contents[position:]
        if len(contents) >= _HEADER.size:
            # A record larger than a read is read as a whole, or each read would copy it again.
            missing = _missing(contents)
            if missing > longest:
                raise RecordError(f"a record would uncompress to {missing:,} bytes")
            contents += _read_all(stream, missing)
            spans, position = _whole_records(contents)
            yield from _checked(contents, spans)
            contents = contents[position:]
    if contents:
        raise RecordError("truncated record")


READ_BYTES: Final = 1 << 18
"""The number of bytes in a read: 256 KiB, a bound on memory for a damaged length."""


def _whole_records(contents: bytes) -> tuple[list[tuple[int, int]], int]:
    """Return (starts and ends of the records' headers and data, position after the last record)."""
    spans = []
    position, size = 0, len(contents)
    while position + _HEADER.size <= size:
        end = position + _HEADER.size + _LENGTH.unpack_from(contents, position)[0]
        if end + _FOOTER.size > size:
            break
        spans.append((position, end))
        position = end + _FOOTER.size
    return spans, position


def _checked(contents: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Yield the data of records up to the first wrong checksum."""
    for start, end in spans:
        head, part = contents[start : start + 8], contents[start + _HEADER.size : end]
        stored = _FOOTER.unpack_from(contents, start + 8)[0], _FOOTER.unpack_from(contents, end)[0]
        if stored != (masked_crc32c(head), masked_crc32c(part)):
            raise RecordError("corrupted record")
        yield part


def _missing(contents: bytes) -> int:
    """Return the number of bytes that the record at the start of `contents` lacks; RecordError for a damaged length."""
    length, checksum = _HEADER.unpack_from(contents)
    if masked_crc32c(contents[:8]) != checksum:
        raise RecordError("corrupted record")
    return int(_HEADER.size + length + _FOOTER.size - len(contents))


def _read_all(stream: Any, length: int) -> bytes:
    """Read up to `length` bytes; memory grows with the bytes read, so a false length in a header allocates nothing."""
    pieces = []
    while length and (piece := stream.read(min(length, _LARGE_PIECE))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


_LARGE_PIECE: Final = 1 << 24
"""The number of bytes in a read of a long record: 16 MiB, a bound on memory for a damaged length."""


def uncompressed(contents: bytes, compression: str) -> bytes:
    """Decompress a file's contents; `compression` is '', ZLIB or GZIP. RecordError for damage or a decompression bomb."""
    if not compression:
        return contents
    # 15 is the largest window of zlib's format, and 16 more mean gzip's.
    unpacker, limit = zlib.decompressobj(15 if compression == "ZLIB" else 31), unpacked_limit(len(contents))
    try:
        unpacked = unpacker.decompress(contents, limit)
    except zlib.error as error:
        raise RecordError(f"cannot uncompress: {error}") from error
    if unpacker.unconsumed_tail:
        raise RecordError(f"{len(contents):,} bytes would uncompress to more than {limit:,}")
    return unpacked
