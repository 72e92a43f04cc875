"""Sparse tensors (indices, values, dense shape): the kernels' checks and places, and array programs.

The programs sort, move and add up elements by their places, counted through all dimensions. Parts whose number only the values
tell (slices, filled rows) are emitted for ONNX alone: XLA's arrays have fixed sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array
from ...types.shapes import Shape, TensorSpec
from .argument_checks import may_equal, require, require_rank
from .onnx_lowerings import last_dims

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


def require_parts(indices: Any, values: Any, dims: Any) -> None:
    """Require that the three parts fit, as far as sizes are known: (n, rank), (n,) and (rank,)."""
    for part, rank, name in ((indices, 2, "indices"), (values, 1, "values"), (dims, 1, "the dense shape")):
        require_rank(part, rank, name)
    fits = may_equal(indices.shape, (*values.shape, *dims.shape))
    require(fits, f"indices of shape {indices.shape} do not fit {values.shape} values of rank {dims.shape}")


def require_bounds(xp: Any, indices: Any, dims: Any) -> None:
    """Leave a run with an index outside the dense shape to the kernel. Scatters would drop its element, gathers clip it."""
    xp.require(((indices >= 0) & (indices < xp.asarray(dims).astype(indices.dtype))).all())


def strides(xp: Any, dims: Any) -> Any:
    """Return the distance of neighbours along each dimension."""
    rank = dims.shape[0]
    products = [np.ones(1, np.int64)]
    for axis in range(rank - 1, 0, -1):
        products.append(products[-1] * dims[axis : axis + 1])
    return xp.concatenate(products[:rank][::-1]) if rank else np.zeros(0, np.int64)


def places(xp: Any, indices: Any, dims: Any) -> Any:
    """Return the places of index vectors (n, rank)."""
    return xp.sum(indices * strides(xp, dims), 1)


def vectors(xp: Any, places: Any, dims: Any) -> Any:
    """Return the index vectors of places (n).

    A place outside, which SparseReshape does not refuse, is counted on beyond the first dimension, or from 0 down.
    """
    apart, first = xp.maximum(strides(xp, dims), 1), np.full(min(dims.shape[0], 1), np.iinfo(np.int64).max)
    sizes = xp.concatenate([first, xp.maximum(dims[1:], 1)])
    return xp.fmod(xp.truncated_quotient(places[:, None], apart), sizes)


def _rows(xp: Any, x: Any, numbers: Any) -> Any:
    return xp.take(x, numbers, 0, mode="clip")  # all are in range; JAX would look for others


def reordered(xp: Any, indices: Any, values: Any, dims: Any) -> tuple[Any, Any]:
    """Return indices and values in row-major order; elements of one place stay in turn."""
    require_parts(indices, values, dims)
    sorting = xp.argsort(places(xp, indices, xp.asarray(dims)), 0)
    return _rows(xp, indices, sorting), _rows(xp, values, sorting)


def reshaped(xp: Any, indices: Any, dims: Any, sizes: Any) -> tuple[Any, Any]:
    """Reshape a sparse tensor; a single dimension may be -1."""
    is_open = sizes == -1
    count, rest = xp.prod(dims), xp.prod(xp.where(is_open, 1, sizes))
    target = xp.where(is_open, xp.truncated_quotient(count, xp.maximum(rest, 1)), sizes)
    is_one_open = (xp.sum(is_open.astype(np.int64)) <= 1) & ((rest > 0) | ~xp.any(is_open))
    xp.require(is_one_open & (xp.prod(target) == count) & (sizes >= -1).all() & (dims >= 0).all())
    is_same = (dims == target).all() if dims.shape == target.shape else np.bool_(False)
    # Elements of an empty shape have no places in another.
    xp.require(is_same | (count > 0) | (xp.size(indices[:, :1]) == 0))
    moved = vectors(xp, places(xp, indices, dims), target)
    # An equal shape leaves the indices as they are, those outside too.
    return xp.where(is_same, indices, moved) if dims.shape == target.shape else moved, target


def concatenated(
    xp: Any, indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], *, concat_dim: int
) -> tuple[Any, Any, Any]:
    """Concatenate along a dimension, in row-major order."""
    rank = shapes[0].shape[0]
    require(-rank <= concat_dim < rank, f"concat_dim {concat_dim} is not in [-{rank}, {rank})")
    is_axis = np.arange(rank) == concat_dim % rank
    start: Any = np.zeros(rank, np.int64)
    moved = []
    for part, some, sizes in zip(indices, values, shapes):
        require_parts(part, some, sizes)
        xp.require(((sizes == shapes[0]) | is_axis).all())
        moved.append(part + start)
        start = start + xp.where(is_axis, sizes, 0)
    dims = xp.where(is_axis, start, shapes[0])
    return *reordered(xp, xp.concatenate(moved), xp.concatenate(values), dims), dims


def filled_rows_gradient(xp: Any, targets: Any, grad: Any) -> tuple[Any, Any]:
    """Return the gradient of the values, and of the default: the sum of the others."""
    require_rank(targets, 1, "reverse_index_map")
    require_rank(grad, 1, "grad_values")
    xp.require(((targets >= 0) & (targets < xp.size(grad))).all())
    own = _rows(xp, grad, targets)
    return own, xp.sum(xp.scattered(grad, targets[:, None], xp.zeros_like(own), "set"), 0)


def product(xp: Any, indices: Any, values: Any, dims: Any, matrix: Any, *, adjoint_a: bool, adjoint_b: bool) -> Any:
    """Return the product of a sparse and a dense matrix, either perhaps adjoint: rows, times the elements, added up."""
    require_parts(indices, values, dims)
    require_rank(matrix, 2, "b")
    sizes, b = dims.tolist(), xp.transpose(xp.conj(matrix), (1, 0)) if adjoint_b else matrix
    inner, outer = (0, 1) if adjoint_a else (1, 0)
    require(len(sizes) == 2 and may_equal(b.shape[:1], sizes[inner : inner + 1]), f"inner dimensions {sizes} and {b.shape}")
    require_bounds(xp, indices, dims)
    weights = xp.conj(values) if adjoint_a else values
    terms = weights[:, None] * _rows(xp, b, indices[:, inner])
    return xp.scattered(xp.full((sizes[outer], b.shape[1]), 0, b.dtype), indices[:, outer : outer + 1], terms, "add")


def added(xp: Any, indices: Any, values: Any, dims: Any, dense: Any) -> Any:
    """Return a dense tensor with the elements added."""
    require_parts(indices, values, dims)
    require(may_equal(dense.shape, dims.tolist()), f"the operands have the shapes {dims.tolist()} and {dense.shape}")
    require_bounds(xp, indices, dims)
    return xp.scattered(dense, indices, values, "add")


def beside(xp: Any, indices: Any, values: Any, dims: Any, dense: Any) -> Any:
    """Return the elements of a dense tensor, broadcast if needed, at the places of a sparse tensor."""
    require_parts(indices, values, dims)
    sizes = dims.tolist()
    require(dense.ndim <= len(sizes), f"a dense tensor of shape {dense.shape} is broadcast to {sizes} only")
    for size, other in zip(reversed(dense.shape), reversed(sizes)):
        require(size == 1 or may_equal((size,), (other,)), f"shape {dense.shape} does not broadcast to {sizes}")
    require_bounds(xp, indices, dims)
    return xp.elements_at(xp.broadcast_to(dense, tuple(sizes)), indices)


def reduced(xp: Any, indices: Any, values: Any, dims: Any, axes: Any, keep_dims: bool, how: str, start: Any) -> Any:
    """Return a dense tensor of the elements combined over axes; 0 where there are none."""
    require_parts(indices, values, dims)
    sizes = dims.tolist()
    rank = len(sizes)
    require(all(-rank <= axis < rank for axis in axes.reshape(-1)), f"reduction axes {axes.tolist()} of rank {rank}")
    dropped = {int(axis) % rank for axis in axes.reshape(-1)}
    remaining = [axis for axis in range(rank) if axis not in dropped]
    # A scatter needs an index, so with no dimension left all elements go to the only place of a vector.
    at = xp.take(indices, np.array(remaining), 1) if remaining else xp.zeros_like(indices[:, :1])
    into = tuple(sizes[axis] for axis in remaining) or (1,)
    require_bounds(xp, at, xp.dims_of(into))
    result = xp.scattered(xp.full(into, start, values.dtype), at, values, how)
    # A place without an element still holds the start of the maximum, and TensorFlow has 0 there.
    if how == "max":
        counts = xp.scattered(xp.full(into, 0, np.int64), at, xp.ones_like(at[:, 0]), "add")
        result = xp.where(counts > 0, result, 0)
    kept = [1 if axis in dropped else size for axis, size in enumerate(sizes)]
    return xp.reshape(result, tuple(kept) if keep_dims else into if remaining else ())


def softmax(xp: Any, indices: Any, values: Any, dims: Any) -> Any:
    """Return the softmax over the elements of each row, in row-major order."""
    dims = xp.asarray(dims)
    require(not isinstance(dims.shape[0], int) or dims.shape[0] >= 2, f"Input should have rank >= 2, but got: {dims.shape[0]}")
    indices, values = reordered(xp, indices, values, dims)
    row = places(xp, indices[:, :-1], dims[:-1])
    # Sorted, the rows that have elements are numbered from 0 on: so sums need a place for each element, not for each row.
    is_new = row != xp.concatenate([row[:1], row[:-1]])
    number = xp.cumsum(is_new.astype(np.int64), 0, np.int64)
    at, count = number[:, None], (values.shape[0],)
    largest = xp.scattered(xp.full(count, -np.inf, values.dtype), at, values, "max")
    shifted = xp.exp(values - _rows(xp, largest, number))
    return shifted / _rows(xp, xp.scattered(xp.full(count, 0, values.dtype), at, shifted, "add"), number)


def to_dense(xp: Any, indices: Any, dims: Any, values: Any, default: Any, *, validate_indices: bool) -> Any:
    """Return a dense tensor with values, or a scalar for all, at indices, which are in order where they are validated."""
    matrix = xp.reshape(indices, (-1, 1)) if indices.ndim < 2 else indices
    rank, count = dims.shape[0], matrix.shape[0]
    fits = may_equal(matrix.shape[1:], dims.shape) and (values.ndim == 0 or may_equal(values.shape, (count,)))
    require(fits and not default.ndim, f"indices of shape {indices.shape} do not fit {dims.shape} dimensions")
    require_bounds(xp, matrix, dims)
    if validate_indices and rank:
        flat = places(xp, matrix, xp.asarray(dims))
        # Rising strictly: TensorFlow refuses a repeated index as well.
        xp.require((flat[1:] > flat[:-1]).all())
    blank = xp.full(tuple(dims.tolist()), default, values.dtype)
    return xp.scattered(blank, matrix, xp.broadcast_to(values, (count,)), "set")


# For ONNX alone.


def sliced(g: Any, indices: Any, values: Any, dims: Any, start: Any, size: Any) -> tuple[Any, Any, Any]:
    """Return the elements in a box."""
    inside = g.And(g.GreaterOrEqual(indices, start), g.Less(indices, g.Add(start, size)))
    is_inside = g.cast(g.ReduceMin(g.cast(inside, dtypes.int64), [1], keepdims=0), dtypes.bool_)
    places_inside = g.reshape(g.NonZero(is_inside), [-1])
    return (
        g.Sub(g.Gather(indices, places_inside, axis=0), start),
        g.Gather(values, places_inside, axis=0),
        # TensorFlow cuts the box to the tensor, and takes one beyond it as empty.
        g.Max(g.Min(size, g.Sub(dims, start)), 0),
    )


def filled_rows(g: Any, indices: Any, values: Any, dims: Any, default: Any) -> tuple[Any, ...]:
    """Fill empty rows with a default at column 0; return also a mask of the filled rows, and the new place of each element."""
    rank, count = last_dims(g, dims, 1)[0], g.slice(dims, 0, 1)
    first = g.Gather(indices, np.array(0), axis=1)
    ones = g.Add(g.zeros_like(first), 1)
    zeros = g.Expand(g.constant(np.int64(0)), count)
    is_empty = g.Equal(g.ScatterND(zeros, g.unsqueeze(first, 1), ones, reduction="add"), 0)
    missing = g.reshape(g.NonZero(is_empty), [-1])
    sorting = _order(g, g.Concat(first, missing, axis=0))
    added = g.Pad(g.unsqueeze(missing, 1), [0, 0, 0, rank - 1])
    all_indices = g.Gather(g.Concat(indices, added, axis=0), sorting, axis=0)
    all_values = g.Gather(g.Concat(values, g.Expand(default, g.dim(missing, 0)), axis=0), sorting, axis=0)
    # The order of an order is its inverse: it says where each element went.
    targets = g.slice(_order(g, sorting), 0, g.dim(first, 0))
    return all_indices, all_values, is_empty, targets


def _order(g: Any, keys: Any) -> Any:
    """Return the stable order of the sorted keys: of equal keys, TopK takes the first first."""
    return g.TopK(keys, g.dim(keys, 0), outputs=2, axis=0, largest=0)[1]
