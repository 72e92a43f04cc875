"""The structure of sparse tensors: order, shape, slices, concatenation, filled rows, conversion to dense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import (
    WITHOUT_GRADIENT,
    Cost,
    arrays,
    flops,
    gradient,
    kernel,
    onnx,
    shape,
    without_gradient,
    zero_cost,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec, dims_of, merge_dims, shape_from
from ..shared import sparse_tensors as programs
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.decompositions import by_ops
from ..shared.shape_arguments import normalize_axis, scalar_int, shape_value
from ..shared.sparse_tensors import (
    check_bounds,
    check_order,
    common_keys,
    flat_positions,
    index_vectors,
    rank_of,
    sparse_shapes,
    validate,
)


@kernel("SparseReorder", shape="n r, n, r -> n r, n", flops=zero_cost)
def sparse_reorder(indices: Array, values: Array, dense_shape: Array) -> tuple[Result, Result]:
    """Indices and values in row-major order."""
    validate(indices, values, dense_shape)
    # One number for each index vector sorts many times faster than its columns in turn.
    (keys,) = common_keys(indices)
    order = np.argsort(keys, kind="stable")
    return indices[order], values[order]


@gradient("SparseReorder")
def sparse_reorder_gradient(g: GradientBuilder, node: Node, _: Output, grad: Output) -> Gradients:
    """The gradients back in the order that the values came in."""
    indices, _, dense_shape = node.inputs
    rows = g.StridedSlice(g.shape_of(indices), [0], [1], [1], shrink_axis_mask=1)
    order = g.SparseReorder(indices, g.Range(0, rows, 1), dense_shape)[1]
    return [None, g.GatherV2(grad, g.InvertPermutation(order), 0), None]


@kernel("SparseReshape", arithmetic=False)
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
    # In Python's integers: products of dense shapes may exceed 64 bits although few elements are there.
    new = np.array(_resolved(new_shape.tolist(), math.prod(old)), np.int64)
    # TensorFlow passes the indices on to an equal shape, those outside too, which index_vectors would change.
    if new.tolist() == old:
        return indices, new
    if len(indices) and 0 in old:
        raise InvalidArgumentError(f"{len(indices)} elements of an empty shape {old} cannot be reshaped to {new.tolist()}")
    return index_vectors(flat_positions(indices, dense_shape), new), new


def _resolved(dims: list[Any], count: int) -> list[Any]:
    """Return the new dimensions with -1 found from the number of elements."""
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
def sparse_reshape_shape(indices: TensorSpec, dense_shape: TensorSpec, new_shape: TensorSpec) -> tuple[Any, Any]:
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


@kernel("SparseToDense", flops=zero_cost)
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
    # Filled once, whatever the dtype; zeros would be written first and then the default over them.
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
    # Indices may be a scalar or a vector, too, for a dense vector.
    rows = g.Reshape(indices, g.Pack([g.constant(-1, dims.base_dtype), rank]))
    taken = g.GatherNd(grad, rows)
    # The default stands at all places but those of the values.
    rest = g.Sub(g.Sum(grad, g.Range(0, g.Rank(grad), 1)), g.Sum(taken, g.Range(0, g.Rank(taken), 1)))
    return [None, None, g.reduce_to(taken, values, taken), rest]


@kernel("SparseConcat", arithmetic=False)
def sparse_concat(
    indices: list[Array], values: list[Array], shapes: list[Array], *, concat_dim: int
) -> tuple[Result, Result, Result]:
    """Concatenate sparse tensors along a dimension, in row-major order."""
    for part in zip(indices, values, shapes):
        validate(*part)
    rank = shapes[0].size
    axis = normalize_axis(concat_dim, rank, "concat_dim")
    for i, dims in enumerate(shapes):
        if dims.size != rank or np.any(np.delete(dims, axis) != np.delete(shapes[0], axis)):
            raise InvalidArgumentError(f"Input shapes must match: {shapes[0].tolist()} and {dims.tolist()} at position {i}")
    # Indices along the axis go up by the sizes of the tensors before.
    starts = np.cumsum([0, *(dims[axis] for dims in shapes)])
    moved = []
    for part, start in zip(indices, starts):
        shifted = part.copy()
        shifted[:, axis] += start
        moved.append(shifted)
    joined, joined_values = np.concatenate(moved), np.concatenate(values)
    dims = shapes[0].copy()
    dims[axis] = starts[-1]
    # Along the first axis the parts already are in order, along others they interleave.
    order = np.argsort(common_keys(joined)[0], kind="stable")
    return joined[order], joined_values[order], dims


@shape("SparseConcat")
def sparse_concat_shape(
    indices: list[TensorSpec], values: list[TensorSpec], shapes: list[TensorSpec]
) -> tuple[Shape, Shape, Shape]:
    ranks = map(rank_of, indices, shapes)
    rank = next((rank for rank in ranks if isinstance(rank, int)), None)
    count: DimLike = sum(merge_dims(i.shape[0], v.shape[0]) for i, v in zip(indices, values))
    return Shape([count, rank]), Shape([count]), Shape([rank])


@kernel("SparseSplit", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def sparse_split(split_dim: Array, indices: Array, values: Array, dense_shape: Array, *, num_split: int) -> Any:
    """Split a sparse tensor along a dimension into parts whose sizes differ by at most 1."""
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
    # The first parts are the larger ones.
    sizes = np.full(num_split, size // num_split) + (np.arange(num_split) < size % num_split)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    parts = [_sliced(indices, values, axis, start, length) for start, length in zip(starts, sizes)]
    return [p[0] for p in parts], [p[1] for p in parts], [_with_dim(dense_shape, axis, n) for n in sizes]


def _with_dim(dims: Array, axis: int, size: Array) -> Array:
    result = dims.copy()
    result[axis] = size
    return result


def _sliced(indices: Array, values: Array, axis: int, start: Array, length: Array) -> tuple[Array, Array]:
    is_inside = (indices[:, axis] >= start) & (indices[:, axis] < start + length)
    # A mask copies, so the indices of the input stay as they are.
    rows = indices[is_inside]
    rows[:, axis] -= start
    return rows, values[is_inside]


@shape("SparseSplit")
def sparse_split_shape(
    split_dim: TensorSpec, indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, *, num_split: int
) -> tuple[list[Shape], list[Shape], list[Shape]]:
    parts = [sparse_shapes(rank_of(indices, dense_shape)) for _ in range(num_split)]
    return [p[0] for p in parts], [p[1] for p in parts], [dense_shape.shape] * num_split


@kernel("SparseSlice", shape="n r, n, r, r, r -> k r, k, r", flops=zero_cost)
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
    is_inside = np.all((indices >= start) & (indices < start + size), axis=1)
    return indices[is_inside] - start, values[is_inside], np.maximum(np.minimum(size, dense_shape - start), 0)


gradient("SparseSlice")(by_ops("", "SparseSliceGrad dy1 0 3 y"))


@kernel("SparseSliceGrad", shape="k, n r, r, k r -> n", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("backward",))
def sparse_slice_grad(grad: Array, indices: Array, start: Array, output_indices: Array) -> Result:
    """Return the gradient of each element of the input, 0 outside the slice."""
    if np.ndim(grad) != 1 or np.ndim(indices) != 2 or np.ndim(output_indices) != 2 or np.ndim(start) != 1:
        raise InvalidArgumentError(
            f"gradient and start must be vectors, indices matrices: {np.shape(grad)}, {np.shape(start)}, {np.shape(indices)}"
        )
    if len(grad) != len(output_indices) or indices.shape[1] != output_indices.shape[1] or start.size != indices.shape[1]:
        raise InvalidArgumentError(f"{len(grad)} gradients, indices of {indices.shape} and {output_indices.shape} do not fit")
    keys, output_keys = common_keys(indices - start, output_indices)
    return taken_by_key(keys, output_keys, grad)


def taken_by_key(keys: Array, among: Array, values: Array) -> Array:
    """Return for each key the value of the equal key in `among`, 0 where none is equal."""
    result = np.zeros(len(keys), values.dtype)
    if len(among):
        order = np.argsort(among, kind="stable")
        # A key beyond the last would be out of range; it is compared with the last and found different.
        nearest = np.minimum(np.searchsorted(among[order], keys), len(among) - 1)
        hit = among[order][nearest] == keys
        result[hit] = values[order][nearest[hit]]
    return result


arrays("SparseToDense", static=(1,), sizes=(1,))(programs.to_dense)
arrays("SparseReorder")(programs.reordered)
arrays("SparseReshape")(programs.reshaped)
arrays("SparseConcat")(programs.concatenated)
onnx("SparseSlice")(programs.sliced)


@kernel("SparseFillEmptyRows", flops=zero_cost)
def sparse_fill_empty_rows(
    indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """Fill empty rows with the default at column 0; return also a mask of the filled rows, and the new place of each
    element.
    """
    if np.ndim(dense_shape) != 1 or dense_shape.size == 0:
        raise InvalidArgumentError(f"dense_shape must be a vector with elements, saw: {np.shape(dense_shape)}")
    if np.ndim(indices) != 2 or np.ndim(values) != 1 or len(indices) != len(values) or np.ndim(default_value) != 0:
        raise InvalidArgumentError(
            f"indices, values and default have the shapes {np.shape(indices)}, {np.shape(values)}, {np.shape(default_value)}"
        )
    count, rank = int(dense_shape[0]), indices.shape[1]
    if rank != dense_shape.size:
        raise InvalidArgumentError(f"dense_shape has {dense_shape.size} dimensions, indices have {rank}")
    require(count >= 0, f"Expected shape dimensions to be non-negative, got {count}")
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
    """Return (source of each output element or -1 for a filled row, mask of empty rows, target of each input element)."""
    is_empty = np.bincount(rows, minlength=count) == 0 if count else np.zeros(0, bool)
    # One stable sort by row puts the filled rows in their places and keeps the elements of a row in turn.
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
    count = merge_dims(with_rank(indices.shape, 2)[0], with_rank(values.shape, 1)[0])
    require_rank(default_value, 0, "default_value")
    sizes = dims_of(dense_shape)
    rows, columns, _ = sparse_shapes(rank_of(indices, dense_shape))
    return rows, columns, Shape([sizes[0] if sizes else None]), Shape([count])


@gradient("SparseFillEmptyRows")
def fill_empty_rows_gradient(
    g: GradientBuilder, node: Node, _indices: Output, grad: Output, _empty: Output, _map: Output
) -> Gradients:
    values, default = g.apply(f"{node.op}Grad", node.output(3), grad)
    return [None, values, None, default]


@kernel("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad", shape="n, _ -> n, ()", facts=("backward",))
def fill_empty_rows_grad(reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """Return the gradient of the values and the gradient of the default: the sum of the gradients not used by the values."""
    if np.ndim(reverse_index_map) != 1 or np.ndim(grad_values) != 1:
        raise InvalidArgumentError("reverse_index_map and grad_values must be vectors")
    places, grad = np.asarray(reverse_index_map), np.asarray(grad_values)
    if places.size and (places.min() < 0 or places.max() >= grad.size):
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {grad.size}) but got {places.tolist()[:10]}")
    # By a mask and not by a difference of two sums, which would cancel.
    rest = np.ones(grad.size, bool)
    rest[places] = False
    return grad[places], np.sum(grad[rest], dtype=grad.dtype)


@flops("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad_flops(reverse_index_map: TensorSpec, grad_values: TensorSpec) -> Cost:
    """The sum of the gradients not used by the values."""
    return Cost(flops=grad_values.shape.num_elements - reverse_index_map.shape.num_elements)


without_gradient("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad")
onnx("SparseFillEmptyRows")(programs.filled_rows)
arrays("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")(programs.filled_rows_gradient)
