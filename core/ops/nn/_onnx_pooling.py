"""Pools and their gradients in ONNX."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ...numerics import convolution as numerics
from ...numerics.pooling import NEAR
from ...types.arrays import Array
from ...types.shapes import TensorSpec
from ..shared.onnx_lowerings import on_channels_first, window_attrs
from ..shared.window_geometry import (
    WindowAttributes,
    batch_and_channel,
    is_channels_first,
    shape_to_channels_last,
    spatial,
    window_pads,
)
from .convolution import convolution_input_gradient_onnx


def pooled(g: Any, x: Any, op: str, window: WindowAttributes, **attrs: Any) -> Any:
    """Windows over space only; of channels ONNX knows none."""
    data_format = window.data_format
    if batch_and_channel(window.ksize, data_format) != (1, 1) or batch_and_channel(window.strides, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    attrs |= window_attrs(x, spatial(window.ksize, data_format), window)
    return on_channels_first(g, x, data_format, lambda first: g.op(op, first, **attrs))


def window_of_inputs(g: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> WindowAttributes:
    """Return the window of constant sizes and strides."""
    sizes, steps = (g.known(value, "windows and strides").tolist() for value in (ksize, strides))
    return WindowAttributes(steps, padding, data_format=data_format, ksize=sizes)


def max_pool_3d_grad(g: Any, x: Any, y: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Add the gradient of each window at all elements near the window's maximum, as TensorFlow does in three
    dimensions.
    """
    data_format = window.data_format
    sizes = spatial(x.shape.dims or (None,) * 5, data_format)
    if not all(isinstance(size, int) for size in sizes) or batch_and_channel(window.ksize, data_format) != (1, 1):
        g.refuse("the size of its images is unknown, or its windows go over batches or channels")
    ksize, steps = spatial(window.ksize, data_format), spatial(window.strides, data_format)
    pads = window_pads(sizes, ksize, steps, (1, 1, 1), window.padding)
    first = 2 if is_channels_first(data_format) else 1
    places = [_windows(*geometry) for geometry in zip(sizes, ksize, steps, pads)]
    shares = []
    for offsets in itertools.product(*map(range, ksize)):
        largest, share = y, dy
        is_inside: Any = np.bool_(True)
        for axis, (offset, numbers) in enumerate(zip(offsets, places), first):
            largest, share = (g.Gather(value, np.maximum(numbers[offset], 0), axis=axis) for value in (largest, share))
            is_inside = is_inside & (numbers[offset] >= 0).reshape([-1 if i == axis else 1 for i in range(5)])
        shares.append(g.Where(g.And(g.Less(g.Abs(g.Sub(x, largest)), NEAR), is_inside), share, 0))
    return functools.reduce(g.Add, shares)


def _windows(size: int, width: int, step: int, pads: tuple[int, int]) -> Array:
    """Return for each offset in a window the number of the window that has each element there; -1 for none."""
    before = np.arange(size) + pads[0] - np.arange(width)[:, None]
    count = (size + sum(pads) - width) // step + 1
    numbers = before // step
    return np.where((before % step == 0) & (numbers >= 0) & (numbers < count), numbers, -1)


def avg_pool_grad(g: Any, sizes: Any, dy: Any, *, window: WindowAttributes, outputs: list[TensorSpec]) -> Any:
    """Divide each gradient by the number of elements in its window, and give the share to all of them."""
    rank, data_format = len(window.ksize), window.data_format
    shape = shape_to_channels_last(outputs[0].shape, data_format) if outputs[0].rank == rank else ()
    is_spatial = batch_and_channel(window.ksize, data_format) == (1, 1)
    if not shape or not all(isinstance(size, int) for size in shape[1:]) or not is_spatial:
        g.refuse("the sizes of its result are computed, or its windows go over batches or channels")
    size, steps = spatial(window.ksize, data_format), spatial(window.strides, data_format)
    ones = np.ones((1, *shape[1:-1], 1), np.float32)
    pads = window_pads(shape[1:-1], size, steps, (1,) * len(size), window.padding)
    counts = numerics.convolve(ones, np.ones((*size, 1, 1), np.float32), steps, pads, (1,) * len(size))
    share = g.Div(dy, g.cast(g.constant(counts if data_format.endswith("C") else np.moveaxis(counts, -1, 1)), dy.dtype))
    filters = g.constant(np.ones((*size, 1, shape[-1])), dy.dtype)
    return convolution_input_gradient_onnx(
        g, sizes, filters, share, window=window._replace(dilations=(1,) * rank), outputs=outputs
    )
