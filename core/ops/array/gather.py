"""Gathering rows by index."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients, IndexedSlices
from ...graph.graph import Node, Output
from ...numerics.integers import extremes
from ...registry.registry import arrays, gradient, kernel, lower, onnx, shape, zero_cost
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes, unknown_dims
from ..shared.argument_checks import may_equal, require_rank
from ..shared.shape_arguments import normalize_axis, scalar_int, scalar_of


@kernel("GatherV2", flops=zero_cost, facts=("shape_arithmetic", "row_numbers", "bounded_by_inputs", "half_clear"))
def gather(params: Array, indices: Array, axis: Any, *, batch_dims: int) -> Result:
    """Slices of `params` along an axis, in the order of `indices`; leading `batch_dims` dimensions go together."""
    params, indices = np.asarray(params), np.asarray(indices)
    if axis.ndim:
        raise InvalidArgumentError(f"axis must be scalar, not of shape {Shape(axis.shape)}")
    axis, batch_dims = _gather_dims(params.ndim, indices.ndim, scalar_int(axis, "axis"), batch_dims)
    if indices.dtype == object:
        raise UnimplementedError("symbolic dimensions cannot be indices")
    if batch_dims == 0:
        # If the result is empty, TensorFlow checks no index: indices into an empty axis are then no error.
        if not (params.size and indices.size):
            shape_ = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
            if 0 in shape_:
                return np.zeros(shape_, params.dtype)
        check_range(indices, params.shape[axis])
        return _rows_at(params, indices, axis)
    check_range(indices, params.shape[axis])
    return _batch_gather(params, indices, axis, batch_dims)


def _batch_gather(params: Array, indices: Array, axis: int, batch_dims: int) -> Array:
    batch = params.shape[:batch_dims]
    if indices.shape[:batch_dims] != batch:
        raise InvalidArgumentError(f"params.shape{batch} and indices.shape{indices.shape[:batch_dims]} differ in their batch")
    outer, inner = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    count = math.prod(batch)
    grouped = params.reshape(count, math.prod(outer), params.shape[axis], math.prod(inner))
    flat = indices.reshape(count, math.prod(indices.shape[batch_dims:]))
    # NumPy puts the dimensions of index arrays that a slice separates in front: (batch, indices, outer, inner).
    rows = grouped[np.arange(count)[:, None], :, flat]
    return rows.transpose(0, 2, 1, 3).reshape(*batch, *outer, *indices.shape[batch_dims:], *inner)


_MOST_DIMS: Final = 64
"""Dimensions that an array of NumPy may have."""


def _rows_at(x: Array, indices: Array, axis: int) -> Array:
    """Return the slices of `x` at valid `indices`. With too many dimensions for NumPy, `np.take` would end the process."""
    if x.dtype == object or x.ndim + indices.ndim > _MOST_DIMS:
        return x[(*[slice(None)] * axis, indices, ...)]  # type: ignore[arg-type]
    return np.take(x, indices, axis)


def check_range(indices: Array, size: int, name: str = "indices") -> None:
    """Raise InvalidArgumentError for an index outside [0, size)."""
    if not indices.size:
        return
    least, greatest = extremes(indices)
    if least < 0 or greatest >= size:
        place = np.unravel_index(np.flatnonzero((indices < 0).ravel() | (indices >= size).ravel())[0], indices.shape)
        where = ",".join(map(str, place))
        raise InvalidArgumentError(f"{name}[{where}] = {int(indices[place])} is not in [0, {size})")


@functools.lru_cache(1024)
def _gather_dims(params_rank: int, indices_rank: int, axis: int, batch_dims: int) -> tuple[int, int]:
    """Non-negative axis and batch_dims; InvalidArgumentError if they do not fit the ranks."""
    if params_rank < 1:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    axis = normalize_axis(axis, params_rank)
    batch_dims = _batch_dims(batch_dims, indices_rank)
    if batch_dims >= params_rank:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be less than rank(params) ({params_rank})")
    if axis < batch_dims:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    return axis, batch_dims


def _batch_dims(batch_dims: int, indices_rank: int) -> int:
    """Return the number of batch dimensions; a negative number counts from the last dimension of the indices."""
    if not -indices_rank <= batch_dims <= indices_rank:
        raise InvalidArgumentError(f"Expected batch_dims in the range [-{indices_rank}, {indices_rank}], but got {batch_dims}")
    return batch_dims + indices_rank if batch_dims < 0 else batch_dims


@shape("GatherV2")
def gather_shape(params: TensorSpec, indices: TensorSpec, axis: TensorSpec, *, batch_dims: int) -> Shape:
    require_rank(axis, 0, "axis")
    position = scalar_of(axis)
    if params.rank is None or indices.rank is None:
        return UNKNOWN
    if position is None:
        return unknown_dims(params.rank - 1 + indices.rank - _batch_dims(batch_dims, indices.rank))
    position, batch_dims = _gather_dims(params.rank, indices.rank, position, batch_dims)
    batch = merge_shapes(params.shape[:batch_dims], indices.shape[:batch_dims])
    return batch + params.shape[batch_dims:position] + indices.shape[batch_dims:] + params.shape[position + 1 :]


@gradient("GatherV2")
def gather_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Along axis 0 the rows that were touched, otherwise a sum by index; batches get distinct index ranges."""
    params, indices, axis = node.inputs
    batch_dims = node.attr("batch_dims")
    # TensorFlow gives IndexedSlices for axis 0 only: optimizers then touch the gathered rows alone.
    if batch_dims == 0 and axis.node.is_constant and axis.node.constant_value().ravel().tolist() == [0]:
        return [_row_gradient(g, params, indices, grad), None, None]
    return [_axis_gradient(g, params, indices, axis, batch_dims, grad), None, None]


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
    # The ids of each batch follow those of the batch before, so that one segment sum serves all batches.
    offsets = g.Mul(g.Range(zero, g.Reshape(groups, []), one), g.Reshape(size, []))
    column = g.ExpandDims(offsets, 1)
    column = column if column.base_dtype is indices.base_dtype else g.Cast(column, DstT=indices.base_dtype)
    ids = g.AddV2(g.Reshape(indices, g.ConcatV2([groups, count], 0)), column)
    summed = g.UnsortedSegmentSum(moved, ids, g.Reshape(total, []))
    blocks = g.ConcatV2([groups, size, before, after], 0)
    return g.Reshape(g.Transpose(g.Reshape(summed, blocks), [0, 2, 1, 3]), source)


def _slicer(g: GradientBuilder, vector: Output) -> Callable[..., Any]:
    """Return a function that takes `vector[start:stop]` for scalar tensors; a stop of None is the end."""

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


@kernel("Gather", shape="_ x..., i... -> i... x...", flops=zero_cost, facts=("shape_arithmetic", "half_clear"))
def gather_v1(params: Array, indices: Array) -> Result:
    """Rows of `params`."""
    return gather(params, indices, np.int32(0), batch_dims=0)


@gradient("Gather")
def gather_v1_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_row_gradient(g, node.inputs[0], node.inputs[1], grad), None]


@kernel("GatherNd", flops=zero_cost, facts=("half_clear",))
def gather_nd(params: Array, indices: Array, *, bad_indices_policy: str) -> Result:
    """Slices of `params` at the coordinates in the last dimension of `indices`."""
    params, indices = np.asarray(params), np.asarray(indices)
    depth = _index_depth(params.shape, indices.shape)
    # TensorFlow refuses every index vector if params is empty, even one without numbers, which asks for all of params.
    if params.size == 0 and math.prod(indices.shape[:-1]):
        raise InvalidArgumentError("Requested more than 0 entries, but params is empty.")
    coordinates = np.moveaxis(indices, -1, 0)
    if bad_indices_policy == "IGNORE" and depth:
        return _gather_nd_ignoring(params, coordinates, depth)
    if params.size:
        row_numbers(indices, params.shape[:depth])
    return params[(*coordinates, ...)] if depth else np.broadcast_to(params, indices.shape[:-1] + params.shape)


def row_numbers(indices: Array, dims: tuple[int, ...]) -> Array:
    """Return the row number of each index vector; InvalidArgumentError for an index vector outside `dims`."""
    if not dims:
        return np.zeros(indices.shape[:-1], np.int64)
    try:
        return np.ravel_multi_index(tuple([indices[..., axis] for axis in range(len(dims))]), dims)
    # NumPy tells that an index is out of range, but not which one.
    except ValueError:
        outside = np.argwhere(is_outside(np.moveaxis(indices, -1, 0), dims))
    if not len(outside):  # NumPy indexes with one dimension less than arrays can have
        return indices.astype(np.int64) @ np.array([math.prod(dims[axis + 1 :]) for axis in range(len(dims))], np.int64)
    where, shown = ",".join(map(str, outside[0])), indices[tuple(outside[0])].tolist()
    raise InvalidArgumentError(f"indices[{where}] = {shown} does not index into a shape of {Shape(dims)}")


def _index_depth(dims: tuple[int, ...], index_shape: tuple[int, ...]) -> int:
    """Return the number of leading dimensions that an index vector addresses."""
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
    bad = is_outside(coordinates, params.shape[:depth])
    rows = np.array(params[tuple(np.where(bad, 0, c) for c in coordinates)])
    rows[bad] = b"" if params.dtype == object else 0
    return rows


def is_outside(coordinates: Array, dims: tuple[int, ...]) -> Array:
    """Return True for each index vector (coordinates first) outside `dims`."""
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
    policy = node.attr("bad_indices_policy")
    # ScatterNd takes the indices and the shape in a single dtype.
    return [g.ScatterNd(indices, grad, g.Shape(params, out_type=indices.base_dtype), bad_indices_policy=policy), None]


# Two forms: ONNX's operator takes tensors of unknown rank, whose sizes a program would have to ask for to check the indices.
@lower("GatherV2", static=(2,))
def _gather_v2_lowering(xla: Any, params: Any, indices: Any, axis: Array, *, batch_dims: int) -> Any:
    place, batch_dims = _gather_dims(params.ndim, indices.ndim, int(axis), batch_dims)
    return _taken_in_batches(xla, params, indices, place, batch_dims) if batch_dims else _taken(xla, params, indices, place)


@onnx("GatherV2")
def _gather_v2_onnx(g: Any, params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    if not batch_dims:
        return g.Gather(params, indices, axis=g.axis(axis, params.rank))
    batch = batch_dims % max(g.rank(indices), 1)
    place = g.axis(axis, g.rank(params))
    return g.evaluate(_taken_in_batches, (), (), (params, indices), {"place": place, "batch_dims": batch})


def _taken_in_batches(xp: Any, params: Any, indices: Any, place: int, batch_dims: int) -> Any:
    """Gather with all batch dimensions flattened: the indices of each batch are offset by the start of its rows."""
    batch, outer, inner = params.shape[:batch_dims], params.shape[batch_dims:place], params.shape[place + 1 :]
    if not may_equal(indices.shape[:batch_dims], batch):
        raise InvalidArgumentError(f"{params.shape} and {indices.shape} differ in their batch")
    size, count, rest = params.shape[place], math.prod(batch), indices.shape[batch_dims:]
    # XLA clips indices that are out of range, so that the error is left to NumPy.
    xp.require(((indices >= 0) & (indices < size)).all())
    order = [*range(batch_dims), place, *range(batch_dims, place), *range(place + 1, params.ndim)]
    rows = xp.reshape(xp.transpose(params, order), (count * size, *outer, *inner))
    starts = xp.arange(count)[:, None] * size
    numbers = xp.reshape(indices, (count, math.prod(rest))).astype(starts.dtype) + starts
    taken = xp.take(rows, xp.reshape(numbers, (count * math.prod(rest),)), 0, mode="clip")
    taken = xp.reshape(taken, (*batch, *rest, *outer, *inner))
    behind = range(indices.ndim, indices.ndim + len(outer))
    return xp.transpose(
        taken, [*range(batch_dims), *behind, *range(batch_dims, indices.ndim), *range(behind.stop, taken.ndim)]
    )


@arrays("Gather")
def _taken(xp: Any, params: Any, indices: Any, axis: int = 0) -> Any:
    """The slices at indices that are there."""
    xp.require(((indices >= 0) & (indices < params.shape[axis])).all())
    return xp.take(params, indices, axis, mode="clip")


def flat_places(xla: Any, indices: Any, dims: tuple[int, ...], policy: str) -> Any:
    """Return the row number of each index vector; beyond the last row where a policy ignores a vector outside `dims`."""
    limits, rows = np.array(dims, indices.dtype), math.prod(dims)
    is_inside = ((indices >= 0) & (indices < limits)).all(-1)
    if policy != "IGNORE":
        xla.require(is_inside.all())
    steps = [math.prod(dims[axis + 1 :]) for axis in range(len(dims))]
    places = sum((indices[..., axis] * step for axis, step in enumerate(steps)), xla.zeros(indices.shape[:-1], indices.dtype))
    # JAX fills rows beyond the last one with zeros (mode="fill") or drops updates to them.
    return xla.where(is_inside, places, rows)


# XLA gathers rows by their numbers, which takes any policy; ONNX's operator takes index vectors, and sizes that only the run
# knows.
@lower("GatherNd")
def _gather_nd_lowering(xla: Any, params: Any, indices: Any, *, bad_indices_policy: str) -> Any:
    depth = _index_depth(params.shape, indices.shape)
    if not params.size and math.prod(indices.shape[:-1]):
        raise InvalidArgumentError("Requested more than 0 entries, but params is empty.")
    places = flat_places(xla, indices, params.shape[:depth], bad_indices_policy)
    flat = params.reshape(-1, *params.shape[depth:]) if params.size else params.reshape(0, *params.shape[depth:])
    return xla.take(flat, places, 0, mode="fill", fill_value=0)


@onnx("GatherNd")
def _gather_nd_onnx(g: Any, params: Any, indices: Any, *, bad_indices_policy: str) -> Any:
    """Indices without numbers name the whole."""
    if bad_indices_policy == "IGNORE":
        g.refuse("ONNX leaves out no index")
    if indices.shape.dims and indices.shape.dims[-1] == 0:
        return g.Expand(params, g.joined(g.slice(g.dims(indices), 0, -1), g.dims(params)))
    return g.GatherND(params, g.cast(indices, dtypes.int64))
