"""Check of calls against the signatures of their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph.graph import Function, Graph, Node
from ..registry.catalog import ArgDef
from ..support.errors import InvalidArgumentError
from ..types.dtypes import DType
from .call_kinds import call_kind


def check_calls(graph: Graph) -> None:
    """Raise InvalidArgumentError for the first node whose inputs or outputs differ from the signatures of the node's
    functions.

    Passes that take calls apart check calls first. A run reports only the calls executed, and inference leaves the
    outputs of a wrong call unknown. Nodes of functions must fit their ops. Functions that leave attributes to callers are
    not checked, nor are ops whose functions get other arguments than the op's inputs.
    """
    check_own_calls(graph)
    for function in graph.functions.values():
        function.check(function.signature.attrs)
        if not function.signature.attrs:
            _check_nodes(function.body, graph.functions)


def check_own_calls(graph: Graph) -> None:
    """Check the calls of the graph's own nodes; for a graph with a checked library."""
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
    """Return the mismatch of a function's call with the inputs behind the first `before`; None for a call that fits."""
    dtypes = [value.dtype for value in node.inputs[before:]]
    reason = _difference("takes", function.signature.inputs, dtypes)
    if reason is not None or node.op_def is None:
        return reason
    if is_condition:
        return None if len(function.results) == 1 else f"returns {len(function.results)} values instead of one"
    return _difference("returns", function.signature.outputs, node.output_dtypes)


def _difference(does: str, declared: Sequence[ArgDef], expected: Sequence[DType | None]) -> str | None:
    if len(declared) != len(expected):
        return f"{does} {len(declared)} values, not {len(expected)}"
    for arg, dtype in zip(declared, expected):
        if arg.dtype is not None and dtype is not None and arg.dtype.base is not dtype.base:
            return f"{does} {arg.dtype} as '{arg.name}', not {dtype}"
    return None
