"""Convolution by windows along one axis, of 3, 5, 7 or more places, with fewer multiplications.

F(2, 3) of `winograd_transforms` takes four multiplications for two results of three places. A longer window is cut into pairs
of places, and three at its end. Each of these begins at an even place and so takes the transforms of the same tiles, those
further on the further it stands; their products are added up, and transformed back once. A pair needs three of the four:
ten multiplications for two results of seven places, where the definition takes fourteen.

As in `winograd`, nothing is returned where numbers turn up that are not finite.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .products import add_product, even
from .threads import one_thread
from .windows import Array, Pads, image_blocks, placed, result_sizes
from .winograd import Finishing, Part, filled, transformed_filters
from .winograd_transforms import TWO

_MANY_CHANNELS: Final = 176
_FEWEST_CHANNELS: Final = 112
_MANY_POSITIONS: Final = 1 << 8
"""With so many channels, or with fewer at so many positions, the products take longer than the transforms."""
_FEWEST_POSITIONS: Final = 64
_BLOCK: Final = 1 << 10
"""About so many positions of the result go together: their transforms stay in a cache."""


def suits(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> bool:
    """True where a convolution takes less time by tiles of a line than by windows."""
    *window, depth, filters = w.shape
    if len(window) != 2 or min(window) != 1 or max(window) < 3 or max(window) % 2 == 0 or depth != x.shape[-1]:
        return False
    if not x.dtype == w.dtype == np.float32 or any(n != 1 for n in (*strides, *dilations)):
        return False
    height, width = _outputs(x.shape, window, pads)
    positions, channels = x.shape[0] * height * width, min(depth, filters)
    fewest = _FEWEST_CHANNELS if positions >= _MANY_POSITIONS else _MANY_CHANNELS
    return channels >= fewest and positions >= _FEWEST_POSITIONS


def convolve(x: Array, w: Array, pads: Pads, finishing: Finishing | None = None, summand: Array | None = None) -> Array | None:
    """The convolution of x (N, H, W, C) with w (places, 1, C, F) or (1, places, C, F); None where numbers are not finite."""
    *window, _, filters = w.shape
    result = np.empty((x.shape[0], *_outputs(x.shape, window, pads), filters), np.float32)
    finish = finishing(result) if finishing else None
    transformed = transformed_filters(w, _matrix(max(window)))
    axis = 0 if window[1] == 1 else 1

    def compute(part: Part, block: Array) -> None:
        images, lines, _ = part
        firsts = [lines.start - pads[0][0], -pads[1][0]]
        _convolve_block(x[images], transformed, max(window), axis, firsts, block, summand)

    return result if filled(result, _parts(result.shape, axis), compute, finish) else None


def _outputs(shape: Sequence[int], window: Sequence[int], pads: Pads) -> tuple[int, ...]:
    return result_sizes(shape, window, (1, 1), pads, (1, 1))


@functools.cache
def _terms(window: int) -> list[tuple[int, int]]:
    """(place, pair) of each product; the last pair has a third place of the window."""
    last = window // 2 - 1
    return [(place, pair) for place in range(TWO.places) for pair in range(last + 1) if place < 3 or pair == last]


@functools.cache
def _matrix(window: int) -> Array:
    """The transform of filters: (terms, window)."""
    matrix = np.zeros((len(_terms(window)), window), np.float32)
    for row, (place, pair) in zip(matrix, _terms(window)):
        width = 3 if 2 * pair + 3 == window else 2
        row[2 * pair : 2 * pair + width] = TWO.filters[place, :width]
    return matrix


def _parts(shape: Sequence[int], axis: int) -> list[Part]:
    """Blocks of a result, of whole tiles."""
    images, height, width, filters = shape
    step = 2 if axis == 0 else 1
    count = even(-(-images * height * width // _BLOCK), one_thread.share)
    blocks = image_blocks(images, -(-height // step), count)
    ranges = [(some, slice(step * lines.start, min(step * lines.stop, height))) for some, lines in blocks]
    return [(some, lines, slice(0, filters)) for some, lines in ranges if lines.start < lines.stop]


def _convolve_block(
    x: Array, filters: Array, window: int, axis: int, firsts: Sequence[int], out: Array, summand: Array | None
) -> None:
    """Fill a block of the result; `firsts` is where its windows begin in x. The axis of the window goes in front."""
    order = (1, 0, 2, 3) if axis == 0 else (2, 0, 1, 3)
    target = out.transpose(order)
    tiles = _transformed(x.transpose(order), firsts[axis], firsts[1 - axis], target.shape, window // 2)
    count, inner = -(-len(target) // 2), target.shape[1] * target.shape[2]
    products = np.empty((TWO.places, count * inner, target.shape[-1]), x.dtype)
    for (place, pair), matrix in zip(_terms(window), filters):
        some = tiles[place, pair * inner : (pair + count) * inner]
        add_product(some, matrix, products[place], pair == 0 or place == 3)
    if summand is not None:
        products[TWO.common] += summand
    TWO.prepare(products)
    for phase, (combine, first, second) in enumerate(TWO.last):
        results: Any = target[phase::2]
        values = products.reshape(TWO.places, count, *target.shape[1:])[:, : len(results)]
        combine(values[first], values[second], out=results)


def _transformed(x: Array, first: int, across: int, shape: Sequence[int], pairs: int) -> Array:
    """The transforms of tiles of x (L, N, M, C), zero outside of it: (places, tiles * N * M, C)."""
    count = -(-shape[0] // 2) + pairs
    given = [
        np.ascontiguousarray(placed(x[np.newaxis], (first + phase, 0, across), (2, 1, 1), (count, *shape[1:3]))[0])
        for phase in range(2)
    ]
    tiles = np.empty((TWO.places, count - 1, *given[0].shape[1:]), x.dtype)
    TWO.forward([plane[i:][: count - 1] for i in range(2) for plane in given], tiles)
    return tiles.reshape(TWO.places, -1, x.shape[-1])
