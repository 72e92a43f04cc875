"""The k best of a row, in sorted order or in the order of a bounded heap, TensorFlow's order of an unsorted top k.

The heap is the C++ library's, so that the order agrees.

`benchmarks/thresholds.py` measures the thresholds here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..types.arrays import Array
from .binary_heap import sift

_FEW: Final = 1 << 9
"""The largest number of keys where sorting all takes less time than selecting the smallest first."""


def sorted_top_k(keys: Array, k: int) -> Array:
    """Return places of the k smallest keys along the last dimension, ascending; of equals the first comes first, NaN last."""
    count = keys.shape[-1]
    if k == 1 and count:
        least_place = np.argmin(keys, -1, keepdims=True)
        least = np.take_along_axis(keys, least_place, -1)
        if not np.any(least != least):
            return least_place
    elif 0 < 4 * k <= count and keys.size > _FEW:
        return _smallest(keys, k)
    return np.argsort(keys, -1, kind="stable")[..., :k]


def _smallest(keys: Array, k: int) -> Array:
    """Select the k smallest without a full sort: all keys below the k-th smallest, and the first of the keys equal to the
    k-th.
    """
    last = np.partition(keys, k - 1, -1)[..., k - 1 : k]
    chosen = keys <= last
    if np.any(np.count_nonzero(chosen, -1) != k):
        if np.any(last != last):  # the k-th smallest is NaN
            return np.argsort(keys, -1, kind="stable")[..., :k]
        below, equal = keys < last, keys == last
        missing = k - np.count_nonzero(below, -1, keepdims=True)
        chosen = below | (equal & (np.cumsum(equal, -1, dtype=np.int32) <= missing))
    chosen_places = np.nonzero(chosen)[-1].reshape(*keys.shape[:-1], k)
    best = np.take_along_axis(keys, chosen_places, -1)
    return np.take_along_axis(chosen_places, np.argsort(best, -1, kind="stable"), -1)


def unsorted_top_k(keys: Array, k: int) -> Array:
    """Return places of the k smallest keys of each row, (rows, n) -> (rows, k < n), in heap order; of equals the first is
    better.
    """
    rows = len(keys)
    result = np.empty((rows, k), np.int64)
    for row in range(rows) if k else ():
        result[row] = _heap_order(keys[row], k)
    return result


def _heap_order(keys: Array, k: int) -> list[int]:
    """Return the order of a heap with the worst of k + 1 at its root; each better newcomer replaces the root."""
    heap = list(zip(keys[: k + 1].tolist(), range(k + 1)))
    for parent in range((len(heap) - 2) // 2, -1, -1):
        sift(heap, parent, len(heap), heap[parent])
    _drop_root(heap)
    worst = heap[0][0]
    for place in np.flatnonzero(keys[k + 1 :] < worst).tolist():
        newcomer = (keys[k + 1 + place].item(), k + 1 + place)
        if newcomer < heap[0]:
            heap[-1] = newcomer
            _drop_root(heap)
    return [place for _, place in heap[:k]]


def _drop_root(heap: list[tuple[Any, int]]) -> None:
    last = heap[-1]
    heap[-1] = heap[0]
    sift(heap, 0, len(heap) - 1, last)
