"""Select and Where: elements chosen by a condition; and OneHot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.elementwise import chosen
from ...registry.registry import NOT_DIFFERENTIABLE, arrays, flops, gradient, kernel, layout, onnx, shape, zero_cost
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of
from ..shared.argument_checks import require_rank
from ..shared.elementwise_tables import counted


@kernel("Select", shape="*, ..., ... -> ...", flops=zero_cost, facts=("half_clear",))
def select(condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, `e` elsewhere; a vector condition picks rows."""
    # Scalars are the conditions of loops: a choice between objects costs less than np.where.
    if condition.shape == t.shape == e.shape:
        return chosen(condition, t, e) if t.shape else (t if condition else e)
    condition, t, e = np.asarray(condition), np.asarray(t), np.asarray(e)
    if t.shape != e.shape:
        raise InvalidArgumentError(f"'t' and 'e' must have the same size, but received: {Shape(t.shape)} vs. {Shape(e.shape)}")
    if condition.ndim == 0:
        return t if condition else e
    if condition.shape != t.shape:
        if condition.ndim != 1 or t.ndim < 1 or condition.shape[0] != t.shape[0]:
            raise InvalidArgumentError(f"a condition of shape {Shape(condition.shape)} does not fit {Shape(t.shape)}")
        held = np.count_nonzero(condition)
        if held in (0, condition.size):  # as in loops over sequences of one length
            return t if held else e
        condition = condition.reshape([-1] + [1] * (t.ndim - 1))
    return np.where(condition, t, e)


@gradient("Select")
def select_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    condition, x, _ = node.inputs
    # Select broadcasts nothing, unlike SelectV2, so the zeros have the whole shape.
    zeros = g.zeros_like(x)
    return [None, g.Select(condition, grad, zeros), g.Select(condition, zeros, grad)]


layout("TTT -> T", "Select")


@kernel("SelectV2", shape="~..., ~..., ~... -> ~...", flops=zero_cost, facts=("elementwise", "half_clear"))
def select_v2(condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, `e` elsewhere, all three broadcast."""
    # Nothing is copied for a scalar condition if the shapes agree.
    if not condition.shape and t.shape == e.shape:
        return t if condition else e
    try:
        return chosen(condition, t, e)
    except ValueError:
        shapes = ", ".join(str(Shape(np.shape(v))) for v in (condition, t, e))
        raise InvalidArgumentError(f"condition, then and else do not broadcast: {shapes}") from None


@gradient("SelectV2")
def select_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    condition, x, y = node.inputs
    # A scalar that broadcasts: zeros of the gradient's shape would be another tensor in memory.
    zero = g.scalar_like(grad, 0)
    result = node.output()
    return [
        None,
        g.reduce_to(g.SelectV2(condition, grad, zero), x, result),
        g.reduce_to(g.SelectV2(condition, zero, grad), y, result),
    ]


@kernel("Where", gradient=NOT_DIFFERENTIABLE, facts=("half_clear", "finds_true"))
def where(x: Array) -> Result:
    """The coordinates of the elements that are not zero, (n, rank)."""
    if np.ndim(x) == 0:
        raise InvalidArgumentError("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(x).astype(np.int64, copy=False)


@shape("Where")
def where_shape(x: TensorSpec) -> Shape:
    return Shape([None, x.rank])


flops("Where")(counted(1, 0, "A comparison with zero for each element."))
arrays("SelectV2")(lambda xp, condition, t, e: xp.where(condition, t, e))


@arrays("Select")
def _selected(xp: Any, condition: Any, t: Any, e: Any) -> Any:
    """A vector of conditions chooses rows."""
    rows = condition[(..., *[None] * (t.ndim - 1))] if condition.ndim == 1 else condition
    return xp.where(rows, t, e)


@onnx("Where")
def _where_onnx(g: Any, condition: Any) -> Any:
    return g.Transpose(g.NonZero(condition), perm=[1, 0])


# Ops that make one-hot rows.


@kernel("OneHot", facts=("half_clear",), arithmetic=False)
def one_hot(indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int) -> Result:
    """`on_value` at each index along a new dimension of size `depth`, `off_value` elsewhere."""
    depth = _depth(depth)
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if np.ndim(value) != 0:
            raise InvalidArgumentError(f"{name} must be a scalar, but got: {Shape(np.shape(value))}")
    rank = np.ndim(indices)
    position = rank if axis == -1 else axis
    if not 0 <= position <= rank:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {rank}]. But received: {axis}")
    shape = np.shape(indices)
    outer, inner = math.prod(shape[:position]), math.prod(shape[position:])
    result = np.full((*shape[:position], depth, *shape[position:]), off_value, np.asarray(on_value).dtype)
    at = np.reshape(indices, (outer, inner)).astype(np.intp)
    # The flat place of each index in (outer, depth, inner); indices out of range are left out below.
    places = (at + np.arange(outer)[:, None] * depth) * inner + np.arange(inner)
    result.reshape(-1)[places[(at >= 0) & (at < depth)]] = on_value
    return result


def _depth(depth: Array) -> int:
    if np.ndim(depth) != 0:
        raise InvalidArgumentError(f"depth must be a scalar, but got: {Shape(np.shape(depth))}")
    if depth < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {int(depth)}")
    return int(depth)


@shape("OneHot")
def one_hot_shape(indices: TensorSpec, depth: TensorSpec, on_value: TensorSpec, off_value: TensorSpec, *, axis: int) -> Shape:
    for name, spec in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        require_rank(spec, 0, name)
    if indices.rank is None:
        return UNKNOWN
    depths = dims_of(depth)
    size = depths[0] if depths else Dim.unknown()
    if isinstance(size, int) and size < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {size}")
    if not -1 <= axis <= indices.rank:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {indices.rank}]. But received: {axis}")
    position = indices.rank if axis == -1 else axis
    return indices.shape[:position] + Shape([size]) + indices.shape[position:]


@arrays("OneHot", static=(1,), sizes=(1,))
def _one_hot_arrays(xp: Any, indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    """Return `on_value` where the position along the new axis equals the index."""
    count = _depth(depth) if isinstance(depth, np.ndarray) else depth.prod()
    place = indices.ndim if axis == -1 else axis
    places = xp.arange(count)[(slice(None), *[None] * (indices.ndim - place))]
    return xp.where(indices[(*[slice(None)] * place, None)] == places, on_value, off_value)
