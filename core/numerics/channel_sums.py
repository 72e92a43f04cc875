"""Sums over neighbouring axes, and normalization of channels by their moments.

Sums of floats are products with ones, which BLAS computes by whole vectors.
NumPy adds row to row, and calls a loop for each row: for sixteen columns that takes twenty times as long, and rounds more.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..types.arrays import Array
from .gemm import repeated
from .work_division import ELEMENT_WORK, TILE_ELEMENTS, cut, divide, workers_for

_WORTHWHILE: Final = 1 << 10
"""The least number of elements where a product with ones takes less time than NumPy's sum."""
_WIDEST: Final = 1 << 11
"""The largest number of columns where several rows are laid side by side."""
_FEW_COLUMNS: Final = 32
"""The largest number of columns where comparing columns takes less time than NumPy's maximum of rows."""
_FEW_ROWS: Final = 16
"""The largest number of rows where NumPy's sum takes less time than a product with ones."""
_SMALL: Final = 1 << 15
"""The largest number of elements where a single product is faster than several, and rounds little."""


def summed(x: Array, axes: Sequence[int], keepdims: bool = False) -> Array:
    """Return the sum over axes in ascending order."""
    first, last = axes[0], axes[-1] + 1
    # Only neighbouring axes become the middle one of three without a copy, and the sum of all elements is NumPy's pairwise
    # sum.
    is_block = len(axes) == last - first < x.ndim
    if not (is_block and _is_worthwhile(x)):
        return np.add.reduce(x, tuple(axes), x.dtype, None, keepdims)  # type: ignore[call-overload]
    sums = _block_sums(x.reshape(math.prod(x.shape[:first]), -1, math.prod(x.shape[last:])))
    return sums.reshape(*x.shape[:first], *((1,) * len(axes) if keepdims else ()), *x.shape[last:])


def row_sums(x: Array) -> Array:
    """Return the sum of the rows of a matrix: `summed` over the first axis."""
    return column_sums(x) if _is_worthwhile(x) else np.add.reduce(x, 0, x.dtype)


def _is_worthwhile(x: Array) -> bool:
    """Return True for a large contiguous array of a dtype that BLAS multiplies."""
    return x.size >= _WORTHWHILE and x.dtype.char in "fd" and x.flags.c_contiguous


def row_maxima(x: Array) -> Array:
    """Return the maxima along the last axis, which stays with length 1; a few columns are compared with each other."""
    columns = x.shape[-1]
    if not 1 < columns <= _FEW_COLUMNS:
        return np.maximum.reduce(x, -1, keepdims=True)
    # NumPy calls its inner loop once for each row of a short last axis; transposed, each comparison runs over all rows at
    # once.
    return np.maximum.reduce(np.ascontiguousarray(x.reshape(-1, columns).T), 0).reshape(*x.shape[:-1], 1)


def _block_sums(x: Array) -> Array:
    """Return the sums over the middle of three axes."""
    outer, count, inner = x.shape
    if outer == 1:
        return column_sums(x[0])
    ones = np.ones(count, x.dtype)
    return x.reshape(outer, count) @ ones if inner == 1 else np.matmul(ones, x)


def column_sums(x: Array) -> Array:
    """Return the sums of the columns of a matrix."""
    rows, columns = x.shape
    if rows <= _FEW_ROWS:
        return np.add.reduce(x, 0)
    if x.size <= _SMALL:
        return np.ones(rows, x.dtype) @ x
    # The sums of `fold` rows laid side by side come first, and the last line adds up the parts of each column.
    fold = folded_rows(rows, columns)
    wide = x.reshape(rows // fold, fold * columns)
    step = max(TILE_ELEMENTS // wide.shape[1], 1)
    ones = np.ones(min(step, len(wide)), x.dtype)
    sums = ones @ wide[:step]
    for start in range(step, len(wide), step):
        part = wide[start : start + step]
        sums += ones[: len(part)] @ part
    return np.add.reduce(sums.reshape(fold, columns), 0)


@functools.lru_cache(1024)
def folded_rows(rows: int, columns: int) -> int:
    """Return a divisor of the number of rows: so many rows side by side make long vectors for BLAS."""
    return next(fold for fold in range(max(min(rows, _WIDEST // columns), 1), 0, -1) if rows % fold == 0)


# Normalization of channels by their moments, of arrays (..., C), tile by tile, with intermediate values in the cache.
# Several positions are laid side by side, so that vectors of few channels become long.

_MOST_ROWS: Final = 1 << 8
"""The largest number of rows of a tile, which are added in sequence."""
_NEAR: Final = 4
"""The largest ratio of a squared mean to its variance for which the variance is computed without centering the numbers."""


class _Tiles:
    """An array (..., C) as rows of several positions, and parts of them for threads."""

    def __init__(self, x: Array) -> None:
        self.channels, self.dtype = x.shape[-1], x.dtype
        positions = x.size // self.channels
        self.fold = folded_rows(positions, self.channels)
        rows = positions // self.fold
        width = self.fold * self.channels
        self.shape = rows, width
        self.workers = workers_for(x.size * ELEMENT_WORK)
        # A part has at most _MOST_ROWS rows, whose sums have the dtype of the array; `sums` adds the parts in double, so that
        # rounding does not grow with the number of positions.
        self.parts = cut(rows, max(min(max(x.size // TILE_ELEMENTS, self.workers), rows), rows // _MOST_ROWS, 1))

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(x).reshape(self.shape)

    def vector(self, x: Array) -> Array:
        """Return a number for each channel, repeated along a row."""
        return repeated(x.reshape(1, -1), self.fold)

    def each(self, work: Callable[[slice], object]) -> None:
        """Call `work` with each part."""
        divide(work, self.parts, self.workers)

    def sums(self, terms: Callable[[slice], tuple[Array, Array]]) -> tuple[Array, Array]:
        """Return the sums over positions of a term and of its product with a second term; both terms are computed by parts."""
        partial_sums = np.empty((2, len(self.parts), self.shape[1]), self.dtype)
        numbers = {part.start: i for i, part in enumerate(self.parts)}

        def add(part: slice) -> None:
            first, second = terms(part)
            sums, products = partial_sums[:, numbers[part.start]]
            np.matmul(np.ones(len(first), self.dtype), first, out=sums)
            # einsum multiplies and adds in one pass; a product first would be a temporary array as large as the part.
            np.einsum("ij,ij->j", first, second, out=products)

        self.each(add)
        total, product = partial_sums.reshape(2, -1, self.channels).sum(1, np.float64)
        return total, product


def moments(x: Array) -> tuple[Array, Array]:
    """Return the mean and the variance of each channel; there is at least 1 position."""
    tiles = _Tiles(x)
    rows = tiles.rows(x)
    positions = x.size // x.shape[-1]
    mean, square = (total / positions for total in tiles.sums(lambda part: (rows[part], rows[part])))
    # One pass over the numbers. The difference cancels if the mean is large beside the deviation: then a second pass
    # subtracts the mean first.
    variance = square - mean * mean
    if not is_near(mean, variance):
        center = tiles.vector(mean.astype(x.dtype))
        variance = tiles.sums(lambda part: (centered := rows[part] - center, centered))[1] / positions
    return mean.astype(x.dtype), variance.astype(x.dtype)


def is_near(mean: Array, variance: Array) -> bool:
    """Return True if the means are so near to zero, in deviations, that E[x^2] - E[x]^2 loses few digits by
    cancellation.
    """
    # An infinite variance would pass the comparison, though its mean is infinite, too, and the difference NaN.
    return bool((mean * mean <= _NEAR * variance).all() and np.isfinite(variance).all())


def scaled(x: Array, factor: Array, bias: Array) -> Array:
    """Return x * factor + bias, both numbers for each channel."""
    tiles = _Tiles(x)
    result = np.empty(x.shape, x.dtype)
    target = result.reshape(tiles.shape)
    rows = tiles.rows(x)
    factor, bias = tiles.vector(factor), tiles.vector(bias)

    def scale(part: slice) -> None:
        some = np.multiply(rows[part], factor, out=target[part])
        some += bias

    tiles.each(scale)
    return result


def gradient_sums(dy: Array, x: Array, mean: Array, is_near: bool) -> tuple[Array, Array]:
    """Return the sums over positions of dy and of dy (x - mean)."""
    tiles = _Tiles(x)
    rows, gradients = tiles.rows(x), tiles.rows(dy)
    if is_near:
        total, product = tiles.sums(lambda part: (gradients[part], rows[part]))
        # The sum of dy (x - mean) is that of dy x less mean times that of dy: no centered copy of x is made.
        product -= total * mean
    else:
        center = tiles.vector(mean)
        total, product = tiles.sums(lambda part: (gradients[part], rows[part] - center))
    return total.astype(dy.dtype), product.astype(dy.dtype)


def combined(dy: Array, factor: Array, x: Array, mean: Array, slope: Array, offset: Array, is_near: bool) -> Array:
    """Return (dy - (x - mean) * slope - offset) * factor, all but dy and x numbers for each channel."""
    tiles = _Tiles(x)
    result = np.empty(dy.shape, dy.dtype)
    target = result.reshape(tiles.shape)
    rows, gradients = tiles.rows(x), tiles.rows(dy)
    center = None if is_near else tiles.vector(mean)
    factor, slope, rest = map(tiles.vector, (factor, -slope, mean * slope - offset if is_near else -offset))

    def combine(part: slice) -> None:
        some = target[part]
        if center is None:
            np.multiply(rows[part], slope, out=some)
        else:
            np.subtract(rows[part], center, out=some)
            some *= slope
        # In place from here on: each of these steps reads and writes a tile in the cache.
        some += gradients[part]
        some += rest
        some *= factor

    tiles.each(combine)
    return result
