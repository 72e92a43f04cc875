"""Bands and diagonals of matrices: their places, and the checks of their numbers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dims import DimLike, dim_max, dim_min
from ..shared.argument_checks import require, scalar


@functools.lru_cache(maxsize=64)
def band(rows: int, columns: int, lower: int, upper: int) -> Array:
    """(rows, columns): True where -lower <= column - row <= upper."""
    offset = np.arange(columns) - np.arange(rows)[:, None]
    return (offset >= -lower) & (offset <= upper)


def band_width(value: Array, name: str, size: int) -> int:
    """Return the number of diagonals on a side of the main diagonal; a negative number means all."""
    width: int = scalar(value, name)
    require(width <= size, f"{name} must be negative or not above {size}, not {width}")
    return size if width < 0 else width


#
# Diagonal d of a matrix holds the elements with column - row = d. Several diagonals are packed as the rows of a matrix, from
# the uppermost down, each as long as the longest: `align` says on which side the shorter ones are padded.
@functools.lru_cache(maxsize=64)
def band_places(rows: int, columns: int, lower: int, upper: int, align: str) -> tuple[Array, Array, Array, Array]:
    """Return the band's places: (row, column) in the matrix, (diagonal, position) in the packed diagonals."""
    row, column = np.nonzero(band(rows, columns, -lower, upper))
    diagonal = column - row
    length = np.minimum(rows + np.minimum(diagonal, 0), columns - np.maximum(diagonal, 0))
    upper_left, lower_left = (side == "LEFT" for side in align.split("_"))
    is_left = ((diagonal >= 0) & upper_left) | ((diagonal <= 0) & lower_left)
    padding = np.where(is_left, 0, longest(rows, columns, lower, upper) - length)
    return row, column, upper - diagonal, np.minimum(row, column) + padding


def longest(rows: DimLike, columns: DimLike, lower: int, upper: int) -> Any:
    """Return the length of the longest diagonal between `lower` and `upper`."""
    return dim_min(rows + min(upper, 0), columns - max(lower, 0))


def from_diagonals(diagonal: Array, lower: int, upper: int, rows: int, columns: int, padding: Array, align: str) -> Array:
    """Return matrices of `padding` with the given diagonals."""
    batch = diagonal.shape[: -2 if lower < upper else -1]
    result = np.empty((*batch, rows, columns), diagonal.dtype)
    result[...] = padding
    set_diagonals(result, diagonal, lower, upper, align)
    return result


def set_diagonals(result: Array, diagonal: Array, lower: int, upper: int, align: str) -> None:
    """Write diagonals into contiguous matrices (..., rows, columns)."""
    rows, columns = result.shape[-2:]
    if lower == upper and columns:  # every so many elements, as long as there are rows
        start = upper if upper >= 0 else -upper * columns
        result.reshape(*result.shape[:-2], rows * columns)[..., start :: columns + 1][..., : diagonal.shape[-1]] = diagonal
        return
    row, column, place, position = band_places(rows, columns, lower, upper, align)
    packed = diagonal if lower < upper else diagonal[..., None, :]
    result[..., row, column] = packed[..., place, position]


def diagonal_range(k: Array) -> tuple[int, int]:
    """Return (lower, upper) from a scalar, or a vector of one or two elements."""
    k = np.asarray(k)
    if k.ndim:
        require(k.ndim == 1, f"diag_index must be a scalar or vector, received shape: {k.shape}")
        require(k.size in (1, 2), f"diag_index must have only one or two elements, received {k.size} elements.")
    values = k.ravel().tolist()
    lower, upper = values[0], values[-1]
    require(lower <= upper, f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}")
    return lower, upper


def matrix_size(longest: Any, lower: Any, upper: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Return the size of a matrix from the length of its longest diagonal; -1 means the smallest size that fits."""
    least_rows, least_columns = longest - min(upper, 0), longest + max(lower, 0)
    if rows == -1 and columns == -1:
        rows = columns = dim_max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    are_known = all(isinstance(size, int) for size in (least_rows, least_columns, rows, columns))
    if are_known and (rows < least_rows or columns < least_columns):
        raise InvalidArgumentError(f"The number of rows or columns is too small: {rows} x {columns}")
    if are_known and rows != least_rows and columns != least_columns:
        raise InvalidArgumentError(
            f"The number of rows or columns is not consistent with the specified diagonals: {rows} x {columns}"
        )
    return rows, columns


def require_diagonals(rows: int, columns: int, lower: int, upper: int) -> None:
    for name, value in (("lower_diag_index", lower), ("upper_diag_index", upper)):
        if value and not -rows < value < columns:
            raise InvalidArgumentError(f"{name} is out of bound: {value}. It must be between {-rows} and {columns}")
