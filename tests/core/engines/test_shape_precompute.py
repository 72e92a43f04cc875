"""Values that follow from shapes do not wait for groups: random numbers for a group exist when the group begins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.engines.fake_engine import FakeEngine
from tests.core.engines.test_variables import Holding, assert_same_state, started
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.plan_division import clusters, partition
from tfg.core.planning.planner import compile_plan
from tfg.core.runtime.session.session import Session
from tfg.core.types.shapes import Shape


def dropping(shape_of=lambda b, value: b.Shape(value)):
    """Return x doubled with half of the elements dropped; `shape_of` returns the shape of the drawn numbers."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 3], name="x")
    doubled = b.AddV2(x, x, name="doubled")
    drawn = b.RandomUniform(shape_of(b, doubled), dtype="float32", seed=3, seed2=4, name="drawn")
    kept = b.Cast(b.GreaterEqual(drawn, b.constant(np.float32(0.5))), DstT="float32")
    b.Neg(b.Mul(doubled, kept), name="y")
    return b.graph


def counted(b, value):
    """The shape put together of numbers, as code does that knows some of them."""
    rows = b.StridedSlice(b.Shape(value), b.constant([0]), b.constant([1]), b.constant([1]), shrink_axis_mask=1)
    return b.Pack([b.Mul(rows, b.constant(1)), b.constant(3)], axis=0)


def fed_in_part(b, value):
    """The shape times a number that is fed."""
    return b.Mul(b.Shape(value), b.PlaceholderWithDefault(b.constant(np.int32([1, 1])), shape=[2], name="times"))


def groups(graph, engine, *fetches):
    targets = [graph.fetch(name) for name in fetches]
    plan = partition(compile_plan(graph, targets, [graph.output("x:0")]), graph, engine).plan
    return [{step.node.name for step in cluster.body.steps} for cluster in clusters(plan, graph)]


@pytest.mark.parametrize("shape_of", [lambda b, value: b.Shape(value), counted, fed_in_part])
def test_a_group_stays_whole_around_what_is_drawn(shape_of):
    graph = dropping(shape_of)
    (group,) = groups(graph, FakeEngine(), "y:0")
    assert group >= {"doubled", "y"}
    plain, engaged = Session(graph, seed=1), Session(graph, seed=1, engine=FakeEngine())
    for rows in (2, 5, 2, 0):
        x = np.arange(3.0 * rows).reshape(rows, 3)
        np.testing.assert_array_equal(engaged.run("y:0", {"x:0": x}), plain.run("y:0", {"x:0": x}))
    (report,) = engaged.engine_report().groups
    assert (report.runs, report.compiled) == (4, 3)


def test_what_the_shape_follows_from_is_looked_at_in_each_run():
    """Inference knows nothing of how many elements are not 0: they are counted."""
    graph = dropping(lambda b, value: b.Shape(b.Where(value)))
    plain, engaged = Session(graph, seed=1), Session(graph, seed=1, engine=FakeEngine())
    for x in (np.zeros((2, 3)), np.eye(3), np.ones((3, 3))):
        count = np.count_nonzero(x)
        fetches = ["drawn:0", "doubled:0"]
        for result, expected in zip(engaged.run(fetches, {"x:0": x}), plain.run(fetches, {"x:0": x})):
            np.testing.assert_array_equal(result, expected)
        assert engaged.run("drawn:0", {"x:0": x}).shape == plain.run("drawn:0", {"x:0": x}).shape == (count, 2)


def test_a_hook_sees_all_kernels():
    graph = dropping()
    plain, engaged = Session(graph, seed=1), Session(graph, seed=1, engine=FakeEngine())
    seen = []

    def hook(node, call, inputs):
        seen.append(node.name)
        return call(*inputs)

    x = np.ones((4, 3))
    np.testing.assert_array_equal(engaged.run("y:0", {"x:0": x}, hook=hook), plain.run("y:0", {"x:0": x}))
    assert {"doubled", "drawn", "y"} <= set(seen)


@pytest.mark.parametrize("assigns", [False, True])
def test_a_variable_may_get_another_shape(assigns):
    """The shape of a read is computed before the run only if no assignment of the run can change the shape."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    v = b.VarHandleOp(dtype="float32", shape=Shape(), shared_name="v")
    b.AssignVariableOp(v, b.constant(np.ones(2, "f")), name="init")
    with b.control_dependencies([b.AssignVariableOp(v, x, name="assign")] if assigns else []):
        read = b.Neg(b.ReadVariableOp(v, dtype="float32"), name="read")
    drawn = b.RandomUniform(b.Shape(read), dtype="float32", seed=3, seed2=4, name="drawn")
    b.Neg(b.Neg(b.Mul(read, drawn)), name="y")
    engine = Holding()
    assert len(groups(b.graph, engine, "y:0")) == (2 if assigns else 1)
    plain, engaged = started(b.graph), started(b.graph, Holding())
    for size in (3, 4):
        x = np.arange(size)
        np.testing.assert_array_equal(engaged.run("y:0", {"x:0": x}), plain.run("y:0", {"x:0": x}))
    assert_same_state(engaged, plain)
