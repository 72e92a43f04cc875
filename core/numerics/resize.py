"""Resampling of images (N, H, W, C), an axis at a time, and resized crops of boxes.

A resampling of an axis is a `Taps`: for each output position the input positions and their weights. Resizing is linear, so
the gradient is the transposed matrix. Positions, weights and the order of the sums are the same as in TensorFlow's kernels
ResizeBilinear, ResizeBicubic, ResizeArea and ScaleAndTranslate; cubic kernels name their papers.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ..support import dataclasses
from ..types.arrays import Array
from .interruption_points import pause
from .windows import cells
from .work_division import cut, divide, workers_for

_SHORT: Final = 8
"""Channels from which on a product for each line takes less time than a single product with separate weights for each
channel.
"""
_BAND: Final = 16
"""The approximate number of outputs, or inputs if more, of a band: few of a band's products have a weight of zero."""
_CUBIC_TABLE = 1024
"""Places for each unit in TensorFlow's table of the cubic kernel."""
_MOST_WEIGHT: Final = 16
"""More than the weights of an output add up to, whatever their signs."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Taps:
    """`indices` and `weights` (outputs, taps) into an axis of `size` elements.

    `is_between`: the two taps of an output are neighbours, and the output lies on the line between them.
    """

    indices: Array
    weights: Array
    size: int
    is_between: bool = False

    def matrix(self, dtype: Any) -> Array:
        """Return the resampling as a matrix (outputs, size)."""
        # np.add.at, as an output may take an input twice: at the borders positions are clipped.
        matrix = np.zeros((len(self.indices), self.size), dtype)
        np.add.at(matrix, (np.arange(len(self.indices))[:, None], self.indices), self.weights.astype(dtype))
        return matrix


class _Band(NamedTuple):
    """Neighbouring outputs, their inputs and the weights: (outputs, inputs).

    For few channels a line is a single row, and `wide` is the row's matrix: (inputs * channels, outputs * channels).
    """

    outputs: slice
    inputs: slice
    matrix: Array
    wide: Array


@functools.lru_cache(maxsize=8)
def _bands(taps: Taps, dtype: Any, channels: int) -> list[_Band]:
    count = len(taps.indices)
    # A matrix of all outputs and inputs would be nearly all zeros; within a band nearly none are.
    step = max(min(_BAND, _BAND * count // max(taps.size, 1)), 4)
    bands = []
    for start in range(0, count, step):
        indices = taps.indices[start : start + step]
        first, last = int(indices.min()), int(indices.max()) + 1
        matrix = np.zeros((len(indices), last - first), dtype)
        np.add.at(matrix, (np.arange(len(indices))[:, None], indices - first), taps.weights[start : start + step])
        # For few channels a whole line is one row of a product: its matrix repeats each weight for each channel.
        wide = np.kron(matrix.T, np.eye(channels, dtype=dtype)) if channels < _SHORT else matrix
        bands.append(_Band(slice(start, start + len(indices)), slice(first, last), matrix, wide))
    return bands


def resample(x: Array, rows: Taps, columns: Taps, is_small: bool = False) -> Array:
    """Resample the image along both axes, along rows last unless the rows become fewer: products of whole lines do most.

    `is_small`: no weighted sum of the image's numbers leaves the range of the dtype, as for integers.
    """
    if stays(x.shape, rows, columns):
        return x
    # The axis that shrinks goes first, so that the second product has less to do.
    first, second = ((rows, 1), (columns, 2)) if len(rows.indices) < rows.size else ((columns, 2), (rows, 1))
    with np.errstate(all="ignore"):
        between = _apply(x, *first)
        if is_small or _stays_finite(between):
            return _apply(between, *second)
    # 0 * inf is NaN: matrix products with zero weights need finite numbers, so sum over the taps instead.
    return _apply_taps(_apply_taps(x, rows, 1), columns, 2)


def stays(shape: tuple[int, ...], rows: Taps, columns: Taps) -> bool:
    """Return True if TensorFlow copies the image, infinities too: its bilinear kernel does if both sizes stay."""
    return rows.is_between and shape[1:3] == (len(rows.indices), len(columns.indices))


def _stays_finite(x: Array) -> bool:
    """Return True for numbers whose weighted sums here stay within the range of the dtype."""
    if not x.size:
        return True
    largest = np.finfo(x.dtype).max / _MOST_WEIGHT
    return bool(-largest < x.min() and x.max() < largest)


def taken(x: Array, rows: Array, columns: Array) -> Array:
    """Return the positions of images (N, H, W, C) at the crossings of rows and columns: (N, rows, columns, C)."""
    if not x.size:
        return x[:, rows[:, np.newaxis], columns]
    flat = cells(np.ascontiguousarray(x)).reshape(len(x), -1)
    places = rows[:, np.newaxis] * x.shape[2] + columns
    return flat.take(places.reshape(-1), 1).view(x.dtype).reshape(len(x), *places.shape, x.shape[3])


def resample_gradient(grad: Array, rows: Taps, columns: Taps) -> Array:
    """Return the gradient for the input of `resample`."""
    if _stays_finite(grad):
        return _apply_transposed(_apply_transposed(grad, rows, 1), columns, 2)
    return _add_at_taps(grad, rows, columns, grad.dtype)


def resample_gradient_wide(grad: Array, rows: Taps, columns: Taps) -> Array:
    """Return the gradient of `resample`, in single precision for each tap and in double for the sum, as TensorFlow for
    double.
    """
    if not _stays_finite(grad):
        return _add_at_taps(grad, rows, columns, np.float64)
    result: Any = 0
    for i, j, part in _parts(grad, rows, columns):
        placed = Taps(i[:, None], np.ones((len(i), 1)), rows.size), Taps(j[:, None], np.ones((len(j), 1)), columns.size)
        result = result + resample_gradient(part.astype(np.float64), *placed)
    return np.asarray(result)


def _parts(grad: Array, rows: Taps, columns: Taps) -> Iterator[tuple[Array, Array, Array]]:
    """Give for each pair of taps the rows, the columns and what the gradient adds there."""
    for i, row_weight in zip(rows.indices.T, rows.weights.T.astype(np.float32)):
        for j, column_weight in zip(columns.indices.T, columns.weights.T.astype(np.float32)):
            pause()
            yield i, j, grad * row_weight[:, None, None] * column_weight[:, None]


def _add_at_taps(grad: Array, rows: Taps, columns: Taps, dtype: Any) -> Array:
    """Return the gradient of `resample` in which an infinity reaches its taps alone; a product with zeros of a matrix spreads
    NaN over whole rows and columns.
    """
    batch, _, _, channels = grad.shape
    result = np.zeros((batch, rows.size, columns.size, channels), dtype)
    with np.errstate(all="ignore"):
        for i, j, part in _parts(grad, rows, columns):
            np.add.at(result, (slice(None), i[:, None], j), part)  # type: ignore[arg-type]
    return result


def _apply(x: Array, taps: Taps, axis: int) -> Array:
    """Resample an axis of an image, by a matrix product for some outputs at a time."""
    shape = (*x.shape[:axis], len(taps.indices), *x.shape[axis + 1 :])
    workers = workers_for(math.prod(shape) * _BAND)
    flat, result, channels = _lines(x, axis), np.empty(shape, x.dtype), x.shape[-1]
    target = _lines(result, axis)

    def fill(some: slice) -> None:
        for band in _bands(taps, x.dtype, channels if axis == 2 else _SHORT):
            pause()
            if flat.ndim == 2:
                inputs, outputs = _spread(band.inputs, channels), _spread(band.outputs, channels)
                np.matmul(flat[some, inputs], band.wide, out=target[some, outputs])
            elif axis == 2:
                np.matmul(band.matrix, flat[some, band.inputs], out=target[some, band.outputs])
            else:
                np.matmul(band.matrix, flat[:, band.inputs, some], out=target[:, band.outputs, some])

    size = flat.shape[0 if axis == 2 else 2]
    divide(fill, cut(size, max(min(workers, size), 1)), workers)
    return result


def _apply_transposed(grad: Array, taps: Taps, axis: int) -> Array:
    """Return the gradient of `_apply` for its input."""
    shape = (*grad.shape[:axis], taps.size, *grad.shape[axis + 1 :])
    flat, result, channels = _lines(grad, axis), np.zeros(shape, grad.dtype), grad.shape[-1]
    target = _lines(result, axis)
    for band in _bands(taps, grad.dtype, channels if axis == 2 else _SHORT):
        pause()
        if flat.ndim == 2:
            target[:, _spread(band.inputs, channels)] += flat[:, _spread(band.outputs, channels)] @ band.wide.T
        else:
            target[:, band.inputs] += band.matrix.T @ flat[:, band.outputs]
    return result


def _lines(x: Array, axis: int) -> Array:
    """Reshape an image with the given axis in the middle, or for few channels, with lines as rows of a matrix."""
    batch, height, width, channels = x.shape
    if axis == 1:
        return x.reshape(batch, height, width * channels)
    few = channels < _SHORT
    return x.reshape((batch * height, width * channels) if few else (batch * height, width, channels))


def _spread(part: slice, channels: int) -> slice:
    return slice(part.start * channels, part.stop * channels)


def _apply_taps(x: Array, taps: Taps, axis: int) -> Array:
    """Resample an axis of an image by a sum over the taps, first to last."""
    if taps.is_between:
        return interpolate(np, x, taps, axis)
    lead, shape = (slice(None),) * axis, (-1, *(1,) * (x.ndim - axis - 1))
    terms = zip(taps.indices.T, taps.weights.T.astype(x.dtype))
    total = np.zeros((*x.shape[:axis], len(taps.indices), *x.shape[axis + 1 :]), x.dtype)
    for index, weight in terms:
        pause()
        total += x[(*lead, index)] * weight.reshape(shape)
    return total


def interpolate(xp: Any, x: Any, taps: Taps, axis: int) -> Any:
    """Resample an axis of an image by differences of neighbours, as TensorFlow does: an infinity is NaN beside any number."""
    lower, upper = (xp.take(x, places, axis=axis) for places in taps.indices.T)
    share = taps.weights[:, 1].astype(np.float32).reshape(-1, *(1,) * (3 - axis))
    return lower + (upper - lower) * share


def scale_of(size: int, outputs: int, align_corners: bool) -> np.float32:
    """Input positions per output position."""
    if align_corners and outputs > 1:
        return np.float32(size - 1) / np.float32(outputs - 1)
    return np.float32(size) / np.float32(outputs)


def _positions(size: int, outputs: int, align_corners: bool, half_pixel: bool) -> Array:
    """Return the input position of each output position, float32."""
    scale = scale_of(size, outputs, align_corners)
    places = np.arange(outputs, dtype=np.float32)
    if half_pixel:
        return (places + np.float32(0.5)) * scale - np.float32(0.5)
    return places * scale


@functools.lru_cache(maxsize=8)
def bilinear(size: int, outputs: int, align_corners: bool, half_pixel: bool) -> Taps:
    """Linear interpolation of the two nearest."""
    at = _positions(size, outputs, align_corners, half_pixel)
    floor = np.floor(at)
    lower = np.maximum(floor.astype(np.int64), 0)
    upper = np.minimum(np.ceil(at).astype(np.int64), size - 1)
    lower = np.minimum(lower, size - 1)
    share = at - floor
    return Taps(np.stack((lower, np.maximum(upper, 0)), 1), np.stack((1 - share, share), 1), size, is_between=True)


def nearest(size: int, outputs: int, align_corners: bool, half_pixel: bool) -> Array:
    """Return the input position that each output position takes."""
    scale = scale_of(size, outputs, align_corners)
    at = (np.arange(outputs, dtype=np.float32) + np.float32(0.5 if half_pixel else 0)) * scale
    # C's roundf: halves away from zero.
    index = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
    return np.clip(index.astype(np.int64), 0, size - 1)


def _cubic(distance: Array, a: float) -> Array:
    """Keys' cubic convolution kernel with parameter `a` (Keys 1981)."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


@functools.lru_cache(maxsize=8)
def bicubic(size: int, outputs: int, align_corners: bool, half_pixel: bool) -> Taps:
    """Cubic interpolation of four; fractions are rounded to a table of 1024 as TensorFlow's are."""
    at = _positions(size, outputs, align_corners, half_pixel)
    floor = np.floor(at)
    # TensorFlow looks the weights up in a table of 1024 places for each unit, and rounds the fraction to the nearest.
    share = np.rint((at - floor) * np.float32(_CUBIC_TABLE)) / _CUBIC_TABLE
    reach = np.arange(-1, 3)
    places = floor.astype(np.int64)[:, None] + reach
    # TensorFlow takes Keys' kernel with -0.5 for half pixels and its older one with -0.75 otherwise; only the former leaves
    # out the positions beyond the border.
    weights = _cubic(share[:, None] - reach, -0.5 if half_pixel else -0.75)
    indices = np.clip(places, 0, size - 1)
    if half_pixel:
        weights = np.where(indices == places, weights, 0)
        total = weights.sum(1, keepdims=True)
        weights = np.where(np.abs(total) >= 1000 * np.finfo(np.float32).tiny, weights / total, weights)
    return Taps(indices, weights, size)


def area(size: int, outputs: int, align_corners: bool) -> Taps:
    """Return taps of the mean over the input area of each output position, with partial weights at the borders."""
    scale = scale_of(size, outputs, align_corners)
    starts = np.arange(outputs, dtype=np.float32) * scale
    ends = np.arange(1, outputs + 1, dtype=np.float32) * scale
    first = np.floor(starts).astype(np.int64)
    count = int((np.ceil(ends).astype(np.int64) - first).max(initial=1))
    places = first[:, None] + np.arange(count)
    covered = np.minimum(places + 1, ends[:, None]) - np.maximum(places, starts[:, None])
    return Taps(np.clip(places, 0, size - 1), np.maximum(covered, 0) / scale, size)


def _lanczos(radius: float) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        with np.errstate(all="ignore"):
            value = radius * np.sin(np.pi * x) * np.sin(np.pi * x / radius) / (np.pi * x) ** 2
        return np.where(x > radius, 0.0, np.where(x <= 1e-3, 1.0, value))

    return kernel


def _mitchell_cubic(x: Array) -> Array:
    """Mitchell and Netravali 1988 with B = C = 1/3."""
    near = ((7 / 6 * x - 2) * x) * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


SAMPLING_KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x >= 1.5, 0.0, np.exp(-(x**2) / (2 * 0.5**2)))),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0.0)),
    "keyscubic": (2.0, functools.partial(_cubic, a=-0.5)),
    "mitchellcubic": (2.0, _mitchell_cubic),
}
"""Name -> (radius, function of the absolute distance)."""


def scaled_and_translated(size: int, outputs: int, scale: float, translation: float, kernel: str, antialias: bool) -> Taps:
    """Output position p samples the input at (p + 0.5 - translation) / scale; nothing outside of the input."""
    radius, function = SAMPLING_KERNELS[kernel]
    inverse = np.float32(1.0) / np.float32(scale)
    stretch = max(float(inverse), 1.0) if antialias else 1.0
    at = (np.arange(outputs, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * np.float32(translation)
    # A conversion of NaN to an integer is undefined in C, and a warning in NumPy.
    at = np.nan_to_num(at, nan=-1, posinf=-1, neginf=-1)  # positions of NaN and infinity lie outside of the input
    first = np.clip(np.ceil(at - radius * stretch - 0.5), 0, size - 1)
    last = np.clip(np.floor(at + radius * stretch - 0.5), 0, size - 1)
    count = size if radius * stretch >= size else min(2 * math.ceil(radius * stretch) + 1, size)
    places = first[:, None] + np.arange(count)
    weights = function(np.abs(places + 0.5 - at[:, None]) / stretch)
    inside = (places <= last[:, None]) & ((at >= 0) & (at <= size))[:, None]
    weights = np.where(inside, weights, 0.0)
    total = weights.sum(1, keepdims=True)
    usable = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    weights = np.where(usable, weights / np.where(usable, total, 1), 0.0)
    return Taps(np.clip(places, 0, size - 1).astype(np.int64), weights, size)


# Crops of images by boxes, resized: positions of the pixels, and their values.
# Boxes are (y1, x1, y2, x2) in units of the image; images are (N, H, W, C), crops (boxes, height, width, C), float32.
# `benchmarks/kernels.py` measures the size of a tile.


class CropAxis:
    """Positions of the crops' pixels along an axis of the image: (boxes, pixels) of positions and neighbours."""

    def __init__(self, starts: Array, ends: Array, size: int, pixels: int) -> None:
        last = np.float32(size - 1)
        if pixels > 1:
            step = (ends - starts) * last / np.float32(pixels - 1)
            self.at = starts[:, None] * last + np.arange(pixels, dtype=np.float32) * step[:, None]
        else:
            # TensorFlow multiplies by a literal 0.5 of double precision here, and rounds once.
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
