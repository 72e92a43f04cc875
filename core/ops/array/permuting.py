"""Ops that lay elements out in another order: Transpose, Reverse, Roll."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...registry.registry import arrays, gradient, kernel, layout, lower, onnx, shape, zero_cost
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, dims_of, merge_dims, merge_shapes, unknown_dims
from ..shared.argument_checks import require, require_rank
from ..shared.decompositions import by_ops
from ..shared.shape_arguments import ints, is_sized, normalize_axis, numbers, replaced


@kernel("Transpose", flops=zero_cost, facts=("shape_arithmetic", "total", "bounded_by_inputs", "half_clear"))
def transpose(x: Array, perm: Array) -> Result:
    """Permute the dimensions of the input to the order `perm`."""
    return x.transpose(_permutation(ints(perm, "perm"), x.ndim))


# Kept, as the same few permutations come again at every step: the check takes ten times as long as NumPy's transpose.
@functools.lru_cache(1024)
def _permutation(axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return the axes of a transpose; InvalidArgumentError unless they are a permutation."""
    if len(axes) != rank:
        raise InvalidArgumentError(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(axes)}")
    # TensorFlow takes negative dimensions here, though its documentation does not say so.
    if sorted(a + rank if a < 0 else a for a in axes) != list(range(rank)):
        raise InvalidArgumentError(f"{axes} is not a permutation of the dimensions 0 to {rank - 1}")
    return axes


@kernel("ConjugateTranspose", flops=zero_cost)
def conjugate_transpose(x: Array, perm: Array) -> Result:
    """Return the complex conjugate with its dimensions in the order `perm`."""
    x = np.asarray(x)
    return transpose(np.conj(x) if x.dtype.kind == "c" else x, perm)


@shape("Transpose", "ConjugateTranspose")
def transpose_shape(x: TensorSpec, perm: TensorSpec) -> Shape:
    require_rank(perm, 1, "perm")
    axes = dims_of(perm)
    if axes is None or x.rank is None:
        length = perm.shape[0] if is_sized(perm) else x.rank
        require(x.rank in (None, length), f"a permutation of {length} dimensions does not fit the shape {x.shape}")
        return unknown_dims(length)
    return Shape(x.shape[a] for a in _permutation(tuple(numbers(axes)), x.rank))


# InvertPermutation takes no negative dimensions, which the op itself does: TensorFlow has no gradient for those either.
gradient("Transpose", "ConjugateTranspose")(by_ops("same dy (InvertPermutation 1)"))


@kernel(
    "ReverseV2", gradient=by_ops("ReverseV2 dy 1"), flops=zero_cost, facts=("shape_arithmetic", "involution", "half_clear")
)
def reverse(x: Array, axes: Array) -> Result:
    """The input with the given dimensions reversed."""
    rank = np.ndim(x)
    # TensorFlow checks no axis of a scalar or of an empty tensor.
    if rank == 0 or np.size(x) == 0:
        return x
    dims = [normalize_axis(a, rank) for a in ints(axes, "axis")]
    if len(set(dims)) != len(dims):
        raise InvalidArgumentError(f"axis {dims} specified more than once.")
    return np.flip(x, tuple(dims)) if dims else x


@shape("ReverseV2")
def reverse_shape(x: TensorSpec, axes: TensorSpec) -> Shape:
    require_rank(axes, 1, "axis")
    positions = dims_of(axes)
    if positions is not None and x.rank is not None:
        axes_there = [normalize_axis(axis, x.rank) for axis in positions]
        require(len({*axes_there}) == len(axes_there), f"an axis is specified more than once: {positions}")
    return x.shape


layout("TA -> T", "ReverseV2")


@kernel("Reverse", gradient=by_ops("Reverse dy 1"), flops=zero_cost, facts=("involution", "half_clear"))
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
    return x.shape if x.rank is not None else unknown_dims(dims.shape[0])


@kernel("ReverseSequence", gradient=by_ops("ReverseSequence dy 1"), flops=zero_cost, facts=("half_clear",))
def reverse_sequence(x: Array, lengths: Array, *, seq_dim: int, batch_dim: int) -> Result:
    """Reverse the first `lengths[b]` steps of each batch entry."""
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


@kernel("Roll", gradient=by_ops("Roll dy (Neg 1) 2"), flops=zero_cost)
def roll(x: Array, shift: Array, axis: Array) -> Result:
    """The elements moved on by `shift` along each axis, around the end to the beginning."""
    if x.ndim < 1:
        raise InvalidArgumentError("input must be 1-D or higher")
    for name, value in (("shift", shift), ("axis", axis)):
        if value.ndim > 1:
            raise InvalidArgumentError(f"{name} must be a scalar or a 1-D vector. Found: {Shape(value.shape)}")
    if shift.shape != axis.shape:
        raise InvalidArgumentError("shift and axis must have the same size")
    # All axes are looked at before the first is moved along.
    axes = [normalize_axis(a, x.ndim) for a in numbers(axis)]
    for count, along in zip(numbers(shift), axes):
        x = _rolled(x, count, along)
    return x


def _rolled(x: Array, count: int, axis: int) -> Array:
    size = x.shape[axis]
    start = -count % size if size else 0
    if not start:
        return x
    before = (slice(None),) * axis
    # Two slices: np.roll prepares for any number of axes, which takes longer than moving a small tensor.
    return np.concatenate((x[(*before, slice(start, None))], x[(*before, slice(start))]), axis)


@shape("Roll")
def roll_shape(x: TensorSpec, shift: TensorSpec, axis: TensorSpec) -> Shape:
    if x.rank == 0:
        raise InvalidArgumentError("input must be 1-D or higher")
    merge_shapes(shift.shape, axis.shape)
    return x.shape


layout("T.A -> T", "Roll")
arrays("Transpose", static=(1,))(lambda xp, x, order: xp.transpose(x, order.tolist()))
arrays("ConjugateTranspose", static=(1,))(lambda xp, x, order: xp.transpose(xp.conj(x), order.tolist()))
lower("ReverseV2", static=(1,))(lambda xla, x, axes: xla.flip(x, tuple(axes.tolist())))


@lower("Reverse", static=(1,))
def _reverse_v1_lowering(xla: Any, x: Any, dims: Array) -> Any:
    if dims.shape != (x.ndim,):
        raise InvalidArgumentError(f"'dims' must have one flag for each of the {x.ndim} dimensions")
    return xla.flip(x, tuple(np.flatnonzero(dims).tolist()))


@lower("ReverseSequence")
def _reverse_sequence_lowering(xla: Any, x: Any, lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    steps = x.shape[seq_dim]
    if lengths.shape != (x.shape[batch_dim],) or seq_dim == batch_dim:
        raise InvalidArgumentError(f"lengths of shape {lengths.shape} do not fit {x.shape}")
    xla.require(((lengths >= 0) & (lengths <= steps)).all())
    times = np.arange(steps)
    index = xla.where(times < lengths[:, None], lengths[:, None] - 1 - times, times)
    moved = xla.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    taken = xla.take_along_axis(moved, index.reshape(*index.shape, *[1] * (x.ndim - 2)), 1)
    return xla.moveaxis(taken, (0, 1), (batch_dim, seq_dim))


@lower("Roll", static=(2,))
def _roll_lowering(xla: Any, x: Any, shift: Any, axis: Array) -> Any:
    if np.shape(shift) != np.shape(axis):
        raise InvalidArgumentError("shift and axis must have the same size")
    axes = [normalize_axis(a, x.ndim) for a in numbers(axis)]
    for count, place in zip(shift.reshape(-1), axes):
        x = xla.roll(x, count, place)
    return x


# ONNX has other forms, as its Slice takes axes that only the run knows, and ReverseSequence is an operator of its own.

_LAST = np.iinfo(np.int64).max


@onnx("ReverseV2")
def _reverse_v2_onnx(g: Any, x: Any, axis: Any) -> Any:
    if axis.array is not None and not axis.array.size:
        return x
    axes = g.vector(axis)
    # ONNX has no reversal: a slice of step -1 from the last element to before the first.
    last, step = (g.Expand(g.constant(np.int64(number)), g.dims(axes)) for number in (_LAST, -1))
    return g.Slice(x, last, g.Neg(last), axes, step)


@onnx("Reverse")
def _reverse_onnx(g: Any, x: Any, dims: Any) -> Any:
    """Slice with a step of -1 along reversed dimensions and of 1 along the rest."""
    if dims.array is not None:
        return _reverse_v2_onnx(g, x, g.constant(np.flatnonzero(dims.array)))
    if not g.rank(x):
        return x
    start, end, step = (g.Where(dims, g.constant(np.int64(a)), b) for a, b in ((_LAST, 0), (-_LAST, _LAST), (-1, 1)))
    return g.Slice(x, start, end, range(g.rank(x)), step)


@onnx("Roll")
def _roll_onnx(g: Any, x: Any, shift: Any, axis: Any) -> Any:
    """Rotate elements by the sum of the shifts along each axis."""
    shifts, axes = g.vector(shift), g.vector(axis)
    rank = g.rank(x)
    axes = g.Where(g.Less(axes, 0), g.Add(axes, rank), axes)
    for place in range(rank) if axes.array is None else sorted(set(axes.array.tolist())):
        # An axis may be named several times, and its shifts add up.
        by = g.ReduceSum(g.Where(g.Equal(axes, place), shifts, 0), keepdims=1)
        size = g.dim(x, place)
        start = g.Mod(g.Neg(by), g.Max(size, 1))
        x = g.Concat(g.slice(x, start, size, place), g.slice(x, 0, start, place), axis=place)
    return x


@onnx("ReverseSequence")
def _reverse_sequence_onnx(g: Any, x: Any, lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    """ONNX takes the first two dimensions only."""
    rank = g.rank(x)
    # ONNX knows both orders of the two dimensions; one of them is enough after a transpose.
    order = [seq_dim, batch_dim, *(axis for axis in range(rank) if axis not in (seq_dim, batch_dim))]
    turned = g.ReverseSequence(g.transpose(x, order), g.cast(lengths, dtypes.int64), time_axis=0, batch_axis=1)
    return g.transpose(turned, np.argsort(order).tolist())
