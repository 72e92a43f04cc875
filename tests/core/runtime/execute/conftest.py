"""Settings for tests of fused steps: small values are fused too, and each test draws the same numbers."""

import numpy as np
import pytest

from tests.core.runtime.execute import beside_kernels
from tfg.core.numerics import elementwise_tiles
from tfg.core.runtime.execute.tiers import Tier, forcing


@pytest.fixture
def same_draws(monkeypatch):
    monkeypatch.setattr(beside_kernels, "RNG", np.random.default_rng(0))


@pytest.fixture
def fused_from_the_first_run(monkeypatch):
    monkeypatch.setattr(elementwise_tiles, "TILE_ELEMENTS", 100)
    with forcing(Tier.FUSED):
        yield
