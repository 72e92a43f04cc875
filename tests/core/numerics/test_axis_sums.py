"""Sums beside NumPy's in double precision."""

import itertools

import numpy as np
import pytest

from tfg.core.numerics.channel_sums import column_sums, row_maxima, summed

SHAPES = [(40, 30), (5, 7, 50), (3, 8, 9, 10), (1, 1300), (1300, 1), (1, 40, 1, 60), (4, 3), (2, 0, 3), (4099, 3)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
def test_summed(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    for count in range(1, x.ndim + 1):
        for axes, keepdims in itertools.product(itertools.combinations(range(x.ndim), count), (False, True)):
            result, want = (
                summed(x, axes, keepdims),
                x.sum(axes, np.complex128 if x.dtype.kind == "c" else np.float64, keepdims=keepdims),
            )
            assert result.dtype == dtype and result.shape == want.shape
            np.testing.assert_allclose(
                result, want, atol=0.1 if dtype is np.float16 else 1e-4, rtol=1e-2 if dtype is np.float16 else 1e-5
            )
            np.testing.assert_allclose(summed(x.T, axes), x.T.sum(axes, x.dtype), atol=1e-4)


def test_column_sums_of_more_than_a_cache_holds():
    x = np.random.default_rng(0).random((30011, 12), np.float32)
    np.testing.assert_allclose(column_sums(x), x.sum(0, np.float64), rtol=1e-5)


@pytest.mark.parametrize("shape", [(50, 7), (50, 1), (3, 4, 32), (3, 40), (5,)], ids=str)
def test_row_maxima(shape):
    x = np.random.default_rng(0).standard_normal(shape)
    x.flat[3] = np.nan
    np.testing.assert_array_equal(row_maxima(x), x.max(-1, keepdims=True))
