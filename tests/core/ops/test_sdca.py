"""Stochastic dual coordinate ascent where norms overflow."""

import numpy as np

from tests.cases.sdca import optimizer
from tfg import GraphBuilder, Session


def test_examples_whose_chances_overflow_come_in_any_order():
    builder = GraphBuilder()
    case = optimizer("SdcaOptimizerV2", "squared_loss", 1.0, 0.2, adaptive=True)
    (fetches,) = case.build(builder)
    feeds = {name: np.full_like(v, 1e30) if v.dtype == np.float32 else v for name, v in case.feeds.items()}
    assert len(Session(builder.graph).run(list(fetches), feeds)) == len(fetches)
