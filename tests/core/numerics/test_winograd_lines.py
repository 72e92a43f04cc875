"""Convolutions along one axis by tiles beside their definition."""

import numpy as np
import pytest

from tests.core.numerics.finishing import doubling
from tfg.core.numerics import convolution, products, threads, winograd_lines

CASES = [
    # images, sizes, channels, filters, window, pads
    (1, (9, 8), 64, 70, (7, 1), [(3, 3), (0, 0)]),
    (1, (9, 8), 70, 64, (1, 7), [(0, 0), (3, 3)]),
    (3, (8, 11), 64, 64, (1, 3), [(0, 0), (1, 1)]),
    (2, (12, 7), 65, 64, (5, 1), [(0, 0), (0, 0)]),
    (2, (13, 6), 64, 64, (1, 5), [(1, 2), (0, 3)]),
    (5, (10, 4), 64, 64, (9, 1), [(4, 4), (1, -1)]),
]
ONES = [1, 1]


@pytest.fixture(params=[1, 3], autouse=True)
def workers(request, monkeypatch):
    """Few positions in a block, for one thread and for several."""
    monkeypatch.setattr(threads.one_thread, "available", request.param)
    monkeypatch.setattr(products, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(winograd_lines, "_BLOCK", 40)
    monkeypatch.setattr(winograd_lines, "_MANY_CHANNELS", 64)
    monkeypatch.setattr(winograd_lines, "_FEWEST_CHANNELS", 64)
    monkeypatch.setattr(winograd_lines, "_FEWEST_POSITIONS", 1)


def drawn(case):
    images, sizes, channels, filters, window, pads = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, *sizes, channels), np.float32)
    return x, rng.standard_normal((*window, channels, filters), np.float32), pads


def by_definition(x, w, pads):
    x = np.pad(x.astype(np.float64), [(0, 0), *[(max(n, 0), max(m, 0)) for n, m in pads], (0, 0)])
    x = x[:, : x.shape[1] + min(pads[0][1], 0), : x.shape[2] + min(pads[1][1], 0)]
    height, width = (n - k + 1 for n, k in zip(x.shape[1:3], w.shape))
    return sum(x[:, i : i + height, j : j + width] @ w[i, j] for i, j in np.ndindex(w.shape[:2]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_are_those_of_the_definition(case):
    x, w, pads = drawn(case)
    want = by_definition(x, w, pads)
    atol = 1e-6 * np.abs(want).max()
    summand = np.arange(w.shape[-1], dtype=np.float32)
    assert winograd_lines.suits(x, w, ONES, pads, ONES)
    np.testing.assert_allclose(winograd_lines.convolve(x, w, pads), want, rtol=0, atol=atol)
    np.testing.assert_allclose(winograd_lines.convolve(x, w, pads, summand=summand), want + summand, rtol=0, atol=2 * atol)
    flipped = np.ascontiguousarray(w[::-1, ::-1].swapaxes(2, 3))[::-1, ::-1].swapaxes(2, 3)  # as gradients hand them over
    np.testing.assert_allclose(winograd_lines.convolve(x, flipped, pads), want, rtol=0, atol=atol)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_number_is_finished_once_after_it_is_there(case):
    x, w, pads = drawn(case)
    found = winograd_lines.convolve(x, w, pads, doubling)
    np.testing.assert_array_equal(found, 2 * winograd_lines.convolve(x, w, pads))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_small_integers_stay_exact(case):
    x, w, pads = drawn(case)
    x, w = np.rint(4 * x), np.rint(4 * w)
    np.testing.assert_array_equal(winograd_lines.convolve(x, w, pads), by_definition(x, w, pads))


@pytest.mark.parametrize("value", [np.inf, np.nan, 3e38])
def test_what_is_not_finite_meets_its_windows_only(value):
    x, w, pads = drawn(CASES[0])
    x[0, 5, 5, 3] = value
    with np.errstate(all="ignore"):
        found = convolution.convolve(x, w, ONES, pads, ONES)
    is_met = np.zeros(found.shape[1:3], bool)
    is_met[2:9, 5] = True
    assert np.isfinite(found[0, ~is_met]).all()


def test_other_convolutions_go_by_windows():
    x, w, pads = drawn(CASES[0])
    assert not winograd_lines.suits(x, w, [2, 2], pads, ONES)
    assert not winograd_lines.suits(x, w, ONES, pads, [2, 2])
    assert not winograd_lines.suits(x, w[:6], ONES, pads, ONES)
    assert not winograd_lines.suits(x, w[:, :, :16], ONES, pads, ONES)
    assert not winograd_lines.suits(x.astype(np.float64), w.astype(np.float64), ONES, pads, ONES)
