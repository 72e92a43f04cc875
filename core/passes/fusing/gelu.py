"""GELU behind a product and a bias, in any spelling by operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...inference import binding
from ...types import dtypes
from ..base.accuracy import Accuracy
from ..base.rule_sets import RuleSet
from ..rules.linear_maps import is_read_only_by, reshaped
from ..rules.rewrite import Rewriter, attrs_of

GELU = RuleSet()

_OPERATIONS = ("Mul", "AddV2", "Add", "Sub", "Neg", "RealDiv", "Pow", "Square", "Tanh", "Erf", "Erfc", "Identity")
_MOST = 12
"""The largest number of operations of an expression to test: more than any spelling of GELU has."""


@GELU.rule("Mul", algebra="gelu(fused matmul) -> fused matmul", accuracy=Accuracy.ROUNDING)
def gelu_of_fused(r: Rewriter, node: Node) -> Output | None:
    expression = _expression(r, node)
    if expression is None:
        return None
    x, nodes = expression
    reshape = x.node if x.node.op == "Reshape" else None
    product = reshape.inputs[0].node if reshape is not None else x.node
    if product.op != "_FusedMatMul" or not adds_bias_only(product) or x.dtype is not dtypes.float32:
        return None
    if (name := _gelu_form(r, node, x)) is None:
        return None
    nodes |= {product, x.node}
    if not all(is_read_only_by(r, n, nodes) for n in nodes - {node}):
        r.refuse("other nodes also read the nodes in between")
        return None
    a, b, bias = product.inputs
    fused = r._FusedMatMul(a, b, [bias], **attrs_of(product, fused_ops=[b"BiasAdd", name.encode()]))
    return reshaped(r, fused, reshape)


def adds_bias_only(fused: Node) -> bool:
    """Return True for a fused product with a single bias and nothing else."""
    return bool(fused.attr("fused_ops") == [b"BiasAdd"] and fused.attr("num_args") == 1)


def _expression(r: Rewriter, root: Node) -> tuple[Output, set[Node]] | None:
    """Return the only non-constant input of the expression ending in `root`, and the operations of the expression."""
    nodes, leaves, pending = {root}, set(), [root]
    while pending and len(nodes) <= _MOST:
        for value in pending.pop().inputs:
            if value.node.op not in _OPERATIONS:
                leaves.add(value)
            elif value.node not in nodes:
                nodes.add(value.node)
                pending.append(value.node)
    sources = [value for value in leaves if np.shape(r.constant_value(value)) or not value.node.is_constant]
    is_curved = any(node.op in ("Tanh", "Erf", "Erfc") for node in nodes)
    return (sources[0], nodes) if is_curved and not pending and len(sources) == 1 else None


def _gelu_form(r: Rewriter, root: Node, x: Output) -> str | None:
    """Return the name of GELU's form that `root` computes from `x`, decided at sample points.

    The test suffices: two functions of so few smooth operations that agree at all points are equal.
    """
    points = np.linspace(-5, 5, 101, dtype=np.float32)
    values = _evaluate(r, root.output(), {x: points})
    for name, function in (("GeluApproximate", _gelu_approximate), ("GeluExact", _gelu_exact)):
        if np.allclose(values, [function(float(point)) for point in points], rtol=2e-6, atol=1e-6):
            return name
    return None


def _evaluate(r: Rewriter, output: Output, values: dict[Output, Any]) -> Any:
    """Evaluate `output` by the ordinary kernels; `values` holds given values and caches computed values."""
    if output.node.is_constant:
        return r.constant_value(output)
    if output not in values:
        node = output.node
        call = binding.bind_kernel(node, binding.select_kernel(node), None)
        values[output] = call(*(_evaluate(r, value, values) for value in node.inputs))
    return values[output]


def _gelu_approximate(x: float) -> float:
    """Compute x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016)."""
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _gelu_exact(x: float) -> float:
    """Compute x times the normal distribution function."""
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))
