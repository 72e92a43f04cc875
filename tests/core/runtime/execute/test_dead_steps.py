"""Steps that nobody reads: left out of programs for certain shapes where they cannot fail, and nowhere else."""

import numpy as np
import pytest

from tests.core.runtime.execute.test_specializing import RUNS, beside_plain, ops
from tfg import GraphBuilder, Session
from tfg.core.support.errors import InvalidArgumentError

IMAGES, FILTER = (2, 5, 5, 3), (3, 3, 3, 4)


def waiting_for(sizes):
    """Return the filter gradient `y`, which waits for the input gradient of shape `sizes`, as in TF1's optimizers."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, *IMAGES[1:]], name="x")
    w = b.Placeholder(dtype="float32", shape=FILTER, name="w")
    geometry = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    grad = b.Tanh(b.Conv2D(x, w, **geometry))
    shape = b.Shape(x) if sizes is None else b.constant(np.int32(sizes))
    for_input = b.Conv2DBackpropInput(shape, w, b.Neg(grad), name="unread", **geometry)
    for_filter = b.Conv2DBackpropFilter(x, b.Shape(w), grad, **geometry)
    with b.control_dependencies([for_input, for_filter]):
        group = b.NoOp()
    with b.control_dependencies([group]):
        b.Identity(for_filter, name="y")
    return b.graph


def feeds():
    rng = np.random.default_rng(0)
    return {f"{name}:0": rng.standard_normal(shape, np.float32) for name, shape in (("x", IMAGES), ("w", FILTER))}


def test_what_nobody_reads_takes_no_step():
    session = beside_plain(waiting_for(None), ["y:0"], [feeds()] * RUNS)
    assert {"Conv2DBackpropInput", "Neg"}.isdisjoint(ops(session))
    assert {"Conv2D", "Conv2DBackpropFilter"} < set(ops(session))


def test_what_is_fetched_stays():
    session = beside_plain(waiting_for(None), ["y:0", "unread:0"], [feeds()] * RUNS)
    assert "Conv2DBackpropInput" in ops(session)


def test_what_fails_fails_in_every_run():
    session = Session(waiting_for((2, 6, 5, 3)))
    for _ in range(RUNS):
        with pytest.raises(InvalidArgumentError) as caught:
            session.run("y:0", feeds())
        assert caught.value.node == "unread"


def test_hooks_see_what_nobody_reads():
    session, seen = Session(waiting_for(None)), []
    for _ in range(RUNS):
        session.run("y:0", feeds())
    session.run("y:0", feeds(), hook=lambda node, call, inputs: seen.append(node.op) or call(*inputs))
    assert "Conv2DBackpropInput" in seen
