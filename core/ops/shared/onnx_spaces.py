"""Blocks of images in ONNX: between space, depth and batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ...types.arrays import Array
from .onnx_lowerings import on_channels_first
from .window_geometry import output_sizes, window_pads


def depth_and_space(op: str) -> Any:
    """Return the lowering of SpaceToDepth or DepthToSpace."""

    def lowering(g: Any, x: Any, *, block_size: int, data_format: str) -> Any:
        if data_format not in ("NHWC", "NCHW"):
            g.refuse(f"ONNX does not support {data_format}")
        return on_channels_first(g, x, data_format, lambda first: g.op(op, first, blocksize=block_size))

    return lowering


def space_to_batch(g: Any, x: Any, block: Array, paddings: Any) -> Any:
    """(n, s...) as (blocks * n, s / block...)."""
    count, rank = len(block), g.rank(x)
    around = g.cast(paddings, dtypes.int64)
    zeros = g.constant(np.zeros((rank - count - 1, 2), np.int64))
    pads = g.Concat(g.constant(np.zeros((1, 2), np.int64)), around, zeros, axis=0)
    x = g.Pad(x, g.reshape(g.Transpose(pads, perm=[1, 0]), [-1]))
    outer = [g.Div(g.dim(x, axis), int(by)) for axis, by in enumerate(block, 1)]
    rest = [g.dim(x, axis) for axis in range(1 + count, rank)]
    parts = [part for size, by in zip(outer, block) for part in (size, int(by))]
    x = g.reshape(x, g.dim(x, 0), *parts, *rest)
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, rank + count)]
    return g.reshape(g.transpose(x, order), -1, *outer, *rest)


def batch_to_space(g: Any, x: Any, block: Array, crops: Any) -> Any:
    """(blocks * n, s...) as (n, s * block...), cropped."""
    count, rank = len(block), g.rank(x)
    inner = [g.dim(x, axis) for axis in range(1, 1 + count)]
    rest = [g.dim(x, axis) for axis in range(1 + count, rank)]
    x = g.reshape(x, [*map(int, block), -1], *inner, *rest)
    order = [count, *(axis for i in range(count) for axis in (count + 1 + i, i)), *range(2 * count + 1, rank + count)]
    x = g.reshape(g.transpose(x, order), -1, *(g.Mul(size, int(by)) for size, by in zip(inner, block)), *rest)
    cut = g.cast(crops, dtypes.int64)
    starts, ends = (g.reshape(g.Slice(cut, [i], [i + 1], [1]), [-1]) for i in (0, 1))
    sizes = g.joined(*(g.Mul(size, int(by)) for size, by in zip(inner, block)))
    return g.Slice(x, starts, g.Sub(sizes, ends), range(1, 1 + count))


def patches(g: Any, x: Any, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Any:
    """Return each window's elements in the channels; zero beyond the borders."""
    dims = x.shape.dims
    if dims is None or not all(isinstance(size, int) for size in dims[1:]):
        g.refuse("the size of the images is unknown")
    sizes, window, steps, spread = dims[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1]
    pads = window_pads(sizes, window, steps, spread, padding)
    count = output_sizes(sizes, window, steps, spread, padding)
    places, inside = np.zeros((), np.int64), np.ones((), bool)
    rank = len(sizes)
    for axis, size in enumerate(sizes):
        at = np.arange(int(count[axis]))[:, None] * steps[axis] + np.arange(window[axis]) * spread[axis] - pads[axis][0]
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = at.shape
        places = places * size + np.clip(at, 0, size - 1).reshape(shape)
        inside = inside & ((at >= 0) & (at < size)).reshape(shape)
    channels = dims[-1]
    rows = g.Gather(g.of_dims(x, g.dim(x, 0), int(np.prod(sizes)), channels), places.reshape(-1), axis=1)
    if not inside.all():
        rows = g.Where(inside.reshape(1, -1, 1), rows, 0)
    return g.of_dims(rows, g.dim(x, 0), [int(size) for size in count], int(np.prod(window)) * channels)
