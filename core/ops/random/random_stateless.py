"""Random ops that are pure functions of a seed, or of a key and a counter."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...random import philox
from ...random.philox import Philox
from ...random.philox_distributions import MAX_ITERATIONS, blocks
from ...registry.registry import Cost, arrays, facts, flops, gradient, kernel, not_differentiable, shape, zero_cost
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from . import _random_programs as programs
from ._random import (
    as_dims,
    binomial_flops,
    bounded_normal_flops,
    check_multinomial,
    draw_binomial,
    draw_gamma,
    draw_multinomial,
    draw_poisson,
    element_count,
    gamma_flops,
    int_bounds,
    multinomial_flops,
    multinomial_shape,
    normal_flops,
    poisson_flops,
    requested_shape,
    samples_first,
    trailing_samples,
    truncated_normal_flops,
    uniform_flops,
    uniform_int_flops,
)
from .random import bounded_cost, bounded_normals
from .random_keys import check_algorithm, keyed, require_keys, require_scalars, require_seed, seeded


def _size(shape: Array) -> int:
    return element_count(as_dims(shape))


def _fill(distribution: Callable[..., Any], gen: Philox, shape: Array, *, dtype: DType) -> Array:
    dims = as_dims(shape)
    return distribution(gen, element_count(dims), dtype.numpy).reshape(dims)


def _fill_ints(gen: Philox, shape: Array, minval: Array, maxval: Array, *, dtype: DType) -> Array:
    dims = as_dims(shape)
    size = element_count(dims)
    if not size:
        return np.zeros(dims, dtype.numpy)
    low, high = int_bounds(minval, maxval)
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
        functools.partial(_fill, philox.uniform), programs.uniform, uniform_flops,
    ),
    _Draw(
        "StatelessRandomNormal", "Samples of the standard normal distribution.",
        functools.partial(_fill, philox.normal), programs.normal, normal_flops,
    ),
    _Draw(
        "StatelessTruncatedNormal", "Standard normal samples of magnitude below 2.",
        functools.partial(_fill, philox.truncated_normal), programs.truncated_normal, truncated_normal_flops,
    ),
    _Draw(
        "StatelessRandomUniformFullInt", "Integers over the whole range of the dtype.",
        functools.partial(_fill, philox.full_int), programs.all_integers, zero_cost,
    ),
    _Draw(
        "StatelessRandomUniformInt", "Integers uniform on [minval, maxval).",
        _fill_ints, programs.integers, uniform_int_flops,
    ),
)  # fmt: skip


def _register(draw: _Draw) -> None:
    """Register both versions of an op; the bounds of integers come last."""
    op, op_v2 = draw.op, f"{draw.op}V2"

    def by_seed(shape: Array, seed: Array, *bounds: Array, dtype: DType) -> Result:
        return draw.kernel(seeded(seed), shape, *bounds, dtype=dtype)

    def by_key(shape: Array, key: Array, counter: Array, alg: Array, *bounds: Array, dtype: DType) -> Result:
        return draw.kernel(keyed(key, counter, alg, _size(shape)), shape, *bounds, dtype=dtype)

    by_seed.__doc__ = by_key.__doc__ = draw.samples
    kernel(op)(by_seed)
    kernel(op_v2)(by_key)
    arrays(op, static=(0,), sizes=(0,))(programs.by_seed(draw.program))
    arrays(op_v2, static=(0, 3), sizes=(0,))(programs.by_key(draw.program, check_algorithm))
    shape(op)(seeded_shape)
    shape(op_v2)(keyed_shape)
    flops(op, op_v2)(draw.cost)
    not_differentiable(op, op_v2)


def seeded_shape(shape: TensorSpec, seed: TensorSpec, *bounds: TensorSpec) -> Shape:
    require_seed(seed)
    require_scalars(*bounds)
    return requested_shape(shape)


def keyed_shape(shape: TensorSpec, key: TensorSpec, counter: TensorSpec, alg: TensorSpec, *bounds: TensorSpec) -> Shape:
    require_keys(key, counter, alg)
    require_scalars(*bounds)
    return requested_shape(shape)


for _draw in _DRAWS:
    _register(_draw)

facts("unit_uniform", of=("StatelessRandomUniform", "StatelessRandomUniformV2"))
facts("unit_normal", of=("StatelessRandomNormal", "StatelessRandomNormalV2"))


@kernel("StatelessMultinomial")
def stateless_multinomial(logits: Array, num_samples: Array, seed: Array, *, output_dtype: DType) -> Result:
    """`num_samples` classes for each row of `logits`."""
    check_multinomial(logits, num_samples)
    return draw_multinomial(seeded(seed), logits, int(num_samples), output_dtype)


@shape("StatelessMultinomial")
def stateless_multinomial_shape(logits: TensorSpec, num_samples: TensorSpec, seed: TensorSpec) -> Shape:
    require_seed(seed)
    return multinomial_shape(logits, num_samples)


flops("StatelessMultinomial")(multinomial_flops)

not_differentiable("StatelessMultinomial")


@kernel("StatelessRandomGammaV2")
def stateless_random_gamma_v2(shape: Array, seed: Array, alpha: Array) -> Result:
    """Samples of Gamma(alpha, 1); `shape` ends with the shape of `alpha`."""
    return _gamma(seeded(seed), shape, alpha)


def _gamma(gen: Philox, shape: Array, alpha: Array) -> Array:
    dims = as_dims(shape)
    if not element_count(dims):
        return np.zeros(dims, alpha.dtype)
    samples = trailing_samples(dims, alpha.shape)
    return draw_gamma(gen, alpha, samples, dims)


@shape("StatelessRandomGammaV2")
def stateless_random_gamma_v2_shape(shape: TensorSpec, seed: TensorSpec, alpha: TensorSpec) -> Shape:
    require_seed(seed)
    return requested_shape(shape)


@gradient("StatelessRandomGammaV2")
def stateless_random_gamma_v2_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, None, _gamma_gradient(g, node, node.inputs[2], grad)]


def _gamma_gradient(g: GradientBuilder, node: Node, alpha: Any, grad: Output) -> Any:
    """Implicit reparametrization: the derivative of each sample by its alpha, summed over the samples."""
    sample = node.output()
    shape_, alpha_shape = g.shape_of(sample), g.shape_of(alpha)
    extra = g.Sub(g.Rank(sample), g.Rank(alpha))
    ones = g.Fill(g.Reshape(extra, [1]), 1)
    broadcast = g.Reshape(alpha, g.ConcatV2([ones, alpha_shape], 0))
    partial = g.RandomGammaGrad(g.BroadcastTo(broadcast, shape_), sample)
    summed = g.Sum(g.Mul(grad, partial), g.Range(0, extra, 1))
    return g.Reshape(summed, alpha_shape)


@kernel("StatelessRandomGammaV3")
def stateless_random_gamma_v3(shape: Array, key: Array, counter: Array, alg: Array, alpha: Array) -> Result:
    """Samples of Gamma(alpha, 1); `shape` ends with the shape of `alpha`."""
    return _gamma(keyed(key, counter, alg, _size(shape)), shape, alpha)


@shape("StatelessRandomGammaV3")
def stateless_random_gamma_v3_shape(
    shape: TensorSpec, key: TensorSpec, counter: TensorSpec, alg: TensorSpec, alpha: TensorSpec
) -> Shape:
    require_keys(key, counter, alg)
    return requested_shape(shape)


@gradient("StatelessRandomGammaV3")
def stateless_random_gamma_v3_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [None, None, None, None, _gamma_gradient(g, node, node.inputs[4], grad)]


flops("StatelessRandomGammaV2", "StatelessRandomGammaV3")(gamma_flops)


@kernel("StatelessRandomPoisson")
def stateless_random_poisson(shape: Array, seed: Array, lam: Array, *, dtype: DType) -> Result:
    """Poisson samples; `shape` ends with the shape of the rates."""
    dims = as_dims(shape)
    gen = seeded(seed)
    if not element_count(dims):
        return np.zeros(dims, dtype.numpy)
    return draw_poisson(gen, lam, trailing_samples(dims, lam.shape), dims, dtype)


@shape("StatelessRandomPoisson")
def stateless_random_poisson_shape(shape: TensorSpec, seed: TensorSpec, lam: TensorSpec) -> Shape:
    require_seed(seed)
    return requested_shape(shape)


flops("StatelessRandomPoisson")(poisson_flops)

not_differentiable("StatelessRandomPoisson")


@kernel("StatelessRandomBinomial")
def stateless_random_binomial(shape: Array, seed: Array, counts: Array, probs: Array, *, dtype: DType) -> Result:
    """Binomial samples; `shape` ends with the shape that counts and probabilities broadcast to."""
    return draw_binomial(seeded(seed), shape, counts, probs, dtype)


@shape("StatelessRandomBinomial")
def stateless_random_binomial_shape(shape: TensorSpec, seed: TensorSpec, counts: TensorSpec, probs: TensorSpec) -> Shape:
    require_seed(seed)
    broadcast_shapes(counts.shape, probs.shape)
    return requested_shape(shape)


flops("StatelessRandomBinomial")(binomial_flops)

not_differentiable("StatelessRandomBinomial")


@kernel("StatelessParameterizedTruncatedNormal")
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
    dims = as_dims(shape)
    samples = trailing_samples(dims, rows[0].shape)
    flat = [row.reshape(-1) for row in rows]
    group = 4 // philox.words_per_sample(means.dtype)
    spans = [
        (start, stop, (start * 2 * MAX_ITERATIONS + group - 1) // group)
        for start, stop in blocks(samples * len(flat[0]), bounded_cost(means.dtype, 1))
    ]
    return samples_first(bounded_normals(gen, flat, samples, spans), samples, dims)


@shape("StatelessParameterizedTruncatedNormal")
def stateless_parameterized_truncated_normal_shape(
    shape: TensorSpec, seed: TensorSpec, means: TensorSpec, stddevs: TensorSpec, minvals: TensorSpec, maxvals: TensorSpec
) -> Shape:
    require_seed(seed)
    broadcast_shapes(means.shape, stddevs.shape, minvals.shape, maxvals.shape)
    return requested_shape(shape)


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


flops("StatelessParameterizedTruncatedNormal")(bounded_normal_flops)

arrays("StatelessRandomPoisson", static=(0,), sizes=(0,))(programs.by_seed(programs.poisson))
