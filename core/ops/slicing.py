"""Slices: Slice, StridedSlice with its gradient and assignments, Split and Unpack, Where and Select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dims import Dim, DimLike, floor_div
from ..errors import InvalidArgumentError
from ..graph import Node, Output
from ..registry import Cost, facts, flops, gradient, kernel, layout, not_differentiable, shape, zero_flops
from ..shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_shapes
from ._checks import require_rank
from ._shapes import dims_of, ints, normalize_axis, replaced, scalar_int, scalar_of, shape_from, unknown_dims
from ._strided import Masks, numpy_index, sliced_shape
from ._variables import resource_variable

_MASK_NAMES = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@kernel("Slice")
def slice_(x: Array, begin: Array, size: Array) -> Result:
    """x[begin : begin + size] along each dimension; a size of -1 goes to the end."""
    starts, sizes = ints(begin, "begin"), ints(size, "size")
    dims = np.shape(x)
    if not len(starts) == len(sizes) == len(dims):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, "
            f"but got {len(starts)} and {len(sizes)} numbers"
        )
    windows = [_window(i, *item) for i, item in enumerate(zip(dims, starts, sizes))]
    return np.asarray(x)[(*windows, ...)]


def _window(i: int, dim: int, start: int, size: int) -> Any:
    if not 0 <= start <= dim:
        raise InvalidArgumentError(f"Expected begin[{i}] in [0, {dim}], but got {start}")
    if size == -1:
        return slice(start, dim)
    if not 0 <= size <= dim - start:
        raise InvalidArgumentError(f"Expected size[{i}] in [0, {dim - start}], but got {size}")
    return slice(start, start + size)


@shape("Slice")
def slice_shape(x: TensorSpec, begin: TensorSpec, size: TensorSpec) -> Shape:
    require_rank(begin, 1, "begin")
    require_rank(size, 1, "size")
    sizes = dims_of(size)
    if sizes is None:
        return unknown_dims(x.rank) if x.rank is not None else shape_from(size)
    starts = dims_of(begin) or [Dim.unknown()] * len(sizes)
    if x.rank is not None and not len(sizes) == len(starts) == x.rank:
        raise InvalidArgumentError(f"begin and size must have {x.rank} numbers, not {len(starts)} and {len(sizes)}")
    return Shape(_slice_dim(x.shape[i], start, n) for i, (start, n) in enumerate(zip(starts, sizes)))


def _slice_dim(dim: DimLike, start: DimLike, size: DimLike) -> DimLike:
    if size == -1:
        return dim - start
    if isinstance(dim, int) and isinstance(start, int) and isinstance(size, int) and not 0 <= size <= dim - start:
        raise InvalidArgumentError(f"a slice of {size} from {start} exceeds a dimension of {dim}")
    return size


@gradient("Slice")
def slice_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Zeros around the gradient: the paddings are (begin, shape - begin - size)."""
    x, begin, _ = node.inputs
    column = [-1, 1]
    dtype = begin.base_dtype
    after = g.Sub(g.Sub(g.Shape(x, out_type=dtype), begin), g.Shape(node.output(), out_type=dtype))
    paddings = g.ConcatV2([g.Reshape(begin, column), g.Reshape(after, column)], 1)
    return [g.Pad(grad, paddings), None, None]


layout("TVV -> T", "Slice")

zero_flops("Slice")
facts("shape_arithmetic", of=("Slice",))


@kernel("StridedSlice")
def strided_slice(
    x: Array,
    begin: Array,
    end: Array,
    strides: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Result:
    """NumPy's basic indexing, spelled as three vectors and five masks."""
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    x = np.asarray(x)
    return x[(*numpy_index(x.shape, begin, end, strides, masks), ...)]


@shape("StridedSlice")
def strided_slice_shape(
    x: TensorSpec,
    begin: TensorSpec,
    end: TensorSpec,
    strides: TensorSpec,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Shape:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return sliced_shape(x.shape, begin, end, strides, masks)


@gradient("StridedSlice")
def strided_slice_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, *vectors = node.inputs
    dtype = "int64" if vectors[0].base_dtype.name == "int64" else "int32"
    begin, end, strides = (v if v.base_dtype.name == dtype else g.Cast(v, DstT=dtype) for v in vectors)
    return [g.StridedSliceGrad(g.Shape(x, out_type=dtype), begin, end, strides, grad, **_masks(node)), None, None, None]


def _masks(node: Node) -> dict[Any, Any]:
    return {name: node.attr(name) for name in _MASK_NAMES}


layout("TVVV -> T", "StridedSlice")

zero_flops("StridedSlice")
facts("shape_arithmetic", of=("StridedSlice",))


@kernel("StridedSliceGrad")
def strided_slice_grad(
    dims: Array,
    begin: Array,
    end: Array,
    strides: Array,
    dy: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Result:
    """Zeros of shape `dims` with `dy` at the places that the slice takes."""
    dims = ints(dims, "shape")
    if any(d < 0 for d in dims):
        raise InvalidArgumentError(f"the shape {dims} has a negative dimension")
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    dy = np.asarray(dy)
    result = np.full(dims, b"", object) if dy.dtype == object else np.zeros(dims, dy.dtype)
    _write(result, numpy_index(result.shape, begin, end, strides, masks), dy)
    return result


def _write(target: Array, index: tuple[Any, ...], value: Array) -> None:
    """target[index] = value where the shapes are the same; InvalidArgumentError otherwise."""
    place = target[(*index, ...)]
    if place.shape != np.shape(value):
        raise InvalidArgumentError(f"shape of dy was {Shape(np.shape(value))} instead of {Shape(place.shape)}")
    place[...] = value


@shape("StridedSliceGrad")
def strided_slice_grad_shape(
    dims: TensorSpec, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, dy: TensorSpec
) -> Shape:
    return shape_from(dims)


@gradient("StridedSliceGrad")
def strided_slice_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, begin, end, strides, _ = node.inputs
    return [None, None, None, None, g.StridedSlice(grad, begin, end, strides, **_masks(node))]


zero_flops("StridedSliceGrad")


@kernel("TensorStridedSliceUpdate")
def tensor_strided_slice_update(
    x: Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Result:
    """A copy of `x` with the slice replaced by `value`."""
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = np.array(x)
    _assign_slice(result, numpy_index(result.shape, begin, end, strides, masks), value)
    return result


def _assign_slice(target: Array, index: tuple[Any, ...], value: Array) -> None:
    place = target[(*index, ...)]
    if place.size == 0:
        return
    try:
        place[...] = np.broadcast_to(value, place.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"slice of shape {Shape(place.shape)} cannot be assigned a value of shape {Shape(np.shape(value))}"
        ) from None


@shape("TensorStridedSliceUpdate")
def tensor_strided_slice_update_shape(
    x: TensorSpec,
    begin: TensorSpec,
    end: TensorSpec,
    strides: TensorSpec,
    value: TensorSpec,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Shape:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    sliced_shape(x.shape, begin, end, strides, masks)
    return x.shape


@gradient("TensorStridedSliceUpdate")
def tensor_strided_slice_update_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, begin, end, strides, value = node.inputs
    taken = g.StridedSlice(grad, begin, end, strides, **_masks(node))
    kept = g.TensorStridedSliceUpdate(grad, begin, end, strides, g.zeros_like(value), **_masks(node))
    return [kept, None, None, None, g.reduce_to(taken, value, taken)]


zero_flops("TensorStridedSliceUpdate")


@kernel("StridedSliceAssign")
def strided_slice_assign(
    ref: Any,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    """The variable, after its slice was replaced by `value`."""
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index = numpy_index(np.shape(ref.read()), begin, end, strides, masks)
    _assign_slice(ref.writable(), index, value)
    return ref


@shape("StridedSliceAssign")
def strided_slice_assign_shape(
    ref: TensorSpec, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, value: TensorSpec
) -> Any:
    return ref.shape


@kernel("ResourceStridedSliceAssign")
def resource_strided_slice_assign(
    handle: Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> None:
    """Replaces a slice of a resource variable by `value`."""
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    variable = resource_variable(handle)
    index = numpy_index(np.shape(variable.read()), begin, end, strides, masks)
    _assign_slice(variable.writable(), index, value)


@shape("ResourceStridedSliceAssign")
def resource_strided_slice_assign_shape(
    ref: TensorSpec, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, value: TensorSpec
) -> Any:
    return None


not_differentiable("StridedSliceAssign", "ResourceStridedSliceAssign")
zero_flops("StridedSliceAssign", "ResourceStridedSliceAssign")
facts("side_effect", of=("StridedSliceAssign", "ResourceStridedSliceAssign"))


@kernel("Split")
def split(axis: Array, x: Array, *, num_split: int) -> Sequence[Result]:
    """`num_split` equal parts along an axis."""
    x = np.asarray(x)
    if np.ndim(axis) != 0:
        raise InvalidArgumentError(f"split_dim must be a scalar but has rank {np.ndim(axis)}")
    axis = normalize_axis(scalar_int(axis, "split_dim"), x.ndim, "split_dim")
    if x.shape[axis] % num_split:
        raise InvalidArgumentError(
            "Number of ways to split should evenly divide the split dimension, "
            f"but got split_dim {axis} (size = {x.shape[axis]}) and num_split {num_split}"
        )
    size = x.shape[axis] // num_split
    before = (slice(None),) * axis
    return [x[(*before, slice(i * size, (i + 1) * size))] for i in range(num_split)]


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


@kernel("SplitV")
def split_v(x: Array, sizes: Array, axis: Array, *, num_split: int) -> Sequence[Result]:
    """Parts of the given sizes along an axis; one size may be -1."""
    x = np.asarray(x)
    if num_split == 1:
        return [x]
    axis = normalize_axis(scalar_int(axis, "split_dim"), x.ndim, "split_dim")
    lengths = _split_sizes(ints(sizes, "size_splits"), x.shape[axis], num_split)
    return np.split(x, np.cumsum(lengths)[:-1], axis)


def _split_sizes(sizes: Sequence[Any], total: int, num_split: int) -> list[Any]:
    """The sizes with -1 resolved; InvalidArgumentError where they do not add up."""
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
        return [unknown_dims(x.rank)] * num_split
    position = normalize_axis(position, x.rank, "split_dim")
    if lengths is None:
        return [replaced(x.shape, position, None) for _ in range(num_split)]
    if isinstance(x.shape[position], int) and all(isinstance(n, int) for n in lengths):
        lengths = _split_sizes(lengths, x.shape[position], num_split)
    return [replaced(x.shape, position, None if n == -1 else n) for n in lengths]


@gradient("SplitV")
def split_v_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return [g.ConcatV2(list(grads), node.inputs[2]) if len(grads) > 1 else grads[0], None, None]


layout("T.A -> T*", "SplitV")


@kernel("Unpack")
def unpack(x: Array, *, num: int, axis: int) -> Sequence[Result]:
    """The `num` slices along an axis, without it."""
    x = np.asarray(x)
    axis = normalize_axis(axis, x.ndim)
    if x.shape[axis] != num:
        raise InvalidArgumentError(f"Input shape axis {axis} must equal {num}, got shape {Shape(x.shape)}")
    moved = np.moveaxis(x, axis, 0)
    return [moved[i, ...] for i in range(num)]


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


@kernel("Select")
def select(condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, `e` elsewhere; a vector condition picks rows."""
    if condition.shape == t.shape == e.shape and t.shape:
        return np.where(condition, t, e)
    condition, t, e = np.asarray(condition), np.asarray(t), np.asarray(e)
    if t.shape != e.shape:
        raise InvalidArgumentError(f"'t' and 'e' must have the same size, but received: {Shape(t.shape)} vs. {Shape(e.shape)}")
    if condition.ndim == 0:
        return t if condition else e
    if condition.shape != t.shape:
        if condition.ndim != 1 or t.ndim < 1 or condition.shape[0] != t.shape[0]:
            raise InvalidArgumentError(f"a condition of shape {Shape(condition.shape)} does not fit {Shape(t.shape)}")
        condition = condition.reshape([-1] + [1] * (t.ndim - 1))
    return np.where(condition, t, e)


@shape("Select")
def select_shape(condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> Shape:
    return merge_shapes(t.shape, e.shape)


@gradient("Select")
def select_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    condition, x, _ = node.inputs
    zeros = g.zeros_like(x)
    return [None, g.Select(condition, grad, zeros), g.Select(condition, zeros, grad)]


layout("TTT -> T", "Select")


@kernel("SelectV2")
def select_v2(condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, `e` elsewhere, all three broadcast."""
    try:
        return np.where(condition, t, e)
    except ValueError:
        shapes = ", ".join(str(Shape(np.shape(v))) for v in (condition, t, e))
        raise InvalidArgumentError(f"condition, then and else do not broadcast: {shapes}") from None


@shape("SelectV2")
def select_v2_shape(condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> Shape:
    return broadcast_shapes(condition.shape, t.shape, e.shape)


@gradient("SelectV2")
def select_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    condition, x, y = node.inputs
    zero = g.scalar_like(grad, 0)
    result = node.output()
    return [
        None,
        g.reduce_to(g.SelectV2(condition, grad, zero), x, result),
        g.reduce_to(g.SelectV2(condition, zero, grad), y, result),
    ]


zero_flops("Select", "SelectV2")
facts("elementwise", of=("SelectV2",))


@kernel("Where")
def where(x: Array) -> Result:
    """The coordinates of the elements that are not zero, (n, rank)."""
    if np.ndim(x) == 0:
        raise InvalidArgumentError("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(x).astype(np.int64, copy=False)


@shape("Where")
def where_shape(x: TensorSpec) -> Shape:
    return Shape([None, x.rank])


@flops("Where")
def where_flops(x: TensorSpec) -> Cost:
    """Whether each element is zero."""
    return Cost(flops=x.shape.num_elements)


not_differentiable("Where")
