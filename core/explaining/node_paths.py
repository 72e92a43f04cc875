"""Paths from one node to another: whether the first reaches the second, and by which nodes."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.graph import Graph, Node, Output
from ..graph.traversal import descendants, reachable, shortest_path
from ..support import dataclasses
from ..support.display import Report
from ..support.words import counted


@dataclasses.dataclass(frozen=True, slots=True)
class PathStep:
    """A node on a path."""

    name: str
    """The name of the node."""
    op: str
    """Its op."""
    reads: str | None
    """The tensor of the step before that the node reads; None for the first step, and if the node only waits."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class NodePath(Report, main_table="steps"):
    """Whether a node reaches another, and by which nodes."""

    start: str
    """The node or tensor at the beginning."""
    end: str
    """The node at the end."""
    steps: tuple[PathStep, ...]
    """A shortest path, both ends included: of edges of data if there is such a path, else with nodes that only wait for
    others; empty if the start does not reach the end.
    """
    between: tuple[str, ...]
    """All nodes on paths from start to end, without the two, in the order of the graph."""
    is_reverse: bool
    """True if the end reaches the start, and the start not the end."""

    @property
    def reaches(self) -> bool:
        """True if the start reaches the end."""
        return bool(self.steps)

    @property
    def waits(self) -> bool:
        """True if a node of the path only waits for the node before."""
        return any(step.reads is None for step in self.steps[1:])

    def headline(self) -> str:
        if not self.reaches:
            other = f", but {self.end} reaches {self.start}" if self.is_reverse else ""
            return f"{self.start} does not reach {self.end}{other}"
        order = " by order alone, and not by data" if self.waits else ""
        lies = "lie" if len(self.between) > 1 else "lies"
        count = counted(len(self.between), "node") if self.between else "no node"
        return f"{self.start} reaches {self.end}{order}; {count} {lies} between them"


def find_path(graph: Graph, start: Output, end: Output, *, by_tensor: bool = False) -> NodePath:
    """Return whether the node of a tensor reaches the node of another; with `by_tensor` only by the readers of that tensor.

    The time is linear in the size of the graph.
    """

    def users(node: Node) -> Iterable[Node]:
        # Only the first step is bound to the tensor: behind a reader, every output leads on.
        return (user for user in node.uses if user.takes(start)) if by_tensor and node is start.node else node.uses

    def readers(node: Node) -> Iterable[Node]:
        return (user for user in users(node) if any(value.node is node for value in user.inputs))

    goal = {end.node}
    # A path of data tells how a value gets there; a shorter one by control edges would hide it.
    nodes = shortest_path(start.node, goal, readers) or shortest_path(start.node, goal, users)
    steps = tuple(_step(node, before) for node, before in zip(nodes, (None, *nodes)))
    # By two sweeps: the paths themselves may be exponentially many.
    onward = descendants(users(start.node)) & reachable(goal) if nodes else set()
    between = (node.name for node in graph if node in onward and node not in (start.node, end.node))
    is_reverse = not nodes and start.node in descendants(goal)
    name = start.name if by_tensor else start.node.name
    return NodePath(name, end.node.name, steps, tuple(between), is_reverse)


def _step(node: Node, before: Node | None) -> PathStep:
    reads = next((value.name for value in node.inputs if value.node is before), None)
    return PathStep(node.name, node.op, reads)
