"""Purity of nodes: the question that folding, merging, hoisting, clustering and caching all ask.

Also the reasons against reading the functions of a node or changing them with their caller, and functions composed of others.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Final

from ..registry.catalog import ArgDef, OpDef
from ..registry.op_facts import has_fact, ops_with
from ..support.tensor_names import free_name
from ..support.words import counted
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .call_kinds import BY_NAME, CALL_KINDS, CallKind, call_op
from .callers import captured_functions, function_references, reached_functions
from .graph import Function, Graph, Node, Output
from .node_making import add_argument
from .traversal import copied_from, trail_end

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
        return _own_impurity(node, definition, reads)
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
    definition = node.op_def
    if definition is None and node.op in functions:
        return "it calls a function by its name"
    reason = _own_impurity(node, definition, reads)
    return _impure_function(functions, node, seen) if reason is None else reason


def _own_impurity(node: Node, definition: OpDef | None, reads: bool) -> str | None:
    """Return the reason against the purity of a node itself, whatever its functions do."""
    if definition is None:
        return f"op '{node.op}' is not declared"
    reason = _impurity_of_op(node, definition.is_stateful)
    if reason is not None:
        return reason
    for dtype in node.output_dtypes:
        if dtype.is_ref:
            return _BY_REFERENCE
    for value in () if reads else node.inputs:
        taken = value.dtype
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
            # The function counts as pure until shown otherwise: if it calls itself, it is pure if all other nodes of its body
            # are.
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
        # A V1 conditional inside a function only selects values: nobody outside sees which of its nodes ran.
        if inner.op in ("_Arg", "_Retval", "NoOp", "Switch", "Merge"):
            continue
        reason = _impurity(functions, inner, seen)
        if reason is not None:
            return f"{inner.name} in function '{name}': {reason}"
    return None


def has_state(graph: Graph, name: str, harmless: Sequence[str] = ()) -> bool:
    """True if the function of a name, or any function called from there, has an effect or a state, as datasets count
    them.

    Assertions and calls count as neither, nor do the ops in `harmless`.
    """
    names = {name, *reached_functions(graph.functions, graph.function(name).body)}
    nodes = (node for name in names for node in graph.functions[name].body if not node.is_argument)
    stateless = ("Assert", call_op(is_stateful=True), *harmless)
    return any(node.op_def is not None and node.op_def.is_stateful and node.op not in stateless for node in nodes)


# Reasons against reading a node's functions, or changing them together with their caller.


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
    # Where the body is taken apart, an Identity stands for each argument and result, and would read the variable.
    if any(arg.is_ref for arg in (*signature.inputs, *signature.outputs)):
        return f"function '{function.name}' takes or returns references"
    # The declared function differentiates the call as a whole, by values of the body as it is.
    if function.gradient is not None:
        return f"a gradient is declared for function '{function.name}'"
    # Captures name their nodes, which a changed body may not have any more.
    if function.name in captured_functions(graph):
        return f"a saved gradient reads the nodes of function '{function.name}'"
    strange = next((n for n in function.body if n.op_def is None and n.op not in graph.functions), None)
    return None if strange is None else f"op '{strange.op}' in function '{function.name}' is not declared"


# Functions composed of others: a function that calls two in turn, and functions that only hand arguments on.

DEEPEST: Final = 32
"""The deepest nesting of calls in a composed function; walks over functions have the same bound."""


def composed(graph: Graph, first: FuncRef, second: FuncRef, *, keeps_first: bool = False) -> FuncRef:
    """Return a new library function that calls `second` on the results of `first`.

    With `keeps_first`, both results are returned. Neither function may leave attributes to its callers, and `second` must
    take as many arguments as `first` returns.
    """
    inner, outer = graph.functions[first.name], graph.functions[second.name]
    body = graph.emptied()
    args = [add_argument(body, f"arg_{i}", arg.attr("T"), i) for i, arg in enumerate(inner.args)]
    calls = [_call(body, first, inner, [arg.output() for arg in args])]
    calls.append(_call(body, second, outer, calls[0].outputs()))
    results = [*(calls[0].outputs() if keeps_first else ()), *calls[1].outputs()]
    # Control results keep a call with effects whose results nothing reads.
    acting = [call for call in calls if impurity(body, call) is not None]
    return add_function(graph, f"{outer.name}_fused", body, args, results, acting)


def call_depth(graph: Graph, function: Function, most: int) -> int:
    """Return the depth of nested calls that start in a function, up to `most`."""
    level, depth = [function], 0
    # With a bound, as functions may call each other in a circle.
    while level and depth < most:
        names = dict.fromkeys(reference.name for one in level for node in one.body for reference in function_references(node))
        level = [graph.functions[name] for name in names if name in graph.functions]
        depth += 1
    return depth


def handing_on(graph: Graph, name: str, dtypes: Sequence[DType], places: Sequence[int]) -> FuncRef:
    """Return a new library function, named like `name`, that returns its arguments at `places`."""
    body = graph.emptied()
    args = [add_argument(body, f"arg_{i}", dtype, i) for i, dtype in enumerate(dtypes)]
    return add_function(graph, name, body, args, [args[place].output() for place in places], ())


def places_handed_on(function: Function) -> list[int] | None:
    """Return the places of the arguments that a function returns, None for a function that does anything else."""
    inner = [node for node in function.body if not node.is_argument]
    # Control results are nodes that run for their effect.
    if function.control_results or any(node.op_def is None or node.op_def.is_stateful for node in inner):
        return None
    origins = [trail_end(value, copied_from).node for value in function.results]
    return [function.args.index(node) for node in origins] if all(node in function.args for node in origins) else None


def _call(body: Graph, reference: FuncRef, function: Function, values: Sequence[Output]) -> Node:
    types = {"Tin": [value.base_dtype for value in values], "Tout": [value.base_dtype for value in function.results]}
    attrs = {**types, "f": reference, "config": b"", "config_proto": b"", "executor_type": b""}
    node = body.add_node(body.unique_name(function.name), call_op(is_stateful=False), values, (), attrs)
    # Whether the call is pure can be asked of a node alone, so the op is corrected here.
    node.op = call_op(is_stateful=impurity(body, node) is not None)
    return node


def add_function(
    graph: Graph, name: str, body: Graph, args: list[Node], results: Sequence[Output], acting: Sequence[Node] = ()
) -> FuncRef:
    """Add a function to the library under a free name, and return the reference; calls wait for the `acting` nodes."""
    free = free_name(name, graph.functions)
    inputs = tuple(ArgDef(arg.name, arg.attr("T")) for arg in args)
    outputs = tuple(ArgDef(f"result_{i}", value.base_dtype) for i, value in enumerate(results))
    signature = OpDef(free, inputs, outputs, {}, frozenset({"stateful"} if acting else ()))
    graph.functions[free] = Function(signature, body, args, list(results), list(acting))
    return FuncRef(free)
