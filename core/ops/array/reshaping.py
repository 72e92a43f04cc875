"""Ops that change shapes, fill tensors of a given shape, or return shape, rank and size of a tensor."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import arrays, arrays_as, estimate, facts, gradient, kernel, layout, lower, onnx, shape, zero_cost
from ...runtime.state import variants
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike, floor_div, may_stand_for_rest
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, as_dims, dims_of, merge_shapes, shape_from, unknown_dims
from ..control import _onnx_lists as lists
from ..shared.argument_checks import is_empty, require, require_rank
from ..shared.decompositions import by_ops
from ..shared.shape_arguments import ints, normalize_axis, scalar_int, scalar_of, scalar_value, shape_value
from ..shared.sparse_tensors import vectors

_SIZES = "ilq"
"""NumPy's type characters of int32 and int64."""
_MOST_DIMS = 64
"""The largest rank that NumPy knows."""


@kernel("Reshape", flops=zero_cost, facts=("same_shape_same_value", "half_clear"))
def reshape(x: Array, dims: Array) -> Result:
    """Reshape the input; a single dimension may be -1."""
    # The usual case first: checks in Python take longer than NumPy's reshape.
    if dims.dtype.char in _SIZES and dims.ndim == 1:
        sizes = dims.tolist()
        if not sizes or (least := min(sizes)) >= 0 or (least == -1 and x.size and sizes.count(-1) == 1):
            try:
                return x.reshape(sizes)
            except ValueError:
                pass  # the slow path below names the error
    return _reshaped(x, dims)


def _reshaped(x: Array, dims: Array) -> Result:
    """`reshape` where a dimension is -1, or something is wrong."""
    if np.ndim(dims) > 1:
        raise InvalidArgumentError(f"sizes input must be 1-D, not {Shape(np.shape(dims))}")
    sizes = np.ravel(dims).tolist() if np.ndim(dims) == 0 else dims.tolist()
    x = np.asarray(x)
    unknown = [i for i, d in enumerate(sizes) if d == -1]
    if len(unknown) > 1 or any(d < -1 for d in sizes):
        raise InvalidArgumentError(f"cannot reshape to {sizes}: sizes must be non-negative, one of them may be -1")
    if unknown:
        sizes[unknown[0]] = _inferred(x, [d for d in sizes if d != -1])
    # Before the reshape, whose error would not tell TensorFlow's limit from NumPy's.
    _check_rank(len(sizes))
    if math.prod(sizes) != x.size:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has {math.prod(sizes)}"
        )
    return x.reshape(sizes)


def _inferred(x: Array, others: list[int]) -> int:
    """Return the dimension that makes up for the others; zeros among both shapes cancel out."""
    # TensorFlow finds the size beside zeros by the other sizes: (0, 3) as (0, -1) is (0, 3).
    rest = math.prod(d for d in others if d)
    count = math.prod(d for d in x.shape if d) if 0 in others else x.size
    if count % rest:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape requires a multiple of {rest}"
        )
    return count // rest


def _check_rank(rank: int) -> None:
    if rank > 253:
        raise InvalidArgumentError(f"a tensor of {rank} dimensions has too many: TensorFlow allows 253")
    if rank > _MOST_DIMS:
        raise UnimplementedError(f"NumPy has arrays of up to {_MOST_DIMS} dimensions, not {rank}")


@shape("Reshape")
def reshape_shape(x: TensorSpec, dims: TensorSpec, is_likely: bool = False) -> Shape | TensorSpec:
    """The wanted shape, with a known value in it: the kernel cannot reshape to a symbolic size that follows from others."""
    sizes = dims_of(dims)
    if sizes is None:
        # All elements are in a row.
        return Shape([x.shape.num_elements]) if dims.shape == Shape([1]) else shape_from(dims)
    result = Shape(_resolved(sizes, x.shape, is_likely))
    fits = x.value is not None and result.is_known and math.prod(result.known()) == x.value.size
    return TensorSpec(x.dtype, result, x.value.reshape(result.known())) if fits and x.value is not None else result


@estimate("Reshape")
def reshape_estimate(x: TensorSpec, dims: TensorSpec) -> Shape | TensorSpec:
    """The wanted shape, where no unknown size is 0."""
    return reshape_shape(x, dims, is_likely=True)


facts("view", of=("Reshape", "ExpandDims", "Squeeze"))
gradient("Reshape", "ExpandDims", "Squeeze")(by_ops("Reshape dy #0"))
facts("finds_size", "shape_arithmetic", "total", "inexpensive", "alias_view", of=("Reshape",))


@kernel("ExpandDims", flops=zero_cost, facts=("half_clear",))
def expand_dims(x: Array, axis: Array) -> Result:
    """The input with a dimension of 1 inserted at `axis`."""
    dims = x.shape
    axis = normalize_axis(scalar_int(axis, "dim"), len(dims) + 1, "dim")
    # np.expand_dims would double the time of the kernel.
    return x.reshape((*dims[:axis], 1, *dims[axis:]))


@shape("ExpandDims")
def expand_dims_shape(x: TensorSpec, axis: TensorSpec) -> Shape:
    if x.rank is None:
        return UNKNOWN
    position = scalar_of(axis)
    if position is None:
        return unknown_dims(x.rank + 1)
    position = normalize_axis(position, x.rank + 1, "dim")
    return x.shape[:position] + Shape([1]) + x.shape[position:]


@kernel("Squeeze", flops=zero_cost, facts=("same_shape_same_value", "half_clear"))
def squeeze(x: Array, *, squeeze_dims: list[int]) -> Result:
    """Drop the given dimensions, which must be 1, or all dimensions of 1."""
    return x.reshape(_squeezed(x.shape, tuple(squeeze_dims)))


@functools.lru_cache(1024)
def _squeezed(dims: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that stay."""
    dropped = {normalize_axis(axis, len(dims), "squeeze_dims") for axis in axes}
    for axis in dropped:
        if dims[axis] != 1:
            raise InvalidArgumentError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
    if not axes:
        return tuple([d for d in dims if d != 1])
    return tuple([d for axis, d in enumerate(dims) if axis not in dropped])


@shape("Squeeze")
def squeeze_shape(x: TensorSpec, *, squeeze_dims: list[int]) -> Shape:
    if x.rank is None:
        return UNKNOWN
    if not squeeze_dims:
        return Shape(d for d in x.shape if d != 1) if x.shape.is_known else UNKNOWN
    dropped = {normalize_axis(axis, x.rank, "squeeze_dims") for axis in squeeze_dims}
    for axis in dropped:
        if isinstance(x.shape[axis], int) and x.shape[axis] != 1:
            raise InvalidArgumentError(f"Can not squeeze dim[{axis}] of shape {x.shape}")
    return Shape(d for axis, d in enumerate(x.shape) if axis not in dropped)


layout("T -> R", "Squeeze")
facts("shape_arithmetic", "total", "inexpensive", "alias_view", of=("ExpandDims", "Squeeze"))


def _resolved(sizes: list[DimLike], source: Shape, is_likely: bool) -> Sequence[DimLike | None]:
    """Return the wanted dimensions; a -1 or a single unknown dimension follows from the number of elements."""
    gaps = [i for i, d in enumerate(sizes) if d == -1]
    if len(gaps) > 1 or any(isinstance(d, int) and d < -1 for d in sizes):
        raise InvalidArgumentError(f"cannot reshape to {sizes}: sizes must be non-negative, one of them may be -1")
    # Beside a -1, all others are sizes in every run that succeeds.
    # An unknown size may be -1 in a run, and then stands for the rest.
    doubtful = [] if gaps or is_likely else [i for i, d in enumerate(sizes) if may_stand_for_rest(d)]
    if source.rank is None:
        return _filled(sizes, gaps or doubtful, None)
    count = source.num_elements
    open_places = gaps or doubtful or [i for i, d in enumerate(sizes) if isinstance(d, Dim) and d.is_anonymous]
    others = [d for i, d in enumerate(sizes) if i not in open_places]
    rest = math.prod(others)
    is_number = isinstance(count, int) and isinstance(rest, int)
    if not gaps and not (len(open_places) == 1 and is_number and count):
        # A contradiction in every run is an error now; any other mismatch is for the run to find.
        if is_number and not open_places and count != rest:
            raise InvalidArgumentError(f"cannot reshape {source} of {count} elements to {Shape(sizes)}")
        return _filled(sizes, doubtful, None)
    # A size of 0 leaves the open one undetermined: the run decides, by the rule of `_inferred`.
    if rest == 0:
        return _filled(sizes, open_places, None)
    if is_number and count % rest:
        raise InvalidArgumentError(f"cannot reshape {source} of {count} elements to {sizes}")
    return _filled(sizes, open_places, floor_div(count, rest) if is_likely else _filled_gap(source, others))


def _filled(sizes: list[DimLike], places: Sequence[int], dim: DimLike | None) -> list[DimLike | None]:
    """Return the sizes with `dim` at some places, None for a new unknown at each."""
    return [dim if i in places else d for i, d in enumerate(sizes)]


def _filled_gap(source: Shape, others: list[DimLike]) -> DimLike | None:
    """Return the dimension that makes up for the others; None if it depends on which of them are 0 in a run.

    The kernel leaves zeros out on both sides (`_inferred`). So a symbolic size must stand on both, and the rest be numbers.
    """
    if all(isinstance(d, int) for d in others):
        return floor_div(source.num_elements, math.prod(others))
    # Sizes that stand on both sides are equal in every run, and cancel out.
    left = list(source)
    for dim in others:
        if isinstance(dim, Dim) and dim in left:
            left.remove(dim)
    rest = math.prod(d for d in others if isinstance(d, int))
    is_paired = len(source) - len(left) == sum(isinstance(d, Dim) for d in others)
    return math.prod(left) // rest if is_paired and all(isinstance(d, int) and d for d in left) else None


@onnx("Reshape")
def _reshape_onnx(g: Any, x: Any, shape: Any, *, outputs: list[TensorSpec]) -> Any:
    """Reshape to a constant shape where at most a single dimension is unknown."""
    dims = outputs[0].shape.dims
    if dims is not None and sum(not isinstance(size, int) for size in dims) < 2 and 0 not in dims:
        return g.reshape(x, [size if isinstance(size, int) else -1 for size in dims])
    sizes = g.vector(shape)
    wanted = dims_of(shape.spec) if shape.array is None else as_dims(shape.array)
    if wanted is None:
        return g.of_dims(x, _without_gap(g, x, sizes))
    if not any(map(may_stand_for_rest, wanted)):
        return g.of_dims(x, sizes)
    copied = [*(x.shape.dims or ()), *[None] * len(wanted)]  # ONNX takes these sizes for 0
    may_be_zero = [i for i, d in enumerate(wanted) if isinstance(d, Dim) or d == 0]
    is_plain = -1 in wanted and all(wanted[i] == copied[i] != 0 for i in may_be_zero)
    return g.reshape(x, sizes) if is_plain else g.of_dims(x, _without_gap(g, x, sizes))


def _without_gap(g: Any, x: Any, sizes: Any) -> Any:
    """Return wanted sizes with a number for -1: zeros are left out on both sides where one of the sizes is 0 (`_inferred`)."""
    have = g.dims(x)
    without_zeros = g.ReduceProd(g.Where(g.Equal(have, 0), 1, have))
    count = g.Where(g.Equal(g.ReduceProd(sizes), 0), without_zeros, g.ReduceProd(have))
    rest = g.ReduceProd(g.Where(g.LessOrEqual(sizes, 0), 1, sizes))
    return g.Where(g.Equal(sizes, -1), g.Div(count, rest), sizes)


@kernel("BroadcastTo", flops=zero_cost, facts=("same_shape_same_value", "bounded_by_inputs", "half_clear"))
def broadcast_to(x: Array, dims: Array) -> Result:
    """Repeat the input along its dimensions of 1 and along new leading dimensions."""
    target = _filled_dims(dims)
    try:
        return np.broadcast_to(x, target)
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes: {Shape(np.shape(x))} vs. {Shape(target)}") from None


def _filled_dims(dims: Array) -> tuple[int, ...]:
    target = ints(dims, "dims")
    if any(d < 0 for d in target):
        raise InvalidArgumentError(f"Dimensions {target} must be >= 0")
    return target


@shape("BroadcastTo")
def broadcast_to_shape(x: TensorSpec, dims: TensorSpec) -> Shape:
    target = shape_from(dims)
    if x.rank is not None and target.rank is not None:
        if x.rank > target.rank:
            raise InvalidArgumentError(f"shape {x.shape} cannot be broadcast to {target}")
        for size, target_size in zip(reversed(list(x.shape)), reversed(list(target))):
            if isinstance(size, int) and isinstance(target_size, int) and size not in (1, target_size):
                raise InvalidArgumentError(f"shape {x.shape} cannot be broadcast to {target}")
        # Only a size of 1 is repeated.
        kept = [size if isinstance(size, int) and size != 1 else None for size in x.shape]
        target = target[: target.rank - x.rank] + merge_shapes(target[target.rank - x.rank :], Shape(kept))
    return target


@gradient("BroadcastTo")
def broadcast_to_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, dims = node.inputs
    source = g.Shape(x, out_type=dims.base_dtype)
    axes, _ = g.BroadcastGradientArgs(source, dims)
    # The sum drops its axes, among them leading ones that the input never had.
    return [g.Reshape(g.Sum(grad, axes), source), None]


layout("TV -> T", "BroadcastTo")


@kernel("Fill", flops=zero_cost, facts=("shape_arithmetic", "total", "half_clear"))
def fill(dims: Array, value: Array) -> Result:
    """A tensor of shape `dims`, every element `value`."""
    # TensorFlow's kernel still takes a vector of one element, which older graphs have; its shape function asks for a scalar.
    if np.shape(value) not in ((), (1,)):
        raise InvalidArgumentError(f"value must be a scalar, got shape {Shape(np.shape(value))}")
    # A scalar stands for a vector of one size, another form that older graphs have.
    target = _filled_dims(np.atleast_1d(dims))
    result = np.empty(target, np.asarray(value).dtype)
    result[...] = np.reshape(value, ())
    return result


@shape("Fill")
def fill_shape(dims: TensorSpec, value: TensorSpec) -> Shape:
    require_rank(value, 0, "value")
    sizes = dims_of(dims)
    if sizes is not None and any(isinstance(d, int) and d < 0 for d in sizes):
        raise InvalidArgumentError(f"Dimensions {sizes} must be >= 0")
    return shape_from(dims)


@gradient("Fill")
def fill_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.Sum(grad, g.Range(0, g.Rank(grad), 1))]


layout("V. -> T", "Fill")


@kernel("Empty", shape=shape_from, arithmetic=False)
def empty(dims: Array, *, dtype: DType) -> Result:
    """Return a tensor of shape `dims`; zeros, where TensorFlow leaves the memory as found."""
    # Zeros make runs repeatable, and are what `init` asks for.
    return np.broadcast_to(_zero(dtype), _filled_dims(dims)).copy()


def _zero(dtype: DType) -> Array:
    return np.array(b"" if dtype is dtypes.string else 0, dtype.numpy)


@kernel("ZerosLike", facts=("total", "of_lists", "half_clear"), arithmetic=False, T=("variant",))
def zeros_like_variant(x: Array) -> Result:
    """The zero of whatever the variant holds."""
    return variants.zeros_like(np.asarray(x))


@kernel("OnesLike", facts=("total", "half_clear"), arithmetic=False)
def ones_like(x: Array) -> Result:
    return np.ones(np.shape(x), np.asarray(x).dtype)


@shape("ZerosLike", "OnesLike")
def zeros_like_shape(x: TensorSpec) -> TensorSpec:
    # The zeros of a list have its elements' dtypes and shapes: the handle stays.
    return TensorSpec(x.dtype, x.shape, None, x.handle)


@kernel("ZerosLike", T=("string",))
def zeros_like_string(x: Array) -> Result:
    return np.full(np.shape(x), b"", object)


@kernel("ZerosLike")
def zeros_like(x: Array) -> Result:
    return np.zeros(np.shape(x), np.asarray(x).dtype)


facts("elementwise", "fills_likewise", "idempotent", of=("OnesLike", "ZerosLike"))


@kernel("InvertPermutation", shape="n -> n", facts=("involution",), arithmetic=False)
def invert_permutation(x: Array) -> Result:
    """y with y[x[i]] = i."""
    x = np.asarray(x)
    if x.ndim != 1:
        raise InvalidArgumentError(f"invert_permutation expects a 1D vector, not shape {Shape(x.shape)}")
    if x.size and (x.min() < 0 or x.max() >= x.size):
        raise InvalidArgumentError(f"the elements of {x.tolist()[:10]} are not between 0 and {x.size}")
    # A place that keeps -1 is missing, because another number came twice.
    result = np.full(x.size, -1, x.dtype)
    result[x] = np.arange(x.size, dtype=x.dtype)
    if x.size and result.min() < 0:
        raise InvalidArgumentError(f"{int(result.argmin())} is missing, another number is duplicated in the input")
    return result


@kernel("UnravelIndex", shape="..., rank -> rank ...", arithmetic=False)
def unravel_index(indices: Array, dims: Array) -> Result:
    """The coordinates of flat indices into an array of shape `dims`, (len(dims),) or (len(dims), n)."""
    indices, dims = np.asarray(indices), np.asarray(dims)
    if indices.ndim > 1 or indices.size == 0:
        raise InvalidArgumentError(f"The indices can only be a scalar or a vector, not empty: {Shape(indices.shape)}")
    if dims.ndim != 1:
        raise InvalidArgumentError(f"The dims can only be 1-D, got {Shape(dims.shape)}")
    if np.any(dims <= 0):
        raise InvalidArgumentError(f"Input dims {dims.tolist()} cannot contain a dim of zero")
    count = math.prod(dims.tolist())
    # TensorFlow multiplies in the dtype of dims, and refuses what it cannot count.
    if count > np.iinfo(dims.dtype).max:
        raise InvalidArgumentError(f"Input dims product is causing integer overflow: {dims.tolist()}")
    if np.any(indices >= count):
        raise InvalidArgumentError(f"index is out of bound as with dims {dims.tolist()}")
    column = [-1] + [1] * indices.ndim
    strides = np.array([math.prod(dims[i + 1 :].tolist()) for i in range(dims.size)], np.int64).reshape(column)
    # C++ rounds quotients towards zero and NumPy's // rounds down. Once the remainder is subtracted, both agree.
    quotients = (indices - np.fmod(indices, strides)) // strides
    return np.fmod(quotients, dims.reshape(column)).astype(dims.dtype)


lower("ZerosLike", always=True)(lambda xla, x: x.zeros_like() if hasattr(x, "zeros_like") else xla.zeros_like(x))
arrays_as(OnesLike="ones_like")


@arrays("InvertPermutation")
def _invert_permutation_arrays(xp: Any, x: Any) -> Any:
    """Return the order that sorts the numbers."""
    order = xp.argsort(x, 0)
    xp.require((xp.take(x, order, 0) == xp.arange(x.shape[0])).all())
    return order


# XLA's shapes are numbers before the run; ONNX's may be values of the run, of any rank.
lower("Reshape", static=(1,))(lambda xla, x, dims: x.reshape(dims.tolist()))
lower("ExpandDims", static=(1,))(lambda xla, x, axis: xla.expand_dims(x, int(axis.item())))
lower("Squeeze")(lambda xla, x, *, squeeze_dims: xla.squeeze(x, tuple(squeeze_dims) or None))
arrays("BroadcastTo", static=(1,), sizes=(1,))(lambda xp, x, dims: xp.broadcast_to(x, dims))
arrays("Fill", static=(0,), sizes=(0,))(lambda xp, dims, value: xp.full(dims, value))
arrays("Empty", static=(0,), sizes=(0,))(lambda xp, dims, *, dtype: xp.full(dims, _zero(dtype)))
onnx("ZerosLike")(lists.zeros_like)
onnx("ExpandDims")(lambda g, x, axis: g.Unsqueeze(x, g.vector(axis)))


@onnx("Squeeze")
def _squeeze_onnx(g: Any, x: Any, *, squeeze_dims: list[int], outputs: list[TensorSpec]) -> Any:
    if squeeze_dims:
        return g.squeeze(x, *squeeze_dims)
    if outputs[0].rank is None or x.rank is None:
        return g.Squeeze(x)
    return g.squeeze(x, *(axis for axis, size in enumerate(x.shape) if size == 1)) if x.shape.is_known else g.Squeeze(x)


@arrays("UnravelIndex")
def _unravel_index_arrays(xp: Any, indices: Any, dims: Any) -> Any:
    """Return the coordinates of flat indices, (dimensions, ...)."""
    require(indices.ndim < 2 and not is_empty(xp, indices), f"{indices.shape} must be a scalar or a vector with elements")
    require(not is_empty(xp, dims), "it has no dimensions to count through")
    integer, real = (np.int64, np.float64) if xp.has_64_bits else (np.int32, np.float32)
    wide, count = dims.astype(integer), xp.prod(dims.astype(real))
    xp.require((dims > 0).all() & (count <= np.iinfo(dims.dtype).max) & (indices < count).all())
    coordinates = vectors(xp, xp.reshape(indices, (-1,)).astype(integer), wide)
    # The first coordinates too, which TensorFlow leaves open for sparse tensors.
    coordinates = xp.transpose(xp.fmod(coordinates, wide), (1, 0))
    return xp.reshape(coordinates, (dims.shape[0], *indices.shape))


# Ops that return a tensor's shape, rank or number of elements.


@kernel("Shape", facts=("total", "view", "inexpensive", "metadata", "half_clear"), arithmetic=False)
def shape_of(x: Array, *, out_type: DType) -> Result:
    """The dimensions of the input, (rank,)."""
    return _dimensions(x.shape, out_type)


@functools.lru_cache(4096)
def _dimensions(dims: tuple[int, ...], out_type: DType) -> Array:
    """A vector of dimensions; the same few come again at every step of a training."""
    return _checked(np.array(dims, np.int64), out_type)


@shape("Shape")
def shape_of_shape(x: TensorSpec, *, out_type: DType) -> Shape | TensorSpec:
    if x.rank is None:
        return Shape([None])
    return TensorSpec(out_type, Shape([x.rank]), shape_value(x.shape, out_type))


layout("T -> V", "Shape")


@kernel("ShapeN", facts=("total", "view", "inexpensive", "metadata", "half_clear"), arithmetic=False)
def shape_n(values: list[Array], *, out_type: DType) -> Sequence[Result]:
    """The dimensions of each input."""
    return [shape_of(x, out_type=out_type) for x in values]


@shape("ShapeN")
def shape_n_shape(values: list[TensorSpec], *, out_type: DType) -> list[Shape | TensorSpec]:
    return [shape_of_shape(x, out_type=out_type) for x in values]


layout("T* -> V*", "ShapeN")


@kernel("Size", facts=("total", "view", "inexpensive", "metadata", "half_clear"), arithmetic=False)
def size(x: Array, *, out_type: DType) -> Result:
    """The number of elements."""
    count = np.size(x)
    if out_type is dtypes.int32 and count > _LARGEST:
        raise InvalidArgumentError(_TOO_LARGE)
    number: Result = out_type.numpy.type(count)
    return number


_LARGEST: Final = 2**31 - 1
_TOO_LARGE: Final = "Shape output type is 32-bit but a dimension does not fit"


def _checked(value: Any, out_type: DType) -> Array:
    """Return the dimensions as `out_type`; InvalidArgumentError if a dimension is too large."""
    if out_type is dtypes.int32 and (value > _LARGEST).any():
        raise InvalidArgumentError(_TOO_LARGE)
    return value.astype(out_type.numpy)


@shape("Size")
def size_shape(x: TensorSpec, *, out_type: DType) -> Shape | TensorSpec:
    if x.rank is None:
        return SCALAR
    return TensorSpec(out_type, SCALAR, scalar_value(x.shape.num_elements, out_type))


@kernel("Rank", facts=("total", "view", "inexpensive", "metadata", "half_clear"), arithmetic=False)
def rank(x: Array) -> Result:
    """The number of dimensions."""
    return np.int32(np.ndim(x))


@shape("Rank")
def rank_shape(x: TensorSpec) -> Shape | TensorSpec:
    return SCALAR if x.rank is None else TensorSpec(dtypes.int32, SCALAR, np.array(x.rank, np.int32))


layout("T -> .", "Rank", "Size")
# In XLA sizes stay outside of the program as long as they are numbers or symbols; in ONNX they are values.
lower("Shape")(lambda xla, x, *, out_type: xla.extents(x.shape, out_type.numpy))
lower("ShapeN")(lambda xla, values, *, out_type: tuple(xla.extents(x.shape, out_type.numpy) for x in values))
lower("Size")(lambda xla, x, *, out_type: xla.extents([x.size], out_type.numpy).reshape(()))
lower("Rank")(lambda xla, x: np.array(x.ndim, np.int32))
onnx("Shape")(lambda g, x: g.dims(x))
onnx("ShapeN")(lambda g, values: [g.dims(x) for x in values])
onnx("Rank")(lambda g, x: g.constant(np.int32(x.rank)) if x.rank is not None else g.Size(g.Shape(x)))
onnx("Size")(lambda g, x: g.Size(x))
