"""Graphs that no session could run, made fit to be looked at."""

from __future__ import annotations

from ..errors import InvalidArgumentError, TfgError
from ..functions.callers import all_nodes
from ..graph import Graph
from ..validation import check_node


def make_presentable(graph: Graph) -> list[TfgError]:
    """Leave out functions that cannot be read, and outputs of nodes that do not say what they make; what was found wrong."""
    faults = _drop_unreadable(graph)
    try:
        graph.check()
    except InvalidArgumentError as error:
        _drop_outputs(graph)
        faults.append(error)
    return faults


def _drop_unreadable(graph: Graph) -> list[TfgError]:
    faults = []
    for name in list(graph.functions):
        try:
            graph.functions[name]
        except TfgError as error:
            faults.append(error)
            del graph.functions[name]
    return faults


def _drop_outputs(graph: Graph) -> None:
    for node in all_nodes(graph):
        try:
            check_node(node.op, node.attrs, len(node.inputs))
        except InvalidArgumentError:
            node.note_dtypes(())
