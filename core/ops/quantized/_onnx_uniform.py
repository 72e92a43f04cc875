"""Uniform quantization in ONNX: real = scale * (integer - zero point), in the arithmetic of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType
from ._onnx_ranges import floor_divided

_INT32 = (-(2**31), 2**31 - 1)
Multiplier = Callable[[Any], tuple[Any, Any]]
"""The function that turns positive factors into integers of 31 bits and powers of two."""


def _along(g: Any, values: Any, axis: int, rank: int) -> Any:
    """Reshape a vector to broadcast along the axis; return a scalar unchanged."""
    return values if values.rank == 0 or axis < 0 else g.reshape(values, [-1] + [1] * (rank - axis - 1))


def _clipped(g: Any, x: Any, low: int, high: int, dtype: DType) -> Any:
    return g.cast(g.Max(g.Min(x, high), low), dtype)


def quantized(
    g: Any, x: Any, scales: Any, zeros: Any,
    *, Tout: DType, quantization_axis: int, quantization_min_val: int, quantization_max_val: int,
) -> Any:  # fmt: skip
    """Return the integers of floats."""
    scales, zeros = (_along(g, values, quantization_axis, g.rank(x)) for values in (scales, zeros))
    rounded = g.Floor(g.Add(g.Mul(x, g.Div(g.like(1, scales), scales)), 0.5))
    shifted = g.Add(g.cast(rounded, dtypes.float64), g.cast(zeros, dtypes.float64))
    return _clipped(g, shifted, quantization_min_val, quantization_max_val, Tout)


def dequantized(g: Any, x: Any, scales: Any, zeros: Any, *, quantization_axis: int) -> Any:
    """Return the floats that integers stand for."""
    scales, zeros = (_along(g, values, quantization_axis, g.rank(x)) for values in (scales, zeros))
    centered = g.Sub(g.cast(x, dtypes.int64), g.cast(zeros, dtypes.int64))
    return g.Mul(g.cast(centered, dtypes.float32), scales)


def clipped(g: Any, x: Any, low: Any, high: Any, scales: Any, zeros: Any, *, quantization_axis: int) -> Any:
    """Return integers within bounds, each a scalar or a vector of the axis."""
    low, high = (_along(g, bound, quantization_axis, g.rank(x)) for bound in (low, high))
    return g.Min(g.Max(x, low), high)


def rescaled(g: Any, multiplier: Multiplier, x: Any, before: Any, after: Any) -> Any:
    """Return integers times the ratio of two constant scales in fixed point, rounded once, within int32."""
    ratio = g.known(before, "scales").astype(np.float64) / g.known(after, "scales")
    fixed, power = multiplier(ratio)
    half = np.int64(1) << (30 - power)
    product = g.Add(g.Mul(x, fixed), half)
    return g.Max(g.Min(floor_divided(g, product, 2 * half), _INT32[1]), _INT32[0])


def requantized(
    g: Any, multiplier: Multiplier, x: Any, before: Any, zero: Any, after: Any, new_zero: Any,
    *, Tout: DType, axis: int, bounds: tuple[int, int],
) -> Any:  # fmt: skip
    """Return integers of another scale."""
    before, zero, after, new_zero = (_along(g, values, axis, g.rank(x)) for values in (before, zero, after, new_zero))
    centered = g.Sub(g.cast(x, dtypes.int64), g.cast(zero, dtypes.int64))
    shifted = g.Add(rescaled(g, multiplier, centered, before, after), g.cast(new_zero, dtypes.int64))
    return _clipped(g, shifted, *bounds, Tout)


def added(g: Any, multiplier: Multiplier, operands: Any, axes: Any, dtype: DType) -> Any:
    """Return the sum of two operands at the output's scale."""
    rank = max(g.rank(operands.lhs), g.rank(operands.rhs))
    after, zero = (
        _along(g, values, axes.output_quantization_axis, rank)
        for values in (operands.output_scales, g.cast(operands.output_zero_points, dtypes.int64))
    )
    total = g.Neg(zero)
    for x, scales, zeros, axis in (
        (operands.lhs, operands.lhs_scales, operands.lhs_zero_points, axes.lhs_quantization_axis),
        (operands.rhs, operands.rhs_scales, operands.rhs_zero_points, axes.rhs_quantization_axis),
    ):
        scales, zeros = (_along(g, values, axis, g.rank(x)) for values in (scales, g.cast(zeros, dtypes.int64)))
        change = rescaled(g, multiplier, g.Sub(g.cast(x, dtypes.int64), zeros), scales, after)
        total = g.Add(total, g.Max(g.Min(g.Add(change, zero), _INT32[1]), _INT32[0]))
    low, high = axes.limits
    return _clipped(g, total, low, high, dtype)
