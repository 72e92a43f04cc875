"""Fused ops of optimizers: a product, a bias or batch normalization, and an activation; layer normalization."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...numerics.convolution import Finish
from ...numerics.elementwise import positive_part
from ...numerics.half_precision import wide
from ...registry.catalog import CATALOG
from ...registry.registry import ZERO, Cost, flops, kernel, layout, shape
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..linalg import matmul
from ..shared.argument_checks import require, require_shape
from ..shared.decompositions import composed
from ..shared.window_geometry import WindowAttributes
from . import activations, convolution, depthwise


class Epilogue(NamedTuple):
    """The ops that follow a product, and the attributes of two of them."""

    fused_ops: tuple[str, ...]
    epsilon: float
    leakyrelu_alpha: float


_VECTORS = {"BiasAdd": 1, "FusedBatchNorm": 4}
"""The arguments that fused ops take, each a number for each channel."""
_Part = Callable[[Array, slice], Array]
"""A fused op on a block (..., channels) of the product and its range of channels; the block may be overwritten."""


def _finish(y: Array, args: list[Array], epilogue: Epilogue) -> Array:
    """Apply the fused ops, in order, to a fresh array of channels-last values."""
    for part in _fused_ops(args, epilogue, y.shape[-1], y.dtype):
        y = part(y, slice(None))
    return y


def _convolved(convolve: Callable[..., Any], x: Array, args: list[Array], epilogue: Epilogue) -> Array:
    """Return a convolution, with the fused ops applied to each block of the result while the block is in a cache.

    In half precision the ops are applied to the whole result, since the sums are wider.
    """
    begun: list[Array] = []

    def epilogue_of(result: Array) -> Finish:
        begun.append(result)
        parts = _fused_ops(args, epilogue, result.shape[-1], result.dtype)
        # A view: the convolution fills `result` while blocks of it are finished.
        rows = result.reshape(-1, result.shape[-1])

        def finish(positions: slice, some: slice) -> None:
            given = block = rows[positions, some]
            for part in parts:
                block = part(block, some)
            # Activations without an `out` argument return another array.
            if block is not given:
                given[...] = block

        return finish

    # Half precision is summed in float32, and rounding comes before the fused ops, as in the separate ops.
    y = convolve(epilogue=epilogue_of if x.dtype in (np.float32, np.float64) else None)
    # An empty result is made without the epilogue, and its arguments still have to be checked.
    return y if begun else _finish(_own(y, x), args, epilogue)


def _fused_ops(args: list[Array], epilogue: Epilogue, channels: int, dtype: np.dtype[Any]) -> list[_Part]:
    """Return the fused ops in order, with their arguments checked."""
    left = list(args)
    parts: list[_Part] = []
    for op in epilogue.fused_ops:
        vectors, left = _by_channel(left, _VECTORS.get(op, 0), channels, dtype)
        parts.append(_fused_op(op, vectors, epilogue))
    return parts


def _fused_op(op: str, vectors: list[Array], epilogue: Epilogue) -> _Part:
    if op == "BiasAdd":
        return functools.partial(_shifted, vectors[0])
    if op == "FusedBatchNorm":
        scale, offset, mean, variance = vectors
        # The fused op only runs inference, so both vectors are computed once for all blocks.
        factor = scale / np.sqrt(variance + variance.dtype.type(epilogue.epsilon))
        return functools.partial(_scaled, factor, offset - mean * factor)
    if op == "LeakyRelu":
        return lambda y, some: activations.leaky_relu(y, alpha=epilogue.leakyrelu_alpha)
    if op in _ACTIVATIONS:
        return lambda y, some: _ACTIVATIONS[op](y)
    raise UnimplementedError(f"tfg cannot fuse '{op}'")


def _shifted(bias: Array, y: Array, some: slice) -> Array:
    y += bias[some]
    return y


def _scaled(factor: Array, offset: Array, y: Array, some: slice) -> Array:
    y *= factor[some]
    return _shifted(offset, y, some)


def _by_channel(args: list[Array], count: int, channels: int, dtype: np.dtype[Any]) -> tuple[list[Array], list[Array]]:
    """Return the arguments of a fused op, a number for each channel, and the arguments of the ops behind."""
    if len(args) < count:
        raise InvalidArgumentError(f"a fused op needs {count} more arguments, but only {len(args)} are left")
    for arg in args[:count]:
        if arg.shape != (channels,):
            raise InvalidArgumentError(f"an argument by channel must have shape {(channels,)}, not {arg.shape}")
        if arg.dtype != dtype:
            raise InvalidArgumentError(f"an argument by channel must be {dtype}, not {arg.dtype}")
    return args[:count], args[count:]


def _gelu(x: Array) -> Array:
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel 2016)."""
    t = x.dtype.type
    return t(0.5) * x * (1 + np.tanh(t(np.sqrt(2 / np.pi)) * (x + t(0.044715) * x**3)))


def _gelu_exact(x: Array) -> Array:
    """x times the normal distribution function."""
    # Imported here: SciPy's functions take long to import, and hardly any graph has the exact Gelu.
    from scipy.special import ndtr

    return (x * ndtr(x)).astype(x.dtype)


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "Relu": lambda y: positive_part(y, y),
    "Relu6": lambda y: np.clip(y, y.dtype.type(0), y.dtype.type(6), out=y),
    "Elu": activations.elu,
    "Tanh": np.tanh,
    "Sigmoid": lambda y: 1 / (1 + np.exp(-y)),
    "GeluApproximate": _gelu,
    "GeluExact": _gelu_exact,
}


def _own(y: Any, x: Array) -> Array:
    """Return `y` as a writable array: a convolution can return a view of its input."""
    return y.copy() if np.shares_memory(y, x) or not y.flags.writeable else y


def _require_nhwc(data_format: str, filter_format: str = "HWIO") -> None:
    if data_format != "NHWC" or filter_format != "HWIO":
        raise InvalidArgumentError(f"fused convolutions on the CPU take NHWC and HWIO, not {data_format} and {filter_format}")


@kernel("_FusedConv2D", shape=convolution.conv_shape, facts=("row_wise", "finished_product", "channels_last", "half_allow"))
def fused_conv2d(
    input: Array,
    filter: Array,
    args: list[Array],
    host_args: list[Array],
    *,
    window: WindowAttributes,
    filter_format: str,
    epilogue: Epilogue,
) -> Result:
    _require_nhwc(window.data_format, filter_format)
    return _convolved(functools.partial(convolution.conv2d, input, filter, window=window), input, args, epilogue)


_PER_ELEMENT = {
    "BiasAdd": Cost(1),
    "FusedBatchNorm": Cost(2),
    "Relu": Cost(1),
    "Relu6": Cost(2),
    "Elu": Cost(1, transcendentals=1),
    "LeakyRelu": Cost(2),
    "Tanh": Cost(0, transcendentals=1),
    "Sigmoid": Cost(3, transcendentals=1),
    "GeluApproximate": Cost(8, transcendentals=1),
    "GeluExact": Cost(4, transcendentals=1),
}
# The factor is a sum, a root and a quotient for each channel, and the offset a product and a difference.
_PER_CHANNEL = {"FusedBatchNorm": Cost(5)}


def _finish_cost(fused_ops: list[str], result: Shape) -> Cost:
    """The sum of the costs of the parts."""
    total, elements, channels = ZERO, result.num_elements, result[-1]
    for op in fused_ops:
        if op not in _PER_ELEMENT:
            raise UnimplementedError(f"tfg cannot fuse '{op}'")
        total += _PER_ELEMENT[op] * elements + _PER_CHANNEL.get(op, ZERO) * channels
    return total


@flops("_FusedConv2D", "_FusedConv3D")
def fused_convolution_flops(input: TensorSpec, filter: TensorSpec, *, fused_ops: list[str], outputs: list[TensorSpec]) -> Cost:
    product = convolution.convolution_flops(input, filter, outputs=outputs)
    return product + _finish_cost(fused_ops, outputs[0].shape)


layout("T.* -> T", "_FusedConv2D")


@kernel("_FusedConv3D", facts=("row_wise", "half_allow"))
def fused_conv3d(
    input: Array, filter: Array, args: list[Array], *, window: WindowAttributes, padding_list: list[int], epilogue: Epilogue
) -> Result:
    if window.data_format != "NDHWC":
        raise InvalidArgumentError(f"fused convolutions on the CPU take NDHWC, not {window.data_format}")
    pairs = _padding_pairs(padding_list)
    padded, window = (np.pad(input, pairs), window._replace(padding="VALID")) if pairs else (input, window)
    return _convolved(functools.partial(convolution.conv3d, padded, filter, window=window), input, args, epilogue)


def _padding_pairs(padding_list: Sequence[int]) -> list[tuple[int, int]]:
    """Return the numbers of zeros before and after each dimension of NDHWC for any `padding`; zero for an empty list."""
    if not padding_list:
        return []
    if len(padding_list) != 10 or min(padding_list) < 0:
        raise InvalidArgumentError(f"padding_list must be 5 pairs of numbers, not {padding_list}")
    # Numbers for batch and channels are there but TensorFlow ignores them.
    pairs = list(zip(padding_list[::2], padding_list[1::2]))
    return [(0, 0), *pairs[1:4], (0, 0)]


@shape("_FusedConv3D")
def fused_conv3d_shape(input: TensorSpec, filter: TensorSpec, *, window: WindowAttributes, padding_list: list[int]) -> Shape:
    pairs = _padding_pairs(padding_list)
    # The list replaces the padding, whatever the attribute says.
    window = window._replace(padding="VALID") if pairs else window
    if input.shape.rank == len(pairs):
        sizes = Shape(size + before + behind for size, (before, behind) in zip(input.shape, pairs))
        input = dataclasses.replace(input, shape=sizes, value=None)
    return convolution.conv_shape(input, filter, window=window)


@kernel("_FusedDepthwiseConv2dNative", facts=("row_wise", "finished_product", "channels_last"))
def fused_depthwise_conv2d(
    input: Array, filter: Array, args: list[Array], *, window: WindowAttributes, epilogue: Epilogue
) -> Result:
    _require_nhwc(window.data_format)
    convolve = functools.partial(depthwise.depthwise_conv2d_native, input, filter, window=window)
    return _convolved(convolve, input, args, epilogue)


shape("_FusedDepthwiseConv2dNative")(depthwise.depthwise_conv2d_native_shape)


@composed("_FusedConv2D", "_FusedConv3D", "_FusedDepthwiseConv2dNative", "_FusedMatMul")
def fused_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Compose the product and the fused ops, op by op."""
    op = {"_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative"}.get(node.op, node.op.removeprefix("_Fused"))
    attrs = {name: node.attrs[name] for name in CATALOG[op].attrs if name in node.attrs}
    x, *_ = inputs
    if pairs := _padding_pairs(node.attr("padding_list")) if op == "Conv3D" else []:
        x, attrs["padding"] = g.Pad(x, np.array(pairs, np.int32)), "VALID"
    y = g.apply(op, x, inputs[1], **attrs)
    rest = list(inputs[2:])
    for fused in node.attr("fused_ops"):
        y = _fused_part(g, node, fused.decode("utf-8", "replace"), y, rest)
    return [y]


def _fused_part(g: GradientBuilder, node: Node, op: str, y: Output, rest: list[Output]) -> Output:
    """Compose a fused op, with its arguments from the rest."""
    require(len(rest) >= _VECTORS.get(op, 0), f"'{op}' has fewer arguments than it needs")
    if op == "BiasAdd":
        return g.BiasAdd(y, rest.pop(0))
    if op == "FusedBatchNorm":
        scale, offset, mean, variance = (rest.pop(0) for _ in range(4))
        factor = g.RealDiv(scale, g.Sqrt(g.AddV2(variance, g.scalar_like(variance, node.attr("epsilon")))))
        return g.AddV2(g.Mul(y, factor), g.Sub(offset, g.Mul(mean, factor)))
    if op == "LeakyRelu":
        return g.LeakyRelu(y, alpha=node.attr("leakyrelu_alpha"))
    if op in ("GeluApproximate", "GeluExact"):
        return g.Mul(y, _normal_part(g, op, y))
    return g.apply(op, y)


def _normal_part(g: GradientBuilder, op: str, y: Output) -> Output:
    """Compose the normal distribution function of y, or Gelu's approximation."""
    if op == "GeluExact":
        # No op is the distribution function itself.
        share = g.Erf(g.Mul(y, g.scalar_like(y, np.sqrt(0.5))))
    else:
        cubed = g.Mul(g.scalar_like(y, 0.044715), g.Mul(y, g.Square(y)))
        share = g.Tanh(g.Mul(g.scalar_like(y, np.sqrt(2 / np.pi)), g.AddV2(y, cubed)))
    return g.Mul(g.scalar_like(y, 0.5), g.AddV2(share, g.scalar_like(y, 1)))


@composed("_MklLayerNorm")
def mkl_layer_norm_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Compose layer normalization by means over the last dimension."""
    x, scale, offset = inputs
    sizes = g.static_shape(x)
    require(sizes.rank in (None, 2, 3), f"x must have rank 2 or 3, not shape {sizes}")
    for vector in (scale, offset):
        # Products would broadcast what the kernel refuses.
        merge_shapes(g.static_shape(vector), Shape(sizes[-1:]) if sizes.rank else UNKNOWN)
    centered = g.Sub(x, g.Mean(x, [-1], keep_dims=True))
    variance = g.Mean(g.Square(centered), [-1], keep_dims=True)
    deviation = g.Sqrt(g.AddV2(variance, g.scalar_like(x, node.attr("epsilon"))))
    return [g.AddV2(g.Mul(g.RealDiv(centered, deviation), scale), offset)]


@flops("_FusedDepthwiseConv2dNative")
def fused_depthwise_conv2d_flops(
    input: TensorSpec, filter: TensorSpec, *, fused_ops: list[str], outputs: list[TensorSpec]
) -> Cost:
    product = depthwise.depthwise_conv2d_native_flops(input, filter, outputs=outputs)
    return product + _finish_cost(fused_ops, outputs[0].shape)


layout("T.* -> T", "_FusedDepthwiseConv2dNative")


@kernel("_FusedMatMul", facts=("half_allow",))
def fused_matmul(a: Array, b: Array, args: list[Array], *, transpose_a: bool, transpose_b: bool, epilogue: Epilogue) -> Result:
    y = matmul.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return _finish(_own(np.asarray(y), a), args, epilogue)


@shape("_FusedMatMul")
def fused_matmul_shape(a: TensorSpec, b: TensorSpec, *, transpose_a: bool, transpose_b: bool) -> Shape:
    return matmul.matmul_shape(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@flops("_FusedMatMul")
def fused_matmul_flops(a: TensorSpec, *, transpose_a: bool, fused_ops: list[str], outputs: list[TensorSpec]) -> Cost:
    product = matmul.matmul_flops(a, transpose_a=transpose_a, outputs=outputs)
    return product + _finish_cost(fused_ops, outputs[0].shape)


@kernel("_MklLayerNorm", shape="... -> ...")
def mkl_layer_norm(x: Array, scale: Array, offset: Array, *, epsilon: float) -> Result:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, with the moments over the last of two or three dimensions."""
    require(x.ndim in (2, 3), f"x must have rank 2 or 3, not shape {x.shape}")
    require_shape(scale, x.shape[-1:], "scale")
    require_shape(offset, x.shape[-1:], "offset")
    values = wide(x)
    centered = values - values.mean(-1, keepdims=True)
    variance = np.square(centered).mean(-1, keepdims=True)
    y = centered / np.sqrt(variance + values.dtype.type(epsilon)) * wide(scale) + wide(offset)
    return y.astype(x.dtype, copy=False)


@flops("_MklLayerNorm")
def mkl_layer_norm_flops(x: TensorSpec) -> Cost:
    """Two means, a difference, a square, a division, a product and a sum an element; a sum and a root a row."""
    return Cost(7 * x.shape.num_elements + 2 * x.shape[:-1].num_elements)
