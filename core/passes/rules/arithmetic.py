"""Arithmetic identities: the same numbers with fewer or cheaper operations."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...graph.callers import gradient_name
from ...graph.graph import Graph, Node, Output
from ...registry.op_facts import ops_with
from ...types import dtypes
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext
from . import constant_rules, uniform_draws
from .constant_rules import is_normal, may_scale, scaled_weights, weights_take, with_constant
from .rewrite import MOST_MADE, Rewriter, attrs_of, holds, is_unary_map

RULES = RuleSet()
rule = RULES.rule

_ADD = ops_with("addition")
_DIVIDE = ops_with("division")
_CONSTANT = ("Const", "Fill")
"""The ops of what `Rewriter.is_all` knows."""


class Arithmetic(Pass):
    """Apply the identities of this file wherever they hold; identities that regroup floating-point sums need fast math."""

    name: ClassVar[str] = "arithmetic"
    summary: ClassVar[str] = "algebraic identities: x*1, x+0, common factors, powers, negations, transposes into products"
    follows: ClassVar[str] = "structure"
    # At a node the rules are tried in this order: identities of a single node before those of whole trees.
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES, constant_rules.RULES, uniform_draws.RULES)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        Rewriter(graph, ctx).apply(*self.rule_sets)


@rule(*_ADD, algebra="x + 0 -> x", accuracy=Accuracy.ROUNDING, reads=_CONSTANT)
def add_zero(r: Rewriter, node: Node) -> Output | None:
    return _neutral(r, node, 0)


@rule("Sub", algebra="x - 0 -> x", accuracy=Accuracy.ROUNDING, reads=_CONSTANT)
def subtract_zero(r: Rewriter, node: Node) -> Output | None:
    return _neutral(r, node, 0, only_right=True)


@rule("Mul", algebra="x * 1 -> x", accuracy=Accuracy.EXACT, reads=_CONSTANT)
def multiply_by_one(r: Rewriter, node: Node) -> Output | None:
    return _neutral(r, node, 1)


@rule(*_DIVIDE, algebra="x / 1 -> x", accuracy=Accuracy.EXACT, reads=_CONSTANT)
def divide_by_one(r: Rewriter, node: Node) -> Output | None:
    return _neutral(r, node, 1, only_right=True)


def _neutral(r: Rewriter, node: Node, number: float, only_right: bool = False) -> Output | None:
    """Return the other operand of a neutral element that does not broadcast the operand."""
    a, b = node.inputs
    for operand, neutral in ((a, b),) if only_right else ((a, b), (b, a)):
        if r.is_all(neutral, number):
            if r.same_shape(operand, node.output()):
                return operand
            r.refuse(f"the constant {number} may broadcast the other operand to another shape")
    return None


@rule("Mul", algebra="x * 0 -> 0", accuracy=Accuracy.EXACT, reads=_CONSTANT)
def multiply_by_zero(r: Rewriter, node: Node) -> Output | str | None:
    if not any(r.is_all(value, 0) for value in node.inputs):
        return None
    shape, dtype = r.shape(node.output()), node.output_dtypes[0]
    # NaN and infinities among the other factors must show.
    if not dtype.is_integer:
        return "0 times infinity or NaN is NaN"
    if not shape.is_known or math.prod(shape.known()) > MOST_MADE:
        return "the shape of the zeros is unknown or very large"
    return r.constant_for(np.zeros(shape.known()), node)


@rule("Sub", algebra="x - x -> 0", accuracy=Accuracy.EXACT)
def subtract_itself(r: Rewriter, node: Node) -> Output | str | None:
    if node.inputs[0] != node.inputs[1]:
        return None
    if not node.output_dtypes[0].is_integer:
        return "infinity minus infinity is NaN"
    # ZerosLike takes the shape at run time, so that it may be unknown here.
    return r.ZerosLike(node.inputs[0])


@rule("LogicalAnd", "LogicalOr", algebra="x and true -> x, x or false -> x", accuracy=Accuracy.EXACT, reads=_CONSTANT)
def logical_neutral(r: Rewriter, node: Node) -> Output | None:
    return _neutral(r, node, node.op == "LogicalAnd")


@rule("Mul", algebra="x * x -> x^2", accuracy=Accuracy.EXACT)
def multiply_by_itself(r: Rewriter, node: Node) -> Output | None:
    # Square reads its operand once from memory.
    return r.Square(node.inputs[0]) if node.inputs[0] == node.inputs[1] else None


@rule(*_ADD, algebra="x + (-y) -> x - y", accuracy=Accuracy.EXACT, reads=("Neg",))
def add_negated(r: Rewriter, node: Node) -> Output | None:
    a, b = node.inputs
    if b.node.op == "Neg":
        return r.Sub(a, b.node.inputs[0])
    return r.Sub(b, a.node.inputs[0]) if a.node.op == "Neg" else None


@rule("Sub", algebra="x - (-y) -> x + y", accuracy=Accuracy.EXACT)
def subtract_negated(r: Rewriter, node: Node) -> Output | None:
    a, b = node.inputs
    return r.AddV2(a, b.node.inputs[0]) if b.node.op == "Neg" else None


@rule(fact="involution", algebra="f(f(x)) -> x", accuracy=Accuracy.EXACT, relaxed_where="f is a reciprocal")
def involution(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    if not _is_same_function(r, node, inner):
        return None
    # 1/x of a subnormal x is infinite, and 1/(1/x) then 0.
    is_safe = not r.is_fact(node, "reciprocal") or r.may_relax("a reciprocal may overflow or underflow")
    return inner.inputs[0] if is_safe else None


@rule(fact="idempotent", algebra="f(f(x)) -> f(x)", accuracy=Accuracy.EXACT)
def idempotent(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0]
    return inner if _is_same_function(r, node, inner.node) else None


def _is_same_function(r: Rewriter, node: Node, inner: Node) -> bool:
    """Return True if two nodes do the same to their first inputs, with the same gradient."""
    # A registered gradient is part of what a node means while gradients may still be taken.
    if inner.op != node.op or attrs_of(inner) != attrs_of(node) or gradient_name(inner) != gradient_name(node):
        return False
    return all(map(r.is_same, node.inputs[1:], inner.inputs[1:]))


@rule("LogicalNot", algebra="not (x = y) -> x != y", accuracy=Accuracy.EXACT)
def push_not_into_comparison(r: Rewriter, node: Node) -> Output | str | None:
    inner = node.inputs[0].node
    opposite = _OPPOSITE.get(inner.op)
    if opposite is None or not r.is_free(inner):
        return None
    dtype = inner.inputs[0].dtype
    if inner.op not in ("Equal", "NotEqual") and (dtype is None or not dtype.is_integer):
        return "all comparisons with NaN are false"
    return r.add(opposite, *inner.inputs, **attrs_of(inner))


_OPPOSITE = {
    "Equal": "NotEqual",
    "NotEqual": "Equal",
    "Less": "GreaterEqual",
    "GreaterEqual": "Less",
    "Greater": "LessEqual",
    "LessEqual": "Greater",
}


@rule(
    "Pow",
    algebra="x^0, x^1, x^2, x^3, x^0.5, x^-0.5, x^-1 -> cheaper ops",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="a root may get a negative number",
)
def power(r: Rewriter, node: Node) -> Output | str | None:
    x, exponent = node.inputs
    value = r.constant_value(exponent)
    if value is None or value.size == 0 or not np.all(value == value.flat[0]):
        return None
    if not r.same_shape(x, node.output()):
        return "the exponent broadcasts the base"
    number = value.flat[0].item()
    if number == 1:
        return x
    if number == 0:
        # Pow gives 1 even for NaN and infinities, so x does not matter.
        return r.OnesLike(x)
    if number == 3:
        # Two products; Pow takes a logarithm and an exponential.
        return r.Mul(x, r.Square(x))
    op = _POWERS.get(number)
    is_real = x.dtype is not None and (x.dtype.is_floating or number == 2)
    # pow(-0, 0.5) is 0 and sqrt(-0) is -0; pow(-inf, 0.5) is inf and sqrt(-inf) is NaN.
    low = r.range(x).low
    is_safe = number not in (0.5, -0.5) or low > 0 or (number > 0 and low == 0)
    if op is None or not is_real or not (is_safe or r.may_relax("the base may be negative")):
        return None
    return r.add(op, x)


_POWERS = {2: "Square", 0.5: "Sqrt", -0.5: "Rsqrt", -1: "Reciprocal"}


@rule("Square", algebra="(x - y)^2 -> SquaredDifference(x, y)", accuracy=Accuracy.EXACT, reads=("Sub",))
def square_of_difference(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    # SquaredDifference of complex numbers is the square of the absolute value: conj(d) d.
    is_real = node.inputs[0].dtype is not None and not node.inputs[0].dtype.is_complex
    return r.SquaredDifference(*inner.inputs) if is_real and r.is_free(inner) else None


@rule(*_DIVIDE, algebra="x / sqrt(y) -> x * rsqrt(y)", accuracy=Accuracy.ROUNDING)
def divide_by_root(r: Rewriter, node: Node) -> Output | None:
    x, root = node.inputs
    if root.node.op != "Sqrt" or not r.is_free(root.node):
        return None
    return r.Mul(x, r.Rsqrt(root.node.inputs[0]))


@rule(*_DIVIDE, algebra="x / c -> x * (1/c)", accuracy=Accuracy.ROUNDING, reads=_CONSTANT)
def divide_by_constant(r: Rewriter, node: Node) -> Output | str | None:
    x, divisor = node.inputs
    value = r.constant_value(divisor)
    if value is None or x.dtype is None or not (x.dtype.is_floating or x.dtype.is_complex) or np.any(value == 0):
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        reciprocal = 1 / value
    # A subnormal reciprocal has lost digits, and a 0 all of them.
    if not np.all(reciprocal) or not is_normal(reciprocal):
        return "the reciprocal overflows or underflows"
    if x.dtype.is_complex and not r.may_relax("parts of complex quotients may overflow"):
        return None
    return r.Mul(x, r.constant(reciprocal, x))


@rule("Log", algebra="log(1 + x) -> log1p(x)", accuracy=Accuracy.RELAXED, reads=_ADD)
def log_of_one_plus(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    # Log1p keeps the digits of a small x that 1 + x loses: a better result, and so another one.
    for one, x in (inner.inputs, reversed(inner.inputs)):
        if r.is_all(one, 1) and r.same_shape(x, node.output()):
            return r.Log1p(x)
    return None


@rule("Log", algebra="log(softmax(x)) -> logsoftmax(x)", accuracy=Accuracy.RELAXED, reads=("Softmax",))
def log_of_softmax(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    # A small share underflows to 0, whose log is minus infinity; LogSoftmax keeps the number.
    return r.LogSoftmax(inner.inputs[0]) if r.is_free(inner) else None


@rule("Sub", algebra="exp(x) - 1 -> expm1(x)", accuracy=Accuracy.RELAXED)
def exp_minus_one(r: Rewriter, node: Node) -> Output | None:
    a, one = node.inputs
    if a.node.op != "Exp" or not r.is_free(a.node) or not r.is_all(one, 1) or not r.same_shape(a, node.output()):
        return None
    # Like Log1p a better result: exp(x) - 1 loses the digits of a small x.
    return r.Expm1(a.node.inputs[0])


@rule(
    "AddN",
    algebra="AddN of one, of two, of equals, of AddNs",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the sum is regrouped, or has more than 8 equal terms",
)
def add_many(r: Rewriter, node: Node) -> Output | None:
    values = node.inputs
    if values[0].dtype is None or values[0].dtype is dtypes.variant:
        return None
    if len(values) == 1:
        return values[0]
    # Half precision has no 2049: a product with the rounded count would not be the sum.
    if len(set(values)) == 1 and holds(values[0].dtype.base, len(values)):
        is_safe = len(values) <= _FEW or r.may_relax("the roundings of a long sum add up")
        return r.Mul(values[0], r.constant(len(values), values[0])) if is_safe else None
    # A sum inside a sum is flattened there, so that a chain of sums is not flattened once for each of them.
    if r.is_left_to(node, lambda reader: reader.op == node.op):
        return None
    flat = _flat(r, node)
    if len(flat) > len(values):
        is_safe = not _is_regrouped(r, node) or r.may_relax("several values are regrouped")
        return r.AddN(flat) if is_safe else None
    return r.AddV2(*values) if len(values) == 2 else None


_FEW = 8
"""The largest number of equal terms whose sum differs from a multiple by a few units in the last place."""


def _is_tree(r: Rewriter, value: Output, op: str) -> bool:
    """Return True for a sum with a single reader."""
    return value.node.op == op and r.is_free(value.node)


def _flat(r: Rewriter, node: Node) -> list[Output]:
    """Return the terms of a tree of nodes of a single type, from left to right; a node with other readers is a term."""
    flat: list[Output] = []
    pending = list(node.inputs[::-1])
    while pending:
        value = pending.pop()
        if _is_tree(r, value, node.op):
            pending += value.node.inputs[::-1]
        else:
            flat.append(value)
    return flat


def _is_regrouped(r: Rewriter, node: Node) -> bool:
    """Return True if an operand other than the first, in the tree at `node` or a subtree, is a sum."""
    while True:
        if any(_is_tree(r, value, node.op) for value in node.inputs[1:]):
            return True
        if not _is_tree(r, node.inputs[0], node.op):
            return False
        node = node.inputs[0].node


@rule(*_ADD, "Sub", algebra="a*x + a*y -> a*(x + y)", accuracy=Accuracy.RELAXED, reads=("Mul",))
def hoist_common_factor(r: Rewriter, node: Node) -> Output | str | None:
    left, right = (value.node for value in node.inputs)
    if left.op != "Mul" or right.op != "Mul" or left is right or not (r.is_free(left) and r.is_free(right)):
        return None
    for i, factor in enumerate(left.inputs):
        if factor in right.inputs:
            x, y = left.inputs[1 - i], right.inputs[1 - right.inputs.index(factor)]
            if not r.same_shape(x, y):
                return "the other factors may have other broadcasts"
            # Folded into weights, the factor costs nothing; hoisted, it stays a product.
            if weights_take(r, factor, x) or weights_take(r, factor, y):
                return "the factor can go into constant weights"
            return r.Mul(factor, r.add(node.op, x, y))
    return None


@rule("MatMul", algebra="MatMul(transpose(a), b) -> MatMul(a, b, transpose_a)", accuracy=Accuracy.ROUNDING)
def transpose_into_matmul(r: Rewriter, node: Node) -> Output | None:
    return _transposes_into_product(r, node, ("transpose_a", "transpose_b"))


@rule(
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    algebra="BatchMatMul(transpose(a), b) -> BatchMatMul(a, b, adj_x)",
    accuracy=Accuracy.ROUNDING,
)
def transpose_into_batch_matmul(r: Rewriter, node: Node) -> Output | None:
    # adj_x conjugates, too, and Transpose does not.
    if node.inputs[0].dtype is None or node.inputs[0].dtype.is_complex:
        return None
    return _transposes_into_product(r, node, ("adj_x", "adj_y"))


def _transposes_into_product(r: Rewriter, node: Node, flags: tuple[str, str]) -> Output | None:
    """Return the product with each transposition of an operand's last two dimensions absorbed into the product's flags."""
    inputs, attrs = list(node.inputs), dict(attrs_of(node))
    for i, flag in enumerate(flags):
        if _swaps_last_two(r, node.inputs[i].node):
            inputs[i] = node.inputs[i].node.inputs[0]
            attrs[flag] = not node.attr(flag)
    return r.add(node.op, *inputs, **attrs) if tuple(inputs) != node.inputs else None


def _swaps_last_two(r: Rewriter, node: Node) -> bool:
    if node.op != "Transpose":
        return False
    permutation = r.permutation(node.inputs[1])
    if permutation is None or len(permutation) < 2:
        return False
    rank = len(permutation)
    return bool(np.array_equal(permutation, [*range(rank - 2), rank - 1, rank - 2]))


@rule(
    "Max",
    "Min",
    algebra="max(f(x)) -> f(max(x)) for monotone f",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="f gives NaN for some numbers",
)
def reduce_before_monotone(r: Rewriter, node: Node) -> Output | str | None:
    inner = node.inputs[0].node
    if len(inner.inputs) != 1 or not r.is_fact(inner, "monotone") or not r.is_free(inner) or r.is_fact(inner, "forwarding"):
        return None
    # LeakyRelu is monotone for slopes from 0 on only.
    if inner.attr("alpha", 0) < 0:
        return "the function decreases if its slope is negative"
    if not _takes_some(r, inner.inputs[0], node.inputs[1]):
        return "the minimum or maximum of no elements is infinite, which is not a value of the function"
    if r.is_fact(inner, "partial") and not r.may_relax(f"{inner.op} gives NaN for some numbers"):
        return None
    reduced = r.add(node.op, inner.inputs[0], node.inputs[1], **attrs_of(node, T=inner.inputs[0].dtype))
    return r.add(inner.op, reduced, **attrs_of(inner))


def _takes_some(r: Rewriter, x: Output, axes: Output) -> bool:
    """Return True for a reduction known to take at least a single element for each result."""
    places, dims = r.constant_value(axes), r.shape(x).dims
    if places is None or dims is None:
        return False
    return all(isinstance(dims[place], int) and dims[place] > 0 for place in np.ravel(places).tolist())


@rule("Concat", "ConcatV2", algebra="concat(f(x), f(y)) -> f(concat(x, y))", accuracy=Accuracy.EXACT)
def unary_after_concat(r: Rewriter, node: Node) -> Output | None:
    count = node.attrs["N"]
    # The first version of Concat takes the axis first.
    start = 1 if node.op == "Concat" else 0
    values = node.inputs[start : start + count]
    first = values[0].node
    if count < 2 or not is_unary_map(first):
        return None
    if any(v.node.op != first.op or not r.is_free(v.node) or attrs_of(v.node) != attrs_of(first) for v in values):
        return None
    inner = [v.node.inputs[0] for v in values]
    axis = node.inputs[0] if start else node.inputs[-1]
    joined = r.add(node.op, *((axis, inner) if start else (inner, axis)))
    return r.add(first.op, joined, **attrs_of(first))


@rule(
    "Sum",
    "Mean",
    "Max",
    "Min",
    "Prod",
    "Any",
    "All",
    algebra="a reduction over axes of size 1 -> x or a reshape",
    accuracy=Accuracy.ROUNDING,
)
def trivial_reduction(r: Rewriter, node: Node) -> Output | None:
    x, axes = node.inputs
    value, shape = r.constant_value(axes), r.shape(x)
    if value is None or shape.dims is None or value.size > len(shape.dims):
        return None
    places = [int(axis) for axis in np.ravel(value)]
    # A run fails on such an axis, and must still fail.
    if any(not -len(shape.dims) <= place < len(shape.dims) for place in places):
        return None
    sizes = [shape.dims[place] for place in places]
    if not sizes or (all(size == 1 for size in sizes) and node.attr("keep_dims")):
        return x
    result = r.shape(node.output())
    if all(size == 1 for size in sizes) and result.is_known:
        return r.Reshape(x, r.constant_sizes(result.known()))
    return None


@rule("Reshape", algebra="reshape(sum(x, axes), shape(x)) -> x", accuracy=Accuracy.ROUNDING)
def reduction_to_the_same_shape(r: Rewriter, node: Node) -> Output | None:
    """The axes are of size 1, or a run has no elements, since the sum has as many elements as x.

    A gradient sums so over the axes of a broadcast, which are unknown while a size may be 1.
    """
    reduced = node.inputs[0].node
    if not r.is_fact(reduced, "nothing_without_axes"):
        return None
    x = reduced.inputs[0]
    return x if r.same_shape(x, node.output()) else None


@rule(
    "Mul",
    algebra="matmul(x, w) * c -> matmul(x, w * c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow",
    reads=("MatMul",),
)
def factor_of_product_into_weights(r: Rewriter, node: Node) -> Output | None:
    constant, other = with_constant(r, node)
    if constant is None or other is None or other.node.op != "MatMul" or not r.is_free(other.node):
        return None
    value = r.constant_value(constant)
    weights = other.node.inputs[1]
    array = r.constant_value(weights)
    # A factor of more dimensions than the product gives the result these dimensions.
    if array is None or value.size != 1 or value.ndim > 2:
        return None
    scaled = scaled_weights(r, array, value.reshape(()))
    if scaled is None or not may_scale(r, other.node, array, lambda: scaled, value):
        return None
    return r.MatMul(other.node.inputs[0], r.constant(scaled, weights), **attrs_of(other.node))
