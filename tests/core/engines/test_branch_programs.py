"""V1 conditionals in loops and functions in XLA. Skipped where JAX is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

from tests.core.engines.test_xla_control_flow import engaged, ops_taken  # noqa: E402
from tests.functions import define  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.support.errors import TfgError  # noqa: E402


def counted(b, times, x, body):
    """Return a V1 loop of `times` iterations from x; `body` of a number, a value and a maker of constants returns the next
    value.
    """

    def constant(value):
        return b.Enter(b.constant(value), frame_name="counted", is_constant=True)

    entered = [b.Enter(value, frame_name="counted") for value in (b.constant(np.int32(0)), x)]
    merged = [b.Merge([value, value])[0] for value in entered]
    goes_on = b.LoopCond(b.Less(merged[0], constant(np.int32(times))))
    switches = [b.Switch(value, goes_on) for value in merged]
    number, value = (b.Identity(switch[1]) for switch in switches)
    after = (b.AddV2(number, constant(np.int32(1))), body(number, value, constant))
    for merge, new in zip(merged, after):
        b.graph.set_input(merge.node, 1, b.NextIteration(new))
    return b.Exit(switches[1][0], name="y")


def chosen(b, takes, value, yes, no):
    """Return a V1 conditional that applies a function out of two to a value."""
    sides = b.Switch(value, takes)
    return b.Merge([no(sides[0]), yes(sides[1])])[0]


def result(graph, feeds):
    """Return the value of y by XLA, which ran the whole graph."""
    session = engaged(graph)
    outcome = session.run("y:0", feeds)
    assert [group.reason for group in session.engine_report().groups] == [None]
    assert {"Switch", "Merge"} <= ops_taken(session)
    return outcome


def test_a_conditional_in_a_loop():
    def body(number, value, constant):
        is_even = b.Equal(b.FloorMod(number, constant(np.int32(2))), constant(np.int32(0)))
        one, two = constant(np.float32(1)), constant(np.float32(2))
        return chosen(b, is_even, value, lambda v: b.AddV2(v, one), lambda v: b.Mul(v, two))

    b = GraphBuilder()
    counted(b, 6, b.Placeholder(dtype="float32", shape=[], name="x"), body)
    assert result(b.graph, {"x:0": 1}) == 22  # 2 4 5 10 11 22


def test_nested_conditionals_and_what_a_branch_hands_on_unchanged():
    def body(number, value, constant):
        zero, ten = constant(np.float32(0)), constant(np.float32(10))
        inner = lambda v: chosen(b, b.Greater(v, ten), v, lambda big: b.Sub(big, ten), lambda small: small)  # noqa: E731
        return b.AddV2(constant(np.float32(3)), chosen(b, b.Greater(value, zero), value, inner, b.Neg))

    b = GraphBuilder()
    counted(b, 4, b.Placeholder(dtype="float32", shape=[], name="x"), body)
    assert result(b.graph, {"x:0": -9}) == 11  # 12 5 8 11


def test_what_a_branch_requires_counts_where_it_is_taken():
    """Twelve divided by 3, 2, 1 and then by 0, where NumPy would refuse the division."""

    def body(number, value, constant):
        divisor = b.Sub(constant(np.int32(3)), number)
        is_zero = b.Equal(divisor, constant(np.int32(0)))
        part = chosen(b, is_zero, divisor, b.Identity, lambda d: b.FloorDiv(constant(np.int32(12)), d))
        return b.AddV2(value, part)

    b = GraphBuilder()
    counted(b, 4, b.Placeholder(dtype="int32", shape=[], name="x"), body)
    assert result(b.graph, {"x:0": 1}) == 23
    b = GraphBuilder()
    counted(b, 4, b.Placeholder(dtype="int32", shape=[], name="x"), lambda n, v, c: b.FloorDiv(v, b.Sub(c(np.int32(3)), n)))
    with pytest.raises(TfgError, match="ivision by zero"):
        engaged(b.graph).run("y:0", {"x:0": 1})


def test_a_loop_on_a_branch_that_is_not_taken_ends():
    """The loop on the untaken branch would double 9 until 8."""
    b = GraphBuilder()
    define(b, "unequal", ["float"], lambda f, a: [f.NotEqual(a, f.constant(np.float32(8)))])
    define(b, "doubled", ["float"], lambda f, a: [f.Mul(a, f.constant(np.float32(2)))])

    def body(number, value, constant):
        def loop(v):
            return b.StatelessWhile([v], cond="unequal", body="doubled")[0]

        is_small = b.Less(value, constant(np.float32(8)))
        return chosen(b, is_small, value, loop, lambda v: b.AddV2(v, constant(np.float32(1))))

    counted(b, 3, b.Placeholder(dtype="float32", shape=[], name="x"), body)
    assert result(b.graph, {"x:0": 1}) == 10


def test_branches_of_several_shapes_where_the_choice_is_known():
    def body(number, value, constant):
        is_matrix = b.Equal(b.Rank(value), constant(np.int32(2)))
        return chosen(b, is_matrix, value, lambda v: b.Neg(v), lambda v: b.Neg(b.ExpandDims(v, constant(np.int32(0)))))

    b = GraphBuilder()
    counted(b, 3, b.Placeholder(dtype="float32", shape=[1, 2], name="x"), body)
    session = engaged(b.graph)
    np.testing.assert_array_equal(session.run("y:0", {"x:0": [[1, 2]]}), [[-1, -2]])
    assert "Neg" in ops_taken(session)


def test_a_conditional_in_a_function():
    b = GraphBuilder()

    def shrunk(f, a):
        half = lambda v: f.Mul(v, f.constant(np.float32(0.5)))  # noqa: E731
        return [chosen(f, f.Greater(a, f.constant(np.float32(4))), a, half, f.Neg)]

    define(b, "shrunk", ["float"], shrunk)
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    b.Exp(b.PartitionedCall([x], Tin=["float32"], Tout=["float32"], f="shrunk")[0], name="y")
    session = engaged(b.graph)
    np.testing.assert_allclose([session.run("y:0", {"x:0": x}) for x in (6, 2)], np.exp([3, -2]), rtol=1e-6)
    assert "PartitionedCall" in ops_taken(session)
