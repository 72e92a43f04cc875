"""Drawings."""

import re

import pytest

from tfg.core.drawing.picture import Look, make_picture
from tfg.core.graph.graph import Graph
from tfg.formats import load
from tfg.formats.dot import to_dot

GRAPH = load(b"""
node { name: "scope/v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { } } } }
node { name: "scope/inner/b" op: "Neg" input: "scope/v" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "scope/inner/c" op: "NoOp" input: "^scope/v" }
node { name: "alone/d" op: "Foo\\\\" input: "scope/inner/b" }
""")


def test_nodes_and_edges():
    source = to_dot(make_picture(list(GRAPH), Look(emphasis=[GRAPH["alone/d"]]))).source
    assert re.search(r'label="alone/d\\nFoo\\\\" color="#d62728"', source)
    assert re.search(r'label="v\\nVariableV2" fillcolor="#d5f0d0" shape=cylinder', source)
    assert re.search(r'-> n\d \[arrowhead=diamond color="#8e44ad"\]', source), "a reference"
    assert re.search(r'-> n\d \[color="#888888" style=dashed\]', source), "a control edge"
    assert source.count("#d62728") == 1


def test_scopes_that_are_open_are_frames():
    source = to_dot(make_picture(list(GRAPH), Look())).source
    assert source.count("subgraph cluster") == 3, "scope, inner, the legend"
    assert "label=scope " in source and "label=inner " in source and "label=alone" not in source
    assert to_dot(make_picture(list(GRAPH), Look(depth=0)), legend=False).source.count("subgraph") == 0


def test_labels_colours_and_shares():
    neg = GRAPH["scope/inner/b"]
    look = Look(specs={neg.output(): "float []"}, shares={neg: 0.5, GRAPH["alone/d"]: 0.25})
    source = to_dot(make_picture(list(GRAPH), look)).source
    assert 'label=" float []"' in source and "50.0% of FLOPs" in source
    source = to_dot(make_picture(list(GRAPH), Look(colours={node: node.op for node in GRAPH}))).source
    assert all(source.count(f'"{colour}"') == 2 for colour in ("#cfe8ff", "#d5f0d0", "#ffe2b8", "#fbdcf0"))


ATTRIBUTES = {
    *("arrowhead", "arrowsize", "color", "fillcolor", "fontname", "fontsize", "height", "label", "labeljust", "labelloc"),
    *("margin", "nodesep", "pad", "penwidth", "rankdir", "ranksep", "shape", "size", "style", "tooltip", "width"),
}
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


@pytest.mark.parametrize("everything", [False, True])
def test_nothing_that_a_graph_says_is_markup(everything):
    g = Graph()
    for i, name in enumerate(NASTY):
        g.add_node(f"s/{name}" if i % 2 else name, name)
    look = Look(everything=everything, emphasis=[g[NASTY[0]]], colours={node: node.op for node in g})
    source = to_dot(make_picture(list(g), look, NASTY[0])).source
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', source, re.DOTALL)
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "_", source, flags=re.DOTALL)
    assert not re.search(r"[^\w\s{}\[\]=>.-]", outside)
    assert set(re.findall(r"(\w+)=", outside)) <= ATTRIBUTES
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
