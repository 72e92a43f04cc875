"""Update rules tile by tile beside the same rules on whole arrays; BLAS may round some numbers differently."""

import functools

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, update_rules


@pytest.mark.parametrize("workers", [1, 3])
def test_tiles_are_updated_as_the_whole(workers, monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    rule = functools.partial(update_rules.momentum, use_nesterov=True)
    rng = np.random.default_rng(0)
    var, accum, grad = (rng.standard_normal((37, 30)).astype(np.float32) for _ in range(3))
    arguments = np.float32(0.1), grad, np.float32(0.9)
    want = var.copy(), accum.copy()
    update_rules.update(rule, want, arguments)
    monkeypatch.setattr(update_rules, "BLOCK_ELEMENTS", 100)
    update_rules.in_tiles(rule, [var, accum], arguments, 1)
    np.testing.assert_allclose([var, accum], want, rtol=1e-5, atol=1e-7)
