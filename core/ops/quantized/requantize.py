"""Conversion of quantized integers from a range to another, and the actual range of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import Cost, everywhere, flops, shape, without_gradient
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.argument_checks import is_empty, may_equal, require, require_rank, with_rank
from ..shared.elementwise_tables import unary_flops
from ..shared.plain_shapes import signature, two_scalars_shape
from ..shared.quantized_ranges import limits, range_of, requantize, to_float


def _used_range(xp: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> tuple[Any, Any]:
    """Return the range between the smallest and the largest integer there is, and zero."""
    ends: Any = np.array(limits(dtype)[::-1], dtype.numpy) if is_empty(xp, q) else (xp.min(q), xp.max(q))
    low, high = (to_float(end, *bounds, dtype, xp) for end in ends)
    # TensorFlow's range always reaches down to zero.
    return xp.minimum(low, np.float32(0)), high


@everywhere("RequantizationRange")
def requantization_range(xp: Any, input: Any, input_min: Any, input_max: Any, *, Tinput: DType) -> tuple[Any, Any]:
    """The range that the values use."""
    for value in (input, input_min, input_max):
        require(not is_empty(xp, value), "input and its range must not be empty")
    return _used_range(xp, input, (xp.reshape(input_min, (-1,))[0], xp.reshape(input_max, (-1,))[0]), Tinput)


@everywhere("Requantize")
def requantize_op(
    xp: Any, input: Any, input_min: Any, input_max: Any, requested_output_min: Any, requested_output_max: Any, *,
    Tinput: DType, out_type: DType,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Convert integers to another range and type."""
    old = range_of(input_min, input_max, "input", xp)
    low, high = range_of(requested_output_min, requested_output_max, "the output", xp)
    xp.require(low <= 0, f"requested_output_min must be <= 0, not {low}")
    xp.require(high >= low, f"requested_output_max {high} must be >= requested_output_min {low}")
    return requantize(input, old, Tinput, (low, high), out_type, xp), low, high


@everywhere("QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range(
    xp: Any, input: Any, input_min: Any, input_max: Any, *, Tinput: DType, out_type: DType
) -> tuple[Any, Any, Any]:
    """Fewer bits, in the range that the values use."""
    old = range_of(input_min, input_max, "input", xp)
    new = _used_range(xp, input, old, Tinput)
    return requantize(input, old, Tinput, new, out_type, xp), *new


def _magnitudes(xp: Any, low: Any, high: Any) -> Any:
    """Return the larger magnitude of both ends of each range, double."""
    return xp.maximum(abs(xp.reshape(low, (-1,))), abs(xp.reshape(high, (-1,)))).astype(np.float64)


@everywhere("RequantizationRangePerChannel")
def requantization_range_per_channel(
    xp: Any, input: Any, input_min: Any, input_max: Any, *, clip_value_max: float
) -> tuple[Any, Any]:
    """A symmetric range (from zero where nothing is negative) that holds all channels, the last dimension."""
    require_rank(input, 4, "input")
    require(not is_empty(xp, input), f"input must not be empty: {input.shape}")
    channels = input.shape[-1]
    for name, value in (("input_min", input_min), ("input_max", input_max)):
        fits = may_equal((xp.size(value),), (channels,))
        require(fits, f"{name} must have {channels} elements, not shape {value.shape}")
    # The magnitude of the lowest int32 does not fit into int32.
    wide = input.astype(np.int64)
    largest = xp.max(abs(wide), (0, 1, 2)).astype(np.float64)
    # A channel's range is that of 32 bits; its largest integer uses this share of it.
    values = _magnitudes(xp, input_min, input_max) * largest / 2.0**31
    top = xp.minimum(xp.max(values), clip_value_max).astype(np.float32)
    # Without a negative number the range begins at zero and the type may be unsigned.
    return xp.where(xp.min(wide) >= 0, np.float32(0), -top), top


@everywhere("RequantizePerChannel")
def requantize_per_channel(
    xp: Any, input: Any, input_min: Any, input_max: Any, requested_output_min: Any, requested_output_max: Any, *,
    out_type: DType,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Convert integers with a range for each channel, the last dimension, to integers of a common range."""
    require_rank(input, 4, "input")
    for name, value in (("input_min", input_min), ("input_max", input_max)):
        size = xp.size(value)
        fits = may_equal((size,), (1,)) or may_equal((size,), (input.shape[-1],))
        require(fits, f"{name} {value.shape} does not fit input {input.shape}")
    low, high = range_of(requested_output_min, requested_output_max, "the output", xp)
    lowest, highest = limits(out_type)
    largest = xp.maximum(abs(low), abs(high)).astype(np.float64)
    scale = _magnitudes(xp, input_min, input_max) * float(highest) / largest / 2.0**31
    scaled = xp.rint(input.astype(np.float64) * scale)
    return xp.clip(scaled, max(lowest, -highest - 1), highest).astype(out_type.numpy), low, high


def with_range(shape: Shape) -> list[Shape]:
    """Return the shapes of a tensor and of the two ends of its range."""
    return [shape, SCALAR, SCALAR]


shape("RequantizationRange", "RequantizationRangePerChannel")(two_scalars_shape)


quantized_unary_shape = signature("x, _* -> x, (), ()")
shape("Requantize", "RequantizePerChannel", "QuantizeDownAndShrinkRange")(quantized_unary_shape)


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
