"""Edit distances of many pairs beside the definition by recursion."""

import functools

import numpy as np
import pytest

from tfg.core.numerics.sequences import edit_distances


def defined(a, b):
    @functools.cache
    def distance(i, j):
        if not i or not j:
            return i + j
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return distance(len(a), len(b))


def together(rows):
    return np.concatenate([np.zeros(0), *rows]), np.array([len(row) for row in rows], np.int64)


@pytest.mark.parametrize("longest", [0, 1, 3, 9, 40])
@pytest.mark.parametrize("count", [0, 1, 50])
def test_beside_the_definition(longest, count):
    rng = np.random.default_rng(longest)
    first, second = ([rng.integers(0, 3, rng.integers(0, longest + 1)) for _ in range(count)] for _ in range(2))
    result = edit_distances(*together(first), *together(second))
    assert result.tolist() == [defined(a.tolist(), b.tolist()) for a, b in zip(first, second)]


def test_one_long_sequence_among_short_ones():
    first = [np.arange(3), np.arange(500), np.arange(1)]
    second = [np.arange(1, 4), np.arange(7), np.arange(400)]
    assert edit_distances(*together(first), *together(second)).tolist() == [2, 493, 399]


def test_a_number_that_is_none_equals_nothing():
    rows = [np.array([np.nan, 1.0])]
    assert edit_distances(*together(rows), *together(rows)).tolist() == [1]
