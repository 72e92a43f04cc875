"""Sparse tensors, segments and scattered updates written out naively, to be run on counted arrays.

A sum that elements are sent to starts from a value that is already there, zero or what was stored: one operation for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.core.flops.counting import counted

Array = Any


def sent(ufunc: Callable[..., Array], target: Array, places: Sequence[int], rows: Array) -> Array:
    """target[place] = ufunc(target[place], row), one row after the other."""
    result = target.copy()
    for i, place in enumerate(places):
        result[place : place + 1] = ufunc(result[place : place + 1], rows[i : i + 1])
    return result


def filled(like: Array, count: int, value: float = 0.0) -> Array:
    """Rows to send to."""
    return counted(np.full((count, *like.shape[1:]), value), like.tally)


def divided_sums(data: Array, ids: np.ndarray[Any, Any], divide: Callable[[float], float]) -> Array:
    """The sums of sorted segments, each from its first row on, divided by a function of their sizes."""
    rows = []
    for segment in np.unique(ids):
        members = data[ids == segment]
        total = members[:1]
        for i in range(1, len(members)):
            total = total + members[i : i + 1]
        rows.append(total / divide(len(members)))
    return np.concatenate(rows)


def divided_rows(grad: Array, ids: np.ndarray[Any, Any], divide: Callable[[float], float]) -> Array:
    """What each gathered row gets of its segment's gradient."""
    return np.concatenate([grad[i : i + 1] / divide(float(np.sum(ids == i))) for i in ids])


def product(rows: Sequence[int], columns: Sequence[int], values: Array, count: int, dense: Array) -> Array:
    """A sparse matrix of `count` rows times a dense one, element by element."""
    result = counted(np.zeros((count, dense.shape[1])), dense.tally)
    for i, (row, column) in enumerate(zip(rows, columns)):
        result[row] = result[row] + values[i : i + 1] * dense[column]
    return result


def softmax(rows: np.ndarray[Any, Any], values: Array, count: int) -> Array:
    """Of the elements that each row has."""
    largest = sent(np.maximum, filled(values, count, -np.inf), rows, values)
    e = np.exp(values - largest[rows])
    return e / sent(np.add, filled(values, count), rows, e)[rows]


def sparse_sum(a: dict[int, Array], b: dict[int, Array], threshold: float) -> dict[int, Array]:
    """Elements by their places; a sum of two is kept unless it is below the threshold."""
    result = {**a, **b}
    for place in a.keys() & b.keys():
        result[place] = a[place] + b[place]
        if np.asarray(abs(result[place]) < threshold):
            del result[place]
    return result


def sparse_extreme(ufunc: Callable[..., Array], a: dict[int, Array], b: dict[int, Array]) -> dict[int, Array]:
    """Missing elements are zero."""
    return {place: ufunc(a.get(place, 0.0), b.get(place, 0.0)) for place in a.keys() | b.keys()}


def remaining_sum(taken: Sequence[int], grad: Array) -> Array:
    """The sum of what is not taken."""
    total: Any = 0.0
    for i in range(len(grad)):
        if i not in taken:
            total = grad[i : i + 1] + total
    return total


def ranges(starts: Array, limits: np.ndarray[Any, Any], deltas: Array) -> list[Array]:
    """Rows of numbers from starts to limits; how many each has is not counted."""
    counts = np.ceil((limits - np.asarray(starts)) / np.asarray(deltas)).astype(int)
    return [counted(np.arange(n), starts.tally) * deltas[i : i + 1] + starts[i : i + 1] for i, n in enumerate(counts)]
