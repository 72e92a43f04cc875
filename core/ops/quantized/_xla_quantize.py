"""Simulated quantization as array programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...registry.registry import arrays, facts, lower
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ..shared.argument_checks import require, scalar
from ..shared.quantized_ranges import fake_masks, nudged_range
from ._simulation import Simulation, simulated, simulated_gradient

facts("own_gradient", of=["QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3"])
facts("own_gradient", of=["QuantizeAndDequantizeV4"])


def _fake(xla: Any, x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Any:
    """Return x rounded to the levels, with TensorFlow's gradient: of x within the range, else of the end of the range."""
    low, high = xla.asarray(low, np.float32), xla.asarray(high, np.float32)
    least, most, scale = nudged_range(low, high, num_bits, narrow_range, xla)
    inverse = np.float32(1) / scale
    zero = xla.floor(-least * inverse + np.float32(0.5))
    clipped = xla.maximum(xla.minimum(x, most), least)
    levels = xla.floor((clipped - least) * inverse - zero + np.float32(0.5)) * scale
    is_empty = (low == 0) & (high == 0)
    inside = xla.where(xla.isfinite(x), x, 0)
    path = xla.where((x < least) & ~is_empty, low, xla.where((x > most) & ~is_empty, high, inside))
    stop = xla.lax.stop_gradient
    return stop(xla.where(is_empty, np.float32(0), levels)) + (path - stop(path))


@lower("FakeQuantWithMinMaxArgs")
def fake_by_attributes(xla: Any, x: Any, *, min: float, max: float, num_bits: int, narrow_range: bool) -> Any:
    """Return inputs rounded to the levels of a fixed range."""
    require(min < max, f"min {min} must be smaller than max {max}")
    return _fake(xla, x, np.float32(min), np.float32(max), num_bits, narrow_range)


@lower("FakeQuantWithMinMaxArgsGradient")
def fake_gradient_by_attributes(
    xla: Any, grad: Any, x: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    """Return the gradient where the input lies within the range."""
    require(min < max and grad.shape == x.shape, f"min {min} must be smaller than max {max}")
    _, within, _ = fake_masks(x, min, max, num_bits, narrow_range, xla)
    return xla.where(within, grad, np.float32(0))


def _require_range(x: Any, low: Any, high: Any, is_by_channel: bool) -> None:
    expected = x.shape[-1:] if is_by_channel else ()
    if low.shape != expected or high.shape != expected or (is_by_channel and not x.ndim):
        raise InvalidArgumentError(f"a range of shape {low.shape} does not fit {x.shape}")


def _register(op: str, is_by_channel: bool) -> None:
    @lower(op)
    def fake(xla: Any, x: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
        """Return inputs rounded to the levels of a range."""
        _require_range(x, min, max, is_by_channel)
        return _fake(xla, x, min, max, num_bits, narrow_range)

    @lower(f"{op}Gradient")
    def fake_gradient(xla: Any, grad: Any, x: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool) -> Any:
        """Return the gradients of inputs, minimum and maximum."""
        _require_range(x, min, max, is_by_channel)
        require(grad.shape == x.shape, "gradients and inputs must have the same shape")
        masks = fake_masks(x, min, max, num_bits, narrow_range, xla)
        below, within, above = (xla.where(mask, grad, np.float32(0)) for mask in masks)
        axes = tuple(range(x.ndim - is_by_channel))
        return within, xla.sum(below, axes), xla.sum(above, axes)


_register("FakeQuantWithMinMaxVars", False)
_register("FakeQuantWithMinMaxVarsPerChannel", True)


@lower("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def simulated_v2(xla: Any, x: Any, low: Any, high: Any, *, simulation: Simulation) -> Any:
    """Return floats rounded to the levels within the given or measured range."""
    return simulated(x, low, high, simulation, xla)


@lower("QuantizeAndDequantizeV3", static=(3,))
def simulated_v3(xla: Any, x: Any, low: Any, high: Any, num_bits: Array, *, simulation: Simulation) -> Any:
    """Return floats rounded to the levels; the number of bits is an input."""
    require(x.ndim > 0, f"axis {simulation.axis} of a scalar")
    return simulated(x, low, high, simulation._replace(num_bits=scalar(num_bits, "num_bits")), xla)


@lower("QuantizeAndDequantize")
def simulated_v1(xla: Any, x: Any, *, input_min: float, input_max: float, simulation: Simulation) -> Any:
    """Return floats rounded to the levels; the range is an attribute."""
    return simulated(x, xla.asarray(input_min, x.dtype), xla.asarray(input_max, x.dtype), simulation, xla)


@arrays("QuantizeAndDequantizeV4Grad")
def simulated_v4_gradient(xp: Any, grad: Any, x: Any, low: Any, high: Any, *, axis: int) -> tuple[Any, Any, Any]:
    """Return the gradient where the input lies within the range, and zeros for the range."""
    return simulated_gradient(grad, x, low, high, axis, xp)
