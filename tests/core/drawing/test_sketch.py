"""Pictures as text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfg.core.drawing.picture import Look, make_picture
from tfg.core.drawing.sketch import sketch
from tfg.core.graph.graph import Graph


def graph_of(edges, count=8):
    g = Graph()
    for i in range(count):
        before = [g[f"n{source}"] for source, target in edges if target == i and source < i]
        g.add_node(f"n{i}", "NoOp", control_inputs=before)
    return g


def test_a_diamond():
    picture = make_picture(list(graph_of([(0, 1), (0, 2), (1, 3), (2, 3)], 4)), Look(everything=True))
    assert (
        sketch(picture)
        == """\
     ┌──────┐
     │  n0  │
     │ NoOp │
     └──────┘
         ┊
    ┌╌╌╌╌┴╌╌╌╌┐
    ▼         ▼
┌──────┐  ┌──────┐
│  n1  │  │  n2  │
│ NoOp │  │ NoOp │
└──────┘  └──────┘
    ┊         ┊
    └╌╌┐  ┌╌╌╌┘
       ▼  ▼
     ┌──────┐
     │  n3  │
     │ NoOp │
     └──────┘""".splitlines()
    )


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_every_box_is_whole_and_every_edge_arrives(edges):
    g = graph_of(edges)
    lines = sketch(make_picture(list(g), Look(everything=True, max_layers=99, max_width=999)))
    text = "\n".join(lines)
    for node in g:
        assert len(re.findall(rf"│  {node.name}  │", text)) == 1
    assert text.count("┌──────┐") == text.count("└──────┘") == len(g)
    assert text.count("▼") <= sum(len(node.control_inputs) for node in g)
    assert (text.count("▼") > 0) == any(node.control_inputs for node in g)


def test_a_cycle_is_said():
    g = Graph()
    first = g.add_node("a", "NoOp")
    second = g.add_node("b", "NoOp", control_inputs=[first])
    g.add_control_input(first, second)
    assert "and back: b -> a" in sketch(make_picture(list(g), Look(everything=True)))
