"""Each call of a drawing function has separate random streams: the nodes of the function replace the call."""

import numpy as np
import pytest

from tests.functions import define
from tfg import Session
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.execute import random_lowering
from tfg.core.support.errors import ResourceExhaustedError
from tfg.core.types.tensors import FuncRef

UNIFORM = {"dtype": "float32", "seed": 3, "seed2": 5}


def draw(b):
    return b.RandomUniform(b.constant(np.array([2], np.int32)), **UNIFORM)


def call(b, name, count=1):
    return b.StatefulPartitionedCall([], Tout=["float32"] * count, f=FuncRef(name))


def drawn_alone(runs):
    g = GraphBuilder()
    out, session = draw(g), Session(g.graph)
    return [session.run([out.name])[0] for _ in range(runs)]


def assert_each_draws_alone(g, outs, runs=4):
    session = Session(g.graph)
    for expected in drawn_alone(runs):
        for result in session.run([out.name for out in outs]):
            np.testing.assert_array_equal(result, expected)


def test_calls_of_a_function_and_calls_in_calls():
    g = GraphBuilder()
    define(g, "draw", [], lambda b: [draw(b)], stateful=True)
    define(g, "both", [], lambda b: [call(b, "draw")[0], call(b, "draw")[0]], stateful=True)
    define(g, "most", [], lambda b: [*call(b, "both", 2), call(b, "draw")[0]], stateful=True)
    outs = [call(g, "draw")[0], call(g, "draw")[0], *call(g, "both", 2), *call(g, "most", 3), *call(g, "most", 3)]
    assert_each_draws_alone(g, outs)


@pytest.mark.parametrize("lowers", [False, True])
def test_calls_in_branches(lowers):
    g = GraphBuilder()
    define(g, "draw", [], lambda b: [draw(b)], stateful=True)
    outs = []
    for name in ("first", "second"):
        branch = FuncRef(define(g, name, [], lambda b: [call(b, "draw")[0]], stateful=True))
        branches = {"then_branch": branch, "else_branch": branch, "_lower_using_switch_merge": lowers}
        outs += g.If(g.constant(True), [], Tout=["float32"], output_shapes=[], **branches)
    assert_each_draws_alone(g, outs)


def test_fetches_share_the_streams_of_their_calls():
    g = GraphBuilder()
    define(g, "draw", [], lambda b: [draw(b)], stateful=True)
    first, second = (call(g, "draw")[0] for _ in range(2))
    doubled = g.AddV2(first, first)
    session, expected = Session(g.graph), drawn_alone(3)
    np.testing.assert_array_equal(session.run([first.name])[0], expected[0])
    np.testing.assert_array_equal(session.run([doubled.name])[0], 2 * expected[1])
    for result, want in zip(session.run([second.name, first.name]), (expected[0], expected[2])):
        np.testing.assert_array_equal(result, want)


def test_control_outputs_of_a_call():
    """A node that waits for a call waits for the required nodes of the function."""
    g = GraphBuilder()
    v = g.VarHandleOp(dtype="float32", shape=[2], name="v")

    def body(b, handle):
        drawn = draw(b)
        b.graph.add_node("write", "AssignVariableOp", [handle, drawn], (), {"dtype": drawn.dtype})
        return [drawn]

    name = define(g, "write", ["resource"], body, stateful=True)
    g.graph.functions[name].control_results.append(g.graph.functions[name].body.node("write"))
    drawn = g.StatefulPartitionedCall([v], Tout=["float32"], f=FuncRef(name))[0]
    with g.control_dependencies([drawn]):
        read = g.ReadVariableOp(v, dtype="float32")
    result, kept = Session(g.graph).run([drawn.name, read.name])
    np.testing.assert_array_equal(result, kept)


@pytest.mark.slow
def test_functions_that_call_themselves_stay_calls(monkeypatch):
    monkeypatch.setattr(random_lowering, "MAX_NODES", 500)
    g = GraphBuilder()
    define(g, "endless", [], lambda b: [b.AddV2(draw(b), call(b, "endless")[0])], stateful=True)
    out = call(g, "endless")[0]
    with pytest.raises(ResourceExhaustedError, match="calls itself without end"):
        Session(g.graph).run([out.name])


@pytest.mark.slow
def test_many_calls_of_calls_have_no_end_of_nodes(monkeypatch):
    monkeypatch.setattr(random_lowering, "MAX_NODES", 500)
    g = GraphBuilder()
    define(g, "f0", [], lambda b: [draw(b)], stateful=True)
    for i in range(12):
        define(g, f"f{i + 1}", [], lambda b, i=i: [b.AddV2(*(call(b, f"f{i}")[0] for _ in range(2)))], stateful=True)
    out, session = call(g, "f12")[0], Session(g.graph)
    assert session.run([out.name])[0].shape == (2,)
    assert len(session.runnable()) < 1000
