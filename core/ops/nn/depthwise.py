"""Depthwise convolutions and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...inference.profiler_formulas import window
from ...numerics import depthwise as numerics
from ...numerics.convolution import Epilogue
from ...numerics.half_precision import wide
from ...registry.registry import Blockwise, Cost, blockwise, flops, kernel, layout, lower, multiply_adds, onnx, profiled, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.convolution_shared import (
    Geometry,
    StrictGeometry,
    convolved,
    empty_filter_gradient,
    empty_input_gradient,
    filter_gradient,
    input_gradient,
    lower_gradients,
    register_gradients,
)
from ..shared.onnx_lowerings import channels_first, in_format, window_attrs, window_of
from ..shared.shape_arguments import ints
from ..shared.window_geometry import (
    WindowAttributes,
    checked,
    from_channels_last,
    shape_from_channels_last,
    to_channels_last,
)
from .convolution import convolution_input_gradient_onnx


def _geometry(window: WindowAttributes, kind: type[Any] = Geometry) -> Any:
    geometry = checked(kind, 4, window)
    # A restriction of TensorFlow's kernels: they hold a single stride.
    if geometry.strides[0] != geometry.strides[1]:
        raise InvalidArgumentError(f"the strides of height and width differ: {list(window.strides)}")
    return geometry


def depthwise_convolve(x: Array, w: Array, geometry: Geometry, epilogue: Epilogue | None = None) -> Array:
    """x (N, H, W, C) with w (KH, KW, C, M) -> (N, OH, OW, C * M), or NCHW.

    `epilogue` is for results with channels last that are computed in the dtype of x.
    """
    require_rank(x, 4, "input")
    require_rank(w, 4, "filter")
    last = to_channels_last(x, geometry.data_format)
    if last.shape[-1] != w.shape[2]:
        raise InvalidArgumentError(f"input has {last.shape[-1]} channels, the filter {w.shape[2]}")
    outputs, pads = geometry.fitted(last.shape[1:-1], w.shape[:2])
    # Nothing to add up; the kernels below take at least one element.
    if not (x.size and w.size and math.prod(outputs)):
        # Not always an empty array: a filter without elements leaves results that are sums of nothing.
        y = np.zeros((last.shape[0], *outputs, w.shape[2] * w.shape[3]), x.dtype)
    else:
        y = numerics.depthwise_convolve(wide(last), wide(w), geometry.strides, pads, geometry.dilations, epilogue)
    return from_channels_last(y.astype(x.dtype, copy=False), geometry.data_format)


def _scaled(w: Array, factor: Array) -> Array:
    scaled: Array = w * factor.reshape(w.shape[-2:])
    return scaled


class _DepthwiseGeometry(StrictGeometry):
    """A geometry in which a filter has all its results for each channel."""

    def filters(self, channels: int, filter_shape: tuple[int, ...]) -> int:
        require(channels == filter_shape[2], f"input has {channels} channels, the filter {filter_shape[2]}")
        return filter_shape[2] * filter_shape[3]


@kernel("DepthwiseConv2dNative", facts=("row_wise",))
def depthwise_conv2d_native(x: Array, w: Array, *, window: WindowAttributes, epilogue: Epilogue | None = None) -> Result:
    """Convolve each channel with its own M filters: (N, H, W, C), (KH, KW, C, M) -> (N, OH, OW, C * M)."""
    geometry = _geometry(window)
    return depthwise_convolve(x, w, geometry, epilogue)


blockwise("DepthwiseConv2dNative", Blockwise(_scaled, takes_bias=False))


@kernel("DepthwiseConv2dNativeBackpropInput", shape="<a b c d> -> a b c d", facts=("settled_by_shapes", "backward"))
def depthwise_conv2d_native_backprop_input(sizes: Array, w: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """The gradient for the input, of shape `sizes`."""
    geometry = _geometry(window, _DepthwiseGeometry)
    empty = empty_input_gradient(sizes, grad)
    if empty is not None:
        return empty
    return input_gradient(ints(sizes, "input_sizes", 4), w, grad, geometry, numerics.depthwise_input_gradient)


@kernel("DepthwiseConv2dNativeBackpropFilter", shape="*, <a b c d> -> a b c d", facts=("backward",))
def depthwise_conv2d_native_backprop_filter(x: Array, sizes: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """The gradient for the filter, of shape `sizes`."""
    geometry = _geometry(window, _DepthwiseGeometry)
    empty = empty_filter_gradient(x, sizes, grad)
    if empty is not None:
        return empty
    return filter_gradient(x, ints(sizes, "filter_sizes", 4), grad, geometry, numerics.depthwise_filter_gradient)


@shape("DepthwiseConv2dNative")
def depthwise_conv2d_native_shape(x: TensorSpec, w: TensorSpec, *, window: WindowAttributes) -> Shape:
    geometry = _geometry(window)
    dims = geometry.last(with_rank(x.shape, 4))
    *sizes, channels, multiplier = with_rank(w.shape, 4)
    if isinstance(channels, int) and isinstance(dims[-1], int):
        require(channels == dims[-1], f"input has {dims[-1]} channels, the filter {channels}")
    # Either input may know the number of channels, which is the same for both.
    channels = channels if isinstance(channels, int) else dims[-1]
    return shape_from_channels_last((dims[0], *geometry.outputs(dims[1:-1], sizes), channels * multiplier), window.data_format)


@flops("DepthwiseConv2dNative")
def depthwise_conv2d_native_flops(x: TensorSpec, w: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """Count a multiply-add for each result element and each place of the window."""
    return multiply_adds(outputs[0].shape.num_elements * math.prod(tuple(w.shape[:2])))


layout("T. -> T", "DepthwiseConv2dNative")
layout("T.T -> .", "DepthwiseConv2dNativeBackpropFilter")
layout("V.T -> T", "DepthwiseConv2dNativeBackpropInput")
profiled(window(2), "DepthwiseConv2dNative")


register_gradients("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter")


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


def _shifted_sums(xla: Any, x: Any, w: Any, strides: Sequence[int], padding: str) -> Any:
    """Sum the image, shifted and scaled by each element of the filter; NHWC, an output for each channel."""
    kernel, sizes, steps = w.shape[:2], x.shape[1:3], strides[1:3]
    out = [-(-n // s) if padding == "SAME" else -(-(n - k + 1) // s) for n, k, s in zip(sizes, kernel, steps)]
    total = [max((o - 1) * s + k - n, 0) for o, s, k, n in zip(out, steps, kernel, sizes)]
    x = xla.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)))
    windows = (
        x[:, i : i + (out[0] - 1) * steps[0] + 1 : steps[0], j : j + (out[1] - 1) * steps[1] + 1 : steps[1]] * w[i, j, :, 0]
        for i in range(kernel[0])
        for j in range(kernel[1])
    )
    return sum(windows, next(windows))


@lower("DepthwiseConv2dNative")
def _depthwise_lowering(xla: Any, x: Any, w: Any, *, window: WindowAttributes) -> Any:
    """On CPUs shifted products, several times as fast as XLA's grouped convolution."""
    is_plain = window.data_format == "NHWC" and window.padding != "EXPLICIT" and set(window.dilations) == {1}
    # The shifted image has a channel for each channel of the result only with one filter for each.
    if xla.is_cpu and is_plain and w.shape[3] == 1:
        return _shifted_sums(xla, x, w, window.strides, window.padding)
    return _by_groups(xla, x, w, window)


def _by_groups(xla: Any, x: Any, w: Any, window: WindowAttributes) -> Any:
    """Convolve each channel as a group of its own."""
    return convolved(xla, x, w.reshape(*w.shape[:2], 1, -1), window)


lower_gradients("DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", _by_groups)


@onnx("DepthwiseConv2dNative")
def depthwise_onnx(g: Any, x: Any, w: Any, *, window: WindowAttributes) -> Any:
    """Lower to a convolution with a group for each channel."""
    height, width = window_of(g, w)
    attrs = window_attrs(x, (height, width), window)
    channels, multiplier = w.shape.known()[2:]
    # ONNX has the filters of a group one after another, with a single input channel each.
    filters = g.reshape(g.transpose(w, [2, 3, 0, 1]), [channels * multiplier, 1, height, width])
    y = g.Conv(channels_first(g, x, window.data_format), filters, group=channels, **attrs)
    return in_format(g, y, 4, window.data_format)


@onnx("DepthwiseConv2dNativeBackpropInput")
def _depthwise_input_gradient_onnx(
    g: Any, sizes: Any, w: Any, dy: Any, *, window: WindowAttributes, outputs: list[TensorSpec]
) -> Any:
    channels, multiplier = w.shape.known()[2:]
    filters = g.reshape(w, [*window_of(g, w), 1, channels * multiplier])
    return convolution_input_gradient_onnx(g, sizes, filters, dy, window=window, outputs=outputs)


@onnx("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_filter_gradient_onnx(g: Any, x: Any, sizes: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Lower to a convolution in groups, each the batch's images of a single channel, with the gradient as filter."""
    height, width, channels, multiplier = map(int, g.known(sizes, "sizes"))
    attrs = window_attrs(x, (height, width), window)
    if "auto_pad" in attrs or not x.shape.is_known:
        g.refuse("the size of its images is unknown")
    first = channels_first(g, x, window.data_format)
    # A group is the images of a channel, so that ONNX sums over the batch within the group.
    images = g.reshape(g.transpose(first, [1, 0, 2, 3]), 1, -1, g.dim(first, 2), g.dim(first, 3))
    filters = g.transpose(channels_first(g, dy, window.data_format), [1, 0, 2, 3])
    # The gradient takes the place of a filter: what was a stride lies now between its elements, and the other way round.
    steps = {"strides": attrs.get("dilations", [1, 1]), "dilations": attrs["strides"], "pads": attrs["pads"]}
    # Rows and columns that no window reached make the result larger than the filter.
    gradient = g.Slice(g.Conv(images, filters, group=channels, **steps), [0, 0], [height, width], [2, 3])
    # ONNX puts the filters of a group one after another, so the channels are the outer of the two.
    return g.transpose(g.reshape(gradient, channels, multiplier, height, width), [2, 3, 0, 1])
