"""Tables and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfg import GraphBuilder

from .making import Built, Row, fed, ints, normal, numerals, row_name


def table_rows() -> Iterator[Row]:
    keys, texts = np.arange(5000), numerals("word%d", np.arange(5000))
    values, vectors, none = np.arange(5000) * 3, normal(5000, 4), np.int64(-1)
    for count in (10, 10000):
        sought = ints(6000, count, dtype=np.int64)
        yield from _table("int64", keys, values, none, sought, _table_of("int64"))
        yield from _table("string", texts, values, none, numerals("word%d", sought), _table_of("string"))
        yield from _table("dense", keys, values, none, sought, _dense_table)
        yield from _table("vectors", keys, vectors, np.zeros(4, np.float32), sought, _table_of_vectors)


def _table_of(keys: str) -> Callable[[GraphBuilder], Any]:
    return lambda b: b.MutableHashTableV2(key_dtype=keys, value_dtype="int64")


def _dense_table(b: GraphBuilder) -> Any:
    return b.MutableDenseHashTableV2(b.constant(np.int64(-1)), b.constant(np.int64(-2)), value_dtype="int64")


def _table_of_vectors(b: GraphBuilder) -> Any:
    return b.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float32", value_shape=[4])


def _table(note: str, keys: Any, values: Any, default: Any, sought: Any, make: Callable[[GraphBuilder], Any]) -> Iterator[Row]:
    """Return lookups in a filled table, and inserts into the table."""

    def filled(b: GraphBuilder) -> Any:
        handle = make(b)
        b.LookupTableInsertV2(handle, b.constant(keys), b.constant(values), name="fill")
        return handle

    def find(b: GraphBuilder) -> Built:
        node = b.LookupTableFindV2(filled(b), fed(b, sought, "x"), b.constant(default))
        return [node], {"x:0": sought}, ["fill"]

    def insert(b: GraphBuilder) -> Built:
        handle = filled(b)
        with b.control_dependencies([b.graph["fill"]]):
            return [b.LookupTableSizeV2(handle)], {}, []

    yield Row(f"LookupTableFindV2 {len(sought)} {note}", find)
    yield Row(f"LookupTableInsertV2 {len(keys)} {note}", insert)


def variable_rows() -> Iterator[Row]:
    some, part = ints(1000, 500), normal(500, 300)
    for how in ("Add", "Update", "Sub", "Mul", "Max", "Min", "Div"):
        yield _variable(f"ResourceScatter{how}", some, part + (4 if how == "Div" else 0))
    yield _variable("ResourceScatterNdAdd", some[:, None], part)
    yield _variable("ResourceScatterNdUpdate", some[:, None], part)
    yield _variable("ResourceGather", some, reads=True, dtype="float32")
    yield _variable("ResourceGatherNd", ints(300, 5000, 2), reads=True, dtype="float32")
    yield _variable("AssignAddVariableOp", normal(1000, 300))
    yield _variable("ResourceApplyGradientDescent", np.array(0.1, np.float32), normal(1000, 300))


def _variable(op: str, *inputs: Any, reads: bool = False, **attrs: Any) -> Row:
    """Return an op on a variable of 1000 x 300 floats; the fetch is a number that waits for the op."""

    def build(b: GraphBuilder) -> Built:
        handle = b.VarHandleOp(dtype="float32", shape=[1000, 300], shared_name="v")
        b.AssignVariableOp(handle, b.constant(np.zeros((1000, 300), np.float32)), name="fill")
        feeds = {f"x{i}:0": value for i, value in enumerate(inputs)}
        made = b.apply(op, handle, *(fed(b, value, f"x{i}") for i, value in enumerate(inputs)), **attrs)
        if reads:
            return [made], feeds, ["fill"]
        with b.control_dependencies([made]):
            return [b.Identity(b.constant(np.float32(0)))], feeds, ["fill"]

    return Row(row_name(op, inputs), build)
