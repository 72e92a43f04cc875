"""Random numbers written out naively, to be run on counted arrays. The generator's own work on its words is not counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from tests.core.flops.counting import Tally, counted

Array = Any


def uniform(tally: Tally, *shape: int, seed: int = 0) -> Array:
    """Random mantissas under the exponent of [1, 2), less one."""
    return counted(np.random.default_rng(seed).uniform(1, 2, shape), tally) - 1.0


def normal(tally: Tally, size: int, seed: int = 0) -> Array:
    """Pairs by Box and Muller (1958), of which the last may be half used."""
    pairs = (size + 1) // 2
    u, v = uniform(tally, pairs, seed=seed), uniform(tally, pairs, seed=seed + 1)
    radius, angle = np.sqrt(np.log(np.maximum(u, 1e-7)) * -2.0), v * (2 * math.pi)
    both = np.sin(angle) * radius, np.cos(angle) * radius
    return counted(np.stack([np.asarray(x) for x in both], 1).reshape(-1)[:size], tally)


def truncated(x: Array) -> Any:
    """Which normal samples are kept."""
    return np.asarray(abs(x) < 2.0)


def bounded(tally: Tally, size: int, low: float, high: float) -> Any:
    """Normal samples moved, and which of them are within bounds."""
    x = normal(tally, size)
    kept = both(x >= low, x <= high)
    _ = x * 2.0 + 1.0
    return kept


def both(first: Any, second: Any) -> Any:
    """The second test is a matter of control flow."""
    return np.asarray(first) & np.asarray(second)


def either(first: Any, second: Any) -> Any:
    return np.asarray(first) | np.asarray(second)


def gamma(alpha: Array, samples: int) -> Any:
    """One attempt for each sample of each alpha, from 1 on (Marsaglia and Tsang 2000); each has a normal pair of its own."""
    tally = alpha.tally
    d = alpha + np.where(np.asarray(alpha < 1.0), 2 / 3, -1 / 3)
    c = (1 / 3) / np.sqrt(d)
    x = counted(np.asarray(normal(tally, 2 * samples * len(alpha)))[::2].reshape(samples, -1), tally)
    v = x * c + 1.0
    positive = v > 0.0
    v = np.where(np.asarray(positive), np.asarray(v), 1.0)
    v = counted(v, tally)
    v = v * v * v
    u, square = uniform(tally, samples, len(alpha), seed=2), x * x
    squeezed = u < 1.0 - square * 0.0331 * square
    accepted = np.log(u) < square * 0.5 + (1.0 - v + np.log(v)) * d
    _ = v * d
    return both(positive, either(squeezed, accepted))


def poisson(rate: Array, samples: int) -> Any:
    """One attempt for each sample of each rate, from 10 on (Hoermann 1993, PTRS)."""
    tally, size = rate.tally, (samples, len(rate))
    log_rate = np.log(rate)
    b = np.sqrt(rate) * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    inverse_alpha = 1.1328 / (b - 3.4) + 1.1239
    twice, edge = a * 2.0, 0.9277 - 3.6224 / (b - 2.0)
    u, v = uniform(tally, *size) - 0.5, uniform(tally, *size, seed=1)
    shifted = 0.5 - abs(u)
    k = np.floor((twice / shifted + b) * u + rate + 0.43)
    squeezed = both(shifted >= 0.07, v <= edge)
    refused = either(k < 0.0, both(shifted < 0.013, v > shifted))
    height = np.log(v * inverse_alpha / (a / (shifted * shifted) + b))
    within = height <= k * log_rate - rate - special.gammaln(np.maximum(np.asarray(k), 0) + counted(1.0, tally))
    return either(squeezed, both(~refused, within))


def stirling_tail(k: Array) -> Array:
    """log k! less Stirling's approximation of it, from a table up to 9."""
    _ = k <= 9.0
    next_ = k + 1.0
    square = next_ * next_
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / next_


def binomial(count: Array, prob: Array, samples: int) -> Any:
    """One attempt for each sample of each (count, probability) (Hoermann 1993, BTRS)."""
    tally, size = count.tally, (samples, len(count))
    flipped = prob > 0.5
    prob = counted(np.where(np.asarray(flipped), np.asarray(1.0 - prob), np.asarray(prob)), tally)
    rest, mean = 1.0 - prob, count * prob
    deviation = np.sqrt(mean * rest)
    b = deviation * 2.53 + 1.15
    a = b * 0.0248 + prob * 0.01 - 0.0873
    alpha = (5.1 / b + 2.83) * deviation
    ratio, m = prob / rest, np.floor(mean + prob)
    left = count - m
    after = left + 1.0
    center = (m + 0.5) * np.log((m + 1.0) / (ratio * after)) + stirling_tail(m) + stirling_tail(left)
    twice, edge, start, all_ = a * 2.0, 0.92 - 4.2 / b, mean + 0.5, count + 1.0
    u, v = uniform(tally, *size) - 0.5, uniform(tally, *size, seed=1)
    shifted = 0.5 - abs(u)
    k = np.floor((twice / shifted + b) * u + start)
    squeezed, possible = both(shifted >= 0.07, v <= edge), both(k >= 0.0, k <= count)
    k = counted(np.clip(np.asarray(k), 0, np.asarray(count)), tally)
    others = count - k
    more, next_ = others + 1.0, k + 1.0
    bound = center + np.log(after / more) * all_ + np.log(ratio * more / next_) * (k + 0.5)
    bound = bound - stirling_tail(k) - stirling_tail(others)
    within = np.log(v * alpha / (a / (shifted * shifted) + b)) <= bound
    _ = np.where(np.asarray(flipped), others, k)
    return either(squeezed, both(possible, within))


def multinomial(logits: Array, samples: int) -> None:
    """By inversion of the cumulative distribution."""
    weights = np.exp(logits - np.maximum.reduce(logits, 1, keepdims=True))
    for row in weights:
        drawn = uniform(logits.tally, samples) * running_sum(row)
        for _ in range(len(row).bit_length()):
            _ = drawn < 0.5


def sobol(dimensions: int, points: int, tally: Tally) -> None:
    """In Gray code order (Antonov and Saleev 1979): each number is the one before with one direction taken in or out."""
    state, directions = counted(np.zeros(dimensions, np.uint32), tally), np.ones(dimensions, np.uint32)
    for _ in range(points):
        state = np.bitwise_xor(state, directions)
        _ = state * 2.0**-32


def kmeans_plus_plus(points: Array, count: int, tries: int) -> None:
    """Centers drawn in proportion to the squared distance from those before; random numbers are given."""
    half_norms = np.add.reduce(points * points, 1) * 0.5
    nearest = None
    for _ in range(count):
        totals, result = [], []
        for _ in range(tries):
            if nearest is not None:
                running_sum(nearest) * 0.5
            distances = half_norms - products(points, points[0]) + half_norms[:1]
            result.append(np.minimum(distances, 9.0 if nearest is None else nearest))
            totals.append(np.add.reduce(result[-1], 0, keepdims=True))
        for total in totals[1:]:
            _ = total < totals[0]
        nearest = result[0]


def products(points: Array, point: Array) -> Array:
    """Dot products, one multiply-add after the other."""
    total: Any = 0.0
    for i in range(len(point)):
        total = total + points[:, i] * point[i : i + 1]
    return total


def running_sum(x: Array) -> Array:
    """The last of the cumulative sums."""
    total = x[:1]
    for i in range(1, len(x)):
        total = total + x[i : i + 1]
    return total


def rotated(x: Array, by: int) -> Array:
    """A byte rotated to the left."""
    return np.bitwise_and(np.bitwise_or(np.left_shift(x, by), np.right_shift(x, 8 - by)), 0xFF)


def shuffled(index: Array, seed: Array, rounds: int) -> Array:
    """Simon of 16-bit blocks (Beaulieu et al. 2013); seed (n, 3)."""
    z = [int(bit) for bit in bin(0x7369F885192C0EF5)[:1:-1]]
    keys = [np.bitwise_and(seed[:, i], 0xFF) for i in range(3)]
    for i in range(3, rounds):
        turned = np.bitwise_xor(rotated(keys[-1], 5), rotated(keys[-1], 4))
        constant = (0xFC ^ z[i - 3]) if i - 3 < 8 else 0xFC
        keys.append(np.bitwise_xor(np.bitwise_xor(keys[-3], constant), turned))
    left, right = np.bitwise_and(np.right_shift(index, 8), 0xFF), np.bitwise_and(index, 0xFF)
    for i in range(rounds):
        mixed = np.bitwise_xor(np.bitwise_and(rotated(right, 1), rotated(right, 8)), rotated(right, 2))
        left, right = right, np.bitwise_xor(np.bitwise_xor(left, mixed), keys[i])
    return np.bitwise_or(np.left_shift(left, 8), right)


def stochastic_cast(x: Array) -> None:
    """Up as often as the fraction says; NaN, integers and what is out of range are seen to apart."""
    _ = x != x, x >= 2e9, x <= -2e9, np.floor(x) == x
    u = uniform(x.tally, *x.shape)
    _ = np.floor(x + np.where(np.asarray(x < 0.0), np.asarray(u), np.asarray(1.0 - u)))


def expected_counts(probabilities: Array, draws: float, is_unique: bool) -> None:
    """How often classes are expected in a batch, or with how much probability in one without repetition."""
    _ = -np.expm1(np.log1p(-probabilities) * draws) if is_unique else probabilities * draws
