"""Singular values and eigenvalues in ONNX by one-sided Jacobi rotations, as ONNX has no such operators.

Source: Golub and Van Loan, Matrix Computations, 8.6.3: the columns of a matrix are turned in pairs until all are orthogonal.
The pairs of a round share no column, so that a round is one step of a loop, and a tournament of rounds has each pair once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...types.shapes import Shape, TensorSpec
from ..shared.onnx_lowerings import adjoint_of, last_dims
from ._onnx_linalg import matrices, orthogonal, triangle

_SWEEPS: Final = 14
"""The number of tournaments; the sum of the products of columns shrinks quadratically after a few."""


def singular_values(g: Any, matrix: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    """Return the singular values, and the singular vectors, each pair of them up to a common factor of size 1."""
    height, width = _sizes(g, matrix)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    least = min(height, width)
    rows = matrices(g, matrix)
    tall = rows if height >= width else adjoint_of(g, rows)
    turned, right, sizes = _orthogonal_columns(g, tall, max(height, width), least)
    values = g.of_dims(sizes, outer, least)
    if not compute_uv:
        return values, g.constant(np.zeros(0), matrix.dtype), g.constant(np.zeros(0), matrix.dtype)
    noise = g.Mul(g.slice(sizes, 0, 1, 2), g.like(np.finfo(sizes.dtype.numpy).eps, sizes))
    turned = g.Where(g.Less(sizes, noise), g.constant(np.zeros((1, 1, 1)), matrix.dtype), turned)
    long = max(height, width) if full_matrices else least
    left = g.of_dims(_directions(g, turned, max(height, width), least, full_matrices), outer, max(height, width), long)
    right = g.of_dims(right, outer, least, least)
    return (values, left, right) if height >= width else (values, right, left)


def self_adjoint(g: Any, matrix: Any, *, compute_v: bool) -> Any:
    """Return the eigenvalues of the lower triangle in ascending order, and the eigenvectors up to a factor of size 1.

    The norm is added to the diagonal, so that no two eigenvalues have the same size and different signs.
    """
    size = _sizes(g, matrix)[0]
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    lower = triangle(g, matrices(g, matrix), lower=True)
    on_diagonal = g.cast(g.constant(np.eye(size)), matrix.dtype)
    strict = g.Mul(lower, g.Sub(1, on_diagonal))
    diagonal = g.Mul(g.Mul(g.Add(lower, g.conjugate(lower)), 0.5), on_diagonal)  # LAPACK ignores imaginary parts there
    whole = g.Add(g.Add(strict, adjoint_of(g, strict)), diagonal)
    norm = g.cast(g.Sqrt(g.ReduceSum(_squared(g, whole), [1, 2], keepdims=1)), matrix.dtype)
    _, right, _ = _orthogonal_columns(g, g.Add(whole, g.Mul(on_diagonal, norm)), size, size)
    products = g.ReduceSum(g.Mul(g.conjugate(right), g.MatMul(whole, right)), [1], keepdims=1)
    values = g.parts(products)[0] if products.dtype.is_complex else products
    values, order = g.TopK(values, g.constant(np.array([size])), outputs=2, axis=2, largest=0)
    values = g.cast(g.of_dims(values, outer, size), matrix.dtype)
    if not compute_v:
        return values, g.constant(np.zeros(0), matrix.dtype)
    return values, g.of_dims(_columns(g, right, order, size, size), outer, size, size)


def _divided(g: Any, x: Any, size: Any) -> Any:
    """Return x / size for real sizes; a complex quotient would square the sizes, which may be tiny."""
    return g.complex(*(g.Div(part, size) for part in g.parts(x))) if x.dtype.is_complex else g.Div(x, size)


def _sizes(g: Any, matrix: Any) -> tuple[int, int]:
    height, width = last_dims(g, matrix, 2)
    if not height or not width:
        g.refuse("its matrices have no elements")
    return height, width


def _squared(g: Any, x: Any) -> Any:
    """Return the squares of absolute values."""
    return g.Mul(g.Abs(x), g.Abs(x))


def _columns(g: Any, x: Any, order: Any, height: int, width: int) -> Any:
    """Return the columns of matrices (n, height, ...) in an order (n, 1, width)."""
    result = g.GatherElements(x, g.Expand(order, g.joined(g.dim(x, 0), height, width)), axis=2)
    for value in (result, *(result.parts or ())):
        value.spec = TensorSpec(value.dtype, Shape((None, height, width)))
    return result


def _orthogonal_columns(g: Any, x: Any, height: int, width: int) -> tuple[Any, Any, Any]:
    """Return x V, V and the sizes of the columns of x V, which are orthogonal and in descending order; V is unitary."""
    even = width + width % 2
    frame = np.zeros((height, even - width)), np.eye(width, even)
    start = g.Concat(x, g.Expand(g.constant(frame[0], x.dtype), g.joined(g.dim(x, 0), height, even - width)), axis=2)
    units = g.Expand(g.constant(frame[1], x.dtype), g.joined(g.dim(x, 0), width, even))
    both = g.Concat(start if even > width else x, units, axis=1)
    if even > 2:
        seats = _seats(even)
        (both,) = g.repeat(_SWEEPS * (even - 1), [both], lambda i, carried: [_round(g, carried[0], height, even, seats)])
    elif even == 2:
        both = _round(g, both, height, even, np.arange(2))
    turned, right = g.slice(both, 0, height, 1), g.slice(both, height, height + width, 1)
    sizes = g.Sqrt(g.ReduceSum(_squared(g, turned), [1], keepdims=1))
    is_real = g.Greater(g.ReduceSum(_squared(g, right), [1], keepdims=1), 0.5)
    _, order = g.TopK(g.Where(is_real, sizes, g.like(-1, sizes)), g.constant(np.array([width])), outputs=2, axis=2)
    return (
        _columns(g, turned, order, height, width),
        _columns(g, right, order, width, width),
        _columns(g, sizes, order, 1, width),
    )


def _seats(count: int) -> Any:
    """Return the order of the columns for the next round of a tournament: all but the first move on by one seat."""
    half = count // 2
    circle = [*range(half), *reversed(range(half, count))]
    moved = [circle[0], circle[-1], *circle[1:-1]]
    order = np.empty(count, np.int64)
    order[circle] = moved
    return order


def _round(g: Any, both: Any, height: int, count: int, seats: Any) -> Any:
    """Turn each column of the first half and its partner of the second half until both are orthogonal; change seats."""
    half = count // 2
    a, b = g.slice(both, 0, half, 2), g.slice(both, half, count, 2)
    above, other = g.slice(a, 0, height, 1), g.slice(b, 0, height, 1)
    product = g.ReduceSum(g.Mul(g.conjugate(above), other), [1], keepdims=1)
    size = g.Abs(product)
    is_done = g.Equal(size, 0)
    divisor = g.Where(is_done, g.like(1, size), size)
    sums = [g.ReduceSum(_squared(g, half), [1], keepdims=1) for half in (above, other)]
    slope = g.Div(g.Mul(g.Sub(sums[1], sums[0]), 0.5), divisor)
    tangent = g.Reciprocal(g.Add(g.Abs(slope), g.Sqrt(g.Add(g.Mul(slope, slope), 1))))
    tangent = g.Where(is_done, g.like(0, size), g.Where(g.Less(slope, 0), g.Neg(tangent), tangent))
    cosine = g.Reciprocal(g.Sqrt(g.Add(g.Mul(tangent, tangent), 1)))
    cosine, sine = (g.cast(value, both.dtype) for value in (cosine, g.Mul(cosine, tangent)))
    b = g.Mul(b, g.Where(is_done, g.constant(np.ones((1, 1, 1)), both.dtype), _divided(g, g.conjugate(product), divisor)))
    pair = [g.Sub(g.Mul(a, cosine), g.Mul(b, sine)), g.Add(g.Mul(a, sine), g.Mul(b, cosine))]
    return g.Gather(g.Concat(*pair, axis=2), g.constant(seats), axis=2)


def _directions(g: Any, x: Any, height: int, width: int, full: bool) -> Any:
    """Return orthogonal columns of size 1 in the directions of the columns of x; any directions for columns of zeros."""
    q, r = orthogonal(g, x, full_matrices=full)
    columns = height if full else width
    diagonal = g.ReduceSum(g.Mul(r, g.constant(np.eye(columns, width), r.dtype)), [1], keepdims=1)
    size = g.Abs(diagonal)
    factor = _divided(g, diagonal, g.Where(g.Equal(size, 0), g.like(1, size), size))
    factor = g.Where(g.Equal(size, 0), g.constant(np.ones((1, 1, 1)), r.dtype), factor)
    if columns > width:
        ones = g.Expand(g.constant(np.ones((1, 1, columns - width)), r.dtype), g.joined(g.dim(x, 0), 1, columns - width))
        factor = g.Concat(factor, ones, axis=2)
    return g.Mul(q, factor)
