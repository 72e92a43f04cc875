"""Planned loops with random ops give what dataflow gives, run by run: the same numbers from the same places of the streams.

tests/cases/order_of_effects.py has TensorFlow's answers.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases.control_flow import loop
from tests.cases.order_of_effects import drawing, drawing_before_a_conditional
from tests.pipelines import function
from tfg.core.building.builder import GraphBuilder
from tfg.core.planning.planner import compile_plan
from tfg.core.runtime.execute import dataflow
from tfg.core.runtime.execute.tiers import Tier
from tfg.core.runtime.session.session import Session
from tfg.core.types.tensors import FuncRef

RUNS = 12


def counting(g, name, limit, samples=2, seed2=5, inner=None, **attrs):
    """A loop that counts to `limit`, and appends draws of `samples` numbers."""

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            shape, one = g.constant(np.int32([samples])), g.constant(1)
        numbers = g.RandomUniform(shape, dtype="float32", seed=3, seed2=seed2)
        if inner is not None:
            numbers = inner(g, numbers)
        return [g.AddV2(values[0], one), g.ConcatV2([values[1], numbers], fixed[1])]

    initial = [g.constant(0), g.constant(np.zeros(0, np.float32))]
    return loop(g, name, initial, [limit, g.constant(0)], lambda values, fixed: g.Less(values[0], fixed[0]), body, **attrs)[1]


def limit_of(g):
    return g.Placeholder(dtype="int32", shape=[], name="limit")


def single(g, **attrs):
    return counting(g, "f", limit_of(g), **attrs)


def two_loops(g):
    """Loops with streams of their own, and with other numbers of iterations."""
    limit = limit_of(g)
    second = counting(g, "h", g.AddV2(limit, g.constant(2)), seed2=6)
    return g.ConcatV2([counting(g, "f", limit), second], g.constant(0))


def draws_before(g):
    """A draw outside of the loop is put back too."""
    before = g.RandomUniform(g.constant(np.int32([3])), dtype="float32", seed=3, seed2=9)
    with g.control_dependencies([before]):
        limit = g.Identity(limit_of(g))
    return g.ConcatV2([before, counting(g, "f", limit)], g.constant(0))


def nested(g):
    def inner(g, numbers):
        with g.control_dependencies([numbers]):
            zero, one, end = (g.constant(i) for i in range(3))

        def body(values, fixed):
            return [g.AddV2(values[0], fixed[1]), g.AddV2(values[1], values[1])]

        return loop(g, "inner", [zero, numbers], [end, one], lambda v, c: g.Less(v[0], c[0]), body)[1]

    return counting(g, "f", limit_of(g), inner=inner)


PLANNED = {
    "one": single,
    "three at a time": lambda g: single(g, parallel_iterations=3),
    "large draws": lambda g: single(g, samples=600),
    "two loops": two_loops,
    "draws before": draws_before,
}


def made(build):
    g = GraphBuilder()
    return g.graph, build(g).name


def runs_of(graph, name, limits):
    """The results, tiers and streams of runs."""
    session = Session(graph)
    results, tiers = [], []
    for limit in limits:
        results.append(session.run(name, {"limit:0": np.int32(limit)}))
        tiers.append(session.tier(name, ["limit:0"]))
    return results, tiers, session.streams()


def assert_as_in_dataflow(build, limits, monkeypatch):
    """Return the tiers of the runs, which give what runs in dataflow give."""
    graph, name = made(build)
    results, tiers, streams = runs_of(graph, name, limits)
    monkeypatch.setattr(dataflow, "_MOST_MISJUDGED", 0)
    expected, plain, right = runs_of(graph, name, limits)
    assert set(plain) == {Tier.DATAFLOW}
    for got, want in zip(results, expected):
        np.testing.assert_array_equal(got, want)
    assert streams == right
    return tiers


@pytest.mark.parametrize("build", PLANNED.values(), ids=PLANNED)
def test_draws_come_in_the_order_of_dataflow(build, monkeypatch):
    tiers = assert_as_in_dataflow(build, [5] * RUNS, monkeypatch)
    assert tiers[0] is Tier.DATAFLOW
    assert tiers[1] is not Tier.DATAFLOW


def test_kernels_that_begin_to_count_as_cheap_change_the_order(monkeypatch):
    tiers = assert_as_in_dataflow(single, [9] * 30, monkeypatch)
    assert tiers.count(Tier.DATAFLOW) > 1
    assert tiers[-1] is not Tier.DATAFLOW


@pytest.mark.sampled(3)
@pytest.mark.parametrize("build", [single, two_loops, draws_before])
@pytest.mark.parametrize("limits", [[5, 5, 7, 7, 7, 3, 3, 0, 0, 4], [0, 0, 6, 6], [5, 6, 7, 8, 9, 5, 5]])
def test_other_numbers_of_iterations_begin_again(build, limits, monkeypatch):
    assert_as_in_dataflow(build, limits, monkeypatch)


def test_loops_that_never_repeat_are_not_tried_for_ever(monkeypatch):
    graph, name = made(single)
    tiers = runs_of(graph, name, [4, 5, 6, 7, 8, 8, 8])[1]
    assert set(tiers) == {Tier.DATAFLOW}


@pytest.mark.parametrize("build", [nested], ids=["nested"])
def test_other_loops_stay_in_dataflow(build, monkeypatch):
    assert set(assert_as_in_dataflow(build, [4] * 4, monkeypatch)) == {Tier.DATAFLOW}


def test_branches_in_a_loop_stay_in_dataflow():
    g = GraphBuilder()
    ((name,), *_) = drawing_before_a_conditional(4, 2)(g)
    plan = compile_plan(g.graph, [g.graph.output(name)])
    assert plan.needs_dataflow
    assert plan.ordered is None


def test_effects_before_the_end_of_the_loop_keep_it_in_dataflow():
    g = GraphBuilder()
    counter = g.VariableV2(shape=[], dtype="int32", name="v")
    with g.control_dependencies([g.AssignAdd(counter, g.constant(1))]):
        limit = g.Identity(g.constant(3))
    plan = compile_plan(g.graph, [counting(g, "f", limit)])
    assert plan.needs_dataflow
    assert plan.ordered is None


def test_a_hook_sees_every_draw():
    graph, name = made(single)
    order = []

    def hook(node, call, inputs):
        order.append(node.op)
        return call(*inputs)

    session = Session(graph)
    for _ in range(3):
        session.run(name, {"limit:0": np.int32(4)})
    session.run(name, {"limit:0": np.int32(4)}, hook=hook)
    assert order.count("RandomUniform") == 4


def test_the_reason_is_told(caplog):
    g = GraphBuilder()
    ((name,), *_) = drawing(3)(g)
    plan = compile_plan(g.graph, [g.graph.output(name)])
    assert plan.why == "'RandomUniform' draws random numbers in several iterations of loop 'f'"
    with caplog.at_level("INFO"):
        Session(g.graph).run(name)
    assert plan.why in caplog.text


def test_a_while_of_handles_alone_draws_as_a_call():
    g = GraphBuilder()
    handle = g.VarHandleOp(dtype="float", shape=(), shared_name="v", container="")
    g.AssignVariableOp(handle, np.float32(0), name="init")

    def body(b, x):
        added = b.AssignAddVariableOp(x, b.RandomUniform(np.int32([]), dtype="float", seed=1, seed2=2))
        with b.control_dependencies([added]):
            return [b.Identity(x)]

    def below_two(b, x):
        return [b.Less(b.ReadVariableOp(x, dtype="float"), np.float32(2))]

    names = {name: FuncRef(function(g, name, ["resource"], make, stateful=True)) for name, make in
             {"cond": below_two, "body": body}.items()}  # fmt: skip
    attrs = {"T": [handle.dtype], "output_shapes": [], "parallel_iterations": 10, "_lower_using_switch_merge": True, **names}
    loop = g.graph.add_node("loop", "While", [handle], (), attrs)
    g.ReadVariableOp(loop.output(0), dtype="float", name="read")
    session = Session(g.graph)
    session.run("init")
    assert session.run("read:0") == np.float32(2.274519)  # TensorFlow 2.21's value
