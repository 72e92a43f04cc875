"""Arithmetic of integers that NumPy has no function for; quotients are rounded as in C++.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..types.arrays import Array

_FEW: Final = 32
"""The largest number of elements where a Python loop takes less time than NumPy."""


def truncated_quotient(x: Any, y: Any) -> Array:
    """Return x / y rounded towards zero, broadcast, in their common integer dtype; `y` must not be 0.

    No intermediate result leaves the dtype, unlike the absolute value of the smallest number. The smallest number over -1
    is itself.
    """
    # One more where the quotient is negative and not whole; |x| would overflow for the smallest number.
    floor = np.floor_divide(x, y)
    is_cut = np.not_equal(floor * y, x)
    result: Array = floor + (is_cut & (np.less(x, 0) != np.less(y, 0)))
    return result


def extremes(x: Array) -> tuple[int, int]:
    """Return the least and the greatest of some integers."""
    if x.size > _FEW:
        return int(x.min()), int(x.max())
    # Two reductions of NumPy cost as much as a loop over some dozens of numbers.
    elements = x.ravel().tolist()
    return min(elements), max(elements)
