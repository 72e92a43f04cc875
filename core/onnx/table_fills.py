"""Initializers of lookup tables, which no output depends on: the nodes that fill tables without a feed."""

from __future__ import annotations

from ..functions.callers import called_functions
from ..graph.graph import Graph, Node
from ..planning.reachability import needed_nodes
from ..registry.op_facts import has_fact


def table_fills(graph: Graph) -> list[Node]:
    """Return the nodes that fill lookup tables, and the calls of functions with such nodes."""
    if not any(has_fact(node.op, "table") for node in graph):
        return []
    return [node for node in graph if _fills(graph, node) and not any(need.is_placeholder for need in needed_nodes([node]))]


def _fills(graph: Graph, node: Node) -> bool:
    bodies = (graph.functions[name].body for name in called_functions(graph, [node]) if name in graph.functions)
    return has_fact(node.op, "fills_table") or any(has_fact(inner.op, "fills_table") for body in bodies for inner in body)
