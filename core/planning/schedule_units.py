"""The units of a frame in order: the frame's nodes and the loops directly inside."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from ..control_flow.frames import ENTER, Frame
from ..graph.graph import Node, Output
from ..graph.traversal import closure, topological_order
from ..ordering.scheduling import construction_order, execution_order, optimized_order
from ..support.errors import InvalidArgumentError
from .node_selection import Selection

Unit: TypeAlias = Node | Frame


class NotWellFormed(Exception):
    """A loop that does not become a plain loop over steps."""


class Units:
    """The nodes and loops of a frame, their edges, and an order.

    `has_races`: units that no path orders come in the order in which TensorFlow's executor runs them.
    """

    def __init__(self, run: Selection, frame: Frame, has_races: bool) -> None:
        self.run = run
        self.frame = frame
        nodes = [n for n in frame.nodes if n.op not in ENTER] if frame.parent else frame.nodes
        units: list[Any] = [*nodes, *frame.children]
        order: list[Any] = self.order_of(units) if run.frames else run.order
        self.order: list[Unit] = self.execution_order() if has_races and frame.parent is None else order

    def order_of(self, units: Sequence[Any]) -> list[Any]:
        """Return the units in order; NotWellFormed where a loop takes something from behind the loop.

        A V1 loop may run iterations before all of its inputs are there, so the nodes alone are in no cycle.
        """
        try:
            return topological_order(units, self.predecessors)
        except InvalidArgumentError as error:
            raise NotWellFormed(f"a loop takes a value that its own results precede, by way of '{error.node}'") from error

    def owner(self, source: Node) -> Unit | None:
        """Return the unit of a node at this level: the node, the loop that an Exit leaves, or None for an Enter into this
        frame.
        """
        frame = self.run.frames.get(source, self.frame)
        if frame is not self.frame:
            return frame
        return None if source.op in ENTER else source

    def sources(self, unit: Unit) -> Iterator[Node]:
        """Yield the nodes that a node, or the Enter nodes of a loop, take data or control from; back edges are left out."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            yield from self.run.waits_for(node)

    def predecessors(self, unit: Any) -> Iterator[Any]:
        return (owner for source in self.sources(unit) if (owner := self.owner(source)) is not None)

    def execution_order(self) -> list[Unit]:
        """Return the units in the order in which TensorFlow's executor runs them; a loop counts as a node.

        Constants that TensorFlow's graph optimizer folds come first, with all nodes that they are computed from.
        """
        folded = frozenset(self.run.folded())

        def edges(unit: Any) -> tuple[list[Any], list[Any]]:
            return ([], []) if unit in folded else self.edges(unit)

        def sources(unit: Any) -> Iterator[Any]:
            return itertools.chain(*edges(unit))

        fetched = [owner for node in self.run.fetched_nodes() if (owner := self.owner(node)) is not None]
        every: list[Unit] = [*self.frame.nodes, *self.frame.children]
        behind = _needed(folded, self.predecessors, every)
        gone = set(behind).difference(_needed(fetched, sources, every))
        units = optimized_order([unit for unit in every if unit not in gone], fetched, sources, sources)
        made: list[Any] = construction_order([*units, *sorted(self.run.feeds, key=str)], sources)
        order = execution_order(made, edges, lambda unit: _op(unit, folded))
        scheduled: dict[Unit, None] = dict.fromkeys(topological_order(behind, self.predecessors))
        for unit in order:
            if not isinstance(unit, Output):
                scheduled |= dict.fromkeys((*self.bypassed_before(unit, scheduled), unit))
        return list(scheduled)

    def bypassed_before(self, unit: Unit, placed: Container[Unit]) -> list[Node]:
        """Return the bypassed nodes before a unit's inputs, in order, up to nodes that are `placed`."""
        bypassed = []
        for value in self.values_of(unit):
            while value not in self.run.fed and value.node not in placed and self.run.is_bypassed(value.node):
                bypassed.append(value.node)
                value = value.node.inputs[0]
        return bypassed[::-1]

    def edges(self, unit: Any) -> tuple[list[Any], list[Any]]:
        """Return the sources of a unit's data and of its control: units, and fed values."""
        fed = self.run.fed
        nodes = [] if isinstance(unit, Output) else [unit] if isinstance(unit, Node) else unit.with_op(ENTER)
        taken = [value for node in nodes for value in self.run.taken(node)]
        values = [value if value in fed else self.owner(value.node) for value in taken]
        controls = [source for node in nodes for source in self.run.waiting[node][len(node.inputs) :]]
        return values, [self.owner(source) for source in controls if source is not None]

    def values_of(self, unit: Unit) -> Iterator[Output]:
        """Yield the values that a node, or the Enter nodes of a loop, take."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            yield from node.inputs


def _needed(units: Iterable[Any], sources: Callable[[Any], Iterable[Any]], every: Sequence[Any]) -> list[Any]:
    """Return the units of `every`, in order, that some units need."""
    members = set(every)
    needed = closure(members.intersection(units), lambda unit: members.intersection(sources(unit)))
    return [unit for unit in every if unit in needed]


def _op(unit: Any, folded: Container[Any]) -> str:
    """Return a unit's op type for TensorFlow's executor, "" for a fed value."""
    if isinstance(unit, Output):
        return ""
    return "Const" if unit in folded else str(unit.op)
