"""Uniform quantization: real = scale * (integer - zero point), with a single scale or a scale for each place of an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...codecs.wire import fields, repeated_integers
from ...numerics import convolution as convolution_numerics
from ...numerics import windows
from ...numerics.array_namespace import NUMPY
from ...registry.registry import NOT_DIFFERENTIABLE, WITHOUT_GRADIENT, Cost, everywhere, flops, kernel, multiply_adds, shape
from ...support.errors import DataLossError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes, unknown_dims
from ..shared.argument_checks import may_equal, require, require_broadcast, require_rank, require_shape, with_rank
from ..shared.elementwise_tables import binary_shape, unary_flops
from ..shared.quantized_ranges import along, round_half_away
from ..shared.window_geometry import Pads, window_pads


class Operands(NamedTuple):
    """The inputs of an op on two quantized tensors."""

    lhs: Array
    rhs: Array
    lhs_scales: Array
    lhs_zero_points: Array
    rhs_scales: Array
    rhs_zero_points: Array
    output_scales: Array
    output_zero_points: Array


class Axes(NamedTuple):
    """The axes of scales, -1 for a single scale, and the least and the greatest integer of the output."""

    lhs_quantization_axis: int
    rhs_quantization_axis: int
    output_quantization_axis: int
    output_quantization_min_val: int
    output_quantization_max_val: int

    @property
    def limits(self) -> tuple[int, int]:
        return self.output_quantization_min_val, self.output_quantization_max_val


def check_scales(dims: Sequence[Any], scales: Any, zero_points: Any, axis: int, name: str) -> None:
    """Scales and zero points of a tensor of these dimensions are scalars, or vectors of the axis."""
    require(axis == -1 or 0 <= axis < len(dims), f"quantization axis {axis} of {name} is not one of its axes")
    expected = () if axis == -1 else dims[axis : axis + 1]
    fits = may_equal(scales.shape, zero_points.shape)
    require(fits, f"scales {scales.shape} and zero points {zero_points.shape} of {name} differ")
    require_shape(scales, expected, f"scales of {name}")


def _clipped(xp: Any, x: Any, low: int, high: int, dtype: Any) -> Any:
    """Clip x to the limits; the lower limit wins where they cross."""
    return xp.maximum(xp.minimum(x, high), low).astype(dtype)


def to_quantized(x: Any, scale: Any, zero_point: Any, low: int, high: int, dtype: Any, xp: Any = NUMPY) -> Any:
    """floor(x / scale + 0.5) + zero point, within the limits."""
    inverse = (np.float32(1) / scale).astype(np.float32)
    # A product with the rounded reciprocal in float32, as TensorFlow computes.
    rounded = xp.floor(x * inverse + np.float32(0.5))
    # Numbers beyond int32, and NaN, become the least integer, as on x86, and the sum with the zero point wraps around.
    integers = xp.where(abs(rounded) < 2.0**31, rounded, -(2.0**31)).astype(np.int32)
    return _clipped(xp, integers + zero_point.astype(np.int32), low, high, dtype)


# A product, two sums, a rounding and two clips.
@everywhere("UniformQuantize", shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=unary_flops(6))
def uniform_quantize(
    xp: Any, input: Any, scales: Any, zero_points: Any, *,
    Tout: DType, quantization_axis: int, quantization_min_val: int, quantization_max_val: int,
) -> Any:  # fmt: skip
    """Floats as integers."""
    axis = quantization_axis
    check_scales(input.shape, scales, zero_points, axis, "input")
    scales, zero_points = along(scales, axis, input.ndim), along(zero_points, axis, input.ndim)
    return to_quantized(input, scales, zero_points, quantization_min_val, quantization_max_val, Tout.numpy, xp)


@everywhere("UniformDequantize", shape="... -> ...", gradient=WITHOUT_GRADIENT)
def uniform_dequantize(xp: Any, input: Any, scales: Any, zero_points: Any, *, quantization_axis: int) -> Any:
    """Integers as the floats they stand for."""
    check_scales(input.shape, scales, zero_points, quantization_axis, "input")
    scales, zero_points = (along(values, quantization_axis, input.ndim) for values in (scales, zero_points))
    return (input.astype(np.int64) - zero_points.astype(np.int64)).astype(np.float32) * scales


@everywhere("UniformQuantizedClipByValue", shape="... -> ...", gradient=WITHOUT_GRADIENT)
def uniform_quantized_clip_by_value(
    xp: Any, operand: Any, min: Any, max: Any, scales: Any, zero_points: Any, *, quantization_axis: int
) -> Any:
    """Integers within [min, max], each a scalar or a vector of the axis."""
    check_scales(operand.shape, scales, zero_points, quantization_axis, "operand")
    for name, value in (("min", min), ("max", max)):
        require_shape(value, scales.shape, name)
    low, high = (along(value, quantization_axis, operand.ndim) for value in (min, max))
    return xp.minimum(xp.maximum(operand, low), high)


# A difference and a product, or two clips.
flops("UniformDequantize", "UniformQuantizedClipByValue")(unary_flops(2))


_INT32 = (-(2**31), 2**31 - 1)


def _multiplier(scale: Array) -> tuple[Array, Array]:
    """Return positive factors as (31-bit integer, power of two); a power below -31 makes zero."""
    require(np.all(np.isfinite(scale) & (np.asarray(scale) > 0)), f"the ratio of scales must be positive and finite: {scale}")
    # As in TensorFlow Lite: integers alone, so that all machines round alike.
    fraction, power = np.frexp(np.asarray(scale, np.float64))
    fixed = np.floor(fraction * 2.0**31 + 0.5).astype(np.int64)
    power = np.where(fixed == 1 << 31, power + 1, power).astype(np.int64)
    # A fraction that rounds up to 1 needs one bit too many.
    fixed = np.where(fixed == 1 << 31, fixed // 2, fixed)
    # A power below -31 makes zero of any int32.
    fixed = np.where(power < -31, 0, fixed)
    power = np.where(power < -31, 0, power)
    fixed = np.where(power > 30, _INT32[1], fixed)
    return fixed, np.minimum(power, 30)


def _rescaled(xp: Any, x: Any, scale: Array) -> Any:
    """x times the scale in fixed point, rounded once, within int32."""
    fixed, power = _multiplier(scale)
    shift = 31 - power
    # Half of the last place, so that the shift rounds to the nearest.
    product = x.astype(np.int64) * fixed + (np.int64(1) << (shift - 1))
    return xp.clip(product >> shift, *_INT32)


def to_output(x: Any, scale: Array, zero_point: Any, low: int, high: int, dtype: Any, xp: Any = NUMPY) -> Any:
    return _clipped(xp, _rescaled(xp, x, scale) + zero_point.astype(np.int64), low, high, dtype)


# The scales must be known before a run: of their ratio NumPy makes an integer factor and a shift.
# A difference and a change of scale.
@everywhere("UniformRequantize", static=(1, 3), shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=unary_flops(9))
def uniform_requantize(
    xp: Any, input: Any, input_scales: Array, input_zero_points: Any, output_scales: Array, output_zero_points: Any, *,
    Tout: DType, input_quantization_axis: int, output_quantization_axis: int, output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Any:  # fmt: skip
    """Convert integers to another scale."""
    check_scales(input.shape, input_scales, input_zero_points, input_quantization_axis, "input")
    check_scales(input.shape, output_scales, output_zero_points, output_quantization_axis, "output")
    axes = {axis for axis in (input_quantization_axis, output_quantization_axis) if axis >= 0}
    require(len(axes) < 2, f"input and output are quantized along different axes: {axes}")
    before, zero = (along(values, input_quantization_axis, input.ndim) for values in (input_scales, input_zero_points))
    after, new_zero = (along(values, output_quantization_axis, input.ndim) for values in (output_scales, output_zero_points))
    scale = before.astype(np.float64) / after
    bounds = output_quantization_min_val, output_quantization_max_val
    return to_output(input.astype(np.int64) - zero.astype(np.int64), scale, new_zero, *bounds, Tout.numpy, xp)


@everywhere("UniformQuantizedAdd", static=(2, 4, 6), shape=binary_shape, gradient=NOT_DIFFERENTIABLE)
def uniform_quantized_add(
    xp: Any, lhs: Any, rhs: Any, lhs_scales: Array, lhs_zero_points: Any, rhs_scales: Array, rhs_zero_points: Any,
    output_scales: Array, output_zero_points: Any, *, axes: Axes, T: DType,
) -> Any:  # fmt: skip
    """Add both operands at the output's scale; the smaller operand is broadcast."""
    check_scales(lhs.shape, lhs_scales, lhs_zero_points, axes.lhs_quantization_axis, "lhs")
    check_scales(rhs.shape, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis, "rhs")
    require_broadcast(lhs, rhs)
    dims = tuple(broadcast_shapes(*(Shape(n if isinstance(n, int) else None for n in x.shape) for x in (lhs, rhs))))
    check_scales(dims, output_scales, output_zero_points, axes.output_quantization_axis, "output")
    after, zero = (along(values, axes.output_quantization_axis, len(dims)) for values in (output_scales, output_zero_points))
    zero = zero.astype(np.int64)
    # Each operand is rescaled with the output's zero point added, so one of the two is taken away.
    total = -zero
    for x, scales, zero_points, axis in (
        (lhs, lhs_scales, lhs_zero_points, axes.lhs_quantization_axis),
        (rhs, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis),
    ):
        scale = along(scales, axis, x.ndim).astype(np.float64) / after
        centered = x.astype(np.int64) - along(zero_points, axis, x.ndim).astype(np.int64)
        total = total + to_output(centered, scale, zero, *_INT32, np.int64, xp)
    return _clipped(xp, total, *axes.limits, T.numpy)


RESCALED_COST = Cost(8)
"""A product, a sum, a shift and two clips in fixed point; the zero point and two clips."""


@flops("UniformQuantizedAdd")
def uniform_quantized_add_flops(lhs: TensorSpec, rhs: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A difference and a change of scale for either operand, two sums and two clips."""
    operands = lhs.shape.num_elements + rhs.shape.num_elements
    return (Cost(1) + RESCALED_COST) * operands + Cost(4) * outputs[0].shape.num_elements


def _check_matrices(lhs: Any, rhs: Any) -> None:
    require_rank(lhs, 2, "lhs")
    require_rank(rhs, 2, "rhs")
    require(may_equal(lhs.shape[1:], rhs.shape[:1]), f"matrices of {lhs.shape} and {rhs.shape} do not fit")


def _centered(x: Any, zero_points: Any, axis: int) -> Any:
    return x.astype(np.float64) - along(zero_points, axis, x.ndim)


@everywhere("UniformQuantizedDot", static=(2, 4, 6), shape="m _, _ n -> m n", gradient=NOT_DIFFERENTIABLE)
def uniform_quantized_dot(
    xp: Any, lhs: Any, rhs: Any, lhs_scales: Array, lhs_zero_points: Any, rhs_scales: Array, rhs_zero_points: Any,
    output_scales: Array, output_zero_points: Any, *, axes: Axes, Tout: DType,
) -> Any:  # fmt: skip
    """The matrix product at the output's scale; rhs may have a scale for each column."""
    _check_matrices(lhs, rhs)
    require(axes.lhs_quantization_axis == -1, "lhs must have one scale")
    require(axes.rhs_quantization_axis in (-1, 1), "rhs must have one scale, or one for each column")
    require(axes.output_quantization_axis in (-1, 1), "the output must have one scale, or one for each column")
    check_scales(lhs.shape, lhs_scales, lhs_zero_points, -1, "lhs")
    check_scales(rhs.shape, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis, "rhs")
    # float64 holds the sums of products of 8 bits exactly, and NumPy has no fast product of integers.
    product = xp.matmul(_centered(lhs, lhs_zero_points, -1), _centered(rhs, rhs_zero_points, axes.rhs_quantization_axis))
    check_scales(product.shape, output_scales, output_zero_points, axes.output_quantization_axis, "output")
    scale = lhs_scales.astype(np.float64) * rhs_scales / output_scales
    return to_output(product.astype(np.int64), scale, output_zero_points, *axes.limits, Tout.numpy, xp)


def _exact_cost(lhs: TensorSpec, rhs: TensorSpec, outputs: list[TensorSpec], products: DimLike) -> Cost:
    """Differences of both operands, multiply-adds and the change of scale of a product."""
    operands = lhs.shape.num_elements + rhs.shape.num_elements
    return Cost(1) * operands + multiply_adds(products) + RESCALED_COST * outputs[0].shape.num_elements


@flops("UniformQuantizedDot")
def uniform_quantized_dot_flops(lhs: TensorSpec, rhs: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A difference for each element, the product, and its change of scale, eight operations."""
    return _exact_cost(lhs, rhs, outputs, outputs[0].shape.num_elements * with_rank(lhs.shape, 2)[1])


def _quantized_rows(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return rows of floats (n, m) as integers of 8 bits less the zero point, float64, and the scale of each row.

    Each row has the range that its own numbers and zero need, as in dynamic range quantization.
    """
    low, high = np.float64(-128), np.float64(127)
    # A zero at the end of each row puts 0 into its range.
    with_zero = xp.pad(x.astype(np.float64), ((0, 0), (0, 1)))
    least, most = (extreme(with_zero, 1, keepdims=True) for extreme in (xp.min, xp.max))
    xp.require(xp.isfinite(most - least).all(), "lhs must be finite")
    is_flat = least == most  # all zeros, which stay zeros at any scale
    scale = xp.where(is_flat, 1, (most - least) / (high - low))
    # Of the zero points from either end, that with the smaller rounding error counts, as in TensorFlow Lite.
    from_low, from_high = low - least / scale, high - most / scale
    is_low = abs(low) + abs(least / scale) < abs(high) + abs(most / scale)
    zero = xp.clip(round_half_away(xp.where(is_low, from_low, from_high), xp), low, high)
    zero = xp.where(is_flat, 0, zero)
    # The reciprocal of the scale is taken before the scale is rounded to float32: halves depend on it.
    integers = to_quantized(x, scale, zero, -128, 127, np.float64, xp)
    return integers - zero, xp.reshape(scale, (-1,)).astype(np.float32)


@everywhere("UniformQuantizedDotHybrid", shape="m _, _ n -> m n", gradient=WITHOUT_GRADIENT)
def uniform_quantized_dot_hybrid(
    xp: Any, lhs: Any, rhs: Any, rhs_scales: Any, rhs_zero_points: Any, *, rhs_quantization_axis: int
) -> Any:
    """Floats, quantized row by row, times integers: floats."""
    _check_matrices(lhs, rhs)
    require(rhs_quantization_axis in (-1, 1), "rhs must have one scale, or one for each column")
    check_scales(rhs.shape, rhs_scales, rhs_zero_points, rhs_quantization_axis, "rhs")
    rows, scales = _quantized_rows(xp, lhs)
    product = xp.matmul(rows, _centered(rhs, rhs_zero_points, rhs_quantization_axis))
    return (product * (scales[:, None] * rhs_scales)).astype(np.float32)


def _hybrid_cost(lhs: TensorSpec, rhs: TensorSpec, outputs: list[TensorSpec], products: DimLike) -> Cost:
    """The range of the floats and their quantization, differences, multiply-adds and two products to make floats again."""
    operands = Cost(9) * lhs.shape.num_elements + Cost(1) * rhs.shape.num_elements
    return operands + multiply_adds(products) + Cost(2) * outputs[0].shape.num_elements


@flops("UniformQuantizedDotHybrid")
def uniform_quantized_dot_hybrid_flops(lhs: TensorSpec, rhs: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """Nine operations to quantize a float, a difference for an integer, the product, and two products to make floats again."""
    return _hybrid_cost(lhs, rhs, outputs, outputs[0].shape.num_elements * with_rank(lhs.shape, 2)[1])


class ConvolutionAttributes(NamedTuple):
    """The attributes of a convolution."""

    window_strides: tuple[int, ...]
    padding: str
    explicit_padding: tuple[int, ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    batch_group_count: int
    feature_group_count: int
    dimension_numbers: str


class _UniformConvolution:
    """The attributes of a convolution: roles of the dimensions, strides, dilations, padding and groups."""

    def __init__(self, lhs: tuple[int, ...], rhs: tuple[int, ...], window: ConvolutionAttributes) -> None:
        strides, padding, explicit_padding, lhs_dilation, rhs_dilation, *counts, numbers = window
        rank = len(lhs)
        require(rank > 2 and len(rhs) == rank, f"lhs {tuple(lhs)} and rhs {tuple(rhs)} must have the same rank, above 2")
        spatial = rank - 2
        self.batch_groups, self.feature_groups = counts
        for name, values in (("strides", strides), ("lhs_dilation", lhs_dilation), ("rhs_dilation", rhs_dilation)):
            fits = len(values) in (0, spatial) and all(v >= 1 for v in values)
            require(fits, f"{name} {list(values)} of {spatial} dimensions")
        # Empty lists mean 1 in each dimension.
        self.strides = strides or (1,) * spatial
        self.lhs_dilation = lhs_dilation or (1,) * spatial
        self.rhs_dilation = rhs_dilation or (1,) * spatial
        self.lhs_order, self.rhs_order, self.out_order = _orders(numbers, spatial)
        sizes = [lhs[i] for i in self.lhs_order[1:-1]]
        filter_sizes = [rhs[i] for i in self.rhs_order[:-2]]
        dilated = [(n - 1) * d + 1 if n else 0 for n, d in zip(sizes, self.lhs_dilation)]
        self.pads = _pads(dilated, filter_sizes, self.strides, self.rhs_dilation, padding, explicit_padding)
        padded = windows.padded_sizes(dilated, self.pads)
        self.outputs = tuple(map(windows.output_size, padded, filter_sizes, self.strides, self.rhs_dilation))
        self._check_groups(lhs, rhs)
        batch, self.filters = lhs[self.lhs_order[0]] // self.batch_groups, rhs[self.rhs_order[-1]]
        inner = (batch, *self.outputs, self.filters)
        self.shape = tuple(inner[self.out_order.index(i)] for i in range(rank))

    def _check_groups(self, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
        batch, channels = lhs[self.lhs_order[0]], lhs[self.lhs_order[-1]]
        depth, filters = rhs[self.rhs_order[-2]], rhs[self.rhs_order[-1]]
        groups = self.batch_groups, self.feature_groups
        # XLA, whose convolution this is, has groups of the batch or of the channels, and never both.
        require(min(groups) >= 1 and 1 in groups, f"batch groups {groups[0]} and feature groups {groups[1]}")
        require(batch % groups[0] == 0 and filters % (groups[0] * groups[1]) == 0, f"{groups} groups do not divide the shapes")
        require(channels == depth * groups[1], f"{channels} channels are not {groups[1]} groups of {depth}")

    def run(self, lhs: Array, rhs: Array) -> Array:
        """Return the exact sums, in the order of the output: both operands are centered floats."""
        x, w = lhs.transpose(self.lhs_order), rhs.transpose(self.rhs_order)
        # Zeros between the elements of lhs, as in a transposed convolution.
        if any(d > 1 for d in self.lhs_dilation):
            spread = np.zeros((len(x), *((n - 1) * d + 1 for n, d in zip(x.shape[1:-1], self.lhs_dilation)), x.shape[-1]))
            spread[(slice(None), *(slice(None, None, d) for d in self.lhs_dilation))] = x
            x = spread
        # A group of the batch meets its share of the filters, whose results lie side by side as channels.
        groups = zip(np.split(x, self.batch_groups), np.split(w, self.batch_groups, -1))
        results = [convolution_numerics.convolve(*group, self.strides, self.pads, self.rhs_dilation) for group in groups]
        return self._in_order(np.concatenate(results, -1))

    def scales_of(self, images: Array) -> Array:
        """Return the scales of images, (batch,), for each output: a filter meets the images of its group."""
        groups = images.reshape(self.batch_groups, -1).T
        by_filter = np.repeat(groups, self.filters // self.batch_groups, axis=1)
        return self._in_order(by_filter.reshape(len(groups), *(1 for _ in self.outputs), self.filters))

    def _in_order(self, result: Array) -> Array:
        """Return an array (batch, spatial..., channels) in the order of the output."""
        return result.transpose([self.out_order.index(i) for i in range(result.ndim)])


def _orders(numbers: str, spatial: int) -> tuple[tuple[int, ...], ...]:
    """For lhs, rhs and output, the dimensions in the order batch, spatial..., channels (for rhs: spatial..., in, out)."""
    by_number: dict[int, list[int]] = {i: [] for i in range(1, 10)}
    try:
        # A serialized message in a string attribute, whose bytes need not be text.
        for field in fields(numbers.encode("utf-8", "surrogateescape")):
            by_number[field.number] += repeated_integers([field])
    except (DataLossError, KeyError):
        require(False, "dimension_numbers are not a UniformQuantizedConvolutionDimensionNumbersAttr")
    if not numbers:
        places = list(range(2, spatial + 2))
        return (0, *places, 1), (*places, 1, 0), (0, *places, 1)
    # Protobuf writes no field of value 0, and the last of several counts.
    single = {i: (v or [0])[-1] for i, v in by_number.items()}
    orders = (
        (single[1], *by_number[3], single[2]),
        (*by_number[6], single[4], single[5]),
        (single[7], *by_number[9], single[8]),
    )
    for order in orders:
        require(sorted(order) == list(range(spatial + 2)), f"dimension_numbers are not a permutation: {order}")
    return orders


def _pads(
    sizes: list[int],
    window: list[int],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str,
    explicit: Sequence[int],
) -> Pads:
    if padding == "EXPLICIT":
        require(len(explicit) == 2 * len(sizes), f"explicit_padding must have {2 * len(sizes)} values, not {list(explicit)}")
        return tuple(zip(explicit[::2], explicit[1::2]))
    require(padding in ("SAME", "VALID"), f"padding '{padding}' is not SAME, VALID or EXPLICIT")
    require(not explicit, "explicit_padding needs padding EXPLICIT")
    return window_pads(sizes, window, strides, dilations, padding)


@kernel("UniformQuantizedConvolution", gradient=NOT_DIFFERENTIABLE)
def uniform_quantized_convolution(operands: Operands, *, window: ConvolutionAttributes, axes: Axes, Tout: DType) -> Result:
    """The convolution at the output's scale; rhs may have a scale for each filter."""
    lhs, rhs, lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points, output_scales, output_zero_points = operands
    form, rhs_axis = _UniformConvolution(lhs.shape, rhs.shape, window), axes.rhs_quantization_axis
    axis = form.out_order[-1]
    require(axes.lhs_quantization_axis == -1, "lhs must have one scale")
    require(rhs_axis in (-1, form.rhs_order[-1]), "rhs must have one scale, or one for each filter")
    require(axes.output_quantization_axis in (-1, axis), "the output must have one scale, or one for each filter")
    check_scales(lhs.shape, lhs_scales, lhs_zero_points, -1, "lhs")
    check_scales(rhs.shape, rhs_scales, rhs_zero_points, rhs_axis, "rhs")
    sums = form.run(_centered(lhs, lhs_zero_points, -1), _centered(rhs, rhs_zero_points, rhs_axis))
    check_scales(sums.shape, output_scales, output_zero_points, axes.output_quantization_axis, "output")
    scale = along(np.asarray(lhs_scales.astype(np.float64) * rhs_scales / output_scales), axis, sums.ndim)
    return to_output(sums.astype(np.int64), scale, along(output_zero_points, axis, sums.ndim), *axes.limits, Tout.numpy)


@shape("UniformQuantizedConvolution")
def uniform_quantized_convolution_shape(lhs: TensorSpec, rhs: TensorSpec, *, window: ConvolutionAttributes) -> Shape:
    if not (lhs.shape.is_known and rhs.shape.is_known):
        rank = lhs.rank if lhs.rank is not None else rhs.rank
        return unknown_dims(rank)
    return Shape(_UniformConvolution(lhs.shape.known(), rhs.shape.known(), window).shape)


def _window_products(rhs: TensorSpec, dimension_numbers: str, outputs: list[TensorSpec]) -> DimLike:
    """Return the number of products: for each output, the number of weights in its filter."""
    place = _orders(dimension_numbers, len(rhs.shape) - 2)[1][-1]
    return outputs[0].shape.num_elements * math.prod(size for i, size in enumerate(rhs.shape) if i != place)


@flops("UniformQuantizedConvolution")
def uniform_quantized_convolution_flops(
    lhs: TensorSpec, rhs: TensorSpec, *, dimension_numbers: str, outputs: list[TensorSpec]
) -> Cost:
    """As UniformQuantizedDot, with a multiply-add for each output and each weight of its filter."""
    return _exact_cost(lhs, rhs, outputs, _window_products(rhs, dimension_numbers, outputs))


@kernel("UniformQuantizedConvolutionHybrid", shape=uniform_quantized_convolution_shape, gradient=WITHOUT_GRADIENT)
def uniform_quantized_convolution_hybrid(
    lhs: Array,
    rhs: Array,
    rhs_scales: Array,
    rhs_zero_points: Array,
    *,
    window: ConvolutionAttributes,
    rhs_quantization_axis: int,
) -> Result:
    """Floats, quantized image by image, convolved with integers: floats."""
    form = _UniformConvolution(lhs.shape, rhs.shape, window)
    require(rhs_quantization_axis in (-1, form.rhs_order[-1]), "rhs must have one scale, or one for each filter")
    check_scales(rhs.shape, rhs_scales, rhs_zero_points, rhs_quantization_axis, "rhs")
    batch = form.lhs_order[0]
    images = np.moveaxis(lhs, batch, 0)
    rows, scales = _quantized_rows(NUMPY, images.reshape(len(images), math.prod(images.shape[1:])))
    centered = np.moveaxis(rows.reshape(images.shape), 0, batch)
    sums = form.run(centered, _centered(rhs, rhs_zero_points, rhs_quantization_axis))
    return (sums * (form.scales_of(scales) * along(rhs_scales, form.out_order[-1], sums.ndim))).astype(np.float32)


@flops("UniformQuantizedConvolutionHybrid")
def uniform_quantized_convolution_hybrid_flops(
    lhs: TensorSpec, rhs: TensorSpec, *, dimension_numbers: str, outputs: list[TensorSpec]
) -> Cost:
    """As UniformQuantizedDotHybrid, with a multiply-add for each output and each weight of its filter."""
    return _hybrid_cost(lhs, rhs, outputs, _window_products(rhs, dimension_numbers, outputs))
