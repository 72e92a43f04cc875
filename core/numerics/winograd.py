"""Convolution by windows of 3 x 3 at stride 1 with 4 multiplications for each result instead of 9.

F(2 x 2, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), after Winograd, "Arithmetic
Complexity of Computations" (1980). A tile of 4 x 4 positions gives 2 x 2 results; tiles overlap by two positions. Tiles and
filters are transformed by sums and differences, a matrix product for each of the 16 places of a tile multiplies them, and
the products are transformed back. The only factors are halves, so small integers stay exact; for random numbers the error
is less than twice the error of the definition's sums. Tiles of 6 x 6, F(4 x 4, 3 x 3), are not used: they save 0 to 1.6 %
of VGG16's time and 1.4 % of ResNet-50's.

A number that is not finite spreads to all results of its tile here. Then the convolution returns nothing, and the caller
computes by the definition.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from .gemm import matmul
from .weak_cache import cached_for_constant, never_changes
from .windows import Array, Pads, block_positions, image_blocks, placed, result_sizes
from .work_division import NotFinite, cut, divide, even, workers_for

Finish = Callable[[slice, slice], object]
Epilogue = Callable[[Array], Finish | None]
_Part = tuple[slice, slice, slice]
"""Images, lines and channels of a result."""

_PLACES: Final = 4
"""Positions of a tile along an axis: 2 results and 2 neighbours."""
_FILTER_TRANSFORM: Final = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
"""The transform of a filter along an axis, (places, 3)."""
_PLANAR: Final = np.kron(_FILTER_TRANSFORM, _FILTER_TRANSFORM)
"""The transform of a filter along both axes, (places * places, 9)."""

TILES: Final = 192
"""Tiles of a block: transforms stay in a cache, and products are worth a call; for 64 channels BLAS makes no copies."""
_FEWEST_CHANNELS: Final = 32
"""The least number of channels, of the input and of the result, where the products take longer than the transforms."""
_FEWEST_WEIGHTS: Final = 1 << 11
"""The least product of input and result channels where the products take longer than the transforms."""
_FEWEST_TILES: Final = 32
"""The least number of tiles where Winograd takes less time with cached filters, which have 16 numbers instead of 9."""
_FEWEST_TILES_OF_NEW: Final = 48
"""The least number of tiles where Winograd takes less time with filters transformed in each call."""
FEW_TILES: Final = 128
"""The least number of tiles where threads share the tiles instead of the filters."""
_MOST_COMPUTED: Final = 1.5
"""The largest ratio of computed positions to positions of the result: tiles reach over odd ends."""


def suits(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> bool:
    """Return True if a convolution takes less time by tiles than by windows."""
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


def convolve(x: Array, w: Array, pads: Pads, epilogue: Epilogue | None = None, bias: Array | None = None) -> Array | None:
    """Convolve x (N, H, W, C) with w (3, 3, C, F), as `convolution.convolve`; return None if numbers are not finite."""
    outputs, (depth, filters) = _outputs(x.shape, pads), w.shape[2:]
    result = np.empty((x.shape[0], *outputs, filters), np.float32)
    finish = epilogue(result) if epilogue else None
    transformed = cached_for_constant(w, "tiles", _transform_filters)

    def fill(part: _Part) -> None:
        images, lines, channels = part
        block = result[images, lines, :, channels]
        tiles = _transformed(x, (images, slice(lines.start // 2, -(-lines.stop // 2))), pads, outputs)
        _convolve_block(tiles, transformed[..., channels], block, None if bias is None else bias[channels])
        # The result is tested, not the input: an overflow of the transforms must be found, too.
        if not np.isfinite(block).all():
            raise NotFinite
        if finish is not None:
            finish(block_positions((images, lines), result.shape), channels)

    try:
        divide(fill, _parts(result.shape, workers_for(result.size * depth * 9)))
    except NotFinite:
        return None
    return result


def _outputs(shape: Sequence[int], pads: Pads) -> tuple[int, ...]:
    return result_sizes(shape, (3, 3), (1, 1), pads, (1, 1))


def _planes(x: Array, lines: tuple[int, int], columns: tuple[int, int]) -> tuple[Array, Array]:
    """Return (N, lines, columns, C) of the even and of the odd columns of images (N, H, W, C); zero outside of them.

    Each axis is (first place, number of places). NumPy copies contiguous numbers in a single loop: whole lines of even or
    odd columns, else the channels of a position.
    """
    firsts, counts = zip(lines, columns)
    even_columns, odd_columns = (np.ascontiguousarray(placed(x, (firsts[0], firsts[1] + i), (1, 2), counts)) for i in range(2))
    return even_columns, odd_columns


@functools.lru_cache(1024)
def _parts(shape: tuple[int, ...], workers: int) -> list[_Part]:
    """Return blocks of a result of this shape, of whole tiles; workers share the channels of few tiles."""
    is_narrow = shape[0] * math.prod(-(-n // 2) for n in shape[1:-1]) < FEW_TILES
    blocks = _blocks(shape, 1 if is_narrow else workers)
    ranges = cut(shape[-1], workers if is_narrow else 1)
    lines = [(images, slice(2 * rows.start, min(2 * rows.stop, shape[1]))) for images, rows in blocks]
    return [(*block, channels) for block in lines for channels in ranges]


def _blocks(shape: Sequence[int], workers: int) -> list[tuple[slice, slice]]:
    """Return (images, rows of tiles) of blocks of about TILES tiles; many blocks are spread evenly over the workers."""
    images = shape[0]
    lines, columns = (-(-n // 2) for n in shape[1:-1])
    count = -(-images * lines * columns // TILES)
    return image_blocks(images, lines, even(count, workers))


def _convolve_block(tiles: Array, filters: Array, out: Array, bias: Array | None) -> None:
    """Convolve some rows of tiles of some images, for some filters."""
    products = np.matmul(tiles.reshape(len(filters), -1, tiles.shape[-1]), filters).reshape(*tiles.shape[:-1], -1)
    if bias is not None:
        products[1, 1] += bias  # the inverse transform adds this place to each result exactly once
    _add_places(products)
    # In place: the sums of places 0 + 1 + 2 and 1 - 2 - 3 along both axes need no temporary array of the products' size.
    lines = products[:2]
    lines[0] += products[2]
    lines[1] -= products[3]
    _add_places(lines.swapaxes(0, 1))
    for a, line in enumerate(lines):
        for b, (combine, second) in enumerate(((np.add, 2), (np.subtract, 3))):
            target = out[:, a::2, b::2]
            inside = slice(None), slice(target.shape[1]), slice(target.shape[2])
            combine(line[b][inside], line[second][inside], out=target)


def _add_places(values: Array) -> None:
    """Change the values of the places so that the first result is 0 + 2, and the second result 1 - 3."""
    values[0] += values[1]
    values[1] -= values[2]


def _transformed(x: Array, part: tuple[slice, slice], pads: Pads, outputs: Sequence[int]) -> Array:
    """Return the transforms of the tiles of some rows of padded images: (places, places, N, rows, columns, C)."""
    images, rows = part
    (above, _), (left, _) = pads
    count, columns = rows.stop - rows.start, -(-outputs[1] // 2)
    height = 2 * count + 2
    planes = _planes(x[images], (2 * rows.start - above, height), (-left, columns + 1))
    lines = np.empty((_PLACES, len(planes[0]), height, columns, x.shape[-1]), x.dtype)
    _transform([planes[i % 2][:, :, i // 2 :][:, :, :columns] for i in range(_PLACES)], lines)
    tiles = np.empty((_PLACES, *lines.shape[:2], count, *lines.shape[3:]), x.dtype)
    _transform([lines[:, :, i::2][:, :, :count] for i in range(_PLACES)], tiles)
    return tiles


def _transform(neighbours: Sequence[Array], out: Array) -> None:
    """Transform tiles along an axis, from their positions to the places of `out`."""
    first, second, third, fourth = neighbours
    np.subtract(first, third, out=out[0])
    np.add(second, third, out=out[1])
    np.subtract(third, second, out=out[2])
    np.subtract(second, fourth, out=out[3])


def _transform_filters(w: Array) -> Array:
    """Return (places, C, F) of filters (3, 3, C, F).

    Filters flipped in space or transposed in channels, as for a gradient, are not copied.
    """
    # Filters that are transposed in channels are transformed as they lie in memory; the result is the transpose, again as a
    # view.
    if w.strides[2] < w.strides[3]:
        return _transform_filters(w.swapaxes(2, 3)).swapaxes(1, 2)
    is_flipped = w.strides[0] < 0 and w.strides[1] < 0
    # A flipped view cannot be reshaped without a copy; flipping back, and the columns of the transform instead, costs
    # nothing.
    places = (w[::-1, ::-1] if is_flipped else w).reshape(_PLANAR.shape[1], -1)
    return matmul(_PLANAR[:, ::-1] if is_flipped else _PLANAR, places).reshape(-1, *w.shape[2:])
