"""Systems of linear equations in ONNX by loops over the columns of the matrix, as ONNX has no such operators."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...types import dtypes
from ..shared.onnx_lowerings import adjoint_of, along, gathered, last_dims, transposed

_END: Final = np.iinfo(np.int64).max


def matrices(g: Any, x: Any) -> Any:
    """Flatten the batch dimensions of matrices."""
    outer = g.slice(g.dims(x), 0, g.rank(x) - 2)
    count = g.ReduceProd(outer, [0]) if outer.array is None else math.prod(outer.array.tolist())
    return g.of_dims(x, count, g.dim(x, -2), g.dim(x, -1))


def identity(g: Any, matrix: Any) -> Any:
    """Return the identity of a matrix's size and dtype."""
    numbers = along(g, matrix, -1)
    return g.cast(g.Equal(g.unsqueeze(numbers, -1), numbers), matrix.dtype)


def solved(g: Any, matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Solve the system by elimination with the largest pivot of each column."""
    size, rank = g.dim(matrix, -1), g.rank(matrix)
    both = g.Concat(adjoint_of(g, matrix) if adjoint else matrix, rhs, axis=rank - 1)
    width = g.Add(size, g.dim(rhs, -1))
    rows = matrices(g, both)
    numbers = g.unsqueeze(along(g, matrix, -1), 0, -1)
    (rows,) = g.repeat(g.reshape(size, []), [rows], lambda k, carried: [_step(g, carried[0], g.unsqueeze(k, 0), numbers)])
    return g.of_dims(g.slice(rows, size, width, 2), g.dims(rhs))


def _step(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Eliminate column k: a 1 in row k, after the largest element from there on was moved to row k, and zeros elsewhere."""
    rows = _pivoted(g, rows, k, numbers)
    row = g.Gather(rows, k, axis=1)
    pivot = g.Div(row, g.Gather(row, k, axis=2))
    rest = g.Sub(rows, g.Mul(g.Gather(rows, k, axis=2), pivot))
    return g.Where(g.Equal(numbers, k), pivot, rest)


def _pivoted(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Exchange row k with the row from k on that has the largest element in column k."""
    order = _order(g, rows, k, numbers)
    return g.GatherElements(rows, g.Expand(order, g.dims(rows)), axis=1)


def _order(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Return the row order of that exchange, (matrices, rows, 1)."""
    sizes = g.Abs(g.Gather(rows, k, axis=2))
    best = g.ArgMax(g.Where(g.Less(numbers, k), g.like(-1, sizes), sizes), axis=1, keepdims=1)
    return g.Where(g.Equal(numbers, k), best, g.Where(g.Equal(numbers, best), k, numbers))


def determinant(g: Any, matrix: Any) -> tuple[Any, Any]:
    """Return the sign of the determinant (the direction, for complex matrices) and the logarithm of its absolute value."""
    size = g.dim(matrix, -1)
    rows = matrices(g, matrix)
    numbers = g.unsqueeze(along(g, matrix, -1), 0, -1)
    log = g.zeros_like(g.Abs(g.ReduceSum(rows, [1, 2], keepdims=0)))
    sign = g.Add(g.cast(log, matrix.dtype), 1)

    def advance(i: Any, carried: Any) -> Any:
        rows, sign, log = carried
        k = g.unsqueeze(i, 0)
        order = _order(g, rows, k, numbers)
        turned = g.squeeze(g.Not(g.Equal(g.Gather(order, k, axis=1), k)), 1, 2)
        rows = g.GatherElements(rows, g.Expand(order, g.dims(rows)), axis=1)
        row = g.Gather(rows, k, axis=1)
        pivot = g.Gather(row, k, axis=2)
        factors = g.Where(g.Greater(numbers, k), g.Div(g.Gather(rows, k, axis=2), pivot), 0)
        one = g.squeeze(pivot, 1, 2)
        sign = g.Mul(sign, g.Where(turned, g.Neg(g.Sign(one)), g.Sign(one)))
        return [g.Sub(rows, g.Mul(factors, row)), sign, g.Add(log, g.Log(g.Abs(one)))]

    _, sign, log = g.repeat(g.reshape(size, []), [rows, sign, log], advance)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    return g.of_dims(sign, outer), g.of_dims(g.cast(log, matrix.dtype), outer)


def inverse(g: Any, matrix: Any, *, adjoint: bool) -> Any:
    return solved(g, matrix, g.Expand(identity(g, matrix), g.dims(matrix)), adjoint)


def triangle(g: Any, matrix: Any, *, lower: bool) -> Any:
    """Return the elements on the diagonal and below or above it, zeros elsewhere."""
    rows, columns = (along(g, matrix, axis) for axis in (-2, -1))
    inner, outer = (g.unsqueeze(rows, -1), columns) if lower else (columns, g.unsqueeze(rows, -1))
    return g.Where(g.GreaterOrEqual(inner, outer), matrix, g.like(0, matrix))


def triangular(g: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve the system of the lower or upper triangle of the matrix, column by column; a zero on the diagonal divides."""
    left = adjoint_of(g, matrix) if adjoint else matrix
    outer = g.dims(g.Add(g.ReduceSum(left, [-1]), rhs))  # the batches broadcast
    batch = g.slice(outer, 0, -2)
    left, right = (matrices(g, g.Expand(x, g.joined(batch, g.slice(g.dims(x), -2, _END)))) for x in (left, rhs))
    size, numbers = g.reshape(g.dim(matrix, -1), []), g.unsqueeze(along(g, matrix, -1), 0, -1)
    is_down = lower != adjoint

    def advance(i: Any, carried: Any) -> Any:
        k = g.unsqueeze(i if is_down else g.Sub(g.Sub(size, 1), i), 0)
        column, row = g.Gather(left, k, axis=2), g.Gather(carried[0], k, axis=1)
        row = g.Div(row, g.Gather(column, k, axis=1))
        rest = g.Sub(carried[0], g.Mul(column, row))
        is_open = g.Greater(numbers, k) if is_down else g.Less(numbers, k)
        return [g.Where(g.Equal(numbers, k), row, g.Where(is_open, rest, carried[0]))]

    return g.of_dims(g.repeat(size, [right], advance)[0], outer)


def banded(g: Any, bands: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve the system of a triangle given by its diagonals."""
    count, size = last_dims(g, bands, 2)
    rows, columns = np.mgrid[:size, :size]
    below = rows - columns if lower else columns - rows
    places = np.where((below >= 0) & (below < count), (below if lower else count - 1 - below) * size + rows, -1)
    return triangular(g, gathered(g, bands, places, 2, g.like(0, bands)), rhs, lower=lower, adjoint=adjoint)


def cholesky(g: Any, matrix: Any) -> Any:
    """Return the lower triangle L with L L^H equal to the matrix, column by column."""
    size = g.dim(matrix, -1)
    left = matrices(g, matrix)
    columns = g.unsqueeze(along(g, matrix, -1), 0, 1)
    rows = transposed(g, columns)

    def advance(i: Any, carried: Any) -> Any:
        left, factor = carried
        k = g.unsqueeze(i, 0)
        column = g.Gather(left, k, axis=2)
        scaled = g.Div(column, g.Sqrt(g.Gather(column, k, axis=1)))
        scaled = g.Where(g.Less(rows, k), g.like(0, scaled), scaled)
        left = g.Sub(left, g.MatMul(scaled, adjoint_of(g, scaled)))
        return [left, g.Where(g.Equal(columns, k), scaled, factor)]

    factor = g.repeat(g.reshape(size, []), [left, g.zeros_like(left)], advance)[1]
    return g.of_dims(factor, g.dims(matrix))


def cholesky_gradient(g: Any, factor: Any, grad: Any) -> Any:
    """Return the gradient by the matrix that was factored (Murray, arXiv:1602.07527)."""
    lower = triangle(g, factor, lower=True)
    middle = triangle(g, g.MatMul(transposed(g, lower), triangle(g, grad, lower=True)), lower=True)
    both = g.Add(middle, transposed(g, middle))
    middle = g.Where(_is_diagonal(g, factor), middle, both)
    left = solved(g, lower, middle, adjoint=True)
    return g.Mul(transposed(g, solved(g, lower, transposed(g, left), adjoint=True)), 0.5)


def _is_diagonal(g: Any, matrix: Any) -> Any:
    return g.Equal(g.unsqueeze(along(g, matrix, -2), -1), along(g, matrix, -1))


def least_squares(g: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Solve by the normal equations of the first kind for tall matrices, of the second for wide matrices; in 64 bits where
    possible.
    """
    rows, columns = last_dims(g, matrix, 2)
    dtype, is_tall = matrix.dtype, rows >= columns
    wide = dtypes.complex128 if dtype.is_complex else dtypes.float64
    matrix, rhs, scale = (g.cast(value, wide) for value in (matrix, rhs, l2_regularizer))
    other = adjoint_of(g, matrix)
    gram = g.MatMul(other, matrix) if is_tall else g.MatMul(matrix, other)
    if fast:
        gram = g.Add(gram, g.Mul(identity(g, gram), scale))
    return g.cast(solved(g, gram, g.MatMul(other, rhs)) if is_tall else g.MatMul(other, solved(g, gram, rhs)), dtype)


def tridiagonal(g: Any, upper: Any, main: Any, lower: Any) -> Any:
    """Return the matrices with these diagonals (..., n); element i of a diagonal stands in row i."""
    rows, columns = g.unsqueeze(along(g, main, -1), -1), along(g, main, -1)
    distance = g.Sub(columns, rows)
    matrix = g.like(0, main)
    for place, diagonal in ((-1, lower), (0, main), (1, upper)):
        matrix = g.Where(g.Equal(distance, place), g.unsqueeze(diagonal, -1), matrix)
    return matrix


def factored(g: Any, matrix: Any) -> tuple[Any, Any]:
    """Return both triangles in a single matrix, and the permutation of its rows."""
    rows = matrices(g, matrix)
    columns, numbers = g.unsqueeze(along(g, matrix, -1), 0, 1), g.unsqueeze(along(g, matrix, -1), 0, -1)
    order = g.Expand(numbers, g.joined(g.dim(rows, 0), g.dim(rows, 1), 1))

    def advance(i: Any, carried: Any) -> Any:
        rows, order = carried
        k = g.unsqueeze(i, 0)
        turned = _order(g, rows, k, numbers)
        order = g.GatherElements(order, turned, axis=1)
        rows = g.GatherElements(rows, g.Expand(turned, g.dims(rows)), axis=1)
        row, is_below = g.Gather(rows, k, axis=1), g.Greater(numbers, k)
        factors = g.Div(g.Gather(rows, k, axis=2), g.Gather(row, k, axis=2))
        left = g.Where(g.Greater(columns, k), g.Sub(rows, g.Mul(factors, row)), g.Where(g.Equal(columns, k), factors, rows))
        return [g.Where(is_below, left, rows), order]

    rows, order = g.repeat(g.reshape(g.dim(matrix, -1), []), [rows, order], advance)
    return g.of_dims(rows, g.dims(matrix)), g.of_dims(order, g.slice(g.dims(matrix), 0, g.rank(matrix) - 1))


def orthogonal(g: Any, matrix: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    """Return Q and R by reflections; the diagonal of R has LAPACK's signs."""
    height, width = last_dims(g, matrix, 2)
    least = min(height, width)
    right = matrices(g, matrix)
    left = g.Add(g.constant(np.eye(height), matrix.dtype), g.MatMul(g.zeros_like(right), transposed(g, g.zeros_like(right))))
    numbers = g.constant(np.arange(height).reshape(1, height, 1))

    def advance(i: Any, carried: Any) -> Any:
        left, right = carried
        vector, scale = _reflection(g, g.Gather(right, g.unsqueeze(i, 0), axis=2), i, numbers)
        row = adjoint_of(g, vector)
        right = g.Sub(right, g.Mul(g.conjugate(scale), g.MatMul(vector, g.MatMul(row, right))))
        return [g.Sub(left, g.Mul(scale, g.MatMul(g.MatMul(left, vector), row))), right]

    left, right = g.repeat(least, [left, right], advance)
    inner = height if full_matrices else least
    q, r = g.slice(left, 0, inner, 2), g.slice(triangle(g, right, lower=False), 0, inner, 1)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    return g.of_dims(q, outer, height, inner), g.of_dims(r, outer, inner, width)


def _reflection(g: Any, column: Any, i: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the vector, 1 at place i, and the factor of the reflection that clears a column below that place.

    A column that is already clear stays the same.
    """
    zero = g.like(0, column)
    head = g.Gather(column, g.unsqueeze(i, 0), axis=1)
    tail = g.Where(g.Greater(numbers, i), column, zero)
    rest = g.ReduceSum(g.Mul(g.Abs(tail), g.Abs(tail)), [1])
    first, other = g.parts(head) if head.dtype.is_complex else (head, g.zeros_like(head))
    size = g.Sqrt(g.Add(g.Add(g.Mul(first, first), g.Mul(other, other)), rest))
    end = g.cast(g.Where(g.Less(first, 0), size, g.Neg(size)), head.dtype)
    stays = g.And(g.Equal(rest, 0), g.Equal(other, 0))
    vector = g.Where(stays, zero, g.Div(tail, g.Sub(head, end)))
    vector = g.Where(g.Equal(numbers, i), g.like(1, column), vector)
    return vector, g.Where(stays, zero, g.Div(g.Sub(end, head), end))
