"""Square root, logarithm and exponential of complex numbers in single precision, by NumPy's loops over real numbers.

NumPy's complex functions call the C library, a number at a time. Numbers that are not finite, zero or of extreme size go to
these functions, for C99's rules.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..types.arrays import Array
from .where import chosen

WORTHWHILE: Final = 1 << 9
"""The least number of elements where calls of NumPy cost less than calls of the C library."""
_AT_ONCE: Final = 1 << 13
"""Elements per block, so that intermediate values stay in a cache: a million elements in a single block take 1.25 times as
long.
"""
_HALF: Final = np.float32(0.5)
_SQUARES: Final = np.float32(2**-100), np.float32(2**100)
"""Sizes between which the sum of two squares has all digits."""
_LEAST_LOGARITHM: Final = 2e-9
"""Size of a result below which log|z| near |z| = 1 has lost digits of single precision, by the rounded sum of squares."""
_LARGEST_POWER: Final = np.float32(87)
"""Size of an argument above which exp overflows or leaves the normal numbers."""


def sqrt(z: Array) -> Array:
    """Return the square root with a real part that is not negative."""
    return _by_parts(z, _sqrt_parts, np.sqrt)


def log(z: Array) -> Array:
    """Return the logarithm with an imaginary part in [-pi, pi]."""
    return _by_parts(z, _log_parts, np.log)


def exp(z: Array) -> Array:
    return _by_parts(z, _exp_parts, np.exp)


def _by_parts(z: Array, parts: Callable[[Array, Array, Array], Array], otherwise: Callable[..., Array]) -> Array:
    """Return a function of each element: `parts` writes the results and returns a mask of valid results."""
    if z.dtype != np.complex64 or z.size < WORTHWHILE:
        return otherwise(z)
    result = np.empty(z.shape, z.dtype)
    numbers, results = z.reshape(-1), result.reshape(-1)
    with np.errstate(all="ignore"):
        for start in range(0, len(numbers), _AT_ONCE):
            some, made = numbers[start : start + _AT_ONCE], results[start : start + _AT_ONCE]
            holds = parts(np.ascontiguousarray(some.real), np.ascontiguousarray(some.imag), made)
            if not holds.all():
                made[~holds] = otherwise(some[~holds])
    return result


def _sqrt_parts(x: Array, y: Array, result: Array) -> Array:
    """Write the square roots: the larger part is sqrt((|z| + |x|) / 2), the smaller part |y| by twice the larger."""
    larger = x * x
    larger += y * y
    holds = (larger > _SQUARES[0]) & (larger < _SQUARES[1])
    np.sqrt(larger, out=larger)
    larger += np.abs(x)
    larger *= _HALF
    np.sqrt(larger, out=larger)
    smaller = np.abs(y)
    smaller /= larger
    smaller *= _HALF
    is_left = x < 0
    result.real = chosen(is_left, smaller, larger)
    result.imag = np.copysign(chosen(is_left, larger, smaller), y)
    return holds


def _log_parts(x: Array, y: Array, result: Array) -> Array:
    """Return log |z| and the angle. In double precision the squares are exact; where log |z| is tiny their sum lacks
    digits.
    """
    total = np.square(x, dtype=np.float64)
    total += np.square(y, dtype=np.float64)
    np.log(total, out=total)
    total *= 0.5
    result.real = total
    result.imag = np.arctan2(y, x)
    np.abs(total, out=total)
    return (total > _LEAST_LOGARITHM) & (total < np.inf)


def _exp_parts(x: Array, y: Array, result: Array) -> Array:
    size = np.exp(x)
    result.real = size * np.cos(y)
    result.imag = size * np.sin(y)
    return (np.abs(x) <= _LARGEST_POWER) & np.isfinite(y)
