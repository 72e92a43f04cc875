"""Functions composed of others: a function that calls two in turn, and functions that only hand arguments on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..graph.graph import Function, Graph, Node, Output
from ..graph.node_making import add_argument
from ..graph.traversal import copied_from, trail_end
from ..registry.catalog import ArgDef, OpDef
from ..support.tensor_names import free_name
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .call_kinds import call_op
from .callers import function_references
from .purity import impurity

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
    acting = [call for call in calls if impurity(body, call) is not None]
    return add_function(graph, f"{outer.name}_fused", body, args, results, acting)


def call_depth(graph: Graph, function: Function, most: int) -> int:
    """Return the depth of nested calls that start in a function, up to `most`."""
    level, depth = [function], 0
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
    if function.control_results or any(node.op_def is None or node.op_def.is_stateful for node in inner):
        return None
    origins = [trail_end(value, copied_from).node for value in function.results]
    return [function.args.index(node) for node in origins] if all(node in function.args for node in origins) else None


def _call(body: Graph, reference: FuncRef, function: Function, values: Sequence[Output]) -> Node:
    types = {"Tin": [value.base_dtype for value in values], "Tout": [value.base_dtype for value in function.results]}
    attrs = {**types, "f": reference, "config": b"", "config_proto": b"", "executor_type": b""}
    node = body.add_node(body.unique_name(function.name), call_op(is_stateful=False), values, (), attrs)
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
