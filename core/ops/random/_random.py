"""Streams of nodes, shapes that arrive as tensors, costs, and numbers of algorithms, shared by the random families."""

from __future__ import annotations

import functools
import math
import threading
import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...random import philox, philox_distributions
from ...random.philox import RESERVED_PER_OUTPUT, Philox
from ...registry.registry import Cost
from ...support.errors import InvalidArgumentError
from ...types.dims import DimLike, ceil_div
from ...types.dtypes import from_numpy
from ...types.shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_shapes
from ..shared.elementwise_tables import RESULT, counted

PHILOX: Final = 1
THREEFRY: Final = 2
AUTO_SELECT: Final = 3
"""TensorFlow's numbers of algorithms; a CPU runs Philox alone, and selects it."""


class Stream(Philox):
    """A stream that several threads draw from; no two draws share a word."""

    __slots__ = ("_lock",)

    def __init__(self, start: Philox) -> None:
        super().__init__(start.key, start.counter)
        self._lock = threading.Lock()

    def take(self, blocks: int) -> Philox:
        # Two threads that take at once would draw the same words.
        with self._lock:
            return super().take(blocks)


def node_stream(ctx: Any, seed: int, seed2: int) -> Stream:
    """Return the stream of a node, to `take` from. The stream goes on from run to run; call this before each draw.

    Seeds of zero mean the session's seed, or chance.
    """
    stream: Stream = ctx.state(lambda: new_stream(ctx, seed, seed2))
    return stream


def new_stream(ctx: Any, seed: int, seed2: int) -> Stream:
    """Return a stream for a node's two seeds; two zeros mean the session's seed, or chance."""
    if not seed and not seed2:
        if ctx.session.seed is not None:
            # The name makes streams of nodes differ; the 1 keeps a pair of zeros, which means chance, from coming up.
            seed, seed2 = ctx.session.seed, zlib.crc32(ctx.name.encode()) + 1
        else:
            from secrets import randbits  # lazy: hash functions of OpenSSL come with it

            seed, seed2 = randbits(64), randbits(64)
    return Stream(Philox.from_seeds(seed, seed2))


def as_dims(shape: Any) -> tuple[int, ...]:
    """Return the dimensions in a shape tensor; InvalidArgumentError unless the tensor is a vector of sizes."""
    if np.ndim(shape) != 1:
        raise InvalidArgumentError(f"shape must be a vector of integers, got one of shape {Shape(np.shape(shape))}")
    if shape.dtype.kind not in "iu":
        raise InvalidArgumentError(f"shape must be a vector of integers, not of {from_numpy(shape.dtype)}")
    return _checked_dims(tuple(shape.tolist()))


@functools.lru_cache(1024)
def _checked_dims(dims: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions as they are; the same few come again at every step."""
    if any(d < 0 for d in dims):
        raise InvalidArgumentError(f"the dimensions {dims} must not be negative")
    # As NumPy counts: a size of 0 excuses no others whose product, in bytes, no int64 holds; those of parameters follow.
    if math.prod(d or 1 for d in dims) >= 1 << 58:
        raise InvalidArgumentError(f"a tensor of shape {dims} has too many elements")
    return dims


def int_bounds(minval: Any, maxval: Any, size: int = 1) -> tuple[int, int]:
    """Two scalars as numbers; InvalidArgumentError unless minval < maxval or nothing (`size` 0) is to be drawn."""
    for name, value in (("minval", minval), ("maxval", maxval)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {Shape(np.shape(value))}")
    if size and not minval < maxval:
        raise InvalidArgumentError(f"Need minval < maxval, got {minval} >= {maxval}")
    return int(minval), int(maxval)


def lanes_last(parameters: Any, samples: int) -> Any:
    """Repeat each parameter `samples` times in a row: the order in which TensorFlow numbers the outputs."""
    return np.repeat(np.ravel(parameters), samples)


def samples_first(drawn: Any, samples: int, dims: tuple[int, ...]) -> Any:
    """Samples in TensorFlow's numbering (all of the first parameter first) in the output's layout (samples, parameters)."""
    return drawn.reshape(len(drawn) // max(samples, 1), samples).T.reshape(dims)


def trailing_samples(dims: tuple[int, ...], parameters: tuple[int, ...]) -> int:
    """Return the number of samples for each parameter; InvalidArgumentError unless `dims` ends with the parameters' shape."""
    if len(parameters) > len(dims) or dims[len(dims) - len(parameters) :] != parameters:
        raise InvalidArgumentError(f"Shape passed in must end with broadcasted shape: {dims} does not with {parameters}")
    return math.prod(dims[: len(dims) - len(parameters)])


def as_type(values: Any, dtype: Any) -> Any:
    """Samples cast to the output dtype, saturating nowhere, as the C cast does."""
    return values.astype(dtype.numpy)


def draw_poisson(gen: Philox, rate: Any, samples: int, dims: tuple[int, ...], dtype: Any) -> Any:
    """Poisson samples for each rate, of shape `dims`."""
    drawn = philox_distributions.poisson(gen, lanes_last(rate, samples))
    if dtype.kind == "i":
        # TensorFlow's conversion of infinity to an integer, made explicit: C leaves it undefined.
        drawn[np.isinf(drawn)] = 0
    return samples_first(as_type(drawn, dtype), samples, dims)


def draw_gamma(gen: Philox, alpha: Any, samples: int, dims: tuple[int, ...]) -> Any:
    """Gamma samples for each alpha, of shape `dims`."""
    drawn = philox_distributions.gamma(gen, lanes_last(alpha, samples))
    return samples_first(drawn.astype(alpha.dtype), samples, dims)


def draw_binomial(gen: Philox, shape: Any, counts: Any, probs: Any, dtype: Any) -> Any:
    """Draw binomial samples of the shape in the tensor `shape`, whose last dimensions are the broadcast shape of counts and
    probs.
    """
    try:
        parameters = np.broadcast_shapes(counts.shape, probs.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"counts and probs must have compatible batch dimensions: {Shape(counts.shape)} vs. {Shape(probs.shape)}"
        ) from None
    dims = as_dims(shape)
    samples = trailing_samples(dims, parameters)
    counts, probs = (lanes_last(np.broadcast_to(x, parameters), samples) for x in (counts, probs))
    one = probs.dtype.type(1)
    # The rarer outcome is drawn, and the other is its complement: both methods work best for small probabilities.
    rare = np.where(probs > probs.dtype.type(0.5), one - probs, probs)
    # In the dtype of the probabilities, as TensorFlow compares: in double a mean near 10 could go the other way.
    is_large = counts * rare >= probs.dtype.type(10)
    drawn = philox_distributions.binomial(gen, counts, probs, is_large)
    return samples_first(as_type(drawn, dtype), samples, dims)


def draw_multinomial(gen: Philox, logits: Any, samples: int, dtype: Any) -> Any:
    """Return `samples` classes for each row of `logits`."""
    rows = len(logits)
    # TensorFlow's MultinomialOp reserves so many, rounded up to whole blocks.
    start = gen.take(rows * ((samples + 3) // 4 * 4) * 2 * RESERVED_PER_OUTPUT)
    if not rows * samples:
        return np.zeros((rows, samples), dtype.numpy)
    uniforms = philox.uniform(start, rows * samples, np.dtype(np.float64)).reshape(rows, samples)
    return as_type(philox_distributions.multinomial(uniforms, logits), dtype)


def check_multinomial(logits: Any, num_samples: Any) -> None:
    """Raise InvalidArgumentError unless logits is a matrix with classes and num_samples a scalar that is not negative."""
    if np.ndim(logits) != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {Shape(np.shape(logits))}")
    if np.ndim(num_samples):
        raise InvalidArgumentError(f"num_samples should be a scalar, got shape {Shape(np.shape(num_samples))}")
    if num_samples < 0:
        raise InvalidArgumentError(f"num_samples should be nonnegative, got {num_samples}")
    if logits.shape[1] == 0:
        raise InvalidArgumentError("num_classes should be positive, got 0")


def shuffled(gen: Philox, value: Any) -> Any:
    """Return the rows of `value` in the order that the stream gives."""
    return value[philox_distributions.permutation(gen, len(value))]


uniform_flops = counted(1, RESULT, "A difference for each element, from [1, 2) to [0, 1).")
uniform_int_flops = counted(2, RESULT, "A remainder and a sum for each element.")


def _normal_cost(samples: DimLike) -> Cost:
    return Cost(8, transcendentals=3) * ceil_div(samples, 2)


def normal_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """Box and Muller for each pair of samples, the last pair perhaps half used: 8, and a logarithm, a sine and a cosine."""
    return _normal_cost(outputs[0].shape.num_elements)


def truncated_normal_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """As the normal distribution, plus a comparison of the magnitude. One sample in 22 is drawn again; redraws are not
    counted.
    """
    samples = outputs[0].shape.num_elements
    return _normal_cost(samples) + Cost(2) * samples


def bounded_normal_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """As the normal distribution, plus two comparisons, a product and a sum: one attempt for each sample.

    The number of further attempts depends on the bounds and is not counted.
    """
    samples = outputs[0].shape.num_elements
    return _normal_cost(samples) + Cost(4) * samples


def gamma_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """One attempt of Marsaglia and Tsang for each sample, with a pair of normal samples of its own; more than 9 in 10
    succeed.

    An alpha below 1 needs one more power.
    """
    return Cost(26, transcendentals=5) * outputs[0].shape.num_elements + Cost(4) * inputs[-1].shape.num_elements


def poisson_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """One attempt of transformed rejection for each sample; more than 2 in 3 succeed. Rates below 10 take 3 for each event."""
    of_rates = Cost(12, transcendentals=1) * inputs[-1].shape.num_elements
    return Cost(26, transcendentals=2) * outputs[0].shape.num_elements + of_rates


def binomial_flops(*inputs: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """One attempt of transformed rejection for each sample; more than 2 in 3 succeed. Means below 10 go another way."""
    pairs = broadcast_shapes(inputs[-2].shape, inputs[-1].shape).num_elements
    return Cost(49, transcendentals=3) * outputs[0].shape.num_elements + Cost(48, transcendentals=1) * pairs


def multinomial_flops(logits: TensorSpec, *rest: TensorSpec, outputs: Sequence[TensorSpec]) -> Cost:
    """Maximum, shift, exponential and cumulative sum of each row; for each sample a uniform number, a product and a search."""
    rows, classes = merge_shapes(logits.shape, Shape([None, None]))
    steps = classes.bit_length() if isinstance(classes, int) else UNKNOWN.num_elements
    of_rows = Cost(3 * classes - 2, transcendentals=classes) * rows
    return Cost(2 + steps) * outputs[0].shape.num_elements + of_rows
