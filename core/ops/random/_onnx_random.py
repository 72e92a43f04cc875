"""Stateless random numbers in ONNX: Philox 4x32-10 in 64-bit integers, by the words of `random/philox`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...random.philox import KEY_STEPS, MULTIPLIERS, RESERVED_PER_OUTPUT, ROUNDS
from ...types import dtypes
from ...types.dtypes import DType
from ..shared.onnx_lowerings import iota
from ..shared.special_programs import lgamma

_MASK32: Final = 0xFFFFFFFF
_SCRAMBLE_KEY: Final = 0x02461E293EC8F720
"""The key that turns a seed into a key and a counter, as in `random_keys`."""
_LIMIT: Final = 2.0
"""The magnitude that truncated samples stay below."""
_SMALL_RATE: Final = 10.0
"""The rate of Poisson samples from which on they are drawn by transformed rejection."""
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
    wide = _wide(dtype)
    return _filled(g, generator, shape, wide, lambda words: g.cast(_normal(g, words, wide), dtype))


def _wide(dtype: DType) -> DType:
    """Return the dtype that normal samples of a dtype are computed in."""
    return dtype if dtype is dtypes.float64 else dtypes.float32


def _normal(g: Any, words: Any, dtype: DType) -> Any:
    pairs = g.reshape(_uniform(g, words, dtype), [-1, 2])
    u, v = (g.Gather(pairs, np.array([place]), axis=1) for place in (0, 1))
    radius = g.Sqrt(g.Mul(g.Log(g.Max(u, 1e-7)), -2))
    angle = g.Mul(v, 2 * np.pi)
    both = g.Concat(g.Mul(g.Sin(angle), radius), g.Mul(g.Cos(angle), radius), axis=1)
    return g.reshape(both, [-1])


def truncated_normal(g: Any, generator: Generator, shape: Any, dtype: DType) -> Any:
    """Return standard normal samples of magnitude below 2: each group of a block's samples draws blocks until it is full."""
    dims, wide = g.cast(shape, dtypes.int64), _wide(dtype)
    size = 2 if wide is dtypes.float64 else 4
    count = g.ReduceProd(dims, keepdims=0)
    groups = g.reshape(g.Div(g.Add(count, size - 1), size), [1])
    firsts = _places(g, groups, size * RESERVED_PER_OUTPUT // 4)
    slots = g.constant(np.arange(size).reshape(1, 1, size))

    def advance(attempt: Any, carried: Any) -> Any:
        samples, filled = carried
        words = _words(g, generator, g.Add(firsts, g.cast(attempt, dtypes.uint64)))
        drawn = g.reshape(_normal(g, words, wide), -1, size)
        accepted = g.cast(g.Less(g.Abs(drawn), _LIMIT), dtypes.int64)
        slot = g.Where(g.Greater(accepted, 0), g.Sub(g.Add(filled, g.CumSum(accepted, np.int64(1))), 1), size)
        chosen = g.Where(g.Equal(g.unsqueeze(slot, 2), slots), g.unsqueeze(drawn, 2), 0)
        filled = g.Min(g.Add(filled, g.ReduceSum(accepted, [1])), size)
        is_open = g.Less(g.ReduceSum(filled, [0, 1], keepdims=0), g.Mul(g.reshape(groups, []), size))
        return [is_open, g.Add(samples, g.ReduceSum(chosen, [1], keepdims=0)), filled]

    empty = g.Expand(g.constant(0, wide), g.joined(groups, size)), g.Expand(g.constant(np.int64(0)), g.joined(groups, 1))
    samples = g.repeat_while(g.Greater(count, 0), empty, advance)[0]
    return g.cast(g.of_dims(g.slice(g.reshape(samples, -1), 0, g.reshape(count, [1])), dims), dtype)


def poisson(g: Any, generator: Generator, shape: Any, rates: Any, dtype: DType) -> Any:
    """Return Poisson samples of a shape that ends with the rates' shape.

    Each sample has a stream of its own: below a rate of ten products of uniform numbers (Knuth), else pairs of uniform
    numbers in Hoermann's transformed rejection (1993).
    """
    dims = g.cast(shape, dtypes.int64)
    counts = g.Div(g.ReduceProd(dims), g.Max(g.reshape(g.Size(rates), [1]), 1))
    rate = g.reshape(g.cast(rates, dtypes.float64), -1, 1)
    rate = g.reshape(g.Expand(rate, g.joined(g.dim(rate, 0), counts)), -1)
    firsts = _places(g, g.dim(rate, 0), RESERVED_PER_OUTPUT)
    is_small, limit = g.Less(rate, _SMALL_RATE), g.Exp(g.Neg(rate))
    is_open = g.And(g.Not(g.IsNaN(rate)), g.Not(g.IsInf(rate)))
    of_large = _large_rates(g, rate)

    def advance(attempt: Any, carried: Any) -> Any:
        samples, product, is_open = carried
        words = _words(g, generator, g.Add(firsts, g.cast(attempt, dtypes.uint64)))
        second, first = g.split(g.reshape(_uniform(g, words, dtypes.float64), -1, 2), 2, 1)
        first, second = g.squeeze(first, 1), g.squeeze(second, 1)
        once = g.Mul(product, first)
        twice = g.Mul(once, second)
        number = g.Mul(g.cast(attempt, dtypes.float64), 2)
        number = g.Where(g.LessOrEqual(once, limit), number, g.Add(number, 1))
        large, is_taken = of_large(first, second)
        is_done = g.And(is_open, g.Or(g.And(is_small, g.LessOrEqual(twice, limit)), g.And(g.Not(is_small), is_taken)))
        samples = g.Where(is_done, g.Where(is_small, number, large), samples)
        is_open = g.And(is_open, g.Not(is_done))
        return [g.Greater(g.ReduceSum(g.cast(is_open, dtypes.int64), [0], keepdims=0), 0), samples, twice, is_open]

    start = g.Where(g.IsInf(rate), 0 if dtype.is_integer else rate, g.Where(g.IsNaN(rate), rate, 0))
    entering = [start, g.Add(g.zeros_like(rate), 1), is_open]
    samples = g.repeat_while(g.Greater(g.Size(rate), 0), entering, advance)[0]
    lanes = g.Transpose(g.of_dims(samples, g.reshape(g.Size(rates), [1]), counts), perm=[1, 0])
    return g.cast(g.of_dims(lanes, dims), dtype)


def _large_rates(g: Any, rate: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the function of two uniform samples that returns the samples of rates from ten on, and the accepted samples."""
    log_rate = g.Log(rate)
    b = g.Add(g.Mul(g.Sqrt(rate), 2.53), 0.931)
    a = g.Add(g.Mul(b, 0.02483), -0.059)
    inverse_alpha = g.Add(g.Div(g.like(1.1328, b), g.Sub(b, 3.4)), 1.1239)
    bound = g.Sub(0.9277, g.Div(g.like(3.6224, b), g.Sub(b, 2)))

    def samples(u: Any, v: Any) -> tuple[Any, Any]:
        u = g.Sub(u, 0.5)
        shifted = g.Sub(0.5, g.Abs(u))
        k = g.Floor(g.Add(g.Add(g.Mul(g.Add(g.Div(g.Mul(a, 2), shifted), b), u), rate), 0.43))
        is_inside = g.And(g.GreaterOrEqual(shifted, 0.07), g.LessOrEqual(v, bound))
        is_refused = g.Or(g.Less(k, 0), g.And(g.Less(shifted, 0.013), g.Greater(v, shifted)))
        s = g.Log(g.Div(g.Mul(v, inverse_alpha), g.Add(g.Div(a, g.Mul(shifted, shifted)), b)))
        t = g.Sub(g.Sub(g.Mul(k, log_rate), rate), g.evaluate(lgamma, (), [g.Add(g.Max(k, 0), 1)], {}))
        return k, g.Or(is_inside, g.And(g.Not(is_refused), g.LessOrEqual(s, t)))

    return samples


def _places(g: Any, count: Any, stride: int) -> Any:
    """Return the offsets of as many streams, `stride` blocks apart."""
    numbers = iota(g, count)
    return g.cast(g.Mul(numbers, stride), dtypes.uint64)


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
    offsets = g.cast(iota(g, blocks), dtypes.uint64)
    words = _words(g, generator, offsets)
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


def _words(g: Any, generator: Generator, offsets: Any) -> Any:
    """Return the words of the blocks at offsets, one block after another."""
    return g.reshape(g.Concat(*(g.unsqueeze(word, 1) for word in _blocks(g, generator, offsets)), axis=1), [-1])


def _blocks(g: Any, generator: Generator, offsets: Any) -> list[Any]:
    """Return the four words of the blocks at offsets from the counter, each a vector of uint64 below 2**32."""
    key, low, high = generator
    first = g.Add(low, offsets)
    second = g.Add(high, g.cast(g.Less(first, offsets), dtypes.uint64))
    words = [_low(g, first), _high(g, first), _low(g, second), _high(g, second)]
    keys = [_low(g, key), _high(g, key)]
    for turn in range(ROUNDS):
        products = [g.Mul(words[0], MULTIPLIERS[0]), g.Mul(words[2], MULTIPLIERS[1])]
        now = [_low(g, g.Add(part, turn * step & _MASK32)) for part, step in zip(keys, KEY_STEPS)]
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
