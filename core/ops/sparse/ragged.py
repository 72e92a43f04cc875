"""Ragged tensors: values with row splits, converted to dense, sparse and variant tensors, gathered and made from ranges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import NOT_DIFFERENTIABLE, Cost, flops, gradient, kernel, onnx, shape, zero_cost
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_dims, merge_shapes, shape_from, unknown_dims
from ..array.sorting import lower_bound_arrays, upper_bound_arrays
from ..shared.argument_checks import require, require_min_rank, require_rank, with_rank
from ..shared.onnx_lowerings import iota
from ..shared.shape_arguments import scalar_int
from ..shared.sparse_tensors import sparse_shapes
from .sparse import fill_empty_rows_gradient, sparse_fill_empty_rows


def _check_splits(splits: Array, count: int) -> None:
    """Raise InvalidArgumentError unless the splits begin at 0, never descend and end at `count`."""
    if np.ndim(splits) != 1 or splits.size == 0:
        raise InvalidArgumentError(f"ragged splits must be a vector with elements, not of shape {Shape(np.shape(splits))}")
    if splits[0] != 0:
        raise InvalidArgumentError("First value of ragged splits must be 0.")
    if np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"Ragged splits should be non decreasing: {splits.tolist()[:10]}")
    if splits[-1] != count:
        raise InvalidArgumentError(f"Ragged splits must end at the number of values, {count}, not at {int(splits[-1])}")


def check_nested(nested: list[Array], values: Array) -> None:
    """The splits of every level fit the next."""
    if np.ndim(values) < 1:
        raise InvalidArgumentError("flat values of a ragged tensor must have a rank of at least 1")
    # The splits of a level end at the number of rows of the next, the innermost at the number of values.
    for splits, inner in zip(nested, [*(np.size(s) - 1 for s in nested[1:]), len(values)]):
        _check_splits(splits, inner)


@kernel("RaggedRange", gradient=NOT_DIFFERENTIABLE)
def ragged_range(starts: Array, limits: Array, deltas: Array, *, Tsplits: DType) -> tuple[Result, Result]:
    """Return the ranges from starts to limits in steps of deltas, a row for each; scalars serve all rows."""
    inputs = [np.asarray(v) for v in (starts, limits, deltas)]
    for name, value in zip(("starts", "limits", "deltas"), inputs):
        if value.ndim > 1:
            raise InvalidArgumentError(f"{name} must be a scalar or vector")
    sizes = {value.size for value in inputs if value.ndim}
    if len(sizes) > 1:
        raise InvalidArgumentError("starts, limits, and deltas must have the same shape")
    dtype = inputs[0].dtype
    # The difference of two int32 limits may not fit into int32; floats keep their dtype, since TensorFlow counts in it.
    wide = np.int64 if dtype.kind == "i" else dtype
    first, last, step = (np.broadcast_to(v.astype(wide), (max(sizes, default=1),)) for v in inputs)
    if np.any(step == 0):
        raise InvalidArgumentError("Requires delta != 0")
    lengths = _range_lengths(first, last, step)
    # In floats, since the sum of int64 lengths may wrap around; and before anything of that size is made.
    total = math.fsum(lengths.tolist())
    require(total < 2.0**63, f"the ranges have {total:g} numbers together")
    reserve(16 * int(total))
    splits = np.concatenate([[0], np.cumsum(lengths)])
    values = _products if dtype.kind == "i" else _running_sums
    return splits.astype(Tsplits.numpy), values(first, step, lengths, splits).astype(dtype)


def _products(first: Array, step: Array, lengths: Array, splits: Array) -> Array:
    places = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
    return np.repeat(first, lengths) + places * np.repeat(step, lengths)


def _running_sums(first: Array, step: Array, lengths: Array, splits: Array) -> Array:
    """Return the ranges of floats. TensorFlow adds the step again and again here, and rounds each sum; Range multiplies."""
    values = np.repeat(step, lengths)
    # The start of each range that has one, then steps: their running sums are the range.
    values[splits[:-1][lengths > 0]] = first[lengths > 0]
    for start, end in itertools.pairwise(splits.tolist()):
        np.add.accumulate(values[start:end], out=values[start:end])
    return values


def _range_lengths(first: Array, last: Array, step: Array) -> Array:
    """Return the number of elements of each range; of floats, TensorFlow computes the number in their dtype."""
    if first.dtype != np.int64:
        lengths = np.maximum(np.ceil((last - first) / step), 0)
        if not np.all(lengths < 2.0**63):
            raise InvalidArgumentError(f"Requires ((limit - start) / delta) <= {2**63 - 1}")
        return lengths.astype(np.int64)
    if np.any(np.abs(last.astype(float) - first) >= 2.0**62):  # a difference of int64 might wrap around
        first, last, step = (value.astype(object) for value in (first, last, step))
    # The quotient rounded up, as the negative of the negative rounded down.
    lengths = np.maximum(-((first - last) // step), 0)
    if np.any(lengths >= 2**63):
        raise InvalidArgumentError(f"Requires ((limit - start) / delta) <= {2**63 - 1}")
    return lengths.astype(np.int64)


@shape("RaggedRange")
def ragged_range_shape(starts: TensorSpec, limits: TensorSpec, deltas: TensorSpec) -> tuple[Shape, Shape]:
    lengths = [spec.shape[0] for spec in (starts, limits, deltas) if spec.rank == 1]
    is_scalar = all(spec.rank == 0 for spec in (starts, limits, deltas))
    rows = 2 if is_scalar else lengths[0] + 1 if lengths else None
    return Shape([rows]), Shape([None])


@flops("RaggedRange")
def ragged_range_flops(*, outputs: list[TensorSpec]) -> Cost:
    """A product and a sum for each number."""
    return Cost(flops=2 * outputs[1].shape.num_elements)


@onnx("RaggedRange")
def _ragged_range_onnx(g: Any, starts: Any, limits: Any, deltas: Any, *, Tsplits: DType) -> tuple[Any, Any]:
    """Number all elements and derive each from its range; the row splits before an element count its range.

    A float is a product, not TensorFlow's running sum: ONNX's operator has running sums of a whole axis, not of a row. As a
    product in float64 it is the nearer to the exact number.
    """
    dtype = starts.dtype
    wide = dtypes.float64 if dtype.is_floating else dtypes.int64
    first, last, step = (g.reshape(value, -1) for value in (starts, limits, deltas))
    if not dtype.is_floating:
        first, last, step = (g.cast(value, wide) for value in (first, last, step))
    lengths = g.Max(_range_lengths_onnx(g, g.Sub(last, first), step), 0)
    first, step = (g.Expand(g.cast(value, wide), g.dims(lengths)) for value in (first, step))
    ends = g.CumSum(lengths, g.constant(np.int64(0)))
    splits = g.Concat([0], ends, axis=0)
    count = g.reshape(g.slice(splits, -1, np.iinfo(np.int64).max), [])
    places = iota(g, count)
    rows = _searched_onnx(g, upper_bound_arrays, ends, places)
    within = g.cast(g.Sub(places, g.Gather(splits, rows)), wide)
    values = g.Add(g.Gather(first, rows), g.Mul(within, g.Gather(step, rows)))
    return g.cast(splits, Tsplits), g.cast(values, dtype)


def _searched_onnx(g: Any, bound: Callable[..., Any], row: Any, values: Any) -> Any:
    """Return the bounds of values in a sorted vector, int64."""
    places = g.evaluate(bound, (), (), [g.unsqueeze(row, 0), g.unsqueeze(values, 0)], {})
    return g.cast(g.squeeze(places, 0), dtypes.int64)


def _range_lengths_onnx(g: Any, distance: Any, step: Any) -> Any:
    """Return the quotient rounded up. ONNX rounds an integer quotient towards zero, so a remainder adds 1."""
    if distance.dtype.is_floating:
        return g.cast(g.Ceil(g.Div(distance, step)), dtypes.int64)
    whole = g.Div(distance, step)
    rest = g.Sub(distance, g.Mul(whole, step))
    is_more = g.And(g.Not(g.Equal(rest, 0)), g.Equal(g.Less(rest, 0), g.Less(step, 0)))
    return g.Add(whole, g.cast(is_more, dtypes.int64))


@kernel("RaggedTensorToSparse", flops=zero_cost)
def ragged_tensor_to_sparse(nested: list[Array], values: Array) -> tuple[Result, Result, Result]:
    """The values with the index of each, and the dense shape that holds all rows."""
    check_nested(nested, values)
    columns = [np.arange(nested[0].size - 1)]
    dims = [nested[0].size - 1]
    for splits in nested:
        lengths = np.diff(splits)
        columns = [np.repeat(column, lengths) for column in columns]
        # The place of each value in its row: its number less that of the row's first value.
        columns.append(np.arange(splits[-1]) - np.repeat(splits[:-1], lengths))
        dims.append(int(lengths.max()) if lengths.size else 0)
    inner = values.shape[1:]
    count = math.prod(inner)
    indices = np.repeat(np.column_stack(columns), count, axis=0).astype(np.int64)
    # Each value may itself be a tensor, whose elements all become elements of the sparse tensor.
    tail = np.stack(np.unravel_index(np.arange(count), inner), 1) if inner else np.zeros((1, 0), np.int64)
    indices = np.concatenate([indices, np.tile(tail, (len(values), 1))], 1)
    return indices, values.ravel(), np.array([*dims, *inner], np.int64)


@shape("RaggedTensorToSparse")
def ragged_tensor_to_sparse_shape(nested: list[TensorSpec], values: TensorSpec) -> tuple[Shape, ...]:
    indices, _, rank = sparse_shapes(None if values.rank is None else values.rank + len(nested))
    # An element of the flat values is an element of the sparse tensor.
    return (merge_shapes(indices, Shape([values.shape.num_elements, None])), Shape([values.shape.num_elements]), rank)


@gradient("RaggedTensorToSparse")
def ragged_tensor_to_sparse_gradient(
    g: GradientBuilder, node: Node, _indices: Output, grad: Output, _shape: Output
) -> Gradients:
    values = node.inputs[-1]
    return [*([None] * (len(node.inputs) - 1)), g.Reshape(grad, g.shape_of(values))]


@kernel("RaggedTensorToTensor", flops=zero_cost)
def ragged_tensor_to_tensor(
    dims: Array, values: Array, default_value: Array, partitions: list[Array], *, row_partition_types: list[str]
) -> Result:
    """Pad the rows with the default value to a common length; dimensions fixed by `dims` cut or lengthen rows."""
    require_min_rank(values, 1, "values")
    has_size = row_partition_types[:1] == ["FIRST_DIM_SIZE"]
    if len(row_partition_types) != len(partitions) or (not has_size and row_partition_types[0] != "ROW_SPLITS"):
        raise InvalidArgumentError(f"Cannot handle the row partitions {row_partition_types}")
    if any(np.size(p) == 0 for p in partitions[:1]):
        raise InvalidArgumentError("Invalid first partition input. Tensor requires at least one element.")
    first = scalar_int(partitions[0], "the first dimension") if has_size else np.size(partitions[0]) - 1
    levels = list(zip(row_partition_types, partitions))[int(has_size) :]
    rows = [_parents(kind, np.asarray(partition)) for kind, partition in levels]
    size = _output_size(dims, values, first, rows)
    # -1 marks what a given dimension cuts off, with all that lies below it.
    index = np.where(np.arange(first) < size[0], np.arange(first), -1)
    for (parents, places), width in zip(rows, size[1:]):
        if parents.size and parents.max() >= index.size:
            raise InvalidArgumentError(f"a row of {int(parents.max())} is not less than {index.size}")
        above = index[parents]
        # Level by level, the place of a child among all children of the result.
        index = np.where((above >= 0) & (places < width), above * width + places, -1)
    return _filled(size, values, default_value, index, len(levels))


def _filled(size: list[int], values: Array, default_value: Array, index: Array, levels: int) -> Array:
    if index.size > len(values):
        raise InvalidArgumentError(f"the row partitions name {index.size} values, but the tensor has {len(values)}")
    inner = size[levels + 1 :]
    try:
        default = np.broadcast_to(default_value, inner)
    except ValueError:
        raise InvalidArgumentError(
            f"default_value of shape {Shape(np.shape(default_value))} does not fit values of {inner}"
        ) from None
    result = np.empty((math.prod(size[: levels + 1]), *inner), values.dtype)
    result[...] = default
    is_inside = index >= 0
    # TensorFlow lets the partitions name fewer values than there are.
    result[index[is_inside]] = values[: index.size][is_inside]
    return result.reshape(size)


def _output_size(dims: Array, values: Array, first: int, rows: Sequence[tuple[Array, ...]]) -> list[int]:
    """Return the dimensions of the result: as given, otherwise as the longest row needs."""
    inner = values.shape[1:]
    rank = len(rows) + values.ndim
    if np.ndim(dims) == 0:
        if dims != -1:
            raise InvalidArgumentError(f"shape must be a vector or -1, not {int(dims)}")
        sizes = [-1] * rank
    else:
        sizes = np.asarray(dims).tolist()
    if len(sizes) != rank or any(d < -1 for d in sizes):
        raise InvalidArgumentError(f"rt_input.shape and shape={sizes} are incompatible: rt_input.rank = {rank}")
    widths = [first, *(int(places.max()) + 1 if places.size else 0 for _, places in rows)]
    for want, have in zip(sizes[len(widths) :], inner):
        if want not in (-1, have):
            raise InvalidArgumentError(f"rt_input.shape and shape={sizes} are incompatible: {want} but values have {have}")
    return [have if want == -1 else want for want, have in zip(sizes, [*widths, *inner])]


def _parents(kind: str, partition: Array) -> tuple[Array, Array]:
    """(row, place in the row) of each child."""
    if kind == "ROW_SPLITS":
        if partition.ndim != 1 or partition.size == 0 or partition[0] != 0 or np.any(partition[1:] < partition[:-1]):
            raise InvalidArgumentError(f"Invalid row split size: {partition.tolist()}")
        lengths = np.diff(partition)
        return np.repeat(np.arange(lengths.size), lengths), np.arange(partition[-1]) - np.repeat(partition[:-1], lengths)
    if kind != "VALUE_ROWIDS" or partition.ndim != 1 or (partition.size and partition.min() < 0):
        raise InvalidArgumentError(f"Cannot handle partition type {kind} of shape {Shape(partition.shape)}")
    # Row ids need not cover all rows, but equal ones are together.
    starts = np.flatnonzero(np.concatenate([[True], partition[1:] != partition[:-1]])) if partition.size else np.zeros(0, int)
    lengths = np.diff(np.append(starts, partition.size))
    return partition, np.arange(partition.size) - np.repeat(starts, lengths)


@shape("RaggedTensorToTensor")
def ragged_tensor_to_tensor_shape(
    dims: TensorSpec,
    values: TensorSpec,
    default_value: TensorSpec,
    partitions: list[TensorSpec],
    *,
    row_partition_types: list[str],
) -> Shape:
    declared = shape_from(dims) if dims.rank != 0 else UNKNOWN
    if values.rank is None:
        return declared
    levels = len(partitions) - int(row_partition_types[:1] == ["FIRST_DIM_SIZE"])
    return merge_shapes(declared, unknown_dims(levels + 1) + values.shape[1:])


@gradient("RaggedTensorToTensor")
def ragged_tensor_to_tensor_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Find the place of each value by a ragged tensor of the values' numbers; 0 marks the default's places."""
    _, values, default = node.inputs[:3]
    count = g.StridedSlice(g.shape_of(values), [0], [1], [1], shrink_axis_mask=1)
    # From 1 on, since 0 fills the places of the default.
    numbers = g.Range(1, g.AddV2(count, 1), 1)
    types = node.attr("row_partition_types")
    levels = len(types) - int(types[:1] == [b"FIRST_DIM_SIZE"])
    dims = g.StridedSlice(g.shape_of(grad), [0], [levels + 1], [1], begin_mask=1)
    origin = g.Reshape(g.RaggedTensorToTensor(dims, numbers, 0, list(node.inputs[3:]), row_partition_types=types), [-1])
    inner = g.StridedSlice(g.shape_of(values), [1], [0], [1], end_mask=1)
    rows = g.Reshape(grad, g.ConcatV2([g.Shape(origin), inner], 0))
    sums = g.UnsortedSegmentSum(rows, origin, g.AddV2(count, 1))
    rest = g.StridedSlice(sums, [0], [1], [1], shrink_axis_mask=1)
    return [
        None,
        g.StridedSlice(sums, [1], [0], [1], end_mask=1),
        g.reduce_to(rest, default, rest),
        *([None] * (len(node.inputs) - 3)),
    ]


@onnx("RaggedTensorToTensor")
def _ragged_tensor_to_tensor_onnx(
    g: Any, dims: Any, values: Any, default_value: Any, partitions: list[Any], *, row_partition_types: list[str]
) -> Any:
    """Put each value into its place; what lies outside goes into an additional last row, the place -1, which is cut off."""
    has_size = row_partition_types[:1] == ["FIRST_DIM_SIZE"]
    levels = [(kind, g.cast(part, dtypes.int64)) for kind, part in zip(row_partition_types, partitions)]
    first = g.reshape(levels[0][1], []) if has_size else g.Sub(g.reshape(g.dims(levels[0][1]), []), 1)
    rows = [_parents_onnx(g, kind, partition) for kind, partition in levels[int(has_size) :]]
    # The -1 makes the width of no places 0, as ONNX leaves the maximum of nothing open.
    widths = [first, *(g.Add(g.ReduceMax(g.Concat([-1], places, axis=0), keepdims=0), 1) for _, places in rows)]
    if g.rank(dims):
        given = [g.reshape(g.slice(g.cast(dims, dtypes.int64), i, i + 1), []) for i in range(len(widths))]
        widths = [g.Where(g.Equal(want, -1), have, want) for want, have in zip(given, widths)]
    numbers = iota(g, first)
    index = g.Where(g.Less(numbers, widths[0]), numbers, -1)
    for (parents, places), width in zip(rows, widths[1:]):
        above = g.Gather(index, parents)
        is_inside = g.And(g.Not(g.Less(above, 0)), g.Less(places, width))
        index = g.Where(is_inside, g.Add(g.Mul(above, width), places), -1)
    inner = g.slice(g.dims(values), 1, np.iinfo(np.int64).max)
    outer = g.Concat(*(g.reshape(width, [1]) for width in widths), axis=0)
    count = g.ReduceProd(outer, keepdims=1)
    blank = g.Expand(default_value, g.Concat(g.Add(count, 1), inner, axis=0))
    used = g.Gather(values, iota(g, g.reshape(g.dims(index), [])))
    filled = g.ScatterND(blank, g.unsqueeze(index, 1), used)
    return g.Reshape(g.slice(filled, 0, -1), g.Concat(outer, inner, axis=0), allowzero=1)


def _parents_onnx(g: Any, kind: str, partition: Any) -> tuple[Any, Any]:
    """Return (row, place in the row) of each child."""
    if kind == "VALUE_ROWIDS":
        starts = _searched_onnx(g, lower_bound_arrays, partition, partition)
        return partition, g.Sub(iota(g, g.reshape(g.dims(partition), [])), starts)
    ends = g.slice(partition, 1, np.iinfo(np.int64).max)
    places = iota(g, g.reshape(g.slice(partition, -1, np.iinfo(np.int64).max), []))
    # The first row that ends behind a value has it; an empty row ends where it begins, and is passed over.
    parents = _searched_onnx(g, upper_bound_arrays, ends, places)
    return parents, g.Sub(places, g.Gather(partition, parents))


@kernel("RaggedGather", flops=zero_cost)
def ragged_gather(nested: list[Array], values: Array, indices: Array) -> Any:
    """Return rows of a ragged tensor in the order of `indices`, whose outer dimensions become uniform levels."""
    if np.ndim(values) < 1 or any(np.ndim(s) != 1 or np.size(s) == 0 for s in nested):
        raise InvalidArgumentError("ragged splits must be vectors with elements, values of rank 1 at least")
    if any(s[0] < 0 or np.any(s[1:] < s[:-1]) for s in nested):
        raise InvalidArgumentError("Ragged splits must be sorted in ascending order and not negative")
    for splits, inner in zip(nested, [*(s.size - 1 for s in nested[1:]), len(values)]):
        if splits[-1] > inner:
            raise InvalidArgumentError("Ragged splits must not point past values")
    dtype = nested[0].dtype
    dims, rows = np.shape(indices), np.ravel(indices).astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= nested[0].size - 1):
        raise InvalidArgumentError(f"indices {rows.tolist()[:10]} are not all in [0, {nested[0].size - 1})")
    outer = [np.arange(math.prod(dims[:d]) + 1, dtype=dtype) * dims[d] for d in range(1, len(dims))]
    for splits in nested:
        lengths = splits[rows + 1] - splits[rows]
        # The rows of the next level are ranges in the old numbers, laid end to end in the new.
        made = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(splits[rows] - made[:-1], lengths) + np.arange(made[-1])
        outer.append(made.astype(dtype))
    # A scalar index takes a row, whose outermost level is gone.
    return outer if dims else outer[1:], values[rows]


@shape("RaggedGather")
def ragged_gather_shape(nested: list[TensorSpec], values: TensorSpec, *, OUTPUT_RAGGED_RANK: int) -> tuple[Any, Any]:
    return [Shape([None]) for _ in range(OUTPUT_RAGGED_RANK)], Shape([None]) + values.shape[1:]


@gradient("RaggedGather")
def ragged_gather_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Add the gradient of each value to its source row."""
    *nested, values, indices = node.inputs
    count = g.StridedSlice(g.shape_of(values), [0], [1], [1], shrink_axis_mask=1)
    rank = node.attr("OUTPUT_RAGGED_RANK")
    gathered = g.RaggedGather(nested, g.Range(0, count, 1), indices, OUTPUT_RAGGED_RANK=rank)
    return [*([None] * len(nested)), g.UnsortedSegmentSum(grads[-1], gathered[-1], count), None]


@kernel("RaggedFillEmptyRows", gradient=fill_empty_rows_gradient, flops=zero_cost)
def ragged_fill_empty_rows(
    value_rowids: Array, values: Array, nrows: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """Fill each empty row with a value; return also a mask of the filled rows, and the new place of each value."""
    for name, value, rank in (("value_rowids", value_rowids, 1), ("nrows", nrows, 0)):
        if np.ndim(value) != rank:
            raise InvalidArgumentError(f"{name} must be of rank {rank}, not of shape {Shape(np.shape(value))}")
    column = np.reshape(value_rowids, (-1, 1)).astype(np.int64)
    indices, *filled = sparse_fill_empty_rows(column, values, np.array([int(nrows)]), default_value)
    # TensorFlow leaves the row ids a matrix where there are no rows.
    return indices[:, 0] if int(nrows) else indices, *filled  # type: ignore[index, return-value]


@shape("RaggedFillEmptyRows")
def ragged_fill_empty_rows_shape(
    value_rowids: TensorSpec, values: TensorSpec, nrows: TensorSpec, default_value: TensorSpec
) -> tuple[Shape, Shape, Shape, Shape]:
    require_rank(nrows, 0, "nrows")
    require_rank(default_value, 0, "default_value")
    count = Shape([None])
    rows = None if nrows.value is None else nrows.value.item()
    # TensorFlow's shape function knows a vector of values, but the kernel takes rows of any shape.
    return UNKNOWN, count, Shape([rows]), Shape([merge_dims(with_rank(value_rowids.shape, 1)[0], values.shape[0])])
