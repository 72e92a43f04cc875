"""How quantized integers stand for real numbers within a range [low, high].

The smallest integer stands for `low` and the largest for `high`; `low` is moved so that zero falls on an integer. As in
TensorFlow, single values are converted in double precision and whole tensors in single.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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


def round_half_away(x: Any) -> Any:
    """Return the nearest integer; halves away from zero, as C's round."""
    return np.trunc(x + np.copysign(np.asarray(0.5, np.asarray(x).dtype), x))


def range_of(low: Any, high: Any, name: str) -> tuple[np.float32, np.float32]:
    """Return the range held in two tensors of a single element each."""
    shapes = f"{np.shape(low)} and {np.shape(high)}"
    require(np.size(low) == np.size(high) == 1, f"the range of {name} must be two scalars, not of shapes {shapes}")
    return np.float32(np.reshape(low, ())), np.float32(np.reshape(high, ()))


def scalar_range(low: Any, high: Any, name: str) -> tuple[np.float32, np.float32]:
    """Return a range that arrives as two scalars."""
    require(np.ndim(low) == np.ndim(high) == 0, f"the range of {name} must be scalars: {np.shape(low)}, {np.shape(high)}")
    return range_of(low, high, name)


def one_level(low: Any, high: Any, dtype: DType) -> Any:
    """Return the real size of an integer step."""
    lowest, highest = limits(dtype)
    return (np.float32(high) - np.float32(low)) / np.float32(highest - lowest)


def product_range(a: tuple[Any, Any], a_type: DType, b: tuple[Any, Any], b_type: DType, result: DType) -> tuple[Any, Any]:
    """Return the range of `result` whose step is the product of the steps of a and b."""
    level = one_level(*a, a_type) * one_level(*b, b_type)
    lowest, highest = limits(result)
    return np.float32(level * np.float32(lowest)), np.float32(level * np.float32(highest))


def unclamped(x: Any, low: Any, high: Any, dtype: DType) -> int:
    """Return the integer of a real number, perhaps outside the type."""
    lowest, _ = limits(dtype)
    if low == high:
        return lowest
    count = steps(dtype)
    scale = count / (float(np.float32(high) - np.float32(low)) * (count / (count - 1.0)))
    offset = round_half_away(float(x) * scale) - round_half_away(float(low) * scale)
    # What is not finite becomes 2^63, of which TensorFlow keeps the last 32 bits.
    return int(offset) + lowest if np.isfinite(offset) else lowest


def to_float(q: Any, low: Any, high: Any, dtype: DType) -> Array:
    """Return the real numbers of integers, computed in double precision, float32."""
    if low == high:
        return np.full(np.shape(q), low, np.float32)
    count = steps(dtype)
    scale = float(np.float32(high) - np.float32(low)) * (count / (count - 1.0)) / count
    single = np.float32(scale)
    start = float(round_half_away(float(np.float32(low) / single))) * float(single)
    return (start + (np.asarray(q, np.float64) - limits(dtype)[0]) * scale).astype(np.float32)


def from_float(x: Any, low: Any, high: Any, dtype: DType) -> Array:
    """Return the integers of real numbers, computed in double precision, clipped to the type."""
    lowest, highest = limits(dtype)
    if low == high:
        return np.full(np.shape(x), lowest, dtype.numpy)
    count = steps(dtype)
    scale = count / (float(np.float32(high) - np.float32(low)) * (count / (count - 1.0)))
    scaled = round_half_away(np.asarray(x, np.float64) * scale) - float(round_half_away(float(low) * scale))
    return np.clip(scaled + lowest, lowest, highest).astype(dtype.numpy)


def tensor_to_float(q: Array, low: Any, high: Any, dtype: DType) -> Array:
    """As to_float, in single precision throughout."""
    lowest, _ = limits(dtype)
    scale = np.float32((np.float64(high) - np.float64(low)) / (steps(dtype) - 1.0))
    start = np.float32(low) if low == high else np.float32(round_half_away(np.float32(low) / scale) * scale)
    return (start - np.float32(lowest) * scale) + q.astype(np.float32) * scale


def tensor_from_float(x: Array, low: Any, high: Any, dtype: DType) -> Array:
    """As from_float, in single precision throughout."""
    lowest, highest = limits(dtype)
    scale = np.float32(0 if high == low else (steps(dtype) - 1.0) / (np.float64(high) - np.float64(low)))
    scaled = round_half_away(x.astype(np.float32) * scale) - (round_half_away(np.float32(low) * scale) - np.float32(lowest))
    top = min(np.float32(highest), np.float32(2.147483520e9))
    return np.clip(scaled, np.float32(lowest), top).astype(dtype.numpy)


def requantize(q: Array, old: tuple[Any, Any], old_type: DType, new: tuple[Any, Any], new_type: DType) -> Array:
    """Convert integers to another range and type."""
    if (old_type.name, new_type.name) == ("qint32", "quint8"):
        return _requantize_32_to_8(q, old, new)
    return tensor_from_float(tensor_to_float(q, *old, old_type), *new, new_type)


def _requantize_32_to_8(q: Array, old: tuple[Any, Any], new: tuple[Any, Any]) -> Array:
    """Convert in fixed point of 16 bits, which rounds, and wraps around for vastly different ranges, as in TensorFlow."""
    one = 1 << 16
    (low, high), (new_low, new_high) = (tuple(map(np.float32, r)) for r in (old, new))
    width, new_width = high - low, new_high - new_low
    is_finite = np.isfinite(width) and np.isfinite(new_width)
    require(is_finite, f"the ranges [{low}, {high}] and [{new_low}, {new_high}] must be finite")
    if new_width == 0:
        scale = offset = new_offset = np.int64(0)
    else:
        scale = np.float64(255.0 * one * float(width) / float(new_width)).astype(np.int64)
        middle, inverse = np.float32(float(low + high) / 2.0), np.float32(255.0 / float(new_width))
        offset = (middle * inverse * np.float32(one)).astype(np.int64)
        new_offset = np.float64(one * (float(new_low) * 255.0) / float(new_width)).astype(np.int64)
    value = ((q.astype(np.int64) * scale) >> 32) + (offset - new_offset + (one >> 1))
    return np.clip(value >> 16, 0, 255).astype(np.uint8)


def along(values: Any, axis: int, rank: int) -> Any:
    """Reshape a vector to broadcast along the axis; return a scalar unchanged."""
    return values if axis < 0 else values.reshape((-1,) + (1,) * (rank - axis - 1))


def nudged_range(low: Any, high: Any, num_bits: int, narrow_range: bool, xp: Any = np) -> tuple[Any, Any, Any]:
    """Return (low, high, scale), moved so that zero is a level (Jacob et al. 2018).

    `xp` has the functions of NumPy, or those of a namespace like it.
    """
    require(2 <= num_bits <= 16, f"num_bits must be in [2, 16], not {num_bits}")
    first, last = np.float32(1 if narrow_range else 0), np.float32((1 << num_bits) - 1)
    scale = (high - low) / (last - first)
    with np.errstate(all="ignore"):
        zero = first - low / scale
        nearest = xp.trunc(zero + np.float32(0.5))  # between first and last, which are not negative
    zero = xp.where(zero < first, first, xp.where(zero > last, last, nearest)).astype(np.float32)
    return (first - zero) * scale, (last - zero) * scale, scale


def simulated_range(low: Any, high: Any, signed: bool, bits: int, narrow: bool, xp: Any = np) -> tuple[Any, Any, Any, Any]:
    """Return (low, high, scale, 1 / scale), so that zero stays zero and both ends lie within the integers.

    `xp` has the functions of NumPy, or those of a namespace like it.
    """
    t, most = low.dtype.type, np.finfo(low.dtype).max
    lowest = t((-(1 << (bits - 1)) + narrow) if signed else 0)
    highest = t((1 << (bits - 1)) - 1 if signed else (1 << bits) - 1)
    with np.errstate(all="ignore"):
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
        result -= zero
        result += np.float32(0.5)
        np.floor(result, out=result)
        result *= scale
    empty = (low == 0) & (high == 0)
    return np.where(empty, np.float32(0), result) if empty.any() else result


def fake_masks(x: Any, low: Any, high: Any, num_bits: int, narrow_range: bool, xp: Any = np) -> tuple[Any, Any, Any]:
    """Return masks of x below, within and above the nudged range; all elements are within the range [0, 0].

    `xp` has the functions of NumPy, or those of a namespace like it.
    """
    low, high = xp.asarray(low, np.float32), xp.asarray(high, np.float32)
    nudged_low, nudged_high, _ = nudged_range(low, high, num_bits, narrow_range, xp)
    below, within, above = x < nudged_low, (x >= nudged_low) & (x <= nudged_high), x > nudged_high
    empty = (low == 0) & (high == 0)
    is_plain = xp is np and not empty.any()
    return (below, within, above) if is_plain else (below & ~empty, within | empty, above & ~empty)
