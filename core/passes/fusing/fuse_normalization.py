"""Fusion of normalizations, alone and with Relu, into TensorFlow's ops with only oneDNN kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import ops_with
from ...types import dtypes
from ..base.accuracy import Accuracy
from ..base.rule_sets import RuleSet
from ..rules.rewrite import MOST_MADE, Rewriter

NORMALIZATION = RuleSet()
rule = NORMALIZATION.rule

_ADD = ops_with("addition")
_BATCH_NORMS = ops_with("batch_normalization")


@rule("Mul", algebra="(x - mean(x)) * rsqrt(mean((x - mean(x))^2) + e) -> layer_norm(x, 1, 0)", accuracy=Accuracy.RELAXED)
def layer_norm(r: Rewriter, node: Node) -> Output | None:
    for centered, root in (node.inputs, tuple(reversed(node.inputs))):
        if centered.node.op == "Sub":
            x, mean = centered.node.inputs
            epsilon = _epsilon(r, root, x, mean)
            if epsilon is not None:
                return _added(r, x, 1.0, 0.0, epsilon)
    return None


@rule(
    *_ADD,
    algebra="x * f + (b - mean(x) * f), f = rsqrt(variance(x) + e) * g -> layer_norm(x, g, b)",
    accuracy=Accuracy.RELAXED,
)
def layer_norm_as_factor(r: Rewriter, node: Node) -> Output | None:
    for scaled, offset in (node.inputs, tuple(reversed(node.inputs))):
        if scaled.node.op != "Mul" or offset.node.op != "Sub" or offset.node.inputs[1].node.op != "Mul":
            continue
        beta, shift = offset.node.inputs
        for x, factor in (scaled.node.inputs, tuple(reversed(scaled.node.inputs))):
            if factor not in shift.node.inputs:
                continue
            mean = shift.node.inputs[1 - shift.node.inputs.index(factor)]
            norm = _layer_norm_of_factor(r, x, mean, factor, beta)
            if norm is not None:
                return norm
    return None


def _layer_norm_of_factor(r: Rewriter, x: Output, mean: Output, factor: Output, beta: Output) -> Output | None:
    """Return layer_norm(x, gamma, beta) where `factor` is rsqrt(variance + epsilon), or that times gamma."""
    pairs: list[tuple[Output, Any]] = [(factor, np.float32(1))]
    if factor.node.op == "Mul":
        a, b = factor.node.inputs
        pairs = [(a, _vector(r, x, b)), (b, _vector(r, x, a))]
    offset = _vector(r, x, beta)
    for root, gamma in pairs:
        epsilon = _epsilon(r, root, x, mean) if gamma is not None and offset is not None else None
        if epsilon is not None:
            return _added(r, x, gamma, offset, epsilon)
    return None


@rule("Mul", algebra="layer_norm(x, g, 0) * h -> layer_norm(x, g * h, 0)", accuracy=Accuracy.RELAXED)
def factor_of_layer_norm(r: Rewriter, node: Node) -> Output | None:
    for value, factor in (node.inputs, tuple(reversed(node.inputs))):
        x, gamma, beta = _parts(r, value)
        vector = _vector(r, x, factor) if x is not None else None
        if x is not None and vector is not None and np.all(beta == 0):
            return _added(r, x, gamma * vector, beta, value.node.attr("epsilon"))
    return None


@rule(*_ADD, algebra="layer_norm(x, g, b) + c -> layer_norm(x, g, b + c)", accuracy=Accuracy.RELAXED)
def offset_of_layer_norm(r: Rewriter, node: Node) -> Output | None:
    for value, offset in (node.inputs, tuple(reversed(node.inputs))):
        x, gamma, beta = _parts(r, value)
        vector = _vector(r, x, offset) if x is not None else None
        if x is not None and vector is not None:
            return _added(r, x, gamma, beta + vector, value.node.attr("epsilon"))
    return None


@rule(
    "Reshape",
    algebra="reshape(batch_norm(reshape(x, [1, rows, n, 1]))), trained -> layer_norm(x, 1, 0)",
    accuracy=Accuracy.RELAXED,
)
def layer_norm_as_batch_norm(r: Rewriter, node: Node) -> Output | None:
    """Fuse tf.keras's layer normalization: each row is a channel of a single image, normalized by the row's moments."""
    norm = node.inputs[0].node
    if norm.op not in _BATCH_NORMS or not norm.attr("is_training") or norm.attr("data_format") != b"NCHW":
        return None
    if norm.inputs[0].node.op != "Reshape" or not r.is_only_first_read(norm):
        return None
    x = norm.inputs[0].node.inputs[0]
    dims, rows = r.shape(x).dims, r.shape(norm.inputs[0]).dims
    is_by_row = dims and rows and len(rows) == 4 and rows[0] == rows[3] == 1 and rows[2] == dims[-1]
    is_plain = r.is_all(norm.inputs[1], 1) and r.is_all(norm.inputs[2], 0)
    if not is_by_row or not is_plain or not r.same_shape(x, node.output()):
        return None
    return _added(r, x, 1.0, 0.0, norm.attr("epsilon"))


@rule("Relu", algebra="relu(batch_norm(x)) -> batch_norm_ex(x)", accuracy=Accuracy.ROUNDING)
def batch_norm_with_relu(r: Rewriter, node: Node) -> Output | None:
    norm = node.inputs[0].node
    if norm.op not in _BATCH_NORMS or norm.attr("data_format") not in (b"NHWC", b"NCHW"):
        return None
    if node.attrs["T"].name not in ("float", "bfloat16") or norm.inputs[1].dtype is not dtypes.float32:
        r.refuse(f"_FusedBatchNormEx has no kernel for {node.attrs['T'].name}")
        return None
    dims = r.shape(node.output()).dims
    channels = dims[1 if norm.attr("data_format") == b"NCHW" else -1] if dims else None
    if not isinstance(channels, int) or channels % 4:
        r.refuse("_FusedBatchNormEx needs a multiple of 4 channels")
        return None
    if not r.is_only_first_read(norm) or not r.is_free(norm):
        r.refuse(f"other nodes also read {norm.name}")
        return None
    shared = ("epsilon", "exponential_avg_factor", "data_format", "is_training")
    attrs = {name: norm.attr(name) for name in shared}
    return r._FusedBatchNormEx(*norm.inputs, [], activation_mode=b"Relu", **attrs)


def _added(r: Rewriter, x: Output, gamma: Any, beta: Any, epsilon: float) -> Output | None:
    """Return a new _MklLayerNorm over the last dimension of `x`; None, with a refusal, where the kernel would not take `x`."""
    dims = r.shape(x).dims
    name = x.dtype.name if x.dtype is not None else ""
    if name not in ("float", "bfloat16"):
        r.refuse(f"_MklLayerNorm has no kernel for {name}")
    elif dims is None or len(dims) not in (2, 3):
        r.refuse("_MklLayerNorm supports two or three dimensions")
    elif not isinstance(dims[-1], int) or dims[-1] > MOST_MADE:
        r.refuse("the normalized size is unknown or very large")
    else:
        vectors = [r.constant(np.broadcast_to(vector, (dims[-1],)), x) for vector in (gamma, beta)]
        return r._MklLayerNorm(x, *vectors, epsilon=epsilon)
    return None


def _parts(r: Rewriter, value: Output) -> tuple[Output | None, Any, Any]:
    """Return the input, scale and offset of a layer normalization without other readers."""
    if value.node.op != "_MklLayerNorm" or not r.is_free(value.node):
        return None, None, None
    x, gamma, beta = value.node.inputs
    arrays = _vector(r, x, gamma), _vector(r, x, beta)
    return (None, None, None) if any(a is None for a in arrays) else (x, *arrays)


def _vector(r: Rewriter, x: Output, value: Output) -> Any:
    """Return a constant with a number for each element of the last dimension of `x`, or a single number; else None."""
    array, dims = r.constant_value(value), r.shape(x).dims
    if array is None or not dims or array.ndim > len(dims):
        return None
    return array.reshape(-1) if array.size in (1, dims[-1]) and array.shape[-1:] in ((), (array.size,)) else None


def _epsilon(r: Rewriter, root: Output, x: Output, mean: Output) -> float | None:
    """Return e where `root` is rsqrt(mean((x - mean(x))^2) + e) over the last dimension of `x`, and `mean` is that mean."""
    total = root.node.inputs[0].node if root.node.op == "Rsqrt" else root.node
    if total.op not in _ADD or total is root.node or not _is_mean(r, mean, x):
        return None
    for variance, constant in (total.inputs, tuple(reversed(total.inputs))):
        epsilon = r.constant_value(constant)
        if epsilon is not None and epsilon.size == 1 and _is_variance(r, variance, x, mean):
            return float(epsilon.item())
    return None


def _is_variance(r: Rewriter, value: Output, x: Output, mean: Output) -> bool:
    """Return True for the mean of (x - mean)^2 over the last dimension of `x`."""
    if value.node.op != "Mean":
        return False
    squares = value.node.inputs[0]
    terms = squares.node.inputs[0].node if squares.node.op == "Square" else squares.node
    if terms.op != ("Sub" if squares.node.op == "Square" else "SquaredDifference"):
        return False
    return {_bare(v) for v in terms.inputs} == {x, _bare(mean)} and _is_mean(r, value, squares)


def _is_mean(r: Rewriter, value: Output, x: Output) -> bool:
    """Return True for the mean of `x` over the last dimension, kept with size 1."""
    node = _bare(value).node
    if node.op != "Mean" or node.inputs[0] != x or not node.attr("keep_dims"):
        return False
    axes, rank = r.constant_value(node.inputs[1]), r.shape(x).rank
    return axes is not None and rank is not None and rank > 0 and axes.size == 1 and axes.item() in (-1, rank - 1)


def _bare(value: Output) -> Output:
    """Return the value before a StopGradient."""
    return value.node.inputs[0] if value.node.op == "StopGradient" else value
