"""Pools: geometry, maxima and means of windows and their gradients, as the kernels share them."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...numerics import pooling as numerics
from ...numerics.half_precision import wide
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec
from .argument_checks import with_rank
from .shape_arguments import ints
from .window_geometry import (
    Pads,
    WindowAttributes,
    batch_and_channel,
    explicit_pads,
    from_channels_last,
    is_channels_first,
    output_sizes,
    shape_from_channels_last,
    shape_to_channels_last,
    spatial,
    to_channels_last,
    window_pads,
)


class PoolingAttributes:
    """The checked attributes of a pooling op; the data format tells the number of dimensions."""

    def __init__(self, window: WindowAttributes) -> None:
        strides, padding, explicit_paddings, data_format, _, ksize = window
        rank = 5 if "D" in data_format else 4
        for name, values in (("ksize", ksize), ("strides", strides)):
            if len(values) != rank:
                raise InvalidArgumentError(f"Sliding window {name} field must specify {rank} dimensions, not {list(values)}")
            if min(values) <= 0:
                raise InvalidArgumentError(f"Sliding window {name} must be positive: {list(values)}")
            if batch_and_channel(values, data_format)[0] != 1:
                raise UnimplementedError("Pooling is not yet supported on the batch dimension.")
        self.rank = rank
        self.data_format = data_format
        self.depth = batch_and_channel(ksize, data_format)[1]
        self.depth_stride = batch_and_channel(strides, data_format)[1]
        self.windows, self.strides = spatial(ksize, data_format), spatial(strides, data_format)
        self.padding = padding
        self.explicit = explicit_pads(explicit_paddings, rank, data_format) if padding == "EXPLICIT" else None
        if padding == "EXPLICIT" and self.explicit is None:
            raise InvalidArgumentError("padding EXPLICIT needs explicit_paddings")
        for size, pads in zip(self.windows, self.explicit or ()):
            # A window in the padding alone would have no maximum.
            if max(pads) >= size:
                raise InvalidArgumentError(f"explicit padding {pads} must be less than the window {size}")

    def sizes(self, sizes: tuple[DimLike, ...]) -> tuple[DimLike, ...]:
        """Output sizes of the spatial dimensions."""
        return output_sizes(sizes, self.windows, self.strides, [1] * len(self.windows), self.padding, self.explicit)

    @functools.lru_cache(1024)  # noqa: B019 - pools that kernels ask are kept too
    def pads(self, sizes: tuple[int, ...]) -> Pads:
        """(before, after) of each spatial dimension; InvalidArgumentError if the window does not fit."""
        self.sizes(sizes)
        return window_pads(sizes, self.windows, self.strides, [1] * len(self.windows), self.padding, self.explicit)

    @functools.lru_cache(1024)  # noqa: B019 - as above
    def geometry(self, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...], Pads]:
        """Return (windows, strides, pads), windows larger than the image cut to the places inside; errors as in `pads`.

        The cut bounds the loops over a window's places by the image's size.
        """
        axes = [_inside(*axis) for axis in zip(sizes, self.windows, self.strides, self.pads(sizes))]
        return tuple(window for window, _ in axes), self.strides, tuple(pads for _, pads in axes)

    def last(self, x: Array, name: str = "tensor_in") -> Array:
        """Return `x` with channels last; InvalidArgumentError for another rank."""
        if x.ndim != self.rank:
            raise InvalidArgumentError(f"{name} must be {self.rank}-dimensional, not {Shape(x.shape)}")
        return to_channels_last(x, self.data_format)

    def back(self, x: Array, dtype: Any) -> Array:
        return from_channels_last(x.astype(dtype, copy=False), self.data_format)

    def require_output(self, x: Array, grad: Array, name: str) -> None:
        """`grad` must have the shape that pooling `x` gives."""
        expected = (x.shape[0], *self.sizes(x.shape[1:-1]), x.shape[-1])
        if grad.shape != expected:
            raise InvalidArgumentError(f"Expected {name} shape to be {Shape(expected)}, but got {Shape(grad.shape)}")


def _inside(size: int, window: int, stride: int, pads: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """Return a window and its padding without the places that lie outside the image in every window."""
    before, after = pads
    count = (size + before + after - window) // stride + 1
    # A window within the image needs no cut, and one that does not fit is an error elsewhere.
    if not size or window <= size or count <= 0:
        return window, pads
    # Places that lie in the padding even for the last window, and places beyond the image even for the first.
    early, late = max(before - (count - 1) * stride, 0), max(window - before - size, 0)
    return window - early - late, (before - early, after - late)


def _depthwise_max(x: Array, pool: PoolingAttributes) -> Array:
    """Return the maximum over groups of channels; the groups must divide evenly."""
    # TensorFlow pools over channels by groups that do not overlap.
    if math.prod(pool.windows) != 1 or pool.depth != pool.depth_stride or x.shape[-1] % pool.depth:
        raise UnimplementedError("MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    groups = x.reshape(*x.shape[:-1], x.shape[-1] // pool.depth, pool.depth)
    if x.dtype.kind in "fV" and np.isnan(x).any():
        # TensorFlow goes on from the first element by a comparison, so that a NaN stays there and is left out elsewhere.
        return functools.reduce(lambda best, part: np.where(best < part, part, best), np.moveaxis(groups, -1, 0))
    return np.max(groups, -1)


def pool_max(input: Array, pool: PoolingAttributes) -> Array:
    require_spatial(pool)
    x = pool.last(input)
    if pool.depth > 1:
        return pool.back(_depthwise_max(x, pool), input.dtype)
    geometry = pool.geometry(x.shape[1:-1])
    if not input.size:
        return pool.back(np.zeros((x.shape[0], *pool.sizes(x.shape[1:-1]), x.shape[-1]), input.dtype), input.dtype)
    return pool.back(numerics.max_pool(x, *geometry), input.dtype)


def require_spatial(pool: PoolingAttributes) -> None:
    """Raise InvalidArgumentError for pooling over channels with channels first, as TensorFlow's CPU kernels do."""
    if (pool.depth != 1 or pool.depth_stride != 1) and is_channels_first(pool.data_format):
        raise InvalidArgumentError(f"pooling over channels is not supported for {pool.data_format}")


def reject_depth(pool: PoolingAttributes) -> None:
    require_spatial(pool)
    if pool.depth != 1 or pool.depth_stride != 1:
        raise UnimplementedError("pooling over channels does not support this gradient")


def pool_max_gradient(orig_input: Array, orig_output: Array, grad: Array, pool: PoolingAttributes) -> Array:
    x, dy = pool.last(orig_input), pool.last(grad, "out_backprop")
    reject_depth(pool)
    y = pool.last(orig_output, "tensor_out")
    pool.require_output(x, y, "orig_output")
    pool.require_output(x, dy, "grad")
    if not x.size or not dy.size:
        return np.zeros_like(orig_input)
    geometry = pool.geometry(x.shape[1:-1])
    if pool.rank == 5:
        # In three dimensions TensorFlow gives the gradient to all elements near the maximum.
        return pool.back(numerics.max_pool_grad_equal(wide(x), wide(y), wide(dy), *geometry), grad.dtype)
    return pool.back(numerics.max_pool_grad(wide(x), wide(dy), *geometry), grad.dtype)


def pool_max_gradient_gradient(orig_input: Array, orig_output: Array, grad: Array, pool: PoolingAttributes) -> Array:
    """Return the gradient, shaped like the input, where the input first equals the maximum."""
    x, dx = pool.last(orig_input), pool.last(grad, "out_grad_backprop")
    reject_depth(pool)
    y = pool.last(orig_output, "tensor_out")
    pool.require_output(x, y, "orig_output")
    if x.shape != dx.shape:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(x.shape)}, but got {Shape(dx.shape)}")
    if not x.size:
        return np.zeros_like(orig_output)
    geometry = pool.geometry(x.shape[1:-1])
    return pool.back(numerics.first_equal(x, y, dx, *geometry), grad.dtype)


def pool_mean(value: Array, pool: PoolingAttributes) -> Array:
    x = pool.last(value)
    if pool.depth > 1:
        raise UnimplementedError("Non-spatial pooling is not yet supported.")
    return pool.back(numerics.average_pool(wide(x), *pool.geometry(x.shape[1:-1])), value.dtype)


def pool_mean_gradient(orig_input_shape: Array, grad: Array, pool: PoolingAttributes) -> Array:
    dims = ints(orig_input_shape, "orig_input_shape", pool.rank)
    if pool.depth > 1:
        raise UnimplementedError("Non-spatial pooling is not yet supported.")
    if min(dims) < 0:
        raise InvalidArgumentError(f"orig_input_shape must not be negative: {dims}")
    last = shape_to_channels_last(dims, pool.data_format)
    dy = pool.last(grad, "out_backprop")
    expected = (last[0], *pool.sizes(last[1:-1]), last[-1])
    if dy.shape != expected:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(expected)}, but got {Shape(dy.shape)}")
    return pool.back(numerics.average_pool_grad(last, wide(dy), *pool.geometry(last[1:-1])), grad.dtype)


def pooled_shape(x: TensorSpec, pool: PoolingAttributes) -> Shape:
    dims = shape_to_channels_last(with_rank(x.shape, pool.rank), pool.data_format)
    channels = dims[-1] // pool.depth if pool.depth > 1 else dims[-1]
    return shape_from_channels_last((dims[0], *pool.sizes(dims[1:-1]), channels), pool.data_format)
