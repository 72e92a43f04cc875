"""Maximum and average pooling in two and three dimensions and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dims import DimLike
from ..dtypes import DType
from ..errors import InvalidArgumentError, UnimplementedError
from ..graph import Node, Output
from ..numerics import pooling as numerics
from ..numerics.widening import wide
from ..profiler_formulas import pool
from ..registry import Cost, flops, gradient, kernel, layout, not_differentiable, profiled, shape, zero_flops
from ..shapes import UNKNOWN, Shape, TensorSpec
from ._checks import with_rank
from ._shapes import ints, shape_from
from ._windows import (
    Pads,
    batch_and_channel,
    explicit_pads,
    from_channels_last,
    is_channels_first,
    output_sizes,
    shape_from_channels_last,
    shape_to_channels_last,
    spatial,
    to_channels_last,
    window_pads,
)


class Pool:
    """The checked attributes of one pooling op."""

    def __init__(
        self,
        rank: int,
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: str,
        data_format: str,
        explicit_paddings: Sequence[int] = (),
    ) -> None:
        for name, values in (("ksize", ksize), ("strides", strides)):
            if len(values) != rank:
                raise InvalidArgumentError(f"Sliding window {name} field must specify {rank} dimensions, not {list(values)}")
            if min(values) <= 0:
                raise InvalidArgumentError(f"Sliding window {name} must be positive: {list(values)}")
            if batch_and_channel(values, data_format)[0] != 1:
                raise UnimplementedError("Pooling is not yet supported on the batch dimension.")
        self.rank = rank
        self.data_format = data_format
        self.depth = batch_and_channel(ksize, data_format)[1]
        self.depth_stride = batch_and_channel(strides, data_format)[1]
        self.windows, self.strides = spatial(ksize, data_format), spatial(strides, data_format)
        self.padding = padding
        self.explicit = explicit_pads(list(explicit_paddings), rank, data_format) if padding == "EXPLICIT" else None
        if padding == "EXPLICIT" and self.explicit is None:
            raise InvalidArgumentError("padding EXPLICIT needs explicit_paddings")
        for window, pads in zip(self.windows, self.explicit or ()):
            if max(pads) >= window:
                raise InvalidArgumentError(f"explicit padding {pads} must be less than the window {window}")

    def sizes(self, sizes: tuple[DimLike, ...]) -> tuple[DimLike, ...]:
        """Output sizes of the spatial dimensions."""
        return output_sizes(sizes, self.windows, self.strides, [1] * len(self.windows), self.padding, self.explicit)

    def pads(self, sizes: tuple[int, ...]) -> Pads:
        self.sizes(sizes)
        return window_pads(sizes, self.windows, self.strides, [1] * len(self.windows), self.padding, self.explicit)

    def last(self, x: Array, name: str="tensor_in") -> Array:
        """`x` with its channels last; InvalidArgumentError for another rank."""
        if x.ndim != self.rank:
            raise InvalidArgumentError(f"{name} must be {self.rank}-dimensional, not {Shape(x.shape)}")
        return to_channels_last(x, self.data_format)

    def back(self, x: Array, dtype: Any) -> Array:
        return from_channels_last(x.astype(dtype, copy=False), self.data_format)

    def require_output(self, x: Array, grad: Array, name: str) -> None:
        """`grad` must have the shape that pooling `x` gives."""
        wanted = (x.shape[0], *self.sizes(x.shape[1:-1]), x.shape[-1])
        if grad.shape != wanted:
            raise InvalidArgumentError(f"Expected {name} shape to be {Shape(wanted)}, but got {Shape(grad.shape)}")


def _depthwise_max(x: Array, pool: Pool) -> Array:
    """Maximum over groups of channels, which must divide evenly."""
    if math.prod(pool.windows) != 1 or pool.depth != pool.depth_stride or x.shape[-1] % pool.depth:
        raise UnimplementedError("MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    return np.max(x.reshape(*x.shape[:-1], x.shape[-1] // pool.depth, pool.depth), -1)


def _max_pool(input: Array, pool: Pool) -> Array:
    _require_spatial(pool)
    x = pool.last(input)
    if pool.depth > 1:
        return pool.back(_depthwise_max(x, pool), input.dtype)
    pads = pool.pads(x.shape[1:-1])
    if not input.size:
        return pool.back(np.zeros((x.shape[0], *pool.sizes(x.shape[1:-1]), x.shape[-1]), input.dtype), input.dtype)
    return pool.back(numerics.max_pool(x, pool.windows, pool.strides, pads), input.dtype)


def _require_spatial(pool: Pool) -> None:
    """TensorFlow's CPU kernels pool over channels in one format only."""
    if (pool.depth != 1 or pool.depth_stride != 1) and is_channels_first(pool.data_format):
        raise InvalidArgumentError(f"pooling over channels is not supported for {pool.data_format}")


def _reject_depth(pool: Pool) -> None:
    _require_spatial(pool)
    if pool.depth != 1 or pool.depth_stride != 1:
        raise UnimplementedError("pooling over channels has no such gradient")


def _max_pool_grad(orig_input: Array, orig_output: Array, grad: Array, pool: Pool) -> Array:
    x, dy = pool.last(orig_input), pool.last(grad, "out_backprop")
    _reject_depth(pool)
    y = pool.last(orig_output, "tensor_out")
    pool.require_output(x, y, "orig_output")
    pool.require_output(x, dy, "grad")
    if not x.size or not dy.size:
        return np.zeros_like(orig_input)
    geometry = pool.windows, pool.strides, pool.pads(x.shape[1:-1])
    if pool.rank == 5:
        # In three dimensions TensorFlow gives the gradient to all elements that equal the maximum.
        return pool.back(numerics.max_pool_grad_equal(wide(x), wide(y), wide(dy), *geometry), grad.dtype)
    return pool.back(numerics.max_pool_grad(wide(x), wide(dy), *geometry), grad.dtype)


def _max_pool_grad_grad(orig_input: Array, orig_output: Array, grad: Array, pool: Pool) -> Array:
    """The gradient, shaped like the input, where the input first equals the maximum."""
    x, dx = pool.last(orig_input), pool.last(grad, "out_grad_backprop")
    _reject_depth(pool)
    y = pool.last(orig_output, "tensor_out")
    pool.require_output(x, y, "orig_output")
    if x.shape != dx.shape:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(x.shape)}, but got {Shape(dx.shape)}")
    if not x.size:
        return np.zeros_like(orig_output)
    geometry = pool.windows, pool.strides, pool.pads(x.shape[1:-1])
    return pool.back(numerics.first_equal(x, y, dx, *geometry), grad.dtype)


def _avg_pool(value: Array, pool: Pool) -> Array:
    x = pool.last(value)
    if pool.depth > 1:
        raise UnimplementedError("Non-spatial pooling is not yet supported.")
    pads = pool.pads(x.shape[1:-1])
    return pool.back(numerics.average_pool(wide(x), pool.windows, pool.strides, pads), value.dtype)


def _avg_pool_grad(orig_input_shape: Array, grad: Array, pool: Pool) -> Array:
    dims = ints(orig_input_shape, "orig_input_shape", pool.rank)
    if pool.depth > 1:
        raise UnimplementedError("Non-spatial pooling is not yet supported.")
    if min(dims) < 0:
        raise InvalidArgumentError(f"orig_input_shape must not be negative: {dims}")
    last = shape_to_channels_last(dims, pool.data_format)
    dy = pool.last(grad, "out_backprop")
    wanted = (last[0], *pool.sizes(last[1:-1]), last[-1])
    if dy.shape != wanted:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(wanted)}, but got {Shape(dy.shape)}")
    return pool.back(numerics.average_pool_grad(last, wide(dy), pool.windows, pool.strides, pool.pads(last[1:-1])), grad.dtype)


@kernel("MaxPool")
def max_pool(
    input: Array, *, ksize: list[int], strides: list[int], padding: str, explicit_paddings: list[int], data_format: str
) -> Result:
    """The largest element of each window."""
    return _max_pool(input, Pool(4, ksize, strides, padding, data_format, explicit_paddings))


def _pooled_shape(x: TensorSpec, pool: Pool) -> Shape:
    dims = shape_to_channels_last(with_rank(x.shape, pool.rank), pool.data_format)
    channels = dims[-1] // pool.depth if pool.depth > 1 else dims[-1]
    return shape_from_channels_last((dims[0], *pool.sizes(dims[1:-1]), channels), pool.data_format)


@shape("MaxPool")
def max_pool_shape(
    input: TensorSpec, *, ksize: list[int], strides: list[int], padding: str, explicit_paddings: list[int], data_format: str
) -> Shape:
    return _pooled_shape(input, Pool(4, ksize, strides, padding, data_format, explicit_paddings))


def _pool_attrs(node: Node, *names: str) -> dict[Any, Any]:
    return {name: node.attr(name) for name in ("ksize", "strides", "padding", *names)}


@gradient("MaxPool")
def max_pool_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = _pool_attrs(node, "explicit_paddings", "data_format")
    return [g.MaxPoolGrad(node.inputs[0], node.output(), grad, **attrs)]


profiled(pool(-1, 1), "MaxPool", differs="as many comparisons as the window has places there, one less here")


@flops("MaxPool")
def max_pool_flops(input: TensorSpec, *, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """One comparison less than the window has elements."""
    return Cost((math.prod(ksize) - 1) * outputs[0].shape.num_elements)


@kernel("MaxPoolV2")
def max_pool_v2(input: Array, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Result:
    return _max_pool(input, _pool_v2(ksize, strides, padding, data_format))


def _pool_v2(ksize: Array, strides: Array, padding: str, data_format: str) -> Pool:
    return Pool(4, ints(ksize, "ksize", 4), ints(strides, "strides", 4), padding, data_format)


@shape("MaxPoolV2")
def max_pool_v2_shape(input: TensorSpec, ksize: TensorSpec, strides: TensorSpec, *, padding: str, data_format: str) -> Shape:
    if ksize.value is None or strides.value is None:
        return Shape([None] * 4)
    return _pooled_shape(input, _pool_v2(ksize.value, strides.value, padding, data_format))


@gradient("MaxPoolV2")
def max_pool_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, ksize, strides = node.inputs
    attrs = {name: node.attr(name) for name in ("padding", "data_format")}
    return [g.MaxPoolGradV2(x, node.output(), grad, ksize, strides, **attrs), None, None]


layout("TVV -> T", "MaxPoolV2")


@flops("MaxPoolV2")
def max_pool_v2_flops(input: TensorSpec, ksize: TensorSpec, strides: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    return Cost((_window_size(ksize) - 1) * outputs[0].shape.num_elements)


def _window_size(ksize: TensorSpec) -> DimLike:
    if ksize.value is None:
        return UNKNOWN.num_elements
    return math.prod(ints(ksize.value, "ksize"))


@kernel("MaxPoolGrad")
def max_pool_grad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
) -> Result:
    """Each window's gradient at the first of its largest elements."""
    return _max_pool_grad(orig_input, orig_output, grad, Pool(4, ksize, strides, padding, data_format, explicit_paddings))


profiled(pool(1, 1, more=1), "MaxPoolGrad", differs="one operation a window more there")


@kernel("MaxPool3DGrad")
def max_pool_3d_grad(
    orig_input: Array, orig_output: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Result:
    return _max_pool_grad(orig_input, orig_output, grad, Pool(5, ksize, strides, padding, data_format))


@shape("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad_shape(orig_input: TensorSpec, *rest: TensorSpec) -> Shape:
    return orig_input.shape


@flops("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad_flops(orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """The comparisons of the window again and one addition for each window."""
    return Cost(math.prod(ksize) * orig_output.shape.num_elements)


@kernel("MaxPoolGradV2")
def max_pool_grad_v2(
    orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str
) -> Result:
    return _max_pool_grad(orig_input, orig_output, grad, _pool_v2(ksize, strides, padding, data_format))


shape("MaxPoolGradV2")(max_pool_grad_shape)


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
def max_pool_grad_grad(
    orig_input: Array, orig_output: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Result:
    return _max_pool_grad_grad(orig_input, orig_output, grad, Pool(4, ksize, strides, padding, data_format))


_GRADIENTS_OF_GRADIENTS = {
    "MaxPoolGrad": "MaxPoolGradGrad",
    "MaxPool3DGrad": "MaxPool3DGradGrad",
    "MaxPoolGradGrad": "MaxPoolGrad",
    "MaxPool3DGradGrad": "MaxPool3DGrad",
}


@gradient(*_GRADIENTS_OF_GRADIENTS)
def max_pool_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, y, _ = node.inputs
    attrs = _pool_attrs(node, "data_format")
    return [g.zeros_like(x), g.zeros_like(y), g.apply(_GRADIENTS_OF_GRADIENTS[node.op], x, y, grad, **attrs)]


layout("TTT -> T", "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGrad", "MaxPoolGradGrad")


@kernel("MaxPoolGradGradV2")
def max_pool_grad_grad_v2(
    orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str
) -> Result:
    return _max_pool_grad_grad(orig_input, orig_output, grad, _pool_v2(ksize, strides, padding, data_format))


layout("TTTVV -> T", "MaxPoolGradGradV2", "MaxPoolGradV2")


@flops("MaxPoolGradGradV2")
def max_pool_grad_grad_v2_flops(
    orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, ksize: TensorSpec, strides: TensorSpec
) -> Cost:
    return Cost((_window_size(ksize) - 1) * orig_output.shape.num_elements)


@kernel("MaxPool3DGradGrad")
def max_pool_3d_grad_grad(
    orig_input: Array, orig_output: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Result:
    if not orig_input.size:
        raise InvalidArgumentError(f"orig_input must not be empty: {Shape(orig_input.shape)}")
    return _max_pool_grad_grad(orig_input, orig_output, grad, Pool(5, ksize, strides, padding, data_format))


@shape("MaxPoolGradGrad", "MaxPool3DGradGrad", "MaxPoolGradGradV2")
def max_pool_grad_grad_shape(orig_input: TensorSpec, orig_output: TensorSpec, *rest: TensorSpec) -> Shape:
    return orig_output.shape


not_differentiable("MaxPoolGradGradV2")


@flops("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad_flops(orig_input: TensorSpec, orig_output: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """The comparisons of the window again."""
    return Cost((math.prod(ksize) - 1) * orig_output.shape.num_elements)


@kernel("AvgPool")
def avg_pool(value: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> Result:
    """The mean of each window."""
    return _avg_pool(value, Pool(4, ksize, strides, padding, data_format))


@shape("AvgPool")
def avg_pool_shape(value: TensorSpec, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> Shape:
    return _pooled_shape(value, Pool(4, ksize, strides, padding, data_format))


layout("T -> T", "AvgPool", "AvgPool3D", "MaxPool", "MaxPool3D")

profiled(pool(-1, 1), "AvgPool")


@kernel("MaxPool3D")
def max_pool_3d(input: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> Result:
    return _max_pool(input, Pool(5, ksize, strides, padding, data_format))


@gradient("MaxPool3D")
def max_pool_3d_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.MaxPool3DGrad(node.inputs[0], node.output(), grad, **_pool_attrs(node, "data_format"))]


flops("MaxPool3D")(max_pool_flops)


@kernel("AvgPool3D")
def avg_pool_3d(input: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> Result:
    """The mean of each window; images without a depth TensorFlow takes for ones of depth 0."""
    if input.ndim == 4:
        depth = 2 if is_channels_first(data_format) else 1
        input = np.zeros((*input.shape[:depth], 0, *input.shape[depth:]), input.dtype)
    return _avg_pool(input, Pool(5, ksize, strides, padding, data_format))


@shape("MaxPool3D", "AvgPool3D")
def pool_3d_shape(input: TensorSpec, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> Shape:
    return _pooled_shape(input, Pool(5, ksize, strides, padding, data_format))


@gradient("AvgPool", "AvgPool3D")
def avg_pool_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.apply(f"{node.op}Grad", g.shape_of(node.inputs[0]), grad, **_pool_attrs(node, "data_format"))]


@flops("AvgPool", "AvgPool3D")
def avg_pool_flops(value: TensorSpec, *, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window and one division."""
    return Cost(math.prod(ksize) * outputs[0].shape.num_elements)


@kernel("AvgPoolGrad")
def avg_pool_grad(
    orig_input_shape: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Result:
    return _avg_pool_grad(orig_input_shape, grad, Pool(4, ksize, strides, padding, data_format))


@shape("AvgPoolGrad")
def avg_pool_grad_shape(orig_input_shape: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(orig_input_shape, 4)


profiled(pool(1, 2), "AvgPoolGrad", differs="2 for each place of a window there")


@kernel("AvgPool3DGrad")
def avg_pool_3d_grad(
    orig_input_shape: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Result:
    """The gradient of AvgPool3D for its input; of an empty one TensorFlow looks at the shape alone."""
    dims = ints(orig_input_shape, "orig_input_shape")
    if (not grad.size or 0 in dims) and min(dims, default=0) >= 0:
        return np.zeros(dims, grad.dtype)
    return _avg_pool_grad(orig_input_shape, grad, Pool(5, ksize, strides, padding, data_format))


@shape("AvgPool3DGrad")
def avg_pool_3d_grad_shape(orig_input_shape: TensorSpec, grad: TensorSpec) -> Shape:
    return shape_from(orig_input_shape, 5)


@gradient("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, g.apply(node.op.removesuffix("Grad"), grad, **_pool_attrs(node, "data_format"))]


layout("VT -> T", "AvgPool3DGrad", "AvgPoolGrad")


@flops("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad_flops(orig_input_shape: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """One division, and one addition for each element of the window."""
    return Cost((math.prod(ksize) + 1) * grad.shape.num_elements)


def _argmax(places: Array, x: Array, include_batch: bool) -> Array:
    """Flat indices ((y * width + x) * channels + c), with the batch in front where asked."""
    channels = x.shape[-1]
    index = places * channels + np.arange(channels)
    if include_batch:
        index = index + (np.arange(x.shape[0]) * math.prod(x.shape[1:])).reshape(-1, 1, 1, 1)
    return index


@kernel("MaxPoolWithArgmax")
def max_pool_with_argmax(
    input: Array, *, ksize: list[int], strides: list[int], Targmax: DType, padding: str, include_batch_in_index: bool
) -> tuple[Result, Result]:
    """The largest element of each window and its flat index."""
    pool = Pool(4, ksize, strides, padding, "NHWC")
    _reject_depth(pool)
    x = pool.last(input)
    if not x.size:
        raise InvalidArgumentError(f"the input must not be empty: {Shape(input.shape)}")
    best, places = numerics.max_pool_places(x, pool.windows, pool.strides, pool.pads(x.shape[1:-1]))
    return best.astype(input.dtype, copy=False), _argmax(places, x, include_batch_in_index).astype(Targmax.numpy)


@shape("MaxPoolWithArgmax")
def max_pool_with_argmax_shape(input: TensorSpec, *, ksize: list[int], strides: list[int], padding: str) -> list[Shape]:
    pooled = _pooled_shape(input, Pool(4, ksize, strides, padding, "NHWC"))
    return [pooled, pooled]


@gradient("MaxPoolWithArgmax")
def max_pool_with_argmax_gradient(g: GradientBuilder, node: Node, grad: Output, _argmax: Output) -> Gradients:
    attrs = _pool_attrs(node, "include_batch_in_index")
    return [g.MaxPoolGradWithArgmax(node.inputs[0], grad, node.output(1), **attrs)]


flops("MaxPoolWithArgmax")(max_pool_flops)


def _flat_targets(argmax: Array, size: int, images: int, include_batch: bool) -> Array:
    """The flat index into the whole input of each window's maximum; InvalidArgumentError where one lies outside."""
    per_image = size // max(images, 1)
    index = np.asarray(argmax, np.int64)
    if not include_batch:
        index = index + (np.arange(images) * per_image).reshape(-1, 1, 1, 1)
    if index.size and (index.min() < 0 or index.max() >= size):
        raise InvalidArgumentError(f"argmax holds an index outside of [0, {size})")
    return index


@kernel("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax(
    input: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Result:
    """Each window's gradient at the index that argmax gives."""
    pool = Pool(4, ksize, strides, padding, "NHWC")
    x = pool.last(input)
    pool.require_output(x, grad, "grad")
    if grad.shape != argmax.shape:
        raise InvalidArgumentError(f"grad and argmax must have the same shape: {grad.shape} and {argmax.shape}")
    index = _flat_targets(argmax, x.size, x.shape[0], include_batch_in_index)
    summed = np.bincount(index.ravel(), wide(grad).ravel().astype(np.float64), x.size)
    return summed.reshape(x.shape).astype(grad.dtype)


shape("MaxPoolGradWithArgmax")(max_pool_grad_shape)


@flops("MaxPoolGradWithArgmax")
def max_pool_grad_with_argmax_flops(input: TensorSpec, grad: TensorSpec, argmax: TensorSpec) -> Cost:
    """One addition for each window."""
    return Cost(argmax.shape.num_elements)


@kernel("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax(
    input: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Result:
    """The elements of a gradient shaped like the input at the index that argmax gives."""
    pool = Pool(4, ksize, strides, padding, "NHWC")
    x = pool.last(input)
    if grad.shape != x.shape:
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(x.shape)}, but got {Shape(grad.shape)}")
    return grad.ravel()[_flat_targets(argmax, x.size, x.shape[0], include_batch_in_index)]


@shape("MaxPoolGradGradWithArgmax")
def max_pool_grad_grad_with_argmax_shape(input: TensorSpec, grad: TensorSpec, argmax: TensorSpec) -> Any:
    return argmax.shape


not_differentiable("MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax")
zero_flops("MaxPoolGradGradWithArgmax")
