"""Pooling over sliding windows of channels-last arrays (N, spatial..., C) and its gradients.

All functions take the array unpadded, with `pads` beside it. Loops run over the places of a window, never over the
array. Which elements get a gradient is as in TensorFlow's kernels MaxPoolGrad and MaxPool3DGrad.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..arrays import Array
from .products import cut, divide
from .windows import Pads, offset_index, offsets, output_sizes, pad, unpad

Ints = Sequence[int]

_IN_CACHE: Final = 1 << 16
"""Elements of some images' windows that go from step to step without leaving the cache."""


def max_pool(x: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """The largest element of each window; NaN only counts where there is nothing else (and is then the lowest number)."""
    padded, outputs = _padded(x, windows, strides, pads, _lowest(x.dtype))
    larger = np.maximum if x.dtype.kind in "iub" else np.fmax
    result = np.full((x.shape[0], *outputs, x.shape[-1]), _lowest(x.dtype), x.dtype)
    for offset in offsets(windows):
        larger(result, padded[offset_index(offset, outputs, strides, [1] * len(outputs))], out=result)
    return result


def max_pool_places(x: Array, windows: Ints, strides: Ints, pads: Pads) -> tuple[Array, Array]:
    """The largest element of each window and its place: the flat index into the spatial dimensions of one image."""
    padded, outputs = _padded(x, windows, strides, pads, _lowest(x.dtype))
    flat = _padded_positions(x.shape[1:-1], pads)
    best: Array | None = None
    for offset in offsets(windows):
        index = offset_index(offset, outputs, strides, [1] * len(outputs))
        part, place = padded[index], flat[index[1:]][None, ..., None]
        if best is None:
            best, places = part.copy(), np.broadcast_to(place, part.shape).copy()
        else:
            better = part > best
            # A window may begin or end in the padding, which never holds the largest element, though that be -inf.
            better |= places < 0
            better &= place >= 0
            best, places = np.where(better, part, best), np.where(better, place, places)
    assert best is not None
    return best, places


def max_pool_grad(x: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """The gradient of x: each window's gradient goes to the first of its largest elements."""
    if x.dtype.kind != "f":
        return _max_pool_grad_by_places(x, grad, windows, strides, pads)
    padded, outputs = _padded(x, windows, strides, pads, -np.inf)
    indexes = [offset_index(offset, outputs, strides, [1] * len(outputs)) for offset in offsets(windows)]
    largest = np.full(grad.shape, -np.inf, x.dtype)
    for index in indexes:
        np.maximum(largest, padded[index], out=largest)  # NaN stays NaN
    if not (np.isfinite(largest).all() and np.isfinite(grad).all()):
        return _max_pool_grad_by_places(x, grad, windows, strides, pads)
    result = np.zeros((*padded.shape[:-1], x.shape[-1]), grad.dtype)
    overlaps = any(size > step for size, step in zip(windows, strides))

    def spread(images: slice) -> None:
        _spread_to_first(padded[images], largest[images], grad[images], result[images], indexes, overlaps)

    divide(spread, cut(len(x), min(-(-grad.size // _IN_CACHE), len(x))))
    return np.ascontiguousarray(unpad(result, pads))


def _max_pool_grad_by_places(x: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    _, places = max_pool_places(x, windows, strides, pads)
    return scatter_places(grad, places, x.shape)


def _spread_to_first(
    padded: Array, largest: Array, grad: Array, result: Array, indexes: Sequence[Any], overlaps: bool
) -> None:
    """Add the gradient of each window to the first element that equals the largest of its window."""
    searching = np.ones(grad.shape, bool)
    hit, part = np.empty(grad.shape, bool), np.empty_like(grad)
    for index in indexes:
        np.equal(padded[index], largest, out=hit)
        hit &= searching
        if overlaps:
            np.multiply(grad, hit, out=part)
            result[index] += part
        else:
            np.multiply(grad, hit, out=result[index])
        searching ^= hit


def max_pool_grad_equal(x: Array, y: Array, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """The gradient of x: each window's gradient goes to all elements that are within 1e-5 of its maximum `y`."""
    padded, outputs = _padded(x, windows, strides, pads, _lowest(x.dtype))
    result = np.zeros(padded.shape, grad.dtype)
    for offset in offsets(windows):
        index = offset_index(offset, outputs, strides, [1] * len(outputs))
        result[index] += np.where(np.abs(padded[index] - y) < 1e-5, grad, grad.dtype.type(0))
    return np.ascontiguousarray(unpad(result, pads))


def first_equal(x: Array, y: Array, values: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """For each window the element of `values` where x first equals the window's `y`; 0 where it never does."""
    padded, outputs = _padded(x, windows, strides, pads, _lowest(x.dtype))
    taken, inside = pad(values, pads, 0), pad(np.ones((1, *x.shape[1:-1], 1), bool), pads, 0)
    result = np.zeros(y.shape, values.dtype)
    found = np.zeros(y.shape, bool)
    for offset in offsets(windows):
        index = offset_index(offset, outputs, strides, [1] * len(outputs))
        matches = ~found & inside[index] & (padded[index] == y)
        result = np.where(matches, taken[index], result)
        found |= matches
    return result


def scatter_places(grad: Array, places: Array, shape: Sequence[int]) -> Array:
    """Add each window's gradient to its place in an array of `shape`."""
    images, channels = shape[0], shape[-1]
    positions = int(np.prod(shape[1:-1]))
    index = (np.arange(images).reshape(-1, *[1] * (grad.ndim - 1)) * positions + places) * channels + np.arange(channels)
    summed = np.bincount(index.ravel(), grad.ravel().astype(np.float64), images * positions * channels)
    return summed.reshape(shape).astype(grad.dtype)


def average_pool(x: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """The mean of each window, padding left out of it."""
    padded, outputs = _padded(x, windows, strides, pads, 0)
    total = np.zeros((x.shape[0], *outputs, x.shape[-1]), x.dtype)
    for offset in offsets(windows):
        total += padded[offset_index(offset, outputs, strides, [1] * len(outputs))]
    return total / _counts(x.shape[1:-1], windows, strides, pads, x.dtype)


def average_pool_grad(shape: Ints, grad: Array, windows: Ints, strides: Ints, pads: Pads) -> Array:
    """The gradient of an input of `shape`: each window's gradient in equal parts to its elements."""
    share = grad / _counts(shape[1:-1], windows, strides, pads, grad.dtype)
    padded = np.zeros((shape[0], *(n + sum(p) for n, p in zip(shape[1:-1], pads)), shape[-1]), grad.dtype)
    for offset in offsets(windows):
        padded[offset_index(offset, grad.shape[1:-1], strides, [1] * len(windows))] += share
    return np.ascontiguousarray(unpad(padded, pads))


def _padded(x: Array, windows: Ints, strides: Ints, pads: Pads, value: Any) -> tuple[Array, tuple[int, ...]]:
    padded = pad(x, pads, value)
    return padded, output_sizes(padded, windows, strides, [1] * len(windows))


def _padded_positions(sizes: Ints, pads: Pads) -> Array:
    """The flat index of every position of the padded image, -1 in the padding."""
    positions = np.arange(int(np.prod(sizes))).reshape(sizes)
    return np.pad(positions, list(pads), constant_values=-1)


def _counts(sizes: Ints, windows: Ints, strides: Ints, pads: Pads, dtype: Any) -> Array:
    """How many elements each window covers, padding left out: (outputs..., 1)."""
    ones = np.ones((1, *sizes, 1), dtype)
    padded, outputs = _padded(ones, windows, strides, pads, 0)
    counts = np.zeros((1, *outputs, 1), dtype)
    for offset in offsets(windows):
        counts += padded[offset_index(offset, outputs, strides, [1] * len(outputs))]
    return np.maximum(counts[0], 1)


def _lowest(dtype: Any) -> Any:
    """The smallest finite number, with which TensorFlow begins a maximum."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else ml_dtypes.finfo(dtype).min
