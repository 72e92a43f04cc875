"""Matching of nodes and functions of two graphs: by name, and by op, attributes and inputs where names were changed.

TensorFlow makes names unique by a number behind an underscore, a UUID or an address, and numbers the functions of a library:
functions match by computation and by callers.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from ..graph.callers import gradient_name
from ..graph.graph import Function, Graph, Node
from ..graph.traversal import function_names, strongly_connected, topological_order
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..types.tensors import FuncRef, Tensor, attribute_key

NAMING: Final = frozenset(("shared_name", "container", "debug_name"))
"""The attributes that name a resource."""
_NUMBER: Final = re.compile(r"(?:[_-]|^)(\d+)(?=[_/]|$)")
"""The number of `dense_1/kernel_12`, `__inference_call_116`, `while_body_7_const_0` and `CustomGradient-33`."""
_MOST_DIGITS: Final = 18
_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}|\b0x[0-9a-f]{6,16}\b")
"""A UUID, or the address of a Python object in a name made of its `repr`."""

_UUID_BYTES: Final = re.compile(_UUID.pattern.encode())


def stem(name: str) -> str:
    """Return a name without the numbers, UUIDs and addresses that make the name unique."""
    return _NUMBER.sub("", _UUID.sub("", name))


def numbers(name: str) -> tuple[int, ...]:
    """Return the numbers that `stem` drops: the order in which TensorFlow made names of one stem.

    Of a longer number than any counter reaches, the last digits; Python refuses to read thousands of digits.
    """
    return tuple(int(digits[-_MOST_DIGITS:]) for digits in _NUMBER.findall(name))


def common_names(before: Collection[str], after: Collection[str]) -> Iterator[str]:
    """Yield the names of both collections that identify the same object.

    Where only one collection has a name of a stem, all names of the stem may be numbered anew, and none is yielded.
    """
    # With one more `dense` in the model, TensorFlow calls the old `dense_1` `dense_2`: no name of the stem can be trusted.
    renumbered = {stem(name) for names, others in ((before, after), (after, before)) for name in names if name not in others}
    return (name for name in before if name in after and (not renumbered or stem(name) not in renumbered))


def without_uuids(text: bytes) -> bytes:
    """Return a text with the same text in place of each UUID: TensorFlow's savers name their temporary folders by one."""
    return _UUID_BYTES.sub(b"UUID", text)


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

    Nodes of the same name match, unless TensorFlow may have numbered the names anew. The others match if op, attributes,
    inputs and the stem of the name are the same; then if all but the values of constants are the same; then by stem and
    op in the order of the numbers. With `by_computation` they match under other names, too, and constants match by their
    users. `labels` are the keys of each graph's functions, by default the stems of the names. `arguments` match beforehand.
    """
    matched = dict(arguments)
    taken = set(matched.values())
    for name in common_names({node.name: 0 for node in a}, {node.name: 0 for node in b}):
        if a[name] not in matched and b[name] not in taken:
            matched[a[name]] = b[name]
    # Graphs of equal names, the usual case, need no keys.
    if len(matched) < max(len(a), len(b)):
        for with_values in (True, False):
            _match_alike(a, b, matched, labels, with_stem=True, with_values=with_values)
        # From the sure to the likely: each pair is a seed for the steps behind it, and a wrong one would spread.
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
    # On both sides under the name of the first graph, so that what follows from a pair has equal keys.
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
    # An iterator, so that a node that was passed over is not looked at again.
    spare = {key: iter(nodes) for key, nodes in others.items()}
    taken = set(matched.values())
    # From the ends back: a pair of users tells which of several equal sources belong together.
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
                # As a set, since control inputs have no order.
                inputs = frozenset(keys.get(control) for control in node.control_inputs)
            # A hash of hashes: nested tuples of whole subgraphs would grow with the depth, and be compared to the bottom.
            keys[node] = hash((label(node.op) if node.op_def is None else node.op, describe(node, label), inputs))
        yield node, keys[node]


def _in_order(graph: Graph) -> list[Node]:
    """Return the nodes in topological order; in the graph's order if a cycle, which no run accepts, leaves none."""
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


class GraphMatch:
    """The counterparts of the nodes and of the functions of a graph in another graph.

    Functions match by name, unless TensorFlow may have numbered the names anew. The others match if they compute the same
    and the stems of the names agree; then if matched nodes call them; then by stem in the order of the numbers; then
    if they compute the same under other names. A function matches at most one function.
    """

    def __init__(self, before: Graph, after: Graph) -> None:
        self.before, self.after = before, after
        self.functions: dict[str, str] = {}
        self._bodies: dict[str, dict[Node, Node]] = {}
        self._taken: set[str] = set()
        self._calls = collections.deque[tuple[str, str]]()
        mine, theirs = before.functions, after.functions
        common = list(common_names(mine, theirs))
        is_known = len(common) == max(len(mine), len(theirs))
        # Keys take a walk through all bodies, and if names tell all, none is needed.
        self._keys: tuple[dict[str, Hashable], dict[str, Hashable]] = (
            ({}, {}) if is_known else (function_keys(before), function_keys(after))
        )
        self._known = (set(self._keys[0].values()), set(self._keys[1].values()))
        self._labels = (self._label(0), self._label(1))
        self.nodes = match_nodes(before, after, by_computation=False, labels=self._labels)
        for name in common:
            self._add(name, name)
        if not is_known:
            self._match_by_computation()

    def body(self, name: str) -> dict[Node, Node]:
        """Return the counterparts of the nodes in the body of a matched function of the first graph."""
        if name not in self._bodies:
            a, b = self.before.functions[name], self.after.functions[self.functions[name]]
            arguments = zip(a.args, b.args)
            self._bodies[name] = match_nodes(a.body, b.body, by_computation=False, labels=self._labels, arguments=arguments)
        return self._bodies[name]

    def _label(self, side: int) -> Label:
        keys = self._keys[side]
        return lambda name: keys.get(name) or stem(name)

    def _add(self, name: str, other: str) -> None:
        if name not in self.functions and other not in self._taken:
            self.functions[name] = other
            self._taken.add(other)
            self._calls.append((name, other))

    def _match_by_computation(self) -> None:
        # From what is certain to what is likely, following calls after each step: a wrong pair early would bring wrong pairs
        # for all that it calls.
        self._match_by(lambda side, name: (stem(name), self._keys[side][name]), only_single=True)
        # Functions that both models' objects have under the same name, `__call__` for instance.
        graphs = self.before, self.after
        mine, theirs = (graph.meta.called_functions if graph.meta is not None else {} for graph in graphs)
        for a, b in ((function, theirs[name]) for name, function in mine.items() if name in theirs):
            self._add_called(a, b)
        self._follow(self.nodes)
        self._follow_calls()
        self._match_by(lambda side, name: (stem(name), self._keys[side][name]))
        self._follow_calls()
        self._match_by(lambda side, name: stem(name))
        self._follow_calls()
        self._match_by(lambda side, name: self._keys[side][name])

    def _match_by(self, key: Callable[[int, str], Hashable], only_single: bool = False) -> None:
        mine = grouped((key(0, name), name) for name in self.before.functions if name not in self.functions)
        theirs = grouped((key(1, name), name) for name in self.after.functions if name not in self._taken)
        if only_single:
            mine, theirs = ({k: names for k, names in groups.items() if len(names) == 1} for groups in (mine, theirs))
        for name, other in list(paired(mine, theirs, lambda name: name)):
            self._add(name, other)

    def _follow_calls(self) -> None:
        """Match the functions that the bodies of matched functions call, directly or through others."""
        while self._calls:
            name, _ = self._calls.popleft()
            self._follow(self.body(name))

    def _follow(self, matched: Mapping[Node, Node]) -> None:
        for node, other in matched.items():
            called = list(named_by(self.before, node))
            for name, other_name in zip(called, named_by(self.after, other)) if called else ():
                self._add_called(name, other_name)

    def _add_called(self, name: str, other: str) -> None:
        """Match two functions with callers that match, unless one of them computes the same as another function."""
        (mine, theirs), (own, others) = self._keys, self._known
        if name not in mine or other not in theirs or stem(name) != stem(other):
            return
        # A function that computes the same as another one belongs to that, whoever calls it.
        if mine[name] == theirs[other] or not (mine[name] in others or theirs[other] in own):
            self._add(name, other)


def named_by(graph: Graph, node: Node) -> Iterator[str]:
    """Yield the functions named by a node's op, by attributes in an order that all graphs share, and as the gradient."""
    if node.op in graph.functions:
        yield node.op
    for _, value in sorted(node.attrs.items()) if node.op_def is None or node.op_def.takes_functions else ():
        yield from (item.name for item in (value if isinstance(value, list) else [value]) if isinstance(item, FuncRef))
    registered = graph.registered_gradients.get(gradient_name(node))
    if registered is not None:
        yield registered.function


def function_keys(graph: Graph) -> dict[str, Hashable]:
    """Return for each function of the library a hash that functions of equal computation share, whatever the names.

    Functions that call each other have keys by the stems of each other's names.
    """
    keys: dict[str, Hashable] = {}

    def label(called: str) -> Hashable:
        return keys.get(called) or stem(called)

    for component in strongly_connected(graph.functions, lambda name: _callees(graph, graph.functions[name])):
        # A component comes behind those that it calls, whose keys are known then.
        keys |= {name: _function_key(graph.functions[name], label) for name in component}
    return keys


def _callees(graph: Graph, function: Function) -> Iterable[str]:
    return [name for node in function.body for name in function_names(graph, node) if name in graph.functions]


def _function_key(function: Function, label: Label) -> Hashable:
    arguments = {node: f"argument {index}" for index, node in enumerate(function.args)}
    keys = dict(node_keys(function.body, arguments, label))
    results = tuple((keys[value.node], value.index) for value in function.results)
    # Nodes that no result needs, such as writes, count too, and their order does not.
    everything = frozenset(collections.Counter(keys.values()).items())
    dtypes = tuple(str(node.attrs.get("T")) for node in function.args)
    return hash((dtypes, results, frozenset(keys[node] for node in function.control_results), everything))
