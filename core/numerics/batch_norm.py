"""Normalization of channels by their moments, of channels-last arrays, tile by tile: what is between stays in the cache.

Several positions are laid side by side, so that vectors of few channels become long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..arrays import Array
from .products import cut, divide
from .sums import column_sums, folded_rows

_TILE: Final = 1 << 17
"""Elements of a tile."""
_WORTH_TILING: Final = 1 << 19
"""Elements from which on tiles, also by several threads, save more than they cost."""


class _Tiles:
    """An array (..., C) as rows of several positions, and parts of them for threads."""

    def __init__(self, x: Array) -> None:
        self.channels = x.shape[-1]
        self.positions = x.size // self.channels
        self.fold = folded_rows(self.positions, self.channels)
        rows = self.positions // self.fold
        width = self.fold * self.channels
        self.shape = rows, width
        self.parts = cut(rows, max(min(x.size // _TILE, rows), 1)) if x.size >= _WORTH_TILING else [slice(0, rows)]

    def rows(self, x: Array) -> Array:
        return x.reshape(self.shape)

    def vector(self, x: Array) -> Array:
        """A number for each channel, repeated along a row."""
        return np.tile(x, self.fold)

    def each(self, work: Callable[[slice], object]) -> None:
        """`work` on each part."""
        divide(work, self.parts)

    def sums(self, terms: Callable[[slice], Array]) -> Array:
        """The sums over positions of what `terms` gives for each part."""
        found = np.empty((len(self.parts), self.channels), np.float64)
        numbers = {part.start: i for i, part in enumerate(self.parts)}

        def add(part: slice) -> None:
            found[numbers[part.start]] = column_sums(terms(part).reshape(-1, self.channels))

        self.each(add)
        return found.sum(0)


def moments(x: Array) -> tuple[Array, Array]:
    """The mean and the variance of each channel; there is at least one position."""
    tiles = _Tiles(x)
    rows = tiles.rows(x)
    mean = (tiles.sums(lambda part: rows[part]) / tiles.positions).astype(x.dtype)
    center = tiles.vector(mean)

    def squares(part: slice) -> Array:
        centered = rows[part] - center
        return np.multiply(centered, centered, out=centered)

    return mean, (tiles.sums(squares) / tiles.positions).astype(x.dtype)


def scaled(x: Array, factor: Array, summand: Array) -> Array:
    """x * factor + summand, both numbers for each channel."""
    result = np.empty_like(x, order="C")
    tiles = _Tiles(x)
    rows, target = tiles.rows(x), tiles.rows(result)
    factor, summand = tiles.vector(factor), tiles.vector(summand)

    def scale(part: slice) -> None:
        some = np.multiply(rows[part], factor, out=target[part])
        some += summand

    tiles.each(scale)
    return result


def gradient_sums(dy: Array, x: Array, mean: Array) -> tuple[Array, Array]:
    """The sums over positions of dy and of dy (x - mean)."""
    tiles = _Tiles(x)
    rows, given, center = tiles.rows(x), tiles.rows(dy), tiles.vector(mean)

    def products(part: slice) -> Array:
        centered = rows[part] - center
        return np.multiply(centered, given[part], out=centered)

    return tiles.sums(lambda part: given[part]).astype(dy.dtype), tiles.sums(products).astype(dy.dtype)


def combined(dy: Array, factor: Array, x: Array, mean: Array, slope: Array, summand: Array) -> Array:
    """dy * factor - (x - mean) * slope - summand, all but dy and x numbers for each channel."""
    result = np.empty_like(dy, order="C")
    tiles = _Tiles(x)
    rows, given, target = tiles.rows(x), tiles.rows(dy), tiles.rows(result)
    factor, mean, slope, summand = map(tiles.vector, (factor, mean, slope, summand))

    def combine(part: slice) -> None:
        some = np.multiply(given[part], factor, out=target[part])
        centered = rows[part] - mean
        centered *= slope
        centered += summand
        some -= centered

    tiles.each(combine)
    return result
