"""Padding and strided window views of channels-last arrays (N, spatial..., C)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..types.arrays import Array
from .work_division import cut

Pads = Sequence[tuple[int, int]]
Block = tuple[slice, slice]
"""Some images, and some lines of each: an index into (N, lines...)."""


def pad(x: Array, pads: Pads, value: Any = 0) -> Array:
    """Pad the spatial dimensions of `x`; negative amounts crop. Return `x` itself without padding."""
    if not any(any(p) for p in pads):
        return x
    firsts = [-before for before, _ in pads]
    return np.ascontiguousarray(placed(x, firsts, [1] * len(firsts), padded_sizes(x.shape[1:-1], pads), value))


def image_blocks(images: int, lines: int, count: int) -> list[Block]:
    """Return (images, lines) of about `count` blocks: of images, or of lines of an image where blocks are more than images."""
    if count <= images:
        return [(some, slice(0, lines)) for some in cut(images, max(count, 1))]
    parts = cut(lines, min(-(-count // images), lines)) if images else []
    return list(itertools.product([slice(i, i + 1) for i in range(images)], parts))


def block_positions(block: Block, shape: Sequence[int]) -> slice:
    """Return the positions of a block of `image_blocks`, among all of an array (N, spatial..., C) in a row."""
    images, lines = block
    line = math.prod(shape[2:-1])
    first = (images.start * shape[1] + lines.start) * line
    return slice(first, first + (images.stop - images.start) * (lines.stop - lines.start) * line)


def seen(x: Array, block: Block, reach: int, stride: int, pads: Pads, value: Any = 0) -> Array:
    """Return the padded input of a block of output lines, for windows of a length along the lines' axis."""
    images, lines = block
    firsts = [lines.start * stride - pads[0][0], *(-before for before, _ in pads[1:])]
    counts = [(lines.stop - 1 - lines.start) * stride + reach, *padded_sizes(x.shape[2:-1], pads[1:])]
    return placed(x[images], firsts, [1] * len(pads), counts, value)


def inside(first: int, step: int, count: int, size: int) -> tuple[slice, slice]:
    """Return the range of `count` positions, `step` apart, within an axis of `size`, and the range's slice of the axis."""
    # The first position that is not before the axis, rounded up for a negative `first`.
    start = max(-(first // step), 0)
    stop = max(min(count, (size - 1 - first) // step + 1), start)
    begin = first + start * step
    return slice(start, stop), slice(begin, begin + (stop - start) * step, step)


class Placing(NamedTuple):
    """The cut of `counts` positions of each spatial axis out of images of a size: see `placed`."""

    counts: tuple[int, ...]
    source: tuple[slice, ...]
    target: tuple[slice, ...] | None
    outside: tuple[tuple[slice, ...], ...]

    def of(self, x: Array, value: Any = 0) -> Array:
        """Return (N, counts..., C), with the value outside of x; a view where all positions lie in x."""
        source = x[self.source]
        if self.target is None:
            return source
        result = np.empty((len(x), *self.counts, x.shape[-1]), x.dtype)
        for index in self.outside:
            result[index] = value
        result[self.target] = source
        return result


@functools.lru_cache(1024)
def placing(sizes: tuple[int, ...], firsts: tuple[int, ...], steps: tuple[int, ...], counts: tuple[int, ...]) -> Placing:
    """Return the cut of `placed` for images of these sizes."""
    pairs = [inside(*axis) for axis in zip(firsts, steps, counts, sizes)]
    whole = slice(None)
    outside = [
        ((whole,) * axis + (part,))
        for axis, (within, _) in enumerate(pairs, 1)
        # The value fills the borders only: the inside is written once, by the copy of x.
        for part in (slice(within.start), slice(within.stop, None))
        if len(range(counts[axis - 1])[part])
    ]
    target = (whole, *(within for within, _ in pairs)) if outside else None
    return Placing(counts, (whole, *(part for _, part in pairs)), target, tuple(outside))


def placed(x: Array, firsts: Sequence[int], steps: Sequence[int], counts: Sequence[int], value: Any = 0) -> Array:
    """Cut (N, counts..., C) out of x: `counts` positions of each spatial axis, from `firsts` on; `value` outside of x.

    The result is a view where all positions lie in x.
    """
    return placing(x.shape[1:-1], tuple(firsts), tuple(steps), tuple(counts)).of(x, value)


def unpad(x: Array, pads: Pads) -> Array:
    """Return the view of a padded array without its padding."""
    return x[(slice(None), *(slice(b, n - a) for n, (b, a) in zip(x.shape[1:-1], pads)))]


def padded_sizes(sizes: Sequence[int], pads: Pads) -> list[int]:
    """Return the sizes of spatial dimensions with padding."""
    return [size + before + after for size, (before, after) in zip(sizes, pads)]


def output_size(size: int, window: int, stride: int, dilation: int) -> int:
    """Return the number of windows in a padded dimension."""
    return max((size - (window - 1) * dilation - 1) // stride + 1, 0)


def output_sizes(x: Array, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    """Return the number of windows along each spatial dimension of the padded array `x`."""
    return tuple(map(output_size, x.shape[1:-1], windows, strides, dilations))


def result_sizes(
    shape: Sequence[int], windows: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> tuple[int, ...]:
    """Return the number of windows along each spatial dimension of an array of this shape, (N, spatial..., C), before
    padding.
    """
    return tuple(map(output_size, padded_sizes(shape[1:-1], pads), windows, strides, dilations))


def window_view(x: Array, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Return all windows of the padded array: a view (N, output..., window..., C)."""
    return strided_windows(x, output_sizes(x, windows, strides, dilations), windows, strides, dilations)


def gathered_windows(
    x: Array, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Callable[[Any], Array]:
    """From an index of outputs (N, output...) of the padded array to a matrix of their windows, (positions, window * C)."""
    width = math.prod(windows) * x.shape[-1]
    if not x.flags.c_contiguous:
        view = window_view(x, windows, strides, dilations)
        return lambda index: view[index].reshape(-1, width)
    view_of = functools.partial(window_view, cells(x)) if dilations[-1] > 1 else functools.partial(_window_lines, x)
    lines = view_of(windows, strides, dilations)
    return lambda index: np.ascontiguousarray(lines[index]).view(x.dtype).reshape(-1, width)


def _window_lines(x: Array, windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Return a view (N, output..., window...) with a last axis of a single element: the bytes of a window's line.

    NumPy copies large elements in less time than their few numbers.
    """
    form = _lines_form(x.shape, x.strides, x.itemsize, tuple(windows), tuple(strides), tuple(dilations))
    return np.ndarray(form.shape, form.line, x, 0, form.strides)


class _LinesForm(NamedTuple):
    """Shape, element and strides, in bytes, of `_window_lines`."""

    shape: tuple[int, ...]
    line: np.dtype[Any]
    strides: tuple[int, ...]


@functools.lru_cache(1024)
def _lines_form(
    shape: tuple[int, ...],
    bytes_on: tuple[int, ...],
    itemsize: int,
    windows: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> _LinesForm:
    outputs = tuple(map(output_size, shape[1:-1], windows, strides, dilations))
    # With contiguous channels, a window's line is one run of bytes, which NumPy copies as one element.
    line = np.dtype((np.void, windows[-1] * shape[-1] * itemsize))
    steps = bytes_on[1:-1]
    places = jumps(steps[:-1], dilations[:-1], windows[:-1])
    every = (bytes_on[0], *jumps(steps, strides, outputs), *places, line.itemsize)
    return _LinesForm((shape[0], *outputs, *windows[:-1], 1), line, every)


def strided_windows(
    x: Array, outputs: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """Return the view (N, output..., window..., C) of `outputs` windows, which must lie within the array."""
    steps = x.strides[1:-1]
    bytes_on = (x.strides[0], *jumps(steps, strides, outputs), *jumps(steps, dilations, windows), x.strides[-1])
    shape = (x.shape[0], *outputs, *windows, x.shape[-1])
    # Windows overlap in memory: a write through one would change others.
    return np.lib.stride_tricks.as_strided(x, shape, bytes_on, writeable=False)


def cells(x: Array) -> Array:
    """Return a view (..., 1) with all channels of a position as an element: NumPy copies few channels in half the time."""
    return x.view(np.dtype((np.void, x.shape[-1] * x.itemsize)))


def bounded(strides: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Bound strides by the padded dimensions: a longer stride leaves a single window just as well."""
    return [min(stride, max(size, 1)) for stride, size in zip(strides, sizes)]


def jumps(steps: Sequence[int], strides: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Return byte strides over `counts` steps of each dimension; 0 for a single step, whose stride may have any size."""
    return [step * stride if count > 1 else 0 for step, stride, count in zip(steps, strides, counts)]


def offsets(windows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Return the places in a window, the last dimension fastest."""
    return itertools.product(*map(range, windows))


def offset_index(
    offset: Sequence[int], outputs: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[slice, ...]:
    """Return the index of a padded array that selects, for every window, the element at a place of the window."""
    starts = [place * dilation for place, dilation in zip(offset, dilations)]
    ends = [start + (n - 1) * stride + 1 if n else start for start, n, stride in zip(starts, outputs, strides)]
    return slice(None), *map(slice, starts, ends, strides)
