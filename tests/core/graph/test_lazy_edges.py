"""Edges of nodes from files, made on demand, and edges of nodes with many inputs."""

from __future__ import annotations

import threading

import pytest

from tfg.core.graph import graph as graph_module
from tfg.core.graph import node as node_module
from tfg.core.graph.graph import Graph, Output
from tfg.core.graph.traversal import topological_order
from tfg.core.inference.inference import Answers, ShapeCache, infer
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.formats import load, to_bytes, to_text
from tfg.formats.protos.graph_pb2 import GraphDef

FLOAT = {"T": dtypes.float32}
MANY = 200


def definition() -> GraphDef:
    """Return x, y = f(x:0, ^x, ^x), and a sum of MANY branches of y, with inputs after their consumers."""
    graph = GraphDef()
    total = graph.node.add(name="sum", op="AddN", input=[f"b{i}" for i in range(MANY)])
    total.attr["N"].i = MANY
    graph.node.add(name="y", op="Tanh", input=["x:0", "^x", "^x"])
    for i in range(MANY):
        graph.node.add(name=f"b{i}", op="Tanh", input=["y"])
    for node in graph.node:
        node.attr["T"].type = 1
    x = graph.node.add(name="x", op="Placeholder")
    x.attr["dtype"].type = 1
    x.attr["shape"].shape.dim.add(size=3)
    return graph


@pytest.fixture
def graph() -> Graph:
    return load(definition().SerializeToString())


def edges(graph):
    return {node.name: ([str(v) for v in node.inputs], [c.name for c in node.control_inputs]) for node in graph}


def uses(graph):
    return {node.name: {user.name: count for user, count in node.uses.items()} for node in graph}


def test_an_output_is_one_object_in_all_threads(graph):
    outputs = []
    barrier = threading.Barrier(4)

    def ask():
        barrier.wait()
        outputs.append([Output(node, index) for node in graph for index in (0, 1, 5)])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(a is b for other in outputs[1:] for a, b in zip(outputs[0], other))
    assert graph["x"].output() is Output(graph["x"], 0) is not Output(graph["x"], 1)


def test_what_is_asked_first_changes_nothing():
    whole = definition().SerializeToString()
    first, second, third = load(whole), load(whole), load(whole)
    assert [first["y"].input_names(), first["y"].input_count()] == [(["x"], ["x"]), 1]
    used, result = uses(first), edges(first)
    second.check()
    assert edges(second) == result and uses(second) == used
    copied = third.copy()
    assert uses(copied) == used and edges(copied) == result and edges(copied.copy()) == result
    assert first["y"].input_names() == (["x"], ["x"]) and used["x"] == {"y": 2}


def test_unchanged_inputs_keep_their_spelling(graph):
    written = definition().SerializeToString(deterministic=True)
    assert to_bytes(graph) == to_bytes(graph.copy()) == written
    uses(graph)
    assert to_bytes(graph) == to_bytes(graph.copy()) == written
    graph.rename_node(graph["x"], "z")
    assert list(GraphDef.FromString(to_bytes(graph)).node[1].input) == ["z", "^z"]
    assert 'input: "x' not in to_text(graph)


def chain() -> GraphDef:
    """Return x and three Tanh, each of the one before."""
    graph = GraphDef()
    for name, op, inputs in (("x", "Placeholder", []), ("a", "Tanh", ["x"]), ("b", "Tanh", ["a"]), ("c", "Tanh", ["b"])):
        node = graph.node.add(name=name, op=op, input=inputs)
        node.attr["T" if inputs else "dtype"].type = 1
    return graph


def known_in_order(graph: Graph) -> bool:
    graph.resolve()
    return graph.is_in_order


def test_a_file_in_order_is_known_to_be():
    graph = load(chain().SerializeToString())
    assert known_in_order(graph) and known_in_order(graph.copy())
    assert topological_order(graph) == list(graph)
    graph.set_input(graph["a"], 0, graph["c"].output())
    assert not known_in_order(graph) and not known_in_order(graph.copy())
    with pytest.raises(InvalidArgumentError, match="cycle"):
        topological_order(graph)


@pytest.mark.parametrize("inputs", [["c"], ["b"], ["x", "^c"], ["x", "^x"]])
def test_a_file_with_other_edges_is_not_known_to_be_in_order(inputs):
    definition = chain()
    definition.node[2].input[:] = inputs
    assert not known_in_order(load(definition.SerializeToString()))


def test_the_order_of_a_file_decides_and_not_the_names():
    definition = chain()
    nodes = [definition.node[i] for i in (3, 1, 0, 2)]
    graph = load(GraphDef(node=nodes).SerializeToString())
    assert not known_in_order(graph)
    assert [node.name for node in topological_order(graph)] == ["x", "a", "b", "c"]


@pytest.mark.parametrize("order", [1, -1])
def test_an_input_is_spelled_with_the_name_of_its_node(order):
    """A name has a single string object, with the node before or after the consumers."""
    graph = definition()
    nodes = list(graph.node)[::order]
    loaded = load(GraphDef(node=nodes).SerializeToString())
    texts = [text for node in loaded for text in node.spelling if text in loaded]
    assert len(texts) == 2 * MANY
    assert all(text is loaded[text].name for text in texts)


def test_edits_before_anything_was_asked(graph):
    node = graph.add_node("new", "Tanh", [graph["y"].output()], attrs=FLOAT)
    assert graph["y"].uses[node] == 1 and len(graph["y"].uses) == MANY + 1
    with pytest.raises(InvalidArgumentError, match="still used by"):
        graph.remove_node(graph["b3"])
    graph.check()


@pytest.mark.parametrize("copy", [False, True])
def test_one_of_many_inputs_is_replaced(graph, copy):
    graph = graph.copy() if copy else graph
    total = graph["sum"]
    for i in range(0, MANY, 2):
        graph.replace_all_uses(graph[f"b{i}"].output(), graph["b1"].output())
        assert total not in graph[f"b{i}"].uses
    assert [value.node.name for value in total.inputs] == [f"b{i if i % 2 else 1}" for i in range(MANY)]
    assert graph["b1"].uses == {total: MANY // 2 + 1} and total.input_count() == MANY
    graph.set_input(total, 5, graph["y"].output())
    graph.replace_all_uses(graph["b1"].output(), graph["y"].output())
    graph.check()
    assert uses(graph)["y"]["sum"] == MANY // 2 + 2 and not graph["b1"].uses


def test_shapes_are_derived_again_where_something_changed(graph):
    derived = ShapeCache()

    def shapes():
        specs = infer(graph, answers=Answers(derived=derived))
        fresh = infer(graph)
        assert {output: repr(spec) for output, spec in specs.specs.items()} == {
            output: repr(spec) for output, spec in fresh.specs.items()
        }
        return {output.node.name: spec.shape for output, spec in specs.specs.items()}

    assert shapes()["sum"] == shapes()["b7"] == Shape([3])
    graph["x"].set_attr("shape", Shape([2, 5]))
    assert shapes()["sum"] == Shape([2, 5])
    graph.set_input(graph["b7"], 0, graph.add_node("w", "Identity", [graph["x"].output()], attrs=FLOAT).output())
    graph["b8"].change_op("Shape")
    graph["b8"].attrs = {"T": dtypes.float32, "out_type": dtypes.int32}
    graph["b8"].forget_dtypes()
    graph.remove_nodes([graph["sum"]])
    assert shapes()["b8"] == Shape([2])


def test_what_did_not_change_is_not_checked_again(graph, monkeypatch):
    looked_at = []

    def noted(nodes, is_linked):
        looked_at.extend(nodes)
        return node_module.unusual_edges(nodes, is_linked)

    monkeypatch.setattr(graph_module, "unusual_edges", noted)

    def is_checked_anew():
        looked_at.clear()
        graph.check_changes()
        return len(looked_at) == len(graph)

    assert is_checked_anew() and not is_checked_anew()
    graph.rename_node(graph["b3"], "b_three")
    assert is_checked_anew() and not is_checked_anew()
    graph.set_input(graph["b8"], 0, graph["x"].output())
    assert is_checked_anew() and not is_checked_anew()
    graph["b7"].set_attr("T", dtypes.float64)
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="b7"):
            graph.check_changes()
    graph["b7"].set_attr("T", dtypes.float32)
    assert is_checked_anew() and not is_checked_anew()
