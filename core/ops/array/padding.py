"""Pads and tiles: Tile, Pad, MirrorPad and the ops of their gradients."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.array_namespace import NUMPY
from ...registry.registry import (
    WITHOUT_GRADIENT,
    arrays,
    facts,
    gradient,
    kernel,
    layout,
    lower,
    onnx,
    shape,
    zero_cost,
    zero_flops,
)
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, dims_of, merge_dims, unknown_dims
from ..shared.argument_checks import require_rank
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import reduction_flops
from ..shared.shape_arguments import ints, numbers

_NOT_TILED = ("uint16", "float8_e5m2", "float8_e4m3fn")
"""Names of NumPy dtypes: the dtypes themselves would import ml_dtypes with this file."""


@kernel("Tile", flops=zero_cost, facts=("shape_arithmetic", "total", "same_shape_same_value", "bounded_by_inputs"))
def tile(x: Array, multiples: Array) -> Result:
    """The input repeated `multiples[i]` times along dimension i."""
    times = ints(multiples, "multiples")
    if len(times) != np.ndim(x):
        raise InvalidArgumentError(f"Expected multiples to be a vector of length {np.ndim(x)} but got length {len(times)}")
    for i, count in enumerate(times):
        if count < 0:
            raise InvalidArgumentError(f"Expected multiples[{i}] >= 0, but got {count}")
    # TensorFlow checks the product of all sizes before it allocates; NumPy's error would be another.
    if x.size * math.prod(times) >= 1 << 63:
        raise InvalidArgumentError(f"Encountered overflow when multiplying {x.shape} with {times}")
    # A result that is the input, or empty, TensorFlow returns before it asks for the dtype.
    if x.dtype.name in _NOT_TILED and any(count != 1 for count in times) and x.size * math.prod(times):
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
    # The pairs (copies, size) of all dimensions in a row: Tile lays out the copies of a dimension one after another.
    interleaved = g.Reshape(g.Transpose(g.Pack([multiples, source]), [1, 0]), [-1])
    axes = g.Range(0, g.Size(interleaved), 2)
    return [g.Sum(g.Reshape(grad, interleaved), axes), None]


@kernel("TileGrad", gradient=WITHOUT_GRADIENT, flops=reduction_flops, facts=("backward",))
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


@kernel("Pad", flops=zero_cost, facts=("same_shape_same_value", "bounded_by_inputs"))
def pad(x: Array, paddings: Array) -> Result:
    """Zeros before and after each dimension; paddings is (rank, 2)."""
    x = np.asarray(x)
    return NUMPY.pad(x, _paddings(paddings, x.ndim))


@shape("Pad")
def pad_shape(x: TensorSpec, paddings: TensorSpec) -> Shape:
    require_rank(paddings, 2, "paddings")
    widths = dims_of(paddings)
    rank = x.rank
    if rank is None and paddings.rank == 2 and isinstance(paddings.shape[0], int):
        rank = paddings.shape[0]
    if rank is not None and paddings.rank == 2:
        merge_dims(paddings.shape[0], rank)
    if rank is None or x.rank is None or widths is None:
        return unknown_dims(rank)
    if any(isinstance(n, int) and n < 0 for n in widths):
        raise InvalidArgumentError(f"Paddings must be non-negative: {widths}")
    return Shape(d + before + after for d, before, after in zip(x.shape, widths[::2], widths[1::2]))


@gradient("Pad", "PadV2")
def pad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, paddings = node.inputs[:2]
    source = g.Shape(x, out_type=paddings.base_dtype)
    # paddings[:, 0]
    before = g.StridedSlice(paddings, [0, 0], [0, 1], [1, 1], begin_mask=3, end_mask=1, shrink_axis_mask=2)
    # TensorFlow has no gradient for the constant.
    return [g.Slice(grad, before, source), *[None] * (len(node.inputs) - 1)]


layout("TV -> T", "Tile", "Pad", "MirrorPad")


@kernel("PadV2", flops=zero_cost, facts=("same_shape_same_value",))
def pad_v2(x: Array, paddings: Array, constant: Array) -> Result:
    """A constant before and after each dimension; paddings is (rank, 2)."""
    if np.ndim(constant) != 0:
        raise InvalidArgumentError(f"constant_values must be a scalar. Found: {Shape(np.shape(constant))}")
    x = np.asarray(x)
    return NUMPY.pad(x, _paddings(paddings, x.ndim), constant)


def _paddings(paddings: Array, rank: int) -> list[tuple[int, ...]]:
    """Return the paddings as pairs; InvalidArgumentError if they are not (rank, 2) or negative."""
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


layout("TV. -> T", "PadV2")


@lower("MirrorPad", static=(1,))
def mirror_pad(xp: Any, x: Any, paddings: Array, *, mode: str) -> Any:
    """Pad the input by its mirror image, with (SYMMETRIC) or without (REFLECT) the border itself."""
    border = int(mode == "REFLECT")
    for axis, (before, after) in enumerate(_mirror_paddings(paddings, x.shape, mode)):
        lead = (slice(None),) * axis
        # Slices that count from the ends need no size, so that ONNX takes dimensions that only the run knows.
        left = x[(*lead, slice(before - 1 + border, border - 1 if border else None, -1))] if before else None
        right = x[(*lead, slice(-1 - border, -1 - border - after, -1))] if after else None
        x = xp.concatenate([part for part in (left, x, right) if part is not None], axis) if before or after else x
    return x


kernel("MirrorPad")(functools.partial(mirror_pad, NUMPY))


def _mirror_paddings(paddings: Array, dims: Sequence[Any], mode: str) -> list[tuple[int, ...]]:
    """Return the paddings as pairs; InvalidArgumentError if a known dimension has fewer elements to mirror."""
    pairs = _paddings(paddings, len(dims))
    offset = int(mode == "REFLECT")
    for (before, after), d in zip(pairs, dims):
        if isinstance(d, int) and (before > d - offset or after > d - offset):
            raise InvalidArgumentError(
                f"paddings must be no greater than the dimension {d}{' minus one' * offset}, not {before} and {after}"
            )
    return pairs


shape("MirrorPad")(pad_shape)
gradient("MirrorPad")(by_ops("MirrorPadGrad dy 1"))
zero_flops("MirrorPad")
facts("same_shape_same_value", "bounded_by_inputs", of=("MirrorPad",))


@kernel("MirrorPadGrad", gradient=by_ops("MirrorPad dy 1"), flops=reduction_flops, facts=("backward",))
def mirror_pad_grad(grad: Array, paddings: Array, *, mode: str) -> Result:
    """Return the gradient of MirrorPad: gradients at mirrored places are added to the gradients of their sources."""
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
    # Both mirrored parts may reach the same elements: each addition is a step of its own.
    result[offset : offset + before] += moved[:before][::-1]
    result[size - offset - after : size - offset] += moved[before + size :][::-1]
    return np.moveaxis(result, 0, axis)


@shape("MirrorPadGrad")
def mirror_pad_grad_shape(grad: TensorSpec, paddings: TensorSpec) -> Shape:
    widths = dims_of(paddings)
    if grad.rank is None or widths is None:
        return unknown_dims(grad.rank if grad.rank is not None else paddings.shape[0])
    return Shape(d - before - after for d, before, after in zip(grad.shape, widths[::2], widths[1::2]))


lower("Pad", static=(1,))(lambda xla, x, paddings: xla.pad(x, paddings.tolist()))
lower("PadV2", static=(1,))(lambda xla, x, paddings, constant: xla.pad(x, paddings.tolist(), constant_values=constant))
arrays("Tile", static=(1,), sizes=(1,))(lambda xp, x, multiples: xp.tile(x, multiples))
# JAX would differentiate by the constant, too, for which TensorFlow has no gradient.
facts("own_gradient", of=["PadV2"])


@arrays("MirrorPadGrad", static=(1,))
def _mirror_pad_grad_arrays(xp: Any, grad: Any, paddings: Array, *, mode: str) -> Any:
    """Reverse the mirrored parts and add them where they came from."""
    border = int(mode == "REFLECT")
    for axis, (before, after) in enumerate(paddings.tolist()):
        size = grad.shape[axis] - before - after
        lead = (slice(None),) * axis
        total = grad[(*lead, slice(before, before + size))]
        for part, first in ((slice(0, before), border), (slice(before + size, None), size - border - after)):
            mirrored = grad[(*lead, part)][(*lead, slice(None, None, -1))]
            # The mirrored part among zeros, at the place of its sources.
            around = (first, size - first - (before if part.start == 0 else after))
            total = total + xp.pad(mirrored, [around if i == axis else (0, 0) for i in range(grad.ndim)])
        grad = total
    return grad


# ONNX's operator takes paddings that only the run knows, from which XLA could not tell the shape.
@onnx("Pad", "PadV2")
def _padded(g: Any, x: Any, paddings: Any, *values: Any, **mode: str) -> Any:
    """ONNX has all paddings before, then all after; a scalar has none."""
    # ONNX's Pad takes no scalars.
    if x.rank == 0:
        return x
    return g.Pad(x, g.reshape(g.Transpose(g.cast(paddings, dtypes.int64), perm=[1, 0]), [-1]), *values, **mode)


@onnx("MirrorPad")
def _mirror_pad_onnx(g: Any, x: Any, paddings: Any, *, mode: str) -> Any:
    """Pad by ONNX's operator, which takes computed paddings; mode SYMMETRIC, which it lacks, as the program does."""
    if mode == "REFLECT":
        return _padded(g, x, paddings, mode="reflect")
    return g.evaluate(mirror_pad, (1,), (), (x, paddings), {"mode": mode})


facts("half_clear", of=["MirrorPad", "MirrorPadGrad", "Pad", "PadV2", "Tile"])
