"""Statistics of a tensor's elements: extremes, mean, standard deviation, counts of special values, histograms.

Minimum, maximum, mean and standard deviation leave out NaN and infinities, as TensorFlow's DebugNumericSummary does. The
elements pass through in pieces, so that memory stays bounded, and elements that share memory are read once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from ..support import dataclasses
from ..types import dtypes
from ..types.arrays import Array
from .blas_threads import one_thread
from .interruption_points import PIECE, pause

_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_HALF_BITS: Final = np.uint64(32)
_LARGEST_POWER: Final = 1000
"""The largest exponent of a power of two by which numbers are multiplied: its inverse is a normal double, too."""

_Pieces: TypeAlias = Callable[[], Iterator[Array]]
"""A way through the elements, from the first each time it is called."""


@dataclasses.dataclass(frozen=True, slots=True)
class TensorStatistics:
    """The statistics of one tensor. `count` is the number of all elements, empty strings count as zeros.

    Minimum and maximum are None for complex numbers, which have no order. All four figures are None for strings, handles
    and tensors without finite elements. `std` is the standard deviation of the elements, not an estimate from a sample.
    """

    count: int
    """How many elements the tensor has."""
    zeros: int = 0
    """How many elements are zero, or are empty strings."""
    nans: int = 0
    """How many elements are NaN."""
    infs: int = 0
    """How many elements are infinite."""
    min: int | float | None = None
    """The smallest finite element."""
    max: int | float | None = None
    """The largest finite element."""
    mean: float | complex | None = None
    """The mean of the finite elements."""
    std: float | None = None
    """The standard deviation of the finite elements."""


def tensor_statistics(array: Array) -> TensorStatistics:
    """Return the statistics of an array of any shape and of any dtype of TensorFlow."""
    distinct = _distinct(array)
    with one_thread.limited():  # a second thread takes more time to wait than the products need
        statistics = _statistics(distinct)
    # A tensor that was broadcast repeats its elements equally often: mean and deviation are those of one copy, only counts
    # are multiplied.
    repeats = array.size // distinct.size if distinct.size else 1
    counts = {name: getattr(statistics, name) * repeats for name in ("count", "zeros", "nans", "infs")}
    return dataclasses.replace(statistics, **counts)


def _statistics(array: Array) -> TensorStatistics:
    kind = _kind(array)
    if kind == "O":
        return TensorStatistics(array.size, zeros=sum(item in (b"", "") for item in array.flat))
    return _float_statistics(array) if kind in "cf" else _integer_statistics(array)


def histogram(array: Array, statistics: TensorStatistics, bins: int) -> tuple[int, ...]:
    """Return how many finite elements lie in each of `bins` intervals of equal length from the minimum to the maximum.

    A single number where minimum and maximum are equal; empty if `statistics`, those of `array`, have neither.
    """
    low, high = statistics.min, statistics.max
    if low is None or high is None:
        return ()
    if low == high:
        return (statistics.count - statistics.nans - statistics.infs,)
    distinct = _distinct(array)
    counts = np.zeros(bins, np.int64)
    for positions in _positions(distinct, low, high):
        positions *= bins
        places = positions.astype(np.int64)
        # The maximum itself is at the end of the last interval.
        counts += np.bincount(np.minimum(places, bins - 1, out=places), minlength=bins)
    return tuple((counts * (array.size // distinct.size)).tolist())


def _positions(array: Array, low: float, high: float) -> Iterator[Array]:
    """Yield the finite elements in pieces, mapped so that `low` is 0 and `high` is 1."""
    if _kind(array) == "f":
        exponent = _exponent(low, high)
        least, length = math.ldexp(low, -exponent), math.ldexp(high, -exponent) - math.ldexp(low, -exponent)
        for piece in _finite(array):
            positions = _scaled(piece, exponent)
            positions -= least
            positions /= length
            yield positions
    else:
        for piece in _offsets(array, int(low)):
            yield piece.astype(np.float64) / (int(high) - int(low))


def _float_statistics(array: Array) -> TensorStatistics:
    """Return the statistics of floats, real or complex."""
    zeros = nans = infs = 0
    for piece in _native_pieces(array):
        zeros += int(np.count_nonzero(piece == 0))
        if not np.isfinite(piece).all():
            missing = np.isnan(piece)
            nans += int(missing.sum())
            infs += int((np.isinf(piece) & ~missing).sum())
    counts = array.size, zeros, nans, infs
    if nans + infs == array.size:
        return TensorStatistics(*counts)
    if _kind(array) == "f":
        return TensorStatistics(*counts, *_moments(lambda: _finite(array)))
    _, _, real, real_std = _moments(lambda: (piece.real.astype(np.float64) for piece in _finite(array)))
    _, _, imaginary, imaginary_std = _moments(lambda: (piece.imag.astype(np.float64) for piece in _finite(array)))
    return TensorStatistics(*counts, mean=complex(real, imaginary), std=math.hypot(real_std, imaginary_std))


def _integer_statistics(array: Array) -> TensorStatistics:
    """Return the statistics of integers and truth values. The sum is exact, also where it exceeds 64 bits."""
    if not array.size:
        return TensorStatistics(0)
    zeros, extremes = 0, []
    for piece in _pieces(array):
        wide = _wide_integers(piece)
        zeros += int((wide == 0).sum())
        extremes += [int(wide.min()), int(wide.max())]
    low, high = min(extremes), max(extremes)
    total, parts = 0, []
    for offsets in _offsets(array, low):
        # The sum of 64-bit numbers may need more bits; that of their halves does not, for fewer than 2^32 elements.
        total += (int((offsets >> _HALF_BITS).sum()) << 32) + int((offsets & _LOW_HALF).sum())
        parts.append(_part(offsets.astype(np.float64)))
    # Python's integers divide exactly rounded, however large.
    mean = (low * array.size + total) / array.size
    return TensorStatistics(array.size, zeros, min=low, max=high, mean=mean, std=_spread(parts))


def _moments(pieces: _Pieces) -> tuple[float, float, float, float]:
    """Return minimum, maximum, mean and standard deviation of finite numbers.

    The elements are divided by a power of two, so that neither sums nor squares leave the range of a double.
    """
    extremes = [float(end) for piece in pieces() if piece.size for end in (piece.min(), piece.max())]
    low, high = min(extremes), max(extremes)
    if low == high:
        return low, high, low, 0.0
    exponent = _exponent(low, high)
    parts = [_part(_scaled(piece, exponent)) for piece in pieces() if piece.size]
    mean = math.ldexp(_mean(parts), exponent)
    # Rounding may place a mean just outside of its numbers.
    return low, high, min(max(mean, low), high), math.ldexp(_spread(parts), exponent)


def _scaled(piece: Array, exponent: int) -> Array:
    """Return the elements as new doubles, divided by a power of two."""
    # 2^-exponent would be subnormal or infinite as a factor, where ldexp is exact.
    if abs(exponent) > _LARGEST_POWER:
        return np.ldexp(piece.astype(np.float64), -exponent)
    scaled: Array = np.multiply(piece, math.ldexp(1.0, -exponent), dtype=np.float64)
    return scaled


def _part(piece: Array) -> tuple[int, float, float]:
    """Return the number of elements, their mean, and the sum of their squared distances from the mean, in place."""
    mean = float(piece.mean())
    piece -= mean
    return piece.size, mean, float(np.dot(piece, piece))


def _mean(parts: list[tuple[int, float, float]]) -> float:
    return math.fsum(count * mean for count, mean, _ in parts) / sum(count for count, _, _ in parts)


def _spread(parts: list[tuple[int, float, float]]) -> float:
    """Return the standard deviation of all elements, from those of pieces (Chan, Golub and LeVeque 1979)."""
    mean = _mean(parts)
    squares = math.fsum(squares + count * (own - mean) ** 2 for count, own, squares in parts)
    return math.sqrt(squares / sum(count for count, _, _ in parts))


def _exponent(low: float, high: float) -> int:
    """Return the exponent of a power of two above the magnitude of both."""
    return math.frexp(max(abs(low), abs(high)))[1]


def _kind(array: Array) -> str:
    """Return the kind of a dtype as dtypes.DType has it; NumPy calls bfloat16 and float8 kind V."""
    return dtypes.from_numpy(array.dtype).kind


def _distinct(array: Array) -> Array:
    """Return the elements once along each dimension in which all share their memory."""
    steps = (slice(1) if step == 0 and n else slice(None) for step, n in zip(array.strides, array.shape))
    return array[(*steps, ...)]


def _pieces(array: Array) -> Iterator[Array]:
    """Yield the elements in flat pieces of bounded size."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    for start in range(0, array.size, PIECE):
        pause()
        yield flat[start : start + PIECE]


def _native_pieces(array: Array) -> Iterator[Array]:
    """Yield the elements of floats in pieces, narrow ones as doubles."""
    is_narrow = array.dtype.itemsize < np.float32().itemsize
    for piece in _pieces(array):
        yield piece.astype(np.float64) if is_narrow else piece


def _finite(array: Array) -> Iterator[Array]:
    """Yield the finite elements, narrow ones as doubles."""
    for piece in _native_pieces(array):
        finite = np.isfinite(piece)
        yield piece if finite.all() else piece[finite]


def _wide_integers(piece: Array) -> Array:
    return piece if piece.dtype == np.uint64 else piece.astype(np.int64)


def _offsets(array: Array, low: int) -> Iterator[Array]:
    """Yield the exact distances of integers from the least, which fit into 64 bits without sign."""
    # Both wrap modulo 2^64, so that their difference is right for negative numbers, too.
    least = np.uint64(low % (1 << 64))
    for piece in _pieces(array):
        yield _wide_integers(piece).astype(np.uint64) - least


# Histograms over TensorFlow's exponential buckets, as summaries have them: core/lib/histogram/histogram.cc.

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


def bucket_histogram(values: Array) -> Histogram:
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
    # The two running sums are the parts of a complex number, because np.add.accumulate then adds both in one pass, in
    # TensorFlow's order.
    sums = np.complex128(0)
    for start in range(0, numbers.size, _IN_CACHE):
        part = numbers[start : start + _IN_CACHE].astype(np.float64)
        pairs = np.empty(part.size, np.complex128)
        pairs.real = part
        np.multiply(part, part, out=pairs.imag)
        pairs[0] += sums
        sums = np.add.accumulate(pairs, out=pairs)[-1]
    return float(sums.real), float(sums.imag)
