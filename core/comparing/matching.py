"""Matching of the nodes of two graphs: by name, and by op, attributes and inputs where names were changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ..graph.graph import Graph, Node
from ..graph.traversal import topological_order
from ..types.tensors import Tensor, attribute_key


def match_nodes(a: Graph, b: Graph) -> dict[Node, Node]:
    """Match the nodes of `a` to their counterparts in `b`.

    Nodes of the same name match. The others match where op, attributes and inputs are the same; then where all but the
    values of constants are the same, and constants match by their users. Nodes alike in all this match in the order of the
    graphs.
    """
    matched = {node: b.node(node.name) for node in a if node.name in b}
    _match_alike(a, b, matched, _attributes)
    _match_alike(a, b, matched, _attributes_without_values)
    _match_constants(matched)
    return matched


def _match_constants(matched: dict[Node, Node]) -> None:
    """Match constants that feed the same input of matched nodes of the same op."""
    taken = set(matched.values())
    for node, other in list(matched.items()):
        for mine, theirs in zip(node.inputs, other.inputs) if node.op == other.op else ():
            are_constants = mine.node.is_constant and theirs.node.is_constant
            if are_constants and mine.node not in matched and theirs.node not in taken:
                matched[mine.node] = theirs.node
                taken.add(theirs.node)


def _match_alike(a: Graph, b: Graph, matched: dict[Node, Node], describe: Callable[[Node], Hashable]) -> None:
    names = {node: node.name for node in matched}
    other_names = {other: node.name for node, other in matched.items()}
    waiting: dict[Hashable, list[Node]] = {}
    for node, key in _keys(a, names, describe):
        waiting.setdefault(key, []).append(node)
    queues = {key: iter(nodes) for key, nodes in waiting.items()}
    for other, key in _keys(b, other_names, describe):
        alike = next(queues.get(key, iter(())), None)
        if alike is not None and not (alike.is_constant and describe is _attributes_without_values):
            matched[alike] = other


def _keys(graph: Graph, names: Mapping[Node, str], describe: Callable[[Node], Hashable]) -> Iterable[tuple[Node, Hashable]]:
    """Yield the unmatched nodes, each with a hash that nodes of equal computation share."""
    keys: dict[Node, Hashable] = dict(names)
    for node in topological_order(graph):
        if node not in names:
            inputs = tuple((keys.get(value.node), value.index) for value in node.inputs)
            keys[node] = hash((node.op, describe(node), inputs))
            yield node, keys[node]


def _attributes(node: Node) -> Hashable:
    return tuple(sorted((name, attribute_key(value)) for name, value in node.attrs.items() if not name.startswith("_")))


def _attributes_without_values(node: Node) -> Hashable:
    kinds = {name: _kind(value) for name, value in node.attrs.items() if not name.startswith("_")}
    return tuple(sorted(kinds.items()))


def _kind(value: Any) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, Tensor) else repr(value)
