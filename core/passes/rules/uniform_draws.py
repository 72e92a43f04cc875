"""Numbers drawn uniformly from [0, 1): what comparisons and roundings make of them in every run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from ...graph.graph import Node, Output
from ...graph.traversal import trail_end
from ...registry.op_facts import has_fact
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import PassContext
from .rewrite import Rewriter

RULES = RuleSet()
rule = RULES.rule


_FLOOR: Final = "Floor"


def factors(node: Node) -> list[Sequence[Output]]:
    """Return the factors of a product in both orders; none for another node."""
    return [node.inputs, node.inputs[::-1]] if node.op == "Mul" else []


def summands(node: Node) -> list[Sequence[Output]]:
    """Return the summands of a sum in both orders; none for another node."""
    return [node.inputs, node.inputs[::-1]] if has_fact(node.op, "addition") else []


def rounded_down(node: Node) -> Output | None:
    """Return the input of a Floor."""
    return node.inputs[0] if node.op == _FLOOR else None


def is_draw(node: Node) -> bool:
    """Return True for a node that draws from [0, 1), or from the normal distribution of mean 0 and deviation 1."""
    return has_fact(node.op, "unit_uniform") or has_fact(node.op, "unit_normal")


def draw_of(ctx: PassContext, value: Output, through: Collection[str] = ()) -> Output | None:
    """Return the draw from [0, 1) that a value is, behind copies, products with 1, sums with 0 and ops `through`, if any."""

    def before(value: Output) -> Output | None:
        node = value.node
        if ctx.is_fed(value):
            return None
        if node.is_identity or node.op in through:
            return node.inputs[0]
        pairs = [(factors(node), 1), (summands(node), 0)]
        return next((one for orders, neutral in pairs for one, other in orders if number(ctx, other) == neutral), None)

    end = trail_end(value, before)
    return end if has_fact(end.node.op, "unit_uniform") and not ctx.is_fed(end) else None


def number(ctx: PassContext, value: Output) -> float | None:
    """Return the real number of a scalar that is the same in every run, else None."""
    known = ctx.constant_value(value) if value.node.is_constant else ctx.value(value)
    is_real = value.dtype is not None and (value.dtype.is_floating or value.dtype.is_integer)
    return float(known) if is_real and known is not None and not known.ndim else None


class _Bounds(NamedTuple):
    """The least and the greatest of numbers, in their dtype; none is NaN."""

    low: Any
    high: Any


def _bounds(r: Rewriter, value: Output) -> _Bounds | None:
    """Return the bounds of a draw or of a scalar: draws are multiples of the distance from 1 to the next greater number."""
    assert value.dtype is not None
    dtype = value.dtype.base.numpy
    if draw_of(r.ctx, value) is not None:
        # TensorFlow fills the mantissa of a number from [1, 2) with random bits and subtracts 1. So the greatest draw is 1 -
        # eps, which is not the greatest number below 1: that is 1 - eps/2.
        return _Bounds(np.zeros((), dtype), np.asarray(1 - float(ml_dtypes.finfo(dtype).eps), dtype))
    scalar = number(r.ctx, value)
    return None if scalar is None or np.isnan(scalar) else _Bounds(*2 * [np.asarray(scalar, dtype)])


@rule(fact="less", algebra="uniform[0, 1) < 0 -> false, uniform[0, 1) < 1 -> true", accuracy=Accuracy.EXACT)
def draw_below(r: Rewriter, node: Node) -> Output | None:
    return _compared(r, node, *node.inputs)


@rule(fact="greater", algebra="uniform[0, 1) >= 0 -> true, uniform[0, 1) > 1 -> false", accuracy=Accuracy.EXACT)
def draw_above(r: Rewriter, node: Node) -> Output | None:
    return _compared(r, node, *reversed(node.inputs))


def _compared(r: Rewriter, node: Node, small: Output, large: Output) -> Output | None:
    """Return the answer of all draws to `small < large`, also for equal numbers if the node says so."""
    draw = draw_of(r.ctx, small) or draw_of(r.ctx, large)
    if draw is None or (left := _bounds(r, small)) is None or (right := _bounds(r, large)) is None:
        return None
    if left.high < right.low or (left.high == right.low and has_fact(node.op, "true_of_equals")):
        return _filled(r, node, draw, True)
    if left.low > right.high or (left.low == right.high and not has_fact(node.op, "true_of_equals")):
        return _filled(r, node, draw, False)
    return None


@rule(_FLOOR, algebra="floor(1 + uniform[0, 1)) -> 1", accuracy=Accuracy.EXACT)
def floor_of_draw(r: Rewriter, node: Node) -> Output | None:
    """Sums round without changing their order, and so does a floor: equal ends leave one number."""
    added = node.inputs[0].node
    if not has_fact(added.op, "addition") or r.ctx.is_fed(node.inputs[0]):
        return None
    draw = draw_of(r.ctx, added.inputs[0]) or draw_of(r.ctx, added.inputs[1])
    one, other = (_bounds(r, value) for value in added.inputs)
    if draw is None or one is None or other is None:
        return None
    # Computed in the dtype itself, since the sum may round up to the next integer: in bfloat16 200 + 0.99 is 201.
    low, high = np.floor(one.low + other.low), np.floor(one.high + other.high)
    return _filled(r, node, draw, low) if low == high else None


def _filled(r: Rewriter, node: Node, draw: Output, value: Any) -> Output:
    """Return the value in the shape of a draw, which is that of the node."""
    definition = draw.node.op_def
    assert definition is not None
    place = next(place for place, arg in enumerate(definition.inputs) if arg.name == "shape")
    # From the input of the draw, not from the draw's result: the draw may then go, with its place in the stream of a node of
    # its own.
    return r.Fill(draw.node.inputs[place], r.constant(value, node.output()))


@rule("Cast", algebra="cast(fill(s, c)) -> fill(s, cast(c))", accuracy=Accuracy.EXACT)
def cast_of_fill(r: Rewriter, node: Node) -> Output | None:
    value = r.ctx.repeated(node.inputs[0])
    if value is None or not value.node.is_constant:
        return None
    sizes = node.inputs[0].node.inputs[0]
    return r.Fill(sizes, r.Cast(value, DstT=node.attr("DstT"), Truncate=node.attr("Truncate")))
