"""Random ops that are pure functions of a seed, or of a key and a counter: numbers, shuffles and roundings, and the keys."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...random import philox
from ...random.index_draws import shuffle_indices
from ...random.philox import Philox, uniform_from_words, words_per_sample
from ...random.philox_distributions import MAX_ITERATIONS, loop_blocks
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    WITHOUT_GRADIENT,
    Cost,
    arrays,
    facts,
    flops,
    gradient,
    kernel,
    not_differentiable,
    shape,
    shaped,
    zero_cost,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require, require_rank, require_shape, scalar
from ..shared.elementwise_tables import unary_flops
from . import _random as draws
from . import _random_programs as programs
from .random import bounded_cost, bounded_normals

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
    # A negative number of the seed, also one of 32 bits, counts by its 64 bits.
    mix = Philox(_SCRAMBLE_KEY, first & _MASK64 | (second & _MASK64) << 64).block()
    # The upper half of the counter is the seed's, the lower half counts the blocks that are drawn.
    return Philox(mix[0] | mix[1] << 32, (mix[2] | mix[3] << 32) << 64)


def _keyed(key: Any, counter: Any, alg: Any, size: int = 1) -> Philox:
    """Return the generator of a key and a counter as tensors, for `size` outputs; only Philox runs on a CPU."""
    _check_algorithm(alg, size)
    if key.shape != (1,):
        raise InvalidArgumentError(f"key must have shape [1], not {Shape(key.shape)}")
    if counter.ndim != 1 or len(counter) < 2:
        raise InvalidArgumentError(f"counter must be a vector of at least two elements, not {Shape(counter.shape)}")
    return Philox(key.item(0), counter.item(0) | counter.item(1) << 64)


def _check_algorithm(alg: Any, size: int) -> None:
    """Raise InvalidArgumentError unless the scalar `alg` is an algorithm that a CPU runs for `size` outputs."""
    if alg.ndim:
        raise InvalidArgumentError(f"alg must have shape [], not {Shape(np.shape(alg))}")
    algorithm = alg.item()
    # TensorFlow checks the algorithm when it draws: an empty result passes with any algorithm that it knows.
    if algorithm not in (draws.PHILOX, draws.AUTO_SELECT) and (size or algorithm not in _OTHER_ALGORITHMS):
        raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}")


def _size(shape: Array) -> int:
    return math.prod(draws.as_dims(shape))


def _fill(distribution: Callable[..., Any], gen: Philox, shape: Array, *, dtype: DType) -> Array:
    dims = draws.as_dims(shape)
    return distribution(gen, math.prod(dims), dtype.numpy).reshape(dims)


def _fill_ints(gen: Philox, shape: Array, minval: Array, maxval: Array, *, dtype: DType) -> Array:
    dims = draws.as_dims(shape)
    size = math.prod(dims)
    # As in TensorFlow, the bounds are compared only if a number is drawn: minval above maxval is no error for an empty shape.
    if not size:
        return np.zeros(dims, dtype.numpy)
    low, high = draws.int_bounds(minval, maxval)
    return philox.uniform_int(gen, size, low, high, dtype.numpy).reshape(dims)


class _Draw(NamedTuple):
    """An op of a seed, and its second version of a key and a counter: the samples of the kernel and of the lowerings."""

    op: str
    samples: str
    kernel: Callable[..., Array]
    program: Callable[..., Any]
    cost: Callable[..., Cost]


_DRAWS = (
    _Draw(
        "StatelessRandomUniform", "Samples uniform on [0, 1).",
        functools.partial(_fill, philox.uniform), programs.uniform, draws.uniform_flops,
    ),
    _Draw(
        "StatelessRandomNormal", "Samples of the standard normal distribution.",
        functools.partial(_fill, philox.normal), programs.normal, draws.normal_flops,
    ),
    _Draw(
        "StatelessTruncatedNormal", "Standard normal samples of magnitude below 2.",
        functools.partial(_fill, philox.truncated_normal), programs.truncated_normal, draws.truncated_normal_flops,
    ),
    _Draw(
        "StatelessRandomUniformFullInt", "Integers over the whole range of the dtype.",
        functools.partial(_fill, philox.full_int), programs.all_integers, zero_cost,
    ),
    _Draw(
        "StatelessRandomUniformInt", "Integers uniform on [minval, maxval).",
        _fill_ints, programs.integers, draws.uniform_int_flops,
    ),
)  # fmt: skip


def _register(draw: _Draw) -> None:
    """Register both versions of an op; the bounds of integers come last."""
    op, op_v2 = draw.op, f"{draw.op}V2"

    def by_seed(shape: Array, seed: Array, *bounds: Array, dtype: DType) -> Result:
        return draw.kernel(seeded(seed), shape, *bounds, dtype=dtype)

    def by_key(shape: Array, key: Array, counter: Array, alg: Array, *bounds: Array, dtype: DType) -> Result:
        return draw.kernel(_keyed(key, counter, alg, _size(shape)), shape, *bounds, dtype=dtype)

    by_seed.__doc__ = by_key.__doc__ = draw.samples
    kernel(op)(by_seed)
    kernel(op_v2)(by_key)
    arrays(op, static=(0,), sizes=(0,))(programs.by_seed(draw.program))
    arrays(op_v2, static=(0, 3), sizes=(0,))(programs.by_key(draw.program, _check_algorithm))
    shaped("<...>, 2, () + -> ...", op)
    shaped("<...>, 1, _, () + -> ...", op_v2)
    flops(op, op_v2)(draw.cost)
    not_differentiable(op, op_v2)


for _draw in _DRAWS:
    _register(_draw)

facts("unit_uniform", of=("StatelessRandomUniform", "StatelessRandomUniformV2"))
facts("unit_normal", of=("StatelessRandomNormal", "StatelessRandomNormalV2"))


@kernel("StatelessMultinomial", shape="m _, <n>, 2 -> m n", gradient=NOT_DIFFERENTIABLE, flops=draws.multinomial_flops)
def stateless_multinomial(logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType) -> Result:
    """`num_samples` classes for each row of `logits`."""
    draws.check_multinomial(logits, num_samples)
    return draws.draw_multinomial(seeded(seed), logits, int(num_samples), output_dtype)


@kernel("StatelessRandomGammaV2", shape="<...>, 2 -> ...", flops=draws.gamma_flops)
def stateless_random_gamma_v2(shape: Array, seed: Array, alpha: Array) -> Result:
    """Samples of Gamma(alpha, 1); `shape` ends with the shape of `alpha`."""
    return _gamma(seeded(seed), shape, alpha)


def _gamma(gen: Philox, shape: Array, alpha: Array) -> Array:
    dims = draws.as_dims(shape)
    if not math.prod(dims):
        # Before the shapes are compared: TensorFlow lets an empty result pass with any alpha.
        return np.zeros(dims, alpha.dtype)
    samples = draws.trailing_samples(dims, alpha.shape)
    return draws.draw_gamma(gen, alpha, samples, dims)


@gradient("StatelessRandomGammaV2", "StatelessRandomGammaV3")
def stateless_random_gamma_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    *others, alpha = node.inputs
    return [*[None] * len(others), _gamma_gradient(g, node, alpha, grad)]


def _gamma_gradient(g: GradientBuilder, node: Node, alpha: Any, grad: Output) -> Any:
    """Implicit reparametrization: the derivative of each sample by its alpha, summed over the samples."""
    sample = node.output()
    shape_, alpha_shape = g.shape_of(sample), g.shape_of(alpha)
    # The dimensions that the samples have in front of those of alpha.
    extra = g.Sub(g.Rank(sample), g.Rank(alpha))
    ones = g.Fill(g.Reshape(extra, [1]), 1)
    broadcast = g.Reshape(alpha, g.ConcatV2([ones, alpha_shape], 0))
    partial = g.RandomGammaGrad(g.BroadcastTo(broadcast, shape_), sample)
    # Each alpha has many samples, and its gradient is the sum over them.
    summed = g.Sum(g.Mul(grad, partial), g.Range(0, extra, 1))
    return g.Reshape(summed, alpha_shape)


@kernel("StatelessRandomGammaV3", shape="<...>, 1, _, () -> ...", flops=draws.gamma_flops)
def stateless_random_gamma_v3(shape: Array, key: Array, counter: Array, alg: Array, alpha: Array) -> Result:
    """Samples of Gamma(alpha, 1); `shape` ends with the shape of `alpha`."""
    return _gamma(_keyed(key, counter, alg, _size(shape)), shape, alpha)


@kernel("StatelessRandomPoisson", shape="<...>, 2 -> ...", gradient=NOT_DIFFERENTIABLE, flops=draws.poisson_flops)
def stateless_random_poisson(shape: Array, seed: Array, lam: Array, *, dtype: DType) -> Result:
    """Poisson samples; `shape` ends with the shape of the rates."""
    dims = draws.as_dims(shape)
    gen = seeded(seed)
    if not math.prod(dims):
        return np.zeros(dims, dtype.numpy)
    return draws.draw_poisson(gen, lam, draws.trailing_samples(dims, lam.shape), dims, dtype)


@kernel("StatelessRandomBinomial", shape="<s...>, 2, ~... + -> s...", gradient=NOT_DIFFERENTIABLE, flops=draws.binomial_flops)
def stateless_random_binomial(shape: Array, seed: Array, counts: Array, probs: Array, *, dtype: DType) -> Result:
    """Binomial samples; `shape` ends with the shape that counts and probabilities broadcast to."""
    return draws.draw_binomial(seeded(seed), shape, counts, probs, dtype)


@kernel("StatelessParameterizedTruncatedNormal", shape="<s...>, 2, ~... + -> s...", flops=draws.bounded_normal_flops)
def stateless_parameterized_truncated_normal(
    shape: Array, seed: Array, means: Array, stddevs: Array, minvals: Array, maxvals: Array
) -> Result:
    """Normal samples within bounds; `shape` ends with the shape that the parameters broadcast to."""
    parameters = (means, stddevs, minvals, maxvals)
    try:
        rows = np.broadcast_arrays(*parameters)
    except ValueError:
        shapes = ", ".join(str(Shape(value.shape)) for value in parameters)
        raise InvalidArgumentError(f"the parameters must have compatible shapes, not {shapes}") from None
    gen = seeded(seed)
    dims = draws.as_dims(shape)
    samples = draws.trailing_samples(dims, rows[0].shape)
    flat = [row.reshape(-1) for row in rows]
    # A block of the generator has four words.
    group = 4 // philox.words_per_sample(means.dtype)
    spans = [
        (start, stop, (start * 2 * MAX_ITERATIONS + group - 1) // group)
        for start, stop in loop_blocks(samples * len(flat[0]), bounded_cost(means.dtype, 1))
    ]
    return draws.samples_first(bounded_normals(gen, flat, samples, spans), samples, dims)


@gradient("StatelessParameterizedTruncatedNormal")
def stateless_parameterized_truncated_normal_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return TensorFlow's gradients; mean and deviation move the bounds, and the sample with the bounds.

    The derivatives by the bounds follow from the implicit function theorem. Let p = F(sample), with the distribution
    function F between the bounds. The derivative is (1 - p) for the lower bound and p for the upper bound, times the ratio
    of the density at the bound to the density at the sample.
    """
    means, stddevs, low, high = node.inputs[2:]
    sample = node.output()
    scaled, bottom, top = (g.RealDiv(g.Sub(x, means), stddevs) for x in (sample, low, high))
    half, root = g.scalar_like(sample, 0.5), g.scalar_like(sample, 2.0**-0.5)

    # By the complement of the error function, which keeps its digits far below the mean.
    def below(x: Any) -> Any:
        return g.Mul(half, g.Erfc(g.Neg(g.Mul(x, root))))

    def density_ratio(x: Any) -> Any:
        return g.Exp(g.Mul(half, g.Sub(g.Square(scaled), g.Square(x))))

    mass = g.Sub(below(top), below(bottom))
    place = g.RealDiv(g.Sub(below(scaled), below(bottom)), mass)
    from_low = g.Mul(g.Sub(g.OnesLike(place), place), density_ratio(bottom))
    from_high = g.Mul(place, density_ratio(top))
    parts = zip((means, stddevs, low, high), (g.OnesLike(sample), scaled, from_low, from_high))
    return [None, None, *(g.reduce_to(g.Mul(grad, part), parameter, sample) for parameter, part in parts)]


arrays("StatelessRandomPoisson", static=(0,), sizes=(0,))(programs.by_seed(programs.poisson))


@kernel("StatelessRandomGetKeyCounter", shape="2 -> 1, 2", arithmetic=False)
def stateless_random_get_key_counter(seed: Array) -> tuple[Result, Result]:
    """The key (1) and the counter (2) that a seed stands for."""
    gen = seeded(seed)
    return np.array([gen.key], np.uint64), np.array([gen.counter & _MASK64, gen.counter >> 64], np.uint64)


@kernel("StatelessRandomGetKeyCounterAlg", shape="2 -> 1, 2, ()", arithmetic=False)
def stateless_random_get_key_counter_alg(seed: Array) -> tuple[Result, Result, Result]:
    """The key (1), the counter (2) and the algorithm that a seed stands for."""
    return *stateless_random_get_key_counter(seed), np.int32(draws.PHILOX)


# The answer depends on the device, so that no constant may take its place.
@kernel("StatelessRandomGetAlg", shape="-> ()", facts=("random",), arithmetic=False)
def stateless_random_get_alg() -> Result:
    """The number of the algorithm that a CPU runs."""
    return np.int32(draws.PHILOX)


arrays("StatelessRandomGetKeyCounter")(programs.key_and_counter)
arrays("StatelessRandomGetKeyCounterAlg")(
    lambda xp, seed: (*programs.key_and_counter(xp, seed), xp.asarray(np.int32(draws.PHILOX)))
)


@kernel("StatelessShuffle", shape="..., 1, _, () -> ...", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def stateless_shuffle(value: Array, key: Array, counter: Array, alg: Array) -> Result:
    """The rows of `value` in an order that key and counter decide."""
    gen = _keyed(key, counter, alg)
    # After the checks: TensorFlow refuses a wrong key even where there is nothing to shuffle.
    if value.ndim == 0 or len(value) <= 1 or value.size == 0:
        return value
    return draws.shuffled(gen, value)


@kernel("RandomIndexShuffle", gradient=NOT_DIFFERENTIABLE, facts=("lengthy",))
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
def random_index_shuffle_flops(index: TensorSpec, seed: TensorSpec, *, rounds: int, outputs: list[TensorSpec]) -> Cost:
    """Sixteen bit operations a round of the cipher, eleven for its key, and the packing of words. An index out of range
    goes through the cipher again; repeats are not counted.
    """
    of_seeds = Cost(11 * rounds - 30) * (seed.shape.num_elements // 3)
    return Cost(16 * rounds + 5) * outputs[0].shape.num_elements + of_seeds


_INTEGERS_AT_ONCE: Final = 8
_LANES: Final = {"float32": 8, "float64": 4}
"""Numbers that TensorFlow's kernel rounds to int32 in a single step, with one block of random words for all lanes."""


# Each element: five operations to find NaN, integers and overflow, a sign, a uniform sample, two sums and a rounding.
@kernel(
    "StochasticCastToInt", shape="..., _, _, () -> ...", gradient=NOT_DIFFERENTIABLE, flops=unary_flops(10), facts=("random",)
)
def stochastic_cast_to_int(input: Array, key: Array, counter: Array, alg: Array, *, Tout: DType) -> Result:
    """Round each input up or down at random, up with the probability of the fraction; NaN becomes 0."""
    algorithm = scalar(alg, "alg")
    require(algorithm in (draws.PHILOX, draws.AUTO_SELECT), f"Unsupported algorithm id: {algorithm}")
    require_shape(key, (1,), "key")
    require_rank(counter, 1, "counter")
    require(len(counter) >= 1, f"counter must not be empty: {counter.shape}")
    # TensorFlow hands the first numbers of counter and key to the generator as its two seeds.
    gen = Philox.from_seeds(int(counter[0]), int(key[0]))
    values, limits = np.asarray(input).ravel(), np.iinfo(Tout.numpy)
    low, high = (np.asarray(limit).astype(values.dtype) for limit in (limits.min, limits.max))
    fixed = np.isnan(values) | (values >= high) | (values <= low) | (np.floor(values) == values)
    samples = _cast_samples(gen, fixed, values.dtype, Tout.name == "int32")
    # The sums are rounded to the dtype, as TensorFlow's are.
    one = np.ones((), values.dtype)
    rounded = np.where(values < 0, np.floor(values + samples), np.floor(values + (one - samples)))
    result = np.where(fixed, np.where(np.isnan(values), 0, np.clip(values, low, high)), rounded)
    # The greatest integer rounds up as a float, and the cast wraps to the smallest integer.
    exact = np.clip(result.astype(np.float64), -(2.0**31), 2.0**31).astype(np.int64)
    return exact.astype(Tout.numpy).reshape(np.shape(input))


def _cast_samples(gen: Philox, fixed: Array, dtype: Any, in_lanes: bool) -> Array:
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
