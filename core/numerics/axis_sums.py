"""Sums of floats over neighbouring axes as products with ones, which BLAS computes by whole vectors.

NumPy adds row to row, and calls a loop for each row: for sixteen columns that takes twenty times as long, and rounds more.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..parallel.work_division import TILE_ELEMENTS
from ..types.arrays import Array

_WORTHWHILE: Final = 1 << 10
"""The least number of elements where a product with ones takes less time than NumPy's sum."""
_WIDEST: Final = 1 << 11
"""The largest number of columns where several rows are laid side by side."""
_FEW_COLUMNS: Final = 32
"""The largest number of columns where comparing columns takes less time than NumPy's maximum of rows."""
_FEW_ROWS: Final = 16
"""The largest number of rows where NumPy's sum takes less time than a product with ones."""
_SMALL: Final = 1 << 15
"""The largest number of elements where a single product is faster than several, and rounds little."""


def summed(x: Array, axes: Sequence[int], keepdims: bool = False) -> Array:
    """Return the sum over axes in ascending order."""
    first, last = axes[0], axes[-1] + 1
    is_block = len(axes) == last - first < x.ndim
    if not (is_block and _is_worthwhile(x)):
        return np.add.reduce(x, tuple(axes), x.dtype, None, keepdims)  # type: ignore[call-overload]
    sums = _block_sums(x.reshape(math.prod(x.shape[:first]), -1, math.prod(x.shape[last:])))
    return sums.reshape(*x.shape[:first], *((1,) * len(axes) if keepdims else ()), *x.shape[last:])


def row_sums(x: Array) -> Array:
    """Return the sum of the rows of a matrix: `summed` over the first axis."""
    return column_sums(x) if _is_worthwhile(x) else np.add.reduce(x, 0, x.dtype)


def _is_worthwhile(x: Array) -> bool:
    """Return True for a large contiguous array of a dtype that BLAS multiplies."""
    return x.size >= _WORTHWHILE and x.dtype.char in "fd" and x.flags.c_contiguous


def row_maxima(x: Array) -> Array:
    """Return the maxima along the last axis, which stays with length 1; a few columns are compared with each other."""
    columns = x.shape[-1]
    if not 1 < columns <= _FEW_COLUMNS:
        return np.maximum.reduce(x, -1, keepdims=True)
    return np.maximum.reduce(np.ascontiguousarray(x.reshape(-1, columns).T), 0).reshape(*x.shape[:-1], 1)


def _block_sums(x: Array) -> Array:
    """Return the sums over the middle of three axes."""
    outer, count, inner = x.shape
    if outer == 1:
        return column_sums(x[0])
    ones = np.ones(count, x.dtype)
    return x.reshape(outer, count) @ ones if inner == 1 else np.matmul(ones, x)


def column_sums(x: Array) -> Array:
    """Return the sums of the columns of a matrix."""
    rows, columns = x.shape
    if rows <= _FEW_ROWS:
        return np.add.reduce(x, 0)
    if x.size <= _SMALL:
        return np.ones(rows, x.dtype) @ x
    fold = folded_rows(rows, columns)
    wide = x.reshape(rows // fold, fold * columns)
    step = max(TILE_ELEMENTS // wide.shape[1], 1)
    ones = np.ones(min(step, len(wide)), x.dtype)
    sums = ones @ wide[:step]
    for start in range(step, len(wide), step):
        part = wide[start : start + step]
        sums += ones[: len(part)] @ part
    return np.add.reduce(sums.reshape(fold, columns), 0)


@functools.lru_cache(1024)
def folded_rows(rows: int, columns: int) -> int:
    """Return a divisor of the number of rows: so many rows side by side make long vectors for BLAS."""
    return next(fold for fold in range(max(min(rows, _WIDEST // columns), 1), 0, -1) if rows % fold == 0)
