"""Moments of channels and the gradient of normalizations, beside their definitions in double precision."""

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, channel_sums, work_division

SHAPES = [(2, 3, 5, 4), (4, 8, 8, 16), (1, 1031, 8), (3, 7, 7, 300), (1, 1, 1, 3)]


def numbers(shape, offset, seed=0):
    """Return random numbers; the channels' means are about `offset` deviations from zero, some more."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + offset * rng.standard_normal(shape[-1])).astype(np.float32)


def laid(x, is_by_channel):
    """The same numbers, the positions of each channel side by side if so."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -1, 0)), 0, -1) if is_by_channel else x


def largest_error(result, expected):
    return np.abs(result.reshape(expected.shape) - expected).max() / max(np.abs(expected).max(), 1)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("offset", [0, 1, 100])
@pytest.mark.parametrize("tile", [32, 1 << 17])
@pytest.mark.parametrize("is_by_channel", [False, True])
def test_moments(shape, offset, tile, is_by_channel, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 64 * channel_sums.ELEMENT_WORK)
    monkeypatch.setattr(channel_sums, "TILE_ELEMENTS", tile)
    x = laid(numbers(shape, offset), is_by_channel)
    mean, variance = channel_sums.moments(x)
    exact = x.astype(np.float64).reshape(-1, shape[-1])
    assert largest_error(mean, exact.mean(0)) < 1e-6 and largest_error(variance, exact.var(0)) < 2e-6


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_moments_of_what_is_not_finite(special):
    x = numbers((2, 3, 5, 4), 0)
    x[0, 0, 0, 1] = special
    with np.errstate(invalid="ignore"):
        mean, variance = channel_sums.moments(x)
    assert np.isfinite(mean).tolist() == np.isfinite(variance).tolist() == [True, False, True, True]


def test_numbers_whose_squares_are_infinite_may_have_a_variance():
    x = (1e20 + 1e15 * numbers((2, 3, 5, 4), 0).astype(np.float64)).astype(np.float32)
    _, variance = channel_sums.moments(x)
    assert largest_error(variance / 1e30, x.astype(np.float64).reshape(-1, 4).var(0) / 1e30) < 1e-4


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", SHAPES[:-1], ids=str)
@pytest.mark.parametrize(("offset", "is_near"), [(0, True), (1, True), (0, False), (1, False), (10, False)])
@pytest.mark.parametrize("is_by_channel", [False, True])
def test_gradients(shape, offset, is_near, is_by_channel):
    x, dy = (laid(a, is_by_channel) for a in (numbers(shape, offset), numbers(shape, 0.5, seed=1)))
    exact, given = (a.astype(np.float64).reshape(-1, shape[-1]) for a in (x, dy))
    mean, factor, slope = (a.astype(np.float32) for a in (exact.mean(0), exact[0] + 2, given[0] / 3))
    total, dot = channel_sums.gradient_sums(dy, x, mean, is_near)
    assert largest_error(total, given.sum(0)) < 1e-6
    assert largest_error(dot, (given * (exact - mean)).sum(0)) < 2e-6
    result = channel_sums.combined(dy, factor, x, mean, slope, slope, is_near)
    assert largest_error(result, (given - (exact - mean) * slope - slope) * factor) < 1e-6
    assert largest_error(channel_sums.scaled(x, factor, slope), exact * factor + slope) < 1e-6
