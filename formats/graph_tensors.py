"""Tensors by name from a graph, or from any file with values: state files, SavedModels, and graphs with constants."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..core.functions.callers import nodes_by_path
from ..core.graph.graph import Graph
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import restored_variables
from ..core.support.errors import NotFoundError
from ..core.support.hints import Blank, Hint, command
from ..core.support.places import is_file, is_folder
from ..core.types.tensors import Tensor
from .detect import TFJS_FILE, is_saved_model
from .loading import load
from .state import holds_state, read_state, read_variables, saved_values


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


def stored_tensors(
    path: str | os.PathLike[str], tags: Sequence[str] | None = None
) -> tuple[dict[str, Tensor], bool, Graph | None]:
    """Return the tensors of a state file, the variables of a SavedModel, or the constants of a graph without variables.

    The second value is True for constants, of which only some were variables; the third is the graph.
    A variable of a SavedModel has the name of its node in the graph, a constant of a function the name FUNCTION/NODE. `tags`
    choose among the graphs of a SavedModel. Errors as `read_state` and `load` raise, and NotFoundError for a graph with
    variables and without values.
    """
    text = os.fspath(path)
    if not has_graph(text):
        return read_state(text), False, None
    graph = load(text, tags=tags)
    return *values_of(graph, text), graph


def has_graph(path: str) -> bool:
    """Return True for a folder with a model, and for a file that holds no state."""
    if is_folder(path):
        return is_saved_model(path) or is_file(os.path.join(path, TFJS_FILE))
    return is_file(path) and not holds_state(path)
