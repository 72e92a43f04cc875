"""The order in which TensorFlow's executor runs ready nodes with a single thread.

A finished node hands on the nodes that became ready, along its edges: data edges first, in the order in which their
consumers were made. Cheap kernels and dead nodes go to the end of a queue that is worked off at once. Of the other kernels,
the last joins the queue if the queue is empty; the rest go onto a pile, which is popped whenever the queue is empty. All
nodes that an asynchronous kernel makes ready go onto the pile.
"""

from __future__ import annotations

import collections
import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from ..graph.call_kinds import CALL_KINDS
from ..graph.graph import Node, Output
from ..registry.op_facts import has_fact

_Item = TypeVar("_Item")
_Unit = TypeVar("_Unit", bound=Hashable)
Edges = tuple[Sequence[_Unit], Sequence[_Unit]]
"""The sources of a unit's data inputs, and the sources of its control inputs."""

_EDGES_IN_ORDER: Final = 8
"""Consumers of a node that keep an order; TensorFlow keeps more of them by their addresses (docs/order.md)."""
RUNS_UNTIL_CHEAP: Final = 95
"""The number of runs after which an expensive kernel that takes next to no time counts as cheap.

TensorFlow renews a tenth of its time estimate in each run, and the estimate starts high.
"""
_SMALL: Final = 512
"""The largest number of elements, of all inputs and results together, for which a kernel counts as fast."""


def is_cheap(op: str) -> bool:
    """True if TensorFlow's executor runs the op's kernel at once, in the thread that made the node ready."""
    return not op or has_fact(op, "inexpensive")


def is_asynchronous(op: str) -> bool:
    """True if the op's kernel calls back at the end: its consumers are handed to the thread pool."""
    return op in CALL_KINDS or has_fact(op, "asynchronous")


def is_small(values: Iterable[Any]) -> bool:
    """True if a kernel on the given inputs and outputs takes less than 8,000 cycles, the bound of a cheap kernel."""
    return sum(getattr(value, "size", 1) for value in values) <= _SMALL


class ReadyQueue(Generic[_Item]):
    """The items that are ready to run. `is_cheap` tells whether an item goes into the queue or may go onto the pile."""

    def __init__(self, is_cheap: Callable[[_Item], bool]) -> None:
        self.is_cheap = is_cheap
        self.inline: collections.deque[_Item] = collections.deque()
        self.pile: list[_Item] = []

    def __bool__(self) -> bool:
        return bool(self.inline or self.pile)

    def taken(self) -> Iterator[_Item]:
        """Yield the items to run, until nothing is left; items may be added meanwhile."""
        inline, pile = self.inline, self.pile
        while inline or pile:
            yield inline.popleft() if inline else pile.pop()

    def add(self, ready: Sequence[_Item], is_asynchronous: bool = False) -> None:
        """Queue the items that a node made ready, in the order of the node's edges."""
        if is_asynchronous:
            self.pile += ready
            return
        if len(ready) == 1 and not self.inline:
            self.inline.append(ready[0])
            return
        expensive = []
        for item in ready:
            if self.is_cheap(item):
                self.inline.append(item)
            else:
                expensive.append(item)
        # TensorFlow's thread runs the last expensive kernel itself if its queue is empty; the pool runs the others. If cheap
        # items are queued, the thread is busy with those, and the pool gets all expensive kernels.
        if expensive and not self.inline:
            self.inline.append(expensive.pop())
        self.pile += expensive


def is_bypassed(node: Node, is_kept: Callable[[Output], bool]) -> bool:
    """True for an Identity that TensorFlow's graph optimizer removes: the node orders nothing and reads no variable.

    `is_kept` tells whether a value is fed or fetched.
    """
    if not node.is_identity or node.control_inputs or is_kept(node.output()) or is_kept(node.inputs[0]):
        return False
    source = node.inputs[0].node
    dtype = node.inputs[0].dtype
    reads = source.is_variable_read or has_fact(source.op, "variable") or dtype is None or dtype.is_ref
    return not reads and not any(node in user.control_inputs for user in node.uses)


def starting_order(roots: Sequence[_Item]) -> Sequence[_Item]:
    """Return the order in which nodes without inputs are handed on at the start.

    TensorFlow keeps more than eight edges of a node by their addresses: blocks of neighbours that start at some place,
    which differs from process to process. The most likely order has neither the first nor the last made node at an end.
    """
    middle = len(roots) // 2 if len(roots) > _EDGES_IN_ORDER else 0
    return [*roots[middle:], *roots[:middle]]


def optimized_order(
    units: Sequence[_Unit],
    fetched: Iterable[_Unit],
    sources: Callable[[_Unit], Iterable[_Unit]],
    predecessors: Callable[[_Unit], Iterable[_Unit]],
) -> list[_Unit]:
    """Return `units` in the order in which TensorFlow's graph optimizer writes them.

    The optimizer collects the units that `fetched` needs, from the last input of the last unit on, reverses them, and sorts
    them by levels: units that wait for nothing, then units that only wait for the first level, and so on. `sources` returns
    all sources of a unit's data and control, `predecessors` the sources without back edges of loops.
    """
    place = {unit: i for i, unit in enumerate(units)}
    pending = list(fetched)
    needed: dict[_Unit, None] = {}
    while pending:
        unit = pending.pop()
        if unit in place and unit not in needed:
            needed[unit] = None
            pending += sources(unit)
    collected = [*list(needed)[::-1], *(unit for unit in units if unit not in needed)]
    return _by_levels(collected, predecessors)


def _by_levels(units: Sequence[_Unit], predecessors: Callable[[_Unit], Iterable[_Unit]]) -> list[_Unit]:
    """Return the units by levels: units that wait for nothing, then units that wait only for the level before.

    Cycles come last.
    """
    waits, consumers = _waiting(units, predecessors)
    order = [unit for unit in units if not waits[unit]]
    for unit in order:
        for consumer in consumers.get(unit, ()):
            waits[consumer] -= 1
            if not waits[consumer]:
                order.append(consumer)
    return order + [unit for unit in units if waits[unit]]


def _waiting(
    units: Sequence[_Unit], predecessors: Callable[[_Unit], Iterable[_Unit]]
) -> tuple[dict[_Unit, int], dict[_Unit, list[_Unit]]]:
    """Return the number of units that each unit waits for, and the consumers of each unit."""
    members = set(units)
    waits: dict[_Unit, int] = {}
    consumers: dict[_Unit, list[_Unit]] = {}
    for unit in units:
        before = {source: None for source in predecessors(unit) if source in members}
        waits[unit] = len(before)
        for source in before:
            consumers.setdefault(source, []).append(unit)
    return waits, consumers


def construction_order(units: Sequence[_Unit], predecessors: Callable[[_Unit], Iterable[_Unit]]) -> list[_Unit]:
    """Return `units` in the order in which TensorFlow makes them: always the first unit whose inputs exist.

    Units on a cycle, or behind a cycle, come last.
    """
    place = {unit: i for i, unit in enumerate(units)}
    waits, consumers = _waiting(units, predecessors)
    ready = [place[unit] for unit in units if not waits[unit]]
    order = []
    while ready:
        unit = units[heapq.heappop(ready)]
        order.append(unit)
        for consumer in consumers.get(unit, ()):
            waits[consumer] -= 1
            if not waits[consumer]:
                heapq.heappush(ready, place[consumer])
    return order + [unit for unit in units if waits[unit]]


def execution_order(units: Sequence[_Unit], edges: Callable[[_Unit], Edges[_Unit]], op: Callable[[_Unit], str]) -> list[_Unit]:
    """Return `units`, given in the order of their construction, in the order in which the executor runs them.

    `edges` returns the sources of a unit's data and control, `op` the op type, "" for a unit that always runs at once.
    Units on a cycle are left out.
    """
    waits: dict[_Unit, int] = {}
    data: dict[_Unit, list[_Unit]] = {unit: [] for unit in units}
    control: dict[_Unit, list[_Unit]] = {unit: [] for unit in units}
    for unit in units:
        values, controls = edges(unit)
        # An edge is waited for, not a source: two edges from the same node count twice, as in TensorFlow's pending counts.
        waits[unit] = len(values) + len(controls)
        for source in values:
            data[source].append(unit)
        for source in controls:
            control[source].append(unit)
    queue: ReadyQueue[_Unit] = ReadyQueue(lambda unit: is_cheap(op(unit)))
    queue.add(starting_order([unit for unit in units if not waits[unit]]))
    order = []
    for unit in queue.taken():
        order.append(unit)
        ready = []
        # Data edges come before control edges, as in TensorFlow's PropagateOutputs.
        for consumer in (*data[unit], *control[unit]):
            waits[consumer] -= 1
            if not waits[consumer]:
                ready.append(consumer)
        queue.add(ready, is_asynchronous(op(unit)))
    return order
