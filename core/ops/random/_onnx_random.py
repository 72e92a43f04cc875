"""Stateless random numbers in ONNX: Philox 4x32-10 in 64-bit integers, by the words of `random/philox`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType

_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10
_MASK32: Final = 0xFFFFFFFF
_SCRAMBLE_KEY: Final = 0x02461E293EC8F720
"""The key that turns a seed into a key and a counter, as in `random_keys`."""
_MANTISSAS: Final = {"float": 23, "half": 10, "bfloat16": 7}
"""The bits of a word that become the digits of a sample."""

Generator = tuple[Any, Any, Any]
"""The key and the two halves of the counter, vectors of one uint64."""


def seeded(g: Any, seed: Any) -> Generator:
    """Return the generator of a seed, a vector of two integers."""
    words = g.cast(g.cast(seed, dtypes.int64), dtypes.uint64)
    first, second = (g.Gather(words, np.array([place])) for place in (0, 1))
    mixed = _blocks(g, (_number(g, _SCRAMBLE_KEY), first, second), g.constant(np.array([0], np.uint64)))
    return _joined(g, mixed[0], mixed[1]), _number(g, 0), _joined(g, mixed[2], mixed[3])


def keyed(g: Any, key: Any, counter: Any) -> Generator:
    """Return the generator of a key and a counter as tensors."""
    return key, *(g.Gather(counter, np.array([place])) for place in (0, 1))


def key_and_counter(g: Any, seed: Any) -> tuple[Any, Any]:
    """Return the key (1) and the counter (2) of a seed."""
    key, low, high = seeded(g, seed)
    return key, g.Concat(low, high, axis=0)


def uniform(g: Any, generator: Generator, shape: Any, dtype: DType) -> Any:
    """Return samples uniform on [0, 1) of a shape."""
    return _filled(g, generator, shape, dtype, lambda words: _uniform(g, words, dtype))


def normal(g: Any, generator: Generator, shape: Any, dtype: DType) -> Any:
    """Return standard normal samples by Box and Muller."""
    wide = dtype if dtype is dtypes.float64 else dtypes.float32

    def samples(words: Any) -> Any:
        pairs = g.reshape(_uniform(g, words, wide), [-1, 2])
        u, v = (g.Gather(pairs, np.array([place]), axis=1) for place in (0, 1))
        radius = g.Sqrt(g.Mul(g.Log(g.Max(u, 1e-7)), -2))
        angle = g.Mul(v, 2 * np.pi)
        both = g.Concat(g.Mul(g.Sin(angle), radius), g.Mul(g.Cos(angle), radius), axis=1)
        return g.cast(g.reshape(both, [-1]), dtype)

    return _filled(g, generator, shape, wide, samples)


def integers(g: Any, generator: Generator, shape: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return integers uniform on [low, high), with TensorFlow's bias of a remainder."""
    low, high = (g.cast(bound, dtypes.int64) for bound in (low, high))
    span = g.cast(g.Max(g.Sub(high, low), 1), dtypes.uint64)

    def samples(words: Any) -> Any:
        bits = words if dtype.size == 4 else _joined(g, *_pairs(g, words))
        return g.cast(g.Add(g.cast(g.Mod(bits, span), dtypes.int64), low), dtype)

    return _filled(g, generator, shape, dtype, samples)


def all_integers(g: Any, generator: Generator, shape: Any, dtype: DType) -> Any:
    """Return integers uniform on all numbers of a dtype."""

    def samples(words: Any) -> Any:
        return g.cast(words if dtype.size == 4 else _joined(g, *_pairs(g, words)), dtype)

    return _filled(g, generator, shape, dtype, samples)


def _filled(g: Any, generator: Generator, shape: Any, dtype: DType, samples_of: Callable[[Any], Any]) -> Any:
    """Return the samples made of as many words as a shape needs, in whole blocks of four words."""
    dims = g.cast(shape, dtypes.int64)
    count = g.reshape(g.ReduceProd(dims, keepdims=0), [])
    blocks = g.Div(g.Add(g.Mul(count, 2 if dtype.size == 8 else 1), 3), 4)
    offsets = g.cast(g.Range(g.constant(np.int64(0)), blocks, g.constant(np.int64(1))), dtypes.uint64)
    words = g.reshape(g.Concat(*(g.unsqueeze(word, 1) for word in _blocks(g, generator, offsets)), axis=1), [-1])
    zero, axis = g.constant(np.array([0], np.int64)), g.constant(np.array([0], np.int64))
    return g.Reshape(g.Slice(samples_of(words), zero, g.reshape(count, [1]), axis), dims, allowzero=1)


def _uniform(g: Any, words: Any, dtype: DType) -> Any:
    if dtype is dtypes.float64:
        first, second = _pairs(g, words)
        mantissa = g.Add(g.BitShift(g.BitwiseAnd(first, 0xFFFFF), _number(g, 32), direction="LEFT"), second)
        return g.Mul(g.cast(mantissa, dtype), 2.0**-52)
    bits = _MANTISSAS[dtype.name]
    samples = g.cast(g.BitwiseAnd(words, (1 << bits) - 1), dtypes.float32)
    return g.cast(g.Mul(samples, 2.0**-bits), dtype)


def _pairs(g: Any, words: Any) -> tuple[Any, Any]:
    """Return the words at even and at odd places."""
    pairs = g.reshape(words, [-1, 2])
    first, second = (g.reshape(g.Gather(pairs, np.array([place]), axis=1), [-1]) for place in (0, 1))
    return first, second


def _blocks(g: Any, generator: Generator, offsets: Any) -> list[Any]:
    """Return the four words of the blocks at offsets from the counter, each a vector of uint64 below 2**32."""
    key, low, high = generator
    first = g.Add(low, offsets)
    second = g.Add(high, g.cast(g.Less(first, offsets), dtypes.uint64))
    words = [_low(g, first), _high(g, first), _low(g, second), _high(g, second)]
    keys = [_low(g, key), _high(g, key)]
    for turn in range(_ROUNDS):
        products = [g.Mul(words[0], _MULTIPLIERS[0]), g.Mul(words[2], _MULTIPLIERS[1])]
        now = [_low(g, g.Add(part, turn * step & _MASK32)) for part, step in zip(keys, _KEY_STEPS)]
        words = [
            g.BitwiseXor(g.BitwiseXor(_high(g, products[1]), words[1]), now[0]), _low(g, products[1]),
            g.BitwiseXor(g.BitwiseXor(_high(g, products[0]), words[3]), now[1]), _low(g, products[0]),
        ]  # fmt: skip
    return words


def _low(g: Any, value: Any) -> Any:
    return g.BitwiseAnd(value, _MASK32)


def _high(g: Any, value: Any) -> Any:
    return g.BitShift(value, _number(g, 32), direction="RIGHT")


def _joined(g: Any, low: Any, high: Any) -> Any:
    return g.BitwiseOr(low, g.BitShift(high, _number(g, 32), direction="LEFT"))


def _number(g: Any, value: int) -> Any:
    return g.constant(np.array([value], np.uint64))
