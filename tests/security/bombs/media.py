"""Pictures and sounds that claim to be larger than their bytes."""

from __future__ import annotations

import struct
import zlib


def png(width: int, height: int) -> bytes:
    """A PNG picture whose pixels are all zero: a thousandth of its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pack = zlib.compressobj(1)
    row = bytes(1 + width)
    data = b"".join([*(pack.compress(row) for _ in range(height)), pack.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def gif(width: int, height: int, frames: int) -> bytes:
    """A GIF that claims frames of this size and brings hardly a pixel."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00"
    return head + frame * frames + b";"


def bmp(width: int, height: int) -> bytes:
    """The header of a BMP picture, and no pixel."""
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + header


def wav(samples: int) -> bytes:
    """A WAV file that claims so many samples."""
    form = struct.pack("<HHIIHH", 1, 1, 44100, 88200, 2, 16)
    return b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", samples)
