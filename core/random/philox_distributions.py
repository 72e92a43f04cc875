"""Distributions that TensorFlow draws by rejection: gamma, Poisson, binomial, multinomial, shuffles, bounded normals.

Where TensorFlow gives each output a separate region of the stream, all outputs are drawn in lockstep: `Lanes` holds a
position per lane, and accepted lanes leave the loop. Some loops skip parts of the stream by the blocks for threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..numerics.interruption_points import in_pieces
from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from . import philox
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
        # From the last of the block to the first: TensorFlow's SingleSampleAdapter counts down likewise.
        return samples[lanes, remaining[lanes]]


def gamma(gen: Philox, alpha: Array) -> Array:
    """Draw a sample of Gamma(alpha[i], 1) for each i, double: Marsaglia and Tsang, ACM TOMS 26 (2000)."""
    # Each output has its own region of the stream, so that pieces of the outputs draw as all at once would.
    return in_pieces(lambda i, j: _gamma(gen.skipped(i * RESERVED_PER_OUTPUT), alpha[i:j]), len(alpha))


def _gamma(gen: Philox, alpha: Array) -> Array:
    alpha = alpha.astype(np.float64)
    count = len(alpha)
    lanes = Lanes(gen, np.arange(count, dtype=np.uint64) * np.uint64(RESERVED_PER_OUTPUT), _FLOAT64)
    result = np.empty(count)
    # Gamma(1) is the exponential distribution, which TensorFlow draws by inversion.
    exponential = np.flatnonzero(alpha == 1)
    result[exponential] = -np.log1p(-lanes.uniform(exponential))
    below_one = alpha < 1
    # Below 1 the sample is one of Gamma(alpha + 1), multiplied by a power of a uniform number.
    d = alpha + np.where(below_one, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / np.sqrt(d)
    result[np.isnan(alpha)] = np.nan
    active = np.flatnonzero((alpha != 1) & ~np.isnan(alpha))
    while len(active):
        x = lanes.normal(active)
        v = 1 + c[active] * x
        # Not v > 0: a NaN would be refused forever.
        positive = ~(v <= 0)
        candidates, x, v = active[positive], x[positive], v[positive] ** 3
        u = lanes.uniform(candidates)
        # The first test, without logarithms, accepts nearly all samples that the second one would.
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
    # Failures are counted instead of successes if they are rarer: both algorithms want a probability up to a half.
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
    # Impossible proposals are refused anyway; clipped, they have a logarithm without a warning.
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
    # The series is not exact enough for small k.
    return np.where(k <= 9, _STIRLING_TAILS[np.clip(k, 0, 9).astype(np.intp)], series)


def multinomial(uniforms: Array, logits: Array) -> Array:
    """Return a class per uniform sample for each row of logits, by inversion of the cumulative distribution; int64."""
    values = logits.astype(np.float64)
    finite = np.isfinite(values)
    peak = np.max(np.where(finite, values, -np.inf), axis=1, keepdims=True)
    # Classes whose logit is infinite or no number are never drawn, as in TensorFlow.
    weights = np.where(finite, np.exp(values - peak), 0.0)
    cumulative = np.cumsum(weights, axis=1)
    result: Array = np.empty(uniforms.shape, np.int64)
    for row, levels, drawn in zip(result, cumulative, uniforms):
        row[:] = levels.searchsorted(drawn * levels[-1], "right")
    return result


def permutation(gen: Philox, size: int) -> Array:
    """Return a permutation of range(size) by Fisher and Yates, with a remainder for each swap."""
    # The partner of place i is one of the size - i places from there on.
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


# Normal samples within bounds, bit for bit as TensorFlow's: by rejection, call after call from a single stream.
# The proposals come in groups; a call takes the accepted proposals of as many groups as needed, and the next call starts with
# the group after. Calls with the same parameters are drawn together: all groups are proposed at once, then distributed.

_Proposals = Callable[[Array], tuple[Array, Array]]
MAX_ITERATIONS: Final = 1000
"""The number of refusals in a row after which TensorFlow gives up on a truncated normal."""
MOST_GROUPS: Final = 1 << 15
"""The largest number of groups of samples drawn ahead; bounds memory."""


class PrefetchedBlocks:
    """The blocks of a generator in order, drawn ahead in growing numbers: a few blocks cost as much as hundreds."""

    def __init__(self, gen: Philox) -> None:
        self._gen = gen
        self._words = np.empty((0, 4), np.uint32)
        self._ahead = 1

    def blocks(self, count: int) -> Array:
        """Return the words of the next blocks, (count, 4), without moving on."""
        present = len(self._words)
        if count > present:
            drawn = max(count, self._ahead)
            self._ahead = min(2 * drawn, MOST_GROUPS)
            more = self._gen.blocks(np.arange(present, drawn, dtype=np.uint64))
            self._words = np.concatenate((self._words, more))
        return self._words[:count]

    def skip(self, count: int) -> None:
        """Skip a number of blocks that were read."""
        self._words = self._words[count:]
        self._gen.skip(count)


def bounded_normal_calls(gen: PrefetchedBlocks, counts: Array, mean: Any, stddev: Any, low: Any, high: Any) -> Array:
    """Draw `counts[i]` normal samples within [low, high] for each call i, by the proposal that suits the bounds; advance
    `gen`.

    Proposals: the normal distribution, a uniform or an exponential distribution (Robert, Stat. Comput. 5 (1995)).
    """
    dtype = mean.dtype
    kind = dtype.type
    # The interval is mirrored, so that its finite bound, or the side of it that is nearer to the mean, is below.
    if (np.isinf(low) and low < 0) or high < mean:
        low, high, stddev = high, low, -stddev
    low, high = (low - mean) / stddev, (high - mean) / stddev
    root = np.sqrt(low * low + kind(4))
    cutoff = kind(2) * np.exp(kind(0.5) + low * (low - root) / kind(4)) / (low + root)
    margin = kind(1.3)
    if (low < -margin and high >= 0) or (high > margin and low <= 0):
        propose, blocks = _normal_proposals(dtype, low, high), 1
    elif high - low < cutoff:
        propose, blocks = _uniform_proposals(dtype, low, high), 2
    else:
        propose, blocks = _exponential_proposals(dtype, low, high, (low + root) / kind(2)), 1
    result: Array = _accepted(gen, counts, propose, blocks) * stddev + mean
    return result


def _accepted(gen: PrefetchedBlocks, counts: Array, propose: _Proposals, blocks: int) -> Array:
    """Return the concatenated accepted proposals of all calls; a group of proposals takes `blocks` blocks."""
    parts: list[Array] = []
    missing, refused = counts, 0
    while len(missing):
        # About as many as will be needed: a group has two to four proposals, of which many are refused.
        groups = min(max(int(missing.sum()) // 2, len(missing)) + 8, MOST_GROUPS)
        samples, accepted = propose(gen.blocks(blocks * groups).reshape(groups, 4 * blocks))
        size, places = len(samples) // groups, np.flatnonzero(accepted)
        firsts, takes, starts = _dealt(places // size, missing)
        ends = np.cumsum(takes)
        chosen = places[np.arange(ends[-1]) + np.repeat(firsts - ends + takes, takes)]
        parts.append(samples[chosen])
        # The places from which the first sample of each call, and the rest of the last call, count their refusals.
        before = np.concatenate(([-1], chosen))
        before[ends - takes] = starts * size - 1
        # The refusals at the end of the last round count for the call that goes on.
        before[0] -= refused
        refused = len(samples) - 1 - int(before[-1])
        missing = missing[len(takes) - 1 :].copy()
        missing[0] -= takes[-1]
        if not missing[0]:
            missing, refused, groups = missing[1:], 0, int(chosen[-1]) // size + 1
        if (chosen - before[:-1]).max(initial=refused + 1) > MAX_ITERATIONS:
            raise InvalidArgumentError("the rejection sampler of a truncated normal failed to accept a sample")
        gen.skip(groups * blocks)
    return np.concatenate(parts)


def _dealt(groups: Array, missing: Array) -> tuple[Array, Array, Array]:
    """Distribute accepted proposals to calls: each served call's first proposal, number of proposals, and first group.

    `groups` are the groups of the accepted proposals. Only the last served call may still lack some.
    """
    # Calls of one sample, the usual case, take the first proposal of each group that has any.
    if missing.max() == 1:
        firsts = np.flatnonzero(np.diff(groups, prepend=-1))
        starts = np.concatenate(([0], groups[firsts] + 1))
        firsts = np.append(firsts, len(groups))
    else:
        firsts, starts = _walked(groups.data, missing.tolist())
    turns = min(len(firsts), len(missing))
    firsts, starts, takes = firsts[:turns], starts[:turns], missing[:turns].copy()
    takes[-1] = min(takes[-1], len(groups) - firsts[-1])
    return firsts, takes, starts


def _walked(groups: memoryview, missing: list[int]) -> tuple[Array, Array]:
    """Return the first two results of `_dealt`, computed call by call."""
    firsts, starts = [], []
    first = start = 0
    for count in missing:
        firsts.append(first)
        starts.append(start)
        if first + count > len(groups):
            break
        first += count
        start = groups[first - 1] + 1
        while first < len(groups) and groups[first] < start:
            first += 1
    return np.array(firsts), np.array(starts)


def _normal_proposals(dtype: np.dtype[Any], low: Any, high: Any) -> _Proposals:
    def propose(words: Array) -> tuple[Array, Array]:
        samples = normal_from_words(words.reshape(-1), dtype)
        return samples, (samples >= low) & (samples <= high)

    return propose


def _uniform_proposals(dtype: np.dtype[Any], low: Any, high: Any) -> _Proposals:
    # The density is relative to its maximum in the interval: at 0, or at the lower bound above 0.
    offset = dtype.type(0) if low < 0 else low * low

    def propose(words: Array) -> tuple[Array, Array]:
        samples = uniform_from_words(words[:, :4].reshape(-1), dtype) * (high - low) + low
        heights = uniform_from_words(words[:, 4:].reshape(-1), dtype)
        return samples, heights <= np.exp((offset - samples * samples) / dtype.type(2))

    return propose


def _exponential_proposals(dtype: np.dtype[Any], low: Any, high: Any, alpha: Any) -> _Proposals:
    log = philox.log if dtype == np.float32 else np.log

    def propose(words: Array) -> tuple[Array, Array]:
        uniforms = uniform_from_words(words.reshape(-1), dtype)
        samples = -log(uniforms[0::2]) / alpha + low
        x = alpha - samples if low < alpha else low - alpha
        return samples, (uniforms[1::2] <= np.exp(-x * x / dtype.type(2))) & (samples < high)

    return propose


# TensorFlow's division of a loop into blocks for threads, where the blocks decide the part of a random stream to draw.
# The cost model is Eigen's (ThreadPoolDevice::parallelFor), for the two threads of the machine that recorded the answers.

_THREADS: Final = 2
"""The number of threads of the machine that recorded the answers."""
_CYCLES_PER_THREAD: Final = 100_000
"""The cycles of starting, and the cycles of work for each thread (kStartupCycles and kPerThreadCycles of Eigen's cost
model).
"""
_CYCLES_PER_TASK: Final = 40_000
"""The least cycles of work of a block (kTaskSize of Eigen's cost model)."""
_BLOCKS_PER_THREAD: Final = 4
"""The largest number of blocks for each thread (kMaxOverShardingFactor of Eigen's parallelFor)."""


def loop_blocks(count: int, cost: float) -> list[tuple[int, int]]:
    """Return (start, stop) of each block of a loop of `count` turns that cost `cost` cycles each."""
    size = _loop_block_size(count, cost)
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def _loop_block_size(count: int, cost: float) -> int:
    """Return the number of turns in a block; all turns where a single thread is enough."""
    # Eigen's TensorCostModel::numThreads: the work must pay for starting a second thread.
    if count <= 1 or int((count * cost - _CYCLES_PER_THREAD) / _CYCLES_PER_THREAD + 0.9) <= 1:
        return max(count, 1)
    size = min(count, max(-(-count // (_BLOCKS_PER_THREAD * _THREADS)), int(_CYCLES_PER_TASK / cost)))
    largest = min(count, 2 * size)
    number = -(-count // size)
    best = _efficiency(number)
    while best < 1 and number > 1:
        coarser = -(-count // (number - 1))
        if coarser > largest:
            break
        number = -(-count // coarser)
        # Eigen takes coarser blocks as long as they keep the threads about as busy.
        if _efficiency(number) + 0.01 >= best:
            size, best = coarser, max(best, _efficiency(number))
    return size


def _efficiency(number: int) -> float:
    return number / (-(-number // _THREADS) * _THREADS)
