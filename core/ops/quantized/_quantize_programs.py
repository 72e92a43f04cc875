"""Simulated quantization as array programs, of XLA and of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import arrays, facts
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ..shared.argument_checks import require, scalar
from ..shared.quantized_ranges import fake_masks, nudged_range
from ._simulation import Simulation, may_equal, simulated, simulated_gradient

facts("own_gradient", of=["QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"])
facts("own_gradient", of=["QuantizeAndDequantizeV4"])


def _fake(xp: Any, x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Any:
    """Return x rounded to the levels, with TensorFlow's gradient: of x within the range, else of the end of the range."""
    low, high = xp.asarray(low, np.float32), xp.asarray(high, np.float32)
    least, most, scale = nudged_range(low, high, num_bits, narrow_range, xp)
    inverse = np.float32(1) / scale
    zero = xp.floor(-least * inverse + np.float32(0.5))
    clipped = xp.maximum(xp.minimum(x, most), least)
    levels = xp.floor((clipped - least) * inverse - zero + np.float32(0.5)) * scale
    is_empty = (low == 0) & (high == 0)

    def path() -> Any:
        inside = xp.where(xp.isfinite(x), x, 0)
        return xp.where((x < least) & ~is_empty, low, xp.where((x > most) & ~is_empty, high, inside))

    return xp.with_derivatives(xp.where(is_empty, np.float32(0), levels), path)


@arrays("FakeQuantWithMinMaxArgs")
def fake_by_attributes(xp: Any, x: Any, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Any:
    """Return inputs rounded to the levels of a fixed range."""
    require(min < max, f"min {min} must be smaller than max {max}")
    return _fake(xp, x, np.float32(min), np.float32(max), num_bits, narrow_range)


@arrays("FakeQuantWithMinMaxArgsGradient")
def fake_gradient_by_attributes(
    xp: Any, grad: Any, x: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    """Return the gradient where the input lies within the range."""
    require(min < max and xp.same_shape(grad, x), f"min {min} must be smaller than max {max}")
    _, within, _ = fake_masks(x, min, max, num_bits, narrow_range, xp)
    return xp.where(within, grad, np.float32(0))


def _require_range(x: Any, low: Any, high: Any, is_by_channel: bool) -> None:
    expected = x.shape[-1:] if is_by_channel else ()
    if not may_equal(low.shape, expected) or not may_equal(high.shape, expected) or (is_by_channel and not x.ndim):
        raise InvalidArgumentError(f"a range of shape {low.shape} does not fit {x.shape}")


def _register(op: str, is_by_channel: bool) -> None:
    @arrays(op)
    def fake(xp: Any, x: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
        """Return inputs rounded to the levels of a range."""
        _require_range(x, min, max, is_by_channel)
        return _fake(xp, x, min, max, num_bits, narrow_range)

    @arrays(f"{op}Gradient")
    def fake_gradient(xp: Any, grad: Any, x: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
        """Return the gradients of inputs, minimum and maximum."""
        _require_range(x, min, max, is_by_channel)
        require(xp.same_shape(grad, x), "gradients and inputs must have the same shape")
        masks = fake_masks(x, min, max, num_bits, narrow_range, xp)
        below, within, above = (xp.where(mask, grad, np.float32(0)) for mask in masks)
        axes = tuple(range(x.ndim - is_by_channel))
        return within, xp.sum(below, axes), xp.sum(above, axes)


_register("FakeQuantWithMinMaxVars", False)
_register("FakeQuantWithMinMaxVarsPerChannel", True)


@arrays("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def simulated_v2(xp: Any, x: Any, low: Any, high: Any, *, simulation: Simulation) -> Any:
    """Return floats rounded to the levels within the given or measured range."""
    return simulated(x, low, high, simulation, xp)


@arrays("QuantizeAndDequantizeV3", static=(3,))
def simulated_v3(xp: Any, x: Any, low: Any, high: Any, num_bits: Array, *, simulation: Simulation) -> Any:
    """Return floats rounded to the levels; the number of bits is an input."""
    require(x.ndim > 0, f"axis {simulation.axis} of a scalar")
    return simulated(x, low, high, simulation._replace(num_bits=scalar(num_bits, "num_bits")), xp)


@arrays("QuantizeAndDequantize")
def simulated_v1(xp: Any, x: Any, *, input_min: float, input_max: float, simulation: Simulation) -> Any:
    """Return floats rounded to the levels; the range is an attribute."""
    return simulated(x, xp.asarray(input_min, x.dtype), xp.asarray(input_max, x.dtype), simulation, xp)


@arrays("QuantizeAndDequantizeV4Grad")
def simulated_v4_gradient(xp: Any, grad: Any, x: Any, low: Any, high: Any, *, axis: int) -> tuple[Any, Any, Any]:
    """Return the gradient where the input lies within the range, and zeros for the range."""
    return simulated_gradient(grad, x, low, high, axis, xp)
