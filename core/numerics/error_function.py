"""The error function and its complement in single precision by a table, within 2.5 units in the last place.

Between two places of the table, which are 1/512 apart, follow three terms of Taylor's series at the nearer one (Abramowitz and
Stegun 7.1.19: its coefficients are Hermite polynomials). What else is asked for is left to SciPy.
"""

from __future__ import annotations

import functools
import math
from typing import Final, NamedTuple

import numpy as np
from scipy import special

from ..arrays import Array

_STEPS: Final = 512
"""Places in the table for each unit."""
_WORTHWHILE: Final = 1 << 12
"""Elements from which on the calls to NumPy cost less than SciPy's loop."""
_AT_ONCE: Final = 1 << 14
_ONE: Final = np.float32(1)
_THIRD: Final = np.float32(1 / 3)


class _Table(NamedTuple):
    """Values and slopes from `low` to `high`, outside of which the function is constant; an odd one keeps the sign of zero."""

    low: int
    high: int
    values: Array
    slopes: Array
    is_odd: bool


def erf(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """The error function of floats. What `is_part` of many rounds as they do."""
    return _evaluated(x, _erf_table(), out) if _is_tabulated(x, is_part) else special.erf(x, out=out)


def erfc(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """1 - erf(x), without cancellation; as `erf`."""
    return _evaluated(x, _erfc_table(), out) if _is_tabulated(x, is_part) else special.erfc(x, out=out)


def _is_tabulated(x: Array, is_part: bool) -> bool:
    return x.dtype == np.float32 and (is_part or x.size >= _WORTHWHILE)


@functools.cache
def _erf_table() -> _Table:
    places, slopes = _places(-4, 4)
    return _Table(-4, 4, special.erf(places).astype(np.float32), slopes.astype(np.float32), True)


@functools.cache
def _erfc_table() -> _Table:
    places, slopes = _places(-4, 11)
    return _Table(-4, 11, special.erfc(places).astype(np.float32), (-slopes).astype(np.float32), False)


def _places(low: int, high: int) -> tuple[Array, Array]:
    places = np.arange(low * _STEPS, high * _STEPS + 1) / _STEPS
    return places, 2 / math.sqrt(math.pi) * np.exp(-places * places)


def _evaluated(x: Array, table: _Table, out: Array | None) -> Array:
    """The function of each element, written to `out` where it is given, which may be `x`."""
    result = out if out is not None and out.flags.c_contiguous else np.empty(x.shape, x.dtype)
    given, found = x.reshape(-1), result.reshape(-1)
    size = min(len(given), _AT_ONCE)
    scratch, index = np.empty((3, size), np.float32), np.empty(size, np.intp)
    with np.errstate(invalid="ignore"):  # NaN has no place in the table
        for start in range(0, len(given), size):
            part = slice(start, min(start + size, len(given)))
            count = part.stop - start
            _evaluate(given[part], table, scratch[:, :count], index[:count], found[part])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


def _evaluate(x: Array, table: _Table, scratch: Array, index: Array, result: Array) -> None:
    """value + slope h (1 - p h + (2 p² - 1) h² / 3) at the place p that is nearest to x = p + h."""
    h, both, other = scratch
    np.clip(x, table.low, table.high, out=h)
    np.multiply(h, _STEPS, out=both)
    np.rint(both, out=both)
    np.subtract(both, table.low * _STEPS, out=other)
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
    np.add(table.values.take(index, out=both, mode="clip"), other, out=other)
    if table.is_odd:
        np.copysign(other, x, out=result)
    else:
        result[:] = other
