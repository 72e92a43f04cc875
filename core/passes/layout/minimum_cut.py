"""Minimum cuts: the cheapest way to part a network in two."""

from __future__ import annotations

import collections
from collections.abc import Hashable

UNCUT = 10**12
"""A capacity that no minimum cut pays."""


class Network:
    """A flow network: vertices with directed edges, each with a capacity, the cost of cutting the edge."""

    def __init__(self) -> None:
        self._residual: dict[Hashable, dict[Hashable, int]] = collections.defaultdict(dict)

    def add(self, tail: Hashable, head: Hashable, capacity: int) -> None:
        """Add an edge; the capacity adds to the existing capacity between the two vertices."""
        if tail != head:
            self._residual[tail][head] = self._residual[tail].get(head, 0) + capacity
            self._residual[head].setdefault(tail, 0)

    def source_side(self, source: Hashable, sink: Hashable) -> set[Hashable]:
        """Return the vertices on the side of `source` in the minimum cut with the most vertices there.

        Edmonds and Karp 1972: flow goes along shortest paths until none is left. Consumes the network.
        """
        while path := self._path(source, sink):
            flow = min(self._residual[tail][head] for tail, head in path)
            for tail, head in path:
                self._residual[tail][head] -= flow
                self._residual[head][tail] += flow
        return set(self._residual) - self._reaching(sink) | {source}

    def _path(self, source: Hashable, sink: Hashable) -> list[tuple[Hashable, Hashable]]:
        """Return the edges of a shortest path that can take more flow, empty where there is none."""
        reached: dict[Hashable, Hashable] = {source: source}
        queue = collections.deque([source])
        while queue and sink not in reached:
            tail = queue.popleft()
            for head, capacity in self._residual[tail].items():
                if capacity and head not in reached:
                    reached[head] = tail
                    queue.append(head)
        path = []
        head = sink
        while head in reached and head != source:
            path.append((reached[head], head))
            head = reached[head]
        return path

    def _reaching(self, sink: Hashable) -> set[Hashable]:
        """Return the vertices from which more flow could get to `sink`."""
        reaching = {sink}
        stack = [sink]
        while stack:
            head = stack.pop()
            for tail in self._residual[head]:
                if tail not in reaching and self._residual[tail][head]:
                    reaching.add(tail)
                    stack.append(tail)
        return reaching
