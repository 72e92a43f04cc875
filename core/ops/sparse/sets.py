"""Operations on the sets that the rows of dense or sparse tensors hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...numerics.integers import extremes
from ...registry.registry import NOT_DIFFERENTIABLE, flops, kernel, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, merge_shapes, unknown_dims
from ..array.sorting import unique_index
from ..shared.elementwise_tables import counted
from ..shared.sparse_tensors import SparseParts, check_order, flat_positions, index_vectors, rank_of, sparse_shapes, validate

_OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "a-b": (np.greater, lambda a, b: np.setdiff1d(a, b, assume_unique=True)),
    "b-a": (np.less, lambda a, b: np.setdiff1d(b, a, assume_unique=True)),
    "intersection": (np.logical_and, lambda a, b: np.intersect1d(a, b, assume_unique=True)),
    "union": (np.logical_or, np.union1d),
}
"""By name: of two flags, and of two vectors of distinct numbers in ascending order."""
_SPREAD: Final = 8
"""How many pairs of set and value there may be, for each that is there, for a flag apiece."""
# Keys of set and value, and their sums, stay below the limit of int64.
_MOST_KEYS: Final = 1 << 62


class _Rows:
    """The elements of the sets: the set's number and the value of each; `group_shape` is the shape of the array of sets."""

    def __init__(self, groups: Array, values: Array, group_shape: tuple[int, ...]) -> None:
        self.groups = groups
        self.values = values
        self.group_shape = group_shape


def _dense_rows(x: Array) -> _Rows:
    x = np.asarray(x)
    if x.ndim < 2:
        raise InvalidArgumentError(f"Shape {Shape(x.shape)} has rank {x.ndim} < 2")
    groups = np.repeat(np.arange(math.prod(x.shape[:-1])), x.shape[-1])
    return _Rows(groups, x.ravel(), x.shape[:-1])


def _sparse_rows(indices: Array, values: Array, dense_shape: Array, validate_indices: bool) -> _Rows:
    indices, values, dense_shape = np.asarray(indices), np.asarray(values), np.asarray(dense_shape)
    if dense_shape.ndim != 1:
        raise InvalidArgumentError("Shape must be a 1D tensor.")
    if dense_shape.size < 2:
        raise InvalidArgumentError(f"Invalid rank {dense_shape.size}.")
    validate(indices, values, dense_shape, "the set")
    if validate_indices:
        check_order(indices, dense_shape)
    group_shape = tuple(dense_shape[:-1].tolist())
    groups = flat_positions(indices[:, :-1], group_shape)
    if np.any(groups < 0) or np.any(groups >= math.prod(group_shape)):
        raise InvalidArgumentError(f"an index is out of range of {dense_shape.tolist()}")
    if np.any(indices[:, -1] >= dense_shape[-1]):
        raise InvalidArgumentError(f"an index is out of range of {dense_shape.tolist()}")
    return _Rows(groups, values, group_shape)


def _combine(a: _Rows, b: _Rows, operation: str) -> tuple[Array, Array, Array]:
    """Return the sparse result of a set operation on the sets of two arrays of sets."""
    functions = _OPERATIONS.get(operation.lower())
    if functions is None:
        raise InvalidArgumentError(f"Invalid set_operation {operation}.")
    if a.group_shape != b.group_shape:
        raise InvalidArgumentError(f"Mismatched shapes {Shape(a.group_shape)} vs {Shape(b.group_shape)}")
    sets = math.prod(a.group_shape)
    count, codes, values_of = _coded(np.concatenate([a.values, b.values]), sets)
    keys_a, keys_b = a.groups * count + codes[: a.values.size], b.groups * count + codes[a.values.size :]
    of_flags, of_numbers = functions
    if _may_flag(sets * count, codes.size):
        keys = np.flatnonzero(of_flags(_flags(keys_a, sets * count), _flags(keys_b, sets * count)))
    else:
        keys = of_numbers(np.unique(keys_a), np.unique(keys_b))
    groups = keys // count
    # Sorted keys keep each set together; -1 is the number of no set.
    bounds = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    lengths = np.diff(bounds)
    places = np.arange(keys.size) - np.repeat(bounds[:-1], lengths)
    indices = np.column_stack([index_vectors(groups, a.group_shape), places])
    return indices, values_of(keys - groups * count), np.array([*a.group_shape, lengths.max(initial=0)], np.int64)


def _may_flag(size: int, count: int) -> bool:
    return size <= _SPREAD * count


def _flags(keys: Array, size: int) -> Array:
    """Return a mask of the numbers below `size` that occur in `keys`."""
    flags = np.zeros(size, bool)
    flags[keys] = True
    return flags


def _coded(values: Array, sets: int) -> tuple[int, Array, Callable[[Array], Array]]:
    """Return (number of codes, codes of the values in the same order, a function from codes to values)."""
    if values.dtype != object and values.size:
        low, high = extremes(values)
        count = high - low + 1
        # Integers are their own codes if the range is small enough, which saves finding the distinct ones.
        if sets * count < _MOST_KEYS:
            return count, values.astype(np.int64) - low, lambda codes: (codes + low).astype(values.dtype)
    if values.dtype != object:
        distinct, codes = np.unique(values, return_inverse=True)
        return max(len(distinct), 1), codes.ravel(), distinct.take
    first, numbers, _ = unique_index(values)
    # Texts are compared by Python, once for each distinct text.
    order = sorted(range(len(first)), key=lambda i: values[first[i]])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return max(len(order), 1), rank[numbers] if len(values) else numbers, values[first[order]].take if order else values.take


@kernel("DenseToDenseSetOperation", gradient=NOT_DIFFERENTIABLE, flops=counted(1, (0, 1), "One look-up for each element."))
def dense_to_dense_set_operation(set1: Array, set2: Array, *, set_operation: str) -> tuple[Result, Result, Result]:
    """The sets of the last dimension of two dense tensors combined, as a sparse tensor with ascending values."""
    return _combine(_dense_rows(set1), _dense_rows(set2), set_operation)


@shape("DenseToDenseSetOperation")
def dense_to_dense_set_operation_shape(set1: TensorSpec, set2: TensorSpec) -> tuple[Shape, ...]:
    if set1.rank is not None and set2.rank is not None and set1.rank != set2.rank:
        raise InvalidArgumentError(f"the sets have the ranks {set1.rank} and {set2.rank}")
    rank = set1.rank if set1.rank is not None else set2.rank
    if rank is not None and rank < 2:
        raise InvalidArgumentError(f"sets need a rank of at least 2, not {rank}")
    merge_shapes(set1.shape[:-1], set2.shape[:-1])
    return sparse_shapes(rank)


@kernel("DenseToSparseSetOperation", gradient=NOT_DIFFERENTIABLE, flops=counted(1, (0, 2), "One look-up for each element."))
def dense_to_sparse_set_operation(
    set1: Array, indices: Array, values: Array, dense_shape: Array, *, set_operation: str, validate_indices: bool
) -> tuple[Result, Result, Result]:
    """The sets of a dense and a sparse tensor combined."""
    sparse = _sparse_rows(indices, values, dense_shape, validate_indices)
    return _combine(_dense_rows(set1), sparse, set_operation)


@shape("DenseToSparseSetOperation")
def dense_to_sparse_set_operation_shape(
    set1: TensorSpec, indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec
) -> tuple[Shape, ...]:
    rank = set1.rank if set1.rank is not None else rank_of(indices, dense_shape)
    if isinstance(rank, int) and rank < 2:
        raise InvalidArgumentError(f"sets need a rank of at least 2, not {rank}")
    return sparse_shapes(rank)


@kernel("SparseToSparseSetOperation", shape="n r, n, r, m r, m, r -> k r, k, r", gradient=NOT_DIFFERENTIABLE)
def sparse_to_sparse_set_operation(
    first: SparseParts[Array], second: SparseParts[Array], *, set_operation: str, validate_indices: bool
) -> tuple[Result, Result, Result]:
    """The sets of two sparse tensors combined."""
    first_rows = _sparse_rows(*first, validate_indices)
    return _combine(first_rows, _sparse_rows(*second, validate_indices), set_operation)


flops("SparseToSparseSetOperation")(counted(1, (1, 4), "One look-up for each element."))


@kernel("SetSize", gradient=NOT_DIFFERENTIABLE, flops=counted(1, 1, "One look-up for each element."))
def set_size(indices: Array, values: Array, dense_shape: Array, *, validate_indices: bool) -> Result:
    """Count the distinct values in each set of a sparse tensor."""
    rows = _sparse_rows(indices, values, dense_shape, validate_indices)
    sets = math.prod(rows.group_shape)
    count, codes, _ = _coded(rows.values, sets)
    keys = rows.groups * count + codes
    if _may_flag(sets * count, codes.size):
        return np.count_nonzero(_flags(keys, sets * count).reshape(*rows.group_shape, count), -1).astype(np.int32)
    # Sets behind the last one with an element have no count in what follows.
    sizes = np.zeros(rows.group_shape, np.int32)
    counts = np.bincount(np.unique(keys) // count)
    sizes.reshape(-1)[: counts.size] = counts
    return sizes


@shape("SetSize")
def set_size_shape(indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec) -> Shape:
    sizes = dims_of(dense_shape)
    if sizes is not None:
        return Shape(sizes[:-1])
    rank = rank_of(indices, dense_shape)
    return unknown_dims(rank - 1) if isinstance(rank, int) and rank > 0 else UNKNOWN
