"""Quantizing floats, dequantizing, both in a single op to simulate quantization in training, and conversion between ranges."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.array_namespace import NUMPY
from ...numerics.half_precision import wide
from ...registry.registry import (
    ZERO,
    Cost,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    lower,
    not_differentiable,
    onnx,
    shape,
    shaped,
    without_gradient,
)
from ...support.errors import UnimplementedError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import (
    is_empty,
    may_equal,
    require,
    require_rank,
    require_same_shape,
    require_shape,
    scalar,
    with_rank,
)
from ..shared.decompositions import by_ops, by_outputs
from ..shared.elementwise_tables import unary_flops
from ..shared.quantized_ranges import (
    along,
    fake_masks,
    fake_quantize,
    limits,
    nudged_range,
    range_of,
    requantize,
    round_half_away,
    simulated_range,
    steps,
    tensor_from_float,
    tensor_to_float,
    to_float,
)


class Simulation(NamedTuple):
    """The attributes of quantizing and dequantizing again; some versions of the op have fewer."""

    signed_input: bool
    range_given: bool
    num_bits: int = 8
    round_mode: str = "HALF_TO_EVEN"
    narrow_range: bool = False
    axis: int = -1


def _simulated(xp: Any, x: Any, low: Any, high: Any, simulation: Simulation) -> Any:
    """Return floats rounded to the levels of `num_bits`, within the given or measured range."""
    signed, range_given, bits, round_mode, narrow, axis = simulation
    # TensorFlow counts the levels in int64.
    require(0 < bits < (62 if signed else 63), f"num_bits {bits} is out of range")
    require(axis >= -1, f"axis {axis} is smaller than -1")
    require(axis < x.ndim, f"axis {axis} is not smaller than the rank of {x.shape}")
    dtype, x = x.dtype, wide(x)
    if range_given:
        _check_slices(x, low, high, axis, "input")
        xp.require((low <= high).all(), f"input_min {low} > input_max {high}")
        edge = () if axis == -1 else low.shape
        # A range of one element may come as a vector of one.
        low, high = wide(low.reshape(edge)), wide(high.reshape(edge))
    elif not is_empty(xp, x):
        others = tuple(i for i in range(x.ndim) if i != axis) if axis >= 0 else None
        low, high = xp.min(x, others), xp.max(x, others)
    else:
        return x.astype(dtype)
    low, high, scale, inverse = (along(v, axis, x.ndim) for v in simulated_range(low, high, signed, bits, narrow, xp))
    # A measured range holds all elements, so nothing is to be clipped.
    scaled = (xp.clip(x, low, high) if range_given else x) * scale
    # HALF_UP rounds halves towards plus infinity, also of negative numbers.
    rounded = xp.rint(scaled) if round_mode == "HALF_TO_EVEN" else xp.floor(scaled + x.dtype.type(0.5))
    return (rounded * inverse).astype(dtype)


def _check_slices(x: Any, low: Any, high: Any, axis: int, name: str) -> None:
    """low and high are scalars, or vectors of the axis."""
    require(axis == -1 or 0 <= axis < x.ndim, f"axis {axis} is not in [-1, {x.ndim if axis != -1 else 0})")
    for value in (low, high):
        expected = (1,) * value.ndim if axis == -1 else x.shape[axis : axis + 1]
        require_shape(value, expected, f"the range of {name}")


def _range_with_zero(xp: Any, low: Any, high: Any, ensure_minimum_range: float) -> tuple[Any, Any]:
    """Return a range that contains zero and is wide enough for its magnitude."""
    xp.require((low <= high).all(), f"the range is empty: {low} > {high}")
    low = xp.minimum(low, np.float32(0))
    largest = xp.maximum(xp.maximum(abs(low), abs(high)), np.float32(1))
    # Wide enough for its magnitude: else the scale would be a quotient by almost nothing.
    epsilon = largest * np.float32(ensure_minimum_range)
    return low, xp.maximum(xp.maximum(high, low + epsilon), np.float32(0))


def _scaled_range(xp: Any, low: Any, high: Any, dtype: DType, narrow_range: bool) -> tuple[Any, Any, Any]:
    """Return (scale, low, high): the largest scale at which both ends stay within the type."""
    lowest, highest = limits(dtype)
    lowest, highest = np.float32(lowest + narrow_range), np.float32(highest)
    most = np.finfo(np.float32).max
    with np.errstate(all="ignore"):
        from_low = xp.where(lowest * low > 0, lowest / low, most)
        from_high = xp.where(highest * high > 0, highest / high, most)
    # Both ends have to lie within the type, so the tighter of them decides.
    scale = xp.minimum(from_low, from_high)
    return scale, lowest / scale, highest / scale


def _half_range(dtype: DType) -> Any:
    return np.float32(steps(dtype) / 2) if dtype.name.startswith("qint") else np.float32(0)


@everywhere("QuantizeV2")
def quantize_v2(
    xp: Any, input: Any, min_range: Any, max_range: Any, *,
    T: DType, mode: str, round_mode: str, narrow_range: bool, axis: int, ensure_minimum_range: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Quantize floats to integers of a type, and return the range of the integers."""
    _check_slices(input, min_range, max_range, axis, "input")
    # Outside of SCALED TensorFlow refuses HALF_TO_EVEN and ignores narrow_range.
    require(round_mode != "HALF_TO_EVEN" or mode == "SCALED", f"round_mode HALF_TO_EVEN needs mode SCALED, not {mode}")
    low, high = (xp.reshape(end, () if axis == -1 else (-1,)) for end in (min_range, max_range))
    low, high = _range_with_zero(xp, low, high, ensure_minimum_range)
    if mode == "SCALED":
        scale, low, high = _scaled_range(xp, low, high, T, narrow_range)
        bottom, top, scale = (_along_input(end, axis, input) for end in (low, high, scale))
        scaled = xp.clip(input, bottom, top) * scale
        result = xp.rint(scaled) if round_mode == "HALF_TO_EVEN" else round_half_away(scaled, xp)
    elif mode == "MIN_FIRST":
        result = _quantize_min_first(xp, input, low, high, axis, T)
    else:
        result = _quantize_min_combined(xp, input, low, high, axis, T)
    if T.size < 4:
        result = xp.clip(result, *limits(T))
    elif mode != "MIN_FIRST":
        # Eigen converts 2^31, which the greatest integer is as a float32, to the least integer, and NaN to 0.
        result = xp.where(xp.isnan(result), 0, xp.where(result < 2.0**31, result, -(2.0**31)))
    return result.astype(T.numpy), low, high


def _along_input(values: Any, axis: int, x: Any) -> Any:
    return along(values, axis, x.ndim) if axis >= 0 else values


def _quantize_min_combined(xp: Any, x: Any, low: Any, high: Any, axis: int, dtype: DType) -> Any:
    lowest, highest = limits(dtype)
    width = (high - low).astype(np.float64)
    scale = (np.float64(highest - lowest) / width).astype(np.float32)
    low, high, scale = (_along_input(value, axis, x) for value in (low, high, scale))
    shifted = (xp.clip(x, low, high) - low) * scale
    # Signed types lie half of their integers lower, and are rounded as C's round; unsigned ones are rounded by adding a
    # half.
    if dtype.name.startswith("qint"):
        return round_half_away(shifted - _half_range(dtype), xp)
    return xp.floor(shifted + np.float32(0.5))


def _quantize_min_first(xp: Any, x: Any, low: Any, high: Any, axis: int, dtype: DType) -> Any:
    if axis != -1:
        raise UnimplementedError("QuantizeV2 has no mode MIN_FIRST along an axis")
    if dtype.name == "quint8":
        # TensorFlow's fast path: halves to even, unlike the other types.
        return xp.rint((xp.clip(x, low, high) - low) * (np.float32(255) / (high - low)))
    return tensor_from_float(x, low, high, dtype, xp)


@lower("Dequantize")
def dequantize(
    xp: Any, input: Any, min_range: Any, max_range: Any, *, T: DType, mode: str, narrow_range: bool, axis: int, dtype: DType
) -> Any:
    """Return integers of a type as the floats they stand for within the range.

    ONNX has an operator that takes most ranges, so the lowering to ONNX is another.
    """
    _check_slices(input, min_range, max_range, axis, "input")
    low, high = (xp.reshape(end, () if axis == -1 else (-1,)) for end in (min_range, max_range))
    low, high = (_along_input(end, axis, input) for end in (low, high))
    lowest, highest = limits(T)
    x = input.astype(np.float32)
    if mode == "MIN_COMBINED":
        scale = (high - low) / np.float32(highest - lowest)
        result = (x + _half_range(T)) * scale + low
    elif mode == "MIN_FIRST":
        result = tensor_to_float(input, low, high, T, xp)
    else:
        # A narrow range leaves out the lowest integer, so that both ends have the same magnitude.
        lowest += narrow_range
        scale = high / np.float32(highest)
        result = x * (xp.maximum(low / np.float32(lowest), scale) if lowest else scale)
    return result.astype(dtype.numpy)


kernel("Dequantize")(functools.partial(dequantize, NUMPY))


@onnx("Dequantize")
def _dequantize_onnx(
    g: Any, x: Any, low: Any, high: Any, *, T: DType, mode: str, narrow_range: bool, axis: int, dtype: DType
) -> Any:
    """Lower to DequantizeLinear where the zero is one of the integers."""
    linear = _linear(g, x, low, high, T, mode, narrow_range)
    if linear is not None:
        return g.cast(linear, dtype)
    attrs: dict[str, Any] = {"T": T, "mode": mode, "narrow_range": narrow_range, "axis": axis, "dtype": dtype}
    return g.evaluate(dequantize, (), (), (x, low, high), attrs)


def _linear(g: Any, x: Any, low: Any, high: Any, T: DType, mode: str, narrow_range: bool) -> Any:
    """Return a DequantizeLinear for 8 bits in a constant range; None where the range has no zero among the integers."""
    if x.dtype.size > 1 or mode == "MIN_COMBINED" or low.array is None or high.array is None or low.array.size > 1:
        return None
    lowest, highest = limits(T)
    bottom, top = (np.float32(bound.array.item()) for bound in (low, high))
    if mode == "SCALED":
        first = lowest + narrow_range
        # The wider side of the range decides; an unsigned type has no lower side.
        scale, zero = max([top / np.float32(highest), *([bottom / np.float32(first)] if first else [])]), 0
    else:
        scale = np.float32(np.float64(top - bottom) / (steps(T) - 1.0))
        zero = lowest - int(round_half_away(bottom / scale)) if scale > 0 else highest + 1
    # ONNX's zero point is one of the integers.
    if not lowest <= zero <= highest:
        return None
    return g.op("DequantizeLinear", x, g.constant(scale), g.constant(zero, x.dtype), dtype=dtypes.float32)


@shape("QuantizeV2")
def quantize_v2_shape(input: TensorSpec, *, axis: int) -> list[Shape]:
    edge = SCALAR if axis == -1 else Shape([None if input.rank is None else input.shape[axis]])
    return [input.shape, edge, edge]


shaped("... -> ...", "Dequantize")
without_gradient("QuantizeV2", "Dequantize")


@flops("QuantizeV2")
def quantize_v2_flops(input: TensorSpec, *, T: DType, mode: str) -> Cost:
    """Two clips, a product and a rounding; unless SCALED one or two sums, or the clips after them. Ranges are not counted."""
    combined = 6 if T.name.startswith("qint") else 5
    return Cost({"SCALED": 4, "MIN_FIRST": 5}.get(mode, combined)) * input.shape.num_elements


@flops("Dequantize")
def dequantize_flops(input: TensorSpec, *, T: DType, mode: str) -> Cost:
    """A product; unless SCALED a sum, or two for the signed types of MIN_COMBINED. Ranges are not counted."""
    combined = 3 if T.name.startswith("qint") else 2
    return Cost({"SCALED": 1, "MIN_FIRST": 2}.get(mode, combined)) * input.shape.num_elements


@everywhere("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4", facts=("own_gradient",))
def quantize_and_dequantize_v2(xp: Any, input: Any, input_min: Any, input_max: Any, *, simulation: Simulation) -> Any:
    """Round floats to the levels of `num_bits`, within the given or measured range."""
    return _simulated(xp, input, input_min, input_max, simulation)


@everywhere("QuantizeAndDequantizeV3", facts=("own_gradient",), static=(3,))
def quantize_and_dequantize_v3(
    xp: Any, input: Any, input_min: Any, input_max: Any, num_bits: Array, *, simulation: Simulation
) -> Any:
    """As QuantizeAndDequantizeV2; the number of bits is an input, and a scalar is no input."""
    require(input.ndim > 0, f"axis {simulation.axis} of a scalar")
    bits = scalar(num_bits, "num_bits")
    return _simulated(xp, input, input_min, input_max, simulation._replace(num_bits=bits))


@everywhere("QuantizeAndDequantize", shape="... -> ...", facts=("own_gradient",))
def quantize_and_dequantize(xp: Any, input: Any, *, input_min: float, input_max: float, simulation: Simulation) -> Any:
    """As QuantizeAndDequantizeV2; the range is an attribute."""
    low, high = (np.asarray(end).astype(input.dtype) for end in (input_min, input_max))
    return _simulated(xp, input, low, high, simulation)


# Two comparisons.
@everywhere("QuantizeAndDequantizeV4Grad", flops=unary_flops(2), facts=("backward",))
def quantize_and_dequantize_v4_grad(
    xp: Any, gradients: Any, x: Any, low: Any, high: Any, *, axis: int
) -> tuple[Any, Any, Any]:
    """Return the gradient where the input lies within the range, and zeros for the range."""
    require(axis >= -1, f"axis {axis} is smaller than -1")
    require_same_shape(gradients, x, "gradients and input")
    require(axis < x.ndim, f"axis {axis} is not smaller than the rank of {x.shape}")
    expected = () if axis == -1 else x.shape[axis : axis + 1]
    for name, value in (("input_min", low), ("input_max", high)):
        require_shape(value, expected, name)
    inside = (x >= along(low, axis, x.ndim)) & (x <= along(high, axis, x.ndim))
    # A product and no choice: TensorFlow's gradients outside of the range are -0 if negative, and NaN if infinite.
    return gradients * inside.astype(gradients.dtype), xp.zeros_like(low), xp.zeros_like(high)


_SIMULATORS = ("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
# Straight through: the derivative of the rounding would be 0 everywhere, and nothing could be trained.
gradient(*_SIMULATORS[:3])(by_ops("dy"))
gradient(_SIMULATORS[3])(by_outputs("QuantizeAndDequantizeV4Grad dy 0 1 2"))


@shape("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def quantize_and_dequantize_shape(input: TensorSpec, input_min: TensorSpec, input_max: TensorSpec, *, axis: int) -> Shape:
    merge_shapes(merge_shapes(input_min.shape, input_max.shape), _ends_shape(input.shape, axis))
    return input.shape


def _ends_shape(values: Shape, axis: int) -> Shape:
    """Return the shape of the ends of ranges: a number, or one for each place on an axis."""
    return SCALAR if axis == -1 else Shape([values[axis]])


@shape("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad_shape(
    gradients: TensorSpec, input: TensorSpec, input_min: TensorSpec, input_max: TensorSpec, *, axis: int
) -> list[Shape]:
    both = merge_shapes(gradients.shape, input.shape)
    ends = merge_shapes(merge_shapes(input_min.shape, input_max.shape), _ends_shape(both, axis))
    return [both, ends, ends]


@gradient("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad_gradient(g: GradientBuilder, node: Node, grad: Output, *_: Output) -> Gradients:
    """Linear in the gradients: the same mask again."""
    masked = g.QuantizeAndDequantizeV4Grad(grad, *node.inputs[1:], axis=node.attr("axis"))
    return [masked[0], None, None, None]


@flops(*_SIMULATORS)
def quantize_and_dequantize_flops(
    input: TensorSpec, *, range_given: bool, round_mode: str = "HALF_TO_EVEN", axis: int = -1
) -> Cost:
    """Two products and a rounding, a sum where halves are rounded up, and two clips; or else the search for the range."""
    require(input.rank is None or axis < input.rank, f"axis {axis} is not smaller than the rank of {input.shape}")
    elements, slices = input.shape.num_elements, 1 if axis == -1 else input.shape[axis]
    each = 3 if round_mode == "HALF_TO_EVEN" else 4
    return Cost(each + 2) * elements + (ZERO if range_given else Cost(-2) * slices)


_FAKE = ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
_FAKE_GRADIENTS = tuple(f"{name}Gradient" for name in _FAKE)
facts("elementwise", of=_FAKE[:2])


def _require_range(x: Any, low: Any, high: Any, is_by_channel: bool) -> None:
    require(x.ndim or not is_by_channel, "inputs must have at least rank 1")
    expected = x.shape[-1:] if is_by_channel else ()
    for name, value in (("min", low), ("max", high)):
        require_shape(value, expected, name)


@everywhere("FakeQuantWithMinMaxArgs", shape="... -> ...", gradient=by_ops("FakeQuantWithMinMaxArgsGradient dy 0"))
def fake_quant_with_min_max_args(xp: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Any:
    """Inputs rounded to the levels of [min, max]."""
    require(min < max, f"min {min} must be smaller than max {max}")
    return _fake_quantized(xp, inputs, np.float32(min), np.float32(max), num_bits, narrow_range)


def _fake_quant_vars(by_channel: bool, xp: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
    """Inputs rounded to the levels of [min, max], the range of all or of their channel, the last dimension."""
    _require_range(inputs, min, max, by_channel)
    return _fake_quantized(xp, inputs, min, max, num_bits, narrow_range)


def _fake_quantized(xp: Any, x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Any:
    """Return x rounded to the levels, with TensorFlow's gradient: of x within the range, else of the end of the range."""
    if xp.is_eager:
        return fake_quantize(x, low, high, num_bits, narrow_range)  # the same in place
    low, high = xp.asarray(low, np.float32), xp.asarray(high, np.float32)
    least, most, scale = nudged_range(low, high, num_bits, narrow_range, xp)
    inverse = np.float32(1) / scale
    zero = xp.floor(-least * inverse + np.float32(0.5))
    clipped = xp.maximum(xp.minimum(x, most), least)
    levels = xp.floor((clipped - least) * inverse - zero + np.float32(0.5)) * scale
    is_zero = (low == 0) & (high == 0)

    def path() -> Any:
        # The path has finite values, as infinity less itself would be NaN in the result.
        inside = xp.where(xp.isfinite(x), x, 0)
        return xp.where((x < least) & ~is_zero, low, xp.where((x > most) & ~is_zero, high, inside))

    return xp.with_derivatives(xp.where(is_zero, np.float32(0), levels), path)


@everywhere("FakeQuantWithMinMaxArgsGradient", shape="..., ... -> ...", facts=("backward",))
def fake_quant_with_min_max_args_gradient(
    xp: Any, gradients: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    """The gradient where the input lies within the range."""
    require(min < max, f"min {min} must be smaller than max {max}")
    require_same_shape(gradients, inputs, "gradients and inputs")
    _, within, _ = fake_masks(inputs, min, max, num_bits, narrow_range, xp)
    return xp.where(within, gradients, np.float32(0))


def _fake_quant_vars_gradient(
    by_channel: bool, xp: Any, gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """The gradients for inputs, min and max."""
    _require_range(inputs, min, max, by_channel)
    require_same_shape(gradients, inputs, "gradients and inputs")
    masks = fake_masks(inputs, min, max, num_bits, narrow_range, xp)
    below, within, above = (xp.where(mask, gradients, np.float32(0)) for mask in masks)
    axes = tuple(range(inputs.ndim - by_channel))
    return within, xp.sum(below, axes), xp.sum(above, axes)


for _op, _by_channel, _values, _ends in ((_FAKE[1], False, "...", "(), ()"), (_FAKE[2], True, "... n", "n, n")):
    everywhere(
        _op, shape=f"{_values}, {_ends} -> {_values}", gradient=by_outputs(f"{_op}Gradient dy 0 1 2")
    )(functools.partial(_fake_quant_vars, _by_channel))  # fmt: skip
    everywhere(f"{_op}Gradient", shape=f"{_values}, {_values}, {_ends} -> {_values}, {_ends}", facts=("backward",))(
        functools.partial(_fake_quant_vars_gradient, _by_channel)
    )


not_differentiable(*_FAKE_GRADIENTS)


# Two clips, three sums, two products and a rounding.
flops(*_FAKE)(unary_flops(8))


# Two comparisons.
flops(_FAKE_GRADIENTS[0])(unary_flops(2))


@flops(*_FAKE_GRADIENTS[1:])
def fake_quant_vars_gradient_flops(gradients: TensorSpec, inputs: TensorSpec, min: TensorSpec) -> Cost:
    """Two comparisons, and the sums of the gradients below and above each range."""
    return Cost(4 * gradients.shape.num_elements - 2 * min.shape.num_elements)


def _used_range(xp: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> tuple[Any, Any]:
    """Return the range between the smallest and the largest integer there is, and zero."""
    ends: Any = np.array(limits(dtype)[::-1], dtype.numpy) if is_empty(xp, q) else (xp.min(q), xp.max(q))
    low, high = (to_float(end, *bounds, dtype, xp) for end in ends)
    # TensorFlow's range always reaches down to zero.
    return xp.minimum(low, np.float32(0)), high


@everywhere("RequantizationRange", shape="-> (), ()")
def requantization_range(xp: Any, input: Any, input_min: Any, input_max: Any, *, Tinput: DType) -> tuple[Any, Any]:
    """The range that the values use."""
    for value in (input, input_min, input_max):
        require(not is_empty(xp, value), "input and its range must not be empty")
    return _used_range(xp, input, (xp.reshape(input_min, (-1,))[0], xp.reshape(input_max, (-1,))[0]), Tinput)


@everywhere("Requantize", shape="... -> ..., (), ()")
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


@everywhere("QuantizeDownAndShrinkRange", shape="... -> ..., (), ()")
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


@everywhere("RequantizationRangePerChannel", shape="-> (), ()")
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


# A product, a rounding and two clips.
@everywhere("RequantizePerChannel", shape="... -> ..., (), ()", flops=unary_flops(4))
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


# TensorFlow differentiates none of these.
without_gradient(
    "RequantizationRange", "Requantize", "QuantizeDownAndShrinkRange", "RequantizationRangePerChannel", "RequantizePerChannel"
)  # fmt: skip

DEQUANTIZING, QUANTIZING = Cost(2), Cost(5)
"""From integers a product and a sum; to integers a product, a rounding, a difference and two clips."""


@flops("RequantizationRange")
def requantization_range_flops(x: TensorSpec) -> Cost:
    """The smallest and the largest element."""
    return Cost(2 * x.shape.num_elements - 2)


@flops("RequantizationRangePerChannel")
def requantization_range_per_channel_flops(x: TensorSpec) -> Cost:
    """The smallest and the largest element of each channel; operations on ranges are not counted."""
    return Cost(2 * x.shape.num_elements - 2 * with_rank(x.shape, 4)[3])


@flops("Requantize")
def requantize_flops(x: TensorSpec, *, Tinput: DType, out_type: DType) -> Cost:
    """A product, two shifts, a sum and two clips from 32 to 8 bits; otherwise from integers to floats and back."""
    is_fixed = (Tinput.name, out_type.name) == ("qint32", "quint8")
    return (Cost(6) if is_fixed else DEQUANTIZING + QUANTIZING) * x.shape.num_elements


@flops("QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range_flops(x: TensorSpec, *, Tinput: DType, out_type: DType) -> Cost:
    """As RequantizationRange and Requantize."""
    return requantization_range_flops(x) + requantize_flops(x, Tinput=Tinput, out_type=out_type)
