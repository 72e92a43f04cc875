"""What is made for a convolution by rows, beside runs by single kernels."""

import numpy as np
import pytest

from tests.core.runtime.optimize.beside_kernels import both, drawn, program, rectified
from tfg import GraphBuilder, Session
from tfg.core.runtime.optimize.tiers import SETTLING_RUN
from tfg.core.support.errors import InvalidArgumentError


def scaled_up(b, x, channels):
    """x times positive factors, and a vector added."""
    factors = np.logspace(-6, 6, channels, dtype=np.float32)
    return b.AddV2(b.Mul(x, b.constant(factors)), b.constant(drawn(channels) * factors))


LEADS = {
    "normalized": lambda b, x: rectified(b, x, 8),
    "scaled up": lambda b, x: b.Relu(scaled_up(b, x, 8)),
    "scaled up, leaky": lambda b, x: b.LeakyRelu(scaled_up(b, x, 8), alpha=0.1),
    "scaled up only": lambda b, x: b.Relu(b.Mul(x, b.constant(np.abs(drawn(8))))),
    "scaled up, bounded": lambda b, x: b.Relu6(scaled_up(b, x, 8)),
    "scaled to nothing": lambda b, x: b.Relu(b.AddV2(b.Mul(x, b.constant(np.zeros(8, np.float32))), b.constant(drawn(8)))),
    "scaled by image": lambda b, x: b.Mul(b.Relu(x), b.Sigmoid(b.Mean(x, [1, 2], keep_dims=True))),
    "of two": lambda b, x: b.Relu(b.AddV2(x, b.Neg(x))),
    "by numbers": lambda b, x: b.Tanh(b.Mul(b.constant(np.float32(2)), x)),
}


@pytest.mark.parametrize("follows", [True, False])
@pytest.mark.parametrize("filters", [5, 200])
@pytest.mark.parametrize("kind", LEADS)
def test_a_product_takes_what_is_made_for_it_by_rows(kind, filters, follows, monkeypatch):
    monkeypatch.setattr("tfg.core.numerics.convolution.BLOCK_ELEMENTS", 400)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 7, 6, 8], name="x")
    y = b.Conv2D(LEADS[kind](b, x), b.constant(drawn(1, 1, 8, filters)), strides=[1, 1, 1, 1], padding="SAME")
    b.Neg(rectified(b, y, filters) if follows else y, name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for images in (3, 3, 3, 1, 1, 3):
        feeds = {"x:0": drawn(images, 7, 6, 8)}
        want = single.run("y:0", feeds)
        np.testing.assert_allclose(session.run("y:0", feeds), want, rtol=1e-5, atol=2e-6 * np.abs(want).max(initial=5))
    (call,) = [call for step, call in program(session)._fused_calls.items() if step.lead is not None]
    assert call.is_useful and len(call.lead.row_layouts) == 2
    leaves_factor = kind in ("scaled up", "scaled up, leaky", "scaled up only")
    assert [layout.factor is not None for _, layout in call.lead.row_layouts.values()] == [leaves_factor] * 2


@pytest.mark.parametrize("kind", ["groups", "columns first", "far from zero"])
def test_a_factor_that_is_left_to_the_filters(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 7, 6, 8], name="x")
    w = drawn(1, 1, 4 if kind == "groups" else 8, 12)
    b.Neg(b.Conv2D(LEADS["scaled up"](b, x), b.constant(w), strides=[1, 1, 1, 1], padding="SAME"), name="y")
    fed = drawn(2, 7, 6, 8) + np.float32(1000 if kind == "far from zero" else 0)
    both(b.graph, "y:0", {"x:0": np.asfortranarray(fed) if kind == "columns first" else fed})


@pytest.mark.parametrize("kind", ["strided", "window", "fed filters", "fetched", "read twice", "one step"])
def test_what_else_is_before_a_convolution_stands_alone(kind):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    lead = b.Relu(x) if kind == "one step" else rectified(b, x, 8)
    size, stride = 3 if kind == "window" else 1, 2 if kind == "strided" else 1
    value = drawn(size, size, 8, 12)
    w = b.Placeholder(dtype="float32", shape=value.shape, name="w") if kind == "fed filters" else b.constant(value)
    y = rectified(b, b.Conv2D(lead, w, strides=[1, stride, stride, 1], padding="SAME"), 12)
    outputs = [b.Identity(y, name="y"), b.Neg(lead, name="z")] if kind == "read twice" else [b.Identity(y, name="y")]
    fetches = [out.name for out in outputs] + ([lead.name] if kind == "fetched" else [])
    feeds = {"x:0": drawn(2, 6, 6, 8)} | ({"w:0": value} if kind == "fed filters" else {})
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for _ in range(SETTLING_RUN):
        found = session.run(fetches, feeds)
    for value, want in zip(found, single.run(fetches, feeds)):
        np.testing.assert_allclose(value, want, rtol=1e-5, atol=1e-5)
    assert all(step.lead is None for step in program(session)._fused_calls)


def test_a_lead_that_fails_names_its_node():
    b = GraphBuilder()
    x, z = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xz")
    lead = b.Relu(b.AddV2(x, z, name="sum"))
    b.Neg(b.Conv2D(lead, b.constant(drawn(1, 1, 8, 12)), strides=[1, 1, 1, 1], padding="SAME"), name="y")
    session = Session(b.graph)
    feeds = {"x:0": drawn(2, 6, 6, 8), "z:0": drawn(8)}
    for _ in range(4):
        session.run("y:0", feeds)
    with pytest.raises(InvalidArgumentError, match="sum"):
        session.run("y:0", feeds | {"z:0": drawn(7)})
    turned = {"x:0": feeds["z:0"], "z:0": feeds["x:0"]}
    np.testing.assert_allclose(session.run("y:0", turned), session.run("y:0", feeds), rtol=1e-5, atol=1e-5)
