"""Helpers of ops on sparse tensors (indices, values, dense shape): validation and flat positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.shapes import Shape, TensorSpec

_Value = TypeVar("_Value")


class SparseParts(NamedTuple, Generic[_Value]):
    """The three inputs of a sparse tensor."""

    indices: _Value
    values: _Value
    dense_shape: _Value


def validate(indices: Array, values: Array, dense_shape: Array, name: str = "the sparse tensor") -> None:
    """Raise InvalidArgumentError unless the three parts fit: (n, rank), (n,) and (rank,)."""
    if np.ndim(indices) != 2:
        raise InvalidArgumentError(f"indices of {name} must be a matrix, not of shape {Shape(np.shape(indices))}")
    if np.ndim(values) != 1:
        raise InvalidArgumentError(f"values of {name} must be a vector, not of shape {Shape(np.shape(values))}")
    if np.ndim(dense_shape) != 1:
        raise InvalidArgumentError(f"the shape of {name} must be a vector, not of shape {Shape(np.shape(dense_shape))}")
    if np.shape(indices) != (np.size(values), np.size(dense_shape)):
        raise InvalidArgumentError(
            f"{name} has indices {Shape(np.shape(indices))}, {np.size(values)} values and {np.size(dense_shape)} dimensions"
        )
    if np.any(np.asarray(dense_shape) < 0):
        raise InvalidArgumentError(f"the shape {np.asarray(dense_shape).tolist()} of {name} has a negative dimension")


def check_bounds(indices: Array, dense_shape: Array | Sequence[int]) -> None:
    """Raise InvalidArgumentError for an index outside the dense shape."""
    bad = (indices < 0) | (indices >= np.asarray(dense_shape))
    if np.any(bad):
        row = int(np.argwhere(bad)[0][0])
        raise InvalidArgumentError(
            f"indices[{row}] = {indices[row].tolist()} is out of bounds: need 0 <= index < {np.asarray(dense_shape).tolist()}"
        )


def check_order(indices: Array, dense_shape: Array) -> None:
    """Raise InvalidArgumentError for an index out of bounds, out of row-major order or repeated."""
    check_bounds(indices, dense_shape)
    flat = flat_positions(indices, dense_shape)
    bad = flat[1:] <= flat[:-1]
    if np.any(bad):
        row = int(np.argmax(bad)) + 1
        what = "is repeated" if flat[row] == flat[row - 1] else "is out of order"
        raise InvalidArgumentError(f"indices[{row}] = {indices[row].tolist()} {what}. Many sparse ops require sorted indices.")


def flat_positions(indices: Array, dims: Any) -> Array:
    """Return the row-major position of each index vector in an array of shape `dims`."""
    flat = np.zeros(len(indices), np.int64)
    for axis, size in enumerate(np.asarray(dims).tolist()):
        # Horner's scheme: no product of sizes, which could overflow before the indices do.
        flat = flat * size + indices[:, axis]
    return flat


def index_vectors(flat: Array, dims: Any) -> Array:
    """Return the index vectors, (n, rank), of row-major positions."""
    sizes = np.asarray(dims).tolist()
    result = np.empty((len(flat), len(sizes)), np.int64)
    rest = np.asarray(flat, np.int64)
    for axis in range(len(sizes) - 1, 0, -1):
        # Rounded towards zero, as TensorFlow counts positions that lie outside, which SparseReshape does not refuse. The
        # maximum avoids a remainder by 0: an empty dimension has no positions.
        result[:, axis] = np.fmod(rest, max(sizes[axis], 1))
        rest = (rest - result[:, axis]) // max(sizes[axis], 1)
    if sizes:
        result[:, 0] = rest
    return result


def sparse_shapes(rank: Any = None) -> tuple[Shape, Shape, Shape]:
    """Return the shapes of the three parts of a sparse result of unknown size."""
    count = Shape([None])
    return count + Shape([rank]), count, Shape([rank])


def rank_of(indices: TensorSpec, dense_shape: TensorSpec) -> Any:
    """Return the rank of a sparse tensor from the specs of its parts; None if unknown."""
    if dense_shape.rank == 1 and isinstance(dense_shape.shape[0], int):
        return dense_shape.shape[0]
    return indices.shape[1] if indices.rank == 2 else None


def common_keys(*parts: Array) -> list[Array]:
    """Return a number for each row of the matrices of index vectors, ordered as the vectors and comparable among all parts."""
    rows = np.concatenate(parts)
    if not rows.size:
        keys = np.zeros(len(rows), np.int64)
    else:
        low = np.array([column.min() for column in rows.T])
        spans = [column.max().item() - least + 1 for column, least in zip(rows.T, low.tolist())]
        # One number for each vector while 64 bits hold it; else the numbers are ranks, which cost a sort of the rows.
        if math.prod(spans) < 2**62:
            keys = flat_positions(rows - low, spans)
        else:
            keys = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return np.split(keys, np.cumsum([len(part) for part in parts])[:-1])


def merged(a_keys: Array, b_keys: Array) -> tuple[Array, Array]:
    """Return for each row of the merge of two lists its place in a and in b, -1 where absent."""
    # TensorFlow merges as it finds the entries; lists in order, the usual case, need no loop in Python.
    if np.all(a_keys[1:] > a_keys[:-1]) and np.all(b_keys[1:] > b_keys[:-1]):
        return _merged_runs(np.concatenate([a_keys, b_keys]), len(a_keys))
    pairs = list(_merge_steps(a_keys.tolist(), b_keys.tolist()))
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _merged_runs(keys: Array, count: int) -> tuple[Array, Array]:
    """As `merged`, for the keys of both lists: `count` of a, then the keys of b, each in ascending order."""
    order = np.argsort(keys, kind="stable")  # which merges runs
    keys = keys[order]
    is_last = np.append(keys[1:] != keys[:-1], np.ones(min(len(keys), 1), bool))
    # Of equal keys the stable sort has that of a first: the last one is of b, if b has the key.
    in_b = order[is_last] - count
    starts = np.flatnonzero(is_last) - np.diff(np.flatnonzero(is_last), prepend=-1) + 1
    in_a = order[starts]
    return np.where(in_a < count, in_a, -1), np.maximum(in_b, -1)


def _merge_steps(a: list[int], b: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the steps of a merge that takes unsorted lists as they come."""
    i = j = 0
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] < b[j]):
            yield i, -1
            i += 1
        elif i == len(a) or a[i] > b[j]:
            yield -1, j
            j += 1
        else:
            yield i, j
            i, j = i + 1, j + 1
