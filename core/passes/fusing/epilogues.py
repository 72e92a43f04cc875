"""Products, biases, batch normalizations and activations fused into TensorFlow's `_Fused*` ops."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...graph.variable_nodes import VARIABLES
from ...registry.op_facts import ops_with
from ..base.accuracy import Accuracy
from ..base.graph_pass import Pass, PassContext
from ..base.rule_sets import RuleSet
from ..rules.linear_maps import reshaped
from ..rules.margins import sum_hazard
from ..rules.product_axes import is_matrix_product
from ..rules.rewrite import Rewriter, attrs_of
from .fuse_normalization import NORMALIZATION
from .fuse_padding import MIRROR_PADDING, ZERO_PADDING
from .gelu import GELU, adds_bias_only


@dataclasses.dataclass(frozen=True)
class FusedKernel:
    """A fused op, and the dtypes and activations that TensorFlow's CPU kernel takes, and whether it takes a batch
    normalization in place of a bias.
    """

    op: str
    dtypes: tuple[str, ...]
    activations: tuple[str, ...]
    normalizes: bool = False


_RECTIFIERS = ops_with("rectifier")
KERNELS = {
    "Conv2D": FusedKernel("_FusedConv2D", ("float", "double"), (*_RECTIFIERS, "LeakyRelu"), normalizes=True),
    "MatMul": FusedKernel(
        "_FusedMatMul", ("float", "half", "bfloat16"), (*_RECTIFIERS, "LeakyRelu", "Tanh", "Sigmoid")
    ),
}  # fmt: skip
ONEDNN_KERNELS = {
    "DepthwiseConv2dNative": FusedKernel("_FusedDepthwiseConv2dNative", ("float", "bfloat16"), _RECTIFIERS),
    "Conv3D": FusedKernel("_FusedConv3D", ("float", "bfloat16"), (*_RECTIFIERS, "LeakyRelu")),
}
_ACTIVATIONS = (*_RECTIFIERS, "LeakyRelu", "Tanh", "Sigmoid")
_CONVOLUTIONS = ("Conv2D", "_FusedConv2D")
_NORMS = ops_with("batch_normalization")
_NORMALIZED = [b"FusedBatchNorm"]


def product_rules(kernels: Mapping[str, FusedKernel]) -> RuleSet:
    """Return the rules that fuse products with bias and activation into fused ops of the `kernels`."""
    rules = RuleSet()
    by_op = {kernel.op: kernel for kernel in kernels.values()}

    @rules.rule("BiasAdd", algebra="bias_add(conv(x, w), b) -> fused conv", accuracy=Accuracy.ROUNDING)
    def product_with_bias(r: Rewriter, node: Node) -> Output | None:
        product, reshape = _behind_reshape(r, node.inputs[0].node)
        if not _is_fusible(r, node, product, kernels):
            return None
        if reshape is not None and not _keeps_channels(r, reshape):
            r.refuse(f"{reshape.name} may not keep the channels")
            return None
        fused = r.add(kernels[product.op].op, *_operands(product, node.inputs[1]), **_attributes(product))
        return reshaped(r, fused, reshape)

    @rules.rule(*_NORMS, algebra="batch_norm(conv(x, w)) -> fused conv", accuracy=Accuracy.ROUNDING)
    def product_with_norm(r: Rewriter, node: Node) -> Output | None:
        product = node.inputs[0].node
        if not _takes_norm(r, node, kernels.get(product.op)) or not _is_fusible(r, node, product, kernels):
            return None
        return _normalized(r, product, node, node.inputs[1:5])

    @rules.rule(
        *_NORMS,
        algebra="batch_norm(conv(x, w) + b, m) -> fused conv of (x, w) with m - b",
        accuracy=Accuracy.ROUNDING,
        relaxed_where="the bias and the mean cancel, or are so large that the sum may overflow",
    )
    def fused_with_norm(r: Rewriter, node: Node) -> Output | None:
        fused = node.inputs[0].node
        if not _takes_norm(r, node, by_op.get(fused.op)) or not adds_bias_only(fused) or not r.is_free(fused):
            return None
        scale, offset, mean, variance = node.inputs[1:5]
        moved = _moved_mean(r, fused.inputs[2], mean, variance)
        return None if moved is None else _normalized(r, fused, node, [scale, offset, moved, variance])

    @rules.rule(*_ACTIVATIONS, algebra="activation(fused conv) -> fused conv", accuracy=Accuracy.ROUNDING)
    def activation_of_fused(r: Rewriter, node: Node) -> Output | None:
        fused, reshape = _behind_reshape(r, node.inputs[0].node)
        kernel = by_op.get(fused.op)
        if kernel is None or not _lacks_activation(fused) or not r.is_free(fused):
            return None
        if node.op not in kernel.activations:
            r.refuse(f"{fused.op} does not support {node.op}")
            return None
        attrs = attrs_of(fused, fused_ops=[*fused.attr("fused_ops"), node.op.encode()])
        if node.op == "LeakyRelu":
            attrs = {**attrs, "leakyrelu_alpha": node.attr("alpha")}
        return reshaped(r, r.add(fused.op, *_operands(fused, *_arguments(fused)), **attrs), reshape)

    return rules


PRODUCTS = product_rules(KERNELS)
PRODUCTS_IN_ONEDNN = product_rules({**KERNELS, **ONEDNN_KERNELS})


def _is_fusible(r: Rewriter, bias: Node, product: Node, kernels: Mapping[str, FusedKernel]) -> bool:
    """Return True where a kernel of `kernels` computes the product and the bias."""
    kernel = {**ONEDNN_KERNELS, **kernels}.get(product.op)
    if kernel is None:
        return False
    dtype, padding = bias.attrs["T"].name, product.attrs.get("padding")
    is_matrix, is_behind = is_matrix_product(product), bias.inputs[0].node is product
    for is_wrong, reason in (
        (product.op not in kernels, f"TensorFlow runs {kernel.op} only with oneDNN; fuse{{onednn=true}}"),
        (not r.is_free(product), f"other nodes also read {product.name}"),
        (dtype not in kernel.dtypes, f"{kernel.op} has no kernel for {dtype}"),
        (not is_matrix and _is_nchw(product), f"{kernel.op} needs channels last on the CPU"),
        (product.op == "Conv2D" and _may_be_grouped(r, product), f"{kernel.op} does not support channel groups on the CPU"),
        (_is_nchw(bias) and not (is_matrix and is_behind), "the bias runs along another axis"),
        (product.op in ONEDNN_KERNELS and padding == b"EXPLICIT", f"{kernel.op} does not support explicit padding"),
    ):
        if is_wrong:
            r.refuse(reason)
            return False
    return True


def _takes_norm(r: Rewriter, norm: Node, kernel: FusedKernel | None) -> bool:
    """Return True for a normalization by given moments that a kernel takes."""
    if kernel is None or not kernel.normalizes:
        return False
    if norm.attr("is_training") or not r.is_only_first_read(norm):
        r.refuse("it computes moments")
        return False
    return True


def _moved_mean(r: Rewriter, bias: Output, mean: Output, variance: Output) -> Output | None:
    """Return the mean less the bias; None, with a refusal, where results would change by more than rounding."""
    added, given, squared = map(r.constant_value, (bias, mean, variance))
    if added is None or given is None or added.shape != given.shape:
        r.refuse("the bias before it or its mean is not constant")
        return None
    with np.errstate(all="ignore"):
        moved, deviation = given - added, np.sqrt(0 if squared is None else squared)
    hazard = sum_hazard(moved, (given, added), deviation)
    if hazard and not r.may_relax(hazard):
        return None
    return r.constant(moved, mean) if np.any(moved != given) else mean


def _normalized(r: Rewriter, product: Node, norm: Node, vectors: Sequence[Output]) -> Output:
    """Return a fused product with the scale, offset, mean and variance of a normalization."""
    attrs = _attributes(product) if product.op in KERNELS else attrs_of(product)
    kinds = [vector.node.output_dtypes[vector.index] for vector in vectors]
    more = {"fused_ops": _NORMALIZED, "num_args": len(vectors), "TArgs": kinds, "epsilon": norm.attr("epsilon")}
    op = KERNELS[product.op].op if product.op in KERNELS else product.op
    return r.add(op, *_operands(product, *vectors), **{**attrs, **more})


def _lacks_activation(fused: Node) -> bool:
    """Return True for a fused product with only a bias or a normalization."""
    return adds_bias_only(fused) or fused.attr("fused_ops") == _NORMALIZED


def _arguments(fused: Node) -> tuple[Output, ...]:
    """Return the inputs of a fused product after data and weights."""
    return fused.inputs[2 : 2 + fused.attr("num_args")]


def _is_nchw(node: Node) -> bool:
    return bool(node.attr("data_format").startswith(b"NC"))


def _may_be_grouped(r: Rewriter, product: Node) -> bool:
    """Return True unless a convolution's weights are known to take all input channels, in last position."""
    data, weights = (r.shape(value).dims for value in product.inputs[:2])
    source = product.inputs[0].node
    if data is None and source.op in _CONVOLUTIONS:
        data = r.shape(source.inputs[1]).dims
    return not data or not weights or data[-1] != weights[-2]


def _behind_reshape(r: Rewriter, node: Node) -> tuple[Node, Node | None]:
    """Return the node before a Reshape or Squeeze without other readers, and the Reshape; or `node` itself and None."""
    if node.op in ("Reshape", "Squeeze") and r.is_free(node):
        return node.inputs[0].node, node
    return node, None


def _keeps_channels(r: Rewriter, reshape: Node) -> bool:
    """Return True where a Reshape keeps the last dimension."""
    before, after = r.shape(reshape.inputs[0]).dims, r.shape(reshape.output()).dims
    return before is not None and bool(after) and isinstance(before[-1], int) and before[-1:] == (after or ())[-1:]


def _operands(product: Node, *vectors: Output) -> tuple[object, ...]:
    """Return the inputs of the fused op: input, weights, the list of arguments, and for Conv2D the list of host arguments."""
    arguments: tuple[object, ...] = (product.inputs[0], product.inputs[1], list(vectors))
    return (*arguments, []) if product.op in _CONVOLUTIONS else arguments


def _attributes(product: Node) -> dict[str, object]:
    """Return the attributes that the fused op shares with the product, and the fused ops."""
    dropped = {"use_cudnn_on_gpu", "grad_a", "grad_b"}
    if product.op == "DepthwiseConv2dNative":
        dropped |= {"explicit_paddings"}
    shared = {name: value for name, value in attrs_of(product).items() if name not in dropped}
    extra: dict[str, object] = {"fused_ops": [b"BiasAdd"], "num_args": 1}
    if product.op == "Conv2D":
        extra |= {"TArgs": [product.attrs["T"]], "num_host_args": 0}
    return {**shared, **extra}


@dataclasses.dataclass(frozen=True)
class Fuse(Pass):
    """Fuse products with the bias or batch normalization and the activation behind them, and padding and resizing into the
    convolution behind.

    The fused ops have no gradient: where variables are yet to be trained nothing but zero padding is fused, unless
    `trainable`. TensorFlow's CPU kernels for Conv2D and MatMul are in all builds; the kernels for DepthwiseConv2dNative,
    Conv3D, GELU, layer normalization, and batch normalization with Relu are oneDNN's. With `onednn` the latter are used
    too, and the graph runs only where TensorFlow has oneDNN switched on (TF_ENABLE_ONEDNN_OPTS=1, the default on x86
    servers since AVX512-VNNI).
    """

    name: ClassVar[str] = "fuse"
    summary: ClassVar[str] = "fuse convolutions and products with bias and activation (no gradients afterwards)"
    follows: ClassVar[str] = "bodies"
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (
        ZERO_PADDING,
        PRODUCTS,
        PRODUCTS_IN_ONEDNN,
        GELU,
        NORMALIZATION,
        MIRROR_PADDING,
    )
    is_portable: ClassVar[bool] = False
    trainable: bool = False
    onednn: bool = False

    def run(self, graph: Graph, ctx: PassContext) -> None:
        rewriter = Rewriter(graph, ctx)
        variable = next((node for node in graph if node.op in VARIABLES), None)
        rewriter.apply(ZERO_PADDING)
        if variable is not None and not self.trainable:
            ctx.refuse("fuse", variable, "the graph has variables, and gradients may still be added; fuse{trainable=true}")
        else:
            for rules in (PRODUCTS_IN_ONEDNN, GELU, NORMALIZATION) if self.onednn else (PRODUCTS,):
                rewriter.apply(rules)
            rewriter.apply(MIRROR_PADDING)
