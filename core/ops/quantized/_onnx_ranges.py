"""How quantized integers stand for real numbers, in ONNX: the formulas of `quantized_ranges`, in the same precisions.

Ranges are pairs of scalars of float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType
from ..shared import quantized_ranges
from ..shared.quantized_ranges import limits, steps


def nearest(g: Any, x: Any) -> Any:
    """Return the nearest integers, halves away from zero."""
    return g.Mul(g.Sign(x), g.Floor(g.Add(g.Abs(x), 0.5)))


def range_of(g: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the range of two tensors with a single element each."""
    return g.reshape(low, []), g.reshape(high, [])


def _span(g: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return the width of a range with a step more, in double precision."""
    count = steps(dtype)
    return g.Mul(g.cast(g.Sub(high, low), dtypes.float64), count / (count - 1.0))


def to_float(g: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the real numbers of integers, computed in double precision, float32."""
    low, high = bounds
    scale = g.Div(_span(g, low, high, dtype), steps(dtype))
    single = g.cast(scale, dtypes.float32)
    start = g.Mul(nearest(g, g.cast(g.Div(low, single), dtypes.float64)), g.cast(single, dtypes.float64))
    numbers = g.Add(g.Mul(g.Sub(g.cast(q, dtypes.float64), limits(dtype)[0]), scale), start)
    return g.Where(g.Equal(low, high), low, g.cast(numbers, dtypes.float32))


def from_float(g: Any, x: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the integers of real numbers, computed in double precision, clipped to the dtype, float64."""
    (low, high), (lowest, highest) = bounds, limits(dtype)
    integers = g.Max(g.Min(g.Add(_offset(g, x, low, high, dtype), lowest), highest), lowest)
    return g.Where(g.Equal(low, high), lowest, integers)


def _offset(g: Any, x: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return the number of steps from the smallest integer to that of a real number."""
    span = _span(g, low, high, dtype)
    scale = g.Div(g.like(steps(dtype), span), span)
    return g.Sub(*(nearest(g, g.Mul(g.cast(value, dtypes.float64), scale)) for value in (x, low)))


def unclamped(g: Any, x: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the integer of a real number, perhaps outside the dtype, int64."""
    (low, high), (lowest, _) = bounds, limits(dtype)
    offset = _offset(g, x, low, high, dtype)
    is_there = g.Not(g.Or(g.Equal(low, high), g.Or(g.IsNaN(offset), g.IsInf(offset))))
    return g.Add(g.cast(g.Where(is_there, offset, 0), dtypes.int64), lowest)


def zero_point(g: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """Return the integer that stands for zero, int64; a constant for a constant range."""
    low, high = bounds
    if low.array is not None and high.array is not None:
        return g.constant(np.int64(quantized_ranges.unclamped(0.0, low.array, high.array, dtype)))
    return unclamped(g, g.constant(np.float32(0)), bounds, dtype)


def tensor_to_float(g: Any, q: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """As `to_float`, in single precision throughout."""
    (low, high), (lowest, _) = bounds, limits(dtype)
    width = g.Sub(*(g.cast(end, dtypes.float64) for end in (high, low)))
    scale = g.cast(g.Div(width, steps(dtype) - 1.0), dtypes.float32)
    start = g.Where(g.Equal(low, high), low, g.Mul(nearest(g, g.Div(low, scale)), scale))
    return g.Add(g.Sub(start, g.Mul(scale, lowest)), g.Mul(g.cast(q, dtypes.float32), scale))


def tensor_from_float(g: Any, x: Any, bounds: tuple[Any, Any], dtype: DType) -> Any:
    """As `from_float`, in single precision throughout, of the dtype."""
    (low, high), (lowest, highest) = bounds, limits(dtype)
    width = g.Sub(*(g.cast(end, dtypes.float64) for end in (high, low)))
    scale = g.cast(g.Div(g.like(steps(dtype) - 1.0, width), width), dtypes.float32)
    scale = g.Where(g.Equal(low, high), 0, scale)
    scaled = g.Sub(nearest(g, g.Mul(x, scale)), g.Sub(nearest(g, g.Mul(low, scale)), lowest))
    return g.cast(g.Max(g.Min(scaled, min(highest, 2.147483520e9)), lowest), dtype)


def requantized(g: Any, q: Any, old: tuple[Any, Any], new: tuple[Any, Any], types: tuple[DType, DType]) -> Any:
    """Return integers of another range and dtype; `types` are the dtype before and the dtype after."""
    if tuple(dtype.name for dtype in types) == ("qint32", "quint8"):
        return _requantized_32_to_8(g, q, old, new)
    return tensor_from_float(g, tensor_to_float(g, q, old, types[0]), new, types[1])


def _requantized_32_to_8(g: Any, q: Any, old: tuple[Any, Any], new: tuple[Any, Any]) -> Any:
    """Convert in fixed point of 16 bits."""
    one = 1 << 16
    width, new_width = (g.cast(g.Sub(high, low), dtypes.float64) for low, high in (old, new))
    is_flat = g.Equal(new_width, 0)
    divisor = g.Where(is_flat, 1, new_width)
    middle = g.cast(g.Div(g.cast(g.Add(*old), dtypes.float64), 2), dtypes.float32)
    inverse = g.cast(g.Div(g.like(255, divisor), divisor), dtypes.float32)
    scale, offset, new_offset = (
        g.Where(is_flat, 0, g.cast(number, dtypes.int64))
        for number in (
            g.Div(g.Mul(width, 255.0 * one), divisor),
            g.Mul(g.Mul(middle, inverse), one),
            g.Div(g.Mul(g.Mul(g.cast(new[0], dtypes.float64), 255), one), divisor),
        )
    )
    product = floor_divided(g, g.Mul(g.cast(q, dtypes.int64), scale), 1 << 32)
    value = g.Add(product, g.Add(g.Sub(offset, new_offset), one >> 1))
    return g.cast(g.Max(g.Min(floor_divided(g, value, one), 255), 0), dtypes.uint8)


def floor_divided(g: Any, x: Any, divisor: Any) -> Any:
    """Return quotients of integers, rounded down."""
    return g.Div(g.Sub(x, g.Mod(x, divisor)), divisor)


def product_range(
    g: Any, a: tuple[Any, Any], a_type: DType, b: tuple[Any, Any], b_type: DType, result: DType
) -> tuple[Any, Any]:
    """Return the range of `result` whose step is the product of the steps of a and b."""
    steps_of = [
        g.Div(g.Sub(high, low), limits(dtype)[1] - limits(dtype)[0]) for (low, high), dtype in ((a, a_type), (b, b_type))
    ]
    step = g.Mul(*steps_of)
    low, high = (g.Mul(step, end) for end in limits(result))
    return low, high
