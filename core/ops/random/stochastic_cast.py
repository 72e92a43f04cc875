"""Rounding to integers at random, up as often as the fraction says."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...random.philox import Philox, uniform_from_words, words_per_sample
from ...registry.registry import Cost, facts, flops, kernel, not_differentiable, shape
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, require_shape, scalar, with_rank

_PHILOX_OR_AUTOMATIC: Final = (1, 3)
_INTEGERS_AT_ONCE: Final = 8
_LANES: Final = {"float32": 8, "float64": 4}
"""Numbers that TensorFlow's kernel rounds to int32 in a single step, with one block of random words for all lanes."""


@kernel("StochasticCastToInt")
def stochastic_cast_to_int(input: Array, key: Array, counter: Array, alg: Array, *, Tout: DType) -> Result:
    """Round each input up or down at random, up with the probability of the fraction; NaN becomes 0."""
    algorithm = scalar(alg, "alg")
    require(algorithm in _PHILOX_OR_AUTOMATIC, f"Unsupported algorithm id: {algorithm}")
    require_shape(key, (1,), "key")
    require_rank(counter, 1, "counter")
    require(len(counter) >= 1, f"counter must not be empty: {counter.shape}")
    # TensorFlow hands the first numbers of counter and key to the generator as its two seeds
    gen = Philox.from_seeds(int(counter[0]), int(key[0]))
    values, limits = np.asarray(input).ravel(), np.iinfo(Tout.numpy)
    low, high = (np.asarray(limit).astype(values.dtype) for limit in (limits.min, limits.max))
    fixed = np.isnan(values) | (values >= high) | (values <= low) | (np.floor(values) == values)
    samples = _samples(gen, fixed, values.dtype, Tout.name == "int32")
    # the sums are rounded to the dtype, as TensorFlow's are
    one = np.ones((), values.dtype)
    rounded = np.where(values < 0, np.floor(values + samples), np.floor(values + (one - samples)))
    result = np.where(fixed, np.where(np.isnan(values), 0, np.clip(values, low, high)), rounded)
    # the greatest integer rounds up as a float, and the cast wraps to the smallest integer
    exact = np.clip(result.astype(np.float64), -(2.0**31), 2.0**31).astype(np.int64)
    return exact.astype(Tout.numpy).reshape(np.shape(input))


def _samples(gen: Philox, fixed: Array, dtype: Any, in_lanes: bool) -> Array:
    """Return a uniform number for each element: whole groups of lanes share a block, other elements take a block if they
    need a number.
    """
    lanes = _LANES.get(dtype.name, 0) if in_lanes else 0
    start = fixed.size // _INTEGERS_AT_ONCE * _INTEGERS_AT_ONCE if lanes else 0
    groups = start // lanes if lanes else 0
    needed = np.flatnonzero(~fixed[start:]) + start
    words = gen.words(4 * (groups + needed.size)).reshape(-1, 4)
    per_block = 4 // words_per_sample(dtype)
    numbers = uniform_from_words(words.ravel(), dtype).reshape(-1, per_block)
    samples = np.zeros(fixed.size, dtype)
    if groups:
        samples[:start] = np.tile(numbers[:groups], (1, lanes // per_block)).ravel()
    samples[needed] = numbers[groups:, 0]
    return samples


@shape("StochasticCastToInt")
def stochastic_cast_to_int_shape(input: TensorSpec, key: TensorSpec, counter: TensorSpec, alg: TensorSpec) -> Shape:
    with_rank(key.shape, 1)
    with_rank(counter.shape, 1)
    with_rank(alg.shape, 0)
    return input.shape


@flops("StochasticCastToInt")
def stochastic_cast_to_int_flops(input: TensorSpec, key: TensorSpec, counter: TensorSpec, alg: TensorSpec) -> Cost:
    """Each element: five operations to find NaN, integers and overflow, a sign, a uniform sample, two sums and a rounding."""
    return Cost(10) * input.shape.num_elements


not_differentiable("StochasticCastToInt")
facts("random", of=("StochasticCastToInt",))
