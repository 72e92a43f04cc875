"""The places of the largest elements of windows in ONNX, and the gradients that follow the places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...numerics.group_reductions import lowest
from ...types import dtypes
from ...types.dtypes import DType
from ..shared.onnx_lowerings import along, channels_first, in_format, window_attrs
from ..shared.window_geometry import WindowAttributes, batch_and_channel, spatial
from ._onnx_pooling import window_of_inputs


class Largest(NamedTuple):
    """The largest elements of windows over images with channels first, and their places."""

    values: Any
    """N, C, windows."""
    places: Any
    """The flat index in a channel of an image, int64."""
    images: Any
    """The images with channels first."""
    flat: Any
    """The images with a single spatial dimension."""

    def indices(self, g: Any) -> Any:
        """Return the flat index of each place in all images, channels first."""
        channels = g.Mul(g.unsqueeze(along(g, self.flat, 0), 1), g.dim(self.flat, 1))
        rows = g.Mul(g.Add(channels, along(g, self.flat, 1)), g.dim(self.flat, 2))
        return g.Add(self.places, g.unsqueeze(rows, 2, 3))


def largest(g: Any, x: Any, window: WindowAttributes) -> Largest:
    """Return the largest element of each window of images and the first place of that element.

    A NaN counts only as the first element of a window, as in TensorFlow.
    """
    data_format = window.data_format
    if batch_and_channel(window.ksize, data_format) != (1, 1) or batch_and_channel(window.strides, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    ksize = spatial(window.ksize, data_format)
    attrs = window_attrs(x, ksize, window)
    first = channels_first(g, x, data_format)
    flat = g.reshape(first, g.dim(first, 0), g.dim(first, 1), g.Mul(g.dim(first, 2), g.dim(first, 3)))
    values, indices = g.MaxPool(first, outputs=2, **attrs)
    rows, columns = (_starts(g, values, first, axis, ksize[axis - 2], attrs) for axis in (2, 3))
    start = g.Add(g.unsqueeze(g.Mul(rows, g.dim(first, 3)), 1), columns)
    value = g.Gather(flat, start, axis=2)
    is_start = g.LessOrEqual(values, g.like(lowest(x.dtype.numpy), x))  # onnxruntime finds nothing below the smallest number
    is_start = g.Or(is_start, g.IsNaN(value)) if x.dtype.is_floating else is_start
    places = g.Where(is_start, start, g.Mod(indices, g.dim(flat, 2)))
    return Largest(g.Where(is_start, value, values), places, first, flat)


def _starts(g: Any, pooled: Any, first: Any, axis: int, width: int, attrs: Any) -> Any:
    """Return the first element of each window along a dimension."""
    step = attrs["strides"][axis - 2]
    if "auto_pad" in attrs:
        span = g.Add(g.Mul(g.Sub(g.dim(pooled, axis), 1), step), width)
        pad = g.Div(g.Max(g.Sub(span, g.dim(first, axis)), 0), 2)
    else:
        pad = g.constant(np.array([attrs["pads"][axis - 2]], np.int64))
    return g.Max(g.Sub(g.Mul(along(g, pooled, axis), step), pad), 0)


def with_argmax(g: Any, x: Any, *, window: WindowAttributes, Targmax: DType, include_batch_in_index: bool) -> tuple[Any, Any]:
    """Return the largest element of each window and its flat index, with channels last."""
    maxima = largest(g, x, window)
    indices = g.Add(g.Mul(maxima.places, g.dim(maxima.flat, 1)), g.unsqueeze(along(g, maxima.flat, 1), 1, 2))
    if include_batch_in_index:
        indices = g.Add(indices, _offsets(g, maxima.flat))
    return tuple(in_format(g, value, 4, window.data_format) for value in (maxima.values, g.cast(indices, Targmax)))


def _offsets(g: Any, x: Any) -> Any:
    """Return the flat index of the first element of each image of rank 3 or 4, for broadcasting to rank 4."""
    size = g.Div(g.reshape(g.Size(x), [1]), g.Max(g.dim(x, 0), 1))
    return g.unsqueeze(g.Mul(along(g, x, 0), size), 1, 2, 3)


def _targets(g: Any, x: Any, argmax: Any, include_batch_in_index: bool) -> Any:
    """Return the flat index in the whole input of each window's largest element, a vector."""
    indices = g.cast(argmax, dtypes.int64)
    return g.reshape(indices if include_batch_in_index else g.Add(indices, _offsets(g, x)), [-1])


def _added(g: Any, x: Any, indices: Any, grad: Any) -> Any:
    """Return zeros of the shape of `x` to which gradients are added at flat indices."""
    zeros = g.Expand(g.like(0, grad), g.reshape(g.Size(x), [1]))
    sums = g.ScatterND(zeros, g.unsqueeze(indices, 1), g.reshape(grad, [-1]), reduction="add")
    return g.of_dims(sums, g.dims(x))


def argmax_grad(g: Any, x: Any, grad: Any, argmax: Any, *, window: WindowAttributes, include_batch_in_index: bool) -> Any:
    """Add each window's gradient at the index that argmax gives."""
    return _added(g, x, _targets(g, x, argmax, include_batch_in_index), grad)


def argmax_grad_grad(g: Any, x: Any, grad: Any, argmax: Any, *, window: WindowAttributes, include_batch_in_index: bool) -> Any:
    """Return the elements of a gradient shaped like the input at the index that argmax gives."""
    elements = g.Gather(g.reshape(grad, [-1]), _targets(g, x, argmax, include_batch_in_index))
    return g.of_dims(elements, g.dims(argmax))


def max_pool_grad(g: Any, x: Any, y: Any, grad: Any, *, window: WindowAttributes) -> Any:
    """Add the gradient of each window at the place of its largest element."""
    maxima = largest(g, x, window)
    indices = g.reshape(maxima.indices(g), [-1])
    return in_format(g, _added(g, maxima.images, indices, channels_first(g, grad, window.data_format)), 4, window.data_format)


def max_pool_grad_grad(g: Any, x: Any, y: Any, grad: Any, *, window: WindowAttributes) -> Any:
    """Return the element of a gradient shaped like the input at the place of each window's largest element, 0 for NaN."""
    maxima = largest(g, x, window)
    y, flat = (channels_first(g, value, window.data_format) for value in (y, grad))
    elements = g.Gather(g.reshape(flat, [-1]), maxima.indices(g))
    return in_format(g, g.Where(g.Equal(y, maxima.values), elements, 0), 4, window.data_format)


def of_window_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of a gradient whose windows and strides are inputs."""

    def lowering(g: Any, x: Any, y: Any, grad: Any, ksize: Any, strides: Any, *, padding: str, data_format: str) -> Any:
        return function(g, x, y, grad, window=window_of_inputs(g, ksize, strides, padding, data_format))

    return lowering
