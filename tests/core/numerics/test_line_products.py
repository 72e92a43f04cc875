"""Convolutions by products of lines of windows beside their definition."""

import numpy as np
import pytest

from tests.core.numerics.epilogues import doubling
from tests.core.numerics.test_convolution import by_definition, filter_gradient_by_definition
from tfg.core.numerics import convolution, line_products
from tfg.core.parallel import blas_threads, gemm

CASES = [
    # images, sizes, channels, filters, window, strides, pads, dilations
    (5, (9, 7), 8, 16, (5, 5), (1, 1), [(2, 2), (2, 2)], (1, 1)),
    (1, (20, 6), 11, 3, (7, 3), (1, 2), [(3, 3), (1, 1)], (1, 1)),
    (3, (8, 12), 16, 32, (5, 4), (1, 1), [(0, 4), (3, 0)], (1, 2)),
    (2, (5, 5), 32, 1, (5, 1), (1, 1), [(2, 2), (0, 0)], (1, 1)),
    (2, (8, 4, 5), 4, 7, (6, 2, 4), (1, 1, 1), [(2, 3), (0, 1), (2, 0)], (1, 1, 1)),
    (1, (5, 6), 8, 9, (5, 5), (1, 1), [(0, 0), (0, 0)], (1, 1)),
]


@pytest.fixture(params=[(1, 10**6), (3, 10**6), (2, 25000)], ids=["one", "three", "thin"])
def by_lines(request, monkeypatch):
    """Use a thread or several, and products of whole images or of a line or two."""
    workers, at_once = request.param
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    monkeypatch.setattr(line_products, "FEWEST_POSITIONS", 1)
    for module in (gemm, line_products):
        monkeypatch.setattr(module, "rows_at_once", lambda inner, columns: at_once // (inner * columns))
        monkeypatch.setattr(module, "columns_at_once", lambda rows, columns: at_once // (rows * columns), raising=False)
    line_products.output_blocks.cache_clear()
    yield
    line_products.output_blocks.cache_clear()


def drawn(case, number=None):
    images, sizes, channels, filters, window, *geometry = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, *sizes, channels), np.float32)
    w = rng.standard_normal((*window, channels, filters), np.float32)
    if number is not None:
        x[0, -1, 0, -1] = number
    return x, w, *geometry


@pytest.mark.parametrize("number", [None, np.nan, np.inf, -0.0])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_convolutions_by_lines(case, number, by_lines, monkeypatch):
    ways = []
    fill = line_products.convolve
    monkeypatch.setattr(line_products, "convolve", lambda *arguments: (ways.append(1), fill(*arguments)))
    x, w, strides, pads, dilations = drawn(case, number)
    bias = np.arange(w.shape[-1], dtype=np.float32)
    want = by_definition(x, w, strides, pads, dilations)
    for turned in (w, np.ascontiguousarray(w.swapaxes(-1, -2)).swapaxes(-1, -2)):
        result = convolution.convolve(x, turned, strides, pads, dilations, doubling, bias)
        np.testing.assert_allclose(result, 2 * (want + bias), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(convolution.convolve(x, w, strides, pads, dilations), want, rtol=1e-5, atol=1e-4)
    assert len(ways) == 3


@pytest.mark.parametrize("number", [None, np.nan, np.inf])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_for_filters_by_lines(case, number, by_lines, monkeypatch):
    ways = []
    gradient = line_products.filter_gradient
    monkeypatch.setattr(line_products, "filter_gradient", lambda *arguments: (ways.append(1), gradient(*arguments))[1])
    x, w, strides, pads, dilations = drawn(case, number)
    grad = np.random.default_rng(1).standard_normal(by_definition(x, w, strides, pads, dilations).shape, np.float32)
    result = convolution.convolve_filter_gradient(x, grad, w.shape, strides, pads, dilations)
    want = filter_gradient_by_definition(x, grad, w.shape, strides, pads, dilations)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-4)
    assert ways


def test_what_goes_by_lines(monkeypatch):
    monkeypatch.setattr(line_products, "rows_at_once", lambda inner, columns: 300)
    monkeypatch.setattr(line_products, "columns_at_once", lambda rows, columns: 300)

    def suits(by=line_products.suits, window=(5, 5), channels=16, filters=32, line=14, dtype=np.float32, step=1):
        return by((*window, channels, filters), (2, 14, line, filters), dtype == np.float32, (step, 1), (1, 1))

    assert suits()
    assert not suits(dtype=np.float64)
    assert not suits(step=2)
    assert not suits(channels=8)
    assert not suits(filters=64)
    assert not suits(line=301)
    assert not suits(window=(3, 3))
    assert suits(line_products.suits_gradient, window=(3, 3))
    assert not suits(line_products.suits_gradient, window=(1, 3))
    monkeypatch.setattr(line_products, "rows_at_once", lambda inner, columns: 0)
    assert not suits()
    assert not suits(line_products.suits_gradient)
