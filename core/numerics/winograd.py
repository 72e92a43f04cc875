"""Convolution by windows of 3 x 3 at stride 1 with fewer multiplications: 4 or 3.06 for each result, not 9.

F(2 x 2, 3 x 3) and F(4 x 4, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), after
Winograd: tiles of 4 x 4 or 6 x 6 positions, which overlap by two, and the filters are transformed by sums and differences; the
transforms' products, one matrix product for each of their 16 or 49 places, are transformed back (`winograd_transforms`). Only
halves and quarters are multiplied with, so that small integers stay exact; of random numbers the error is less than twice that
of the definition's sums.

A number that is not finite meets all results of its tile here. Where one turns up, nothing is returned, and the caller
computes by the definition.

`benchmarks/thresholds.py` shows what the thresholds here are worth.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..parallel.gemm import NotFinite, cut, divide, even, matmul, workers_for
from .weak_cache import kept, never_changes
from .windows import Array, Pads, block_positions, image_blocks, placed, result_sizes
from .winograd_transforms import FOUR, TWO, Transform

Finish = Callable[[slice, slice], object]
Finishing = Callable[[Array], Finish | None]
_Part = tuple[slice, slice, slice]
"""Images, lines and channels of a result."""

TILES: Final = 192
"""Tiles of a block: their transforms stay in a cache, and products are worth a call, for 64 channels one without copies."""
_FEWEST_CHANNELS: Final = 32
_FEWEST_WEIGHTS: Final = 1 << 11
"""Channels, also of results, and their product, from which on the products take longer than the transforms."""
_FEWEST_TILES: Final = 32
_FEWEST_TILES_OF_NEW: Final = 48
"""Tiles from which on it takes less time, though more numbers of filters are read: of kept filters, and of others, which are
transformed each time.
"""
_FEW_TILES: Final = 128
"""With fewer, threads share the filters."""
_MOST_COMPUTED: Final = 1.5
"""Tiles reach over odd ends. So many positions may be computed for each one in the result."""

_TILES_FOR_FILTERS: Final = 32
"""Reading filters for a product takes as long as computing so many tiles."""
_CALLS: Final = 160_000
"""Calling NumPy for a place of a block takes as long as so many multiply-adds."""
_MOST_WEIGHTS: Final = 1 << 16
"""Channels times channels of results up to which larger tiles are taken, of which more numbers of filters are kept."""


def suits(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> bool:
    """True where a convolution takes less time by tiles than by windows."""
    fewest = _FEWEST_TILES if never_changes(w) else _FEWEST_TILES_OF_NEW
    if x.dtype != np.float32 or w.dtype != np.float32 or w.shape[:-2] != (3, 3):
        return False
    return _is_worth(x.shape, w.shape, tuple(strides), tuple(map(tuple, pads)), tuple(dilations), fewest)


@functools.lru_cache(1024)
def _is_worth(
    shape: tuple[int, ...],
    filter_shape: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[tuple[int, int], ...],
    dilations: tuple[int, ...],
    fewest: int,
) -> bool:
    *_, depth, filters = filter_shape
    if depth != shape[-1] or any(n != 1 for n in (*strides, *dilations)):
        return False
    if min(depth, filters) < _FEWEST_CHANNELS or depth * filters < _FEWEST_WEIGHTS:
        return False
    outputs = _outputs(shape, pads)
    tiles = math.prod(-(-n // 2) for n in outputs)
    return shape[0] * tiles >= fewest and 4 * tiles <= _MOST_COMPUTED * math.prod(outputs)


@functools.lru_cache(1024)
def _cheapest(outputs: tuple[int, ...], images: int, depth: int, filters: int) -> Transform:
    """The transform with which the products take least time."""
    if depth * filters > _MOST_WEIGHTS:
        return TWO

    def cost(transform: Transform) -> int:
        tiles = images * math.prod(-(-n // transform.size) for n in outputs)
        calls = max(tiles // TILES, 2) * _CALLS
        return transform.places**2 * ((tiles + _TILES_FOR_FILTERS) * depth * filters + calls)

    return min(TWO, FOUR, key=cost)


def convolve(x: Array, w: Array, pads: Pads, finishing: Finishing | None = None, summand: Array | None = None) -> Array | None:
    """The convolution of x (N, H, W, C) with w (3, 3, C, F), as `convolution.convolve`; None where numbers are not finite."""
    outputs, (depth, filters) = _outputs(x.shape, pads), w.shape[2:]
    result = np.empty((x.shape[0], *outputs, filters), np.float32)
    finish = finishing(result) if finishing else None
    transform = _cheapest(outputs, x.shape[0], depth, filters)
    transformed = _transformed_filters(w, transform.planar)

    def compute(part: _Part, block: Array) -> None:
        images, lines, channels = part
        rows = slice(lines.start // transform.size, -(-lines.stop // transform.size))
        tiles = _transformed(transform, x, (images, rows), pads, outputs)
        _convolve_block(transform, tiles, transformed[..., channels], block, None if summand is None else summand[channels])

    parts = _parts(transform, result.shape, workers_for(result.size * depth * 9))
    return result if _filled(result, parts, compute, finish) else None


def _filled(result: Array, parts: Sequence[_Part], compute: Callable[[_Part, Array], None], finish: Finish | None) -> bool:
    """Have threads compute blocks of a result (N, H, W, F) and finish them; False as soon as one holds what is not finite."""

    def fill(part: _Part) -> None:
        images, lines, channels = part
        block = result[images, lines, :, channels]
        compute(part, block)
        if not np.isfinite(block).all():
            raise NotFinite
        if finish is not None:
            finish(block_positions((images, lines), result.shape), channels)

    try:
        divide(fill, parts)
    except NotFinite:
        return False
    return True


def _outputs(shape: Sequence[int], pads: Pads) -> tuple[int, ...]:
    return result_sizes(shape, (3, 3), (1, 1), pads, (1, 1))


def _planes(x: Array, size: int, lines: tuple[int, int], columns: tuple[int, int]) -> list[Array]:
    """(N, lines, columns, C) for each phase of the columns of images (N, H, W, C), `size` apart; zero outside of them.

    Of each axis the first place is given and how many there are. NumPy goes along what is contiguous in one loop: whole lines
    of a phase, else the channels of a position.
    """
    firsts, counts = zip(lines, columns)
    return [np.ascontiguousarray(placed(x, (firsts[0], firsts[1] + i), (1, size), counts)) for i in range(size)]


@functools.lru_cache(1024)
def _parts(transform: Transform, shape: tuple[int, ...], workers: int) -> list[_Part]:
    """Blocks of a result of this shape, of whole tiles, for so many workers; few are divided by channels among them."""
    is_narrow = shape[0] * math.prod(-(-n // transform.size) for n in shape[1:-1]) < _FEW_TILES
    blocks = _blocks(transform, shape, 1 if is_narrow else workers)
    size, ranges = transform.size, cut(shape[-1], workers if is_narrow else 1)
    lines = [(images, slice(size * rows.start, min(size * rows.stop, shape[1]))) for images, rows in blocks]
    return [(*block, channels) for block in lines for channels in ranges]


def _blocks(transform: Transform, shape: Sequence[int], workers: int) -> list[tuple[slice, slice]]:
    """(images, rows of tiles) of blocks of about TILES tiles; where there are enough, as many for each worker."""
    images = shape[0]
    lines, columns = (-(-n // transform.size) for n in shape[1:-1])
    count = -(-images * lines * columns // TILES)
    return image_blocks(images, lines, even(count, workers))


def _convolve_block(transform: Transform, tiles: Array, filters: Array, out: Array, summand: Array | None) -> None:
    """Some rows of tiles of some images, for some filters."""
    products = np.matmul(tiles.reshape(len(filters), -1, tiles.shape[-1]), filters).reshape(*tiles.shape[:-1], -1)
    if summand is not None:
        products[transform.common, transform.common] += summand
    transform.prepare(products)
    for a, (combine, first, second) in enumerate(transform.last):
        combine(products[first], products[second], out=products[a])
    size = transform.size
    transform.prepare(products[:size].swapaxes(0, 1))
    for a, line in enumerate(products[:size]):
        for b, (combine, first, second) in enumerate(transform.last):
            target = out[:, a::size, b::size]
            inside = slice(None), slice(target.shape[1]), slice(target.shape[2])
            combine(line[first][inside], line[second][inside], out=target)


def _transformed(transform: Transform, x: Array, part: tuple[slice, slice], pads: Pads, outputs: Sequence[int]) -> Array:
    """The transforms of the tiles of some rows of padded images: (places, places, N, rows, columns, C)."""
    images, rows = part
    (above, _), (left, _) = pads
    size, count, columns = transform.size, rows.stop - rows.start, -(-outputs[1] // transform.size)
    height = size * count + 2
    planes = _planes(x[images], size, (size * rows.start - above, height), (-left, columns + 1))
    lines = np.empty((transform.places, len(planes[0]), height, columns, x.shape[-1]), x.dtype)
    transform.forward([planes[i % size][:, :, i // size :][:, :, :columns] for i in range(size + 2)], lines)
    tiles = np.empty((transform.places, *lines.shape[:2], count, *lines.shape[3:]), x.dtype)
    transform.forward([lines[:, :, i::size][:, :, :count] for i in range(size + 2)], tiles)
    return tiles


def _transformed_filters(w: Array, matrix: Array) -> Array:
    """(places, C, F) of filters (window..., C, F) by a matrix (places, window); what cannot change is kept with them."""
    return kept(w, ("tiles", len(matrix)), functools.partial(_transform_filters, matrix=matrix))


def _transform_filters(w: Array, matrix: Array) -> Array:
    """(places, C, F); what is flipped in space or turned in channels, as for a gradient, is not copied."""
    if w.strides[2] < w.strides[3]:
        return _transform_filters(w.swapaxes(2, 3), matrix).swapaxes(1, 2)
    is_flipped = w.strides[0] < 0 and w.strides[1] < 0
    places = (w[::-1, ::-1] if is_flipped else w).reshape(matrix.shape[1], -1)
    return matmul(matrix[:, ::-1] if is_flipped else matrix, places).reshape(-1, *w.shape[2:])
