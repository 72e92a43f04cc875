"""Convolutions of volumes slice by slice beside their definition."""

import numpy as np
import pytest

from tests.core.numerics.finishing import doubling
from tests.core.numerics.test_convolution import by_definition, filter_gradient_by_definition
from tfg.core.numerics import convolution, products, threads, volumes

CASES = [
    # images, sizes, channels, filters, window, pads
    (2, (5, 9, 7), 8, 3, (2, 3, 3), [(0, 1), (1, 1), (1, 1)]),
    (1, (4, 5, 6), 3, 16, (3, 3, 3), [(1, 1), (1, 1), (1, 1)]),
    (3, (6, 4, 5), 9, 5, (3, 2, 3), [(0, 0), (0, 0), (0, 0)]),
    (1, (3, 4, 4), 4, 7, (5, 3, 3), [(3, 2), (0, 2), (2, 0)]),
    (2, (1, 6, 5), 8, 2, (1, 3, 3), [(0, 0), (1, 1), (1, 1)]),
    (1, (3, 3, 4, 4), 8, 2, (2, 2, 3, 3), [(1, 0), (0, 0), (1, 1), (1, 1)]),
]


@pytest.fixture(params=[1, 3])
def by_slices(request, monkeypatch):
    """Even small volumes go by slices, by one thread or several, and products by three rows at once."""
    monkeypatch.setattr(threads.one_thread, "available", request.param)
    monkeypatch.setattr(volumes, "_FEWEST_POSITIONS", 1)
    for module in (convolution, products, volumes):
        monkeypatch.setattr(module, "rows_at_once", lambda inner, columns: 3)


def drawn(case, number=None):
    images, sizes, channels, filters, window, pads = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, *sizes, channels), np.float32)
    w = rng.standard_normal((*window, channels, filters), np.float32)
    if number is not None:
        x[0, -1, 0, -1, 0] = number
    return x, w, pads


@pytest.mark.parametrize("number", [None, np.nan, np.inf, -0.0])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_convolutions_slice_by_slice(case, number, by_slices):
    x, w, pads = drawn(case, number)
    ones, summand = [1] * len(pads), np.arange(w.shape[-1], dtype=np.float32)
    assert volumes.suits(x, w.shape, np.empty((1,) * x.ndim, np.float32), ones, ones)
    want = by_definition(x, w, 1, pads, 1)
    for turned in (w, np.ascontiguousarray(w.swapaxes(-1, -2)).swapaxes(-1, -2)):
        found = convolution.convolve(x, turned, ones, pads, ones, doubling, summand)
        np.testing.assert_allclose(found, 2 * (want + summand), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(convolution.convolve(x, w, ones, pads, ones), want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("number", [None, np.nan, np.inf])
@pytest.mark.parametrize("at_once", [0, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_for_filters_slice_by_slice(case, at_once, number, by_slices, monkeypatch):
    monkeypatch.setattr(products, "columns_at_once", lambda rows, columns: at_once)
    x, w, pads = drawn(case, number)
    ones = [1] * len(pads)
    grad = np.random.default_rng(1).standard_normal(by_definition(x, w, 1, pads, 1).shape, np.float32)
    found = convolution.convolve_filter_gradient(x, grad, w.shape, ones, pads, ones)
    want = filter_gradient_by_definition(x, grad, w.shape, 1, pads, 1)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-4)


def test_what_goes_by_slices(monkeypatch):
    monkeypatch.setattr(volumes, "rows_at_once", lambda inner, columns: 100)

    def suits(x=(1, 8, 34, 34, 16), window=(3, 3, 3), channels=16, result=(1, 6, 32, 32, 16), dtype=np.float32, step=1):
        given, made = np.empty(x, dtype), np.empty(result, dtype)
        return volumes.suits(given, (*window, channels, 16), made, [1, 1, step], [1, 1, 1])

    assert suits()
    assert not suits(dtype=np.float64)
    assert not suits(step=2)
    assert not suits(channels=8)
    assert not suits(result=(1, 6, 16, 16, 16))
    assert not suits(x=(1, 8, 34, 34, 2), channels=2)
    monkeypatch.setattr(volumes, "rows_at_once", lambda inner, columns: 0)
    assert not suits()
