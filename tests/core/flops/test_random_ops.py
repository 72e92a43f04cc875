"""FLOPs formulas of random ops against naive definitions of one attempt for each sample, and how many attempts there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_random as definitions
from tests.core.flops.counting import Tally, counted, normal
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds
from tfg.core.random.index_draws import shuffle_indices

HELD: Cases = {}
SEED, KEY, COUNTER, ALGORITHM = np.int32([1, 2]), np.uint64([1]), np.uint64([1, 2]), np.int32(1)


def generator(g):
    return g.VarHandleOp(dtype="int64", shape=[3])


FILLS = {
    "uniform": ("RandomUniform", "StatefulUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"),
    "integers": ("RandomUniformInt", "StatefulUniformInt", "StatelessRandomUniformInt", "StatelessRandomUniformIntV2"),
    "normal": ("RandomStandardNormal", "StatefulStandardNormalV2", "StatelessRandomNormal", "StatelessRandomNormalV2"),
    "truncated": ("TruncatedNormal", "StatefulTruncatedNormal", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
}
"""Of each distribution the ops whose seeds are attributes, a variable, a tensor, and a key and a counter."""


def draw_uniform(tally, size):
    definitions.uniform(tally, size)


def draw_integers(tally, size):
    _ = np.remainder(counted(np.arange(size), tally), 5) + 2


def draw_normal(tally, size):
    definitions.normal(tally, size)


def draw_truncated(tally, size):
    definitions.truncated(definitions.normal(tally, size))


SOURCES = (
    lambda shape: [shape],
    lambda shape: [generator, np.int64(1), shape],
    lambda shape: [shape, SEED],
    lambda shape: [shape, KEY, COUNTER, ALGORITHM],
)


def fills(kind, definition, *bounds):
    """The four ops of a distribution that fill a shape."""
    for op, source in zip(FILLS[kind], SOURCES):
        fill(op, definition, source, bounds)


def fill(op, definition, source, bounds=()):
    @holds(HELD, op)
    def case(draw, tally):
        shape = [draw(SMALL) for _ in range(draw(st.integers(0, 3)))]
        definition(tally, int(np.prod(shape, dtype=int)))
        return Node([*source(np.int32(shape)), *bounds], {} if bounds else {"dtype": "float"})


fills("uniform", draw_uniform)
fills("integers", draw_integers, np.int32(2), np.int32(7))
fills("normal", draw_normal)
fills("truncated", draw_truncated)
fill("StatefulStandardNormal", draw_normal, lambda shape: [generator, shape])


@holds(HELD, "ParameterizedTruncatedNormal")
def parameterized_truncated_normal(draw, tally):
    shape = [draw(SMALL), draw(SMALL)]
    definitions.bounded(tally, shape[0] * shape[1], -1.0, 1.0)
    return Node([np.int32(shape), *[(shape[0],)] * 4])


@holds(HELD, "StatelessParameterizedTruncatedNormal")
def stateless_parameterized_truncated_normal(draw, tally):
    shape = [draw(SMALL), draw(SMALL)]
    definitions.bounded(tally, shape[0] * shape[1], -1.0, 1.0)
    return Node([np.int32(shape), SEED, *[(shape[1],)] * 4])


def of_parameters(op, definition, source, parameters, is_whole=True, **attrs):
    """Samples for vectors of parameters, all as given; `is_whole`: the shape tensor holds the vectors' size too."""

    @holds(HELD, op)
    def case(draw, tally):
        samples, size = draw(SMALL), draw(SMALL)
        definition(*[counted(np.full(size, value), tally) for value in parameters], samples)
        shape = np.int32([samples, size] if is_whole else [samples])
        return Node([*source(shape), *[(size,)] * len(parameters)], attrs)


_attributes, _variable, _seed, _key = SOURCES
of_parameters("RandomGamma", definitions.gamma, _attributes, [2.5], is_whole=False)
of_parameters("StatelessRandomGammaV2", definitions.gamma, _seed, [2.5])
of_parameters("StatelessRandomGammaV3", definitions.gamma, _key, [2.5])
of_parameters("RandomPoisson", definitions.poisson, _attributes, [20.0], is_whole=False)
of_parameters("RandomPoissonV2", definitions.poisson, _attributes, [20.0], is_whole=False)
of_parameters("StatelessRandomPoisson", definitions.poisson, _seed, [20.0], dtype="float")
of_parameters("StatelessRandomBinomial", definitions.binomial, _seed, [50.0, 0.4], dtype="float")
of_parameters("StatefulRandomBinomial", definitions.binomial, _variable, [50.0, 0.4], dtype="float")


@pytest.mark.parametrize("attempt", [
    lambda tally: definitions.truncated(definitions.normal(tally, 2000)),
    lambda tally: definitions.gamma(counted([1.0, 3.0, 30.0], tally), 700),
    lambda tally: definitions.poisson(counted([10.0, 30.0, 1000.0], tally), 700),
    lambda tally: definitions.binomial(counted([25.0, 100.0, 1e4], tally), counted([0.4, 0.9, 0.1], tally), 700),
])  # fmt: skip
def test_most_attempts_succeed(attempt):
    assert np.mean(attempt(Tally())) > 2 / 3


def choices(op, *seeds):
    @holds(HELD, op)
    def case(draw, tally):
        rows, classes, samples = draw(SMALL), draw(st.integers(1, 9)), draw(SMALL)
        definitions.multinomial(normal(tally, rows, classes), samples)
        return Node([(rows, classes), np.int32(samples), *seeds])


choices("Multinomial")
choices("StatelessMultinomial", SEED)


@holds(HELD, "SobolSample")
def sobol_sample(draw, tally):
    dimensions, points = draw(SMALL), draw(SMALL)
    definitions.sobol(dimensions, points, tally)
    return Node([np.int32(dimensions), np.int32(points), np.int32(0)])


@holds(HELD, "KmeansPlusPlusInitialization")
def kmeans_plus_plus_initialization(draw, tally):
    points, count, retries = normal(tally, draw(SMALL), draw(SMALL)), draw(SMALL), draw(st.integers(-1, 2))
    definitions.kmeans_plus_plus(points, count, 1 + (retries if retries >= 0 else 2 + math.floor(math.log(count))))
    return Node([points.shape, np.int64(count), np.int64(0), np.int64(retries)])


@holds(HELD, "RandomIndexShuffle")
def random_index_shuffle(draw, tally):
    """Of a range as large as the cipher's blocks, so that none goes through it twice."""
    size, rounds = draw(SMALL), draw(st.sampled_from([4, 6, 12]))
    index, seed = np.arange(size, dtype=np.int32), np.arange(3 * size, dtype=np.uint32).reshape(size, 3)
    result = definitions.shuffled(counted(index.astype(int), tally), counted(seed.astype(int), tally), rounds)
    limit = np.int32(65535)
    np.testing.assert_array_equal(np.asarray(result), shuffle_indices(index, np.full(size, limit), seed, rounds))
    return Node([index, seed, limit], {"rounds": rounds})


@holds(HELD, "StochasticCastToInt")
def stochastic_cast_to_int(draw, tally):
    x = normal(tally, draw(SMALL), draw(SMALL))
    definitions.stochastic_cast(x)
    return Node([x.shape, KEY, COUNTER, ALGORITHM], {"Tout": "int32"})


def candidates(op, draw_one, probability, **attrs):
    """draw_one(samples, tally) and probability(classes) as floats, both on counted arrays."""

    @holds(HELD, op)
    def case(draw, tally):
        batch, true, samples, is_unique = draw(SMALL), draw(SMALL), draw(SMALL), draw(st.booleans())
        draw_one(samples, tally)
        for size in (batch * true, samples):
            definitions.expected_counts(probability(counted(np.full(size, 0.25), tally)), 9.0, is_unique)
        settings = {"num_true": true, "num_sampled": samples, "unique": is_unique, "range_max": 9, **attrs}
        return Node([np.zeros((batch, true), np.int64)], settings)


def draw_log_uniform(samples, tally):
    _ = np.exp(definitions.uniform(tally, samples) * 2.0) - 1.0


def draw_from_aliases(samples, tally):
    _ = definitions.uniform(tally, samples) < 0.5


def draw_integer(samples, tally):
    """Integers are drawn without arithmetic on elements."""


candidates("UniformCandidateSampler", draw_integer, lambda x: x)
candidates("LogUniformCandidateSampler", draw_log_uniform, lambda x: np.log((x + 2.0) / (x + 1.0)) / 2.0)
candidates("LearnedUnigramCandidateSampler", draw_integer, lambda x: x / 2.0)
candidates("ThreadUnsafeUnigramCandidateSampler", draw_integer, lambda x: x / 2.0)
candidates("FixedUnigramCandidateSampler", draw_from_aliases, lambda x: x / 2.0, unigrams=[1.0] * 9)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
