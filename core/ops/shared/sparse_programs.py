"""Sparse tensors in array programs: their elements sorted, moved and added up by their places, counted through all dimensions.

Parts whose number only the values tell (slices, filled rows) are emitted for ONNX alone: XLA's arrays have fixed sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...types import dtypes
from .argument_checks import may_equal, require, require_rank
from .onnx_lowerings import last_dims


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
