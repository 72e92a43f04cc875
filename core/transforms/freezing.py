"""Freezing: variables become constants, and handles that go into functions become values there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from ..functions.callers import called_functions
from ..functions.table_fills import table_fills
from ..graph.graph import Graph, Node
from ..graph.reference_ops import plain_op, read_as
from ..graph.traversal import reachable, topological_order
from ..graph.variable_nodes import RESOURCE_VARIABLES, find_variables
from ..graph.variable_nodes import variable as find_variable
from ..registry.op_facts import has_fact
from ..support.errors import FailedPreconditionError
from ..types.shapes import Shape
from ..types.tensors import Tensor
from .frozen_handles import LEAVE_IT, FrozenValue, Values, replace_handles
from .subgraphs import subgraph


def freeze(
    graph: Graph,
    values: Mapping[str, Tensor],
    outputs: Sequence[str],
    inputs: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Graph:
    """Return the nodes that `outputs` need, cut at `inputs`, with variables as constants of the given values.

    Functions that took handles have copies that take values; functions that nothing calls are dropped. Tables stay tables;
    `init_all_tables` fills them. The variables of `keep` stay variables. FailedPreconditionError names a variable without a
    value, or a node that writes to a variable; NotFoundError names the nearest variables for a name in `keep` that none has.
    """
    initializers = _table_initializers(graph, reachable([graph.node_of(name) for name in outputs]))
    result = subgraph(graph, [*outputs, *initializers], inputs)
    if initializers:
        result.add_node(result.unique_name("init_all_tables"), "NoOp", (), map(result.node, initializers))
    handles: Values = {}
    variables = {find_variable(graph, name).name for name in keep}
    for variable in find_variables(result).values():
        if variable.name in variables:
            continue
        value = values.get(variable.name)
        if value is None:
            raise FailedPreconditionError(
                f"variable '{variable.name}' has no value to freeze", node=variable.node.name, op=variable.node.op,
                hint="add --state FILE, or --init to freeze the initial values",
            )  # fmt: skip
        if variable.is_resource:
            handles[variable.node.output()] = FrozenValue(variable.name, value.dtype, Shape(value.shape))
        else:
            _drop_references(variable.node)
        become_constant(variable.node, value)
    replace_handles(result, handles)
    result.reorder(topological_order(result))
    _keep_functions(result, called_functions(result, result))
    return result


def _keep_functions(graph: Graph, names: Set[str]) -> None:
    """Drop all other functions; FailedPreconditionError where a function in `names` makes a variable in its body."""
    for name in [name for name in graph.functions if name not in names]:
        del graph.functions[name]
    for name, function in graph.functions.items():
        for node in function.body:
            if node.op in RESOURCE_VARIABLES:
                raise FailedPreconditionError(
                    f"function '{name}' owns a variable", node=node.name, op=node.op,
                    hint="inline the function with --inline-functions, to freeze the variable",
                )  # fmt: skip


def _table_initializers(graph: Graph, nodes: Set[Node]) -> list[str]:
    """Return the operations, of tables among the nodes kept, that fill tables without a feed."""
    takers = {user for node in nodes if has_fact(node.op, "table") for user in _users(node)}
    return [node.name for node in table_fills(graph) if node in takers]


def _users(handle: Node) -> Iterator[Node]:
    """Yield the users of a handle, also behind nodes that pass the handle on."""
    pending = [handle]
    while pending:
        passed = pending.pop()
        for user in passed.uses:
            if any(value.node is passed for value in user.inputs):
                yield user
                pending += [user] if user.is_identity else []


def become_constant(node: Node, value: Tensor) -> None:
    """Turn a node without inputs into a constant of the same name."""
    node.change_op("Const", {"dtype": value.dtype, "value": value})
    node.device = ""


def _drop_references(node: Node) -> None:
    """Make the users of a node's reference take a value, and in turn the users of the references that they return."""
    pending = [node]
    for giver in pending:
        for user in [user for user in giver.uses if any(value.node is giver for value in user.inputs)]:
            if any(dtype.is_ref for dtype in user.output_dtypes) and plain_op(user.op) is not None:
                pending.append(user)
            _drop_reference(user)


def _drop_reference(user: Node) -> None:
    plain = plain_op(user.op)
    if plain is not None:
        read_as(user, plain)
    elif user.op_def is not None and any(arg.is_ref for arg in user.op_def.inputs):
        raise FailedPreconditionError(
            "it writes to a variable that must be frozen", node=user.name, op=user.op, hint=LEAVE_IT
        )  # fmt: skip
