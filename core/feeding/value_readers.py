"""The readers of a value, also behind nodes that pass it on and in the functions that take it."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..functions.call_kinds import call_kind
from ..functions.implementations import function_called
from ..graph.graph import Graph, Node, Output


def readers_of(
    value: Output, passed_on: Callable[[Node, Sequence[int]], Iterable[Output]]
) -> Iterator[tuple[Node, Sequence[int]]]:
    """Yield the nodes that read a value, nearest first, each with the numbers of the inputs.

    `passed_on` returns the values by which a node with these inputs passes the value on: their readers follow.
    """
    seen: set[Output] = set()
    queue = collections.deque([value])
    while queue:
        value = queue.popleft()
        if value in seen:
            continue
        seen.add(value)
        for user in value.node.uses:
            places = [place for place, source in enumerate(user.inputs) if source == value]
            if places:  # else the user only waits for the node
                yield user, places
                queue += passed_on(user, places)


def called_arguments(graph: Graph, node: Node, places: Sequence[int]) -> Iterator[Output]:
    """Yield the arguments of the functions that a node calls that stand for the node's inputs at these places."""
    kind = call_kind(graph.functions, node)
    for reference in kind.references(node) if kind is not None else ():
        function = function_called(graph.functions, reference.name)
        if kind is None or function is None:
            continue
        shift = len(function.args) - len(kind.arguments(node.inputs)) - kind.before
        yield from (function.args[i + shift].output() for i in places if 0 <= i + shift < len(function.args))
