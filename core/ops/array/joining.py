"""Ops that put tensors together: Concat, Pack."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.constant_inputs import prepared
from ...registry.registry import facts, gradient, kernel, layout, lower, not_differentiable, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..control import _onnx_lists as lists
from ..shared.argument_checks import require_rank
from ..shared.onnx_lowerings import along
from ..shared.shape_arguments import SIZE_DTYPES, ints, normalize_axis, replaced, scalar_int, scalar_of, unknown_dims


@kernel("ConcatV2")
def concat(values: list[Array], axis: Array) -> Result:
    """Concatenate the inputs along an axis."""
    return np.concatenate(values, _concat_axis(tuple([value.shape for value in values]), scalar_int(axis, "axis")))


@prepared("ConcatV2", constants=(-1,))
def concat_along(axis: Array) -> Callable[..., Result]:
    """`concat` along the same axis each time."""
    place = scalar_int(axis, "axis")

    def joined(*values: Array) -> Result:
        parts = values[:-1]
        return np.concatenate(parts, _concat_axis(tuple([part.shape for part in parts]), place))

    return joined


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
    place = next(i for i, (size, other) in enumerate(zip(first, dims)) if size != other and i != axis)
    return f"Dimension {place} in both shapes must be equal"


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
    if axis.base_dtype is not dtypes.int32:
        axis = g.Cast(axis, DstT="int32")
    sizes = g.ShapeN(list(values), out_type="int32")
    offsets = g.ConcatOffset(axis, list(sizes))
    return [g.Slice(grad, offset, size) for offset, size in zip(offsets, sizes)]


layout("T*A -> T", "ConcatV2")

zero_flops("ConcatV2")
facts("shape_arithmetic", of=("ConcatV2",))
facts("total", of=("ConcatV2",))
facts("bounded_by_inputs", of=("ConcatV2",))


@kernel("Concat")
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

facts("shape_arithmetic", of=("Concat",))
facts("total", of=("Concat",))


@kernel("ConcatOffset")
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
        if total > np.iinfo(dtype).max:
            raise InvalidArgumentError(f"input {i} begins at {total}, which does not fit in {dtype}")
        offset[axis] = total
        offsets.append(offset)
        total += vector[axis]
    return tuple(offsets)


@shape("ConcatOffset")
def concat_offset_shape(axis: TensorSpec, shapes: list[TensorSpec]) -> list[Shape]:
    return [s.shape for s in shapes]


not_differentiable("ConcatOffset")


@kernel("ParallelConcat")
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
    return list(g.Split(0, grad, num_split=len(node.inputs))) if len(node.inputs) > 1 else [grad]


zero_flops("Concat", "ConcatOffset", "ParallelConcat")
facts("inexpensive", of=("ConcatOffset",))


_FEW_DIMS: Final = 8
"""The number of dimensions below which a list of arrays is stacked by np.array, which makes arrays of objects beyond."""


@kernel("Pack")
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
        is_plain = is_plain and not value.dtype.hasobject  # sizes that only a run tells are objects
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


zero_flops("Pack")
facts("shape_arithmetic", of=("Pack",))
facts("total", of=("Pack",))
facts("bounded_by_inputs", of=("Pack",))
lower("Pack")(lambda xla, values, *, axis: xla.stacked(values, axis))
lower("ConcatV2", static=(-1,))(lambda xla, values, axis: xla.concatenate(values, int(axis)))
lower("Concat", static=(0,))(lambda xla, axis, values: xla.concatenate(values, int(axis)))


onnx("ConcatV2")(lambda g, values, axis: _concatenated(g, values, axis))
onnx("Concat")(lambda g, axis, values: _concatenated(g, values, axis))


def _concatenated(g: Any, values: Sequence[Any], axis: Any) -> Any:
    return g.Concat(*values, axis=g.axis(axis, values[0].rank, lambda place: _fit(values, place)))


def _fit(values: Sequence[Any], axis: int) -> bool:
    """False where shapes say that tensors cannot be joined along an axis."""
    others = [[size for place, size in enumerate(value.shape) if place != axis] for value in values]
    return all(len({size for size in sizes if isinstance(size, int)}) < 2 for sizes in zip(*others, strict=False))


@onnx("Pack")
def _pack_onnx(g: Any, values: Sequence[Any], *, axis: int, outputs: list[TensorSpec]) -> Any:
    if outputs[0].dtype is dtypes.variant:
        return lists.packed(g, values)
    rank = outputs[0].rank
    place = axis if axis >= 0 or rank is None else axis + rank
    return g.Concat(*(g.unsqueeze(value, place) for value in values), axis=place)


facts("of_lists", of=["Pack"])
onnx("ParallelConcat")(lambda g, values: g.Concat(*values, axis=0))


@onnx("ConcatOffset")
def _concat_offset_onnx(g: Any, axis: Any, shapes: list[Any]) -> Any:
    """Return zeros except along the axis: there the sum of the sizes before."""
    is_axis = g.Equal(along(g, shapes[0], 0), g.Mod(g.cast(axis, dtypes.int64), g.dim(shapes[0], 0)))
    offsets = [g.zeros_like(shapes[0])]
    for sizes in shapes[:-1]:
        offsets.append(g.Add(offsets[-1], g.Where(is_axis, sizes, 0)))
    return offsets


facts("half_clear", of=["Concat", "ConcatV2", "Pack"])
