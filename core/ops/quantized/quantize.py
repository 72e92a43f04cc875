"""Quantizing floats, dequantizing, and both in a single op to simulate quantization in training."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import ZERO, Cost, facts, flops, gradient, kernel, not_differentiable, onnx, shape, without_gradient
from ...support.errors import UnimplementedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.argument_checks import require, require_same_shape, scalar
from ..shared.plain_shapes import first_shape, second_shape
from ..shared.quantized_ranges import (
    along,
    fake_masks,
    fake_quantize,
    limits,
    range_of,
    round_half_away,
    steps,
    tensor_from_float,
)
from . import _onnx_quantize as in_onnx
from . import _quantize_programs  # noqa: F401 - registers lowerings
from ._simulation import Simulation, check_slices, simulated, simulated_gradient


def _range_with_zero(low: Array, high: Array, ensure_minimum_range: float) -> tuple[Array, Array]:
    """Return a range that contains zero and is wide enough for its magnitude."""
    require(np.all(low <= high), f"the range is empty: {low} > {high}")
    low = np.minimum(low, np.float32(0))
    largest = np.maximum(np.float32(1), np.maximum(np.abs(low), np.abs(high)))
    epsilon = largest * np.float32(ensure_minimum_range)
    return low, np.maximum(np.maximum(high, low + epsilon), np.float32(0))


def _scaled_range(low: Array, high: Array, dtype: DType, narrow_range: bool) -> tuple[Array, Array, Array]:
    """Return (scale, low, high): the largest scale at which both ends stay within the type."""
    lowest, highest = limits(dtype)
    lowest += narrow_range
    with np.errstate(all="ignore"):
        most = np.finfo(np.float32).max
        from_low = np.where(np.float32(lowest) * low > 0, np.float32(lowest) / low, most)
        from_high = np.where(np.float32(highest) * high > 0, np.float32(highest) / high, most)
    scale = np.minimum(from_low, from_high).astype(np.float32)
    return scale, (np.float32(lowest) / scale), (np.float32(highest) / scale)


def _half_range(dtype: DType) -> Any:
    return np.float32(steps(dtype) / 2) if dtype.name.startswith("qint") else np.float32(0)


@kernel("QuantizeV2")
def quantize_v2(
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,
    mode: str,
    round_mode: str,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> tuple[Result, Result, Result]:
    """Quantize floats to integers of a type, and return the range of the integers."""
    check_slices(input, min_range, max_range, axis, "input")
    require(not narrow_range or mode == "SCALED", f"narrow_range needs mode SCALED, not {mode}")
    require(round_mode != "HALF_TO_EVEN" or mode == "SCALED", f"round_mode HALF_TO_EVEN needs mode SCALED, not {mode}")
    shape = () if axis == -1 else np.shape(min_range)
    low, high = _range_with_zero(np.reshape(min_range, shape), np.reshape(max_range, shape), ensure_minimum_range)
    if mode == "SCALED":
        scale, low, high = _scaled_range(low, high, T, narrow_range)
        clipped = np.clip(input, along(low, axis, input.ndim), along(high, axis, input.ndim))
        scaled = clipped * along(scale, axis, input.ndim)
        result = np.rint(scaled) if round_mode == "HALF_TO_EVEN" else round_half_away(scaled)
    elif mode == "MIN_FIRST":
        result = _quantize_min_first(input, low, high, axis, T)
    else:
        result = _quantize_min_combined(input, low, high, axis, T)
    lowest, highest = limits(T)
    quantized = np.clip(result.astype(np.float64), lowest, highest).astype(T.numpy)
    return quantized, np.asarray(low, np.float32), np.asarray(high, np.float32)


def _quantize_min_combined(x: Array, low: Array, high: Array, axis: int, dtype: DType) -> Array:
    lowest, highest = limits(dtype)
    scale = along((np.float64(highest - lowest) / (high - low)).astype(np.float32), axis, x.ndim)
    low, high = along(low, axis, x.ndim), along(high, axis, x.ndim)
    shifted = (np.clip(x, low, high) - low) * scale
    if dtype.name.startswith("qint"):
        return round_half_away(shifted - _half_range(dtype))
    return np.trunc(shifted + np.float32(0.5))


def _quantize_min_first(x: Array, low: Array, high: Array, axis: int, dtype: DType) -> Array:
    if axis != -1:
        raise UnimplementedError("QuantizeV2 has no mode MIN_FIRST along an axis")
    if dtype.name == "quint8":
        # TensorFlow's fast path: halves to even, unlike the other types.
        return np.rint((np.clip(x, low, high) - low) * (np.float32(255) / (high - low)))
    return tensor_from_float(x, low, high, dtype)


@kernel("Dequantize")
def dequantize(
    input: Array, min_range: Array, max_range: Array, *, T: DType, mode: str, narrow_range: bool, axis: int, dtype: DType
) -> Result:
    """Integers of a type as the floats they stand for within the range."""
    check_slices(input, min_range, max_range, axis, "input")
    shape = () if axis == -1 else np.shape(min_range)
    low = along(np.reshape(min_range, shape), axis, input.ndim)
    high = along(np.reshape(max_range, shape), axis, input.ndim)
    lowest, highest = limits(T)
    x = input.astype(np.float32)
    if mode == "MIN_COMBINED":
        scale = ((high - low) / np.float32(highest - lowest)).astype(np.float32)
        result = (x + _half_range(T)) * scale + low
    elif mode == "MIN_FIRST":
        scale = ((high.astype(np.float64) - low) / (steps(T) - 1.0)).astype(np.float32)
        with np.errstate(all="ignore"):
            start = np.where(high == low, low, round_half_away(low / scale) * scale)
        result = (start - np.float32(lowest) * scale) + x * scale
    else:
        lowest += narrow_range
        scale = np.maximum(low / np.float32(lowest), high / np.float32(highest)) if lowest else high / np.float32(highest)
        result = x * scale
    return np.asarray(result).astype(dtype.numpy)


@shape("QuantizeV2")
def quantize_v2_shape(input: TensorSpec, min_range: TensorSpec, max_range: TensorSpec, *, axis: int) -> list[Shape]:
    edge = SCALAR if axis == -1 else Shape([None if input.rank is None else input.shape[axis]])
    return [input.shape, edge, edge]


shape("Dequantize")(first_shape)
without_gradient("QuantizeV2", "Dequantize")


@flops("QuantizeV2")
def quantize_v2_flops(input: TensorSpec, min_range: TensorSpec, max_range: TensorSpec, *, T: DType, mode: str) -> Cost:
    """Two clips, a product and a rounding; unless SCALED one or two sums, or the clips after them. Ranges are not counted."""
    combined = 6 if T.name.startswith("qint") else 5
    return Cost({"SCALED": 4, "MIN_FIRST": 5}.get(mode, combined)) * input.shape.num_elements


@flops("Dequantize")
def dequantize_flops(input: TensorSpec, min_range: TensorSpec, max_range: TensorSpec, *, T: DType, mode: str) -> Cost:
    """A product; unless SCALED a sum, or two for the signed types of MIN_COMBINED. Ranges are not counted."""
    combined = 3 if T.name.startswith("qint") else 2
    return Cost({"SCALED": 1, "MIN_FIRST": 2}.get(mode, combined)) * input.shape.num_elements


@kernel("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def quantize_and_dequantize_v2(input: Array, input_min: Array, input_max: Array, *, simulation: Simulation) -> Result:
    """Round floats to the levels of `num_bits`, within the given or measured range."""
    return simulated(input, input_min, input_max, simulation)


@kernel("QuantizeAndDequantizeV3")
def quantize_and_dequantize_v3(
    input: Array, input_min: Array, input_max: Array, num_bits: Array, *, simulation: Simulation
) -> Result:
    """As QuantizeAndDequantizeV2; the number of bits is an input, and a scalar is no input."""
    require(input.ndim > 0, f"axis {simulation.axis} of a scalar")
    bits = scalar(num_bits, "num_bits")
    return simulated(input, input_min, input_max, simulation._replace(num_bits=bits))


@kernel("QuantizeAndDequantize")
def quantize_and_dequantize(input: Array, *, input_min: float, input_max: float, simulation: Simulation) -> Result:
    """As QuantizeAndDequantizeV2; the range is an attribute."""
    low, high = (np.asarray(v).astype(input.dtype) for v in (input_min, input_max))
    return simulated(input, low, high, simulation)


@kernel("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad(
    gradients: Array, input: Array, input_min: Array, input_max: Array, *, axis: int
) -> tuple[Result, Result, Result]:
    """The gradient where the input lies within the range; none for the range."""
    return simulated_gradient(gradients, input, input_min, input_max, axis)


_SIMULATORS = ("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")


shape(*_SIMULATORS)(first_shape)


@shape("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad_shape(
    gradients: TensorSpec, input: TensorSpec, input_min: TensorSpec, input_max: TensorSpec
) -> list[Shape]:
    return [gradients.shape, input_min.shape, input_max.shape]


@gradient("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3")
def quantize_and_dequantize_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Straight through."""
    return [grad, *[None] * (len(node.inputs) - 1)]


@gradient("QuantizeAndDequantizeV4")
def quantize_and_dequantize_v4_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return list(g.QuantizeAndDequantizeV4Grad(grad, *node.inputs, axis=node.attr("axis")))


@gradient("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad_gradient(g: GradientBuilder, node: Node, grad: Output, *_: Output) -> Gradients:
    """Linear in the gradients: the same mask again."""
    masked = g.QuantizeAndDequantizeV4Grad(grad, *node.inputs[1:], axis=node.attr("axis"))
    return [masked[0], None, None, None]


@flops(*_SIMULATORS)
def quantize_and_dequantize_flops(
    input: TensorSpec, *rest: TensorSpec, range_given: bool, round_mode: str = "HALF_TO_EVEN", axis: int = -1
) -> Cost:
    """Two products and a rounding, a sum where halves are rounded up, and two clips; or else the search for the range."""
    require(input.rank is None or axis < input.rank, f"axis {axis} is not smaller than the rank of {input.shape}")
    elements, slices = input.shape.num_elements, 1 if axis == -1 else input.shape[axis]
    each = 3 if round_mode == "HALF_TO_EVEN" else 4
    return Cost(each + 2) * elements + (ZERO if range_given else Cost(-2) * slices)


@flops("QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad_flops(gradients: TensorSpec, *rest: TensorSpec) -> Cost:
    """Two comparisons."""
    return Cost(2) * gradients.shape.num_elements


facts("backward", of=("QuantizeAndDequantizeV4Grad",))


_ZERO = np.zeros((), np.float32)
_FAKE = ("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
_FAKE_GRADIENTS = tuple(f"{name}Gradient" for name in _FAKE)
facts("elementwise", of=_FAKE[:2])


def _vars(min: Array, max: Array) -> tuple[Any, Any]:
    require(np.ndim(min) == np.ndim(max) == 0, "min and max must be scalars")
    return range_of(min, max, "inputs")


def _channels(inputs: Array, min: Array, max: Array) -> None:
    require(inputs.ndim >= 1, "inputs must have at least rank 1")
    for name, value in (("min", min), ("max", max)):
        require(value.shape == inputs.shape[-1:], f"{name} must have shape {inputs.shape[-1:]}, not {value.shape}")


@kernel("FakeQuantWithMinMaxArgs")
def fake_quant_with_min_max_args(inputs: Array, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Result:
    """Inputs rounded to the levels of [min, max]."""
    require(min < max, f"min {min} must be smaller than max {max}")
    return fake_quantize(inputs, min, max, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxVars")
def fake_quant_with_min_max_vars(inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool) -> Result:
    """Inputs rounded to the levels of [min, max]."""
    return fake_quantize(inputs, *_vars(min, max), num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_with_min_max_vars_per_channel(
    inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> Result:
    """Inputs rounded to the levels of the range of their channel, the last dimension."""
    _channels(inputs, min, max)
    return fake_quantize(inputs, min, max, num_bits, narrow_range)


@kernel("FakeQuantWithMinMaxArgsGradient")
def fake_quant_with_min_max_args_gradient(
    gradients: Array, inputs: Array, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Result:
    """The gradient where the input lies within the range."""
    require(min < max, f"min {min} must be smaller than max {max}")
    require_same_shape(gradients, inputs, "gradients and inputs")
    _, within, _ = fake_masks(inputs, min, max, num_bits, narrow_range)
    return np.where(within, gradients, _ZERO)


@kernel("FakeQuantWithMinMaxVarsGradient")
def fake_quant_with_min_max_vars_gradient(
    gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Result, Result, Result]:
    """The gradients for inputs, min and max."""
    require_same_shape(gradients, inputs, "gradients and inputs")
    masks = fake_masks(inputs, *_vars(min, max), num_bits, narrow_range)
    below, within, above = (np.where(mask, gradients, _ZERO) for mask in masks)
    return within, np.sum(below, dtype=np.float32), np.sum(above, dtype=np.float32)


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Result, Result, Result]:
    """The gradients for inputs, min and max."""
    require_same_shape(gradients, inputs, "gradients and inputs")
    _channels(inputs, min, max)
    masks = fake_masks(inputs, min, max, num_bits, narrow_range)
    below, within, above = (np.where(mask, gradients, _ZERO) for mask in masks)
    others = tuple(range(inputs.ndim - 1))
    return within, np.sum(below, others, dtype=np.float32), np.sum(above, others, dtype=np.float32)


shape(*_FAKE)(first_shape)
shape("FakeQuantWithMinMaxArgsGradient")(second_shape)


@shape("FakeQuantWithMinMaxVarsGradient")
def fake_quant_with_min_max_vars_gradient_shape(
    gradients: TensorSpec, inputs: TensorSpec, min: TensorSpec, max: TensorSpec
) -> list[Shape]:
    return [inputs.shape, SCALAR, SCALAR]


@shape("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quant_with_min_max_vars_per_channel_gradient_shape(
    gradients: TensorSpec, inputs: TensorSpec, min: TensorSpec, max: TensorSpec
) -> list[Shape]:
    return [inputs.shape, min.shape, max.shape]


facts(
    "backward",
    of=("FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannelGradient"),
)


@gradient("FakeQuantWithMinMaxArgs")
def fake_quant_with_min_max_args_op_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = {name: node.attr(name) for name in ("min", "max", "num_bits", "narrow_range")}
    return [g.FakeQuantWithMinMaxArgsGradient(grad, node.inputs[0], **attrs)]


@gradient("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_with_min_max_vars_op_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = {name: node.attr(name) for name in ("num_bits", "narrow_range")}
    return list(g.apply(f"{node.op}Gradient", grad, *node.inputs, **attrs))


not_differentiable(*_FAKE_GRADIENTS)


@flops(*_FAKE)
def fake_quant_flops(inputs: TensorSpec, *rest: TensorSpec) -> Cost:
    """Two clips, three sums, two products and a rounding."""
    return Cost(8) * inputs.shape.num_elements


@flops(_FAKE_GRADIENTS[0])
def fake_quant_args_gradient_flops(gradients: TensorSpec, inputs: TensorSpec) -> Cost:
    """Two comparisons."""
    return Cost(2) * gradients.shape.num_elements


@flops(*_FAKE_GRADIENTS[1:])
def fake_quant_vars_gradient_flops(gradients: TensorSpec, inputs: TensorSpec, min: TensorSpec, max: TensorSpec) -> Cost:
    """Two comparisons, and the sums of the gradients below and above each range."""
    return Cost(4 * gradients.shape.num_elements - 2 * min.shape.num_elements)


onnx("Dequantize")(in_onnx.dequantized)
onnx("QuantizeV2")(in_onnx.quantized)
