"""Simulated quantization in NumPy and in array programs: floats are rounded to the levels of integers.

`xp` has the functions of NumPy, or those of a namespace like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...numerics.half_precision import wide
from ..shared.argument_checks import require, require_same_shape
from ..shared.quantized_ranges import along, simulated_range


class Simulation(NamedTuple):
    """The attributes of quantizing and dequantizing again; some versions of the op have fewer."""

    signed_input: bool
    range_given: bool
    num_bits: int = 8
    round_mode: str = "HALF_TO_EVEN"
    narrow_range: bool = False
    axis: int = -1


def simulated(x: Any, low: Any, high: Any, simulation: Simulation, xp: Any = np) -> Any:
    """Return floats rounded to the levels of `num_bits`, within the given or measured range."""
    signed, range_given, bits, round_mode, narrow, axis = simulation
    require(0 < bits < (62 if signed else 63), f"num_bits {bits} is out of range")
    require(axis >= -1, f"axis {axis} is smaller than -1")
    require(axis < x.ndim, f"axis {axis} is not smaller than the rank of {x.shape}")
    dtype, x = x.dtype, wide(x)
    if range_given:
        check_slices(x, low, high, axis, "input")
        require_true((low <= high).all(), f"input_min {low} > input_max {high}", xp)
        edge = () if axis == -1 else low.shape
        low, high = wide(low.reshape(edge)), wide(high.reshape(edge))
    elif 0 not in [size for size in x.shape if isinstance(size, int)]:
        others = tuple(i for i in range(x.ndim) if i != axis) if axis >= 0 else None
        low, high = xp.min(x, others), xp.max(x, others)
    else:
        return x.astype(dtype)
    low, high, scale, inverse = (along(v, axis, x.ndim) for v in simulated_range(low, high, signed, bits, narrow, xp))
    scaled = (xp.clip(x, low, high) if range_given else x) * scale
    rounded = xp.rint(scaled) if round_mode == "HALF_TO_EVEN" else xp.floor(scaled + x.dtype.type(0.5))
    return (rounded * inverse).astype(dtype)


def simulated_gradient(gradients: Any, x: Any, low: Any, high: Any, axis: int, xp: Any = np) -> tuple[Any, Any, Any]:
    """Return the gradient where the input lies within the range, and zeros for the range."""
    require(axis >= -1, f"axis {axis} is smaller than -1")
    require_same_shape(gradients, x, "gradients and input")
    require(axis < x.ndim, f"axis {axis} is not smaller than the rank of {x.shape}")
    expected = () if axis == -1 else x.shape[axis : axis + 1]
    for name, value in (("input_min", low), ("input_max", high)):
        require(may_equal(value.shape, expected), f"{name} must have shape {expected}, not {value.shape}")
    inside = (x >= along(low, axis, x.ndim)) & (x <= along(high, axis, x.ndim))
    return xp.where(inside, gradients, gradients.dtype.type(0)), xp.zeros_like(low), xp.zeros_like(high)


def check_slices(x: Any, low: Any, high: Any, axis: int, name: str) -> None:
    """low and high are scalars, or vectors of the axis."""
    require(-1 <= axis < max(x.ndim, 0) or axis == -1, f"axis {axis} is not in [-1, {x.ndim})")
    expected = () if axis == -1 else x.shape[axis : axis + 1]
    for value in (low, high):
        fits = may_equal(value.shape, (1,) * value.ndim if axis == -1 else expected)
        require(fits, f"the range of {name} must have shape {expected}, not {value.shape}")


def may_equal(dims: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Return False for shapes that are known to differ."""
    pairs = zip(dims, expected, strict=False)
    return len(dims) == len(expected) and not any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)


def require_true(condition: Any, message: str, xp: Any) -> None:
    """InvalidArgumentError(message) unless the condition holds; an array program leaves the refusal to the kernel."""
    if xp is np:
        require(condition, message)
    else:
        xp.require(condition)
