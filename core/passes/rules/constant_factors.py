"""Constants in front of products and convolutions move into their weights, offsets into biases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import ops_with
from ..base.accuracy import Accuracy, RuleSet, rounds
from .linear_maps import holds_products, is_normal, most, sum_hazard
from .rewrite import Rewriter, attrs_of, data_input, is_matrix_product, weights_sum
from .sum_rules import free_node, with_constant

RULES = RuleSet()
rule = RULES.rule

_CONVOLUTIONS = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")
_ADD = ops_with("addition")


@rule(
    *_CONVOLUTIONS,
    "MatMul",
    algebra="conv(x * c, w) -> conv(x, c * w)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="an intermediate result may overflow or underflow",
)
def factor_of_input_into_weights(r: Rewriter, node: Node) -> Output | None:
    constant, x = with_constant(r, free_node(r, node.inputs[0], ("Mul",)))
    weights = r.constant_value(node.inputs[1])
    if constant is None or x is None or not node.output_dtypes[0].is_floating:
        return None
    if weights is None:
        r.refuse("the weights are not constant")
        return None
    return _scaled(r, node, x, r.constant_value(constant), weights)


def _scaled(r: Rewriter, node: Node, x: Output, factor: Any, weights: Any) -> Output | None:
    """Return the product of x and weights scaled like x."""
    if not r.same_shape(x, node.inputs[0]):
        r.refuse("the factor may broadcast the input")
        return None
    aligned = _along_weights(node, factor, len(r.shape(x)), weights.shape)
    if aligned is None:
        r.refuse("the factor is neither a scalar nor a vector of the input channels")
        return None
    scaled = scaled_weights(r, weights, aligned)
    if scaled is None or not _may_scale_input(r, node, x, factor, weights, scaled):
        return None
    return r.add(node.op, x, r.constant(scaled, node.inputs[1]), **attrs_of(node))


def _may_scale_input(r: Rewriter, node: Node, x: Output, factor: Any, weights: Any, scaled: Any) -> bool:
    """Return True if scaling x cannot overflow: the factor shrinks x, or x is small enough; or fast math allows the
    rule.
    """
    if not rounds(node):
        return True
    data, largest = r.range(x).magnitude, most(factor)
    sizes = (data * largest * weights_sum(node, weights), data * weights_sum(node, scaled))
    # With a factor of at most 1, x * c was no larger than x: only the weights can lose digits.
    is_safe = is_normal(scaled) and (largest <= 1 or holds_products(scaled, data, *sizes))
    return is_safe or r.may_relax("the scaled data may overflow, or the scaled weights underflow")


def may_scale(r: Rewriter, product: Node, weights: Any, scaled: Any, factor: Any, bias: Any = 0) -> bool:
    """Return True if a product with bias cannot overflow, nor the product times a factor; or fast math allows the rule."""
    if not rounds(product):
        return True
    data = r.range(data_input(product)).magnitude
    # Partial sums of a product are bounded by the sum of absolute values, in whatever order a kernel adds.
    plain, after = data * weights_sum(product, weights) + most(bias), data * weights_sum(product, scaled)
    is_safe = is_normal(scaled) and holds_products(scaled, plain, after, plain * most(factor))
    return is_safe or r.may_relax("the product may overflow before or after it is scaled, or the scaled weights underflow")


def scaled_weights(r: Rewriter, weights: Any, factor: Any) -> Any:
    """Return the weights times a factor of the same dtype; None, with a refusal, where the result leaves the dtype's range."""
    with np.errstate(all="ignore"):
        scaled = weights * factor
        if scaled.dtype.kind in "iu":
            return scaled
        exact = weights.astype(np.complex128) * factor.astype(np.complex128)
    if not np.allclose(scaled.astype(np.complex128), exact, rtol=0.01, atol=0, equal_nan=True):
        r.refuse("the weights would overflow or underflow")
        return None
    return scaled


def _along_weights(node: Node, factor: Any, rank: int, shape: tuple[int, ...]) -> Any:
    """Return the factor in a form that broadcasts to weights of a shape; None for a factor not along the input channels
    alone.
    """
    if factor.size == 1:
        return factor.reshape(())
    channels_axis = _input_channels_axis(node, rank)
    aligned = (1,) * (rank - factor.ndim) + factor.shape
    if channels_axis is None or factor.size != aligned[channels_axis]:
        return None
    if is_matrix_product(node):
        return factor.reshape(-1) if node.attr("transpose_b") else factor.reshape(-1, 1)
    return factor.reshape(-1, 1) if factor.size == shape[-2] else None


def _input_channels_axis(node: Node, rank: int) -> int | None:
    if is_matrix_product(node):
        return None if node.attr("transpose_a") else 1
    return 1 if node.attr("data_format").startswith(b"NC") else rank - 1


@rule(
    "BiasAdd",
    algebra="bias_add(x + c, b) -> bias_add(x, b + c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, or are so large that the sum may overflow",
)
def offset_into_later_bias(r: Rewriter, node: Node) -> Output | None:
    constant, x = with_constant(r, free_node(r, node.inputs[0], _ADD))
    return None if constant is None or x is None else _merged_bias(r, node, node, x, constant)


@rule(
    *_ADD,
    algebra="bias_add(x, b) + c -> bias_add(x, b + c)",
    accuracy=Accuracy.ROUNDING,
    relaxed_where="the constants cancel, or are so large that the sum may overflow",
)
def offset_into_earlier_bias(r: Rewriter, node: Node) -> Output | None:
    constant, other = with_constant(r, node)
    bias_add = free_node(r, other, ("BiasAdd",))
    if constant is None or bias_add is None:
        return None
    return _merged_bias(r, node, bias_add, bias_add.inputs[0], constant)


def _merged_bias(r: Rewriter, node: Node, bias_add: Node, x: Output, constant: Output) -> Output | None:
    """Return a BiasAdd of x in the place of `node` that adds a scalar or per-channel constant too."""
    bias, offset = r.constant_value(bias_add.inputs[1]), r.constant_value(constant)
    shape = r.shape(x)
    if bias is None:
        return None
    if not r.same_shape(x, node.output()):
        r.refuse("the constant may broadcast the other operand")
        return None
    axis = 1 if bias_add.attr("data_format").startswith(b"NC") else len(shape) - 1
    aligned = (1,) * (len(shape) - offset.ndim) + offset.shape
    # The product of all sizes is that of the channels only if the other sizes are 1.
    if math.prod(aligned) not in (1, aligned[axis]):
        r.refuse("the constant varies along more than the channels")
        return None
    total = merged_offsets(r, bias, offset.reshape(-1))
    return None if total is None else r.BiasAdd(x, r.constant(total, bias_add.inputs[1]), **attrs_of(bias_add))


def merged_offsets(r: Rewriter, first: Any, second: Any) -> Any:
    """Return the sum of two constants that are added in turn; None where the merge needs fast math."""
    with np.errstate(all="ignore"):
        total = first + second
    if total.dtype.kind in "iu":
        return total
    hazard = sum_hazard(total, (first, second))
    return total if not hazard or r.may_relax(hazard) else None
