"""Eigenvalues and singular values written out naively, to be run on counted arrays, and functions of matrices.

How often the QR iterations run follows from the values. GVL is Golub and Van Loan, Matrix Computations, fourth edition.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.core.flops.counting import counted
from tests.core.flops.definitions_linalg import eye, plain, reflect, reflection, solved

Array = Any
_EPSILON = 1e-14


def _accumulated(like: Array, size: int, reflections: list[tuple[int, Array, Array]]) -> Array:
    """The product of reflections, each from its first row on, backward (GVL 5.1.6)."""
    q = eye(like, size, size)
    for first, v, t in reversed(reflections):
        reflect(v, t, q[first:, first:])
    return q


def _rotation(x: Array, z: Array) -> tuple[Array, Array]:
    """c and s that take (x, z) to (r, 0)."""
    r = np.sqrt(x * x + z * z)
    return x / r, z / r


def _rotate(c: Array, s: Array, one: Array, other: Array) -> None:
    """Two rows or columns become c one + s other and c other - s one."""
    kept = one.copy()
    one[:] = c * one + s * other
    other[:] = c * other - s * kept


# ---- self-adjoint matrices


def _tridiagonalized(a: Array) -> tuple[Array, Array, list[tuple[int, Array, Array]]]:
    """The diagonals of T with Q T Q^T = a, and Q's reflections, working on the lower triangle (GVL 8.3.1)."""
    a, result = a.copy(), []
    for k in range(len(a) - 1):
        v, t, beta = reflection(a[k + 1 :, k])
        rest = a[k + 1 :, k + 1 :]
        whole = counted(np.tril(plain(rest)) + np.tril(plain(rest), -1).T, a.tally)
        p = (whole @ v[:, None])[:, 0] * t
        w = p - v * (np.add.reduce(p * v, keepdims=True) * t * 0.5)
        for j in range(len(rest)):
            rest[j:, j] = rest[j:, j] - v[j:] * w[j : j + 1] - w[j:] * v[j : j + 1]
        a[k + 1, k] = beta[0]
        result.append((k + 1, v, t))
    return np.diagonal(a).copy(), np.diagonal(a, -1).copy(), result


def self_adjoint_eigenvalues(a: Array, vectors: bool) -> tuple[Array, Array]:
    """Implicit QR steps with Wilkinson's shift on a tridiagonal matrix (GVL 8.3.3)."""
    d, e, reflections = _tridiagonalized(a)
    q = _accumulated(a, len(a), reflections) if vectors else None
    end = len(a) - 1
    while end > 0:
        if np.all(plain(abs(e[end - 1 : end]) <= (abs(d[end - 1 : end]) + abs(d[end : end + 1])) * _EPSILON)):
            end -= 1
            continue
        half = (d[end - 1 : end] - d[end : end + 1]) * 0.5
        last = e[end - 1 : end]
        root = np.sqrt(half * half + last * last)
        x = d[:1] - (d[end : end + 1] - last * last / (half + np.where(plain(half > 0), root, -root)))
        z = e[:1]
        for k in range(end):
            c, s = _rotation(x, z)
            if k:
                e[k - 1 : k] = c * x + s * z
            block = counted(np.array([[d[k], e[k]], [e[k], d[k + 1]]]), a.tally)
            _rotate(c, s, block[0], block[1])
            _rotate(c, s, block[:, 0], block[:, 1])
            d[k], d[k + 1], e[k] = block[0, 0], block[1, 1], block[1, 0]
            x = e[k : k + 1]
            if k + 1 < end:
                z = s * e[k + 1 : k + 2]
                e[k + 1 : k + 2] = c * e[k + 1 : k + 2]
            if q is not None:
                _rotate(c, s, q[:, k], q[:, k + 1])
    return d, q


# ---- singular values


def singular_values(a: Array, vectors: bool) -> tuple[Array, Array, Array]:
    """Golub and Reinsch: a bidiagonal matrix, then implicit QR steps (GVL 5.4.2 and 8.6.2); a is not wide."""
    a = a.copy()
    rows, n = a.shape
    lefts, rights = [], []
    for j in range(n):
        v, t, beta = reflection(a[j:, j])
        reflect(v, t, a[j:, j + 1 :])
        a[j, j] = beta[0]
        lefts.append((j, v, t))
        if j + 1 < n:
            v, t, beta = reflection(a[j, j + 1 :])
            reflect(v, t, a[j + 1 :, j + 1 :].T)
            a[j, j + 1] = beta[0]
            rights.append((j + 1, v, t))
    u = _accumulated(a, rows, lefts) if vectors else None
    v = _accumulated(a, n, rights) if vectors else None
    d, f = np.diagonal(a).copy(), np.diagonal(a, 1).copy()
    _diagonalize(d, f[: n - 1], u, v)
    return d, u, v


def _diagonalize(d: Array, f: Array, u: Array, v: Array) -> None:
    """Steps on the bidiagonal matrix of diagonal d and superdiagonal f until f is zero."""
    end = len(d) - 1
    while end > 0:
        if np.all(plain(abs(f[end - 1 : end]) <= (abs(d[end - 1 : end]) + abs(d[end : end + 1])) * _EPSILON)):
            end -= 1
            continue
        high = d[end - 1 : end] * d[end - 1 : end]
        if end > 1:
            high = high + f[end - 2 : end - 1] * f[end - 2 : end - 1]
        low = d[end : end + 1] * d[end : end + 1] + f[end - 1 : end] * f[end - 1 : end]
        off = d[end - 1 : end] * f[end - 1 : end]
        half = (high - low) * 0.5
        root = np.sqrt(half * half + off * off)
        shift = low - off * off / (half + np.where(plain(half > 0), root, -root))
        y, z = d[:1] * d[:1] - shift, d[:1] * f[:1]
        for k in range(end):
            y, z = _chase(d, f, u, v, k, y, z, k + 1 < end)


def _chase(d: Array, f: Array, u: Array, v: Array, k: int, y: Array, z: Array, more: bool) -> tuple[Array, Array]:
    """One rotation from either side, which moves the bulge (z) on."""
    c, s = _rotation(y, z)
    if k:
        f[k - 1 : k] = c * y + s * z
    block = counted(np.array([[d[k], f[k]], [0.0, d[k + 1]]]), d.tally)
    _rotate(c, s, block[:, 0], block[:, 1])
    if v is not None:
        _rotate(c, s, v[:, k], v[:, k + 1])
    c, s = _rotation(block[0, :1], block[1, :1])
    _rotate(c, s, block[0], block[1])
    if u is not None:
        _rotate(c, s, u[:, k], u[:, k + 1])
    d[k], f[k], d[k + 1] = block[0, 0], block[0, 1], block[1, 1]
    if not more:
        return f[k : k + 1], z
    z = s * f[k + 1 : k + 2]
    f[k + 1 : k + 2] = c * f[k + 1 : k + 2]
    return f[k : k + 1], z


# ---- any square matrices


def schur(a: Array, vectors: bool) -> tuple[Array, Array]:
    """The real Schur form, for values alone only its diagonal blocks, by Francis's double steps (GVL 7.5.2)."""
    h, reflections, n = a.copy(), [], len(a)
    for k in range(n - 2):
        v, t, beta = reflection(h[k + 1 :, k])
        h[k + 1, k], h[k + 2 :, k] = beta[0], 0
        reflect(v, t, h[k + 1 :, k + 1 :])
        reflect(v, t, h[:, k + 1 :].T)
        reflections.append((k + 1, v, t))
    q = _accumulated(a, n, reflections) if vectors else None
    end = n - 1
    while end > 1:
        sizes = abs(np.diagonal(h))
        small = plain(abs(np.diagonal(h, -1)) <= (sizes[:-1] + sizes[1:]) * _EPSILON)
        h[np.flatnonzero(small) + 1, np.flatnonzero(small)] = 0
        start = max((i + 1 for i in range(end) if small[i]), default=0)
        if end - start < 2:
            end = start - 1
        else:
            _francis(h, start, end, q)
    return h, q


def _francis(h: Array, start: int, end: int, q: Array) -> None:
    """One double step on rows start ... end; with vectors on the whole of h, else on the block."""
    first, last = (0, len(h)) if q is not None else (start, end + 1)
    upper_left, upper, lower, lower_right = h[end - 1 : end + 1, end - 1 : end + 1].reshape(4, 1)
    total, product = upper_left + lower_right, upper_left * lower_right - upper * lower
    a, b, c, d = h[start : start + 2, start : start + 2].reshape(4, 1)
    below = h[start + 2, start + 1 : start + 2]
    vector = np.concatenate([a * a + b * c - total * a + product, c * (a + d - total), c * below])
    for k in range(start, end):
        v, t, _ = reflection(counted(vector, h.tally))
        rows, left = slice(k, k + len(v)), max(start, k - 1)
        reflect(v, t, h[rows, left:last])
        reflect(v, t, h[first : min(k + 4, end + 1), rows].T)
        if q is not None:
            reflect(v, t, q[:, rows].T)
        vector = h[k + 1 : min(k + 4, end + 1), k]


# ---- functions of matrices


def root(t: Array) -> Array:
    """The square root of an upper triangular matrix, column by column (Bjoerck and Hammarling 1983)."""
    u, n = counted(np.zeros(t.shape), t.tally), len(t)
    for j in range(n):
        u[j, j] = np.sqrt(t[j : j + 1, j])[0]
        column = t[:, j].copy()
        for i in reversed(range(j)):
            u[i, j] = (column[i : i + 1] / (u[i, i : i + 1] + u[j, j : j + 1]))[0]
            column[:i] = column[:i] - u[:i, i] * u[i : i + 1, j]
    return u


def similar(q: Array, t: Array) -> Array:
    """q t q^T for an upper triangular t."""
    left = counted(np.zeros(q.shape), q.tally)
    for k in range(len(q)):
        left[:, k:] = left[:, k:] + q[:, k, None] * t[None, k, k:]
    return left @ q.T


def logarithm(t: Array, roots: int, degree: int) -> Array:
    """Of an upper triangular matrix by inverse scaling and squaring, Pade's approximant in partial fractions (Higham 2008)."""
    for _ in range(roots):
        t = root(t)
    n = len(t)
    diagonal, upper = np.diag_indices(n), np.triu_indices(n)
    x = t.copy()
    x[diagonal] = x[diagonal] - 1.0
    total = counted(np.zeros(t.shape), t.tally)
    points, weights = np.polynomial.legendre.leggauss(degree)
    for point, weight in zip((points + 1) / 2, weights / 2):
        system, y = x.copy(), x.copy()
        system[upper] = system[upper] * point
        system[diagonal] = system[diagonal] + 1.0
        for j in reversed(range(n)):
            y[j, j:] = y[j, j:] / system[j : j + 1, j]
            y[:j, j:] = y[:j, j:] - system[:j, j, None] * y[None, j, j:]
        total[upper] = total[upper] + y[upper] * weight
    total[upper] = total[upper] * 2.0**roots
    return total


def exponential(a: Array, squarings: int) -> Array:
    """Pade's approximant of degree 13, scaled and squared so often (Higham 2005, algorithm 2.3)."""
    b = [math.factorial(26 - j) * math.factorial(13) / (math.factorial(26) * math.factorial(13 - j) * math.factorial(j))
         for j in range(14)]  # fmt: skip
    a = a / 2.0**squarings
    diagonal = np.diag_indices(len(a))
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a2 @ a4

    def sums(first: int) -> Array:
        high = a6 * b[first + 12] + a4 * b[first + 10] + a2 * b[first + 8]
        low = a6 * b[first + 6] + a4 * b[first + 4] + a2 * b[first + 2]
        total = a6 @ high + low
        total[diagonal] = total[diagonal] + b[first]
        return total

    odd, even = a @ sums(1), sums(0)
    result = solved(even - odd, even + odd)
    for _ in range(squarings):
        result = result @ result
    return result
