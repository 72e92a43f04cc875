"""Convolutions by tiles beside their definition, with exact integers, NaN and infinities."""

import itertools

import numpy as np
import pytest

from tests.core.numerics.epilogues import doubling
from tfg.core.numerics import blas_threads, convolution, input_gradient, weak_cache, winograd, work_division

CASES = [
    # images, sizes, channels, filters, pads
    (1, (14, 14), 32, 64, [(1, 1), (1, 1)]),
    (3, (13, 11), 64, 32, [(1, 1), (1, 1)]),
    (2, (12, 17), 48, 48, [(0, 0), (0, 0)]),
    (1, (24, 10), 40, 70, [(0, 2), (2, 1)]),
    (5, (7, 7), 32, 96, [(1, 1), (1, 1)]),
]
ONES = [1, 1]


@pytest.fixture(autouse=True)
def forgotten():
    """Clear the cached shapes, because some tests set other bounds."""
    winograd._parts.cache_clear()
    yield
    winograd._parts.cache_clear()


@pytest.fixture(params=[1, 3])
def workers(request, monkeypatch):
    """Use few tiles per block, with a thread and with several."""
    monkeypatch.setattr(blas_threads.one_thread, "available", request.param)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(winograd, "TILES", 20)


def drawn(case):
    images, sizes, channels, filters, pads = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, *sizes, channels), np.float32)
    w = rng.standard_normal((3, 3, channels, filters), np.float32)
    w.flags.writeable = False
    return x, w, pads


def by_definition(x, w, pads):
    x = np.pad(x.astype(np.float64), [(0, 0), *pads, (0, 0)])
    height, width = (n - 2 for n in x.shape[1:3])
    return sum(x[:, i : i + height, j : j + width] @ w[i, j] for i, j in itertools.product(range(3), repeat=2))


def assert_near(result, want):
    np.testing.assert_allclose(result, want, rtol=0, atol=2e-6 * np.abs(want).max())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_are_those_of_the_definition(case, few, workers, monkeypatch):
    monkeypatch.setattr(winograd, "FEW_TILES", few)
    x, w, pads = drawn(case)
    bias = np.arange(w.shape[-1], dtype=np.float32)
    assert winograd.suits(x, w, ONES, pads, ONES)
    assert_near(winograd.convolve(x, w, pads), by_definition(x, w, pads))
    assert_near(winograd.convolve(x, w, pads, bias=bias), by_definition(x, w, pads) + bias)


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_number_is_finished_once_after_it_is_there(case, few, workers, monkeypatch):
    monkeypatch.setattr(winograd, "FEW_TILES", few)
    x, w, pads = drawn(case)
    np.testing.assert_array_equal(winograd.convolve(x, w, pads, doubling), 2 * winograd.convolve(x, w, pads))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_for_inputs_are_those_of_the_definition(case, workers):
    x, w, pads = drawn(case)
    want = by_definition(x, w, pads)
    grad = np.random.default_rng(1).standard_normal(want.shape, np.float32)
    dx = input_gradient.convolve_input_gradient(grad, w, x.shape, ONES, pads, ONES)
    np.testing.assert_allclose((dx.astype(np.float64) * x).sum(), (want * grad).sum(), rtol=1e-4)


def test_small_integers_stay_exact():
    x, w, pads = drawn(CASES[1])
    x, w = np.rint(4 * x), np.rint(4 * w)
    np.testing.assert_array_equal(winograd.convolve(x, w, pads), by_definition(x, w, pads))


@pytest.mark.parametrize("value", [np.inf, np.nan, 3e38])
def test_what_is_not_finite_meets_its_windows_only(value):
    x, w, pads = drawn(CASES[0])
    x[0, 5, 5, 3] = value
    with np.errstate(all="ignore"):
        result = convolution.convolve(x, w, ONES, pads, ONES)
        grad = convolution.convolve_filter_gradient(x, np.ones_like(result), w.shape, ONES, pads, ONES)
    is_met = np.zeros(result.shape[1:3], bool)
    is_met[4:7, 4:7] = True
    assert np.isfinite(result[0, ~is_met]).all()
    assert np.isfinite(grad[:, :, np.arange(x.shape[-1]) != 3]).all()


def test_only_filters_that_cannot_change_are_kept(monkeypatch):
    monkeypatch.setattr(weak_cache, "entries", {})
    x, w, pads = drawn(CASES[0])
    for _ in range(4):
        winograd.convolve(x, w, pads)
    (known,) = weak_cache.entries.values()
    assert known.made is not None
    view = w.copy()
    other = view[:]
    other.flags.writeable = False
    assert not weak_cache.never_changes(other)
    first = [winograd.convolve(x, other, pads) for _ in range(4)][-1]
    view *= 2
    np.testing.assert_array_equal(winograd.convolve(x, other, pads), 2 * first)
    del w, known
    assert not weak_cache.entries


@pytest.mark.parametrize("depth", [64, 256])
def test_the_error_is_within_a_millionth_of_the_largest(depth):
    rng = np.random.default_rng(2)
    pads = [(1, 1), (1, 1)]
    for x in (rng.standard_normal((1, 24, 24, depth), np.float32), rng.random((1, 24, 24, depth), np.float32)):
        w = rng.standard_normal((3, 3, depth, 64), np.float32)
        want = by_definition(x, w, pads)
        np.testing.assert_allclose(winograd.convolve(x, w, pads), want, rtol=0, atol=1e-6 * np.abs(want).max())


def test_other_convolutions_go_by_windows():
    x, w, pads = drawn(CASES[0])
    assert not winograd.suits(x, w, [2, 2], pads, ONES)
    assert not winograd.suits(x, w, ONES, pads, [2, 2])
    assert not winograd.suits(x[..., :16], w, ONES, pads, ONES)
    assert not winograd.suits(x.astype(np.float64), w.astype(np.float64), ONES, pads, ONES)
    assert not winograd.suits(x[:, :2, :2], w, ONES, [(0, 0), (0, 0)], ONES)


def test_sums_do_not_depend_on_which_thread_is_first(monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    monkeypatch.setattr(convolution, "BLOCK_ELEMENTS", 700)
    rng = np.random.default_rng(2)
    x, grad = rng.standard_normal((9, 12, 12, 8), np.float32), rng.standard_normal((9, 12, 12, 16), np.float32)
    ways = (3, 3, 8, 16), ONES, [(1, 1), (1, 1)], ONES
    first = convolution.convolve_filter_gradient(x, grad, *ways)
    for _ in range(30):
        np.testing.assert_array_equal(convolution.convolve_filter_gradient(x, grad, *ways), first)
