"""The values that a page shows: of constants, and of variables from a SavedModel or a state file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ...core.drawing.node_values import NodeValue, held_in_full, node_value
from ...core.drawing.view_model import Report
from ...core.graph.graph import Graph, Node
from ...core.graph.variable_nodes import find_variables
from ...core.model.model_view import ModelView
from ...core.support.errors import InvalidArgumentError, TfgError
from ...core.types.tensors import Tensor
from ..state import read_graph_state

ReadsState: TypeAlias = Callable[[Graph], Mapping[str, Tensor]]
"""A function that reads the values of a graph's variables."""
VALUES: Final = 1 << 20
"""The default number of bytes of values that a page holds in full."""


def page_values(
    view: ModelView, state: ReadsState | None, limit: int, notes: list[str], report: Report = lambda done, total: None
) -> dict[Node, NodeValue]:
    """Return the values of nodes, the smallest in full up to `limit` bytes; `notes` gets the reasons of gaps.

    A wrong `state` is an error: InvalidArgumentError where no variable has a value, otherwise as `read_graph_state` raises.
    """
    tensors = {**_constants(view.graph), **_variables(view, state, notes)}
    in_full = held_in_full(tensors, limit)
    values = {}
    for done, (node, tensor) in enumerate(tensors.items()):
        report(done, len(tensors))
        try:
            values[node] = node_value(tensor, node in in_full)
        except TfgError as error:
            notes.append(f"the value of '{node.name}' cannot be read: {error}")
    return values


def _constants(graph: Graph) -> dict[Node, Tensor]:
    bodies = (graph, *(function.body for function in graph.functions.values()))
    values = {node: node.attr_of(Tensor, "value") for body in bodies for node in body if node.is_constant}
    return {node: tensor for node, tensor in values.items() if tensor is not None}


def _variables(view: ModelView, state: ReadsState | None, notes: list[str]) -> dict[Node, Tensor]:
    graph = view.source  # it has the names of a checkpoint, whose values belong to the same variables in the view
    tensors = state(graph) if state is not None else _own_state(graph, notes)
    variables = find_variables(view.graph)
    values = {variables[name].node: tensor for name, tensor in tensors.items() if name in variables}
    if state is not None and not values:
        names = ", ".join(f"'{name}'" for name in list(variables)[:3]) or "no variables"
        raise InvalidArgumentError("the state has no value of any variable of the graph", hint=f"the graph has {names}")
    return values


def _own_state(graph: Graph, notes: list[str]) -> Mapping[str, Tensor]:
    """Return the values of a SavedModel's variables; a reason why they cannot be read becomes a note."""
    prefix = graph.meta.variables_prefix if graph.meta is not None else None
    if prefix is None:
        return {}
    try:
        return read_graph_state(prefix, graph)
    except TfgError as error:
        notes.append(f"the values of variables cannot be read: {error}")
        return {}
