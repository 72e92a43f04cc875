"""Draws of indices: samplers over ranges of classes, permutations of index ranges, and centers for k-means.

The words of a draw, and their conversion to a class, follow TensorFlow's core/kernels/range_sampler.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..numerics.interruption_points import PIECE, pause
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
            # Backwards, so that `pop` takes the words in order from the end, which costs no move of the others.
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
            # TensorFlow draws a word for an empty range, too, and the stream must stay the same.
            return draw() * 0
        if limit & (limit - 1) == 0:
            return draw() & (limit - 1)
        span = (1 << bits) - 1
        # The numbers below it would make the first remainders more frequent: they are drawn again.
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
        # The remainder is for a product that rounding takes to `size` itself.
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
        # From the root down: the left sum is passed by, or the walk goes into it.
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
        # In TensorFlow's order: the level first, then the class.
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
        # The large share fills up the small one to a column of height 1, and may become small itself.
        shares[large] -= 1 - shares[small]
        (low if shares[large] < 1 else high).append(large)
    # What rounding leaves over is a column of its own.
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
    # No draw was refused as a repetition, so that the counts are those of independent draws.
    if tries == count:
        return probabilities * np.float32(count)
    # 1 - (1 - p)^tries without cancellation for small p.
    return -np.expm1(np.float32(tries) * np.log1p(-probabilities)).astype(np.float32)


# Pseudorandom permutations of index ranges: the Simon block cipher, repeated until the result is in range.
# Simon: Beaulieu et al., "The SIMON and SPECK families of lightweight block ciphers", 2013; cycle walking: Black and Rogaway,
# "Ciphers with arbitrary finite domains", 2002. Not for secrets.

_MIN_BLOCK_BITS: Final = 16
"""The least bits of the cipher's block, as in TensorFlow's random_index_shuffle."""
_Z_SEQUENCE: Final = 0x7369F885192C0EF5
"""The constant z of the Simon cipher (Beaulieu and others, 2013), 62 bits."""
_CONSTANT: Final = 0xFFFFFFFC
"""The constant c of the Simon cipher's key schedule, in 32 bits."""
_ONE: Final = np.uint64(1)
_FEW: Final = 1 << 11
"""The limit below which a walk through the smallest block is so long that the whole cipher is tabulated first."""


def shuffle_indices(indices: Array, limits: Array, seeds: Array, rounds: int) -> Array:
    """Return the image of each index (n,) in the permutation of [0, limit] chosen by a seed (n, 3), uint64; `rounds` is
    even.
    """
    indices, limits = indices.astype(np.uint64), limits.astype(np.uint64)
    words = _word_bits(limits)
    keys = _round_keys((seeds.astype(np.uint64) & np.uint64(0xFFFFFFFF)).T, words, rounds)
    result = np.where(limits == 0, np.uint64(0), indices)
    small = limits < _FEW
    _walk_tables(result, limits, keys, np.flatnonzero(small & (limits > 0)))
    walking = np.flatnonzero(~small)
    while walking.size:
        result[walking] = _encrypt(result[walking], [key[walking] for key in keys], words[walking])
        # A block above the limit is encrypted again, as long as it takes: the cycle returns to the range, since it began
        # there.
        walking = walking[result[walking] > limits[walking]]
    return result


def _word_bits(limits: Array) -> Array:
    """Return half the bits of the cipher's block for each limit."""
    distinct, place = np.unique(limits, return_inverse=True)
    # TensorFlow's formula: for a power of two the block has no room to spare, since the limit itself is in the range.
    bits = [math.ceil(math.log2(limit)) if limit else 0 for limit in distinct.tolist()]
    return np.array([max(b + b % 2, _MIN_BLOCK_BITS) // 2 for b in bits], np.uint64)[place]


def _round_keys(seed: Array, word: Array, rounds: int) -> list[Array]:
    mask = (_ONE << word) - _ONE
    keys = [value & mask for value in seed]
    z = np.uint64(_Z_SEQUENCE) & mask
    for i in range(3, rounds):
        pause()
        rotated = _rotate_right(keys[i - 1], 3, word) ^ _rotate_right(keys[i - 1], 4, word)
        keys.append((np.uint64(_CONSTANT) & mask) ^ (z & _ONE) ^ keys[i - 3] ^ rotated)
        z = z >> _ONE
    return keys


def _encrypt(value: Array, keys: list[Array], word: Array) -> Array:
    mask = (_ONE << word) - _ONE
    left, right = value >> word & mask, value & mask
    for first, second in zip(keys[0::2], keys[1::2]):
        pause()
        left = left ^ _mix(right, word, mask) ^ first
        right = right ^ _mix(left, word, mask) ^ second
    result: Array = left << word | right
    return result


def _walk_tables(result: Array, limits: Array, keys: list[Array], places: Array) -> None:
    """Walk the cycles of the indices at `places`, all in blocks of two bytes."""
    tables: dict[tuple[int, ...], memoryview] = {}
    for place in places.tolist():
        key = tuple(int(value[place]) for value in keys)
        if key not in tables:
            tables[key] = _byte_cipher(key).data
        table, index, limit = tables[key], int(result[place]), int(limits[place])
        index = table[index]
        while index > limit:
            index = table[index]
        result[place] = index


def _byte_cipher(keys: tuple[int, ...]) -> Array:
    """Return the encryption of every block of two bytes, (65536,); rotations by 8 of 8 bits are identities."""
    block = np.arange(1 << 16, dtype=np.uint16)
    left, right = (block >> 8).astype(np.uint8), block.astype(np.uint8)
    for first, second in zip(keys[0::2], keys[1::2]):
        pause()
        left = left ^ _mix_bytes(right) ^ np.uint8(first)
        right = right ^ _mix_bytes(left) ^ np.uint8(second)
    return left.astype(np.uint16) << 8 | right


def _mix_bytes(x: Array) -> Array:
    return ((x << 1 | x >> 7) & x) ^ (x << 2 | x >> 6)


def _mix(x: Array, word: Array, mask: Array) -> Array:
    return (_rotate_left(x, 1, word, mask) & _rotate_left(x, 8, word, mask)) ^ _rotate_left(x, 2, word, mask)


def _rotate_left(x: Array, count: int, word: Array, mask: Array) -> Array:
    return (x << np.uint64(count) | x >> (word - np.uint64(count))) & mask


def _rotate_right(x: Array, count: int, word: Array) -> Array:
    result: Array = (x >> np.uint64(count) | x << (word - np.uint64(count))) & ((_ONE << word) - _ONE)
    return result


# Initial centers for k-means, drawn as TensorFlow draws them, and nearest centers.
# Draws are in the order of TensorFlow's kernels KmeansPlusPlusInitialization (Arthur and Vassilvitskii, "k-means++: the
# advantages of careful seeding", 2007) and KMC2ChainInitialization (Bachem et al., 2016).

_MOST_DRAWS = 4096
"""The number of draws of points that are already centers, picked only through rounding, after which their distances count
as zero.
"""


def kmc2_chain(distances: Array, seed: int) -> int:
    """Return the last state of a Markov chain over the points that prefers distant points (Bachem et al., 2016)."""
    words = Words(Philox.from_seeds(seed, 0))
    selected, reach = 0, distances[0]
    for i in range(1, len(distances)):
        if distances[i] > words.float32() * reach:
            selected, reach = i, distances[i]
    return selected


def kmeans_plus_plus(points: Array, count: int, seed: int, retries: int) -> Array:
    """Draw `count` different points, each in proportion to the squared distance from the nearest point before.

    Of 1 + retries candidates the candidate with the smallest sum of distances is taken; see `retries_of`.
    """
    words = Words(Philox.from_seeds(seed, 0))
    retries = retries_of(retries, count)
    half_norms = np.float32(0.5) * np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf, np.float32)
    chosen: list[int] = []
    for _ in range(count):
        candidates = []
        for _ in range(1 + retries):
            pause()
            index = _draw(words, nearest, chosen)
            closer = np.minimum(nearest, half_norms - points @ points[index] + half_norms[index])
            candidates.append((closer.sum(dtype=np.float32), index, closer))
        _, index, nearest = min(candidates, key=lambda candidate: candidate[0])
        chosen.append(index)
    return points[chosen]


def retries_of(retries: int, count: int) -> int:
    """Return the number of retries of a center; a negative number means 2 + log(count)."""
    return 2 + int(math.log(max(count, 1))) if retries < 0 else retries


def _draw(words: Words, nearest: Array, chosen: list[int]) -> int:
    """Draw a point that is not chosen yet; the last point, even if chosen, where all distances are zero."""
    if not chosen:
        return words.below(len(nearest), 64)
    sums = np.cumsum(nearest, dtype=np.float32)
    for _ in range(_MOST_DRAWS):
        pause()
        index = _drawn(words, sums)
        if index == len(nearest):
            return index - 1
        if index not in chosen:
            return index
    others = nearest.copy()
    others[chosen] = 0
    return min(_drawn(words, np.cumsum(others, dtype=np.float32)), len(nearest) - 1)


def _drawn(words: Words, sums: Array) -> int:
    return int(np.searchsorted(sums, words.float32() * sums[-1], side="right"))


def nearest_centers(points: Array, centers: Array, k: int) -> tuple[Array, Array]:
    """Return the `k` nearest centers to each point, sorted by distance and then by index, and squared distances."""
    squares = np.einsum("ij,ij->i", centers, centers)
    order = np.empty((len(points), min(k, len(centers))), np.int64)
    distances = np.empty(order.shape, np.result_type(points, centers))
    rows = max(PIECE // max(len(centers), 1), 1)
    for start in range(0, len(points), rows):
        pause()
        part = slice(start, start + rows)
        order[part], distances[part] = _nearest(points[part], centers, squares, k)
    return order, distances


def _nearest(points: Array, centers: Array, squares: Array, k: int) -> tuple[Array, Array]:
    own = np.einsum("ij,ij->i", points, points)[:, None]
    distances = np.maximum(own - 2 * (points @ centers.T) + squares, 0)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, 1)
