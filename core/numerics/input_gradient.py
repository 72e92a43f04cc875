"""The gradient of a convolution for its input, of channels-last arrays of any spatial rank.

The gradient is a convolution of the result's gradient with the flipped filter; at a stride, a convolution for each phase:
the positions of the input that leave the same remainders by the strides. For few channels the gradient is a product and
shifted sums.

`benchmarks/__main__.py` measures the thresholds here: MobileNetV2, LeNet momentum step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .blas_threads import one_thread
from .convolution import convolve
from .gemm import matmul
from .windows import Array, Pads, bounded, cells, offset_index, offsets, padded_sizes, unpad
from .work_division import BLOCK_ELEMENTS, cut, divide

_FEWEST_CHANNELS: Final = 8
"""The least number of channels of the input where a convolution costs less than scattered products, whose matrices are
narrow.
"""


def convolve_input_gradient(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the gradient of `convolve(x, w)` for the input; `grad` is the gradient of the result."""
    depth, filters = w.shape[-2:]
    groups = input_shape[-1] // depth if depth else 1
    if not grad.size or not w.size or not groups:
        return np.zeros(input_shape, np.result_type(grad, w))
    padded = padded_sizes(input_shape[1:-1], pads)
    # All strides beyond the image have a single window, but make as many phases as they are long: they are cut to the image.
    strides = bounded(strides, padded)
    is_dense = all(s == 1 for s in strides)
    if groups == 1 and depth < _FEWEST_CHANNELS and any(k > 1 for k in w.shape[:-2]):
        return _scatter_products(grad, w, input_shape, strides, pads, dilations)
    # At stride 1 the gradient is one convolution, with the filter flipped.
    if is_dense:
        return _convolve_transposed(grad, w, groups, input_shape, pads, dilations)
    # At stride s the positions of a phase see the same places of the window, every s-th; with dilations the places of a phase
    # are no regular part of the filter.
    if all(d == 1 for d in dilations):
        return _convolve_phases(grad, w, groups, input_shape, strides, pads)
    result = np.zeros((input_shape[0], *padded, input_shape[-1]), np.result_type(grad, w))
    # Strided and dilated: a product for each place of the window, added at the place's positions.
    rows = grad.reshape(-1, groups, filters // groups).transpose(1, 0, 2)
    for offset in offsets(w.shape[:-2]):
        matrix = w[offset].reshape(depth, groups, -1).transpose(1, 2, 0)
        target = result[offset_index(offset, grad.shape[1:-1], strides, dilations)]
        target += matmul(rows, matrix).transpose(1, 0, 2).reshape(target.shape)
    return unpad(result, pads)


def _scatter_products(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the input gradient of few channels: for each place of the window a plane of products per channel, added at its
    positions.

    Positions that leave the same remainders by the strides, a phase, lie together, so that whole lines are added.
    """
    *window, depth, filters = w.shape
    outputs = grad.shape[1:-1]
    matrix = w.reshape(-1, filters)
    places = [[divmod(i * d, s) for i, d, s in zip(place, dilations, strides)] for place in offsets(window)]
    sizes = [out + (k - 1) * d // s for out, k, d, s in zip(outputs, window, dilations, strides)]
    result = np.empty(input_shape, np.result_type(grad, w))

    def scatter(images: slice) -> None:
        rows = grad[images].reshape(-1, filters).T
        # Channels come before images and positions here: the planes of a channel are contiguous, and a place adds whole
        # planes.
        phases = np.zeros((*strides, depth, images.stop - images.start, *sizes), result.dtype)
        for some in cut(len(places), -(-len(places) * depth * rows.shape[1] // BLOCK_ELEMENTS)):
            products = matrix[some.start * depth : some.stop * depth] @ rows
            for place, planes in zip(places[some], products.reshape(-1, *phases.shape[len(strides) : -len(sizes)], *outputs)):
                starts = [slice(start, start + out) for (start, _), out in zip(place, outputs)]
                index: tuple[Any, ...] = (*(phase for _, phase in place), ..., *starts)
                phases[index] += planes
        # Positions behind the last window, which no phase reaches, keep this 0.
        result[images] = 0
        _interleave(phases, result[images], pads)

    per_image = max(math.prod(outputs) * len(matrix), 1)
    count = max(-(-len(grad) * per_image // BLOCK_ELEMENTS), one_thread.share)
    divide(scatter, cut(len(grad), min(count, len(grad))))
    return result


def _interleave(phases: Array, result: Array, pads: Pads) -> None:
    """Interleave phases (strides..., C, N, sizes...) into images without their padding; phases may lack the images' end."""
    rank = len(pads)
    axes = [rank + 1, *itertools.chain.from_iterable((rank + 2 + i, i) for i in range(rank)), rank]
    sizes = [s * n for s, n in zip(phases.shape[:rank], phases.shape[rank + 2 :])]
    images = phases.transpose(axes).reshape(len(result), *sizes, -1)
    inner = images[(slice(None), *(slice(before, before + n) for (before, _), n in zip(pads, result.shape[1:-1])))]
    result[tuple(map(slice, inner.shape))] = inner


def _convolve_phases(
    grad: Array, w: Array, groups: int, input_shape: Sequence[int], strides: Sequence[int], pads: Pads
) -> Array:
    """Return the input gradient of a strided convolution: a gradient at stride 1 for each phase, by the phase's places of
    the window.
    """
    ones = [1] * len(strides)

    def of_phase(part: Array, shape: Sequence[int], lead: Pads) -> Array:
        return _convolve_transposed(grad, part, groups, shape, lead, ones)

    return filled_phases(of_phase, np.result_type(grad, w), w, input_shape, strides, pads)


def filled_phases(
    of_phase: Callable[[Array, Sequence[int], Pads], Array],
    dtype: Any,
    w: Array,
    input_shape: Sequence[int],
    strides: Sequence[int],
    pads: Pads,
) -> Array:
    """Return an input gradient, filled by phases: `of_phase` computes a phase at stride 1, of a shape and pads, by a part
    of the filter.
    """
    result = np.zeros(input_shape, dtype)
    ends = [None] * len(strides)
    for phase in offsets(strides):
        part = w[tuple(map(slice, phase, ends, strides))]
        firsts = [(r - before) % s for r, s, (before, _) in zip(phase, strides, pads)]
        target = result[(slice(None), *map(slice, firsts, ends, strides))]
        if part.size and target.size:
            # The distance of the phase's first position from its first window, in windows.
            lead = [((first + before - r) // s, 0) for first, r, s, (before, _) in zip(firsts, phase, strides, pads)]
            cells(target)[...] = cells(of_phase(part, target.shape, lead))
    return result


def _convolve_transposed(
    grad: Array, w: Array, groups: int, input_shape: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """Return the input gradient at stride 1: a convolution with the filter flipped in space and transposed in channels."""
    *window, depth, filters = w.shape
    flipped = w[(slice(None, None, -1),) * len(window)]
    if groups == 1:
        flipped = flipped.swapaxes(-1, -2)  # a view: BLAS multiplies transposed matrices without a copy
    else:
        flipped = np.moveaxis(flipped.reshape(*window, depth, groups, filters // groups), -1, -3).swapaxes(-1, -2)
        flipped = flipped.reshape(*window, filters // groups, groups * depth)
    around = transposed_pads(input_shape[1:-1], grad.shape[1:-1], window, pads, dilations)
    return convolve(grad, flipped, (1,) * len(window), around, dilations)


def transposed_pads(
    sizes: Sequence[int], outputs: Sequence[int], window: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the padding for a convolution over the outputs at stride 1 whose result has the shape of the inputs."""
    around = []
    for size, out, k, dilation, (before, _) in zip(sizes, outputs, window, dilations, pads):
        lead = (k - 1) * dilation - before
        around.append((lead, size - out + (k - 1) * dilation - lead))
    return around
