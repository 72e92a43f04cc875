"""FLOPs of a count by node of the graph and of the functions' bodies."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..graph.callers import CallPaths
from ..graph.graph import Graph, Node
from ..support.grouping import grouped
from ..types.dims import DimLike
from .flops_report import FlopsReport, add_up, magnitude
from .measured import Measurement

_Part = TypeVar("_Part")


def flops_by_node(graph: Graph, report: FlopsReport) -> dict[Node, DimLike]:
    """Return the FLOPs of every counted node; a node in a function's body has the sum of all calls, a calling node the sum
    of the callee's nodes.
    """
    return _by_node(graph, ((cost.path, cost.cost.flops) for cost in report.nodes))


def transcendentals_by_node(graph: Graph, report: FlopsReport) -> dict[Node, DimLike]:
    """Return the evaluations of transcendental functions of the nodes that make any, summed as `flops_by_node` sums."""
    costs = ((cost.path, cost.cost.transcendentals) for cost in report.nodes)
    return _by_node(graph, ((path, count) for path, count in costs if count))


def seconds_by_node(graph: Graph, measurement: Measurement) -> dict[Node, float]:
    """Return the seconds of every node in the average run, summed as `flops_by_node` sums."""
    times = _parts_by_node(graph, ((node.path, node.seconds) for node in measurement.nodes))
    # Sums of very many short times lose no digits by fsum.
    return {node: math.fsum(seconds) for node, seconds in times.items()}


def _by_node(graph: Graph, counts: Iterable[tuple[str, DimLike]]) -> dict[Node, DimLike]:
    counted = _parts_by_node(graph, counts)
    return {node: parts[0] if len(parts) == 1 else add_up(parts) for node, parts in counted.items()}


def _parts_by_node(graph: Graph, parts: Iterable[tuple[str, _Part]]) -> dict[Node, list[_Part]]:
    """Return the parts of each node on the paths."""
    paths = CallPaths(graph)
    return grouped((node, part) for path, part in parts for node in paths.through(path))


def flops_shares(graph: Graph, flops: Mapping[Node, DimLike]) -> dict[Node, float]:
    """Return each node's part of the FLOPs of all nodes in the graph; nodes whose FLOPs no number can stand for are left
    out.
    """
    size_of = functools.cache(magnitude)  # a million nodes have tens of counts
    sizes = {node: size for node, count in flops.items() if math.isfinite(size := size_of(count))}
    # Shares are of the nodes in the graph alone: a call stands there for the nodes of its body, which would count twice.
    whole = sum(sizes.get(node, 0.0) for node in graph) or 1.0
    return {node: size / whole for node, size in sizes.items()}
