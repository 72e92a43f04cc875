"""Matrix products in every way that sizes choose, beside products in double precision."""

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, gemm, work_division


@pytest.fixture(params=[1, 3])
def by_rows(request, monkeypatch):
    """Narrow products go by three rows at once; with several threads all are divided."""
    monkeypatch.setattr(blas_threads.one_thread, "available", request.param)
    monkeypatch.setattr(gemm, "UNCOPIED", 0)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0 if request.param > 1 else 1 << 30)
    monkeypatch.setattr(gemm, "rows_at_once", lambda inner, columns: 3 if columns <= 8 else 0)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("sizes", [(10, 7, 4), (3, 5, 8), (2, 5, 8), (600, 3, 2), (7, 6, 9), (4, 9, 20), (5, 1, 1), (1, 6, 3)])
def test_products(sizes, turned, dtype, by_rows):
    rows, inner, columns = sizes
    rng = np.random.default_rng(0)
    a, b = (10 * rng.standard_normal((rows, inner))).astype(dtype), (10 * rng.standard_normal((inner, columns))).astype(dtype)
    want = a.astype(np.float64) @ b
    a = np.ascontiguousarray(a.T).T if "a" in turned else a
    b = np.ascontiguousarray(b.T).T if "b" in turned else b
    result = gemm.matmul(a, b)
    assert result.dtype == dtype and result.shape == want.shape
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-3)
    out = np.full(want.shape, 7, dtype)
    gemm.matmul(a, b, out)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_row(number, by_rows):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((20, 6), np.float32), rng.standard_normal((6, 4), np.float32)
    a[11, 2] = number
    with np.errstate(invalid="ignore"):
        result = gemm.matmul(a, b)
    assert np.flatnonzero(~np.isfinite(result).all(1)).tolist() == [11]
    np.testing.assert_array_equal(result[11], number * b[2])


def test_what_is_added_to_begins_with_what_is_there():
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((10, 7, 4), (10, 7, 9), (2, 7, 4)):
        a, b = rng.standard_normal((rows, inner), np.float32), rng.standard_normal((inner, columns), np.float32)
        out = np.ones((rows, columns), np.float32)
        gemm.add_product(a, b, out, is_first=False)
        np.testing.assert_allclose(out, a.astype(np.float64) @ b + 1, atol=1e-5)


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("inner", [0, 1, 5, 6, 17])
def test_long_products_are_added_up_by_parts(inner, is_first, monkeypatch):
    monkeypatch.setattr(gemm, "columns_at_once", lambda rows, columns: 5)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((inner, 4), np.float32).T, rng.standard_normal((inner, 3), np.float32)
    out = np.ones((4, 3), np.float32)
    gemm.add_long_product(a, b, out, is_first)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b + (not is_first), atol=1e-5)
