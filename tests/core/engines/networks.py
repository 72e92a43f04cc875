"""Networks that engines are tried on."""

from __future__ import annotations

import numpy as np

from tfg.core.building.builder import GraphBuilder


def network(size=64, seed=0):
    """A convolution, a normalization and a product on images, with the graph's `logits`; and a batch of images."""
    draws = np.random.default_rng(seed)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 16, 16, 3], name="x")
    weights = [b.constant(draws.standard_normal(shape).astype("f")) for shape in ((3, 3, 3, 8), (8 * 8 * 8, size))]
    numbers = [b.constant(draws.uniform(0.5, 1, 8).astype("f")) for _ in range(4)]
    y = b.Conv2D(x, weights[0], strides=[1, 2, 2, 1], padding="SAME")
    y = b.FusedBatchNormV3(y, *numbers, is_training=False)[0]
    y = b.Reshape(b.Relu6(y), b.constant(np.int32([-1, 8 * 8 * 8])))
    b.MatMul(y, weights[1], name="logits")
    return b.graph, draws.standard_normal((2, 16, 16, 3)).astype("f")


def assert_in_engine(session, count=1):
    """Check that all groups of a session ran in the engine."""
    report = session.engine_report()
    assert [group.reason for group in report.groups] == [None] * count
    assert all(group.runs for group in report.groups)
