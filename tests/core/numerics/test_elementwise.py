"""The error function and the complement beside SciPy's in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from tfg.core.numerics import elementwise

SIZE = elementwise.FEW_OF_COMPLEMENT
FUNCTIONS = pytest.mark.parametrize(
    ("function", "exact"), [(elementwise.erf, special.erf), (elementwise.erfc, special.erfc)], ids=["erf", "erfc"]
)


def arguments():
    """Return arguments over the whole range, beside the points of the table, and of every size down to the smallest."""
    rng = np.random.default_rng(0)
    even = np.linspace(-12, 12, 400_001)
    beside = rng.integers(-6000, 6000, 100_000) / 1024 + rng.uniform(-1e-6, 1e-6, 100_000)
    small = rng.uniform(-1, 1, 100_000) * 10 ** rng.uniform(-45, 0, 100_000)
    return np.concatenate([even, beside, small]).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "exact", "units"),
    [(elementwise.erf, special.erf, 4), (elementwise.erfc, special.erfc, 2.5)],
    ids=["erf", "erfc"],
)
def test_values_are_within_some_units(function, exact, units):
    x = arguments()
    want = exact(x.astype(np.float64))
    unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    assert np.max(np.abs(function(x) - want) / unit) < units


@FUNCTIONS
def test_ends_and_signs(function, exact):
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 20, -20, 0, -0.0, np.finfo(np.float32).max], np.float32), SIZE)
    want = exact(x)
    np.testing.assert_array_equal(function(x), want)
    np.testing.assert_array_equal(np.signbit(function(x)), np.signbit(want))


@FUNCTIONS
@pytest.mark.parametrize("shape", [(SIZE,), (3, SIZE), (SIZE // 4, 4), (5 * SIZE - 7,)])
def test_where_it_is_written(function, exact, shape):
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    result = function(x)
    assert result.shape == shape and np.allclose(result, exact(x), atol=1e-6)
    np.testing.assert_array_equal(function(np.asfortranarray(x)), result)
    holes = np.zeros((*shape, 2), np.float32)
    for out in (np.empty(shape, np.float32), holes[..., 0], x):
        assert function(x, out=out) is out
        np.testing.assert_array_equal(out, result)
    assert not holes[..., 1].any()


@FUNCTIONS
@pytest.mark.parametrize("x", [np.float32(0.5), np.ones(7, np.float32), np.ones(SIZE), np.empty((0, 3), np.float32)])
def test_the_rest_is_scipys(function, exact, x):
    np.testing.assert_array_equal(function(x), exact(x))


@FUNCTIONS
def test_parts_of_many_round_as_these(function, exact):
    x = arguments()[: 2 * SIZE]
    result = np.concatenate([function(part, is_part=True) for part in np.split(x, [1, 17, SIZE])])
    np.testing.assert_array_equal(result, function(x))


MANY = 3 * (1 << 14) + 5
"""The elements of several blocks, the last of them short."""


@pytest.mark.parametrize("dtype", ["f", "d", "i4", "i8", "i2", "e"])
@pytest.mark.parametrize("shapes", [((MANY,), (MANY,)), ((MANY,), ()), ((), (MANY,)), ((), ()), ((1,), (MANY,))])
def test_choices_are_those_of_a_branch_for_each_element(shapes, dtype):
    rng = np.random.default_rng(0)
    first, second = (np.asarray(rng.normal(0, 100, shape)).astype(dtype) for shape in shapes)
    if first.shape == (MANY,) and first.dtype.kind == "f":
        first[:3] = np.inf, np.nan, -0.0
    for condition in (rng.random(MANY) > 0.5, np.zeros(MANY, bool), np.ones(MANY, bool)):
        result, want = elementwise.chosen(condition, first, second), np.where(condition, first, second)
        assert result.dtype == want.dtype and result.tobytes() == want.tobytes()


def test_choices_of_matrices_that_are_not_contiguous():
    first = np.random.default_rng(1).normal(size=(300, 200)).T
    condition = np.ascontiguousarray(first) > 0
    np.testing.assert_array_equal(elementwise.chosen(condition, first, -first), np.abs(first))


def test_an_exponential_less_one_below_zero():
    x = np.concatenate([-np.logspace(-30, 2.5, 20_000), [-0.0, 0.0, -np.inf, np.nan]]).astype(np.float32)
    result = np.empty_like(x)
    elementwise.expm1_below_zero(x, result)
    want = np.expm1(x.astype(np.float64))
    np.testing.assert_allclose(result, want, rtol=4 * np.finfo(np.float32).eps, atol=0)
    assert list(np.signbit(result[-4:-2])) == [True, False]
