"""Normalization of channels by their moments, of arrays (..., C), tile by tile, with intermediate values in the cache.

Several positions are laid side by side, so that vectors of few channels become long. Where the positions of a channel lie
side by side already (a single image with channels first, a layer normalization), they stay.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..parallel.gemm import ELEMENT_WORK, TILE_ELEMENTS, cut, divide, even, repeated, workers_for
from ..types.arrays import Array
from .axis_sums import folded_rows

_MOST_ROWS: Final = 1 << 8
"""The largest number of rows of a tile, which are added in sequence."""
_BLOCK: Final = 1 << 14
"""Elements of a part by channels."""
_MOST_POSITIONS: Final = 1 << 12
"""Positions of a channel that are added up side by side."""
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
        self.parts = cut(rows, max(min(max(x.size // TILE_ELEMENTS, self.workers), rows), rows // _MOST_ROWS, 1))

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(x).reshape(self.shape)

    def vector(self, x: Array) -> Array:
        """Return a number for each channel, repeated along a row."""
        return repeated(x.reshape(1, -1), self.fold)

    def of(self, vector: Array, part: slice) -> Array:
        """Return the part of a vector for a part of the rows."""
        return vector

    def result(self, shape: Sequence[int]) -> tuple[Array, Array]:
        """Return (an empty array (..., C) for the output of `each`, the array's rows)."""
        result = np.empty(shape, self.dtype)
        return result, result.reshape(self.shape)

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
            np.einsum("ij,ij->j", first, second, out=products)

        self.each(add)
        total, product = partial_sums.reshape(2, -1, self.channels).sum(1, np.float64)
        return total, product


class _Channels(_Tiles):
    """An array (..., C) that has the positions of each channel side by side: a row is a channel."""

    def __init__(self, x: Array) -> None:
        channels, self.dtype = x.shape[-1], x.dtype
        self.shape = channels, x.size // channels
        self.workers = workers_for(x.size * ELEMENT_WORK)
        self.parts = cut(channels, min(even(-(-x.size // _BLOCK), 2), channels))

    def rows(self, x: Array) -> Array:
        return np.ascontiguousarray(_channels_first(x)).reshape(self.shape)

    def vector(self, x: Array) -> Array:
        return x.reshape(-1, 1)

    def of(self, vector: Array, part: slice) -> Array:
        return vector[part]

    def result(self, shape: Sequence[int]) -> tuple[Array, Array]:
        rows = np.empty(self.shape, self.dtype)
        return rows.T.reshape(shape), rows

    def sums(self, terms: Callable[[slice], tuple[Array, Array]]) -> tuple[Array, Array]:
        channel_sums = np.empty((2, self.shape[0]), self.dtype)

        def add(part: slice) -> None:
            first, second = terms(part)
            np.matmul(first, np.ones(self.shape[1], self.dtype), out=channel_sums[0, part])
            np.vecdot(first, second, out=channel_sums[1, part])

        self.each(add)
        total, product = channel_sums.astype(np.float64)
        return total, product


def _tiles(x: Array) -> _Tiles:
    """Choose the tiles of an array (..., C)."""
    is_by_channel = not x.flags.c_contiguous and _channels_first(x).flags.c_contiguous
    return _Channels(x) if is_by_channel and x.size <= _MOST_POSITIONS * x.shape[-1] else _Tiles(x)


def _channels_first(x: Array) -> Array:
    return x.transpose(x.ndim - 1, *range(x.ndim - 1))


def moments(x: Array) -> tuple[Array, Array]:
    """Return the mean and the variance of each channel; there is at least 1 position."""
    tiles = _tiles(x)
    rows = tiles.rows(x)
    positions = x.size // x.shape[-1]
    mean, square = (total / positions for total in tiles.sums(lambda part: (rows[part], rows[part])))
    variance = square - mean * mean
    if not is_near(mean, variance):
        center = tiles.vector(mean.astype(x.dtype))
        variance = tiles.sums(lambda part: (centered := rows[part] - tiles.of(center, part), centered))[1] / positions
    return mean.astype(x.dtype), variance.astype(x.dtype)


def is_near(mean: Array, variance: Array) -> bool:
    """Return True where the means are so near to zero, in deviations, that E[x^2] - E[x]^2 loses few digits by
    cancellation.
    """
    return bool((mean * mean <= _NEAR * variance).all() and np.isfinite(variance).all())


def scaled(x: Array, factor: Array, bias: Array) -> Array:
    """Return x * factor + bias, both numbers for each channel."""
    tiles = _tiles(x)
    result, target = tiles.result(x.shape)
    rows = tiles.rows(x)
    factor, bias = tiles.vector(factor), tiles.vector(bias)

    def scale(part: slice) -> None:
        some = np.multiply(rows[part], tiles.of(factor, part), out=target[part])
        some += tiles.of(bias, part)

    tiles.each(scale)
    return result


def gradient_sums(dy: Array, x: Array, mean: Array, is_near: bool) -> tuple[Array, Array]:
    """Return the sums over positions of dy and of dy (x - mean)."""
    tiles = _tiles(x)
    rows, gradients = tiles.rows(x), tiles.rows(dy)
    if is_near:
        total, product = tiles.sums(lambda part: (gradients[part], rows[part]))
        product -= total * mean
    else:
        center = tiles.vector(mean)
        total, product = tiles.sums(lambda part: (gradients[part], rows[part] - tiles.of(center, part)))
    return total.astype(dy.dtype), product.astype(dy.dtype)


def combined(dy: Array, factor: Array, x: Array, mean: Array, slope: Array, offset: Array, is_near: bool) -> Array:
    """Return (dy - (x - mean) * slope - offset) * factor, all but dy and x numbers for each channel."""
    tiles = _tiles(x)
    result, target = tiles.result(dy.shape)
    rows, gradients = tiles.rows(x), tiles.rows(dy)
    center = None if is_near else tiles.vector(mean)
    factor, slope, rest = map(tiles.vector, (factor, -slope, mean * slope - offset if is_near else -offset))

    def combine(part: slice) -> None:
        some = target[part]
        if center is None:
            np.multiply(rows[part], tiles.of(slope, part), out=some)
        else:
            np.subtract(rows[part], tiles.of(center, part), out=some)
            some *= tiles.of(slope, part)
        some += gradients[part]
        some += tiles.of(rest, part)
        some *= tiles.of(factor, part)

    tiles.each(combine)
    return result
