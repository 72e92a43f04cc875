"""DynamicPartition and its inverse, DynamicStitch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import facts, gradient, kernel, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from .gather import check_range


@kernel("DynamicPartition")
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
    return max((int(place.max()) + 1 for place in places if place.size), default=0)


def _stitched_dims(indices: list[TensorSpec], data: list[TensorSpec]) -> Array | None:
    """Return the value where symbolic dimensions are stitched, as in the shapes that gradients of reductions build."""
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


@onnx("DynamicPartition")
def _dynamic_partition_onnx(g: Any, data: Any, partitions: Any, *, num_partitions: int) -> Any:
    rest = g.slice(g.dims(data), g.rank(partitions), np.iinfo(np.int64).max)
    rows, numbers = g.reshape(data, -1, rest), g.reshape(partitions, [-1])
    places = (g.reshape(g.NonZero(g.Equal(numbers, i)), [-1]) for i in range(num_partitions))
    return [g.Gather(rows, place, axis=0) for place in places]


@onnx("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch_onnx(g: Any, indices: Sequence[Any], data: Sequence[Any]) -> Any:
    """Scatter the tensors in turn, so that later rows win; no indices make no rows."""
    numbers = [g.reshape(g.vector(g.reshape(each, [-1])), [-1]) for each in indices]
    rest = g.slice(g.dims(data[0]), g.rank(indices[0]), np.iinfo(np.int64).max)
    count = g.Add(g.ReduceMax(g.joined(*numbers, [-1]), [0], keepdims=1), 1)
    result = g.Expand(g.constant(b"", data[0].dtype) if data[0].dtype.is_object else g.like(0, data[0]), g.joined(count, rest))
    for places, rows in zip(numbers, data):
        result = g.ScatterND(result, g.unsqueeze(places, 1), g.of_dims(rows, g.dims(places), rest))
    return result


facts("half_clear", of=["DynamicPartition", "DynamicStitch"])
