"""Depthwise convolutions beside their definition: a sum over the places of a window, channel by channel."""

import itertools
import threading

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, depthwise, work_division

CASES = [
    # images, sizes, channels, multiplier, window, strides, dilations
    (1, (12, 14), 3, 1, (3, 3), (1, 1), (1, 1)),
    (2, (13, 12), 200, 1, (3, 3), (2, 2), (1, 1)),
    (2, (13, 12), 6, 1, (3, 3), (2, 2), (1, 1)),
    (1, (11, 9), 5, 1, (5, 4), (3, 3), (1, 1)),
    (3, (9, 10), 4, 1, (3, 3), (1, 1), (2, 3)),
    (3, (9, 11), 4, 1, (3, 3), (2, 2), (2, 2)),
    (2, (8, 8), 4, 3, (3, 3), (2, 2), (1, 1)),
    (1, (6, 7), 8, 1, (1, 1), (2, 2), (1, 1)),
    (2, (40,), 8, 1, (5,), (2,), (1,)),
]


def by_definition(x, w, strides, pads, dilations):
    x, (*window, channels, multiplier) = np.pad(x.astype(np.float64), [(0, 0), *pads, (0, 0)]), w.shape
    outputs = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[1:-1], window, strides, dilations)]
    result = np.zeros((x.shape[0], *outputs, channels, multiplier))
    for place in itertools.product(*map(range, window)):
        cut = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in zip(place, outputs, strides, dilations)]
        result += x[(slice(None), *cut)][..., np.newaxis] * w[place]
    return result.reshape(*result.shape[:-2], -1)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("is_view", [False, True])
def test_depthwise_convolutions(case, workers, is_view, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    images, sizes, channels, multiplier, window, strides, dilations = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, channels, *sizes) if is_view else (images, *sizes, channels)).astype(np.float32)
    x = np.moveaxis(x, 1, -1) if is_view else x
    w = rng.standard_normal((*window, channels, multiplier)).astype(np.float32)
    pads = [(0, 0)] * len(window) if is_view else [((k - 1) * d // 2, k // 2) for k, d in zip(window, dilations)]
    want = by_definition(x, w, strides, pads, dilations)

    def epilogue(result):
        flat = result.reshape(-1, result.shape[-1])

        def finish(positions, some):
            flat[positions, some] += 1

        return finish

    np.testing.assert_allclose(depthwise.depthwise_convolve(x, w, strides, pads, dilations), want, rtol=1e-4, atol=1e-4)
    outcome = depthwise.depthwise_convolve(x, w, strides, pads, dilations, epilogue)
    np.testing.assert_allclose(outcome, want + 1, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("multiplier", [1, 2])
@pytest.mark.parametrize("window", [(0, 1), (1, 0), (0, 0)])
def test_gradients_for_a_filter_without_elements(window, multiplier):
    x, grad = np.ones((1, 1, 1, 8)), np.ones((1, 1, 1, 8 * multiplier))
    result = depthwise.depthwise_filter_gradient(x, grad, (*window, 8, multiplier), [1, 1], [(0, 0)] * 2, [1, 1])
    assert result.shape == (*window, 8, multiplier)


def test_small_sums_are_left_to_one_thread(monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    x, w = np.ones((1, 14, 14, 512), np.float32), np.ones((3, 3, 512, 1), np.float32)
    blocks = []

    def epilogue(result):
        return lambda positions, channels: blocks.append((threading.current_thread(), positions))

    depthwise.depthwise_convolve(x, w, [1, 1], [(1, 1)] * 2, [1, 1], epilogue)
    assert blocks == [(threading.current_thread(), slice(0, 196))]
