"""Normal samples within bounds, bit for bit as TensorFlow's: by rejection, call after call from a single stream.

The proposals come in groups; a call takes the accepted proposals of as many groups as needed, and the next call starts with
the group after. Calls with the same parameters are drawn together: all groups are proposed at once, then distributed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from . import libm32
from .philox import Philox, normal_from_words, uniform_from_words

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
    offset = dtype.type(0) if low < 0 else low * low

    def propose(words: Array) -> tuple[Array, Array]:
        samples = uniform_from_words(words[:, :4].reshape(-1), dtype) * (high - low) + low
        heights = uniform_from_words(words[:, 4:].reshape(-1), dtype)
        return samples, heights <= np.exp((offset - samples * samples) / dtype.type(2))

    return propose


def _exponential_proposals(dtype: np.dtype[Any], low: Any, high: Any, alpha: Any) -> _Proposals:
    log = libm32.log if dtype == np.float32 else np.log

    def propose(words: Array) -> tuple[Array, Array]:
        uniforms = uniform_from_words(words.reshape(-1), dtype)
        samples = -log(uniforms[0::2]) / alpha + low
        x = alpha - samples if low < alpha else low - alpha
        return samples, (uniforms[1::2] <= np.exp(-x * x / dtype.type(2))) & (samples < high)

    return propose
