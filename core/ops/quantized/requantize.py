"""Conversion of quantized integers from a range to another, and the actual range of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import Cost, flops, kernel, onnx, shape, without_gradient
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.elementwise_tables import unary_flops
from ..shared.quantized_ranges import limits, range_of, requantize, to_float
from . import _onnx_arithmetic as in_onnx


def _used_range(q: Array, bounds: tuple[Any, Any], dtype: DType) -> tuple[Array, Array]:
    """Return the range between the smallest and the largest integer there is, and zero."""
    ends = np.array([q.min(initial=limits(dtype)[1]), q.max(initial=limits(dtype)[0])])
    low, high = to_float(ends, *bounds, dtype)
    return np.minimum(low, np.float32(0)), high


@kernel("RequantizationRange")
def requantization_range(input: Array, input_min: Array, input_max: Array, *, Tinput: DType) -> tuple[Result, Result]:
    """The range that the values use."""
    require(input.size and input_min.size and input_max.size, "input and its range must not be empty")
    return _used_range(input, range_of(input_min.flat[0], input_max.flat[0], "input"), Tinput)


@kernel("Requantize")
def requantize_op(
    input: Array,
    input_min: Array,
    input_max: Array,
    requested_output_min: Array,
    requested_output_max: Array,
    *,
    Tinput: DType,
    out_type: DType,
) -> tuple[Result, Result, Result]:
    """Convert integers to another range and type."""
    old = range_of(input_min, input_max, "input")
    low, high = range_of(requested_output_min, requested_output_max, "the output")
    require(low <= 0, f"requested_output_min must be <= 0, not {low}")
    require(high >= low, f"requested_output_max {high} must be >= requested_output_min {low}")
    return requantize(input, old, Tinput, (low, high), out_type), low, high


@kernel("QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range(
    input: Array, input_min: Array, input_max: Array, *, Tinput: DType, out_type: DType
) -> tuple[Result, Result, Result]:
    """Fewer bits, in the range that the values use."""
    old = range_of(input_min, input_max, "input")
    new = _used_range(input, old, Tinput)
    return requantize(input, old, Tinput, new, out_type), *new


def _magnitudes(low: Array, high: Array) -> Array:
    return np.maximum(np.abs(np.ravel(low)), np.abs(np.ravel(high))).astype(np.float32)


@kernel("RequantizationRangePerChannel")
def requantization_range_per_channel(
    input: Array, input_min: Array, input_max: Array, *, clip_value_max: float
) -> tuple[Result, Result]:
    """A symmetric range (from zero where nothing is negative) that holds all channels, the last dimension."""
    require_rank(input, 4, "input")
    require(input.size > 0, f"input must not be empty: {input.shape}")
    for name, value in (("input_min", input_min), ("input_max", input_max)):
        require(value.size == input.shape[-1], f"{name} must have {input.shape[-1]} elements, not shape {value.shape}")
    others = tuple(range(input.ndim - 1))
    wide = input.astype(np.int64)
    largest = np.maximum(np.abs(wide.max(others)), np.abs(wide.min(others)))
    largest_value = (_magnitudes(input_min, input_max) * largest / 2.0**31).max()
    top = np.float32(min(largest_value, clip_value_max))
    return np.float32(0) if input.min() >= 0 else -top, top


@kernel("RequantizePerChannel")
def requantize_per_channel(
    input: Array,
    input_min: Array,
    input_max: Array,
    requested_output_min: Array,
    requested_output_max: Array,
    *,
    out_type: DType,
) -> tuple[Result, Result, Result]:
    """Convert integers with a range for each channel, the last dimension, to integers of a common range."""
    require_rank(input, 4, "input")
    for name, value in (("input_min", input_min), ("input_max", input_max)):
        require(value.size in (1, input.shape[-1]), f"{name} {value.shape} does not fit input {input.shape}")
    low, high = range_of(requested_output_min, requested_output_max, "the output")
    lowest, highest = limits(out_type)
    scale = np.float64(highest) * _magnitudes(input_min, input_max) / max(abs(low), abs(high)) / 2.0**31
    return np.clip(np.rint(input * scale), max(lowest, -highest - 1), highest).astype(out_type.numpy), low, high


def with_range(shape: Shape) -> list[Shape]:
    """Return the shapes of a tensor and of the two ends of its range."""
    return [shape, SCALAR, SCALAR]


@shape("RequantizationRange", "RequantizationRangePerChannel")
def requantization_range_shape(input: TensorSpec, input_min: TensorSpec, input_max: TensorSpec) -> list[Shape]:
    return [SCALAR, SCALAR]


@shape("Requantize", "RequantizePerChannel", "QuantizeDownAndShrinkRange")
def requantize_shape(x: TensorSpec, *rest: TensorSpec) -> list[Shape]:
    return with_range(x.shape)


# TensorFlow differentiates none of these.
without_gradient(
    "RequantizationRange", "Requantize", "QuantizeDownAndShrinkRange", "RequantizationRangePerChannel", "RequantizePerChannel"
)  # fmt: skip

DEQUANTIZING, QUANTIZING = Cost(2), Cost(5)
"""From integers a product and a sum; to integers a product, a rounding, a difference and two clips."""

# A product, a rounding and two clips.
flops("RequantizePerChannel")(unary_flops(4))


@flops("RequantizationRange")
def requantization_range_flops(x: TensorSpec, *rest: TensorSpec) -> Cost:
    """The smallest and the largest element."""
    return Cost(2 * x.shape.num_elements - 2)


@flops("RequantizationRangePerChannel")
def requantization_range_per_channel_flops(x: TensorSpec, *rest: TensorSpec) -> Cost:
    """The smallest and the largest element of each channel; operations on ranges are not counted."""
    return Cost(2 * x.shape.num_elements - 2 * with_rank(x.shape, 4)[3])


@flops("Requantize")
def requantize_flops(x: TensorSpec, *rest: TensorSpec, Tinput: DType, out_type: DType) -> Cost:
    """A product, two shifts, a sum and two clips from 32 to 8 bits; otherwise from integers to floats and back."""
    is_fixed = (Tinput.name, out_type.name) == ("qint32", "quint8")
    return (Cost(6) if is_fixed else DEQUANTIZING + QUANTIZING) * x.shape.num_elements


@flops("QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range_flops(x: TensorSpec, *rest: TensorSpec, Tinput: DType, out_type: DType) -> Cost:
    """As RequantizationRange and Requantize."""
    return requantization_range_flops(x) + requantize_flops(x, Tinput=Tinput, out_type=out_type)


onnx("RequantizationRange")(in_onnx.used_range)
onnx("Requantize")(in_onnx.requantize)
onnx("QuantizeDownAndShrinkRange")(in_onnx.shrunk)
onnx("RequantizationRangePerChannel")(in_onnx.used_range_of_channels)
onnx("RequantizePerChannel")(in_onnx.requantize_channels)
