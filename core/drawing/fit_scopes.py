"""The choice of the scopes that a picture opens: the most that fit."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterator

from .scope_tree import NameScope


def scopes_to_open(
    root: NameScope, max_boxes: int, depth: int | None, expand: Collection[str], fits: Callable[[set[NameScope]], bool]
) -> set[NameScope]:
    """Return the scopes whose parts are drawn apart; the root is among them.

    All paths in `expand` are open, with the scopes around them. With `depth` all scopes down to that level are open too,
    else the most that leave at most `max_boxes` boxes and still fit: nearest to the root first, then the largest.
    """
    required = {root, *_named(root, expand)}
    if depth is not None:
        return required | set(_down_to(root, depth))
    order = [*required, *_by_size(root, required, max_boxes)]
    low, high = len(required), len(order)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(set(order[:middle])) else (low, middle - 1)
    return set(order[:low])


def _named(root: NameScope, expand: Collection[str]) -> Iterator[NameScope]:
    for part in root.parts:
        if isinstance(part, NameScope) and any(path == part.path or path.startswith(f"{part.path}/") for path in expand):
            yield part
            yield from _named(part, expand)


def _down_to(scope: NameScope, depth: int) -> Iterator[NameScope]:
    for part in scope.parts if depth > 0 else ():
        if isinstance(part, NameScope):
            yield part
            yield from _down_to(part, depth - 1)


def _by_size(root: NameScope, wanted: Collection[NameScope], max_boxes: int) -> Iterator[NameScope]:
    """Yield the scopes in the order of opening, as long as there is room for their parts."""
    ties = itertools.count()
    pending: list[tuple[int, int, int, NameScope]] = []

    def offer(scope: NameScope, level: int) -> None:
        for part in scope.parts:
            if isinstance(part, NameScope):
                heapq.heappush(pending, (level, -part.nodes, next(ties), part))

    boxes = len(root.parts)
    offer(root, 0)
    while pending:
        level, _, _, scope = heapq.heappop(pending)
        more = len(scope.parts) - 1
        if scope in wanted or boxes + more <= max_boxes:
            boxes += more
            offer(scope, level + 1)
            if scope not in wanted:
                yield scope
