"""Nodes that end gradients, in functions of JAX: on variables, between the iterations of loops and behind loops.

Expected gradients are TensorFlow's: test_barriers_in_loops.py asks TensorFlow again.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import jax  # noqa: E402

import tfg  # noqa: E402
from tests.core.engines.gradients_of_loops import GRADIENTS  # noqa: E402
from tests.functions import define  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.support.errors import UnimplementedError  # noqa: E402


def v1_loop(place):
    """y = x w**2 + x by a V1 loop of two iterations; the node that ends gradients is at `place`."""
    b = GraphBuilder()
    x, w = (b.Placeholder(dtype="float32", shape=[], name=name) for name in "xw")

    def ended(value, here):
        if here not in place:
            return value
        return b.PreventGradient(value, message=b"no way") if "prevent" in place else b.StopGradient(value)

    def constant(value):
        return b.Enter(value, frame_name="f", is_constant=True)

    entered = [b.Enter(v, frame_name="f") for v in (b.constant(np.int32(0)), ended(x, "enter"), x)]
    merged = [b.Merge([value, value])[0] for value in entered]
    goes_on = b.LoopCond(b.Less(merged[0], constant(b.constant(np.int32(2)))))
    switches = [b.Switch(value, goes_on) for value in merged]
    number, value, same = (b.Identity(switch[1]) for switch in switches)
    after = (
        b.AddV2(number, constant(b.constant(np.int32(1)))),
        ended(b.Mul(value, constant(ended(w, "invariant"))), "next"),
        ended(same, "same"),
    )
    for merge, new in zip(merged, after):
        b.graph.set_input(merge.node, 1, b.NextIteration(new))
    left = b.Exit(ended(switches[1][0], "exit"))
    b.AddV2(left, b.Exit(switches[2][0]), name="y")
    return b.graph


def gradients(graph, names=("x:0", "w:0")):
    function, parameters = tfg.to_jax(graph, "y:0", list(names))
    return tuple(float(v) for v in jax.grad(function, argnums=(1, 2))(parameters, 3.0, 2.0))


@pytest.mark.parametrize("place", GRADIENTS)
def test_gradients_end_in_v1_loops(place):
    function, parameters = tfg.to_jax(v1_loop(place), "y:0", ["x:0", "w:0"])
    assert function(parameters, 3.0, 2.0) == 15
    assert gradients(v1_loop(place)) == GRADIENTS[place]


@pytest.mark.parametrize("place", [place for place in GRADIENTS if place != "none"])
def test_prevented_gradients_in_v1_loops(place):
    with pytest.raises(UnimplementedError, match="no way"):
        gradients(v1_loop(f"{place} prevent"))


def v2_loop(place):
    """The same as `v1_loop` by a While."""
    b = GraphBuilder()
    x, w = (b.Placeholder(dtype="float32", shape=[], name=name) for name in "xw")
    types = ["int32", "float", "float", "float"]

    def ended(g, value, here):
        return g.StopGradient(value) if here == place else value

    define(b, "less", types, lambda f, i, y, z, w: [f.Less(i, f.constant(np.int32(2)))])
    define(
        b, "body", types,
        lambda f, i, y, z, w: [
            f.AddV2(i, f.constant(np.int32(1))), ended(f, f.Mul(y, w), "next"), ended(f, f.Identity(z), "same"), w
        ],
    )  # fmt: skip
    values = [b.constant(np.int32(0)), ended(b, x, "enter"), x, ended(b, w, "invariant")]
    results = b.While(values, cond="less", body="body")
    b.AddV2(ended(b, results[1], "exit"), results[2], name="y")
    return b.graph


@pytest.mark.parametrize("place", GRADIENTS)
def test_gradients_end_in_v2_loops(place):
    assert gradients(v2_loop(place)) == GRADIENTS[place]


@pytest.mark.parametrize("is_resource", [False, True])
def test_gradients_end_at_variables(is_resource):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    w = b.variable(np.float32(2), "w", resource=is_resource)
    read = b.ReadVariableOp(w.handle, dtype="float32") if is_resource else w.handle
    b.Mul(x, b.StopGradient(read), name="y")
    function, parameters = tfg.to_jax(b.graph, "y:0", ["x:0"])
    by_parameters, by_x = jax.grad(function, argnums=(0, 1))({"w": np.float32(2)}, 3.0)
    assert parameters is not None and (float(by_parameters["w"]), float(by_x)) == (0, 2)
