"""Elementwise functions that NumPy and SciPy lack, or compute slowly: the error function, gamma derivatives, powers, choices.

The error function in single precision is within 4 units in the last place, the complement within 2.5. The function is the
hyperbolic tangent of x g(x²), where g is a polynomial with coefficients `_SLOPE` that make the largest relative error least,
1e-7: computed by least squares, weighted anew by the errors (Lawson's algorithm) until the errors were level.

The complement comes from a table. Between two places, which are 1/512 apart, follow three terms of Taylor's series at the
nearer place (Abramowitz and Stegun 7.1.19: the coefficients are Hermite polynomials). All other numbers are left to SciPy.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ..types.arrays import Array

_SLOPE: Final = [
    np.float32(c)
    for c in (1.128379274, 0.1027690562, -1.918320790e-4, -6.197834809e-4, 8.763691855e-5, -5.668419906e-6, 1.418497321e-7)
]
_STEPS: Final = 512
"""Places in the table for each unit."""
_LOW: Final = -4
"""The least number in the table of the complement; below, the complement is 2 in single precision."""
_HIGH: Final = 11
"""The largest number in the table of the complement; above, the complement is constant."""
_FEW: Final = 1 << 10
"""The largest number of elements where the calls to NumPy take longer than SciPy's loop."""
FEW_OF_COMPLEMENT: Final = 1 << 12
"""The largest number of elements where a table look-up of the complement takes longer than SciPy's loop."""
_AT_ONCE: Final = 1 << 14
"""Elements per block, so that intermediate values stay in a cache: a million in a single block take 1.5 to 2 times as long."""
_ONE: Final = np.float32(1)
_HALF_SINGLE: Final = np.float32(0.5)
_THIRD: Final = np.float32(1 / 3)


def _special() -> Any:
    """Return SciPy's special functions, which take longer to import than a small graph to explain: powers need none."""
    from scipy import special

    return special


class _Table(NamedTuple):
    """Values of the complement and its slopes from `_LOW` to `_HIGH`."""

    values: Array
    slopes: Array


def erf(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """Compute the error function of floats. With `is_part` the elements, part of many, are rounded as the many are."""
    if x.dtype != np.float32 or not (is_part or x.size >= _FEW):
        return _special().erf(x, out=out)
    scratch = np.empty((2, min(x.size, _AT_ONCE)), np.float32)
    with np.errstate(over="ignore"):  # the tangent of infinity is one
        return in_blocks(lambda some, target: _tangent(some, scratch[:, : len(some)], target), x, out=out)


def _tangent(x: Array, scratch: Array, result: Array) -> None:
    square, slope = scratch
    np.multiply(x, x, out=square)
    np.multiply(square, _SLOPE[-1], out=slope)
    # Horner's scheme in two buffers: a temporary array for each step would leave the cache.
    for coefficient in _SLOPE[-2:0:-1]:
        np.add(slope, coefficient, out=slope)
        np.multiply(slope, square, out=slope)
    np.add(slope, _SLOPE[0], out=slope)
    np.multiply(slope, x, out=slope)
    np.tanh(slope, out=result)


def erfc(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """1 - erf(x), without cancellation; as `erf`."""
    if x.dtype != np.float32 or not (is_part or x.size >= FEW_OF_COMPLEMENT):
        return _special().erfc(x, out=out)
    size, table = min(x.size, _AT_ONCE), _table()
    scratch, index = np.empty((3, size), np.float32), np.empty(size, np.intp)

    def evaluate(some: Array, target: Array) -> None:
        _look_up(some, table, scratch[:, : len(some)], index[: len(some)], target)

    with np.errstate(invalid="ignore"):  # NaN has no place in the table
        return in_blocks(evaluate, x, out=out)


def in_blocks(evaluate: Callable[..., object], x: Array, *others: Array, out: Array | None = None) -> Array:
    """Evaluate blocks of elements into `out`, if given, or a new array like `x`; `out` may be `x`.

    `evaluate` takes a block of each array, then the block of the result. Arrays have the shape of `x`, or are scalars.
    """
    result = out if out is not None and out.flags.c_contiguous else np.empty(x.shape, x.dtype)
    flat = [x.reshape(-1), *(array.reshape(-1) if array.shape else array for array in others)]
    results = result.reshape(-1)
    if len(results) <= _AT_ONCE:
        evaluate(*flat, results)
    else:
        for start in range(0, len(results), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            evaluate(*[array[some] if array.shape else array for array in flat], results[some])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


@functools.cache
def _table() -> _Table:
    places = np.arange(_LOW * _STEPS, _HIGH * _STEPS + 1) / _STEPS
    slopes = -2 / math.sqrt(math.pi) * np.exp(-places * places)
    return _Table(_special().erfc(places).astype(np.float32), slopes.astype(np.float32))


def _look_up(x: Array, table: _Table, scratch: Array, index: Array, result: Array) -> None:
    """Compute value + slope h (1 - p h + (2 p² - 1) h² / 3) at the place p nearest to x = p + h."""
    h, both, other = scratch
    # Beyond both ends the complement is constant in single precision, so that the nearest end has its value.
    np.clip(x, _LOW, _HIGH, out=h)
    np.multiply(h, _STEPS, out=both)
    np.rint(both, out=both)
    np.subtract(both, _LOW * _STEPS, out=other)
    # NaN becomes some integer here; mode="clip" below keeps it in the table, and h, which is NaN, makes the result NaN.
    np.copyto(index, other, casting="unsafe")
    np.divide(both, _STEPS, out=both)
    np.subtract(h, both, out=h)
    np.multiply(both, h, out=both)
    np.multiply(both, 2 * _THIRD, out=other)
    np.subtract(other, _ONE, out=other)
    np.multiply(other, both, out=other)
    np.multiply(h, h, out=both)
    np.multiply(both, _THIRD, out=both)
    np.subtract(other, both, out=other)
    np.add(other, _ONE, out=other)
    np.multiply(other, h, out=other)
    np.multiply(other, table.slopes.take(index, out=both, mode="clip"), out=other)
    np.add(table.values.take(index, out=both, mode="clip"), other, out=result)


# Derivatives of the regularized incomplete gamma function by its parameter, which scipy lacks.
# The series and the continued fraction are Abramowitz and Stegun 6.5.29 and 6.5.31, differentiated term by term; the
# derivative of a sample is implicit: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018.

_MAX_TERMS = 5000
"""The largest number of terms of a series, or steps of a continued fraction; without convergence the result is returned
unfinished.
"""
_EPSILON = float(np.finfo(np.float64).eps)
_SETTLED = 16 * _EPSILON
"""Relative change of a sum that counts as none: some units in the last place."""
_TINY = 1e-290
"""Absolute change of a slope that counts as none."""
_SERIES_BEYOND = 4
"""So far above a the series loses no more than three digits, while the continued fraction is slow there."""
_RESCALE = 1 / _EPSILON


def igamma_gradient(a: Array, x: Array) -> Array:
    """Return dP(a, x)/da, elementwise in float64; 0 at x = 0 and infinity, else NaN for a <= 0, x < 0 and NaN."""
    a, x = (np.array(v, np.float64) for v in np.broadcast_arrays(a, x))
    result = np.full(a.shape, np.nan)
    valid = (a > 0) & (x >= 0)
    # P(a, 0) is 0 and P(a, inf) is 1 for every a, so that the derivative by a is 0.
    result[(x == 0) | (valid & np.isinf(x))] = 0
    regular = valid & (x > 0) & np.isfinite(x) & np.isfinite(a)
    is_tail = regular & (x > np.maximum(a, 1) + _SERIES_BEYOND)
    is_series = regular & ~is_tail
    result[is_series] = _series(a[is_series], x[is_series])
    result[is_tail] = -_continued_fraction(a[is_tail], x[is_tail])
    return result


def gamma_sample_gradient(alpha: Array, sample: Array) -> Array:
    """Return the derivative by alpha of a Gamma(alpha, 1) sample at a fixed quantile: -(dP/da) / (dP/dx)."""
    alpha, sample = (np.array(v, np.float64) for v in np.broadcast_arrays(alpha, sample))
    density = np.exp((alpha - 1) * np.log(sample) - sample - _special().gammaln(alpha))
    gradient: Array = -igamma_gradient(alpha, sample) / density
    # The density at 0 is 0 or infinite by its logarithm, and the quotient NaN; a sample of 0 has underflowed.
    return np.where(sample == 0, 0.0, gradient)


def _series(a: Array, x: Array) -> Array:
    """P = x^a e^-x / Gamma(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), differentiated term by term."""
    term, total = np.ones_like(a), np.ones_like(a)
    term_slope, slope = np.zeros_like(a), np.zeros_like(a)
    for n in range(1, _MAX_TERMS):
        factor = x / (a + n)
        term_slope = factor * (term_slope - term / (a + n))
        term = term * factor
        total = total + term
        slope = slope + term_slope
        if np.all(np.abs(term_slope) <= _SETTLED * np.abs(slope) + _TINY):
            break
    scale = np.exp(a * np.log(x) - x - _special().gammaln(a + 1))
    return scale * (slope + total * (np.log(x) - _special().digamma(a + 1)))


def _continued_fraction(a: Array, x: Array) -> Array:
    """Return dQ/da from Q's continued fraction (Cephes igamc), numerators and denominators carried with their derivatives."""
    y, z = 1 - a, x - a + 2
    older, old = (np.ones_like(a), x), (x + 1, z * x)
    d_older, d_old = (np.zeros_like(a), np.zeros_like(a)), (np.zeros_like(a), -x)
    value, slope = old[0] / old[1], (d_old[0] - old[0] / old[1] * d_old[1]) / old[1]
    for n in range(1, _MAX_TERMS):
        y, z = y + 1, z + 2
        new = (z * old[0] - n * y * older[0], z * old[1] - n * y * older[1])
        d_new = tuple(z * dv - v - n * (y * du - u) for u, v, du, dv in zip(older, old, d_older, d_old))
        value = new[0] / new[1]
        next_slope = (d_new[0] - value * d_new[1]) / new[1]
        settled = np.all(np.abs(next_slope - slope) <= _SETTLED * np.abs(next_slope) + _TINY)
        slope = next_slope
        # Numerators and denominators grow without bound; a common power of two changes neither their quotients nor their
        # digits.
        shrink = np.where(np.abs(new[0]) > _RESCALE, _EPSILON, 1.0)
        older, old, d_older, d_old = ((u * shrink, v * shrink) for u, v in (old, new, d_old, d_new))
        if settled and n > 2:
            break
    scale = np.exp(a * np.log(x) - x - _special().gammaln(a))
    return scale * (slope + value * (np.log(x) - _special().digamma(a)))


# Powers.

_PRODUCTS: Final = (2, 3, 4)
"""The exponents computed by multiplication."""
_HALF: Final = 0.5
"""The exponent for which NumPy takes square roots."""


def power(x: Array, y: Array, out: Array | None = None) -> Array:
    """Return x to the y; small whole exponents by multiplication, many times faster than powers."""
    # np.power takes a root for this exponent: sqrt(-0) is -0 and sqrt(-inf) is NaN, where C's pow has 0 and infinity.
    if x.dtype.kind == "f" and np.any(y == _HALF):
        return _with_roots(x, y, out)
    if np.ndim(y) or x.dtype.kind != "f" or y not in _PRODUCTS:
        return np.power(x, y, out=out)
    square = np.multiply(x, x, out=out if y == 2 else None)
    return square if y == 2 else np.multiply(square, x if y == 3 else square, out=out)


def _with_roots(x: Array, y: Array, out: Array | None) -> Array:
    """Compute powers where NumPy may take square roots, with C's and TensorFlow's results for -0 and minus infinity."""
    is_other = (y == _HALF) & ((x == 0) | np.isneginf(x))
    return np.positive(np.where(is_other, np.abs(x), np.power(x, y)), out=out)


def expm1_below_zero(x: Array, out: Array) -> None:
    """Write exp(x) - 1 for x <= 0 to `out`, which is not x; in single precision within 4 units in the last place."""
    if x.dtype != np.float32:
        np.expm1(x, out=out)
        return
    # With t = tanh(x/2) it is 2t / (1 - t), in which nothing cancels below 0. NumPy has vector instructions for the tangent
    # but none for expm1, which takes four times as long.
    np.multiply(x, _HALF_SINGLE, out=out)
    np.tanh(out, out=out)
    rest = _ONE - out
    np.add(out, out, out=out)
    np.divide(out, rest, out=out)


# Choices.

_BITS: Final = {4: np.int32, 8: np.int64}
"""Integers by their bytes."""
FEW_CHOICES: Final = 1 << 12
"""The elements up to which the calls of a choice by bits take longer than np.where."""


def chosen(condition: Array, first: Array, second: Array) -> Array:
    """Return `np.where`, for large arrays without a branch for each element.

    A branch that goes both ways at random, as in dropout, costs a processor several times what the arithmetic costs here.
    """
    operands = first, second
    fits = all(array.shape in (condition.shape, ()) for array in operands) and first.dtype == second.dtype
    if not fits or condition.size <= FEW_CHOICES or first.dtype.kind not in "fiu" or first.dtype.itemsize not in _BITS:
        return np.where(condition, first, second)
    result = np.empty(condition.shape, first.dtype)
    return in_blocks(choose, condition, *operands, out=result)


def choose(condition: Array, first: Array, second: Array, out: Array) -> None:
    """Write `first` where the condition is true and else `second`, numbers of 4 or 8 bytes, to `out`, which may be either."""
    # The difference of the bits, kept where the condition is true, turns the second number into the first. So infinities and
    # NaN are chosen as they are: a product of floats would make NaN of an infinity that is not chosen.
    bits = _BITS[out.itemsize]
    difference = np.bitwise_xor(first.view(bits), second.view(bits))
    if difference.ndim == 0:
        difference = np.multiply(difference, condition)
    else:
        np.multiply(difference, condition, out=difference)
    np.bitwise_xor(difference, second.view(bits), out=out.view(bits))


def positive_part(x: Array, out: Array | None = None) -> Array:
    """Return max(x, 0); NaN stays NaN. `out` may be x."""
    return np.maximum(x, x.dtype.type(0), out=out)
