"""Blocks of space moved to batch or depth and back, patches of images and volumes, permutations between layouts."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.windows import pad as pad_space
from ...numerics.windows import strided_windows
from ...registry.registry import NOT_DIFFERENTIABLE, arrays, everywhere, facts, gradient, kernel, layout, shape, zero_cost
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dims import DimLike, ceil_div
from ...types.dtypes import int64
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, unknown_dims
from ..shared.argument_checks import is_empty, require_rank, with_rank
from ..shared.decompositions import by_ops
from ..shared.shape_arguments import ints, is_sized, numbers
from ..shared.window_geometry import window_pads


def _pairs(value: Any, count: int, name: str) -> list[tuple[Any, ...]]:
    """Return a (count, 2) input as pairs of ints; InvalidArgumentError for another shape or negative numbers.

    In an array program the run alone may know them.
    """
    if not isinstance(value, np.ndarray):
        flat = value.elements(2 * count)
        return list(zip(flat[::2], flat[1::2]))
    if np.shape(value) != (count, 2):
        raise InvalidArgumentError(f"{name} should have shape [{count}, 2] instead of {Shape(np.shape(value))}")
    flat = numbers(value)
    if any(n < 0 for n in flat):
        raise InvalidArgumentError(f"{name} must be non-negative: {flat}")
    return list(zip(flat[::2], flat[1::2]))


def _block(block_shape: Array, rank: int) -> tuple[int, ...]:
    """Return the block's sizes; InvalidArgumentError if they are not positive or too many."""
    sizes = ints(block_shape, "block_shape")
    _check_block(sizes, rank)
    return sizes


def _check_block(block: Sequence[DimLike], rank: int) -> None:
    if rank < 1 + len(block):
        raise InvalidArgumentError(f"input rank should be >= {1 + len(block)} instead of {rank}")
    if any(isinstance(size, int) and size < 1 for size in block):
        raise InvalidArgumentError(f"All values in block_shape must be positive, got {block}")


# Block sizes decide how many axes the blocks have, so that they must be known; in ONNX crops and pads may be inputs.
@everywhere("SpaceToBatchND", gradient=by_ops("BatchToSpaceND dy 1 2"), flops=zero_cost, static=(1, 2), sizes=(2,))
def space_to_batch_nd(xp: Any, x: Any, block_shape: Array, paddings: Any) -> Any:
    """Pads the spatial dimensions, cuts them into blocks and moves the places within a block in front of the batch."""
    block = _block(block_shape, x.ndim)
    count = len(block)
    pads = _pairs(paddings, count, "paddings")
    padded, dims = _into_batch(x.shape, block, pads)
    batch, rest = x.shape[0], x.shape[1 + count :]
    if any(not isinstance(width, int) or width for pair in pads for width in pair):
        x = xp.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - 1 - count)])
    if is_empty(xp, x):  # whose blocks may be larger than NumPy takes for a shape
        return xp.full(dims, 0, x.dtype)
    split = [n for size, dim in zip(block, padded) for n in (dim // size, size)]
    inner, outer = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    # The place within a block is the slowest index of the new batch, as TensorFlow lays it out.
    order = [*inner, 0, *outer, *range(1 + 2 * count, x.ndim + count)]
    return xp.reshape(xp.transpose(xp.reshape(x, (batch, *split, *rest)), order), dims)


def _into_batch(dims: Any, block: Sequence[Any], pads: Iterable[tuple[Any, Any]]) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the padded sizes of space, and all sizes after the blocks moved into the batch."""
    padded = [d + before + after for d, (before, after) in zip(dims[1:], pads)]
    for size, dim in zip(block, padded):
        if isinstance(dim, int) and isinstance(size, int) and dim % size:
            raise InvalidArgumentError(f"padded_shape = {padded} is not divisible by block_shape = {block}")
    blocks = (dim // size for dim, size in zip(padded, block))
    return padded, (dims[0] * math.prod(block), *blocks, *dims[1 + len(block) :])


def _blocks_shape(sizes: Callable[..., Any], x: TensorSpec, block_shape: TensorSpec, amounts: TensorSpec) -> Shape:
    """Return the shape after the blocks moved as `sizes` says, as far as the block and the pads or crops are known."""
    require_rank(block_shape, 1, "block_shape")
    block = dims_of(block_shape)
    if block is None and is_sized(block_shape):
        block = list(unknown_dims(block_shape.shape[0]))
    if x.rank is None or block is None:
        return unknown_dims(x.rank)
    _check_block(block, x.rank)
    known = dims_of(amounts)
    flat = list(unknown_dims(2 * len(block))) if known is None else known
    if len(flat) != 2 * len(block):
        raise InvalidArgumentError(f"{len(flat)} numbers are not two for each of {len(block)} dimensions")
    _, dims = sizes(x.shape, block, list(zip(flat[::2], flat[1::2])))
    return Shape(None if known is None and 0 < axis <= len(block) else dim for axis, dim in enumerate(dims))


@everywhere("BatchToSpaceND", gradient=by_ops("SpaceToBatchND dy 1 2"), flops=zero_cost, static=(1, 2), sizes=(2,))
def batch_to_space_nd(xp: Any, x: Any, block_shape: Array, crops: Any) -> Any:
    """The inverse of SpaceToBatchND: places within a block return from the batch, borders are cropped."""
    block = _block(block_shape, x.ndim)
    count = len(block)
    cuts = _pairs(crops, count, "crops")
    full, dims = _out_of_batch(x.shape, block, cuts)
    if is_empty(xp, x):  # whose blocks may be larger than NumPy takes for a shape
        return xp.full(dims, 0, x.dtype)
    batch, rest = dims[0], x.shape[1 + count :]
    order = [count, *(n for i in range(count) for n in (count + 1 + i, i)), *range(1 + 2 * count, x.ndim + count)]
    parts = xp.transpose(xp.reshape(x, (*block, batch, *x.shape[1:])), order)
    joined = xp.reshape(parts, (batch, *full, *rest))
    return joined[(slice(None), *(slice(before, dim - after) for dim, (before, after) in zip(full, cuts)))]


def _out_of_batch(dims: Any, block: Sequence[Any], cuts: Iterable[tuple[Any, Any]]) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the sizes of space before the crops, and all sizes after the blocks left the batch."""
    area = math.prod(block)
    if isinstance(dims[0], int) and isinstance(area, int) and dims[0] % area:
        raise InvalidArgumentError(f"Input batch dimension ({dims[0]}) is not divisible by product of block sizes {block}")
    full = [d * size for d, size in zip(dims[1:], block)]
    cropped = [dim - before - after for dim, (before, after) in zip(full, cuts)]
    if any(isinstance(dim, int) and dim < 0 for dim in cropped):
        raise InvalidArgumentError(f"cropped_shape must be non-negative: {cropped}")
    return full, (dims[0] // area, *cropped, *dims[1 + len(block) :])


shape("SpaceToBatchND")(functools.partial(_blocks_shape, _into_batch))
shape("BatchToSpaceND")(functools.partial(_blocks_shape, _out_of_batch))


@everywhere("SpaceToBatch", gradient=by_ops("BatchToSpace dy 1"), flops=zero_cost, static=(1,), sizes=(1,))
def space_to_batch(xp: Any, x: Any, paddings: Any, *, block_size: int) -> Any:
    """SpaceToBatchND with a square block."""
    _require_rank_4(x)
    return space_to_batch_nd(xp, x, _square(block_size), paddings)


@everywhere("BatchToSpace", gradient=by_ops("SpaceToBatch dy 1"), flops=zero_cost, static=(1,), sizes=(1,))
def batch_to_space(xp: Any, x: Any, crops: Any, *, block_size: int) -> Any:
    """BatchToSpaceND with a square block."""
    _require_rank_4(x)
    return batch_to_space_nd(xp, x, _square(block_size), crops)


def _square(size: int) -> Array:
    return np.array([size, size])


def _square_blocks_shape(sizes: Callable[..., Any], x: TensorSpec, amounts: TensorSpec, *, block_size: int) -> Shape:
    images = TensorSpec(x.dtype, Shape(with_rank(x.shape, 4)))
    return _blocks_shape(sizes, images, TensorSpec(int64, Shape([2]), _square(block_size)), amounts)


shape("SpaceToBatch")(functools.partial(_square_blocks_shape, _into_batch))
shape("BatchToSpace")(functools.partial(_square_blocks_shape, _out_of_batch))


def _require_rank_4(x: Any) -> None:
    if x.ndim != 4:
        raise InvalidArgumentError(f"Input rank should be 4 instead of {x.ndim}")


@everywhere("SpaceToDepth", gradient=by_ops("DepthToSpace dy"), flops=zero_cost, facts=("row_wise",))
def space_to_depth(xp: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    """Blocks of space, block_size x block_size, become depth."""
    x = _channels_last(xp, x, data_format)
    n, rows, columns, depth = _into_depth(x.shape, block_size)
    # In the new depth the old channels count fastest: each place of a block keeps its channels together.
    parts = xp.reshape(x, (n, rows, block_size, columns, block_size, x.shape[3]))
    blocks = xp.reshape(xp.transpose(parts, (0, 1, 3, 2, 4, 5)), (n, rows, columns, depth))
    return _original_format(xp, blocks, data_format)


def _into_depth(dims: Any, size: int) -> tuple[Any, ...]:
    """Return the sizes after blocks of space moved into depth."""
    n, h, w, c = dims
    if any(isinstance(dim, int) and dim % size for dim in (h, w)):
        raise InvalidArgumentError(f"Image width {w} and height {h} should be divisible by block_size: {size}")
    return n, h // size, w // size, size * size * c


def _original_format(xp: Any, x: Any, data_format: str) -> Any:
    return xp.transpose(x, (0, 3, 1, 2)) if data_format == "NCHW" else x


def _channels_last(xp: Any, x: Any, data_format: str) -> Any:
    """Return the input as NHWC."""
    if data_format == "NCHW_VECT_C":
        if x.ndim != 5:
            raise InvalidArgumentError(f"Input rank should be 5 instead of {x.ndim}")
        raise UnimplementedError("the layout NCHW_VECT_C exists on GPUs only")
    _require_rank_4(x)
    return xp.transpose(x, (0, 2, 3, 1)) if data_format == "NCHW" else x


def _depth_shape(sizes: Callable[..., Any], x: TensorSpec, *, block_size: int, data_format: str) -> Shape:
    if data_format == "NCHW_VECT_C" or x.rank is None:
        return UNKNOWN if data_format == "NCHW_VECT_C" else unknown_dims(4)
    require_rank(x, 4, "input")
    dims = list(x.shape)
    n, h, w, c = sizes([dims[0], *dims[2:], dims[1]] if data_format == "NCHW" else dims, block_size)
    return Shape((n, c, h, w) if data_format == "NCHW" else (n, h, w, c))


@everywhere("DepthToSpace", gradient=by_ops("SpaceToDepth dy"), flops=zero_cost, facts=("row_wise",))
def depth_to_space(xp: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    """Depth becomes blocks of space, block_size x block_size."""
    x = _channels_last(xp, x, data_format)
    n, h, w, _ = x.shape
    sizes = _out_of_depth(x.shape, block_size)
    blocks = xp.transpose(xp.reshape(x, (n, h, w, block_size, block_size, sizes[3])), (0, 1, 3, 2, 4, 5))
    return _original_format(xp, xp.reshape(blocks, sizes), data_format)


def _out_of_depth(dims: Any, size: int) -> tuple[Any, ...]:
    """Return the sizes after depth moved into blocks of space."""
    n, h, w, c = dims
    if isinstance(c, int) and c % (size * size):
        raise InvalidArgumentError(f"Input depth dimension {c} should be divisible by: {size * size}")
    return n, h * size, w * size, c // (size * size)


shape("SpaceToDepth")(functools.partial(_depth_shape, _into_depth))
shape("DepthToSpace")(functools.partial(_depth_shape, _out_of_depth))
layout("T -> T", "DepthToSpace", "SpaceToDepth")


def _check_formats(src_format: str, dst_format: str) -> None:
    if len(set(src_format)) != len(src_format) or len(src_format) not in (4, 5) or sorted(src_format) != sorted(dst_format):
        raise InvalidArgumentError(f"'{src_format}' and '{dst_format}' are not two orders of the same 4 or 5 dimensions")


@everywhere("DataFormatDimMap", shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=zero_cost, facts=("elementwise",))
def data_format_dim_map(xp: Any, x: Any, *, src_format: str, dst_format: str) -> Any:
    """Convert dimension numbers from one layout to another; negative numbers count from the end."""
    _check_formats(src_format, dst_format)
    table = np.array([dst_format.index(name) for name in src_format])
    return xp.take(table, xp.mod(x, len(table)), 0).astype(x.dtype)


@everywhere("DataFormatVecPermute", shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
def data_format_vec_permute(xp: Any, x: Any, *, src_format: str, dst_format: str) -> Any:
    """Permute a vector with a number for each dimension, or rows of pairs, into the order of another layout."""
    return xp.take(x, np.array(_order_of_rows(x.shape, src_format, dst_format)), 0)


def _order_of_rows(shape: tuple[int, ...], src_format: str, dst_format: str) -> list[int]:
    """Return for each dimension of the other layout the row that has its number."""
    _check_formats(src_format, dst_format)
    if len(shape) not in (1, 2):
        raise InvalidArgumentError(f"input must be a vector or 2-D tensor, but got shape {Shape(shape)}")
    if len(shape) == 2 and shape[1] != 2:
        raise InvalidArgumentError(f"Second dimension of 2-D input must be of size 2, but got shape {Shape(shape)}")
    full = len(src_format)
    if shape[0] not in (full, full - 2):
        raise InvalidArgumentError(f"the first dimension must be {full - 2} or {full}, but got shape {Shape(shape)}")
    # A vector may be for the spatial dimensions alone, such as strides without batch and channels.
    if shape[0] == full - 2:
        src_format, dst_format = (_spatial_only(name) for name in (src_format, dst_format))
    return [src_format.index(name) for name in dst_format]


def _spatial_only(layout: str) -> str:
    names = "HW" if len(layout) == 4 else "DHW"
    if not set(names) <= set(layout):
        raise InvalidArgumentError(f"'{layout}' must contain {' and '.join(names)} to be applied to {len(names)} numbers")
    return "".join(name for name in layout if name in names)


@kernel("ExtractImagePatches", flops=zero_cost, facts=("row_wise",))
def extract_image_patches(images: Array, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Result:
    """Patches of (n, h, w, c) laid out in depth: (n, rows, columns, kh kw c)."""
    images = np.asarray(images)
    if images.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional {Shape(images.shape)}")
    _check_windows(4, ksizes=ksizes, strides=strides, rates=rates)
    return _patches(images, ksizes[1:3], strides[1:3], rates[1:3], padding)


def _patches(x: Array, sizes: list[int], strides: list[int], rates: Sequence[int], padding: str) -> Array:
    """Return the windows of the spatial dimensions as a single strided view."""
    spatial = x.shape[1:-1]
    counts = [
        _window_count(d, (size - 1) * rate + 1, stride, padding)
        for d, size, rate, stride in zip(spatial, sizes, rates, strides)
    ]
    x = pad_space(x, window_pads(spatial, sizes, strides, rates, padding))
    if min(counts) == 0 or x.size == 0:
        return np.zeros((x.shape[0], *counts, math.prod(sizes) * x.shape[-1]), x.dtype)
    # A view: the reshape below makes the only copy.
    view = strided_windows(x, counts, sizes, strides, rates)
    return view.reshape(x.shape[0], *counts, math.prod(sizes) * x.shape[-1])


def _window_count(size: int, extent: int, stride: int, padding: str) -> int:
    return -(-size // stride) if padding == "SAME" else max(-(-(size - extent + 1) // stride), 0)


@shape("ExtractImagePatches")
def extract_image_patches_shape(
    images: TensorSpec, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> Shape:
    require_rank(images, 4, "images")
    _check_windows(4, ksizes=ksizes, strides=strides, rates=rates)
    return _patches_shape(images.shape, ksizes[1:3], strides[1:3], rates[1:3], padding)


def _patches_shape(dims: Shape, sizes: list[int], strides: list[int], rates: Sequence[int], padding: str) -> Shape:
    if dims.rank is None:
        return unknown_dims(len(sizes) + 2)
    counts: list[DimLike] = []
    for dim, size, stride, rate in zip(dims[1:-1], sizes, strides, rates):
        extent = (size - 1) * rate + 1
        if isinstance(dim, int):
            counts.append(_window_count(dim, extent, stride, padding))
        else:
            counts.append(ceil_div(dim if padding == "SAME" else dim - extent + 1, stride))
    return Shape([dims[0], *counts, dims[-1] * math.prod(sizes)])


@gradient("ExtractImagePatches")
def extract_image_patches_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_patches_gradient(g, node, grad, node.attr("rates"))]


def _patches_gradient(g: GradientBuilder, node: Node, grad: Output, rates: list[int] | None) -> Output:
    """Patches of the positions tell where each element of the gradient belongs; position 0 is the padding."""
    x = node.inputs[0]
    source = g.Shape(x, out_type="int64")
    inner = g.StridedSlice(source, [1], [0], [1], end_mask=1)
    total = g.Prod(inner, [0])
    one = g.constant(1, "int64")
    # From 1 on, since padding is filled with zeros.
    positions = g.Reshape(g.Range(one, g.AddV2(total, one), one), g.ConcatV2([g.constant([1], "int64"), inner], 0))
    attrs = {name: node.attr(name) for name in ("ksizes", "strides", "padding")}
    if rates is not None:
        attrs["rates"] = rates
    taken = g.Reshape(g.apply(node.op, positions, **attrs), [-1])
    batch = g.StridedSlice(source, [0], [1], [1])
    columns = g.Reshape(g.Shape(taken, out_type="int64"), [1])
    rows = g.Transpose(g.Reshape(grad, g.ConcatV2([batch, columns], 0)), [1, 0])
    # Elements that several windows take are summed by their position, and what belongs to the padding gathers at position 0.
    summed = g.UnsortedSegmentSum(rows, taken, g.Cast(g.AddV2(total, one), DstT="int32"))
    summed_pixels = g.StridedSlice(summed, [1], [0], [1], end_mask=1)
    return g.Reshape(g.Transpose(summed_pixels, [1, 0]), source)


@kernel("ExtractVolumePatches", flops=zero_cost, facts=("row_wise",))
def extract_volume_patches(x: Array, *, ksizes: list[int], strides: list[int], padding: str) -> Result:
    """Patches of (n, d, h, w, c) laid out in depth."""
    x = np.asarray(x)
    if x.ndim != 5:
        raise InvalidArgumentError(f"input must be 5-dimensional {Shape(x.shape)}")
    _check_windows(5, ksizes=ksizes, strides=strides)
    return _patches(x, ksizes[1:4], strides[1:4], (1, 1, 1), padding)


def _check_windows(rank: int, **settings: Any) -> None:
    for name, values in settings.items():
        if len(values) != rank or any(v < 1 for v in values):
            raise InvalidArgumentError(f"{name} must be {rank} positive numbers, not {values}")
        if values[0] != 1 or values[-1] != 1:
            raise UnimplementedError(f"Only support {name} across space, not {values}")


@shape("ExtractVolumePatches")
def extract_volume_patches_shape(x: TensorSpec, *, ksizes: list[int], strides: list[int], padding: str) -> Shape:
    require_rank(x, 5, "input")
    _check_windows(5, ksizes=ksizes, strides=strides)
    return _patches_shape(x.shape, ksizes[1:4], strides[1:4], (1, 1, 1), padding)


@gradient("ExtractVolumePatches")
def extract_volume_patches_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_patches_gradient(g, node, grad, None)]


facts("half_clear", of=["BatchToSpace", "BatchToSpaceND", "DepthToSpace", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth"])


@arrays("ExtractImagePatches")
def _image_patches_arrays(
    xp: Any, images: Any, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> Any:
    """Return the windows of images laid out in depth."""
    return _windows_in_depth(xp, images, ksizes[1:3], strides[1:3], rates[1:3], padding)


@arrays("ExtractVolumePatches")
def _volume_patches_arrays(xp: Any, x: Any, *, ksizes: list[int], strides: list[int], padding: str) -> Any:
    """Return the windows of volumes laid out in depth."""
    return _windows_in_depth(xp, x, ksizes[1:4], strides[1:4], (1, 1, 1), padding)


def _windows_in_depth(
    xp: Any, x: Any, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> Any:
    """Return the windows of the spatial dimensions laid out in depth, place by place."""
    extents = [(size - 1) * rate + 1 for size, rate in zip(sizes, rates)]
    pads = window_pads(x.shape[1:-1], sizes, strides, rates, padding)
    padded = xp.pad(x, [(0, 0), *pads, (0, 0)])
    counts = [max((dim - extent) // stride + 1, 0) for dim, extent, stride in zip(padded.shape[1:], extents, strides)]
    # Slices of a negative length would count from the end.
    if not min(counts):
        return xp.zeros((x.shape[0], *counts, math.prod(sizes) * x.shape[-1]), x.dtype)
    taken = []
    for place in itertools.product(*map(range, sizes)):
        starts = [at * rate for at, rate in zip(place, rates)]
        # All windows' elements at one place at a time: as many slices as the window has places, however large the image.
        spans = [slice(start, start + (n - 1) * step + 1, step) for start, n, step in zip(starts, counts, strides)]
        taken.append(padded[(slice(None), *spans)])
    return xp.concatenate(taken, -1)
