"""Callers and callees of the functions of a library, and the paths of nodes inside functions."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..registry.op_facts import has_fact
from ..support.grouping import grouped
from ..types.dtypes import resource
from ..types.tensors import FuncRef
from .graph import Function, Graph, Node
from .instantiation import implementation
from .traversal import closure, function_names


def all_nodes(graph: Graph) -> Iterator[Node]:
    """Return the nodes of the graph and of all function bodies, to be read: equal functions may share theirs."""
    bodies = (function.pattern.body for function in graph.functions.values())
    return itertools.chain(graph, itertools.chain.from_iterable(bodies))


def node_count(graph: Graph) -> int:
    """Return the number of nodes of the graph and of all function bodies."""
    return len(graph) + sum(len(function.pattern.body) for function in graph.functions.values())


def callers(graph: Graph, function: str) -> tuple[str, ...]:
    """Return the nodes that call a function, by op name or through an attribute.

    Nodes inside functions are written `f: node`.
    """
    return callers_by_function(graph).get(function, ())


def callers_by_function(graph: Graph) -> dict[str, tuple[str, ...]]:
    """Return the callers of every function of the library, in a single walk."""
    callers_of: dict[str, list[str]] = {name: [] for name in graph.functions}
    if not callers_of:
        return {}
    for node, called in _calls_in(graph):
        if called in callers_of:
            callers_of[called].append(node)
    inside: dict[Function, list[tuple[str, str]]] = {}  # equal functions share it
    for name, function in graph.functions.items():
        pattern = function.pattern
        if pattern not in inside:
            inside[pattern] = [(node, called) for node, called in _calls_in(pattern.body) if called in callers_of]
        for node, called in inside[pattern]:
            callers_of[called].append(f"{name}: {node}")
    return {name: tuple(calls) for name, calls in callers_of.items()}


class CallTable:
    """How many nodes call each function, kept up to date while functions are replaced; the graph itself goes by ''."""

    def __init__(self) -> None:
        self._seen: dict[str, Function] = {}
        self._called: dict[str, Mapping[str, int]] = {}
        self._callers: dict[str, dict[str, int]] = {}
        self._totals: collections.Counter[str] = collections.Counter()

    def update(self, functions: Mapping[str, Function]) -> None:
        """Note the calls of functions that were added, replaced or removed since the last call."""
        for name in self._seen.keys() - functions.keys():
            del self._seen[name]
            self.note(name, ())
        for function in functions.values():
            self.put(function)

    def add(self, functions: Mapping[str, Function]) -> None:
        """Note the calls of functions added since the last call, if no function was removed or replaced."""
        # Dictionaries keep the order of insertion, so what is new stands at the end.
        if len(functions) > len(self._seen):
            for name in list(functions)[len(self._seen) :]:
                self.put(functions[name])

    def put(self, function: Function) -> None:
        """Note the calls of a function, which replaces an earlier function of the same name."""
        if self._seen.get(function.name) is not function:
            self._seen[function.name] = function
            self.note(function.name, function.pattern.body)

    def note(self, caller: str, nodes: Iterable[Node]) -> None:
        """Note the calls of a caller's nodes, in place of the caller's earlier calls."""
        for name, count in self._called.get(caller, {}).items():
            self._totals[name] -= count
            del self._callers[name][caller]
        calls = self._called[caller] = calls_of(nodes)
        for name, count in calls.items():
            self._totals[name] += count
            self._callers.setdefault(name, {})[caller] = count

    def count(self, name: str, but: str) -> int:
        """Return the number of nodes that call a function, without the nodes of the caller `but`."""
        return self._totals[name] - self._callers.get(name, {}).get(but, 0)

    def calls_itself(self, name: str) -> bool:
        """True for a function that calls itself, directly or through others."""
        called = self._called
        return name in closure(called.get(name, ()), lambda callee: called.get(callee, ()))


def calls_of(nodes: Iterable[Node]) -> collections.Counter[str]:
    """Return the number of nodes that name each function."""
    return collections.Counter(name for node in nodes for name in _called_names(node))


def _called_names(node: Node) -> set[str]:
    """Return the functions that a node may call: the functions of its attributes, and the function that the op names."""
    by_name = (node.op,) if node.op_def is None else ()
    return {*by_name, *(reference.name for reference in function_references(node))}


def _calls_in(nodes: Iterable[Node]) -> list[tuple[str, str]]:
    """Return the name of each node with the name of each function that it may call."""
    return [(node.name, called) for node in nodes for called in _called_names(node)]


def reached_functions(functions: Mapping[str, Function], nodes: Iterable[Node]) -> set[str]:
    """Return the names of the functions that nodes call, directly or through others."""

    def called(body: Iterable[Node]) -> set[str]:
        return {name for node in body for name in _called_names(node) if name in functions}

    return closure(called(nodes), lambda name: called(functions[name].pattern.body))


def repeated_nodes(graph: Graph) -> int:
    """Return the number of nodes that the graph would gain if each call were inlined, without the first call of each
    function.

    A recursive call counts nothing.
    """
    if not graph.functions:
        return 0
    sizes: dict[str, int] = {}
    calls: dict[Function, list[str]] = {}
    pending = sorted(called_functions(graph, graph))
    while pending:
        name = pending[-1]
        pattern = graph.functions[name].pattern
        if pattern not in calls:
            calls[pattern] = [inner for node in pattern.body for inner in called_functions_of(graph, node)]
        inside = calls[pattern]
        missing = [inner for inner in dict.fromkeys(inside) if inner not in sizes]
        # A function that is met again inside itself has size 0 until then, so a recursion ends.
        sizes.setdefault(name, 0)
        pending += missing
        if not missing:
            sizes[name] = len(pattern.body) + sum(sizes[inner] for inner in inside)
            pending.pop()
    expanded = sum(sizes[name] for node in graph for name in called_functions_of(graph, node))
    return expanded - sum(len(graph.functions[name].pattern.body) for name in sizes)


def called_functions_of(graph: Graph, node: Node) -> list[str]:
    """Return the library functions that a node itself calls, repeated as often as the node names them."""
    return [name for name in function_names(graph, node) if name in graph.functions]


def function_references(node: Node) -> Iterator[FuncRef]:
    """Yield the functions that a node's attributes name."""
    definition = node.op_def
    # The declaration tells without a look at the attributes, of which large graphs have millions.
    if definition is not None and not definition.takes_functions:
        return
    for value in node.attrs.values():
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, FuncRef))


def called_functions(graph: Graph, nodes: Iterable[Node]) -> set[str]:
    """Return the library functions that nodes name: directly, through another function, as a gradient, or as the
    implementation that runs in place of a function.
    """
    if not graph.functions:
        return set()
    named = {name for node in nodes for name in named_functions(graph, node)}
    names_in = _NamesIn(graph)
    return closure(named & graph.functions.keys(), lambda name: [n for n in names_in.function(name) if n in graph.functions])


def drop_uncalled(graph: Graph) -> list[str]:
    """Remove the library functions that no node names, directly or through another function, and return their names."""
    called = called_functions(graph, graph)
    dropped = [name for name in graph.functions if name not in called]
    for name in dropped:
        del graph.functions[name]
    return dropped


def functions_that_reach(graph: Graph, goals: set[str]) -> set[str]:
    """Return the library functions among `goals`, and all functions through which `called_functions` reaches any of them."""
    names_in = _NamesIn(graph)
    namers = grouped((inner, name) for name in (graph.functions if goals else ()) for inner in names_in.function(name))
    return closure(goals & graph.functions.keys(), lambda name: namers.get(name, ()))


class _NamesIn:
    """The names of functions that the functions of a library name."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._in_patterns: dict[Function, list[str]] = {}
        """What the nodes of functions name, which equal functions share."""

    def function(self, name: str) -> Iterator[str]:
        """Yield the functions that a function's nodes name, the function's gradient, and its implementation."""
        function = self._graph.functions[name]
        pattern = function.pattern
        if pattern not in self._in_patterns:
            self._in_patterns[pattern] = [named for node in pattern.body for named in named_functions(self._graph, node)]
        yield from self._in_patterns[pattern]
        if function.gradient:
            yield function.gradient
        # The function that runs in the place of a named one is never named itself.
        yield implementation(self._graph.functions, name)


def named_functions(graph: Graph, node: Node) -> Iterator[str]:
    """Yield the functions that a node calls, and the function registered as the node's gradient."""
    yield from function_names(graph, node)
    if graph.registered_gradients and (registered := graph.registered_gradients.get(gradient_name(node))) is not None:
        yield registered.function


def gradient_name(node: Node) -> str:
    """Return the gradient that a node names instead of its op's; empty for a node without the attribute."""
    name = node.attrs.get("_gradient_op_type", b"")
    # The bytes of a file need not be UTF-8, and two names that differ must not become equal.
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else ""


def captured_functions(graph: Graph) -> set[str]:
    """Return the functions whose nodes are captured by registered gradients.

    Passes keep them while a variable may be trained.
    """
    if not graph.registered_gradients or not has_variables(graph):
        return set()
    captures = (capture for registered in graph.registered_gradients.values() for capture in registered.captures or ())
    return {capture.function for capture in captures if capture.function is not None}


def has_variables(graph: Graph) -> bool:
    """True if a graph has variables, or a function's body may get a variable as an argument."""
    return any(has_fact(node.op, "variable") or (node.is_argument and node.attr("T") is resource) for node in graph)


def nodes_by_path(graph: Graph) -> dict[str, Node]:
    """Return the nodes by name, first the graph's, then those of functions as FUNCTION/NODE."""
    nodes = {node.name: node for node in graph}
    for name, function in graph.functions.items():
        for node in function.body:
            nodes.setdefault(f"{name}/{node.name}", node)
    return nodes


class CallPaths:
    """The nodes that paths as `call/inner/node` lead through. A path may also begin with the name of a function."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._library: Mapping[str, Function] = graph.functions
        self._deepest: dict[Graph, int] = {}

    def through(self, path: str) -> list[Node]:
        """Return the calls on a path and the node at its end, as far as the graph has the nodes."""
        node = self._graph.get(path)
        if node is not None:  # no name fits a longer part of the path than the whole, and most paths are of the graph itself
            return [node]
        return self._through(self._graph, path.split("/"), 0)[0]

    def node_at(self, path: str) -> Node | None:
        """Return the node at the end of a path; None if the graph lacks a node of the path."""
        parts = path.split("/")
        nodes, end = self._through(self._graph, parts, 0)
        return nodes[-1] if nodes and end == len(parts) else None

    def _through(self, body: Graph, parts: Sequence[str], start: int) -> tuple[list[Node], int]:
        """Return the nodes on the path from part `start` on, and the number of the first part after them."""
        end = self._end_of_name(body, parts, start)
        if end == start:  # the path begins with a function where calls are too many to list
            return self._within(parts[start], parts, start + 1)
        node = body.node("/".join(parts[start:end]))
        called = [node.op, *(reference.name for reference in function_references(node))] if end < len(parts) else []
        inner = (self._within(function, parts, end) for function in called)
        nodes, last = next((walk for walk in inner if walk[0]), ([], end))
        return [node, *nodes], last

    def _within(self, function: str, parts: Sequence[str], start: int) -> tuple[list[Node], int]:
        is_inside = start < len(parts) and function in self._library
        return self._through(self._library[function].body, parts, start) if is_inside else ([], start)

    def _end_of_name(self, body: Graph, parts: Sequence[str], start: int) -> int:
        """Return the end of the longest node name that the path continues with; `start` where there is no such name."""
        if body not in self._deepest:
            # Node names have slashes as paths have: the longest name that fits is meant, and no name has more parts than this.
            self._deepest[body] = max((node.name.count("/") for node in body), default=-1) + 1
        last = min(start + self._deepest[body], len(parts))
        return next((end for end in range(last, start, -1) if "/".join(parts[start:end]) in body), start)
