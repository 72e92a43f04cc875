"""Nodes that an engine leaves to NumPy, by op and reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..graph.graph import Node
from ..support import dataclasses
from ..support.grouping import grouped
from .reasons import Reason

_NAMED: Final = 3
"""The largest number of nodes that a report names for a reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class RefusedNodes:
    """Nodes of the same op that run in NumPy for the same reason; `nodes` names the first, `next_step` is advice to the
    user.
    """

    op: str
    """The op of the nodes."""
    reason: str
    """Why the engine does not take them."""
    next_step: str
    """Advice to the user."""
    count: int
    """How many nodes there are."""
    nodes: tuple[str, ...]
    """The first nodes."""


def refused_nodes(refusals: Mapping[Node, Reason]) -> tuple[RefusedNodes, ...]:
    """Return refused nodes by op and reason, the most frequent first."""
    names = grouped(((node.op, reason), node.name) for node, reason in refusals.items())
    refused = (
        RefusedNodes(op, reason, reason.step, len(nodes), tuple(nodes[:_NAMED])) for (op, reason), nodes in names.items()
    )
    return tuple(sorted(refused, key=lambda item: (-item.count, item.op, item.reason)))
