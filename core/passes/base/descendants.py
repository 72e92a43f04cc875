"""Which nodes come after others: found in order, as far as somebody asks, and each once for all who ask."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from typing import Final

from ...graph.graph import Node

STEPS: Final = 200
"""How many steps the waves may take for each node of the graph; then they stay where they are."""


class Waves:
    """Waves through a graph, each from what it began at to all that comes after it.

    `places` numbers nodes so that none has a lower place than what it takes; nodes of one loop may share a place, and a node
    without one counts as the first. `users` gives the nodes directly after a node. A wave has met a node only if that comes
    after its source; the reverse may be wrong for a node that came to stand there later, and where all waves together have
    taken as many steps as they may.
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
        """Let a wave meet a node now; it goes on from there."""
        if node not in self._met[source]:
            self._met[source].add(node)
            heapq.heappush(self._borders[source], (self.place(node), next(self._serial), node))

    def meets(self, source: Hashable, wanted: Set[Node], place: float) -> bool:
        """True where a wave meets one of the nodes before it is beyond `place`, the last of theirs."""
        met, border = self._met[source], self._borders[source]
        is_met = not met.isdisjoint(wanted)
        while not is_met and border and border[0][0] <= place and self._left > 0:
            for user in self._users(heapq.heappop(border)[2]):
                self._left -= 1
                self.meet(source, user)
                is_met = is_met or user in wanted
        return is_met

    def place(self, node: Node) -> float:
        """The place of a node."""
        return self._places.get(node, -math.inf)
