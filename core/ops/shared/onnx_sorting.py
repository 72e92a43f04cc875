"""Sorting, searching and comparing in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from .onnx_lowerings import along


def top_k(g: Any, x: Any, k: Any, largest: int = 1) -> Any:
    """Return the k largest or smallest of each row and where they are."""
    return g.TopK(x, g.vector(k), outputs=2, axis=-1, largest=largest)


def nth_element(g: Any, x: Any, n: Any, *, reverse: bool) -> Any:
    return g.Gather(top_k(g, x, g.Add(n, 1), int(reverse))[0], g.constant(np.int64(-1)), axis=-1)


def in_top_k(g: Any, predictions: Any, targets: Any, k: Any) -> Any:
    """Return True where fewer than k numbers of a row exceed the target, and all are finite."""
    classes = along(g, predictions, 1)
    is_target = g.Equal(g.unsqueeze(g.cast(targets, dtypes.int64), 1), classes)
    value = g.ReduceSum(g.Where(is_target, predictions, 0), [1], keepdims=1)
    larger = g.ReduceSum(g.cast(g.Greater(predictions, value), dtypes.int64), [1], keepdims=0)
    there = g.Greater(g.ReduceSum(g.cast(is_target, dtypes.int64), [1], keepdims=0), 0)
    wild = g.cast(g.Or(g.IsNaN(predictions), g.IsInf(predictions)), dtypes.int64)
    is_finite = g.Equal(g.ReduceSum(wild, [1], keepdims=0), 0)
    return g.And(g.And(there, is_finite), g.Less(larger, g.cast(k, dtypes.int64)))


def unique(g: Any, x: Any, axis: Any = None) -> Any:
    """Return the elements, or rows along an axis, as they first come, the number of each in `x`, and how often they come."""
    if x.dtype.is_object and x.rank == 1:
        return _unique_strings(g, x)
    is_whole = axis is None or axis.shape.dims == (0,) or x.rank == 1
    along = {} if is_whole else {"axis": g.axis(axis, x.rank)}
    results = g.Unique(x, outputs=4, sorted=0, **along)
    return results[0], results[2], results[3]


def _unique_strings(g: Any, x: Any) -> tuple[Any, Any, Any]:
    """As `unique`, by comparing all pairs: onnxruntime's Unique takes numbers only."""
    same = g.cast(g.Equal(g.unsqueeze(x, 1), g.unsqueeze(x, 0)), dtypes.int32)
    first = g.ArgMax(same, axis=1, keepdims=0)
    is_first = g.Equal(first, along(g, x, 0))
    places = g.reshape(g.NonZero(is_first), -1)
    numbers = g.Sub(g.CumSum(g.cast(is_first, dtypes.int64), g.constant(np.int64(0))), 1)
    return g.Gather(x, places), g.Gather(numbers, first), g.Gather(g.ReduceSum(same, [1], keepdims=0), places)


def list_diff(g: Any, x: Any, y: Any) -> Any:
    """Return the elements of x that are not in y, and their places."""
    same = g.cast(g.Equal(g.unsqueeze(x, 1), g.unsqueeze(y, 0)), dtypes.int64)
    places = g.reshape(g.NonZero(g.Equal(g.ReduceSum(same, [1], keepdims=0), 0)), [-1])
    return g.Gather(x, places), places


def bound(g: Any, rows: Any, values: Any, comparison: str) -> Any:
    """Count the elements of each sorted row that are less than, or at most, each value: a joint binary search.

    The search halves as the C++ library does, so that unsorted rows give the same results.
    """
    size = g.dim(rows, 1)
    first = g.Expand(g.constant(np.int64(0)), g.dims(values))
    last = g.Max(g.Sub(size, 1), 0)
    padded = g.Pad(rows, [0, 0, 0, 1]) if size.array is None or not size.array[0] else rows

    def halve(_: Any, carried: Any) -> Any:
        first, length = carried
        half = g.Div(length, 2)
        middle = g.Add(first, half)
        at_middle = g.GatherElements(padded, g.Min(middle, last), axis=1)
        goes_right = g.And(g.Greater(length, 0), g.op(comparison, at_middle, values))
        return g.Where(goes_right, g.Add(middle, 1), first), g.Where(goes_right, g.Sub(g.Sub(length, half), 1), half)

    steps = int(size.array[0]).bit_length() if size.array is not None else np.iinfo(np.int32).bits
    return g.repeat(steps, [first, g.Add(first, size)], halve)[0]
