"""Image files: the format by the first bytes, headers of JPEG files, and frames of GIF files (GIF89a); PNG is in `png`.

JPEG headers follow ITU-T T.81, Annex B. libjpeg's chroma upsampling has an effect at a cropped column.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

from ..support import dataclasses
from ..types.arrays import Array
from . import png

_APP0, _APP14, _SOS, _SOI = 0xE0, 0xEE, 0xDA, b"\xff\xd8"
"""The codes of markers (ITU T.81, table B.1), and the bytes that begin a file."""
_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers that begin a frame, one for each kind of coding."""
_WITHOUT_LENGTH = frozenset(range(0xD0, 0xDA)) | {0x01}
_BLOCK = 8
"""The number of samples of a block along each axis (ITU T.81)."""
_ADOBE_RGB = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
"""An APP14 segment that says that the components are red, green and blue."""


@dataclasses.dataclass(frozen=True, slots=True)
class JpegHeader:
    """Sizes in pixels, the identifiers and sampling factors (horizontal, vertical) of components, and Adobe's transform."""

    height: int
    width: int
    identifiers: bytes
    sampling: tuple[tuple[int, int], ...]
    has_jfif: bool
    adobe: int | None

    @property
    def is_rgb(self) -> bool:
        """True if libjpeg takes three components for red, green and blue, not for luma and chroma."""
        if self.has_jfif or len(self.sampling) != 3:
            return False
        return self.adobe == 0 if self.adobe is not None else self.identifiers == b"RGB"


def jpeg_header(data: bytes) -> JpegHeader:
    """Return the header of a file; ValueError for a damaged frame header or a file that ends before the frame header."""
    has_jfif, adobe, frame = False, None, b""
    for marker, start, end in _segments(data):
        payload = data[start + 4 : end]
        # Both markers decide how libjpeg takes three components: JFIF means luma and chroma, Adobe's says which.
        has_jfif |= marker == _APP0 and payload.startswith(b"JFIF\0")
        if marker == _APP14 and payload.startswith(b"Adobe") and len(payload) >= 12:
            adobe = payload[11]
        if marker in _SOF:
            frame = payload
    if len(frame) < 6 or len(frame) < 6 + 3 * frame[5]:
        raise ValueError("missing frame header")
    height, width, count = struct.unpack(">HHB", frame[1:6])
    parts = [frame[6 + 3 * i : 9 + 3 * i] for i in range(count)]
    sampling = tuple((part[1] >> 4, part[1] & 15) for part in parts)
    if not (height and width and count) or not all(1 <= factor <= 4 for pair in sampling for factor in pair):
        raise ValueError("damaged frame header")
    return JpegHeader(height, width, bytes(part[0] for part in parts), sampling, has_jfif, adobe)


def without_colours(data: bytes) -> bytes:
    """Return the same file with components labelled red, green and blue, so that a decoder converts no colours."""
    segments = [data[start:end] for marker, start, end in _segments(data) if marker not in (_APP0, _APP14)]
    last = max(end for _, _, end in _segments(data))
    return b"".join((_SOI, _ADOBE_RGB, *segments, data[last:]))


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield marker, start and end of each segment up to and including the first scan's header."""
    at = len(_SOI)
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        # Any number of 0xFF may stand before a marker.
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        else:
            end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            yield marker, at, end
            if marker == _SOS:
                return
            at = end


@dataclasses.dataclass(frozen=True, slots=True)
class CutColumns:
    """Columns of a window in which libjpeg interpolates chroma differently than in the whole picture.

    `expansion` is the number of pixels of a chroma sample (across, down); an `is_box` column repeats the column's sample.
    """

    columns: tuple[int, ...]
    expansion: tuple[int, int]
    is_box: bool


def cut_columns(file: JpegHeader, ratio: int, left: int, width: int) -> CutColumns | None:
    """Return the columns that lack a neighbour in a window of a picture decoded at 1 / ratio; None if there are none.

    As jpeg_crop_scanline of libjpeg-turbo: the window begins at a multiple of the largest block, and ends at the requested
    column.
    """
    expansion = _expansion(file, ratio)
    picture, block = -(-file.width // ratio), max(across for across, _ in file.sampling) * _BLOCK // ratio
    # libjpeg interpolates only chroma halved across, and not in pictures of blocks of one pixel.
    if expansion not in ((2, 1), (2, 2)) or ratio == _BLOCK or -(-picture // 2) <= 2:
        return None
    if left % block + width <= 2 < picture:
        return CutColumns(tuple(range(left, left + width)), expansion, True)
    last = left + width - 1
    columns = [*([left] if left and left % block == 0 else []), *([last] if last % 2 and last + 1 < picture else [])]
    return CutColumns(tuple(dict.fromkeys(columns)), expansion, False) if columns else None


def _expansion(file: JpegHeader, ratio: int) -> tuple[int, int]:
    """Return the pixels covered by a sample of the second component: libjpeg decodes the component larger where possible."""
    if len(file.sampling) == 1:
        return 1, 1
    size = _BLOCK // ratio
    most = [max(factors) * size for factors in zip(*file.sampling)]
    own = file.sampling[1]
    # libjpeg may decode a subsampled component at a larger scale, which saves the upsampling.
    while size < _BLOCK and not any(n % (factor * size * 2) for n, factor in zip(most, own)):
        size *= 2
    return most[0] // (own[0] * size), most[1] // (own[1] * size)


def cut_pixels(planes: np.ndarray, cut: CutColumns, rows: slice) -> np.ndarray:
    """Return the red, green and blue of cut columns: (rows, columns, 3), uint8.

    `planes` are luma and chroma (height, width, 3), each chroma sample repeated. Interpolation as in jdsample.c.
    """
    columns = list(cut.columns)
    luma = planes[rows][:, columns, 0].astype(np.int32)
    chroma = planes[:, columns, 1:].astype(np.int32)
    if cut.expansion[1] == 2 and not cut.is_box:
        samples = chroma[::2]
        number = np.arange(len(chroma))
        far = np.clip(number // 2 + np.where(number % 2, 1, -1), 0, len(samples) - 1)
        # jdsample.c alternates the rounding, so that not all columns are rounded up.
        bias = np.where(np.array(columns) % 2, 7, 8)[:, None]
        chroma = (4 * (3 * samples[number // 2] + samples[far]) + bias) >> 4
    return _rgb(luma, chroma[rows])


def _rgb(luma: np.ndarray, chroma: np.ndarray) -> np.ndarray:
    """Convert to red, green and blue as jdcolor.c: fixed point of 16 bits."""
    blue, red = chroma[..., 0] - 128, chroma[..., 1] - 128
    green = luma + ((-22554 * blue - 46802 * red + 32768) >> 16)
    colours = (luma + ((91881 * red + 32768) >> 16), green, luma + ((116130 * blue + 32768) >> 16))
    pixels: np.ndarray = np.clip(np.stack(colours, -1), 0, 255).astype(np.uint8)
    return pixels


# GIF files (GIF89a): their frames, still compressed, and the pictures that the frames make in TensorFlow's way.
# Pillow decompresses a frame, as a file with a single picture. TensorFlow (core/lib/gif/gif_io.cc) draws each frame over the
# picture before, whatever the file says of disposal, on a canvas of the largest frame, whatever the size of the screen.

_TRAILER, _EXTENSION, _FRAME, _CONTROL = 0x3B, 0x21, 0x2C, 0xF9
"""The bytes that begin the end of the file, an extension and a frame, and the kind of extension that controls a frame."""
_HAS_TABLE, _IS_TRANSPARENT, _SIZE_BITS = 0x80, 0x01, 0x07
"""The bits of flags: a table of colours follows, an index has no colour, and the size of the table."""
_IS_INTERLACED, _TABLE_OF_256 = 0x40, 0x87
"""The bits of a frame's flags for interlaced lines, and for a table of 256 colours."""


@dataclasses.dataclass(frozen=True, slots=True)
class GifFrame:
    """A frame: its place on the canvas, its colours (count, 3), the index of no colour, and a GIF file of the frame alone.

    `colors` is None for a frame without a table of colours in the file.
    """

    left: int
    top: int
    width: int
    height: int
    colors: Array | None
    transparent: int | None
    file: bytes


def read_frames(data: bytes) -> Iterator[GifFrame]:
    """Yield the frames of a file. ValueError, IndexError or struct.error where the file is damaged or ends."""
    screen = data[10]
    place = 13
    shared, place = _color_table(data, place, screen)
    transparent = None
    while (kind := data[place]) != _TRAILER:
        if kind == _EXTENSION:
            end = _end_of_blocks(data, place + 2)
            if data[place + 1] == _CONTROL:
                transparent = data[place + 6] if data[place + 3] & _IS_TRANSPARENT else None
            place = end
        elif kind == _FRAME:
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, place + 1)
            own, start = _color_table(data, place + 10, flags)
            place = _end_of_blocks(data, start + 1)
            file = _single_frame(width, height, flags, data[start:place])
            yield GifFrame(left, top, width, height, own if own is not None else shared, transparent, file)
            transparent = None
        else:
            raise ValueError(f"a block of unknown kind {kind:#x}")


def _color_table(data: bytes, place: int, flags: int) -> tuple[Array | None, int]:
    """Return the table of colours at a place, None if the flags say that there is none, and the place behind."""
    if not flags & _HAS_TABLE:
        return None, place
    # The flags hold the exponent less 1.
    end = place + 3 * (2 << (flags & _SIZE_BITS))
    if end > len(data):
        raise ValueError("the table of colors ends early")
    return np.frombuffer(data[place:end], np.uint8).reshape(-1, 3), end


def _end_of_blocks(data: bytes, place: int) -> int:
    """Return the place behind a list of blocks, each with its length before it, up to a block of no bytes."""
    while data[place]:
        place += data[place] + 1
    return place + 1


_INDICES = bytes(value for index in range(256) for value in (index, 255 - index, 0))
"""A table of 256 different colours: not the grey scale, which Pillow would take for the picture."""


def _single_frame(width: int, height: int, flags: int, blocks: bytes) -> bytes:
    """Return a file of a frame; `blocks` are the compressed indices of its colours, with their size of a code before."""
    interlaced = flags & _IS_INTERLACED
    header = b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0)
    return header + struct.pack("<BHHHHB", _FRAME, 0, 0, width, height, interlaced | _TABLE_OF_256) + _INDICES + blocks + b";"


def compose(frames: Sequence[GifFrame], indices: Sequence[Array]) -> Array:
    """Return the pictures (frames, height, width, 3), uint8; `indices` are the indices of colours (height, width) of each.

    ValueError for a frame without pixels or colours, and for an index without a colour.
    """
    height, width = max(frame.height for frame in frames), max(frame.width for frame in frames)
    result = np.zeros((len(frames), height, width, 3), np.uint8)
    for number, (frame, index) in enumerate(zip(frames, indices, strict=True)):
        if frame.colors is None or not index.size:
            raise ValueError(f"frame {number} has no {'pixels' if frame.colors is not None else 'colors'}")
        # TensorFlow draws over the frame before, whatever disposal the file asks for; the first is drawn on black.
        if number:
            result[number] = result[number - 1]
        target = result[number, frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
        # A frame may reach beyond the canvas, which is as large as the largest frame wherever it lies.
        seen = index[: target.shape[0], : target.shape[1]]
        is_drawn = np.ones(seen.shape, bool) if frame.transparent is None else seen != frame.transparent
        drawn = seen[is_drawn]
        if drawn.size and drawn.max() >= len(frame.colors):
            raise ValueError(f"frame {number} has no color {drawn.max()}")
        target[is_drawn] = frame.colors[drawn]
    return result


# Formats by the first bytes.

HEAD = 12
"""The number of leading bytes that identify the format."""


def image_kind(data: bytes) -> str:
    """Return the format of a file by the file's first bytes; '' for an unknown format."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(png.SIGNATURE[:4]):
        return "png"
    if data.startswith(b"GIF8"):
        return "gif"
    if data.startswith(b"BM"):
        return "bmp"
    # RIFF alone may be a WAV file.
    return "webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""
