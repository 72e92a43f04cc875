"""Gathering rows by index and scattering them; partition and stitch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients, IndexedSlices
from ..dims import Dim, DimLike
from ..errors import InvalidArgumentError, UnimplementedError
from ..graph import Node, Output
from ..numerics.grouping import update_rows
from ..registry import Cost, facts, flops, gradient, kernel, not_differentiable, shape, zero_flops
from ..shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ._checks import require_rank
from ._shapes import ints, normalize_axis, scalar_int, scalar_of, shape_from, unknown_dims


@kernel("GatherV2")
def gather(params: Array, indices: Array, axis: Any, *, batch_dims: int) -> Result:
    """Slices of `params` along an axis, in the order of `indices`; leading `batch_dims` dimensions go together."""
    params, indices = np.asarray(params), np.asarray(indices)
    if np.ndim(axis) != 0:
        raise InvalidArgumentError(f"axis must be scalar, not of shape {Shape(np.shape(axis))}")
    axis, batch_dims = _gather_dims(params.ndim, indices.ndim, scalar_int(axis, "axis"), batch_dims)
    if indices.dtype == object:
        raise UnimplementedError("symbolic dimensions cannot be indices")
    if batch_dims == 0:
        shape_ = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
        if 0 in shape_:
            return np.zeros(shape_, params.dtype)
        _check_range(indices, params.shape[axis])
        if params.dtype == object:
            return params[(*[slice(None)] * axis, indices, ...)]  # type: ignore[arg-type]
        return np.take(params, indices, axis)
    _check_range(indices, params.shape[axis])
    return _batch_gather(params, indices, axis, batch_dims)


def _batch_gather(params: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    batch = params.shape[:batch_dims]
    if indices.shape[:batch_dims] != batch:
        raise InvalidArgumentError(f"params.shape{batch} and indices.shape{indices.shape[:batch_dims]} differ in their batch")
    outer, inner = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    count = math.prod(batch)
    grouped = params.reshape(count, math.prod(outer), params.shape[axis], math.prod(inner))
    flat = indices.reshape(count, math.prod(indices.shape[batch_dims:]))
    taken = grouped[np.arange(count)[:, None], :, flat]
    return taken.transpose(0, 2, 1, 3).reshape(*batch, *outer, *indices.shape[batch_dims:], *inner)


def _check_range(indices: Array, size: int, name: str="indices") -> None:
    """InvalidArgumentError for an index outside of [0, size)."""
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        place = np.unravel_index(np.flatnonzero((indices < 0).ravel() | (indices >= size).ravel())[0], indices.shape)
        where = ",".join(map(str, place))
        raise InvalidArgumentError(f"{name}[{where}] = {int(indices[place])} is not in [0, {size})")


def _gather_dims(params_rank: int, indices_rank: int, axis: int, batch_dims: int) -> tuple[int, int]:
    """Non-negative axis and batch_dims; InvalidArgumentError where they do not fit the ranks."""
    if params_rank < 1:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    axis = normalize_axis(axis, params_rank)
    if not -indices_rank <= batch_dims <= indices_rank:
        raise InvalidArgumentError(f"Expected batch_dims in the range [-{indices_rank}, {indices_rank}], but got {batch_dims}")
    batch_dims += indices_rank if batch_dims < 0 else 0
    if batch_dims >= params_rank:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be less than rank(params) ({params_rank})")
    if axis < batch_dims:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    return axis, batch_dims


@shape("GatherV2")
def gather_shape(params: TensorSpec, indices: TensorSpec, axis: TensorSpec, *, batch_dims: int) -> Shape:
    require_rank(axis, 0, "axis")
    position = scalar_of(axis)
    if params.rank is None or indices.rank is None:
        return UNKNOWN
    if position is None:
        return unknown_dims(params.rank - 1 + indices.rank - (batch_dims + indices.rank if batch_dims < 0 else batch_dims))
    position, batch_dims = _gather_dims(params.rank, indices.rank, position, batch_dims)
    batch = merge_shapes(params.shape[:batch_dims], indices.shape[:batch_dims])
    return batch + params.shape[batch_dims:position] + indices.shape[batch_dims:] + params.shape[position + 1 :]


@gradient("GatherV2")
def gather_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Along axis 0 the rows that were touched, otherwise a sum by index; batches get distinct index ranges."""
    params, indices, axis = node.inputs
    batch_dims = node.attr("batch_dims")
    if batch_dims == 0 and axis.node.is_constant and not axis.node.attr("value").numpy():
        return [_row_gradient(g, params, indices, grad), None, None]
    return [_axis_gradient(g, params, indices, axis, batch_dims, grad), None, None]


zero_flops("GatherV2")
facts("shape_arithmetic", of=("GatherV2",))


def _axis_gradient(g: GradientBuilder, params: Output, indices: Output, axis: Output, batch_dims: int, grad: Output) -> Output:
    """Transposes the gradient to (batch, indices, outer, inner) and sums by index into (batch, size, outer, inner)."""
    one, zero = g.constant(1), g.constant(0)
    axis = axis if axis.base_dtype is dtypes.int32 else g.Cast(axis, DstT="int32")
    axis = g.SelectV2(g.Less(axis, zero), g.AddV2(axis, g.Rank(params)), axis)
    index_rank = g.Rank(indices)
    batch = g.constant(batch_dims) if batch_dims >= 0 else g.AddV2(g.constant(batch_dims), index_rank)
    source, index_shape = g.shape_of(params), g.shape_of(indices)
    part = _slicer(g, source)
    size = part(axis, g.AddV2(axis, one))
    batch_shape, outer, inner = part(zero, batch), part(batch, axis), part(g.AddV2(axis, one), None)
    inner_index = _slicer(g, index_shape)(batch, None)
    groups, count = g.Prod(batch_shape, [0], keep_dims=True), g.Prod(inner_index, [0], keep_dims=True)
    before, after = g.Prod(outer, [0], keep_dims=True), g.Prod(inner, [0], keep_dims=True)
    moved = g.Transpose(g.Reshape(grad, g.ConcatV2([groups, before, count, after], 0)), [0, 2, 1, 3])
    total = g.Mul(groups, size)
    offsets = g.Mul(g.Range(zero, g.Reshape(groups, []), one), g.Reshape(size, []))
    ids = g.AddV2(g.Reshape(indices, g.ConcatV2([groups, count], 0)), _like(g, g.ExpandDims(offsets, 1), indices))
    summed = g.UnsortedSegmentSum(moved, ids, g.Reshape(total, []))
    blocks = g.ConcatV2([groups, size, before, after], 0)
    return g.Reshape(g.Transpose(g.Reshape(summed, blocks), [0, 2, 1, 3]), source)


def _like(g: GradientBuilder, x: Output, other: Output) -> Output:
    return x if x.base_dtype is other.base_dtype else g.Cast(x, DstT=other.base_dtype)


def _slicer(g: GradientBuilder, vector: Output) -> Callable[..., Any]:
    """A function that takes `vector[start:stop]` for scalar tensors; a stop of None is the end."""

    def part(start: Output, stop: Output | None) -> Output:
        begin = g.Reshape(start, [1])
        end = begin if stop is None else g.Reshape(stop, [1])
        return g.StridedSlice(vector, begin, end, [1], end_mask=1 if stop is None else 0)

    return part


def _row_gradient(g: GradientBuilder, params: Output, indices: Output, grad: Output) -> IndexedSlices:
    source = g.Shape(params, out_type="int64")
    rows = g.Reshape(indices, [-1])
    inner = g.StridedSlice(source, [1], [0], [1], end_mask=1)
    values = g.Reshape(grad, g.ConcatV2([g.Cast(g.Shape(rows), DstT="int64"), inner], 0))
    return IndexedSlices(values, rows, source)


@kernel("Gather")
def gather_v1(params: Array, indices: Array) -> Result:
    """Rows of `params`."""
    return gather(params, indices, 0, batch_dims=0)


@shape("Gather")
def gather_v1_shape(params: TensorSpec, indices: TensorSpec) -> Shape:
    if params.rank == 0:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    return indices.shape + params.shape[1:]


@gradient("Gather")
def gather_v1_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_row_gradient(g, node.inputs[0], node.inputs[1], grad), None]


zero_flops("Gather")
facts("shape_arithmetic", of=("Gather",))


@kernel("GatherNd")
def gather_nd(params: Array, indices: Array, *, bad_indices_policy: str) -> Result:
    """Slices of `params` at the coordinates in the last dimension of `indices`."""
    params, indices = np.asarray(params), np.asarray(indices)
    depth = _index_depth(params.shape, indices.shape)
    if params.size == 0 and math.prod(indices.shape[:-1]):
        raise InvalidArgumentError("Requested more than 0 entries, but params is empty.")
    coordinates = np.moveaxis(indices, -1, 0)
    if bad_indices_policy == "IGNORE":
        return _gather_nd_ignoring(params, coordinates, depth)
    _check_coordinates(indices, params.shape[:depth])
    return params[(*coordinates, ...)] if depth else np.broadcast_to(params, indices.shape[:-1] + params.shape)


def _check_coordinates(indices: Array, dims: tuple[int, ...]) -> None:
    """InvalidArgumentError for an index vector that points outside of `dims`."""
    bad = _is_outside(np.moveaxis(indices, -1, 0), dims)
    if np.any(bad):
        place = np.argwhere(bad)[0]
        where, shown = ",".join(map(str, place)), indices[tuple(place)].tolist()
        raise InvalidArgumentError(f"indices[{where}] = {shown} does not index into a shape of {Shape(dims)}")


def _index_depth(dims: tuple[int, ...], index_shape: tuple[int, ...]) -> int:
    """How many leading dimensions an index vector addresses."""
    if not index_shape:
        raise InvalidArgumentError("indices must be at least a vector")
    if not dims and index_shape[-1] == 0:
        raise InvalidArgumentError("params must be at least a vector")
    if index_shape[-1] > len(dims):
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {index_shape[-1]} vs. {len(dims)}"
        )
    return index_shape[-1]


def _gather_nd_ignoring(params: Array, coordinates: Array, depth: int) -> Array:
    """Zeros where a coordinate is out of range."""
    bad = _is_outside(coordinates, params.shape[:depth])
    taken = np.array(params[tuple(np.where(bad, 0, c) for c in coordinates)])
    taken[bad] = b"" if params.dtype == object else 0
    return taken


def _is_outside(coordinates: Array, dims: tuple[int, ...]) -> Array:
    """For each index vector (coordinates first) whether it points outside of `dims`."""
    limits = np.array(dims, np.int64).reshape([-1] + [1] * (coordinates.ndim - 1))
    return np.any((coordinates < 0) | (coordinates >= limits), axis=0)


@shape("GatherNd")
def gather_nd_shape(params: TensorSpec, indices: TensorSpec) -> Shape:
    if params.rank is None or indices.rank is None or not isinstance(indices.shape[-1], int):
        return UNKNOWN
    depth = indices.shape[-1]
    if depth > params.rank:
        raise InvalidArgumentError(f"indices address {depth} dimensions of {params.shape}")
    return indices.shape[:-1] + params.shape[depth:]


@gradient("GatherNd")
def gather_nd_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    params, indices = node.inputs
    return [g.ScatterNd(indices, grad, g.Shape(params, out_type=indices.base_dtype)), None]


zero_flops("GatherNd")


@kernel("ScatterNd")
def scatter_nd(indices: Array, updates: Array, dims: Array, *, bad_indices_policy: str) -> Result:
    """Zeros of shape `dims` with `updates` added at the coordinates in `indices`."""
    target = ints(dims, "shape")
    if any(d < 0 for d in target):
        raise InvalidArgumentError(f"the shape {target} has a negative dimension")
    indices, updates = np.asarray(indices), np.asarray(updates)
    _scatter_depth(target, indices.shape, updates.shape)
    _require_room(target, indices, updates)
    result = np.full(target, b"", object) if updates.dtype == object else np.zeros(target, updates.dtype)
    return scatter_into(np.add, result, indices, updates, bad_indices_policy)


def _require_room(target: Sequence[int], indices: Array, updates: Array) -> None:
    """InvalidArgumentError where indices or updates are given, but not both, or for no elements."""
    if (indices.size or updates.size) and not (math.prod(target) and indices.size and updates.size):
        raise InvalidArgumentError(f"Indices and updates specified for empty output shape {Shape(target)}")


def _scatter_depth(dims: Sequence[int], index_shape: tuple[int, ...], update_shape: tuple[int, ...]) -> int:
    """How many dimensions an index vector addresses; InvalidArgumentError where the shapes do not fit."""
    if not index_shape:
        raise InvalidArgumentError("indices must be at least a vector")
    depth = index_shape[-1]
    wanted = (*index_shape[:-1], *dims[depth:])
    if depth > len(dims) or tuple(update_shape) != wanted:
        raise InvalidArgumentError(
            f"Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
            f"{Shape(update_shape)}, indices.shape: {Shape(index_shape)}, params_shape: {Shape(dims)}"
        )
    return depth


def scatter_into(ufunc: np.ufunc | None, target: Array, indices: Array, updates: Array, policy: str) -> Array:
    """`target`, which is written to, with `updates` applied at `indices`; None for `ufunc` replaces."""
    indices, updates = np.asarray(indices), np.asarray(updates)
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {policy}")
    depth = _scatter_depth(target.shape, indices.shape, updates.shape)
    count, width = math.prod(indices.shape[:-1]), math.prod(target.shape[depth:])
    if target.size == 0:
        if updates.size:
            raise InvalidArgumentError("Indices and updates specified for empty output")
        return target
    vectors = indices.reshape(count, depth)
    rows = updates.reshape(count, width)
    if policy == "IGNORE":
        good = ~_is_outside(vectors.T, target.shape[:depth])
        vectors, rows = vectors[good], rows[good]
    else:
        _check_coordinates(vectors, target.shape[:depth])
    flat = target.reshape(-1, width)
    places = _row_numbers(vectors, target.shape[:depth])
    if ufunc is None:
        flat[places] = rows
    else:
        update_rows(ufunc, flat, places, rows)
    return target


def _row_numbers(vectors: Array, dims: tuple[int, ...]) -> Array:
    """The flat row of each index vector."""
    places = np.zeros(len(vectors), np.int64)
    for axis, size in enumerate(dims):
        places = places * size + vectors[:, axis]
    return places


@shape("ScatterNd")
def scatter_nd_shape(indices: TensorSpec, updates: TensorSpec, dims: TensorSpec) -> Shape:
    return shape_from(dims)


@gradient("ScatterNd")
def scatter_nd_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.GatherNd(grad, node.inputs[0]), None]


@flops("ScatterNd")
def scatter_nd_flops(indices: TensorSpec, updates: TensorSpec, dims: TensorSpec) -> Cost:
    return Cost(flops=updates.shape.num_elements)


_TENSOR_SCATTERS = (
    ("TensorScatterUpdate", None),
    ("TensorScatterAdd", np.add),
    ("TensorScatterSub", np.subtract),
    ("TensorScatterMin", np.minimum),
    ("TensorScatterMax", np.maximum),
)


def _require_rows(indices: Array) -> None:
    """A single coordinate, which is a vector, TensorFlow takes for many and then finds the wrong number of updates."""
    if np.ndim(indices) == 1 and np.size(indices):
        raise InvalidArgumentError(f"indices of shape {Shape(np.shape(indices))} must be a matrix at least")


def _register_tensor_scatter(op: str, ufunc: np.ufunc | None) -> None:
    @kernel(op)
    def tensor_scatter(tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: str) -> Array:
        """A copy of `tensor` with `updates` applied at the coordinates in `indices`."""
        _require_rows(indices)
        _require_room(np.shape(tensor), indices, updates)
        rows = np.negative(updates) if ufunc is np.subtract else updates
        return scatter_into(np.add if ufunc is np.subtract else ufunc, np.array(tensor), indices, rows, bad_indices_policy)


for _op, _ufunc in _TENSOR_SCATTERS:
    _register_tensor_scatter(_op, _ufunc)


@kernel("ScatterNdNonAliasingAdd")
def scatter_nd_non_aliasing_add(tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: str) -> Result:
    """As TensorScatterAdd. Of a vector of indices TensorFlow wants one update for each, but applies the first only."""
    indices, updates = np.asarray(indices), np.asarray(updates)
    _require_room(np.shape(tensor), indices, updates)
    if indices.ndim == 1 and updates.ndim and updates.shape[0] == indices.shape[0]:
        indices, updates = indices[:1, None], updates[:1]
    _require_rows(indices)
    return scatter_into(np.add, np.array(tensor), indices, updates, bad_indices_policy)


@shape(*(op for op, _ in _TENSOR_SCATTERS), "ScatterNdNonAliasingAdd")
def tensor_scatter_shape(tensor: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> Shape:
    return tensor.shape


@gradient("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def tensor_scatter_add_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [grad, None, g.GatherNd(grad, node.inputs[1])]


@flops(*(op for op, ufunc in _TENSOR_SCATTERS if ufunc), "ScatterNdNonAliasingAdd")
def tensor_scatter_flops(tensor: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> Cost:
    return Cost(flops=updates.shape.num_elements)


@gradient("TensorScatterUpdate")
def tensor_scatter_update_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, indices, updates = node.inputs
    return [g.TensorScatterUpdate(grad, indices, g.zeros_like(updates)), None, g.GatherNd(grad, indices)]


@gradient("TensorScatterSub")
def tensor_scatter_sub_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [grad, None, g.Neg(g.GatherNd(grad, node.inputs[1]))]


@gradient("TensorScatterMin", "TensorScatterMax")
def tensor_scatter_extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes to whoever equals the result, in equal parts among all of them."""
    tensor, indices, updates = node.inputs
    result = node.output()
    dtype = grad.base_dtype
    from_updates = g.Cast(g.Equal(updates, g.GatherNd(result, indices)), DstT=dtype)
    from_tensor = g.Cast(g.Equal(tensor, result), DstT=dtype)
    claims = g.TensorScatterAdd(from_tensor, indices, from_updates)
    share = g.RealDiv(grad, claims)
    return [g.Mul(share, from_tensor), None, g.Mul(g.GatherNd(share, indices), from_updates)]


@kernel("InplaceUpdate")
def inplace_update(x: Array, i: Array, v: Array) -> Result:
    """`x` with the rows `i` replaced by those of `v`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    result[rows] = v
    return result


def _inplace_target(x: Array, i: Array, v: Array) -> tuple[Array, Array, Array]:
    """A copy of `x`, the row numbers and `v`; InvalidArgumentError where the shapes do not fit. No row is none to update."""
    x, i, v = np.asarray(x), np.asarray(i), np.asarray(v)
    if i.ndim != 1:
        raise InvalidArgumentError(f"i must be a vector. {Shape(i.shape)}")
    if x.ndim < 1 or x.ndim != v.ndim or x.shape[1:] != v.shape[1:] or i.shape[0] != v.shape[0]:
        raise InvalidArgumentError(
            f"x, i and v must agree: x of shape {Shape(x.shape)}, i of {Shape(i.shape)}, v of {Shape(v.shape)}"
        )
    if x.shape[0] == 0:
        return np.array(x), i[:0], v[:0]
    return np.array(x), np.mod(i, x.shape[0]) if i.size else i, v


@kernel("InplaceAdd")
def inplace_add(x: Array, i: Array, v: Array) -> Result:
    """`x` with the rows of `v` added at the rows `i`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    _require_numbers(x)
    update_rows(np.add, result, rows, v)
    return result


def _require_numbers(x: Array) -> None:
    if np.asarray(x).dtype.kind in "bO" and np.shape(x)[:1] != (0,):
        raise InvalidArgumentError(f"Unsupported data type: {np.asarray(x).dtype.name}")


@kernel("InplaceSub")
def inplace_sub(x: Array, i: Array, v: Array) -> Result:
    """`x` with the rows of `v` subtracted at the rows `i`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    _require_numbers(x)
    update_rows(np.add, result, rows, np.negative(v) if rows.size else v)
    return result


@shape("InplaceUpdate", "InplaceAdd", "InplaceSub")
def inplace_shape(x: TensorSpec, i: TensorSpec, v: TensorSpec) -> Shape:
    return x.shape


zero_flops("TensorScatterUpdate", "InplaceUpdate")


@flops("InplaceAdd", "InplaceSub")
def inplace_flops(x: TensorSpec, i: TensorSpec, v: TensorSpec) -> Cost:
    return Cost(flops=v.shape.num_elements)


not_differentiable("InplaceUpdate", "InplaceAdd", "InplaceSub")


@kernel("DynamicPartition")
def dynamic_partition(data: Array, partitions: Array, *, num_partitions: int) -> Sequence[Result]:
    """The slices of `data` sorted into `num_partitions` outputs by their number in `partitions`."""
    data, partitions = np.asarray(data), np.asarray(partitions)
    if data.shape[: partitions.ndim] != partitions.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {Shape(data.shape)}, "
            f"partitions.shape = {Shape(partitions.shape)}"
        )
    _check_range(partitions, num_partitions, "partitions")
    numbers = partitions.ravel()
    rows = data.reshape(numbers.size, *data.shape[partitions.ndim :])
    ends = np.cumsum(np.bincount(numbers, minlength=num_partitions))[:-1]
    return np.split(rows[np.argsort(numbers, kind="stable")], ends)


@shape("DynamicPartition")
def dynamic_partition_shape(data: TensorSpec, partitions: TensorSpec, *, num_partitions: int) -> list[Shape]:
    if data.rank is None or partitions.rank is None:
        return [UNKNOWN] * num_partitions
    merge_shapes(data.shape[: partitions.rank], partitions.shape)
    return [Shape([None]) + data.shape[partitions.rank :] for _ in range(num_partitions)]


@gradient("DynamicPartition")
def dynamic_partition_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Partitions the positions likewise and stitches the gradients back by them."""
    data, partitions = node.inputs
    prefix = g.shape_of(partitions)
    positions = g.Reshape(g.Range(0, g.Prod(prefix, [0]), 1), prefix)
    parts = g.DynamicPartition(positions, partitions, num_partitions=node.attr("num_partitions"))
    return [g.Reshape(g.ParallelDynamicStitch(list(parts), list(grads)), g.shape_of(data)), None]


zero_flops("DynamicPartition")


@kernel("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(indices: list[Array], data: list[Array]) -> Result:
    """merged[indices[m][i]] = data[m][i]; later slices win, rows that no index names are zero."""
    indices, data = [np.asarray(i) for i in indices], [np.asarray(d) for d in data]
    inner = data[0].shape[indices[0].ndim :]
    for i, (index, values) in enumerate(zip(indices, data)):
        if values.shape[: index.ndim] != index.shape or values.shape[index.ndim :] != inner:
            raise InvalidArgumentError(
                f"Need data[{i}].shape to start with indices[{i}].shape and to end with {inner}, got "
                f"data[{i}].shape = {Shape(values.shape)}, indices[{i}].shape = {Shape(index.shape)}"
            )
    flat = np.concatenate([index.ravel() for index in indices])
    count = int(flat.max()) + 1 if flat.size else 0
    if flat.size and flat.min() < 0:
        raise InvalidArgumentError(f"indices[{int(np.argmin(flat))}] = {int(flat.min())} is out of range")
    merged = np.zeros((count, *inner), data[0].dtype) if data[0].dtype != object else np.full((count, *inner), b"", object)
    for index, values in zip(indices, data):
        merged[index] = values
    return merged


@shape("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch_shape(indices: list[TensorSpec], data: list[TensorSpec]) -> TensorSpec:
    inner = UNKNOWN
    for index, values in zip(indices, data):
        if index.rank is not None and values.rank is not None:
            merge_shapes(values.shape[: index.rank], index.shape)
            inner = merge_shapes(inner, values.shape[index.rank :])
    return TensorSpec(data[0].dtype, Shape([_stitched_rows(indices)]) + inner, _stitched_dims(indices, data))


def _stitched_rows(indices: list[TensorSpec]) -> DimLike:
    """The greatest index plus one, where all indices are known."""
    places = [index.value for index in indices if index.value is not None and index.value.dtype != object]
    if len(places) < len(indices):
        return Dim.unknown()
    return max((int(place.max()) + 1 for place in places if place.size), default=0)


def _stitched_dims(indices: list[TensorSpec], data: list[TensorSpec]) -> Array | None:
    """The value where symbolic dimensions are stitched, as in the shapes that gradients of reductions build."""
    places = [index.value for index in indices if index.value is not None and index.value.dtype != object]
    values = [spec.value for spec in data if spec.value is not None]
    if len(places) < len(indices) or len(values) < len(data):
        return None
    if not any(value.dtype == object and spec.dtype.is_integer for value, spec in zip(values, data)):
        return None
    merged = np.asarray(dynamic_stitch(places, [value.astype(object) for value in values]))
    return merged if all(isinstance(item, (int, Dim)) for item in merged.ravel().tolist()) else None


@gradient("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    count = node.attr("N")
    indices = node.inputs[:count]
    return [*([None] * count), *(g.GatherV2(grad, index, 0) for index in indices)]


zero_flops("DynamicStitch", "ParallelDynamicStitch")
