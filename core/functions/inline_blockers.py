"""Reasons against reading a node's functions, or changing them together with their caller."""

from __future__ import annotations

from ..graph.graph import Function, Graph, Node
from ..support.words import counted
from .call_kinds import CallKind
from .callers import captured_functions


def inline_blocker(graph: Graph, node: Node, kind: CallKind) -> str | None:
    """Return the reason against reading a node's functions, or None."""
    if not kind.is_plain:
        return f"{node.op} passes other arguments than its inputs to its function"
    for reference in kind.references(node):
        function = graph.functions.get(reference.name)
        if function is None:
            return f"function '{reference.name}' is not in the library"
        reason = change_blocker(graph, function)
        if reason is not None:
            return reason
        if len(function.args) != len(node.inputs) - kind.before:
            return f"function '{reference.name}' takes {counted(len(function.args), 'argument')}"
    last = graph.functions[kind.references(node)[-1].name]
    is_loop_body = kind.is_loop and len(last.results) == len(last.args)
    return None if is_loop_body or not kind.is_loop else f"function '{last.name}' returns other values than it takes"


def change_blocker(graph: Graph, function: Function) -> str | None:
    """Return the reason against taking a function's body apart, or None."""
    signature = function.signature
    if signature.attrs:
        return f"function '{function.name}' leaves attributes to its callers"
    if any(arg.is_ref for arg in (*signature.inputs, *signature.outputs)):
        return f"function '{function.name}' takes or returns references"
    if function.gradient is not None:
        return f"a gradient is declared for function '{function.name}'"
    if function.name in captured_functions(graph):
        return f"a saved gradient reads the nodes of function '{function.name}'"
    strange = next((n for n in function.body if n.op_def is None and n.op not in graph.functions), None)
    return None if strange is None else f"op '{strange.op}' in function '{function.name}' is not declared"
