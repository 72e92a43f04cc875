"""Uniform quantization: real = scale * (integer - zero point), with a single scale or a scale for each place of an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...numerics.array_namespace import NUMPY
from ...registry.registry import Cost, everywhere, flops, not_differentiable, shape, without_gradient
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.argument_checks import may_equal, require, require_broadcast, require_shape
from ..shared.elementwise_tables import binary_shape, unary_flops
from ..shared.plain_shapes import first_shape


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


def along_axis(values: Any, axis: int, rank: int) -> Any:
    """Reshape a vector to broadcast along the axis; return a scalar unchanged."""
    return values if values.ndim == 0 or axis < 0 else values.reshape((-1,) + (1,) * (rank - axis - 1))


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


@everywhere("UniformQuantize")
def uniform_quantize(
    xp: Any, input: Any, scales: Any, zero_points: Any, *,
    Tout: DType, quantization_axis: int, quantization_min_val: int, quantization_max_val: int,
) -> Any:  # fmt: skip
    """Floats as integers."""
    axis = quantization_axis
    check_scales(input.shape, scales, zero_points, axis, "input")
    scales, zero_points = along_axis(scales, axis, input.ndim), along_axis(zero_points, axis, input.ndim)
    return to_quantized(input, scales, zero_points, quantization_min_val, quantization_max_val, Tout.numpy, xp)


# A product, two sums, a rounding and two clips.
flops("UniformQuantize")(unary_flops(6))

not_differentiable("UniformQuantize")


@everywhere("UniformDequantize")
def uniform_dequantize(xp: Any, input: Any, scales: Any, zero_points: Any, *, quantization_axis: int) -> Any:
    """Integers as the floats they stand for."""
    check_scales(input.shape, scales, zero_points, quantization_axis, "input")
    scales, zero_points = (along_axis(values, quantization_axis, input.ndim) for values in (scales, zero_points))
    return (input.astype(np.int64) - zero_points.astype(np.int64)).astype(np.float32) * scales


shape("UniformQuantize", "UniformDequantize")(first_shape)


@everywhere("UniformQuantizedClipByValue")
def uniform_quantized_clip_by_value(
    xp: Any, operand: Any, min: Any, max: Any, scales: Any, zero_points: Any, *, quantization_axis: int
) -> Any:
    """Integers within [min, max], each a scalar or a vector of the axis."""
    check_scales(operand.shape, scales, zero_points, quantization_axis, "operand")
    for name, value in (("min", min), ("max", max)):
        require_shape(value, scales.shape, name)
    low, high = (along_axis(value, quantization_axis, operand.ndim) for value in (min, max))
    return xp.minimum(xp.maximum(operand, low), high)


# A difference and a product, or two clips.
flops("UniformDequantize", "UniformQuantizedClipByValue")(unary_flops(2))

without_gradient("UniformDequantize", "UniformQuantizedClipByValue")

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
@everywhere("UniformRequantize", static=(1, 3))
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
    before, zero = (along_axis(values, input_quantization_axis, input.ndim) for values in (input_scales, input_zero_points))
    after, new_zero = (
        along_axis(values, output_quantization_axis, input.ndim) for values in (output_scales, output_zero_points)
    )
    scale = before.astype(np.float64) / after
    bounds = output_quantization_min_val, output_quantization_max_val
    return to_output(input.astype(np.int64) - zero.astype(np.int64), scale, new_zero, *bounds, Tout.numpy, xp)


shape("UniformRequantize", "UniformQuantizedClipByValue")(first_shape)

# A difference and a change of scale.
flops("UniformRequantize")(unary_flops(9))

not_differentiable("UniformRequantize")


@everywhere("UniformQuantizedAdd", static=(2, 4, 6))
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
    after, zero = (
        along_axis(values, axes.output_quantization_axis, len(dims)) for values in (output_scales, output_zero_points)
    )
    zero = zero.astype(np.int64)
    # Each operand is rescaled with the output's zero point added, so one of the two is taken away.
    total = -zero
    for x, scales, zero_points, axis in (
        (lhs, lhs_scales, lhs_zero_points, axes.lhs_quantization_axis),
        (rhs, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis),
    ):
        scale = along_axis(scales, axis, x.ndim).astype(np.float64) / after
        centered = x.astype(np.int64) - along_axis(zero_points, axis, x.ndim).astype(np.int64)
        total = total + to_output(centered, scale, zero, *_INT32, np.int64, xp)
    return _clipped(xp, total, *axes.limits, T.numpy)


shape("UniformQuantizedAdd")(binary_shape)

RESCALED_COST = Cost(8)
"""A product, a sum, a shift and two clips in fixed point; the zero point and two clips."""


@flops("UniformQuantizedAdd")
def uniform_quantized_add_flops(lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A difference and a change of scale for either operand, two sums and two clips."""
    operands = lhs.shape.num_elements + rhs.shape.num_elements
    return (Cost(1) + RESCALED_COST) * operands + Cost(4) * outputs[0].shape.num_elements


not_differentiable("UniformQuantizedAdd")
