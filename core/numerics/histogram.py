"""Histograms over TensorFlow's exponential buckets, after its core/lib/histogram/histogram.cc."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

from ..support import dataclasses
from ..types.arrays import Array

_IN_CACHE: Final = 1 << 13
"""Numbers that are added without leaving the first-level cache."""


@functools.cache
def bucket_limits() -> Array:
    """Upper limits of the buckets: steps of 10 % from 1e-12 to 1e20 on both sides of zero, the largest double at the end."""
    positive = []
    limit = 1.0e-12
    while limit < 1.0e20:
        positive.append(limit)
        limit *= 1.1
    positive.append(np.finfo(np.float64).max)
    return np.array([*(-x for x in reversed(positive)), 0.0, *positive])


@dataclasses.dataclass(frozen=True, slots=True)
class Histogram:
    """Statistics and the buckets that are not empty, with each run of empty buckets merged."""

    minimum: float
    maximum: float
    count: float
    total: float
    sum_squares: float
    limits: list[float]
    counts: list[float]


def histogram(values: Array) -> Histogram:
    """Return the histogram of numbers; NaN and infinities must not be among them."""
    limits = bucket_limits()
    numbers = values.ravel() if values.dtype == np.float32 else values.astype(np.float64).ravel()
    if not numbers.size:
        largest = float(np.finfo(np.float64).max)
        return Histogram(largest, -largest, 0.0, 0.0, 0.0, [largest], [0.0])
    ordered = np.sort(numbers)  # much faster than a search for each
    counts = np.diff(np.searchsorted(ordered, limits, side="left"), prepend=0)
    # A run of empty buckets is merged into its last bucket.
    is_shown = (counts > 0) | np.append(counts[1:] > 0, True)
    total, sum_squares = _sums(numbers)
    return Histogram(
        float(ordered[0]),
        float(ordered[-1]),
        float(numbers.size),
        total,
        sum_squares,
        limits[is_shown].tolist(),
        counts[is_shown].astype(np.float64).tolist(),
    )


def _sums(numbers: Array) -> tuple[float, float]:
    """Return the sums of numbers and of their squares, added in sequence as TensorFlow does."""
    sums = np.complex128(0)
    for start in range(0, numbers.size, _IN_CACHE):
        part = numbers[start : start + _IN_CACHE].astype(np.float64)
        pairs = np.empty(part.size, np.complex128)  # one pass adds both
        pairs.real = part
        np.multiply(part, part, out=pairs.imag)
        pairs[0] += sums
        sums = np.add.accumulate(pairs, out=pairs)[-1]
    return float(sums.real), float(sums.imag)
