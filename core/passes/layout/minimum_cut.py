"""Minimum cuts: the cheapest way to part a network in two."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Hashable

from ...graph.traversal import closure, shortest_path

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
        path = shortest_path(source, {sink}, lambda tail: (head for head, left in self._residual[tail].items() if left))
        return list(itertools.pairwise(path))

    def _reaching(self, sink: Hashable) -> set[Hashable]:
        """Return the vertices from which more flow could get to `sink`."""
        return closure([sink], lambda head: (tail for tail in self._residual[head] if self._residual[tail][head]))
