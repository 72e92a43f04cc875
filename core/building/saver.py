"""Nodes for saving and restoring the variables of a graph, in the form of tf.compat.v1.train.Saver."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from ..functions.table_fills import table_fills
from ..graph.graph import Graph, Node, Output
from ..graph.metagraph import SaverInfo
from ..graph.variable_nodes import VariableNodes, find_variables
from ..types.arrays import Array
from .builder import GraphBuilder


def has_saver(graph: Graph, saver: SaverInfo | None) -> bool:
    """True where the nodes that a saver names are in the graph."""
    return saver is not None and all(
        name.partition(":")[0] in graph for name in (saver.filename_tensor, saver.save_tensor, saver.restore_op)
    )


def add_saver(graph: Graph) -> SaverInfo | None:
    """Add nodes that save and restore all variables under their names; None for a graph without variables."""
    variables = list(find_variables(graph).values())
    if not variables:
        return None
    g = GraphBuilder(graph)
    with g.name_scope("save"):
        prefix = g.PlaceholderWithDefault(g.constant(b"model"), shape=[], name="Const")
        names = _texts(variable.name for variable in variables)
        slices = _texts("" for _ in variables)
        save = g.SaveV2(prefix, names, slices, [_value(g, variable) for variable in variables], name="SaveV2")
        with g.control_dependencies([save]):
            saved = g.Identity(prefix, name="control_dependency")
        dtypes = [variable.dtype for variable in variables]
        values = g.RestoreV2(prefix, names, slices, dtypes=dtypes, name="RestoreV2")
        assigns = [_assign(g, variable, value) for variable, value in zip(variables, values)]
        with g.control_dependencies(assigns):
            restore = g.NoOp(name="restore_all")
    return SaverInfo(prefix.name, saved.name, restore.name)


def add_table_initializer(graph: Graph) -> str | None:
    """Add an operation that fills all lookup tables of the graph itself; return its name, None for a graph without tables."""
    filling = table_fills(graph)
    if not filling:
        return None
    g = GraphBuilder(graph)
    with g.control_dependencies(filling):
        result: str = g.NoOp(name="init_all_tables").name
        return result


def _texts(items: Iterable[str]) -> Array:
    return np.array([os.fsencode(item) for item in items], object)


def _value(g: GraphBuilder, variable: VariableNodes) -> Output:
    """Return the input of SaveV2 for a variable: the value, or the reference."""
    handle = variable.node.output()
    return g.ReadVariableOp(handle, dtype=variable.dtype) if variable.is_resource else handle


def _assign(g: GraphBuilder, variable: VariableNodes, value: Output) -> Node:
    handle = variable.node.output()
    if variable.is_resource:
        node: Node = g.apply("AssignVariableOp", handle, value)
    else:
        node = g.apply("Assign", handle, value).node
    return node
