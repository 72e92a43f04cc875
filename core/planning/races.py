"""Races: accesses to state that no path orders, so that TensorFlow's executor orders them by the readiness of nodes.

Order is reachability along data and control edges, computed for all nodes at once with a bit for each access that matters,
in batches of states. Accesses in a loop keep the order of iterations only where each waits for the access before: where
both lie on the same cycle, or where an iteration begins after the end of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final

from ..graph.deadness import ALWAYS, Condition, Deadness, is_contradiction
from ..graph.frames import SWITCH, Frame
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import strongly_connected
from ..support import dataclasses
from .effects import DRAW, READ, WRITE, Access, State, accesses, contested

Sources = Mapping[Node, Sequence[Node | None]]
Alike = Callable[[Node], Hashable]
WRITES: Final = frozenset({WRITE, DRAW})
# A training step of 100,000 nodes with 11,111 variables takes 47 MB to plan in batches, and took 150 MB with all states at
# once, in the same time.
MOST_BITS: Final = 4096
"""The number of accesses from which several states are searched in batches."""


_MOST_KINDS: Final = 64
"""The largest number of kinds of accesses that are compared with each other.

Pairs of kinds may be quadratic in the accesses.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Race:
    """Two unordered accesses to the same state; accesses of the same node belong to different iterations of `loop`."""

    state: State
    first: Access
    second: Access
    loop: str | None = None


def find_races(
    graph: Graph, order: list[Node], sources: Sources, frames: Mapping[Node, Frame], fed: frozenset[Output] = frozenset()
) -> Iterator[Race]:
    """Yield the races among the nodes of a topological order, which run together.

    Races between iterations of loops come first. `sources` returns the nodes that a node waits for, `frames` the loop
    around a node. The number of races may be quadratic in the number of accesses, so each is searched on demand.
    """
    states = contested(accesses(graph, order, fed))
    if any(len(group) > 1 for group in states.values()) or frames:
        yield from _RunOrder(order, sources, frames, fed).races(states)


def chained_races(
    graph: Graph, order: list[Node], sources: Sources, fed: frozenset[Output], place: Mapping[Node, int], alike: Alike
) -> Iterator[Race]:
    """Yield the races, among nodes that have a place, from which all others follow; the earlier access comes first.

    Once each of the races is ordered, all are: where three `alike` accesses follow each other, the first and the last need
    no edge. The result is linear in the number of accesses, where all pairs would be quadratic.
    """
    states = {state: group for state, group in contested(accesses(graph, order, fed)).items() if len(group) > 1}
    if states:
        yield from _RunOrder(order, sources, {}, fed).chained(states, place, alike)


class _Since:
    """The earlier accesses that the next access has to wait for: the last write, and the reads since."""

    def __init__(self) -> None:
        self.write: Access | None = None
        self.reads: list[Access] = []

    def awaited(self, kind: str) -> list[Access]:
        """Return the accesses that an access of a kind waits for."""
        # Reads since the last write wait for it already, so waiting for them is waiting for it.
        if kind != READ and self.reads:
            return self.reads
        return [] if self.write is None else [self.write]

    def add(self, access: Access) -> None:
        """Note the next access."""
        if access.kind == READ:
            self.reads.append(access)
        else:
            self.write, self.reads = access, []


class _RunOrder:
    """The order of a run's nodes, as bits."""

    def __init__(self, order: list[Node], sources: Sources, frames: Mapping[Node, Frame], fed: frozenset[Output]) -> None:
        self.order = order
        self.sources = sources
        self.frames = frames
        self.fed = fed
        # Only the back edges of loops close cycles.
        self.groups = strongly_connected(order, sources.__getitem__) if frames else [[node] for node in order]
        # Most graphs have no conditionals, and the analysis would visit each node.
        self.deadness = Deadness(set(order), fed) if any(node.op in SWITCH for node in order) else None
        self.components = {node: group[0] for group in self.groups if len(group) > 1 for node in group}

    def races(self, states: Mapping[State, list[Access]]) -> Iterator[Race]:
        for state, every in states.items():
            repeated = [(access, loop) for access in every if (loop := self.repeated(access)) is not None]
            yield from (Race(state, access, access, loop) for access, loop in repeated)
            yield from self.in_loops(state, every)
        shared = {state: every for state, every in states.items() if len(every) > 1}
        for some in _batches(shared):
            # Each access has a bit in Python's unbounded integers: one `or` merges the bits of thousands of predecessors.
            bits = _bits(some)
            before = self.reached(bits)
            for state, every in some.items():
                yield from (race for race in _unordered(state, every, before, bits) if not self.excludes(race))

    def chained(self, states: Mapping[State, list[Access]], place: Mapping[Node, int], alike: Alike) -> Iterator[Race]:
        """Yield the races of `chained_races`, outside loops."""
        for some in _batches(states):
            bits = _bits(some)
            before = self.reached(bits)
            for state, every in some.items():
                outside = sorted((a for a in every if a.node in place), key=lambda access: place[access.node])
                pairs = _neighbours(outside, lambda node: (alike(node), self.condition(node)))
                races = (Race(state, a, b) for a, b in pairs if not (before[b.node] | bits[b.node]) & bits[a.node])
                yield from (race for race in races if not self.excludes(race))

    def in_loops(self, state: State, every: Sequence[Access]) -> Iterator[Race]:
        """Yield the accesses in the same loop that do not wait for accesses of the iteration before."""
        inside = [access for access in every if access.node in self.frames and self.frames[access.node].parent is not None]
        # Accesses on the same cycle wait for each other's iterations.
        if len({self.components.get(access.node, access.node) for access in inside}) < 2:
            return
        for i, second in enumerate(inside):
            for first in inside[:i]:
                loop = self.common_loop(first.node, second.node)
                is_ordered = self.components.get(first.node, first) == self.components.get(second.node, second)
                if loop is None or loop.is_sequential or is_ordered or first.node is second.node:
                    continue
                if WRITES & {first.kind, second.kind}:
                    yield Race(state, first, second, loop.name)

    def excludes(self, race: Race) -> bool:
        """True if two accesses lie on different branches of the same conditional, or where their loop is reported
        already.
        """
        first, second = race.first.node, race.second.node
        loop = self.common_loop(first, second)
        is_told = loop is not None and not loop.is_sequential
        is_told = is_told and self.components.get(first, first) != self.components.get(second, second)
        return is_told or is_contradiction(self.condition(first) | self.condition(second))

    def reached(self, bits: Mapping[Node, int]) -> dict[Node, int]:
        """Return for every node the bits of the nodes that end before the node starts.

        A node on a cycle gets the bits of the cycle.
        """
        before: dict[Node, int] = {}
        for members in self.groups:
            mask = 0
            for node in members:
                for source in self.sources[node]:
                    if source is not None:
                        mask |= before.get(source, 0) | bits.get(source, 0)
            before |= dict.fromkeys(members, mask)
        return before

    def repeated(self, access: Access) -> str | None:
        """Return the loop in whose iterations a node writes or draws without waiting for the iteration before."""
        frame = self.frames.get(access.node)
        if access.kind == READ or frame is None or frame.parent is None or access.node in self.components:
            return None
        return None if frame.is_sequential else frame.name

    def common_loop(self, first: Node, second: Node) -> Frame | None:
        """Return the innermost loop around both nodes."""
        frame = self.frames.get(first)
        other = self.frames.get(second)
        while frame is not None and frame.parent is not None:
            if other is not None and other.is_inside(frame):
                return frame
            frame = frame.parent
        return None

    def condition(self, node: Node) -> Condition:
        """Return the condition for a live node: the branches of V1 conditionals."""
        return ALWAYS if self.deadness is None else self.deadness.of_node(node)


def _neighbours(every: Sequence[Access], alike: Alike) -> Iterator[tuple[Access, Access]]:
    """Yield each access of an order with the accesses before that it waits for; among alike accesses, only the last.

    With more than _MOST_KINDS kinds, accesses wait for their own kind only.
    """
    chains: dict[Hashable, _Since] = {}
    for second in every:
        own = chains.setdefault(alike(second.node), _Since())
        for since in chains.values() if len(chains) <= _MOST_KINDS else (own,):
            yield from ((first, second) for first in since.awaited(second.kind))
        own.add(second)


def _batches(states: Mapping[State, list[Access]]) -> Iterator[dict[State, list[Access]]]:
    """Yield the states in batches, so that the memory for each node of a graph does not grow with the number of states."""
    batch: dict[State, list[Access]] = {}
    count = 0
    for state, every in states.items():
        if batch and count + len(every) > MOST_BITS:
            yield batch
            batch, count = {}, 0
        batch[state] = every
        count += len(every)
    if batch:
        yield batch


def _bits(states: Mapping[State, list[Access]]) -> dict[Node, int]:
    """Return a bit for each node with an access."""
    return {node: 1 << i for i, node in enumerate(dict.fromkeys(a.node for every in states.values() for a in every))}


def _unordered(state: State, every: Sequence[Access], before: Mapping[Node, int], bits: Mapping[Node, int]) -> Iterator[Race]:
    """Yield the pairs of accesses, in topological order, without a path from the earlier to the later access."""
    earlier: list[Access] = []
    read = written = 0
    for second in every:
        bit = bits.get(second.node, 0)
        # Two reads never race.
        # The earlier accesses from which no path leads here, all at once; only then they are looked for one by one.
        missing = (written if second.kind == READ else read | written) & ~before.get(second.node, 0) & ~bit
        if missing:
            yield from (Race(state, a, second) for a in earlier if missing & bits[a.node] and WRITES & {a.kind, second.kind})
        earlier.append(second)
        if second.kind == READ:
            read |= bit
        else:
            written |= bit
