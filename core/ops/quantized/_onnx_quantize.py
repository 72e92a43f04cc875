"""Quantization in ONNX: DequantizeLinear, and otherwise step by step, as QuantizeLinear rounds differently."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType
from ..shared.quantized_ranges import limits, round_half_away, steps
from ._onnx_ranges import nearest, tensor_from_float


def fake(g: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool) -> Any:
    """Round values to 2**num_bits steps between bounds; the bounds are moved so that zero is a step."""
    is_empty, bottom, top, scale = _nudged(g, x, low, high, num_bits, narrow_range)
    within, inverse = g.Sub(g.Max(g.Min(x, top), bottom), bottom), g.Reciprocal(scale)
    steps = g.Sub(g.Mul(within, inverse), g.Floor(g.Add(g.Mul(g.Neg(bottom), inverse), 0.5)))
    return g.Where(is_empty, 0, g.Mul(g.Floor(g.Add(steps, 0.5)), scale))


def _nudged(g: Any, x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any, Any]:
    """Return a mask of ranges [0, 0], the bounds moved so that zero is a step, and the size of a step."""
    first, last = int(narrow_range), (1 << num_bits) - 1
    is_empty = g.And(g.Equal(low, 0), g.Equal(high, 0))
    scale = g.Div(g.Sub(g.Where(is_empty, 1, high), low), last - first)
    zero = g.Sub(g.like(first, x), g.Div(low, scale))
    zero = g.Min(g.Max(g.Floor(g.Add(zero, 0.5)), first), last)
    bottom, top = (g.Mul(g.Sub(g.like(end, x), zero), scale) for end in (first, last))
    return is_empty, bottom, top, scale


def fake_gradient(
    g: Any, grad: Any, x: Any, low: Any, high: Any, *, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """Return the gradients of values within the bounds, and for each bound, by channel, the gradients of values beyond."""
    is_empty, bottom, top, _ = _nudged(g, x, low, high, num_bits, narrow_range)
    is_below, is_above = (g.And(g.Not(is_empty), beyond) for beyond in (g.Less(x, bottom), g.Greater(x, top)))
    others = list(range(g.rank(x) - (low.rank or 0)))
    bounds = [g.ReduceSum(g.Where(side, grad, 0), others, keepdims=0, noop_with_empty_axes=1) for side in (is_below, is_above)]
    return g.Where(g.Or(is_below, is_above), 0, grad), *bounds


def simulated(
    g: Any,
    x: Any,
    low: Any,
    high: Any,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str = "HALF_TO_EVEN",
    narrow_range: bool = False,
    axis: int = -1,
) -> Any:
    """Round values to the levels of `num_bits` integers, in the given range or the range of each slice along an axis."""
    dtype, x = x.dtype, _wide(g, x)
    others = [i for i in range(g.rank(x)) if i != axis]
    if range_given:
        edge = [1 if i in others else -1 for i in range(g.rank(x))] if axis >= 0 else []
        low, high = (g.reshape(_wide(g, bound), edge) for bound in (low, high))
    else:
        low, high = g.ReduceMin(x, others), g.ReduceMax(x, others)
    low, high, scale, inverse = _simulated_range(g, low, high, signed_input, num_bits, narrow_range)
    scaled = g.Mul(g.Min(g.Max(x, low), high) if range_given else x, scale)
    rounded = g.Round(scaled) if round_mode == "HALF_TO_EVEN" else g.Floor(g.Add(scaled, 0.5))
    return g.cast(g.Mul(rounded, inverse), dtype)


def simulated_v3(
    g: Any, x: Any, low: Any, high: Any, num_bits: Any, *, signed_input: bool, range_given: bool, narrow_range: bool, axis: int
) -> Any:
    """As `simulated`, with the number of bits as an input."""
    return simulated(
        g, x, low, high, signed_input=signed_input, num_bits=int(g.known(num_bits, "bits")), range_given=range_given,
        narrow_range=narrow_range, axis=axis,
    )  # fmt: skip


def _wide(g: Any, x: Any) -> Any:
    return x if x.dtype is dtypes.float64 else g.cast(x, dtypes.float32)


def _simulated_range(g: Any, low: Any, high: Any, signed: bool, bits: int, narrow: bool) -> tuple[Any, ...]:
    """Return bounds, scale and inverse scale; zero stays zero and both ends lie within the integers."""
    lowest = (-(1 << (bits - 1)) + narrow) if signed else 0
    highest = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    most = float(np.finfo(low.dtype.numpy).max)

    def ratio(number: int, bound: Any) -> Any:
        return g.Where(g.Greater(g.Mul(bound, number), 0), g.Div(g.like(number, bound), bound), most)

    from_low, from_high = ratio(lowest, low), ratio(highest, high)
    by_low = g.Less(from_low, from_high)
    inverse = g.Where(by_low, g.Div(low, lowest or 1), g.Div(high, highest))
    scale = g.Where(by_low, from_low, from_high)
    return g.Where(by_low, low, g.Mul(inverse, lowest)), g.Where(by_low, g.Mul(inverse, highest), high), scale, inverse


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
