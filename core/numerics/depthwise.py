"""Depthwise convolution of channels-last arrays of any spatial rank, and its gradients.

x is (N, spatial..., C), a filter (window..., C, M), the result (N, output..., C * M): each channel has M filters of its
own.

`benchmarks/__main__.py` measures the thresholds here: MobileNetV2, LeNet momentum step.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from .channel_sums import column_sums
from .convolution import Epilogue, Finish, result_shape
from .input_gradient import filled_phases, transposed_pads
from .weak_cache import cached_for_constant
from .windows import (
    Array,
    Pads,
    Placing,
    image_blocks,
    jumps,
    offset_index,
    offsets,
    pad,
    padded_sizes,
    placing,
    result_sizes,
    unpad,
)
from .work_division import BLOCK_ELEMENTS, ELEMENT_WORK, TILE_ELEMENTS, divide, even, workers_for

_LINE: Final = 1024
"""Numbers of a contiguous line with the least cost per number in NumPy's loops, short enough to stay in cache."""
_WIDE: Final = 128
"""The least number of channels where lines of single positions cost less than laying positions side by side."""


def depthwise_convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    epilogue: Epilogue | None = None,
) -> Array:
    """Return the convolution; `epilogue` as for `convolution.convolve`."""
    *window, channels, multiplier = w.shape
    shape = result_shape(x.shape, (*window, 1, channels * multiplier), tuple(strides), tuple(pads), tuple(dilations))
    result = np.empty(shape, x.dtype if x.dtype is w.dtype else np.result_type(x, w))
    # The path by lines multiplies a line by a repeated filter, so each output channel must have one input channel; einsum has
    # vector loops for these dtypes.
    goes_by_lines = multiplier == 1 and result.size and w.size and result.dtype in (np.float32, np.float64)
    finish = epilogue(result) if epilogue else None
    if goes_by_lines:
        _sum_lines(x, w, strides, pads, dilations, result, finish)
        return result
    outputs = result.shape[1:-1]
    result[...] = 0
    _add_products(pad(x, pads), w, strides, dilations, result.reshape(*result.shape[:-1], channels, multiplier))
    if finish is not None:
        finish(slice(0, x.shape[0] * math.prod(outputs)), slice(0, channels * multiplier))
    return result


def _sum_lines(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    result: Array,
    finish: Finish | None,
) -> None:
    """Fill the result by blocks of lines that stay in a cache together with their input."""
    if len(pads) == 1:  # a 1-D convolution is a 2-D convolution of a single line
        arguments = (x[:, np.newaxis], w[np.newaxis], [1, *strides], [(0, 0), *pads], [1, *dilations], result[:, np.newaxis])
        _sum_lines(*arguments, finish)
        return
    sums = _sums_of(x, w.shape[:-2], strides, pads, dilations)
    filters = sums.filters(w)
    folded = result.reshape(sums.folded)
    workers = workers_for(_work(result.size, w.shape[:-2]))
    count = even(-(-max(result.size, x.size) // BLOCK_ELEMENTS), workers)

    def fill(block: _Block) -> None:
        sums.fill(block, sums.placed(block, x), filters, folded[block.images, block.lines])
        if finish is not None:
            finish(block.positions, slice(0, x.shape[-1]))

    divide(fill, sums.blocks(count), workers)


def _sums_of(x: Array, window: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> _LineSums:
    return _line_sums(x.shape, tuple(window), tuple(strides), tuple(map(tuple, pads)), tuple(dilations))


def _work(size: int, window: Sequence[int]) -> int:
    """Return the number of a product's multiply-adds that take as long as `size` results."""
    return size * math.prod(window) * ELEMENT_WORK


class _Block(NamedTuple):
    """A block of the result: lines of images, their positions in a row, and the views of the input.

    The views have shapes and strides in elements, of the padded copies that `placings` cut out of the input's lines `seen`.
    """

    images: slice
    lines: slice
    positions: slice
    seen: slice
    placings: tuple[Placing, ...]
    views: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


class _LineSums:
    """The sum over the window of the input's windows times the filter, which is repeated for several positions of a line.

    With a stride along lines, the positions under a single place of the window are laid side by side before: the input in
    phases. Each block's input is padded by itself.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        window: Sequence[int],
        strides: tuple[int, ...],
        pads: Pads,
        dilations: Sequence[int],
    ) -> None:
        images, *sizes, channels = shape
        self.shape, self.pads, self.dilations = shape, pads, dilations
        self.padded = padded_sizes(sizes, pads)
        outputs = result_sizes(shape, window, strides, pads, dilations)
        # At a stride with many channels a line of one position is long enough; laying positions side by side would need a
        # copy for each phase.
        is_narrow = strides[-1] == 1 or (dilations[-1] == 1 and channels < _WIDE)
        self.fold = _fold(outputs[-1], channels) if is_narrow else 1
        self.step = strides[-1] if self.fold > 1 else 1
        self.strides = [*strides[:-1], strides[-1] // self.step]
        self.windows = [
            (*window[:-1], len(range(phase, window[-1], self.step))) for phase in range(min(self.step, window[-1]))
        ]
        self.folded = (images, *outputs[:-1], outputs[-1] // self.fold, self.fold * channels)
        self.blocks = functools.lru_cache(4)(self._blocks)
        self.axes, self.gradient_axes = _axes(len(window))

    def filters(self, w: Array) -> list[Array]:
        """Return a filter (window..., C, 1) for each phase, repeated."""
        # Nothing is repeated then, and nothing need be cached.
        if self.fold == 1:
            return [w[..., 0]]
        return cached_for_constant(w, ("lines", self.fold, self.step), self._repeated)

    def _repeated(self, w: Array) -> list[Array]:
        phases = [w[..., phase :: self.step, :, 0] for phase in range(len(self.windows))]
        return [np.repeat(w[..., np.newaxis, :], self.fold, -2).reshape(*w.shape[:-1], -1) for w in phases]

    def _placings(self, first: int, lines: int, available: int) -> tuple[Placing, ...]:
        """Return for each phase the cut of `lines` padded lines, from `first` on, out of `available` lines."""
        firsts = [first, *(-before for before, _ in self.pads[1:])]
        steps = (1,) * (len(firsts) - 1) + (self.step,)
        counts = [lines, *self.padded[1:]]
        return tuple(
            placing(
                (available, *self.shape[2:-1]),
                (*firsts[:-1], firsts[-1] + phase),
                steps,
                (*counts[:-1], len(range(phase, counts[-1], self.step))),
            )
            for phase in range(len(self.windows))
        )

    def _blocks(self, count: int) -> list[_Block]:
        """Return about `count` blocks of the result."""
        return [self._block(*block) for block in image_blocks(self.folded[0], self.folded[1], count)]

    def _block(self, images: slice, lines: slice) -> _Block:
        first, last = images.start * self.folded[1] + lines.start, (images.stop - 1) * self.folded[1] + lines.stop
        per_line = math.prod(self.folded[2:]) // self.shape[-1]
        reach = (lines.stop - lines.start - 1) * self.strides[0] + (self.windows[0][0] - 1) * self.dilations[0] + 1
        above = lines.start * self.strides[0] - self.pads[0][0]
        seen = slice(min(max(above, 0), self.shape[1]), min(max(above + reach, 0), self.shape[1]))
        placings = self._placings(above - seen.start, reach, seen.stop - seen.start)
        sizes = (images.stop - images.start, lines.stop - lines.start, *self.folded[2:-1])
        views = tuple(self._view(sizes, placing.counts, window) for placing, window in zip(placings, self.windows))
        positions = slice(first * per_line, last * per_line)
        return _Block(images, lines, positions, seen, placings, views)

    def _view(
        self, sizes: tuple[int, ...], counts: Sequence[int], window: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return shape and strides of (sizes..., window..., fold * C): windows along contiguous lines, next to each other."""
        # The distances in elements from one image, line and position of the padded copy to the next.
        pitches = [math.prod(counts[i:]) * self.shape[-1] for i in range(len(counts) + 1)]
        to_next = jumps(pitches[1:], (*self.strides[:-1], self.strides[-1] * self.fold), sizes[1:])
        places = jumps(pitches[1:], self.dilations, window)
        return (*sizes, *window, self.folded[-1]), (pitches[0], *to_next, *places, 1)

    def placed(self, block: _Block, x: Array) -> list[Array]:
        """Return a block's padded input, for each phase."""
        lines_seen = x[block.images, block.seen]
        return [np.ascontiguousarray(placing.of(lines_seen)) for placing in block.placings]

    def fill(self, block: _Block, seen: Sequence[Array], filters: Sequence[Array], out: Array) -> None:
        """Compute the lines of a block from the block's input."""
        for phase, (view, w) in enumerate(zip(_windows(block, seen), filters)):
            part = np.empty_like(out) if phase else out
            np.einsum(self.axes, view, w, out=part)
            if phase:
                np.add(out, part, out=out)

    def gather(self, block: _Block, seen: Sequence[Array], grad: Array, gradient: Array) -> None:
        """Compute the filter's gradient (window..., C) from the gradient of a block's lines and the block's input."""
        for phase, view in enumerate(_windows(block, seen)):
            part = np.einsum(self.gradient_axes, view, grad)
            gradient[..., phase :: self.step, :] = part.reshape(*part.shape[:-1], self.fold, -1).sum(-2)


def _windows(block: _Block, seen: Sequence[Array]) -> Iterator[Array]:
    """Yield the windows of a block, for each phase: (images, lines, output..., windows..., fold * C)."""
    for array, (shape, strides) in zip(seen, block.views):
        yield np.ndarray(shape, array.dtype, array, 0, [array.itemsize * n for n in strides])


_line_sums = functools.lru_cache(256)(_LineSums)


def _axes(rank: int) -> tuple[str, str]:
    """Return einsum's axes for the sums of (N, output..., windows..., C) times (window..., C) over the window, in order,
    and times (N, output..., C) over positions.
    """
    outputs, window = "abcdefgh"[: rank + 1], "rstuvwxyz"[:rank]
    return f"{outputs}{window}k,{window}k->{outputs}k", f"{outputs}{window}k,{outputs}k->{window}k"


def _fold(positions: int, channels: int) -> int:
    """Return a divisor of a line's positions that makes lines of about _LINE numbers."""
    divisors = [n for n in range(1, min(positions, 2 * _LINE) + 1) if positions % n == 0]
    return min(divisors, key=lambda n: abs(math.log(n * channels / _LINE)))


def _add_products(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], result: Array) -> None:
    """Add to a result (N, output..., C, M), place by place of the window."""
    outputs = result.shape[1:-2]
    for image in _images(result):
        image = slice(image.start, image.stop)
        total = result[image]
        # One array for the products of all places of the window: it stays in the cache with `total`.
        part = np.empty_like(total)
        for offset in offsets(w.shape[:-2]):
            shifted = x[image][offset_index(offset, outputs, strides, dilations)]
            np.multiply(shifted[..., np.newaxis], w[offset], out=part)
            total += part


def depthwise_input_gradient(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the gradient for the input of `depthwise_convolve`."""
    *window, channels, multiplier = w.shape
    if multiplier == 1 and all(stride == 1 for stride in strides):
        return _convolve_transposed(grad, w, input_shape, pads, dilations)
    if multiplier == 1 and all(dilation == 1 for dilation in dilations):
        of_phase = functools.partial(_convolve_transposed, grad, dilations=dilations)
        return filled_phases(of_phase, np.result_type(grad, w), w, input_shape, strides, pads)
    grad = grad.reshape(*grad.shape[:-1], channels, multiplier)
    result = np.zeros((input_shape[0], *padded_sizes(input_shape[1:-1], pads), channels), np.result_type(grad, w))
    for image in _images(grad):
        for offset in offsets(window):
            part = grad[image][..., 0] * w[offset][:, 0] if multiplier == 1 else (grad[image] * w[offset]).sum(-1)
            result[image][offset_index(offset, grad.shape[1:-2], strides, dilations)] += part
    return unpad(result, pads)


def _convolve_transposed(grad: Array, w: Array, input_shape: Sequence[int], pads: Pads, dilations: Sequence[int]) -> Array:
    """Return the input gradient at stride 1 for a single filter per channel: a convolution with the filter flipped in
    space.
    """
    flipped = w[(slice(None, None, -1),) * len(pads)]
    around = transposed_pads(input_shape[1:-1], grad.shape[1:-1], w.shape[:-2], pads, dilations)
    return depthwise_convolve(grad, flipped, (1,) * len(pads), around, dilations)


def depthwise_filter_gradient(
    x: Array, grad: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the gradient for the filter of `depthwise_convolve`."""
    *window, channels, multiplier = filter_shape
    is_empty = not grad.size or not math.prod(filter_shape)
    is_simple = multiplier == 1 and len(window) > 1 and x.dtype == grad.dtype in (np.float32, np.float64)
    if is_simple and x.size and not is_empty:
        return _line_gradients(x, grad, window, strides, pads, dilations)[..., np.newaxis]
    x = pad(x, pads)
    parts = list(_images(grad))
    partial = (np.zeros if is_empty else np.empty)((len(parts), *filter_shape), np.result_type(x, grad))

    def add(number: int) -> None:
        part = grad[parts[number]].reshape(-1, *grad.shape[1:-1], channels, *((multiplier,) if multiplier != 1 else ()))
        products = np.empty(part.shape, partial.dtype)
        for offset in offsets(window):
            shifted = x[parts[number]][offset_index(offset, grad.shape[1:-1], strides, dilations)]
            np.multiply(shifted if multiplier == 1 else shifted[..., np.newaxis], part, out=products)
            partial[(number, *offset)] = column_sums(products.reshape(-1, channels * multiplier)).reshape(channels, multiplier)

    if not is_empty:
        divide(add, range(len(parts)))
    return partial.sum(0)


def _line_gradients(
    x: Array, grad: Array, window: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the gradient (window..., C) for the filter by blocks of lines, as `_sum_lines`; the sizes alone fix the number
    of blocks.
    """
    sums = _sums_of(x, window, strides, pads, dilations)
    folded = grad.reshape(sums.folded)
    # The number of blocks does not depend on the number of threads: the partial sums, and their rounding, are the same on
    # every machine.
    blocks = sums.blocks(-(-max(grad.size, x.size) // TILE_ELEMENTS))
    workers = workers_for(_work(grad.size, window))
    partial_sums = np.empty((len(blocks), *window, x.shape[-1]), x.dtype)

    def gather(number: int) -> None:
        block = blocks[number]
        # Each block writes a row of its own, so that threads share no total.
        sums.gather(block, sums.placed(block, x), folded[block.images, block.lines], partial_sums[number])

    divide(gather, range(len(blocks)), workers)
    return partial_sums.sum(0)


def _images(array: Array) -> Iterator[slice]:
    """Yield slices of the batch whose elements stay in the processor's cache."""
    size = max(array[:1].size, 1)
    step = max((1 << 17) // size, 1)
    return (slice(start, start + step) for start in range(0, array.shape[0], step))
