"""Convolutions in two and three dimensions and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dims import DimLike
from ..errors import InvalidArgumentError, TfgError, UnimplementedError
from ..graph import Node, Output
from ..numerics import convolution as numerics
from ..numerics.widening import wide
from ..profiler_formulas import backprop_filter, backprop_input, window
from ..registry import Cost, flops, gradient, kernel, layout, multiply_adds, not_differentiable, profiled, shape
from ..shapes import Shape, TensorSpec
from ._checks import require, require_rank, with_rank
from ._shapes import ints, shape_from
from ._windows import (
    Pads,
    batch_and_channel,
    explicit_pads,
    from_channels_last,
    output_sizes,
    shape_from_channels_last,
    shape_to_channels_last,
    spatial,
    to_channels_last,
    window_pads,
)


class Geometry:
    """The checked attributes of one convolution: strides, dilations and padding of its spatial dimensions."""

    stride_error: type[TfgError] = UnimplementedError

    def __init__(
        self,
        rank: int,
        strides: list[int],
        padding: str,
        explicit_paddings: Sequence[int],
        data_format: str,
        dilations: list[int],
    ) -> None:
        for name, values, error in (("strides", strides, self.stride_error), ("dilations", dilations, InvalidArgumentError)):
            require(len(values) == rank, f"{name} must have {rank} values, not {list(values)}")
            if batch_and_channel(values, data_format) != (1, 1):
                raise error(f"{name} {list(values)} over batch or channels")
            require(min(values) > 0, f"{name} must be positive, not {list(values)}")
        require(
            padding == "EXPLICIT" or not any(explicit_paddings),
            f"explicit_paddings {list(explicit_paddings)} need padding EXPLICIT, not {padding}",
        )
        self.rank = rank
        self.data_format = data_format
        self.padding = padding
        self.strides = spatial(strides, data_format)
        self.dilations = spatial(dilations, data_format)
        explicit = explicit_pads(explicit_paddings, rank, data_format) if padding == "EXPLICIT" else None
        require(padding != "EXPLICIT" or explicit is not None, "padding EXPLICIT needs explicit_paddings")
        self.explicit = explicit

    def outputs(self, sizes: Sequence[DimLike], window: Sequence[DimLike]) -> tuple[Any, ...]:
        """Output sizes of the spatial dimensions; InvalidArgumentError where the filter does not fit."""
        return output_sizes(sizes, window, self.strides, self.dilations, self.padding, self.explicit)

    def pads(self, sizes: Sequence[int], window: Sequence[int]) -> Pads:
        return window_pads(sizes, window, self.strides, self.dilations, self.padding, self.explicit)

    def last(self, dims: Sequence[DimLike]) -> tuple[Any, ...]:
        """Dimensions as N, spatial..., C."""
        return shape_to_channels_last(dims, self.data_format)


class StrictGeometry(Geometry):
    """The same for gradients and Conv, where TensorFlow has another error for strides over batch or channels."""

    stride_error = InvalidArgumentError


def _check_channels(channels: int, depth: int, filters: int) -> None:
    """C is a multiple of the filter's depth and F of the number of groups."""
    require(depth > 0 or channels == 0, f"the filter's depth is {depth}")
    if depth == 0:
        return
    require(channels % depth == 0, f"input depth {channels} is not a multiple of the filter's {depth}")
    groups = channels // depth
    require(groups == 0 or filters % groups == 0, f"{filters} filters do not divide into {groups} groups")


def convolve(x: Array, w: Array, geometry: Geometry | StrictGeometry) -> Array:
    """x (N, spatial..., C) in the geometry's data format with w (window..., C / groups, F)."""
    require_rank(x, geometry.rank, "input")
    require_rank(w, geometry.rank, "filter")
    last = to_channels_last(x, geometry.data_format)
    _check_channels(last.shape[-1], w.shape[-2], w.shape[-1])
    window, sizes = w.shape[:-2], last.shape[1:-1]
    outputs = geometry.outputs(sizes, window)
    require(math.prod(w.shape) or not math.prod(outputs), f"the filter of shape {w.shape} is empty")
    if not (math.prod(outputs) and x.size):
        shape = (last.shape[0], *outputs, w.shape[-1])
        return from_channels_last(np.zeros(shape, x.dtype), geometry.data_format)
    pads = geometry.pads(sizes, window)
    y = numerics.convolve(wide(last), wide(w), geometry.strides, pads, geometry.dilations)
    return from_channels_last(y.astype(x.dtype, copy=False), geometry.data_format)


def _check_backprop(
    input_dims: tuple[int, ...], filter_shape: tuple[int, ...], grad_dims: tuple[int, ...], geometry: StrictGeometry
) -> None:
    """The gradient's shape is that of the convolution's result."""
    require(min(*input_dims, *filter_shape) >= 0, f"negative sizes: input {input_dims}, filter {filter_shape}")
    _check_channels(input_dims[-1], filter_shape[-2], filter_shape[-1])
    outputs = geometry.outputs(input_dims[1:-1], filter_shape[:-2])
    wanted = (input_dims[0], *outputs, filter_shape[-1])
    if tuple(grad_dims) != wanted:
        raise InvalidArgumentError(f"out_backprop is {tuple(grad_dims)} but the convolution's result is {wanted} (N, ..., C)")


def input_gradient(input_shape: tuple[int, ...], w: Array, grad: Array, geometry: StrictGeometry) -> Array:
    """The gradient for an input of `input_shape`."""
    require_rank(w, geometry.rank, "filter")
    require_rank(grad, geometry.rank, "out_backprop")
    grad_last = to_channels_last(grad, geometry.data_format)
    dims = geometry.last(input_shape)
    _check_backprop(dims, w.shape, grad_last.shape, geometry)
    pads = geometry.pads(dims[1:-1], w.shape[:-2])
    dx = numerics.convolve_input_gradient(wide(grad_last), wide(w), dims, geometry.strides, pads, geometry.dilations)
    return from_channels_last(dx.astype(grad.dtype, copy=False), geometry.data_format)


def filter_gradient(x: Array, filter_shape: tuple[int, ...], grad: Array, geometry: StrictGeometry) -> Array:
    """The gradient for a filter of `filter_shape`."""
    require_rank(x, geometry.rank, "input")
    require_rank(grad, geometry.rank, "out_backprop")
    last, grad_last = to_channels_last(x, geometry.data_format), to_channels_last(grad, geometry.data_format)
    _check_backprop(last.shape, filter_shape, grad_last.shape, geometry)
    pads = geometry.pads(last.shape[1:-1], filter_shape[:-2])
    dw = numerics.convolve_filter_gradient(
        wide(last), wide(grad_last), filter_shape, geometry.strides, pads, geometry.dilations
    )
    return dw.astype(grad.dtype, copy=False)


def empty_filter_gradient(x: Array, sizes: Array, grad: Array) -> Array | None:
    """Zeros where input, filter or gradient is empty, whatever the other shapes: so TensorFlow answers in float32.

    None where there is something to compute.
    """
    if np.ndim(sizes) != 1 or grad.dtype.name not in ("float32", "bfloat16") or min(sizes.tolist(), default=0) < 0:
        return None
    empty = not (x.size and grad.size and math.prod(sizes.tolist()))
    return np.zeros(sizes.tolist(), grad.dtype) if empty else None


def empty_input_gradient(sizes: Array, grad: Array) -> Array | None:
    """Zeros for an input of no elements, whatever the other shapes, by the same rule; else None."""
    if np.ndim(sizes) != 1 or grad.dtype.name not in ("float32", "bfloat16") or grad.ndim not in (4, 5):
        return None
    dims = sizes.tolist()
    return np.zeros(dims, grad.dtype) if 0 in dims and min(dims) >= 0 else None


def input_sizes_2d(sizes: Array, filter_shape: tuple[int, ...], grad: Array, data_format: str) -> tuple[int, ...]:
    """input_sizes as four numbers; two give the spatial sizes only."""
    sizes = ints(sizes, "input_sizes")
    if len(sizes) == 4:
        return sizes
    require(len(sizes) == 2, f"input_sizes must have 2 or 4 elements, not {len(sizes)}")
    require_rank(grad, 4, "out_backprop")
    require(len(filter_shape) == 4, f"filter must have rank 4, not shape {filter_shape}")
    return tuple(shape_from_channels_last((grad.shape[0], *sizes, filter_shape[2]), data_format).known())


@kernel("Conv2D")
def conv2d(
    x: Array,
    w: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """(N, H, W, C) with (KH, KW, C / groups, F) -> (N, OH, OW, F), or NCHW."""
    return convolve(x, w, Geometry(4, strides, padding, explicit_paddings, data_format, dilations))


def convolution_shape(x: TensorSpec, w: TensorSpec, geometry: Geometry) -> Shape:
    """The result's shape from those of input and filter, in the geometry's data format."""
    dims = geometry.last(with_rank(x.shape, geometry.rank))
    *window, depth, filters = with_rank(w.shape, geometry.rank)
    if isinstance(dims[-1], int) and isinstance(depth, int) and isinstance(filters, int):
        _check_channels(dims[-1], depth, filters)
    return shape_from_channels_last((dims[0], *geometry.outputs(dims[1:-1], window), filters), geometry.data_format)


@shape("Conv2D")
def conv2d_shape(
    x: TensorSpec,
    w: TensorSpec,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Shape:
    return convolution_shape(x, w, Geometry(4, strides, padding, explicit_paddings, data_format, dilations))


@kernel("Conv3D")
def conv3d(x: Array, w: Array, *, strides: list[int], padding: str, data_format: str, dilations: list[int]) -> Result:
    """(N, D, H, W, C) with (KD, KH, KW, C / groups, F) -> (N, OD, OH, OW, F), or NCDHW."""
    geometry = Geometry if x.dtype.name in ("float32", "bfloat16") else StrictGeometry
    return convolve(x, w, geometry(5, strides, padding, (), data_format, dilations))


@shape("Conv3D")
def conv3d_shape(
    x: TensorSpec, w: TensorSpec, *, strides: list[int], padding: str, data_format: str, dilations: list[int]
) -> Shape:
    return convolution_shape(x, w, Geometry(5, strides, padding, (), data_format, dilations))


layout("T. -> T", "Conv2D", "Conv3D")

profiled(window(-1), "Conv2D", "Conv3D")


def _multiply_adds(result_elements: DimLike, window_and_depth: tuple[int, ...]) -> Cost:
    return multiply_adds(result_elements * math.prod(window_and_depth))


@flops("Conv2D", "Conv3D")
def convolution_flops(x: TensorSpec, w: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """One multiply-add for each result element and each place and channel of its window."""
    return _multiply_adds(outputs[0].shape.num_elements, tuple(w.shape[:-1]))


@kernel("Conv2DBackpropInput")
def conv2d_backprop_input(
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
    """The gradient of Conv2D for its input, of shape `sizes`."""
    geometry = StrictGeometry(4, strides, padding, explicit_paddings, data_format, dilations)
    empty = empty_input_gradient(sizes, grad)
    if empty is not None:
        return empty
    return input_gradient(input_sizes_2d(sizes, w.shape, grad, data_format), w, grad, geometry)


@shape("Conv2DBackpropInput")
def conv2d_backprop_input_shape(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec, *, data_format: str) -> Shape:
    if sizes.shape.is_known and sizes.shape.known() == (2,):
        height, width = shape_from(sizes, 2)
        batch = shape_to_channels_last(with_rank(grad.shape, 4), data_format)[0]
        return shape_from_channels_last((batch, height, width, with_rank(w.shape, 4)[2]), data_format)
    return shape_from(sizes, 4)


def register_gradients(forward: Any, by_input: Any, by_filter: Any, *names: Any) -> Any:
    """The gradients of a convolution and of its gradients for input and filter, each made of the other two.

    `names` are the attributes that the three share.
    """

    def attributes(node: Node) -> dict[Any, Any]:
        return {name: node.attr(name) for name in names}

    @gradient(forward)
    def forward_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
        x, w = node.inputs
        attrs = attributes(node)
        return [g.apply(by_input, g.shape_of(x), w, grad, **attrs), g.apply(by_filter, x, g.shape_of(w), grad, **attrs)]

    @gradient(by_input)
    def by_input_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
        _, w, out_backprop = node.inputs
        attrs = attributes(node)
        return [None, g.apply(by_filter, grad, g.shape_of(w), out_backprop, **attrs), g.apply(forward, grad, w, **attrs)]

    @gradient(by_filter)
    def by_filter_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
        x, _, out_backprop = node.inputs
        attrs = attributes(node)
        return [g.apply(by_input, g.shape_of(x), grad, out_backprop, **attrs), None, g.apply(forward, x, grad, **attrs)]


ATTRIBUTES_2D = ("strides", "padding", "explicit_paddings", "data_format", "dilations")

register_gradients("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", *ATTRIBUTES_2D)

profiled(backprop_input, "Conv2DBackpropInput", differs="input positions there, output positions here")


@kernel("Conv3DBackpropInputV2")
def conv3d_backprop_input_v2(
    sizes: Array, w: Array, grad: Array, *, strides: list[int], padding: str, data_format: str, dilations: list[int]
) -> Result:
    """The gradient of Conv3D for its input, of shape `sizes`."""
    geometry = StrictGeometry(5, strides, padding, (), data_format, dilations)
    empty = empty_input_gradient(sizes, grad)
    return input_gradient(ints(sizes, "input_sizes", 5), w, grad, geometry) if empty is None else empty


@shape("Conv3DBackpropInputV2")
def conv3d_backprop_input_v2_shape(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(sizes, 5)


_ATTRIBUTES_3D = ("strides", "padding", "data_format", "dilations")

register_gradients("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", *_ATTRIBUTES_3D)

layout("V.T -> T", "Conv2DBackpropInput", "Conv3DBackpropInputV2")


@flops("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def convolution_backprop_input_flops(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Cost:
    """The multiply-adds of the forward pass: each sends its weight times the gradient to the element that it read."""
    return _multiply_adds(grad.shape.num_elements, tuple(w.shape[:-1]))


@kernel("Conv2DBackpropInputV2")
def conv2d_backprop_input_v2(
    x: Array,
    w: Array,
    grad: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """As Conv2DBackpropInput; the input itself gives its shape."""
    require_rank(x, 4, "input")
    return input_gradient(x.shape, w, grad, StrictGeometry(4, strides, padding, explicit_paddings, data_format, dilations))


layout("T.T -> T", "Conv2DBackpropInputV2")


@kernel("Conv2DBackpropFilterV2")
def conv2d_backprop_filter_v2(
    x: Array,
    w: Array,
    grad: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> Result:
    """As Conv2DBackpropFilter; the filter itself gives its shape."""
    require_rank(w, 4, "filter")
    return filter_gradient(x, w.shape, grad, StrictGeometry(4, strides, padding, explicit_paddings, data_format, dilations))


@kernel("Conv3DBackpropInput")
def conv3d_backprop_input(
    x: Array, w: Array, grad: Array, *, strides: list[int], padding: str, dilations: list[int]
) -> Result:
    """As Conv3DBackpropInputV2; the input itself gives its shape."""
    require_rank(x, 5, "input")
    return input_gradient(x.shape, w, grad, StrictGeometry(5, strides, padding, (), "NDHWC", dilations))


@shape("Conv2DBackpropInputV2", "Conv3DBackpropInput")
def convolution_backprop_input_shape(x: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Shape:
    return x.shape


@kernel("Conv3DBackpropFilter")
def conv3d_backprop_filter(
    x: Array, w: Array, grad: Array, *, strides: list[int], padding: str, dilations: list[int]
) -> Result:
    """As Conv3DBackpropFilterV2; the filter itself gives its shape."""
    require_rank(w, 5, "filter")
    return filter_gradient(x, w.shape, grad, StrictGeometry(5, strides, padding, (), "NDHWC", dilations))


@shape("Conv2DBackpropFilterV2", "Conv3DBackpropFilter")
def convolution_backprop_filter_shape(x: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Shape:
    return w.shape


@flops("Conv2DBackpropInputV2", "Conv3DBackpropInput", "Conv2DBackpropFilterV2", "Conv3DBackpropFilter")
def convolution_backprop_flops(x: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Cost:
    """The multiply-adds of the forward pass again."""
    return _multiply_adds(grad.shape.num_elements, tuple(w.shape[:-1]))


# TensorFlow registers no gradient for these.
not_differentiable("Conv2DBackpropInputV2", "Conv2DBackpropFilterV2", "Conv3DBackpropInput", "Conv3DBackpropFilter")


@kernel("Conv2DBackpropFilter")
def conv2d_backprop_filter(
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
    """The gradient of Conv2D for its filter, of shape `sizes`."""
    geometry = StrictGeometry(4, strides, padding, explicit_paddings, data_format, dilations)
    empty = empty_filter_gradient(x, sizes, grad)
    return filter_gradient(x, ints(sizes, "filter_sizes", 4), grad, geometry) if empty is None else empty


@shape("Conv2DBackpropFilter")
def conv2d_backprop_filter_shape(x: TensorSpec, sizes: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(sizes, 4)


layout("T.T -> .", "Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv3DBackpropFilterV2")

profiled(backprop_filter, "Conv2DBackpropFilter", differs="input positions there, output positions here")


@kernel("Conv3DBackpropFilterV2")
def conv3d_backprop_filter_v2(
    x: Array, sizes: Array, grad: Array, *, strides: list[int], padding: str, data_format: str, dilations: list[int]
) -> Result:
    """The gradient of Conv3D for its filter, of shape `sizes`; TensorFlow looks no further where that is empty."""
    empty = empty_filter_gradient(x, sizes, grad)
    if empty is not None and not empty.size:
        return empty
    geometry = StrictGeometry(5, strides, padding, (), data_format, dilations)
    return filter_gradient(x, ints(sizes, "filter_sizes", 5), grad, geometry) if empty is None else empty


@shape("Conv3DBackpropFilterV2")
def conv3d_backprop_filter_v2_shape(x: TensorSpec, sizes: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(sizes, 5)


@flops("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def convolution_backprop_filter_flops(
    x: TensorSpec, sizes: TensorSpec, grad: TensorSpec, *, outputs: list[TensorSpec]
) -> Cost:
    """The multiply-adds of the forward pass: each sends the element that it read times the gradient to its weight."""
    return _multiply_adds(grad.shape.num_elements, tuple(outputs[0].shape[:-1]))


@kernel("Conv")
def conv(
    x: Array,
    w: Array,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
    batch_dims: int,
    groups: int,
) -> Result:
    """Conv2D or Conv3D by the input's rank; leading `batch_dims` dimensions are batch."""
    require(batch_dims >= 1, f"batch_dims must be positive, not {batch_dims}")
    rank = np.ndim(x) - batch_dims + 1
    require(rank in (4, 5), f"input of shape {np.shape(x)} has neither 2 nor 3 spatial dimensions")
    if groups != 1 and np.ndim(w) == rank:
        channels = to_channels_last(x, data_format).shape[-1]
        require(w.shape[-2] * groups == channels, f"{groups} groups of depth {w.shape[-2]} do not make {channels} channels")
    lead = x.shape[:batch_dims]
    geometry = StrictGeometry(rank, strides, padding, explicit_paddings, data_format, dilations or [1] * rank)
    y = convolve(x.reshape(math.prod(lead), *x.shape[batch_dims:]), w, geometry)
    return y.reshape(lead + y.shape[1:])


@shape("Conv")
def conv_shape(
    x: TensorSpec,
    w: TensorSpec,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
    batch_dims: int,
) -> Shape:
    if x.rank is None:
        return Shape()
    rank = x.rank - batch_dims + 1
    require(batch_dims >= 1 and rank in (4, 5), f"{batch_dims} batch dimensions of {x.shape}")
    geometry = Geometry(rank, strides, padding, explicit_paddings, data_format, dilations or [1] * rank)
    dims = geometry.last((1, *tuple(x.shape)[batch_dims:]))
    *window, _, filters = with_rank(w.shape, rank)
    inner = shape_from_channels_last((1, *geometry.outputs(dims[1:-1], window), filters), data_format)
    return Shape((*tuple(x.shape)[:batch_dims], *tuple(inner)[1:]))


flops("Conv")(convolution_flops)

# TensorFlow registers no gradient for these.
not_differentiable("Conv")
