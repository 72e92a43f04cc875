"""Comparison of an engine's results with NumPy's, and with NumPy's for neighbouring inputs."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.engines.engine_runtime import ROUNDINGS, is_rounding, neighbours


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_neighbours_are_the_next_floats_on_either_side(dtype):
    values = np.random.default_rng(1).standard_normal(200).astype(dtype)
    moved = neighbours(values)
    is_above, is_below = (moved == np.nextafter(values, np.array(end, dtype)) for end in (np.inf, -np.inf))
    assert moved.dtype == dtype
    assert (is_above ^ is_below).all()
    assert 50 < is_above.sum() < 150


@pytest.mark.parametrize("values", [np.float32([0, -0.0, np.nan]), np.int32([1, 2]), np.array([True]), np.complex64([1j])])
def test_zeros_and_other_dtypes_stay(values):
    np.testing.assert_array_equal(neighbours(values), values)


def test_a_difference_is_rounding_up_to_a_multiple_of_numpys_own():
    expected, moved = np.float32([1, 2]), np.float32([1, 2.001])
    own = 1e-3
    assert is_rounding(np.float32([1, 2 + 0.9 * ROUNDINGS * own]), expected, moved)
    assert not is_rounding(np.float32([1, 2 + 1.1 * ROUNDINGS * own]), expected, moved)
    assert not is_rounding(np.float32([1, 2.001]), expected, expected)


def test_no_rounding_explains_nan_and_other_integers():
    expected = np.float32([1, 2])
    assert not is_rounding(np.float32([1, np.nan]), expected, np.float32([1, 3]))
    assert not is_rounding(np.float32([1, 2.1]), expected, np.float32([1, np.nan]))
    assert not is_rounding(np.int32([1]), np.int32([2]), np.int32([3]))
