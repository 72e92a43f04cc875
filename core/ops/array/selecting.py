"""Select and Where: elements chosen by a condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import (
    Cost,
    arrays,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    not_differentiable,
    onnx,
    shape,
    zero_flops,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, broadcast_shapes, merge_shapes


@kernel("Select")
def select(condition: Array, t: Array, e: Array) -> Result:
    """`t` where the condition holds, `e` elsewhere; a vector condition picks rows."""
    if condition.shape == t.shape == e.shape:
        return np.where(condition, t, e) if t.shape else (t if condition else e)
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
    if not condition.shape and t.shape == e.shape:
        return t if condition else e
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
    """Return True for each element that is zero."""
    return Cost(flops=x.shape.num_elements)


not_differentiable("Where")

arrays("SelectV2")(lambda xp, condition, t, e: xp.where(condition, t, e))


@arrays("Select")
def _selected(xp: Any, condition: Any, t: Any, e: Any) -> Any:
    """A vector of conditions chooses rows."""
    rows = condition[(..., *[None] * (t.ndim - 1))] if condition.ndim == 1 else condition
    return xp.where(rows, t, e)


@onnx("Where")
def _where_onnx(g: Any, condition: Any) -> Any:
    return g.Transpose(g.NonZero(condition), perm=[1, 0])


facts("half_clear", of=["Select", "SelectV2", "Where"])
facts("finds_true", of=("Where",))
