"""Whether calls give what their functions take and want what these return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph.graph import Function, Graph, Node
from ..registry.catalog import ArgDef
from ..support.errors import InvalidArgumentError
from ..types.dtypes import DType
from .call_kinds import call_kind


def check_calls(graph: Graph) -> None:
    """InvalidArgumentError names the first node whose functions have other arguments or results than it gives and has.

    What takes calls apart asks this first; a run says it of the calls that it reaches, inference leaves their outputs unknown.
    Nodes of functions must fit their ops. Left alone are functions that leave attributes to callers, and ops that give more,
    or other, than their inputs.
    """
    check_own_calls(graph)
    for function in graph.functions.values():
        function.check(function.signature.attrs)
        if not function.signature.attrs:
            _check_nodes(function.body, graph.functions)


def check_own_calls(graph: Graph) -> None:
    """The same of the graph's own nodes, where its library was looked at before."""
    _check_nodes(graph, graph.functions)


def _check_nodes(graph: Graph, functions: Mapping[str, Function]) -> None:
    for node in graph:
        kind = call_kind(functions, node)
        if kind is None or not kind.is_plain:
            continue
        references = kind.references(node)
        for reference in references:
            function = functions.get(reference.name)
            if function is None or function.signature.attrs:
                continue
            is_condition = kind.is_loop and reference is not references[-1]
            reason = _mismatch(node, function, kind.before, is_condition)
            if reason is not None:
                raise InvalidArgumentError(f"function '{function.name}' {reason}", node=node.name, op=node.op)


def _mismatch(node: Node, function: Function, before: int, is_condition: bool) -> str | None:
    """What is wrong with the call of a function with the inputs behind the first `before`, None where it fits."""
    given = [value.dtype for value in node.inputs[before:]]
    reason = _difference("takes", function.signature.inputs, given)
    if reason is not None or node.op_def is None:
        return reason
    if is_condition:
        return None if len(function.results) == 1 else f"returns {len(function.results)} values, not one"
    return _difference("returns", function.signature.outputs, node.output_dtypes)


def _difference(does: str, declared: Sequence[ArgDef], wanted: Sequence[DType | None]) -> str | None:
    if len(declared) != len(wanted):
        return f"{does} {len(declared)} values, not {len(wanted)}"
    for arg, dtype in zip(declared, wanted):
        if arg.dtype is not None and dtype is not None and arg.dtype.base is not dtype.base:
            return f"{does} {arg.dtype} as '{arg.name}', not {dtype}"
    return None
