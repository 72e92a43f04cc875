"""Cutting graphs: several outputs, locations."""

from __future__ import annotations

from tfg import GraphBuilder, Session
from tfg.core.passes.pipeline import optimize
from tfg.core.transforms.subgraphs import subgraph
from tfg.core.types.dtypes import float32


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


def test_a_cut_keeps_the_shape_that_follows_from_the_rest():
    g = GraphBuilder()
    x = g.Placeholder(dtype=float32, shape=[None, 3], name="x")
    h = g.MatMul(x, g.constant([[1.0, 2.0]] * 3), name="h")
    g.Relu(h, name="y")
    for part in (subgraph(g.graph, ["y:0"], ["h:0"]), optimize(g.graph, ["y:0"], ["h:0"], "prune")[0]):
        assert part["h"].op == "Placeholder"
        assert str(part["h"].attrs["shape"]).endswith(",2)")


def test_a_cut_keeps_each_shape_of_a_node_with_several_outputs():
    g = GraphBuilder()
    _, b = g.Split(0, g.Placeholder(dtype=float32, shape=[4, None], name="x"), num_split=2, name="s")
    g.Relu(b, name="y")
    assert subgraph(g.graph, ["y:0"], ["s:1"])["s/output_1"].attrs["shape"].dims[0] == 2


def test_a_cut_where_shapes_contradict_keeps_what_the_node_records():
    g = GraphBuilder()
    x = g.Placeholder(dtype=float32, shape=[2], name="x")
    y = g.Placeholder(dtype=float32, shape=[3], name="y")
    g.Relu(x, name="z")
    g.graph.add_node("wrong", "AddV2", [x, y], attrs={"T": float32})
    assert subgraph(g.graph, ["z:0"], ["x:0"])["x"].attrs["shape"].dims == (2,)


def test_an_operation_without_outputs_is_kept():
    g = GraphBuilder()
    x = g.constant(1.0, name="x")
    g.graph.add_node("train", "NoOp", control_inputs=[x.node])
    g.constant(2.0, name="other")
    assert [node.name for node in subgraph(g.graph, ["train"])] == ["x", "train"]
