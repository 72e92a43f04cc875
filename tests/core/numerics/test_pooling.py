"""Pooling and the gradient of maximum pooling beside their definitions, window by window."""

import itertools

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, pooling

CASES = [
    # sizes, window, strides, padding before and after
    ((6, 8), (2, 2), (2, 2), ((0, 0), (0, 0))),
    ((7, 9), (3, 3), (2, 2), ((1, 1), (1, 1))),
    ((5, 5), (3, 2), (1, 1), ((1, 1), (0, 1))),
    ((9, 4), (2, 3), (3, 1), ((0, 1), (2, 0))),
    ((7, 6), (2, 3), (2, 3), ((0, 1), (0, 0))),
    ((7, 7), (2, 2), (2, 2), ((0, 0), (0, 0))),
    ((4, 6, 2), (2, 3, 2), (2, 3, 2), ((0, 0), (0, 0), (0, 0))),
]


def first_largest(values):
    """TensorFlow's kernel starts with the first number and takes a later, larger number."""
    best = 0
    for i, value in enumerate(values):
        if value > values[best]:
            best = i
    return best


def by_definition(x, grad, windows, strides, pads):
    result = np.zeros(x.shape)
    for place in np.ndindex(*grad.shape):
        image, *position, channel = place
        starts = [p * s - before for p, s, (before, _) in zip(position, strides, pads)]
        inside = [range(max(a, 0), min(a + k, n)) for a, k, n in zip(starts, windows, x.shape[1:-1])]
        points = list(itertools.product(*inside))
        best = points[first_largest([x[(image, *point, channel)] for point in points])]
        result[(image, *best, channel)] += grad[place]
    return result


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("special", [None, np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("workers", [1, 3])
def test_gradients_of_maximum_pooling(case, special, workers, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    monkeypatch.setattr(pooling, "IN_CACHE", 20)
    sizes, windows, strides, pads = case
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (5, *sizes, 2)).astype(np.float32)  # many are equal
    if special is not None:
        x[rng.random(x.shape) < 0.3] = special
    outputs = [(n + sum(p) - k) // s + 1 for n, k, s, p in zip(sizes, windows, strides, pads)]
    grad = rng.standard_normal((5, *outputs, 2)).astype(np.float32)
    result = pooling.max_pool_grad(x, grad, windows, strides, pads)
    np.testing.assert_allclose(result, by_definition(x, grad, windows, strides, pads), atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("block", [20, 1 << 18])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_pooling(case, block, dtype, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    monkeypatch.setattr(pooling, "BLOCK_ELEMENTS", block)
    sizes, windows, strides, pads = case
    x = np.random.default_rng(0).integers(-9, 9, (5, *sizes, 2)).astype(dtype)
    outputs = [(n + sum(p) - k) // s + 1 for n, k, s, p in zip(sizes, windows, strides, pads)]
    largest, mean = np.empty((5, *outputs, 2)), np.empty((5, *outputs, 2))
    for place in np.ndindex(*outputs):
        starts = [p * s - before for p, s, (before, _) in zip(place, strides, pads)]
        inside = tuple(slice(max(a, 0), a + k) for a, k in zip(starts, windows))
        largest[(slice(None), *place)] = x[(slice(None), *inside)].max(tuple(range(1, x.ndim - 1)))
        mean[(slice(None), *place)] = x[(slice(None), *inside)].mean(tuple(range(1, x.ndim - 1)))
    np.testing.assert_array_equal(pooling.max_pool(x, windows, strides, pads), largest)
    if dtype == np.float32:
        np.testing.assert_allclose(pooling.average_pool(x, windows, strides, pads), mean, atol=1e-5)


def test_windows_without_a_number_have_the_lowest():
    x = np.full((1, 2, 4, 1), np.nan, np.float32)
    x[0, 0, 0], x[0, :, 2:] = 3, -np.inf
    result = pooling.max_pool(x, (2, 1), (1, 1), [(0, 0), (0, 0)])
    lowest = np.finfo(np.float32).min
    assert result.ravel().tolist() == [3, lowest, lowest, lowest]


def test_an_infinite_gradient_goes_to_one_element():
    x, grad = np.arange(16.0).reshape(1, 4, 4, 1), np.full((1, 2, 2, 1), np.inf)
    result = pooling.max_pool_grad(x, grad, (2, 2), (2, 2), [(0, 0), (0, 0)])
    assert result[0, 1::2, 1::2, 0].tolist() == [[np.inf] * 2] * 2 and np.isfinite(result).sum() == 12


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("special", [None, np.nan, np.inf])
@pytest.mark.parametrize("block", [20, 1 << 18])
def test_gradients_go_to_all_that_equal_the_maximum(case, special, block, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    monkeypatch.setattr(pooling, "BLOCK_ELEMENTS", block)
    sizes, windows, strides, pads = case
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (5, *sizes, 2)).astype(np.float32)
    y = pooling.max_pool(x, windows, strides, pads)
    grad = rng.standard_normal(y.shape).astype(np.float32)
    if special is not None:
        grad[rng.random(grad.shape) < 0.1] = special
    expected = np.zeros(x.shape, np.float32)
    for image, *position, channel in np.ndindex(*y.shape):
        starts = [p * s - before for p, s, (before, _) in zip(position, strides, pads)]
        inside = tuple(slice(max(a, 0), a + k) for a, k in zip(starts, windows))
        place = image, *position, channel
        expected[image, *inside, channel] += np.where(x[image, *inside, channel] == y[place], grad[place], 0)
    result = pooling.max_pool_grad_equal(x, y, grad, windows, strides, pads)
    np.testing.assert_allclose(result, expected, atol=1e-5)
