"""Bounded normal samples: a joint draw equals separate draws."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.random import philox_distributions
from tfg.core.random.philox import Philox, normal_from_words
from tfg.core.random.philox_distributions import PrefetchedBlocks, bounded_normal_calls
from tfg.core.support.errors import InvalidArgumentError

F = np.float32
BOUNDS = ((-2, 2), (0.5, 0.7), (3, 9))  # by normal, uniform and exponential proposals
COUNTS = ([1] * 50, [7, 1, 1, 30, 2], [400])


def one_by_one(counts, low, high):
    """Calls that each have blocks of a generator made for them alone."""
    gen = Philox(5, 0)
    calls = [bounded_normal_calls(PrefetchedBlocks(gen), np.array([count]), F(0), F(1), F(low), F(high)) for count in counts]
    return np.concatenate(calls).tolist()


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("most_groups", [9, 1 << 15])
def test_calls_drawn_together(bounds, counts, most_groups, monkeypatch):
    expected = one_by_one(counts, *bounds)
    monkeypatch.setattr(philox_distributions, "MOST_GROUPS", most_groups)
    drawn = bounded_normal_calls(PrefetchedBlocks(Philox(5, 0)), np.array(counts), F(0), F(1), *map(F, bounds))
    assert drawn.tolist() == expected
    assert min(expected) >= bounds[0] and max(expected) <= bounds[1]


def test_a_call_begins_with_a_block_of_its_own():
    gen, counts, expected = Philox(7, 0), [3, 1, 6], []
    for count in counts:
        results = []
        while len(results) < count:
            results += [v for v in normal_from_words(gen.words(4), np.dtype(F)).tolist() if -1.5 <= v <= 2]
            gen.skip(1)
        expected += results[:count]
    drawn = bounded_normal_calls(PrefetchedBlocks(Philox(7, 0)), np.array(counts), F(0), F(1), F(-1.5), F(2))
    assert drawn.tolist() == expected


@pytest.mark.parametrize("most_groups", [9, 1 << 15])
def test_a_thousand_refusals_in_a_row_are_an_error(most_groups, monkeypatch):
    monkeypatch.setattr(philox_distributions, "MOST_GROUPS", most_groups)
    monkeypatch.setattr(philox_distributions, "_normal_proposals", lambda *_: lambda words: (words.ravel(), words.ravel() < 0))
    with pytest.raises(InvalidArgumentError, match="failed to accept"):
        bounded_normal_calls(PrefetchedBlocks(Philox(7, 0)), np.array([1, 2]), F(0), F(1), F(-2), F(2))
