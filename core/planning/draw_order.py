"""When the random draws of a loop come in the order of its iterations, although no path orders them.

TensorFlow's executor works off nodes that count as cheap in the order in which they became ready. A draw waits for little more
than its loop's counter. Where all of that, and the draw itself, counts as cheap, each of these nodes runs in one iteration
before it runs in the next one, as what it waits for does: all of it then comes in order, whatever else the loop does.
Counting as cheap comes with time (`scheduling`), so this holds from some run on.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..control_flow.conditions import ENTER, MERGE, NEXT_ITERATION
from ..graph import Node
from ..ordering.effects import DRAW, State
from ..ordering.races import Race
from ..ordering.scheduling import is_asynchronous
from ..traversal import strongly_connected
from .selection import Selection


def awaited_by_draws(run: Selection, races: Iterable[Race]) -> frozenset[Node] | None:
    """The nodes of loops that have to count as cheap for the draws that race to come in order.

    None where other accesses race too, or where being cheap is not enough: for a loop inside another, what waits for a
    conditional of the same iteration, and what an asynchronous kernel makes ready.
    """
    draws: set[Node] = set()
    for race in races:
        node = race.first.node
        if race.first != race.second or race.first.kind != DRAW or race.state != State("", node.name):
            return None
        draws.add(node)
    found = _awaited(run, draws)
    return frozenset(found) if found is not None and _come_in_turn(run, found) else None


def _awaited(run: Selection, draws: set[Node]) -> set[Node] | None:
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
