"""Pools and their gradients in ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...numerics import convolution as numerics
from ...types.shapes import TensorSpec
from ..shared.onnx_lowerings import channels_first, in_format, on_channels_first, window_attrs
from ..shared.window_geometry import batch_and_channel, shape_to_channels_last, spatial, window_pads
from .convolution import convolution_input_gradient_onnx


def pooled(
    g: Any, x: Any, op: str, ksize: Any, strides: Any, padding: str, data_format: str, explicit: Sequence[int] = ()
) -> Any:
    """Windows over space only; of channels ONNX knows none."""
    if batch_and_channel(ksize, data_format) != (1, 1) or batch_and_channel(strides, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    window = spatial(ksize, data_format)
    attrs = window_attrs(x, window, strides, [1] * len(ksize), padding, data_format, explicit)
    return on_channels_first(g, x, data_format, lambda first: g.op(op, first, **attrs))


def max_pool_grad(
    g: Any,
    x: Any,
    y: Any,
    dy: Any,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
    explicit_paddings: Sequence[int] = (),
) -> Any:
    """The gradient of each window added to the place of its largest element."""
    if batch_and_channel(ksize, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    attrs = window_attrs(x, spatial(ksize, data_format), strides, [1] * len(ksize), padding, data_format, explicit_paddings)
    first = channels_first(g, x, data_format)
    places = g.reshape(g.MaxPool(first, outputs=2, **attrs)[1], -1, 1)
    zeros = g.Expand(g.like(0, x), g.reshape(g.cast(g.Size(x), places.dtype), [1]))
    flat = g.ScatterND(zeros, places, g.reshape(channels_first(g, dy, data_format), [-1]), reduction="add")
    return in_format(g, g.reshape(flat, g.dims(first)), len(ksize), data_format)


def avg_pool_grad(
    g: Any,
    sizes: Any,
    dy: Any,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str,
    outputs: list[TensorSpec],
) -> Any:
    """Each gradient divided by the number of elements in its window, and given to all of them."""
    shape = shape_to_channels_last(outputs[0].shape, data_format) if outputs[0].rank == len(ksize) else ()
    if not shape or not all(isinstance(size, int) for size in shape[1:]) or batch_and_channel(ksize, data_format) != (1, 1):
        g.refuse("the sizes of its result are computed, or its windows go over batches or channels")
    window, steps = spatial(ksize, data_format), spatial(strides, data_format)
    ones = np.ones((1, *shape[1:-1], 1), np.float32)
    pads = window_pads(shape[1:-1], window, steps, (1,) * len(window), padding)
    counts = numerics.convolve(ones, np.ones((*window, 1, 1), np.float32), steps, pads, (1,) * len(window))
    share = g.Div(dy, g.cast(g.constant(counts if data_format.endswith("C") else np.moveaxis(counts, -1, 1)), dy.dtype))
    filters = g.constant(np.ones((*window, 1, shape[-1])), dy.dtype)
    attrs: dict[str, Any] = {"strides": strides, "padding": padding, "data_format": data_format, "outputs": outputs}
    return convolution_input_gradient_onnx(g, sizes, filters, share, **attrs, dilations=[1] * len(ksize))
