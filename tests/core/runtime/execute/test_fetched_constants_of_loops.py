"""The fetch of a constant that enters a loop, as in TensorFlow: the value, unless the loop iterates in the same run."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.support.errors import InvalidArgumentError


@pytest.fixture
def session():
    """y = (2 x) ** n by a V1 loop."""
    g = tfg.GraphBuilder()
    x, n = g.Placeholder(dtype="float32", shape=[], name="x"), g.Placeholder(dtype="int32", shape=[], name="n")
    fixed = {"frame_name": "loop", "is_constant": True}
    factor, limit = g.Enter(g.AddV2(x, x), name="factor", **fixed), g.Enter(n, **fixed)
    one = g.Enter(g.constant(np.int32(1)), **fixed)
    starts = [g.constant(np.int32(0)), g.constant(np.float32(1))]
    count, power = (g.Merge([value, value])[0] for value in (g.Enter(start, frame_name="loop") for start in starts))
    more = g.LoopCond(g.Less(count, limit))
    (_, going), (left, staying) = g.Switch(count, more), g.Switch(power, more)
    for merge, value in ((count, g.AddV2(going, one)), (power, g.Mul(staying, factor))):
        g.graph.set_input(merge.node, 1, g.NextIteration(value))
    g.Identity(g.Exit(left), name="y")
    return tfg.Session(g.graph)


def test_without_an_iteration_it_has_its_value(session):
    factor, y = session.run(["factor:0", "y:0"], {"x": 3, "n": 0})
    assert (factor, y) == (6, 1)


@pytest.mark.parametrize("n", [1, 3])
def test_with_iterations_it_has_one_value_each(session, n):
    assert session.run("y:0", {"x": 3, "n": n}) == 6**n
    with pytest.raises(InvalidArgumentError, match="a tensor in a loop has a value for each iteration"):
        session.run(["factor:0", "y:0"], {"x": 3, "n": n})


@pytest.mark.parametrize("n", [0, 1, 3])
def test_alone_it_needs_no_loop(session, n):
    """No needed node iterates."""
    assert session.run("factor:0", {"x": 3, "n": n}) == 6
