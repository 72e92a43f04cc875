"""Scattering rows into zeros or into a tensor, and updates of rows in place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.group_reductions import update_rows
from ...registry.registry import Cost, flops, gradient, kernel, lower, onnx, shape, without_gradient, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared.plain_shapes import first_shape
from ..shared.row_updates import updated
from ..shared.shape_arguments import ints, shape_from
from .gather import flat_places, is_outside, row_numbers


@kernel("ScatterNd")
def scatter_nd(indices: Array, updates: Array, dims: Array, *, bad_indices_policy: str) -> Result:
    """Zeros of shape `dims` with `updates` added at the coordinates in `indices`."""
    target = ints(dims, "shape")
    if any(d < 0 for d in target):
        raise InvalidArgumentError(f"the shape {target} has a negative dimension")
    indices, updates = np.asarray(indices), np.asarray(updates)
    _scatter_depth(target, indices.shape, updates.shape)
    _require_room(target, indices, updates)
    result = np.full(target, b"", object) if updates.dtype == object else np.zeros(target, updates.dtype)
    return scatter_into(np.add, result, indices, updates, bad_indices_policy)


def _require_room(target: Sequence[int], indices: Array, updates: Array) -> None:
    """Raise InvalidArgumentError where indices or updates are given, but not both, or for no elements."""
    if (indices.size or updates.size) and not (math.prod(target) and indices.size and updates.size):
        raise InvalidArgumentError(f"Indices and updates specified for empty output shape {Shape(target)}")


def _scatter_depth(dims: Sequence[int], index_shape: tuple[int, ...], update_shape: tuple[int, ...]) -> int:
    """Return the number of dimensions that an index vector addresses; InvalidArgumentError where the shapes do not fit."""
    if not index_shape:
        raise InvalidArgumentError("indices must be at least a vector")
    depth = index_shape[-1]
    expected = (*index_shape[:-1], *dims[depth:])
    if depth > len(dims) or tuple(update_shape) != expected:
        raise InvalidArgumentError(
            f"Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
            f"{Shape(update_shape)}, indices.shape: {Shape(index_shape)}, params_shape: {Shape(dims)}"
        )
    return depth


def scatter_into(ufunc: np.ufunc | None, target: Array, indices: Array, updates: Array, policy: str) -> Array:
    """Apply `updates` to `target` in place at `indices`, and return `target`; None for `ufunc` replaces."""
    indices, updates = np.asarray(indices), np.asarray(updates)
    _require_policy(policy)
    depth = _scatter_depth(target.shape, indices.shape, updates.shape)
    count, width = math.prod(indices.shape[:-1]), math.prod(target.shape[depth:])
    if target.size == 0:
        if updates.size:
            raise InvalidArgumentError("Indices and updates specified for empty output")
        return target
    vectors = indices.reshape(count, depth)
    rows = updates.reshape(count, width)
    if policy == "IGNORE":
        good = ~is_outside(vectors.T, target.shape[:depth])
        vectors, rows = vectors[good], rows[good]
    flat = target.reshape(-1, width)
    places = row_numbers(vectors, target.shape[:depth])
    if ufunc is None:
        flat[places] = rows
    else:
        update_rows(ufunc, flat, places, rows)
    return target


def _require_policy(policy: str) -> None:
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {policy}")


@shape("ScatterNd")
def scatter_nd_shape(indices: TensorSpec, updates: TensorSpec, dims: TensorSpec) -> Shape:
    return shape_from(dims)


@gradient("ScatterNd")
def scatter_nd_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.GatherNd(grad, node.inputs[0]), None]


@flops("ScatterNd")
def scatter_nd_flops(indices: TensorSpec, updates: TensorSpec, dims: TensorSpec) -> Cost:
    return Cost(flops=updates.shape.num_elements)


_TENSOR_SCATTERS = (
    ("TensorScatterUpdate", None),
    ("TensorScatterAdd", np.add),
    ("TensorScatterSub", np.subtract),
    ("TensorScatterMin", np.minimum),
    ("TensorScatterMax", np.maximum),
)


def _require_rows(indices: Array) -> None:
    """Raise InvalidArgumentError for a vector of indices: TensorFlow reads it as many indices and then expects another
    number of updates.
    """
    if np.ndim(indices) == 1 and np.size(indices):
        raise InvalidArgumentError(f"indices of shape {Shape(np.shape(indices))} must be a matrix at least")


def _register_tensor_scatter(op: str, ufunc: np.ufunc | None) -> None:
    @kernel(op)
    def tensor_scatter(tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: str) -> Array:
        """A copy of `tensor` with `updates` applied at the coordinates in `indices`."""
        _require_rows(indices)
        _require_room(np.shape(tensor), indices, updates)
        rows = np.negative(updates) if ufunc is np.subtract else updates
        combine = np.add if ufunc is np.subtract else ufunc
        return scatter_into(combine, np.array(tensor, order="C"), indices, rows, bad_indices_policy)


for _op, _ufunc in _TENSOR_SCATTERS:
    _register_tensor_scatter(_op, _ufunc)


@kernel("ScatterNdNonAliasingAdd")
def scatter_nd_non_aliasing_add(tensor: Array, indices: Array, updates: Array, *, bad_indices_policy: str) -> Result:
    """Add as TensorScatterAdd does. For a vector of indices TensorFlow wants an update for each, but applies only the
    first.
    """
    indices, updates = np.asarray(indices), np.asarray(updates)
    _require_room(np.shape(tensor), indices, updates)
    if indices.ndim == 1 and updates.ndim and updates.shape[0] == indices.shape[0]:
        indices, updates = indices[:1, None], updates[:1]
    _require_rows(indices)
    return scatter_into(np.add, np.array(tensor, order="C"), indices, updates, bad_indices_policy)


shape(*(op for op, _ in _TENSOR_SCATTERS), "ScatterNdNonAliasingAdd")(first_shape)


@gradient("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def tensor_scatter_add_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [grad, None, g.GatherNd(grad, node.inputs[1])]


@flops(*(op for op, ufunc in _TENSOR_SCATTERS if ufunc), "ScatterNdNonAliasingAdd")
def tensor_scatter_flops(tensor: TensorSpec, indices: TensorSpec, updates: TensorSpec) -> Cost:
    return Cost(flops=updates.shape.num_elements)


@gradient("TensorScatterUpdate")
def tensor_scatter_update_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, indices, updates = node.inputs
    return [g.TensorScatterUpdate(grad, indices, g.zeros_like(updates)), None, g.GatherNd(grad, indices)]


@gradient("TensorScatterSub")
def tensor_scatter_sub_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [grad, None, g.Neg(g.GatherNd(grad, node.inputs[1]))]


@gradient("TensorScatterMin", "TensorScatterMax")
def tensor_scatter_extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes to whoever equals the result, in equal parts among all of them."""
    tensor, indices, updates = node.inputs
    result = node.output()
    dtype = grad.base_dtype
    from_updates = g.Cast(g.Equal(updates, g.GatherNd(result, indices)), DstT=dtype)
    from_tensor = g.Cast(g.Equal(tensor, result), DstT=dtype)
    claims = g.TensorScatterAdd(from_tensor, indices, from_updates)
    share = g.RealDiv(grad, claims)
    return [g.Mul(share, from_tensor), None, g.Mul(g.GatherNd(share, indices), from_updates)]


@kernel("InplaceUpdate")
def inplace_update(x: Array, i: Array, v: Array) -> Result:
    """Return `x` with the rows `i` replaced by the rows of `v`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    result[rows] = v
    return result


def _inplace_target(x: Array, i: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return a copy of `x`, the row numbers and `v`; InvalidArgumentError where the shapes do not fit. No row is none to
    update.
    """
    x, i, v = np.asarray(x), np.asarray(i), np.asarray(v)
    if i.ndim != 1:
        raise InvalidArgumentError(f"i must be a vector. {Shape(i.shape)}")
    if x.ndim < 1 or x.ndim != v.ndim or x.shape[1:] != v.shape[1:] or i.shape[0] != v.shape[0]:
        raise InvalidArgumentError(
            f"x, i and v must agree: x of shape {Shape(x.shape)}, i of {Shape(i.shape)}, v of {Shape(v.shape)}"
        )
    if x.shape[0] == 0:
        return np.array(x, order="C"), i[:0], v[:0]
    return np.array(x, order="C"), np.mod(i, x.shape[0]) if i.size else i, v


@kernel("InplaceAdd")
def inplace_add(x: Array, i: Array, v: Array) -> Result:
    """`x` with the rows of `v` added at the rows `i`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    _require_numbers(x)
    update_rows(np.add, result, rows, v)
    return result


def _require_numbers(x: Array) -> None:
    if x.dtype.kind in "bO" and np.shape(x)[:1] != (0,):
        raise InvalidArgumentError(f"Unsupported data type: {x.dtype.name}")


@kernel("InplaceSub")
def inplace_sub(x: Array, i: Array, v: Array) -> Result:
    """`x` with the rows of `v` subtracted at the rows `i`; row numbers wrap around."""
    result, rows, v = _inplace_target(x, i, v)
    _require_numbers(x)
    update_rows(np.add, result, rows, np.negative(v) if rows.size else v)
    return result


shape("InplaceUpdate", "InplaceAdd", "InplaceSub")(first_shape)
zero_flops("TensorScatterUpdate", "InplaceUpdate")


@flops("InplaceAdd", "InplaceSub")
def inplace_flops(x: TensorSpec, i: TensorSpec, v: TensorSpec) -> Cost:
    return Cost(flops=v.shape.num_elements)


without_gradient("InplaceUpdate", "InplaceAdd", "InplaceSub")


def _lowered_scatter(how: str) -> Any:
    def lowering(xla: Any, tensor: Any, indices: Any, updates: Any, *, bad_indices_policy: str = "") -> Any:
        _require_policy(bad_indices_policy)
        _require_rows(indices)
        _require_room(tensor.shape, indices, updates)
        depth = _scatter_depth(tensor.shape, indices.shape, updates.shape)
        if not tensor.size:
            return tensor
        width, count = math.prod(tensor.shape[depth:]), math.prod(indices.shape[:-1])
        places = flat_places(xla, indices, tensor.shape[:depth], bad_indices_policy).reshape(count)
        flat = tensor.reshape(math.prod(tensor.shape[:depth]), width)
        return updated(xla, flat, places, updates.reshape(count, width), how).reshape(tensor.shape)

    return lowering


lower("TensorScatterUpdate")(_lowered_scatter("set"))
lower("TensorScatterAdd", "ScatterNdNonAliasingAdd")(_lowered_scatter("add"))
lower("TensorScatterMin")(_lowered_scatter("min"))
lower("TensorScatterMax")(_lowered_scatter("max"))


@lower("TensorScatterSub")
def _tensor_scatter_sub_lowering(xla: Any, tensor: Any, indices: Any, updates: Any, *, bad_indices_policy: str) -> Any:
    return _lowered_scatter("add")(xla, tensor, indices, -updates, bad_indices_policy=bad_indices_policy)


@lower("ScatterNd", static=(2,))
def _scatter_nd_lowering(xla: Any, indices: Any, updates: Any, dims: Array, *, bad_indices_policy: str) -> Any:
    zeros = xla.zeros(ints(dims, "shape"), updates.dtype)
    if indices.ndim == 1:
        indices, updates = indices[None], updates[None]
    return _lowered_scatter("add")(xla, zeros, indices, updates, bad_indices_policy=bad_indices_policy)


def _lowered_inplace(how: str, factor: int = 1) -> Any:
    def lowering(xla: Any, x: Any, i: Any, v: Any) -> Any:
        if i.ndim != 1 or x.ndim < 1 or v.shape != (*i.shape, *x.shape[1:]):
            raise InvalidArgumentError("x, i and v must agree")
        if how == "add":
            _require_numbers(x)
        rows = v if factor == 1 else -v
        return updated(xla, x, xla.mod(i, max(x.shape[0], 1)), rows, how) if x.size and v.size else x

    return lowering


lower("InplaceUpdate")(_lowered_inplace("set"))
lower("InplaceAdd")(_lowered_inplace("add"))
lower("InplaceSub")(_lowered_inplace("add", -1))


@onnx("ScatterNd")
def _scatter_nd_onnx(g: Any, indices: Any, updates: Any, shape: Any) -> Any:
    """Scatter by addition to zeros; booleans, which ONNX cannot add, by replacement."""
    if updates.dtype.is_object:
        g.refuse("ONNX adds no strings up")
    target = g.Expand(g.like(0, updates), g.vector(shape))
    adds = {} if updates.dtype.name == "bool" else {"reduction": "add"}
    return g.ScatterND(target, g.cast(indices, dtypes.int64), updates, **adds)


def _scattering(reduction: str) -> Any:
    def lowering(g: Any, tensor: Any, indices: Any, updates: Any) -> Any:
        return g.ScatterND(tensor, g.cast(indices, dtypes.int64), updates, reduction=reduction)

    return lowering


onnx("TensorScatterUpdate")(lambda g, tensor, indices, updates: _scattering("none")(g, tensor, indices, updates))
onnx("TensorScatterAdd", "ScatterNdNonAliasingAdd")(_scattering("add"))
onnx("TensorScatterSub")(lambda g, tensor, indices, updates: _scattering("add")(g, tensor, indices, g.Neg(updates)))
onnx("TensorScatterMax")(_scattering("max"))
onnx("TensorScatterMin")(_scattering("min"))


def _in_rows(reduction: str) -> Any:
    """Return the lowering of an op that updates rows by number; numbers wrap around."""

    def lowering(g: Any, x: Any, i: Any, v: Any) -> Any:
        return g.ScatterND(x, g.unsqueeze(g.Mod(g.cast(i, dtypes.int64), g.Max(g.dim(x, 0), 1)), 1), v, reduction=reduction)

    return lowering


onnx("InplaceUpdate")(_in_rows("none"))
onnx("InplaceAdd")(_in_rows("add"))
onnx("InplaceSub")(lambda g, x, i, v: _in_rows("add")(g, x, i, g.Neg(v)))
