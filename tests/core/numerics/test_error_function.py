"""The error function beside SciPy's in double precision."""

import numpy as np
import pytest
from scipy import special

from tfg.core.numerics.error_function import erf

SIZE = 1 << 12


def arguments():
    """Return arguments over the whole range, and of every size down to the smallest."""
    rng = np.random.default_rng(0)
    even = np.linspace(-12, 12, 400_001)
    small = rng.uniform(-1, 1, 100_000) * 10 ** rng.uniform(-45, 0, 100_000)
    return np.concatenate([even, small]).astype(np.float32)


def test_values_are_within_some_units():
    x = arguments()
    want = special.erf(x.astype(np.float64))
    unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(erf(x) - want) / unit) < 4


def test_ends_and_signs():
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 20, -20, 0, -0.0, np.finfo(np.float32).max], np.float32), SIZE)
    want = special.erf(x)
    np.testing.assert_array_equal(erf(x), want)
    np.testing.assert_array_equal(np.signbit(erf(x)), np.signbit(want))


@pytest.mark.parametrize("shape", [(SIZE,), (3, SIZE), (SIZE // 4, 4), (5 * SIZE - 7,)])
def test_where_it_is_written(shape):
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    result = erf(x)
    assert result.shape == shape and np.allclose(result, special.erf(x), atol=1e-6)
    np.testing.assert_array_equal(erf(np.asfortranarray(x)), result)
    holes = np.zeros((*shape, 2), np.float32)
    for out in (np.empty(shape, np.float32), holes[..., 0], x):
        assert erf(x, out=out) is out
        np.testing.assert_array_equal(out, result)
    assert not holes[..., 1].any()


@pytest.mark.parametrize("x", [np.float32(0.5), np.ones(7, np.float32), np.ones(SIZE), np.empty((0, 3), np.float32)])
def test_the_rest_is_scipys(x):
    np.testing.assert_array_equal(erf(x), special.erf(x))


def test_parts_of_many_round_as_these():
    x = arguments()[: 2 * SIZE]
    result = np.concatenate([erf(part, is_part=True) for part in np.split(x, [1, 17, SIZE])])
    np.testing.assert_array_equal(result, erf(x))
