"""Tensors by name from any file with values: state files, SavedModels, and graphs with constants."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from ..core.functions.call_paths import nodes_by_path
from ..core.graph.graph import Graph
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import restored_variables
from ..core.support.errors import NotFoundError
from ..core.types.tensors import Tensor
from .detect import MODEL_FILES, TFJS_FILE
from .loading import load
from .state import holds_state, read_state, read_variables


def stored_tensors(path: str | os.PathLike[str], tags: Sequence[str] | None = None) -> dict[str, Tensor]:
    """Return the tensors of a state file, the variables of a SavedModel, or the constants of a graph without variables.

    A variable of a SavedModel has the name of its node in the graph, a constant of a function the name FUNCTION/NODE. `tags`
    choose among the graphs of a SavedModel. Errors as `read_state` and `load` raise, and NotFoundError for a graph with
    variables and without values.
    """
    text = os.fspath(path)
    if not _is_graph(text):
        return read_state(text)
    graph = load(text, tags=tags)
    prefix = graph.meta.variables_prefix if graph.meta is not None else None
    if prefix is not None:
        return read_variables(prefix, restored_variables(graph))
    if find_variables(graph):
        hint = f"`tfg explain {shlex.quote(text)}` lists the variables; `tfg checkpoint PREFIX` shows the stored values"
        raise NotFoundError(f"'{text}' is a graph with variables, but without their values", hint=hint)
    return constants(graph)


def _is_graph(path: str) -> bool:
    if os.path.isdir(path):
        return any(os.path.isfile(os.path.join(path, name)) for name in (*MODEL_FILES, TFJS_FILE))
    return os.path.isfile(path) and not holds_state(path)


def constants(graph: Graph) -> dict[str, Tensor]:
    """Return the values of Const nodes by name, those of functions as FUNCTION/NODE."""
    values = {path: node.attr_of(Tensor, "value") for path, node in nodes_by_path(graph).items() if node.is_constant}
    return {name: value for name, value in values.items() if value is not None}
