"""Sliding windows over tensors in TensorFlow's terms: data formats, padding schemes and the sizes that follow from them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.dims import DimLike, ceil_div, floor_div
from ...types.shapes import Shape

Pads = tuple[tuple[int, int], ...]
_Kind = TypeVar("_Kind")


class WindowAttributes(NamedTuple):
    """The attributes of a sliding window; each list has a value for every dimension of the input.

    `ksize` is the window size of a pool; a convolution takes its window size from the filter.
    """

    strides: tuple[int, ...]
    padding: str
    explicit_paddings: tuple[int, ...] = ()
    data_format: str = "NHWC"
    dilations: tuple[int, ...] = ()
    ksize: tuple[int, ...] = ()


def checked(kind: Callable[..., _Kind], *attributes: Any) -> _Kind:
    """Return `kind(*attributes)`, an immutable object that checks its attributes; cached, as kernels are called repeatedly."""
    geometry: _Kind = _checked(kind, *[tuple(a) if isinstance(a, list) else a for a in attributes])
    return geometry


@functools.lru_cache(512)
def _checked(kind: Callable[..., Any], *attributes: Any) -> Any:
    return kind(*attributes)


def is_channels_first(data_format: str) -> bool:
    """Return True for NCHW, NCDHW and CHANNELS_FIRST."""
    return data_format in ("NCHW", "NCDHW", "CHANNELS_FIRST")


def to_channels_last(x: np.ndarray[Any, Any], data_format: str) -> np.ndarray[Any, Any]:
    """Return a view of `x` as (N, spatial..., C)."""
    return x.transpose(0, *range(2, x.ndim), 1) if is_channels_first(data_format) else x


def from_channels_last(x: np.ndarray[Any, Any], data_format: str) -> np.ndarray[Any, Any]:
    """(N, spatial..., C) in the given data format."""
    return x.transpose(0, -1, *range(1, x.ndim - 1)) if is_channels_first(data_format) else x


def shape_to_channels_last(shape: Any, data_format: str) -> tuple[Any, ...]:
    """Return the dimensions of a shape in the order N, spatial..., C."""
    dims = tuple(shape)
    return (dims[0], *dims[2:], dims[1]) if is_channels_first(data_format) else dims


def shape_from_channels_last(dims: Sequence[DimLike], data_format: str) -> Shape:
    """N, spatial..., C as a Shape in the given data format."""
    return Shape((dims[0], dims[-1], *dims[1:-1]) if is_channels_first(data_format) else dims)


def spatial(values: Sequence[Any], data_format: str) -> tuple[Any, ...]:
    """Return the entries of a per-dimension attribute that belong to the spatial dimensions."""
    return tuple(values[2:] if is_channels_first(data_format) else values[1:-1])


def batch_and_channel(values: Sequence[Any], data_format: str) -> tuple[Any, Any]:
    """Return the entries of a per-dimension attribute that belong to batch and channels."""
    return values[0], values[1] if is_channels_first(data_format) else values[-1]


def explicit_pads(explicit_paddings: Sequence[int], rank: int, data_format: str) -> Pads | None:
    """Return (before, after) of each spatial dimension from the attribute; None if empty."""
    if not explicit_paddings:
        return None
    if len(explicit_paddings) != 2 * rank:
        raise InvalidArgumentError(f"explicit_paddings must have {2 * rank} values, not {len(explicit_paddings)}")
    if min(explicit_paddings) < 0:
        raise InvalidArgumentError(f"explicit_paddings must not be negative: {list(explicit_paddings)}")
    pairs = tuple(zip(explicit_paddings[::2], explicit_paddings[1::2]))
    if any(any(pair) for pair in batch_and_channel(pairs, data_format)):
        raise InvalidArgumentError(f"explicit_paddings must be zero for batch and channels: {list(explicit_paddings)}")
    return spatial(pairs, data_format)


def output_sizes(
    sizes: Sequence[DimLike],
    windows: Sequence[DimLike],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Pads | None = None,
) -> tuple[DimLike, ...]:
    """Return the number of windows along each dimension; sizes may be symbolic."""
    if padding == "SAME":
        return tuple(ceil_div(size, stride) for size, stride in zip(sizes, strides))
    if padding == "EXPLICIT":
        if explicit is None:
            raise InvalidArgumentError("padding EXPLICIT needs explicit_paddings")
        sizes = [size + sum(pads) for size, pads in zip(sizes, explicit)]
    spans = [(window - 1) * dilation + 1 for window, dilation in zip(windows, dilations)]
    return tuple(map(_valid_size, sizes, spans, strides))


def _valid_size(size: DimLike, extent: DimLike, stride: int) -> DimLike:
    # TensorFlow's (size - extent + stride) / stride, which is 0 for windows slightly too large and negative for others: only
    # the latter are errors.
    room = size - extent + stride
    if isinstance(room, int):
        if room <= -stride:
            raise InvalidArgumentError(f"a window of extent {extent} does not fit into {size}: negative output size")
        return max(room // stride, 0)
    return floor_div(room, stride)


def window_pads(
    sizes: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Pads | None = None,
) -> Pads:
    """(before, after) of each dimension; SAME puts the odd element after."""
    if padding == "VALID":
        return ((0, 0),) * len(sizes)
    if padding == "EXPLICIT":
        if explicit is None:
            raise InvalidArgumentError("padding EXPLICIT needs explicit_paddings")
        return explicit
    pads = []
    for size, window, stride, dilation in zip(sizes, windows, strides, dilations):
        # What the last of ceil(size / stride) windows reaches beyond the input.
        needed = max((math.ceil(size / stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        pads.append((needed // 2, needed - needed // 2))
    return tuple(pads)
