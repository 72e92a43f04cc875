"""Choosing slices of an array, or elements above zero."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..types.arrays import Array

_MOST_DIMS: Final = 64
"""Dimensions that an array of NumPy may have."""


def taken(x: Array, indices: Array, axis: int) -> Array:
    """Return the slices of `x` at valid `indices`. With too many dimensions for NumPy, `np.take` would end the process."""
    if x.dtype == object or x.ndim + indices.ndim > _MOST_DIMS:
        return x[(*[slice(None)] * axis, indices, ...)]  # type: ignore[arg-type]
    return np.take(x, indices, axis)


def positive_part(x: Array, out: Array | None = None) -> Array:
    """Return max(x, 0); NaN stays NaN. `out` may be x."""
    return np.maximum(x, x.dtype.type(0), out=out)
