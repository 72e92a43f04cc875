"""Softmax of rows beside the definition in double precision."""

import numpy as np
import pytest

from tfg.core.numerics import softmax
from tfg.core.parallel import blas_threads, gemm


@pytest.fixture(params=[1, 3])
def workers(request, monkeypatch):
    """Use this number of threads, also for little work."""
    monkeypatch.setattr(blas_threads.one_thread, "available", request.param)
    monkeypatch.setattr(gemm, "WORTH_DIVIDING", 1)
    monkeypatch.setattr(softmax, "BLOCK", 64)


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("shape", [(5,), (7, 10), (3, 4, 40), (1, 2000), (1000, 1), (2, 0), (0, 3)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows(shape, dtype):
    x = (3 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    exact = np.exp(x.astype(np.longdouble) - x.max(-1, keepdims=True, initial=-np.inf))
    exact /= exact.sum(-1, keepdims=True)
    result = softmax.softmax(x)
    assert result.shape == shape and result.dtype == dtype
    np.testing.assert_allclose(result, exact.astype(np.float64), rtol=20 * np.finfo(dtype).eps, atol=1e-37)
    transposed = np.ascontiguousarray(x.T).T
    np.testing.assert_allclose(softmax.softmax(transposed), result, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.usefixtures("workers")
def test_rows_that_are_not_finite_leave_others_alone():
    x = np.zeros((40, 4), np.float32)
    x[3, 1], x[20, 2] = np.nan, -np.inf
    result = softmax.softmax(x)
    assert np.isnan(result[3]).all() and result[20].tolist() == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    assert (np.delete(result, [3, 20], 0) == 0.25).all()
