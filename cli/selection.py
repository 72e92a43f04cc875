"""The options that choose nodes of a graph."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import needing

if TYPE_CHECKING:
    from ..core.explaining.node_listing import NodeFilter
    from ..core.graph.graph import Graph

_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, slots=True)
class ListingSelection:
    """The choice of nodes to show."""

    filter: NodeFilter
    to: tuple[str, ...]
    around: str | None
    hops: int

    @property
    def needs_edges(self) -> bool:
        """Return True if the choice depends on edges."""
        return bool(self.to) or self.around is not None

    @property
    def is_of_some(self) -> bool:
        """True where not all nodes are to be shown."""
        return self.needs_edges or not self.filter.is_empty

    def of(self, graph: Graph) -> NodeFilter:
        """The filter that chooses the nodes of the graph."""
        from ..core.explaining.node_listing import narrowed

        return narrowed(graph, self.filter, self.to, self.around, self.hops)


def selection_options(command: _Command) -> _Command:
    """The options that choose nodes; the command gets them as one Selection, `selection`."""

    @click.option("--name", default="", metavar="REGEX", help="Only nodes whose name matches.")
    @click.option("--exclude", default="", metavar="REGEX", help="Leave out nodes whose name matches.")
    @click.option("--op", default="", metavar="REGEX", help="Only nodes whose whole op type matches.")
    @click.option("--scope", default="", metavar="SCOPE", help="Only nodes in this name scope.")
    @click.option("--device", default="", metavar="REGEX", help="Only nodes whose device matches.")
    @click.option("--to", multiple=True, metavar="NAME", help="Only nodes that this tensor or operation needs; repeatable.")
    @click.option("--around", metavar="NODE", help="Only nodes up to --hops edges from this node.")
    @click.option(
        "--hops", type=click.IntRange(0), default=2, show_default=True, help="Largest distance of --around, in edges."
    )
    @needing("--hops", "--around")
    @functools.wraps(command)
    def wrapped(
        *args: Any, name: str, exclude: str, op: str, scope: str, device: str, to: tuple[str, ...], around: str | None,
        hops: int, **kwargs: Any,
    ) -> Any:  # fmt: skip
        from ..core.explaining.node_listing import NodeFilter

        chosen = NodeFilter(name, op, scope, exclude, device)
        return command(*args, selection=ListingSelection(chosen, to, around, hops), **kwargs)

    return wrapped  # type: ignore[return-value]
