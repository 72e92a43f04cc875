"""What a convolution takes, made by rows when it needs them: so it stays in a cache on the way.

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
"""What is still to be done with rows (positions, C), the first of which is that of a position."""


class ByRows(NamedTuple):
    """How an op works by rows of its first input, which its kernel takes from a `feeding`.

    `suits` is (node, shape of w) -> whether a node does. `make` is (x, w, *, finish, summand, feeding, **attributes) ->
    Feeding, or None where it cannot. One that `overlaps` takes some rows for two ranges of positions.
    """

    suits: Callable[..., bool]
    make: Callable[..., Feeding | None]
    overlaps: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Feeding:
    """An array by its rows: `make` returns those of a range of positions.

    Where it goes `by_lines`, a range is of whole images, or of lines of one of them. Making all takes as long as so many
    multiply-adds of a product (`work`).
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    make: Callable[[slice], Array]
    work: int = 0
    by_lines: bool = False

    def parts(self, count: int) -> list[slice]:
        """All positions in about so many ranges."""
        if not self.by_lines:
            return cut(math.prod(self.shape[:-1]), count)
        return [block_positions(block, self.shape) for block in image_blocks(self.shape[0], self.shape[1], count)]

    def whole(self) -> Array:
        """The array, whose blocks threads share where that is worth it."""
        workers = workers_for(self.work)
        result = np.empty(self.shape, self.dtype)
        rows = result.reshape(-1, self.shape[-1])

        def fill(some: slice) -> None:
            rows[some] = self.make(some)

        divide(fill, self.parts(max(-(-result.size // BLOCK_ELEMENTS), workers)), workers)
        return result
