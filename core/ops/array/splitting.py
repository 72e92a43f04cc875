"""Split, SplitV and Unpack: ops that divide a tensor into several."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.constant_inputs import prepared
from ...registry.registry import facts, gradient, kernel, layout, lower, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike, floor_div, may_stand_for_rest
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..control import _onnx_lists as lists
from ..shared.argument_checks import require, scalar
from ..shared.shape_arguments import (
    dims_of,
    ints,
    normalize_axis,
    number,
    replaced,
    scalar_int,
    scalar_of,
    unknown_dims,
)


@kernel("Split")
def split(axis: Array, x: Array, *, num_split: int) -> Sequence[Result]:
    """`num_split` equal parts along an axis."""
    x = np.asarray(x)
    return [x[window] for window in _equal_windows(x.shape, number(scalar(axis, "split_dim")), num_split)]


@prepared("Split", constants=(0,))
def split_along(axis: Array, *, num_split: int) -> Callable[..., Sequence[Result]]:
    """`split` along the same axis each time."""
    place = number(scalar(axis, "split_dim"))
    require(num_split > 1, "a single part is not a list")
    return lambda axis, x: [x[window] for window in _equal_windows(x.shape, place, num_split)]


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

zero_flops("Split")
facts("shape_arithmetic", of=("Split",))
facts("bounded_by_inputs", of=("Split",))


@kernel("SplitV")
def split_v(x: Array, sizes: Array, axis: Array, *, num_split: int) -> Sequence[Result]:
    """Return parts of the given sizes along an axis; a single size may be -1."""
    x = np.asarray(x)
    if num_split == 1:
        return [x]
    parts = _unequal_parts(x.shape, scalar_int(axis, "split_dim"), ints(sizes, "size_splits"), num_split)
    return [x[place] for place in parts]


@prepared("SplitV", constants=(1, 2))
def split_v_along(sizes: Array, axis: Array, *, num_split: int) -> Callable[..., Sequence[Result]]:
    """`split_v` into parts of the same sizes along the same axis each time."""
    place, lengths = scalar_int(axis, "split_dim"), ints(sizes, "size_splits")
    require(num_split > 1, "a single part is not a list")
    return lambda x, sizes, axis: [x[part] for part in _unequal_parts(x.shape, place, lengths, num_split)]


@functools.lru_cache(1024)
def _unequal_parts(dims: tuple[int, ...], axis: int, sizes: tuple[int, ...], num_split: int) -> list[tuple[Any, ...]]:
    """The indices of parts of the given sizes; the same few come again at every step."""
    axis = normalize_axis(axis, len(dims), "split_dim")
    lengths = _split_sizes(sizes, dims[axis], num_split)
    before = (slice(None),) * axis
    return [(*before, slice(end - size, end)) for size, end in zip(lengths, itertools.accumulate(lengths))]


def _split_sizes(sizes: Sequence[Any], total: int, num_split: int) -> list[Any]:
    """Return the sizes with -1 resolved; InvalidArgumentError where they do not add up."""
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


@kernel("Unpack")
def unpack(x: Array, *, num: int, axis: int) -> Sequence[Result]:
    """Return the `num` slices along an axis, without that axis."""
    return [x[place] for place in _places(x.shape, axis, num)]


@functools.lru_cache(1024)
def _places(dims: tuple[int, ...], axis: int, num: int) -> list[tuple[Any, ...]]:
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


zero_flops("SplitV", "Unpack")
facts("shape_arithmetic", of=("SplitV", "Unpack"))
facts("bounded_by_inputs", of=("SplitV", "Unpack"))


@lower("Split", static=(0,))
def _split_lowering(xla: Any, axis: Array, x: Any, *, num_split: int) -> Any:
    return tuple(xla.split(x, num_split, int(axis)))


@lower("SplitV", static=(1, 2))
def _split_v_lowering(xla: Any, x: Any, sizes: Array, axis: Array) -> Any:
    rest = x.shape[int(axis)] - sizes[sizes >= 0].sum()
    return tuple(xla.split(x, np.cumsum(np.where(sizes < 0, rest, sizes))[:-1].tolist(), int(axis)))


@lower("Unpack")
def _unpack_lowering(xla: Any, x: Any, *, num: int, axis: int) -> Any:
    return tuple(xla.squeeze(part, axis) for part in xla.split(x, num, axis)) if num else ()


@onnx("Split")
def _split_onnx(g: Any, axis: Any, x: Any, *, num_split: int) -> Any:
    return g.split(x, num_split, g.axis(axis, x.rank, lambda place: _divides(num_split, x.shape[place])))


def _divides(count: int, size: DimLike) -> bool:
    """False for a dimension that is known not to be a multiple of `count`."""
    return not isinstance(size, int) or size % count == 0


@onnx("SplitV")
def _split_v_onnx(g: Any, x: Any, sizes: Any, axis: Any, *, num_split: int, outputs: list[TensorSpec]) -> Any:
    """Split by sizes; a size of -1 takes the rest."""
    if num_split == 1:
        return [x]
    place = g.axis(axis, x.rank, lambda place: _holds(sizes.array, x.shape[place]))
    lengths = g.vector(sizes)
    known = sizes.spec.value if sizes.array is None else sizes.array
    if known is None or any(map(may_stand_for_rest, known.tolist())):
        rest = g.Sub(g.dim(x, place), g.Add(g.ReduceSum(lengths, [0]), 1))
        lengths = g.Where(g.Equal(lengths, -1), rest, lengths)
    return g.Split(x, lengths, outputs=num_split, axis=place)


def _holds(sizes: Array | None, size: DimLike) -> bool:
    """Return False for a known dimension that differs from the sum of `sizes`."""
    if sizes is None or not isinstance(size, int):
        return True
    total = int(sizes[sizes >= 0].sum())
    return size >= total if -1 in sizes else size == total


@onnx("Unpack")
def _unpack_onnx(g: Any, x: Any, *, num: int, axis: int) -> Any:
    if isinstance(x, lists.Pieces):
        return list(x.items)
    if x.is_stacked:
        g.refuse("the number of its lists is unknown")
    return [g.squeeze(part, axis) for part in g.split(x, num, axis)]


facts("of_lists", of=["Unpack"])


facts("half_clear", of=["Split", "SplitV"])
