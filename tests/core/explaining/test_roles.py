"""The roles that facts of ops give to nodes."""

from __future__ import annotations

from tests.core.passes.rewriting import placeholder
from tfg import GraphBuilder
from tfg.core.explaining.roles import Roles
from tfg.core.explaining.stages import stage_of_nodes
from tfg.core.graph.variable_nodes import initializer_ops
from tfg.core.types import dtypes


def stages(b):
    return {node.name: stage for node, (stage, _) in stage_of_nodes(Roles(b.graph)).items()}


def handle(b, dtype=dtypes.float32, shape=()):
    return b.VarHandleOp(dtype=dtype, shape=list(shape), shared_name="v", name="v")


def test_ops_that_change_a_variable_in_place_are_updates():
    b = GraphBuilder()
    state = handle(b, dtypes.int64, (3,))
    b.apply("RngSkip", state, b.constant(1, dtypes.int64), b.constant(2, dtypes.int64), name="skip")
    b.apply("ResourceCountUpTo", state, limit=3, T=dtypes.int64, name="count")
    assert {node.name for node in Roles(b.graph).updates} == {"skip", "count"}


def test_an_op_that_destroys_a_variable_is_no_update():
    b = GraphBuilder()
    b.apply("DestroyResourceOp", handle(b), name="destroy")
    assert not Roles(b.graph).updates


def test_statistics_of_boosted_trees_are_no_summaries():
    b = GraphBuilder()
    nodes, pairs = placeholder(b, "nodes", (4,), dtypes.int32), placeholder(b, "pairs", (4, 1))
    features = placeholder(b, "features", (4,), dtypes.int32)
    b.apply("BoostedTreesMakeStatsSummary", nodes, pairs, pairs, [features], max_splits=2, num_buckets=2, name="stats")
    b.apply("ScalarSummary", b.constant(b"tag"), placeholder(b, "x", ()), name="summary")
    placed = stages(b)
    assert (placed["stats"], placed["summary"]) == ("model", "summaries")


def test_a_table_that_a_restore_fills_is_no_initializer():
    b = GraphBuilder()
    table = b.HashTableV2(key_dtype="int64", value_dtype="float32", name="table")
    keys, values = b.constant([1], dtypes.int64), b.constant([2.0])
    for name, op in (("first", "InitializeTableV2"), ("restored", "LookupTableImportV2")):
        filling = b.apply(op, table, keys, values, name=name)
        with b.control_dependencies([filling]):
            b.NoOp(name=f"all_{name}")
    assert [node.name for node in initializer_ops(b.graph)] == ["all_first"]


def test_a_moving_average_is_no_optimizer():
    """v += rate * (w - v), after a step that trains w."""
    b = GraphBuilder()
    weight, mean = (b.VarHandleOp(dtype="float", shape=[2], shared_name=name, name=name) for name in ("w", "w/mean"))
    value = b.ReadVariableOp(weight, dtype=dtypes.float32)
    grad = b.Mul(value, b.constant([2.0, 2.0]), name="gradients/loss_grad/mul")
    step = b.apply("ResourceApplyGradientDescent", weight, b.constant(0.1), grad, name="step")
    with b.control_dependencies([step]):
        new = b.ReadVariableOp(weight, dtype=dtypes.float32)
        change = b.Mul(b.Sub(new, b.ReadVariableOp(mean, dtype=dtypes.float32)), b.constant(0.1))
        b.apply("AssignAddVariableOp", mean, change, dtype=dtypes.float32, name="average")
    b.Sum(b.Square(value), b.constant([0]), name="loss")
    slots = {node.name: slot.title for node, slot in Roles(b.graph).slots.items()}
    assert slots == {"w/mean": "moving average of w"}
