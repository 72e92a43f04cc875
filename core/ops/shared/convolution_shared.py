"""Convolutions as the kernels share them: geometry, results, gradients for input and filter, costs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...numerics import convolution as numerics
from ...numerics.half_precision import wide
from ...numerics.input_gradient import convolve_input_gradient
from ...registry.catalog import CATALOG
from ...registry.registry import Cost, gradient, lower, multiply_adds
from ...support.errors import InvalidArgumentError, TfgError, UnimplementedError
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec
from .argument_checks import require, require_dims, require_rank, with_rank
from .decompositions import by_ops
from .shape_arguments import ints
from .window_geometry import (
    Pads,
    WindowAttributes,
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
    """The checked attributes of a convolution: strides, dilations and padding of its spatial dimensions."""

    stride_error: type[TfgError] = UnimplementedError

    def __init__(self, rank: int, window: WindowAttributes) -> None:
        strides, padding, explicit_paddings, data_format, dilations, _ = window
        for name, values, error in (("strides", strides, self.stride_error), ("dilations", dilations, InvalidArgumentError)):
            require(len(values) == rank, f"{name} must have {rank} values, not {list(values)}")
            # TensorFlow reports strides over channels as unimplemented and dilations as invalid; gradients have the latter
            # for both.
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
        """Output sizes of the spatial dimensions; InvalidArgumentError if the filter does not fit."""
        return output_sizes(sizes, window, self.strides, self.dilations, self.padding, self.explicit)

    def pads(self, sizes: Sequence[int], window: Sequence[int]) -> Pads:
        return window_pads(sizes, window, self.strides, self.dilations, self.padding, self.explicit)

    @functools.lru_cache(1024)  # noqa: B019 - geometries that kernels ask are kept too
    def fitted(self, sizes: tuple[int, ...], window: tuple[int, ...]) -> tuple[tuple[int, ...], Pads]:
        """(outputs, pads) for known sizes."""
        return self.outputs(sizes, window), self.pads(sizes, window)

    @functools.lru_cache(1024)  # noqa: B019 - as above
    def checked_pads(self, shape: tuple[int, ...], filter_shape: tuple[int, ...]) -> tuple[Pads, tuple[int, ...], bool]:
        """(pads, shape of the result with channels last, whether there is nothing to add up) for an input and a filter."""
        require_dims(shape, self.rank, "input")
        require_dims(filter_shape, self.rank, "filter")
        dims = self.last(shape)
        _check_channels(dims[-1], *filter_shape[-2:])
        outputs, pads = self.fitted(dims[1:-1], filter_shape[:-2])
        # An empty filter is an error only if there are results, which would be sums of nothing.
        require(math.prod(filter_shape) or not math.prod(outputs), f"the filter of shape {filter_shape} is empty")
        return pads, (dims[0], *outputs, filter_shape[-1]), not (math.prod(dims) and math.prod(outputs))

    def last(self, dims: Sequence[DimLike]) -> tuple[Any, ...]:
        """Dimensions as N, spatial..., C."""
        return shape_to_channels_last(dims, self.data_format)


class StrictGeometry(Geometry):
    """The same for gradients and Conv, where TensorFlow has another error for strides over batch or channels."""

    stride_error = InvalidArgumentError

    def filters(self, channels: int, filter_shape: tuple[int, ...]) -> int:
        """Return the number of channels of the result; InvalidArgumentError for a filter of other channels."""
        _check_channels(channels, *filter_shape[-2:])
        return filter_shape[-1]

    @functools.lru_cache(1024)  # noqa: B019 - as above
    def backprop_pads(self, dims: tuple[int, ...], filter_shape: tuple[int, ...], grad_dims: tuple[int, ...]) -> Pads:
        """Return the pads of a convolution, from an input with channels last and a filter; the gradient must have the
        result's shape.
        """
        require(min(*dims, *filter_shape) >= 0, f"negative sizes: input {dims}, filter {filter_shape}")
        filters = self.filters(dims[-1], filter_shape)
        expected = (dims[0], *self.outputs(dims[1:-1], filter_shape[:-2]), filters)
        require(grad_dims == expected, f"out_backprop is {grad_dims} but the convolution's result is {expected} (N, ..., C)")
        return self.pads(dims[1:-1], filter_shape[:-2])


def _check_channels(channels: int, depth: int, filters: int) -> None:
    """C is a multiple of the filter's depth and F of the number of groups."""
    require(depth > 0 or channels == 0, f"the filter's depth is {depth}")
    if depth == 0:
        return
    require(channels % depth == 0, f"input depth {channels} is not a multiple of the filter's {depth}")
    groups = channels // depth
    # An image without channels has no groups, and its convolution is zero.
    require(groups == 0 or filters % groups == 0, f"{filters} filters do not divide into {groups} groups")


def convolve(
    x: Array,
    w: Array,
    geometry: Geometry | StrictGeometry,
    epilogue: numerics.Epilogue | None = None,
    bias: Array | None = None,
) -> Array:
    """x (N, spatial..., C) in the geometry's data format with w (window..., C / groups, F).

    `epilogue` and `bias` are for results with channels last that are computed in the dtype of x.
    """
    pads, shape, is_empty = geometry.checked_pads(x.shape, w.shape)
    if is_empty:
        y = np.zeros(shape, x.dtype)
        return from_channels_last(y if bias is None else y + bias, geometry.data_format)
    last = wide(to_channels_last(x, geometry.data_format))
    y = numerics.convolve(last, wide(w), geometry.strides, pads, geometry.dilations, epilogue, bias)
    return from_channels_last(y.astype(x.dtype, copy=False), geometry.data_format)


def input_gradient(
    input_shape: tuple[int, ...],
    w: Array,
    grad: Array,
    geometry: StrictGeometry,
    compute: Callable[..., Array] = convolve_input_gradient,
) -> Array:
    """Return the gradient for an input of `input_shape`; `compute` takes arrays with channels last."""
    require_rank(w, geometry.rank, "filter")
    require_rank(grad, geometry.rank, "out_backprop")
    grad_last = to_channels_last(grad, geometry.data_format)
    dims = geometry.last(input_shape)
    pads = geometry.backprop_pads(dims, w.shape, grad_last.shape)
    dx = compute(wide(grad_last), wide(w), dims, geometry.strides, pads, geometry.dilations)
    return from_channels_last(dx.astype(grad.dtype, copy=False), geometry.data_format)


def filter_gradient(
    x: Array,
    filter_shape: tuple[int, ...],
    grad: Array,
    geometry: StrictGeometry,
    compute: Callable[..., Array] = numerics.convolve_filter_gradient,
) -> Array:
    """Return the gradient for a filter of `filter_shape`; `compute` takes arrays with channels last."""
    require_rank(x, geometry.rank, "input")
    require_rank(grad, geometry.rank, "out_backprop")
    last, grad_last = to_channels_last(x, geometry.data_format), to_channels_last(grad, geometry.data_format)
    pads = geometry.backprop_pads(last.shape, filter_shape, grad_last.shape)
    dw = compute(wide(last), wide(grad_last), filter_shape, geometry.strides, pads, geometry.dilations)
    return dw.astype(grad.dtype, copy=False)


def empty_filter_gradient(x: Array, sizes: Array, grad: Array) -> Array | None:
    """Zeros where input, filter or gradient is empty, whatever the other shapes: so TensorFlow answers in float32.

    None if there is something to compute.
    """
    dims = sizes.tolist() if np.ndim(sizes) == 1 else [-1]
    if (x.size and grad.size and math.prod(dims)) or min(dims, default=0) < 0:
        return None
    return np.zeros(dims, grad.dtype) if grad.dtype.name in ("float32", "bfloat16") else None


def empty_input_gradient(sizes: Array, grad: Array) -> Array | None:
    """Zeros for an input of no elements, whatever the other shapes, by the same rule; else None."""
    dims = sizes.tolist() if np.ndim(sizes) == 1 else []
    if 0 not in dims or min(dims) < 0 or grad.ndim not in (4, 5):
        return None
    return np.zeros(dims, grad.dtype) if grad.dtype.name in ("float32", "bfloat16") else None


def input_sizes_2d(sizes: Array, filter_shape: tuple[int, ...], grad: Array, data_format: str) -> tuple[int, ...]:
    """input_sizes as four numbers; two give the spatial sizes only."""
    sizes = ints(sizes, "input_sizes")
    # TensorFlow takes the two spatial sizes alone, too: batch and channels follow from the other inputs.
    if len(sizes) == 4:
        return sizes
    require(len(sizes) == 2, f"input_sizes must have 2 or 4 elements, not {len(sizes)}")
    require_rank(grad, 4, "out_backprop")
    require(len(filter_shape) == 4, f"filter must have rank 4, not shape {filter_shape}")
    # The filter's depth stands for the channels: an input of several groups must state all four sizes.
    return tuple(shape_from_channels_last((grad.shape[0], *sizes, filter_shape[2]), data_format).known())


def convolution_shape(x: TensorSpec, w: TensorSpec, geometry: Geometry) -> Shape:
    """Return the result's shape from the shapes of input and filter, in the geometry's data format."""
    dims = geometry.last(with_rank(x.shape, geometry.rank))
    *window, depth, filters = with_rank(w.shape, geometry.rank)
    if isinstance(dims[-1], int) and isinstance(depth, int) and isinstance(filters, int):
        _check_channels(dims[-1], depth, filters)
    return shape_from_channels_last((dims[0], *geometry.outputs(dims[1:-1], window), filters), geometry.data_format)


def window_multiply_adds(result_elements: DimLike, window_and_depth: tuple[int, ...]) -> Cost:
    return multiply_adds(result_elements * math.prod(window_and_depth))


def register_gradients(forward: str, by_input: str, by_filter: str) -> None:
    """Register the gradients of a convolution and of its gradients for input and filter, each by the other two ops."""
    gradient(forward)(by_ops(f"{by_input} #0 1 dy", f"{by_filter} 0 #1 dy"))
    gradient(by_input)(by_ops("", f"{by_filter} dy #1 2", f"{forward} dy 1"))
    gradient(by_filter)(by_ops(f"{by_input} #0 dy 2", "", f"{forward} 0 dy"))


def convolved(xla: Any, x: Any, w: Any, window: WindowAttributes) -> Any:
    """Convolve by XLA; groups follow from the filter's number of inputs."""
    strides, padding, explicit, data_format, dilations, _ = window
    axes = [axis for axis, name in enumerate(data_format) if name not in "NC"]
    pads = [explicit[2 * axis : 2 * axis + 2] for axis in axes] if padding == "EXPLICIT" else padding
    channels = x.shape[data_format.index("C")]
    numbers = data_format, "DHWIO" if "D" in data_format else "HWIO", data_format
    return xla.lax.conv_general_dilated(
        x, w, [strides[axis] for axis in axes], pads, rhs_dilation=[dilations[axis] for axis in axes],
        dimension_numbers=numbers, feature_group_count=channels // w.shape[-2],
    )  # fmt: skip


def lower_gradients(input_op: str, filter_op: str, forward: Callable[..., Any]) -> None:
    """Register lowerings of the gradients of `forward(xla, x, w, window)`: transposes, as it is linear in image and filter."""

    def by_input(xla: Any, sizes: Array, w: Any, dy: Any, *, window: WindowAttributes) -> Any:
        StrictGeometry(len(window.data_format), window)
        # JAX transposes the convolution itself, so that padding, strides and groups are said once.
        return xla.transposed(lambda x: forward(xla, x, w, window), tuple(sizes.tolist()), dy)

    def by_filter(xla: Any, x: Any, sizes: Array, dy: Any, *, window: WindowAttributes) -> Any:
        StrictGeometry(len(window.data_format), window)
        return xla.transposed(lambda w: forward(xla, x, w, window), tuple(sizes.tolist()), dy)

    lower(input_op, static=(0,))(by_input)
    lower(filter_op, static=(1,))(by_filter)


_BY_SHAPE = {
    "Conv2DBackpropInputV2": ("Conv2DBackpropInput", 0),
    "Conv2DBackpropFilterV2": ("Conv2DBackpropFilter", 1),
    "Conv3DBackpropInput": ("Conv3DBackpropInputV2", 0),
    "Conv3DBackpropFilter": ("Conv3DBackpropFilterV2", 1),
}
"""For ops that take an input for its shape only: the op that takes the shape instead, and the index of that input."""


def by_shape(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Rewrite a convolution's gradient op that takes an input to the op that takes the input's shape."""
    op, place = _BY_SHAPE[node.op]
    arguments = list(inputs)
    arguments[place] = g.shape_of(inputs[place])
    return [g.apply(op, *arguments, **{name: node.attrs[name] for name in CATALOG[op].attrs if name in node.attrs})]
