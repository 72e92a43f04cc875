"""GIF files (GIF89a): their frames, still compressed, and the pictures that the frames make in TensorFlow's way.

Pillow decompresses a frame, as a file with a single picture. TensorFlow (core/lib/gif/gif_io.cc) draws each frame over the
picture before, whatever the file says of disposal, on a canvas of the largest frame, whatever the size of the screen.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np

from ..support import dataclasses
from ..types.arrays import Array

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
        if number:
            result[number] = result[number - 1]
        target = result[number, frame.top : frame.top + frame.height, frame.left : frame.left + frame.width]
        seen = index[: target.shape[0], : target.shape[1]]
        is_drawn = np.ones(seen.shape, bool) if frame.transparent is None else seen != frame.transparent
        drawn = seen[is_drawn]
        if drawn.size and drawn.max() >= len(frame.colors):
            raise ValueError(f"frame {number} has no color {drawn.max()}")
        target[is_drawn] = frame.colors[drawn]
    return result
