"""Nodes that fill tables: operations and calls, without nodes that need a feed, the same for runs, files and freezing."""

from __future__ import annotations

import numpy as np

import tfg
from tests.functions import define
from tfg.core.building.saver import add_initializer
from tfg.core.graph.table_fills import table_fills
from tfg.core.runtime.session.runner import table_initializers
from tfg.core.transforms.freezing import freeze
from tfg.core.types.tensors import FuncRef

TABLE = {"key_dtype": "int64", "value_dtype": "int64"}
KEYS, VALUES = np.int64([4, 9]), np.int64([40, 90])


def graph_of_tables():
    """Return a graph with a table that a called function fills, a table of its own, and a table that a feed fills."""
    b = tfg.GraphBuilder()

    def body(g, handle):
        g.InitializeTableV2(handle, KEYS, VALUES)
        return []

    define(b, "fill", ["resource"], body)
    filled_by_call = b.HashTableV2(**TABLE, shared_name="a")
    b.apply("StatefulPartitionedCall", [filled_by_call], f=FuncRef("fill"), Tout=[], name="call")
    own = b.HashTableV2(**TABLE, shared_name="b")
    b.InitializeTableV2(own, KEYS, VALUES, name="own")
    fed = b.HashTableV2(**TABLE, shared_name="c")
    b.InitializeTableV2(fed, KEYS, b.Placeholder(dtype="int64", shape=[2]), name="fed")
    for name, table in (("x", filled_by_call), ("y", own), ("z", fed)):
        b.LookupTableFindV2(table, KEYS, np.int64(0), name=name)
    return b.graph


def test_calls_and_operations_fill_tables():
    assert [node.name for node in table_fills(graph_of_tables())] == ["call", "own"]


def test_a_run_initializes_the_tables_of_calls():
    graph = graph_of_tables()
    assert table_initializers(graph, ()) == ("call", "own")
    session = tfg.Session(graph)
    for name in table_initializers(graph, ()):
        session.run(name)
    for name in ("x:0", "y:0"):
        np.testing.assert_array_equal(session.run(name), VALUES)


def test_files_and_frozen_graphs_fill_the_same_tables():
    graph = graph_of_tables()
    frozen = freeze(graph, {}, ["x:0", "y:0"])
    assert {node.name for node in frozen.node("init_all_tables").control_inputs} == {"call", "own"}
    assert {node.name for node in graph.node(add_initializer(graph)).control_inputs} == {"call", "own"}
