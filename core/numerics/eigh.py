"""Eigenvectors of small self-adjoint matrices with the signs of Eigen's solver, which differ from LAPACK's.

Householder reduction to a tridiagonal matrix, then QR steps with Wilkinson's shift (Golub and Van Loan, 8.3). The signs
depend on the number of steps: the threshold for zero follows from the precision of the input, while the arithmetic is
double.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..types.arrays import Array

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
    np.fill_diagonal(whole, whole.diagonal().real)
    scale = np.abs(whole).max(initial=0) or 1.0
    diagonal, below, vectors = _tridiagonal(whole / scale)
    _diagonalize(diagonal, below, vectors, float(np.finfo(matrix.dtype).eps))
    for i in range(size - 1):
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
    if half == 0:
        return diagonal[end] - abs(e)
    return diagonal[end] - e * e / (half + math.copysign(math.hypot(half, e), half))


def _qr_step(diagonal: list[float], below: list[float], start: int, end: int, vectors: Array) -> None:
    x, z = diagonal[start] - _shift(diagonal, below, end), below[start]
    for k in range(start, end):
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
    if abs(p) > abs(q):
        t = q / p
        c = 1 / math.copysign(math.sqrt(1 + t * t), p)
        return c, -t * c
    t = p / q
    s = -1 / math.copysign(math.sqrt(1 + t * t), q)
    return -t * s, s
