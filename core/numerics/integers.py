"""Arithmetic of integers that NumPy has no function for; quotients are rounded as C++ rounds them.

`benchmarks/thresholds.py` shows what the thresholds here are worth.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..types.arrays import Array

_FEW: Final = 32
"""So many elements take less time one by one."""


def truncated_quotient(x: Any, y: Any) -> Array:
    """x / y rounded towards zero, broadcast, in their common integer dtype; `y` must not be 0.

    No intermediate result leaves the dtype, as the absolute value of its smallest number would. That number over -1 is itself.
    """
    floor = np.floor_divide(x, y)
    is_cut = np.not_equal(floor * y, x)
    result: Array = floor + (is_cut & (np.less(x, 0) != np.less(y, 0)))
    return result


def extremes(x: Array) -> tuple[int, int]:
    """The least and the greatest of some integers."""
    if x.size > _FEW:
        return int(x.min()), int(x.max())
    elements = x.ravel().tolist()
    return min(elements), max(elements)
