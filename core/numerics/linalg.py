"""Batches of matrices: triangular and tridiagonal systems, eigenvectors, and factorizations that NumPy lacks.

Substitution, LU with partial pivoting and elimination of banded systems: Golub and Van Loan, "Matrix Computations", 3.1,
3.4 and 4.3; LAPACK's gtsv, lagtf and lagts where stated. Matrices lie in the last two dimensions; batch dimensions
broadcast where stated.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import scipy.linalg

from ..types.arrays import Array


def adjoint(x: Array) -> Array:
    """Return the conjugate transposes."""
    return np.conj(np.swapaxes(x, -1, -2))


def solve_triangular(matrix: Array, rhs: Array, lower: bool, conjugate: bool) -> Array:
    """Solve A X = rhs, or A^H X = rhs, reading a single triangle of A; batches broadcast. A zero pivot gives inf or NaN."""
    if matrix.ndim == rhs.ndim == 2 and rhs.size and matrix.dtype == rhs.dtype:
        solver = _triangular_solver(rhs.dtype.char)
        return np.ascontiguousarray(solver(1, matrix, rhs, 0, lower, 2 if conjugate else 0))
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    if conjugate:
        matrix, lower = adjoint(matrix), not lower
    size, columns = rhs.shape[-2:]
    if not math.prod(batch) * size * columns:
        return np.zeros((*batch, size, columns), rhs.dtype)
    # Row by row NumPy solves all matrices in `size` steps; BLAS needs a call for each matrix.
    if math.prod(batch) > size:
        return _substitute(matrix, np.broadcast_to(rhs, (*batch, size, columns)), lower)
    solver = scipy.linalg.get_blas_funcs("trsm", (matrix, rhs))
    flat = np.broadcast_to(matrix, (*batch, size, size)).reshape(-1, size, size)
    sides = np.broadcast_to(rhs, (*batch, size, columns)).reshape(-1, size, columns)
    return np.stack([solver(1, a, b, lower=lower) for a, b in zip(flat, sides)]).reshape(*batch, size, columns)


@functools.cache
def _triangular_solver(char: str) -> Callable[..., Array]:
    """Return BLAS's solver for a dtype, cached: the look-up takes as long as a small system."""
    return scipy.linalg.get_blas_funcs("trsm", dtype=np.dtype(char))


def _substitute(matrix: Array, rhs: Array, lower: bool) -> Array:
    """Substitution row by row, for all matrices at once."""
    result = np.zeros_like(rhs)
    size = rhs.shape[-2]
    for i in range(size) if lower else reversed(range(size)):
        solved = slice(0, i) if lower else slice(i + 1, size)
        done = matrix[..., i : i + 1, solved] @ result[..., solved, :]
        result[..., i, :] = (rhs[..., i, :] - done[..., 0, :]) / matrix[..., i, i, None]
    return result


def lu(matrix: Array) -> tuple[Array, Array]:
    """Return the packed factors and the permutation p with (L U)[i] = A[p[i]]."""
    if not matrix.size:
        return matrix, np.zeros(matrix.shape[:-1], np.int64)
    if matrix.dtype.kind == "c" or (matrix.shape[-1] <= _SMALL and math.prod(matrix.shape[:-2]) >= _MANY):
        return _lu_by_column(matrix)
    order, lower, upper = scipy.linalg.lu(matrix, p_indices=True, check_finite=False)
    packed = np.tril(lower, -1) + upper
    # SciPy's indices put the rows of L back, A = L[p] U: their inverse is the permutation of A's rows.
    return packed.astype(matrix.dtype, copy=False), np.argsort(order, -1)


_SMALL: Final = 8
"""The largest matrix, in rows, where many matrices are factorized together in less time than LAPACK takes for each in turn."""
_MANY: Final = 32
"""The least number of small matrices where a common factorization, column by column, takes less time than each in turn."""


def _lu_by_column(matrix: Array) -> tuple[Array, Array]:
    """LU of all matrices at once, column by column; the pivot is largest by modulus, where LAPACK's is by |re| + |im|."""
    size = matrix.shape[-1]
    packed = matrix.reshape(-1, size, size).copy()
    every = np.arange(len(packed))
    order = np.tile(np.arange(size), (len(packed), 1))
    for i in range(size):
        pivot = i + np.argmax(np.abs(packed[:, i:, i]), axis=1)
        for swapped in (packed, order):
            swapped[every, pivot], swapped[:, i] = swapped[:, i].copy(), swapped[every, pivot]
        # A zero pivot is no error here: the callers report singular matrices by the diagonal.
        with np.errstate(divide="ignore", invalid="ignore"):
            packed[:, i + 1 :, i] /= packed[:, i, None, i]
        packed[:, i + 1 :, i + 1 :] -= packed[:, i + 1 :, i, None] * packed[:, i, None, i + 1 :]
    return packed.reshape(matrix.shape), order.reshape(matrix.shape[:-1])


def by_matrix(function: Callable[[Array], Array], matrices: Array) -> Array:
    """Return `function` of each matrix of a batch."""
    if not matrices.size:
        return matrices.copy()
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    return np.stack([function(matrix) for matrix in flat]).astype(matrices.dtype).reshape(matrices.shape)


def thomas(diagonals: Array, rhs: Array) -> Array:
    """Tridiagonal systems (..., 3, n), rhs (..., n, k), without pivoting; NaN throughout where a pivot is zero."""
    upper, main, lower = (diagonals[..., i, :, None] for i in range(3))
    size = rhs.shape[-2]
    ratios, result = np.zeros_like(main), np.zeros_like(rhs)
    pivot = main[..., 0, :]
    is_singular = pivot == 0
    for i in range(size):
        if i:
            pivot = main[..., i, :] - lower[..., i, :] * ratios[..., i - 1, :]
            is_singular |= pivot == 0
            result[..., i, :] = (rhs[..., i, :] - lower[..., i, :] * result[..., i - 1, :]) / pivot
        else:
            result[..., 0, :] = rhs[..., 0, :] / pivot
        ratios[..., i, :] = upper[..., i, :] / pivot
    # Back substitution; the superdiagonal over the pivots was kept for it.
    for i in reversed(range(size - 1)):
        result[..., i, :] -= ratios[..., i, :] * result[..., i + 1, :]
    return np.where(is_singular[..., None], np.nan, result).astype(rhs.dtype)


def solve_tridiagonal(diagonals: Array, rhs: Array) -> Array:
    """Tridiagonal systems (..., 3, n), rhs (..., n, k), by LAPACK's gtsv with partial pivoting; NaN where singular."""
    size, columns = rhs.shape[-2:]
    if not rhs.size:
        return rhs.copy()
    solver = scipy.linalg.get_lapack_funcs("gtsv", (diagonals, rhs))
    result = []
    for (upper, main, lower), b in zip(diagonals.reshape(-1, 3, size), rhs.reshape(-1, size, columns)):
        if size > 1:
            result.append(_gtsv(solver, upper, main, lower, b))
        else:
            result.append(np.full_like(b, np.nan) if main[0] == 0 else b / main[0])
    return np.stack(result).reshape(rhs.shape).astype(rhs.dtype, copy=False)


def _gtsv(solver: Any, upper: Array, main: Array, lower: Array, b: Array) -> Array:
    *_, x, info = solver(lower[1:], main, upper[:-1], b)
    # LAPACK's info above 0 tells of an exact zero on the diagonal of U.
    return np.full_like(b, np.nan) if info else x


def solve_perturbed_tridiagonal(diagonals: Array, rhs: Array) -> Array:
    """Like solve_tridiagonal, but with pivots below a threshold moved away from zero (LAPACK's lagtf and lagts)."""
    flat = zip(diagonals.reshape(-1, *diagonals.shape[-2:]), rhs.reshape(-1, *rhs.shape[-2:]))
    solved = [_perturbed(diagonal, b) for diagonal, b in flat]
    return np.stack(solved).reshape(rhs.shape) if solved else rhs.copy()


def _perturbed(diagonals: Array, rhs: Array) -> Array:
    u0, u1, u2, b = _eliminated(diagonals, rhs)
    size = len(u0)
    for i in reversed(range(size)):
        if i + 1 < size:
            b[i] -= u1[i] * b[i + 1]
        if i + 2 < size:
            b[i] -= u2[i] * b[i + 2]
        b[i] /= u0[i]
    return b


def _eliminated(diagonals: Array, rhs: Array) -> tuple[Array, Array, Array, Array]:
    """Eliminate a tridiagonal system with partial pivoting; return three diagonals of the upper factor, and the right side."""
    upper, main, lower = diagonals
    size = len(main)
    u0, u1, u2 = main.copy(), upper.copy(), np.zeros_like(main)
    b = rhs.copy()
    finfo = np.finfo(main.dtype)
    scale = max(np.abs(diagonals[1]).max(initial=0), np.abs(upper[:-1]).max(initial=0), np.abs(lower[1:]).max(initial=0))
    # As LAPACK's lagts: pivots below the rounding of the largest element are no better than zero.
    threshold = max(finfo.eps * scale, finfo.tiny)
    for i in range(size - 1):
        # The rows are exchanged, which gives the upper factor a second diagonal above the main one (u2).
        if abs(lower[i + 1]) > abs(u0[i]):
            factor = u0[i] / lower[i + 1]
            u0[i], u1[i], u2[i], u0[i + 1], u1[i + 1] = (
                lower[i + 1], main[i + 1], upper[i + 1] if i + 2 < size else 0,
                u1[i] - factor * main[i + 1], -factor * upper[i + 1] if i + 2 < size else 0,
            )  # fmt: skip
            b[i], b[i + 1] = b[i + 1].copy(), b[i] - factor * b[i + 1]
        else:
            u0[i] = _away_from_zero(u0[i], threshold)
            factor = lower[i + 1] / u0[i]
            u0[i + 1] -= factor * u1[i]
            b[i + 1] -= factor * b[i]
    u0[size - 1] = _away_from_zero(u0[size - 1], threshold)
    return u0, u1, u2, b


def _away_from_zero(pivot: Any, threshold: Any) -> Any:
    return pivot if abs(pivot) >= threshold else (threshold if np.real(pivot) >= 0 else -threshold)


# Eigenvectors of small self-adjoint matrices with the signs of Eigen's solver, which differ from LAPACK's.
# Householder reduction to a tridiagonal matrix, then QR steps with Wilkinson's shift (Golub and Van Loan, 8.3). The signs
# depend on the number of steps: the threshold for zero follows from the precision of the input, while the arithmetic is
# double.

_LARGEST = 16
"""Rows of the largest matrix whose eigenvectors get Eigen's signs."""
_MOST_ELEMENTS = 1024
"""The largest number of elements of a batch with Eigen's signs: for larger batches LAPACK's speed counts for more."""
_TINY = float(np.finfo(np.float64).tiny)
_STEPS_PER_ROW = 30
"""QR steps for each row after which the solver gives up, as in Eigen (m_maxIterations)."""


def eigh(matrices: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues (..., n) and eigenvectors in columns (..., n, n); the lower triangles are read."""
    size = matrices.shape[-1]
    if not matrices.size:
        return np.zeros(matrices.shape[:-1], matrices.real.dtype), matrices.copy()
    if size > _LARGEST or matrices.size > _MOST_ELEMENTS:
        decomposition = np.linalg.eigh(matrices)
        return decomposition.eigenvalues, decomposition.eigenvectors
    pairs = [_eigh(matrix) for matrix in matrices.reshape(-1, size, size)]
    values = np.stack([values for values, _ in pairs]).reshape(matrices.shape[:-1])
    return values, np.stack([vectors for _, vectors in pairs]).reshape(matrices.shape)


def _eigh(matrix: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues and eigenvectors in columns; the lower triangle is read."""
    size = len(matrix)
    whole = np.tril(matrix).astype(np.result_type(matrix.dtype, np.float64))
    whole = whole + np.conj(np.tril(whole, -1)).T
    # Imaginary parts on the diagonal are ignored, as in LAPACK and Eigen.
    np.fill_diagonal(whole, whole.diagonal().real)
    # Eigen's SelfAdjointEigenSolver divides by the largest coefficient as well, and the number of steps depends on it.
    scale = np.abs(whole).max(initial=0) or 1.0
    diagonal, below, vectors = _tridiagonal(whole / scale)
    _diagonalize(diagonal, below, vectors, float(np.finfo(matrix.dtype).eps))
    for i in range(size - 1):
        # Eigen sorts by selection; another stable or unstable sort would order equal eigenvalues, and their vectors,
        # otherwise.
        least = i + int(np.argmin(diagonal[i:]))
        diagonal[i], diagonal[least] = diagonal[least], diagonal[i]
        vectors[:, [i, least]] = vectors[:, [least, i]]
    return np.array(diagonal) * scale, vectors


def _tridiagonal(a: Array) -> tuple[list[float], list[float], Array]:
    """Return the diagonals of T and Q with Q T Q^H = a."""
    size = len(a)
    q = np.eye(size, dtype=a.dtype)
    for i in range(size - 1):
        vector, factor = _householder(a[i + 1 :, i])
        if factor:
            _reflect(a[i + 1 :], vector, factor)
            _reflect(a[:, i + 1 :].T, np.conj(vector), np.conj(factor))
            _reflect(q[:, i + 1 :].T, np.conj(vector), np.conj(factor))
    return a.diagonal().real.tolist(), a.diagonal(-1).real.tolist(), q


def _householder(x: Array) -> tuple[Array, Any]:
    """Return v and t of the reflection I - t v v^H that makes all but x[0] zero, and x[0] real."""
    tail = float(np.sum(np.abs(x[1:]) ** 2))
    # Nothing is to be cleared, and Eigen makes no reflection: one that only turns the sign would change the signs of the
    # vectors.
    if tail <= _TINY and x[0].imag ** 2 <= _TINY:
        return x, 0.0
    beta = math.copysign(math.sqrt(abs(x[0]) ** 2 + tail), -x[0].real if x[0].real else -1.0)
    vector = x / (x[0] - beta)
    vector[0] = 1
    return vector, np.conj((beta - x[0]) / beta)


def _reflect(rows: Array, vector: Array, factor: Any) -> None:
    """Replace rows by (I - factor vector vector^H) rows."""
    rows -= np.outer(factor * vector, np.conj(vector) @ rows)


def _diagonalize(diagonal: list[float], below: list[float], vectors: Array, epsilon: float) -> None:
    """QR steps on the unreduced block at the end until nothing is left below the diagonal."""
    end = len(diagonal) - 1
    for _ in range(_STEPS_PER_ROW * len(diagonal)):
        for i in range(end):
            # Eigen's test of computeFromTridiagonal, with the precision of the input: with that of double more steps would
            # follow, and other signs.
            if abs(below[i]) < _TINY or (below[i] / epsilon) ** 2 <= abs(diagonal[i]) + abs(diagonal[i + 1]):
                below[i] = 0.0
        while end > 0 and below[end - 1] == 0:
            end -= 1
        if end <= 0:
            return
        start = end - 1
        while start > 0 and below[start - 1] != 0:
            start -= 1
        _qr_step(diagonal, below, start, end, vectors)


def _shift(diagonal: list[float], below: list[float], end: int) -> float:
    """Return the eigenvalue of the last 2 x 2 block that is nearer to the block's last element."""
    half = (diagonal[end - 1] - diagonal[end]) / 2
    e = below[end - 1]
    # Both elements are equal, and the formula below would divide 0 by 0 if e is 0, too.
    if half == 0:
        return diagonal[end] - abs(e)
    return diagonal[end] - e * e / (half + math.copysign(math.hypot(half, e), half))


def _qr_step(diagonal: list[float], below: list[float], start: int, end: int, vectors: Array) -> None:
    x, z = diagonal[start] - _shift(diagonal, below, end), below[start]
    for k in range(start, end):
        # The bulge is gone, so that the rest of the block needs no rotation.
        if z == 0:
            return
        c, s = _givens(x, z)
        first, second, off = diagonal[k], diagonal[k + 1], below[k]
        upper, lower = s * first + c * off, s * off + c * second
        diagonal[k] = c * (c * first - s * off) - s * (c * off - s * second)
        diagonal[k + 1] = s * upper + c * lower
        below[k] = c * upper - s * lower
        if k > start:
            below[k - 1] = c * below[k - 1] - s * z
        x = below[k]
        if k < end - 1:
            z = -s * below[k + 1]
            below[k + 1] *= c
        left, right = vectors[:, k].copy(), vectors[:, k + 1]
        vectors[:, k] = c * left - s * right
        vectors[:, k + 1] = s * left + c * right


def _givens(p: float, q: float) -> tuple[float, float]:
    """Cosine and sine of the rotation that takes (p, q) to (r, 0); q is not 0."""
    if p == 0:
        return 0.0, (1.0 if q < 0 else -1.0)
    # The quotient is at most 1 in either case, so that its square does not overflow.
    if abs(p) > abs(q):
        t = q / p
        c = 1 / math.copysign(math.sqrt(1 + t * t), p)
        return c, -t * c
    t = p / q
    s = -1 / math.copysign(math.sqrt(1 + t * t), q)
    return -t * s, s
