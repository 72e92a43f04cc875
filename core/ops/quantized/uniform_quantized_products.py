"""Matrix products and convolutions of uniformly quantized tensors; hybrid ops quantize their left operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...codecs.wire import fields, repeated_integers
from ...numerics import convolution as convolution_numerics
from ...numerics import windows
from ...numerics.array_namespace import NUMPY
from ...registry.registry import Cost, everywhere, flops, kernel, multiply_adds, not_differentiable, shape, without_gradient
from ...support.errors import DataLossError
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import may_equal, require, require_rank, with_rank
from ..shared.plain_shapes import signature
from ..shared.quantized_ranges import round_half_away
from ..shared.shape_arguments import unknown_dims
from ..shared.window_geometry import Pads, window_pads
from .uniform_quantized import RESCALED_COST, Axes, Operands, along_axis, check_scales, to_output, to_quantized


def _check_matrices(lhs: Any, rhs: Any) -> None:
    require_rank(lhs, 2, "lhs")
    require_rank(rhs, 2, "rhs")
    require(may_equal(lhs.shape[1:], rhs.shape[:1]), f"matrices of {lhs.shape} and {rhs.shape} do not fit")


def _centered(x: Any, zero_points: Any, axis: int) -> Any:
    return x.astype(np.float64) - along_axis(zero_points, axis, x.ndim)


@everywhere("UniformQuantizedDot", static=(2, 4, 6))
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


not_differentiable("UniformQuantizedDot")


def _exact_cost(lhs: TensorSpec, rhs: TensorSpec, outputs: list[TensorSpec], products: DimLike) -> Cost:
    """Differences of both operands, multiply-adds and the change of scale of a product."""
    operands = lhs.shape.num_elements + rhs.shape.num_elements
    return Cost(1) * operands + multiply_adds(products) + RESCALED_COST * outputs[0].shape.num_elements


@flops("UniformQuantizedDot")
def uniform_quantized_dot_flops(lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, outputs: list[TensorSpec]) -> Cost:
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


@everywhere("UniformQuantizedDotHybrid")
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


shape("UniformQuantizedDot", "UniformQuantizedDotHybrid")(signature("(m, ?), (?, n), _* -> (m, n)"))


def _hybrid_cost(lhs: TensorSpec, rhs: TensorSpec, outputs: list[TensorSpec], products: DimLike) -> Cost:
    """The range of the floats and their quantization, differences, multiply-adds and two products to make floats again."""
    operands = Cost(9) * lhs.shape.num_elements + Cost(1) * rhs.shape.num_elements
    return operands + multiply_adds(products) + Cost(2) * outputs[0].shape.num_elements


@flops("UniformQuantizedDotHybrid")
def uniform_quantized_dot_hybrid_flops(lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """Nine operations to quantize a float, a difference for an integer, the product, and two products to make floats again."""
    return _hybrid_cost(lhs, rhs, outputs, outputs[0].shape.num_elements * with_rank(lhs.shape, 2)[1])


without_gradient("UniformQuantizedDotHybrid")


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


@kernel("UniformQuantizedConvolution")
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
    scale = along_axis(np.asarray(lhs_scales.astype(np.float64) * rhs_scales / output_scales), axis, sums.ndim)
    return to_output(sums.astype(np.int64), scale, along_axis(output_zero_points, axis, sums.ndim), *axes.limits, Tout.numpy)


@shape("UniformQuantizedConvolution")
def uniform_quantized_convolution_shape(
    lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, window: ConvolutionAttributes
) -> Shape:
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
    lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, dimension_numbers: str, outputs: list[TensorSpec]
) -> Cost:
    """As UniformQuantizedDot, with a multiply-add for each output and each weight of its filter."""
    return _exact_cost(lhs, rhs, outputs, _window_products(rhs, dimension_numbers, outputs))


not_differentiable("UniformQuantizedConvolution")


@kernel("UniformQuantizedConvolutionHybrid")
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
    return (sums * (form.scales_of(scales) * along_axis(rhs_scales, form.out_order[-1], sums.ndim))).astype(np.float32)


shape("UniformQuantizedConvolutionHybrid")(uniform_quantized_convolution_shape)


@flops("UniformQuantizedConvolutionHybrid")
def uniform_quantized_convolution_hybrid_flops(
    lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, dimension_numbers: str, outputs: list[TensorSpec]
) -> Cost:
    """As UniformQuantizedDotHybrid, with a multiply-add for each output and each weight of its filter."""
    return _hybrid_cost(lhs, rhs, outputs, _window_products(rhs, dimension_numbers, outputs))


without_gradient("UniformQuantizedConvolutionHybrid")
