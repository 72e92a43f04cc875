"""Distributions that TensorFlow draws by rejection: gamma, Poisson, binomial, multinomial, shuffles.

Where TensorFlow gives each output a separate region of the stream, all outputs are drawn in lockstep: `Lanes` holds a
position per lane, and accepted lanes leave the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..parallel.interruption_points import in_pieces
from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from .philox import RESERVED_PER_OUTPUT, Philox, normal_from_words, uniform_from_words, words_per_sample

_FLOAT64 = np.dtype(np.float64)


class Lanes:
    """A position in the stream for each lane; samples come block by block, the last of a block first."""

    def __init__(self, gen: Philox, offsets: Array, dtype: np.dtype[Any]) -> None:
        self._gen = gen
        self._next = offsets.astype(np.uint64)
        self._dtype = dtype
        self._size = 4 // words_per_sample(dtype)
        self._buffers: dict[str, tuple[Array, Array]] = {}

    def uniform(self, lanes: Array) -> Array:
        """Draw a uniform sample for each of `lanes`."""
        return self._take("uniform", lanes, uniform_from_words)

    def normal(self, lanes: Array) -> Array:
        """Draw a standard normal sample for each of `lanes`."""
        return self._take("normal", lanes, normal_from_words)

    def _take(self, kind: str, lanes: Array, distribution: Callable[[Array, np.dtype[Any]], Array]) -> Array:
        if kind not in self._buffers:
            count = len(self._next)
            self._buffers[kind] = np.empty((count, self._size), self._dtype), np.zeros(count, np.intp)
        samples, remaining = self._buffers[kind]
        empty = lanes[remaining[lanes] == 0]
        if len(empty):
            words = self._gen.blocks(self._next[empty])
            samples[empty] = distribution(words.reshape(-1), self._dtype).reshape(len(empty), self._size)
            self._next[empty] += np.uint64(1)
            remaining[empty] = self._size
        remaining[lanes] -= 1
        return samples[lanes, remaining[lanes]]


def gamma(gen: Philox, alpha: Array) -> Array:
    """Draw a sample of Gamma(alpha[i], 1) for each i, double: Marsaglia and Tsang, ACM TOMS 26 (2000)."""
    return in_pieces(lambda i, j: _gamma(gen.skipped(i * RESERVED_PER_OUTPUT), alpha[i:j]), len(alpha))


def _gamma(gen: Philox, alpha: Array) -> Array:
    alpha = alpha.astype(np.float64)
    count = len(alpha)
    lanes = Lanes(gen, np.arange(count, dtype=np.uint64) * np.uint64(RESERVED_PER_OUTPUT), _FLOAT64)
    result = np.empty(count)
    exponential = np.flatnonzero(alpha == 1)
    result[exponential] = -np.log1p(-lanes.uniform(exponential))
    below_one = alpha < 1
    d = alpha + np.where(below_one, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    result[np.isnan(alpha)] = np.nan
    active = np.flatnonzero((alpha != 1) & ~np.isnan(alpha))
    while len(active):
        x = lanes.normal(active)
        v = 1 + c[active] * x
        positive = ~(v <= 0)
        candidates, x, v = active[positive], x[positive], v[positive] ** 3
        u = lanes.uniform(candidates)
        accepted = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < 0.5 * x * x + d[candidates] * (1 - v + np.log(v)))
        done = candidates[accepted]
        result[done] = d[done] * v[accepted]
        small = done[below_one[done]]
        result[small] *= np.power(lanes.uniform(small), 1 / alpha[small])
        active = active[~np.isin(active, done)]
    return result


def poisson(gen: Philox, rate: Array) -> Array:
    """Draw a Poisson sample for each rate, double.

    Below a rate of ten by Knuth's product of uniforms, else by Hoermann's transformed rejection (1993).
    """
    return in_pieces(lambda i, j: _poisson(gen.skipped(i * RESERVED_PER_OUTPUT), rate[i:j]), len(rate))


def _poisson(gen: Philox, rate: Array) -> Array:
    rate = rate.astype(np.float64)
    lanes = Lanes(gen, np.arange(len(rate), dtype=np.uint64) * np.uint64(RESERVED_PER_OUTPUT), _FLOAT64)
    result = np.empty(len(rate))
    unbounded = np.isinf(rate) & (rate > 0)
    result[unbounded] = np.inf
    result[np.isnan(rate)] = np.nan
    _poisson_small(lanes, rate, np.flatnonzero(rate < 10), result)
    _poisson_large(lanes, rate, np.flatnonzero((rate >= 10) & ~unbounded), result)
    return result


def _poisson_small(lanes: Lanes, rate: Array, active: Array, result: Array) -> None:
    limit = np.exp(-rate)
    product = np.ones(len(rate))
    count = 0
    while len(active):
        product[active] *= lanes.uniform(active)
        over = product[active] <= limit[active]
        result[active[over]] = count
        active = active[~over]
        count += 1


def _poisson_large(lanes: Lanes, rate: Array, active: Array, result: Array) -> None:
    from scipy.special import gammaln

    log_rate = np.log(rate)
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while len(active):
        u, v = lanes.uniform(active) - 0.5, lanes.uniform(active)
        a_, b_, rate_ = a[active], b[active], rate[active]
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a_ / shifted + b_) * u + rate_ + 0.43)
        inside = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b_ - 2))
        refused = (k < 0) | ((shifted < 0.013) & (v > shifted))
        s = np.log(v * inverse_alpha[active] / (a_ / (shifted * shifted) + b_))
        t = -rate_ + k * log_rate[active] - gammaln(k + 1)
        accepted = inside | (~refused & (s <= t))
        result[active[accepted]] = k[accepted]
        active = active[~accepted]


_STIRLING_TAILS = np.array(
    [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ]
)
_INVERSION_BLOCKS = 42
"""The number of blocks reserved for an output with a mean below ten."""


def binomial(gen: Philox, counts: Array, probs: Array, is_large: Array) -> Array:
    """Draw a binomial sample for each (count, prob), double; `is_large`: the rarer outcome is expected ten times or more.

    InvalidArgumentError for infinite counts; TensorFlow would draw without end.
    """
    counts = counts.astype(np.float64)
    probs = probs.astype(np.float64)
    result = np.where(np.isnan(probs), np.nan, 0.0)
    drawn = (counts > 0) & (probs > 0) & (probs < 1)
    if np.isinf(counts[drawn]).any():
        raise InvalidArgumentError("counts must be finite")
    certain = (counts > 0) & (probs >= 1)
    result[certain] = counts[certain]
    rare = np.where(probs > 0.5, 1 - probs, probs)
    places = np.arange(len(counts), dtype=np.uint64)
    small, large = np.flatnonzero(drawn & ~is_large), np.flatnonzero(drawn & is_large)
    if len(small):
        result[small] = _binomial_inversion(Lanes(gen, places * np.uint64(_INVERSION_BLOCKS), _FLOAT64), counts, rare, small)
    if len(large):
        lanes = Lanes(gen, places * np.uint64(RESERVED_PER_OUTPUT), _FLOAT64)
        result[large] = _binomial_rejection(lanes, counts, rare, large)
    flipped = drawn & (probs > 0.5)
    result[flipped] = counts[flipped] - result[flipped]
    return result


def _binomial_inversion(lanes: Lanes, counts: Array, probs: Array, chosen: Array) -> Array:
    """Count the geometric gaps that fit into count trials."""
    successes = np.zeros(len(counts))
    total = np.zeros(len(counts))
    active = chosen
    while len(active):
        total[active] += np.ceil(np.log(lanes.uniform(active)) / np.log1p(-probs[active]))
        active = active[~(total[active] > counts[active])]
        successes[active] += 1
    return successes[chosen]


def _binomial_rejection(lanes: Lanes, counts: Array, probs: Array, chosen: Array) -> Array:
    """Draw by transformed rejection with squeeze: Hoermann, J. Stat. Comput. Simul. 46 (1993), algorithm BTRS."""
    result = np.zeros(len(counts))
    active = chosen
    while len(active):
        u, v = lanes.uniform(active), lanes.uniform(active)
        k, accepted = _binomial_proposal(counts[active], probs[active], u - 0.5, v)
        result[active[accepted]] = k[accepted]
        active = active[~accepted]
    return result[chosen]


def _binomial_proposal(count: Array, prob: Array, u: Array, v: Array) -> tuple[Array, Array]:
    deviation = np.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    alpha = (2.83 + 5.1 / b) * deviation
    ratio = prob / (1 - prob)
    m = np.floor((count + 1) * prob)
    us = 0.5 - np.abs(u)
    k = np.floor((2 * a / us + b) * u + count * prob + 0.5)
    inside = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
    possible = (k >= 0) & (k <= count)
    bounded = np.clip(k, 0, count)
    bound = (
        (m + 0.5) * np.log((m + 1) / (ratio * (count - m + 1)))
        + (count + 1) * np.log((count - m + 1) / (count - bounded + 1))
        + (bounded + 0.5) * np.log(ratio * (count - bounded + 1) / (bounded + 1))
        + _stirling_tail(m)
        + _stirling_tail(count - m)
        - _stirling_tail(bounded)
        - _stirling_tail(count - bounded)
    )
    return k, inside | (possible & (np.log(v * alpha / (a / (us * us) + b)) <= bound))


def _stirling_tail(k: Array) -> Array:
    """Return log k! minus Stirling's approximation."""
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _STIRLING_TAILS[np.clip(k, 0, 9).astype(np.intp)], series)


def multinomial(uniforms: Array, logits: Array) -> Array:
    """Return a class per uniform sample for each row of logits, by inversion of the cumulative distribution; int64."""
    values = logits.astype(np.float64)
    finite = np.isfinite(values)
    peak = np.max(np.where(finite, values, -np.inf), axis=1, keepdims=True)
    weights = np.where(finite, np.exp(values - peak), 0.0)
    cumulative = np.cumsum(weights, axis=1)
    result: Array = np.empty(uniforms.shape, np.int64)
    for row, levels, drawn in zip(result, cumulative, uniforms):
        row[:] = levels.searchsorted(drawn * levels[-1], "right")
    return result


def permutation(gen: Philox, size: int) -> Array:
    """Return a permutation of range(size) by Fisher and Yates, with a remainder for each swap."""
    jumps = gen.words(size - 1) % np.arange(size, 1, -1, dtype=np.uint32)
    return _swapped(jumps + np.arange(size - 1))


def _swapped(partners: Array) -> Array:
    """Return range(len(partners) + 1) after place i was swapped with place partners[i] >= i, for each i in order.

    A swap reads from the partner the element left there by the last swap with the same partner. That swap had read the
    element at its own place, where an earlier swap may have left the element, and so on back to an untouched place.
    Following the chain by pointer doubling yields all sources at once.
    """
    count = len(partners)
    swaps = np.lexsort((partners.astype(np.uint16), (partners >> 16).astype(np.uint16)))  # NumPy sorts 16-bit keys by radix
    places = partners[swaps]
    before = np.full(count, -1)
    before[swaps[1:]] = np.where(places[1:] == places[:-1], swaps[:-1], -1)
    source, is_jump = np.arange(count + 1), places != swaps
    source[places[is_jump]] = swaps[is_jump]  # of several the last, as they are in order
    while not np.array_equal(source, further := source[source]):
        source = further
    order = np.where(before < 0, partners, source[before])
    return np.append(order, source[count])
