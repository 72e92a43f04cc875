"""Shuffles that are pure functions of a seed, or of a key and a counter."""

from __future__ import annotations

import numpy as np

from ...random.index_draws import shuffle_indices
from ...registry.registry import Cost, facts, flops, kernel, not_differentiable, shape, without_gradient, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from ._random import shuffled
from .random_keys import keyed, require_keys


@kernel("StatelessShuffle")
def stateless_shuffle(value: Array, key: Array, counter: Array, alg: Array) -> Result:
    """The rows of `value` in an order that key and counter decide."""
    gen = keyed(key, counter, alg)
    if value.ndim == 0 or len(value) <= 1 or value.size == 0:
        return value
    return shuffled(gen, value)


@shape("StatelessShuffle")
def stateless_shuffle_shape(value: TensorSpec, key: TensorSpec, counter: TensorSpec, alg: TensorSpec) -> Shape:
    require_keys(key, counter, alg)
    return value.shape


without_gradient("StatelessShuffle")
zero_flops("StatelessShuffle")


@kernel("RandomIndexShuffle")
def random_index_shuffle(index: Array, seed: Array, max_index: Array, *, rounds: int, dtype: DType) -> Result:
    """Return the image of each index under a permutation of [0, max_index] chosen by the seed (three words)."""
    count = max(index.size, max_index.size, seed.size // 3)
    for name, value in (("index", index), ("max_index", max_index)):
        if value.ndim > 1 or (value.ndim == 1 and len(value) != count):
            raise InvalidArgumentError(f"{name} must be a scalar or a vector of {count}, not of shape {Shape(value.shape)}")
    if not (seed.shape == (3,) or seed.shape == (count, 3)):
        raise InvalidArgumentError(f"seed must have shape [3] or [{count}, 3], not {Shape(seed.shape)}")
    if rounds < 4 or rounds % 2:
        raise InvalidArgumentError(f"rounds must be an even number of at least 4, not {rounds}")
    is_scalar = index.ndim == 0 and seed.ndim == 1 and max_index.ndim == 0
    indices, limits = (np.broadcast_to(value, (count,)) for value in (index, max_index))
    outside = np.flatnonzero((indices < 0) | (indices > limits))
    if outside.size:
        raise InvalidArgumentError(f"The index must be in [0, {limits[outside[0]]}], got {indices[outside[0]]}")
    moved = shuffle_indices(indices, limits, np.broadcast_to(seed, (count, 3)), rounds).astype(dtype.numpy)
    return moved[0] if is_scalar else moved


@shape("RandomIndexShuffle")
def random_index_shuffle_shape(index: TensorSpec, seed: TensorSpec, max_index: TensorSpec) -> Shape:
    if None in (index.rank, seed.rank, max_index.rank):
        return UNKNOWN
    if index.rank == 0 and seed.rank == 1 and max_index.rank == 0:
        return SCALAR
    sizes = [index.shape[:1], max_index.shape[:1], seed.shape[:1] if seed.rank == 2 else SCALAR]
    vectors = [size for size in sizes if len(size)]
    if not vectors:
        raise InvalidArgumentError(f"index {index.shape}, seed {seed.shape} and max_index {max_index.shape} do not fit")
    result = vectors[0]
    for other in vectors[1:]:
        result = merge_shapes(result, other)
    return result


@flops("RandomIndexShuffle")
def random_index_shuffle_flops(
    index: TensorSpec, seed: TensorSpec, max_index: TensorSpec, *, rounds: int, outputs: list[TensorSpec]
) -> Cost:
    """Sixteen bit operations a round of the cipher, eleven for its key, and the packing of words. An index out of range
    goes through the cipher again; repeats are not counted.
    """
    of_seeds = Cost(11 * rounds - 30) * (seed.shape.num_elements // 3)
    return Cost(16 * rounds + 5) * outputs[0].shape.num_elements + of_seeds


not_differentiable("RandomIndexShuffle")

facts("lengthy", of=("RandomIndexShuffle",))
