"""Control edges out of branches: they order, and they leave both nodes as alive as they were."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tfg import Session
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.deadness import ALWAYS
from tfg.core.planning.live_edges import LiveEdges
from tfg.core.planning.planner import races_of

SIDES = list(itertools.product((False, True), repeat=2))


def branch(g, predicate, side, *within):
    """A node that is alive on a side of a predicate, within other branches."""
    with g.control_dependencies(within):
        chosen = g.Identity(predicate)
    return g.Identity(g.Switch(chosen, chosen)[side])


def in_nested_branches(sides, is_inner_within):
    """A variable with an update on nested branches, and an update beside it."""
    g = GraphBuilder()
    v = g.variable(np.float32(1), name="v")
    g.global_variables_initializer()
    p, q = (g.Placeholder(dtype="bool", shape=[], name=name) for name in "pq")
    outer = branch(g, p, sides[0])
    inner = branch(g, q, sides[1], *([outer] if is_inner_within else []))
    with g.control_dependencies([outer, inner]):
        factor = g.constant(np.float32(10))
    earlier = g.Assign(v.handle, g.Mul(v.value, factor), name="earlier")
    later = g.AssignAdd(v.handle, g.constant(np.float32(1)), name="later")
    return g.graph, earlier.node, later.node


@pytest.mark.parametrize("is_inner_within", (False, True))
@pytest.mark.parametrize("sides", SIDES)
def test_an_edge_out_of_nested_branches_orders_and_switches_nothing_off(sides, is_inner_within):
    graph, earlier, later = in_nested_branches(sides, is_inner_within)
    edges = LiveEdges(graph)
    assert edges.let_wait(later, earlier)
    graph.check()
    assert edges.condition(later) == ALWAYS
    session = Session(graph)
    for p, q in SIDES:
        session.run("init")
        session.run("later", {"p:0": p, "q:0": q})
        assert session.run("v/read:0") == (11 if (p, q) == tuple(map(bool, sides)) else 2)


def test_an_edge_within_a_branch_is_plain():
    g = GraphBuilder()
    pivot = branch(g, g.Placeholder(dtype="bool", shape=[], name="p"), 1)
    with g.control_dependencies([pivot]):
        one, two = g.NoOp(name="one"), g.NoOp(name="two")
    before = len(g.graph)
    assert LiveEdges(g.graph).let_wait(two, one)
    assert one in two.control_inputs and len(g.graph) == before


def test_an_edge_into_a_branch_is_plain():
    g = GraphBuilder()
    outside = g.NoOp(name="outside")
    pivot = branch(g, g.Placeholder(dtype="bool", shape=[], name="p"), 1)
    assert LiveEdges(g.graph).let_wait(pivot.node, outside)
    assert outside in pivot.node.control_inputs


def test_no_edge_leaves_a_branch_whose_other_sides_are_unknown():
    """The memory behind a reference may change between two Switches."""
    g = GraphBuilder()
    v = g.variable(np.float32(1), name="v")
    choice = g.VariableV2(dtype="bool", shape=[], name="choice")
    with g.control_dependencies([g.Identity(g.Switch(g.constant(1.0), choice)[1])]):
        update = g.AssignAdd(v.handle, g.constant(np.float32(1)))
    later = g.NoOp(name="later")
    assert not LiveEdges(g.graph).let_wait(later, update.node)
    assert not later.control_inputs


def test_edges_to_several_nodes_share_a_merge():
    graph, earlier, later = in_nested_branches((1, 1), True)
    other = graph.add_node("other", "NoOp")
    edges = LiveEdges(graph)
    assert edges.let_wait(later, earlier) and edges.let_wait(other, earlier)
    assert set(later.control_inputs) & set(other.control_inputs)
    assert not list(races_of(graph, [later, earlier]))
