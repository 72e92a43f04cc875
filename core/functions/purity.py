"""Purity of nodes: the question that folding, merging, hoisting, clustering and caching all ask."""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Final

from ..graph.graph import Function, Graph, Node
from ..registry.op_facts import has_fact, ops_with
from .call_kinds import BY_NAME, CALL_KINDS, call_op
from .callers import function_references, reached_functions

CONTROL_FLOW: Final = frozenset(ops_with("control_flow"))
_BY_REFERENCE: Final = "it touches a variable by reference"


def impurity(graph: Graph, node: Node, cache: dict[str, str | None] | None = None, reads: bool = False) -> str | None:
    """Return the reason why a node's result may be more, or other, than a function of its inputs; None for a pure node.

    `cache` holds the reasons of functions and receives new reasons. With `reads`, a reference input of a node counts as
    the value that the node reads.
    """
    return impurity_among(graph.functions, node, cache, reads)


def impurity_among(
    functions: Mapping[str, Function], node: Node, cache: dict[str, str | None] | None = None, reads: bool = False
) -> str | None:
    """Return the reason against the purity of a node that may call the given functions."""
    definition = node.op_def
    if definition is not None and not definition.takes_functions:
        return _own_impurity(node, reads)
    cache = {} if cache is None else cache
    seen = collections.ChainMap({}, cache)
    reason = _impurity(functions, node, seen, reads)
    # Functions that call each other are pure only together: if any may be impure, the others stay unknown.
    new = seen.maps[0]
    cache.update(new if reason is None else {name: cause for name, cause in new.items() if cause is not None})
    return reason


def _impurity(
    functions: Mapping[str, Function], node: Node, seen: MutableMapping[str, str | None], reads: bool = False
) -> str | None:
    if node.op_def is None and node.op in functions:
        return "it calls a function by its name"
    reason = _own_impurity(node, reads)
    return _impure_function(functions, node, seen) if reason is None else reason


def _own_impurity(node: Node, reads: bool) -> str | None:
    """Return the reason against the purity of a node itself, whatever its functions do."""
    definition = node.op_def
    if definition is None:
        return f"op '{node.op}' is not declared"
    reason = _impurity_of_op(node, definition.is_stateful)
    if reason is not None:
        return reason
    for dtype in node.output_dtypes:
        if dtype.is_ref:
            return _BY_REFERENCE
    for value in () if reads else node.inputs:
        taken = value.node.output_dtype(value.index)
        if taken is not None and taken.is_ref:
            return _BY_REFERENCE
    return None


def _impurity_of_op(node: Node, is_stateful: bool) -> str | None:
    """Return the reason why no node of this type is pure; None for a pure op."""
    op = node.op
    if node.is_argument:
        return "it is an argument of a function, outside of a call"
    stateful = is_stateful and not (CALL_KINDS.get(op, BY_NAME).may_be_pure or has_fact(op, "program"))
    if stateful or has_fact(op, "random") or has_fact(op, "side_effect"):
        return "it is stateful"
    if has_fact(op, "reads_files"):
        return "it reads files"
    if op in CONTROL_FLOW:
        return f"{op} is V1 control flow, which decides on which nodes run"
    if node.is_placeholder:
        return "its value is fed"
    return None


def _impure_function(functions: Mapping[str, Function], node: Node, seen: MutableMapping[str, str | None]) -> str | None:
    for reference in function_references(node):
        if reference.name not in seen:
            seen[reference.name] = None
            seen[reference.name] = _impure_body(functions, reference.name, seen)
        if seen[reference.name] is not None:
            return seen[reference.name]
    return None


def _impure_body(functions: Mapping[str, Function], name: str, seen: MutableMapping[str, str | None]) -> str | None:
    function = functions.get(name)
    if function is None:
        return f"function '{name}' is not in the library"
    for inner in function.body:
        if inner.op in ("_Arg", "_Retval", "NoOp", "Switch", "Merge"):
            continue
        reason = _impurity(functions, inner, seen)
        if reason is not None:
            return f"{inner.name} in function '{name}': {reason}"
    return None


def has_state(graph: Graph, name: str, harmless: Sequence[str] = ()) -> bool:
    """True where the function of a name, or any function called from there, has an effect or a state, as datasets count
    them.

    Assertions and calls count as neither, nor do the ops in `harmless`.
    """
    names = {name, *reached_functions(graph.functions, graph.function(name).body)}
    nodes = (node for name in names for node in graph.functions[name].body if not node.is_argument)
    stateless = ("Assert", call_op(is_stateful=True), *harmless)
    return any(node.op_def is not None and node.op_def.is_stateful and node.op not in stateless for node in nodes)
