"""The options that choose nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .requests import option, request

if TYPE_CHECKING:
    from ..core.explaining.node_listing import NodeFilter
    from ..core.graph.graph import Graph


@request
class ListingSelection:
    """The choice of nodes to show."""

    name: str = option(default="", metavar="REGEX", help="Only nodes whose name matches.")
    exclude: str = option(default="", metavar="REGEX", help="Leave out nodes whose name matches.")
    op: str = option(default="", metavar="REGEX", help="Only nodes whose whole op type matches.")
    scope: str = option(default="", metavar="SCOPE", help="Only nodes in this name scope.")
    device: str = option(default="", metavar="REGEX", help="Only nodes whose device matches.")
    to: tuple[str, ...] = option(metavar="NAME", help="Only nodes that this tensor or operation needs; repeatable.")
    around: str | None = option(metavar="NODE", help="Only nodes up to --hops edges from this node.")
    hops: int = option(
        type=click.IntRange(0),
        default=2,
        show_default=True,
        needs="--around",
        help="Largest distance of --around, in edges.",
    )

    @property
    def filter(self) -> NodeFilter:
        """The choice by names, ops, scopes and devices."""
        from ..core.explaining.node_listing import NodeFilter

        return NodeFilter(self.name, self.op, self.scope, self.exclude, self.device)

    @property
    def needs_edges(self) -> bool:
        """Return True if the choice depends on edges."""
        return bool(self.to) or self.around is not None

    @property
    def is_of_some(self) -> bool:
        """True if not all nodes are to be shown."""
        return self.needs_edges or not self.filter.is_empty

    def of(self, graph: Graph) -> NodeFilter:
        """The filter that chooses the nodes of the graph."""
        from ..core.explaining.node_listing import narrowed

        return narrowed(graph, self.filter, self.to, self.around, self.hops)
