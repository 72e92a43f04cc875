"""Graphs as Graphviz source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import graphviz

from ..core.escaping import printable_line
from ..core.graph import Graph, Node, Output
from ..core.node_kinds import ABSENT
from ..core.op_facts import has_fact

# Fill colours, by what a node is there for.
_COLOURS: Final[Sequence[tuple[str, Callable[[Node], bool]]]] = (
    ("#e8e8e8", lambda node: node.is_constant),
    ("#cfe8ff", lambda node: node.is_placeholder or node.is_argument),
    ("#ffe2b8", lambda node: node.op == "_Retval"),
    ("#d5f0d0", lambda node: has_fact(node.op, "variable")),
    ("#ffffff", lambda node: node.is_no_op),
    ("#ffc9c9", lambda node: node.op == ABSENT),
)
_DEFAULT_COLOUR = "#fff7e0"


def to_dot(
    graph: Graph,
    nodes: Iterable[Node] | None = None,
    *,
    clusters: bool = False,
    highlight: Collection[str] = (),
    edge_label: Callable[[Output], str] | None = None,
) -> graphviz.Digraph:
    """A drawing of the graph, or of some of its nodes; its `source` is Graphviz text.

    With `clusters` each name scope is a box. `highlight` names nodes with a red border. `edge_label` gives what to write at a
    data edge, such as the tensor's shape; without it, edges from outputs other than the first carry their index. Nodes are
    n0, n1 ... in Graphviz: what a graph says appears in labels only, where nothing in it is markup.
    """
    shown = dict.fromkeys(graph if nodes is None else nodes)
    drawing = _Drawing({node: f"n{i}" for i, node in enumerate(shown)}, highlight, edge_label)
    source = graphviz.Digraph(graph_attr={"rankdir": "TB"}, node_attr={"shape": "box", "style": "filled,rounded"})
    if clusters:
        drawing.add_scope(source, list(shown), "")
    else:
        for node in shown:
            drawing.add_node(source, node, node.name)
    for node in shown:
        drawing.add_edges(source, node)
    return source


class _Drawing:
    """What is the same for all that is drawn of a graph."""

    def __init__(
        self, ids: Mapping[Node, str], highlight: Collection[str], edge_label: Callable[[Output], str] | None
    ) -> None:
        self._ids = ids
        self._highlight = highlight
        self._edge_label = edge_label
        self._clusters = 0

    def add_node(self, source: graphviz.Digraph, node: Node, shown_name: str) -> None:
        style: dict[str, Any] = {"fillcolor": next((colour for colour, fits in _COLOURS if fits(node)), _DEFAULT_COLOUR)}
        if node.name in self._highlight:
            style.update(color="red", penwidth="2")
        source.node(self._ids[node], _label(shown_name, node.op), tooltip=_label(node.name), **style)

    def add_scope(self, source: graphviz.Digraph, nodes: list[Node], scope: str) -> None:
        """The nodes of one name scope, and each scope inside it as a box of its own."""
        inner: dict[str, list[Node]] = {}
        for node in nodes:
            head, slash, _ = node.name[len(scope) :].partition("/")
            if slash:
                inner.setdefault(f"{scope}{head}/", []).append(node)
            else:
                self.add_node(source, node, head)
        for name, members in inner.items():
            if len(members) == 1:
                self.add_node(source, members[0], members[0].name[len(scope) :])
                continue
            self._clusters += 1
            with source.subgraph(name=f"cluster{self._clusters}") as box:
                box.attr(label=_label(name[len(scope) : -1]), style="rounded", color="#999999")
                self.add_scope(box, members, name)

    def add_edges(self, source: graphviz.Digraph, node: Node) -> None:
        for value in node.inputs:
            if value.node in self._ids:
                label = self._text(value)
                source.edge(self._ids[value.node], self._ids[node], label=_label(label) if label else None)
        for control in node.control_inputs:
            if control in self._ids:
                source.edge(self._ids[control], self._ids[node], style="dashed", color="#888888")

    def _text(self, value: Output) -> str:
        """What stands at an edge."""
        if self._edge_label is not None:
            return self._edge_label(value)
        return str(value.index) if value.index else ""


def _label(*lines: str) -> Any:
    """Lines as Graphviz shows them letter by letter: without its escapes, HTML or entities."""
    escaped = (graphviz.escape(printable_line(line)).replace("&", "&amp;") for line in lines)
    return graphviz.nohtml("\\n".join(escaped))
