"""Sums of scaled arrays in place, in a single pass over memory by BLAS where possible: the steps of optimizers.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..parallel.cblas import address, routine
from ..types.arrays import Array

_FEW: Final = 1 << 9
"""The largest number of elements where calling BLAS takes longer than NumPy."""


def add_scaled(y: Array, x: Array, factor: Any) -> None:
    """Compute y += factor x"""
    if not _sum_by_blas(y, 1, x, factor):
        y += x * factor


def scale_and_add(y: Array, keep: Any, x: Array) -> None:
    """Compute y = keep y + x"""
    if not _sum_by_blas(y, keep, x, 1):
        y *= keep
        y += x


def move_towards(y: Array, x: Array, rate: Any, scratch: Array) -> None:
    """Compute y += (x - y) rate; `scratch`, of the same shape, may be x, and is overwritten."""
    if not _sum_by_blas(y, 1 - rate, x, rate):
        np.subtract(x, y, out=scratch)
        scratch *= rate
        y += scratch


def _sum_by_blas(y: Array, keep: Any, x: Array, factor: Any) -> bool:
    """Compute y = keep y + factor x; return False, and do nothing, where BLAS lacks the arrays' type or skips products with
    zero.
    """
    call = _axpby(y.dtype.char)
    if call is None or y.size <= _FEW or x.dtype != y.dtype or x.shape != y.shape or not (keep and factor):
        return False
    if not (y.flags.c_contiguous and x.flags.c_contiguous):
        return False
    call(y.size, factor, address(x), 1, keep, address(y), 1)
    return True


@functools.cache
def _axpby(char: str) -> Callable[..., None] | None:
    """Return OpenBLAS's sum of two scaled vectors of a dtype; None without OpenBLAS."""

    def arguments(real: Any, integer: Any) -> list[Any]:
        vector = ctypes.c_void_p, integer
        return [integer, real, *vector, real, *vector]

    return routine("axpby", char, arguments)
