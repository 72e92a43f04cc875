"""Cutting graphs: several outputs, locations."""

from __future__ import annotations

from tfg import GraphBuilder, Session
from tfg.core.transforms.subgraphs import subgraph


def test_cut_at_one_output_of_several():
    g = GraphBuilder()
    a, b = g.Split(0, [1.0, 2.0], num_split=2, name="s")
    g.AddV2(a, b, name="y")
    part = subgraph(g.graph, ["y:0"], ["s:1"])
    part.check()
    assert Session(part).run("y:0", {"s/output_1:0": [5.0]}).tolist() == [6.0]


def test_locations_of_nodes_that_are_gone_are_forgotten():
    g = GraphBuilder()
    a = g.constant(1.0, name="a")
    with g.colocate_with(g.constant(2.0, name="gone")):
        g.Neg(a, name="y")
    assert subgraph(g.graph, ["y:0"])["y"].colocation == ()
