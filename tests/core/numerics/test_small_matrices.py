"""LU of many small matrices, all together, beside SciPy's of each."""

import numpy as np
import pytest
import scipy.linalg

from tfg.core.numerics import linalg


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(40, 1, 1), (40, 2, 2), (5, 20, 4, 4), (32, 8, 8), (40, 9, 9)])
def test_factors(shape, dtype):
    a = np.random.default_rng(0).normal(size=shape).astype(dtype)
    packed, order = linalg.lu(a)
    assert packed.dtype == dtype and order.shape == shape[:-1]
    lower = np.tril(packed, -1) + np.eye(shape[-1], dtype=dtype)
    np.testing.assert_allclose(lower @ np.triu(packed), np.take_along_axis(a, order[..., None], -2), atol=1e-5)
    for i in np.ndindex(shape[:-2]):
        want = scipy.linalg.lu(a[i], p_indices=True)[0]
        assert order[i].tolist() == np.argsort(want).tolist()


def test_rows_that_tie_keep_their_order():
    packed, order = linalg.lu(np.tile(np.array([[1.0, 2], [-1, 3]]), (40, 1, 1)))
    assert order.tolist() == [[0, 1]] * 40
    assert packed[7].tolist() == [[1, 2], [-1, 5]]


def test_a_singular_matrix_has_a_zero_on_its_diagonal():
    a = np.tile(np.eye(3), (40, 1, 1))
    a[5] = np.ones((3, 3))
    packed, _ = linalg.lu(a)
    is_regular = np.abs(np.diagonal(packed, axis1=1, axis2=2)) > 0
    assert np.flatnonzero(~is_regular.all(1)).tolist() == [5]
