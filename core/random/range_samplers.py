"""Samplers over ranges of classes, drawn from a Philox stream as by TensorFlow's candidate samplers.

The words of a draw, and their conversion to a class, follow TensorFlow's core/kernels/range_sampler.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..parallel.interruption_points import pause
from ..types.arrays import Array
from .philox import Philox, unit_double, unit_float

_WORDS_AT_ONCE: Final = 64
"""The number of random words drawn at once for samples that take a word each."""
_AT_ONCE: Final = 1024
"""The number of samples between checks of the time."""


class Words:
    """The words of a stream in order, and the numbers that TensorFlow's SimplePhilox makes from the words."""

    def __init__(self, gen: Philox) -> None:
        self._gen = gen
        self._words: list[int] = []

    def word(self) -> int:
        """Return 32 random bits."""
        if not self._words:
            self._words = self._gen.words(_WORDS_AT_ONCE)[::-1].tolist()
            self._gen.skip(_WORDS_AT_ONCE // 4)
        return self._words.pop()

    def float32(self) -> float:
        """Return a number uniform on [0, 1), in a float's precision."""
        return unit_float(self.word())

    def float64(self) -> float:
        """Return a number uniform on [0, 1)."""
        return unit_double(self.word(), self.word())

    def below(self, limit: int, bits: int) -> int:
        """Return an integer uniform on [0, limit) without bias, from 32 or 64 bits at a time."""
        draw = self.word if bits == 32 else self._double_word
        if limit == 0:
            return draw() * 0
        if limit & (limit - 1) == 0:
            return draw() & (limit - 1)
        span = (1 << bits) - 1
        remainder = span % limit + 1
        value = draw()
        while value < remainder:
            value = draw()
        return value % limit

    def _double_word(self) -> int:
        low = self.word()
        return low | self.word() << 32


class UniformSampler:
    """Every class with the same probability."""

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def possible(self) -> int:
        """The number of classes that can be drawn."""
        return self.size

    def sample(self, words: Words) -> int:
        return words.below(self.size, 64)

    def probabilities(self, values: Array) -> Array:
        return np.full(len(values), np.float32(1.0 / self.size))

    def update(self, values: Array) -> None:
        """Do nothing: the distribution is fixed."""


class LogUniformSampler(UniformSampler):
    """Class k with probability log((k + 2) / (k + 1)) / log(size + 1): Zipf's law, roughly."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._log_size = math.log1p(size)

    def sample(self, words: Words) -> int:
        return (int(math.exp(words.float64() * self._log_size)) - 1) % self.size

    def probabilities(self, values: Array) -> Array:
        return (np.log((values + 2.0) / (values + 1.0)) / self._log_size).astype(np.float32)


class LearnedUnigramSampler(UniformSampler):
    """A sampler of classes in proportion to 1 plus the times seen; the counts stand in a binary tree of sums."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._levels = max((size - 1).bit_length(), 0)
        self._leaves = 1 << self._levels
        leaves = np.zeros(self._leaves, np.int64)
        leaves[:size] = 1
        self._sums = [leaves]
        while len(self._sums[-1]) > 1:
            self._sums.append(self._sums[-1].reshape(-1, 2).sum(axis=1))

    def sample(self, words: Words) -> int:
        position = words.below(int(self._sums[-1][0]), 32)
        index = 0
        for sums in self._sums[-2::-1]:
            index *= 2
            if position >= sums[index]:
                position -= int(sums[index])
                index += 1
        return index

    def probabilities(self, values: Array) -> Array:
        total = np.float32(self._sums[-1][0])
        return self._sums[0][values].astype(np.float32) / total

    def update(self, values: Array) -> None:
        for level, sums in enumerate(self._sums):
            np.add.at(sums, values >> level, 1)


class FixedUnigramSampler(UniformSampler):
    """Each class in proportion to a given weight, by Walker's alias method (ACM TOMS 3, 1977)."""

    def __init__(self, weights: Sequence[float], total: float) -> None:
        super().__init__(len(weights))
        self._weights = np.array(weights, np.float32)
        self._total = np.float32(total)
        self._probabilities, self._aliases = _alias_table(self._weights)

    @property
    def possible(self) -> int:
        own = np.flatnonzero(self._probabilities > 0)
        return len(np.union1d(own, self._aliases[self._probabilities < 1]))

    def sample(self, words: Words) -> int:
        level = words.float32()
        index = words.below(self.size, 32)
        return index if level < self._probabilities[index] else int(self._aliases[index])

    def probabilities(self, values: Array) -> Array:
        return self._weights[values] / self._total


def _alias_table(weights: Array) -> tuple[Array, Array]:
    count = len(weights)
    total = float(np.sum(weights, dtype=np.float64))
    shares = [float(w) * count / total if total else 0.0 for w in weights]
    aliases = list(range(count))
    low = [i for i in range(count) if shares[i] < 1]
    high = [i for i in range(count) if not shares[i] < 1]
    while low and high:
        small, large = low.pop(), high.pop()
        aliases[small] = large
        shares[large] -= 1 - shares[small]
        (low if shares[large] < 1 else high).append(large)
    for i in (*low, *high):
        shares[i], aliases[i] = 1.0, i
    return np.array(shares, np.float32), np.array(aliases)


def sample_batch(sampler: UniformSampler, words: Words, count: int, is_unique: bool) -> tuple[Array, int]:
    """Return `count` classes (int64), and the number of draws."""
    if not is_unique:
        drawn = np.empty(count, np.int64)
        for start in range(0, count, _AT_ONCE):
            pause()
            stop = min(start + _AT_ONCE, count)
            drawn[start:stop] = [sampler.sample(words) for _ in range(stop - start)]
        return drawn, count
    classes: dict[int, None] = {}
    tries = 0
    while len(classes) < count:
        if not tries % _AT_ONCE:
            pause()
        tries += 1
        classes.setdefault(sampler.sample(words))
    return np.array(list(classes), np.int64), tries


def expected_counts(probabilities: Array, count: int, tries: int) -> Array:
    """Return the expected number of occurrences of each class in a batch of `count` after `tries` draws."""
    if tries == count:
        return probabilities * np.float32(count)
    return -np.expm1(np.float32(tries) * np.log1p(-probabilities)).astype(np.float32)
