"""Powers, elementwise."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..arrays import Array

_PRODUCTS: Final = (2, 3, 4)
"""The exponents for which there are products."""


def power(x: Array, y: Array, out: Array | None = None) -> Array:
    """x to the y; small whole numbers as products, many times faster than powers."""
    if np.ndim(y) or x.dtype.kind != "f" or y not in _PRODUCTS:
        return np.power(x, y, out=out)
    square = np.multiply(x, x, out=out if y == 2 else None)
    return square if y == 2 else np.multiply(square, x if y == 3 else square, out=out)
