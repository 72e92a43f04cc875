"""Nodes for saving and restoring the variables and tables of a graph, in the form of tf.compat.v1.train.Saver."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..graph.graph import Graph, Node, Output
from ..graph.metagraph import SaverInfo
from ..graph.model_objects import asset_assignments, asset_variables
from ..graph.table_fills import filled_tables, table_fills
from ..graph.table_nodes import TableNodes, saved_tables
from ..graph.variable_nodes import VariableNodes, find_variables
from ..support import dataclasses
from ..types.arrays import Array
from ..types.dtypes import DType
from .builder import GraphBuilder


def has_saver(graph: Graph, saver: SaverInfo | None) -> bool:
    """True if the nodes that a saver names are in the graph."""
    return saver is not None and all(
        name.partition(":")[0] in graph for name in (saver.filename_tensor, saver.save_tensor, saver.restore_op)
    )


def add_saver(graph: Graph) -> SaverInfo | None:
    """Add nodes that save and restore all variables and the tables that nothing fills, under their names.

    None for a graph without them. Variables with the path of a SavedModel's file are left out, and those that joined
    SavedModels give no value.
    """
    g = GraphBuilder(graph)
    with g.name_scope("save"):
        states = [*_saved_variables(g), *_saved_contents(g)]
        if not states:
            return None
        # The names are those of TensorFlow's Saver: `save/Const`, `save/control_dependency` and `save/restore_all`.
        prefix = g.PlaceholderWithDefault(g.constant(b"model"), shape=[], name="Const")
        parts = [part for state in states for part in state.parts]
        # An empty slice stands for the whole tensor.
        names, slices = _texts(part.name for part in parts), _texts("" for _ in parts)
        save = g.SaveV2(prefix, names, slices, [part.value for part in parts], name="SaveV2")
        with g.control_dependencies([save]):
            # The tensor that a SaverDef names: fetching it saves, and gives the prefix.
            saved = g.Identity(prefix, name="control_dependency")
        values = iter(g.RestoreV2(prefix, names, slices, dtypes=[part.dtype for part in parts], name="RestoreV2"))
        # RestoreV2 has one output for each name, in order; a table takes two.
        restored = [state.restore(list(itertools.islice(values, len(state.parts)))) for state in states]
        with g.control_dependencies(restored):
            restore = g.NoOp(name="restore_all")
    return SaverInfo(prefix.name, saved.name, restore.name)


@dataclasses.dataclass(frozen=True, slots=True)
class _SavedTensor:
    """A tensor of a checkpoint: the name, the dtype, and the value to save."""

    name: str
    dtype: DType
    value: Output


@dataclasses.dataclass(frozen=True, slots=True)
class _SavedState:
    """A state that a checkpoint holds in one or more parts; `restore` adds the node that takes the values of the parts."""

    parts: Sequence[_SavedTensor]
    restore: Callable[[Sequence[Output]], Node]


def _saved_variables(g: GraphBuilder) -> Iterator[_SavedState]:
    paths = asset_variables(g.graph)
    joined = g.graph.meta.joined if g.graph.meta is not None else None
    unsaved = joined.unsaved if joined is not None else frozenset()
    for variable in find_variables(g.graph).values():
        # A path is true only where the model lies, and its loader sets it again.
        if variable.name not in paths and variable.node.name not in unsaved:
            handle = variable.node.output()
            # SaveV2 takes the value of a resource, and a reference as it is.
            value = g.ReadVariableOp(handle, dtype=variable.dtype) if variable.is_resource else handle
            part = _SavedTensor(variable.name, variable.dtype, value)
            yield _SavedState([part], functools.partial(_assign, g, variable))


def _saved_contents(g: GraphBuilder) -> Iterator[_SavedState]:
    # The start of the model fills these each time, so a checkpoint need not hold what they map.
    filled = {owner for node in table_fills(g.graph) for owner in filled_tables(node)}
    for table in saved_tables(g.graph).values():
        if table.node not in filled:
            kinds = (table.key_dtype, table.value_dtype)
            exported = g.apply(table.op("Export"), table.node.output(), Tkeys=kinds[0], Tvalues=kinds[1])
            parts = [_SavedTensor(*part) for part in zip(table.entries, kinds, exported)]
            yield _SavedState(parts, functools.partial(_import, g, table))


def add_initializer(graph: Graph, starts: Sequence[Node] = ()) -> str | None:
    """Add an operation that starts a model: it fills the lookup tables, sets the paths of the model's files, and runs the
    initializers of the model's collections, and then `starts`; return its name, None if nothing is to be done.
    """
    meta = graph.meta
    collected = meta.collected_initializers if meta is not None and meta.folders else ()
    named = [graph.node(name) for name in collected if name in graph]
    steps = dict.fromkeys([*table_fills(graph), *asset_assignments(graph), *named])
    for start in starts:
        # Iterators may read tables and files, so they start after these are filled.
        for step in steps:
            graph.add_control_input(start, step)
    steps |= dict.fromkeys(starts)
    if not steps:
        return None
    g = GraphBuilder(graph)
    with g.control_dependencies(steps):
        result: str = g.NoOp(name="init_all_tables").name
        return result


def _texts(items: Iterable[str]) -> Array:
    # Bytes of a name that are no UTF-8 are surrogates in Python's text, and become the bytes again.
    return np.array([os.fsencode(item) for item in items], object)


def _assign(g: GraphBuilder, variable: VariableNodes, values: Sequence[Output]) -> Node:
    """Assign the only part of a variable."""
    handle = variable.node.output()
    if variable.is_resource:
        node: Node = g.apply("AssignVariableOp", handle, *values)
    else:
        node = g.apply("Assign", handle, *values).node
    return node


def _import(g: GraphBuilder, table: TableNodes, values: Sequence[Output]) -> Node:
    """Fill a table from its keys and values."""
    node: Node = g.apply(table.op("Import"), table.node.output(), *values)
    return node
