"""Reductions by segment as array programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...numerics.group_reductions import highest, lowest
from ...numerics.half_precision import wide
from ...types.arrays import Array
from ..shared.xla_rows import settled, updated

_NEUTRAL: Final = {"add": 0, "mul": 1, "max": -np.inf, "min": np.inf}
_LIMITS: Final[dict[str, Callable[..., Any]]] = {"max": lowest, "min": highest}
WEIGHTS: Final[dict[str, Callable[..., Any] | None]] = {
    "SparseSegmentSum": None,
    "SparseSegmentMean": lambda xla, count: count,
    "SparseSegmentSqrtN": lambda xla, count: xla.sqrt(count),
}
"""The divisor of the sum over a segment, from the number of its rows."""


def of_sorted(
    how: str, default: int, check: Callable[[Any, Array], None], vectors: Callable[[Any], int]
) -> Callable[..., Any]:
    """Return the lowering of a reduction by sorted ids that are known; segments without rows are `default`."""

    def lowering(xla: Any, data: Any, ids: Array) -> Any:
        check(data, ids)
        data = _without_derivative(xla, data, how)
        count = int(ids[-1]) + 1 if ids.size else 0
        if not ids.size:
            return xla.zeros((0, *data.shape[1:]), data.dtype)
        neutral = _NEUTRAL[how] if data.dtype.kind in "fV" or how in ("add", "mul") else _LIMITS[how](data.dtype)
        start = xla.full((count, *data.shape[1:]), neutral, data.dtype)
        in_vectors = vectors(data)
        result = updated(xla, start, ids, settled(xla, how, count, ids, data, in_vectors), how)
        is_there = np.bincount(ids, minlength=count) > 0
        return xla.where(_column(is_there, data.ndim), result, np.array(default, data.dtype))

    return lowering


def _without_derivative(xla: Any, data: Any, how: str) -> Any:
    """Return data without gradients in a product: JAX has no derivative of products of rows, and the ops have their own."""
    return xla.lax.stop_gradient(data) if how == "mul" else data


def mean_of_sorted(check: Callable[[Any, Array], None]) -> Callable[..., Any]:
    """Return the lowering of SegmentMean."""
    total = of_sorted("add", 0, check, lambda data: 0)

    def lowering(xla: Any, data: Any, ids: Array) -> Any:
        counts = _column(np.maximum(np.bincount(ids), 1), data.ndim)
        return _divided(xla, total(xla, data, ids), counts)

    return lowering


def _column(values: Any, rank: int) -> Any:
    return values.reshape(-1, *[1] * (rank - 1))


def _divided(xla: Any, totals: Any, counts: Any) -> Any:
    """Return totals divided by counts, integers rounded towards zero."""
    if totals.dtype.kind in "iu":
        return xla.truncated_quotient(totals, counts.astype(totals.dtype))
    return totals / counts.astype(totals.dtype)


def of_unsorted(how: str, default: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of a reduction by ids into a known number of segments; negative ids are dropped."""

    def lowering(xla: Any, data: Any, ids: Any, num_segments: Array) -> Any:
        count = int(num_segments)
        if data.shape[: ids.ndim] != ids.shape or count < 0:
            raise ValueError("the ids do not fit the data")
        inner = data.shape[ids.ndim :]
        result = xla.full((count, *inner), default(data.dtype), data.dtype)
        if not data.size:
            return result
        xla.require((ids < count).all())
        rows = _without_derivative(xla, data, how).reshape(ids.size, *inner)
        places = xla.where(ids < 0, count, ids).ravel()
        return updated(xla, result, places, settled(xla, how, count, places, rows), how)

    return lowering


def of_gathered(weigh: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the lowering of a sum of gathered rows by sorted ids, divided by weights of the number of rows."""

    def lowering(xla: Any, data: Any, indices: Any, ids: Any, num_segments: Array | None = None) -> Any:
        if indices.ndim != 1 or ids.shape != indices.shape or data.ndim < 1:
            raise ValueError("the ids do not fit the indices")
        count = int(num_segments) if num_segments is not None else int(ids[-1]) + 1 if ids.size else 0
        xla.require((ids[1:] >= ids[:-1]).all() & (ids >= 0).all() & (ids < count).all())
        xla.require(((indices >= 0) & (indices < data.shape[0])).all())
        start = xla.zeros((count, *data.shape[1:]), data.dtype)
        if not ids.size or not data.size:
            return start
        total = updated(xla, start, ids, xla.take(data, indices, 0, mode="clip"), "add")
        if weigh is None:
            return total
        sizes = xla.zeros(count, wide(total).dtype).at[ids].add(1, mode="drop")
        return total / _column(weigh(xla, xla.maximum(sizes, 1)), data.ndim).astype(total.dtype)

    return lowering


def gradient_of_gathered(weigh: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return the lowering of the gradient of such a sum by the gathered data, of a known number of rows."""

    def lowering(xla: Any, grad: Any, indices: Any, ids: Any, output_dim0: Array) -> Any:
        count = int(output_dim0)
        if indices.ndim != 1 or ids.shape != indices.shape or grad.ndim < 1 or count < 0:
            raise ValueError("the ids do not fit the indices")
        start = xla.zeros((count, *grad.shape[1:]), grad.dtype)
        if not count or not ids.size or not start.size:
            return start
        xla.require(((indices >= 0) & (indices < count)).all() & ((ids >= 0) & (ids < grad.shape[0])).all())
        rows = xla.take(grad, ids, 0, mode="clip")
        if weigh is not None:
            sizes = xla.zeros(grad.shape[0], wide(rows).dtype).at[ids].add(1, mode="drop")
            scale = 1 / weigh(xla, xla.take(sizes, ids, mode="clip"))
            rows = (wide(rows) * _column(scale, grad.ndim)).astype(grad.dtype)
        return updated(xla, start, indices, rows, "add")

    return lowering
