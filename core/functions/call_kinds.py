"""How ops call functions of the library, for the passes that change both together."""

from __future__ import annotations

import dataclasses
from typing import Final

from ..graph import Function, Graph, Node
from ..tensors import FuncRef
from .callers import captured_functions


@dataclasses.dataclass(frozen=True, slots=True)
class CallKind:
    """How an op calls functions: attributes that name them, inputs before the arguments, type lists of arguments and results.

    Where no attribute names a function, the op itself does.
    """

    functions: tuple[str, ...]
    before: int
    args: str = "Tin"
    results: str = "Tout"

    @property
    def is_loop(self) -> bool:
        """True where the results of the last function are its arguments in the next call."""
        return self.args == self.results != ""

    def references(self, node: Node) -> list[FuncRef]:
        """The functions that a node calls, in the order of its attributes."""
        if not self.functions:
            return [FuncRef(node.op)]
        values = [node.attr(name) for name in self.functions]
        return [reference for value in values for reference in (value if isinstance(value, list) else [value])]


_CALL, _IF, _CASE = CallKind(("f",), 0), CallKind(("then_branch", "else_branch"), 1), CallKind(("branches",), 1)
_WHILE, _BY_NAME = CallKind(("cond", "body"), 0, "T", "T"), CallKind((), 0, "", "")
_KINDS: Final = {
    "PartitionedCall": _CALL, "StatefulPartitionedCall": _CALL, "If": _IF, "StatelessIf": _IF,
    "Case": _CASE, "StatelessCase": _CASE, "While": _WHILE, "StatelessWhile": _WHILE,
}  # fmt: skip


def call_kind(graph: Graph, node: Node) -> CallKind | None:
    """How a node calls functions, None where it does not, or in a way of its own."""
    return _KINDS.get(node.op) or (_BY_NAME if node.op_def is None and node.op in graph.functions else None)


def why_not_read(graph: Graph, node: Node, kind: CallKind) -> str | None:
    """Why nothing can be made of what a node calls, or None."""
    for reference in kind.references(node):
        function = graph.functions.get(reference.name)
        if function is None:
            return f"function '{reference.name}' is not in the library"
        reason = why_not_changed(graph, function)
        if reason is not None:
            return reason
        if len(function.args) != len(node.inputs) - kind.before:
            return f"function '{reference.name}' takes {len(function.args)} arguments"
    last = graph.functions[kind.references(node)[-1].name]
    is_loop_body = kind.is_loop and len(last.results) == len(last.args)
    return None if is_loop_body or not kind.is_loop else f"function '{last.name}' does not return what it takes"


def why_not_changed(graph: Graph, function: Function) -> str | None:
    """Why a function's body cannot be taken apart, or None."""
    signature = function.signature
    if signature.attrs:
        return f"function '{function.name}' leaves attributes to its callers"
    if any(arg.is_ref for arg in (*signature.inputs, *signature.outputs)):
        return f"function '{function.name}' takes or returns references"
    if function.name in captured_functions(graph):
        return f"a gradient that is saved with the graph reads the nodes of function '{function.name}'"
    strange = next((n for n in function.body if n.op_def is None and n.op not in graph.functions), None)
    return None if strange is None else f"op '{strange.op}' in function '{function.name}' is not declared"
