"""Convolution of channels-last arrays of any spatial rank, as matrix products.

x is (N, spatial..., C), a filter (window..., C / groups, F), the result (N, output..., F). `pads` are (before, after) of
each spatial dimension. `WAYS` is the table of the algorithms: `convolve` takes the first suitable algorithm.

Threads take blocks of the result that stay in their caches. `epilogue` finishes a block: given the empty result, the
function returns a function of a range of positions and a range of channels. A `bias`, a vector (F,), is the initial
value of the sums.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..support import dataclasses
from . import winograd
from .blas_threads import one_thread
from .gemm import add_long_product, add_product, columns_at_once, matmul, multiply, rows_at_once_by
from .windows import (
    Array,
    Block,
    Pads,
    block_positions,
    gathered_windows,
    image_blocks,
    output_sizes,
    pad,
    result_sizes,
)
from .work_division import (
    BLOCK_ELEMENTS,
    ELEMENT_WORK,
    cut,
    divide,
    even,
    ordered_sum,
    parts_of_each,
    product_parts,
    workers_for,
)

_FEW_SUMS: Final = 1 << 16
"""The largest number of elements of a product where adding a vector costs least after the product."""
LARGE_FILTER: Final = 1 << 19
"""The least number of elements of a transposed filter where a product for each place of the window takes less time than a
copy of the filter.
"""
FEW_POSITIONS: Final = 128
"""The largest number of positions where a product for each place of a large filter takes less time than a copy of the
filter.
"""
Finish = Callable[[slice, slice], object]
Epilogue = Callable[[Array], Finish | None]


@dataclasses.dataclass(slots=True)
class Convolution:
    """A convolution to compute: the operands, and the shape and dtype of the result."""

    x: Array
    w: Array
    strides: Sequence[int]
    pads: Pads
    dilations: Sequence[int]
    epilogue: Epilogue | None
    bias: Array | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def padded(self) -> Array:
        """Return the operand x with its padding."""
        return pad(self.x, self.pads)

    def empty_result(self) -> tuple[Array, Finish | None]:
        """Return the result before the computation, and the epilogue of its blocks."""
        result = np.empty(self.shape, self.dtype)
        return result, self.epilogue(result) if self.epilogue else None

    def finish_whole(self, result: Array, finish: Finish | None) -> Array:
        """Return the result, finished at once; the bias is added before."""
        if self.bias is not None:
            result += self.bias
        if finish is not None:
            finish(slice(0, result.size // max(result.shape[-1], 1)), slice(0, result.shape[-1]))
        return result


class Way(NamedTuple):
    """An algorithm for convolution. `run` returns None if the algorithm meets numbers that break its arithmetic."""

    name: str
    suits: Callable[[Convolution], bool]
    run: Callable[[Convolution], Array | None]


def convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    epilogue: Epilogue | None = None,
    bias: Array | None = None,
) -> Array:
    """Compute a convolution, plus a vector (F,), by the first way that suits; C and the filter tell the number of groups."""
    shape = result_shape(x.shape, w.shape, tuple(strides), tuple(pads), tuple(dilations))
    # np.result_type takes longer than a small convolution has to spare, and dtypes of NumPy are the same object in nearly all
    # calls.
    dtype = x.dtype if x.dtype is w.dtype else np.result_type(x, w)
    convolution = Convolution(x, w, strides, pads, dilations, epilogue, bias, shape, dtype)
    for way in WAYS:
        if way.suits(convolution):
            result = way.run(convolution)
            # Winograd's tiles return nothing for numbers that are not finite, which they would spread to their neighbours.
            if result is not None:
                return result
    raise AssertionError("the last way suits every convolution")


@functools.lru_cache(1024)
def result_shape(
    shape: tuple[int, ...],
    filter_shape: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[tuple[int, int], ...],
    dilations: tuple[int, ...],
) -> tuple[int, ...]:
    *window, _, filters = filter_shape
    return shape[0], *result_sizes(shape, window, strides, pads, dilations), filters


def _fill_empty(c: Convolution) -> Array:
    """Fill the result with the bias, or zeros, where nothing is multiplied."""
    result, _ = c.empty_result()
    result[...] = 0 if c.bias is None else c.bias
    return result


def _convolve_groups(c: Convolution) -> Array:
    """Gather windows (im2col), and multiply each group of channels by itself."""
    result, finish = c.empty_result()
    *window, depth, filters = c.w.shape
    groups = c.x.shape[-1] // depth
    # The filters of a group are neighbours in the last dimension, so a group's matrix is a range of columns.
    matrix = c.w.reshape(-1, groups, filters // groups).transpose(1, 0, 2)
    for index, columns in _gathered(c.padded(), window, c.strides, c.dilations):
        block = result[index]
        product = matmul(_grouped_columns(columns, groups, depth), matrix)
        block[...] = product.transpose(1, 0, 2).reshape(block.shape)
    return c.finish_whole(result, finish)


def _convolve_positions(c: Convolution) -> Array:
    """Multiply positions by the filter, for a window of a single element: the convolution is a single product."""
    result, finish = c.empty_result()
    depth, filters = c.w.shape[-2:]
    matrix, out = c.w.reshape(depth, filters), result.reshape(-1, filters)
    # A window of one element needs no gathering: the strided view has all windows, and reshape copies it only for strides
    # above 1.
    view = c.padded()[(slice(None), *(slice(None, None, s) for s in c.strides))]
    _multiply_blocks(view.reshape(-1, depth), matrix, out, finish, c.bias)
    return result


def _convolve_tiles(c: Convolution) -> Array | None:
    """Multiply transformed tiles (Winograd), for windows of 3 x 3 over many channels; all numbers must be finite."""
    return winograd.convolve(c.x, c.w, c.pads, c.epilogue, c.bias)


def _convolve_windows(c: Convolution) -> Array:
    """Gather windows as the rows of a matrix (im2col, Chellapilla et al. 2006), and multiply the matrix by the filter.

    Each thread gathers its own windows, or all threads share the windows where there are few.
    """
    result, finish = c.empty_result()
    *window, depth, filters = c.w.shape
    # A filter that is not contiguous, as the flipped one of a gradient, would be copied by the reshape below; its matrices
    # for single places of the window are views.
    is_taken_apart = c.w.size >= LARGE_FILTER and result.size <= FEW_POSITIONS * filters and not c.w.flags.c_contiguous
    matrix = c.w.reshape(-1, depth, filters) if is_taken_apart else c.w.reshape(-1, filters)
    gathered = gathered_windows(c.padded(), window, c.strides, c.dilations)
    blocks = output_blocks(c.shape[:-1], c.w.size // filters, one_thread.share)
    # With a single block the threads share the product, not the gathering.
    if len(blocks) == 1:
        _multiply_blocks(gathered(blocks[0]), matrix, result.reshape(-1, filters), finish, c.bias)
        return result

    def multiply(block: Block) -> None:
        _multiply(gathered(block), matrix, result[block].reshape(-1, filters), c.bias)
        if finish is not None:
            finish(block_positions(block, result.shape), slice(0, filters))

    divide(multiply, blocks)
    return result


WAYS: Final = (
    Way("nothing", lambda c: not math.prod(c.shape) or not c.w.size, _fill_empty),
    # A filter of fewer input channels than the image has belongs to a group of channels, as in TensorFlow: no attribute says
    # so.
    Way("groups", lambda c: c.w.shape[-2] != c.x.shape[-1], _convolve_groups),
    Way("product", lambda c: math.prod(c.w.shape[:-2]) == 1, _convolve_positions),
    Way("Winograd's tiles", lambda c: winograd.suits(c.x, c.w, c.strides, c.pads, c.dilations), _convolve_tiles),
    Way("gathered windows", lambda c: True, _convolve_windows),
)


def _listed() -> str:
    """Return the algorithms as a list for a docstring, each with the first line of its function's docstring."""
    return "\n".join(f"- {way.name}: {(way.run.__doc__ or '').splitlines()[0]}" for way in WAYS)


if __doc__:  # not under python -OO
    __doc__ = f"{__doc__}\nThe ways are:\n\n{_listed()}\n"


def _multiply_blocks(a: Array, b: Array, out: Array, finish: Finish | None, bias: Array | None) -> None:
    """Compute out = a @ b + bias by blocks of rows, or by ranges of columns where columns are more numerous."""
    (rows, columns), inner = out.shape, a.shape[1]
    workers = workers_for(out.size * (inner + (ELEMENT_WORK if finish else 0)))
    count = even(max(-(-out.size // BLOCK_ELEMENTS), 1), workers) if rows >= columns else workers
    if workers == 1 and (finish is None or count == 1):
        _multiply(a, b, out, bias)
        if finish is not None:
            finish(slice(0, rows), slice(0, columns))
        return

    def multiply(part: tuple[slice, slice]) -> None:
        some, channels = part
        _multiply(a[some], b[..., channels], out[some, channels], None if bias is None else bias[channels])
        if finish is not None:
            finish(some, channels)

    divide(multiply, product_parts(rows, columns, count), workers)


def _multiply(a: Array, b: Array, out: Array, bias: Array | None) -> None:
    """Compute out = a @ b + bias; the sums begin with the bias where that saves more than calling BLAS takes.

    A `b` of three dimensions holds the matrices for neighbouring columns of `a`.
    """
    if b.ndim == 3:
        _add_products(a, b, out, bias)
    elif bias is None or out.size <= _FEW_SUMS or rows_at_once_by(b):
        multiply(a, b, out)
        if bias is not None:
            out += bias
    else:
        out[...] = bias
        # BLAS adds to what the result holds (beta = 1), which saves a pass over a large result.
        add_product(a, b, out, is_first=False)


def _add_products(a: Array, matrices: Array, out: Array, bias: Array | None) -> None:
    if bias is not None:
        out[...] = bias
    for i, (some, matrix) in enumerate(zip(cut(a.shape[1], len(matrices)), matrices)):
        add_product(a[:, some], matrix, out, bias is None and not i)


def convolve_filter_gradient(
    x: Array, grad: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the gradient of `convolve(x, w)` for the filter; `grad` is the gradient of the result."""
    *window, depth, filters = filter_shape
    x = pad(x, pads)
    groups = x.shape[-1] // depth if depth else 1
    dtype = np.result_type(x, grad)
    if not groups or not x.size or not grad.size or not math.prod(filter_shape):
        return np.zeros(filter_shape, dtype)
    count = math.prod(window)
    # The usual case; groups need a product for each, over all blocks, so their totals are kept side by side.
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
    """Return the windows' transpose @ grad, (window * C, F), each thread with its own gathered windows; x is padded.

    A small product is computed transposed.
    """
    shape = math.prod(window) * x.shape[-1], grad.shape[-1]
    is_turned = columns_at_once(*shape) > 0
    if math.prod(window) == 1 and not is_turned:
        view = x[(slice(None), *(slice(None, None, s) for s in strides))]
        return matmul(view.reshape(-1, shape[0]).T, grad.reshape(-1, shape[1]))
    gathered = gathered_windows(x, window, strides, dilations)

    def add(block: Block, total: Array, is_first: bool) -> None:
        windows, rows = gathered(block), grad[block].reshape(-1, shape[1])
        first, second = (rows, windows) if is_turned else (windows, rows)
        add_long_product(first.T, second, total, is_first)

    shares = one_thread.available
    blocks = output_blocks(grad.shape[:-1], shape[0], shares)
    total = ordered_sum(add, blocks, shares, shape[::-1] if is_turned else shape, np.result_type(x, grad))
    # The caller reshapes the gradient to the filter's shape, in which the output channels are last.
    return np.ascontiguousarray(total.T) if is_turned else total


def _gathered(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], Array]]:
    """Yield blocks of windows as matrices (positions, window * C), with their index into the output."""
    if all(k == 1 for k in window):
        view = x[(slice(None), *(slice(None, None, s) for s in strides))]
        yield (slice(None),), view.reshape(-1, x.shape[-1])
        return
    gathered = gathered_windows(x, window, strides, dilations)
    positions = len(x), *output_sizes(x, window, strides, dilations)
    for index in output_blocks(positions, math.prod(window) * x.shape[-1], 1):
        yield index, gathered(index)


@functools.lru_cache(1024)
def output_blocks(positions: tuple[int, ...], width: int, workers: int) -> list[Block]:
    """Cut (N, output...) into blocks of images, or of lines where a single image is too large.

    Images are divided among the workers.
    """
    per_image = math.prod(positions[1:]) * width
    images, lines = positions[:2]
    most = BLOCK_ELEMENTS // max(per_image, 1)
    if most:
        return image_blocks(images, lines, min(even(-(-images // most), workers), images))
    # Not even one image fits: then a block is as many lines of an image as fit.
    rows = max(BLOCK_ELEMENTS // max(math.prod(positions[2:]) * width, 1), 1)
    return image_blocks(images, lines, images * parts_of_each(images, lines, -(-lines // rows), workers))


def _grouped_columns(columns: Array, groups: int, depth: int) -> Array:
    """Return (positions, window * groups * depth) as (groups, positions, window * depth)."""
    return columns.reshape(columns.shape[0], -1, groups, depth).transpose(2, 0, 1, 3).reshape(groups, columns.shape[0], -1)
