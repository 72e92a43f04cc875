"""Depthwise convolutions and their gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..numerics import convolution as numerics
from ..numerics.widening import wide
from ..profiler_formulas import window
from ..registry import Cost, flops, kernel, layout, multiply_adds, profiled, shape
from ..shapes import Shape, TensorSpec
from ._checks import require, require_rank, with_rank
from ._convolution import Geometry, StrictGeometry, empty_filter_gradient, empty_input_gradient, register_gradients
from ._shapes import ints, shape_from
from ._windows import from_channels_last, shape_from_channels_last, to_channels_last
from .convolution import ATTRIBUTES_2D


def _geometry(
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
    kind: type[Any] = Geometry,
) -> Any:
    geometry = kind(4, strides, padding, explicit_paddings, data_format, dilations)
    require(geometry.strides[0] == geometry.strides[1], f"the strides of height and width differ: {list(strides)}")
    return geometry


def depthwise_convolve(x: Array, w: Array, geometry: Geometry) -> Array:
    """x (N, H, W, C) with w (KH, KW, C, M) -> (N, OH, OW, C * M), or NCHW."""
    require_rank(x, 4, "input")
    require_rank(w, 4, "filter")
    last = to_channels_last(x, geometry.data_format)
    require(last.shape[-1] == w.shape[2], f"input has {last.shape[-1]} channels, the filter {w.shape[2]}")
    window = w.shape[:2]
    outputs = geometry.outputs(last.shape[1:-1], window)
    if not (x.size and w.size and math.prod(outputs)):
        y = np.zeros((last.shape[0], *outputs, w.shape[2] * w.shape[3]), x.dtype)
    else:
        pads = geometry.pads(last.shape[1:-1], window)
        y = numerics.depthwise_convolve(wide(last), wide(w), geometry.strides, pads, geometry.dilations)
    return from_channels_last(y.astype(x.dtype, copy=False), geometry.data_format)


def _check_backprop(
    dims: tuple[int, ...], filter_shape: tuple[int, ...], grad_dims: tuple[int, ...], geometry: StrictGeometry
) -> None:
    require(min(*dims, *filter_shape) >= 0, f"negative sizes: input {dims}, filter {filter_shape}")
    require(dims[-1] == filter_shape[2], f"input has {dims[-1]} channels, the filter {filter_shape[2]}")
    wanted = (dims[0], *geometry.outputs(dims[1:-1], filter_shape[:2]), filter_shape[2] * filter_shape[3])
    require(tuple(grad_dims) == wanted, f"out_backprop is {tuple(grad_dims)} but the result is {wanted} (N, H, W, C)")


@kernel("DepthwiseConv2dNative")
def depthwise_conv2d_native(
    x: Array,
    w: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """Each channel convolved with its own M filters: (N, H, W, C), (KH, KW, C, M) -> (N, OH, OW, C * M)."""
    return depthwise_convolve(x, w, _geometry(strides, padding, explicit_paddings, data_format, dilations))


@kernel("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_native_backprop_input(
    sizes: Array,
    w: Array,
    grad: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """The gradient for the input, of shape `sizes`."""
    geometry = _geometry(strides, padding, explicit_paddings, data_format, dilations, StrictGeometry)
    empty = empty_input_gradient(sizes, grad)
    if empty is not None:
        return empty
    require_rank(w, 4, "filter")
    require_rank(grad, 4, "out_backprop")
    grad_last = to_channels_last(grad, data_format)
    dims = geometry.last(ints(sizes, "input_sizes", 4))
    _check_backprop(dims, w.shape, grad_last.shape, geometry)
    pads = geometry.pads(dims[1:-1], w.shape[:2])
    dx = numerics.depthwise_input_gradient(wide(grad_last), wide(w), dims, geometry.strides, pads, geometry.dilations)
    return from_channels_last(dx.astype(grad.dtype, copy=False), data_format)


@kernel("DepthwiseConv2dNativeBackpropFilter")
def depthwise_conv2d_native_backprop_filter(
    x: Array,
    sizes: Array,
    grad: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """The gradient for the filter, of shape `sizes`."""
    geometry = _geometry(strides, padding, explicit_paddings, data_format, dilations, StrictGeometry)
    empty = empty_filter_gradient(x, sizes, grad)
    if empty is not None:
        return empty
    require_rank(x, 4, "input")
    require_rank(grad, 4, "out_backprop")
    last, grad_last = to_channels_last(x, data_format), to_channels_last(grad, data_format)
    filter_shape = ints(sizes, "filter_sizes", 4)
    _check_backprop(last.shape, filter_shape, grad_last.shape, geometry)
    pads = geometry.pads(last.shape[1:-1], filter_shape[:2])
    dw = numerics.depthwise_filter_gradient(
        wide(last), wide(grad_last), filter_shape, geometry.strides, pads, geometry.dilations
    )
    return dw.astype(grad.dtype, copy=False)


@shape("DepthwiseConv2dNative")
def depthwise_conv2d_native_shape(
    x: TensorSpec,
    w: TensorSpec,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Shape:
    geometry = _geometry(strides, padding, explicit_paddings, data_format, dilations)
    dims = geometry.last(with_rank(x.shape, 4))
    *window, channels, multiplier = with_rank(w.shape, 4)
    if isinstance(channels, int) and isinstance(dims[-1], int):
        require(channels == dims[-1], f"input has {dims[-1]} channels, the filter {channels}")
    channels = channels if isinstance(channels, int) else dims[-1]
    return shape_from_channels_last((dims[0], *geometry.outputs(dims[1:-1], window), channels * multiplier), data_format)


@shape("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_native_backprop_input_shape(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(sizes, 4)


@shape("DepthwiseConv2dNativeBackpropFilter")
def depthwise_conv2d_native_backprop_filter_shape(x: TensorSpec, sizes: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(sizes, 4)


register_gradients(
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    *ATTRIBUTES_2D,
)


@flops("DepthwiseConv2dNative")
def depthwise_conv2d_native_flops(x: TensorSpec, w: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """One multiply-add for each result element and each place of its window."""
    return multiply_adds(outputs[0].shape.num_elements * math.prod(tuple(w.shape[:2])))


@flops("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_native_backprop_input_flops(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Cost:
    """The multiply-adds of the forward pass again."""
    return multiply_adds(grad.shape.num_elements * math.prod(tuple(w.shape[:2])))


@flops("DepthwiseConv2dNativeBackpropFilter")
def depthwise_conv2d_native_backprop_filter_flops(
    x: TensorSpec, sizes: TensorSpec, grad: TensorSpec, *, outputs: list[TensorSpec]
) -> Cost:
    """The multiply-adds of the forward pass again."""
    return multiply_adds(grad.shape.num_elements * math.prod(tuple(outputs[0].shape[:2])))

layout("T. -> T", "DepthwiseConv2dNative")
layout("T.T -> .", "DepthwiseConv2dNativeBackpropFilter")
layout("V.T -> T", "DepthwiseConv2dNativeBackpropInput")
profiled(window(2), "DepthwiseConv2dNative")
