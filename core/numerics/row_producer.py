"""Producers of rows: the input of a convolution, computed by rows on demand, so that the rows stay in a cache.

An array (N, spatial..., C) has a row of C numbers for each position; the positions of all images follow each other.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..parallel.gemm import BLOCK_ELEMENTS, cut, divide, workers_for
from ..types.arrays import Array
from .windows import block_positions, image_blocks

FinishRows = Callable[[Array, int], object]
"""The epilogue of rows (positions, C), with the position of the first row."""


class ByRows(NamedTuple):
    """An op's computation by rows of the first input, which the kernel takes from a `producer`.

    `suits` is (node, shape of w) -> whether the node is supported. `make` is (x, w, *, finish, bias, producer,
    **attributes) -> RowProducer, or None where not possible. With `overlaps` neighbouring ranges of positions share rows.
    """

    suits: Callable[..., bool]
    make: Callable[..., RowProducer | None]
    overlaps: bool


@dataclasses.dataclass(frozen=True, slots=True)
class RowProducer:
    """An array that is computed by rows: `make` returns the rows of a range of positions.

    With `by_lines`, a range has whole images, or lines of a single image. `work` is the time for all rows, in multiply-adds
    of a product.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    make: Callable[[slice], Array]
    work: int = 0
    by_lines: bool = False

    def parts(self, count: int) -> list[slice]:
        """Divide all positions into about `count` ranges."""
        if not self.by_lines:
            return cut(math.prod(self.shape[:-1]), count)
        return [block_positions(block, self.shape) for block in image_blocks(self.shape[0], self.shape[1], count)]

    def whole(self) -> Array:
        """Return the whole array, computed in parallel where the work is worth the threads."""
        workers = workers_for(self.work)
        result = np.empty(self.shape, self.dtype)
        rows = result.reshape(-1, self.shape[-1])

        def fill(some: slice) -> None:
            rows[some] = self.make(some)

        divide(fill, self.parts(max(-(-result.size // BLOCK_ELEMENTS), workers)), workers)
        return result
