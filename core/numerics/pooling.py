"""Pooling over sliding windows of channels-last arrays (N, spatial..., C) and its gradients.

All functions take the array unpadded, with `pads` beside. Loops run over the places of a window, never over the array. The
elements that get a gradient are the same as in TensorFlow's kernels MaxPoolGrad and MaxPool3DGrad.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..types.arrays import Array
from .group_reductions import lowest
from .windows import (
    Pads,
    cells,
    image_blocks,
    offset_index,
    offsets,
    output_size,
    output_sizes,
    pad,
    padded_sizes,
    result_sizes,
    seen,
    unpad,
)
from .work_division import BLOCK_ELEMENTS, ELEMENT_WORK, NotFinite, cut, divide, even, workers_for

Ints = Sequence[int]

NEAR: Final = 1e-5
"""Below which difference TensorFlow takes an element for the largest of a window in three dimensions."""
IN_CACHE: Final = 1 << 16
"""Elements of some lines of windows that go from step to step without leaving the cache."""
_FEW_POSITIONS: Final = 1 << 16
"""Positions of an image up to which results that depend on shapes alone are cached."""


def max_pool(x: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return the largest element of each window; NaN counts only in a window of NaN (and is then the lowest number)."""
    # TensorFlow's comparison with NaN does not hold, so that NaN never replaces a number: np.fmax does the same. In three
    # dimensions this is oneDNN's answer; Eigen, with TF_ENABLE_ONEDNN_OPTS=0, takes NaN in some channels and keeps -inf.
    larger = np.maximum if x.dtype.kind in "iub" else np.fmax
    least = np.asarray(lowest(x.dtype), x.dtype)
    outputs = result_sizes(x.shape, windows, strides, pads, [1] * len(windows))
    result = np.empty((x.shape[0], *outputs, x.shape[-1]), x.dtype)

    def fill(block: tuple[slice, slice]) -> None:
        some = seen(x, block, windows[0], strides[0], pads, least)
        larger(_reduced(larger, some, windows, strides), least, out=result[block])

    divide(fill, _blocks(x, result, windows))
    return result


def _blocks(x: Array, result: Array, windows: Ints) -> list[tuple[slice, slice]]:
    """Return (images, lines) of blocks of the result that stay in the cache together with their input."""
    count = even(-(-max(x.size, result.size) // BLOCK_ELEMENTS), workers_for(x.size * sum(windows) * ELEMENT_WORK))
    return image_blocks(len(result), result.shape[1], count) if result.size else []


def _reduced(ufunc: np.ufunc, x: Array, windows: Ints, strides: Ints) -> Array:
    """Reduce all windows of x by `ufunc`, axis by axis; return `x` itself for windows of a single element at stride 1."""
    for axis, (size, stride) in enumerate(zip(windows, strides), 1):
        # A maximum over a window is a maximum of maxima along each axis: k + k operations instead of k times k.
        ends = max(x.shape[axis] - size + 1, 0)
        lead = (slice(None),) * axis
        first, *others = [x[(*lead, slice(i, i + ends, stride))] for i in range(size)]
        x = ufunc(first, others[0]) if others else first
        for other in others[1:]:
            ufunc(x, other, out=x)
    return x


def max_pool_places(x: Array, windows: Ints, strides: Ints, pads: Pads) -> tuple[Array, Array]:
    """Return the largest element of each window and its place: the flat index into the spatial dimensions of an image."""
    padded, outputs = _padded(x, windows, strides, pads, lowest(x.dtype))
    flat = np.pad(np.arange(math.prod(x.shape[1:-1])).reshape(x.shape[1:-1]), list(pads), constant_values=-1)
    best: Array | None = None
    for offset in offsets(windows):
        index = offset_index(offset, outputs, strides, [1] * len(outputs))
        part, place = padded[index], flat[index[1:]][None, ..., None]
        if best is None:
            best, places = part.copy(), np.broadcast_to(place, part.shape).copy()
        else:
            better = part > best
            # A window may begin or end in the padding, which never wins, even if all elements are -inf.
            better |= places < 0
            better &= place >= 0
            best, places = np.where(better, part, best), np.where(better, place, places)
    assert best is not None
    return best, places


def max_pool_grad(x: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return the gradient of x: each window's gradient goes to the first of its largest elements."""
    if x.dtype.kind != "f":
        return _max_pool_grad_by_places(x, grad, windows, strides, pads)
    padded, outputs = _padded(np.ascontiguousarray(x), windows, strides, pads, -np.inf)
    # Windows that tile the image write each element once, so that the result need not be zero before.
    fills = _tile(padded.shape, outputs, windows, strides)
    result = (np.empty if grad.size else np.zeros)(padded.shape, grad.dtype)

    def fill(images: slice) -> None:
        gradients = grad[images]
        if not fills:
            result[images] = 0
        for lines in cut(outputs[0], min(-(-gradients.size // IN_CACHE), outputs[0])):
            seen = slice(lines.start * strides[0], (lines.stop - 1) * strides[0] + windows[0])
            if not _spread_to_first(padded[images, seen], gradients[:, lines], result[images, seen], windows, strides):
                raise NotFinite

    try:
        workers = workers_for(x.size * math.prod(windows) * ELEMENT_WORK)
        divide(fill, cut(len(x), min(even(-(-grad.size // IN_CACHE), workers), len(x))))
    except NotFinite:
        return _max_pool_grad_by_places(x, grad, windows, strides, pads)
    return np.ascontiguousarray(unpad(result, pads))


def _tile(shape: Sequence[int], outputs: Ints, windows: Ints, strides: Ints) -> bool:
    """Return True for windows that take each element of the padded array once."""
    return all(k == s and n == out * s for n, out, k, s in zip(shape[1:-1], outputs, windows, strides))


def _max_pool_grad_by_places(x: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    _, places = max_pool_places(x, windows, strides, pads)
    return scatter_places(grad, places, x.shape)


def _spread_to_first(x: Array, grad: Array, result: Array, windows: Ints, strides: Ints) -> bool:
    """Add the gradient of each window to the first element that equals the largest of its window.

    Return False, and add nothing, where a maximum or a gradient is not finite.
    """
    overlap = any(map(operator.gt, windows, strides))
    indexes = [offset_index(place, grad.shape[1:-1], strides, [1] * len(windows)) for place in offsets(windows)]
    # Elements of all channels are copied as one; without overlap the copies are contiguous and read several times.
    places = [cells(x)[index] if overlap else cells(x)[index].copy() for index in indexes]
    numbers = [place.view(x.dtype) for place in places]
    largest = _reduced(np.maximum, x, windows, strides) if overlap else functools.reduce(np.maximum, numbers)  # NaN stays NaN
    # The products below would make NaN of 0 times infinity, and NaN equals no element of its window.
    if not (np.isfinite(largest).all() and np.isfinite(grad).all()):
        return False
    rest, hit, part = grad.copy(), np.empty(grad.shape, bool), np.empty(grad.shape, grad.dtype)
    for place, index in zip(numbers[:-1], indexes):
        # `rest` has the gradients that no place has taken yet: a gradient goes to the first place that is largest.
        np.multiply(rest, np.equal(place, largest, out=hit), out=part)
        _add_at(result, index, part, overlap)
        rest -= part
    _add_at(result, indexes[-1], rest, overlap)  # a gradient without an earlier place belongs to the last place
    return True


def _add_at(result: Array, index: tuple[slice, ...], part: Array, overlap: bool) -> None:
    """Add to some elements, which hold nothing yet where windows do not overlap."""
    target = cells(result)[index]
    if overlap:
        numbers = target.view(part.dtype)
        numbers += part
    else:
        target[...] = cells(part)


def max_pool_grad_equal(x: Array, y: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return the gradient of x: each window's gradient goes to all elements within NEAR of the window's maximum `y`."""
    padded, _ = _padded(np.ascontiguousarray(x), windows, strides, pads, lowest(x.dtype))
    result = np.empty(padded.shape, grad.dtype)
    images_of_x, images_of_result, largest, flows = _by_windows((padded, result), (y, grad), windows[0], strides[0])
    places = [offset_index(offset, flows.shape[1:-1], strides, [1] * len(windows)) for offset in offsets(windows)]
    # A product with 0 or 1 takes less time than a choice, but 0 times infinity is NaN.
    share = np.multiply if np.isfinite(grad).all() else _where
    overlap = any(map(operator.gt, windows, strides))

    def fill(images: slice) -> None:
        seen, target, top, flow = cells(images_of_x[images]), images_of_result[images], largest[images], flows[images]
        # Here and not for the whole array before: the zeros are in the cache when they are added to.
        target[...] = 0
        for place in places:
            away = seen[place].copy().view(x.dtype)
            away -= top
            part = share(flow, np.abs(away, out=away) < NEAR)
            if overlap:
                target[place] += part
            else:
                cells(target)[place] = cells(part)

    divide(fill, cut(len(images_of_x), min(-(-images_of_x.size // BLOCK_ELEMENTS), len(images_of_x))))
    return np.ascontiguousarray(unpad(result, pads))


def _by_windows(padded: Sequence[Array], pooled: Sequence[Array], window: int, stride: int) -> list[Array]:
    """Reshape arrays to images of as few lines as a window, where lines divide evenly: more images make more blocks."""
    if window != stride or padded[0].shape[1] % window:
        return [*padded, *pooled]
    return [a.reshape(-1, lines, *a.shape[2:]) for arrays, lines in ((padded, window), (pooled, 1)) for a in arrays]


def _where(value: Array, condition: Array) -> Array:
    """Return `value` where a condition holds and 0 elsewhere, also for infinite values."""
    return np.where(condition, value, value.dtype.type(0))


def first_equal(x: Array, y: Array, values: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return for each window the element of `values` where x first equals the window's `y`; 0 without an equal element."""
    padded, outputs = _padded(x, windows, strides, pads, lowest(x.dtype))
    taken, inside = pad(values, pads, 0), pad(np.ones((1, *x.shape[1:-1], 1), bool), pads, 0)
    result = np.zeros(y.shape, values.dtype)
    is_filled = np.zeros(y.shape, bool)
    for offset in offsets(windows):
        index = offset_index(offset, outputs, strides, [1] * len(outputs))
        matches = ~is_filled & inside[index] & (padded[index] == y)
        result = np.where(matches, taken[index], result)
        is_filled |= matches
    return result


def scatter_places(grad: Array, places: Array, shape: Sequence[int]) -> Array:
    """Add each window's gradient to its place in an array of `shape`."""
    images, channels = shape[0], shape[-1]
    positions = int(np.prod(shape[1:-1]))
    index = (np.arange(images).reshape(-1, *[1] * (grad.ndim - 1)) * positions + places) * channels + np.arange(channels)
    # bincount adds in double, and many times faster than np.add.at.
    summed = np.bincount(index.ravel(), grad.ravel().astype(np.float64), images * positions * channels)
    return summed.reshape(shape).astype(grad.dtype)


def average_pool(x: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return the mean of each window without its padding."""
    counts = window_counts(x.shape[1:-1], windows, strides, pads, x.dtype)
    result = np.empty((x.shape[0], *counts.shape[:-1], x.shape[-1]), x.dtype)

    def fill(block: tuple[slice, slice]) -> None:
        total = _reduced(np.add, seen(x, block, windows[0], strides[0], pads), windows, strides)
        np.divide(total, counts[block[1]], out=result[block])

    divide(fill, _blocks(x, result, windows))
    return result


def average_pool_grad(shape: Ints, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """Return the gradient of an input of `shape`: each window's gradient in equal parts to its elements."""
    share = grad / window_counts(shape[1:-1], windows, strides, pads, grad.dtype)
    padded = np.zeros((shape[0], *padded_sizes(shape[1:-1], pads), shape[-1]), grad.dtype)
    for offset in offsets(windows):
        padded[offset_index(offset, grad.shape[1:-1], strides, [1] * len(windows))] += share
    return np.ascontiguousarray(unpad(padded, pads))


def _padded(x: Array, windows: Ints, strides: Ints, pads: Pads, value: Any) -> tuple[Array, tuple[int, ...]]:
    padded = pad(x, pads, value)
    return padded, output_sizes(padded, windows, strides, [1] * len(windows))


def window_counts(sizes: Ints, windows: Ints, strides: Ints, pads: Pads, dtype: Any) -> Array:
    """Count the elements of each window without padding: (outputs..., 1); 1 where a window has none."""
    # A cache of large arrays would hold memory that one run needed.
    count = _known_counts if math.prod(sizes) <= _FEW_POSITIONS else _known_counts.__wrapped__
    return count(tuple(sizes), tuple(windows), tuple(strides), tuple(map(tuple, pads)), dtype)


@functools.lru_cache(64)
def _known_counts(
    sizes: tuple[int, ...], windows: tuple[int, ...], strides: tuple[int, ...], pads: tuple[tuple[int, ...], ...], dtype: Any
) -> Array:
    counts = np.ones((), np.int64)
    for size, window, stride, (before, after) in zip(sizes, windows, strides, pads):
        starts = np.arange(output_size(size + before + after, window, stride, 1)) * stride - before
        covered = np.minimum(starts + window, size) - np.maximum(starts, 0)
        counts = np.multiply.outer(counts, np.maximum(covered, 0))
    # A window in the padding alone has no elements: its sum is 0, and so its mean.
    divisors = np.maximum(counts, 1).astype(dtype)[..., np.newaxis]
    divisors.flags.writeable = False
    return divisors
