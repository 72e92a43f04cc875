"""Maximum and average pooling in two and three dimensions and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import pool
from ...numerics import pooling as numerics
from ...numerics.half_precision import wide
from ...registry.registry import (
    Cost,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    lower,
    onnx,
    profiled,
    shape,
    without_gradient,
    zero_flops,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.plain_shapes import first_shape, second_shape
from ..shared.pooling_shared import (
    PoolingAttributes,
    pool_attrs,
    pool_max,
    pool_max_gradient,
    pool_max_gradient_gradient,
    pool_mean,
    pool_mean_gradient,
    pooled_shape,
    reject_depth,
    require_spatial,
)
from ..shared.shape_arguments import ints, shape_from
from ..shared.window_geometry import WindowAttributes, checked, is_channels_first
from . import _onnx_largest_places as largest_in_onnx
from . import _onnx_pooling as in_onnx
from . import _pooling_lowerings


@kernel("MaxPool")
def max_pool(input: Array, *, window: WindowAttributes) -> Result:
    """The largest element of each window."""
    return pool_max(input, checked(PoolingAttributes, 4, window))


@shape("MaxPool")
def max_pool_shape(input: TensorSpec, *, window: WindowAttributes) -> Shape:
    return pooled_shape(input, PoolingAttributes(4, window))


@gradient("MaxPool")
def max_pool_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = pool_attrs(node, "explicit_paddings", "data_format")
    return [g.MaxPoolGrad(node.inputs[0], node.output(), grad, **attrs)]


@flops("MaxPool")
def max_pool_flops(input: TensorSpec, *, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A comparison for each element of the window but the first."""
    return Cost((math.prod(ksize) - 1) * outputs[0].shape.num_elements)


profiled(pool(-1, 1), "MaxPool", differs="tf.profiler counts a comparison for each window element, tfg one less")
layout("T -> T", "MaxPool")
facts("bounded_by_inputs", of=("MaxPool",))


@kernel("MaxPoolV2")
def max_pool_v2(input: Array, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Result:
    return pool_max(input, _pool_v2(ksize, strides, padding, data_format))


def _pool_v2(ksize: Array, strides: Array, padding: str, data_format: str) -> PoolingAttributes:
    return PoolingAttributes(4, _window_v2(ksize, strides, padding, data_format))


def _window_v2(ksize: Array, strides: Array, padding: str, data_format: str) -> WindowAttributes:
    return WindowAttributes(ints(strides, "strides", 4), padding, data_format=data_format, ksize=ints(ksize, "ksize", 4))


@shape("MaxPoolV2")
def max_pool_v2_shape(input: TensorSpec, ksize: TensorSpec, strides: TensorSpec, *, padding: str, data_format: str) -> Shape:
    if ksize.value is None or strides.value is None:
        return Shape([None] * 4)
    return pooled_shape(input, _pool_v2(ksize.value, strides.value, padding, data_format))


@gradient("MaxPoolV2")
def max_pool_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, ksize, strides = node.inputs
    attrs = {name: node.attr(name) for name in ("padding", "data_format")}
    return [g.MaxPoolGradV2(x, node.output(), grad, ksize, strides, **attrs), None, None]


@flops("MaxPoolV2")
def max_pool_v2_flops(input: TensorSpec, ksize: TensorSpec, strides: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    return Cost((_window_size(ksize) - 1) * outputs[0].shape.num_elements)


layout("TVV -> T", "MaxPoolV2")


def _window_size(ksize: TensorSpec) -> DimLike:
    if ksize.value is None:
        return UNKNOWN.num_elements
    return math.prod(ints(ksize.value, "ksize"))


@kernel("MaxPoolGrad")
def max_pool_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Add each window's gradient at its first largest element."""
    return pool_max_gradient(orig_input, orig_output, grad, PoolingAttributes(4, window))


@kernel("MaxPool3DGrad")
def max_pool_3d_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    return pool_max_gradient(orig_input, orig_output, grad, PoolingAttributes(5, window))


shape("MaxPoolGrad", "MaxPool3DGrad")(first_shape)


@flops("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad_flops(orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """The comparisons of the window again and one addition for each window."""
    return Cost(math.prod(ksize) * orig_output.shape.num_elements)


profiled(pool(1, 1, more=1), "MaxPoolGrad", differs="tf.profiler counts an additional operation for each window")
layout("TTT -> T", "MaxPool3DGrad", "MaxPoolGrad")
facts("backward", of=("MaxPool3DGrad", "MaxPoolGrad"))


facts("row_wise", of=("AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D", "MaxPoolV2"))


@kernel("MaxPoolGradV2")
def max_pool_grad_v2(
    orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str
) -> Result:
    return pool_max_gradient(orig_input, orig_output, grad, _pool_v2(ksize, strides, padding, data_format))


shape("MaxPoolGradV2")(first_shape)


@gradient("MaxPoolGradV2")
def max_pool_grad_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, y, _, ksize, strides = node.inputs
    attrs = {name: node.attr(name) for name in ("padding", "data_format")}
    return [g.zeros_like(x), g.zeros_like(y), g.MaxPoolGradGradV2(x, y, grad, ksize, strides, **attrs), None, None]


@flops("MaxPoolGradV2")
def max_pool_grad_v2_flops(
    orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, ksize: TensorSpec, strides: TensorSpec
) -> Cost:
    return Cost(_window_size(ksize) * orig_output.shape.num_elements)


@kernel("MaxPoolGradGrad")
def max_pool_grad_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    return pool_max_gradient_gradient(orig_input, orig_output, grad, PoolingAttributes(4, window))


_GRADIENTS_OF_GRADIENTS = {
    "MaxPoolGrad": "MaxPoolGradGrad",
    "MaxPool3DGrad": "MaxPool3DGradGrad",
    "MaxPoolGradGrad": "MaxPoolGrad",
    "MaxPool3DGradGrad": "MaxPool3DGrad",
}


@gradient(*_GRADIENTS_OF_GRADIENTS)
def max_pool_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, y, _ = node.inputs
    attrs = pool_attrs(node, "data_format")
    # As in TensorFlow, no place of a maximum changes with x.
    return [g.zeros_like(x), g.zeros_like(y), g.apply(_GRADIENTS_OF_GRADIENTS[node.op], x, y, grad, **attrs)]


@kernel("MaxPoolGradGradV2")
def max_pool_grad_grad_v2(
    orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str
) -> Result:
    return pool_max_gradient_gradient(orig_input, orig_output, grad, _pool_v2(ksize, strides, padding, data_format))


@flops("MaxPoolGradGradV2")
def max_pool_grad_grad_v2_flops(
    orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, ksize: TensorSpec, strides: TensorSpec
) -> Cost:
    return Cost((_window_size(ksize) - 1) * orig_output.shape.num_elements)


@kernel("MaxPool3DGradGrad")
def max_pool_3d_grad_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    if not orig_input.size:  # in two dimensions TensorFlow takes empty inputs
        raise InvalidArgumentError(f"orig_input must not be empty: {Shape(orig_input.shape)}")
    return pool_max_gradient_gradient(orig_input, orig_output, grad, PoolingAttributes(5, window))


shape("MaxPoolGradGrad", "MaxPool3DGradGrad", "MaxPoolGradGradV2")(second_shape)
without_gradient("MaxPoolGradGradV2")
layout("TTTVV -> T", "MaxPoolGradV2", "MaxPoolGradGradV2")


@flops("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad_flops(orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """The comparisons of the window again."""
    return Cost((math.prod(ksize) - 1) * orig_output.shape.num_elements)


layout("TTT -> T", "MaxPool3DGradGrad", "MaxPoolGradGrad")
facts("backward", of=("MaxPool3DGradGrad", "MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPoolGradV2"))


@kernel("AvgPool")
def avg_pool(value: Array, *, window: WindowAttributes) -> Result:
    """The mean of each window."""
    return pool_mean(value, checked(PoolingAttributes, 4, window))


@shape("AvgPool")
def avg_pool_shape(value: TensorSpec, *, window: WindowAttributes) -> Shape:
    return pooled_shape(value, PoolingAttributes(4, window))


@kernel("MaxPool3D")
def max_pool_3d(input: Array, *, window: WindowAttributes) -> Result:
    return pool_max(input, PoolingAttributes(5, window))


@gradient("MaxPool3D")
def max_pool_3d_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MaxPool3DGrad(node.inputs[0], node.output(), grad, **pool_attrs(node, "data_format"))]


flops("MaxPool3D")(max_pool_flops)


@kernel("AvgPool3D")
def avg_pool_3d(input: Array, *, window: WindowAttributes) -> Result:
    """Return the mean of each window; images without a depth get depth 0, as in TensorFlow."""
    if input.ndim == 4:
        depth = 2 if is_channels_first(window.data_format) else 1
        input = np.zeros((*input.shape[:depth], 0, *input.shape[depth:]), input.dtype)
    return pool_mean(input, PoolingAttributes(5, window))


@shape("MaxPool3D", "AvgPool3D")
def pool_3d_shape(input: TensorSpec, *, window: WindowAttributes) -> Shape:
    return pooled_shape(input, PoolingAttributes(5, window))


@gradient("AvgPool", "AvgPool3D")
def avg_pool_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.apply(f"{node.op}Grad", g.shape_of(node.inputs[0]), grad, **pool_attrs(node, "data_format"))]


@flops("AvgPool", "AvgPool3D")
def avg_pool_flops(value: TensorSpec, *, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window and one division."""
    return Cost(math.prod(ksize) * outputs[0].shape.num_elements)


layout("T -> T", "MaxPool3D", "AvgPool", "AvgPool3D")
profiled(pool(-1, 1), "AvgPool")
facts("bounded_by_inputs", of=("AvgPool",))


@kernel("AvgPoolGrad")
def avg_pool_grad(orig_input_shape: Array, grad: Array, *, window: WindowAttributes) -> Result:
    return pool_mean_gradient(orig_input_shape, grad, PoolingAttributes(4, window))


@shape("AvgPoolGrad")
def avg_pool_grad_shape(orig_input_shape: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(orig_input_shape, 4)


@kernel("AvgPool3DGrad")
def avg_pool_3d_grad(orig_input_shape: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of AvgPool3D for its input; for an empty gradient TensorFlow checks only the shape."""
    dims = ints(orig_input_shape, "orig_input_shape")
    if (not grad.size or 0 in dims) and min(dims, default=0) >= 0:
        return np.zeros(dims, grad.dtype)
    return pool_mean_gradient(orig_input_shape, grad, PoolingAttributes(5, window))


@shape("AvgPool3DGrad")
def avg_pool_3d_grad_shape(orig_input_shape: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(orig_input_shape, 5)


@gradient("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.apply(node.op.removesuffix("Grad"), grad, **pool_attrs(node, "data_format"))]


@flops("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad_flops(orig_input_shape: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """Count a division, and an addition for each element of the window."""
    return Cost((math.prod(ksize) + 1) * grad.shape.num_elements)


profiled(pool(1, 2), "AvgPoolGrad", differs="2 for each place of a window there")
layout("VT -> T", "AvgPool3DGrad", "AvgPoolGrad")
facts("backward", of=("AvgPool3DGrad", "AvgPoolGrad"))


def _argmax(places: Array, x: Array, include_batch: bool) -> Array:
    """Flat indices ((y * width + x) * channels + c), with the batch in front where asked."""
    channels = x.shape[-1]
    index = places * channels + np.arange(channels)
    if include_batch:
        index = index + (np.arange(x.shape[0]) * math.prod(x.shape[1:])).reshape(-1, 1, 1, 1)
    return index


@kernel("MaxPoolWithArgmax")
def max_pool_with_argmax(
    input: Array, *, window: WindowAttributes, Targmax: DType, include_batch_in_index: bool
) -> tuple[Result, Result]:
    """Return the largest element of each window and its flat index."""
    pool = PoolingAttributes(4, window)
    reject_depth(pool)
    x = pool.last(input)
    if not x.size:  # MaxPool takes empty inputs
        raise InvalidArgumentError(f"the input must not be empty: {Shape(input.shape)}")
    best, places = numerics.max_pool_places(x, *pool.geometry(x.shape[1:-1]))
    return best.astype(input.dtype, copy=False), _argmax(places, x, include_batch_in_index).astype(Targmax.numpy)


@shape("MaxPoolWithArgmax")
def max_pool_with_argmax_shape(input: TensorSpec, *, window: WindowAttributes) -> list[Shape]:
    pooled = pooled_shape(input, PoolingAttributes(4, window))
    return [pooled, pooled]


@gradient("MaxPoolWithArgmax")
def max_pool_with_argmax_gradient(g: GradientBuilder, node: Node, grad: Output, _argmax: Output) -> Gradients:
    attrs = pool_attrs(node, "include_batch_in_index")
    return [g.MaxPoolGradWithArgmax(node.inputs[0], grad, node.output(1), **attrs)]


flops("MaxPoolWithArgmax")(max_pool_flops)


def _flat_targets(argmax: Array, size: int, images: int, include_batch: bool) -> Array:
    """Return the flat index of each window's maximum in the whole input; InvalidArgumentError for an index outside."""
    per_image = size // max(images, 1)
    index = np.asarray(argmax, np.int64)
    if not include_batch:
        index = index + (np.arange(images) * per_image).reshape(-1, 1, 1, 1)
    if index.size and (index.min() < 0 or index.max() >= size):
        raise InvalidArgumentError(f"argmax holds an index outside of [0, {size})")
    return index


@kernel("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax(
    input: Array, grad: Array, argmax: Array, *, window: WindowAttributes, include_batch_in_index: bool
) -> Result:
    """Each window's gradient at the index that argmax gives."""
    pool = PoolingAttributes(4, window)
    x = pool.last(input)
    pool.require_output(x, grad, "grad")
    if grad.shape != argmax.shape:
        raise InvalidArgumentError(f"grad and argmax must have the same shape: {grad.shape} and {argmax.shape}")
    index = _flat_targets(argmax, x.size, x.shape[0], include_batch_in_index)
    # Not by indexing: of the windows that share an element, only the last would count.
    summed = np.bincount(index.ravel(), wide(grad).ravel().astype(np.float64), x.size)
    return summed.reshape(x.shape).astype(grad.dtype)


shape("MaxPoolGradWithArgmax")(first_shape)


@flops("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax_flops(input: TensorSpec, grad: TensorSpec, argmax: TensorSpec) -> Cost:
    """One addition for each window."""
    return Cost(argmax.shape.num_elements)


@kernel("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax(
    input: Array, grad: Array, argmax: Array, *, window: WindowAttributes, include_batch_in_index: bool
) -> Result:
    """The elements of a gradient shaped like the input at the index that argmax gives."""
    pool = PoolingAttributes(4, window)
    x = pool.last(input)
    if grad.shape != x.shape:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(x.shape)}, but got {Shape(grad.shape)}")
    return grad.ravel()[_flat_targets(argmax, x.size, x.shape[0], include_batch_in_index)]


@shape("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax_shape(input: TensorSpec, grad: TensorSpec, argmax: TensorSpec) -> Shape:
    return argmax.shape


without_gradient("MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax")
zero_flops("MaxPoolGradGradWithArgmax")
facts("backward", of=("MaxPoolGradGradWithArgmax", "MaxPoolGradWithArgmax"))


@lower("MaxPool")
def _max_pool_lowering(xla: Any, x: Any, *, window: WindowAttributes) -> Any:
    # Without the paddings, EXPLICIT is refused: JAX's windows know SAME and VALID.
    return _lowered_max_pool(xla, x, 4, window._replace(explicit_paddings=()))


@lower("MaxPool3D")
def _max_pool_3d_lowering(xla: Any, x: Any, *, window: WindowAttributes) -> Any:
    return _lowered_max_pool(xla, x, 5, window)


@lower("MaxPoolV2", static=(1, 2))
def _max_pool_v2_lowering(xla: Any, x: Any, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Any:
    return _lowered_max_pool(xla, x, 4, _window_v2(ksize, strides, padding, data_format))


def _lowered_max_pool(xla: Any, x: Any, rank: int, window: WindowAttributes) -> Any:
    require_spatial(PoolingAttributes(rank, window))
    return _pooling_lowerings.max_pool(
        xla, x, ksize=window.ksize, strides=window.strides, padding=window.padding, data_format=window.data_format
    )


def _of_window_inputs(program: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of a gradient whose windows and strides are inputs."""

    def lowering(xla: Any, x: Any, y: Any, grad: Any, ksize: Array, strides: Array, *, padding: str) -> Any:
        sizes, steps = ints(ksize, "ksize", 4), ints(strides, "strides", 4)
        return program(xla, x, y, grad, ksize=sizes, strides=steps, padding=padding)

    return lowering


lower("MaxPoolGrad")(_pooling_lowerings.max_pool_gradient)
lower("MaxPoolGradGrad")(_pooling_lowerings.max_pool_gradient_gradient)
lower("MaxPoolGradV2", static=(3, 4))(_of_window_inputs(_pooling_lowerings.max_pool_gradient))
lower("MaxPoolGradGradV2", static=(3, 4))(_of_window_inputs(_pooling_lowerings.max_pool_gradient_gradient))


@lower("MaxPool3DGradGrad")
def _max_pool_3d_grad_grad_lowering(
    xla: Any, x: Any, y: Any, dx: Any, *, ksize: list[int], strides: list[int], padding: str
) -> Any:
    if 0 in x.shape:
        raise InvalidArgumentError(f"orig_input must not be empty: {x.shape}")
    return _pooling_lowerings.max_pool_gradient_gradient(xla, x, y, dx, ksize=ksize, strides=strides, padding=padding)


lower("MaxPool3DGrad")(_pooling_lowerings.max_pool_gradient_of_equals)
lower("AvgPool", "AvgPool3D")(_pooling_lowerings.average_pool)
# JAX's derivative of MaxPool3D takes one of equal elements, and TensorFlow's gradient all; of MaxPool3DGrad it is the other
# way round.
facts("own_gradient", of=["MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGradGrad", "MaxPoolGradV2"])


@lower("AvgPoolGrad", static=(0,))
def _avg_pool_grad_lowering(xla: Any, sizes: Array, dy: Any, *, ksize: list[int], strides: list[int], padding: str) -> Any:
    def forward(x: Any) -> Any:
        return _pooling_lowerings.average_pool(xla, x, ksize=ksize, strides=strides, padding=padding)

    return xla.transposed(forward, tuple(sizes.tolist()), dy)


@onnx("MaxPool", "MaxPool3D")
def _max_pool_onnx(g: Any, x: Any, *, window: WindowAttributes) -> Any:
    return in_onnx.pooled(g, x, "MaxPool", window)


@onnx("MaxPoolV2")
def _max_pool_v2_onnx(g: Any, x: Any, ksize: Any, strides: Any, *, padding: str, data_format: str) -> Any:
    return in_onnx.pooled(g, x, "MaxPool", in_onnx.window_of_inputs(g, ksize, strides, padding, data_format))


onnx("MaxPoolGradV2")(largest_in_onnx.of_window_inputs(largest_in_onnx.max_pool_grad))
onnx("MaxPoolGradGradV2")(largest_in_onnx.of_window_inputs(largest_in_onnx.max_pool_grad_grad))


@onnx("AvgPool", "AvgPool3D")
def _avg_pool_onnx(g: Any, x: Any, *, window: WindowAttributes) -> Any:
    return in_onnx.pooled(g, x, "AveragePool", window)


onnx("MaxPoolWithArgmax")(largest_in_onnx.with_argmax)
onnx("MaxPoolGradWithArgmax")(largest_in_onnx.argmax_grad)
onnx("MaxPoolGradGradWithArgmax")(largest_in_onnx.argmax_grad_grad)
onnx("MaxPoolGrad")(largest_in_onnx.max_pool_grad)
onnx("MaxPoolGradGrad")(largest_in_onnx.max_pool_grad_grad)
onnx("MaxPool3DGrad")(in_onnx.max_pool_3d_grad)
onnx("AvgPoolGrad", "AvgPool3DGrad")(in_onnx.avg_pool_grad)

facts("half_infer", of=["AvgPool", "AvgPool3D", "AvgPool3DGrad", "AvgPoolGrad"])
facts(
    "half_clear",
    of=[
        "MaxPool",
        "MaxPool3D",
        "MaxPool3DGrad",
        "MaxPool3DGradGrad",
        "MaxPoolGrad",
        "MaxPoolGradGrad",
        "MaxPoolGradGradV2",
        "MaxPoolGradV2",
        "MaxPoolV2",
    ],
)
