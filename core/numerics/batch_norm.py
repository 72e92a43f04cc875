"""Normalization of channels by their moments, of channels-last arrays, tile by tile: what is between stays in the cache.

Several positions are laid side by side, so that vectors of few channels become long ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..arrays import Array
from .products import cut, divide, workers_for
from .sums import folded_rows
from .teamwork import result_array

_TILE: Final = 1 << 17
"""Elements of a tile."""
_MOST_ROWS: Final = 1 << 8
"""Rows of a tile, which are added up one by one."""
_SLOWER: Final = 32
"""How many multiply-adds of a product take as long as an element."""
_NEAR: Final = 4
"""Squares of means up to which, in variances, numbers need not be centered before they are multiplied."""


class _Tiles:
    """An array (..., C) as rows of several positions, and parts of them for threads."""

    def __init__(self, x: Array) -> None:
        self.channels, self.dtype = x.shape[-1], x.dtype
        self.positions = x.size // self.channels
        self.fold = folded_rows(self.positions, self.channels)
        rows = self.positions // self.fold
        width = self.fold * self.channels
        self.shape = rows, width
        self.workers = workers_for(x.size * _SLOWER)
        self.parts = cut(rows, max(min(max(x.size // _TILE, self.workers), rows), rows // _MOST_ROWS, 1))

    def rows(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def vector(self, x: Array) -> Array:
        """A number for each channel, repeated along a row."""
        row = np.empty((self.fold, self.channels), x.dtype)  # np.tile takes ten times as long
        row[...] = x
        return row.reshape(-1)

    def results(self, shape: Sequence[int]) -> Array:
        """An array for what `each` writes."""
        return result_array(shape, self.dtype, min(self.workers, len(self.parts)))

    def each(self, work: Callable[[slice], object], into: Array) -> None:
        """`work` on each part, which writes into an array of `results`."""
        divide(work, self.parts, self.workers, into)

    def sums(self, terms: Callable[[slice], tuple[Array, Array]]) -> tuple[Array, Array]:
        """The sums over positions of the first of two terms of each part, and of their product."""
        found = self.results((2, len(self.parts), self.shape[1]))
        numbers = {part.start: i for i, part in enumerate(self.parts)}

        def add(part: slice) -> None:
            first, second = terms(part)
            sums, products = found[:, numbers[part.start]]
            np.matmul(np.ones(len(first), self.dtype), first, out=sums)
            np.einsum("ij,ij->j", first, second, out=products)

        self.each(add, found)
        total, product = found.reshape(2, -1, self.channels).sum(1, np.float64)
        return total, product


def moments(x: Array) -> tuple[Array, Array]:
    """The mean and the variance of each channel; there is at least one position."""
    tiles = _Tiles(x)
    rows = tiles.rows(x)
    mean, square = (total / tiles.positions for total in tiles.sums(lambda part: (rows[part], rows[part])))
    variance = square - mean * mean
    if not is_near(mean, variance):
        center = tiles.vector(mean.astype(x.dtype))
        variance = tiles.sums(lambda part: (centered := rows[part] - center, centered))[1] / tiles.positions
    return mean.astype(x.dtype), variance.astype(x.dtype)


def is_near(mean: Array, variance: Array) -> bool:
    """True where no mean is so many deviations from zero that what cancels out takes digits with it."""
    return bool((mean * mean <= _NEAR * variance).all() and np.isfinite(variance).all())


def scaled(x: Array, factor: Array, summand: Array) -> Array:
    """x * factor + summand, both numbers for each channel."""
    tiles = _Tiles(x)
    result = tiles.results(x.shape)
    rows, target = tiles.rows(x), tiles.rows(result)
    factor, summand = tiles.vector(factor), tiles.vector(summand)

    def scale(part: slice) -> None:
        some = np.multiply(rows[part], factor, out=target[part])
        some += summand

    tiles.each(scale, result)
    return result


def gradient_sums(dy: Array, x: Array, mean: Array, is_near: bool) -> tuple[Array, Array]:
    """The sums over positions of dy and of dy (x - mean)."""
    tiles = _Tiles(x)
    rows, given = tiles.rows(x), tiles.rows(dy)
    if is_near:
        total, product = tiles.sums(lambda part: (given[part], rows[part]))
        product -= total * mean
    else:
        center = tiles.vector(mean)
        total, product = tiles.sums(lambda part: (given[part], rows[part] - center))
    return total.astype(dy.dtype), product.astype(dy.dtype)


def combined(dy: Array, factor: Array, x: Array, mean: Array, slope: Array, summand: Array, is_near: bool) -> Array:
    """(dy - (x - mean) * slope - summand) * factor, all but dy and x numbers for each channel."""
    tiles = _Tiles(x)
    result = tiles.results(dy.shape)
    rows, given, target = tiles.rows(x), tiles.rows(dy), tiles.rows(result)
    center = None if is_near else tiles.vector(mean)
    factor, slope, rest = map(tiles.vector, (factor, -slope, mean * slope - summand if is_near else -summand))

    def combine(part: slice) -> None:
        some = target[part]
        if center is None:
            np.multiply(rows[part], slope, out=some)
        else:
            np.subtract(rows[part], center, out=some)
            some *= slope
        some += given[part]
        some += rest
        some *= factor

    tiles.each(combine, result)
    return result
