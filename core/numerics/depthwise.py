"""Depthwise convolution of channels-last arrays of any spatial rank, and its gradients.

x is (N, spatial..., C), a filter (window..., C, M), the result (N, output..., C * M): each channel has M filters of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from .convolution import Finish, Finishing
from .input_gradient import transposed_pads
from .products import divide
from .sums import column_sums
from .threads import one_thread
from .windows import Array, Pads, image_blocks, offset_index, offsets, output_size, pad, placed, unpad

_LINE: Final = 1024
"""NumPy multiplies and adds along lines of contiguous numbers: about so many cost least for each, and still stay in cache."""
_WIDE: Final = 128
"""Channels from which on a line of single positions costs less than laying them side by side."""
_WORTH_DIVIDING: Final = 1 << 19
"""Multiply-adds from which on threads share the lines of the result."""
_BLOCK: Final = 1 << 18
"""Elements of a block of the result or of what it sees."""
_PARTS: Final = 2
"""Parts for each thread."""


def depthwise_convolve(
    x: Array,
    w: Array,
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    finishing: Finishing | None = None,
) -> Array:
    """The convolution; `finishing` as for `convolution.convolve`."""
    *window, channels, multiplier = w.shape
    sizes = [n + before + after for n, (before, after) in zip(x.shape[1:-1], pads)]
    outputs = tuple(map(output_size, sizes, window, strides, dilations))
    result = np.empty((x.shape[0], *outputs, channels * multiplier), np.result_type(x, w))
    finish = finishing(result) if finishing else None
    if multiplier == 1 and result.size and w.size and result.dtype in (np.float32, np.float64):
        if x.size <= _BLOCK:
            x, pads = pad(x, pads), [(0, 0)] * len(pads)
        _sum_lines(x, w[..., 0], strides, pads, dilations, result, finish)
        return result
    result[...] = 0
    _add_products(pad(x, pads), w, strides, dilations, result.reshape(*result.shape[:-1], channels, multiplier))
    if finish is not None:
        finish(slice(0, x.shape[0] * math.prod(outputs)), slice(0, channels * multiplier))
    return result


def _sum_lines(
    x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int], result: Array, finish: Finish | None
) -> None:
    """Fill the result by blocks of lines that stay in a cache with what they see."""
    if len(pads) == 1:  # one line of an image
        given = (x[:, np.newaxis], w[np.newaxis], [1, *strides], [(0, 0), *pads], [1, *dilations], result[:, np.newaxis])
        _sum_lines(*given, finish)
        return
    sums = _LineSums(x, w, strides, pads, dilations, result)
    images, lines, *inner, channels = result.shape
    per_line = math.prod(inner)
    count = -(-max(result.size, x.size) // _BLOCK)
    if result.size * math.prod(w.shape[:-1]) >= _WORTH_DIVIDING:
        count = max(count, _PARTS * one_thread.share)

    def fill(block: tuple[slice, slice]) -> None:
        sums.fill(*block)
        if finish is not None:
            first, last = block[0].start * lines + block[1].start, (block[0].stop - 1) * lines + block[1].stop
            finish(slice(first * per_line, last * per_line), slice(0, channels))

    divide(fill, image_blocks(images, lines, count))


class _LineSums:
    """The sum over the window of the input's windows times the filter, which is repeated for several positions of a line.

    With a stride along lines, the positions that one place of the window meets are laid side by side before.
    """

    def __init__(
        self, x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int], result: Array
    ) -> None:
        channels, last = result.shape[-1], result.shape[-2]
        self.x, self.befores, self.dilations = x, [before for before, _ in pads], dilations
        is_narrow = strides[-1] == 1 or (dilations[-1] == 1 and channels < _WIDE)
        self.fold = _fold(last, channels) if is_narrow else 1
        step = strides[-1] if self.fold > 1 else 1
        self.steps = [1] * (len(pads) - 1) + [step]
        self.strides = [*strides[:-1], strides[-1] // step]
        self.filters = [self._repeated(w[..., phase::step, :]) for phase in range(min(step, w.shape[-2]))]
        self.result = result.reshape(*result.shape[:-2], last // self.fold, self.fold * channels)

    def _repeated(self, w: Array) -> Array:
        return np.repeat(w[..., np.newaxis, :], self.fold, -2).reshape(*w.shape[:-1], -1)

    def fill(self, images: slice, lines: slice) -> None:
        """Compute some lines of some images."""
        out = self.result[images, lines]
        for phase, filters in enumerate(self.filters):
            view = self._windows(images, lines, phase, filters.shape[:-1])
            part = np.empty_like(out) if phase else out
            _sum_windows(view, filters, part)
            if phase:
                np.add(out, part, out=out)

    def _windows(self, images: slice, lines: slice, phase: int, window: Sequence[int]) -> Array:
        """What these places of the window meet, `_folded`."""
        shape = (images.stop - images.start, lines.stop - lines.start, *self.result.shape[2:-2])
        shape = (*shape, self.result.shape[-2] * self.fold, self.x.shape[-1])
        firsts = [-before for before in self.befores]
        firsts[0] += lines.start * self.strides[0]
        firsts[-1] += phase
        reach = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(shape[1:], self.strides, window, self.dilations)]
        seen = placed(self.x[images], firsts, self.steps, reach)
        if self.fold > 1 and seen.strides[-2:] != (seen.shape[-1] * seen.itemsize, seen.itemsize):
            seen = np.ascontiguousarray(seen)
        return _folded(seen, shape, window, self.strides, self.dilations, self.fold)


def _fold(positions: int, channels: int) -> int:
    """A divisor of the positions of a line with which so many positions are about _LINE numbers."""
    divisors = [n for n in range(1, min(positions, 2 * _LINE) + 1) if positions % n == 0]
    return min(divisors, key=lambda n: abs(math.log(n * channels / _LINE)))


def _folded(
    x: Array, shape: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], fold: int
) -> Array:
    """A view (N, output..., last output / fold, window..., fold * C): windows along contiguous lines, next to each other."""
    *outer, last = shape[1:-1]
    steps = x.strides[1:-1]
    jumps = [step * stride for step, stride in zip(steps, strides)]
    jumps[-1] *= fold
    places = [step * dilation for step, dilation in zip(steps, dilations)]
    sizes = (shape[0], *outer, last // fold, *window, fold * shape[-1])
    return np.lib.stride_tricks.as_strided(x, sizes, (x.strides[0], *jumps, *places, x.strides[-1]), writeable=False)


def _sum_windows(view: Array, w: Array, out: Array) -> None:
    """Windows (output..., window..., C) times w (window..., C), summed over the window: one call, in the window's order."""
    inner = list(range(view.ndim - w.ndim, view.ndim))
    np.einsum(view, list(range(view.ndim)), w, inner, [*range(view.ndim - w.ndim), view.ndim - 1], out=out)


def _add_products(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], result: Array) -> None:
    """Add to a result (N, output..., C, M), place by place of the window."""
    outputs = result.shape[1:-2]
    for image in _images(result):
        image = slice(image.start, image.stop)
        total = result[image]
        part = np.empty_like(total)
        for offset in offsets(w.shape[:-2]):
            shifted = x[image][offset_index(offset, outputs, strides, dilations)]
            np.multiply(shifted[..., np.newaxis], w[offset], out=part)
            total += part


def depthwise_input_gradient(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the input of `depthwise_convolve`."""
    *window, channels, multiplier = w.shape
    if multiplier == 1 and all(stride == 1 for stride in strides):
        flipped = w[(slice(None, None, -1),) * len(window)]
        around = transposed_pads(input_shape[1:-1], grad.shape[1:-1], window, pads, dilations)
        return depthwise_convolve(grad, flipped, strides, around, dilations)
    grad = grad.reshape(*grad.shape[:-1], channels, multiplier)
    padded_sizes = [n + b + a for n, (b, a) in zip(input_shape[1:-1], pads)]
    result = np.zeros((input_shape[0], *padded_sizes, channels), np.result_type(grad, w))
    for image in _images(grad):
        for offset in offsets(window):
            part = grad[image][..., 0] * w[offset][:, 0] if multiplier == 1 else (grad[image] * w[offset]).sum(-1)
            result[image][offset_index(offset, grad.shape[1:-2], strides, dilations)] += part
    return unpad(result, pads)


def depthwise_filter_gradient(
    x: Array, grad: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the filter of `depthwise_convolve`."""
    *window, channels, multiplier = filter_shape
    x = pad(x, pads)
    parts = list(_images(grad))
    found = np.zeros((len(parts), *filter_shape), np.result_type(x, grad))

    def add(number: int) -> None:
        given = grad[parts[number]].reshape(-1, *grad.shape[1:-1], channels, *((multiplier,) if multiplier != 1 else ()))
        products = np.empty(given.shape, found.dtype)
        for offset in offsets(window):
            shifted = x[parts[number]][offset_index(offset, grad.shape[1:-1], strides, dilations)]
            np.multiply(shifted if multiplier == 1 else shifted[..., np.newaxis], given, out=products)
            found[(number, *offset)] = column_sums(products.reshape(-1, channels * multiplier)).reshape(channels, multiplier)

    if found.size and grad.size:
        divide(add, range(len(parts)))
    return found.sum(0)


def _images(array: Array) -> Iterator[slice]:
    """Slices of the batch whose elements stay in the processor's cache."""
    size = max(array[:1].size, 1)
    step = max((1 << 17) // size, 1)
    return (slice(start, start + step) for start in range(0, array.shape[0], step))
