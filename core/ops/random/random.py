"""Random ops with seeds as attributes: each node owns a Philox stream that goes on from run to run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.interruption_points import PIECE, pause
from ...random import philox
from ...random.philox import Philox
from ...random.philox_distributions import MAX_ITERATIONS, PrefetchedBlocks, bounded_normal_calls, loop_blocks
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    WITHOUT_GRADIENT,
    Cost,
    facts,
    flops,
    gradient,
    kernel,
    not_differentiable,
    shaped,
    zero_cost,
)
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec
from ..shared.elementwise_tables import RESULT, counted
from . import _random as draws


def _drawn(
    ctx: KernelContext, seed: int, seed2: int, dims: tuple[int, ...], distribution: Callable[..., Array], *parameters: Any
) -> Array:
    """Return an array of shape `dims` from the node's stream."""
    size = math.prod(dims)
    return distribution(draws.node_stream(ctx, seed, seed2).reserve(size), size, *parameters).reshape(dims)


def _register_fill(op: str, distribution: Callable[..., Array], cost: Callable[..., Cost], samples: str) -> None:
    """Register an op that fills a tensor with samples."""

    def fill(ctx: KernelContext, shape: Array, *, dtype: DType, seed: int, seed2: int) -> Result:
        return _drawn(ctx, seed, seed2, draws.as_dims(shape), distribution, dtype.numpy)

    fill.__doc__ = samples
    kernel(op)(fill)
    flops(op)(cost)


_register_fill("RandomUniform", philox.uniform, draws.uniform_flops, "Samples uniform on [0, 1).")
_register_fill("RandomStandardNormal", philox.normal, draws.normal_flops, "Samples of the standard normal distribution.")
_register_fill(
    "TruncatedNormal", philox.truncated_normal, draws.truncated_normal_flops, "Standard normal samples of magnitude below 2."
)
facts("unit_uniform", of=("RandomUniform",))
facts("unit_normal", of=("RandomStandardNormal",))


@kernel("RandomUniformInt", flops=draws.uniform_int_flops)
def random_uniform_int(
    ctx: KernelContext, shape: Array, minval: Array, maxval: Array, *, Tout: DType, seed: int, seed2: int
) -> Result:
    """Integers uniform on [minval, maxval)."""
    dims = draws.as_dims(shape)
    bounds = draws.int_bounds(minval, maxval, math.prod(dims))
    return _drawn(ctx, seed, seed2, dims, philox.uniform_int, *bounds, Tout.numpy)


@kernel("ParameterizedTruncatedNormal", flops=draws.bounded_normal_flops)
def parameterized_truncated_normal(
    ctx: KernelContext, shape: Array, means: Array, stdevs: Array, minvals: Array, maxvals: Array, *, seed: int, seed2: int
) -> Result:
    """Draw normal samples within bounds; parameters are scalars, or vectors with a number for each row of the output."""
    dims = draws.as_dims(shape)
    if not dims:
        raise InvalidArgumentError("Shape tensor must not be empty")
    size = math.prod(dims)
    parameters = (means, stdevs, minvals, maxvals)
    for name, value in zip(("means", "stdevs", "minvals", "maxvals"), parameters):
        if value.ndim > 1:
            raise InvalidArgumentError(f"Input {name} should be a scalar or vector, got shape {Shape(value.shape)}")
    batches, samples = dims[0], math.prod(dims[1:])
    # With scalars TensorFlow draws batches of 100, whatever the shape; which part of the stream a sample comes from depends
    # on it.
    if means.size == stdevs.size == 1 and minvals.ndim == maxvals.ndim == 0:
        batches, samples = -(-size // _BATCH), _BATCH
    elif any(value.size not in (1, batches) for value in parameters):
        raise InvalidArgumentError(f"the parameters should have length 1 or {batches}")
    gen = draws.node_stream(ctx, seed, seed2).take(batches * 2 * MAX_ITERATIONS * (samples + 3) // 4)
    rows = [np.broadcast_to(value, (batches,)) for value in parameters]
    spans = [
        (start * samples, min(stop * samples, size), start * 2 * MAX_ITERATIONS * (samples + 3) // 4)
        for start, stop in loop_blocks(batches, bounded_cost(means.dtype, samples))
    ]
    return bounded_normals(gen, rows, samples, spans).reshape(dims)


def bounded_cost(dtype: Any, samples: int) -> int:
    """TensorFlow's estimate of the cycles for a batch of bounded normal samples."""
    first, each = {4: (53, 67), 8: (94, 82), 2: (60, 77)}[dtype.itemsize]
    return first + 2 * each * samples


def bounded_normals(gen: Philox, parameters: list[Array], samples: int, spans: Sequence[tuple[int, ...]]) -> Array:
    """Return `samples` bounded normal samples for each row of parameters, row after row.

    A span (first output, end, blocks to skip) is the work of a single thread of TensorFlow.
    """
    parts = [np.empty(0, parameters[0].dtype)]
    for start, stop, skipped in spans:
        # Each thread of TensorFlow skips ahead to its share and goes on by what it draws: the result depends on the division.
        own = PrefetchedBlocks(gen.skipped(skipped))
        for first, end in _equal_rows(parameters, start, stop, samples):
            mean, stddev, low, high = (values[first] for values in parameters)
            if not (stddev > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
                raise InvalidArgumentError(f"Invalid parameters: mean {mean}, stddev {stddev}, bounds {low} and {high}")
            counts = np.diff(np.clip(np.arange(first, end + 1) * samples, start, stop))
            parts.append(bounded_normal_calls(own, counts, mean, stddev, low, high))
    return np.concatenate(parts)


def _equal_rows(parameters: list[Array], start: int, stop: int, samples: int) -> Iterable[Any]:
    """Return the rows of the outputs start:stop as (first, end) of runs with equal parameters."""
    if start == stop:
        return []
    rows = np.arange(start // samples, -(-stop // samples))
    differ = np.any([values[rows[1:]] != values[rows[:-1]] for values in parameters], 0)
    edges = [rows[0], *rows[1:][differ], rows[-1] + 1]
    return itertools.pairwise(edges)


_BATCH = 100
"""Samples that TensorFlow draws together where all parameters are scalars."""


_FILLS = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "ParameterizedTruncatedNormal")
shaped("<...> -> ...", *_FILLS)
not_differentiable(*_FILLS)


@kernel("RandomGamma", shape="<s...>, p... -> s... p...", flops=draws.gamma_flops)
def random_gamma(ctx: KernelContext, shape: Array, alpha: Array, *, seed: int, seed2: int) -> Result:
    """Samples of Gamma(alpha, 1), of shape `shape` for each alpha."""
    dims = draws.as_dims(shape)
    samples = math.prod(dims)
    # Nothing is drawn, so the stream stays where it is.
    if not samples or not alpha.size:
        return np.zeros((*dims, *alpha.shape), alpha.dtype)
    gen = draws.node_stream(ctx, seed, seed2).reserve(samples * alpha.size)
    return draws.draw_gamma(gen, alpha, samples, (*dims, *alpha.shape))


@gradient("RandomGamma")
def random_gamma_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Implicit reparametrization: the derivative of the sample by alpha, summed over the samples."""
    shape_, alpha = node.inputs
    ones = g.Fill(g.Shape(shape_, out_type="int32"), g.constant(1, shape_.base_dtype))
    broadcast = g.ConcatV2([ones, g.Shape(alpha, out_type=shape_.base_dtype)], 0)
    partial = g.RandomGammaGrad(g.Reshape(alpha, broadcast), node.output())
    # The samples of an alpha lie along the dimensions that `shape` adds in front.
    axes = g.Range(0, g.Squeeze(g.Shape(shape_, out_type="int32")), 1)
    return [None, g.Sum(g.Mul(grad, partial), axes)]


_NORMAL = ("RandomStandardNormal", "TruncatedNormal", "ParameterizedTruncatedNormal")
_MOVING = ("RandomShuffle", "RandomCrop")
_OTHERS = ("RandomUniform", "RandomUniformInt", "RandomPoisson", "RandomPoissonV2", "Multinomial", "SobolSample")

facts("random", "own_stream", of=(*_NORMAL, *_MOVING, *_OTHERS[:-1], "RandomGamma"))


# TensorFlow declares the other draws as without gradient flow and says nothing of these: a gradient through them is an error.
@kernel(
    "RandomPoisson", "RandomPoissonV2", shape="<s...>, p... -> s... p...", gradient=WITHOUT_GRADIENT, flops=draws.poisson_flops
)
def random_poisson_v2(ctx: KernelContext, shape: Array, rate: Array, *, dtype: DType, seed: int, seed2: int) -> Result:
    """Poisson samples, of shape `shape` for each rate."""
    dims = draws.as_dims(shape)
    samples = math.prod(dims)
    if not samples or not rate.size:
        return np.zeros((*dims, *rate.shape), dtype.numpy)
    gen = draws.node_stream(ctx, seed, seed2).reserve(samples * rate.size)
    return draws.draw_poisson(gen, rate, samples, (*dims, *rate.shape), dtype)


@kernel("Multinomial", shape="m _, <n> -> m n", gradient=NOT_DIFFERENTIABLE, flops=draws.multinomial_flops)
def multinomial(
    ctx: KernelContext, logits: Array, num_samples: Array, *, output_dtype: DType, seed: int, seed2: int
) -> Result:
    """`num_samples` classes for each row of `logits`, log-probabilities that need not be normalized."""
    draws.check_multinomial(logits, num_samples)
    return draws.draw_multinomial(draws.node_stream(ctx, seed, seed2), logits, int(num_samples), output_dtype)


@kernel("RandomShuffle", shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
def random_shuffle(ctx: KernelContext, value: Array, *, seed: int, seed2: int) -> Result:
    """The rows of `value` in random order."""
    # TensorFlow draws nothing for a single row: the stream stays where it is.
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    # A word for each exchange but the last element's, in blocks of four.
    return draws.shuffled(draws.node_stream(ctx, seed, seed2).take((len(value) - 1 + 3) // 4), value)


@kernel("RandomCrop", shape="_ _ c, <h w> -> h w c", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
def random_crop(ctx: KernelContext, image: Array, size: Array, *, seed: int, seed2: int) -> Result:
    """A part of `image` (height, width, channels) at a random place, of the height and width in `size`."""
    if image.ndim != 3:
        raise InvalidArgumentError(f"input must be 3-dimensional, not of shape {Shape(image.shape)}")
    if size.shape != (2,):
        raise InvalidArgumentError(f"size must be a vector of two elements, not of shape {Shape(size.shape)}")
    height, width = size.tolist()
    if height < 0 or width < 0:
        raise InvalidArgumentError(f"size ({height}, {width}) must not be negative")
    if height > image.shape[0] or width > image.shape[1]:
        raise FailedPreconditionError(f"size ({height}, {width}) does not fit into an image of shape {Shape(image.shape)}")
    # TensorFlow passes such an image on without a draw.
    if (height, width) == image.shape[:2]:
        return image
    # The width is drawn first; a dimension without choice takes no word.
    words = iter(draws.node_stream(ctx, seed, seed2).take(1).block())
    left = next(words) % (image.shape[1] - width + 1) if width < image.shape[1] else 0
    top = next(words) % (image.shape[0] - height + 1) if height < image.shape[0] else 0
    return image[top : top + height, left : left + width]


@kernel(
    "SobolSample",
    shape="<d>, <n> -> n d",
    gradient=NOT_DIFFERENTIABLE,
    flops=counted(2, RESULT, "An exclusive or and a product for each number, in Gray code order."),
    facts=("lengthy",),
)
def sobol_sample(dim: Array, num_results: Array, skip: Array, *, dtype: DType) -> Result:
    """Points of the Sobol sequence in `dim` dimensions, after the origin and `skip` more."""
    from ...random import sobol

    for name, value in (("dim", dim), ("num_results", num_results), ("skip", skip)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be a scalar, not of shape {Shape(np.shape(value))}")
    if not 1 <= dim <= _MAX_SOBOL_DIM:
        raise InvalidArgumentError(f"dim must be in [1, {_MAX_SOBOL_DIM}], got {dim}")
    if num_results < 1:
        raise InvalidArgumentError(f"num_results must be at least 1, got {num_results}")
    if skip < 0:
        raise InvalidArgumentError(f"skip must be at least 0, got {skip}")
    engine = sobol.engine(int(dim))
    step = max(PIECE // int(dim), 1)
    # SciPy's sequence begins with the origin, which TensorFlow leaves out.
    for count in _pieces(int(skip) + 1, step):
        engine.fast_forward(count)
    return np.concatenate([engine.random(count).astype(dtype.numpy) for count in _pieces(int(num_results), step)])


_MAX_SOBOL_DIM = 1111


def _pieces(count: int, step: int) -> Iterator[int]:
    """Yield the sizes of chunks until `count` is reached; the run's time is checked between chunks."""
    for start in range(0, count, step):
        pause()
        yield min(step, count - start)


def _value(spec: TensorSpec) -> int | None:
    return None if spec.value is None or spec.value.size != 1 else spec.value.item()
