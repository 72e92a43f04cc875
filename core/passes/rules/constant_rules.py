"""Sums and products as wholes: constants that meet, factors that all terms share, and constants that move into weights."""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import ops_with
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types.shapes import Shape, broadcast_shapes
from ..base.accuracy import Accuracy, RuleSet, rounds
from .rewrite import (
    PRODUCTS,
    WEIGHTS,
    Rewriter,
    attrs_of,
    data_index,
    data_input,
    input_axes,
    is_matrix_product,
    output_axes,
    weights_sum,
)

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
    """The reason why terms, joined otherwise, may differ by more than rounding; takes the combined constant and the parts."""


@dataclasses.dataclass
class _Terms:
    """The operands of a tree of sums or of products, each with an inversion flag, and the nodes of the tree."""

    values: list[tuple[bool, Output]]
    constants: list[tuple[bool, Any]]
    """The arrays of the constants."""
    nodes: list[Node]


def _hazard_of_sum(terms: _Terms, total: Any, parts: Sequence[Any]) -> str:
    if len(terms.values) + (total is not None) > 2:
        return "several values are regrouped"
    return sum_hazard(total, parts) if total is not None else ""


def _hazard_of_product(terms: _Terms, product: Any, parts: Sequence[Any]) -> str:
    if len(terms.values) > 1:
        return "several values are regrouped"
    # c1 / (x * c2) as (c1/c2) / x differs if x * c2 overflows although x does not.
    is_inverted = terms.values[0][0] or product is None
    return "a reciprocal may overflow or underflow" if is_inverted else product_hazard(product, parts)


_ADD, _DIVIDE = ops_with("addition"), ops_with("division")
_QUOTIENTS = (*_DIVIDE, "DivNoNan")
_SCALED, _BIASED = ("Mul",), ("BiasAdd",)
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
    reads=_ADDED,
)
def merge_offsets(r: Rewriter, node: Node) -> Output | None:
    return _rebuilt(r, node, _SUM) if node.output_dtypes[0].is_numeric else None


@rule(
    *_PRODUCT.parts,
    algebra="c1 / (x * c2), (x * c1) * (y * c2) ... -> c / x, (x * y) * c",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow, or several values are regrouped",
    reads=_PRODUCT.parts,
)
def merge_factors(r: Rewriter, node: Node) -> Output | None:
    dtype = node.output_dtypes[0]
    # A complex quotient by zero is NaN, not an infinity that a second division would bring back to zero.
    group = _PRODUCT if dtype.is_floating else _MULTIPLIED
    return _rebuilt(r, node, group) if node.op in group.parts and dtype.is_numeric else None


def _rebuilt(r: Rewriter, node: Node, group: _InvertibleOperation) -> Output | None:
    """Rebuild the tree at a node with at most a single constant, if the result has fewer nodes."""
    # An AddN of two will be an ordinary sum, by another rule.
    if r.is_left_to(node, lambda n: n.op in group.parts or (group is _SUM and n.op == "AddN" and n.input_count() == 2)):
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
        hazard = group.hazard(terms, combined, _values(terms.constants, group))
    return not hazard or r.may_relax(hazard)


def _values(constants: Sequence[tuple[bool, Any]], group: _InvertibleOperation) -> list[Any]:
    """Return the arrays of the constants, with inverted constants as their inverses."""
    return [group.invert(array) if inverted else array for inverted, array in constants]


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
        elif (array := r.constant_value(value)) is not None:
            terms.constants.append((inverted, array))
        else:
            terms.values.append((inverted, value))
    return terms


def _inner(r: Rewriter, value: Output, group: _InvertibleOperation) -> Node | None:
    return value.node if value.node.op in group.parts and r.is_free(value.node) else None


def _elements(r: Rewriter, value: Output) -> float:
    """Return the sort key: small operands come first, so that intermediate results stay small."""
    shape = r.shape(value)
    return math.prod(shape.known()) if shape.is_known else math.inf


def _combined(r: Rewriter, constants: Sequence[tuple[bool, Any]], group: _InvertibleOperation) -> Any:
    """Combine all constants; None if the combination would be large, or would differ from the constants together."""
    try:
        broadcast_shapes(*map(Shape, {array.shape for _, array in constants}))
    except InvalidArgumentError:
        return None
    with np.errstate(all="ignore"):
        result = np.asarray(functools.reduce(group.combine, _values(constants, group)))
        # A column plus a row is a matrix: two small constants would become a large one in the file.
        if result.size > max(array.size for _, array in constants):
            r.refuse("the combined constant would be larger than each")
            return None
        if result.dtype.kind in "iu":
            return result
        # complex128 holds the numbers of all dtypes, real and complex, to 53 bits. So one comparison finds overflow, underflow
        # and cancellation in each dtype.
        wide = [(inverted, array.astype(np.complex128)) for inverted, array in constants]
        exact = functools.reduce(group.combine, _values(wide, group))
    # One percent is more than a rounding of bfloat16, 0.4 %, and far less than a lost number.
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


@rule("Mul", algebra="(x*a + b) * c -> x*(a*c) + b*c", accuracy=Accuracy.RELAXED, reads=_ADD)
def scale_an_affine_function(r: Rewriter, node: Node) -> Output | None:
    scale, total = with_constant(r, node)
    offset, product = with_constant(r, free_node(r, total, _ADD))
    factor, x = with_constant(r, free_node(r, product, _SCALED))
    if scale is None or offset is None or factor is None or x is None:
        return None
    arrays = [(False, r.constant_value(constant)) for constant in (scale, factor, offset)]
    factors, offsets = (_combined(r, [arrays[0], array], _PRODUCT) for array in arrays[1:])
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


@rule("Mul", "Neg", algebra="(-x) * c, -(x * c) -> x * (-c)", accuracy=Accuracy.EXACT, reads=("Neg", *_SCALED))
def negate_the_constant(r: Rewriter, node: Node) -> Output | None:
    outer = node if node.op == "Mul" else free_node(r, node.inputs[0], _SCALED)
    constant, x = with_constant(r, outer)
    if constant is None or x is None:
        return None
    if node.op == "Mul":
        negated = free_node(r, x, ("Neg",))
        if negated is None:
            return None
        x = negated.inputs[0]
    # Exact, as a product with the negated constant rounds to the same digits with the other sign.
    return r.Mul(x, r.constant(np.negative(r.constant_value(constant)), x))


@rule(*_ADD, "Sub", algebra="a/c + b/c -> (a + b)/c", accuracy=Accuracy.RELAXED, reads=_QUOTIENTS)
def hoist_common_denominator(r: Rewriter, node: Node) -> Output | None:
    shared = _shared_denominator(r, node.inputs)
    if shared is None:
        return None
    op, numerators, denominator = shared
    return r.add(op, r.add(node.op, *numerators), denominator)


@rule(
    "AddN",
    algebra="AddN(a*x, b*x, ...) -> AddN(a, b, ...) * x, and the same for a/x",
    accuracy=Accuracy.RELAXED,
    reads=(*_SCALED, *_QUOTIENTS),
)
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
    nodes = _free_nodes(r, values, _QUOTIENTS)
    # 1/2 + 1/2 of integers is 0, and (1 + 1)/2 is 1.
    if nodes is None or len({n.inputs[1] for n in nodes}) > 1 or nodes[0].output_dtypes[0].is_integer:
        return None
    return _of_one_shape(r, nodes[0].op, [n.inputs[0] for n in nodes], nodes[0].inputs[1])


def _shared_factor(r: Rewriter, values: Sequence[Output]) -> _Shared | None:
    """Return Mul, the other factors and the factor of products with a common factor."""
    nodes = _free_nodes(r, values, _SCALED)
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
    arrays = [(False, r.constant_value(constant)) for constant in constants]
    terms = _Terms([(False, value) for value in values], arrays, [node])
    combined = _combined(r, terms.constants, _SUM)
    if combined is None or not _may_join(r, terms, combined, _SUM):
        return None
    return r.AddN([*values, r.constant(combined, values[0])])


# Constants in front of products and convolutions move into their weights, offsets into biases.

_CONVOLUTIONS = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")


@rule(
    *_CONVOLUTIONS,
    "MatMul",
    algebra="conv(x * c, w) -> conv(x, c * w)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow",
    reads=_SCALED,
)
def factor_of_input_into_weights(r: Rewriter, node: Node) -> Output | str | None:
    constant, x = with_constant(r, free_node(r, node.inputs[0], _SCALED))
    weights = r.constant_value(node.inputs[1])
    if constant is None or x is None or not node.output_dtypes[0].is_floating:
        return None
    if weights is None:
        return "the weights are not constant"
    return _scaled(r, node, x, r.constant_value(constant), weights)


def _scaled(r: Rewriter, node: Node, x: Output, factor: Any, weights: Any) -> Output | str | None:
    """Return the product of x and weights scaled like x."""
    if not r.same_shape(x, node.inputs[0]):
        return "the factor may broadcast the input"
    axes = input_axes(node)
    # The rows of a transposed matrix are its channels, and a vector runs along the columns.
    is_turned = is_matrix_product(node) and node.attr("transpose_a") and factor.size > 1
    vector = None if is_turned else aligned_vector(r, x, weights.shape[axes[0]], is_channels_first(node), factor)
    if vector is None:
        return "the factor is neither a scalar nor a vector of the input channels"
    scaled = scaled_weights(r, weights, along(weights, axes, vector))
    if scaled is None or not _may_scale_input(r, node, x, factor, weights, scaled):
        return None
    return r.add(node.op, x, r.constant(scaled, node.inputs[1]), **attrs_of(node))


def _may_scale_input(r: Rewriter, node: Node, x: Output, factor: Any, weights: Any, scaled: Any) -> bool:
    """Return True if scaling x cannot overflow, as the factor shrinks x or x is small; or fast math allows the rule."""
    if not rounds(node):
        return True
    data, largest = r.range(x).magnitude, most(factor)
    sizes = (data * largest * weights_sum(node, weights), data * weights_sum(node, scaled))
    # With a factor of at most 1, x * c was no larger than x: only the weights can lose digits.
    is_safe = is_normal(scaled) and (largest <= 1 or holds_products(scaled, data, *sizes))
    return is_safe or r.may_relax("the scaled data may overflow, or the scaled weights underflow")


def may_scale(r: Rewriter, product: Node, weights: Any, scaled: Callable[[], Any], factor: Any, bias: Any = 0) -> bool:
    """Return True if a product with bias cannot overflow, nor the product times a factor; or fast math allows the rule."""
    if not rounds(product):
        return True
    data = r.range(data_input(product)).magnitude
    # Most data have no bound: then no weights keep the product within bounds, and the pass need not read megabytes of them.
    is_safe = math.isfinite(data) and _holds_scaled(product, data, weights, scaled(), factor, bias)
    return is_safe or r.may_relax("the product may overflow before or after it is scaled, or the scaled weights underflow")


def _holds_scaled(product: Node, data: float, weights: Any, scaled: Any, factor: Any, bias: Any) -> bool:
    # Partial sums of a product are bounded by the sum of absolute values, in whatever order a kernel adds.
    plain, after = data * weights_sum(product, weights) + most(bias), data * weights_sum(product, scaled)
    return is_normal(scaled) and holds_products(scaled, plain, after, plain * most(factor))


def scaled_weights(r: Rewriter, weights: Any, factor: Any) -> Any:
    """Return the weights times a factor of the same dtype; None, with a refusal, if the result leaves the dtype's range."""
    with np.errstate(all="ignore"):
        scaled = weights * factor
        if scaled.dtype.kind in "iu":
            return scaled
        exact = weights.astype(np.complex128) * factor.astype(np.complex128)
    # The tolerance of `_combined`.
    if not np.allclose(scaled.astype(np.complex128), exact, rtol=0.01, atol=0, equal_nan=True):
        r.refuse("the weights would overflow or underflow")
        return None
    return scaled


@rule(
    "BiasAdd",
    algebra="bias_add(x + c, b) -> bias_add(x, b + c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, or are so large that the sum may overflow",
    reads=_ADD,
)
def offset_into_later_bias(r: Rewriter, node: Node) -> Output | str | None:
    constant, x = with_constant(r, free_node(r, node.inputs[0], _ADD))
    return None if constant is None or x is None else _merged_bias(r, node, node, x, constant)


@rule(
    *_ADD,
    algebra="bias_add(x, b) + c -> bias_add(x, b + c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, or are so large that the sum may overflow",
    reads=_BIASED,
)
def offset_into_earlier_bias(r: Rewriter, node: Node) -> Output | str | None:
    constant, other = with_constant(r, node)
    bias_add = free_node(r, other, _BIASED)
    if constant is None or bias_add is None:
        return None
    return _merged_bias(r, node, bias_add, bias_add.inputs[0], constant)


def _merged_bias(r: Rewriter, node: Node, bias_add: Node, x: Output, constant: Output) -> Output | str | None:
    """Return a BiasAdd of x in the place of `node` that adds a scalar or per-channel constant too."""
    bias, offset = r.constant_value(bias_add.inputs[1]), r.constant_value(constant)
    if bias is None:
        return None
    if not r.same_shape(x, node.output()):
        return "the constant may broadcast the other operand"
    vector = aligned_vector(r, x, bias.size, is_channels_first(bias_add), offset)
    if vector is None:
        return "the constant varies along more than the channels"
    total = merged_offsets(r, bias, vector)
    return None if total is None else r.BiasAdd(x, r.constant(total, bias_add.inputs[1]), **attrs_of(bias_add))


def merged_offsets(r: Rewriter, first: Any, second: Any) -> Any:
    """Return the sum of two constants that are added in turn; None if the merge needs fast math."""
    with np.errstate(all="ignore"):
        total = first + second
    if total.dtype.kind in "iu":
        return total
    hazard = sum_hazard(total, (first, second))
    return total if not hazard or r.may_relax(hazard) else None


# Convolutions and matrix products seen as linear maps: where their channels lie, and their weights scaled by channel.


def output_channels(r: Rewriter, product: Node) -> int | None:
    """Return the number of channels of the result, None if the shape of the weights is unknown or does not fit."""
    weights, axes = r.shape(product.inputs[WEIGHTS]), output_axes(product)
    if not weights.is_known or any(not -len(weights) <= axis < len(weights) for axis in axes):
        return None
    return math.prod(weights.known()[axis] for axis in axes)


def is_channels_first(node: Node) -> bool:
    """Return True for convolutions and normalizations of NCHW or NCDHW."""
    return bool(node.attr("data_format", b"").startswith(b"NC"))


def bias_format(product: Node) -> bytes:
    """Return BiasAdd's name of the layout of the product's result."""
    return b"NCHW" if is_channels_first(product) else b"NHWC"


def channel_vector(r: Rewriter, product: Node, value: Any) -> Any:
    """Return the factor or offset per channel of the result; None unless `value` is a scalar or varies along channels only."""
    return aligned_vector(r, product.output(), output_channels(r, product), is_channels_first(product), value)


def aligned_vector(r: Rewriter, tensor: Output, channels: int | None, is_first: bool, value: Any) -> Any:
    """Return `value` as a vector over the channels of `tensor`; None if broadcasting aligns `value` otherwise."""
    shape = r.shape(tensor)
    if channels is None or shape.dims is None or value.ndim > len(shape):
        return None
    if value.size == 1:
        return np.broadcast_to(value.reshape(()), (channels,))
    axis = 1 if is_first else len(shape) - 1
    aligned = (1,) * (len(shape) - value.ndim) + value.shape
    expected = tuple(channels if i == axis else 1 for i in range(len(shape)))
    return value.reshape(channels) if aligned == expected else None


def constant_weights(r: Rewriter, product: Node) -> Any:
    """Return the array of the product's weights; None, with a refusal, for non-constant weights."""
    weights = r.constant_value(product.inputs[WEIGHTS])
    if weights is None:
        r.refuse("the weights are not constant; freeze the graph first")
    return weights


def weights_take(r: Rewriter, factor: Output, value: Output) -> bool:
    """Return True if a constant factor of `value` can go into constant weights: `value` is a product, maybe with a bias."""
    product = value.node.inputs[0].node if value.node.op == "BiasAdd" else value.node
    if product.op not in PRODUCTS or r.constant_value(factor) is None:
        return False
    return r.constant_value(product.inputs[WEIGHTS]) is not None


def with_factor(r: Rewriter, product: Node, axes: tuple[int, ...], factor: Any, data: Output | None = None) -> Output:
    """Return the product with weights times a vector along `axes`, and with `data` as data if not None."""
    weights = r.constant_value(product.inputs[WEIGHTS])
    inputs = list(product.inputs)
    inputs[WEIGHTS] = r.constant(scaled(weights, axes, factor), product.inputs[WEIGHTS])
    if data is not None:
        inputs[data_index(product)] = data
    return r.add(product.op, *inputs, **attrs_of(product))


def scaled(weights: Any, axes: tuple[int, ...], factor: Any) -> Any:
    """Return `weights` times a vector along `axes`, in float32 at least."""
    return wide(weights) * along(weights, axes, wide(factor))


def along(weights: Any, axes: tuple[int, ...], vector: Any) -> Any:
    """Return a vector in the form in which it broadcasts to `weights` along `axes`."""
    places = [axis % weights.ndim for axis in axes]
    return vector.reshape([size if axis in places else 1 for axis, size in enumerate(weights.shape)])


def reshaped(r: Rewriter, value: Output, reshape: Node | None) -> Output:
    """Return `value` in the shape of the Reshape or Squeeze, if there is one."""
    return value if reshape is None else r.add(reshape.op, value, *reshape.inputs[1:], **attrs_of(reshape))


def is_read(r: Rewriter, node: Node) -> bool:
    """Return False for a node that a rule has replaced."""
    return bool(node.uses) or r.ctx.is_preserved(node)


def is_read_only_by(r: Rewriter, node: Node, readers: Collection[Node]) -> bool:
    """Return True if only `readers` need the node: the node may go with them."""
    others = [user for user in node.uses if user not in readers and is_read(r, user)]
    return not others and not r.ctx.is_preserved(node) and not node.control_inputs


def wide(values: Any) -> Any:
    """Widen half and bfloat16 to float32, so that a folded result is rounded only once, at the end."""
    return values.astype(np.float32) if values.dtype.itemsize == 2 else values


# Conditions on constants under which two computations of a result differ by rounding only, for any other operand.

_DIGITS: Final = 4
"""The largest ratio of the largest constant to the sum of constants: at most two bits are lost."""
_MARGIN: Final = 4
"""The factor between products of bounds and the largest number; leaves room for rounding on the way."""


def sum_hazard(total: Any, terms: Sequence[Any], unit: Any = 0.0) -> str:
    """Return the reason why `x + total` may differ by more than rounding from adding the terms in turn; empty for no
    reason.

    Terms of a few times `unit` may cancel: the last digits of the terms are those of `unit`.
    """
    # Constants that are equal are one by now: a chain may add the same constant again and again.
    sizes = {key: _magnitudes(term) for key, term in {id(term): term for term in terms}.items()}
    greatest = _broadcast(np.maximum, list(sizes.values()))
    together = _broadcast(np.add, [sizes[id(term)] for term in terms])
    if np.any((_magnitudes(total) * _DIGITS < greatest) & (greatest > _DIGITS * _magnitudes(unit))):
        return "the constants cancel"
    limits = _limits(total)
    # A term under half a unit in the last place of the largest number does not change the largest number.
    return "the sum may overflow" if not np.all(together < float(limits.max) * float(limits.eps) / 8) else ""


def product_hazard(product: Any, factors: Sequence[Any]) -> str:
    """Return the reason why `x * product` may differ by more than rounding from multiplying by the factors in turn; or
    empty.

    Where all factors grow x, or all shrink x, no intermediate result overflows or underflows unless the last result does.
    """
    if product.dtype.kind == "c":
        return "parts of complex products may overflow"
    sizes = [_magnitudes(factor) for factor in factors]
    # 1e30 * 1e30 * 1e-30 overflows on the way in float32, and the joined factor 1e30 does not.
    if not (all(np.all(size >= 1) for size in sizes) or all(np.all(size <= 1) for size in sizes)):
        return "an intermediate product may overflow or underflow"
    return "" if all(map(is_normal, (product, *factors))) else "the constants leave the range of normal numbers"


def is_normal(array: Any) -> bool:
    """Return True if all elements are 0 or normal numbers, with all their digits."""
    array = np.asarray(array)
    sizes = np.abs(array) if array.dtype.kind == "f" else _magnitudes(array)  # comparisons need no wider numbers
    return bool(np.all(np.isfinite(sizes) & ((sizes == 0) | (sizes >= float(_limits(array).smallest_normal)))))


def holds_products(array: Any, *bounds: float) -> bool:
    """Return True if results within the bounds, and partial sums, are far from overflowing in the dtype of `array`."""
    return all(math.isfinite(bound) and bound * _MARGIN < float(_limits(array).max) for bound in bounds)


def most(array: Any) -> float:
    """Return the greatest absolute value of the elements, 0 of none."""
    return float(np.max(_magnitudes(array), initial=0))


def _magnitudes(array: Any) -> Any:
    array = np.asarray(array)
    return np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def _broadcast(combine: Any, arrays: Sequence[Any]) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = combine(total, array)
    return total


def _limits(array: Any) -> Any:
    dtype = np.asarray(array).dtype
    # NumPy's finfo does not know bfloat16 and the floats of 8 bits.
    return ml_dtypes.finfo(np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype)
