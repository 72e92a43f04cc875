"""Order of a loop's random draws where no path orders the draws.

TensorFlow's executor runs cheap nodes in the order of their readiness. A draw waits for little more than the loop's
counter. If the draw and all nodes before the draw count as cheap, each node runs once per iteration, and iterations follow
each other. All draws are then in order, independent of the rest of the loop. A kernel counts as cheap only after some runs
(`scheduling`), so the first runs lack the order.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..control_flow.frames import ENTER, MERGE, NEXT_ITERATION
from ..graph.graph import Node
from ..graph.traversal import strongly_connected
from ..ordering.effects import DRAW, State
from ..ordering.races import Race
from ..ordering.scheduling import is_asynchronous
from .node_selection import Selection


def racing_draws(races: Iterable[Race]) -> frozenset[Node] | None:
    """Return the nodes that draw in unordered iterations; None where other accesses race too."""
    draws: set[Node] = set()
    for race in races:
        node = race.first.node
        if race.first != race.second or race.first.kind != DRAW or race.state != State("", node.name):
            return None
        draws.add(node)
    return frozenset(draws)


def awaited_by_draws(run: Selection, draws: frozenset[Node]) -> frozenset[Node] | None:
    """Return the nodes of loops that have to count as cheap for the draws to come in order.

    The result is None where cheapness is not enough: for a loop inside another, for nodes that wait for a conditional of
    the same iteration, and for nodes that an asynchronous kernel makes ready.
    """
    awaited = _awaited(run, draws)
    return frozenset(awaited) if awaited is not None and _come_in_turn(run, awaited) else None


def _awaited(run: Selection, draws: frozenset[Node]) -> set[Node] | None:
    """Return the draws with all nodes that they wait for in their loops, in this and earlier iterations; None as above."""
    awaited, pending = set(draws), list(draws)
    while pending:
        node = pending.pop()
        if node.op in ENTER:
            continue
        if run.frames[node].parent is not run.root or is_asynchronous(node.op):
            return None
        new = [source for source in run.sources(node) if source not in awaited]
        awaited.update(new)
        pending += new
    return awaited


def _come_in_turn(run: Selection, nodes: set[Node]) -> bool:
    """True where each Merge belongs to a loop variable whose next value waits for the value before."""
    groups = strongly_connected(nodes, lambda node: [] if node.op in ENTER else run.sources(node))
    cycle_of = {node: i for i, group in enumerate(groups) for node in group}
    merges = [node for node in nodes if node.op in MERGE]
    return all(
        source.op in ENTER or (source.op in NEXT_ITERATION and cycle_of[source] == cycle_of[node])
        for node in merges
        for source in run.sources(node)
    )
