"""Choosing between two arrays, or an array and zero, element by element.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..parallel.gemm import ELEMENT_WORK, TILE_ELEMENTS, cut, divide, even, workers_for
from ..types.arrays import Array

_FEW: Final = 1 << 10
"""The largest number of elements where a single call of NumPy costs less than four."""
_LINE: Final = 1 << 15
"""Elements of a vector of zeros that fits in a second-level cache together with its operand."""
_MOST_DIMS: Final = 64
"""Dimensions that an array of NumPy may have."""
_WORDS: Final[dict[int, np.dtype[Any]]] = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def chosen(condition: Array, x: Array, y: Array) -> Array:
    """Select x or y by a condition, as `np.where`, by bit operations: np.where mispredicts branches of an irregular
    condition.

    All three broadcast; x and y have the same dtype.
    """
    words = _WORDS.get(x.dtype.itemsize) if condition.size > _FEW and x.dtype.kind in "fiu" else None
    if words is None:
        return np.where(condition, x, y)
    mask = condition.view(np.int8).astype(words)
    np.negative(mask, out=mask)
    other = y.view(words)
    difference = np.bitwise_and(np.bitwise_xor(x.view(words), other), mask)
    return np.bitwise_xor(difference, other).view(x.dtype)


def taken(x: Array, indices: Array, axis: int) -> Array:
    """Return the slices of `x` at valid `indices`. With too many dimensions for NumPy, `np.take` would end the process."""
    if x.dtype == object or x.ndim + indices.ndim > _MOST_DIMS:
        return x[(*[slice(None)] * axis, indices, ...)]  # type: ignore[arg-type]
    return np.take(x, indices, axis)


def positive_part(x: Array, out: Array | None = None) -> Array:
    """Return max(x, 0); NaN stays NaN. `out` may be x.

    NumPy takes the maximum with a vector in a third of the time of the maximum with a scalar.
    """
    zero = x.dtype.type(0)
    if x.size <= _FEW or x.dtype.kind != "f":
        return np.maximum(x, zero, out=out)
    if out is None and x.flags.c_contiguous and workers_for(x.size * ELEMENT_WORK) > 1:
        return _by_parts(lambda some, target: positive_part(some, target), x)
    result = np.empty(x.shape, x.dtype) if out is None else out
    if not x.flags.c_contiguous or not result.flags.c_contiguous:
        return np.maximum(x, _zeros(x.dtype)[: x.shape[-1]] if x.shape[-1] <= _LINE else zero, out=result)
    flat, target = x.reshape(-1), result.reshape(-1)
    if x.size <= _LINE:
        np.maximum(flat, _zeros(x.dtype)[: x.size], out=target)
        return result
    whole = x.size // _LINE * _LINE
    np.maximum(flat[:whole].reshape(-1, _LINE), _zeros(x.dtype), out=target[:whole].reshape(-1, _LINE))
    np.maximum(flat[whole:], _zeros(x.dtype)[: x.size - whole], out=target[whole:])
    return result


def where_positive(values: Array, condition: Array) -> Array:
    """Return values * (condition > 0), of equal shapes, in parallel for many elements."""
    is_plain = values.flags.c_contiguous and condition.flags.c_contiguous
    if not is_plain or workers_for(values.size * ELEMENT_WORK) == 1:
        return np.multiply(values, condition > 0)
    return _by_parts(lambda some, asked, target: np.multiply(some, asked > 0, out=target), values, condition)


def _by_parts(fill: Callable[..., object], *arrays: Array) -> Array:
    """Return an array like the first, with parts filled in parallel from the parts of all arrays; all are in C order."""
    first = arrays[0]
    result = np.empty(first.shape, first.dtype)
    flat = [array.reshape(-1) for array in (*arrays, result)]
    parts = cut(first.size, even(-(-first.size // TILE_ELEMENTS), workers_for(first.size * ELEMENT_WORK)))
    divide(lambda part: fill(*[array[part] for array in flat]), parts)
    return result


@functools.cache
def _zeros(dtype: np.dtype[Any]) -> Array:
    zeros = np.zeros(_LINE, dtype)
    zeros.flags.writeable = False
    return zeros
