"""Graphs that are drawn at random, fused and by single kernels: the same numbers."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.runtime.execute.beside_kernels import both, depthwise, drawn, normalized
from tfg import GraphBuilder, Session
from tfg.core.runtime.execute.tiers import SETTLING_RUN

pytestmark = pytest.mark.usefixtures("same_draws", "fused_from_the_first_run")

UNARY = ["Neg", "Relu", "Relu6", "Sigmoid", "Tanh", "Square", "Softplus", "Abs"]
BINARY = ["AddV2", "Sub", "Mul", "Maximum", "SquaredDifference", "RealDiv"]


@st.composite
def graphs(draw):
    """Draw a graph of elementwise ops on a placeholder, vectors, numbers and a convolution; `y` is the last node."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 5, 5, 4], name="x")
    values = [x, b.Conv2D(x, b.constant(drawn(3, 3, 4, 4)), strides=[1, 1, 1, 1], padding="SAME")]
    values += [b.constant(drawn(4)), b.constant(np.float32(0.5)), b.constant(drawn(2, 1, 1, 4)), b.constant(drawn(1, 5, 5, 4))]
    for _ in range(draw(st.integers(1, 9))):
        one = values[draw(st.integers(0, len(values) - 1))]
        if draw(st.booleans()):
            values.append(getattr(b, draw(st.sampled_from(UNARY)))(one))
        else:
            other = values[draw(st.integers(0, len(values) - 1))]
            values.append(getattr(b, draw(st.sampled_from(BINARY)))(one, other))
    b.AddV2(values[-1], x, name="y")
    return b.graph


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(graphs())
def test_any_graph_of_elementwise_ops(graph):
    value = np.random.default_rng(3).standard_normal((2, 5, 5, 4)).astype(np.float32)
    fused, single = Session(graph), Session(graph, optimize="none")
    want = single.run("y:0", {"x:0": value})
    for _ in range(SETTLING_RUN + 1):
        result = fused.run("y:0", {"x:0": value})
        np.testing.assert_allclose(result, want, rtol=2e-4, atol=2e-5)


@st.composite
def networks(draw):
    """Draw a graph of convolutions, normalizations and elementwise ops, most of them on the previous result."""
    b = GraphBuilder()
    values = [b.Placeholder(dtype="float32", shape=[2, 5, 5, 4], name="x")]
    makers = {
        "product": lambda x: b.Conv2D(x, b.constant(drawn(1, 1, 4, 4) / 2), strides=[1, 1, 1, 1], padding="SAME"),
        "window": lambda x: b.Conv2D(x, b.constant(drawn(3, 3, 4, 4) / 6), strides=[1, 1, 1, 1], padding="SAME"),
        "depthwise": lambda x: depthwise(b, x, 4),
        "norm": lambda x: normalized(b, x, 4),
        "bias": lambda x: b.BiasAdd(x, b.constant(drawn(4))),
        "relu": lambda x: b.Relu(x),
        "tanh": lambda x: b.Tanh(x),
        "add": lambda x: b.AddV2(x, draw(st.sampled_from(values))),
        "mul": lambda x: b.Mul(b.Sigmoid(x), draw(st.sampled_from(values))),
    }
    for kind in draw(st.lists(st.sampled_from(sorted(makers)), min_size=2, max_size=9)):
        values.append(makers[kind](draw(st.sampled_from(values[-2:]))))
    b.Relu(functools.reduce(b.AddV2, draw(st.lists(st.sampled_from(values), max_size=2)), values[-1]), name="y")
    return b.graph


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(networks())
def test_any_graph_of_convolutions_and_what_stands_between(graph):
    both(graph, "y:0", {"x:0": drawn(2, 5, 5, 4)})
