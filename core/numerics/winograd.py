"""Convolution by windows of 3 x 3 at stride 1 with 16 multiplications for 2 x 2 results, where the definition takes 36.

F(2 x 2, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), after Winograd: tiles of 4 x 4
positions, which overlap by two, and the filters are transformed by sums and differences; the transforms' products, one matrix
product for each of their 16 places, are transformed back. Only halves are multiplied with, so that small integers stay exact;
of random numbers the error is less than twice that of the definition's sums.

A number that is not finite meets all results of its tile here. Where one turns up, nothing is returned, and the caller
computes by the definition. The other way round, the gradient for the filter is a sum over tiles of the same transforms.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .products import WORTH_DIVIDING, add_product, cut, divide, matmul, ordered_sum
from .threads import one_thread
from .windows import Array, Pads, image_blocks, output_size, placed

Finish = Callable[[slice, slice], object]

TILES: Final = 256
"""Tiles of a block: their transforms stay in a cache, and the products are worth a call."""
_FEWEST_CHANNELS: Final = 32
_FEWEST_WEIGHTS: Final = 1 << 11
"""Channels, also of results, and their product, from which on the products take longer than the transforms."""
_FEWEST_TILES: Final = 32
_FEWEST_TILES_OF_NEW: Final = 48
_FEWEST_TILES_OF_GRADIENT: Final = 64
"""Tiles from which on it takes less time, though more numbers of filters are read: of kept filters, of others, which are
transformed each time, and of a gradient for filters, which is transformed back.
"""
_MANY_CHANNELS: Final = 256
"""Channels from which on threads share these for a gradient, and each transforms all of the result's."""
_FEW_TILES: Final = 128
"""With fewer, threads share the filters."""
_MOST_COMPUTED: Final = 1.5
"""Tiles reach over odd ends. So many positions may be computed for each one in the result."""
_SIGHTS: Final = 3
"""How often filters that cannot change are seen before their transforms are kept."""

_FILTER: Final = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
_FILTERS: Final = np.kron(_FILTER, _FILTER)
"""(16, 9): the transform of the 9 places of a filter, and transposed the way back of a gradient."""


class _Kept(NamedTuple):
    """Filters that were met before, how often, and what became of them."""

    filters: weakref.ref[Any]
    sights: int
    transformed: Array | None


_kept: dict[int, _Kept] = {}


def suits(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> bool:
    """True where a convolution takes less time by tiles than by windows."""
    fewest = _FEWEST_TILES if never_changes(w) else _FEWEST_TILES_OF_NEW
    return x.dtype == w.dtype and _is_worth(x, w.shape, strides, pads, dilations, fewest)


def suits_gradient(
    x: Array, filter_shape: Sequence[int], grad: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> bool:
    """The same of the gradient for the filter."""
    return x.dtype == grad.dtype and _is_worth(x, filter_shape, strides, pads, dilations, _FEWEST_TILES_OF_GRADIENT)


def _is_worth(
    x: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int], fewest: int
) -> bool:
    *window, depth, filters = filter_shape
    if window != [3, 3] or depth != x.shape[-1] or x.dtype != np.float32 or any(n != 1 for n in (*strides, *dilations)):
        return False
    if min(depth, filters) < _FEWEST_CHANNELS or depth * filters < _FEWEST_WEIGHTS:
        return False
    outputs = _outputs(x.shape, pads)
    tiles = math.prod(-(-n // 2) for n in outputs)
    return x.shape[0] * tiles >= fewest and 4 * tiles <= _MOST_COMPUTED * math.prod(outputs)


def convolve(
    x: Array, w: Array, pads: Pads, finishing: Callable[[Array], Finish | None] | None = None, summand: Array | None = None
) -> Array | None:
    """The convolution of x (N, H, W, C) with w (3, 3, C, F), as `convolution.convolve`; None where numbers are not finite."""
    outputs, filters = _outputs(x.shape, pads), w.shape[-1]
    result = np.empty((x.shape[0], *outputs, filters), np.float32)
    finish = finishing(result) if finishing else None
    transformed, columns = _transformed_filters(w), -(-outputs[1] // 2)
    failures: list[Any] = []

    def compute(part: tuple[slice, slice, slice]) -> None:
        images, rows, channels = part
        if failures:
            return
        block = result[images, 2 * rows.start : 2 * rows.stop, :, channels]
        planes = _reached(x, (images, rows), pads, columns)
        _convolve_block(planes, transformed[..., channels], block, None if summand is None else summand[channels])
        if not np.isfinite(block).all():
            failures.append(part)
        elif finish is not None:
            first = images.start * outputs[0] + 2 * rows.start
            count = block.shape[0] * block.shape[1]
            finish(slice(first * outputs[1], (first + count) * outputs[1]), channels)

    divide(compute, _parts(result.shape, result.size * w.size // filters))
    return None if failures else result


def filter_gradient(x: Array, grad: Array, pads: Pads) -> Array | None:
    """The gradient for the filter (3, 3, C, F), where `grad` is that for the result; None where numbers are not finite."""
    depth, filters = x.shape[-1], grad.shape[-1]
    found = np.empty((3, 3, depth, filters), np.float32)
    blocks = _blocks(grad.shape, 2 * TILES, one_thread.available)
    is_by_channels = depth >= _MANY_CHANNELS or len(blocks) < one_thread.available

    def fill(channels: slice) -> None:
        total = _summed(x[..., channels], grad, pads, blocks, 1 if is_by_channels else one_thread.available)
        found[:, :, channels] = (_FILTERS.T @ total.reshape(16, -1)).reshape(3, 3, -1, filters)

    divide(fill, cut(depth, one_thread.share if is_by_channels else 1))
    return found if np.isfinite(found).all() else None


def _summed(x: Array, grad: Array, pads: Pads, blocks: Sequence[tuple[slice, slice]], shares: int) -> Array:
    """The products of transforms of x and of the result's gradient, (16, C, F), added up over tiles in so many shares."""
    depth, filters = x.shape[-1], grad.shape[-1]
    columns = -(-grad.shape[2] // 2)

    def add(part: tuple[slice, slice], total: Array, is_first: bool) -> None:
        images, rows = part
        tiles = _transformed(_reached(x, part, pads, columns)).reshape(16, -1, depth)
        planes = _even_and_odd(grad[images], (2 * rows.start, 2 * (rows.stop - rows.start)), (0, columns))
        given = _transformed_gradient(*planes).reshape(16, -1, filters)
        for some, other, out in zip(tiles, given, total):
            add_product(some.T, other, out, is_first)

    return ordered_sum(add, blocks, shares, (16, depth, filters), np.float32)


def never_changes(a: Array) -> bool:
    """True of an array whose memory nobody may write to."""
    base: Any = a
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes) or (isinstance(base, memoryview) and base.readonly)


def _outputs(shape: Sequence[int], pads: Pads) -> list[int]:
    return [output_size(n + before + after, 3, 1, 1) for n, (before, after) in zip(shape[1:-1], pads)]


def _reached(x: Array, part: tuple[slice, slice], pads: Pads, columns: int) -> Array:
    """What rows of tiles reach of the padded images: their even columns and their odd ones."""
    images, rows = part
    (above, _), (left, _) = pads
    lines = 2 * rows.start - above, 2 * (rows.stop - rows.start) + 2
    return _even_and_odd(x[images], lines, (-left, columns + 1))


def _even_and_odd(x: Array, lines: tuple[int, int], pairs: tuple[int, int]) -> list[Array]:
    """Twice (N, lines, pairs, C) of images (N, H, W, C), zero outside: of each axis the first place and how many there are.

    NumPy goes along what is contiguous in one loop: whole lines of even or of odd columns, else the channels of a position.
    """
    firsts, counts = zip(lines, pairs)
    return [np.ascontiguousarray(placed(x, (firsts[0], firsts[1] + phase), (1, 2), counts)) for phase in range(2)]


def _parts(shape: Sequence[int], multiply_adds: int) -> list[tuple[slice, slice, slice]]:
    """(images, rows of tiles, channels) of blocks of a result of this shape; few are divided by channels among the threads."""
    workers = one_thread.share if multiply_adds >= WORTH_DIVIDING else 1
    is_narrow = shape[0] * math.prod(-(-n // 2) for n in shape[1:-1]) < _FEW_TILES
    blocks = _blocks(shape, TILES, 1 if is_narrow else workers)
    return [(*block, channels) for block in blocks for channels in cut(shape[-1], workers if is_narrow else 1)]


def _blocks(shape: Sequence[int], most: int, workers: int) -> list[tuple[slice, slice]]:
    """(images, rows of tiles) of blocks of about so many tiles; where there are enough, as many for each worker."""
    images = shape[0]
    lines, columns = (-(-n // 2) for n in shape[1:-1])
    count = -(-images * lines * columns // most)
    count = -(-count // workers) * workers
    return image_blocks(images, lines, count)


def _convolve_block(planes: Sequence[Array], filters: Array, out: Array, summand: Array | None) -> None:
    """Some rows of tiles of some images, for some filters."""
    tiles = _transformed(planes)
    products = np.matmul(tiles.reshape(16, -1, tiles.shape[-1]), filters).reshape(*tiles.shape[:-1], -1)
    if summand is not None:
        products[1, 1] += summand  # which meets each result once
    _combine_back(products, products[0], products[1])
    for a, lines in enumerate(products[:2]):
        _combine_back(lines, out[:, a::2, 0::2], out[:, a::2, 1::2])


def _combine_back(values: Array, even: Array, odd: Array) -> None:
    """The way back along one axis, where so much of the results is asked for; two of the four values change."""
    values[0] += values[1]
    values[1] -= values[2]
    for target, combine, first, second in ((even, np.add, 0, 2), (odd, np.subtract, 1, 3)):
        inside = slice(None), slice(target.shape[1]), slice(target.shape[2])
        combine(values[first][inside], values[second][inside], out=target)


def _transformed(planes: Sequence[Array]) -> Array:
    """The transforms of the tiles of two planes (N, 2 (rows + 1), columns + 1, C): (4, 4, N, rows, columns, C)."""
    even, odd = planes
    images, height, pairs, channels = even.shape
    rows, columns = height // 2 - 1, pairs - 1
    lines = np.empty((4, images, height, columns, channels), even.dtype)
    _combine(even[:, :, :columns], odd[:, :, :columns], even[:, :, 1:], odd[:, :, 1:], lines)
    tiles = np.empty((4, 4, images, rows, columns, channels), even.dtype)
    even, odd = lines[:, :, 0::2], lines[:, :, 1::2]
    _combine(even[:, :, :rows], odd[:, :, :rows], even[:, :, 1:], odd[:, :, 1:], tiles)
    return tiles


def _combine(first: Array, second: Array, third: Array, fourth: Array, out: Array) -> None:
    """The transform along one axis of which each fourth is given."""
    np.subtract(first, third, out=out[0])
    np.add(second, third, out=out[1])
    np.subtract(third, second, out=out[2])
    np.subtract(second, fourth, out=out[3])


def _transformed_gradient(even: Array, odd: Array) -> Array:
    """The transforms of tiles of 2 x 2 of a result's gradient in planes: (4, 4, N, rows, columns, F)."""
    images, height, columns, filters = even.shape
    lines = np.empty((4, images, height, columns, filters), even.dtype)
    _spread(even, odd, lines)
    tiles = np.empty((4, 4, images, height // 2, columns, filters), even.dtype)
    _spread(lines[:, :, 0::2], lines[:, :, 1::2], tiles)
    return tiles


def _spread(first: Array, second: Array, out: Array) -> None:
    """The way back of a gradient along one axis of which each other is given."""
    out[0] = first
    np.add(first, second, out=out[1])
    np.subtract(first, second, out=out[2])
    np.negative(second, out=out[3])


def _transformed_filters(w: Array) -> Array:
    """(16, C, F) of filters (3, 3, C, F); what cannot change is kept with them."""
    if not never_changes(w):
        return _transform_filters(w)
    known = _kept.get(id(w))
    if known is None or known.filters() is not w:
        known = _Kept(weakref.ref(w, functools.partial(_forget, id(w))), 0, None)
    if known.transformed is not None:
        return known.transformed
    transformed, sights = _transform_filters(w), known.sights + 1
    _kept[id(w)] = _Kept(known.filters, sights, transformed if sights >= _SIGHTS else None)
    return transformed


def _forget(key: int, _: Any) -> None:
    _kept.pop(key, None)


def _transform_filters(w: Array) -> Array:
    """(16, C, F); what is flipped in space or turned in channels, as for a gradient, is not copied."""
    if w.strides[2] < w.strides[3]:
        return _transform_filters(w.swapaxes(2, 3)).swapaxes(1, 2)
    is_flipped = w.strides[0] < 0 and w.strides[1] < 0
    places = (w[::-1, ::-1] if is_flipped else w).reshape(9, -1)
    return matmul(_FILTERS[:, ::-1] if is_flipped else _FILTERS, places).reshape(16, *w.shape[2:])
