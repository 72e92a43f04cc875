"""Elision: nodes that a picture leaves out of a graph, and the links that lead past the gaps.

Constants, identities and NoOps are most of a graph's nodes and say the least: a constant is written into the box of the
user, and links through an identity or a NoOp go on to the nodes behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from ..graph.graph import Node, Output
from ..support import dataclasses

_MAX_THROUGH: Final = 64
"""The number of bypassing control edges above which a NoOp is drawn."""


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """An edge between two nodes that are drawn; without `value` a control edge."""

    source: Node
    target: Node
    value: Output | None = None


def folded(nodes: Iterable[Node], keep: Collection[Node] = ()) -> set[Node]:
    """Return the members of `nodes` that need no box of their own; never a node of `keep`, nor a node without users."""
    return {node for node in nodes if node not in keep and node.uses and _says_little(node)}


def _says_little(node: Node) -> bool:
    if node.is_no_op:
        return len(node.control_inputs) * len(node.uses) <= _MAX_THROUGH
    return node.is_constant or node.is_identity or node.is_variable_read


def links(nodes: Collection[Node], left_out: Collection[Node]) -> Iterator[Link]:
    """Yield the links between `nodes`, each once; links pass through the nodes `left_out`."""
    paths = _ElidedPaths(nodes, left_out)
    for node in nodes:
        if node in left_out:
            continue
        values = dict.fromkeys(value for value in map(paths.origin, node.inputs) if value is not None)
        yield from (Link(value.node, node, value) for value in values)
        sources = {value.node for value in values}
        for control in node.control_inputs:
            yield from (Link(source, node) for source in paths.waited_for(control) if source not in sources)


class _ElidedPaths:
    """Where edges come from once the nodes left out are passed."""

    def __init__(self, nodes: Collection[Node], left_out: Collection[Node]) -> None:
        self._nodes = nodes
        self._left_out = left_out
        self._waits: dict[Node, tuple[Node, ...]] = {}
        self._origins: dict[Node, Output] = {}

    def origin(self, value: Output) -> Output | None:
        """Return the output that a value comes from; None where that is left out, or outside of the picture."""
        seen: set[Node] = set()
        while value.node in self._left_out and value.node.inputs and value.node not in seen:
            seen.add(value.node)
            value = self._origins.get(value.node) or value.node.inputs[0]
        self._origins.update(dict.fromkeys(seen, value))
        return value if value.node in self._nodes and value.node not in self._left_out else None

    def waited_for(self, control: Node) -> tuple[Node, ...]:
        """Return the drawn nodes that a waiter for `control` waits for."""
        if control not in self._left_out:
            return (control,) if control in self._nodes else ()
        if control not in self._waits:
            self._waits[control] = tuple(self._behind(control))
        return self._waits[control]

    def _behind(self, control: Node) -> dict[Node, None]:
        """Return the drawn nodes before a node that is left out."""
        sources: dict[Node, None] = {}
        seen, pending = {control}, [control]
        while pending:
            node = pending.pop()
            for source in (*node.control_inputs, *(value.node for value in node.inputs)):
                if source not in self._left_out:
                    sources |= {source: None} if source in self._nodes else {}
                elif source not in seen:
                    seen.add(source)
                    pending.append(source)
        return sources
