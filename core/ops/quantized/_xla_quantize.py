"""Simulated quantization as array programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.half_precision import wide
from ...registry.registry import facts, lower
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ..shared.argument_checks import require
from ..shared.quantized_ranges import along, nudged_range, simulated_range

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


def _masks(xla: Any, x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any]:
    """Return masks of x below, within and above the nudged range; all elements are within the range [0, 0]."""
    low, high = xla.asarray(low, np.float32), xla.asarray(high, np.float32)
    least, most, _ = nudged_range(low, high, num_bits, narrow_range, xla)
    is_empty = (low == 0) & (high == 0)
    return (x < least) & ~is_empty, ((x >= least) & (x <= most)) | is_empty, (x > most) & ~is_empty


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
    _, within, _ = _masks(xla, x, np.float32(min), np.float32(max), num_bits, narrow_range)
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
        masks = _masks(xla, x, min, max, num_bits, narrow_range)
        below, within, above = (xla.where(mask, grad, np.float32(0)) for mask in masks)
        axes = tuple(range(x.ndim - is_by_channel))
        return within, xla.sum(below, axes), xla.sum(above, axes)


_register("FakeQuantWithMinMaxVars", False)
_register("FakeQuantWithMinMaxVarsPerChannel", True)


def _simulate(
    xla: Any, x: Any, low: Any, high: Any, *, signed_input: bool, num_bits: int, range_given: bool,
    round_mode: str = "HALF_TO_EVEN", narrow_range: bool = False, axis: int = -1,
) -> Any:  # fmt: skip
    """Return floats rounded to the levels of `num_bits`, within the given or measured range."""
    require(0 < num_bits < (62 if signed_input else 63), f"num_bits {num_bits} is out of range")
    require(-1 <= axis < x.ndim, f"axis {axis} does not fit {x.shape}")
    dtype, x = x.dtype, wide(x)
    if range_given:
        edge = x.shape[axis : axis + 1] if axis >= 0 else ()
        require(low.shape == high.shape and low.size == np.prod(edge, dtype=int), f"{low.shape} does not fit {x.shape}")
        low, high = (wide(end.reshape(edge)) for end in (low, high))
        xla.require((low <= high).all())
    elif x.size:
        others = tuple(place for place in range(x.ndim) if place != axis) if axis >= 0 else None
        low, high = x.min(others), x.max(others)
    else:
        return x.astype(dtype)
    low, high, scale, inverse = (
        along(value, axis, x.ndim) for value in simulated_range(low, high, signed_input, num_bits, narrow_range, xla)
    )
    scaled = (xla.clip(x, low, high) if range_given else x) * scale
    rounded = xla.rint(scaled) if round_mode == "HALF_TO_EVEN" else xla.floor(scaled + x.dtype.type(0.5))
    return (rounded * inverse).astype(dtype)


@lower("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def simulated(
    xla: Any, x: Any, low: Any, high: Any, *, signed_input: bool, num_bits: int, range_given: bool, round_mode: str,
    narrow_range: bool, axis: int,
) -> Any:  # fmt: skip
    """Return floats rounded to the levels within the given or measured range."""
    settings: Any = {"signed_input": signed_input, "num_bits": num_bits, "range_given": range_given, "axis": axis}
    return _simulate(xla, x, low, high, **settings, round_mode=round_mode, narrow_range=narrow_range)


@lower("QuantizeAndDequantizeV3", static=(3,))
def simulated_v3(
    xla: Any, x: Any, low: Any, high: Any, num_bits: Array, *, signed_input: bool, range_given: bool, narrow_range: bool,
    axis: int,
) -> Any:  # fmt: skip
    """Return floats rounded to the levels; the number of bits is an input."""
    require(x.ndim > 0 and np.ndim(num_bits) == 0, f"axis {axis} of a scalar")
    settings: Any = {"signed_input": signed_input, "num_bits": int(num_bits), "range_given": range_given, "axis": axis}
    return _simulate(xla, x, low, high, **settings, narrow_range=narrow_range)


@lower("QuantizeAndDequantize")
def simulated_v1(
    xla: Any, x: Any, *, input_min: float, input_max: float, signed_input: bool, num_bits: int, range_given: bool
) -> Any:
    """Return floats rounded to the levels; the range is an attribute."""
    low, high = (xla.asarray(end, x.dtype) for end in (input_min, input_max))
    return _simulate(xla, x, low, high, signed_input=signed_input, num_bits=num_bits, range_given=range_given)


@lower("QuantizeAndDequantizeV4Grad")
def simulated_gradient(xla: Any, grad: Any, x: Any, low: Any, high: Any, *, axis: int) -> tuple[Any, Any, Any]:
    """Return the gradient where the input lies within the range, and zeros for the range."""
    require(-1 <= axis < x.ndim and grad.shape == x.shape, f"axis {axis} does not fit {x.shape}")
    expected = () if axis == -1 else x.shape[axis : axis + 1]
    require(low.shape == high.shape == expected, f"a range of shape {low.shape} does not fit {x.shape}")
    is_inside = (x >= along(low, axis, x.ndim)) & (x <= along(high, axis, x.ndim))
    return xla.where(is_inside, grad, xla.zeros_like(grad)), xla.zeros_like(low), xla.zeros_like(high)
