"""Under which conditions nodes are alive."""

from __future__ import annotations

import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.control_flow.conditions import Conditions
from tfg.core.support.errors import InvalidArgumentError


def test_a_cycle_is_refused():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    first = g.Identity(x, name="first")
    second = g.Neg(first, name="second")
    g.graph.set_inputs(first.node, [second])
    with pytest.raises(InvalidArgumentError, match="cycle"):
        Conditions().of_node(second.node)


def test_a_node_that_two_wait_for_is_no_cycle():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    shared = g.Neg(x)
    assert Conditions().of_node(g.Add(g.Add(shared, x), g.Add(shared, shared)).node) == frozenset()


def test_what_is_known_is_not_found_anew():
    """Every node doubles the paths to the first: a search along all of them would not come to an end."""
    g = GraphBuilder()
    value = g.constant(1.0)
    for _ in range(60):
        value = g.Add(value, value)
    assert Conditions().of_node(value.node) == frozenset()
