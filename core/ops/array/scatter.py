"""Scattering rows into zeros or into a tensor, and updates of rows in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.group_reductions import update_rows, without_nans
from ...registry.registry import arrays, flops, gradient, kernel, shaped, without_gradient, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape
from ..shared.argument_checks import require, require_known_sizes
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.row_updates import require_room, scatter_depth
from ..shared.shape_arguments import ints
from .gather import is_outside, row_numbers


@kernel("ScatterNd", gradient=by_ops("", "GatherNd dy 0"), flops=counted(1, 1, "An addition for each update."))
def scatter_nd(indices: Array, updates: Array, dims: Array, *, bad_indices_policy: str) -> Result:
    """Zeros of shape `dims` with `updates` added at the coordinates in `indices`."""
    target = ints(dims, "shape")
    if any(d < 0 for d in target):
        raise InvalidArgumentError(f"the shape {target} has a negative dimension")
    indices, updates = np.asarray(indices), np.asarray(updates)
    scatter_depth(target, indices.shape, updates.shape)
    require_room(target, indices, updates)
    result = np.full(target, b"", object) if updates.dtype == object else np.zeros(target, updates.dtype)
    return scatter_into(np.add, result, indices, updates, bad_indices_policy)


def scatter_into(ufunc: np.ufunc | None, target: Array, indices: Array, updates: Array, policy: str) -> Array:
    """Apply `updates` to `target` in place at `indices`, and return `target`; None for `ufunc` replaces."""
    indices, updates = np.asarray(indices), np.asarray(updates)
    _require_policy(policy)
    depth = scatter_depth(target.shape, indices.shape, updates.shape)
    count, width = math.prod(indices.shape[:-1]), math.prod(target.shape[depth:])
    if target.size == 0:
        if updates.size:
            raise InvalidArgumentError("Indices and updates specified for empty output")
        return target
    # Index vectors become row numbers: NumPy's own indexing by several arrays is slower, and `ufunc.at` many times slower.
    vectors = indices.reshape(count, depth)
    rows = updates.reshape(count, width)
    if policy == "IGNORE":
        # Left out and not moved: an index put anywhere inside would change an element.
        good = ~is_outside(vectors.T, target.shape[:depth])
        vectors, rows = vectors[good], rows[good]
    flat = target.reshape(-1, width)
    places = row_numbers(vectors, target.shape[:depth])
    if ufunc is None:
        flat[places] = rows
    else:
        update_rows(ufunc, flat, places, without_nans(ufunc, rows))
    return target


def _require_policy(policy: str) -> None:
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {policy}")


shaped("*, *, <...> -> ...", "ScatterNd")


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
        require_room(np.shape(tensor), indices, updates)
        rows = np.negative(updates) if ufunc is np.subtract else updates
        # A sum of negative rows has the fast loops of additions, and rounds as the differences do.
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
    require_room(np.shape(tensor), indices, updates)
    # TensorFlow's check reads a vector of n indices as n index vectors of one number; its addition reads the first alone.
    if indices.ndim == 1 and updates.ndim and updates.shape[0] == indices.shape[0]:
        indices, updates = indices[:1, None], updates[:1]
    _require_rows(indices)
    return scatter_into(np.add, np.array(tensor, order="C"), indices, updates, bad_indices_policy)


shaped("... -> ...", *(op for op, _ in _TENSOR_SCATTERS), "ScatterNdNonAliasingAdd")


gradient("TensorScatterAdd", "ScatterNdNonAliasingAdd")(by_ops("dy", "", "GatherNd dy 1"))


flops(*(op for op, ufunc in _TENSOR_SCATTERS if ufunc), "ScatterNdNonAliasingAdd")(
    counted(1, 2, "An operation for each update.")
)


# Of repeated indices each gets the whole gradient, as in TensorFlow, although only one update stays.
gradient("TensorScatterUpdate")(by_ops("TensorScatterUpdate dy 1 (ZerosLike 2)", "", "GatherNd dy 1"))
gradient("TensorScatterSub")(by_ops("dy", "", "Neg (GatherNd dy 1)"))


@gradient("TensorScatterMin", "TensorScatterMax")
def tensor_scatter_extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes to whoever equals the result, in equal parts among all of them."""
    policy = node.attr("bad_indices_policy")
    tensor, indices, updates = node.inputs
    result = node.output()
    dtype = grad.base_dtype
    from_updates = g.Cast(g.Equal(updates, g.GatherNd(result, indices, bad_indices_policy=policy)), DstT=dtype)
    from_tensor = g.Cast(g.Equal(tensor, result), DstT=dtype)
    claims = g.TensorScatterAdd(from_tensor, indices, from_updates, bad_indices_policy=policy)
    # Tensor and updates share the gradient of an element that several of them equal.
    share = g.RealDiv(grad, claims)
    return [g.Mul(share, from_tensor), None, g.Mul(g.GatherNd(share, indices, bad_indices_policy=policy), from_updates)]


def _inplace_target(x: Array, i: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return a copy of `x`, the row numbers and `v`; InvalidArgumentError if the shapes do not fit. An `x`
    without rows has none to update.
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
    # TensorFlow's kernels wrap row numbers around instead of checking them.
    return np.array(x, order="C"), np.mod(i, x.shape[0]) if i.size else i, v


def _require_numbers(x: Any) -> None:
    if x.dtype.kind in "bO" and x.shape[:1] != (0,):
        raise InvalidArgumentError(f"Unsupported data type: {x.dtype.name}")


shaped("... -> ...", "InplaceUpdate", "InplaceAdd", "InplaceSub")
zero_flops("TensorScatterUpdate", "InplaceUpdate")
flops("InplaceAdd", "InplaceSub")(counted(1, 2, "An addition for each element of the rows."))
without_gradient("InplaceUpdate", "InplaceAdd", "InplaceSub")


def _scattered(how: str) -> Callable[..., Any]:
    """Return the program of updates at index vectors."""

    def program(xp: Any, tensor: Any, indices: Any, updates: Any, *, bad_indices_policy: str = "") -> Any:
        _require_policy(bad_indices_policy)
        require(indices.ndim != 1 or indices.shape == (0,), f"indices of shape {indices.shape} must be a matrix at least")
        return xp.scatter_nd(tensor, indices, without_nans(how, updates, xp), how, bad_indices_policy)

    return program


arrays("TensorScatterUpdate")(_scattered("set"))
arrays("TensorScatterAdd", "ScatterNdNonAliasingAdd")(_scattered("add"))
arrays("TensorScatterMin")(_scattered("min"))
arrays("TensorScatterMax")(_scattered("max"))
arrays("TensorScatterSub")(lambda xp, x, indices, updates, **policy: _scattered("add")(xp, x, indices, -updates, **policy))


@arrays("ScatterNd", static=(2,), sizes=(2,))
def _scatter_nd_arrays(xp: Any, indices: Any, updates: Any, dims: Any, *, bad_indices_policy: str) -> Any:
    _require_policy(bad_indices_policy)
    zeros = xp.full(ints(dims, "shape") if isinstance(dims, np.ndarray) else dims, 0, updates.dtype)
    return xp.scatter_nd(zeros, indices, updates, "add", bad_indices_policy)


def _register_rows(op: str, how: str, sign: int = 1) -> None:
    """Register the kernel and the program of an op that sets rows by number, or adds to them; numbers wrap around."""

    @kernel(op)
    def in_rows(x: Array, i: Array, v: Array) -> Array:
        """A copy of `x` with the rows of `v` set, added or subtracted at the rows `i`; row numbers wrap around."""
        result, rows, v = _inplace_target(x, i, v)
        if how == "set":
            result[rows] = v
            return result
        _require_numbers(x)
        # Without rows TensorFlow takes any dtype, also strings and truth values, which have no negative.
        update_rows(np.add, result, rows, np.negative(v) if sign < 0 and rows.size else v)
        return result

    @arrays(op)
    def in_rows_of_arrays(xp: Any, x: Any, i: Any, v: Any) -> Any:
        require(i.ndim == 1 and x.ndim > 0, "x, i and v must agree")
        require_known_sizes((*i.shape, *x.shape[1:]), v.shape)
        if how == "add":
            _require_numbers(x)
        # A tensor without rows is not indexed, and a remainder by 0 would fail all the same.
        rows = xp.mod(i, xp.maximum(x.shape[0], 1))
        return xp.scattered(x, rows[:, None], v if sign > 0 else -v, how)


_register_rows("InplaceUpdate", "set")
_register_rows("InplaceAdd", "add")
_register_rows("InplaceSub", "add", -1)
