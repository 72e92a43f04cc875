"""Which scopes of a tree are opened: as many as fit."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Iterator

from .scope_tree import Scope


def scopes_to_open(
    root: Scope, max_boxes: int, depth: int | None, expand: Collection[str], fits: Callable[[set[Scope]], bool]
) -> set[Scope]:
    """The scopes whose parts are drawn one by one; the root is among them.

    All of the paths in `expand`, with those around them; with `depth` all others so deep, else as many as leave no more than
    `max_boxes` boxes and still fit: those nearest to the root first, of these the largest.
    """
    wanted = {root, *_named(root, expand)}
    if depth is not None:
        return wanted | set(_down_to(root, depth))
    order = [*wanted, *_by_size(root, wanted, max_boxes)]
    low, high = len(wanted), len(order)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(set(order[:middle])) else (low, middle - 1)
    return set(order[:low])


def _named(root: Scope, expand: Collection[str]) -> Iterator[Scope]:
    for part in root.parts:
        if isinstance(part, Scope) and any(path == part.path or path.startswith(f"{part.path}/") for path in expand):
            yield part
            yield from _named(part, expand)


def _down_to(scope: Scope, depth: int) -> Iterator[Scope]:
    for part in scope.parts if depth > 0 else ():
        if isinstance(part, Scope):
            yield part
            yield from _down_to(part, depth - 1)


def _by_size(root: Scope, wanted: Collection[Scope], max_boxes: int) -> Iterator[Scope]:
    """The scopes in the order in which they are opened, as long as there is room for their parts."""
    ties = itertools.count()
    pending: list[tuple[int, int, int, Scope]] = []

    def offer(scope: Scope, level: int) -> None:
        for part in scope.parts:
            if isinstance(part, Scope):
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
