"""Histograms over TensorFlow's exponential buckets, as its core/lib/histogram/histogram.cc makes them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ..arrays import Array


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
    """Statistics and the buckets that are not empty, each run of empty ones as one."""

    minimum: float
    maximum: float
    count: float
    total: float
    sum_squares: float
    limits: list[float]
    counts: list[float]


def histogram(values: Array) -> Histogram:
    """The histogram of numbers; NaN and infinities must not be among them."""
    numbers = values.astype(np.float64).ravel()
    limits = bucket_limits()
    counts = np.bincount(np.searchsorted(limits, numbers, side="right"), minlength=len(limits)).astype(np.float64)
    # Of a run of empty buckets the last one stands for all.
    kept = [i for i, n in enumerate(counts) if n > 0 or i + 1 == len(counts) or counts[i + 1] > 0]
    if not numbers.size:
        largest = float(np.finfo(np.float64).max)
        return Histogram(largest, -largest, 0.0, 0.0, 0.0, [largest], [0.0])
    return Histogram(
        float(numbers.min()),
        float(numbers.max()),
        float(numbers.size),
        _sum(numbers),
        _sum(numbers * numbers),
        limits[kept].tolist(),
        counts[kept].tolist(),
    )


def _sum(numbers: Array) -> float:
    """The sum, added one after the other as TensorFlow does."""
    return float(np.add.accumulate(numbers)[-1])
