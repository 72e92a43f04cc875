"""Tensors by name from any file with values: state files, SavedModels, and graphs with constants."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..core.support.places import is_file, is_folder
from ..core.types.tensors import Tensor
from .detect import TFJS_FILE, is_saved_model
from .state import holds_state, read_state


def stored_tensors(path: str | os.PathLike[str], tags: Sequence[str] | None = None) -> tuple[dict[str, Tensor], bool]:
    """Return the tensors of a state file, the variables of a SavedModel, or the constants of a graph without variables.

    The second value is True for constants, of which only some were variables.
    A variable of a SavedModel has the name of its node in the graph, a constant of a function the name FUNCTION/NODE. `tags`
    choose among the graphs of a SavedModel. Errors as `read_state` and `load` raise, and NotFoundError for a graph with
    variables and without values.
    """
    text = os.fspath(path)
    if not has_graph(text):
        return read_state(text), False
    from .graph_tensors import graph_tensors  # a state file needs no graph

    return graph_tensors(text, tags)


def has_graph(path: str) -> bool:
    """Return True for a folder with a model, and for a file that holds no state."""
    if is_folder(path):
        return is_saved_model(path) or is_file(os.path.join(path, TFJS_FILE))
    return is_file(path) and not holds_state(path)
