"""Tensors by name from a graph: the variables of a SavedModel, and constants."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.functions.call_paths import nodes_by_path
from ..core.graph.graph import Graph
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import restored_variables
from ..core.support.errors import NotFoundError
from ..core.support.hints import Blank, Hint, command
from ..core.types.tensors import Tensor
from .loading import load
from .state import read_variables, saved_values


def graph_tensors(path: str, tags: Sequence[str] | None) -> tuple[dict[str, Tensor], bool]:
    """Return the tensors of a graph's file, as `values_of`."""
    return values_of(load(path, tags=tags), path)


def values_of(graph: Graph, where: str) -> tuple[dict[str, Tensor], bool]:
    """Return the variables of a SavedModel by node and False, or the constants of a graph without variables and True.

    NotFoundError for a graph with variables and without values.
    """
    prefix = saved_values(graph)
    if prefix is not None:
        return read_variables(prefix, restored_variables(graph)), False
    if find_variables(graph):
        hint = Hint(
            command("explain", where),
            " lists the variables; ",
            command("checkpoint", Blank("PREFIX")),
            " shows the stored values",
        )
        raise NotFoundError(f"'{where}' is a graph with variables, but without their values", hint=hint)
    return constants(graph), True


def constants(graph: Graph) -> dict[str, Tensor]:
    """Return the values of Const nodes by name, those of functions as FUNCTION/NODE."""
    values = {path: node.attr_of(Tensor, "value") for path, node in nodes_by_path(graph).items() if node.is_constant}
    return {name: value for name, value in values.items() if value is not None}
