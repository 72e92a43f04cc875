"""Philox in terms of 32-bit words of XLA, for the random ops that are functions of seeds: TensorFlow's samples, bit for bit.

The words are those of core/random/philox.py. A product of two words has 64 bits; its halves are summed from products of
16 bits, so that a program needs no integers of 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...random import libm32
from ...random.philox import KEY_STEPS, MULTIPLIERS, ROUNDS, uniform_from_words

_BOUND: Final = 2
"""The magnitude that samples of a truncated normal distribution stay below."""
_SCRAMBLE_KEY: Final = (0x3EC8F720, 0x02461E29)
"""The words of TensorFlow's key that scrambles a seed, the lower one first."""
Words: TypeAlias = tuple[Any, ...]
"""Arrays of uint32, the lowest word first."""


def by_seed(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering of an op that draws by a seed."""

    def lowering(xla: Any, dims: Any, seed: Any, *bounds: Any, dtype: Any) -> Any:
        return draw(xla, from_seed(xla, seed), dims, *bounds, dtype=dtype)

    return lowering


def by_key(draw: Callable[..., Any], check_algorithm: Callable[[Any, int], None]) -> Callable[..., Any]:
    """Return the lowering of an op that draws by a key and a counter."""

    def lowering(xla: Any, dims: Any, key: Any, counter: Any, alg: Any, *bounds: Any, dtype: Any) -> Any:
        check_algorithm(alg, math.prod(dims.tolist()))
        return draw(xla, from_key(xla, key, counter), dims, *bounds, dtype=dtype)

    return lowering


def key_and_counter(xla: Any, seed: Any) -> tuple[Any, Any]:
    """Return the key (1) and the counter (2) of a seed, uint64."""
    key, counter = from_seed(xla, seed)
    low, high = (xla.stack(words).astype(np.uint64) for words in ((key[0], *counter[::2]), (key[1], *counter[1::2])))
    both = high << np.uint64(32) | low
    return both[:1], both[1:]


def from_seed(xla: Any, seed: Any) -> tuple[Words, Words]:
    """Return the words of the key and of the counter of a seed of two integers."""
    low, high = _halves(xla, seed)
    mix = _block(xla, tuple(map(xla.uint32, _SCRAMBLE_KEY)), (low[0], high[0], low[1], high[1]))
    zero = xla.uint32(0)
    return (mix[0], mix[1]), (zero, zero, mix[2], mix[3])


def from_key(xla: Any, key: Any, counter: Any) -> tuple[Words, Words]:
    """Return the words of a key (1) and a counter (2) of uint64."""
    (low, high), (lows, highs) = _halves(xla, key), _halves(xla, counter)
    return (low[0], high[0]), (lows[0], highs[0], lows[1], highs[1])


def uniform(xla: Any, generator: tuple[Words, Words], dims: Any, dtype: Any) -> Any:
    """Return samples uniform on [0, 1): random mantissas under the exponent of [1, 2), minus 1."""
    dims, numpy = tuple(dims.tolist()), dtype.numpy
    words = _words(xla, generator, math.prod(dims) * (2 if numpy.itemsize == 8 else 1))
    return uniform_from_words(words, numpy).reshape(dims)


def normal(xla: Any, generator: tuple[Words, Words], dims: Any, dtype: Any) -> Any:
    """Return samples of the standard normal distribution."""
    dims, numpy = tuple(dims.tolist()), dtype.numpy
    count = math.prod(dims)
    words = _words(xla, generator, (count + count % 2) * (2 if numpy.itemsize == 8 else 1))
    return _normals(xla, words, numpy)[:count].reshape(dims).astype(numpy)


def truncated_normal(xla: Any, generator: tuple[Words, Words], dims: Any, dtype: Any) -> Any:
    """Return standard normal samples of magnitude below 2; a group draws anew until it is full."""
    dims, numpy = tuple(dims.tolist()), dtype.numpy
    size, shift = (2, 7) if numpy.itemsize == 8 else (4, 8)
    groups = xla.arange(-(-math.prod(dims) // size), dtype=np.uint32)
    low, high = groups << np.uint32(shift), groups >> np.uint32(32 - shift)

    def draw(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        attempt, filled, samples = state
        words = _blocks(xla, generator, low + attempt, high).reshape(-1)
        # Without the barrier XLA repeats the rounds for each element and each use.
        drawn = xla.lax.optimization_barrier(_normals(xla, words, numpy)).reshape(-1, size)
        accepted = xla.abs(drawn) < _BOUND
        ranks = xla.cumsum(accepted, 1, dtype=np.int32)
        places = xla.where(accepted, filled[:, None] + ranks - 1, size)
        is_here = places[:, :, None] == xla.arange(size, dtype=np.int32)
        values = xla.where(is_here, drawn[:, :, None], 0).sum(1)
        return attempt + np.uint32(1), filled + ranks[:, -1], xla.where(is_here.any(1), values, samples)

    start = xla.uint32(0), xla.zeros(len(groups), np.int32), xla.zeros((len(groups), size), _computed(numpy))
    samples = xla.lax.while_loop(lambda state: (state[1] < size).any(), draw, start)[2]
    return samples.reshape(-1)[: math.prod(dims)].reshape(dims).astype(numpy)


def _computed(numpy: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that normal samples of a dtype are computed in."""
    return np.dtype(np.float64 if numpy.itemsize == 8 else np.float32)


def _normals(xla: Any, words: Any, numpy: np.dtype[Any]) -> Any:
    """Return normal samples by Box and Muller from the words of an even number of uniform samples.

    In single precision the logarithm, sine and cosine are the GNU C library's where JAX computes in 64 bits. Otherwise
    they are XLA's, and a sample may differ in the last digits.
    """
    numpy = _computed(numpy)
    pairs = uniform_from_words(words, numpy).reshape(-1, 2)
    least, turns = xla.maximum(pairs[:, 0], numpy.type(1e-7)), pairs[:, 1]
    if numpy.itemsize == 8 or not xla.has_64_bits:
        angle = turns * numpy.type(2 * np.pi)
        logarithm, sine, cosine = xla.log(least), xla.sin(angle), xla.cos(angle)
    else:
        angle = (turns.astype(np.float64) * (2 * np.pi)).astype(np.float32)
        logarithm, (sine, cosine) = libm32.log(least, xla), libm32.sincos(angle)
    radius = xla.sqrt(logarithm * numpy.type(-2))
    return xla.stack((sine * radius, cosine * radius), 1).reshape(-1)


def full_int(xla: Any, generator: tuple[Words, Words], dims: Any, dtype: Any) -> Any:
    """Return integers over the whole range of a type of 32 or 64 bits."""
    dims, numpy = tuple(dims.tolist()), dtype.numpy
    return xla.lax.bitcast_convert_type(_bits(xla, generator, math.prod(dims), numpy), numpy).reshape(dims)


def uniform_int(xla: Any, generator: tuple[Words, Words], dims: Any, low: Any, high: Any, dtype: Any) -> Any:
    """Return integers uniform on [low, high), with TensorFlow's slight bias of a remainder."""
    dims, numpy = tuple(dims.tolist()), dtype.numpy
    if not math.prod(dims):
        return xla.zeros(dims, numpy)
    xla.require(low < high)
    bits = _bits(xla, generator, math.prod(dims), numpy)
    low, high = (xla.lax.bitcast_convert_type(xla.asarray(bound, numpy), bits.dtype) for bound in (low, high))
    return xla.lax.bitcast_convert_type(bits % (high - low) + low, numpy).reshape(dims)


def _bits(xla: Any, generator: tuple[Words, Words], count: int, numpy: np.dtype[Any]) -> Any:
    """Return random integers without signs, of the size of a dtype."""
    words = _words(xla, generator, count * (numpy.itemsize // 4))
    if numpy.itemsize == 4:
        return words
    pairs = words.reshape(-1, 2).astype(np.uint64)
    return pairs[:, 1] << np.uint64(32) | pairs[:, 0]


def _halves(xla: Any, x: Any) -> tuple[Any, Any]:
    """Return the lower and the upper words of integers; of 32 bits the upper word repeats the sign."""
    if x.dtype.itemsize == 8:
        return x.astype(np.uint32), (x >> x.dtype.type(32)).astype(np.uint32)
    return x.astype(np.uint32), xla.where(x < 0, np.uint32(0xFFFFFFFF), np.uint32(0))


def _words(xla: Any, generator: tuple[Words, Words], count: int) -> Any:
    """Return the first words of a generator, uint32."""
    return _blocks(xla, generator, xla.arange(-(-count // 4), dtype=np.uint32), np.uint32(0)).reshape(-1)[:count]


def _blocks(xla: Any, generator: tuple[Words, Words], low: Any, high: Any) -> Any:
    """Return the words (n, 4) of the blocks at offsets of two words."""
    key, (first, *others) = generator
    words = [first + low]
    carry = (words[-1] < low).astype(np.uint32) + high
    for word in others:
        words.append(word + carry)
        carry = (words[-1] < carry).astype(np.uint32)
    return xla.stack(_block(xla, key, tuple(words)), -1)


def _block(xla: Any, key: Words, counter: Words) -> Words:
    """Return the four words of blocks."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for number in range(ROUNDS):
        if number:
            k0, k1 = k0 + np.uint32(KEY_STEPS[0]), k1 + np.uint32(KEY_STEPS[1])
        (high0, low0), (high1, low1) = _product(MULTIPLIERS[0], c0), _product(MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(factor: int, x: Any) -> tuple[Any, Any]:
    """Return the upper and the lower word of a product with a number of 32 bits."""
    half, mask = np.uint32(16), np.uint32(0xFFFF)
    low, high = np.uint32(factor & 0xFFFF), np.uint32(factor >> 16)
    first, second = low * (x >> half), high * (x & mask)
    middle = (low * (x & mask) >> half) + (first & mask) + (second & mask)
    return high * (x >> half) + (first >> half) + (second >> half) + (middle >> half), np.uint32(factor) * x
