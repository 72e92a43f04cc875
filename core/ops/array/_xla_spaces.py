"""Patches of space as array programs: strided slices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...registry.registry import arrays, lower
from ..shared.window_geometry import window_pads


@lower("ExtractImagePatches")
def image_patches(xla: Any, images: Any, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Any:
    """Return the windows of images laid out in depth."""
    return _patches(xla, images, ksizes[1:3], strides[1:3], rates[1:3], padding)


@arrays("ExtractVolumePatches")
def volume_patches(xp: Any, x: Any, *, ksizes: list[int], strides: list[int], padding: str) -> Any:
    """Return the windows of volumes laid out in depth."""
    return _patches(xp, x, ksizes[1:4], strides[1:4], (1, 1, 1), padding)


def _patches(xp: Any, x: Any, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str) -> Any:
    """Return the windows of the spatial dimensions laid out in depth, place by place."""
    extents = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]
    pads = window_pads(x.shape[1:-1], sizes, strides, rates, padding)
    padded = xp.pad(x, [(0, 0), *pads, (0, 0)])
    counts = [max((dim - extent) // stride + 1, 0) for dim, extent, stride in zip(padded.shape[1:], extents, strides)]
    if not min(counts):
        return xp.zeros((x.shape[0], *counts, math.prod(sizes) * x.shape[-1]), x.dtype)
    taken = []
    for place in itertools.product(*map(range, sizes)):
        starts = [at * rate for at, rate in zip(place, rates)]
        spans = [slice(start, start + (n - 1) * step + 1, step) for start, n, step in zip(starts, counts, strides)]
        taken.append(padded[(slice(None), *spans)])
    return xp.concatenate(taken, -1)
