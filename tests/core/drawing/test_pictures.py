"""The stages from a graph to a picture: folding, scopes, opening, layers, boxes and edges."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages import calling_graph
from tfg.core.building.builder import GraphBuilder
from tfg.core.drawing.picture import Look, make_picture, opened_tree, scopes_to_open
from tfg.core.drawing.picture_nodes import flow_order, folded, forward_edges, layers_of, links
from tfg.core.drawing.scope_tree import NameScope, scope_tree
from tfg.core.graph.graph import Graph
from tfg.formats import load

SMALL = load(b"""
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } }
node { name: "copy" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a/mul" op: "Mul" input: "copy" input: "two" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a/b/neg" op: "Neg" input: "a/mul" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "a/b/abs" op: "Abs" input: "a/b/neg" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "group" op: "NoOp" input: "^a/b/abs" input: "^copy" }
node { name: "end" op: "Exp" input: "a/b/abs" input: "^group" attr { key: "T" value { type: DT_FLOAT } } }
""")


def drawn(picture):
    """Edges as (source, target, kind) by the first lines of the boxes."""
    names = {box.id: box.lines[0] for box in picture.boxes}
    return {(names[edge.source], names[edge.target], edge.kind) for edge in picture.edges}


def test_links_lead_past_what_is_left_out():
    left_out = folded(SMALL)
    assert {node.name for node in left_out} == {"two", "copy", "group"}
    results = {(link.source.name, link.target.name, link.value is None) for link in links(list(SMALL), left_out)}
    assert results == {
        ("x", "a/mul", False),
        ("a/mul", "a/b/neg", False),
        ("a/b/neg", "a/b/abs", False),
        ("a/b/abs", "end", False),
        ("x", "end", True),
    }


def test_what_nothing_uses_is_drawn_and_what_is_asked_for():
    g = load(b'node { name: "init" op: "NoOp" input: "^a" } node { name: "a" op: "NoOp" }')
    assert {node.name for node in folded(g)} == {"a"}
    assert not folded(g, keep=[g["a"]])


def test_a_group_of_very_many_is_drawn():
    g = Graph()
    group = g.add_node("group", "NoOp", control_inputs=[g.add_node(f"a{i}", "NoOp") for i in range(70)])
    g.add_node("end", "NoOp", control_inputs=[group])
    assert group not in folded(g)


def test_scopes_with_one_part_are_left_out():
    root = scope_tree([SMALL["x"], SMALL["a/b/neg"], SMALL["end"]], 40)
    assert [part.name for part in root.parts] == ["x", "a/b/neg", "end"]


def test_a_node_of_a_scopes_name_stands_in_it():
    g = Graph()
    nodes = [g.add_node(name, "NoOp") for name in ("s", "s/a", "s/b")]
    (scope,) = scope_tree(nodes, 40).parts
    assert scope.path == "s" and [node.name for node in scope.members()] == ["s", "s/a", "s/b"]


NAMES = st.lists(st.text("ab/", min_size=1, max_size=8), unique=True, max_size=60)


@pytest.mark.slow
@given(NAMES, st.integers(2, 9))
def test_every_node_is_in_the_tree_once(names, max_parts):
    g = Graph()
    nodes = [g.add_node(name, "NoOp") for name in names]
    root = scope_tree(nodes, max_parts)
    assert sorted(node.name for node in root.members()) == sorted(names)
    pending = [root]
    while pending:
        scope = pending.pop()
        assert len(scope.parts) <= max_parts and scope.nodes == len(list(scope.members()))
        pending += [part for part in scope.parts if isinstance(part, NameScope)]


def test_names_with_very_many_scopes():
    g = Graph()
    nodes = [g.add_node("a/" * 50_000 + end, "NoOp") for end in "xy"]
    assert scope_tree(nodes, 40).nodes == 2


def test_scopes_are_opened_up_to_the_number_of_boxes():
    g = Graph()
    nodes = [g.add_node(f"s{i}/n{j}", "NoOp") for i, j in itertools.product(range(4), range(5))]
    root = scope_tree(nodes, 40)
    assert len(scopes_to_open(root, Look(12), lambda scopes: True)) == 3
    assert len(scopes_to_open(root, Look(12), lambda scopes: len(scopes) < 3)) == 2
    assert len(scopes_to_open(root, Look(12, depth=1), lambda scopes: False)) == 5
    assert [s.path for s in scopes_to_open(root, Look(4, depth=0, expand=("s2",)), lambda scopes: False) if s.path] == ["s2"]


EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


@given(EDGES)
def test_layers_go_down(edges):
    after = forward_edges(list(range(10)), edges)
    level = {key: i for i, layer in enumerate(layers_of(after)) for key in layer}
    assert sorted(level) == list(range(10))
    assert all(level[source] < level[target] for source, targets in after.items() for target in targets)
    order = list(flow_order(after))
    assert all(order.index(source) < order.index(target) for source, targets in after.items() for target in targets)


@pytest.mark.slow
@given(EDGES.map(lambda edges: [edge for edge in edges if edge[0] < edge[1]]))
def test_no_edge_is_dropped_without_a_cycle(edges):
    after = forward_edges(list(range(10)), edges)
    assert {(source, target) for source, targets in after.items() for target in targets} == set(edges)


def test_boxes_and_edges():
    picture = make_picture(list(SMALL), Look())
    assert drawn(picture) == {
        ("x", "mul", "data"),
        ("mul", "neg", "data"),
        ("neg", "abs", "data"),
        ("abs", "end", "data"),
        ("x", "end", "control"),
    }
    (multiplied,) = [box for box in picture.boxes if box.name == "a/mul"]
    assert multiplied.lines == ("mul", "Mul", "with 2")
    assert picture.notes == ("not drawn: 1 Const node, 1 Identity node, 1 NoOp node (all)",)


def test_closed_scopes_say_what_they_hold():
    picture = make_picture(list(SMALL), Look(depth=0, shares=dict.fromkeys(SMALL, 0.1)))
    (scope,) = [box for box in picture.boxes if box.kind == "scope"]
    assert scope.lines == ("a/", "3 nodes", "1 Mul, 1 Neg, 1 Abs") and scope.share == pytest.approx(0.3)
    assert picture.notes[0].startswith("1 scope closed, with 3 nodes, 30% of the FLOPs")


def test_everything_is_drawn_where_that_is_asked_for():
    picture = make_picture(list(SMALL), Look(everything=True))
    assert len(picture.boxes) == len(SMALL) and not picture.notes
    assert ("two", "mul", "data") in drawn(picture) and ("copy", "group", "control") in drawn(picture)


@pytest.mark.parametrize("shape", ["chain", "fan"])
def test_large_graphs_without_scopes_fit(shape):
    g = Graph()
    first = last = g.add_node("x", "NoOp")
    for i in range(3000):
        last = g.add_node(f"n{i}", "NoOp", control_inputs=[last if shape == "chain" else first])
    picture = make_picture(list(g), Look(everything=True))
    assert 2 <= len(picture.boxes) <= 40
    assert sum(len(box.nodes) for box in picture.boxes) == 3001


def test_kinds_of_edges():
    g = load(b"""
    node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { } } } }
    node { name: "value" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "assign" op: "Assign" input: "v" input: "value" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "read" op: "Neg" input: "v" input: "^assign" attr { key: "T" value { type: DT_FLOAT } } }
    """)
    picture = make_picture(list(g), Look())
    assert drawn(picture) == {
        ("v", "assign", "reference"),
        ("value", "assign", "data"),
        ("v", "read", "reference"),
        ("assign", "read", "control"),
    }
    assert {box.name: box.kind for box in picture.boxes} == {
        "v": "variable",
        "value": "input",
        "assign": "update",
        "read": "op",
    }


def test_the_box_of_a_call_names_its_functions(tmp_path):
    graph = load(calling_graph(tmp_path))
    lines = {box.name: box.lines for box in make_picture(list(graph), Look()).boxes}
    assert lines["smoothed"] == ("smoothed", "PartitionedCall", "calls smooth")
    assert set(lines["chosen"][2].removeprefix("calls ").split(", ")) == {"double", "negate"}


def blocks(layers, scope="{layer}"):
    """A chain of layers, each with a weight in a scope; the last layer's weight stands before the others in the graph."""
    g = GraphBuilder()
    names = {layer: f"{scope.format(layer=layer, i=i)}/weight" for i, layer in enumerate(layers)}
    weights = {name: g.VarHandleOp(shape=[2], dtype="float32", name=names[name]) for name in reversed(layers)}
    value = g.Placeholder(dtype="float32", shape=[2], name="x")
    for name in layers:
        value = g.Mul(value, g.ReadVariableOp(weights[name], dtype="float32", name=f"{name}/read"), name=f"{name}/scaled")
    return g.graph


def labels_of(graph, max_boxes):
    left_out = folded(graph)
    nodes = [node for node in graph if node not in left_out]
    root, _ = opened_tree(nodes, list(links(dict.fromkeys(graph), left_out)), Look(max_boxes=max_boxes))
    return [part.label if isinstance(part, NameScope) else part.name for part in root.parts]


def test_scopes_of_layers_stand_in_the_order_of_the_run():
    layers = ["stem", "deep", "classes"]
    assert labels_of(blocks(layers), 12) == ["x", *layers]


def test_groups_have_the_names_that_layers_have_in_common():
    layers = [f"conv{i}_block{j}_{part}" for i in (2, 3) for j in (1, 2) for part in ("pad", "conv", "relu")]
    assert labels_of(blocks(layers), 8) == ["x", "conv2_block1", "conv2_block2", "conv3_block1", "conv3_block2"]


def test_groups_of_the_same_name_have_paths_of_their_own():
    """As a page finds scopes by their paths."""
    names = [*(f"block1_{part}" for part in "abcd"), "between", *(f"block1_{part}" for part in "efgh")]
    g = GraphBuilder()
    for name in names:
        g.NoOp(name=name)
    groups = [part for part in scope_tree(g.graph, 4).parts if isinstance(part, NameScope)]
    assert [group.label for group in groups] == ["block1", "block1"]
    assert len({group.path for group in groups}) == 2


def test_blocks_that_are_alike_are_one():
    layers = ["embed", *(f"block_{i}/{part}" for i in range(20) for part in ("attention", "wide")), "head"]
    assert labels_of(blocks(layers), 12) == ["x", "embed", "20 x block_0 ... block_19", "head"]
    assert labels_of(blocks(layers, "of_{i}"), 12) == ["x", "embed", "20 x block_0 ... block_19", "head"], "weights in between"
    single = ["embed", *(f"block_{i}" for i in range(3)), "head"]
    assert labels_of(blocks(single), 12) == ["x", *single], "all have room"
    boxes = {box.lines[0]: box.lines for box in make_picture(list(blocks(layers)), Look(max_boxes=12)).boxes}
    assert boxes["20 x block_0 ... block_19/"][1:] == ("80 nodes", "alike, each 2 Mul")
    expanded = make_picture(list(blocks(layers)), Look(max_boxes=12, expand=("block_3",)))
    assert {"attention/", "wide/"} <= {box.lines[0] for box in expanded.boxes}


def test_groups_of_groups_have_their_common_name():
    layers = [f"conv{i}_block{j}_{part}" for i in (2, 3, 4) for j in (1, 2) for part in ("pad", "conv", "relu")]
    assert labels_of(blocks(layers), 5) == ["x", "conv2", "conv3", "conv4"]
