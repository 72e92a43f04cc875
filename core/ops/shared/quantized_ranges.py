"""How quantized integers stand for real numbers within a range [low, high].

The smallest integer stands for `low` and the largest for `high`; `low` is moved so that zero falls on an integer. As in
TensorFlow, single values are converted in double precision and whole tensors in single. Ranges are pairs of scalars, float32.

`xp` is the namespace of arrays, of NumPy or like it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.array_namespace import NUMPY
from ...types.arrays import Array
from ...types.dtypes import DType
from .argument_checks import require


def limits(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest integer of a quantized type."""
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def steps(dtype: DType) -> int:
    """Return the number of integers in the type."""
    return 1 << (8 * dtype.size)


def round_half_away(x: Any, xp: Any = NUMPY) -> Any:
    """Return the nearest integer; halves away from zero, as C's round."""
    if xp.is_eager:  # in NumPy three passes in place of five
        return np.trunc(x + np.copysign(np.asarray(0.5, np.asarray(x).dtype), x))
    return xp.sign(x) * xp.floor(abs(x) + 0.5)


def range_of(low: Any, high: Any, name: str, xp: Any = NUMPY) -> tuple[Any, Any]:
    """Return the range held in two tensors of a single element each."""
    for size in (xp.size(low), xp.size(high)):
        is_one = size == 1 or not isinstance(size, int)
        require(is_one, f"the range of {name} must be two scalars, not of shapes {np.shape(low)} and {np.shape(high)}")
    return xp.reshape(low, ()), xp.reshape(high, ())


def scalar_range(low: Any, high: Any, name: str, xp: Any = NUMPY) -> tuple[Any, Any]:
    """Return a range that arrives as two scalars."""
    require(low.ndim == high.ndim == 0, f"the range of {name} must be scalars: {low.shape}, {high.shape}")
    return range_of(low, high, name, xp)


def one_level(low: Any, high: Any, dtype: DType) -> Any:
    """Return the real size of an integer step."""
    lowest, highest = limits(dtype)
    return (high - low) / np.float32(highest - lowest)


def product_range(a: tuple[Any, Any], a_type: DType, b: tuple[Any, Any], b_type: DType, result: DType) -> tuple[Any, Any]:
    """Return the range of `result` whose step is the product of the steps of a and b."""
    level = one_level(*a, a_type) * one_level(*b, b_type)
    lowest, highest = limits(result)
    return level * np.float32(lowest), level * np.float32(highest)


def _span(low: Any, high: Any, dtype: DType, xp: Any) -> Any:
    """Return the width of a range with a step more, 1 for a range of a single number."""
    count = steps(dtype)
    # TensorFlow counts 256 steps where the range of 256 integers has 255, and widens the range by the same factor.
    return xp.where(low == high, 1, (high - low).astype(np.float64) * (count / (count - 1.0)))


def _offset(x: Any, low: Any, high: Any, dtype: DType, xp: Any) -> Any:
    """Return the number of steps from the smallest integer to that of a real number."""
    scale = np.float64(steps(dtype)) / _span(low, high, dtype, xp)
    return round_half_away(x.astype(np.float64) * scale, xp) - round_half_away(low.astype(np.float64) * scale, xp)


def unclamped(x: Any, low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """Return the integer of a real number, perhaps outside the type, int64."""
    offset = _offset(x, low, high, dtype, xp)
    # What is not finite becomes 2^63, of which TensorFlow keeps the last 32 bits.
    return xp.where((low != high) & xp.isfinite(offset), offset, 0).astype(np.int64) + limits(dtype)[0]


def zero_point(low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """Return the integer that stands for zero, perhaps outside the type, int64."""
    return unclamped(np.float32(0), low, high, dtype, xp)


def to_float(q: Any, low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """Return the real numbers of integers, computed in double precision, float32."""
    is_flat = low == high
    scale = _span(low, high, dtype, xp) / steps(dtype)
    # TensorFlow rounds the first number to a whole number of single-precision steps, though the scale is a double.
    single = scale.astype(np.float32)
    first = round_half_away((low / single).astype(np.float64), xp) * single.astype(np.float64)
    scale, first = xp.where(is_flat, 0, scale), xp.where(is_flat, low.astype(np.float64), first)
    return ((q.astype(np.float64) - limits(dtype)[0]) * scale + first).astype(np.float32)


def from_float(x: Any, low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """Return the integers of real numbers, computed in double precision, clipped to the type."""
    lowest, highest = limits(dtype)
    integers = xp.clip(_offset(x, low, high, dtype, xp) + lowest, lowest, highest)
    return xp.where(low == high, lowest, integers).astype(dtype.numpy)


def tensor_to_float(q: Any, low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """As to_float, in single precision throughout."""
    # The width is a float32, as in TensorFlow, and the quotient a double.
    scale = ((high - low).astype(np.float64) / (steps(dtype) - 1.0)).astype(np.float32)
    is_flat = low == high
    # The lower end moves to the nearest step, so that zero is a step as well.
    first = xp.where(is_flat, low, round_half_away(low / xp.where(is_flat, 1, scale), xp) * scale)
    return (first - np.float32(limits(dtype)[0]) * scale) + q.astype(np.float32) * scale


def tensor_from_float(x: Any, low: Any, high: Any, dtype: DType, xp: Any = NUMPY) -> Any:
    """As from_float, in single precision throughout."""
    lowest, highest = (np.float32(end) for end in limits(dtype))
    is_flat = low == high
    width = xp.where(is_flat, 1, (high - low).astype(np.float64))
    scale = xp.where(is_flat, 0, (np.float64(steps(dtype) - 1.0) / width).astype(np.float32))
    scaled = round_half_away(x.astype(np.float32) * scale, xp) - (round_half_away(low * scale, xp) - lowest)
    # 2^31 - 1 as a float32 is 2^31, and its conversion to an integer would overflow.
    top = min(highest, np.float32(2.147483520e9))  # the largest of float32 below 2^31
    # Of NaN TensorFlow's conversion makes the least integer of 32 bits, and 0 of 8 and 16 bits, as x86 and the casts here do.
    clipped = xp.where(scaled > lowest, xp.minimum(scaled, top), lowest) if dtype.size > 2 else xp.clip(scaled, lowest, top)
    return clipped.astype(dtype.numpy)


def requantize(q: Any, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType, xp: Any = NUMPY) -> Any:
    """Convert integers to another range and type."""
    if (old_type.name, new_type.name) == ("qint32", "quint8"):
        return _requantize_32_to_8(q, old, new, xp)
    return tensor_from_float(tensor_to_float(q, *old, old_type, xp), *new, new_type, xp)


def _requantize_32_to_8(q: Any, old: tuple[Any, Any], new: tuple[Any, Any], xp: Any) -> Any:
    """Convert in fixed point of 16 bits, which rounds, and wraps around for vastly different ranges, as in TensorFlow."""
    one = 1 << 16
    width, new_width = ((high - low).astype(np.float64) for low, high in (old, new))
    is_finite = xp.isfinite(width) & xp.isfinite(new_width)
    xp.require(is_finite, f"the ranges [{old[0]}, {old[1]}] and [{new[0]}, {new[1]}] must be finite")
    is_flat = new_width == 0
    divisor = xp.where(is_flat, 1, new_width)
    middle = ((old[0] + old[1]).astype(np.float64) / 2).astype(np.float32)
    inverse = (np.float64(255) / divisor).astype(np.float32)
    scale, offset, new_offset = (
        xp.where(is_flat, 0, number.astype(np.int64))
        for number in (
            width * (255.0 * one) / divisor,
            middle * inverse * np.float32(one),
            new[0].astype(np.float64) * 255 * one / divisor,
        )
    )
    # q is in parts of 2^32 of the old range, and the scale in parts of 2^16: the shift by 32 leaves 16 bits of fraction.
    value = ((q.astype(np.int64) * scale) >> 32) + (offset - new_offset + (one >> 1))
    return xp.clip(value >> 16, 0, 255).astype(np.uint8)


def along(values: Any, axis: int, rank: int) -> Any:
    """Reshape a vector to broadcast along the axis; return a scalar unchanged."""
    return values if axis < 0 or values.ndim == 0 else values.reshape((-1,) + (1,) * (rank - axis - 1))


def nudged_range(low: Any, high: Any, num_bits: int, narrow_range: bool, xp: Any = NUMPY) -> tuple[Any, Any, Any]:
    """Return (low, high, scale), moved so that zero is a level (Jacob et al. 2018)."""
    require(2 <= num_bits <= 16, f"num_bits must be in [2, 16], not {num_bits}")
    first, last = np.float32(1 if narrow_range else 0), np.float32((1 << num_bits) - 1)
    scale = (high - low) / (last - first)
    with np.errstate(all="ignore"):
        # A range of width 0 has a scale of 0; the callers replace its results.
        zero = first - low / scale
        nearest = xp.trunc(zero + np.float32(0.5))  # between first and last, which are not negative
    zero = xp.where(zero < first, first, xp.where(zero > last, last, nearest)).astype(np.float32)
    return (first - zero) * scale, (last - zero) * scale, scale


def simulated_range(low: Any, high: Any, signed: bool, bits: int, narrow: bool, xp: Any = NUMPY) -> tuple[Any, Any, Any, Any]:
    """Return (low, high, scale, 1 / scale), so that zero stays zero and both ends lie within the integers."""
    t, most = low.dtype.type, np.finfo(low.dtype).max
    lowest = t((-(1 << (bits - 1)) + narrow) if signed else 0)
    highest = t((1 << (bits - 1)) - 1 if signed else (1 << bits) - 1)
    with np.errstate(all="ignore"):
        # An end on the other side of zero than its integer sets no bound on the scale.
        from_low = xp.where(lowest * low > 0, lowest / low, most)
        from_high = xp.where(highest * high > 0, highest / high, most)
        by_low = from_low < from_high
        inverse = xp.where(by_low, low / lowest, high / highest)
        ends = xp.where(by_low, low, lowest * inverse), xp.where(by_low, highest * inverse, high)
    return *ends, xp.where(by_low, from_low, from_high), inverse


def fake_quantize(x: Array, low: Any, high: Any, num_bits: int, narrow_range: bool) -> Array:
    """Clip x to the nudged range and round to its levels; zero for the range [0, 0]."""
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    nudged_low, nudged_high, scale = nudged_range(low, high, num_bits, narrow_range)
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / scale
        zero = np.floor(-nudged_low * inverse + np.float32(0.5))
        result = np.asarray(np.maximum(np.minimum(x, nudged_high), nudged_low))
        result -= nudged_low
        result *= inverse
        # TensorFlow's order of the steps, which rounds between each of them.
        result -= zero
        result += np.float32(0.5)
        np.floor(result, out=result)
        result *= scale
    empty = (low == 0) & (high == 0)
    return np.where(empty, np.float32(0), result) if empty.any() else result


def fake_masks(x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool, xp: Any = NUMPY) -> tuple[Any, Any, Any]:
    """Return masks of x below, within and above the nudged range; all elements are within the range [0, 0]."""
    low, high = xp.asarray(low, np.float32), xp.asarray(high, np.float32)
    nudged_low, nudged_high, _ = nudged_range(low, high, num_bits, narrow_range, xp)
    below, within, above = x < nudged_low, (x >= nudged_low) & (x <= nudged_high), x > nudged_high
    empty = (low == 0) & (high == 0)
    is_plain = xp.is_eager and not empty.any()
    return (below, within, above) if is_plain else (below & ~empty, within | empty, above & ~empty)
