"""Rewrites add no control edge that leaves a branch or a loop: it would switch the waiting node off."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.control_flow import counted
from tests.functions import define
from tfg import Session, optimize
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.frames import ENTER, EXIT, find_frames
from tfg.core.types.tensors import FuncRef

SIDES = (False, True)


def updated_on_a_branch(g, handle, x, p):
    """A value of a V1 conditional with an update on one side."""
    switch = g.Switch(x, p)
    update = g.AssignAddVariableOp(g.Switch(handle, p)[1], switch[1])
    with g.control_dependencies([update]):
        inside = g.Tanh(switch[1])
    return g.Merge([switch[0], inside])[0], update


def graph_of(make):
    g = GraphBuilder()
    v = g.variable(np.float32(1), name="v", resource=True)
    g.global_variables_initializer()
    x, p = g.Placeholder(dtype="float32", shape=[], name="x"), g.Placeholder(dtype="bool", shape=[], name="p")
    g.Identity(make(g, v.handle, x, p), name="y")
    g.ReadVariableOp(v.handle, dtype="float32", name="value")
    return g.graph


def outcome(graph, p):
    session = Session(graph)
    session.run("init")
    return session.run("y:0", {"x:0": np.float32(2), "p:0": p}), session.run("value:0")


def assert_alike(graph, passes=None):
    optimized, report = optimize(graph, ["y:0"], ["x:0", "p:0"], passes, keep=["init", "value"])
    for p in SIDES:
        assert outcome(graph, p) == outcome(optimized, p)
    return optimized, report


FORGETTING = {
    "a choice that is known": lambda g, x, value: g.Select(g.constant(True), x, value),
    "times zero": lambda g, x, value: g.AddV2(x, g.Mul(value, 0.0)),
    "less itself": lambda g, x, value: g.AddV2(x, g.Sub(value, value)),
    "its rank": lambda g, x, value: g.AddV2(x, g.Cast(g.Rank(value), DstT="float32")),
    "zeros": lambda g, x, value: g.AddV2(x, g.ZerosLike(value)),
}


@pytest.mark.parametrize("how", FORGETTING)
def test_a_value_that_is_read_no_more_leaves_its_reader_alive(how):
    assert_alike(graph_of(lambda g, handle, x, p: FORGETTING[how](g, x, updated_on_a_branch(g, handle, x, p)[0])))


@pytest.mark.parametrize("how", FORGETTING)
def test_a_loop_whose_result_is_read_no_more_is_waited_for_outside(how):
    """No control edge leads from a node in a loop to a node outside."""

    def make(g, handle, x, p):
        def body(values, fixed):
            with g.control_dependencies([g.AssignAddVariableOp(fixed[0], values[0])]):
                return [g.Tanh(values[0])]

        return FORGETTING[how](g, x, counted(g, "f", 3, [x], [handle], body)[1])

    optimized, _ = assert_alike(graph_of(make))
    frames = find_frames(optimized)
    for node in optimized:
        for control in node.control_inputs:
            around = None if control.op in EXIT else frames.get(control)
            assert around is frames.get(node) or (node.op in ENTER and around is None), (control.name, node.name)


@pytest.mark.parametrize("reads", (False, True))
def test_a_call_ends_whichever_branch_its_body_takes(reads):
    def make(g, handle, x, p):
        def body(b, handle, x, p):
            _, update = updated_on_a_branch(b, handle, x, p)
            made["update"] = update.name
            return [b.Neg(x)]

        made = {}
        define(g, "f", ["resource", "float32", "bool"], body, stateful=True)
        function = g.graph.functions["f"]
        function.control_results.append(function.body.node(made["update"]))
        result = g.StatefulPartitionedCall([handle, x, p], f=FuncRef("f"), Tout=["float32"])[0]
        with g.control_dependencies([result]):
            after = g.Square(x)
        return g.AddV2(result, after) if reads else after

    graph = graph_of(make)
    _, report = assert_alike(graph)
    assert any(record.fired.get("call") for record in report.passes)
