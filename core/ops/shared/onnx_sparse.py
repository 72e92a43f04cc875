"""Sparse tensors in ONNX: their elements sorted, moved and added up by their places, counted through all dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from .onnx_lowerings import adjoint_of, last_dims


def strides(g: Any, dims: Any) -> Any:
    """Return the distance of neighbours along each dimension."""
    rank = last_dims(g, dims, 1)[0]
    products = [g.constant(np.array([1]))]
    for axis in range(rank - 1, 0, -1):
        products.append(g.Mul(products[-1], g.slice(dims, axis, axis + 1)))
    return g.joined(*products[:rank][::-1])


def places(g: Any, indices: Any, dims: Any) -> Any:
    """Return the places of index vectors (n, rank)."""
    return g.ReduceSum(g.Mul(indices, strides(g, dims)), [1], keepdims=0)


def vectors(g: Any, places: Any, dims: Any) -> Any:
    """Return the index vectors of places (n); a negative place, which TensorFlow does not refuse, is counted from 0 down."""
    apart = g.Max(strides(g, dims), 1)
    return g.Mod(g.Div(g.unsqueeze(places, 1), apart), g.Max(dims, 1), fmod=1)


def order(g: Any, keys: Any) -> Any:
    """Return the stable order of the sorted keys."""
    return g.TopK(keys, g.dim(keys, 0), outputs=2, axis=0, largest=0)[1]


def rows(g: Any, x: Any, numbers: Any) -> Any:
    return g.Gather(x, numbers, axis=0)


def reordered(g: Any, indices: Any, values: Any, dims: Any) -> tuple[Any, Any]:
    """In row-major order."""
    sorting = order(g, places(g, indices, dims))
    return rows(g, indices, sorting), rows(g, values, sorting)


def reshaped(g: Any, indices: Any, dims: Any, sizes: Any) -> tuple[Any, Any]:
    """Reshape a sparse tensor; a single dimension may be -1."""
    positive = g.Where(g.Less(sizes, 0), 1, sizes)
    count, rest = g.ReduceProd(dims, [0]), g.ReduceProd(positive, [0])
    target = g.Where(g.Less(sizes, 0), g.Div(count, g.Max(rest, 1)), sizes)
    return vectors(g, places(g, indices, dims), target), target


def sliced(g: Any, indices: Any, values: Any, dims: Any, start: Any, size: Any) -> tuple[Any, Any, Any]:
    """Return the elements in a box."""
    inside = g.And(g.GreaterOrEqual(indices, start), g.Less(indices, g.Add(start, size)))
    is_inside = g.cast(g.ReduceMin(g.cast(inside, dtypes.int64), [1], keepdims=0), dtypes.bool_)
    places_inside = g.reshape(g.NonZero(is_inside), [-1])
    return (
        g.Sub(rows(g, indices, places_inside), start),
        rows(g, values, places_inside),
        g.Max(g.Min(size, g.Sub(dims, start)), 0),
    )


def concatenated(g: Any, indices: list[Any], values: list[Any], shapes: list[Any], *, concat_dim: int) -> Any:
    """Concatenate along a dimension, in row-major order."""
    rank = last_dims(g, shapes[0], 1)[0]
    is_axis = np.arange(rank) == concat_dim % rank
    start, moved = g.constant(np.zeros(rank, np.int64)), []
    for part, sizes in zip(indices, shapes):
        moved.append(g.Add(part, start))
        start = g.Add(start, g.Where(is_axis, sizes, 0))
    dims = g.Where(is_axis, start, shapes[0])
    return *reordered(g, g.Concat(*moved, axis=0), g.Concat(*values, axis=0), dims), dims


def filled_rows(g: Any, indices: Any, values: Any, dims: Any, default: Any) -> tuple[Any, ...]:
    """Fill empty rows with a default at column 0; return also a mask of the filled rows, and the new place of each element."""
    rank, count = last_dims(g, dims, 1)[0], g.slice(dims, 0, 1)
    first = g.Gather(indices, np.array(0), axis=1)
    ones = g.Add(g.zeros_like(first), 1)
    zeros = g.Expand(g.constant(np.int64(0)), count)
    is_empty = g.Equal(g.ScatterND(zeros, g.unsqueeze(first, 1), ones, reduction="add"), 0)
    missing = g.reshape(g.NonZero(is_empty), [-1])
    sorting = order(g, g.Concat(first, missing, axis=0))
    added = g.Pad(g.unsqueeze(missing, 1), [0, 0, 0, rank - 1])
    all_indices = rows(g, g.Concat(indices, added, axis=0), sorting)
    all_values = rows(g, g.Concat(values, g.Expand(default, g.dim(missing, 0)), axis=0), sorting)
    targets = g.slice(order(g, sorting), 0, g.dim(first, 0))
    return all_indices, all_values, is_empty, targets


def filled_rows_gradient(g: Any, targets: Any, grad: Any) -> tuple[Any, Any]:
    """Of the values, and of the default: the sum of the others."""
    own = rows(g, grad, targets)
    rest = g.ScatterND(grad, g.unsqueeze(targets, 1), g.zeros_like(own))
    return own, g.ReduceSum(rest, [0], keepdims=0)


def product(g: Any, indices: Any, values: Any, dims: Any, dense: Any, *, adjoint_a: bool, adjoint_b: bool) -> Any:
    """Rows of the dense matrix, times the elements, added up."""
    inner, outer = (0, 1) if adjoint_a else (1, 0)
    other = adjoint_of(g, dense) if adjoint_b else dense
    weights = g.conjugate(values) if adjoint_a else values
    parts = g.Mul(g.unsqueeze(weights, 1), rows(g, other, g.Gather(indices, np.array(inner), axis=1)))
    zeros = g.Expand(g.like(0, parts), g.joined(g.slice(g.vector(dims), outer, outer + 1), g.dim(other, 1)))
    return g.ScatterND(zeros, g.cast(g.slice(indices, outer, outer + 1, 1), dtypes.int64), parts, reduction="add")


def reduced(g: Any, indices: Any, values: Any, dims: Any, axes: Any, keep_dims: bool, how: str, start: float) -> Any:
    """Return a dense tensor of the elements combined over axes; 0 where there are none."""
    rank = last_dims(g, dims, 1)[0]
    dropped = {int(axis) % rank for axis in np.ravel(g.known(axes, "axes"))}
    remaining = np.array([axis for axis in range(rank) if axis not in dropped], np.int64)
    sizes = g.Gather(dims, remaining, axis=0)
    count = g.ReduceProd(sizes, [0]) if len(remaining) else g.constant(np.array([1]))
    if len(remaining):
        at = g.unsqueeze(places(g, g.Gather(indices, remaining, axis=1), sizes), 1)
    else:
        at = g.Mul(g.slice(indices, 0, 1, 1), 0)
    result = g.ScatterND(g.Expand(g.like(start, values), count), at, values, reduction=how)
    if start:
        is_there = g.ScatterND(g.Expand(g.constant(np.int64(0)), count), at, g.Add(g.squeeze(g.Mul(at, 0), 1), 1))
        result = g.Where(g.Greater(is_there, 0), result, 0)
    is_dropped = np.isin(np.arange(rank), list(dropped))
    return g.of_dims(result, g.Where(is_dropped, 1, dims) if keep_dims else sizes)


def added(g: Any, indices: Any, values: Any, dims: Any, dense: Any) -> Any:
    """Return a dense tensor with the elements added."""
    return g.ScatterND(dense, g.cast(indices, dtypes.int64), values, reduction="add")


def beside(g: Any, indices: Any, dims: Any, dense: Any) -> Any:
    """Return the elements of a dense tensor, broadcast if needed, at the places of a sparse tensor."""
    return g.GatherND(g.Expand(dense, dims), indices)


def softmax(g: Any, indices: Any, values: Any, dims: Any) -> Any:
    """Return the softmax over the elements of each row, in row-major order."""
    indices, values = reordered(g, indices, values, dims)
    rank = last_dims(g, dims, 1)[0]
    outer = g.slice(dims, 0, rank - 1)
    at = g.unsqueeze(places(g, g.slice(indices, 0, rank - 1, 1), outer), 1)
    count = g.ReduceProd(outer, [0])
    zeros = g.Expand(g.like(0, values), count)
    largest = g.ScatterND(g.Expand(g.like(-np.inf, values), count), at, values, reduction="max")
    shifted = g.Exp(g.Sub(values, g.GatherND(largest, at)))
    return g.Div(shifted, g.GatherND(g.ScatterND(zeros, at, shifted, reduction="add"), at))
