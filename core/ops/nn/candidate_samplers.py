"""Candidate samplers: classes to contrast with the true classes, and the expected count of each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...random import index_draws
from ...random.index_draws import FixedUnigramSampler, UniformSampler, Words
from ...registry.registry import NOT_DIFFERENTIABLE, ZERO, Cost, facts, flops, kernel, not_differentiable, shaped
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..random._random import new_stream
from ..shared.kernel_files import read_file

# TensorFlow reserves this many words of the stream for each sample, used or not: the next run continues after them.
_WORDS_PER_SAMPLE = 2048
_INT32_MAX = 2**31 - 1
_FLOAT_MAX = float(np.finfo(np.float32).max)


def _check_true_classes(true_classes: Any, num_true: int, size: int) -> None:
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_classes must be a matrix of {num_true} columns, not of shape {Shape(true_classes.shape)}"
        )
    bad = true_classes[(true_classes < 0) | (true_classes >= size)]
    if len(bad):
        raise InvalidArgumentError(f"`true_candidate` out of range [0, {size}), received {bad[0]}")


class _SamplerState(Shared):
    """The state of a sampler node between runs: the sampler, which may learn, and its stream."""

    def __init__(self, sampler: UniformSampler, stream: Any) -> None:
        self.sampler = sampler
        self.stream = stream


class SamplerAttributes(NamedTuple):
    """The attributes that all samplers have."""

    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int
    seed2: int


def _sample(
    ctx: KernelContext, true_classes: Array, create: Callable[..., Any], draw: SamplerAttributes
) -> tuple[Array, Array, Array]:
    """Return (sampled classes, expected counts of the true classes, expected counts of the sampled classes)."""
    num_sampled, unique = draw.num_sampled, draw.unique
    state = ctx.state(lambda: _SamplerState(create(), new_stream(ctx, draw.seed, draw.seed2)))
    sampler = state.sampler
    if unique and num_sampled > sampler.possible:
        raise InvalidArgumentError(f"Sampler's range is too small: {num_sampled} of {sampler.possible} classes")
    _check_true_classes(true_classes, draw.num_true, sampler.size)
    flat = true_classes.reshape(-1)
    # Two runs of one session may sample at once, and each reads and writes the stream and a sampler that learns.
    with state:
        # A step of the stream gives four words.
        words = Words(state.stream.take((_WORDS_PER_SAMPLE * num_sampled + 3) // 4))
        sampled, tries = index_draws.sample_batch(sampler, words, num_sampled, unique)
        expected = [
            index_draws.expected_counts(sampler.probabilities(values), num_sampled, tries) for values in (flat, sampled)
        ]
        # After the draw: the true classes of this batch change the probabilities from the next batch on.
        sampler.update(flat)
    return sampled, expected[0].reshape(true_classes.shape), expected[1]


def _sampler_flops(draw: Cost, probability: Cost) -> Callable[..., Any]:
    """Return a FLOPs function from the cost of a draw and the cost of a class's probability."""

    def candidate_sampler_flops(true_classes: TensorSpec, *, num_sampled: int, unique: bool) -> Cost:
        """Each class: its probability and its expected count, a product, or for `unique` -expm1(n log1p(-p)). One draw for
        each sample; repeated draws, searches and integers are not counted.
        """
        expected = probability + (Cost(3, transcendentals=2) if unique else Cost(1))
        return draw * num_sampled + expected * (true_classes.shape.num_elements + num_sampled)

    return candidate_sampler_flops


def _register(op: str, kind: Callable[..., UniformSampler], draw_cost: Cost, probability: Cost, classes: str) -> None:
    """Register a sampler that needs only the number of classes."""

    def sample(ctx: KernelContext, true_classes: Array, *, draw: SamplerAttributes) -> tuple[Result, Result, Result]:
        if "Unigram" in op and draw.range_max >= _INT32_MAX:
            message = f"range_max must be less than {_INT32_MAX} for unigram samplers, got {draw.range_max}"
            raise InvalidArgumentError(message)
        return _sample(ctx, true_classes, functools.partial(kind, draw.range_max), draw)

    sample.__doc__ = classes
    kernel(op)(sample)
    flops(op)(_sampler_flops(draw_cost, probability))
    not_differentiable(op)


_register("UniformCandidateSampler", UniformSampler, ZERO, ZERO, "All classes are equally likely.")
_register(
    "LogUniformCandidateSampler", index_draws.LogUniformSampler, Cost(3, transcendentals=1), Cost(4, transcendentals=1),
    "Classes are sorted by falling frequency.",
)  # fmt: skip
for _op in ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
    _register(_op, index_draws.LearnedUnigramSampler, ZERO, Cost(1), "Classes are as likely as among the true classes so far.")


_SAMPLERS = (
    "UniformCandidateSampler",
    "LogUniformCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
    "FixedUnigramCandidateSampler",
)


shaped("rows _ -> {num_sampled}, rows {num_true}, {num_sampled}", *_SAMPLERS, "AllCandidateSampler")
facts("random", of=_SAMPLERS)


class Weights(NamedTuple):
    """The weights of classes, and the classes in a shard."""

    vocab_file: str
    distortion: float
    num_reserved_ids: int
    num_shards: int
    shard: int
    unigrams: tuple[float, ...]


@kernel(
    "FixedUnigramCandidateSampler", gradient=NOT_DIFFERENTIABLE, flops=_sampler_flops(Cost(2), Cost(1)), facts=("reads_files",)
)
def fixed_unigram_candidate_sampler(
    ctx: KernelContext, true_classes: Array, *, draw: SamplerAttributes, weights: Weights
) -> tuple[Result, Result, Result]:
    """Classes are as likely as given: by a list, or by the last field of each line of a file."""
    return _sample(ctx, true_classes, lambda: _fixed_sampler(ctx, draw.range_max, weights), draw)


def _fixed_sampler(ctx: KernelContext, range_max: int, weights: Weights) -> FixedUnigramSampler:
    vocab_file, distortion, num_reserved_ids, num_shards, shard, unigrams = weights
    if bool(vocab_file) == bool(unigrams):
        raise InvalidArgumentError("Must provide either vocab_file or unigrams, and only one of them.")
    all_weights = _file_weights(ctx, vocab_file) if vocab_file else unigrams
    # Reserved classes come before those of the list and have weight 0, so they are never drawn. A shard keeps every
    # num_shards-th class of all, reserved or not.
    reserved = len(range(shard, num_reserved_ids, num_shards)) if shard < num_shards else 0
    own = [w for i, w in enumerate(all_weights, reserved) if i % num_shards == shard]
    if reserved + len(own) != range_max:
        raise InvalidArgumentError(f"range is {range_max} must be equal to weights size {reserved + len(own)}")
    powers = np.power(np.array(own, np.float32), np.float32(distortion))
    # One after another in float32, as TensorFlow adds; NumPy's sum would add in pairs and round differently.
    total: Any = np.cumsum(powers, dtype=np.float32)[-1] if len(powers) else np.float32(0)
    # A list of Python floats and the tables of the sampler, before the memory is taken.
    reserve(32 * range_max)
    return index_draws.FixedUnigramSampler([0.0] * reserved + powers.tolist(), total)


def _file_weights(ctx: KernelContext, path: str) -> Any:
    lines = read_file(ctx, path).decode("utf-8", "surrogateescape").splitlines()
    fields = [line.rsplit(",", 1)[-1] for line in lines]
    try:
        return [float(field) for field in fields]
    except ValueError as error:
        raise InvalidArgumentError(f"Wrong vocabulary format in '{path}': {error}") from None


@kernel("AllCandidateSampler", arithmetic=False)
def all_candidate_sampler(true_classes: Array, *, num_true: int, num_sampled: int) -> tuple[Result, Result, Result]:
    """Every class, each expected once."""
    _check_true_classes(true_classes, num_true, num_sampled)
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled, dtype=np.int64), np.ones(true_classes.shape, np.float32), ones


@kernel("ComputeAccidentalHits", shape="_ {num_true}, _ -> hits, hits, hits", arithmetic=False)
def compute_accidental_hits(true_classes: Array, sampled_candidates: Array, *, num_true: int) -> tuple[Result, Result, Result]:
    """Return (rows, positions, weights) where a sampled class is a true class of the row; the weight hides the class from a
    softmax.
    """
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_candidates must be a batch_size * num_true matrix, not of shape {Shape(true_classes.shape)}"
        )
    if sampled_candidates.ndim != 1:
        raise InvalidArgumentError(f"sampled_candidates must be a vector, not of shape {Shape(sampled_candidates.shape)}")
    # A class sampled several times counts at its last position, as in TensorFlow's hash map.
    places = {value: i for i, value in enumerate(sampled_candidates.tolist())}
    hits = [(row, places[v]) for row, values in enumerate(true_classes.tolist()) for v in values if v in places]
    rows = np.array([row for row, _ in hits], np.int32)
    # The lowest finite number instead of -inf: added to a logit it makes the probability 0 and no NaN.
    return rows, np.array([place for _, place in hits], np.int64), np.full(len(hits), -_FLOAT_MAX, np.float32)
