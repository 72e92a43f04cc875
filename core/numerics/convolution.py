"""Convolution of channels-last arrays of any spatial rank, as matrix products.

x is (N, spatial..., C), a filter (window..., C / groups, F), the result (N, output..., F). `pads` are (before, after) of each
spatial dimension. There are five ways, of which the shapes decide:

- A window of one element is one product.
- Windows of 3 x 3 or of one line, of many channels, go by tiles (`winograd`, `winograd_lines`), unless numbers turn up that
  are not finite.
- At stride 1, the input of one place of the window is a stretch of the padded image, a row of C numbers for each position:
  one product a place, added up by BLAS, and nothing is gathered. The positions between the last window of a line and the
  first of the next one are computed too and left out of the result.
- At stride 1 windows of many lines are gathered along a line, and each of its lines is a product (`line_products`).
- Else windows are gathered through a strided view (im2col, Chellapilla et al. 2006), of a channel or two from `planes`.

Threads take blocks of the result that stay in their caches. What is to be done with a block as soon as it is there is what
`finishing` returns when it is given the empty result: a function of a range of positions and a range of channels. A vector
that is to be added is where the sums begin. What x holds may come from a `feeding`, when a product needs it; then x only
tells shape and dtype.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from . import line_products, volumes, winograd, winograd_lines
from .feeding import BLOCK_ELEMENTS, Feeding, FinishRows
from .planes import SHORTEST_RUN, Planes
from .products import (
    add_long_product,
    add_product,
    add_vector,
    columns_at_once,
    cut,
    divide,
    even,
    matmul,
    multiply,
    ordered_sum,
    parts_of_each,
    product_parts,
    rows_at_once,
    rows_at_once_by,
    workers_for,
)
from .threads import one_thread
from .windows import (
    Array,
    Block,
    Pads,
    block_positions,
    gathered_windows,
    image_blocks,
    offsets,
    output_sizes,
    pad,
    result_sizes,
)

_MOST_LEFT_OUT: Final = 1.06
"""Where more positions are computed for each one in the result, gathering costs less."""
FEWEST_CHANNELS: Final = 8
"""With fewer, the products of single places are too narrow."""

_FINISHING: Final = 32
"""How many multiply-adds take as long as finishing an element."""
_FEW_SUMS: Final = 1 << 16
"""Elements of a product up to which adding a vector to it costs least when it is there."""
_LARGE_FILTER: Final = 1 << 19
_FEW_POSITIONS: Final = 128
"""Elements of a filter that is turned around from which on, and positions up to which, a product for each of its places costs
less than a copy.
"""
_ROWS_OF_EACH: Final = 64
"""Rows for each of several workers from which on a product takes no longer by rows than by columns."""
Finish = Callable[[slice, slice], object]
Finishing = Callable[[Array], Finish | None]


def convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    finishing: Finishing | None = None,
    summand: Array | None = None,
    feeding: Feeding | None = None,
) -> Array:
    """The convolution, plus a vector (F,); groups follow from the channel counts of x and w."""
    *window, depth, filters = w.shape
    shape, is_product, is_everywhere = _outcome(x.shape, w.shape, tuple(strides), tuple(pads), tuple(dilations))
    if feeding is not None and not (is_product and is_everywhere):
        x, feeding = feeding.whole(), None
    for way in () if is_product else (winograd, winograd_lines):
        if way.suits(x, w, strides, pads, dilations):
            by_tiles = way.convolve(x, w, pads, finishing, summand)
            if by_tiles is not None:
                return by_tiles
    x = x if is_everywhere else pad(x, pads)
    result = np.empty(shape, x.dtype if x.dtype is w.dtype else np.result_type(x, w))
    finish = finishing(result) if finishing else None
    if not result.size or not w.size:
        result[...] = 0 if summand is None else summand
        return result
    if depth != x.shape[-1]:
        _convolve_groups(x, w, strides, dilations, result)
        if summand is not None:
            result += summand
    elif is_product:
        matrix, out = w.reshape(depth, filters), result.reshape(-1, filters)
        if feeding is not None:
            _multiply_fed(feeding, matrix, out, finish, summand)
        else:
            view = x if is_everywhere else x[(slice(None), *(slice(None, None, s) for s in strides))]
            _multiply_blocks(view.reshape(-1, depth), matrix, out, finish, summand)
        return result
    elif _adds_places(x, result, window, strides):
        _add_places(x, w, dilations, result, finish, summand)
        return result
    elif volumes.suits(x, w.shape, result, strides, dilations):
        volumes.convolve(x, w, result, finish, summand)
        return result
    elif line_products.suits(x, w.shape, result, strides, dilations):
        line_products.convolve(x, w, strides, dilations, result, finish, summand)
        return result
    else:
        _multiply_gathered(x, w, strides, dilations, result, finish, summand)
        return result
    if finish is not None:
        finish(slice(0, result.size // filters), slice(0, filters))
    return result


@functools.lru_cache(1024)
def _outcome(
    shape: tuple[int, ...],
    filter_shape: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[tuple[int, int], ...],
    dilations: tuple[int, ...],
) -> tuple[tuple[int, ...], bool, bool]:
    """(the result's shape, whether the window has one element, whether that is at every position and at no other)."""
    *window, depth, filters = filter_shape
    is_everywhere = all(s == 1 for s in strides) and not any(map(any, pads))
    is_product = math.prod(window) == 1 and depth == shape[-1]
    outputs = result_sizes(shape, window, strides, pads, dilations)
    return (shape[0], *outputs, filters), is_product, is_everywhere


def _multiply_blocks(a: Array, b: Array, out: Array, finish: Finish | None, summand: Array | None) -> None:
    """out = a @ b + summand by blocks of rows, or by ranges of columns where there are more of these."""
    (rows, columns), inner = out.shape, a.shape[1]
    workers = workers_for(out.size * (inner + (_FINISHING if finish else 0)))
    count = even(max(-(-out.size // BLOCK_ELEMENTS), 1), workers) if rows >= columns else workers
    if workers == 1 and (finish is None or count == 1):
        _multiply(a, b, out, summand)
        if finish is not None:
            finish(slice(0, rows), slice(0, columns))
        return

    def multiply(part: tuple[slice, slice]) -> None:
        some, channels = part
        _multiply(a[some], b[..., channels], out[some, channels], None if summand is None else summand[channels])
        if finish is not None:
            finish(some, channels)

    divide(multiply, product_parts(rows, columns, count), workers)


def _multiply_fed(feeding: Feeding, b: Array, out: Array, finish: Finish | None, summand: Array | None) -> None:
    """out = a @ b + summand, the rows of `a` made block by block right before; all of them first where they are few."""
    (rows, columns), inner = out.shape, len(b)
    workers = workers_for(out.size * (inner + (_FINISHING if finish else 0)) + feeding.work)
    count = even(max(-(-rows * max(columns, inner) // BLOCK_ELEMENTS), 1), workers)
    if count == 1 or rows < min(columns, _ROWS_OF_EACH * workers):
        _multiply_blocks(feeding.whole().reshape(rows, inner), b, out, finish, summand)
        return

    def multiply(some: slice) -> None:
        _multiply(feeding.make(some), b, out[some], summand)
        if finish is not None:
            finish(some, slice(0, columns))

    divide(multiply, feeding.parts(count), workers)


def product_rows(x: Array, w: Array, finish: FinishRows | None, summand: Array | None, feeding: Feeding | None) -> Feeding:
    """The convolution with a window of one element, w (1..., C, F), at every position, by its rows."""
    depth, filters = w.shape[-2:]
    matrix = w.reshape(depth, filters)
    given = x.reshape(-1, depth).__getitem__ if feeding is None else feeding.make

    def make(some: slice) -> Array:
        rows = given(some)
        out = np.empty((len(rows), filters), rows.dtype)
        _multiply(rows, matrix, out, summand)
        if finish is not None:
            finish(out, some.start)
        return out

    work = x.size * filters + (0 if feeding is None else feeding.work)
    return Feeding((*x.shape[:-1], filters), x.dtype, make, work, feeding is not None and feeding.by_lines)


def _multiply(a: Array, b: Array, out: Array, summand: Array | None) -> None:
    """out = a @ b + summand, which begins the sums where this saves more than calling BLAS takes.

    A `b` of three dimensions is the matrices of neighbouring columns of `a`.
    """
    if b.ndim == 3:
        _add_products(a, b, out, summand)
    elif summand is None or out.size <= _FEW_SUMS or rows_at_once_by(b):
        multiply(a, b, out)
        if summand is not None:
            add_vector(out, summand)
    else:
        out[...] = summand
        add_product(a, b, out, is_first=False)


def _add_products(a: Array, matrices: Array, out: Array, summand: Array | None) -> None:
    if summand is not None:
        out[...] = summand
    for i, (some, matrix) in enumerate(zip(cut(a.shape[1], len(matrices)), matrices)):
        add_product(a[:, some], matrix, out, summand is None and not i)


def _adds_places(x: Array, result: Array, window: Sequence[int], strides: Sequence[int]) -> bool:
    """True where products of single places of the window cost less than gathering windows."""
    if any(s != 1 for s in strides) or x.shape[-1] < FEWEST_CHANNELS or not x.flags.c_contiguous:
        return False
    if rows_at_once(math.prod(window) * x.shape[-1], result.shape[-1]):
        return False
    computed = math.prod(x.shape[2:-1]) / math.prod(result.shape[2:-1])
    return computed <= _MOST_LEFT_OUT and result.dtype.kind == "f" and math.prod(result.shape[1:-1]) >= result.shape[1]


def _add_places(
    x: Array, w: Array, dilations: Sequence[int], result: Array, finish: Finish | None, summand: Array | None
) -> None:
    """The convolution at stride 1, by blocks of lines of one image or, where there are more filters, by ranges of these."""
    *window, depth, filters = w.shape
    lines, *inner = x.shape[1:-1]
    pitch, kept = math.prod(inner), math.prod(result.shape[2:-1])
    starts = _place_starts(window, dilations, (lines, *inner))
    matrices = w.reshape(-1, depth, filters)
    images, out = x.reshape(x.shape[0], -1, depth), result.reshape(x.shape[0], result.shape[1], kept, filters)
    last = int(np.ravel_multi_index([n - 1 for n in result.shape[2:-1]], inner)) + 1 if inner else 1

    def add(part: tuple[int, slice, slice]) -> None:
        image, some, channels = part
        count, width = some.stop - some.start, channels.stop - channels.start
        in_place = kept == pitch and width == filters
        target = out[image, some] if in_place else np.empty((count, pitch, width), result.dtype)
        positions = (count - 1) * pitch + last
        flat = target.reshape(-1, width)[:positions]
        if summand is not None:
            flat[...] = summand[channels]
        is_first = summand is None
        for start, matrix in zip(starts, matrices):
            first = some.start * pitch + start
            add_product(images[image, first : first + positions], matrix[:, channels], flat, is_first)
            is_first = False
        if not in_place:
            cropped = target.reshape(count, *inner, width)
            result[image, some, ..., channels] = cropped[(slice(None), *map(slice, result.shape[2:-1]))]
        if finish is not None:
            finish(block_positions((slice(image, image + 1), some), result.shape), channels)

    workers = workers_for(result.size * w.size // filters)
    divide(add, list(_line_blocks(result.shape, pitch, workers)), workers)


def _place_starts(window: Sequence[int], dilations: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """The position in a padded image at which each place of the window first stands."""
    pitches = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    return [sum(map(math.prod, zip(place, dilations, pitches))) for place in offsets(window)]


def _line_blocks(shape: Sequence[int], pitch: int, workers: int) -> Iterator[tuple[int, slice, slice]]:
    """(image, lines, channels) of blocks of the result; at least one for each worker.

    BLAS copies all channels' filters for each block, so that few positions are left together.
    """
    images, lines, filters = shape[0], shape[1], shape[-1]
    most = max(BLOCK_ELEMENTS // max(pitch * filters, 1), 1)
    if images < workers and lines * pitch < filters:
        yield from itertools.product(range(images), [slice(0, lines)], cut(filters, workers))
        return
    parts = cut(lines, parts_of_each(images, lines, -(-lines // most), workers))
    yield from itertools.product(range(images), parts, [slice(0, filters)])


def _multiply_gathered(
    x: Array,
    w: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    result: Array,
    finish: Finish | None,
    summand: Array | None,
) -> None:
    """The convolution by gathered windows: each thread gathers its own, or all share them where they are few."""
    *window, depth, filters = w.shape
    is_taken_apart = w.size >= _LARGE_FILTER and result.size <= _FEW_POSITIONS * filters and not w.flags.c_contiguous
    matrix = w.reshape(-1, depth, filters) if is_taken_apart else w.reshape(-1, filters)
    gathered = _gathering(x, window, strides, dilations)
    blocks = _blocks(result.shape[:-1], w.size // filters, one_thread.share)
    if len(blocks) == 1:
        _multiply_blocks(gathered(blocks[0]), matrix, result.reshape(-1, filters), finish, summand)
        return

    def multiply(block: Block) -> None:
        _multiply(gathered(block), matrix, result[block].reshape(-1, filters), summand)
        if finish is not None:
            finish(block_positions(block, result.shape), slice(0, filters))

    divide(multiply, blocks)


def _gathering(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Callable[[Block], Array]:
    """From a block of the result to a matrix of its windows, (positions, window * C), of the padded x."""
    if _lies_in_planes(x, window, dilations):
        return Planes(x, window, strides).columns
    return gathered_windows(x, window, strides, dilations)


def _positions_of(x: Array) -> Callable[[Block], Array]:
    """The same of windows of one element."""
    return lambda block: x[block].reshape(-1, x.shape[-1])


def _lies_in_planes(x: Array, window: Sequence[int], dilations: Sequence[int]) -> bool:
    """True where windows are gathered by their columns, since a line of one has few numbers."""
    return window[-1] * x.shape[-1] < SHORTEST_RUN and all(d == 1 for d in dilations)


def _convolve_groups(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], result: Array) -> None:
    *window, depth, _ = w.shape
    groups = x.shape[-1] // depth
    matrix = _grouped_filter(w, groups)
    for index, columns in _gathered(x, window, strides, dilations):
        block = result[index]
        product = matmul(_grouped_columns(columns, groups, depth), matrix)
        block[...] = product.transpose(1, 0, 2).reshape(block.shape)


def convolve_filter_gradient(
    x: Array, grad: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the filter of `convolve(x, w)`, where `grad` is that for its result."""
    *window, depth, filters = filter_shape
    if winograd.suits_gradient(x, filter_shape, grad, strides, pads, dilations):
        by_tiles = winograd.filter_gradient(x, grad, pads)
        if by_tiles is not None:
            return by_tiles
    x = pad(x, pads)
    groups = x.shape[-1] // depth if depth else 1
    dtype = np.result_type(x, grad)
    if not groups or not x.size or not grad.size or not math.prod(filter_shape):
        return np.zeros(filter_shape, dtype)
    count = math.prod(window)
    if volumes.suits(x, filter_shape, grad, strides, dilations):
        return volumes.filter_gradient(x, grad, window)
    if line_products.suits_gradient(x, filter_shape, grad, strides, dilations):
        return line_products.filter_gradient(x, grad, window, strides, dilations)
    if groups == 1:
        return _ungrouped_filter_gradient(x, grad, window, strides, dilations).reshape(filter_shape)
    total = np.zeros((groups, count * depth, filters // groups), dtype)
    for index, columns in _gathered(x, window, strides, dilations):
        rows = grad[index].reshape(-1, groups, filters // groups).transpose(1, 0, 2)
        total += matmul(_grouped_columns(columns, groups, depth).transpose(0, 2, 1), rows)
    total = total.reshape(groups, count, depth, filters // groups).transpose(1, 2, 0, 3)
    return total.reshape(filter_shape)


def _ungrouped_filter_gradient(
    x: Array, grad: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """The windows' transpose @ grad, (window * C, F), each thread with windows that it gathers; x is padded.

    A small one is turned around, unless windows lie by their columns.
    """
    shape = math.prod(window) * x.shape[-1], grad.shape[-1]
    is_turned = columns_at_once(*shape) > 0
    if math.prod(window) == 1:
        view = x[(slice(None), *(slice(None, None, s) for s in strides))]
        if not is_turned:
            return matmul(view.reshape(-1, shape[0]).T, grad.reshape(-1, shape[1]))
        gathered = _positions_of(view)
    else:
        gathered = _gathering(x, window, strides, dilations)
        is_turned = is_turned and not _lies_in_planes(x, window, dilations)

    def add(block: Block, total: Array, is_first: bool) -> None:
        windows, rows = gathered(block), grad[block].reshape(-1, shape[1])
        first, second = (rows, windows) if is_turned else (windows, rows)
        add_long_product(first.T, second, total, is_first)

    shares = one_thread.available
    blocks = _blocks(grad.shape[:-1], shape[0], shares)
    total = ordered_sum(add, blocks, shares, shape[::-1] if is_turned else shape, np.result_type(x, grad))
    return np.ascontiguousarray(total.T) if is_turned else total


def _gathered(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], Array]]:
    """Blocks of windows as matrices (positions, window * C), with their index into the output."""
    if all(k == 1 for k in window):
        view = x[(slice(None), *(slice(None, None, s) for s in strides))]
        yield (slice(None),), view.reshape(-1, x.shape[-1])
        return
    gathered = gathered_windows(x, window, strides, dilations)
    positions = len(x), *output_sizes(x, window, strides, dilations)
    for index in _blocks(positions, math.prod(window) * x.shape[-1], 1):
        yield index, gathered(index)


@functools.lru_cache(1024)
def _blocks(positions: tuple[int, ...], width: int, workers: int) -> list[Block]:
    """(N, output...) cut into blocks of images, or of lines where one image is too large.

    Images are divided among the workers.
    """
    per_image = math.prod(positions[1:]) * width
    images, lines = positions[:2]
    most = BLOCK_ELEMENTS // max(per_image, 1)
    if most:
        return image_blocks(images, lines, min(even(-(-images // most), workers), images))
    rows = max(BLOCK_ELEMENTS // max(math.prod(positions[2:]) * width, 1), 1)
    return image_blocks(images, lines, images * parts_of_each(images, lines, -(-lines // rows), workers))


def _grouped_filter(w: Array, groups: int) -> Array:
    """(window..., depth, F) as (groups, window * depth, F / groups)."""
    filters = w.shape[-1]
    return w.reshape(-1, groups, filters // groups).transpose(1, 0, 2)


def _grouped_columns(columns: Array, groups: int, depth: int) -> Array:
    """(positions, window * groups * depth) as (groups, positions, window * depth)."""
    if groups == 1:
        return columns[np.newaxis]
    return columns.reshape(columns.shape[0], -1, groups, depth).transpose(2, 0, 1, 3).reshape(groups, columns.shape[0], -1)
