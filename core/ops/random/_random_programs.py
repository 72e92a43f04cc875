"""The random ops that are functions of seeds as array programs, of XLA and of ONNX: TensorFlow's samples.

The words are those of core/random/philox.py, arrays of uint32. XLA's samples are TensorFlow's bit for bit; ONNX's operators
may round normal samples otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...random import philox
from ...random.philox import KEY_STEPS, MULTIPLIERS, RESERVED_PER_OUTPUT, ROUNDS
from ...types import dtypes
from ...types.dtypes import DType
from ..shared.special_programs import lgamma, wide_float

_BOUND: Final = 2
"""The magnitude that samples of a truncated normal distribution stay below."""
_SCRAMBLE_KEY: Final = (0x3EC8F720, 0x02461E29)
"""The words of TensorFlow's key that scrambles a seed, the lower one first."""
_MANTISSAS: Final = {"float": 23, "half": 10, "bfloat16": 7}
"""The bits of a word that become the digits of a sample."""
_SMALL_RATE: Final = 10
"""The rate of Poisson samples from which on they are drawn by transformed rejection."""

Words: TypeAlias = tuple[Any, ...]
"""Vectors of uint32, the lowest word first."""
Generator: TypeAlias = tuple[Words, Words]
"""The words of the key and of the counter, each a vector of a single element."""


def by_seed(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the program of an op that draws by a seed."""

    def program(xp: Any, dims: Any, seed: Any, *parameters: Any, dtype: DType) -> Any:
        return draw(xp, _seeded(xp, seed), dims, *parameters, dtype=dtype)

    return program


def by_key(draw: Callable[..., Any], check_algorithm: Callable[[Any, Any], None]) -> Callable[..., Any]:
    """Return the program of an op that draws by a key and a counter."""

    def program(xp: Any, dims: Any, key: Any, counter: Any, alg: Any, *bounds: Any, dtype: DType) -> Any:
        check_algorithm(alg, dims.prod())
        return draw(xp, _keyed(xp, key, counter), dims, *bounds, dtype=dtype)

    return program


def key_and_counter(xp: Any, seed: Any) -> tuple[Any, Any]:
    """Return the key (1) and the counter (2) of a seed, uint64."""
    key, counter = _seeded(xp, seed)
    return _joined(*key), xp.concatenate([np.zeros(1, np.uint64), _joined(*counter[2:])])


def _joined(low: Any, high: Any) -> Any:
    """Return the numbers of 64 bits of two words each."""
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def _seeded(xp: Any, seed: Any) -> Generator:
    """Return the generator of a seed of two integers."""
    low, high = _halves(xp, seed)
    mix = _block(xp, tuple(np.array([word], np.uint32) for word in _SCRAMBLE_KEY), (low[:1], high[:1], low[1:], high[1:]))
    zero = np.zeros(1, np.uint32)
    return mix[:2], (zero, zero, *mix[2:])


def _keyed(xp: Any, key: Any, counter: Any) -> Generator:
    """Return the generator of a key (1) and a counter (2), uint64."""
    (low, high), (lows, highs) = _halves(xp, key), _halves(xp, counter)
    return (low, high), (lows[:1], highs[:1], lows[1:2], highs[1:2])


def _halves(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return the lower and the upper words of integers; of 32 bits the upper word repeats the sign."""
    low = x.astype(np.uint32)
    if x.dtype.itemsize == 8:
        return low, (x.astype(np.uint64) >> np.uint64(32)).astype(np.uint32)
    # As C++ widens them, so that equal seeds of 32 and of 64 bits give equal samples.
    return low, xp.where(x < 0, np.uint32(0xFFFFFFFF), np.uint32(0))


def uniform(xp: Any, generator: Generator, dims: Any, dtype: DType) -> Any:
    """Return samples uniform on [0, 1)."""
    return _filled(xp, generator, dims, dtype, lambda words: _uniforms(words, dtype))


def normal(xp: Any, generator: Generator, dims: Any, dtype: DType) -> Any:
    """Return samples of the standard normal distribution."""
    return _filled(xp, generator, dims, dtype, lambda words: _normals(xp, words, dtype)).astype(dtype.numpy)


def all_integers(xp: Any, generator: Generator, dims: Any, dtype: DType) -> Any:
    """Return integers over the whole range of a type of 32 or 64 bits."""
    return _filled(xp, generator, dims, dtype, lambda words: _bits(words, dtype).astype(dtype.numpy))


def integers(xp: Any, generator: Generator, dims: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return integers uniform on [low, high), with TensorFlow's slight bias of a remainder."""
    is_empty = isinstance(count := dims.prod(), np.integer) and not count
    xp.require((low < high) | is_empty)
    low, high = (xp.asarray(bound).astype(f"u{dtype.size}") for bound in (low, high))
    # A remainder by 0, of bounds that NumPy will refuse, would end the process in ONNX.
    span = xp.maximum(high - low, np.ones((), low.dtype))
    return _filled(xp, generator, dims, dtype, lambda words: (_bits(words, dtype) % span + low).astype(dtype.numpy))


def _filled(xp: Any, generator: Generator, dims: Any, dtype: DType, samples_of: Callable[[Any], Any]) -> Any:
    """Return the samples of as many words as a shape needs, in whole blocks of four words."""
    count = dims.prod()
    blocks = xp.arange((count * (2 if dtype.size == 8 else 1) + 3) // 4).astype(np.uint32)
    # The rest of the last block is dropped: a sample has the same words, however many are drawn.
    return xp.reshape(samples_of(_words(xp, generator, blocks))[:count], dims)


def _bits(words: Any, dtype: DType) -> Any:
    """Return random integers without signs, of the size of a dtype."""
    return words if dtype.size == 4 else _joined(*_pairs(words))


def _pairs(words: Any) -> tuple[Any, Any]:
    """Return the words at even and at odd places."""
    pairs = words.reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _uniforms(words: Any, dtype: DType) -> Any:
    """Return samples uniform on [0, 1): random mantissas, exact in every dtype."""
    if dtype.size == 8:
        upper, lower = _pairs(words)
        return _joined(lower, upper & np.uint32(0xFFFFF)).astype(np.int64).astype(np.float64) * 2.0**-52
    bits = _MANTISSAS[dtype.name]
    samples = (words & np.uint32((1 << bits) - 1)).astype(np.int32).astype(np.float32) * 2.0**-bits
    return samples.astype(dtype.numpy)


def _computed(dtype: DType) -> DType:
    """Return the dtype that normal samples of a dtype are computed in."""
    return dtypes.float64 if dtype.size == 8 else dtypes.float32


def _normals(xp: Any, words: Any, dtype: DType) -> Any:
    """Return normal samples by Box and Muller from the words of an even number of uniform samples.

    In single precision the logarithm, sine and cosine are the GNU C library's where the bits of floats can be seen, and JAX
    computes in 64 bits. Otherwise they are those of the engine, and a sample may differ in the last digits.
    """
    wide = _computed(dtype)
    uniforms, turns = _pairs(_uniforms(words, wide))
    # TensorFlow's bound, which keeps the logarithm of 0 away.
    least = xp.maximum(uniforms, 1e-7)
    if wide.size == 8 or not (xp.has_64_bits and xp.has_views):
        angle = turns * (2 * np.pi)
        logarithm, sine, cosine = xp.log(least), xp.sin(angle), xp.cos(angle)
    else:
        angle = (turns.astype(np.float64) * (2 * np.pi)).astype(np.float32)
        logarithm, (sine, cosine) = philox.log(least, xp), philox.sincos(angle)
    radius = xp.sqrt(logarithm * -2.0)
    return xp.stack((sine * radius, cosine * radius), 1).reshape(-1)


def truncated_normal(xp: Any, generator: Generator, dims: Any, dtype: DType) -> Any:
    """Return standard normal samples of magnitude below 2; a group draws anew until it is full."""
    count, wide = dims.prod(), _computed(dtype)
    size, shift = (2, 7) if dtype.size == 8 else (4, 8)
    groups = (count + (size - 1)) // size
    numbers = xp.arange(groups).astype(np.uint32)
    # A group's region begins at 256 or 128 blocks times its number, a shift by 8 or 7 bits, in two words.
    low, high = numbers << np.uint32(shift), numbers >> np.uint32(32 - shift)

    def draw(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        attempt, filled, samples = state
        # Without the barrier XLA repeats the rounds for each element and each use.
        drawn = xp.optimization_barrier(_normals(xp, _words(xp, generator, low + attempt, high), wide)).reshape(-1, size)
        accepted = abs(drawn) < _BOUND
        ranks = xp.cumsum(accepted, 1, dtype=np.int32)
        # Refused samples get a place beyond the group's last, which no comparison below finds.
        places = xp.where(accepted, filled[:, None] + ranks - 1, size)
        is_here = places[:, :, None] == np.arange(size, dtype=np.int32)
        values = xp.sum(xp.where(is_here, drawn[:, :, None], 0), 1)
        return attempt + np.uint32(1), filled + ranks[:, -1], xp.where(xp.any(is_here, 1), values, samples)

    start = xp.asarray(np.uint32(0)), xp.full((groups,), 0, np.int32), xp.full((groups, size), 0, wide.numpy)
    samples = xp.while_loop(lambda state: xp.sum((state[1] < size).astype(np.int32)) > 0, draw, start)[2]
    return xp.reshape(samples.reshape(-1)[:count], dims).astype(dtype.numpy)


def poisson(xp: Any, generator: Generator, dims: Any, rates: Any, dtype: DType) -> Any:
    """Return Poisson samples of a shape that ends with the rates' shape.

    Each sample has a stream of its own: below a rate of ten products of uniform numbers (Knuth), else pairs of uniform
    numbers in Hoermann's transformed rejection (1993).
    """
    lanes = xp.size(rates)
    of_each = dims.prod() // (max(lanes, 1) if isinstance(lanes, int) else lanes)
    rate = xp.broadcast_to(rates.astype(wide_float(xp)).reshape(-1, 1), (lanes, of_each)).reshape(-1)
    # TensorFlow's distance between the streams of two samples.
    firsts = xp.arange(lanes * of_each).astype(np.uint32) * np.uint32(RESERVED_PER_OUTPUT)
    is_small, limit = rate < _SMALL_RATE, xp.exp(-rate)
    of_large = _large_rates(xp, rate)

    def draw(state: tuple[Any, ...]) -> tuple[Any, ...]:
        attempt, samples, product, is_open = state
        # A block has two doubles, of which TensorFlow takes the last first.
        second, first = _pairs(_uniforms(_words(xp, generator, firsts + attempt), dtypes.float64))
        # Two steps of Knuth's product for each block, so that both kinds of rates take one block an attempt.
        once = product * first
        twice = once * second
        number = attempt.astype(rate.dtype) * 2
        small, (large, is_taken) = xp.where(once <= limit, number, number + 1), of_large(first, second)
        is_done = is_open & xp.where(is_small, twice <= limit, is_taken)
        samples = xp.where(is_done, xp.where(is_small, small, large), samples)
        return attempt + np.uint32(1), samples, twice, is_open & ~is_done

    infinite = xp.where(xp.isinf(rate), 0 if dtype.is_integer else rate, xp.where(xp.isnan(rate), rate, 0))
    start = xp.asarray(np.uint32(0)), infinite, xp.ones_like(rate), ~(xp.isnan(rate) | xp.isinf(rate))
    samples = xp.while_loop(lambda state: xp.sum(state[3].astype(np.int32)) > 0, draw, start)[1]
    return xp.reshape(xp.transpose(samples.reshape(lanes, of_each), (1, 0)), dims).astype(dtype.numpy)


def _large_rates(xp: Any, rate: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the function of two uniform samples that returns the samples of rates from ten on, and the accepted samples."""
    b = xp.sqrt(rate) * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    inverse_alpha, bound = 1.1328 / (b - 3.4) + 1.1239, 0.9277 - 3.6224 / (b - 2)
    log_rate = xp.log(rate)  # here, as ONNX's loops compute again in each step what they hold

    def samples(u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        shifted = 0.5 - abs(u)
        k = xp.floor((2 * a / shifted + b) * u + rate + 0.43)
        is_refused = (k < 0) | ((shifted < 0.013) & (v > shifted))
        s = xp.log(v * inverse_alpha / (a / (shifted * shifted) + b))
        t = k * log_rate - rate - lgamma(xp, xp.maximum(k, 0) + 1)
        return k, (shifted >= 0.07) & (v <= bound) | ~is_refused & (s <= t)

    return samples


def _words(xp: Any, generator: Generator, low: Any, high: Any = None) -> Any:
    """Return the words of the blocks at offsets of one or two words, one block after another."""
    key, (first, *others) = generator
    words = [first + low]
    # A sum that wrapped around is less than what was added.
    carry = (words[-1] < low).astype(np.uint32)
    carry = carry if high is None else carry + high
    for word in others:
        words.append(word + carry)
        carry = (words[-1] < carry).astype(np.uint32)
    return xp.stack(_block(xp, key, tuple(words)), -1).reshape(-1)


def _block(xp: Any, key: Words, counter: Words) -> Words:
    """Return the four words of blocks."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for number in range(ROUNDS):
        if number:
            k0, k1 = k0 + np.uint32(KEY_STEPS[0]), k1 + np.uint32(KEY_STEPS[1])
        (high0, low0), (high1, low1) = _product(xp, MULTIPLIERS[0], c0), _product(xp, MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(xp: Any, factor: int, x: Any) -> tuple[Any, Any]:
    """Return the upper and the lower word of a product with a number of 32 bits."""
    if xp.has_64_bits:
        product = x.astype(np.uint64) * np.uint64(factor)
        return (product >> np.uint64(32)).astype(np.uint32), product.astype(np.uint32)
    # Without 64 bits the upper word is put together from products of 16-bit halves, as in long multiplication.
    half, mask = np.uint32(16), np.uint32(0xFFFF)
    low, high = np.uint32(factor & 0xFFFF), np.uint32(factor >> 16)
    first, second = low * (x >> half), high * (x & mask)
    middle = (low * (x & mask) >> half) + (first & mask) + (second & mask)
    return high * (x >> half) + (first >> half) + (second >> half) + (middle >> half), np.uint32(factor) * x
