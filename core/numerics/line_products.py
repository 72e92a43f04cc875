"""Convolution at stride 1 by im2col along a line alone: each line of the window makes a product.

The windows of a line are a matrix with a row for each position, and the windows of neighbouring lines are the rows behind.
So the lines of a larger window are stretches of the same matrix, and a block's products are a single call; for windows of
five lines a fifth of the numbers is copied.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..parallel.blas_threads import one_thread
from ..parallel.gemm import BLOCK_ELEMENTS, columns_at_once, divide, even, ordered_sum, rows_at_once, workers_for
from .windows import Array, Block, block_positions, gathered_windows, image_blocks

_FEWEST_LINES: Final = 5
"""The least number of lines of a window where the saved copies make up for adding products afterwards."""
_FEWEST_NUMBERS: Final = 32
"""The least width of a window's line, in numbers, where the line's product is worth a call."""
_FEWEST_OF_GRADIENT: Final = 12
"""The least width of a window's line, in numbers, where the gradient's product is worth a call."""
_MOST_FILTERS: Final = 32
"""The largest number of filters where adding up products takes no longer than copying windows."""
_MOST_PER_CHANNEL: Final = 2
"""The largest number of filters for each channel where adding up products takes no longer than copying windows."""
FEWEST_POSITIONS: Final = 128
"""The least number of positions where a product is worth a call."""


def suits(
    filter_shape: Sequence[int], shape: Sequence[int], is_single: bool, strides: Sequence[int], dilations: Sequence[int]
) -> bool:
    """Return True where a convolution with a result of `shape`, in single precision or not, takes less time by lines of
    windows.
    """
    count, *inner, depth, filters = filter_shape
    is_sum_short = count >= _FEWEST_LINES and filters <= _MOST_PER_CHANNEL * depth
    is_wide = math.prod(inner) * depth >= _FEWEST_NUMBERS
    return is_sum_short and is_wide and is_single and _may_go_by_lines(filter_shape, shape, strides, dilations)


def suits_gradient(
    filter_shape: Sequence[int], shape: Sequence[int], is_single: bool, strides: Sequence[int], dilations: Sequence[int]
) -> bool:
    """Return True where the gradient for the filter goes by lines."""
    count, *inner, depth, _ = filter_shape
    is_wide = count > 1 and math.prod(inner) * depth >= _FEWEST_OF_GRADIENT
    return is_wide and is_single and _may_go_by_lines(filter_shape, shape, strides, dilations)


def _may_go_by_lines(
    filter_shape: Sequence[int], shape: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> bool:
    """Return True where a product of a line or more is so small that BLAS copies nothing."""
    _, *inner, depth, filters = filter_shape
    if not inner or filters > _MOST_FILTERS or strides[0] != 1 or dilations[0] != 1:
        return False
    return max(math.prod(shape[2:-1]), FEWEST_POSITIONS) <= _positions_at_once(math.prod(inner) * depth, filters)


def _positions_at_once(width: int, filters: int) -> int:
    """Return the windows per product, for `width` numbers of a window's line, that BLAS multiplies without a copy; 0 for
    none.
    """
    return min(rows_at_once(width, filters), columns_at_once(width, filters))


def convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    result: Array,
    finish: Callable[[slice, slice], object] | None,
    bias: Array | None,
) -> None:
    """Fill the result (N, H..., F); `finish` and `bias` as in `convolution`."""
    filters = w.shape[-1]
    matrices = np.ascontiguousarray(w).reshape(len(w), -1, filters)
    gathered = _gathering(x, w.shape[:-2], strides, dilations)

    def fill(block: Block) -> None:
        windows = gathered(block)
        out = result[block].reshape(len(windows), -1, filters)
        np.add.reduce(np.matmul(windows, matrices), 1, out=out)
        if bias is not None:
            out += bias
        if finish is not None:
            finish(block_positions(block, result.shape), slice(0, filters))

    workers = workers_for(result.size * w.size // filters)
    divide(fill, output_blocks(result.shape, w.shape, workers), workers)


def filter_gradient(x: Array, grad: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Return the gradient for the filter (window..., C, F); `grad` is the gradient of the result."""
    shape = (*window, x.shape[-1], grad.shape[-1])
    gathered = _gathering(x, window, strides, dilations)

    def add(block: Block, total: Array, is_first: bool) -> None:
        windows = gathered(block)
        gradients = grad[block].reshape(len(windows), 1, -1, shape[-1])
        products = np.matmul(windows.swapaxes(2, 3), gradients)
        if is_first:
            np.add.reduce(products, 0, out=total)
        else:
            total += np.add.reduce(products, 0)

    shares = one_thread.available
    lines = (shape[0], math.prod(shape[1:-1]), shape[-1])
    return ordered_sum(add, output_blocks(grad.shape, shape, shares), shares, lines, np.float32).reshape(shape)


def _gathering(x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Callable[[Block], Array]:
    """Return a function from a block of the result's lines to windows: (images, lines of a window, positions, numbers of a
    line).
    """
    reach = window[0]
    windows: Any = gathered_windows(np.ascontiguousarray(x), (1, *window[1:]), strides, dilations)

    def gathered(block: Block) -> Array:
        images, lines = block
        rows = windows((images, slice(lines.start, lines.stop + reach - 1)))
        count, width = images.stop - images.start, rows.shape[1]
        line = len(rows) // (count * (lines.stop - lines.start + reach - 1))
        row = width * rows.itemsize
        shape = (count, reach, (lines.stop - lines.start) * line, width)
        jumps = (len(rows) // count * row, line * row, row, rows.itemsize)
        return np.lib.stride_tricks.as_strided(rows, shape, jumps, writeable=False)

    return gathered


@functools.lru_cache(1024)
def output_blocks(shape: tuple[int, ...], filter_shape: tuple[int, ...], workers: int) -> list[Block]:
    """Cut the result into (images, lines): products so small that BLAS copies nothing, and few enough for a cache."""
    images, lines, *inner, filters = shape
    line, width = math.prod(inner), math.prod(filter_shape[1:-1])
    at_once = _positions_at_once(width, filters) // line
    if at_once < lines:
        return image_blocks(images, lines, images * -(-lines // at_once))
    elements = images * lines * line * max(filter_shape[0] * filters, width)
    return image_blocks(images, lines, min(even(max(-(-elements // BLOCK_ELEMENTS), 1), workers), images * lines))
