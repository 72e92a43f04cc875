"""Concatenation of arrays along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..parallel.gemm import ELEMENT_WORK, cut, divide, workers_for
from ..types.arrays import Array


def concatenated(arrays: Sequence[Array], axis: int) -> Array:
    """Concatenate arrays of equal dtype, whose shapes may differ along `axis`; several threads copy large arrays."""
    size = sum([array.size for array in arrays])
    workers = workers_for(size * ELEMENT_WORK)
    first = arrays[0]
    if workers == 1 or not size or not first.dtype.isbuiltin or first.dtype.hasobject:
        return np.concatenate(arrays, axis)
    shape = (*first.shape[:axis], sum([array.shape[axis] for array in arrays]), *first.shape[axis + 1 :])
    result = np.empty(shape, first.dtype)
    lines = math.prod(shape[:axis])
    if lines < workers or not all(array.flags.c_contiguous for array in arrays):
        return np.concatenate(arrays, axis, out=result)
    flat: list[Any] = [array.reshape(lines, -1) for array in arrays]
    target = result.reshape(lines, -1)

    def copy(some: slice) -> None:
        np.concatenate([array[some] for array in flat], 1, out=target[some])

    divide(copy, cut(lines, workers))
    return result
