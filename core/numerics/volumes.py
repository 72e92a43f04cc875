"""Convolution of volumes, channels last, at stride 1: slice by slice, each of which windows are gathered of once.

A window of several slices is a sum over these: what the gathered windows of one slice give with each slice of the filter
belongs to other slices of the result. So a third of the numbers are copied for a window of three slices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .planes import SHORTEST_RUN
from .products import add_long_product, add_vector, cut, divide, multiply, ordered_sum, parts_of_each, rows_at_once
from .threads import one_thread
from .windows import Array, block_positions, gathered_windows

_FEWEST_POSITIONS: Final = 512
"""Positions of a slice of the result from which on it costs less to go by slices."""


def suits(x: Array, filter_shape: Sequence[int], result: Array, strides: Sequence[int], dilations: Sequence[int]) -> bool:
    """True where a convolution of a padded volume, or its gradient for the filter, takes less time by slices."""
    _, *inner, depth, filters = filter_shape
    if len(inner) < 2 or depth != x.shape[-1] or not x.dtype == result.dtype == np.float32:
        return False
    if any(n != 1 for n in (*strides, *dilations)) or inner[-1] * depth < SHORTEST_RUN:
        return False
    return math.prod(result.shape[2:-1]) >= _FEWEST_POSITIONS and rows_at_once(math.prod(inner) * depth, filters) > 0


def convolve(
    x: Array, w: Array, result: Array, finish: Callable[[slice, slice], object] | None, summand: Array | None
) -> None:
    """Fill the result (N, D, H, W, F); `finish` and `summand` as in `convolution`."""
    count, *inner, _, filters = w.shape
    images, slices = result.shape[:2]
    matrices, out = np.ascontiguousarray(w).reshape(count, -1, filters), result.reshape(images, slices, -1, filters)
    gathered = _gathering(x, inner)

    def fill(part: tuple[int, slice]) -> None:
        image, some = part
        for i in range(some.start, some.stop + count - 1):
            windows = gathered(image, i)
            for place, matrix in enumerate(matrices):
                if some.start <= i - place < some.stop:
                    multiply(windows, matrix, out[image, i - place], place == 0)
            if (done := i - count + 1) >= some.start:
                complete(image, done)

    def complete(image: int, i: int) -> None:
        if summand is not None:
            add_vector(out[image, i], summand)
        if finish is not None:
            block = slice(image, image + 1), slice(i, i + 1)
            finish(block_positions(block, result.shape), slice(0, filters))

    ranges = cut(slices, parts_of_each(images, slices, 1, one_thread.share))
    divide(fill, [(image, some) for image in range(images) for some in ranges])


def filter_gradient(x: Array, grad: Array, window: Sequence[int]) -> Array:
    """The gradient for the filter (window..., C, F), where `grad` is that for the result."""
    count, *inner = window
    filters, depth = grad.shape[-1], x.shape[-1]
    given = grad.reshape(*grad.shape[:2], -1, filters)
    gathered = _gathering(x, inner)

    def add(part: tuple[int, int], total: Array, is_first: bool) -> None:
        if is_first:
            total[...] = 0
        image, i = part
        windows = gathered(image, i)
        for place in range(count):
            if 0 <= i - place < given.shape[1]:
                add_long_product(given[image, i - place].T, windows, total[place], False)

    parts = [(image, i) for image in range(len(x)) for i in range(x.shape[1])]
    total = ordered_sum(add, parts, one_thread.available, (count, filters, math.prod(inner) * depth), np.float32)
    return np.ascontiguousarray(total.swapaxes(1, 2)).reshape(*window, depth, filters)


def _gathering(x: Array, inner: Sequence[int]) -> Callable[[int, int], Array]:
    """From an image and a slice to a matrix of the windows of that slice, (positions, window * C)."""
    ones = [1] * len(inner)
    windows: Any = gathered_windows(x.reshape(-1, *x.shape[2:]), inner, ones, ones)

    def gathered(image: int, i: int) -> Array:
        number = image * x.shape[1] + i
        return windows((slice(number, number + 1),))

    return gathered
