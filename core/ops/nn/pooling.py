"""Maximum and average pooling in two and three dimensions and their gradients."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...inference.profiler_formulas import pool
from ...numerics import convolution as convolutions
from ...numerics import pooling as numerics
from ...numerics.array_namespace import NUMPY
from ...numerics.group_reductions import lowest
from ...numerics.half_precision import wide
from ...numerics.pooling import NEAR, window_counts
from ...registry.registry import (
    Cost,
    arrays,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    lower,
    onnx,
    profiled,
    shape,
    shaped,
    without_gradient,
    zero_cost,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import may_equal, require_known_sizes
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.onnx_lowerings import along, channels_first, in_format, on_channels_first, window_attrs
from ..shared.pooling_shared import (
    PoolingAttributes,
    pool_max,
    pool_max_gradient,
    pool_max_gradient_gradient,
    pool_mean,
    pool_mean_gradient,
    pooled_shape,
    reject_depth,
    require_spatial,
)
from ..shared.shape_arguments import ints
from ..shared.window_geometry import (
    WindowAttributes,
    batch_and_channel,
    checked,
    is_channels_first,
    shape_to_channels_last,
    spatial,
    window_pads,
)
from .convolution import convolution_input_gradient_onnx


@kernel("MaxPool", "MaxPool3D")
def max_pool(input: Array, *, window: WindowAttributes) -> Result:
    """The largest element of each window."""
    return pool_max(input, checked(PoolingAttributes, window))


@shape("MaxPool", "MaxPool3D")
def pool_shape(x: TensorSpec, *, window: WindowAttributes) -> Shape:
    return pooled_shape(x, PoolingAttributes(window))


gradient("MaxPool")(by_ops("MaxPoolGrad 0 y dy"))
gradient("MaxPool3D")(by_ops("MaxPool3DGrad 0 y dy"))


@flops("MaxPool", "MaxPool3D")
def max_pool_flops(*, ksize: Sequence[int], outputs: list[TensorSpec]) -> Cost:
    """A comparison for each element of the window but the first; gradients of gradients compare again."""
    return Cost((math.prod(ksize) - 1) * outputs[0].shape.num_elements)


profiled(pool(-1, 1), "MaxPool", differs="tf.profiler counts a comparison for each window element, tfg one less")
layout("T -> T", "MaxPool", "MaxPool3D")
facts("bounded_by_inputs", of=("MaxPool",))
facts("row_wise", of=("MaxPool", "MaxPool3D", "MaxPoolV2"))


def _of_window_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel or lowering, from that of an op with a window of attributes, of the op that takes it as inputs."""

    def of_inputs(*inputs: Array, padding: str, data_format: str) -> Any:
        *values, ksize, strides = inputs
        return function(*values, window=_window_of_inputs(ksize, strides, padding, data_format))

    return of_inputs


def _window_of_inputs(ksize: Array, strides: Array, padding: str, data_format: str) -> WindowAttributes:
    return WindowAttributes(ints(strides, "strides", 4), padding, data_format=data_format, ksize=ints(ksize, "ksize", 4))


@shape("MaxPoolV2")
def max_pool_v2_shape(input: TensorSpec, ksize: TensorSpec, strides: TensorSpec, *, padding: str, data_format: str) -> Shape:
    for sizes in (ksize, strides):
        merge_shapes(sizes.shape, Shape([4]))
    if ksize.value is None or strides.value is None:
        return Shape([None] * 4)
    return pooled_shape(input, PoolingAttributes(_window_of_inputs(ksize.value, strides.value, padding, data_format)))


gradient("MaxPoolV2")(by_ops("MaxPoolGradV2 0 y dy 1 2"))


@flops("MaxPoolV2")
def max_pool_v2_flops(*inputs: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    return Cost((_window_size(inputs[-2]) - 1) * outputs[0].shape.num_elements)


kernel("MaxPoolV2")(_of_window_inputs(max_pool))
layout("TVV -> T", "MaxPoolV2")


def _window_size(ksize: TensorSpec) -> DimLike:
    return UNKNOWN.num_elements if ksize.value is None else math.prod(ints(ksize.value, "ksize"))


@kernel("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Add each window's gradient at its first largest element; in three dimensions at all elements near the largest."""
    return pool_max_gradient(orig_input, orig_output, grad, PoolingAttributes(window))


@flops("MaxPoolGrad", "MaxPool3DGrad")
def max_pool_grad_flops(orig_input: TensorSpec, orig_output: TensorSpec, *, ksize: Sequence[int]) -> Cost:
    """The comparisons of the window again and one addition for each window."""
    return Cost(math.prod(ksize) * orig_output.shape.num_elements)


profiled(pool(1, 1, more=1), "MaxPoolGrad", differs="tf.profiler counts an additional operation for each window")
gradient("MaxPoolGradV2")(by_ops("ZerosLike 0", "ZerosLike 1", "MaxPoolGradGradV2 0 1 dy 3 4"))


@flops("MaxPoolGradV2")
def max_pool_grad_v2_flops(orig_input: TensorSpec, orig_output: TensorSpec, *rest: TensorSpec) -> Cost:
    return Cost(_window_size(rest[1]) * orig_output.shape.num_elements)


_GRADIENTS_OF_GRADIENTS = {
    "MaxPoolGrad": "MaxPoolGradGrad",
    "MaxPool3DGrad": "MaxPool3DGradGrad",
    "MaxPoolGradGrad": "MaxPoolGrad",
    "MaxPool3DGradGrad": "MaxPool3DGrad",
}


for _op, _reverse in _GRADIENTS_OF_GRADIENTS.items():
    # As in TensorFlow, no place of a maximum changes with x.
    gradient(_op)(by_ops("ZerosLike 0", "ZerosLike 1", f"{_reverse} 0 1 dy"))


@kernel("MaxPoolGradGrad", "MaxPool3DGradGrad", flops=max_pool_flops)
def max_pool_grad_grad(orig_input: Array, orig_output: Array, grad: Array, *, window: WindowAttributes) -> Result:
    pool = PoolingAttributes(window)
    _require_elements(pool, orig_input)
    return pool_max_gradient_gradient(orig_input, orig_output, grad, pool)


def _require_elements(pool: PoolingAttributes, x: Any) -> None:
    if pool.rank == 5 and 0 in x.shape:  # in two dimensions TensorFlow takes empty inputs
        raise InvalidArgumentError(f"orig_input must not be empty: {Shape(x.shape)}")


@shape("MaxPoolGradGrad", "MaxPool3DGradGrad")
def max_pool_grad_grad_shape(orig_input: TensorSpec, orig_output: TensorSpec, *, window: WindowAttributes) -> Shape:
    return merge_shapes(orig_output.shape, pooled_shape(orig_input, PoolingAttributes(window)))


kernel("MaxPoolGradV2")(_of_window_inputs(max_pool_grad))
kernel("MaxPoolGradGradV2")(_of_window_inputs(max_pool_grad_grad))
shaped("a b c d -> a b c d", "MaxPoolGrad", "MaxPoolGradV2")
shaped("a b c d e -> a b c d e", "MaxPool3DGrad")
shaped("*, a b c d -> a b c d", "MaxPoolGradGradV2")
flops("MaxPoolGradGradV2")(max_pool_v2_flops)
# TensorFlow has a gradient for the other versions, and none for this one.
without_gradient("MaxPoolGradGradV2")
layout("TTTVV -> T", "MaxPoolGradV2", "MaxPoolGradGradV2")
layout("TTT -> T", *_GRADIENTS_OF_GRADIENTS)
facts("backward", of=(*_GRADIENTS_OF_GRADIENTS, "MaxPoolGradGradV2", "MaxPoolGradV2"))


@kernel("AvgPool", "AvgPool3D", shape=pool_shape, facts=("row_wise", "half_infer"))
def avg_pool(value: Array, *, window: WindowAttributes) -> Result:
    """Return the mean of each window; images without a depth get depth 0, as in TensorFlow."""
    pool = checked(PoolingAttributes, window)
    if pool.rank == 5 and value.ndim == 4:
        depth = 2 if is_channels_first(window.data_format) else 1
        value = np.zeros((*value.shape[:depth], 0, *value.shape[depth:]), value.dtype)
    return pool_mean(value, pool)


for _op in ("AvgPool", "AvgPool3D"):
    gradient(_op)(by_ops(f"{_op}Grad #0 dy"))


@flops("AvgPool", "AvgPool3D")
def avg_pool_flops(*, ksize: list[int], outputs: list[TensorSpec]) -> Cost:
    """A sum over the window and one division."""
    return Cost(math.prod(ksize) * outputs[0].shape.num_elements)


layout("T -> T", "AvgPool", "AvgPool3D")
profiled(pool(-1, 1), "AvgPool")
facts("bounded_by_inputs", of=("AvgPool",))


@kernel("AvgPoolGrad", "AvgPool3DGrad", facts=("backward", "half_infer"))
def avg_pool_grad(orig_input_shape: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of AvgPool for its input; beside an empty gradient TensorFlow checks no more than the shape."""
    dims = ints(orig_input_shape, "orig_input_shape")
    # TensorFlow's oneDNN kernels return before they check windows.
    if (not grad.size or 0 in dims) and min(dims, default=0) >= 0:
        return np.zeros(dims, grad.dtype)
    return pool_mean_gradient(orig_input_shape, grad, PoolingAttributes(window))


shaped("<a b c d> -> a b c d", "AvgPoolGrad")
shaped("<a b c d e> -> a b c d e", "AvgPool3DGrad")


for _op in ("AvgPool", "AvgPool3D"):
    gradient(f"{_op}Grad")(by_ops("", f"{_op} dy"))


@flops("AvgPoolGrad", "AvgPool3DGrad")
def avg_pool_grad_flops(orig_input_shape: TensorSpec, grad: TensorSpec, *, ksize: list[int]) -> Cost:
    """Count a division, and an addition for each element of the window."""
    return Cost((math.prod(ksize) + 1) * grad.shape.num_elements)


profiled(pool(1, 2), "AvgPoolGrad", differs="2 for each place of a window there")
layout("VT -> T", "AvgPool3DGrad", "AvgPoolGrad")


def _argmax(places: Array, x: Array, include_batch: bool) -> Array:
    """Flat indices ((y * width + x) * channels + c), with the batch in front if asked."""
    channels = x.shape[-1]
    index = places * channels + np.arange(channels)
    if include_batch:
        index = index + (np.arange(x.shape[0]) * math.prod(x.shape[1:])).reshape(-1, 1, 1, 1)
    return index


@kernel("MaxPoolWithArgmax", gradient=by_ops("MaxPoolGradWithArgmax 0 dy y1"), flops=max_pool_flops)
def max_pool_with_argmax(
    input: Array, *, window: WindowAttributes, Targmax: DType, include_batch_in_index: bool
) -> tuple[Result, Result]:
    """Return the largest element of each window and its flat index."""
    pool = PoolingAttributes(window)
    reject_depth(pool)
    x = pool.last(input)
    # An index of the largest element needs an element.
    if not x.size:  # MaxPool takes empty inputs
        raise InvalidArgumentError(f"the input must not be empty: {Shape(input.shape)}")
    best, places = numerics.max_pool_places(x, *pool.geometry(x.shape[1:-1]))
    return best.astype(input.dtype, copy=False), _argmax(places, x, include_batch_in_index).astype(Targmax.numpy)


@shape("MaxPoolWithArgmax")
def max_pool_with_argmax_shape(input: TensorSpec, *, window: WindowAttributes) -> list[Shape]:
    pooled = pooled_shape(input, PoolingAttributes(window))
    return [pooled, pooled]


@kernel("MaxPoolGradWithArgmax", shape="a b c d -> a b c d", facts=("backward",))
def max_pool_grad_with_argmax(
    input: Array, grad: Array, argmax: Array, *, window: WindowAttributes, include_batch_in_index: bool
) -> Result:
    """Each window's gradient at the index that argmax gives."""
    pool = PoolingAttributes(window)
    x = pool.last(input)
    pool.require_output(x, grad, "grad")
    if grad.shape != argmax.shape:
        raise InvalidArgumentError(f"grad and argmax must have the same shape: {grad.shape} and {argmax.shape}")
    index = _targets(NUMPY, x, argmax, include_batch_in_index)
    # Not by indexing: of the windows that share an element, only the last would count.
    # In double precision, which bincount adds in anyway; the result is rounded once.
    summed = np.bincount(index.ravel(), wide(grad).ravel().astype(np.float64), x.size)
    return summed.reshape(x.shape).astype(grad.dtype)


flops("MaxPoolGradWithArgmax")(counted(1, 2, "One addition for each window."))


@everywhere("MaxPoolGradGradWithArgmax", shape="*, *, ... -> ...", flops=zero_cost, facts=("backward",))
def max_pool_grad_grad_with_argmax(
    xp: Any, input: Any, grad: Any, argmax: Any, *, window: WindowAttributes, include_batch_in_index: bool
) -> Any:
    """The elements of a gradient shaped like the input at the index that argmax gives."""
    if xp.is_eager:
        PoolingAttributes(window).last(input)
    if not may_equal(grad.shape, input.shape):
        raise InvalidArgumentError(f"Expected grad shape to be {Shape(input.shape)}, but got {Shape(grad.shape)}")
    return xp.take(xp.reshape(grad, (-1,)), _targets(xp, input, argmax, include_batch_in_index), 0, mode="clip")


def _targets(xp: Any, x: Any, argmax: Any, include_batch: bool) -> Any:
    """Return the flat index in the whole input of each window's largest element, int64."""
    index, size, images = argmax.astype(np.int64), xp.size(x), x.shape[0]
    if not include_batch:
        # Without the batch in the index, TensorFlow counts from the beginning of each image.
        of_image = size // (max(images, 1) if isinstance(images, int) else images)
        index = index + (xp.arange(images).astype(np.int64) * of_image)[:, None, None, None]
    xp.require(((index >= 0) & (index < size)).all(), f"argmax holds an index outside of [0, {size})")
    return index


# TensorFlow has none either, although both are linear in the gradient.
without_gradient("MaxPoolGradWithArgmax", "MaxPoolGradGradWithArgmax")


@lower("MaxPool", "MaxPool3D")
def _max_pool_lowering(xla: Any, x: Any, *, window: WindowAttributes) -> Any:
    require_spatial(PoolingAttributes(window))
    return max_of_windows(xla, x, window)


@lower("AvgPool", "AvgPool3D")
def mean_of_windows(xla: Any, x: Any, *, window: WindowAttributes) -> Any:
    """Return the mean of each window's elements."""
    zero = np.zeros((), x.dtype)
    if _takes_slices(xla, window.ksize):
        # Padding is 0 and counts in no mean: the divisor is the number of elements inside.
        total: Any = sum(_Windows(xla, x, zero, window).elements)
    else:
        total = xla.lax.reduce_window(x, zero, xla.lax.add, window.ksize, window.strides, _padding(window))
    return total / _sizes_of_windows(xla, x, window)


@lower("AvgPoolGrad", "AvgPool3DGrad", static=(0,))
def _avg_pool_grad_lowering(xla: Any, sizes: Array, dy: Any, *, window: WindowAttributes) -> Any:
    # A mean is linear, so its gradient is its transpose, with the same counts of elements.
    return xla.transposed(lambda x: mean_of_windows(xla, x, window=window), tuple(sizes.tolist()), dy)


@lower("MaxPoolGrad")
def _max_pool_grad_lowering(xla: Any, x: Any, y: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the gradient of each window at its first largest element; on a CPU XLA's scatter is 5 to 20 times slower."""
    if not _takes_slices(xla, window.ksize):
        return xla.pulled_back(lambda x: max_of_windows(xla, x, window), x, dy)
    windows = _Windows(xla, x, _neutral_of_max(x.dtype), window)
    _, at = _first_largest(xla, windows)
    zero = np.zeros((), dy.dtype)
    return windows.summed([xla.where(at == number, dy, zero) for number in range(len(windows.places))])


def _first_largest(xla: Any, windows: _Windows) -> tuple[Any, Any]:
    """Return the first largest element of each window, and the number of its place.

    A NaN is the largest element where it is the first, and else none.
    """
    inside = windows.inside()
    best, is_inside = windows.elements[0], inside[0]
    at = xla.zeros(best.shape, np.int32)
    for number, (elements, is_element) in enumerate(zip(windows.elements, inside)):
        # Where the windows begin in the padding, the first element inside is taken whatever it is: so a NaN there stays, and
        # a later NaN never is greater.
        is_better = ((elements > best) | ~is_inside) & is_element
        best, at = xla.where(is_better, elements, best), xla.where(is_better, number, at)
        is_inside = is_inside | is_element
    return best, at


@lower("MaxPoolWithArgmax")
def _max_pool_with_argmax_lowering(
    xla: Any, x: Any, *, window: WindowAttributes, Targmax: DType, include_batch_in_index: bool
) -> tuple[Any, Any]:
    reject_depth(PoolingAttributes(window))
    if 0 in x.shape:
        raise InvalidArgumentError(f"the input must not be empty: {x.shape}")
    windows = _Windows(xla, x, _neutral_of_max(x.dtype), window)
    best, at = _first_largest(xla, windows)
    places = (windows.numbers(place, include_batch_in_index) for place in windows.places)
    return best, sum(xla.where(at == number, place, 0) for number, place in enumerate(places))


@arrays("MaxPoolGradWithArgmax")
def _argmax_grad_of_arrays(
    xp: Any, x: Any, grad: Any, argmax: Any, *, window: WindowAttributes, include_batch_in_index: bool
) -> Any:
    """Add each window's gradient at the index that argmax gives."""
    require_known_sizes(grad.shape, argmax.shape)
    at = _targets(xp, x, argmax, include_batch_in_index)
    zeros = xp.full((xp.size(x),), 0, grad.dtype)
    return xp.reshape(xp.scattered(zeros, xp.reshape(at, (-1, 1)), xp.reshape(grad, (-1,)), "add"), x.shape)


@lower("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad_lowering(xla: Any, x: Any, y: Any, dx: Any, *, window: WindowAttributes) -> Any:
    """Return the element of `dx` where each window of x first equals `y`; 0 where none does."""
    _require_elements(PoolingAttributes(window), x)
    windows, taken = (_Windows(xla, each, _neutral_of_max(each.dtype), window) for each in (x, dx))
    result, is_found = xla.zeros(y.shape, dx.dtype), xla.zeros(y.shape, bool)
    for element, value, is_element in zip(windows.elements, taken.elements, windows.inside()):
        is_first = (element == y) & is_element & ~is_found
        result, is_found = xla.where(is_first, value, result), is_found | is_first
    return result


@arrays("MaxPool3DGrad")
def _max_pool_3d_grad_of_arrays(xp: Any, x: Any, y: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the gradient of each window at all elements near `y`, as TensorFlow does in three dimensions."""
    reject_depth(PoolingAttributes(window))
    sizes = [operator.index(size) for size in spatial(x.shape, window.data_format)]
    ksize, steps = spatial(window.ksize, window.data_format), spatial(window.strides, window.data_format)
    places = list(map(_window_numbers, sizes, ksize, steps, window_pads(sizes, ksize, steps, (1, 1, 1), window.padding)))
    first = 2 if is_channels_first(window.data_format) else 1

    def added(largest: Any, share: Any, is_inside: Any, depth: int) -> Any:
        """Return the sum over the windows that hold each element, axis by axis: an offset in a window names one of them."""
        if depth == len(places):
            return xp.where((abs(x - largest) < NEAR) & is_inside, share, 0)
        axis, parts = first + depth, []
        for numbers in places[depth]:
            at, is_window = np.maximum(numbers, 0), (numbers >= 0).reshape([-1 if i == axis else 1 for i in range(5)])
            there, given = (xp.take(value, at, axis, mode="clip") for value in (largest, share))
            parts.append(added(there, given, is_inside & is_window, depth + 1))
        return functools.reduce(operator.add, parts)

    # Gathers, since ONNX has no padding between elements, by which XLA could spread a slice.
    return added(y, dy, np.bool_(True), 0)


def _window_numbers(size: int, width: int, step: int, pads: tuple[int, int]) -> Array:
    """Return for each offset in a window the number of the window that has each element there; -1 for none."""
    before = np.arange(size) + pads[0] - np.arange(width)[:, None]
    count = (size + sum(pads) - width) // step + 1
    numbers = before // step
    return np.where((before % step == 0) & (numbers >= 0) & (numbers < count), numbers, -1)


lower("MaxPoolV2", static=(1, 2))(_of_window_inputs(_max_pool_lowering))
lower("MaxPoolGradV2", static=(3, 4))(_of_window_inputs(_max_pool_grad_lowering))
lower("MaxPoolGradGradV2", static=(3, 4))(_of_window_inputs(_max_pool_grad_grad_lowering))
# JAX's derivative of MaxPool3D takes one of equal elements, and TensorFlow's gradient all; of MaxPool3DGrad it is the other
# way round.
facts("own_gradient", of=["MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "MaxPoolGradGrad", "MaxPoolGradV2"])

_MOST_SLICES: Final = 25
"""Places in a window up to which a slice for each is 3 to 20 times as fast as XLA's windows and scatter."""


def _takes_slices(xla: Any, ksize: Sequence[int]) -> bool:
    return xla.is_cpu and math.prod(ksize) <= _MOST_SLICES


def max_of_windows(xla: Any, x: Any, window: WindowAttributes) -> Any:
    """Return the largest element of each window; in windows of space, NaN and -inf count as the lowest number."""
    # A window of padding alone cannot occur: paddings are smaller than windows.
    neutral, is_float, ksize = _neutral_of_max(x.dtype), x.dtype.kind not in "iu", window.ksize
    windows = ksize, window.strides, _padding(window)
    if ksize[window.data_format.index("C")] > 1 and is_float and _takes_slices(xla, ksize):
        # Over channels a NaN stays if it is the first, and is left out elsewhere.
        groups = _Windows(xla, x, neutral, window).elements
        return functools.reduce(lambda best, element: xla.where(best < element, element, best), groups)
    if ksize[window.data_format.index("C")] > 1 or not (is_float or _takes_slices(xla, ksize)):
        return xla.lax.reduce_window(x, neutral, xla.lax.max, *windows)
    # TensorFlow's maxima begin with the lowest finite number, so a window of -inf, or of NaN, gives that number.
    least = xla.finfo(x.dtype).min if is_float else neutral
    if _takes_slices(xla, ksize):
        elements = _Windows(xla, x, neutral, window).elements
        return functools.reduce(lambda best, element: xla.where(element > best, element, best), elements, least)
    largest = xla.lax.reduce_window(xla.where(xla.isnan(x), neutral, x), neutral, xla.lax.max, *windows)
    return xla.maximum(largest, least)


def _neutral_of_max(dtype: np.dtype[Any]) -> Any:
    """Return what no element is below: of floats -inf."""
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


def _padding(window: WindowAttributes) -> str | list[tuple[int, int]]:
    """Return the padding as JAX takes it: SAME, VALID, or the elements before and after each dimension."""
    explicit = window.explicit_paddings
    return list(zip(explicit[::2], explicit[1::2])) if window.padding == "EXPLICIT" else window.padding


def _pads(xla: Any, x: Any, window: WindowAttributes) -> Sequence[tuple[int, int]]:
    padding = _padding(window)
    return xla.lax.padtype_to_pads(x.shape, window.ksize, window.strides, padding) if isinstance(padding, str) else padding


def _sizes_of_windows(xla: Any, x: Any, window: WindowAttributes) -> Any:
    """Return the number of elements of each window, for broadcasting; XLA would take seconds to fold a sum of ones."""
    ksize, strides = window.ksize, window.strides
    # A symbolic dimension leaves the counts to the program.
    if not all(isinstance(dim, int) for dim, size in zip(x.shape, ksize) if size > 1):
        ones, zero = xla.ones(x.shape, x.dtype), np.zeros((), x.dtype)
        return xla.lax.reduce_window(ones, zero, xla.lax.add, ksize, strides, _padding(window))
    dims = [dim if size > 1 else 1 for dim, size in zip(x.shape, ksize)]
    steps = [stride if size > 1 else 1 for stride, size in zip(strides, ksize)]
    return window_counts(dims, ksize, steps, _pads(xla, x, window), x.dtype)[..., 0]


class _Windows:
    """The windows of an array: for each place in a window an array of the elements there, one of each window."""

    def __init__(self, xla: Any, x: Any, fill: Any, window: WindowAttributes) -> None:
        self.xla, self.shape, self.strides = xla, x.shape, window.strides
        self.pads = _pads(xla, x, window)
        padded = xla.lax.pad(x, fill, [(low, high, 0) for low, high in self.pads])
        self.padded_shape = padded.shape
        counts = [(dim - size) // stride + 1 for dim, size, stride in zip(padded.shape, window.ksize, self.strides)]
        # Without windows the span is empty, where the formula alone would give a negative one.
        self.spans = [max((count - 1) * stride + 1, 0) for count, stride in zip(counts, self.strides)]
        self.places = list(itertools.product(*map(range, window.ksize)))
        self.elements = [xla.lax.slice(padded, place, np.add(place, self.spans), self.strides) for place in self.places]

    def inside(self) -> list[Any]:
        """Return for each place whether the element of each window there is no padding."""
        return [_inside(place, self.shape, self.spans, self.strides, self.pads) for place in self.places]

    def numbers(self, place: Sequence[int], has_batch: bool) -> Array:
        """Return the flat index of the element of each window at a place, in the image or in the whole batch."""
        result: Array = np.zeros((), np.int64)
        axes = zip(place, self.spans, self.strides, self.shape, self.pads)
        for axis, (start, span, stride, dim, (low, _)) in enumerate(axes):
            numbers = np.arange(start, start + span, stride) - low
            # Times 0: each image counts from 0, but the axis of the batch stays.
            result = result[..., None] * dim + (numbers if axis or has_batch else numbers * 0)
        return result

    def summed(self, elements: Sequence[Any]) -> Any:
        """Return an array of the shape of x: for each element the sum over the windows that hold the element."""
        zero = np.zeros((), elements[0].dtype)
        total = self.xla.zeros(self.padded_shape, zero.dtype)
        for place, array in zip(self.places, elements):
            around = zip(place, self.padded_shape, self.spans, self.strides)
            # The transpose of a strided slice: stride - 1 zeros between the elements, and the padding of the slice around.
            sparse = [(before, size - before - span, stride - 1) for before, size, span, stride in around]
            total = total + self.xla.lax.pad(array, zero, sparse)
        begin = [low for low, _ in self.pads]
        return self.xla.lax.slice(total, begin, np.add(begin, self.shape))


def _inside(place: Sequence[int], dims: Sequence[int], spans: Any, strides: Sequence[int], pads: Any) -> Any:
    """Return True for each window whose element at a place is no padding."""
    result: Any = np.ones((1,) * len(dims), bool)
    for axis, (start, span, stride, dim, (low, _)) in enumerate(zip(place, spans, strides, dims, pads)):
        numbers = np.arange(start, start + span, stride) - low
        is_element = (numbers >= 0) & (numbers < dim)
        result = result & is_element.reshape(-1, *[1] * (len(dims) - 1 - axis))
    return result


# ONNX has operators for pooling, which take images of any size; XLA pools fastest by slices on a CPU.
@onnx("MaxPool", "MaxPool3D")
def _max_pool_onnx(g: Any, x: Any, *, window: WindowAttributes) -> Any:
    return pooled(g, x, "MaxPool", window)


@onnx("AvgPool", "AvgPool3D")
def _avg_pool_onnx(g: Any, x: Any, *, window: WindowAttributes) -> Any:
    return pooled(g, x, "AveragePool", window)


def pooled(g: Any, x: Any, op: str, window: WindowAttributes, **attrs: Any) -> Any:
    """Windows over space only; of channels ONNX knows none."""
    data_format = window.data_format
    if batch_and_channel(window.ksize, data_format) != (1, 1) or batch_and_channel(window.strides, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    attrs |= window_attrs(x, spatial(window.ksize, data_format), window)
    return on_channels_first(g, x, data_format, lambda first: g.op(op, first, **attrs))


# XLA transposes the mean of windows itself; ONNX transposes convolutions alone.
@onnx("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_grad_onnx(g: Any, sizes: Any, dy: Any, *, window: WindowAttributes, outputs: list[TensorSpec]) -> Any:
    """Divide each gradient by the number of elements in its window, and give the share to all of them."""
    rank, data_format = len(window.ksize), window.data_format
    shape = shape_to_channels_last(outputs[0].shape, data_format) if outputs[0].rank == rank else ()
    is_spatial = batch_and_channel(window.ksize, data_format) == (1, 1)
    if not shape or not all(isinstance(size, int) for size in shape[1:]) or not is_spatial:
        g.refuse("the sizes of its result are computed, or its windows go over batches or channels")
    if not may_equal(dy.shape, tuple(pooled_shape(outputs[0], PoolingAttributes(window)))):
        g.refuse("its gradient has another shape than the means have")
    size, steps = spatial(window.ksize, data_format), spatial(window.strides, data_format)
    # A convolution of ones with ones counts the elements in each window; it is folded, so the model holds a constant.
    ones = np.ones((1, *shape[1:-1], 1), np.float32)
    pads = window_pads(shape[1:-1], size, steps, (1,) * len(size), window.padding)
    counts = convolutions.convolve(ones, np.ones((*size, 1, 1), np.float32), steps, pads, (1,) * len(size))
    share = g.Div(dy, g.cast(g.constant(counts if data_format.endswith("C") else np.moveaxis(counts, -1, 1)), dy.dtype))
    # Each channel is a group of its own.
    filters = g.constant(np.ones((*size, 1, shape[-1])), dy.dtype)
    return convolution_input_gradient_onnx(
        g, sizes, filters, share, window=window._replace(dilations=(1,) * rank), outputs=outputs
    )


class _Largest(NamedTuple):
    """The largest elements of windows over images with channels first, and their places."""

    values: Any
    """N, C, windows."""
    places: Any
    """The flat index in a channel of an image, int64."""
    images: Any
    """The images with channels first."""
    flat: Any
    """The images with a single spatial dimension."""

    def indices(self, g: Any) -> Any:
        """Return the flat index of each place in all images, channels first."""
        channels = g.Mul(g.unsqueeze(along(g, self.flat, 0), 1), g.dim(self.flat, 1))
        rows = g.Mul(g.Add(channels, along(g, self.flat, 1)), g.dim(self.flat, 2))
        return g.Add(self.places, g.unsqueeze(rows, *range(2, g.rank(self.images))))


def _largest(g: Any, x: Any, window: WindowAttributes) -> _Largest:
    """Return the largest element of each window of images and the first place of that element.

    A NaN counts only as the first element of a window, as in TensorFlow.
    """
    data_format = window.data_format
    if batch_and_channel(window.ksize, data_format) != (1, 1) or batch_and_channel(window.strides, data_format) != (1, 1):
        g.refuse("its windows go over batches or channels")
    ksize = spatial(window.ksize, data_format)
    attrs = window_attrs(x, ksize, window)
    first = channels_first(g, x, data_format)
    axes = range(2, len(window.ksize))
    flat = g.reshape(first, g.dim(first, 0), g.dim(first, 1), functools.reduce(g.Mul, (g.dim(first, axis) for axis in axes)))
    values, indices = g.MaxPool(first, outputs=2, **attrs)
    start, *others = (_starts(g, values, first, axis, ksize[axis - 2], attrs) for axis in axes)
    for axis, along_axis in zip(axes[1:], others):
        start = g.Add(g.unsqueeze(g.Mul(start, g.dim(first, axis)), axis - 2), along_axis)
    value = g.Gather(flat, start, axis=2)
    # A window of the lowest numbers alone, or with NaN first, has its first element as the largest: onnxruntime would report
    # the place of another element, or none.
    is_start = g.LessOrEqual(values, g.like(lowest(x.dtype.numpy), x))  # onnxruntime finds nothing below the smallest number
    is_start = g.Or(is_start, g.IsNaN(value)) if x.dtype.is_floating else is_start
    # ONNX counts through batch and channels; the remainder is the place in the image.
    places = g.Where(is_start, start, g.Mod(indices, g.dim(flat, 2)))
    return _Largest(g.Where(is_start, value, values), places, first, flat)


def _starts(g: Any, pooled: Any, first: Any, axis: int, width: int, attrs: Any) -> Any:
    """Return the first element of each window along a dimension."""
    step = attrs["strides"][axis - 2]
    if "auto_pad" in attrs:
        span = g.Add(g.Mul(g.Sub(g.dim(pooled, axis), 1), step), width)
        pad = g.Div(g.Max(g.Sub(span, g.dim(first, axis)), 0), 2)
    else:
        pad = g.constant(np.array([attrs["pads"][axis - 2]], np.int64))
    return g.Max(g.Sub(g.Mul(along(g, pooled, axis), step), pad), 0)


# ONNX's MaxPool gives the places of the largest elements, so a gradient takes 42 operators for windows of any size. Slices for
# each place, as for XLA, take more from 3 x 3 on, and ONNX has no padding between elements, which sums them up.
@onnx("MaxPoolGrad")
def _max_pool_grad_onnx(g: Any, x: Any, y: Any, grad: Any, *, window: WindowAttributes) -> Any:
    """Add the gradient of each window at the place of its largest element."""
    maxima = _largest(g, x, window)
    indices = g.reshape(maxima.indices(g), [-1])
    return in_format(g, _added(g, maxima.images, indices, channels_first(g, grad, window.data_format)), 4, window.data_format)


@onnx("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad_onnx(g: Any, x: Any, y: Any, grad: Any, *, window: WindowAttributes) -> Any:
    """Return the element of a gradient shaped like the input at the place of each window's largest element, 0 for NaN."""
    maxima = _largest(g, x, window)
    y, flat = (channels_first(g, value, window.data_format) for value in (y, grad))
    elements = g.Gather(g.reshape(flat, [-1]), maxima.indices(g))
    return in_format(g, g.Where(g.Equal(y, maxima.values), elements, 0), len(window.ksize), window.data_format)


def _of_constant_windows(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of an op whose windows and strides are inputs."""

    def lowering(g: Any, *inputs: Any, padding: str, data_format: str) -> Any:
        *values, ksize, strides = inputs
        known = (g.known(value, "windows and strides") for value in (ksize, strides))
        return _of_window_inputs(function)(g, *values, *known, padding=padding, data_format=data_format)

    return lowering


onnx("MaxPoolV2")(_of_constant_windows(_max_pool_onnx))
onnx("MaxPoolGradV2")(_of_constant_windows(_max_pool_grad_onnx))
onnx("MaxPoolGradGradV2")(_of_constant_windows(_max_pool_grad_grad_onnx))


@onnx("MaxPoolWithArgmax")
def _max_pool_with_argmax_onnx(
    g: Any, x: Any, *, window: WindowAttributes, Targmax: DType, include_batch_in_index: bool
) -> tuple[Any, Any]:
    """Return the largest element of each window and its flat index, with channels last."""
    maxima = _largest(g, x, window)
    indices = g.Add(g.Mul(maxima.places, g.dim(maxima.flat, 1)), g.unsqueeze(along(g, maxima.flat, 1), 1, 2))
    if include_batch_in_index:
        of_image = g.Mul(g.dim(maxima.flat, 1), g.dim(maxima.flat, 2))
        indices = g.Add(indices, g.unsqueeze(g.Mul(along(g, maxima.flat, 0), of_image), 1, 2, 3))
    return tuple(in_format(g, value, 4, window.data_format) for value in (maxima.values, g.cast(indices, Targmax)))


def _added(g: Any, x: Any, indices: Any, grad: Any) -> Any:
    """Return zeros of the shape of `x` to which gradients are added at flat indices."""
    zeros = g.Expand(g.like(0, grad), g.reshape(g.Size(x), [1]))
    sums = g.ScatterND(zeros, g.unsqueeze(indices, 1), g.reshape(grad, [-1]), reduction="add")
    return g.of_dims(sums, g.dims(x))


facts("half_clear", of=["MaxPool", "MaxPool3D", "MaxPoolV2", *_GRADIENTS_OF_GRADIENTS, "MaxPoolGradV2", "MaxPoolGradGradV2"])
