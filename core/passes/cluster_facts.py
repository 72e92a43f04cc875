"""Facts about the functions that the pass `cluster` makes."""

from __future__ import annotations

from collections.abc import Iterator

from ..engines.engine_report import RefusedNodes, refused_nodes
from ..graph.graph import Graph
from ..support import dataclasses
from .functions.function_clusters import FunctionClusters


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A function that the pass `cluster` made, and the nodes that XLA does not support."""

    function: str
    """The name of the function."""
    nodes: int
    """The number of nodes, without constants and arguments."""
    refused: tuple[RefusedNodes, ...]
    """The nodes that XLA does not support, by op and reason, the most frequent first."""

    @property
    def supported(self) -> int:
        """Return the number of nodes that XLA supports."""
        return self.nodes - sum(refused.count for refused in self.refused)


def new_clusters(before: Graph, after: Graph) -> Iterator[ClusterFacts]:
    """Yield facts about the clusters of a graph that the graph before the passes lacks."""
    names = [name for name in after.functions.keys() - before.functions.keys() if name.startswith(FunctionClusters.name)]
    if names:
        from ..engines.lowerable import function_refusals  # lazy: few optimizations have the pass

        for name in sorted(names):
            count, refused = function_refusals(after.functions[name])
            yield ClusterFacts(name, count, refused_nodes(refused))
