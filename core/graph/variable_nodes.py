"""The variables of a graph: the node that owns each variable's memory, and the nodes that initialize and read the variable."""

from __future__ import annotations

from collections.abc import Iterator

from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact, ops_with
from ..support import dataclasses
from ..support.errors import NotFoundError
from ..types.dtypes import DType, resource
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import Tensor
from .graph import Graph, Node, Output
from .traversal import groups, nodes_of_kind

VARIABLES = ops_with("variable")
RESOURCE_VARIABLES = tuple(op for op in VARIABLES if not CATALOG[op].outputs[0].is_ref)
ASSIGN_OPS = ops_with("assignment")
READ_OPS = ("ReadVariableOp", "Identity")


@dataclasses.dataclass(frozen=True, slots=True)
class VariableNodes:
    """A variable of a graph. `name` is the name for sessions and checkpoints: the shared name, or the node's own."""

    node: Node
    name: str
    dtype: DType
    shape: Shape
    is_resource: bool
    initializer: Node | None
    initial_value: Output | None
    reads: tuple[Node, ...]


def find_variables(graph: Graph) -> dict[str, VariableNodes]:
    """Return the variables by name, in the order of the graph."""
    variables = (_variable_nodes(graph, node) for node in nodes_of_kind(graph, lambda kind: kind.op in VARIABLES))
    return {variable.name: variable for variable in variables}


def variable(graph: Graph, name: str) -> VariableNodes:
    """Return a variable by name, node name or tensor name; NotFoundError names the nearest variables."""
    variables = find_variables(graph)
    # TensorFlow 1 reads a reference by an Identity `/read`, a resource by `/Read/ReadVariableOp`: the names in pictures.
    stem = name.removesuffix(":0").removesuffix("/read").removesuffix("/Read/ReadVariableOp")
    # The name in a checkpoint goes first: a shared name and the name of another node may be equal.
    match = variables.get(stem) or next((v for v in variables.values() if v.node.name == stem), None)
    if match is None:
        from difflib import get_close_matches

        close = get_close_matches(stem, variables, 3) or list(variables)[:3]
        hint = f"the variables are {', '.join(close)} ..." if close else "the graph has no variables"
        raise NotFoundError(f"the graph has no variable '{name}'", hint=hint)
    return match


def is_frozen_weight(node: Node) -> bool:
    """Return True for a constant that may have been a variable: of floats, with elements and at least one dimension."""
    value = node.attr_of(Tensor, "value") if node.is_constant else None
    # Scalars are mostly rates and epsilons, and integers are sizes and axes.
    return value is not None and value.dtype.is_floating and bool(value.shape) and 0 not in value.shape


def _variable_nodes(graph: Graph, node: Node) -> VariableNodes:
    is_resource = node.op in RESOURCE_VARIABLES
    shared = node.text_attr("shared_name")
    initializer = _initializer(node)
    value = initializer.inputs[1] if initializer is not None and len(initializer.inputs) > 1 else None
    dtype, shape = node.attr_of(DType, "dtype"), node.attr_of(Shape, "shape")
    return VariableNodes(
        node, shared or node.name, dtype or resource, UNKNOWN if shape is None else shape, is_resource, initializer, value,
        tuple(consumer for consumer in node.uses if consumer.op in READ_OPS and Output(node, 0) in consumer.inputs),
    )  # fmt: skip


def _initializer(node: Node) -> Node | None:
    """Return the assignment of the variable's first value: the node called `.../Assign`, otherwise the first assignment."""
    assigns = list(writers(node))
    # TensorFlow 1 gives the initializer this name. A training graph has many other assignments, of the optimizer and of a
    # restored checkpoint.
    own = [assign for assign in assigns if assign.name == f"{node.name}/Assign"]
    return next(iter(own or [assign for assign in assigns if assign.name.endswith("/Assign")] or assigns), None)


def writers(node: Node) -> Iterator[Node]:
    """Yield the plain assignments to a variable."""
    for consumer in node.uses:
        if consumer.op in ASSIGN_OPS and consumer.inputs and consumer.inputs[0].node is node:
            yield consumer


def initializer_ops(graph: Graph) -> tuple[Node, ...]:
    """Return the outermost NoOps that do nothing but wait for initializers of variables and tables, in graph order."""
    initializers = {v.initializer for v in find_variables(graph).values() if v.initializer is not None}

    def initializes(node: Node) -> bool:
        return node in initializers or has_fact(node.op, "initializes_table")

    no_ops = dict.fromkeys(groups(graph, initializes))
    # An initializer may group others, and only the outermost runs them all.
    outer = tuple(node for node in no_ops if not any(user in no_ops for user in node.uses))
    init = graph.get("init")
    return outer or ((init,) if init is not None and init.is_no_op else ())
