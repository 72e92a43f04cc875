"""Nodes that fill lookup tables; no output depends on them."""

from __future__ import annotations

from ..graph.graph import Graph, Node
from ..graph.traversal import reachable
from ..registry.op_facts import has_fact
from .callers import called_functions


def table_fills(graph: Graph) -> list[Node]:
    """Return the nodes that fill lookup tables without a feed: operations, and calls of functions with these operations."""
    bodies = {name: function.body for name, function in graph.functions.items()}
    functions = {name for name, body in bodies.items() if any(has_fact(node.op, "fills_table") for node in body)}
    filling = [node for node in graph if has_fact(node.op, "fills_table") or _calls(graph, node, functions)]
    return [node for node in filling if not any(source.must_be_fed for source in reachable([node]))]


def _calls(graph: Graph, node: Node, functions: set[str]) -> bool:
    return bool(functions) and not functions.isdisjoint(called_functions(graph, [node]))
