"""Long random draws in pieces bounded by the time limit: the same numbers as in a single piece."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.numerics import interruption_points
from tfg.core.random.philox import Philox
from tfg.core.random.philox_distributions import gamma, poisson
from tfg.core.support.errors import DeadlineExceededError

LONG = {
    "RandomGamma": ([1 << 26], [1.5]), "RandomStandardNormal": ([1 << 26],), "TruncatedNormal": ([1 << 26],),
    "RandomUniform": ([1 << 27],), "StatelessRandomPoisson": ([1 << 26], [1, 2], 5.0),
    "SobolSample": (np.int32(3), np.int32(9), np.int32(2**31 - 1)),
}  # fmt: skip
DTYPES = {"RandomGamma": {}, "StatelessRandomPoisson": {"dtype": "float"}}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", LONG)
def test_long_draws_end_with_the_time_of_their_run(op):
    g = GraphBuilder()
    g.apply(op, *LONG[op], name="y", **DTYPES.get(op, {"dtype": "float"}))
    started = time.monotonic()
    with pytest.raises(DeadlineExceededError, match="y"):
        Session(g.graph, timeout=0.3).run("y:0")
    assert time.monotonic() - started < 100


@pytest.mark.parametrize("distribution", [gamma, poisson])
def test_pieces_give_the_numbers_of_the_whole(distribution, monkeypatch):
    parameters = np.linspace(0.2, 30, 1000)
    whole = distribution(Philox.from_seeds(3, 4), parameters)
    monkeypatch.setattr(interruption_points, "PIECE", 64)
    np.testing.assert_array_equal(distribution(Philox.from_seeds(3, 4), parameters), whole)
