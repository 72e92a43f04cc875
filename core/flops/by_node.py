"""FLOPs of a count by node of the graph and of the functions' bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..functions.callers import function_references
from ..graph.graph import Function, Graph, Node
from ..registry.registry import Cost
from ..types.dims import DimLike
from .flops_report import FlopsReport, add_up, magnitude


def flops_by_node(graph: Graph, report: FlopsReport) -> dict[Node, DimLike]:
    """Return the FLOPs of every counted node; a node in a function's body has the sum of all calls, a calling node the sum
    of the callee's nodes.
    """
    return _by_node(graph, report, lambda cost: cost.flops)


def transcendentals_by_node(graph: Graph, report: FlopsReport) -> dict[Node, DimLike]:
    """Return the evaluations of transcendental functions of every counted node, summed as `flops_by_node` sums."""
    return _by_node(graph, report, lambda cost: cost.transcendentals)


def _by_node(graph: Graph, report: FlopsReport, part: Callable[[Cost], DimLike]) -> dict[Node, DimLike]:
    counts: dict[Node, list[DimLike]] = {}
    ways = _Ways(graph.functions)
    for cost in report.nodes:
        for node in ways.through(graph, cost.path.split("/")):
            counts.setdefault(node, []).append(part(cost.cost))
    return {node: add_up(parts) for node, parts in counts.items()}


def flops_shares(graph: Graph, flops: Mapping[Node, DimLike]) -> dict[Node, float]:
    """Return each node's part of the FLOPs of all nodes in the graph; nodes whose FLOPs no number can stand for are left
    out.
    """
    sizes = {node: size for node, size in ((node, magnitude(count)) for node, count in flops.items()) if math.isfinite(size)}
    whole = sum(sizes.get(node, 0.0) for node in graph) or 1.0
    return {node: size / whole for node, size in sizes.items()}


class _Ways:
    """The nodes that the paths of a count lead through: calls, and the node in the body of the last."""

    def __init__(self, library: Mapping[str, Function]) -> None:
        self._library = library
        self._deepest: dict[Graph, int] = {}

    def through(self, body: Graph, parts: Sequence[str], start: int = 0) -> list[Node]:
        """Return the nodes on the path from part `start` on."""
        end = self._end_of_name(body, parts, start)
        if end == start:  # the path begins with a function where calls are too many to list
            return self._within(parts[start], parts, start + 1)
        node = body.node("/".join(parts[start:end]))
        called = [node.op, *(reference.name for reference in function_references(node))] if end < len(parts) else []
        inner = (self._within(function, parts, end) for function in called)
        return [node, *next(filter(None, inner), [])]

    def _within(self, function: str, parts: Sequence[str], start: int) -> list[Node]:
        is_inside = start < len(parts) and function in self._library
        return self.through(self._library[function].body, parts, start) if is_inside else []

    def _end_of_name(self, body: Graph, parts: Sequence[str], start: int) -> int:
        """Return the end of the longest node name that the path continues with; `start` where there is no such name."""
        if body not in self._deepest:
            self._deepest[body] = max((node.name.count("/") for node in body), default=-1) + 1
        last = min(start + self._deepest[body], len(parts))
        return next((end for end in range(last, start, -1) if "/".join(parts[start:end]) in body), start)
