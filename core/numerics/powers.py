"""Powers, elementwise."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..types.arrays import Array

_PRODUCTS: Final = (2, 3, 4)
"""The exponents computed by multiplication."""


_HALF: Final = 0.5
"""The exponent for which NumPy takes square roots."""


def power(x: Array, y: Array, out: Array | None = None) -> Array:
    """Return x to the y; small whole exponents by multiplication, many times faster than powers."""
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
