"""Floats of 16 bits, half and bfloat16, computed in float32 and rounded once, at the end.

As TensorFlow's CPU kernels do where they round no intermediate result: Eigen evaluates functions of both types in float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether these are floats of 16 bits; NumPy knows bfloat16 as a type of kind V."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def wide(x: Array) -> Array:
    """Floats of 16 bits as float32, other dtypes as they are; the shape stays."""
    return x.astype(np.float32) if is_narrow(x.dtype) else x


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with all inputs of the first one's dtype in float32, where that has 16 bits, and its results rounded to it.

    Of several results those of another dtype than float32 stay as they are.
    """

    @functools.wraps(function)
    def narrow(*inputs: Any, **attrs: Any) -> Any:
        dtype = inputs[0].dtype
        if not is_narrow(dtype):
            return function(*inputs, **attrs)
        result = function(*(x.astype(np.float32) if x.dtype == dtype else x for x in inputs), **attrs)
        if isinstance(result, tuple):
            return tuple(value.astype(dtype) if value.dtype == np.float32 else value for value in result)
        return result.astype(dtype)

    return narrow
