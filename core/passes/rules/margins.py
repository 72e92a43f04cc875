"""Conditions on constants under which two computations of a result differ by rounding only, for any other operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

_DIGITS: Final = 4
"""The largest ratio of the largest constant to the sum of constants: at most two bits are lost."""
_MARGIN: Final = 4
"""The factor between products of bounds and the largest number; leaves room for rounding on the way."""


def sum_hazard(total: Any, terms: Sequence[Any], unit: Any = 0.0) -> str:
    """Return the reason why `x + total` may differ by more than rounding from adding the terms in turn; empty for no
    reason.

    Terms of a few times `unit` may cancel: the last digits of the terms are those of `unit`.
    """
    wide = [_magnitudes(term) for term in terms]
    greatest, together = _broadcast(np.maximum, wide), _broadcast(np.add, wide)
    if np.any((_magnitudes(total) * _DIGITS < greatest) & (greatest > _DIGITS * _magnitudes(unit))):
        return "the constants cancel"
    limits = _limits(total)
    # A term under half a unit in the last place of the largest number does not change the largest number.
    return "the sum may overflow" if not np.all(together < float(limits.max) * float(limits.eps) / 8) else ""


def product_hazard(product: Any, factors: Sequence[Any]) -> str:
    """Return the reason why `x * product` may differ by more than rounding from multiplying by the factors in turn; or
    empty.

    Where all factors grow x, or all shrink x, no intermediate result overflows or underflows unless the last result does.
    """
    if product.dtype.kind == "c":
        return "parts of complex products may overflow"
    wide = [_magnitudes(factor) for factor in factors]
    if not (all(np.all(f >= 1) for f in wide) or all(np.all(f <= 1) for f in wide)):
        return "an intermediate product may overflow or underflow"
    return "" if all(map(is_normal, (product, *factors))) else "the constants leave the range of normal numbers"


def is_normal(array: Any) -> bool:
    """Return True where all elements are 0 or normal numbers, with all their digits."""
    array = np.asarray(array)
    sizes = np.abs(array) if array.dtype.kind == "f" else _magnitudes(array)  # comparisons need no wider numbers
    return bool(np.all(np.isfinite(sizes) & ((sizes == 0) | (sizes >= float(_limits(array).smallest_normal)))))


def holds_products(array: Any, *bounds: float) -> bool:
    """Return True where results within the bounds, and partial sums, are far from overflowing in the dtype of `array`."""
    return all(math.isfinite(bound) and bound * _MARGIN < float(_limits(array).max) for bound in bounds)


def most(array: Any) -> float:
    """Return the greatest absolute value of the elements, 0 of none."""
    return float(np.max(_magnitudes(array), initial=0))


def _magnitudes(array: Any) -> Any:
    wide = np.asarray(array)
    return np.abs(wide.astype(np.complex128 if wide.dtype.kind == "c" else np.float64))


def _broadcast(combine: Any, arrays: Sequence[Any]) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = combine(total, array)
    return total


def _limits(array: Any) -> Any:
    dtype = np.asarray(array).dtype
    return ml_dtypes.finfo(np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype)
