"""Resampling beside the definition: for each output position a sum over the taps."""

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, resize, work_division

CASES = [
    # shape, outputs
    ((2, 9, 11, 3), (20, 33)),
    ((1, 40, 37, 1), (12, 70)),
    ((2, 16, 5, 20), (31, 64)),
    ((3, 7, 8, 17), (3, 1)),
    ((0, 4, 4, 3), (8, 8)),
    ((1, 5, 6, 0), (9, 9)),
]
METHODS = {
    "bilinear": lambda size, outputs: resize.bilinear(size, outputs, False, True),
    "bicubic": lambda size, outputs: resize.bicubic(size, outputs, True, False),
    "area": lambda size, outputs: resize.area(size, outputs, False),
    "lanczos5": lambda size, outputs: resize.scaled_and_translated(size, outputs, outputs / size, 1.5, "lanczos5", True),
}


def dense(taps):
    matrix = np.zeros((len(taps.indices), taps.size))
    for row, indices, weights in zip(matrix, taps.indices, taps.weights):
        for index, weight in zip(indices, weights):
            row[index] += weight
    return matrix


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_resampling_and_its_gradient(case, method):
    shape, outputs = case
    rows, columns = (METHODS[method](n, out) for n, out in zip(shape[1:3], outputs))
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape, np.float32)
    want = np.einsum("ph,qw,nhwc->npqc", dense(rows), dense(columns), x)
    result = resize.resample(x, rows, columns)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, want, rtol=0, atol=1e-6 * np.abs(want).max(initial=0))
    grad = rng.standard_normal(want.shape, np.float32)
    want = np.einsum("ph,qw,npqc->nhwc", dense(rows), dense(columns), grad)
    result = resize.resample_gradient(grad, rows, columns)
    np.testing.assert_allclose(result, want, rtol=0, atol=1e-6 * np.abs(want).max(initial=0))


@pytest.mark.parametrize("channels", [2, 20])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_meets_who_reads_it_only(channels, value):
    x = np.ones((1, 12, 12, channels), np.float32)
    x[0, 6, 5] = value
    taps = resize.bilinear(12, 24, False, True)
    reads = [(taps.indices == place).any(1) for place in (6, 5)]
    result = resize.resample(x, taps, taps)
    assert np.isfinite(result[0, ~np.outer(*reads)]).all()
    assert not np.isfinite(result[0, np.outer(*reads)]).any()


@pytest.mark.parametrize("outputs", [(24, 24), (5, 24)])
def test_numbers_near_the_largest_stay_numbers(outputs):
    largest = np.finfo(np.float32).max
    x = np.full((1, 12, 12, 20), largest, np.float32)
    rows, columns = (resize.bilinear(12, count, False, True) for count in outputs)
    np.testing.assert_allclose(resize.resample(x, rows, columns), largest, rtol=1e-6)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_threads_share_lines(case, workers, monkeypatch):
    shape, outputs = case
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    rows, columns = (resize.bilinear(n, out, False, True) for n, out in zip(shape[1:3], outputs))
    want = resize.resample(x, rows, columns)
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    np.testing.assert_allclose(resize.resample(x, rows, columns), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.float64, np.complex128])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_positions_that_are_taken(case, dtype):
    shape, outputs = case
    x = np.random.default_rng(0).integers(0, 100, (*shape[:3], 2 * shape[3])).astype(dtype)[..., ::2]
    rows, columns = (resize.nearest(n, out, False, True) for n, out in zip(shape[1:3], outputs))
    np.testing.assert_array_equal(resize.taken(x, rows, columns), x[:, rows][:, :, columns])
