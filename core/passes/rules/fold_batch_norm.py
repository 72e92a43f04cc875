"""Folding of batch normalization with fixed moments, in all forms, into the neighbouring weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...registry.op_facts import ops_with
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext
from .constant_rules import (
    aligned_vector,
    bias_format,
    channel_vector,
    constant_weights,
    is_channels_first,
    is_read,
    may_scale,
    merged_offsets,
    scaled,
    wide,
    with_factor,
)
from .rewrite import FORWARD_PRODUCTS, PRODUCTS, WEIGHTS, Rewriter, attrs_of, input_axes, is_matrix_product, output_axes

RULES = RuleSet()
rule = RULES.rule
LEFT = RuleSet()
"""The rules for normalizations without neighbouring weights to fold into."""

_FUSED_NORMS = ops_with("batch_normalization")
_NORMS = (*_FUSED_NORMS, "BatchNormWithGlobalNormalization")
_ADD = ops_with("addition")
_AFFINE = ("Mul", "Sub", *_ADD)
_BIASED = (*PRODUCTS, "BiasAdd")


class FoldBatchNorm(Pass):
    """Multiply the scale of a batch normalization into the constant weights of the neighbouring convolution or product.

    A bias remains. Decomposed normalizations (x * scale + offset) are folded like the fused ops. A lone normalization
    becomes a product and a sum, if these take no more nodes.
    """

    name: ClassVar[str] = "batchnorm"
    summary: ClassVar[str] = "fold batch normalizations and channel factors into convolution and product weights"
    follows: ClassVar[str] = "arithmetic"
    requires: ClassVar[tuple[str, ...]] = ("fold",)
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES, LEFT)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        rewriter = Rewriter(graph, ctx)
        for rules in self.rule_sets:
            rewriter.apply(rules)


@rule(
    "Mul",
    algebra="conv(x, w) * c -> conv(x, w * c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow",
    reads=_BIASED,
)
def factor_into_weights(r: Rewriter, node: Node) -> Output | None:
    for constant, value in _constant_operands(r, node):
        producer = value.node
        product = _product_of(producer)
        channels = channel_vector(r, product, r.constant_value(constant)) if product is not None else None
        if product is None or channels is None:
            continue
        bias = _constant_bias(r, producer)
        if bias is None or not _is_foldable(r, product, producer):
            return None
        if not _may_scale(r, product, channels, bias):
            return None
        result = with_factor(r, product, output_axes(product), channels)
        if producer is product:
            return result
        return r.BiasAdd(result, r.constant(bias * wide(channels), constant), **attrs_of(producer))
    return None


@rule(*_ADD, "Sub", algebra="conv(x, w) + b -> bias_add(conv(x, w), b)", accuracy=Accuracy.EXACT, reads=_BIASED)
def addition_as_bias(r: Rewriter, node: Node) -> Output | None:
    for constant, value in _constant_operands(r, node):
        product = _product_of(value.node)
        array = r.constant_value(constant)
        channels = channel_vector(r, product, array) if product is not None and array.ndim else None
        # A BiasAdd takes a vector, so a scalar would have to be repeated in the file.
        if product is None or channels is None or (array.size == 1 and channels.size > 1):
            continue
        is_bias = array.ndim == 1 and node.op != "Sub"
        bias = constant if is_bias else r.constant(-channels if node.op == "Sub" else channels, constant)
        return r.BiasAdd(value, bias, data_format=bias_format(product))
    return None


@rule(
    "BiasAdd",
    algebra="(x + b) + c -> x + (b + c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, or are so large that the sum may overflow",
)
def merge_biases(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    if inner.op != "BiasAdd" or not r.is_free(inner) or inner.attr("data_format") != node.attr("data_format"):
        return None
    first, second = (r.constant_value(n.inputs[1]) for n in (inner, node))
    if first is None or second is None or first.shape != second.shape:
        return None
    total = merged_offsets(r, first, second)
    return None if total is None else r.BiasAdd(inner.inputs[0], r.constant(total, node.inputs[1]), **attrs_of(node))


@rule(
    *_NORMS,
    algebra="batch_norm(conv(x, w)) -> bias_add(conv(x, w * s), o - m * s)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow",
    reads=_BIASED,
)
def norm_into_weights(r: Rewriter, node: Node) -> Output | None:
    producer = node.inputs[0].node
    product = _product_of(producer)
    # A fused normalization has four dimensions, so a MatMul before it means a reshape in between, which the rule does not look
    # through.
    if product is None or is_matrix_product(product) or is_channels_first(product) != is_channels_first(node):
        return None
    scale_and_offset = _scale_and_offset(r, node)
    bias = _constant_bias(r, producer) if scale_and_offset is not None else None
    if scale_and_offset is None or bias is None or not _is_foldable(r, product, producer):
        return None
    scale, offset = scale_and_offset
    if not _may_scale(r, product, scale, bias):
        return None
    result = with_factor(r, product, output_axes(product), scale)
    return r.BiasAdd(result, r.constant(offset + bias * scale, result), data_format=bias_format(product))


@rule(
    *FORWARD_PRODUCTS,
    algebra="conv(x * s + o, w) -> bias_add(conv(x, s * w), sum of o * w)",
    accuracy=Accuracy.RELAXED,
    reads=(*_NORMS, *_AFFINE),
)
def affine_before_product(r: Rewriter, node: Node) -> Output | str | None:
    inner = node.inputs[0].node
    affine = _affine(r, inner, node)
    if affine is None:
        return None
    x, scale, offset = affine
    weights = constant_weights(r, node)
    if weights is None or scale.size != weights.shape[input_axes(node)[0]]:
        return None
    # The padding is 0 before the offset is added. At the border the sum would have to leave out the offsets of the padded
    # elements.
    if np.any(offset != 0) and not _is_without_padding(r, node):
        return f"{inner.name} adds to the data, but not to the zeros of the padding"
    if not r.is_free(inner):
        return f"other nodes also read {inner.name}"
    result = with_factor(r, node, input_axes(node), scale, x)
    if np.all(offset == 0):
        return result
    summed = tuple(i for i in range(weights.ndim) if i - weights.ndim not in output_axes(node))
    bias = scaled(weights, input_axes(node), offset).sum(summed).reshape(-1)
    return r.BiasAdd(result, r.constant(bias, result), data_format=bias_format(node))


@LEFT.rule(*_NORMS, algebra="batch_norm(x) -> x * s + o", accuracy=Accuracy.RELAXED)
def norm_as_product_and_sum(r: Rewriter, node: Node) -> Output | str | None:
    x = node.inputs[0]
    scale_and_offset = _scale_and_offset(r, node) if is_read(r, node) else None
    if scale_and_offset is None or x.dtype is None:
        return None
    if x.dtype.size < 4:
        return "it computes in float32, but a product and a sum would round to fewer bits"
    steps = [(op, v) for op, v, neutral in zip(("Mul", "AddV2"), scale_and_offset, (1, 0)) if np.any(v != neutral)]
    # The rule saves work only if it does not add nodes: the parameters of the normalization have to go with it.
    freed = sum(set(source.uses) == {node} for source in {value.node for value in node.inputs[1:5]})
    if 2 * len(steps) > 1 + freed:
        return "other nodes read its parameters, so that a product, a sum and their constants would add nodes"
    shape = (-1, *(1,) * (len(node.attr("data_format")) - 2)) if is_channels_first(node) else (-1,)
    for op, vector in steps:
        x = r.add(op, x, r.constant(vector.reshape(shape), x))
    return x


def _constant_operands(r: Rewriter, node: Node) -> list[tuple[Output, Output]]:
    """Return the pairs (constant, value) of a two-operand operation with a floating-point constant."""
    a, b = node.inputs
    # c - x is no sum with a bias: the data changes its sign.
    pairs = [(b, a)] if node.op == "Sub" else [(a, b), (b, a)]
    return [(c, v) for c, v in pairs if c.dtype is not None and c.dtype.is_floating and r.constant_value(c) is not None]


def _product_of(producer: Node) -> Node | None:
    """Return the product: `producer` itself, or the product to which `producer` adds a bias."""
    if producer.op in PRODUCTS:
        return producer
    product = producer.inputs[0].node if producer.op == "BiasAdd" else None
    if product is None or product.op not in PRODUCTS:
        return None
    return product if is_matrix_product(product) or producer.attr("data_format") == bias_format(product) else None


def _constant_bias(r: Rewriter, producer: Node) -> Any:
    """Return the bias that `producer` adds, 0 for a product; None, with a refusal, for a non-constant bias."""
    if producer.op != "BiasAdd":
        return np.float32(0)
    bias = r.constant_value(producer.inputs[1])
    if bias is None:
        r.refuse("the bias before it is not constant")
        return None
    return wide(bias)


def _is_foldable(r: Rewriter, product: Node, producer: Node) -> bool:
    """Return True if the product's weights are constant and the tensors to be scaled have no other readers."""
    if constant_weights(r, product) is None:
        return False
    for node in {product, producer}:
        if not r.is_free(node):
            r.refuse(f"other nodes also read {node.name}")
            return False
    return True


def _may_scale(r: Rewriter, product: Node, factor: Any, bias: Any) -> bool:
    """Return True if scaling the weights along the output channels changes results by rounding only."""
    weights = r.constant_value(product.inputs[WEIGHTS])

    def after() -> Any:
        with np.errstate(all="ignore"):
            return scaled(weights, output_axes(product), factor).astype(weights.dtype)

    return may_scale(r, product, weights, after, factor, bias)


def _is_without_padding(r: Rewriter, product: Node) -> bool:
    """Return True if every element of the result is a sum over data alone; kernels of size 1 need no padding."""
    if is_matrix_product(product) or product.attr("padding") == b"VALID":
        return True
    spatial = r.shape(product.inputs[WEIGHTS])
    return product.attr("padding") == b"SAME" and spatial.is_known and set(spatial.known()[:-2]) == {1}


def _affine(r: Rewriter, node: Node, product: Node) -> tuple[Output, Any, Any] | None:
    """Return (x, s, o) if `node` computes x * s + o for each channel of the product's data; else None."""
    if is_matrix_product(product) and product.attr("transpose_a"):
        return None
    if node.op in _NORMS and is_channels_first(node) == is_channels_first(product):
        scale_and_offset = _scale_and_offset(r, node)
        return None if scale_and_offset is None else (node.inputs[0], *scale_and_offset)
    if node.op not in _AFFINE or not r.shape(product.inputs[WEIGHTS]).is_known:
        return None
    channels = r.shape(product.inputs[WEIGHTS]).known()[input_axes(product)[0]]
    for constant, x in _constant_operands(r, node):
        vector = aligned_vector(r, node.output(), channels, is_channels_first(product), r.constant_value(constant))
        if vector is not None and r.same_shape(x, node.output()):
            ones, zeros = (np.broadcast_to(vector.dtype.type(number), vector.shape) for number in (1, 0))
            return (x, vector, zeros) if node.op == "Mul" else (x, ones, -vector if node.op == "Sub" else vector)
    return None


def _scale_and_offset(r: Rewriter, node: Node) -> tuple[Any, Any] | None:
    """Return gamma / sqrt(variance + epsilon) and beta - mean * that; None, with a refusal, if they are not constant."""
    if node.op in _FUSED_NORMS and node.attr("is_training"):
        r.refuse("it normalizes with batch moments (is_training)")
        return None
    if not r.is_only_first_read(node):
        r.refuse("a node reads its moments")
        return None
    values = [r.constant_value(value) for value in node.inputs[1:5]]
    if any(v is None for v in values):
        kinds = {v.node.op for v, array in zip(node.inputs[1:5], values) if array is None}
        r.refuse(f"its parameters are not constant but come from {', '.join(sorted(kinds))}; freeze the graph first")
        return None
    if node.op == "BatchNormWithGlobalNormalization":
        mean, variance, beta, gamma = map(wide, values)
        # Without the attribute TensorFlow's op ignores its gamma.
        gamma = gamma if node.attr("scale_after_normalization") else np.ones_like(gamma)
        epsilon = node.attr("variance_epsilon")
    else:
        gamma, beta, mean, variance = map(wide, values)
        epsilon = node.attr("epsilon")
    scale = gamma / np.sqrt(variance + variance.dtype.type(epsilon))
    return scale, beta - mean * scale
