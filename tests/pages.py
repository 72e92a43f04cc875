"""Graphs for the tests of pages, and what a page holds."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

from tfg.core.graph.graph import Graph
from tfg.formats import save

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
"""What a stranger's graph may call its nodes to break out of a page."""


def nasty_graph(folder: pathlib.Path) -> pathlib.Path:
    """A graph that calls scopes, nodes, attributes and devices so, written to a file."""
    graph = Graph()
    previous = graph.add_node("x", "NoOp")
    for i, name in enumerate(NASTY):
        for j in range(2):  # two nodes make a scope
            previous = graph.add_node(
                f"{name}/{name}{j}", "NoOp" if i % 2 else f"Op{name}", control_inputs=[previous],
                attrs={f"a{name}": name.encode()}, device=name,
            )  # fmt: skip
    path = folder / "nasty.pb"
    save(graph, path)
    return path


def large_graph(folder: pathlib.Path, nodes: int = 10_000) -> pathlib.Path:
    """A graph of so many nodes in nested scopes, each of which takes the values of two others, written to a file."""
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


def book_in(text: str) -> Any:
    """What the JSON in a page says."""
    found = re.search(r'<script type="application/json" id="book">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])
