"""What nodes cost that are alike is worked out once."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder
from tfg.core.flops import CountCache, count, count_flops
from tfg.core.types.shapes import Shape
from tfg.formats import load, to_bytes


@pytest.fixture
def worked_out(monkeypatch):
    """The names of the nodes whose formula was asked."""
    names = []
    formula = count.call_flops_function
    monkeypatch.setattr(count, "call_flops_function", lambda node, *given: names.append(node.name) or formula(node, *given))
    return names


def graph_of(many, *last):
    b = GraphBuilder()
    value = b.Placeholder(dtype="float", shape=[2, 3], name="x")
    for _ in range(many):
        value = b.Tanh(value)
    for axes in last:
        value = b.Sum(value, np.array(axes, np.int32), keep_dims=True)
    b.Identity(value, name="y")
    return b.graph


def test_a_second_count_asks_no_formula_again(worked_out):
    graph, cache = graph_of(20), CountCache()
    first = count_flops(graph, ["y"], derived=cache)
    before = len(worked_out)
    assert count_flops(graph, ["y"], derived=cache) == first
    assert len(worked_out) == before


def test_what_is_asked_does_not_follow_the_number_of_nodes(worked_out):
    """Nodes from a file share their attributes where these are the same."""
    graph = load(to_bytes(graph_of(50)))
    assert count_flops(graph, ["y"]).total().transcendentals == 300
    assert len([name for name in worked_out if "Tanh" in name]) == 1


def test_nodes_of_sizes_that_only_a_run_decides_share_their_costs(worked_out):
    """The size gets a name after inference: specs that were one object stay one object."""
    b = GraphBuilder()
    value = b.Cast(b.Where(b.Placeholder(dtype="bool", shape=[6], name="x")), DstT="float")
    for _ in range(50):
        value = b.Tanh(value)
    b.Identity(value, name="y")
    total = count_flops(load(to_bytes(b.graph)), ["y"]).total()
    assert str(total.transcendentals) == "50*n[Where]"
    assert len([name for name in worked_out if "Tanh" in name]) == 1


def test_costs_follow_values_of_inputs_and_changes(worked_out):
    graph, cache = graph_of(0, [0], [1]), CountCache()
    assert count_flops(graph, ["y"], derived=cache).total().flops == 3 + 2
    other = graph_of(0, [1], [0])
    assert count_flops(other, ["y"], derived=cache).total().flops == 4 + 1
    graph["x"].set_attr("shape", Shape([2, 5]))
    assert count_flops(graph, ["y"], derived=cache).total().flops == 5 + 4
