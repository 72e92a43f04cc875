"""What one run of a graph costs, noted between passes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..dims import DimLike
from ..flops import count_flops
from ..graph import Graph, Node, Output


@dataclasses.dataclass(frozen=True, slots=True)
class GraphCost:
    """FLOPs, transcendental operations and bytes moved by one run, and how many nodes could not be counted."""

    flops: DimLike
    transcendentals: DimLike
    bytes: DimLike
    uncounted: int


def graph_cost(graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output]) -> GraphCost:
    """The cost of running the fetches; unknown dimensions are symbols as in `count_flops`."""
    report = count_flops(graph, [fetch.name for fetch in fetches], [feed.name for feed in feeds])
    total = report.total()
    return GraphCost(total.flops, total.transcendentals, total.bytes, len(report.unknown()))
