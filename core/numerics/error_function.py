"""The error function and its complement in single precision, within 4 and 2.5 units in the last place.

The error function is the hyperbolic tangent of x g(x²), where g is a polynomial with coefficients `_SLOPE` that make the
largest relative error least, 1e-7: computed by least squares, weighted anew by the errors (Lawson's algorithm) until the
errors were level.

The complement comes from a table. Between two places, which are 1/512 apart, follow three terms of Taylor's series at the
nearer place (Abramowitz and Stegun 7.1.19: the coefficients are Hermite polynomials). All other numbers are left to SciPy.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy import special

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
_THIRD: Final = np.float32(1 / 3)


class _Table(NamedTuple):
    """Values of the complement and its slopes from `_LOW` to `_HIGH`."""

    values: Array
    slopes: Array


def erf(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """Compute the error function of floats. With `is_part` the elements, part of many, are rounded as the many are."""
    if x.dtype != np.float32 or not (is_part or x.size >= _FEW):
        return special.erf(x, out=out)
    scratch = np.empty((2, min(x.size, _AT_ONCE)), np.float32)
    with np.errstate(over="ignore"):  # the tangent of infinity is one
        return _by_blocks(lambda some, target: _tangent(some, scratch[:, : len(some)], target), x, out)


def _tangent(x: Array, scratch: Array, result: Array) -> None:
    square, slope = scratch
    np.multiply(x, x, out=square)
    np.multiply(square, _SLOPE[-1], out=slope)
    for coefficient in _SLOPE[-2:0:-1]:
        np.add(slope, coefficient, out=slope)
        np.multiply(slope, square, out=slope)
    np.add(slope, _SLOPE[0], out=slope)
    np.multiply(slope, x, out=slope)
    np.tanh(slope, out=result)


def erfc(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """1 - erf(x), without cancellation; as `erf`."""
    if x.dtype != np.float32 or not (is_part or x.size >= FEW_OF_COMPLEMENT):
        return special.erfc(x, out=out)
    size, table = min(x.size, _AT_ONCE), _table()
    scratch, index = np.empty((3, size), np.float32), np.empty(size, np.intp)

    def evaluate(some: Array, target: Array) -> None:
        _look_up(some, table, scratch[:, : len(some)], index[: len(some)], target)

    with np.errstate(invalid="ignore"):  # NaN has no place in the table
        return _by_blocks(evaluate, x, out)


def _by_blocks(evaluate: Callable[[Array, Array], None], x: Array, out: Array | None) -> Array:
    """Evaluate blocks of elements into `out`, if given, or a new array; `out` may be `x`."""
    result = out if out is not None and out.flags.c_contiguous else np.empty(x.shape, x.dtype)
    numbers, results = x.reshape(-1), result.reshape(-1)
    for start in range(0, len(numbers), _AT_ONCE):
        evaluate(numbers[start : start + _AT_ONCE], results[start : start + _AT_ONCE])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


@functools.cache
def _table() -> _Table:
    places = np.arange(_LOW * _STEPS, _HIGH * _STEPS + 1) / _STEPS
    slopes = -2 / math.sqrt(math.pi) * np.exp(-places * places)
    return _Table(special.erfc(places).astype(np.float32), slopes.astype(np.float32))


def _look_up(x: Array, table: _Table, scratch: Array, index: Array, result: Array) -> None:
    """Compute value + slope h (1 - p h + (2 p² - 1) h² / 3) at the place p nearest to x = p + h."""
    h, both, other = scratch
    np.clip(x, _LOW, _HIGH, out=h)
    np.multiply(h, _STEPS, out=both)
    np.rint(both, out=both)
    np.subtract(both, _LOW * _STEPS, out=other)
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
