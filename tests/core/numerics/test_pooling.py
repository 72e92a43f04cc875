"""The gradient of maximum pooling beside its definition, window by window."""

import itertools

import numpy as np
import pytest

from tfg.core.numerics import pooling, threads

CASES = [
    # sizes, window, strides, padding before and after
    ((6, 8), (2, 2), (2, 2), ((0, 0), (0, 0))),
    ((7, 9), (3, 3), (2, 2), ((1, 1), (1, 1))),
    ((5, 5), (3, 2), (1, 1), ((1, 1), (0, 1))),
    ((9, 4), (2, 3), (3, 1), ((0, 1), (2, 0))),
]


def first_largest(values):
    """TensorFlow's kernel begins with the first number and takes a later one that is larger."""
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


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("special", [None, np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("workers", [1, 3])
def test_gradients_of_maximum_pooling(case, special, workers, monkeypatch):
    monkeypatch.setattr(threads.one_thread, "available", workers)
    monkeypatch.setattr(pooling, "_IN_CACHE", 20)
    sizes, windows, strides, pads = case
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (5, *sizes, 2)).astype(np.float32)  # many are equal
    if special is not None:
        x[rng.random(x.shape) < 0.3] = special
    outputs = [(n + sum(p) - k) // s + 1 for n, k, s, p in zip(sizes, windows, strides, pads)]
    grad = rng.standard_normal((5, *outputs, 2)).astype(np.float32)
    found = pooling.max_pool_grad(x, grad, windows, strides, pads)
    np.testing.assert_allclose(found, by_definition(x, grad, windows, strides, pads), atol=1e-5)


def test_an_infinite_gradient_goes_to_one_element():
    x, grad = np.arange(16.0).reshape(1, 4, 4, 1), np.full((1, 2, 2, 1), np.inf)
    found = pooling.max_pool_grad(x, grad, (2, 2), (2, 2), [(0, 0), (0, 0)])
    assert found[0, 1::2, 1::2, 0].tolist() == [[np.inf] * 2] * 2 and np.isfinite(found).sum() == 12
