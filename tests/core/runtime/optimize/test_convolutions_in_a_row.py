"""Convolutions that hand on rows to each other, beside runs by single kernels."""

import functools

import numpy as np
import pytest

from tests.core.runtime.optimize.beside_kernels import depthwise, drawn, normalized, product, program, rectified
from tfg import GraphBuilder, Session
from tfg.core.runtime.optimize.step_fusion import Fused
from tfg.core.runtime.optimize.tiers import SETTLING_RUN, forcing
from tfg.core.support.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("same_draws", "fused_from_the_first_run")


@pytest.fixture
def many_blocks(monkeypatch):
    modules = ("numerics.convolution", "numerics.depthwise", "numerics.row_producer", "runtime.optimize.fused_calls")
    for module in modules:
        monkeypatch.setattr(f"tfg.core.{module}.BLOCK_ELEMENTS", 300)
    monkeypatch.setattr("tfg.core.parallel.gemm.WORTH_DIVIDING", 1)


def separable(b, x, filters=12, **attrs):
    return product(b, b.Relu6(depthwise(b, x, 8, **attrs)), 8, filters)


def inverted(b, x, wide=24, **attrs):
    expanded = rectified(b, product(b, x, 8, wide), wide)
    return b.AddV2(normalized(b, product(b, rectified(b, depthwise(b, expanded, wide, **attrs), wide), wide, 8), 8), x)


def reduced(b, x, wide=24):
    """Return an inverted block with half as many lines in the result, as Keras writes the block."""
    expanded = rectified(b, product(b, x, 8, wide), wide)
    padded = b.Pad(expanded, b.constant(np.array([[0, 0], [0, 1], [0, 1], [0, 0]], np.int32)))
    inner = depthwise(b, padded, wide, stride=2, padding="VALID")
    return normalized(b, product(b, rectified(b, inner, wide), wide, 8), 8)


CONV, DEPTHWISE = "Conv2D", "DepthwiseConv2dNative"
BY_ROWS = {
    "separable": (separable, [CONV, DEPTHWISE]),
    "with windows of five": (functools.partial(separable, size=5), [CONV, DEPTHWISE]),
    "strided": (functools.partial(separable, stride=2), [CONV, DEPTHWISE]),
    "without padding": (functools.partial(separable, padding="VALID"), [CONV, DEPTHWISE]),
    "dilated": (functools.partial(separable, dilation=2), [CONV, DEPTHWISE]),
    "padded as told": (
        functools.partial(separable, padding="EXPLICIT", explicit_paddings=[0, 0, 4, 1, 0, 2, 0, 0]),
        [CONV, DEPTHWISE],
    ),
    "inverted": (inverted, [CONV, DEPTHWISE, CONV]),
    "inverted, with windows of five": (functools.partial(inverted, size=5), [CONV, DEPTHWISE, CONV]),
    "inverted, hardly wider": (functools.partial(inverted, wide=16), [CONV, DEPTHWISE]),
    "inverted, with zeros before and strided": (reduced, [CONV, DEPTHWISE, CONV]),
    "two in a row": (lambda b, x: separable(b, separable(b, x, 8)), [CONV, DEPTHWISE]),
    "with two filters a channel": (lambda b, x: product(b, depthwise(b, x, 8, multiplier=2), 16, 5), []),
    "more filters than positions": (functools.partial(separable, filters=200), [CONV, DEPTHWISE]),
}


def lead_ops(call):
    """Return the ops of a group's producers, and of the leads that feed by rows."""
    ops = [call.step.body[0].node.op]
    return ops + (lead_ops(call.lead) if call.is_fed else [])


@pytest.mark.parametrize(
    "kind, dtype", [*((kind, "float32") for kind in BY_ROWS), ("separable", "float64"), ("strided", "float64")]
)
def test_convolutions_in_a_row_hand_on_rows(kind, dtype, many_blocks):
    make, ops = BY_ROWS[kind]
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=[None, 9, 7, 8], name="x")
    b.Neg(make(b, x), name="y")
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    for images in (3, 3, 3, 3, 1, 1, 3, 0, 2, 2):
        feeds = {"x:0": drawn(images, 9, 7, 8).astype(dtype)}
        result, want = session.run("y:0", feeds), single.run("y:0", feeds)
        assert result.dtype == want.dtype and result.shape == want.shape
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=2e-6 * np.abs(want).max(initial=1))
    chains = [lead_ops(call) for call in program(session).fused_calls.values() if call.is_fed]
    assert max(chains, key=len, default=[]) == ops


def test_groups_that_are_not_fed_stand_apart_from_their_leads():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 40, 40, 8], name="x")
    b.Neg(b.Relu(separable(b, x)), name="y")
    with forcing(None):
        session = Session(b.graph)
    for _ in range(SETTLING_RUN + 1):
        session.run("y:0", {"x:0": drawn(2, 40, 40, 8)})
    steps = [instruction[-1] for instruction in program(session).instructions]
    assert [step.node.op for step in steps if isinstance(step, Fused)] == ["Relu6", "Neg"]
    assert not any(step.lead for step in steps if isinstance(step, Fused))


def test_what_fails_in_a_row_of_convolutions_names_its_node(many_blocks):
    b = GraphBuilder()
    x, z = (b.Placeholder(dtype="float32", shape=None, name=name) for name in "xz")
    b.Neg(product(b, b.AddV2(depthwise(b, x, 8), z, name="sum"), 8, 5), name="y")
    session = Session(b.graph)
    feeds = {"x:0": drawn(2, 9, 7, 8), "z:0": drawn(8)}
    for _ in range(SETTLING_RUN + 1):
        session.run("y:0", feeds)
    with pytest.raises(InvalidArgumentError, match="sum"):
        session.run("y:0", feeds | {"z:0": drawn(7)})
    with pytest.raises(InvalidArgumentError, match="DepthwiseConv2dNative"):
        session.run("y:0", feeds | {"x:0": drawn(2, 9, 7, 6)})
