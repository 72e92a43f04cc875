"""Paths of nodes inside functions: the names of the calls that lead to a node, and the node's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph.graph import Function, Graph, Node
from .callers import function_references


def nodes_by_path(graph: Graph) -> dict[str, Node]:
    """Return the nodes by name, first the graph's, then those of functions as FUNCTION/NODE."""
    nodes = {node.name: node for node in graph}
    for name, function in graph.functions.items():
        for node in function.body:
            nodes.setdefault(f"{name}/{node.name}", node)
    return nodes


class CallPaths:
    """The nodes that paths as `call/inner/node` lead through. A path may also begin with the name of a function."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._library: Mapping[str, Function] = graph.functions
        self._deepest: dict[Graph, int] = {}

    def through(self, path: str) -> list[Node]:
        """Return the calls on a path and the node at its end, as far as the graph has the nodes."""
        return self._through(self._graph, path.split("/"), 0)[0]

    def node_at(self, path: str) -> Node | None:
        """Return the node at the end of a path; None where the graph lacks a node of the path."""
        parts = path.split("/")
        nodes, end = self._through(self._graph, parts, 0)
        return nodes[-1] if nodes and end == len(parts) else None

    def _through(self, body: Graph, parts: Sequence[str], start: int) -> tuple[list[Node], int]:
        """Return the nodes on the path from part `start` on, and the number of the first part after them."""
        end = self._end_of_name(body, parts, start)
        if end == start:  # the path begins with a function where calls are too many to list
            return self._within(parts[start], parts, start + 1)
        node = body.node("/".join(parts[start:end]))
        called = [node.op, *(reference.name for reference in function_references(node))] if end < len(parts) else []
        inner = (self._within(function, parts, end) for function in called)
        nodes, last = next((walk for walk in inner if walk[0]), ([], end))
        return [node, *nodes], last

    def _within(self, function: str, parts: Sequence[str], start: int) -> tuple[list[Node], int]:
        is_inside = start < len(parts) and function in self._library
        return self._through(self._library[function].body, parts, start) if is_inside else ([], start)

    def _end_of_name(self, body: Graph, parts: Sequence[str], start: int) -> int:
        """Return the end of the longest node name that the path continues with; `start` where there is no such name."""
        if body not in self._deepest:
            self._deepest[body] = max((node.name.count("/") for node in body), default=-1) + 1
        last = min(start + self._deepest[body], len(parts))
        return next((end for end in range(last, start, -1) if "/".join(parts[start:end]) in body), start)
