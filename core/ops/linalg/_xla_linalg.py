"""Systems of equations and decompositions of matrices as array programs; narrow floats are computed in 32 bits."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.half_precision import wide
from ...registry.registry import facts, lower
from ...support.errors import FailedPreconditionError
from ..shared.argument_checks import require
from ._matrices import require_matrix, require_square, require_system
from ._xla_diag import of_diagonals

facts("own_gradient", of=["Cholesky", "BatchCholesky", "BandedTriangularSolve", "MatrixSolve", "BatchMatrixSolve"])
facts("own_gradient", of=["MatrixSolveLs", "BatchMatrixSolveLs"])


def _wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a lowering that computes narrow floats in 32 bits."""

    @functools.wraps(function)
    def lowering(xla: Any, *values: Any, **attrs: Any) -> Any:
        return function(xla, *map(wide, values), **attrs)

    return lowering


def _adjoint(xla: Any, x: Any) -> Any:
    return xla.conj(x.swapaxes(-1, -2))


def _substituted(xla: Any, matrix: Any, rhs: Any, *, is_lower: bool, adjoint: bool = False, has_ones: bool = False) -> Any:
    """Solve triangular systems; the batch dimensions broadcast."""
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    if not math.prod((*batch, *rhs.shape[-2:])):
        return xla.zeros((*batch, *rhs.shape[-2:]), rhs.dtype)
    matrix = xla.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    rhs = xla.broadcast_to(rhs, (*batch, *rhs.shape[-2:]))
    attrs = {"lower": is_lower, "transpose_a": adjoint, "conjugate_a": adjoint, "unit_diagonal": has_ones}
    return xla.lax.linalg.triangular_solve(matrix, rhs, left_side=True, **attrs)


@lower("Cholesky", "BatchCholesky")
@_wide
def cholesky(xla: Any, x: Any) -> Any:
    """Return the lower triangular factors; NaN where a matrix is not positive definite."""
    require_square(x)
    return xla.lax.linalg.cholesky(x, symmetrize_input=False) if x.size else x


@lower("CholeskyGrad", "BatchCholeskyGrad")
@_wide
def cholesky_gradient(xla: Any, factor: Any, grad: Any) -> Any:
    """Return the gradient by the factored matrix, as the kernel has it (Murray, arXiv:1602.07527)."""
    require_square(factor)
    require(factor.shape == grad.shape, f"l and grad must have the same shape, not {factor.shape} and {grad.shape}")
    triangle = xla.tril(factor)
    middle = xla.tril(triangle.swapaxes(-1, -2) @ xla.tril(grad))
    middle = middle + xla.tril(middle, -1).swapaxes(-1, -2)
    left = _substituted(xla, triangle, middle, is_lower=True, adjoint=True)
    result = _substituted(xla, triangle, left.swapaxes(-1, -2), is_lower=True, adjoint=True).swapaxes(-1, -2)
    return result * 0.5


@lower("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
@_wide
def triangular_solve(xla: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, reading a single triangle of A."""
    require_square(matrix)
    require(rhs.ndim > 1 and matrix.shape[-1] == rhs.shape[-2], f"{matrix.shape} does not fit {rhs.shape}")
    return _substituted(xla, matrix, rhs, is_lower=lower, adjoint=adjoint)


@lower("BandedTriangularSolve")
@_wide
def banded_triangular_solve(xla: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve triangular systems that are given by their diagonals."""
    bands, size = matrix.shape[-2:]
    require(matrix.size and rhs.size and size == rhs.shape[-2], f"{matrix.shape} does not fit {rhs.shape}")
    count = min(bands, size)
    diagonals = matrix[..., :count, :] if lower else matrix[..., bands - count :, :]
    xla.require((diagonals[..., 0 if lower else -1, :] != 0).all())
    k = np.array([1 - count, 0] if lower else [0, count - 1], np.int32)
    packed = diagonals if count > 1 else diagonals[..., 0, :]
    edge = np.array(size)
    dense = of_diagonals(xla, packed, k, edge, edge, np.zeros((), matrix.dtype), align="LEFT_RIGHT")
    return _substituted(xla, dense, rhs, is_lower=lower, adjoint=adjoint)


def _pivots(xla: Any, factors: Any) -> Any:
    return xla.diagonal(factors, 0, -2, -1)


def _solved(xla: Any, matrix: Any, rhs: Any) -> Any:
    """Return the solutions of regular systems by LU factors."""
    factors, _, order = xla.lax.linalg.lu(matrix)
    xla.require((_pivots(xla, factors) != 0).all())
    permuted = xla.take_along_axis(rhs, order[..., None], -2)
    middle = _substituted(xla, factors, permuted, is_lower=True, has_ones=True)
    return _substituted(xla, factors, middle, is_lower=False)


@lower("MatrixSolve", "BatchMatrixSolve")
@_wide
def solve(xla: Any, matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, for square A."""
    require_system(matrix, rhs)
    require_square(matrix)
    if not rhs.size:
        return xla.zeros(rhs.shape, rhs.dtype)
    return _solved(xla, _adjoint(xla, matrix) if adjoint else matrix, rhs)


@lower("MatrixInverse", "BatchMatrixInverse")
@_wide
def inverse(xla: Any, x: Any, *, adjoint: bool) -> Any:
    """Return the inverses of square matrices, or of their adjoints."""
    require_square(x)
    if not x.size:
        return x
    return _solved(xla, _adjoint(xla, x) if adjoint else x, xla.broadcast_to(xla.eye(x.shape[-1], dtype=x.dtype), x.shape))


@lower("LogMatrixDeterminant")
@_wide
def log_determinant(xla: Any, x: Any) -> tuple[Any, Any]:
    """Return the signs and the logarithms of the absolute values of determinants."""
    require_square(x)
    sign, logarithm = xla.linalg.slogdet(x)
    return xla.where(xla.isnan(logarithm), np.nan, sign), logarithm.astype(x.dtype)


@lower("MatrixDeterminant", "BatchMatrixDeterminant")
@_wide
def determinant(xla: Any, x: Any) -> Any:
    """Return the determinants of matrices by LU factors."""
    require_square(x)
    if not x.size:
        return xla.ones(x.shape[:-2], x.dtype)
    factors, swaps, _ = xla.lax.linalg.lu(x)
    is_odd = xla.count_nonzero(swaps != np.arange(x.shape[-1]), axis=-1) % 2 == 1
    product = xla.prod(_pivots(xla, factors), -1)
    return xla.where(is_odd, -product, product)


@lower("MatrixSolveLs", "BatchMatrixSolveLs")
@_wide
def least_squares(xla: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Return the X of least |A X - rhs|^2 + l2 |X|^2; without `fast` of least norm, and not regularized."""
    require(np.ndim(l2_regularizer) == 0, f"l2_regularizer must be scalar, got shape {np.shape(l2_regularizer)}")
    xla.require(l2_regularizer >= 0)
    require_system(matrix, rhs)
    rows, columns = matrix.shape[-2:]
    if not rows * columns * rhs.size:
        return xla.zeros((*rhs.shape[:-2], columns, rhs.shape[-1]), rhs.dtype)
    if not fast:
        return xla.linalg.pinv(matrix, rtol=1e-15) @ rhs
    adjoint = _adjoint(xla, matrix)
    gram = adjoint @ matrix if rows >= columns else matrix @ adjoint
    scale = xla.eye(min(rows, columns), dtype=matrix.dtype) * l2_regularizer.astype(matrix.dtype)
    factor = xla.lax.linalg.cholesky(gram + scale, symmetrize_input=False)
    xla.require(xla.isfinite(factor).all())
    middle = _substituted(xla, factor, adjoint @ rhs if rows >= columns else rhs, is_lower=True)
    result = _substituted(xla, factor, middle, is_lower=True, adjoint=True)
    return result if rows >= columns else adjoint @ result


@lower("Qr")
@_wide
def orthogonal(xla: Any, x: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    """Return Q with orthonormal columns and the upper triangular R with Q R = A."""
    require_matrix(x)
    rows, columns = x.shape[-2:]
    if x.size:
        q, r = xla.lax.linalg.qr(x, full_matrices=full_matrices)
        return q, r
    size = rows if full_matrices else min(rows, columns)
    q = xla.broadcast_to(xla.eye(rows, size, dtype=x.dtype), (*x.shape[:-1], size))
    return q, xla.zeros((*x.shape[:-2], size, columns), x.dtype)


@lower("Svd", "BatchSvd")
@_wide
def singular_values(xla: Any, x: Any, *, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    """Return the singular values from the largest down, U and V; NaN where an input is not finite."""
    require_matrix(x)
    require(x.size, "no singular values of empty matrices")
    is_finite, nan = xla.isfinite(x).all(), xla.asarray(np.nan, x.dtype)
    safe = xla.where(is_finite, x, 0)
    if not compute_uv:
        values = xla.lax.linalg.svd(safe, full_matrices=False, compute_uv=False)
        nothing = xla.zeros((), x.dtype)
        return xla.where(is_finite, values.astype(x.dtype), nan), nothing, nothing
    u, values, vh = xla.lax.linalg.svd(safe, full_matrices=full_matrices)
    parts = values.astype(x.dtype), u, _adjoint(xla, vh)
    first, second, third = (xla.where(is_finite, part, nan) for part in parts)
    return first, second, third


@lower("Lu")
@_wide
def factors(xla: Any, x: Any) -> tuple[Any, Any]:
    """Return the packed factors of the matrices with permuted rows, and the permutations."""
    require_square(x)
    require(x.size, "no factors of empty matrices")
    packed, _, order = xla.lax.linalg.lu(x)
    xla.require((xla.abs(_pivots(xla, packed)) > 0).all())
    return packed, order


@lower("TridiagonalMatMul")
def tridiagonal_product(xla: Any, superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    """Multiply a tridiagonal matrix, with diagonals of shape (..., 1, n), by (..., n, k)."""
    for diagonal in (superdiag, maindiag, subdiag):
        require(diagonal.shape == (*rhs.shape[:-2], 1, rhs.shape[-2]), f"{diagonal.shape} does not fit {rhs.shape}")
    require_matrix(rhs)
    upper, main, below = (diagonal[..., 0, :, None] for diagonal in (superdiag, maindiag, subdiag))
    edge = [(0, 0)] * (rhs.ndim - 2)
    above = xla.pad(upper[..., :-1, :] * rhs[..., 1:, :], [*edge, (0, 1), (0, 0)])
    return main * rhs + above + xla.pad(below[..., 1:, :] * rhs[..., :-1, :], [*edge, (1, 0), (0, 0)])


@lower("Cross")
def cross(xla: Any, a: Any, b: Any) -> Any:
    """Return the cross products of vectors (..., 3)."""
    require(a.shape == b.shape and a.ndim > 0, f"Both inputs must be of same shape: {a.shape} vs. {b.shape}")
    if a.shape[-1] != 3:
        raise FailedPreconditionError("Cross-products are only defined for 3-element vectors.")
    (next_a, last_a), (next_b, last_b) = ((xla.roll(x, -1, -1), xla.roll(x, -2, -1)) for x in (a, b))
    return next_a * last_b - next_b * last_a
