"""The cost of a run of a graph, measured between passes: for reports alone.

The count rests on estimates (core/inference/estimates.py), which a run of a batch of 1 breaks. So a pass may neither ask for a
cost nor decide by one: `optimize(costs=True)` writes the costs beside the passes that fired, whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...flops import CountCache, count_flops
from ...graph.graph import Graph, Node, Output
from ...support import dataclasses
from ...types.dims import DimLike


@dataclasses.dataclass(frozen=True, slots=True)
class GraphCost:
    """FLOPs, transcendental operations and bytes moved by a run, and the number of nodes without a count."""

    flops: DimLike
    """FLOPs of a run."""
    transcendentals: DimLike
    """Calls of exp, log, tanh and the like."""
    bytes: DimLike
    """Bytes read and written."""
    uncounted: int
    """How many nodes have no count."""


class CostMeter:
    """A meter of the cost of running the same fetches while passes change the graph, and maybe the names of the fetches."""

    def __init__(self, graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output]) -> None:
        self.graph = graph
        self._fetches = {target.name: target for target in fetches}
        self._feeds = {target.name: target for target in feeds}
        self._derived = CountCache()

    def read(self) -> GraphCost:
        """Return the current cost; unknown dimensions are symbols as in `count_flops`."""
        fetches = [self._current(name, target) for name, target in self._fetches.items()]
        feeds = [self._current(name, target) for name, target in self._feeds.items()]
        # Names, not nodes, since a fetched node may have become an Identity of another.
        report = count_flops(self.graph, fetches, feeds, derived=self._derived)
        total = report.total()
        return GraphCost(total.flops, total.transcendentals, total.bytes, len(report.unknown()))

    def _current(self, name: str, target: Output | Node) -> str:
        """Return the original name while the graph has the name, and the current name of a renamed node."""
        return name if name.partition(":")[0] in self.graph else target.name
