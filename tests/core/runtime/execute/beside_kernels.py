"""Runs of fused groups beside runs of single kernels, and parts of graphs of convolutions."""

import numpy as np

from tests.core.runtime.programs import programs
from tfg import Session
from tfg.core.runtime.execute.tiers import SETTLING_RUN

RNG = np.random.default_rng(0)


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def program(session):
    (only,) = programs(session)
    return only


def groups(session):
    """Return the ops of each fused group after some runs."""
    calls = program(session).fused_calls
    return [[inner.node.op for inner in step.body] for step, call in calls.items() if call.is_useful]


def both(graph, fetch, feeds, runs=SETTLING_RUN + 1):
    """(value, groups) of the last of some fused runs, beside the value of the graph's kernels."""
    fused, single = Session(graph), Session(graph, optimize="none")
    for _ in range(runs):
        result = fused.run(fetch, feeds)
    want = single.run(fetch, feeds)
    assert result.dtype == want.dtype and result.shape == want.shape
    largest = np.abs(want[np.isfinite(want)]).max(initial=1).astype(np.float64)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=2e-6 * largest)
    return groups(fused)


def normalized(b, x, channels, is_training=False):
    vectors = [b.constant(v) for v in (drawn(channels), drawn(channels), drawn(channels), np.abs(drawn(channels)) + 0.5)]
    return b.FusedBatchNormV3(x, *vectors, is_training=is_training)[0]


def rectified(b, x, channels):
    return b.Relu(normalized(b, x, channels))


def product(b, x, channels, filters):
    w = b.constant(drawn(1, 1, channels, filters).astype(x.dtype.numpy))
    return b.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME")


def depthwise(b, x, channels, size=3, stride=1, dilation=1, multiplier=1, **attrs):
    w = b.constant(drawn(size, size, channels, multiplier).astype(x.dtype.numpy))
    strides, dilations = [1, stride, stride, 1], [1, dilation, dilation, 1]
    return b.DepthwiseConv2dNative(x, w, strides=strides, dilations=dilations, **({"padding": "SAME"} | attrs))
