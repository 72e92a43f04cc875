"""The error function in single precision, within 4 units in the last place.

The error function is the hyperbolic tangent of x g(x²), where g is a polynomial with coefficients `_SLOPE` that make the
largest relative error least, 1e-7: computed by least squares, weighted anew by the errors (Lawson's algorithm) until the
errors were level. Doubles, and few numbers, are left to SciPy.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import special

from ..types.arrays import Array

_SLOPE: Final = [
    np.float32(c)
    for c in (1.128379274, 0.1027690562, -1.918320790e-4, -6.197834809e-4, 8.763691855e-5, -5.668419906e-6, 1.418497321e-7)
]
_FEW: Final = 1 << 10
"""The largest number of elements where the calls to NumPy take longer than SciPy's loop."""
_AT_ONCE: Final = 1 << 14
"""Elements per block, so that intermediate values stay in a cache: a million in a single block take 1.5 to 2 times as long."""


def erf(x: Array, *, out: Array | None = None, is_part: bool = False) -> Array:
    """Compute the error function of floats. With `is_part` the elements, part of many, are rounded as the many are."""
    if x.dtype != np.float32 or not (is_part or x.size >= _FEW):
        return special.erf(x, out=out)
    result = out if out is not None and out.flags.c_contiguous else np.empty(x.shape, x.dtype)
    numbers, results = x.reshape(-1), result.reshape(-1)
    scratch = np.empty((2, min(x.size, _AT_ONCE)), np.float32)
    with np.errstate(over="ignore"):  # the tangent of infinity is one
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            _tangent(some, scratch[:, : len(some)], results[start : start + _AT_ONCE])
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out


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
