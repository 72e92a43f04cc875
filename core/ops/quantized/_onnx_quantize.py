"""Quantization in ONNX: DequantizeLinear, and otherwise step by step, as QuantizeLinear rounds differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType
from ..shared.quantized_ranges import limits, round_half_away, steps
from ._onnx_ranges import nearest, tensor_from_float


def dequantized(
    g: Any, x: Any, low: Any, high: Any, *, T: DType, mode: str, narrow_range: bool, axis: int, dtype: DType
) -> Any:
    """Return the floats that integers stand for: DequantizeLinear where the zero is one of the integers."""
    linear = _linear(g, x, low, high, T, mode, narrow_range)
    if linear is not None:
        return g.cast(linear, dtype)
    lowest, highest = limits(T)
    edge = [-1 if i == axis else 1 for i in range(g.rank(x))] if axis >= 0 else []
    low, high = (g.reshape(bound, edge) for bound in (low, high))
    if mode == "SCALED":
        first = lowest + narrow_range
        ends = [g.Div(high, highest), *([g.Div(low, first)] if first else [])]
        result = _dequantized(g, x, g.Max(*ends), 0)
    elif mode == "MIN_FIRST":
        scale = g.Div(g.Sub(high, low), steps(T) - 1)
        start = nearest(g, g.Div(low, g.Where(g.Equal(high, low), 1, scale)))
        result = g.Where(g.Equal(high, low), low, _dequantized(g, x, scale, g.Sub(g.like(lowest, start), start)))
    else:
        scale = g.Div(g.Sub(high, low), highest - lowest)
        half = steps(T) / 2 if lowest < 0 else 0
        result = g.Add(g.Mul(g.Add(g.cast(x, low.dtype), half), scale), low)
    return g.cast(result, dtype)


def _linear(g: Any, x: Any, low: Any, high: Any, T: DType, mode: str, narrow_range: bool) -> Any:
    """Return a DequantizeLinear for 8 bits in a constant range; None where the range has no zero among the integers."""
    if x.dtype.size > 1 or mode == "MIN_COMBINED" or low.array is None or high.array is None or low.array.size > 1:
        return None
    lowest, highest = limits(T)
    bottom, top = (np.float32(bound.array.item()) for bound in (low, high))
    if mode == "SCALED":
        first = lowest + narrow_range
        scale, zero = max([top / np.float32(highest), *([bottom / np.float32(first)] if first else [])]), 0
    else:
        scale = np.float32((np.float64(top) - bottom) / (steps(T) - 1.0))
        zero = lowest - int(round_half_away(bottom / scale)) if scale > 0 else highest + 1
    if not lowest <= zero <= highest:
        return None
    return g.op("DequantizeLinear", x, g.constant(scale), g.constant(zero, x.dtype), dtype=dtypes.float32)


def _dequantized(g: Any, x: Any, scale: Any, zero: Any) -> Any:
    return g.Mul(g.Sub(g.cast(x, scale.dtype), zero), scale)


def quantized(
    g: Any, x: Any, low: Any, high: Any, *, T: DType, mode: str, round_mode: str, narrow_range: bool, axis: int,
    ensure_minimum_range: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return integers for floats, and the range that they stand for."""
    shape = [] if axis < 0 else [-1]
    low, high = g.Min(g.reshape(low, shape), 0), g.reshape(high, shape)
    largest = g.Max(g.Max(g.Abs(low), g.Abs(high)), 1)
    high = g.Max(g.Max(high, g.Add(low, g.Mul(largest, ensure_minimum_range))), 0)
    lowest, highest = limits(T)
    edge = [-1 if i == axis else 1 for i in range(g.rank(x))] if axis >= 0 else []
    if mode == "SCALED":
        low, high, scale = _scaled(g, low, high, lowest + narrow_range, highest)
        bottom, top, scale = (g.reshape(value, edge) for value in (low, high, scale))
        scaled = g.Mul(g.Max(g.Min(x, top), bottom), scale)
        result = g.Round(scaled) if round_mode == "HALF_TO_EVEN" else nearest(g, scaled)
    elif mode == "MIN_FIRST" and (lowest < 0 or T.size > 1):
        return tensor_from_float(g, x, (low, high), T), low, high
    else:
        bottom, top = (g.reshape(value, edge) for value in (low, high))
        width = g.cast(g.Sub(top, bottom), dtypes.float64)
        scale = g.cast(g.Div(g.like(highest - lowest, width), width), dtypes.float32)
        shifted = g.Mul(g.Sub(g.Max(g.Min(x, top), bottom), bottom), scale)
        result = g.Round(shifted) if mode == "MIN_FIRST" else _rounded_up(g, shifted, steps(T) / 2 if lowest < 0 else 0)
    wide = g.cast(result, dtypes.float64) if T.size > 2 else result
    return g.cast(g.Max(g.Min(wide, highest), lowest), T), low, high


def _rounded_up(g: Any, shifted: Any, half: float) -> Any:
    return nearest(g, g.Sub(shifted, half)) if half else g.Floor(g.Add(shifted, 0.5))


def _scaled(g: Any, low: Any, high: Any, lowest: int, highest: int) -> tuple[Any, Any, Any]:
    """Return the range and the factor of mode SCALED: the largest factor at which both ends stay within the integers."""
    most = float(np.finfo(np.float32).max)

    def factor(end: Any, limit: int) -> Any:
        is_there = g.Greater(g.Mul(end, limit), 0)
        return g.Where(is_there, g.Div(g.like(limit, end), g.Where(is_there, end, 1)), most)

    scale = g.Min(factor(low, lowest), factor(high, highest))
    return g.Div(g.like(lowest, scale), scale), g.Div(g.like(highest, scale), scale), scale
