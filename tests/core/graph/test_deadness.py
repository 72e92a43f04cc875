"""Deadness analysis: the branches on which nodes are alive."""

from __future__ import annotations

import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.deadness import Deadness, branch_of, is_contradiction, joined, on_branch
from tfg.core.support.errors import InvalidArgumentError


def test_a_cycle_is_refused():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    first = g.Identity(x, name="first")
    second = g.Neg(first, name="second")
    g.graph.set_inputs(first.node, [second])
    with pytest.raises(InvalidArgumentError, match="cycle"):
        Deadness().of_node(second.node)


def test_a_node_that_two_wait_for_is_no_cycle():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    shared = g.Neg(x)
    assert Deadness().of_node(g.Add(g.Add(shared, x), g.Add(shared, shared)).node) == frozenset()


def test_what_is_known_is_not_found_anew():
    """Every node doubles the paths to the first: a search along all of them would not come to an end."""
    g = GraphBuilder()
    value = g.constant(1.0)
    for _ in range(60):
        value = g.Add(value, value)
    assert Deadness().of_node(value.node) == frozenset()


def test_a_branch_that_a_known_predicate_does_not_take_is_dead():
    always: frozenset[tuple[str, int]] = frozenset()
    assert on_branch(always, "p", 1) == {("p", 1)}
    assert on_branch(always, "p", 1, taken=1) == always
    assert is_contradiction(on_branch(always, "p", 0, taken=1))
    assert joined("merge", [on_branch(always, "p", 0, taken=1), on_branch(always, "q", 1)], {}) == {("q", 1)}


def test_the_branch_of_a_predicate_is_that_of_its_literal():
    assert branch_of(frozenset({("p", 1), ("q", 0)}), "q") == 0
    assert branch_of(frozenset({("p", 1)}), "q") is None


def test_a_fed_value_is_alive_whichever_branch_its_node_lies_on():
    g = GraphBuilder()
    predicate = g.Placeholder(dtype="bool", shape=[], name="p")
    taken = g.Switch(g.constant(1.0), predicate)[1]
    value = g.Neg(taken)
    result = g.Square(value)
    assert Deadness().of_node(result.node) == {(predicate, 1)}
    assert Deadness(fed={value}).of_node(result.node) == frozenset()
