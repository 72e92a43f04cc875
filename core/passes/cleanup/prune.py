"""Removal of nodes that no fetch runs."""

from __future__ import annotations

from typing import ClassVar

from ...functions.callers import drop_uncalled
from ...graph.graph import Graph, Node
from ...graph.traversal import reachable
from ...planning.reachability import needed_nodes
from ...support import dataclasses
from ...transforms.subgraphs import shapes_at_cuts
from ..base.graph_pass import Pass, PassContext, become


@dataclasses.dataclass(frozen=True)
class Prune(Pass):
    """Remove nodes, and functions of the library, that neither fetches nor kept nodes need."""

    name: ClassVar[str] = "prune"
    summary: ClassVar[str] = "remove nodes and functions that no fetch needs"
    keeps_cost: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        feeds = [graph.output(name) for name in ctx.always_fed]
        cut = [node for node in dict.fromkeys(feed.node for feed in feeds) if _is_cut(graph, node)]
        shapes = shapes_at_cuts(graph, [node.output().name for node in cut])
        for node in cut:
            attrs = {"dtype": node.output_dtypes[0].base, "shape": shapes[node.output().name]}
            become(graph, node, "Placeholder", [], attrs, ())
            ctx.fire("fed", node, "became a placeholder: its value is fed")
        roots = [graph.node(name) for name in (*ctx.fetches, *ctx.keep, *ctx.start) if name in graph]
        needed = needed_nodes(roots, feeds) | reachable(feed.node for feed in feeds)
        doomed = [node for node in graph if node not in needed]
        graph.remove_nodes(doomed)
        for node in doomed:
            ctx.fire("unreachable", node, "removed: no fetch needs it")
        self._prune_library(graph, ctx)

    def _prune_library(self, graph: Graph, ctx: PassContext) -> None:
        """Remove functions that no remaining node names, directly or through another function."""
        for name in drop_uncalled(graph):
            ctx.fire("function", name, "removed: no node calls it")


def _is_cut(graph: Graph, node: Node) -> bool:
    """Return True for a node whose only output is fed: the node computes nothing."""
    return len(node.output_dtypes) == 1 and not node.is_placeholder and not graph.control_consumers(node)
