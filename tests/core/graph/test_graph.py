"""Graph: edges, use lists, names, copies and validation."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.graph.traversal import reachable, topological_order
from tfg.core.support.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError
from tfg.core.support.tensor_names import parse_tensor_name


@pytest.fixture
def graph():
    g = GraphBuilder()
    a = g.constant(1.0, name="a")
    b = g.Neg(a, name="b")
    with g.control_dependencies([b]):
        g.AddV2(a, b, name="c")
    return g.graph


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ("a", 0, False)),
        ("a:1", ("a", 1, False)),
        ("^a", ("a", -1, True)),
        ("a:b", ("a:b", 0, False)),
        ("s/a:12", ("s/a", 12, False)),
    ],
)
def test_tensor_names(text, expected):
    assert parse_tensor_name(text) == expected


def test_uses_follow_edges(graph):
    a, b, c = graph
    assert a.uses == {b: 1, c: 1}
    assert graph.consumers(b.output()) == [c]
    graph.set_input(c, 1, a.output())
    assert a.uses == {b: 1, c: 2}
    assert b.uses == {}


def test_edges_cannot_be_assigned(graph):
    with pytest.raises(AttributeError, match="set_input"):
        graph["b"].inputs = ()
    with pytest.raises(AttributeError, match="control_input"):
        graph["b"].control_inputs = ()


def test_replace_all_uses_keeps_control_edges(graph):
    a, b, c = graph
    graph.add_control_input(c, a)
    graph.replace_all_uses(a.output(), b.output())
    assert [value.node.name for value in c.inputs] == ["b", "b"]
    assert [control.name for control in c.control_inputs] == ["a"]
    graph.replace_control_uses(a, b)
    assert [control.name for control in c.control_inputs] == ["b"]


def test_removing_a_used_node_is_refused(graph):
    with pytest.raises(InvalidArgumentError, match="still used by 'b'"):
        graph.remove_node(graph["a"])
    graph.remove_nodes(list(graph))
    assert len(graph) == 0


def test_missing_names_have_hints(graph):
    with pytest.raises(NotFoundError) as caught:
        Graph.node(graph, "aa")
    assert "a" in str(caught.value.hint)
    with pytest.raises(InvalidArgumentError, match=r"output 1 does not exist: the node has 1 output$"):
        graph.output("a:1")
    with pytest.raises(InvalidArgumentError, match="control input"):
        graph.output("^a")


def test_rename_keeps_the_order(graph):
    graph.rename_node(graph["b"], "bb")
    assert [node.name for node in graph] == ["a", "bb", "c"]
    with pytest.raises(AlreadyExistsError):
        graph.rename_node(graph["bb"], "c")


def test_copy_shares_nothing_that_changes(graph):
    other = graph.copy()
    other.set_input(other["c"], 1, other["a"].output())
    other["b"].set_attr("note", b"x")
    assert graph["c"].inputs[1].node is graph["b"]
    assert "note" not in graph["b"].attrs


def test_reorder_and_topological_order(graph):
    a, b, c = graph
    graph.reorder([c, b, a])
    assert [node.name for node in topological_order(graph)] == ["a", "b", "c"]
    with pytest.raises(InvalidArgumentError):
        graph.reorder([a])


def test_cycle_is_named(graph):
    graph.set_input(graph["b"], 0, graph["c"].output())
    with pytest.raises(InvalidArgumentError, match="cycle"):
        topological_order(graph)


def test_reachable_stops_where_told(graph):
    a, b, c = graph
    assert reachable([c]) == {a, b, c}
    assert reachable([b], stop=lambda node: node is b) == {b}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda g: g.set_inputs(g["c"], g["c"].inputs[:1]), "it has 1 input, but its op takes 2"),
        (lambda g: g["b"].set_attr("T", None), ""),
        (lambda g: g["b"].remove_attr("T"), "needs attribute 'T'"),
        (lambda g: g["b"].uses.clear(), "does not list it as a use"),
        (lambda g: g.rename_node(g["b"], "bad name"), "not a valid node name"),
    ],
)
def test_check_names_the_node(graph, damage, message):
    graph.check()
    damage(graph)
    if message:
        with pytest.raises(InvalidArgumentError, match=message):
            graph.check()


@pytest.mark.slow
def test_edges_of_nodes_with_many_of_them():
    """After replacements in any order, the lists of wide nodes agree with a scan of all inputs."""
    rng = np.random.default_rng(7)
    g = GraphBuilder()
    many = g.Unpack(g.Placeholder(dtype="float32", shape=(200, 2), name="x"), num=200)
    ends = [g.AddN(list(many), name="sum"), *(g.Neg(value) for value in many)]
    graph = g.graph
    nodes = [value.node for value in ends]
    with g.control_dependencies(nodes[1:]):
        gate = g.NoOp(name="gate")
    for _ in range(600):
        old, new = (many[i] for i in rng.integers(len(many), size=2))
        other, node = (nodes[1 + i] for i in rng.integers(len(many), size=2))
        match rng.integers(5):
            case 0:
                graph.replace_all_uses(old, new)
            case 1:
                graph.set_input(node, 0, new)
            case 2:
                graph.remove_control_input(gate, node)
            case 3:
                graph.add_control_input(gate, node)
            case 4:
                graph.replace_control_uses(node, other)
        assert_consistent(graph, [old, new], [node, other])
    graph.check()


def test_a_unique_name_has_the_first_free_suffix():
    graph = Graph()
    rng = np.random.default_rng(0)
    for _ in range(400):
        name = graph.unique_name("a")
        taken = {node.name for node in graph}
        assert name == next(each for each in ("a", *(f"a_{i}" for i in range(1, 500))) if each not in taken)
        node = graph.add_node(name, "NoOp")
        if rng.integers(3) == 0:
            graph.remove_node(graph[rng.choice(sorted(taken | {name}))])
        elif rng.integers(3) == 0:
            graph.rename_node(node, f"other_{len(graph)}_{name}")


def assert_consistent(graph, values, nodes):
    for value in values:
        assert set(graph.consumers(value)) == {node for node in graph if value in node.inputs}
    for node in nodes:
        assert set(graph.control_consumers(node)) == {user for user in graph if node in user.control_inputs}
        taken = [value.node for user in graph for value in user.inputs] + [n for user in graph for n in user.control_inputs]
        assert sum(node.uses.values()) == taken.count(node)


def sizes(tensors):
    return {name: (str(tensor.dtype), str(tensor.shape)) for name, tensor in tensors.items()}


def test_a_graph_has_its_parts(graph):
    """The last node of the chain is the output, with the shape that follows from a scalar constant."""
    assert [node.name for node in graph.nodes] == ["a", "b", "c"]
    assert (sizes(graph.inputs), sizes(graph.outputs)) == ({}, {"c": ("float", "()")})
    assert graph.signatures == {} and graph.variables == {}


def test_placeholders_and_outputs_have_the_names_of_their_nodes():
    """The two outputs of a node have names of their own."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 4], name="in/x")
    g.Split(1, x, num_split=2, name="halves")
    w = g.variable(1.0, name="w")
    g.Mul(w, 2.0, name="scaled")
    g.global_variables_initializer()
    assert sizes(g.graph.inputs) == {"in/x": ("float", "(?,4)")}
    assert sizes(g.graph.outputs) == {"halves": ("float", "(?,2)"), "halves:1": ("float", "(?,2)"), "scaled": ("float", "()")}
    assert sizes(g.graph.variables) == {"w": ("float", "()")}


def test_the_parts_of_a_saved_model_are_those_of_the_usual_signature():
    """Keras 3 writes each of the 8 variables of this model three times."""
    graph = tfg.load(SAMPLES / "keras_classifier")
    assert set(graph.signatures) == {"serve", "serving_default"}
    assert sizes(graph.signatures["serve"].inputs) == sizes(graph.inputs) == {"measurements": ("float", "(?,4)")}
    assert sizes(graph.outputs) == {"output_0": ("float", "(?,3)")}
    assert sorted(str(variable.shape) for variable in graph.variables.values()) == ["(3)", "(4,8)", *["(8)"] * 5, "(8,3)"]
