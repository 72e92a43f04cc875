"""The descendants of nodes: searched lazily in order, and each search shared by all queries."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from typing import Final

from ...graph.graph import Node

STEPS: Final = 200
"""The number of steps of all waves for each node of the graph; then the waves stop."""


class Waves:
    """Waves through a graph in the order of places, each from a source to all descendants of the source.

    `places` numbers nodes in topological order; nodes of a loop may share a place, and a node without a place counts as the
    first. `users` returns the nodes directly after a node. A wave has met a node only if the node is a descendant of the
    source; the reverse may fail for a node that became a descendant later, and once all waves together have used up their
    steps.
    """

    def __init__(self, places: Mapping[Node, int], users: Callable[[Node], Iterable[Node]]) -> None:
        self._places = places
        self._users = users
        self._met: dict[Hashable, set[Node]] = {}
        self._borders: dict[Hashable, list[tuple[float, int, Node]]] = {}
        self._serial: Iterator[int] = itertools.count()
        self._left = STEPS * len(places)

    def __contains__(self, source: object) -> bool:
        return source in self._met

    def begin(self, source: Hashable, starts: Iterable[Node]) -> None:
        """Begin a wave that has met `starts`."""
        self._met[source], self._borders[source] = set(), []
        for node in starts:
            self.meet(source, node)

    def meet(self, source: Hashable, node: Node) -> None:
        """Let a wave meet a node now; the wave continues from the node."""
        if node not in self._met[source]:
            self._met[source].add(node)
            heapq.heappush(self._borders[source], (self.place(node), next(self._serial), node))

    def meets(self, source: Hashable, targets: Set[Node], place: float) -> bool:
        """Return True where a wave meets a node of `targets` before the wave passes `place`, the last place of the nodes."""
        met, border = self._met[source], self._borders[source]
        is_met = not met.isdisjoint(targets)
        while not is_met and border and border[0][0] <= place and self._left > 0:
            for user in self._users(heapq.heappop(border)[2]):
                self._left -= 1
                self.meet(source, user)
                is_met = is_met or user in targets
        return is_met

    def place(self, node: Node) -> float:
        """Return the place of a node."""
        return self._places.get(node, -math.inf)
