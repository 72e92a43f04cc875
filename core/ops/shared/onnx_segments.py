"""Segments in ONNX: rows that are added, multiplied or compared into the rows of their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

_END = np.iinfo(np.int64).max


def reduced(g: Any, data: Any, ids: Any, count: Any, how: str, start: float) -> Any:
    """Reduce the rows of `data` by `ids` into `count` rows that begin at `start`; ids outside are dropped."""
    rank = g.rank(ids)
    rest = g.slice(g.dims(data), rank, _END)
    places = g.reshape(g.vector(g.reshape(ids, [-1])), [-1])
    rows = g.of_dims(data, g.dim(places, 0), rest)
    total = g.vector(count)
    places = g.Where(g.Less(places, 0), total, g.Min(places, total))
    target = g.Expand(g.like(start, data), g.joined(g.Add(total, 1), rest))
    return g.slice(g.ScatterND(target, g.unsqueeze(places, 1), rows, reduction=how), 0, -1)


def number_of(g: Any, ids: Any) -> Any:
    """Return the number of segments: the last id plus 1."""
    return g.Add(g.slice(g.Concat([-1], g.vector(ids), axis=0), -1, _END), 1)


def of_sorted(g: Any, data: Any, ids: Any, how: str, start: float, empty: float | None = None) -> Any:
    """Reduce by sorted ids into as many rows as the last id says; empty segments become `empty`."""
    count = number_of(g, ids)
    reduced_rows = reduced(g, data, ids, count, how, start)
    return reduced_rows if empty is None else g.Where(g.Greater(counted(g, data, ids, count), 0), reduced_rows, empty)


def counted(g: Any, data: Any, ids: Any, count: Any) -> Any:
    """Return the number of rows in each segment, as a divisor."""
    ones = g.Expand(g.constant(np.int64(1)), g.dims(ids))
    counts = reduced(g, ones, ids, count, "add", 0)
    return g.unsqueeze(counts, *range(1, 1 + g.rank(data) - g.rank(ids)))


def weighted(g: Any, data: Any, ids: Any, count: Any, is_root: bool | None) -> Any:
    """Return the sum of each segment, divided by its number of rows or the root of that number; `is_root` None divides by
    1.

    There are `count` segments, or as many as the last id says.
    """
    if count is None:
        count = number_of(g, ids)
    sums = reduced(g, data, ids, count, "add", 0)
    if is_root is None:
        return sums
    number = g.cast(g.Max(counted(g, data, ids, count), 1), data.dtype)
    return g.Div(sums, g.Sqrt(number) if is_root else number)


def weighted_rows(g: Any, grad: Any, ids: Any, is_root: bool | None) -> Any:
    """Return for each gathered row the gradient of its segment, divided as in `weighted`."""
    if is_root is None:
        return g.Gather(grad, ids, axis=0)
    number = g.cast(g.Max(counted(g, grad, ids, g.dim(grad, 0)), 1), grad.dtype)
    return g.Gather(g.Div(grad, g.Sqrt(number) if is_root else number), ids, axis=0)
