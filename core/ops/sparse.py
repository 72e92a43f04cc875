"""The structure of sparse tensors: order, shape, slices, concatenation, empty rows, conversion to dense."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dims import Dim, dim_min
from ..errors import InvalidArgumentError
from ..graph import Node, Output
from ..registry import Cost, flops, gradient, kernel, not_differentiable, shape, zero_flops
from ..shapes import Shape, TensorSpec
from ._checks import require_rank
from ._shapes import dims_of, normalize_axis, scalar_int, shape_from, shape_value
from ._sparse import (
    check_bounds,
    check_order,
    common_keys,
    flat_positions,
    index_vectors,
    merged,
    rank_of,
    sparse_shapes,
    validate,
)


@kernel("SparseReorder")
def sparse_reorder(indices: Array, values: Array, dense_shape: Array) -> tuple[Result, Result]:
    """Indices and values in row-major order."""
    validate(indices, values, dense_shape)
    (keys,) = common_keys(indices)
    order = np.argsort(keys, kind="stable")
    return indices[order], values[order]


@shape("SparseReorder")
def sparse_reorder_shape(indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec) -> tuple[Shape, Shape]:
    require_rank(indices, 2, "input_indices")
    require_rank(values, 1, "input_values")
    require_rank(dense_shape, 1, "input_shape")
    return indices.shape, values.shape


@gradient("SparseReorder")
def sparse_reorder_gradient(g: GradientBuilder, node: Node, _: Output, grad: Output) -> Gradients:
    """The gradients back in the order that the values came in."""
    indices, _, dense_shape = node.inputs
    rows = g.StridedSlice(g.shape_of(indices), [0], [1], [1], shrink_axis_mask=1)
    order = g.SparseReorder(indices, g.Range(0, rows, 1), dense_shape)[1]
    return [None, g.GatherV2(grad, g.InvertPermutation(order), 0), None]


@kernel("SparseReshape")
def sparse_reshape(indices: Array, dense_shape: Array, new_shape: Array) -> tuple[Result, Result]:
    """The indices of the same elements in another dense shape, and that shape."""
    if np.ndim(indices) != 2:
        raise InvalidArgumentError(f"Input indices should be a matrix but received shape {Shape(np.shape(indices))}")
    if np.ndim(dense_shape) != 1 or np.ndim(new_shape) != 1:
        raise InvalidArgumentError(f"the shapes should be vectors: {np.shape(dense_shape)}, {np.shape(new_shape)}")
    if indices.shape[1] != dense_shape.size:
        raise InvalidArgumentError(f"Input tensor rank must match input shape length: {indices.shape[1]}, {dense_shape.size}")
    old = dense_shape.tolist()
    if any(d < 0 for d in old):
        raise InvalidArgumentError(f"the shape {old} has a negative dimension")
    new = np.array(_resolved(new_shape.tolist(), math.prod(old)), np.int64)
    return index_vectors(flat_positions(indices, dense_shape), new), new


def _resolved(dims: list[Any], count: int) -> list[Any]:
    """The new dimensions with -1 found from the number of elements."""
    gaps = [i for i, d in enumerate(dims) if d == -1]
    if len(gaps) > 1 or any(d < -1 for d in dims):
        raise InvalidArgumentError(f"sizes must be non-negative, only one may be -1: {dims}")
    rest = math.prod(d for d in dims if d != -1)
    if gaps:
        if rest == 0:
            raise InvalidArgumentError(
                "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero"
            )
        if count % rest:
            raise InvalidArgumentError(f"a tensor with {count} dense values cannot be reshaped to {dims}")
        return [count // rest if d == -1 else d for d in dims]
    if rest != count:
        raise InvalidArgumentError(f"a tensor with {count} dense values cannot be reshaped to {dims} with {rest}")
    return dims


@shape("SparseReshape")
def sparse_reshape_shape(
    indices: TensorSpec, dense_shape: TensorSpec, new_shape: TensorSpec
) -> tuple[Any, Any]:
    require_rank(indices, 2, "input_indices")
    require_rank(dense_shape, 1, "input_shape")
    require_rank(new_shape, 1, "new_shape")
    rank = new_shape.shape[0]
    old: Any = dims_of(dense_shape)
    new: Any = dims_of(new_shape)
    rows = Shape([indices.shape[0], rank])
    if old is None or new is None or not all(isinstance(d, int) for d in (*old, *new)):
        return rows, Shape([rank])
    return rows, TensorSpec(new_shape.dtype, Shape([rank]), shape_value(_resolved(new, math.prod(old))))


not_differentiable("SparseReshape")
zero_flops("SparseReorder", "SparseReshape")


@kernel("SparseToDense")
def sparse_to_dense(indices: Array, dims: Array, values: Array, default_value: Array, *, validate_indices: bool) -> Result:
    """A dense tensor of shape `dims` with `values` at `indices` and the default elsewhere."""
    indices, values = np.asarray(indices), np.asarray(values)
    if indices.ndim > 2:
        raise InvalidArgumentError(f"sparse_indices should be a scalar, vector or matrix, got shape {Shape(indices.shape)}")
    if np.ndim(dims) != 1:
        raise InvalidArgumentError(f"output_shape must be rank 1, got shape {Shape(np.shape(dims))}")
    matrix = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if matrix.shape[1] != dims.size:
        raise InvalidArgumentError(f"output_shape has {dims.size} elements, should have {matrix.shape[1]}")
    if values.ndim > 1 or (values.ndim == 1 and values.size != len(matrix)):
        raise InvalidArgumentError(f"sparse_values has incorrect shape {Shape(values.shape)}, should be () or ({len(matrix)})")
    if np.ndim(default_value) != 0:
        raise InvalidArgumentError("default_value should be a scalar.")
    if np.any(dims < 0):
        raise InvalidArgumentError(f"the shape {dims.tolist()} has a negative dimension")
    (check_order if validate_indices else check_bounds)(matrix, dims)
    result = np.empty(dims.tolist(), values.dtype)
    result[...] = default_value
    result.reshape(-1)[flat_positions(matrix, dims)] = values
    return result


@shape("SparseToDense")
def sparse_to_dense_shape(indices: TensorSpec, dims: TensorSpec, values: TensorSpec, default_value: TensorSpec) -> Shape:
    require_rank(default_value, 0, "default_value")
    return shape_from(dims)


@gradient("SparseToDense")
def sparse_to_dense_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    indices, dims, values, _ = node.inputs
    rank = g.Cast(g.Size(dims), DstT=dims.base_dtype)
    rows = g.Reshape(indices, g.Pack([g.constant(-1, dims.base_dtype), rank]))
    taken = g.GatherNd(grad, rows)
    rest = g.Sub(g.Sum(grad, g.Range(0, g.Rank(grad), 1)), g.Sum(taken, g.Range(0, g.Rank(taken), 1)))
    return [None, None, g.reduce_to(taken, values, taken), rest]


@kernel("SparseConcat")
def sparse_concat(
    indices: list[Array], values: list[Array], shapes: list[Array], *, concat_dim: int
) -> tuple[Result, Result, Result]:
    """Sparse tensors one after the other along a dimension, in row-major order."""
    for part in zip(indices, values, shapes):
        validate(*part)
    rank = shapes[0].size
    axis = normalize_axis(concat_dim, rank, "concat_dim")
    for i, dims in enumerate(shapes):
        if dims.size != rank or np.any(np.delete(dims, axis) != np.delete(shapes[0], axis)):
            raise InvalidArgumentError(f"Input shapes must match: {shapes[0].tolist()} and {dims.tolist()} at position {i}")
    starts = np.cumsum([0, *(dims[axis] for dims in shapes)])
    moved = []
    for part, start in zip(indices, starts):
        shifted = part.copy()
        shifted[:, axis] += start
        moved.append(shifted)
    joined, joined_values = np.concatenate(moved), np.concatenate(values)
    dims = shapes[0].copy()
    dims[axis] = starts[-1]
    order = np.argsort(common_keys(joined)[0], kind="stable")
    return joined[order], joined_values[order], dims


@shape("SparseConcat")
def sparse_concat_shape(
    indices: list[TensorSpec], values: list[TensorSpec], shapes: list[TensorSpec]
) -> tuple[Shape, Shape, Shape]:
    rank = rank_of(indices[0], shapes[0])
    count = sum(i.shape[0] for i in indices) if all(i.rank is not None for i in indices) else Dim.unknown()
    return Shape([count, rank]), Shape([count]), Shape([rank])


zero_flops("SparseToDense", "SparseConcat")


@kernel("SparseSplit")
def sparse_split(split_dim: Array, indices: Array, values: Array, dense_shape: Array, *, num_split: int) -> Any:
    """A sparse tensor cut along a dimension into parts that differ by at most one in size."""
    validate(indices, values, dense_shape)
    check_bounds(indices, dense_shape)
    if np.ndim(split_dim) != 0:
        raise InvalidArgumentError("split_dim must be a scalar")
    axis = scalar_int(split_dim, "split_dim")
    rank = dense_shape.size
    axis = axis + rank if axis < 0 else axis
    if not 0 <= axis < rank:
        raise InvalidArgumentError(f"Input split_dim should be between 0 and rank ({rank}), got {axis}")
    size = int(dense_shape[axis])
    if not 1 <= num_split <= size:
        raise InvalidArgumentError(f"num_split should be between 1 and the size of the dimension, {size}, got {num_split}")
    sizes = np.full(num_split, size // num_split) + (np.arange(num_split) < size % num_split)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = [_sliced(indices, values, axis, start, length) for start, length in zip(starts, sizes)]
    return [p[0] for p in parts], [p[1] for p in parts], [_with_dim(dense_shape, axis, n) for n in sizes]


def _with_dim(dims: Array, axis: int, size: Array) -> Array:
    result = dims.copy()
    result[axis] = size
    return result


def _sliced(indices: Array, values: Array, axis: int, start: Array, length: Array) -> tuple[Array, Array]:
    kept = (indices[:, axis] >= start) & (indices[:, axis] < start + length)
    rows = indices[kept]
    rows[:, axis] -= start
    return rows, values[kept]


@shape("SparseSplit")
def sparse_split_shape(
    split_dim: TensorSpec, indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, *, num_split: int
) -> tuple[list[Shape], list[Shape], list[Shape]]:
    parts = [sparse_shapes(rank_of(indices, dense_shape)) for _ in range(num_split)]
    return [p[0] for p in parts], [p[1] for p in parts], [dense_shape.shape] * num_split


not_differentiable("SparseConcat", "SparseSplit")


@kernel("SparseSlice")
def sparse_slice(
    indices: Array, values: Array, dense_shape: Array, start: Array, size: Array
) -> tuple[Result, Result, Result]:
    """The part of a sparse tensor in a box from `start` of `size`, cut off at the tensor's end."""
    validate(indices, values, dense_shape)
    for name, value in (("start", start), ("size", size)):
        if np.shape(value) != (dense_shape.size,):
            raise InvalidArgumentError(f"{name} must be a vector of length {dense_shape.size}, not {Shape(np.shape(value))}")
    if np.any(size < 0):
        raise InvalidArgumentError(f"Expected a non-negative size, got {size.tolist()}")
    kept = np.all((indices >= start) & (indices < start + size), axis=1)
    return indices[kept] - start, values[kept], np.maximum(np.minimum(size, dense_shape - start), 0)


@shape("SparseSlice")
def sparse_slice_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, start: TensorSpec, size: TensorSpec
) -> tuple[Shape, ...]:
    return sparse_shapes(rank_of(indices, dense_shape))


@gradient("SparseSlice")
def sparse_slice_gradient(g: GradientBuilder, node: Node, _indices: Output, grad: Output, _shape: Output) -> Gradients:
    indices, _, _, start, _ = node.inputs
    return [None, g.SparseSliceGrad(grad, indices, start, node.output(0)), None, None, None]


zero_flops("SparseSplit", "SparseSlice")


@kernel("SparseSliceGrad")
def sparse_slice_grad(grad: Array, indices: Array, start: Array, output_indices: Array) -> Result:
    """For each element of the input its gradient, 0 where the slice left it out."""
    if np.ndim(grad) != 1 or np.ndim(indices) != 2 or np.ndim(output_indices) != 2 or np.ndim(start) != 1:
        raise InvalidArgumentError(
            f"gradient and start must be vectors, indices matrices: {np.shape(grad)}, {np.shape(start)}, {np.shape(indices)}"
        )
    if len(grad) != len(output_indices) or indices.shape[1] != output_indices.shape[1] or start.size != indices.shape[1]:
        raise InvalidArgumentError(f"{len(grad)} gradients, indices of {indices.shape} and {output_indices.shape} do not fit")
    keys, wanted = common_keys(indices - start, output_indices)
    return _taken_by_key(keys, wanted, grad)


def _taken_by_key(keys: Array, among: Array, values: Array) -> Array:
    """For each key the value whose key in `among` is the same, 0 where there is none."""
    result = np.zeros(len(keys), values.dtype)
    if len(among):
        order = np.argsort(among, kind="stable")
        found = np.minimum(np.searchsorted(among[order], keys), len(among) - 1)
        hit = among[order][found] == keys
        result[hit] = values[order][found[hit]]
    return result


@shape("SparseSliceGrad")
def sparse_slice_grad_shape(grad: TensorSpec, indices: TensorSpec, start: TensorSpec, output_indices: TensorSpec) -> Shape:
    return Shape([indices.shape[0]])


not_differentiable("SparseSliceGrad")
zero_flops("SparseSliceGrad")


@kernel("SparseAdd")
def sparse_add(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array, thresh: Array
) -> tuple[Result, Result, Result]:
    """The sum of two sparse tensors without the sums of two elements whose magnitude is below `thresh`."""
    _require_same_dense_shape(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
    if np.ndim(thresh) != 0:
        raise InvalidArgumentError(f"The magnitude threshold must be a scalar: got shape {Shape(np.shape(thresh))}")
    in_a, in_b = merged(*common_keys(a_indices, b_indices))
    sums = _picked(a_values, in_a) + _picked(b_values, in_b)
    kept = (in_a < 0) | (in_b < 0) | (thresh <= np.abs(sums))
    rows = _merged_rows(a_indices, b_indices, in_a, in_b)
    return rows[kept], sums[kept], a_shape


def _require_same_dense_shape(
    a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array
) -> None:
    validate(a_indices, a_values, a_shape, "a")
    validate(b_indices, b_values, b_shape, "b")
    if a_shape.tolist() != b_shape.tolist():
        raise InvalidArgumentError(f"Operands' shapes do not match: got {a_shape.tolist()} and {b_shape.tolist()}")


def _picked(values: Array, places: Array) -> Array:
    """values[places], 0 where the place is -1."""
    if not len(values):
        return np.zeros(len(places), values.dtype)
    return np.where(places >= 0, values[places], values.dtype.type(0))


def _merged_rows(a_indices: Array, b_indices: Array, in_a: Array, in_b: Array) -> Array:
    rows = np.empty((len(in_a), a_indices.shape[1]), np.int64)
    rows[in_a < 0] = b_indices[in_b[in_a < 0]]
    rows[in_a >= 0] = a_indices[in_a[in_a >= 0]]
    return rows


@shape("SparseAdd")
def sparse_add_shape(
    a_indices: TensorSpec,
    a_values: TensorSpec,
    a_shape: TensorSpec,
    b_indices: TensorSpec,
    b_values: TensorSpec,
    b_shape: TensorSpec,
    thresh: TensorSpec,
) -> tuple[Shape, ...]:
    require_rank(thresh, 0, "thresh")
    return sparse_shapes(rank_of(a_indices, a_shape))


@gradient("SparseAdd")
def sparse_add_gradient(g: GradientBuilder, node: Node, _indices: Output, grad: Output, _shape: Output) -> Gradients:
    a_indices, _, _, b_indices, _, _, _ = node.inputs
    a, b = g.SparseAddGrad(grad, a_indices, b_indices, node.output(0))
    return [None, a, None, None, b, None, None]


@flops("SparseAdd")
def sparse_add_flops(
    a_indices: TensorSpec,
    a_values: TensorSpec,
    a_shape: TensorSpec,
    b_indices: TensorSpec,
    b_values: TensorSpec,
    b_shape: TensorSpec,
    thresh: TensorSpec,
) -> Cost:
    """At most: where both have an element a sum, its modulus and a comparison."""
    return Cost(flops=3 * dim_min(a_values.shape.num_elements, b_values.shape.num_elements))


@kernel("SparseAddGrad")
def sparse_add_grad(grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array) -> tuple[Result, Result]:
    """The gradients of the values of both summands."""
    if np.ndim(grad) != 1 or any(np.ndim(i) != 2 for i in (a_indices, b_indices, sum_indices)):
        raise InvalidArgumentError("the gradient must be a vector, the indices matrices")
    if not a_indices.shape[1] == b_indices.shape[1] == sum_indices.shape[1]:
        raise InvalidArgumentError("The densified operands should have the same ndims")
    if len(grad) != len(sum_indices):
        raise InvalidArgumentError(f"there are {len(grad)} gradients for {len(sum_indices)} elements of the sum")
    a_keys, b_keys, keys = common_keys(a_indices, b_indices, sum_indices)
    return _taken_by_key(a_keys, keys, grad), _taken_by_key(b_keys, keys, grad)


@shape("SparseAddGrad")
def sparse_add_grad_shape(
    grad: TensorSpec, a_indices: TensorSpec, b_indices: TensorSpec, sum_indices: TensorSpec
) -> tuple[Shape, Shape]:
    return Shape([a_indices.shape[0]]), Shape([b_indices.shape[0]])


not_differentiable("SparseAddGrad")
zero_flops("SparseAddGrad")


def _extreme(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def combine(
        a_indices: Array, a_values: Array, a_shape: Array, b_indices: Array, b_values: Array, b_shape: Array
    ) -> tuple[Array, Array]:
        """The greater (or lesser) of two sparse tensors where either has an element; missing ones are 0."""
        _require_same_dense_shape(a_indices, a_values, a_shape, b_indices, b_values, b_shape)
        check_bounds(a_indices, a_shape)
        check_bounds(b_indices, b_shape)
        in_a, in_b = merged(*common_keys(a_indices, b_indices))
        return _merged_rows(a_indices, b_indices, in_a, in_b), ufunc(_picked(a_values, in_a), _picked(b_values, in_b))

    return combine


sparse_sparse_maximum = kernel("SparseSparseMaximum")(_extreme(np.maximum))
sparse_sparse_minimum = kernel("SparseSparseMinimum")(_extreme(np.minimum))


@shape("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_sparse_extreme_shape(
    a_indices: TensorSpec,
    a_values: TensorSpec,
    a_shape: TensorSpec,
    b_indices: TensorSpec,
    b_values: TensorSpec,
    b_shape: TensorSpec,
) -> tuple[Shape, ...]:
    return sparse_shapes(rank_of(a_indices, a_shape))[:2]


@gradient("SparseSparseMaximum")
def sparse_sparse_maximum_gradient(g: GradientBuilder, node: Node, _: Output, grad: Output) -> Gradients:
    return _extreme_gradient(g, node, grad, "GreaterEqual")


def _extreme_gradient(g: GradientBuilder, node: Node, grad: Output, comparison: str) -> list[Output | None]:
    """The gradient goes to the first where it is at least as extreme, to the second elsewhere."""
    a_indices, a_values, dims, b_indices, b_values, _ = node.inputs
    rows = node.output(0)
    zero = g.scalar_like(grad, 0)
    a = _densified(g, a_indices, a_values, dims, rows)
    b = _densified(g, b_indices, b_values, dims, rows)
    wins = g.apply(comparison, a, b)
    to_a, to_b = g.SelectV2(wins, grad, zero), g.SelectV2(wins, zero, grad)
    start = g.zeros_like(dims)
    return [
        None,
        g.SparseSliceGrad(to_a, a_indices, start, rows),
        None,
        None,
        g.SparseSliceGrad(to_b, b_indices, start, rows),
        None,
    ]


def _densified(g: GradientBuilder, indices: Output, values: Output, dims: Output, rows: Output) -> Output:
    """The values at `rows`, 0 where the sparse tensor has none."""
    return g.SparseSliceGrad(values, rows, g.zeros_like(dims), indices)


@gradient("SparseSparseMinimum")
def sparse_sparse_minimum_gradient(g: GradientBuilder, node: Node, _: Output, grad: Output) -> Gradients:
    return _extreme_gradient(g, node, grad, "LessEqual")


@flops("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_sparse_extreme_flops(
    a_indices: TensorSpec,
    a_values: TensorSpec,
    a_shape: TensorSpec,
    b_indices: TensorSpec,
    b_values: TensorSpec,
    b_shape: TensorSpec,
) -> Cost:
    """At most: a comparison for each element."""
    return Cost(flops=a_values.shape.num_elements + b_values.shape.num_elements)


@kernel("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """Rows without elements get the default at column 0; also which rows those were, and where each element went."""
    if np.ndim(dense_shape) != 1 or dense_shape.size == 0:
        raise InvalidArgumentError(f"dense_shape must be a vector with elements, saw: {np.shape(dense_shape)}")
    if np.ndim(indices) != 2 or np.ndim(values) != 1 or len(indices) != len(values) or np.ndim(default_value) != 0:
        raise InvalidArgumentError(
            f"indices, values and default have the shapes {np.shape(indices)}, {np.shape(values)}, {np.shape(default_value)}"
        )
    count, rank = int(dense_shape[0]), indices.shape[1]
    if rank != dense_shape.size:
        raise InvalidArgumentError(f"dense_shape has {dense_shape.size} dimensions, indices have {rank}")
    rows = indices[:, 0]
    _check_rows(rows, count)
    order, is_empty, targets = fill_order(rows, count)
    result = np.zeros((order.size, rank), np.int64)
    result[targets] = indices
    result[order < 0, 0] = np.flatnonzero(is_empty)
    filled = np.empty(order.size, values.dtype)
    filled[...] = default_value
    filled[targets] = values
    return result, filled, is_empty, targets


def fill_order(rows: Array, count: int) -> tuple[Array, Array, Array]:
    """(source of each output element or -1 for a filled row, which rows are empty, target of each input element)."""
    is_empty = np.bincount(rows, minlength=count) == 0 if count else np.zeros(0, bool)
    all_rows = np.concatenate([rows, np.flatnonzero(is_empty)])
    order = np.argsort(all_rows, kind="stable")
    targets = np.empty(len(order), np.int64)
    targets[order] = np.arange(len(order))
    return np.where(order < len(rows), order, -1), is_empty, targets[: len(rows)]


def _check_rows(rows: Array, count: int) -> None:
    if count == 0 and len(rows):
        raise InvalidArgumentError(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}")
    bad = (rows < 0) | (rows >= count)
    if np.any(bad):
        place = int(np.argmax(bad))
        raise InvalidArgumentError(f"indices({place}, 0) is invalid: {int(rows[place])} >= {count}")


@shape("SparseFillEmptyRows")
def sparse_fill_empty_rows_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, default_value: TensorSpec
) -> tuple[Shape, Shape, Shape, Shape]:
    require_rank(indices, 2, "indices")
    require_rank(default_value, 0, "default_value")
    found = dims_of(dense_shape)
    rows, columns, _ = sparse_shapes(rank_of(indices, dense_shape))
    return rows, columns, Shape([found[0] if found else None]), Shape([indices.shape[0]])


@gradient("SparseFillEmptyRows")
def sparse_fill_empty_rows_gradient(
    g: GradientBuilder, node: Node, _indices: Output, grad: Output, _empty: Output, _map: Output
) -> Gradients:
    values, default = g.SparseFillEmptyRowsGrad(node.output(3), grad)
    return [None, values, None, default]


zero_flops("SparseFillEmptyRows")


@kernel("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad(reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """The gradient of the values, and that of the default: the sum of what the values do not account for."""
    if np.ndim(reverse_index_map) != 1 or np.ndim(grad_values) != 1:
        raise InvalidArgumentError("reverse_index_map and grad_values must be vectors")
    places, grad = np.asarray(reverse_index_map), np.asarray(grad_values)
    if places.size and (places.min() < 0 or places.max() >= grad.size):
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {grad.size}) but got {places.tolist()[:10]}")
    rest = np.ones(grad.size, bool)
    rest[places] = False
    return grad[places], np.sum(grad[rest], dtype=grad.dtype)


@shape("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad_shape(reverse_index_map: TensorSpec, grad_values: TensorSpec) -> tuple[Shape, Shape]:
    require_rank(reverse_index_map, 1, "reverse_index_map")
    require_rank(grad_values, 1, "grad_values")
    return reverse_index_map.shape, Shape(())


@flops("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad_flops(reverse_index_map: TensorSpec, grad_values: TensorSpec) -> Cost:
    """The sum of what the values do not account for."""
    return Cost(flops=grad_values.shape.num_elements - reverse_index_map.shape.num_elements)


not_differentiable("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad")
