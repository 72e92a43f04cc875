"""Whether what an engine computed is what NumPy computes."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..types.arrays import Array

TOLERANCES: Final = {"f2": 2e-2, "f4": 1e-4, "f8": 1e-9, "c8": 1e-4, "c16": 1e-9}
"""How much of the largest magnitude of a tensor an element may be off, by the kind and size of its dtype."""
_COARSE: Final = 2e-2


def difference(found: Array, expected: Array, tolerance: float | None = None) -> str | None:
    """How much `found` differs from `expected`, in words; None where it does not, to within what its dtype can hold.

    Integers and truth values must be equal, NaNs and infinities at the same places.
    """
    if found.dtype != expected.dtype:
        return f"its dtype is {found.dtype}, not {expected.dtype}"
    if found.shape != expected.shape:
        return f"its shape is {found.shape}, not {expected.shape}"
    kind = expected.dtype.kind
    if kind in "biu":
        wrong = int(np.count_nonzero(found != expected))
        return f"{wrong} of {expected.size} elements differ" if wrong else None
    limit = tolerance or TOLERANCES.get(f"{kind}{expected.dtype.itemsize}", _COARSE)
    return _numeric_difference(_wide(found), _wide(expected), limit)


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _numeric_difference(found: Array, expected: Array, limit: float) -> str | None:
    with np.errstate(all="ignore"):
        finite = np.isfinite(expected)
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        if not np.array_equal(np.isfinite(found), finite) or not same[~finite].all():
            return "NaNs or infinities are at other places"
        if not finite.any():
            return None
        largest = float(np.abs(expected[finite]).max())
        off = float(np.abs(found[finite] - expected[finite]).max())
    if off <= limit * largest or off == 0:
        return None
    return f"it is off by up to {off:.3g}, where the largest magnitude is {largest:.3g}"
