"""Bands and diagonals of matrices as array programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...registry.registry import arrays, lower
from ...types.arrays import Array
from ..shared.argument_checks import require, require_min_rank, scalar
from ._diagonals import band, band_places, band_width, diagonal_range, longest, matrix_size, require_diagonals

_MAIN = np.zeros((), np.int32)


@lower("MatrixBandPart", "BatchMatrixBandPart", static=(1, 2))
def band_part(xla: Any, x: Any, lower_: Array, upper: Array) -> Any:
    """Return the matrices with zeros outside the band."""
    rows, columns = x.shape[-2:]
    widths = band_width(lower_, "num_lower", rows), band_width(upper, "num_upper", columns)
    return xla.where(band(rows, columns, *widths), x, 0)


@lower("MatrixDiagV2", "MatrixDiagV3", static=(1, 2, 3))
def of_diagonals(
    xla: Any, diagonal: Any, k: Array, num_rows: Array, num_cols: Array, padding: Any, *, align: str = "LEFT_LEFT"
) -> Any:
    """Return matrices with the given diagonals and the padding elsewhere."""
    bounds = diagonal_range(k)
    has_many = bounds[0] < bounds[1]
    require_min_rank(diagonal, 2 if has_many else 1, "diagonal")
    require(not has_many or diagonal.shape[-2] == bounds[1] - bounds[0] + 1, f"{diagonal.shape} does not fit {bounds}")
    require(np.ndim(padding) == 0, "padding_value must be scalar")
    size = matrix_size(diagonal.shape[-1], *bounds, scalar(num_rows, "num_rows"), scalar(num_cols, "num_cols"))
    # The padding has no gradient in TensorFlow.
    padding = xla.lax.stop_gradient(padding)
    matrices = xla.full((*diagonal.shape[: -2 if has_many else -1], *size), padding, diagonal.dtype)
    return _with_diagonals(xla, matrices, diagonal, bounds, align)


def _with_diagonals(xla: Any, matrices: Any, diagonal: Any, bounds: tuple[int, int], align: str) -> Any:
    row, column, place, position = band_places(*matrices.shape[-2:], *bounds, align)
    packed = diagonal if bounds[0] < bounds[1] else diagonal[..., None, :]
    return matrices.at[..., row, column].set(packed[..., place, position], unique_indices=True) if row.size else matrices


@arrays("MatrixDiag", "BatchMatrixDiag")
def main_diagonal(xp: Any, diagonal: Any) -> Any:
    """Return square matrices with the given main diagonals."""
    require_min_rank(diagonal, 1, "diagonal")
    return xp.where(np.eye(diagonal.shape[-1], dtype=bool), diagonal[..., None, :], np.zeros((), diagonal.dtype))


@lower("MatrixDiagPartV2", "MatrixDiagPartV3", static=(1,))
def diagonals_of(xla: Any, x: Any, k: Array, padding: Any, *, align: str = "LEFT_LEFT") -> Any:
    """Return the diagonals k of matrices, packed where there are several."""
    require_min_rank(x, 2, "input")
    bounds, (rows, columns) = diagonal_range(k), x.shape[-2:]
    require_diagonals(rows, columns, *bounds)
    require(padding.size == 1, "padding_value must have one element")
    if bounds[0] == bounds[1]:
        return xla.diagonal(x, bounds[1], -2, -1)
    row, column, place, position = band_places(rows, columns, *bounds, align)
    size = (bounds[1] - bounds[0] + 1, max(longest(rows, columns, *bounds), 0))
    packed = xla.full((*x.shape[:-2], *size), xla.lax.stop_gradient(padding.reshape(())), x.dtype)
    return packed.at[..., place, position].set(x[..., row, column], unique_indices=True) if row.size else packed


@lower("MatrixDiagPart", "BatchMatrixDiagPart")
def main_diagonal_of(xla: Any, x: Any) -> Any:
    """Return the main diagonals of matrices."""
    require_min_rank(x, 2, "input")
    return xla.diagonal(x, 0, -2, -1)


@lower("MatrixSetDiagV2", "MatrixSetDiagV3", static=(2,))
def with_diagonals(xla: Any, x: Any, diagonal: Any, k: Array, *, align: str = "LEFT_LEFT") -> Any:
    """Return the matrices with the diagonals k replaced."""
    require_min_rank(x, 2, "input")
    bounds, (rows, columns) = diagonal_range(k), x.shape[-2:]
    require_diagonals(rows, columns, *bounds)
    count = () if bounds[0] == bounds[1] else (bounds[1] - bounds[0] + 1,)
    expected = (*x.shape[:-2], *count, longest(rows, columns, *bounds))
    require(diagonal.shape == expected, f"diagonal must have shape {expected}, not {diagonal.shape}")
    return _with_diagonals(xla, x, diagonal, bounds, align)


@lower("MatrixSetDiag", "BatchMatrixSetDiag")
def with_main_diagonal(xla: Any, x: Any, diagonal: Any) -> Any:
    """Return the matrices with other main diagonals."""
    return with_diagonals(xla, x, diagonal, _MAIN)


@lower("Diag")
def diagonal_tensor(xla: Any, diagonal: Any) -> Any:
    """Return a tensor of twice the rank, zero where the two halves of the index differ."""
    require_min_rank(diagonal, 1, "diagonal")
    return main_diagonal(xla, diagonal.reshape(-1)).reshape(diagonal.shape * 2)


@lower("DiagPart")
def diagonal_of_tensor(xla: Any, x: Any) -> Any:
    """Return the elements where both halves of the index agree."""
    half = x.ndim // 2
    require(x.ndim and x.ndim % 2 == 0 and x.shape[:half] == x.shape[half:], f"shape {x.shape} has no diagonal")
    size = math.prod(x.shape[:half])
    return xla.diagonal(x.reshape(size, size)).reshape(x.shape[:half])
