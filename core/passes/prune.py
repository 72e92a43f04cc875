"""Drop what no fetch runs."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ..functions.callers import called_functions
from ..graph import Graph, Node
from ..planning.needed import needed_nodes
from ..traversal import reachable
from .base import Pass, PassContext, become


@dataclasses.dataclass(frozen=True)
class Prune(Pass):
    """Remove nodes, and functions of the library, that neither fetches nor kept nodes need."""

    name: ClassVar[str] = "prune"
    summary: ClassVar[str] = "remove nodes and functions that no fetch needs"
    keeps_cost: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        feeds = [graph.output(name) for name in ctx.always_fed]
        for node in {feed.node for feed in feeds}:
            self._cut(graph, ctx, node)
        roots = [graph.node(name) for name in (*ctx.fetches, *ctx.keep, *ctx.start) if name in graph]
        needed = needed_nodes(roots, feeds) | reachable(feed.node for feed in feeds)
        doomed = [node for node in graph if node not in needed]
        graph.remove_nodes(doomed)
        for node in doomed:
            ctx.fire("unreachable", node, "removed: no fetch needs it")
        self._prune_library(graph, ctx)

    def _cut(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        """A node whose only output is fed computes nothing: it becomes a placeholder."""
        if len(node.output_dtypes) != 1 or node.is_placeholder or graph.control_consumers(node):
            return
        dtype = node.output_dtypes[0].base
        become(graph, node, "Placeholder", [], {"dtype": dtype, "shape": ctx.shape(node.output())}, ())
        ctx.fire("fed", node, "became a placeholder: its value is fed")

    def _prune_library(self, graph: Graph, ctx: PassContext) -> None:
        """Remove functions that no remaining node names, directly or through another function."""
        needed = called_functions(graph, graph)
        for name in [name for name in graph.functions if name not in needed]:
            del graph.functions[name]
            ctx.fire("function", name, "removed: nothing calls it")
