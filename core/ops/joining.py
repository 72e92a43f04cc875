"""Ops that put tensors together or lay them out anew: Concat, Pack, Pad, Tile, Transpose, Reverse, Roll."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dims import Dim
from ..errors import InvalidArgumentError, UnimplementedError
from ..graph import Node, Output
from ..registry import Cost, facts, flops, gradient, kernel, layout, not_differentiable, shape, zero_flops
from ..shapes import UNKNOWN, Shape, TensorSpec, merge_dims, merge_shapes
from ._checks import require_rank
from ._shapes import dims_of, ints, normalize_axis, numbers, replaced, scalar_int, scalar_of, unknown_dims


@kernel("ConcatV2")
def concat(values: list[Array], axis: Array) -> Result:
    """The inputs one after the other along an axis."""
    arrays = [np.asarray(value) for value in values]
    first = arrays[0].shape
    axis = normalize_axis(scalar_int(axis, "axis"), len(first), "ConcatOp : Expected concatenating dimension")
    rest = (*first[:axis], *first[axis + 1 :])
    for i, array in enumerate(arrays):
        if array.shape == first:
            continue
        if array.ndim != len(first) or (*array.shape[:axis], *array.shape[axis + 1 :]) != rest:
            raise InvalidArgumentError(
                f"ConcatOp : Dimension {axis} in both shapes must be equal but the others must match: "
                f"shape[0] = {Shape(first)} vs. shape[{i}] = {Shape(array.shape)}"
            )
    return np.concatenate(arrays, axis)


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
    """The slices of the gradient that belong to each input."""
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
    """Where each input of a concatenation begins in its result, by their shapes."""
    vectors = tuple(tuple(ints(s, "a shape")) for s in shapes)
    axis = normalize_axis(scalar_int(axis, "concat_dim"), len(vectors[0]), "concat_dim")
    return list(_offsets(axis, vectors, np.asarray(shapes[0]).dtype))


@functools.lru_cache(1024)
def _offsets(axis: int, vectors: tuple[tuple[int, ...], ...], dtype: np.dtype[Any]) -> list[Array]:
    """One vector an input; training asks for the same ones at every step."""
    rank = len(vectors[0])
    total = 0
    offsets = []
    for i, vector in enumerate(vectors):
        if len(vector) != rank or any(d != vectors[0][j] for j, d in enumerate(vector) if j != axis):
            raise InvalidArgumentError(f"All dimensions except {axis} must match. Input {i}: {vector}, not {vectors[0]}")
        offset = np.zeros(rank, dtype)
        offset[axis] = total
        offsets.append(offset)
        total += vector[axis]
    return offsets


@shape("ConcatOffset")
def concat_offset_shape(axis: TensorSpec, shapes: list[TensorSpec]) -> list[Shape]:
    return [s.shape for s in shapes]


not_differentiable("ConcatOffset")


@kernel("ParallelConcat")
def parallel_concat(values: list[Array], *, shape: Shape) -> Result:
    """The inputs, each of one row, one below the other."""
    for value in values:
        if np.ndim(value) < 1 or np.shape(value)[0] != 1:
            raise InvalidArgumentError(f"Size of first dimension must be 1, not {Shape(np.shape(value))}")
    return np.concatenate(values, 0)


@shape("ParallelConcat")
def parallel_concat_shape(values: list[TensorSpec], *, shape: Shape) -> Shape:
    return shape


@gradient("ParallelConcat")
def parallel_concat_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return list(g.Split(0, grad, num_split=len(node.inputs))) if len(node.inputs) > 1 else [grad]


zero_flops("Concat", "ConcatOffset", "ParallelConcat")


@kernel("Pack")
def pack(values: list[Array], *, axis: int) -> Result:
    """The inputs as slices along a new axis."""
    dims = np.shape(values[0])
    axis = normalize_axis(axis, len(dims) + 1)
    if not dims and all(isinstance(value, np.generic) for value in values):
        return np.array(values)
    for i, value in enumerate(values):
        if np.shape(value) != dims:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0] is {Shape(dims)}, values[{i}] is {Shape(np.shape(value))}"
            )
    return np.stack(values, axis)


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
    """The result's spec, with unknown elements where some of the packed integer scalars are not known."""
    spec = values[0]
    is_vector = dims.rank == 1 and spec.dtype.is_integer
    if not is_vector or all(v.value is None for v in values) or all(v.value is not None for v in values):
        return dims
    elements = [Dim.unknown() if v.value is None else v.value.item() for v in values]
    return TensorSpec(spec.dtype, dims, np.array(elements, object))


@gradient("Pack")
def pack_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return list(g.Unpack(grad, num=len(node.inputs), axis=node.attr("axis")))


zero_flops("Pack")
facts("shape_arithmetic", of=("Pack",))
facts("total", of=("Pack",))

_NOT_TILED = tuple(dtypes.from_name(name).numpy for name in ("uint16", "float8_e5m2", "float8_e4m3fn"))


@kernel("Tile")
def tile(x: Array, multiples: Array) -> Result:
    """The input repeated `multiples[i]` times along dimension i."""
    times = ints(multiples, "multiples")
    if len(times) != np.ndim(x):
        raise InvalidArgumentError(f"Expected multiples to be a vector of length {np.ndim(x)} but got length {len(times)}")
    for i, count in enumerate(times):
        if count < 0:
            raise InvalidArgumentError(f"Expected multiples[{i}] >= 0, but got {count}")
    if x.dtype in _NOT_TILED and any(count != 1 for count in times) and x.size * math.prod(times):
        raise UnimplementedError(f"TensorFlow's Tile handles no {dtypes.from_numpy(x.dtype)}")
    return np.tile(x, times)


@shape("Tile")
def tile_shape(x: TensorSpec, multiples: TensorSpec) -> Shape:
    require_rank(multiples, 1, "multiples")
    times = dims_of(multiples)
    if times is None:
        rank = multiples.shape[0] if multiples.rank == 1 and isinstance(multiples.shape[0], int) else x.rank
        return unknown_dims(rank)
    if x.rank is not None and len(times) != x.rank:
        raise InvalidArgumentError(f"multiples must have {x.rank} numbers, not {len(times)}")
    return Shape(x.shape[i] * count for i, count in enumerate(times)) if x.rank is not None else unknown_dims(len(times))


@gradient("Tile")
def tile_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The sum over the copies: each dimension is split into (copies, size) and summed over copies."""
    x, multiples = node.inputs
    source = g.Shape(x, out_type=multiples.base_dtype)
    interleaved = g.Reshape(g.Transpose(g.Pack([multiples, source]), [1, 0]), [-1])
    axes = g.Range(0, g.Size(interleaved), 2)
    return [g.Sum(g.Reshape(grad, interleaved), axes), None]


zero_flops("Tile")
facts("shape_arithmetic", of=("Tile",))
facts("total", of=("Tile",))


@kernel("TileGrad")
def tile_grad(x: Array, multiples: Array) -> Result:
    """The sum over the copies that Tile made."""
    times = ints(multiples, "multiples")
    x = np.asarray(x)
    if len(times) != x.ndim or any(t <= 0 or d % t for t, d in zip(times, x.shape)):
        raise InvalidArgumentError(f"multiples {times} do not divide the shape {Shape(x.shape)}")
    split = [n for t, d in zip(times, x.shape) for n in (t, d // t)]
    return x.reshape(split).sum(tuple(range(0, 2 * x.ndim, 2)), dtype=x.dtype)


@shape("TileGrad")
def tile_grad_shape(x: TensorSpec, multiples: TensorSpec) -> Shape:
    times = dims_of(multiples)
    if x.rank is None or times is None:
        return unknown_dims(x.rank)
    return Shape(d // t if t != 0 else None for d, t in zip(x.shape, times))


@flops("TileGrad")
def tile_grad_flops(x: TensorSpec, multiples: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """One sum less than there are copies for each result."""
    return Cost(flops=x.shape.num_elements - outputs[0].shape.num_elements)


not_differentiable("TileGrad")


@kernel("Pad")
def pad(x: Array, paddings: Array) -> Result:
    """Zeros before and after each dimension; paddings is (rank, 2)."""
    x = np.asarray(x)
    return pad_v2(x, paddings, np.array(b"", object) if x.dtype == object else x.dtype.type(0))


@shape("Pad")
def pad_shape(x: TensorSpec, paddings: TensorSpec) -> Shape:
    require_rank(paddings, 2, "paddings")
    found = dims_of(paddings)
    rank = x.rank
    if rank is None and paddings.rank == 2 and isinstance(paddings.shape[0], int):
        rank = paddings.shape[0]
    if rank is not None and paddings.rank == 2:
        merge_dims(paddings.shape[0], rank)
    if rank is None or x.rank is None or found is None:
        return unknown_dims(rank)
    if any(isinstance(n, int) and n < 0 for n in found):
        raise InvalidArgumentError(f"Paddings must be non-negative: {found}")
    return Shape(d + before + after for d, before, after in zip(x.shape, found[::2], found[1::2]))


@gradient("Pad")
def pad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_unpadded(g, node, grad), None]


zero_flops("Pad")


def _unpadded(g: GradientBuilder, node: Node, grad: Output) -> Output:
    x, paddings = node.inputs[:2]
    source = g.Shape(x, out_type=paddings.base_dtype)
    before = g.StridedSlice(paddings, [0, 0], [0, 1], [1, 1], begin_mask=3, end_mask=1, shrink_axis_mask=2)
    return g.Slice(grad, before, source)


layout("TV -> T", "MirrorPad", "Pad", "Tile")


@kernel("PadV2")
def pad_v2(x: Array, paddings: Array, constant: Array) -> Result:
    """A constant before and after each dimension; paddings is (rank, 2)."""
    if np.ndim(constant) != 0:
        raise InvalidArgumentError(f"constant_values must be a scalar. Found: {Shape(np.shape(constant))}")
    x = np.asarray(x)
    pairs = _paddings(paddings, x.ndim)
    result = np.empty([before + d + after for d, (before, after) in zip(x.shape, pairs)], x.dtype)
    result[...] = constant
    result[tuple(slice(before, before + d) for d, (before, _) in zip(x.shape, pairs))] = x
    return result


def _paddings(paddings: Array, rank: int) -> list[tuple[int, ...]]:
    """The paddings as pairs; InvalidArgumentError where they are not (rank, 2) or negative."""
    if np.ndim(paddings) != 2 or np.shape(paddings)[1] != 2:
        raise InvalidArgumentError(f"paddings must be a matrix with 2 columns: {Shape(np.shape(paddings))}")
    if np.shape(paddings)[0] != rank:
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs {Shape(np.shape(paddings))}, rank {rank}"
        )
    flat = numbers(paddings)
    if any(n < 0 for n in flat):
        raise InvalidArgumentError(f"Paddings must be non-negative: {flat}")
    return list(zip(flat[::2], flat[1::2]))


@shape("PadV2")
def pad_v2_shape(x: TensorSpec, paddings: TensorSpec, constant: TensorSpec) -> Shape:
    require_rank(constant, 0, "constant_values")
    return pad_shape(x, paddings)


@gradient("PadV2")
def pad_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_unpadded(g, node, grad), None, None]


layout("TV. -> T", "PadV2")

zero_flops("PadV2")


@kernel("MirrorPad")
def mirror_pad(x: Array, paddings: Array, *, mode: str) -> Result:
    """The input continued by its mirror image, with (SYMMETRIC) or without (REFLECT) the border itself."""
    x = np.asarray(x)
    for axis, (before, after) in enumerate(_mirror_paddings(paddings, x.shape, mode)):
        if before or after:
            x = np.take(x, _mirrored(x.shape[axis], before, after, mode), axis)
    return x


def _mirrored(size: int, before: int, after: int, mode: str) -> Array:
    """The source index of each place of a padded dimension."""
    offset = int(mode == "REFLECT")
    left = np.arange(before - 1, -1, -1) + offset
    right = size - 1 - offset - np.arange(after)
    return np.concatenate([left, np.arange(size), right])


def _mirror_paddings(paddings: Array, dims: Sequence[int], mode: str) -> list[tuple[int, ...]]:
    pairs = _paddings(paddings, len(dims))
    offset = int(mode == "REFLECT")
    for (before, after), d in zip(pairs, dims):
        if before > d - offset or after > d - offset:
            raise InvalidArgumentError(
                f"paddings must be no greater than the dimension {d}{' minus one' * offset}, not {before} and {after}"
            )
    return pairs


@shape("MirrorPad")
def mirror_pad_shape(x: TensorSpec, paddings: TensorSpec) -> Shape:
    return pad_shape(x, paddings)


@gradient("MirrorPad")
def mirror_pad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MirrorPadGrad(grad, node.inputs[1], mode=node.attr("mode")), None]


zero_flops("MirrorPad")


@kernel("MirrorPadGrad")
def mirror_pad_grad(grad: Array, paddings: Array, *, mode: str) -> Result:
    """The gradient of MirrorPad: what fell on mirrored places is added to where it came from."""
    grad = np.asarray(grad)
    pairs = _paddings(paddings, grad.ndim)
    dims = [d - before - after for d, (before, after) in zip(grad.shape, pairs)]
    _mirror_paddings(paddings, dims, mode)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            grad = _folded(grad, axis, before, after, int(mode == "REFLECT"))
    return grad


def _folded(grad: Array, axis: int, before: int, after: int, offset: int) -> Array:
    moved = np.moveaxis(grad, axis, 0)
    size = moved.shape[0] - before - after
    result = moved[before : before + size].copy()
    result[offset : offset + before] += moved[:before][::-1]
    result[size - offset - after : size - offset] += moved[before + size :][::-1]
    return np.moveaxis(result, 0, axis)


@shape("MirrorPadGrad")
def mirror_pad_grad_shape(grad: TensorSpec, paddings: TensorSpec) -> Shape:
    found = dims_of(paddings)
    if grad.rank is None or found is None:
        return unknown_dims(grad.rank)
    return Shape(d - before - after for d, before, after in zip(grad.shape, found[::2], found[1::2]))


@gradient("MirrorPadGrad")
def mirror_pad_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MirrorPad(grad, node.inputs[1], mode=node.attr("mode")), None]


@flops("MirrorPadGrad")
def mirror_pad_grad_flops(grad: TensorSpec, paddings: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    return Cost(flops=grad.shape.num_elements - outputs[0].shape.num_elements)


@kernel("Transpose")
def transpose(x: Array, perm: Array) -> Result:
    """The input with its dimensions in the order `perm`."""
    return np.transpose(x, _permutation(perm, np.ndim(x)))


def _permutation(perm: Array, rank: int) -> tuple[int, ...]:
    axes = ints(perm, "perm")
    if len(axes) != rank:
        raise InvalidArgumentError(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(axes)}")
    if sorted(a + rank if a < 0 else a for a in axes) != list(range(rank)):
        raise InvalidArgumentError(f"{axes} is no permutation of the dimensions 0 to {rank - 1}")
    return axes


@kernel("ConjugateTranspose")
def conjugate_transpose(x: Array, perm: Array) -> Result:
    """The complex conjugate with its dimensions in the order `perm`."""
    x = np.asarray(x)
    return np.transpose(np.conj(x) if x.dtype.kind == "c" else x, _permutation(perm, x.ndim))


@shape("Transpose", "ConjugateTranspose")
def transpose_shape(x: TensorSpec, perm: TensorSpec) -> Shape:
    require_rank(perm, 1, "perm")
    axes = dims_of(perm)
    if axes is None or x.rank is None:
        known = perm.rank == 1 and isinstance(perm.shape[0], int)
        return unknown_dims(x.rank if x.rank is not None or not known else perm.shape[0])
    return Shape(x.shape[a] for a in _permutation(np.array(axes), x.rank))


@gradient("Transpose", "ConjugateTranspose")
def transpose_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.apply(node.op, grad, g.InvertPermutation(node.inputs[1])), None]


zero_flops("Transpose", "ConjugateTranspose")
facts("shape_arithmetic", of=("Transpose",))
facts("total", of=("Transpose",))


@kernel("ReverseV2")
def reverse(x: Array, axes: Array) -> Result:
    """The input with the given dimensions reversed."""
    rank = np.ndim(x)
    if rank == 0 or np.size(x) == 0:
        return x
    found = [normalize_axis(a, rank) for a in ints(axes, "axis")]
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"axis {found} specified more than once.")
    return np.flip(x, tuple(found)) if found else x


@shape("ReverseV2")
def reverse_shape(x: TensorSpec, axes: TensorSpec) -> Shape:
    require_rank(axes, 1, "axis")
    found = dims_of(axes)
    if found is not None and x.rank is not None:
        for axis in found:
            normalize_axis(axis, x.rank)
    return x.shape


layout("TA -> T", "ReverseV2")


@kernel("Reverse")
def reverse_v1(x: Array, dims: Array) -> Result:
    """The input with the dimensions flagged in `dims`, (rank,), reversed."""
    if np.ndim(x) == 0:
        return x
    if np.ndim(dims) != 1 or np.size(dims) != np.ndim(x):
        raise InvalidArgumentError(f"'dims' must have one flag for each of the {np.ndim(x)} dimensions")
    return np.flip(x, tuple(np.flatnonzero(dims).tolist())) if np.any(dims) and np.size(x) else x


@shape("Reverse")
def reverse_v1_shape(x: TensorSpec, dims: TensorSpec) -> Shape:
    require_rank(dims, 1, "dims")
    return x.shape


@gradient("ReverseV2", "Reverse")
def reverse_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.apply(node.op, grad, node.inputs[1]), None]


zero_flops("ReverseV2", "Reverse")
facts("shape_arithmetic", of=("ReverseV2",))
facts("involution", of=("ReverseV2", "Reverse"))


@kernel("ReverseSequence")
def reverse_sequence(x: Array, lengths: Array, *, seq_dim: int, batch_dim: int) -> Result:
    """For each batch entry its first `lengths[b]` steps in reverse, the rest as it is."""
    x, lengths = np.asarray(x), np.asarray(lengths)
    seq_dim, batch_dim = _sequence_dims(x.ndim, seq_dim, batch_dim)
    steps = x.shape[seq_dim]
    if lengths.shape != (x.shape[batch_dim],):
        raise InvalidArgumentError(f"seq_lengths must be of length {x.shape[batch_dim]}, not of shape {Shape(lengths.shape)}")
    if lengths.size and (lengths.min() < 0 or lengths.max() > steps):
        raise InvalidArgumentError(f"seq_lengths must be between 0 and {steps}")
    times = np.arange(steps)
    index = np.where(times < lengths[:, None], lengths[:, None] - 1 - times, times)
    moved = np.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    result = moved[np.arange(len(lengths))[:, None], index]
    return np.moveaxis(result, (0, 1), (batch_dim, seq_dim))


def _sequence_dims(rank: int, seq_dim: int, batch_dim: int) -> tuple[int, int]:
    if not (0 <= seq_dim < rank and 0 <= batch_dim < rank):
        raise InvalidArgumentError(f"seq_dim {seq_dim} and batch_dim {batch_dim} must be from 0 to below the rank {rank}")
    if seq_dim == batch_dim:
        raise InvalidArgumentError(f"batch_dim == seq_dim == {seq_dim}")
    return seq_dim, batch_dim


@shape("ReverseSequence")
def reverse_sequence_shape(x: TensorSpec, lengths: TensorSpec, *, seq_dim: int, batch_dim: int) -> Shape:
    require_rank(lengths, 1, "seq_lengths")
    if x.rank is not None:
        _, batch_dim = _sequence_dims(x.rank, seq_dim, batch_dim)
        if lengths.rank == 1:
            return replaced(x.shape, batch_dim, merge_dims(x.shape[batch_dim], lengths.shape[0]))
    return x.shape


@gradient("ReverseSequence")
def reverse_sequence_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    dims = {name: node.attr(name) for name in ("seq_dim", "batch_dim")}
    return [g.ReverseSequence(grad, node.inputs[1], **dims), None]


@kernel("Roll")
def roll(x: Array, shift: Array, axis: Array) -> Result:
    """The elements moved on by `shift` along each axis, around the end to the beginning."""
    if np.ndim(x) < 1:
        raise InvalidArgumentError("input must be 1-D or higher")
    for name, value in (("shift", shift), ("axis", axis)):
        if np.ndim(value) > 1:
            raise InvalidArgumentError(f"{name} must be a scalar or a 1-D vector. Found: {Shape(np.shape(value))}")
    if np.shape(shift) != np.shape(axis):
        raise InvalidArgumentError("shift and axis must have the same size")
    axes = [normalize_axis(a, np.ndim(x)) for a in numbers(axis)]
    return np.roll(x, numbers(shift), axes) if axes else x


@shape("Roll")
def roll_shape(x: TensorSpec, shift: TensorSpec, axis: TensorSpec) -> Shape:
    if x.rank == 0:
        raise InvalidArgumentError("input must be 1-D or higher")
    return x.shape


@gradient("Roll")
def roll_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, shift, axis = node.inputs
    return [g.Roll(grad, g.Neg(shift), axis), None, None]


layout("T.A -> T", "Roll")

zero_flops("ReverseSequence", "Roll")
