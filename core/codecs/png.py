"""PNG files (ISO/IEC 15948): a writer that matches libpng byte for byte, and a reader of files with 16 bits a sample.

Pillow reads 8-bit files, but has no mode for 16-bit colour.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

from ..types.arrays import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_CHUNK = 8192
"""The number of bytes of image data in a chunk: libpng's default."""
_ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""The passes of an interlaced file: first row, first column, row step, column step."""


def encode(image: Array, level: int = -1) -> bytes:
    """Encode an image (height, width, 1 to 4 channels) of uint8 or uint16; `level` is zlib's, -1 means zlib's default."""
    height, width, channels = image.shape
    # PNG has 16-bit samples with the high byte first.
    rows = np.ascontiguousarray(image.astype(image.dtype.newbyteorder(">"))).view(np.uint8).reshape(height, -1)
    step = channels * image.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, 8 * image.dtype.itemsize, _COLOUR_TYPES[channels], 0, 0, 0)
    single = height == 1 and width == 1
    data = _compress(_filtered(rows, step, height, width), level, single)
    parts = [data[i : i + _CHUNK] for i in range(0, len(data), _CHUNK)]
    return SIGNATURE + b"".join(
        _chunk(kind, body) for kind, body in [(b"IHDR", header), *((b"IDAT", part) for part in parts), (b"IEND", b"")]
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _filtered(rows: Array, step: int, height: int, width: int) -> bytes:
    """Filter each row with the filter of the smallest sum of magnitudes, bytes read as signed; ties go to the first filter."""
    candidates = _filters(rows, step)
    # libpng leaves out filters that have no neighbour to look at.
    usable = [True, width > 1, height > 1, height > 1 and width > 1, height > 1 and width > 1]
    # The magnitude of a byte as a signed number, libpng's measure of how well a row will compress.
    signed = np.minimum(candidates, 256 - candidates.astype(np.int64))
    sums = signed.sum(2)
    sums[np.logical_not(usable)] = np.iinfo(np.int64).max
    best = np.argmin(sums, 0)
    chosen = candidates[best, np.arange(len(rows))]
    return np.concatenate((best.astype(np.uint8)[:, None], chosen), 1).tobytes()


def _filters(rows: Array, step: int) -> Array:
    """Apply each of the five filters to the rows: none, sub, up, average, Paeth."""
    left = np.zeros_like(rows)
    left[:, step:] = rows[:, :-step]
    up = np.zeros_like(rows)
    up[1:] = rows[:-1]
    corner = np.zeros_like(rows)
    corner[1:, step:] = rows[:-1, :-step]
    average = ((left.astype(np.uint16) + up) >> 1).astype(np.uint8)
    return np.stack((rows, rows - left, rows - up, rows - average, rows - _paeth(left, up, corner)))


def _paeth(left: Array, up: Array, corner: Array) -> Array:
    """Return the neighbour nearest to left + up - corner."""
    a, b, c = (x.astype(np.int16) for x in (left, up, corner))
    estimate = a + b - c
    to_left, to_up, to_corner = np.abs(estimate - a), np.abs(estimate - b), np.abs(estimate - c)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))


def _compress(data: bytes, level: int, unfiltered: bool) -> bytes:
    """Return zlib's stream with libpng's choice of window: as small as the data allow."""
    bits = 15
    if len(data) <= 1 << 14:
        while bits > 8 and len(data) + 262 <= 1 << (bits - 1):
            bits -= 1
    strategy = zlib.Z_DEFAULT_STRATEGY if unfiltered else zlib.Z_FILTERED
    # zlib has a bug in windows of 256 bytes and raises 8 to 9 itself; a memory level of 9 is libpng's.
    deflate = zlib.compressobj(level, zlib.DEFLATED, max(bits, 9), 9, strategy)
    stream = bytearray(deflate.compress(data) + deflate.flush())
    window = stream[0] >> 4
    if len(data) <= 1 << 14:
        while window > 0 and len(data) <= 1 << (window + 7):
            window -= 1
    # libpng writes the smallest window that holds the data into the header, though more was used, and corrects the check
    # bits.
    stream[0] = stream[0] & 0x0F | window << 4
    flags = stream[1] & 0xE0
    stream[1] = flags + 31 - (stream[0] << 8 | flags) % 31
    return bytes(stream)


def header(data: bytes) -> tuple[int, int, int, int, int]:
    """Return (width, height, bits a sample, colour type, interlacing) of a PNG file; ValueError for another file."""
    if data[:8] != SIGNATURE or data[12:16] != b"IHDR" or len(data) < 29:
        raise ValueError("not a PNG file")
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    return width, height, depth, colour, interlaced


def decode16(data: bytes) -> Array:
    """Decode the samples (height, width, channels) of a 16-bit file, uint16; ValueError for a damaged file."""
    width, height, _, colour, interlaced = header(data)
    if colour not in _CHANNELS:
        raise ValueError(f"a damaged PNG file: colour type {colour}")
    channels = _CHANNELS[colour]
    image = np.zeros((height, width, channels), np.uint16)
    # Bounded by the header's sizes, with a filter byte for each row of up to seven passes.
    raw = np.frombuffer(_decompressed(data, image.nbytes + 8 * height + 64), np.uint8)
    start = 0
    for row, column, row_step, column_step in _ADAM7 if interlaced else ((0, 0, 1, 1),):
        part = image[row::row_step, column::column_step]
        if part.size:
            line = part.shape[1] * channels * 2 + 1
            rows = raw[start : start + part.shape[0] * line].reshape(part.shape[0], line)
            part[...] = _unfiltered(rows, channels * 2).view(">u2").reshape(part.shape)
            start += rows.size
    return image


def _decompressed(data: bytes, most: int) -> bytes:
    """Return the decompressed samples of all rows, at most `most` bytes; a filter byte stands before each row of each pass."""
    try:
        return zlib.decompressobj().decompress(b"".join(body for kind, body in _chunks(data) if kind == b"IDAT"), most)
    except zlib.error as error:
        raise ValueError(f"a damaged PNG file: {error}") from None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at + 12 <= len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += 12 + size


def _unfiltered(rows: Array, step: int) -> Array:
    """Undo the filters of rows (the first byte is the filter) and return bytes.

    A pixel needs the left, upper and upper left neighbours, so all pixels of an antidiagonal are computed at once.
    """
    height, line = rows.shape
    kinds, pixels = rows[:, 0], rows[:, 1:].reshape(height, (line - 1) // step, step)
    if np.any(kinds > 4):
        raise ValueError("a damaged PNG file: unknown filter")
    width = pixels.shape[1]
    result = np.zeros((height + 1, width + 1, step), np.uint8)
    for diagonal in range(height + width - 1):
        i = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        j = diagonal - i
        # A row and a column of zeros around stand for the neighbours outside of the image.
        left, up, corner = result[i + 1, j], result[i, j + 1], result[i, j]
        average = ((left.astype(np.uint16) + up) >> 1).astype(np.uint8)
        choices = (np.zeros_like(left), left, up, average, _paeth(left, up, corner))
        result[i + 1, j + 1] = pixels[i, j] + np.choose(kinds[i][:, None], choices)
    return np.ascontiguousarray(result[1:, 1:]).reshape(height, -1)
