"""Philox in terms of 32-bit words of XLA, for the random ops that are functions of seeds: TensorFlow's samples, bit for bit.

The words are those of core/random/philox.py. A product of two words has 64 bits; its halves are summed from products of
16 bits, so that a program needs no integers of 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
"""The multipliers of Philox 4 x 32 (Salmon and others, 2011)."""
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
"""The numbers added in each round to the two words of the key (Salmon and others, 2011)."""
_ROUNDS: Final = 10
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
    info = np.finfo(numpy) if numpy.kind == "f" else None
    mantissa = info.nmant if info is not None else 7  # bfloat16
    exponent = 1023 if numpy.itemsize == 8 else 15 if mantissa == 10 else 127
    words = _words(xla, generator, math.prod(dims) * (2 if numpy.itemsize == 8 else 1))
    if numpy.itemsize == 8:
        pairs = words.reshape(-1, 2).astype(np.uint64)
        bits = (pairs[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32) | pairs[:, 1] | np.uint64(exponent << mantissa)
    else:
        bits = (words & np.uint32((1 << mantissa) - 1)) | np.uint32(exponent << mantissa)
        bits = bits.astype(np.dtype(f"u{numpy.itemsize}"))
    samples = xla.lax.bitcast_convert_type(bits, numpy) - xla.asarray(1, numpy)
    return samples.reshape(dims)


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
    key, counter = generator
    carry: Any = xla.arange(-(-count // 4), dtype=np.uint32)
    words = []
    for word in counter:
        words.append(word + carry)
        carry = (words[-1] < carry).astype(np.uint32)
    return xla.stack(_block(xla, key, tuple(words)), -1).reshape(-1)[:count]


def _block(xla: Any, key: Words, counter: Words) -> Words:
    """Return the four words of blocks."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for number in range(_ROUNDS):
        if number:
            k0, k1 = k0 + np.uint32(_KEY_STEPS[0]), k1 + np.uint32(_KEY_STEPS[1])
        (high0, low0), (high1, low1) = _product(_MULTIPLIERS[0], c0), _product(_MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(factor: int, x: Any) -> tuple[Any, Any]:
    """Return the upper and the lower word of a product with a number of 32 bits."""
    half, mask = np.uint32(16), np.uint32(0xFFFF)
    low, high = np.uint32(factor & 0xFFFF), np.uint32(factor >> 16)
    first, second = low * (x >> half), high * (x & mask)
    middle = (low * (x & mask) >> half) + (first & mask) + (second & mask)
    return high * (x >> half) + (first >> half) + (second >> half) + (middle >> half), np.uint32(factor) * x
