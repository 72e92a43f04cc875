"""Systems of equations and factors of matrices, of which ONNX has no operators: loops over the columns compute them.

The functions are array programs: `xp` is the namespace of `array_programs`, and the engine of XLA has LAPACK's functions by
the same names. Matrices lie in the last two dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def solved(xp: Any, matrix: Any, rhs: Any, message: str = "") -> Any:
    """Return X with A X = rhs by elimination with the largest pivot of each column."""
    # Gauss-Jordan elimination: the matrix beside the right side becomes the identity beside the solution. It takes a third of
    # the steps of a factorization with two substitutions, and a step of a loop costs more than the numbers of usual sizes.
    both = xp.concatenate([matrix, rhs], -1)
    size, dims = matrix.shape[-1], xp.dims_of(both.shape)
    numbers = xp.arange(size)[:, None]

    def eliminated(i: Any, rows: Any) -> Any:
        """Return a 1 in row i of column i, after the largest element from there on was moved to row i, and zeros elsewhere."""
        k = i[None]
        order = _exchanged(xp, numbers, k, _pivot(xp, rows, k, numbers))
        rows = xp.take_along_axis(rows, xp.broadcast_to(order, dims), -2)
        row = xp.take(rows, k, -2)
        row = row / xp.take(row, k, -1)
        return xp.where(numbers == k, row, rows - xp.take(rows, k, -1) * row)

    return xp.fori_loop(0, size, eliminated, both)[..., size:]


def _pivot(xp: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Return the row from k on that has the largest element in column k, (..., 1, 1)."""
    # Rows above k are done: -1 is below every absolute value.
    return xp.argmax(xp.where(numbers < k, -1, abs(xp.take(rows, k, -1))), -2, keepdims=True)


def _exchanged(xp: Any, numbers: Any, k: Any, other: Any) -> Any:
    """Return row numbers (..., rows, 1) with those of two rows exchanged."""
    return xp.where(numbers == k, other, xp.where(numbers == other, k, numbers))


def lu(xp: Any, matrix: Any) -> tuple[Any, Any, Any]:
    """Return both triangular factors in one matrix, the row that each row was exchanged with, and the order of the rows."""
    columns = xp.arange(matrix.shape[-1])
    numbers, dims = columns[:, None], xp.dims_of(matrix.shape)
    start = xp.zeros_like(matrix[..., :1]).real.astype("int64") + numbers

    def advance(i: Any, carried: Any) -> Any:
        rows, swaps, order = carried
        k = i[None]
        pivot = _pivot(xp, rows, k, numbers)
        turned = _exchanged(xp, numbers, k, pivot)
        rows = xp.take_along_axis(rows, xp.broadcast_to(turned, dims), -2)
        row = xp.take(rows, k, -2)
        factors = xp.take(rows, k, -1) / xp.take(row, k, -1)
        left = xp.where(columns > k, rows - factors * row, xp.where(columns == k, factors, rows))
        return xp.where(numbers > k, left, rows), xp.where(numbers == k, pivot, swaps), xp.take_along_axis(order, turned, -2)

    rows, swaps, order = xp.fori_loop(0, matrix.shape[-1], advance, (matrix, start, start))
    return rows, swaps[..., 0], order[..., 0]


def cholesky(xp: Any, matrix: Any, symmetrize_input: bool) -> Any:
    """Return the lower triangles L with L L^H equal to the matrices, column by column."""
    columns = xp.arange(matrix.shape[-1])
    numbers = columns[:, None]

    def advance(i: Any, carried: Any) -> Any:
        left, factor = carried
        column = xp.take(left, i[None], -1)
        scaled = column / xp.sqrt(xp.take(column, i[None], -2))
        # The outer product form: the product of column i with itself is subtracted before column i + 1 is taken.
        scaled = xp.where(numbers < i, 0, scaled)
        return left - scaled @ xp.conj(scaled.swapaxes(-1, -2)), xp.where(columns == i, scaled, factor)

    return xp.fori_loop(0, matrix.shape[-1], advance, (matrix, xp.zeros_like(matrix)))[1]


def substituted(xp: Any, matrix: Any, rhs: Any, *, is_lower: bool, adjoint: bool = False) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, for triangles A; the batch dimensions broadcast, and a zero pivot divides."""
    left = xp.conj(matrix.swapaxes(-1, -2)) if adjoint else matrix
    size, is_down = matrix.shape[-1], is_lower != adjoint
    numbers, last = xp.arange(size)[:, None], xp.dims_of([size]) - 1

    def advance(i: Any, right: Any) -> Any:
        k = i[None] if is_down else last - i
        column, row = xp.take(left, k, -1), xp.take(right, k, -2)
        row = row / xp.take(column, k, -2)
        # All rows at once: those that are solved already are kept by the mask.
        is_open = numbers > k if is_down else numbers < k
        return xp.where(numbers == k, row, xp.where(is_open, right - column * row, right))

    return xp.fori_loop(0, size, advance, xp.broadcast_to(rhs, (xp.sum(left, -1, keepdims=True) + rhs).shape))


def pinv(xp: Any, matrix: Any, rtol: float) -> Any:
    """Return the pseudo-inverses of matrices of full rank, by the smaller of both Gram matrices, which is regular then."""
    rows, columns = matrix.shape[-2:]
    # The Gram matrix squares the condition number, so that single precision loses half of its digits.
    wide = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
    adjoint = xp.conj(wide.swapaxes(-1, -2))
    if rows >= columns:
        return solved(xp, adjoint @ wide, adjoint).astype(matrix.dtype)
    # A^H G^-1 is the adjoint of G^-1 A, as G is Hermitian.
    return xp.conj(solved(xp, wide @ adjoint, wide).swapaxes(-1, -2)).astype(matrix.dtype)


def tridiagonal_solve(xp: Any, below: Any, main: Any, above: Any, rhs: Any) -> Any:
    """Return the solutions of systems given by three diagonals (..., n); element i of each stands in row i."""
    # As dense systems: loops over the rows cost more than the zeros for matrices of usual sizes.
    columns = xp.arange(main.shape[-1])
    distance = columns - columns[:, None]
    matrix = xp.where(distance == 0, main[..., None], 0)
    for place, diagonal in ((-1, below), (1, above)):
        matrix = xp.where(distance == place, diagonal[..., None], matrix)
    return solved(xp, matrix, rhs)
