"""Softmax of rows, block by block, with intermediate values in the cache and blocks shared by threads.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..parallel.gemm import ELEMENT_WORK, cut, divide, even, workers_for
from ..types.arrays import Array
from .axis_sums import row_maxima, summed

BLOCK: Final = 1 << 15
"""Elements of a block."""


def softmax(x: Array) -> Array:
    """Return exp(x) / sum(exp(x)) of floats along the last axis, less the largest before, so that nothing overflows."""
    if x.size <= BLOCK:
        return _fill(x, np.empty(x.shape, x.dtype))
    workers = workers_for(x.size * 8 * ELEMENT_WORK)
    result = np.empty(x.shape, x.dtype)
    rows, target = x.reshape(-1, x.shape[-1]), result.reshape(-1, x.shape[-1])
    parts = cut(len(rows), min(even(-(-x.size // BLOCK), 2), len(rows)))
    divide(lambda part: _fill(rows[part], target[part]), parts, workers)
    return result


def _fill(x: Array, result: Array) -> Array:
    if x.size:
        np.subtract(x, row_maxima(x), out=result)
        np.exp(result, out=result)
        result /= summed(result, (x.ndim - 1,), True)
    return result
