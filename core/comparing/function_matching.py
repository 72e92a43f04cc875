"""Matching of the functions of two libraries, whose names TensorFlow numbers: by computation and by callers."""

from __future__ import annotations

import collections
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from ..functions.callers import gradient_name
from ..graph.graph import Function, Graph, Node
from ..graph.traversal import function_names, strongly_connected
from ..support.grouping import grouped
from ..types.tensors import FuncRef
from .generated_names import common_names, stem
from .matching import Label, match_nodes, node_keys, paired


class GraphMatch:
    """The counterparts of the nodes and of the functions of a graph in another graph.

    Functions match by name, unless TensorFlow may have numbered the names anew. The others match where they compute the same
    and the stems of the names agree; then where matched nodes call them; then by stem in the order of the numbers; then
    where they compute the same under other names. A function matches at most one function.
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
        self._match_by(lambda side, name: (stem(name), self._keys[side][name]), only_single=True)
        for a, b in _named_calls(self.before, self.after):
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
        if mine[name] == theirs[other] or not (mine[name] in others or theirs[other] in own):
            self._add(name, other)


def named_by(graph: Graph, node: Node) -> Iterator[str]:
    """Yield the functions named by a node's op, by attributes in the order of names, and as the gradient."""
    if node.op in graph.functions:
        yield node.op
    for _, value in sorted(node.attrs.items()) if node.op_def is None or node.op_def.takes_functions else ():
        yield from (item.name for item in (value if isinstance(value, list) else [value]) if isinstance(item, FuncRef))
    registered = graph.registered_gradients.get(gradient_name(node))
    if registered is not None:
        yield registered.function


def _named_calls(before: Graph, after: Graph) -> Iterator[tuple[str, str]]:
    """Yield the functions that both models' objects have under the same name, `__call__` for instance."""
    mine, theirs = (graph.meta.called_functions if graph.meta is not None else {} for graph in (before, after))
    return ((function, theirs[name]) for name, function in mine.items() if name in theirs)


def function_keys(graph: Graph) -> dict[str, Hashable]:
    """Return for each function of the library a hash that functions of equal computation share, whatever the names.

    Functions that call each other have keys by the stems of each other's names.
    """
    keys: dict[str, Hashable] = {}

    def label(called: str) -> Hashable:
        return keys.get(called) or stem(called)

    for component in strongly_connected(graph.functions, lambda name: _callees(graph, graph.functions[name])):
        keys |= {name: _function_key(graph.functions[name], label) for name in component}
    return keys


def _callees(graph: Graph, function: Function) -> Iterable[str]:
    return [name for node in function.body for name in function_names(graph, node) if name in graph.functions]


def _function_key(function: Function, label: Label) -> Hashable:
    arguments = {node: f"argument {index}" for index, node in enumerate(function.args)}
    keys = dict(node_keys(function.body, arguments, label))
    results = tuple((keys[value.node], value.index) for value in function.results)
    everything = frozenset(collections.Counter(keys.values()).items())
    dtypes = tuple(str(node.attrs.get("T")) for node in function.args)
    return hash((dtypes, results, frozenset(keys[node] for node in function.control_results), everything))
