"""Pools and their gradients as array programs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...numerics.pooling import NEAR, window_counts

_MOST_SLICES: Final = 25
"""Places in a window up to which a slice for each is 3 to 20 times as fast as XLA's windows and scatter."""


def max_pool(
    xla: Any, x: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NHWC"
) -> Any:
    """Return the largest element of each window; in windows of space, NaN and -inf count as the lowest number."""
    lowest, is_float = _lowest(x.dtype), x.dtype.kind not in "iu"
    if ksize[data_format.index("C")] > 1 or not (is_float or _takes_slices(xla, ksize)):
        return xla.lax.reduce_window(x, lowest, xla.lax.max, ksize, strides, padding)
    least = xla.finfo(x.dtype).min if is_float else lowest
    if _takes_slices(xla, ksize):
        windows = Windows(xla, x, lowest, ksize, strides, padding)
        return functools.reduce(lambda best, element: xla.where(element > best, element, best), windows.elements, least)
    largest = xla.lax.reduce_window(xla.where(xla.isnan(x), lowest, x), lowest, xla.lax.max, ksize, strides, padding)
    return xla.maximum(largest, least)


def average_pool(xla: Any, x: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Any:
    """Return the mean of each window's elements."""
    zero = np.zeros((), x.dtype)
    if _takes_slices(xla, ksize):
        total: Any = sum(Windows(xla, x, zero, ksize, strides, padding).elements)
    else:
        total = xla.lax.reduce_window(x, zero, xla.lax.add, ksize, strides, padding)
    return total / _sizes_of_windows(xla, x, ksize, strides, padding)


def _sizes_of_windows(xla: Any, x: Any, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Any:
    """Return the number of elements of each window, for broadcasting; XLA would take seconds to fold a sum of ones."""
    if not all(isinstance(dim, int) for dim, size in zip(x.shape, ksize) if size > 1):
        return xla.lax.reduce_window(xla.ones(x.shape, x.dtype), np.zeros((), x.dtype), xla.lax.add, ksize, strides, padding)
    pads = xla.lax.padtype_to_pads(x.shape, ksize, strides, padding)
    dims = [dim if size > 1 else 1 for dim, size in zip(x.shape, ksize)]
    steps = [stride if size > 1 else 1 for stride, size in zip(strides, ksize)]
    return window_counts(dims, ksize, steps, pads, x.dtype)[..., 0]


def max_pool_gradient(xla: Any, x: Any, y: Any, dy: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Any:
    """Return the gradient of each window at its first largest element; on a CPU XLA's scatter is 5 to 20 times slower.

    A NaN is the largest element where it is the first, and else none.
    """
    if not _takes_slices(xla, ksize):
        return xla.pulled_back(functools.partial(max_pool, xla, ksize=ksize, strides=strides, padding=padding), x, dy)
    windows = Windows(xla, x, _lowest(x.dtype), ksize, strides, padding)
    best, at = windows.elements[0], xla.zeros(dy.shape, np.int32)
    inside = windows.inside()
    is_inside = inside[0]
    for number, (elements, is_element) in enumerate(zip(windows.elements, inside)):
        is_better = ((elements > best) | ~is_inside) & is_element
        best, at = xla.where(is_better, elements, best), xla.where(is_better, number, at)
        is_inside = is_inside | is_element
    zero = np.zeros((), dy.dtype)
    return windows.summed([xla.where(at == number, dy, zero) for number in range(len(windows.places))])


def max_pool_gradient_of_equals(
    xla: Any, x: Any, y: Any, dy: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str
) -> Any:
    """Return the gradient of each window at all elements near `y`, as TensorFlow does in three dimensions."""
    windows = Windows(xla, x, _lowest(x.dtype), ksize, strides, padding)
    zero = np.zeros((), dy.dtype)
    pairs = zip(windows.elements, windows.inside())
    return windows.summed([xla.where((abs(element - y) < NEAR) & is_element, dy, zero) for element, is_element in pairs])


def max_pool_gradient_gradient(
    xla: Any, x: Any, y: Any, dx: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str
) -> Any:
    """Return the element of `dx` where each window of x first equals `y`; 0 where none does."""
    windows, taken = (Windows(xla, each, _lowest(each.dtype), ksize, strides, padding) for each in (x, dx))
    result, is_found = xla.zeros(y.shape, dx.dtype), xla.zeros(y.shape, bool)
    for element, value, is_element in zip(windows.elements, taken.elements, windows.inside()):
        is_first = (element == y) & is_element & ~is_found
        result, is_found = xla.where(is_first, value, result), is_found | is_first
    return result


def _takes_slices(xla: Any, ksize: Sequence[int]) -> bool:
    return xla.is_cpu and math.prod(ksize) <= _MOST_SLICES


class Windows:
    """The windows of an array: for each place in a window an array of the elements there, one of each window."""

    def __init__(self, xla: Any, x: Any, fill: Any, ksize: Sequence[int], strides: Sequence[int], padding: str) -> None:
        self.xla, self.shape, self.strides = xla, x.shape, strides
        self.pads = xla.lax.padtype_to_pads(x.shape, ksize, strides, padding)
        padded = xla.lax.pad(x, fill, [(low, high, 0) for low, high in self.pads])
        self.padded_shape = padded.shape
        counts = [(dim - size) // stride + 1 for dim, size, stride in zip(padded.shape, ksize, strides)]
        self.spans = [max((count - 1) * stride + 1, 0) for count, stride in zip(counts, strides)]
        self.places = list(itertools.product(*map(range, ksize)))
        self.elements = [xla.lax.slice(padded, place, np.add(place, self.spans), strides) for place in self.places]

    def inside(self) -> list[Any]:
        """Return for each place whether the element of each window there is no padding."""
        return [_inside(place, self.shape, self.spans, self.strides, self.pads) for place in self.places]

    def summed(self, elements: Sequence[Any]) -> Any:
        """Return an array of the shape of x: for each element the sum over the windows that hold the element."""
        zero = np.zeros((), elements[0].dtype)
        total = self.xla.zeros(self.padded_shape, zero.dtype)
        for place, array in zip(self.places, elements):
            around = zip(place, self.padded_shape, self.spans, self.strides)
            sparse = [(before, size - before - span, stride - 1) for before, size, span, stride in around]
            total = total + self.xla.lax.pad(array, zero, sparse)
        begin = [low for low, _ in self.pads]
        return self.xla.lax.slice(total, begin, np.add(begin, self.shape))


def _inside(place: Sequence[int], dims: Sequence[int], spans: Any, strides: Sequence[int], pads: Any) -> Any:
    """Return True for each window whose element at a place is no padding."""
    result: Any = np.ones((1,) * len(dims), bool)
    for axis, (start, span, stride, dim, (low, _)) in enumerate(zip(place, spans, strides, dims, pads)):
        numbers = np.arange(start, start + span, stride) - low
        is_element = (numbers >= 0) & (numbers < dim)
        result = result & is_element.reshape(-1, *[1] * (len(dims) - 1 - axis))
    return result


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)
