"""Floats of 16 bits, half and bfloat16, computed in float32 and rounded once, at the end.

TensorFlow's CPU kernels without rounded intermediate results do the same: Eigen evaluates functions of both types in
float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..types.arrays import Array


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return True for floats of 16 bits; NumPy has bfloat16 as a type of kind V."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def wide(x: Array) -> Array:
    """Convert floats of 16 bits to float32, and return other dtypes unchanged; the shape stays."""
    # The size first: it is cheaper than the kind, and settles nearly all calls.
    return x.astype(np.float32) if x.itemsize == 2 and is_narrow(x.dtype) else x


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
