"""Linear algebra written out naively, to be run on counted arrays: the textbooks' algorithms, for one matrix each.

Choices are free of branches (`np.where`), so that counts follow from shapes. Slices of length one keep their tally, where
single elements would not. GVL is Golub and Van Loan, Matrix Computations, fourth edition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.core.flops.counting import counted

Array = Any


def plain(x: Array) -> Array:
    """The values alone, whose arithmetic is not counted."""
    return np.asarray(x)


def eye(like: Array, rows: int, columns: int) -> Array:
    return counted(np.eye(rows, columns), like.tally)


def cholesky(a: Array) -> Array:
    """By outer products (GVL 4.2.2)."""
    factor, n = a.copy(), len(a)
    for k in range(n):
        factor[k : k + 1, k] = np.sqrt(factor[k : k + 1, k])
        factor[k + 1 :, k] = factor[k + 1 :, k] / factor[k : k + 1, k]
        for j in range(k + 1, n):
            factor[j:, j] = factor[j:, j] - factor[j:, k] * factor[j : j + 1, k]
    factor[np.triu_indices(n, 1)] = 0
    return factor


def substituted(a: Array, rhs: Array, lower: bool, is_unit: bool = False) -> Array:
    """X with A X = rhs by columns (GVL 3.1.3): a division for each element unless the diagonal is one."""
    x, n = rhs.copy(), len(a)
    for j in range(n) if lower else reversed(range(n)):
        if not is_unit:
            x[j] = x[j] / a[j : j + 1, j]
        rest = slice(j + 1, n) if lower else slice(0, j)
        x[rest] = x[rest] - a[rest, j, None] * x[None, j]
    return x


def cholesky_gradient(factor: Array, grad: Array) -> Array:
    """L^-H P(L^H grad) L^-1, the product of triangles first (Murray, arXiv:1602.07527)."""
    n = len(factor)
    middle = counted(np.zeros((n, n)), factor.tally)
    for k in range(n):
        for i in range(k + 1):
            middle[i, : i + 1] = middle[i, : i + 1] + factor[k : k + 1, i] * grad[k, : i + 1]
    mirrored = counted(plain(middle) + np.tril(plain(middle), -1).T, factor.tally)
    left = substituted(factor.T, mirrored, lower=False)
    return substituted(factor.T, left.T, lower=False).T * 0.5


def lu(a: Array) -> tuple[Array, Array]:
    """Packed factors and the order of the rows, by outer products with partial pivoting (GVL 3.4.1)."""
    packed, order, n = a.copy(), np.arange(len(a)), len(a)
    for k in range(n):
        sizes = abs(packed[k:, k])
        np.maximum.reduce(sizes)
        pivot = k + int(np.argmax(plain(sizes)))
        packed[[k, pivot]], order[[k, pivot]] = packed[[pivot, k]], order[[pivot, k]]
        packed[k + 1 :, k] = packed[k + 1 :, k] / packed[k : k + 1, k]
        packed[k + 1 :, k + 1 :] = packed[k + 1 :, k + 1 :] - packed[k + 1 :, k, None] * packed[None, k, k + 1 :]
    return packed, order


def _sign(order: Array) -> float:
    """That of a permutation."""
    return float(np.linalg.det(np.eye(len(order))[order]))


def determinant(a: Array) -> Array:
    packed, order = lu(a)
    result = counted(_sign(order), a.tally)
    for pivot in np.split(np.diagonal(packed), len(a)):
        result = result * pivot
    return result[0]


def log_determinant(a: Array) -> tuple[Array, Array]:
    packed, order = lu(a)
    pivots = np.diagonal(packed)
    sign = counted(_sign(order), a.tally)
    for one in np.split(np.sign(pivots), len(a)):
        sign = sign * one
    return sign[0], np.add.reduce(np.log(abs(pivots)))


def solved(a: Array, rhs: Array) -> Array:
    packed, order = lu(a)
    return substituted(packed, substituted(packed, rhs[order], lower=True, is_unit=True), lower=False)


def inverse(a: Array) -> Array:
    """L^-1 column by column below its diagonal of ones, then U X = L^-1."""
    packed, order = lu(a)
    n = len(a)
    lower = eye(a, n, n)
    for c in range(n):
        lower[c + 1 :, c] = -packed[c + 1 :, c]
        for j in range(c + 1, n):
            lower[j + 1 :, c] = lower[j + 1 :, c] - packed[j + 1 :, j] * lower[j : j + 1, c]
    return substituted(packed, lower, lower=False)[:, np.argsort(order)]


def banded_substituted(bands: Array, rhs: Array, lower: bool) -> Array:
    """X with A X = rhs for the diagonals (bands, n) of a triangular matrix, the main one first for lower, else last."""
    x, n = rhs.copy(), len(rhs)
    reach = min(len(bands), n) - 1
    main = bands[0] if lower else bands[-1]
    for i in range(n) if lower else reversed(range(n)):
        for k in range(1, reach + 1):
            j = i - k if lower else i + k
            if 0 <= j < n:
                row = bands[k] if lower else bands[-1 - k]
                x[i] = x[i] - row[i : i + 1] * x[j]
        x[i] = x[i] / main[i : i + 1]
    return x


# ---- Householder's reflections


def reflection(x: Array) -> tuple[Array, Array, Array]:
    """v with v[0] = 1, t and beta with (I - t v v^T) x = (beta, 0, ..., 0), as in LAPACK's larfg."""
    first = x[:1]
    norm = np.sqrt(np.add.reduce(x * x, keepdims=True))
    beta = np.where(plain(first > 0), -norm, norm)
    v = counted(np.ones(len(x)), x.tally)
    v[1:] = x[1:] / (first - beta)
    return v, (beta - first) / beta, beta


def reflect(v: Array, t: Array, block: Array) -> None:
    """The block becomes (I - t v v^T) block."""
    total = block[0]
    for i in range(1, len(v)):
        total = total + v[i : i + 1] * block[i]
    total = total * t
    block[0] = block[0] - total
    block[1:] = block[1:] - v[1:, None] * total


def triangularized(a: Array) -> tuple[Array, list[tuple[Array, Array]]]:
    """R and the reflections that lead to it (GVL 5.2.1)."""
    r, result = a.copy(), []
    for j in range(min(a.shape)):
        v, t, beta = reflection(r[j:, j])
        r[j, j], r[j + 1 :, j] = beta[0], 0
        reflect(v, t, r[j:, j + 1 :])
        result.append((v, t))
    return r, result


def qr(a: Array, full: bool) -> tuple[Array, Array]:
    """Q accumulated backward (GVL 5.1.6), and R."""
    r, reflections = triangularized(a)
    size = len(a) if full else min(a.shape)
    q = eye(a, len(a), size)
    for j, (v, t) in reversed(list(enumerate(reflections))):
        reflect(v, t, q[j:, j:])
    return q, r[:size]


def least_squares(a: Array, rhs: Array, l2: float) -> Array:
    """By the normal equations (GVL 5.3.2); of a wide matrix by those of the second kind (GVL 5.6.3)."""
    is_tall = a.shape[0] >= a.shape[1]
    tall = a if is_tall else a.T
    k = tall.shape[1]
    gram = counted(np.zeros((k, k)), a.tally)
    for row in tall:
        for i in range(k):
            gram[i, : i + 1] = gram[i, : i + 1] + row[i : i + 1] * row[: i + 1]
    gram[np.diag_indices(k)] = gram[np.diag_indices(k)] + l2
    factor = cholesky(gram)
    if is_tall:
        rhs = tall.T @ rhs
    result = substituted(factor.T, substituted(factor, rhs, lower=True), lower=False)
    return result if is_tall else tall @ result


def least_squares_orthogonal(a: Array, rhs: Array) -> Array:
    """By reflections, for full rank (GVL 5.3.3 and 5.6.2)."""
    is_tall = a.shape[0] >= a.shape[1]
    r, reflections = triangularized(a if is_tall else a.T)
    k, length = min(a.shape), max(a.shape)
    if not is_tall:
        wide = counted(np.zeros((length, rhs.shape[1])), a.tally)
        wide[:k] = substituted(r[:k].T, rhs, lower=True)
        rhs = wide
    turned = rhs.copy()
    for j, (v, t) in enumerate(reflections) if is_tall else reversed(list(enumerate(reflections))):
        reflect(v, t, turned[j:])
    return substituted(r[:k], turned[:k], lower=False) if is_tall else turned


# ---- tridiagonal systems


def thomas(diagonals: Array, rhs: Array) -> Array:
    """Without pivoting (GVL 4.3.6, with the ratios of the upper diagonal)."""
    upper, main, lower = diagonals
    x, ratios, n = rhs.copy(), upper.copy(), len(rhs)
    for i in range(n):
        pivot = main[i : i + 1]
        if i:
            pivot = pivot - lower[i : i + 1] * ratios[i - 1 : i]
            x[i] = x[i] - lower[i : i + 1] * x[i - 1]
        if i < n - 1:
            ratios[i : i + 1] = upper[i : i + 1] / pivot
        x[i] = x[i] / pivot
    for i in reversed(range(n - 1)):
        x[i] = x[i] - ratios[i : i + 1] * x[i + 1]
    return x


def solved_tridiagonal(diagonals: Array, rhs: Array) -> Array:
    """With partial pivoting, as LAPACK's gtsv; the upper factor has two diagonals beside the main one."""
    upper, main, lower = diagonals
    n = len(rhs)
    factor = counted(np.zeros((n + 2, 3)), rhs.tally)
    x = counted(np.zeros((n + 2, rhs.shape[1])), rhs.tally)
    x[:n] = rhs
    factor[:n, 0], factor[: n - 1, 1] = main, upper[:-1]
    for i in range(n - 1):
        below = counted(np.array([lower[i + 1], main[i + 1], upper[i + 1] if i + 2 < n else 0]), rhs.tally)
        swapped = plain(abs(below[:1]) > abs(factor[i, :1]))
        first, second = np.where(swapped, below, factor[i]), np.where(swapped, factor[i], below)
        one, other = np.where(swapped, x[i + 1], x[i]), np.where(swapped, x[i], x[i + 1])
        ratio = second[:1] / first[:1]
        factor[i], factor[i + 1, :2] = first, second[1:] - ratio * first[1:]
        x[i], x[i + 1] = one, other - ratio * one
    for i in reversed(range(n)):
        known = x[i] - factor[i, 1:2] * x[i + 1] - factor[i, 2:] * x[i + 2]
        x[i] = known / factor[i, :1]
    return x[:n]
