"""Ops that join tensors and divide them: Concat, Pack; Split, Unpack; DynamicPartition and DynamicStitch."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import arrays, facts, gradient, kernel, layout, lower, onnx, shape, zero_cost
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike, floor_div, may_stand_for_rest
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, merge_shapes, unknown_dims
from ..control import _onnx_lists as lists
from ..shared.argument_checks import require, require_rank, scalar
from ..shared.onnx_lowerings import along
from ..shared.shape_arguments import SIZE_DTYPES, ints, normalize_axis, number, replaced, scalar_int, scalar_of
from .gather import check_range


@kernel("ConcatV2", flops=zero_cost, facts=("shape_arithmetic", "total", "bounded_by_inputs", "half_clear"))
def concat(values: list[Array], axis: Array) -> Result:
    """Concatenate the inputs along an axis."""
    return np.concatenate(values, _concat_axis(tuple([value.shape for value in values]), scalar_int(axis, "axis")))


@functools.lru_cache(4096)
def _concat_axis(shapes: tuple[tuple[int, ...], ...], axis: int) -> int:
    """Return the normalized axis of a concatenation; cached, as steps repeat the same few shapes."""
    first = shapes[0]
    axis = normalize_axis(axis, len(first), "ConcatOp : Expected concatenating dimension")
    rest = (*first[:axis], *first[axis + 1 :])
    for i, dims in enumerate(shapes):
        if len(dims) != len(first) or (*dims[:axis], *dims[axis + 1 :]) != rest:
            difference = _what_differs(first, dims, axis)
            raise InvalidArgumentError(f"ConcatOp : {difference}: shape[0] = {Shape(first)} vs. shape[{i}] = {Shape(dims)}")
    return axis


def _what_differs(first: tuple[int, ...], dims: tuple[int, ...], axis: int) -> str:
    if len(first) != len(dims):
        return "Ranks of all input tensors should match"
    dimension = next(i for i, (size, theirs) in enumerate(zip(first, dims)) if size != theirs and i != axis)
    return f"Dimension {dimension} in both shapes must be equal"


@shape("ConcatV2")
def concat_shape(values: list[TensorSpec], axis: TensorSpec) -> Shape:
    rank = next((v.rank for v in values if v.rank is not None), None)
    if rank is None:
        return UNKNOWN
    for value in values:
        require_rank(value, rank, "every input")
    position = scalar_of(axis)
    if position is None:
        return unknown_dims(rank)
    position = normalize_axis(position, rank)
    result = unknown_dims(rank)
    for value in values:
        if value.rank is not None:
            result = merge_shapes(result, replaced(value.shape, position, result[position]))
    return replaced(result, position, sum(value.shape[position] for value in values))


@gradient("ConcatV2")
def concat_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [*_concat_parts(g, node.inputs[:-1], node.inputs[-1], grad), None]


def _concat_parts(g: GradientBuilder, values: tuple[Output, ...], axis: Output, grad: Output) -> list[Output]:
    """Return the slices of the gradient that belong to each input."""
    if len(values) == 1:
        return [grad]
    # ConcatOffset takes an axis of int32 only, and the axis of ConcatV2 may be int64.
    if axis.base_dtype is not dtypes.int32:
        axis = g.Cast(axis, DstT="int32")
    sizes = g.ShapeN(list(values), out_type="int32")
    offsets = g.ConcatOffset(axis, list(sizes))
    # Slices and no Split, whose sizes the graph would have to know.
    return [g.Slice(grad, offset, size) for offset, size in zip(offsets, sizes)]


layout("T*A -> T", "ConcatV2")


@kernel("Concat", flops=zero_cost, facts=("shape_arithmetic", "total", "half_clear"))
def concat_v1(axis: Array, values: list[Array]) -> Result:
    """ConcatV2 with the axis first."""
    return concat(values, axis)


@shape("Concat")
def concat_v1_shape(axis: TensorSpec, values: list[TensorSpec]) -> Shape:
    return concat_shape(values, axis)


@gradient("Concat")
def concat_v1_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, *_concat_parts(g, node.inputs[1:], node.inputs[0], grad)]


layout("AT* -> T", "Concat")


@kernel("ConcatOffset", facts=("inexpensive",), arithmetic=False)
def concat_offset(axis: Array, shapes: list[Array]) -> Sequence[Result]:
    """Return the offset of each input in a concatenation, from the shapes."""
    vectors = tuple([ints(s, "a shape") for s in shapes])
    return _offsets(scalar_int(axis, "concat_dim"), vectors, shapes[0].dtype)


@functools.lru_cache(1024)
def _offsets(axis: int, vectors: tuple[tuple[int, ...], ...], dtype: np.dtype[Any]) -> tuple[Array, ...]:
    """Return an offset vector for each input; cached, as training repeats the same shapes at every step."""
    rank = len(vectors[0])
    axis = normalize_axis(axis, rank, "concat_dim")
    total = 0
    offsets = []
    for i, vector in enumerate(vectors):
        if len(vector) != rank or any(d != vectors[0][j] for j, d in enumerate(vector) if j != axis):
            raise InvalidArgumentError(f"All dimensions except {axis} must match. Input {i}: {vector}, not {vectors[0]}")
        offset = np.zeros(rank, dtype)
        # A sum of sizes may exceed the dtype although each size fits: TensorFlow's arithmetic would wrap around.
        if total > np.iinfo(dtype).max:
            raise InvalidArgumentError(f"input {i} begins at {total}, which does not fit in {dtype}")
        offset[axis] = total
        offsets.append(offset)
        total += vector[axis]
    return tuple(offsets)


@shape("ConcatOffset")
def concat_offset_shape(axis: TensorSpec, shapes: list[TensorSpec]) -> list[Shape]:
    return [s.shape for s in shapes]


@kernel("ParallelConcat", flops=zero_cost)
def parallel_concat(values: list[Array], *, shape: Shape) -> Result:
    """Stack the inputs, each a single row."""
    _check_rows([Shape(np.shape(value)) for value in values], shape)
    return np.concatenate(values, 0)


def _check_rows(values: Sequence[Shape], shape: Shape) -> None:
    """Raise InvalidArgumentError unless each of the values is a row of `shape`."""
    if not shape.is_known or not shape.rank:
        raise InvalidArgumentError(f"shape attr must be fully defined and of rank 1 or higher, not {shape}")
    row = Shape([1, *shape.known()[1:]])
    for value in values:
        if value.rank and isinstance(value[0], int) and value[0] != 1:
            raise InvalidArgumentError(f"Size of first dimension must be 1, not {value}")
        merge_shapes(value, row)


@shape("ParallelConcat")
def parallel_concat_shape(values: list[TensorSpec], *, shape: Shape) -> Shape:
    _check_rows([value.shape for value in values], shape)
    return shape


@gradient("ParallelConcat")
def parallel_concat_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    # Each input is a row with its first dimension, so the parts keep theirs.
    return list(g.Split(0, grad, num_split=len(node.inputs))) if len(node.inputs) > 1 else [grad]


_FEW_DIMS: Final = 8
"""The number of dimensions below which a list of arrays is stacked by np.array, which makes arrays of objects beyond."""


@kernel("Pack", flops=zero_cost, facts=("shape_arithmetic", "total", "bounded_by_inputs", "of_lists", "half_clear"))
def pack(values: list[Array], *, axis: int) -> Result:
    """The inputs as slices along a new axis."""
    dims = values[0].shape
    axis = normalize_axis(axis, len(dims) + 1)
    is_plain = not axis and len(dims) < _FEW_DIMS
    for i, value in enumerate(values):
        if value.shape != dims:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0] is {Shape(dims)}, values[{i}] is {Shape(value.shape)}"
            )
        # np.array of arrays of objects would look into the objects for more dimensions.
        is_plain = is_plain and not value.dtype.hasobject  # sizes that only a run tells are objects
    # np.array copies rows in C, where np.stack first makes a view of each with another dimension.
    return np.array(values) if is_plain else np.stack(values, axis)


@shape("Pack")
def pack_shape(values: list[TensorSpec], *, axis: int) -> Shape | TensorSpec:
    result = UNKNOWN
    for value in values:
        result = merge_shapes(result, value.shape)
    if result.rank is None:
        return UNKNOWN
    axis = normalize_axis(axis, result.rank + 1)
    dims = result[:axis] + Shape([len(values)]) + result[axis:]
    return _with_partial_value(values, dims, axis)


def _with_partial_value(values: list[TensorSpec], dims: Shape, axis: int) -> Shape | TensorSpec:
    """Return the result's spec, with unknown numbers where some of the packed integer scalars are not known."""
    spec = values[0]
    is_vector = dims.rank == 1 and spec.dtype.base in SIZE_DTYPES
    if not is_vector or all(v.value is None for v in values) or all(v.value is not None for v in values):
        return dims
    elements = [Dim.unknown_number() if v.value is None else v.value.item() for v in values]
    return TensorSpec(spec.dtype, dims, np.array(elements, object))


@gradient("Pack")
def pack_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return list(g.Unpack(grad, num=len(node.inputs), axis=node.attr("axis")))


lower("Pack")(lambda xla, values, *, axis: xla.stacked(values, axis))
arrays("ConcatV2", static=(-1,), axes=((-1, 0),))(lambda xp, values, axis: xp.concatenate(values, int(axis)))
arrays("Concat", static=(0,), axes=((0, 1),))(lambda xp, axis, values: xp.concatenate(values, int(axis)))


# Pack has a form of its own in XLA, which notes the places that it joins, and in ONNX, where it takes lists.
@onnx("Pack")
def _pack_onnx(g: Any, values: Sequence[Any], *, axis: int, outputs: list[TensorSpec]) -> Any:
    if outputs[0].dtype is dtypes.variant:
        return lists.packed(g, values)
    rank = outputs[0].rank
    axis = axis if axis >= 0 or rank is None else axis + rank
    return g.Concat(*(g.unsqueeze(value, axis) for value in values), axis=axis)


arrays("ParallelConcat")(lambda xp, values: xp.concatenate(values, 0))


@onnx("ConcatOffset")
def _concat_offset_onnx(g: Any, axis: Any, shapes: list[Any]) -> Any:
    """Return zeros except along the axis: there the sum of the sizes before."""
    # ONNX's Mod has the sign of the divisor, so that a negative axis counts from the last.
    is_axis = g.Equal(along(g, shapes[0], 0), g.Mod(g.cast(axis, dtypes.int64), g.dim(shapes[0], 0)))
    offsets = [g.zeros_like(shapes[0])]
    for sizes in shapes[:-1]:
        offsets.append(g.Add(offsets[-1], g.Where(is_axis, sizes, 0)))
    return offsets


# Splits: Split, SplitV and Unpack.


@kernel("Split", flops=zero_cost, facts=("shape_arithmetic", "bounded_by_inputs", "half_clear"))
def split(axis: Array, x: Array, *, num_split: int) -> Sequence[Result]:
    """`num_split` equal parts along an axis."""
    return [x[window] for window in _equal_windows(x.shape, number(scalar(axis, "split_dim")), num_split)]


@functools.lru_cache(4096)
def _equal_windows(dims: tuple[int, ...], axis: int, num_split: int) -> list[tuple[slice, ...]]:
    """The indices of equal parts; the same few come again at every step."""
    axis = normalize_axis(axis, len(dims), "split_dim")
    if dims[axis] % num_split:
        raise InvalidArgumentError(
            "Number of ways to split should evenly divide the split dimension, "
            f"but got split_dim {axis} (size = {dims[axis]}) and num_split {num_split}"
        )
    size = dims[axis] // num_split
    before = (slice(None),) * axis
    return [(*before, slice(i * size, (i + 1) * size)) for i in range(num_split)]


@shape("Split")
def split_shape(axis: TensorSpec, x: TensorSpec, *, num_split: int) -> list[Shape]:
    position = scalar_of(axis)
    if x.rank is None or position is None:
        return [unknown_dims(x.rank)] * num_split
    position = normalize_axis(position, x.rank, "split_dim")
    size = x.shape[position]
    if isinstance(size, int) and size % num_split:
        raise InvalidArgumentError(f"a dimension of {size} cannot be split into {num_split} equal parts")
    return [replaced(x.shape, position, floor_div(size, num_split))] * num_split


@gradient("Split")
def split_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    axis = node.inputs[0]
    return [None, g.ConcatV2(list(grads), axis) if len(grads) > 1 else grads[0]]


layout("AT -> T*", "Split")


@kernel("SplitV", flops=zero_cost, facts=("shape_arithmetic", "bounded_by_inputs", "half_clear"))
def split_v(x: Array, sizes: Array, axis: Array, *, num_split: int) -> Sequence[Result]:
    """Return parts of the given sizes along an axis; a single size may be -1."""
    # In a graph TensorFlow's optimizer makes a split into one part an Identity, whatever size is asked for; eager calls fail.
    if num_split == 1:
        return [x]
    windows = _unequal_windows(x.shape, scalar_int(axis, "split_dim"), ints(sizes, "size_splits"), num_split)
    return [x[window] for window in windows]


@functools.lru_cache(1024)
def _unequal_windows(dims: tuple[int, ...], axis: int, sizes: tuple[int, ...], num_split: int) -> list[tuple[Any, ...]]:
    """The indices of parts of the given sizes; the same few come again at every step."""
    axis = normalize_axis(axis, len(dims), "split_dim")
    lengths = _split_sizes(sizes, dims[axis], num_split)
    before = (slice(None),) * axis
    return [(*before, slice(end - size, end)) for size, end in zip(lengths, itertools.accumulate(lengths))]


def _split_sizes(sizes: Sequence[Any], total: int, num_split: int) -> list[Any]:
    """Return the sizes with -1 resolved; InvalidArgumentError if they do not add up."""
    if len(sizes) != num_split:
        raise InvalidArgumentError(f"Length of size_splits is {len(sizes)}, not num_split {num_split}")
    rest = total - sum(s for s in sizes if s != -1)
    gaps = sizes.count(-1)
    if gaps > 1 or any(s < -1 for s in sizes) or rest < 0 or (not gaps and rest):
        raise InvalidArgumentError(f"Determined shape must match the shape of the input: {sizes} do not add up to {total}")
    return [rest if s == -1 else s for s in sizes]


@shape("SplitV")
def split_v_shape(x: TensorSpec, sizes: TensorSpec, axis: TensorSpec, *, num_split: int) -> list[Shape]:
    position, lengths = scalar_of(axis), dims_of(sizes)
    require(x.rank != 0, "a scalar cannot be split")
    if num_split == 1:
        return [x.shape]
    if x.rank is None or position is None:
        return [unknown_dims(x.rank) for _ in range(num_split)]
    position = normalize_axis(position, x.rank, "split_dim")
    if lengths is None:
        return [replaced(x.shape, position, None) for _ in range(num_split)]
    if isinstance(x.shape[position], int) and all(isinstance(n, int) for n in lengths):
        lengths = _split_sizes(lengths, x.shape[position], num_split)
    return [replaced(x.shape, position, None if may_stand_for_rest(n) else n) for n in lengths]


@gradient("SplitV")
def split_v_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return [g.ConcatV2(list(grads), node.inputs[2]) if len(grads) > 1 else grads[0], None, None]


layout("T.A -> T*", "SplitV")


@kernel("Unpack", flops=zero_cost, facts=("shape_arithmetic", "bounded_by_inputs", "of_lists"))
def unpack(x: Array, *, num: int, axis: int) -> Sequence[Result]:
    """Return the `num` slices along an axis, without that axis."""
    return [x[index] for index in _row_indices(x.shape, axis, num)]


@functools.lru_cache(1024)
def _row_indices(dims: tuple[int, ...], axis: int, num: int) -> list[tuple[Any, ...]]:
    """The indices along an axis; the same few come again at every step."""
    axis = normalize_axis(axis, len(dims))
    if dims[axis] != num:
        raise InvalidArgumentError(f"Input shape axis {axis} must equal {num}, got shape {Shape(dims)}")
    return [(*(slice(None),) * axis, i, ...) for i in range(num)]


@shape("Unpack")
def unpack_shape(x: TensorSpec, *, num: int, axis: int) -> list[Shape]:
    if x.rank is None:
        return [UNKNOWN] * num
    axis = normalize_axis(axis, x.rank)
    if isinstance(x.shape[axis], int) and x.shape[axis] != num:
        raise InvalidArgumentError(f"axis {axis} of {x.shape} is not {num}")
    return [x.shape[:axis] + x.shape[axis + 1 :]] * num


@gradient("Unpack")
def unpack_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return [g.Pack(list(grads), axis=node.attr("axis"))]


@arrays("Split", static=(0,), axes=((0, 1),))
def _split_arrays(xp: Any, axis: Array, x: Any, *, num_split: int) -> Any:
    return tuple(xp.split(x, num_split, int(axis)))


# Two forms: a model of ONNX splits by sizes that only the run knows, -1 among them; the shapes of XLA follow from the sizes.
@lower("SplitV", static=(1, 2))
def _split_v_lowering(xla: Any, x: Any, sizes: Array, axis: Array) -> Any:
    rest = x.shape[int(axis)] - sizes[sizes >= 0].sum()
    return tuple(xla.split(x, np.cumsum(np.where(sizes < 0, rest, sizes))[:-1].tolist(), int(axis)))


@lower("Unpack")
def _unpack_lowering(xla: Any, x: Any, *, num: int, axis: int) -> Any:
    return tuple(xla.squeeze(part, axis) for part in xla.split(x, num, axis)) if num else ()


@onnx("SplitV")
def _split_v_onnx(g: Any, x: Any, sizes: Any, axis: Any, *, num_split: int, outputs: list[TensorSpec]) -> Any:
    """Split by sizes; a size of -1 takes the rest."""
    if num_split == 1:
        return [x]
    axis = g.axis(axis, x.rank)
    lengths = g.vector(sizes)
    known = sizes.spec.value if sizes.array is None else sizes.array
    if known is None or any(map(may_stand_for_rest, known.tolist())):
        # The sum of `lengths` includes the -1, hence the 1 that is added to it.
        rest = g.Sub(g.dim(x, axis), g.Add(g.ReduceSum(lengths, [0]), 1))
        lengths = g.Where(g.Equal(lengths, -1), rest, lengths)
    return g.Split(x, lengths, outputs=num_split, axis=axis)


# Also of vectors of lists, which a program does not take.
@onnx("Unpack")
def _unpack_onnx(g: Any, x: Any, *, num: int, axis: int) -> Any:
    if isinstance(x, lists.Pieces):
        return list(x.items)
    if x.is_stacked:
        g.refuse("the number of its lists is unknown")
    return [g.squeeze(part, axis) for part in g.split(x, num, axis)]


# Parts by number: DynamicPartition and its inverse, DynamicStitch.


@kernel("DynamicPartition", flops=zero_cost)
def dynamic_partition(data: Array, partitions: Array, *, num_partitions: int) -> Sequence[Result]:
    """The slices of `data` sorted into `num_partitions` outputs by their number in `partitions`."""
    data, partitions = np.asarray(data), np.asarray(partitions)
    if data.shape[: partitions.ndim] != partitions.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {Shape(data.shape)}, "
            f"partitions.shape = {Shape(partitions.shape)}"
        )
    check_range(partitions, num_partitions, "partitions")
    numbers = partitions.ravel()
    rows = data.reshape(numbers.size, *data.shape[partitions.ndim :])
    ends = np.cumsum(np.bincount(numbers, minlength=num_partitions))[:-1]
    if num_partitions <= 1 << 16:  # NumPy sorts numbers of 16 bits by radix
        numbers = numbers.astype(np.uint16)
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
    # Each position comes once, so the order of writing does not matter, which the parallel op leaves open.
    return [g.Reshape(g.ParallelDynamicStitch(list(parts), list(grads)), g.shape_of(data)), None]


@kernel("DynamicStitch", "ParallelDynamicStitch", flops=zero_cost)
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
        # In the order of the inputs, so that later slices win, as TensorFlow documents.
        merged[index] = values[()]
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
    """Return the greatest index plus 1; unknown unless all indices are known."""
    places = [index.value for index in indices if index.value is not None and index.value.dtype != object]
    if len(places) < len(indices):
        return Dim.unknown()
    return max((int(rows.max()) + 1 for rows in places if rows.size), default=0)


def _stitched_dims(indices: list[TensorSpec], data: list[TensorSpec]) -> Array | None:
    """Return the value where symbolic dimensions are stitched, as in the shapes that gradients of reductions build."""
    places = [index.value for index in indices if index.value is not None and index.value.dtype != object]
    values = [spec.value for spec in data if spec.value is not None]
    if len(places) < len(indices) or len(values) < len(data):
        return None
    # Only sizes with symbols: known values are computed by the kernel.
    if not any(value.dtype == object and spec.dtype.is_integer for value, spec in zip(values, data)):
        return None
    merged = np.asarray(dynamic_stitch(places, [value.astype(object) for value in values]))
    return merged if all(isinstance(item, (int, Dim)) for item in merged.ravel().tolist()) else None


@gradient("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    count = node.attr("N")
    indices = node.inputs[:count]
    # A slice that a later one overwrote gets the gradient all the same, as in TensorFlow.
    return [*([None] * count), *(g.GatherV2(grad, index, 0) for index in indices)]


@onnx("DynamicPartition")
def _dynamic_partition_onnx(g: Any, data: Any, partitions: Any, *, num_partitions: int) -> Any:
    rest = g.slice(g.dims(data), g.rank(partitions), np.iinfo(np.int64).max)
    rows, numbers = g.reshape(data, -1, rest), g.reshape(partitions, [-1])
    # NonZero keeps the order of the rows, which a sort in ONNX need not.
    places = (g.reshape(g.NonZero(g.Equal(numbers, i)), [-1]) for i in range(num_partitions))
    return [g.Gather(rows, place, axis=0) for place in places]


@onnx("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch_onnx(g: Any, indices: Sequence[Any], data: Sequence[Any]) -> Any:
    """Scatter the tensors in turn, so that later rows win; no indices make no rows."""
    numbers = [g.reshape(g.vector(g.reshape(each, [-1])), [-1]) for each in indices]
    rest = g.slice(g.dims(data[0]), g.rank(indices[0]), np.iinfo(np.int64).max)
    # The -1 stands for no rows: the maximum of nothing is an error in onnxruntime.
    count = g.Add(g.ReduceMax(g.joined(*numbers, [-1]), [0], keepdims=1), 1)
    result = g.Expand(g.constant(b"", data[0].dtype) if data[0].dtype.is_object else g.like(0, data[0]), g.joined(count, rest))
    for places, rows in zip(numbers, data):
        result = g.ScatterND(result, g.unsqueeze(places, 1), g.of_dims(rows, g.dims(places), rest))
    return result


facts("half_clear", of=["DynamicPartition", "DynamicStitch"])
