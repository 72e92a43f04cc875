"""Crops of images by boxes, resized: positions of the pixels, and their values.

Boxes are (y1, x1, y2, x2) in units of the image; images are (N, H, W, C), crops (boxes, height, width, C), float32.

`benchmarks/kernels.py` measures the size of a tile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..types.arrays import Array


class CropAxis:
    """Positions of the crops' pixels along an axis of the image: (boxes, pixels) of positions and neighbours."""

    def __init__(self, starts: Array, ends: Array, size: int, pixels: int) -> None:
        last = np.float32(size - 1)
        if pixels > 1:
            step = (ends - starts) * last / np.float32(pixels - 1)
            self.at = starts[:, None] * last + np.arange(pixels, dtype=np.float32) * step[:, None]
        else:
            self.at = (0.5 * (starts + ends).astype(np.float64) * (size - 1)).astype(np.float32)[:, None]
        self.inside = (self.at >= 0) & (self.at <= last)
        at = np.where(self.inside, self.at, np.float32(0))
        self.lower, self.upper, self.nearest = (
            # In single precision the last of many rows may round to the row after the last.
            np.minimum(place.astype(np.int64), size - 1)
            for place in (np.floor(at), np.ceil(at), np.floor(at + np.float32(0.5)))
        )
        self.share = at - self.lower.astype(np.float32)
        # The derivatives of a position by the box's start and end.
        ratio = np.float32(size - 1) / np.float32(pixels - 1) if pixels > 1 else np.float32(0)
        reach = np.arange(pixels, dtype=np.float32) * ratio
        self.by_end = reach if pixels > 1 else np.full(1, 0.5 * (size - 1), np.float32)
        self.by_start = last - reach if pixels > 1 else self.by_end

    def matrices(self, size: int, method: str) -> Array:
        """Return for each box the matrix (pixels, size) that makes the box's pixels from the pixels of the image."""
        count, pixels = self.at.shape
        matrices = np.zeros((count, pixels, size), np.float32)
        box, pixel = np.arange(count)[:, None], np.arange(pixels)
        if method == "nearest":
            matrices[box, pixel, self.nearest] = 1
        else:
            matrices[box, pixel, self.lower] = 1 - self.share
            matrices[box, pixel, self.upper] += self.share
        return matrices


def axes_of(boxes: Array, shape: tuple[int, ...], height: int, width: int) -> tuple[CropAxis, CropAxis]:
    return CropAxis(boxes[:, 0], boxes[:, 2], shape[1], height), CropAxis(boxes[:, 1], boxes[:, 3], shape[2], width)


def is_inside(rows: CropAxis, columns: CropAxis) -> Array:
    return (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]


def corners(image: Array, box_ind: Array, rows: CropAxis, columns: CropAxis) -> Iterator[Any]:
    """Yield the four neighbours of each pixel: top left, top right, bottom left, bottom right; float32, arrays of their
    own.
    """
    for row in (rows.lower, rows.upper):
        for column in (columns.lower, columns.upper):
            yield pixels_of(image, box_ind, row, column)


def pixels_of(image: Array, box_ind: Array, rows: Array, columns: Array) -> Array:
    """Return the pixels in the rows and columns of each box, (boxes, height, width, C), float32."""
    lines = (box_ind.astype(np.int64)[:, None] * image.shape[1] + rows) * image.shape[2]
    places = lines[:, :, None] + columns[:, None, :]
    return image.reshape(math.prod(image.shape[:3]), image.shape[3]).take(places, axis=0).astype(np.float32, copy=False)


def interpolated(image: Array, box_ind: Array, rows: CropAxis, columns: CropAxis) -> Array:
    """Interpolate along rows and then between rows, in place of the right and lower neighbours."""
    top_left, top, bottom_left, bottom = corners(image, box_ind, rows, columns)
    across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
    for left, right, share in ((top_left, top, across), (bottom_left, bottom, across), (top, bottom, down)):
        right -= left
        right *= share
        right += left
    return bottom


TILE = 1 << 16
"""Elements of crops that are made at once: their neighbours stay in a cache."""
