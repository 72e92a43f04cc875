"""The times of the nodes of two graphs."""

from __future__ import annotations

from ..support import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class NodeTimes:
    """The seconds of a node in a run of each graph, without called functions; None where the graph does not run the node.

    Each time is the median of all runs.
    """

    node: str
    """The node in the first graph."""
    op: str
    """The op of the node."""
    other: str
    """The node in the second graph."""
    before: float | None
    """The seconds in the first graph."""
    after: float | None
    """The seconds in the second graph."""

    @property
    def slowdown(self) -> float:
        """Return the seconds that the second graph takes longer."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclasses.dataclass(frozen=True, slots=True)
class TimeComparison:
    """The times of all nodes, the largest slowdown first, and the seconds of a run of each graph under the profile."""

    nodes: tuple[NodeTimes, ...]
    """The nodes of both graphs."""
    before: float
    """The seconds of a run of the first graph."""
    after: float
    """The seconds of a run of the second graph."""
