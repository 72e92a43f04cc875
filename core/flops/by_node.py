"""Where the FLOPs of a count belong in the graph and in the bodies of its functions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..dims import DimLike
from ..functions.callers import function_references
from ..graph import Function, Graph, Node
from .report import FlopsReport, add_up, magnitude


def flops_by_node(graph: Graph, report: FlopsReport) -> dict[Node, DimLike]:
    """The FLOPs of every node that was counted, in bodies of functions those of all calls together; a node that calls has
    those of what it calls."""
    found: dict[Node, list[DimLike]] = {}
    for cost in report.nodes:
        for node in _way(cost.path, graph, graph.functions):
            found.setdefault(node, []).append(cost.cost.flops)
    return {node: add_up(parts) for node, parts in found.items()}


def flops_shares(graph: Graph, flops: Mapping[Node, DimLike]) -> dict[Node, float]:
    """Each node's part of the FLOPs of all nodes in the graph; without those whose FLOPs no number stands for."""
    sizes = {node: size for node, size in ((node, magnitude(count)) for node, count in flops.items()) if math.isfinite(size)}
    whole = sum(sizes.get(node, 0.0) for node in graph) or 1.0
    return {node: size / whole for node, size in sizes.items()}


def _way(path: str, body: Graph, library: Mapping[str, Function]) -> list[Node]:
    """The nodes that a path in a count leads through: calls, and the node in the body of the last."""
    name = path
    while name and name not in body:
        name = name.rpartition("/")[0]
    if not name:
        function, _, rest = path.partition("/")  # the path begins with a function where calls are too many to list
        return _way(rest, library[function].body, library) if function in library else []
    node = body.node(name)
    rest = path[len(name) + 1 :]
    called = [node.op, *(reference.name for reference in function_references(node))] if rest else []
    inner = (_way(rest, library[function].body, library) for function in called if function in library)
    return [node, *next(filter(None, inner), [])]
