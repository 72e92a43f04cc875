"""Blocks and patches of space as array programs: reshapes, transpositions and strided slices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...registry.registry import lower
from ...types.arrays import Array


@lower("SpaceToBatchND", static=(1, 2))
def space_to_batch(xla: Any, x: Any, block_shape: Array, paddings: Array) -> Any:
    """Pad the spatial dimensions, cut them into blocks and move the places within a block in front of the batch."""
    block = _checked(x, block_shape, paddings)
    count = len(block)
    padded = xla.pad(x, [(0, 0), *map(tuple, paddings.tolist()), *[(0, 0)] * (x.ndim - 1 - count)])
    if any(dim % size for dim, size in zip(padded.shape[1:], block)):
        raise ValueError(f"blocks {block} do not divide {padded.shape}")
    outer = [dim // size for dim, size in zip(padded.shape[1:], block)]
    rest = x.shape[1 + count :]
    split = padded.reshape(x.shape[0], *(n for pair in zip(outer, block) for n in pair), *rest)
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(1 + 2 * count, split.ndim)]
    return split.transpose(order).reshape(x.shape[0] * math.prod(block), *outer, *rest)


@lower("BatchToSpaceND", static=(1, 2))
def batch_to_space(xla: Any, x: Any, block_shape: Array, crops: Array) -> Any:
    """Return the places within a block from the batch to space, and crop the borders."""
    block = _checked(x, block_shape, crops)
    count = len(block)
    if x.shape[0] % math.prod(block):
        raise ValueError(f"blocks {block} do not divide {x.shape}")
    batch, spatial, rest = x.shape[0] // math.prod(block), x.shape[1 : 1 + count], x.shape[1 + count :]
    blocks = x.reshape(*block, batch, *spatial, *rest)
    order = [count, *(n for i in range(count) for n in (count + 1 + i, i)), *range(1 + 2 * count, blocks.ndim)]
    full = [dim * size for dim, size in zip(spatial, block)]
    if any(before + after > dim for dim, (before, after) in zip(full, crops.tolist())):
        raise ValueError(f"crops {crops.tolist()} are larger than {full}")
    joined = blocks.transpose(order).reshape(batch, *full, *rest)
    return joined[(slice(None), *(slice(low, dim - high) for dim, (low, high) in zip(full, crops.tolist())))]


@lower("SpaceToBatch", static=(1,))
def square_space_to_batch(xla: Any, x: Any, paddings: Array, *, block_size: int) -> Any:
    """Cut images into square blocks and move the places within a block in front of the batch."""
    return space_to_batch(xla, x, np.full(2, block_size), paddings)


@lower("BatchToSpace", static=(1,))
def square_batch_to_space(xla: Any, x: Any, crops: Array, *, block_size: int) -> Any:
    """Return the places within a square block from the batch to images."""
    return batch_to_space(xla, x, np.full(2, block_size), crops)


def _checked(x: Any, block_shape: Array, amounts: Array) -> list[int]:
    """Return the sizes of a block that fits x, with an amount before and after each dimension."""
    block = block_shape.tolist()
    if np.ndim(block_shape) != 1 or amounts.shape != (len(block), 2) or x.ndim < 1 + len(block):
        raise ValueError(f"blocks of {block} do not fit the shape {x.shape}")
    if min(block, default=1) < 1 or (amounts.size and amounts.min() < 0):
        raise ValueError(f"blocks {block} or amounts {amounts.tolist()} are negative")
    return block


@lower("SpaceToDepth")
def space_to_depth(xla: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    """Move blocks of space, block_size x block_size, to depth."""
    n, h, w, c = _channels_last(x, data_format).shape
    blocks = _channels_last(x, data_format).reshape(n, h // block_size, block_size, w // block_size, block_size, c)
    result = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // block_size, w // block_size, block_size * block_size * c)
    return _in_format(result, data_format)


@lower("DepthToSpace")
def depth_to_space(xla: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    """Move depth to blocks of space, block_size x block_size."""
    n, h, w, c = _channels_last(x, data_format).shape
    depth = c // (block_size * block_size)
    blocks = _channels_last(x, data_format).reshape(n, h, w, block_size, block_size, depth).transpose(0, 1, 3, 2, 4, 5)
    return _in_format(blocks.reshape(n, h * block_size, w * block_size, depth), data_format)


def _channels_last(x: Any, data_format: str) -> Any:
    if data_format == "NCHW_VECT_C" or x.ndim != 4:
        raise ValueError(f"shape {x.shape} in layout {data_format}")
    return x.transpose(0, 2, 3, 1) if data_format == "NCHW" else x


def _in_format(x: Any, data_format: str) -> Any:
    return x.transpose(0, 3, 1, 2) if data_format == "NCHW" else x


@lower("ExtractImagePatches")
def image_patches(xla: Any, images: Any, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Any:
    """Return the windows of images laid out in depth."""
    return _patches(xla, images, ksizes[1:3], strides[1:3], rates[1:3], padding)


@lower("ExtractVolumePatches")
def volume_patches(xla: Any, x: Any, *, ksizes: list[int], strides: list[int], padding: str) -> Any:
    """Return the windows of volumes laid out in depth."""
    return _patches(xla, x, ksizes[1:4], strides[1:4], (1, 1, 1), padding)


def _patches(xla: Any, x: Any, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str) -> Any:
    """Return the windows of the spatial dimensions laid out in depth, place by place."""
    extents = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]
    pads = xla.lax.padtype_to_pads(x.shape[1:-1], extents, strides, padding)
    padded = xla.pad(x, [(0, 0), *pads, (0, 0)])
    counts = [max((dim - extent) // stride + 1, 0) for dim, extent, stride in zip(padded.shape[1:], extents, strides)]
    if not min(counts):
        return xla.zeros((x.shape[0], *counts, math.prod(sizes) * x.shape[-1]), x.dtype)
    taken = []
    for place in itertools.product(*map(range, sizes)):
        starts = [at * rate for at, rate in zip(place, rates)]
        spans = [slice(start, start + (n - 1) * step + 1, step) for start, n, step in zip(starts, counts, strides)]
        taken.append(padded[(slice(None), *spans)])
    return xla.concatenate(taken, -1)
