"""Sums and products as wholes: constants that meet, denominators and factors that all terms share."""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import ops_with
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.shapes import Shape, broadcast_shapes
from ..base.accuracy import Accuracy, RuleSet, rounds
from .linear_maps import product_hazard, sum_hazard, weights_take
from .rewrite import Rewriter

RULES = RuleSet()
rule = RULES.rule


@dataclasses.dataclass(frozen=True)
class _InvertibleOperation:
    """An operation with an inverse: `parts` tells which operands of an op are inverted."""

    parts: Mapping[str, tuple[bool, ...]]
    joined: str
    parted: str
    combine: Callable[[Any, Any], Any]
    invert: Callable[[Any], Any]
    hazard: Callable[[_Terms, Any, Sequence[Any]], str]
    """The reason why terms, joined in another way, may differ by more than rounding; takes the combined constant and the
    parts.
    """


@dataclasses.dataclass
class _Terms:
    """The operands of a tree of sums or of products, each with an inversion flag, and the nodes of the tree."""

    values: list[tuple[bool, Output]]
    constants: list[tuple[bool, Output]]
    nodes: list[Node]


def _hazard_of_sum(terms: _Terms, total: Any, parts: Sequence[Any]) -> str:
    if len(terms.values) + (total is not None) > 2:
        return "several values are regrouped"
    return sum_hazard(total, parts) if total is not None else ""


def _hazard_of_product(terms: _Terms, product: Any, parts: Sequence[Any]) -> str:
    if len(terms.values) > 1:
        return "several values are regrouped"
    # c1 / (x * c2) as (c1/c2) / x differs where x * c2 overflows although x does not.
    is_inverted = terms.values[0][0] or product is None
    return "a reciprocal may overflow or underflow" if is_inverted else product_hazard(product, parts)


_ADD, _DIVIDE = ops_with("addition"), ops_with("division")
_ADDED = {**dict.fromkeys(_ADD, (False, False)), "Sub": (False, True), "Neg": (True,)}
_DIVIDED = {**dict.fromkeys(_DIVIDE, (False, True)), **dict.fromkeys(ops_with("reciprocal"), (True,))}
_SUM = _InvertibleOperation(_ADDED, "AddV2", "Sub", np.add, np.negative, _hazard_of_sum)
_PRODUCT = _InvertibleOperation(
    {"Mul": (False, False), **_DIVIDED}, "Mul", "RealDiv", np.multiply, lambda c: np.true_divide(1, c), _hazard_of_product
)
# Integers divide with a remainder, so division has no inverse there: (x / 2) * 2 is not x.
_MULTIPLIED = dataclasses.replace(_PRODUCT, parts={"Mul": (False, False)})


@rule(
    *_ADDED,
    algebra="c1 - (x - c2), (x + c1) + (y + c2) ... -> x + c, (x + y) + c",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, the sum may overflow, or several values are regrouped",
)
def merge_offsets(r: Rewriter, node: Node) -> Output | None:
    return _rebuilt(r, node, _SUM) if node.output_dtypes[0].is_numeric else None


@rule(
    *_PRODUCT.parts,
    algebra="c1 / (x * c2), (x * c1) * (y * c2) ... -> c / x, (x * y) * c",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow, or several values are regrouped",
)
def merge_factors(r: Rewriter, node: Node) -> Output | None:
    dtype = node.output_dtypes[0]
    # A complex quotient by zero is NaN, not an infinity that a second division would bring back to zero.
    group = _PRODUCT if dtype.is_floating else _MULTIPLIED
    return _rebuilt(r, node, group) if node.op in group.parts and dtype.is_numeric else None


def _rebuilt(r: Rewriter, node: Node, group: _InvertibleOperation) -> Output | None:
    """Rebuild the tree at a node with at most a single constant, where the result has fewer nodes."""
    if r.is_left_to(node, lambda reader: reader.op in group.parts or (group is _SUM and _becomes_sum(reader))):
        return None
    terms = _collected(r, node, group)
    # -x - y and 1/x/y would need a negation or a reciprocal of their own, so that nothing is won.
    has_start = bool(terms.constants) or not all(inverted for inverted, _ in terms.values)
    if not terms.values or not has_start or len(terms.values) + bool(terms.constants) > len(terms.nodes):
        return None
    ordered = [(inverted, value, _elements(r, value)) for inverted, value in terms.values]
    combined = _combined(r, terms.constants, group) if terms.constants else None
    # The whole tree is refused, but parts of it may pass. Each node gets a window of a few nodes: whole subtrees at each node
    # would take time in the square of a chain.
    if (combined is None and terms.constants) or not _may_join(r, terms, combined, group):
        r.look_alone(terms.nodes)
        return None
    if combined is not None:
        ordered.insert(0, (False, r.constant(combined, node.output()), combined.size))
    return _joined(r, sorted(ordered, key=lambda term: term[2]), group)


def _may_join(r: Rewriter, terms: _Terms, combined: Any, group: _InvertibleOperation) -> bool:
    """Return True if joining the terms in another way changes rounding only, or fast math allows the rule."""
    if not rounds(terms.nodes[0]):
        return True
    with np.errstate(all="ignore"):
        hazard = group.hazard(terms, combined, _values(r, terms.constants, group))
    return not hazard or r.may_relax(hazard)


def _values(r: Rewriter, constants: Sequence[tuple[bool, Output]], group: _InvertibleOperation) -> list[Any]:
    """Return the arrays of the constants, with inverted constants as their inverses."""
    arrays = [(inverted, r.constant_value(value)) for inverted, value in constants]
    return [group.invert(array) if inverted else array for inverted, array in arrays]


def _becomes_sum(node: Node) -> bool:
    """Return True for an AddN of two, to be turned into an ordinary sum by another rule."""
    return node.op == "AddN" and node.input_count() == 2


def _collected(r: Rewriter, node: Node, group: _InvertibleOperation) -> _Terms:
    """Collect the terms of the tree at `node`, from left to right; a node with other readers is a term."""
    terms, most = _Terms([], [], []), r.most_nodes(node)
    pending: list[tuple[bool, Output, Node | None]] = [(False, node.output(), node)]
    while pending:
        inverted, value, tree = pending.pop()
        if tree is not None and (most is None or len(terms.nodes) < most):
            terms.nodes.append(tree)
            parts = zip(tree.inputs, group.parts[tree.op])
            # A sign turns with each Sub or Neg on the way: x - (y - z) has +z.
            pending += [(inverted != flips, v, _inner(r, v, group)) for v, flips in reversed(list(parts))]
        elif r.constant_value(value) is not None:
            terms.constants.append((inverted, value))
        else:
            terms.values.append((inverted, value))
    return terms


def _inner(r: Rewriter, value: Output, group: _InvertibleOperation) -> Node | None:
    return value.node if value.node.op in group.parts and r.is_free(value.node) else None


def _elements(r: Rewriter, value: Output) -> float:
    """Return the sort key: small operands come first, so that intermediate results stay small."""
    shape = r.shape(value)
    return math.prod(shape.known()) if shape.is_known else math.inf


def _combined(r: Rewriter, constants: Sequence[tuple[bool, Output]], group: _InvertibleOperation) -> Any:
    """Combine all constants; None where the combination would be large, or would differ from the constants together."""
    values = [(inverted, r.constant_value(value)) for inverted, value in constants]
    try:
        broadcast_shapes(*(Shape(v.shape) for _, v in values))
    except InvalidArgumentError:
        return None
    with np.errstate(all="ignore"):
        result = np.asarray(functools.reduce(group.combine, _values(r, constants, group)))
        # A column plus a row is a matrix: two small constants would become a large one in the file.
        if result.size > max(v.size for _, v in values):
            r.refuse("the combined constant would be larger than each")
            return None
        if result.dtype.kind in "iu":
            return result
        # complex128 holds the numbers of all dtypes, real and complex, to 53 bits. So one comparison finds overflow, underflow
        # and cancellation in each dtype.
        wide = [v.astype(np.complex128) for _, v in values]
        exact = functools.reduce(group.combine, [group.invert(w) if i else w for (i, _), w in zip(values, wide)])
    if not np.allclose(result.astype(np.complex128), exact, rtol=0.01, atol=0, equal_nan=True):
        r.refuse("the combined constant overflows, underflows or cancels")
        return None
    return result


def _joined(r: Rewriter, terms: Sequence[tuple[bool, Output, float]], group: _InvertibleOperation) -> Output:
    """Join the terms in order, from the first that is not inverted; constants stand to the right."""
    start = next(i for i, (inverted, _, _) in enumerate(terms) if not inverted)
    result = terms[start][1]
    for inverted, value, _ in (*terms[:start], *terms[start + 1 :]):
        if inverted:
            result = r.add(group.parted, result, value)
        else:
            # Constants to the right: other rules, and readers such as fused kernels, look for biases and factors there.
            operands = (value, result) if r.constant_value(result) is not None else (result, value)
            result = r.add(group.joined, *operands)
    return result


@rule("Mul", algebra="(x*a + b) * c -> x*(a*c) + b*c", accuracy=Accuracy.RELAXED)
def scale_an_affine_function(r: Rewriter, node: Node) -> Output | None:
    scale, total = with_constant(r, node)
    offset, product = with_constant(r, free_node(r, total, _ADD))
    factor, x = with_constant(r, free_node(r, product, ("Mul",)))
    if scale is None or offset is None or factor is None or x is None:
        return None
    factors, offsets = (_combined(r, [(False, scale), (False, c)], _PRODUCT) for c in (factor, offset))
    if factors is None or offsets is None:
        return None
    return r.AddV2(r.Mul(x, r.constant(factors, x)), r.constant(offsets, x))


def with_constant(r: Rewriter, node: Node | None) -> tuple[Output | None, Output | None]:
    """Return the constant operand of a binary op, and the other operand."""
    operands = () if node is None else ((node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0]))
    for constant, other in operands:
        if r.constant_value(constant) is not None and r.constant_value(other) is None and other.dtype is not None:
            return (constant, other) if other.dtype.is_numeric else (None, None)
    return None, None


def free_node(r: Rewriter, value: Output | None, ops: Sequence[str]) -> Node | None:
    return value.node if value is not None and value.node.op in ops and r.is_free(value.node) else None


@rule("Mul", "Neg", algebra="(-x) * c, -(x * c) -> x * (-c)", accuracy=Accuracy.EXACT)
def negate_the_constant(r: Rewriter, node: Node) -> Output | None:
    outer = node if node.op == "Mul" else free_node(r, node.inputs[0], ("Mul",))
    constant, x = with_constant(r, outer)
    if constant is None or x is None:
        return None
    if node.op == "Mul":
        negated = free_node(r, x, ("Neg",))
        if negated is None:
            return None
        x = negated.inputs[0]
    return r.Mul(x, r.constant(np.negative(r.constant_value(constant)), x))


@rule(*_ADD, "Sub", algebra="a/c + b/c -> (a + b)/c", accuracy=Accuracy.RELAXED)
def hoist_common_denominator(r: Rewriter, node: Node) -> Output | None:
    shared = _shared_denominator(r, node.inputs)
    if shared is None:
        return None
    op, numerators, denominator = shared
    return r.add(op, r.add(node.op, *numerators), denominator)


@rule("AddN", algebra="AddN(a*x, b*x, ...) -> AddN(a, b, ...) * x, and the same for a/x", accuracy=Accuracy.RELAXED)
def hoist_from_many(r: Rewriter, node: Node) -> Output | None:
    if len(node.inputs) < 2:
        return None
    shared = _shared_denominator(r, node.inputs) or _shared_factor(r, node.inputs)
    if shared is None:
        return None
    op, others, factor = shared
    return r.add(op, r.AddN(others), factor)


_Shared = tuple[str, list[Output], Output]


def _shared_denominator(r: Rewriter, values: Sequence[Output]) -> _Shared | None:
    """Return the op, the numerators and the denominator of quotients with a common denominator."""
    nodes = _free_nodes(r, values, (*_DIVIDE, "DivNoNan"))
    # 1/2 + 1/2 of integers is 0, and (1 + 1)/2 is 1.
    if nodes is None or len({n.inputs[1] for n in nodes}) > 1 or nodes[0].output_dtypes[0].is_integer:
        return None
    return _of_one_shape(r, nodes[0].op, [n.inputs[0] for n in nodes], nodes[0].inputs[1])


def _shared_factor(r: Rewriter, values: Sequence[Output]) -> _Shared | None:
    """Return Mul, the other factors and the factor of products with a common factor."""
    nodes = _free_nodes(r, values, ("Mul",))
    if nodes is None:
        return None
    for factor in nodes[0].inputs:
        if all(factor in n.inputs for n in nodes):
            others = [n.inputs[1 - n.inputs.index(factor)] for n in nodes]
            if any(weights_take(r, factor, other) for other in others):
                r.refuse("the factor can go into constant weights")
                return None
            return _of_one_shape(r, "Mul", others, factor)
    return None


def _free_nodes(r: Rewriter, values: Sequence[Output], ops: Sequence[str]) -> list[Node] | None:
    """Return the different nodes of a single type in `ops` behind the values; None for any other nodes."""
    nodes = [value.node for value in values]
    alike = nodes[0].op in ops and len(set(nodes)) == len(nodes) and len({n.op for n in nodes}) == 1
    return nodes if alike and all(map(r.is_free, nodes)) else None


def _of_one_shape(r: Rewriter, op: str, others: list[Output], shared: Output) -> _Shared | None:
    if not all(r.same_shape(others[0], other) for other in others[1:]):
        r.refuse("the parts that differ may broadcast differently")
        return None
    return op, others, shared


@rule(
    "AddN",
    "AccumulateNV2",
    algebra="AddN(x, c1, y, c2, 0) -> AddN(x, y, c1 + c2)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, the sum may overflow, or several values are regrouped",
)
def merge_constants_of_many(r: Rewriter, node: Node) -> Output | None:
    kinds: dict[str, list[Output]] = collections.defaultdict(list)
    for value in node.inputs:
        # AddN does not broadcast, so a zero has the shape of the sum and can go without a look at shapes.
        is_zero = value.node.op == "ZerosLike" or r.is_all(value, 0)
        kinds["zero" if is_zero else "constant" if r.constant_value(value) is not None else "value"].append(value)
    values, constants = kinds["value"], kinds["constant"]
    if not values or not node.output_dtypes[0].is_numeric or len(values) + bool(constants) == len(node.inputs):
        return None
    if len(constants) < 2:
        return r.AddN([value for value in node.inputs if value not in kinds["zero"]])
    terms = _Terms([(False, value) for value in values], [(False, constant) for constant in constants], [node])
    combined = _combined(r, terms.constants, _SUM)
    if combined is None or not _may_join(r, terms, combined, _SUM):
        return None
    return r.AddN([*values, r.constant(combined, values[0])])
