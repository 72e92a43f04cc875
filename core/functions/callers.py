"""Which nodes call which functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..dtypes import resource
from ..graph import Function, Graph, Node
from ..op_facts import has_fact
from ..tensors import FuncRef
from ..traversal import function_names
from .implementations import implementation


def all_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes of the graph and of all function bodies."""
    yield from graph
    for function in graph.functions.values():
        yield from function.body


def callers(graph: Graph, function: str) -> tuple[str, ...]:
    """The nodes that call a function: by its name as their op, or through an attribute. Those in functions as `f: node`."""
    return callers_by_function(graph).get(function, ())


def callers_by_function(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The callers of every function of the library, found in one walk."""
    found: dict[str, list[str]] = {name: [] for name in graph.functions}
    _note_calls(found, graph, "")
    for name, function in graph.functions.items():
        _note_calls(found, function.body, f"{name}: ")
    return {name: tuple(calls) for name, calls in found.items()}


def _note_calls(found: dict[str, list[str]], nodes: Iterable[Node], prefix: str) -> None:
    for node in nodes:
        names = {reference.name for reference in function_references(node)}
        for name in (*names, *({node.op} - names)):
            if name in found:
                found[name].append(prefix + node.name)


def reached_functions(graph: Graph, function: Function) -> set[str]:
    """The names of the functions that a function calls, directly or through others."""
    found: set[str] = set()
    pending = [function]
    while pending:
        for node in pending.pop().body:
            by_name = (node.op,) if node.op_def is None else ()
            for name in (*by_name, *(reference.name for reference in function_references(node))):
                if name in graph.functions and name not in found:
                    found.add(name)
                    pending.append(graph.functions[name])
    return found


def repeated_nodes(graph: Graph) -> int:
    """How many more nodes the graph would have were each call a copy of its function: not counting the first of each.

    What a function calls while it is itself being called counts nothing.
    """
    sizes: dict[str, int] = {}
    pending = sorted(called_functions(graph, graph))
    while pending:
        name = pending[-1]
        inside = [inner for node in graph.functions[name].body for inner in called_functions_of(graph, node)]
        missing = [inner for inner in dict.fromkeys(inside) if inner not in sizes]
        sizes.setdefault(name, 0)
        pending += missing
        if not missing:
            sizes[name] = len(graph.functions[name].body) + sum(sizes[inner] for inner in inside)
            pending.pop()
    expanded = sum(sizes[name] for node in graph for name in called_functions_of(graph, node))
    return expanded - sum(len(graph.functions[name].body) for name in sizes)


def called_functions_of(graph: Graph, node: Node) -> list[str]:
    """The functions of the library that a node itself calls, as often as it names them."""
    return [name for name in function_names(graph, node) if name in graph.functions]


def function_references(node: Node) -> Iterator[FuncRef]:
    """The functions that a node's attributes name."""
    definition = node.op_def
    if definition is not None and not definition.takes_functions:
        return
    for value in node.attrs.values():
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, FuncRef))


def called_functions(graph: Graph, nodes: Iterable[Node]) -> set[str]:
    """The functions of the graph's library that nodes name: directly, through another one, as its gradient, or as what runs
    in its place."""
    found: set[str] = set()
    pending = [name for node in nodes for name in _names(graph, node)]
    while pending:
        name = pending.pop()
        if name in graph.functions and name not in found:
            found.add(name)
            function = graph.functions[name]
            pending += [inner for node in function.body for inner in _names(graph, node)]
            pending += [function.gradient] if function.gradient else []
            pending.append(implementation(graph.functions, name))
    return found


def _names(graph: Graph, node: Node) -> Iterator[str]:
    """The functions that a node calls, and the one that is registered as its gradient."""
    yield from function_names(graph, node)
    registered = graph.registered_gradients.get(gradient_name(node))
    if registered is not None:
        yield registered.function


def gradient_name(node: Node) -> str:
    """The gradient that a node names instead of its op's; empty where it names none."""
    found = node.attrs.get("_gradient_op_type", b"")
    return found.decode("utf-8", "surrogateescape") if isinstance(found, bytes) else ""


def captured_functions(graph: Graph) -> set[str]:
    """The functions whose nodes registered gradients read: they stay as they are while there is a variable to train."""
    if not graph.registered_gradients or not has_variables(graph):
        return set()
    captures = (capture for registered in graph.registered_gradients.values() for capture in registered.captures or ())
    return {capture.function for capture in captures if capture.function is not None}


def has_variables(graph: Graph) -> bool:
    """True where a graph has variables, or a function's body may be given one."""
    return any(has_fact(node.op, "variable") or (node.is_argument and node.attr("T") is resource) for node in graph)
