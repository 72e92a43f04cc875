"""Uniform quantization: real = scale * (integer - zero point), with a single scale or a scale for each place of an axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...registry.registry import Cost, flops, kernel, not_differentiable, onnx, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.argument_checks import require
from ..shared.elementwise_tables import unary_flops
from ..shared.plain_shapes import first_shape
from . import _onnx_uniform as in_onnx


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


def check_scales(x: Array, scales: Array, zero_points: Array, axis: int, name: str) -> None:
    """Scales and zero points are scalars, or vectors of the axis."""
    require(-1 <= axis < max(x.ndim, 0) or axis == -1, f"quantization axis {axis} of {name} is not in [-1, {x.ndim})")
    require(scales.shape == zero_points.shape, f"scales {scales.shape} and zero points {zero_points.shape} of {name} differ")
    expected = () if axis == -1 else x.shape[axis : axis + 1]
    require(scales.shape == expected, f"scales of {name} must have shape {expected}, not {scales.shape}")


def along_axis(values: Array, axis: int, rank: int) -> Array:
    """Reshape a vector to broadcast along the axis; return a scalar unchanged."""
    return values if values.ndim == 0 or axis < 0 else values.reshape((-1,) + (1,) * (rank - axis - 1))


def _clipped(x: Array, low: int, high: int, dtype: Any) -> Array:
    """Clip x to the limits; the lower limit wins where they cross."""
    return np.maximum(np.minimum(x, high), low).astype(dtype)


def to_quantized(x: Array, scale: Any, zero_point: Any, low: int, high: int, dtype: Any) -> Array:
    """floor(x / scale + 0.5) + zero point, within the limits."""
    inverse = np.float32(1) / scale
    return _clipped(np.floor(x * inverse + np.float32(0.5)).astype(np.float64) + zero_point, low, high, dtype)


@kernel("UniformQuantize")
def uniform_quantize(
    input: Array,
    scales: Array,
    zero_points: Array,
    *,
    Tout: DType,
    quantization_axis: int,
    quantization_min_val: int,
    quantization_max_val: int,
) -> Result:
    """Floats as integers."""
    axis = quantization_axis
    check_scales(input, scales, zero_points, axis, "input")
    scales, zero_points = along_axis(scales, axis, input.ndim), along_axis(zero_points, axis, input.ndim)
    return to_quantized(input, scales, zero_points, quantization_min_val, quantization_max_val, Tout.numpy)


# A product, two sums, a rounding and two clips.
flops("UniformQuantize")(unary_flops(6))

not_differentiable("UniformQuantize")


@kernel("UniformDequantize")
def uniform_dequantize(input: Array, scales: Array, zero_points: Array, *, quantization_axis: int) -> Result:
    """Integers as the floats they stand for."""
    check_scales(input, scales, zero_points, quantization_axis, "input")
    scales = along_axis(scales, quantization_axis, input.ndim)
    zero_points = along_axis(zero_points, quantization_axis, input.ndim)
    return (input.astype(np.int64) - zero_points).astype(np.float32) * scales


shape("UniformQuantize", "UniformDequantize")(first_shape)


@kernel("UniformQuantizedClipByValue")
def uniform_quantized_clip_by_value(
    operand: Array, min: Array, max: Array, scales: Array, zero_points: Array, *, quantization_axis: int
) -> Result:
    """Integers within [min, max], each a scalar or a vector of the axis."""
    check_scales(operand, scales, zero_points, quantization_axis, "operand")
    for name, value in (("min", min), ("max", max)):
        require(value.shape == scales.shape, f"{name} must have shape {scales.shape}, not {value.shape}")
    low, high = (along_axis(v, quantization_axis, operand.ndim) for v in (min, max))
    return np.minimum(np.maximum(operand, low), high)


# A difference and a product, or two clips.
flops("UniformDequantize", "UniformQuantizedClipByValue")(unary_flops(2))

without_gradient("UniformDequantize", "UniformQuantizedClipByValue")

_INT32 = (-(2**31), 2**31 - 1)


def _multiplier(scale: Array) -> tuple[Array, Array]:
    """Return positive factors as (31-bit integer, power of two); a power below -31 makes zero."""
    require(np.all(np.isfinite(scale) & (np.asarray(scale) > 0)), f"the ratio of scales must be positive and finite: {scale}")
    fraction, power = np.frexp(np.asarray(scale, np.float64))
    fixed = np.floor(fraction * 2.0**31 + 0.5).astype(np.int64)
    power = np.where(fixed == 1 << 31, power + 1, power).astype(np.int64)
    fixed = np.where(fixed == 1 << 31, fixed // 2, fixed)
    fixed = np.where(power < -31, 0, fixed)
    power = np.where(power < -31, 0, power)
    fixed = np.where(power > 30, _INT32[1], fixed)
    return fixed, np.minimum(power, 30)


def _rescaled(x: Array, scale: Array) -> Array:
    """x times the scale in fixed point, rounded once, within int32."""
    fixed, power = _multiplier(scale)
    shift = 31 - power
    product = np.asarray(x, np.int64) * fixed + (np.int64(1) << (shift - 1))
    return np.clip(product >> shift, *_INT32)


def to_output(x: Array, scale: Array, zero_point: Array, low: int, high: int, dtype: Any) -> Array:
    return _clipped(_rescaled(x, scale) + zero_point, low, high, dtype)


@kernel("UniformRequantize")
def uniform_requantize(
    input: Array,
    input_scales: Array,
    input_zero_points: Array,
    output_scales: Array,
    output_zero_points: Array,
    *,
    Tout: DType,
    input_quantization_axis: int,
    output_quantization_axis: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Result:
    """Convert integers to another scale."""
    check_scales(input, input_scales, input_zero_points, input_quantization_axis, "input")
    check_scales(input, output_scales, output_zero_points, output_quantization_axis, "output")
    axes = {axis for axis in (input_quantization_axis, output_quantization_axis) if axis >= 0}
    require(len(axes) < 2, f"input and output are quantized along different axes: {axes}")
    axis = max(axes, default=-1)
    before, zero, after, new_zero = (
        along_axis(v, axis, input.ndim) for v in (input_scales, input_zero_points, output_scales, output_zero_points)
    )
    scale = before.astype(np.float64) / after
    limits = output_quantization_min_val, output_quantization_max_val
    return to_output(input.astype(np.int64) - zero, scale, new_zero, *limits, Tout.numpy)


shape("UniformRequantize", "UniformQuantizedClipByValue")(first_shape)

# A difference and a change of scale.
flops("UniformRequantize")(unary_flops(9))

not_differentiable("UniformRequantize")


@kernel("UniformQuantizedAdd")
def uniform_quantized_add(operands: Operands, *, axes: Axes, T: DType) -> Result:
    """Add both operands at the output's scale; the smaller operand is broadcast."""
    lhs, rhs, lhs_scales, lhs_zero_points, rhs_scales, rhs_zero_points, output_scales, output_zero_points = operands
    check_scales(lhs, lhs_scales, lhs_zero_points, axes.lhs_quantization_axis, "lhs")
    check_scales(rhs, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis, "rhs")
    try:
        result = np.broadcast_shapes(lhs.shape, rhs.shape)
    except ValueError:
        require(False, f"shapes {lhs.shape} and {rhs.shape} do not broadcast")
    check_scales(np.empty(result, np.int8), output_scales, output_zero_points, axes.output_quantization_axis, "output")
    after, zero = (along_axis(v, axes.output_quantization_axis, len(result)) for v in (output_scales, output_zero_points))
    total = -zero.astype(np.int64)
    for x, scales, zero_points, axis in (
        (lhs, lhs_scales, lhs_zero_points, axes.lhs_quantization_axis),
        (rhs, rhs_scales, rhs_zero_points, axes.rhs_quantization_axis),
    ):
        scale = along_axis(scales, axis, x.ndim).astype(np.float64) / after
        total = total + to_output(x.astype(np.int64) - along_axis(zero_points, axis, x.ndim), scale, zero, *_INT32, np.int64)
    return _clipped(total, *axes.limits, T.numpy)


@shape("UniformQuantizedAdd")
def uniform_quantized_add_shape(lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec) -> Shape:
    return broadcast_shapes(lhs.shape, rhs.shape)


RESCALED_COST = Cost(8)
"""A product, a sum, a shift and two clips in fixed point; the zero point and two clips."""


@flops("UniformQuantizedAdd")
def uniform_quantized_add_flops(lhs: TensorSpec, rhs: TensorSpec, *rest: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """A difference and a change of scale for either operand, two sums and two clips."""
    operands = lhs.shape.num_elements + rhs.shape.num_elements
    return (Cost(1) + RESCALED_COST) * operands + Cost(4) * outputs[0].shape.num_elements


not_differentiable("UniformQuantizedAdd")

onnx("UniformQuantize")(in_onnx.quantized)
onnx("UniformDequantize")(in_onnx.dequantized)
onnx("UniformQuantizedClipByValue")(in_onnx.clipped)


@onnx("UniformRequantize")
def _requantize_onnx(
    g: Any, x: Any, before: Any, zero: Any, after: Any, new_zero: Any,
    *, Tout: DType, input_quantization_axis: int, output_quantization_axis: int, output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Any:  # fmt: skip
    axis = max(input_quantization_axis, output_quantization_axis)
    bounds = output_quantization_min_val, output_quantization_max_val
    return in_onnx.requantized(g, _multiplier, x, before, zero, after, new_zero, Tout=Tout, axis=axis, bounds=bounds)


@onnx("UniformQuantizedAdd")
def _add_onnx(g: Any, operands: Operands, *, axes: Axes, T: DType) -> Any:
    return in_onnx.added(g, _multiplier, operands, axes, T)
