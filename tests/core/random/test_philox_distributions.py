"""Random distributions, where TensorFlow has no answer to compare with."""

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.random import philox, philox_distributions
from tfg.core.support.errors import InvalidArgumentError


@pytest.mark.parametrize(("prob", "drawn"), [(0.0, 0), (1.0, np.inf)])
def test_endless_counts_of_what_is_certain(prob, drawn):
    assert _binomial(np.inf, prob).tolist() == [drawn] * 2


def test_endless_counts_are_refused():
    """TensorFlow draws without end."""
    with pytest.raises(InvalidArgumentError, match="counts must be finite"):
        _binomial(np.inf, 0.5)


def _binomial(count, prob):
    g = GraphBuilder()
    g.StatelessRandomBinomial(
        np.int32([2]), np.int64([1, 2]), np.float64(count), np.float64(prob), dtype="double", name="draw"
    )
    return Session(g.graph, timeout=200).run("draw:0")


@pytest.mark.slow
def test_few_normal_samples_have_the_bits_of_many():
    edges = [0, 1, 0x7FFFFF, 0x400000, 0x200000, 0x600000, 0x100000]
    words = np.concatenate([np.array(edges, np.uint32).repeat(len(edges)), np.tile(np.array(edges, np.uint32), len(edges))])
    words = words.reshape(2, -1).T.ravel()  # all pairs of edges
    words = np.concatenate([words, np.random.default_rng(0).integers(0, 1 << 32, 4000, dtype=np.uint32)])
    many = philox.normal_from_words(words, np.dtype(np.float32))
    for size in (2, 4, 8):
        usable = len(words) // size * size
        few = [philox.normal_from_words(part, np.dtype(np.float32)) for part in words[:usable].reshape(-1, size)]
        np.testing.assert_array_equal(np.concatenate(few).view(np.int32), many[:usable].view(np.int32))


_ALPHAS = np.tile([1e-30, 0.01, 0.3, 1, 1.5, 7, 1e9, np.inf], 8)
_DRAWS = {
    "gamma": lambda gen, n: philox_distributions.gamma(gen, _ALPHAS[:n]),
    "poisson": lambda gen, n: philox_distributions.poisson(gen, np.tile([0, 0.1, 1, 9.9], 16)[:n]),
    "binomial": lambda gen, n: philox_distributions.binomial(
        gen, np.full(n, 9.0), np.linspace(0, 1, 64)[:n], np.zeros(n, bool)
    ),
    "uniform": lambda gen, n: philox.uniform(gen, n, np.dtype(np.float32)),
    "normal": lambda gen, n: philox.normal(gen, n, np.dtype(np.float32)),
    "truncated_normal": lambda gen, n: philox.truncated_normal(gen, n, np.dtype(np.float32)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("distribution", _DRAWS)
@np.errstate(all="ignore")  # as in a session
def test_few_samples_are_the_first_of_many(distribution):
    draw = _DRAWS[distribution]
    for seed in range(30):
        gen = philox.Philox(seed, seed << 64)
        many = draw(gen, 64)
        for few in (1, 2, 3, 4, 5, 16):
            np.testing.assert_allclose(draw(gen, few), many[:few], rtol=1e-15 if many.dtype == float else 0)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 50, 3000])
def test_permutations_are_those_of_swaps_one_by_one(size):
    for seed in range(20):
        order = list(range(size))
        jumps = philox.Philox(seed, 1).words(size - 1) % np.arange(size, 1, -1, dtype=np.uint32)
        for i, jump in enumerate(jumps.tolist()):
            order[i], order[i + jump] = order[i + jump], order[i]
        assert philox_distributions.permutation(philox.Philox(seed, 1), size).tolist() == order
