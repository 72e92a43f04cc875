"""Arithmetic on quantized numbers written out naively, to be run on counted arrays.

Ranges, scales and zero points are numbers here: what is done to them, once for a tensor or a channel, is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.core.flops import definitions
from tests.core.flops.definitions_images import taps

Array = Any


def clipped(x: Array) -> Array:
    return np.minimum(np.maximum(x, -1.0), 1.0)


def to_float(q: Array) -> Array:
    return q * 0.5 + 0.25


def from_float(x: Array) -> Array:
    return clipped(np.rint(x * 2.0) - 3.0)


def rescaled(q: Array) -> Array:
    """A product in fixed point of 31 bits, rounded by what is added before the shift, which is a division, within 32 bits."""
    return clipped(np.floor_divide(q * 7.0 + 0.5, 2.0))


def quantized(x: Array, mode: str, is_signed: bool) -> None:
    if mode == "SCALED":
        _ = np.rint(clipped(x) * 2.0)
    elif mode == "MIN_FIRST":
        from_float(x)
    elif is_signed:
        _ = np.rint((clipped(x) - 0.25) * 2.0 - 128.0)
    else:
        _ = (clipped(x) - 0.25) * 2.0 + 0.5


def dequantized(q: Array, mode: str, is_signed: bool) -> None:
    if mode == "SCALED":
        _ = q * 2.0
    elif mode == "MIN_FIRST" or not is_signed:
        to_float(q)
    else:
        _ = (q + 128.0) * 0.5 + 0.25


def extremes(x: Array, axes: Any) -> None:
    np.minimum.reduce(x, axes)
    np.maximum.reduce(x, axes)


def simulated(x: Array, range_given: bool, halves_up: bool, axis: int) -> None:
    """Quantized and back at once."""
    if not range_given:
        extremes(x, None if axis == -1 else tuple(i for i in range(x.ndim) if i != axis))
    scaled = (clipped(x) if range_given else x) * 2.0
    _ = (np.floor(scaled + 0.5) if halves_up else np.rint(scaled)) * 0.5


def inside(x: Array) -> Any:
    """Above the lower end, and where it is, below the upper one."""
    _ = x >= -1.0, x <= 1.0


def fake(x: Array) -> None:
    """As simulated, with a zero that is moved onto a level (Jacob et al. 2018)."""
    _ = np.floor((clipped(x) - 0.25) * 2.0 - 1.0 + 0.5) * 0.5


def fake_gradient(grad: Array, x: Array, axes: Any) -> None:
    """What lies outside goes to the ends of the range."""
    inside(x)
    for _ in range(2):
        np.add.reduce(grad, axes)


def pooled(x: Array, windows: definitions.Windows, is_mean: bool) -> None:
    """The largest element of each window, or the mean rounded."""
    if is_mean:
        np.rint(definitions.avg_pool(x, windows))
    else:
        definitions.max_pool(x, windows)


def instance_norm(x: Array, range_given: bool) -> None:
    count = float(math.prod(x.shape[1:3]))
    centered = (x - np.add.reduce(x, (1, 2), keepdims=True) / count) * 0.5
    variance = np.add.reduce(centered * centered, (1, 2), keepdims=True) / count
    normed = centered / np.sqrt(variance + 1e-5)
    if not range_given:
        extremes(normed, None)
    from_float(normed)


def batch_norm(x: Array, mean: Array, variance: Array, beta: Array, gamma: Array | None) -> None:
    """In fixed point: a product is divided by what stands for 1."""
    scale = 1.0 / np.sqrt(to_float(variance) + 1e-5)
    if gamma is not None:
        scale = scale * to_float(gamma)
    offset = to_float(beta) - to_float(mean) * scale
    _ = np.floor_divide(from_float(to_float(x)) * from_float(scale), 64.0) + from_float(offset)


def requantized(q: Array, is_fixed: bool) -> None:
    """In fixed point of 16 bits from 32 bits to 8, where shifts are divisions."""
    if is_fixed:
        clipped(np.floor_divide(np.floor_divide(q * 7.0, 2.0) + 3.0, 2.0))
    else:
        from_float(to_float(q))


def bilinear_in_fixed_point(x: Array, height: int, width: int) -> None:
    (top, _), (bottom, _) = taps(x.shape[1], height, 2)
    (left, _), (right, _) = taps(x.shape[2], width, 2)
    above, below = (
        x[:, row][:, :, left] * 128.0 + (x[:, row][:, :, right] - x[:, row][:, :, left]) * 5.0 for row in (top, bottom)
    )
    result = above + np.floor_divide(below - above, 128.0) * 5.0
    _ = np.floor_divide(result + 64.0, 128.0)


def fused(sums: Array, steps: Sequence[str], bias: Array, summand: Array) -> None:
    """What follows a product: steps by name."""
    for step in steps:
        if step == "float bias":
            sums = sums + np.rint(bias / 0.5)
        elif step == "float bias of floats":
            sums = sums + bias / 0.5
        elif step == "bias":
            sums = sums + bias
        elif step == "summand":
            sums = sums + np.rint(summand / 0.5)
        elif step == "quantized summand":
            sums = sums + summand * 0.5
        elif step == "Relu":
            sums = np.maximum(sums, 0.0)
        elif step == "Dequantize":
            sums = sums * 0.5
        elif step == "Requantize":
            sums = clipped(np.rint(sums * 0.5))
        else:
            assert step == "one step for all channels", step
            sums = np.rint(sums * 0.5)


def uniform(x: Array) -> Array:
    """Floats as integers with a zero point."""
    return clipped(np.floor(x * 2.0 + 0.5) + 3.0)


def uniform_to_output(q: Array) -> Array:
    return clipped(rescaled(q) + 3.0)


def quantized_rows(x: Array) -> Array:
    """Each row by its own range, which holds zero, without its zero point."""
    for ufunc in (np.minimum, np.maximum):
        ufunc(x, 0.0)
    return uniform(x) - 3.0
