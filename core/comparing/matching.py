"""Matching of the nodes of two graphs: by name, and by op, attributes and inputs where names were changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ..graph.graph import Graph, Node
from ..graph.traversal import topological_order
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..types.tensors import FuncRef, Tensor, attribute_key
from .generated_names import NAMING, common_names, numbers, stem

Label = Callable[[str], Hashable]
"""A function from the name of a library function to a key that functions of equal computation share."""
_Item = TypeVar("_Item")


def match_nodes(
    a: Graph,
    b: Graph,
    *,
    by_computation: bool = True,
    labels: tuple[Label, Label] = (stem, stem),
    arguments: Iterable[tuple[Node, Node]] = (),
) -> dict[Node, Node]:
    """Match the nodes of `a` to their counterparts in `b`.

    Nodes of the same name match, unless TensorFlow may have numbered the names anew. The others match where op, attributes,
    inputs and the stem of the name are the same; then where all but the values of constants are the same; then by stem and
    op in the order of the numbers. With `by_computation` they match under other names, too, and constants match by their
    users. `labels` are the keys of each graph's functions, by default the stems of the names. `arguments` match beforehand.
    """
    matched = dict(arguments)
    taken = set(matched.values())
    for name in common_names({node.name: 0 for node in a}, {node.name: 0 for node in b}):
        if a[name] not in matched and b[name] not in taken:
            matched[a[name]] = b[name]
    if len(matched) < max(len(a), len(b)):
        for with_values in (True, False):
            _match_alike(a, b, matched, labels, with_stem=True, with_values=with_values)
        _match_by(lambda node: (stem(node.name), node.op), a, b, matched)
        _match_by(lambda node: node.name, a, b, matched)
        if by_computation:
            for with_values in (True, False):
                _match_alike(a, b, matched, labels, with_stem=False, with_values=with_values)
            _match_constants(matched)
    return matched


def paired(
    before: Mapping[Hashable, Sequence[_Item]], after: Mapping[Hashable, Sequence[_Item]], name: Callable[[_Item], str]
) -> Iterator[tuple[_Item, _Item]]:
    """Yield pairs of items of equal keys: items of the same name, and the others in the order of their names' numbers."""
    for key in before:
        mine, theirs = ({name(item): item for item in items.get(key, ())} for items in (before, after))
        same = [text for text in mine if text in theirs]
        yield from ((mine.pop(text), theirs.pop(text)) for text in same)
        yield from zip(*(sorted(left.values(), key=lambda item: numbers(name(item))) for left in (mine, theirs)))


def _match_by(key: Callable[[Node], Hashable], a: Graph, b: Graph, matched: dict[Node, Node]) -> None:
    taken = set(matched.values())
    mine = grouped((key(node), node) for node in a if node not in matched)
    theirs = grouped((key(node), node) for node in b if node not in taken)
    matched.update(paired(mine, theirs, lambda node: node.name))


def _match_constants(matched: dict[Node, Node]) -> None:
    """Match constants that feed the same input of matched nodes of the same op."""
    taken = set(matched.values())
    for node, other in list(matched.items()):
        for mine, theirs in zip(node.inputs, other.inputs) if node.op == other.op else ():
            are_constants = mine.node.is_constant and theirs.node.is_constant
            if are_constants and mine.node not in matched and theirs.node not in taken:
                matched[mine.node] = theirs.node
                taken.add(theirs.node)


def _match_alike(
    a: Graph, b: Graph, matched: dict[Node, Node], labels: tuple[Label, Label], with_stem: bool, with_values: bool
) -> None:
    """Match nodes of equal keys, of several with the same key those with users or inputs that match.

    The nodes whose keys are unique match first: with their names as seeds, the keys of others become unique.
    """
    for only_unique in (True, False):
        if len(matched) < min(len(a), len(b)):
            _match_keys(a, b, matched, labels, with_stem, with_values, only_unique)


def _match_keys(
    a: Graph,
    b: Graph,
    matched: dict[Node, Node],
    labels: tuple[Label, Label],
    with_stem: bool,
    with_values: bool,
    only_unique: bool,
) -> None:
    seeds = ({node: node.name for node in matched}, {other: node.name for node, other in matched.items()})
    keys_of_nodes: list[dict[Node, Hashable]] = [
        {
            node: (stem(node.name) if with_stem else "", key)
            for node, key in node_keys(graph, names, label, with_values)
            if node not in names and (with_values or not node.is_constant)
        }
        for graph, names, label in zip((a, b), seeds, labels)
    ]
    mine, theirs = keys_of_nodes
    own, others = (grouped((key, node) for node, key in keys.items()) for keys in (mine, theirs))
    if only_unique:
        own, others = ({key: nodes for key, nodes in groups.items() if len(nodes) == 1} for groups in (own, others))
    partners = dict(paired(own, others, lambda node: node.name))
    spare = {key: iter(nodes) for key, nodes in others.items()}
    taken = set(matched.values())
    for node in reversed(_in_order(a)):
        if node not in matched:
            other = partners.get(node)
            if other is None or other in taken:
                other = next((left for left in spare.get(mine.get(node), ()) if left not in taken), None)
            if other is None:
                continue
            matched[node] = other
            taken.add(other)
        for value, other_value in zip(node.inputs, matched[node].inputs):
            pair = value.node, other_value.node
            are_alike = pair[0] in mine and mine[pair[0]] == theirs.get(pair[1])
            if are_alike and pair[0] not in matched and pair[1] not in taken:
                matched[pair[0]] = pair[1]
                taken.add(pair[1])


def node_keys(
    graph: Graph, names: Mapping[Node, Hashable], label: Label, with_values: bool = True
) -> Iterator[tuple[Node, Hashable]]:
    """Yield all nodes, each with a hash that nodes of equal computation share; `names` are the keys of known nodes.

    Control inputs count for nodes without inputs: passes add control inputs to other nodes.
    """
    keys: dict[Node, Hashable] = dict(names)
    describe = _attributes if with_values else _attributes_without_values
    for node in _in_order(graph):
        if node not in names:
            inputs: Hashable = tuple((keys.get(value.node), value.index) for value in node.inputs)
            if not node.inputs:
                inputs = frozenset(keys.get(control) for control in node.control_inputs)
            keys[node] = hash((label(node.op) if node.op_def is None else node.op, describe(node, label), inputs))
        yield node, keys[node]


def _in_order(graph: Graph) -> list[Node]:
    """Return the nodes in topological order; in the graph's order where a cycle, which no run accepts, leaves none."""
    try:
        return topological_order(graph)
    except InvalidArgumentError:
        return list(graph)


def _attributes(node: Node, label: Label) -> Hashable:
    return tuple(sorted((name, _key(name, value, label)) for name, value in node.attrs.items() if not name.startswith("_")))


def _attributes_without_values(node: Node, label: Label) -> Hashable:
    return tuple(
        sorted(
            (name, f"{value.dtype} {value.shape}" if isinstance(value, Tensor) else _key(name, value, label))
            for name, value in node.attrs.items()
            if not name.startswith("_")
        )
    )


def _key(name: str, value: Any, label: Label) -> Any:
    """Return a key of an attribute's value that compares with the keys of other values of the attribute."""
    if isinstance(value, FuncRef):
        return repr((label(value.name), [(key, attribute_key(item)) for key, item in value.attrs.items()]))
    if isinstance(value, list) and any(isinstance(item, FuncRef) for item in value):
        return repr([_key(name, item, label) for item in value])
    if name in NAMING and isinstance(value, bytes):
        return repr(stem(value.decode("utf-8", "surrogateescape")))
    return attribute_key(value)
