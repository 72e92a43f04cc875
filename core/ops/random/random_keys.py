"""Seeds, keys, counters and algorithms of the stateless random ops."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...random.philox import Philox
from ...registry.registry import arrays, facts, kernel, not_differentiable, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.plain_shapes import scalar_shape
from . import _random_programs as programs

PHILOX: Final = 1
_AUTO_SELECT: Final = 3
_OTHER_ALGORITHMS: Final = (0, 2)
"""Numbers that TensorFlow knows but does not run: no error as long as nothing is to be drawn."""

_MASK64: Final = (1 << 64) - 1
_SCRAMBLE_KEY: Final = 0x02461E293EC8F720
"""TensorFlow's constant key that scrambles a user's seed into key and counter."""


def seeded(seed: Any) -> Philox:
    """Return the generator of a seed of shape (2,); scrambling spreads the seed over all bits of key and counter."""
    if seed.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {Shape(seed.shape)}")
    first, second = seed.tolist()
    mix = Philox(_SCRAMBLE_KEY, first & _MASK64 | (second & _MASK64) << 64).block()
    return Philox(mix[0] | mix[1] << 32, (mix[2] | mix[3] << 32) << 64)


def keyed(key: Any, counter: Any, alg: Any, size: int = 1) -> Philox:
    """Return the generator of a key and a counter as tensors, for `size` outputs; only Philox runs on a CPU."""
    check_algorithm(alg, size)
    if key.shape != (1,):
        raise InvalidArgumentError(f"key must have shape [1], not {Shape(key.shape)}")
    if counter.ndim != 1 or len(counter) < 2:
        raise InvalidArgumentError(f"counter must be a vector of at least two elements, not {Shape(counter.shape)}")
    return Philox(key.item(0), counter.item(0) | counter.item(1) << 64)


def check_algorithm(alg: Any, size: int) -> None:
    """Raise InvalidArgumentError unless the scalar `alg` is an algorithm that a CPU runs for `size` outputs."""
    if alg.ndim:
        raise InvalidArgumentError(f"alg must have shape [], not {Shape(np.shape(alg))}")
    algorithm = alg.item()
    if algorithm not in (PHILOX, _AUTO_SELECT) and (size or algorithm not in _OTHER_ALGORITHMS):
        raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}")


def require_scalars(*specs: TensorSpec) -> None:
    for spec in specs:
        merge_shapes(spec.shape, SCALAR)


def require_seed(seed: TensorSpec) -> None:
    merge_shapes(seed.shape, Shape([2]))


def require_keys(key: TensorSpec, counter: TensorSpec, alg: TensorSpec) -> None:
    merge_shapes(key.shape, Shape([1]))
    merge_shapes(counter.shape, Shape([None]))
    require_scalars(alg)


@kernel("StatelessRandomGetKeyCounter")
def stateless_random_get_key_counter(seed: Array) -> tuple[Result, Result]:
    """The key (1) and the counter (2) that a seed stands for."""
    gen = seeded(seed)
    return np.array([gen.key], np.uint64), np.array([gen.counter & _MASK64, gen.counter >> 64], np.uint64)


@shape("StatelessRandomGetKeyCounter")
def get_key_counter_shape(seed: TensorSpec) -> tuple[Shape, Shape]:
    require_seed(seed)
    return Shape([1]), Shape([2])


@kernel("StatelessRandomGetKeyCounterAlg")
def stateless_random_get_key_counter_alg(seed: Array) -> tuple[Result, Result, Result]:
    """The key (1), the counter (2) and the algorithm that a seed stands for."""
    return *stateless_random_get_key_counter(seed), np.int32(PHILOX)


@shape("StatelessRandomGetKeyCounterAlg")
def get_key_counter_alg_shape(seed: TensorSpec) -> tuple[Shape, ...]:
    return *get_key_counter_shape(seed), SCALAR


@kernel("StatelessRandomGetAlg")
def stateless_random_get_alg() -> Result:
    """The number of the algorithm that a CPU runs."""
    return np.int32(PHILOX)


shape("StatelessRandomGetAlg")(scalar_shape)
not_differentiable("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
zero_flops("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
facts("random", of=("StatelessRandomGetAlg",))

arrays("StatelessRandomGetKeyCounter")(programs.key_and_counter)
arrays("StatelessRandomGetKeyCounterAlg")(lambda xp, seed: (*programs.key_and_counter(xp, seed), xp.asarray(np.int32(PHILOX))))
