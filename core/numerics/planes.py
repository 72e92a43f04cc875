"""Windows of arrays of few channels, which lie apart in planes: copied by whole lines, not by the few numbers of a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .windows import Array, Block, bounded, offsets, output_sizes, pad

SHORTEST_RUN: Final = 8
"""With fewer numbers side by side in a window, whole lines of planes are copied in less time."""


class Planes:
    """A padded array (N, spatial..., C) of which windows are gathered that take each place in a row.

    There is a plane for each channel and phase, the positions that leave the same remainders by the strides.
    """

    def __init__(self, x: Array, window: Sequence[int], strides: Sequence[int]) -> None:
        strides = bounded(strides, x.shape[1:-1])
        self.window, self.strides = window, strides
        self.outputs = output_sizes(x, window, strides, [1] * len(window))
        x = pad(x, [(0, -n % s) for n, s in zip(x.shape[1:-1], strides)])
        rank = len(window)
        split = x.reshape(len(x), *(n for size, s in zip(x.shape[1:-1], strides) for n in (size // s, s)), x.shape[-1])
        axes = *range(2, 2 * rank + 1, 2), 2 * rank + 1, 0, *range(1, 2 * rank, 2)
        self.phases = np.ascontiguousarray(split.transpose(axes))

    def columns(self, block: Block) -> Array:
        """The windows of some lines of some images as a matrix (positions, window * C) by its columns."""
        images, lines = block
        seen: tuple[Any, ...] = (..., images, slice(lines.start, None), *[slice(None)] * (len(self.window) - 1))
        phases = self.phases[seen]
        count = lines.stop - lines.start
        channels, found = phases.shape[len(self.window)], phases.shape[len(self.window) + 1]
        columns = np.empty((*self.window, channels, found, count, *self.outputs[1:]), phases.dtype)
        for phase in offsets(self.strides):
            target = columns[tuple(slice(first, None, stride) for first, stride in zip(phase, self.strides))]
            planes = phases[phase]
            jumps = *planes.strides[2:], *planes.strides
            target[...] = np.lib.stride_tricks.as_strided(planes, target.shape, jumps, writeable=False)
        return columns.reshape(-1, found * count * int(np.prod(self.outputs[1:]))).T
