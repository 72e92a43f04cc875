"""Order and search in rows as array programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.half_precision import wide
from ...registry.registry import facts, lower
from ...types.arrays import Array


@lower("TopKV2", static=(1,))
def top_k(xla: Any, x: Any, k: Array) -> tuple[Any, Any]:
    """Return the k greatest along the last dimension and their places; of equals the first comes first, NaN last."""
    count = int(k)
    if not x.ndim or not 0 <= count <= x.shape[-1]:
        raise ValueError(f"no top {count} of shape {x.shape}")
    places = xla.argsort(~x if x.dtype.kind in "iu" else -wide(x), -1, stable=True)[..., :count]
    return xla.take_along_axis(x, places, -1), places


facts("own_gradient", of=["NthElement"])


@lower("NthElement", static=(1,))
def nth_element(xla: Any, x: Any, n: Array, *, reverse: bool) -> Any:
    """Return the n-th least, or greatest, along the last dimension."""
    place = int(n)
    if not x.ndim or not 0 <= place < x.shape[-1]:
        raise ValueError(f"no element {place} of shape {x.shape}")
    return xla.sort(wide(x), -1)[..., x.shape[-1] - 1 - place if reverse else place].astype(x.dtype)


@lower("InTopKV2")
def in_top_k(xla: Any, predictions: Any, targets: Any, k: Any) -> Any:
    """Return True where fewer than k classes are predicted above the target; False where a prediction is not finite."""
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1] or np.ndim(k):
        raise ValueError("the targets do not fit the predictions")
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes) & xla.isfinite(predictions).all(1)
    chosen = xla.sum(xla.where(targets[:, None] == xla.arange(classes), predictions, 0), 1, keepdims=True)
    return valid & (xla.count_nonzero(predictions > chosen, axis=1) < k)


@lower("InTopK")
def in_top_k_v1(xla: Any, predictions: Any, targets: Any, *, k: int) -> Any:
    """Return the result of `in_top_k` for a fixed k."""
    return in_top_k(xla, predictions, targets, k)


@lower("LowerBound")
def lower_bound(xla: Any, rows: Any, values: Any) -> Any:
    """Return for each value the first place in its row where an insertion keeps the order."""
    return _searched(xla, rows, values, lambda middle: middle < values)


@lower("UpperBound")
def upper_bound(xla: Any, rows: Any, values: Any) -> Any:
    """Return for each value the last place in its row where an insertion keeps the order."""
    return _searched(xla, rows, values, lambda middle: ~(values < middle))


def _searched(xla: Any, rows: Any, values: Any, goes_on: Any) -> Any:
    """Search by halves as the C++ library does, so that unsorted rows and NaN give the same places."""
    if rows.ndim != 2 or values.ndim != 2 or rows.shape[0] != values.shape[0]:
        raise ValueError("the values do not fit the rows")
    size = rows.shape[1]
    first, length = xla.zeros(values.shape, np.int32), xla.full(values.shape, size, np.int32)
    for _ in range(size.bit_length()):
        half = length >> 1
        middle = xla.minimum(first + half, size - 1)
        goes_right = (length > 0) & goes_on(xla.take_along_axis(rows, middle, 1))
        first = xla.where(goes_right, middle + 1, first)
        length = xla.where(goes_right, length - half - 1, half)
    return first
