"""Convolution of channels-last arrays of any spatial rank, as matrix products.

x is (N, spatial..., C), a filter (window..., C / groups, F), the result (N, output..., F). `pads` are (before, after) of each
spatial dimension. A 1x1 filter multiplies directly; others gather windows through a strided view, a block at a time, so that
what is gathered stays within BLOCK_ELEMENTS (im2col, Chellapilla et al. 2006).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .products import matmul
from .windows import Array, Pads, offset_index, offsets, output_sizes, pad, unpad, window_view

BLOCK_ELEMENTS = 1 << 19


def convolve(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> Array:
    """The convolution; groups follow from the channel counts of x and w."""
    *window, depth, filters = w.shape
    x = pad(x, pads)
    result = np.empty((x.shape[0], *output_sizes(x, window, strides, dilations), filters), np.result_type(x, w))
    if not result.size:
        return result
    if not w.size:
        result[...] = 0
        return result
    groups = x.shape[-1] // depth
    matrix = _grouped_filter(w, groups)
    for index, columns in _gathered(x, window, strides, dilations):
        block = result[index]
        if groups == 1:
            matmul(columns, matrix[0], out=block.reshape(-1, filters))
        else:
            product = matmul(_grouped_columns(columns, groups, depth), matrix)
            block[...] = product.transpose(1, 0, 2).reshape(block.shape)
    return result


def convolve_filter_gradient(
    x: Array, grad: Array, filter_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the filter of `convolve(x, w)`, where `grad` is that for its result."""
    *window, depth, filters = filter_shape
    x = pad(x, pads)
    groups = x.shape[-1] // depth if depth else 1
    if not groups:
        return np.zeros(filter_shape, np.result_type(x, grad))
    count = math.prod(window)
    total = np.zeros((groups, count * depth, filters // groups), np.result_type(x, grad))
    if total.size and grad.size:
        for index, columns in _gathered(x, window, strides, dilations):
            rows = grad[index].reshape(-1, groups, filters // groups).transpose(1, 0, 2)
            total += matmul(_grouped_columns(columns, groups, depth).transpose(0, 2, 1), rows)
    total = total.reshape(groups, count, depth, filters // groups).transpose(1, 2, 0, 3)
    return total.reshape(filter_shape)


def convolve_input_gradient(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the input of `convolve(x, w)`, where `grad` is that for its result."""
    depth, filters = w.shape[-2:]
    groups = input_shape[-1] // depth if depth else 1
    if not grad.size or not w.size or not groups:
        return np.zeros(input_shape, np.result_type(grad, w))
    if all(s == 1 for s in strides):
        return _convolve_transposed(grad, w, groups, input_shape, pads, dilations)
    padded_sizes = [n + b + a for n, (b, a) in zip(input_shape[1:-1], pads)]
    result = np.zeros((input_shape[0], *padded_sizes, input_shape[-1]), np.result_type(grad, w))
    rows = grad.reshape(-1, groups, filters // groups).transpose(1, 0, 2)
    for offset in offsets(w.shape[:-2]):
        matrix = w[offset].reshape(depth, groups, -1).transpose(1, 2, 0)
        target = result[offset_index(offset, grad.shape[1:-1], strides, dilations)]
        target += matmul(rows, matrix).transpose(1, 0, 2).reshape(target.shape)
    return unpad(result, pads)


def _convolve_transposed(
    grad: Array, w: Array, groups: int, input_shape: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The input gradient at stride 1: a convolution with the filter flipped in space and transposed in channels."""
    *window, depth, filters = w.shape
    flipped = w[(slice(None, None, -1),) * len(window)].reshape(*window, depth, groups, filters // groups)
    flipped = np.moveaxis(flipped, -1, -3).swapaxes(-1, -2).reshape(*window, filters // groups, groups * depth)
    around = _transposed_pads(input_shape[1:-1], grad.shape[1:-1], window, pads, dilations)
    return convolve(grad, flipped, (1,) * len(window), around, dilations)


def _transposed_pads(
    sizes: Sequence[int], outputs: Sequence[int], window: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> list[tuple[int, int]]:
    """The padding with which a convolution over the outputs at stride 1 gives the inputs back."""
    around = []
    for size, out, k, dilation, (before, _) in zip(sizes, outputs, window, dilations, pads):
        lead = (k - 1) * dilation - before
        around.append((lead, size - out + (k - 1) * dilation - lead))
    return around


def depthwise_convolve(x: Array, w: Array, strides: Sequence[int], pads: Pads, dilations: Sequence[int]) -> Array:
    """Each channel with its own filters: w is (window..., C, M), the result has C * M channels."""
    *window, channels, multiplier = w.shape
    x = pad(x, pads)
    outputs = output_sizes(x, window, strides, dilations)
    result = np.zeros((x.shape[0], *outputs, channels, multiplier), np.result_type(x, w))
    if multiplier == 1 and result.size and result.dtype in (np.float32, np.float64):
        _sum_windows(window_view(x, window, strides, dilations), w[..., 0], result[..., 0])
        return result[..., 0]
    for image in _images(result):
        image = slice(image.start, image.stop)
        total = result[image]
        part = np.empty_like(total)
        for offset in offsets(window):
            shifted = x[image][offset_index(offset, outputs, strides, dilations)]
            np.multiply(shifted[..., np.newaxis], w[offset], out=part)
            total += part
    return result.reshape(x.shape[0], *outputs, channels * multiplier)


def _sum_windows(view: Array, w: Array, out: Array) -> None:
    """Windows (N, output..., window..., C) times w (window..., C), summed over the window: one call, in the window's order."""
    inner = list(range(view.ndim - w.ndim, view.ndim))
    np.einsum(view, list(range(view.ndim)), w, inner, [*range(view.ndim - w.ndim), view.ndim - 1], out=out)


def depthwise_input_gradient(
    grad: Array, w: Array, input_shape: Sequence[int], strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Array:
    """The gradient for the input of `depthwise_convolve`."""
    *window, channels, multiplier = w.shape
    if multiplier == 1 and all(stride == 1 for stride in strides):
        flipped = w[(slice(None, None, -1),) * len(window)]
        around = _transposed_pads(input_shape[1:-1], grad.shape[1:-1], window, pads, dilations)
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
    grad = grad.reshape(*grad.shape[:-1], channels, multiplier)
    x = pad(x, pads)
    result = np.zeros(filter_shape, np.result_type(x, grad))
    axes = tuple(range(len(window) + 1))
    for image in _images(grad):
        for offset in offsets(window):
            shifted = x[image][offset_index(offset, grad.shape[1:-2], strides, dilations)]
            result[offset] += (shifted[..., np.newaxis] * grad[image]).sum(axes)
    return result


def _images(array: Array) -> Iterator[slice]:
    """Slices of the batch whose elements stay in the processor's cache."""
    size = max(array[:1].size, 1)
    step = max((1 << 17) // size, 1)
    return (slice(start, start + step) for start in range(0, array.shape[0], step))


def _gathered(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], Array]]:
    """Blocks of windows as matrices (positions, window * C), with their index into the output."""
    if all(k == 1 for k in window):
        view = x[(slice(None), *(slice(None, None, s) for s in strides))]
        yield (slice(None),), view.reshape(-1, x.shape[-1])
        return
    view = window_view(x, window, strides, dilations)
    width = math.prod(window) * x.shape[-1]
    for index in _blocks(view.shape[: len(window) + 1], width):
        yield index, view[index].reshape(-1, width)


def _blocks(positions: Sequence[int], width: int) -> Iterator[tuple[Any, ...]]:
    """Indexes that cut (N, output...) into blocks of images, or of rows where one image is too large."""
    per_image = math.prod(positions[1:]) * width
    step = BLOCK_ELEMENTS // max(per_image, 1)
    if step:
        for start in range(0, positions[0], step):
            yield (slice(start, start + step),)
        return
    rows = max(BLOCK_ELEMENTS // max(math.prod(positions[2:]) * width, 1), 1)
    for image in range(positions[0]):
        for start in range(0, positions[1], rows):
            yield image, slice(start, start + rows)


def _grouped_filter(w: Array, groups: int) -> Array:
    """(window..., depth, F) as (groups, window * depth, F / groups)."""
    filters = w.shape[-1]
    return w.reshape(-1, groups, filters // groups).transpose(1, 0, 2)


def _grouped_columns(columns: Array, groups: int, depth: int) -> Array:
    """(positions, window * groups * depth) as (groups, positions, window * depth)."""
    if groups == 1:
        return columns[np.newaxis]
    return columns.reshape(columns.shape[0], -1, groups, depth).transpose(2, 0, 1, 3).reshape(groups, columns.shape[0], -1)
