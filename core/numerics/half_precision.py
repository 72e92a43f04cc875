"""Floats of 16 bits, half and bfloat16, computed in float32 and rounded once, at the end.

TensorFlow's CPU kernels without rounded intermediate results do the same: Eigen evaluates functions of both types in
float32.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..types.arrays import Array

_MANY: Final = 1 << 15
"""The least number of halves where a table look-up takes less time than a conversion."""

_WORTH_A_TABLE: Final = 1 << 16
"""The least number of elements where a table of a function, for all numbers of 16 bits, takes no longer than the function
of the elements.
"""


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return True for floats of 16 bits; NumPy has bfloat16 as a type of kind V."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def wide(x: Array) -> Array:
    """Convert floats of 16 bits to float32, and return other dtypes unchanged; the shape stays."""
    if x.itemsize != 2 or not is_narrow(x.dtype):
        return x
    if x.dtype == np.float16 and x.size >= _MANY:  # NumPy converts halves one at a time
        return _looked_up(_halves(), x)
    return x.astype(np.float32)


def _looked_up(table: Array, x: Array) -> Array:
    """Return the table's entries for numbers of 16 bits."""
    return table.take(x.view(np.uint16), mode="clip")


@functools.cache
def _halves() -> Array:
    """Return all halves in the order of their bits, as float32."""
    return _all_of(np.dtype(np.float16)).astype(np.float32)


def _all_of(dtype: np.dtype[Any]) -> Array:
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` to compute in float32 and round, where the first input has 16 bits; inputs of the same dtype are
    converted.

    Results of dtypes other than float32 stay unrounded.
    """

    @functools.wraps(function)
    def narrow(*inputs: Any, **attrs: Any) -> Any:
        dtype = inputs[0].dtype
        if not is_narrow(dtype):
            return function(*inputs, **attrs)
        result = function(*(wide(x) if x.dtype == dtype else x for x in inputs), **attrs)
        if isinstance(result, tuple):
            return tuple(value.astype(dtype) if value.dtype == np.float32 else value for value in result)
        return result.astype(dtype)

    return narrow


def tabulated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an elementwise function as `widened` does; for many elements look up a table of the function's values of all
    numbers.
    """
    narrow = widened(function)
    tables: dict[np.dtype[Any], Array] = {}

    @functools.wraps(function)
    def looked_up(x: Array, **attrs: Any) -> Any:
        if x.size < _WORTH_A_TABLE or not is_narrow(x.dtype) or attrs:
            return narrow(x, **attrs)
        if x.dtype not in tables:
            with np.errstate(all="ignore"):
                tables[x.dtype] = narrow(_all_of(x.dtype))
        return _looked_up(tables[x.dtype], x)

    return looked_up
