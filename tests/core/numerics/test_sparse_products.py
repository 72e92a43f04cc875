"""Rows added at indices: SciPy's loops equal the written-out sum, and invalid indices are errors."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.numerics import group_reductions
from tfg.core.numerics.gemm import matmul
from tfg.core.numerics.group_reductions import reduce_groups, update_rows

RNG = np.random.default_rng(3)


def values(dtype, *shape):
    return RNG.integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "int8"])
@pytest.mark.parametrize("inner", [(), (3,), (2, 4)])
def test_added_rows(dtype, inner):
    places, rows = np.array([4, 0, 4, 2, 4], np.int32), values(dtype, 5, *inner)
    target = values(dtype, 6, *inner)
    expected = target.copy()
    for place, row in zip(places, rows):
        expected[place] += row
    update_rows(np.add, target, places, rows)
    np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("groups", [[0, 0, 2, 2, 2], [2, 0, 2, 1, 0]])
def test_sums_of_groups(groups):
    rows = values("float32", 5, 3)
    result, sums = reduce_groups(np.add, np.array(groups), rows)
    assert result.tolist() == sorted(set(groups))
    for group, total in zip(result, sums):
        np.testing.assert_array_equal(total, sum(row for place, row in zip(groups, rows) if place == group))


@pytest.mark.parametrize("place", [-1, 2])
def test_places_that_are_not_there(place):
    result, rows = np.zeros((2, 3), np.float32), np.ones((1, 3), np.float32)
    with pytest.raises(IndexError, match="out of range"):
        group_reductions.add_coordinates(result, np.array([place]), np.array([0]), np.ones(1, np.float32), rows)
    with pytest.raises(IndexError, match="out of range"):
        group_reductions.sums_between(np.array([0]), np.array([place]), np.ones((2, 3), np.float32))


@pytest.mark.parametrize("rows, columns, width", [([0, 1], [0], 3), ([0], [0, 1], 3), ([0], [0], 4), ([0], [0], 2)])
def test_lengths_that_do_not_fit(rows, columns, width):
    """The loops would read or write memory of others."""
    target, weights = np.zeros((2, 3), np.float32), np.ones(1, np.float32)
    with pytest.raises(ValueError, match="do not fit"):
        group_reductions.add_coordinates(target, np.array(rows), np.array(columns), weights, np.ones((2, width), np.float32))


@pytest.mark.parametrize("rows, width", [([0], 3), ([0, 1], 4)])
def test_rows_that_do_not_fit(rows, width):
    with pytest.raises(ValueError, match="do not fit"):
        group_reductions.add_rows(np.zeros((2, 3), np.float32), np.array(rows), np.ones((2, width), np.float32))


def test_nothing_to_add():
    result = np.ones((2, 0), np.float32)
    none = np.zeros(0, np.int64)
    group_reductions.add_coordinates(result, none, none, np.ones(0, np.float32), np.ones((0, 0), np.float32))
    assert result.shape == (2, 0)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 3, 4), (0, 3, 4), (2, 3, 0)])
def test_many_matrices_by_one(shape):
    a, b = values("float32", *shape), values("float32", shape[-1], 5)
    np.testing.assert_array_equal(matmul(a, b), np.einsum("...i,ij->...j", a, b))
