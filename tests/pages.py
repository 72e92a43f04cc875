"""Graphs for the tests of pages, and the contents of pages."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.formats import save

UNKNOWN_OPS = ("Unknown>Pairs", "Unknown>Scores")
NASTY = (
    "</script><script>window.bad=1</script>",
    "<img src=x onerror=window.bad=1>",
    "<!--<script>",
    "]]>\"'`onmouseover=window.bad=1",
    "&lt;b&gt;&#x3c;script",
    "\x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe",
    "\u2028\u2029window.bad=1",
    "${window.bad=1}",
    "@@book@@",
    "javascript:window.bad=1",
    "__proto__",
    "constructor",
)
"""Node names of a hostile graph that try to break out of a page."""

_FUNCTIONS = {
    "double": lambda g, a: [g.AddV2(a, a)],
    "negate": lambda g, a: [g.Neg(a)],
    "smooth": lambda g, a: [g.Tanh(g.Exp(a))],
    "below": lambda g, a: [g.Less(g.Sum(a, 0), 9.0)],
}


def graph_of_unknown_ops(folder: pathlib.Path) -> pathlib.Path:
    """Write a graph of UNKNOWN_OPS, the first twice, named `pairs` and `word_pairs`."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    pairs = b.graph.add_node("pairs", UNKNOWN_OPS[0], [x])
    more = b.graph.add_node("word_pairs", UNKNOWN_OPS[0], [x])
    b.graph.add_node("scores", UNKNOWN_OPS[1], [pairs.output(), more.output()])
    path = folder / "unknown.pb"
    save(b.graph, path)
    return path


def nasty_graph(folder: pathlib.Path) -> pathlib.Path:
    """A graph that calls scopes, nodes, attributes and devices so, written to a file."""
    path = folder / "nasty.pb"
    save(nasty_nodes(), path)
    return path


def nasty_nodes() -> Graph:
    """A graph that calls scopes, nodes, attributes and devices so."""
    graph = Graph()
    previous = graph.add_node("x", "NoOp")
    for i, name in enumerate(NASTY):
        for j in range(2):  # two nodes make a scope
            previous = graph.add_node(
                f"{name}/{name}{j}", "NoOp" if i % 2 else f"Op{name}", control_inputs=[previous],
                attrs={f"a{name}": name.encode()}, device=name,
            )  # fmt: skip
    return graph


def large_graph(folder: pathlib.Path, nodes: int = 10_000) -> pathlib.Path:
    """Write a graph with this number of nodes in nested scopes; each node reads the values of two others."""
    lines = ['node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }']
    names = ["x"]
    for i in range(1, nodes):
        name = f"tower_{i // 1000}/layer_{i // 100}/block_{i // 10}/node_{i}"
        inputs = f'input: "{names[-1]}" input: "{names[max(0, i - 7 * (i % 5) - 1)]}"'
        lines.append(f'node {{ name: "{name}" op: "AddV2" {inputs} attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}')
        names.append(name)
    path = folder / "large.pbtxt"
    path.write_text("\n".join(lines))
    return path


def calling_graph(folder: pathlib.Path) -> pathlib.Path:
    """Write a graph with a conditional, a call and a loop, each on the results of the previous node."""
    g = GraphBuilder()
    for name, make in _FUNCTIONS.items():
        define(g, name, ["float32"], make)
    x = g.Placeholder(dtype="float32", shape=(3,), name="x")
    which = g.Placeholder(dtype="bool", shape=(), name="which")
    chosen = g.StatelessIf(which, [x], then_branch="double", else_branch="negate", Tout=["float32"], name="chosen")
    smoothed = g.PartitionedCall([chosen[0]], f="smooth", Tout=["float32"], name="smoothed")
    grown = g.StatelessWhile([smoothed[0]], cond="below", body="double", name="grown")
    g.Relu(grown[0], name="end")
    path = folder / "calls.pb"
    save(g.graph, path)
    return path


def book_in(text: str) -> Any:
    """Return the JSON in a page."""
    match = re.search(r'<script type="application/json" id="book">(.*?)</script>', text, re.S)
    assert match is not None
    return json.loads(match[1])
