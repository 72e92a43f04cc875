"""Tensors by name from a graph: the variables of a SavedModel, and constants."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..core.functions.call_paths import nodes_by_path
from ..core.graph.graph import Graph
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import restored_variables
from ..core.support.errors import NotFoundError
from ..core.types.tensors import Tensor
from .loading import load
from .state import read_variables, saved_values


def graph_tensors(path: str, tags: Sequence[str] | None) -> dict[str, Tensor]:
    """Return the variables of a SavedModel by node, or the constants of a graph without variables."""
    graph = load(path, tags=tags)
    prefix = saved_values(graph)
    if prefix is not None:
        return read_variables(prefix, restored_variables(graph))
    if find_variables(graph):
        hint = f"`tfg explain {shlex.quote(path)}` lists the variables; `tfg checkpoint PREFIX` shows the stored values"
        raise NotFoundError(f"'{path}' is a graph with variables, but without their values", hint=hint)
    return constants(graph)


def constants(graph: Graph) -> dict[str, Tensor]:
    """Return the values of Const nodes by name, those of functions as FUNCTION/NODE."""
    values = {path: node.attr_of(Tensor, "value") for path, node in nodes_by_path(graph).items() if node.is_constant}
    return {name: value for name, value in values.items() if value is not None}
