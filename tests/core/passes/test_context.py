"""The shared context of passes: an order of the nodes that stays valid after every change of the graph."""

from __future__ import annotations

import pytest

from tfg.core.graph.graph import Graph, Node
from tfg.core.passes.base.graph_pass import PassContext
from tfg.core.types import dtypes

MANY = 70
CHANGES = {
    "a node": lambda graph: add(graph, "new", graph["a"]),
    "an input": lambda graph: graph.set_input(graph["a"], 0, graph["z"].output()),
    "all inputs": lambda graph: graph.set_inputs(graph["a"], [graph["z"].output()]),
    "a control input": lambda graph: graph.add_control_input(graph["a"], graph["z"]),
    "a control input less": lambda graph: graph.remove_control_input(graph["y"], graph["z"]),
    "another value": lambda graph: graph.replace_all_uses(graph["a"].output(), graph["z"].output()),
    "one of many inputs": lambda graph: graph.replace_all_uses(graph["b"].output(), graph["z"].output()),
    "another control": lambda graph: graph.replace_control_uses(graph["z"], graph["a"]),
    "no node": lambda graph: graph.remove_node(graph["last"]),
    "no nodes": lambda graph: graph.remove_nodes([graph["last"]]),
    "another order": lambda graph: graph.reorder([*graph][::-1]),
}


def add(graph: Graph, name: str, *sources: Node) -> Node:
    if not sources:
        return graph.add_node(name, "Placeholder", attrs={"dtype": dtypes.float32})
    if len(sources) == 1:
        return graph.add_node(name, "Identity", [sources[0].output()], attrs={"T": dtypes.float32})
    inputs = [source.output() for source in sources]
    return graph.add_node(name, "AddN", inputs, attrs={"T": dtypes.float32, "N": len(inputs)})


@pytest.fixture
def graph() -> Graph:
    """Return x -> a -> b, with a sum of many b; z, for which y waits, is the last node."""
    made = Graph()
    x = add(made, "x")
    a = add(made, "a", x)
    b = add(made, "b", a)
    add(made, "sum", *[b] * MANY)
    y = add(made, "y", a)
    made.add_control_input(y, add(made, "z", x))
    add(made, "last", y)
    return made


@pytest.mark.parametrize("change", CHANGES)
def test_the_order_is_that_of_the_graph_as_it_is(graph, change):
    ctx = PassContext(graph, [])
    ctx.order()
    CHANGES[change](graph)
    assert ctx.order() == PassContext(graph, []).order()
    places = {node: place for place, node in enumerate(ctx.order())}
    assert places.keys() == set(graph)
    assert all(
        places[source] < places[node] for node in graph for source in (*(v.node for v in node.inputs), *node.control_inputs)
    )


def test_an_order_is_the_askers_own(graph):
    ctx = PassContext(graph, [])
    ctx.order().clear()
    assert ctx.order()
