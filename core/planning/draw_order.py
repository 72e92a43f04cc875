"""The order in which the random draws of a loop come that no path orders.

TensorFlow's executor works off nodes that count as cheap in the order in which they became ready. A draw waits for little more
than its loop's counter. Where all of that, and the draw itself, counts as cheap, each of these nodes runs in one iteration
before it runs in the next one, as what it waits for does: all of it then comes in order, whatever else the loop does.
Counting as cheap comes with time (`scheduling`), so this holds from some run on.

Draws that never count as cheap come in an order that depends on how many iterations there are, and on nothing else where no
conditional lies in their loops: a run that is like an earlier one draws in the order of that one (`iteration_counts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..control_flow.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame
from ..functions.purity import CONTROL_FLOW, impurity
from ..graph.graph import Node, Output
from ..graph.traversal import sources_first, strongly_connected
from ..ordering.effects import DRAW, State
from ..ordering.races import Race
from ..ordering.scheduling import is_asynchronous
from .node_selection import Selection
from .reachability import needed_nodes


def racing_draws(races: Iterable[Race]) -> frozenset[Node] | None:
    """The nodes that draw in iterations that nothing orders; None where other accesses race too."""
    draws: set[Node] = set()
    for race in races:
        node = race.first.node
        if race.first != race.second or race.first.kind != DRAW or race.state != State("", node.name):
            return None
        draws.add(node)
    return frozenset(draws)


def awaited_by_draws(run: Selection, draws: frozenset[Node]) -> frozenset[Node] | None:
    """The nodes of loops that have to count as cheap for these draws to come in order.

    None where being cheap is not enough: for a loop inside another, what waits for a conditional of the same iteration, and
    what an asynchronous kernel makes ready.
    """
    found = _awaited(run, draws)
    return frozenset(found) if found is not None and _come_in_turn(run, found) else None


def iteration_counts(run: Selection, draws: frozenset[Node]) -> list[Output] | None:
    """Values that say how many iterations the loops make, and so in which order these draws come.

    Of a loop whose number of iterations follows from those of others, as that of a gradient does, there is none. None for
    loops inside others, for conditionals in the loops that draw, and where the values are no function of what is fed alone.
    """
    loops = list(dict.fromkeys(frame for frame in run.frames.values() if frame.parent is not None))
    if any(loop.parent is not run.root or (_has_conditional(loop) and draws & set(loop.nodes)) for loop in loops):
        return None
    return _Counting(run).counts(loops)


def _has_conditional(loop: Frame) -> bool:
    return any(node.op in SWITCH and not node.inputs[1].node.is_loop_condition for node in loop.nodes)


class _Counting:
    """How many iterations the loops of a run make."""

    def __init__(self, run: Selection) -> None:
        self.run = run
        self._known: dict[str, str | None] = {}

    def counts(self, loops: Sequence[Frame]) -> list[Output] | None:
        found: list[Output] = []
        counted: set[Node] = set()
        others: list[Node] = []
        for loop in loops:
            condition = loop.loop_condition
            if condition is None:
                return None
            values = self._ends(condition, set(loop.nodes))
            if values is None:
                others.append(condition)
            else:
                counted.add(condition)
                found += values
        return found if all(self._follows(condition, counted) for condition in others) else None

    def _ends(self, condition: Node, inside: set[Node]) -> list[Output] | None:
        """What the variables end with that the loop's condition asks for; None where more than they is needed for that."""

        def sources(node: Node) -> list[Node]:
            return [source for source in self.run.sources(node) if source in inside and source.op not in ENTER]

        asked = sources_first(condition, sources)
        switches = [node for merge in asked if merge.op in MERGE for node in merge.uses if node.op in SWITCH]
        exits = [node.output() for switch in switches for node in switch.uses if node.op in EXIT]
        has_all = {value.node.inputs[0].node for value in exits} == set(switches)
        return exits if has_all and all(map(self._is_pure, needed_nodes(exits, self.run.feeds))) else None

    def _follows(self, condition: Node, counted: set[Node]) -> bool:
        """True of a condition on constants and on variables that count the iterations of other loops."""
        behind = sources_first(condition, lambda node: [v.node for v in node.inputs if v.node not in counted])
        return all(self._is_pure(node) and self.run.fed.isdisjoint(node.inputs) for node in behind)

    def _is_pure(self, node: Node) -> bool:
        return node.op in CONTROL_FLOW or impurity(self.run.graph, node, self._known) is None


def _awaited(run: Selection, draws: frozenset[Node]) -> set[Node] | None:
    """What draws wait for in their loops, in this iteration and those before, with the draws themselves; None as above."""
    found, pending = set(draws), list(draws)
    while pending:
        node = pending.pop()
        if node.op in ENTER:
            continue
        if run.frames[node].parent is not run.root or is_asynchronous(node.op):
            return None
        new = [source for source in run.sources(node) if source not in found]
        found.update(new)
        pending += new
    return found


def _come_in_turn(run: Selection, nodes: set[Node]) -> bool:
    """True where each Merge is that of a loop's variable whose next value waits for the one before."""
    groups = strongly_connected(nodes, lambda node: [] if node.op in ENTER else run.sources(node))
    cycle_of = {node: i for i, group in enumerate(groups) for node in group}
    merges = [node for node in nodes if node.op in MERGE]
    return all(
        source.op in ENTER or (source.op in NEXT_ITERATION and cycle_of[source] == cycle_of[node])
        for node in merges
        for source in run.sources(node)
    )
