"""Drawings."""

import re

import pytest

from tfg.core.graph import Graph
from tfg.formats import load
from tfg.formats.dot import to_dot

GRAPH = load(b"""
node { name: "scope/a" op: "Const" }
node { name: "scope/inner/b" op: "Identity" input: "scope/a:1" }
node { name: "scope/inner/c" op: "NoOp" input: "^scope/a" }
node { name: "alone/d" op: "Foo\\\\" input: "scope/inner/b" }
""")


def test_nodes_and_edges():
    source = to_dot(GRAPH, highlight=["alone/d"]).source
    assert 'n0 [label="scope/a\\nConst" fillcolor="#e8e8e8"' in source
    assert "n0 -> n1 [label=1]" in source
    assert 'n0 -> n2 [color="#888888" style=dashed]' in source
    assert "color=red" in source and "cluster" not in source
    assert "Foo\\\\" in source


def test_clusters():
    source = to_dot(GRAPH, clusters=True).source
    assert source.count("subgraph cluster") == 2
    assert "label=scope style" in source and "label=inner style" in source
    assert "label=alone" not in source
    assert '[label="b\\nIdentity"' in source


def test_some_nodes_and_own_labels():
    source = to_dot(GRAPH, [GRAPH["scope/a"], GRAPH["scope/inner/b"]], edge_label=lambda value: f"to {value}").source
    assert '[label="to scope/a:1"]' in source
    assert "alone" not in source


NASTY = [
    'a" URL="javascript:alert(1)',
    "<b>x</b>",
    "back\\",
    'back\\"slash',
    "&lt;i&gt;",
    "\x1b[31m",
    "line\nfeed",
    "\\N \\G",
    "n0:p:w",
]


@pytest.mark.parametrize("clusters", [False, True])
def test_nothing_that_a_graph_says_is_markup(clusters):
    g = Graph()
    for i, name in enumerate(NASTY):
        g.add_node(f"s/{name}" if i % 2 else name, name)
    source = to_dot(g, clusters=clusters, highlight=[NASTY[0]]).source
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', source, re.DOTALL)
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "_", source, flags=re.DOTALL)
    assert not re.search(r"[^\w\s{}\[\]=>-]", outside)
    assert set(re.findall(r"(\w+)=", outside)) <= {
        "rankdir",
        "shape",
        "style",
        "label",
        "fillcolor",
        "tooltip",
        "color",
        "penwidth",
    }
    shown = {text[1:-1].split("\\n")[0] for text in strings}
    assert {
        'a\\" URL=\\"javascript:alert(1)',
        "<b>x</b>",
        "back\\\\",
        "&amp;lt;i&amp;gt;",
        "\\\\x1b[31m",
        "\\\\N \\\\G",
    } <= shown | {text.removeprefix("s/") for text in shown}
    assert not re.search(r"=\s*<", source), "no HTML label"
