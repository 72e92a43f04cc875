"""Unique names as TensorFlow numbers them: case-insensitive; name scopes and nodes share a list."""

from __future__ import annotations

from ..graph.graph import Graph


class UniqueNames:
    """The names taken in a graph: names of nodes, and of opened scopes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._used: dict[str, int] = {}
        self._seen_scopes: set[str] | None = None

    def unique(self, name: str) -> str:
        """Return `name`, or with the first free suffix `_1`, `_2` ...; the name is taken from now on."""
        key = name.lower()
        count = self._used.get(key, 0)
        if count == 0 and name in self._graph:
            count = 1
        self._used[key] = count + 1
        if count == 0:
            return name
        candidate = name
        while candidate.lower() in self._used or candidate in self._graph:
            candidate = f"{name}_{count}"
            count += 1
        self._used[key] = count
        self._used[candidate.lower()] = 1
        return candidate

    def unique_scope(self, name: str) -> str:
        """Return a unique name for a scope: names before a `/` in the graph's nodes are taken too."""
        if self._seen_scopes is None:
            self._seen_scopes = _scopes(self._graph)
            for scope in self._seen_scopes:
                self._used.setdefault(scope.lower(), 1)
        return self.unique(name)


def _scopes(graph: Graph) -> set[str]:
    """Return every scope that holds a node."""
    scopes: set[str] = set()
    for node in graph:
        scope = node.name.rpartition("/")[0]
        while scope and scope not in scopes:
            scopes.add(scope)
            scope = scope.rpartition("/")[0]
    return scopes
