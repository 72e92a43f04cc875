"""Products, biases, normalizations and activations, and padding before a convolution, fused into TensorFlow's fused ops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...graph.variable_nodes import VARIABLES
from ...inference import binding
from ...registry.op_facts import ops_with
from ...support import dataclasses
from ...types import dtypes
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext
from .constant_rules import is_read, is_read_only_by, reshaped, sum_hazard
from .rewrite import MOST_MADE, Rewriter, attrs_of, is_matrix_product

# Normalizations, alone and with Relu, fused into ops that have only oneDNN kernels.

NORMALIZATION = RuleSet()

_ADD = ops_with("addition")
_NORMS = ops_with("batch_normalization")


@NORMALIZATION.rule(
    "Mul",
    algebra="(x - mean(x)) * rsqrt(mean((x - mean(x))^2) + e) -> layer_norm(x, 1, 0)",
    accuracy=Accuracy.RELAXED,
)
def layer_norm(r: Rewriter, node: Node) -> Output | None:
    for centered, root in (node.inputs, tuple(reversed(node.inputs))):
        if centered.node.op == "Sub":
            x, mean = centered.node.inputs
            epsilon = _epsilon(r, root, x, mean)
            if epsilon is not None:
                return _layer_norm(r, x, 1.0, 0.0, epsilon)
    return None


@NORMALIZATION.rule(
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
    """Return layer_norm(x, gamma, beta) if `factor` is rsqrt(variance + epsilon), or that times gamma."""
    pairs: list[tuple[Output, Any]] = [(factor, np.float32(1))]
    if factor.node.op == "Mul":
        a, b = factor.node.inputs
        pairs = [(a, _vector(r, x, b)), (b, _vector(r, x, a))]
    offset = _vector(r, x, beta)
    for root, gamma in pairs:
        epsilon = _epsilon(r, root, x, mean) if gamma is not None and offset is not None else None
        if epsilon is not None:
            return _layer_norm(r, x, gamma, offset, epsilon)
    return None


@NORMALIZATION.rule("Mul", algebra="layer_norm(x, g, 0) * h -> layer_norm(x, g * h, 0)", accuracy=Accuracy.RELAXED)
def factor_of_layer_norm(r: Rewriter, node: Node) -> Output | None:
    for value, factor in (node.inputs, tuple(reversed(node.inputs))):
        x, gamma, beta = _parts_of_layer_norm(r, value)
        vector = _vector(r, x, factor) if x is not None else None
        if x is not None and vector is not None and np.all(beta == 0):
            return _layer_norm(r, x, gamma * vector, beta, value.node.attr("epsilon"))
    return None


@NORMALIZATION.rule(*_ADD, algebra="layer_norm(x, g, b) + c -> layer_norm(x, g, b + c)", accuracy=Accuracy.RELAXED)
def offset_of_layer_norm(r: Rewriter, node: Node) -> Output | None:
    for value, offset in (node.inputs, tuple(reversed(node.inputs))):
        x, gamma, beta = _parts_of_layer_norm(r, value)
        vector = _vector(r, x, offset) if x is not None else None
        if x is not None and vector is not None:
            return _layer_norm(r, x, gamma, beta + vector, value.node.attr("epsilon"))
    return None


@NORMALIZATION.rule(
    "Reshape",
    algebra="reshape(batch_norm(reshape(x, [1, rows, n, 1]))), trained -> layer_norm(x, 1, 0)",
    accuracy=Accuracy.RELAXED,
)
def layer_norm_as_batch_norm(r: Rewriter, node: Node) -> Output | None:
    """Fuse tf.keras's layer normalization: each row is a channel of a single image, normalized by the row's moments."""
    norm = node.inputs[0].node
    if norm.op not in _NORMS or not norm.attr("is_training") or norm.attr("data_format") != b"NCHW":
        return None
    if norm.inputs[0].node.op != "Reshape" or not r.is_only_first_read(norm):
        return None
    x = norm.inputs[0].node.inputs[0]
    dims, rows = r.shape(x).dims, r.shape(norm.inputs[0]).dims
    is_by_row = dims and rows and len(rows) == 4 and rows[0] == rows[3] == 1 and rows[2] == dims[-1]
    is_plain = r.is_all(norm.inputs[1], 1) and r.is_all(norm.inputs[2], 0)
    if not is_by_row or not is_plain or not r.same_shape(x, node.output()):
        return None
    return _layer_norm(r, x, 1.0, 0.0, norm.attr("epsilon"))


@NORMALIZATION.rule("Relu", algebra="relu(batch_norm(x)) -> batch_norm_ex(x)", accuracy=Accuracy.ROUNDING)
def batch_norm_with_relu(r: Rewriter, node: Node) -> Output | str | None:
    norm = node.inputs[0].node
    if norm.op not in _NORMS or norm.attr("data_format") not in (b"NHWC", b"NCHW"):
        return None
    if node.attrs["T"].name not in ("float", "bfloat16") or norm.inputs[1].dtype is not dtypes.float32:
        return f"_FusedBatchNormEx has no kernel for {node.attrs['T'].name}"
    dims = r.shape(node.output()).dims
    channels = dims[1 if norm.attr("data_format") == b"NCHW" else -1] if dims else None
    # A requirement of cuDNN, which TensorFlow's op checks on every device.
    if not isinstance(channels, int) or channels % 4:
        return "_FusedBatchNormEx needs a multiple of 4 channels"
    if not r.is_only_first_read(norm) or not r.is_free(norm):
        return f"other nodes also read {norm.name}"
    shared = ("epsilon", "exponential_avg_factor", "data_format", "is_training")
    attrs = {name: norm.attr(name) for name in shared}
    return r._FusedBatchNormEx(*norm.inputs, [], activation_mode=b"Relu", **attrs)


def _layer_norm(r: Rewriter, x: Output, gamma: Any, beta: Any, epsilon: float) -> Output | None:
    """Return a new _MklLayerNorm over the last dimension of `x`; None, with a refusal, if the kernel would not take `x`."""
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


def _parts_of_layer_norm(r: Rewriter, value: Output) -> tuple[Output | None, Any, Any]:
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
    """Return e if `root` is rsqrt(mean((x - mean(x))^2) + e) over the last dimension of `x`, and `mean` is that mean."""
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
    # As a set, since the square does not see the sign of the difference.
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


# Padding and resizing fused into the convolution after them.

ZERO_PADDING = RuleSet()
"""The rules whose result has gradients."""
MIRROR_PADDING = RuleSet()

_PADDED = ("Conv2D", "DepthwiseConv2dNative", "_FusedConv2D")
_BIASES = ("BiasAdd", *_ADD)
_FUSED_PAD_DTYPES = ("float", "double", "half", "bfloat16")


@ZERO_PADDING.rule(*_PADDED, algebra="conv(pad(x, p), padding v) -> conv(x, padding v + p)", accuracy=Accuracy.ROUNDING)
def pad_into_convolution(r: Rewriter, node: Node) -> Output | str | None:
    pad = node.inputs[0].node
    if pad.op not in ("Pad", "PadV2") or not is_read(r, node):
        return None
    if pad.op == "PadV2" and not r.is_all(pad.inputs[2], 0):
        return "it does not pad with zeros"
    if node.attr("padding") == b"SAME":
        return "padding SAME depends on the padded size"
    if node.op == "DepthwiseConv2dNative" and any(user.op in _BIASES for user in node.uses):
        # Grappler would fuse the two for any padding, and an explicit padding would abort the process.
        return "TensorFlow cannot fuse a depthwise convolution with explicit padding and its bias"
    is_first = node.attr("data_format") == b"NCHW"
    paddings = _spatial_paddings(r, pad, node, (2, 3) if is_first else (1, 2))
    if paddings is None:
        return None
    before = node.attr("explicit_paddings") or [0] * 8
    explicit = [a + b for a, b in zip(before, itertools.chain.from_iterable(paddings.tolist()))]
    attrs = attrs_of(node, padding=b"EXPLICIT", explicit_paddings=explicit)
    return r.add(node.op, pad.inputs[0], *_other_arguments(node), **attrs)


def _other_arguments(node: Node) -> tuple[Any, ...]:
    """Return the weights, and for the fused op the lists of arguments and host arguments."""
    if node.op != "_FusedConv2D":
        return (node.inputs[1],)
    end = 2 + node.attrs["num_args"]
    return (node.inputs[1], node.inputs[2:end], node.inputs[end:])


@MIRROR_PADDING.rule(
    "Conv2D",
    algebra="conv(mirror_pad(resize(x, s), p), w) -> fused_resize_and_pad_conv(x, s, p, w)",
    accuracy=Accuracy.ROUNDING,
)
def resize_into_convolution(r: Rewriter, node: Node) -> Output | str | None:
    pad = node.inputs[0].node
    resize = pad.inputs[0].node if pad.op == "MirrorPad" else pad
    if resize.op != "ResizeBilinear" or not _has_fused_kernel(r, node, ("float",)):
        return None
    if resize.attr("half_pixel_centers"):
        return "FusedResizeAndPadConv2D does not support half_pixel_centers"
    if resize.attrs["T"] is not dtypes.float32:
        return f"FusedResizeAndPadConv2D does not support {resize.attrs['T'].name} images with float weights"
    if not is_read_only_by(r, resize, [pad, node]):
        return f"other nodes also read {resize.name}"
    # The fused op has no form without padding, so zeros stand for none.
    paddings = _mirror_paddings(r, pad, node) if pad is not resize else r.constant(np.zeros((4, 2)), resize.inputs[1])
    if paddings is None:
        return None
    attrs = {**_fused_attributes(node, pad), "resize_align_corners": resize.attr("align_corners")}
    return r.FusedResizeAndPadConv2D(*resize.inputs, paddings, node.inputs[1], **attrs)


@MIRROR_PADDING.rule("Conv2D", algebra="conv(mirror_pad(x, p), w) -> fused_pad_conv(x, p, w)", accuracy=Accuracy.ROUNDING)
def mirror_pad_into_convolution(r: Rewriter, node: Node) -> Output | None:
    pad = node.inputs[0].node
    if pad.op != "MirrorPad" or not _has_fused_kernel(r, node, _FUSED_PAD_DTYPES):
        return None
    paddings = _mirror_paddings(r, pad, node)
    if paddings is None:
        return None
    return r.FusedPadConv2D(pad.inputs[0], paddings, node.inputs[1], **_fused_attributes(node, pad))


def _mirror_paddings(r: Rewriter, pad: Node, node: Node) -> Output | None:
    """Return the paddings as int32, if height and width alone are padded."""
    if _spatial_paddings(r, pad, node, (1, 2)) is None:
        return None
    return pad.inputs[1] if pad.inputs[1].dtype is dtypes.int32 else r.Cast(pad.inputs[1], DstT=dtypes.int32)


def _fused_attributes(node: Node, pad: Node) -> dict[str, Any]:
    mode = pad.attr("mode") if pad.op == "MirrorPad" else b"REFLECT"
    return {"mode": mode, "strides": node.attr("strides"), "padding": node.attr("padding")}


def _spatial_paddings(r: Rewriter, pad: Node, node: Node, spatial: tuple[int, int]) -> Any:
    """Return the paddings of the image's height and width; None, with a refusal, if there may be others."""
    paddings = r.constant_value(pad.inputs[1])
    if paddings is None:
        r.refuse("the paddings are not constant")
    elif any(np.any(pair != 0) for axis, pair in enumerate(paddings) if axis not in spatial):
        r.refuse("it also pads the batch or the channels")
    elif not is_read_only_by(r, pad, [node]):
        r.refuse(f"other nodes also read {pad.name}")
    else:
        return paddings
    return None


def _has_fused_kernel(r: Rewriter, node: Node, names: tuple[str, ...]) -> bool:
    """Return True if TensorFlow's kernels that pad while they convolve give the same result.

    The kernels mix up the images of a batch, whatever the batch size; so their result is right for a single image only.
    """
    if not is_read(r, node):
        return False
    dims = r.shape(node.output()).dims
    for is_wrong, reason in (
        (node.attrs["T"].name not in names, f"the fused op has no kernel for {node.attrs['T'].name}"),
        (node.attr("data_format") != b"NHWC", "the fused op supports only NHWC"),
        (node.attr("padding") == b"EXPLICIT", "the fused op does not support additional explicit padding"),
        (list(node.attr("dilations")) != [1] * 4, "the fused op does not support dilations"),
        (dims is None or dims[0] != 1, "TensorFlow's fused op mixes up the images of a batch, and the batch may have several"),
    ):
        if is_wrong:
            r.refuse(reason)
            return False
    return True


# GELU after a product and a bias, in any spelling by operations.

GELU = RuleSet()

_OPERATIONS = ("Mul", "AddV2", "Add", "Sub", "Neg", "RealDiv", "Pow", "Square", "Tanh", "Erf", "Erfc", "Identity")
_MOST = 12
"""The largest number of operations of an expression to test: more than any spelling of GELU has."""


@GELU.rule("Mul", algebra="gelu(fused matmul) -> fused matmul", accuracy=Accuracy.ROUNDING)
def gelu_of_fused(r: Rewriter, node: Node) -> Output | str | None:
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
        return "other nodes also read the nodes in between"
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
    # Beyond 5 all forms are x or 0, but for a millionth.
    points = np.linspace(-5, 5, 101, dtype=np.float32)
    # Frameworks spell GELU in a dozen ways. A pattern for each would miss the next, and the values tell all of them.
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


# Biases, batch normalizations and activations after a product.


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
_NORMALIZED = [b"FusedBatchNorm"]


def product_rules(kernels: Mapping[str, FusedKernel]) -> RuleSet:
    """Return the rules that fuse products with bias and activation into fused ops of the `kernels`."""
    rules = RuleSet()
    by_op = {kernel.op: kernel for kernel in kernels.values()}

    @rules.rule("BiasAdd", algebra="bias_add(conv(x, w), b) -> fused conv", accuracy=Accuracy.ROUNDING)
    def product_with_bias(r: Rewriter, node: Node) -> Output | str | None:
        product, reshape = _behind_reshape(r, node.inputs[0].node)
        if not _is_fusible(r, node, product, kernels):
            return None
        if reshape is not None and not _keeps_channels(r, reshape):
            return f"{reshape.name} may not keep the channels"
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
    def activation_of_fused(r: Rewriter, node: Node) -> Output | str | None:
        fused, reshape = _behind_reshape(r, node.inputs[0].node)
        kernel = by_op.get(fused.op)
        has_room = adds_bias_only(fused) or fused.attr("fused_ops") == _NORMALIZED
        if kernel is None or not has_room or not r.is_free(fused):
            return None
        if node.op not in kernel.activations:
            return f"{fused.op} does not support {node.op}"
        attrs = attrs_of(fused, fused_ops=[*fused.attr("fused_ops"), node.op.encode()])
        if node.op == "LeakyRelu":
            attrs = {**attrs, "leakyrelu_alpha": node.attr("alpha")}
        return reshaped(r, r.add(fused.op, *_operands(fused, *_arguments(fused)), **attrs), reshape)

    return rules


PRODUCTS = product_rules(KERNELS)
PRODUCTS_IN_ONEDNN = product_rules({**KERNELS, **ONEDNN_KERNELS})


def _is_fusible(r: Rewriter, bias: Node, product: Node, kernels: Mapping[str, FusedKernel]) -> bool:
    """Return True if a kernel of `kernels` computes the product and the bias."""
    # With the kernels that are not chosen, so that a refusal names the option that would choose them.
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
    """Return the mean less the bias; None, with a refusal, if results would change by more than rounding."""
    added, given, squared = map(r.constant_value, (bias, mean, variance))
    if added is None or given is None or added.shape != given.shape:
        r.refuse("the bias before it or its mean is not constant")
        return None
    with np.errstate(all="ignore"):
        moved, deviation = given - added, np.sqrt(0 if squared is None else squared)
    # What cancels in mean - bias is small beside the deviation by which the result is divided, so only larger losses count.
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
    # A convolution with groups has the same op and attributes; only the sizes tell, and on CPUs the fused kernel has no
    # groups.
    return not data or not weights or data[-1] != weights[-2]


def _behind_reshape(r: Rewriter, node: Node) -> tuple[Node, Node | None]:
    """Return the node before a Reshape or Squeeze without other readers, and the Reshape; or `node` itself and None."""
    if node.op in ("Reshape", "Squeeze") and r.is_free(node):
        return node.inputs[0].node, node
    return node, None


def _keeps_channels(r: Rewriter, reshape: Node) -> bool:
    """Return True if a Reshape keeps the last dimension."""
    before, after = r.shape(reshape.inputs[0]).dims, r.shape(reshape.output()).dims
    return before is not None and bool(after) and isinstance(before[-1], int) and before[-1:] == (after or ())[-1:]


def _operands(product: Node, *vectors: Output) -> tuple[object, ...]:
    """Return the inputs of the fused op: input, weights, the list of arguments, and for Conv2D the list of host arguments."""
    arguments: tuple[object, ...] = (product.inputs[0], product.inputs[1], list(vectors))
    return (*arguments, []) if product.op in _CONVOLUTIONS else arguments


def _attributes(product: Node) -> dict[str, object]:
    """Return the attributes that the fused op shares with the product, and the fused ops."""
    # Attributes of the plain ops that the fused ops do not declare: TensorFlow would refuse to import them.
    dropped = {"use_cudnn_on_gpu", "grad_a", "grad_b"}
    if product.op == "DepthwiseConv2dNative":
        dropped |= {"explicit_paddings"}
    shared = {name: value for name, value in attrs_of(product).items() if name not in dropped}
    extra: dict[str, object] = {"fused_ops": [b"BiasAdd"], "num_args": 1}
    if product.op == "Conv2D":
        extra |= {"TArgs": [product.attrs["T"]], "num_host_args": 0}
    return {**shared, **extra}


class Fuse(Pass):
    """Fuse products with the bias or batch normalization and the activation behind them, and padding and resizing into the
    convolution behind.

    The fused ops have no gradient: if variables are yet to be trained nothing but zero padding is fused, unless
    `trainable`. TensorFlow's CPU kernels for Conv2D and MatMul are in all builds; the kernels for DepthwiseConv2dNative,
    Conv3D, GELU, layer normalization, and batch normalization with Relu are oneDNN's. With `onednn` the latter are used
    too, and the graph runs only if TensorFlow has oneDNN switched on (TF_ENABLE_ONEDNN_OPTS=1, the default on x86
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
        # Padding first, as the fused products take it along; GELU and the others join what the rules before them made.
        rewriter.apply(ZERO_PADDING)
        if variable is not None and not self.trainable:
            ctx.refuse("fuse", variable, "the graph has variables, and gradients may still be added; fuse{trainable=true}")
        else:
            for rules in (PRODUCTS_IN_ONEDNN, GELU, NORMALIZATION) if self.onednn else (PRODUCTS,):
                rewriter.apply(rules)
            rewriter.apply(MIRROR_PADDING)
