"""Loops whose draws come in turn run one iteration after the other, and draw what they would draw by TensorFlow's order."""

import itertools

import numpy as np
import pytest

from tests.cases import order_of_effects as graphs
from tests.cases.control_flow import counted, loop
from tests.functions import define
from tests.opcases import normal
from tfg import Session
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import add_gradients
from tfg.core.planning.planner import compile_plan
from tfg.core.random.philox import Philox
from tfg.core.random.rng_prefetch import Places
from tfg.core.runtime.execute import dataflow
from tfg.core.runtime.execute.recorded_draw_order import DrawRecord
from tfg.core.types.tensors import FuncRef


def built(build):
    g = GraphBuilder()
    return g.graph, build(g)


def plan_of(build):
    graph, (fetches, *_) = built(build)
    return compile_plan(graph, [graph.output(name) for name in fetches])


def results(build, by_steps=True, feeds=()):
    """What each run gives, and how many of them went by dataflow; each run may have feeds of its own."""
    graph, steps = built(build)
    session = Session(graph)
    by_dataflow = []
    run = dataflow._Run.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataflow._Run, "run", lambda self: by_dataflow.append(self) or run(self))
        if not by_steps:
            patch.setattr(dataflow.DataflowProgram, "draws_in_turn", property(lambda self: False))
            patch.setattr(dataflow.DataflowProgram, "_rehearsed_draws", lambda self: None)
        found = [session.run(list(fetches), fed) for fetches, fed in itertools.zip_longest(steps, feeds)]
        return found, len(by_dataflow)


DRAWING = {
    "at once": (graphs.drawing(120, runs=4), 1),
    "after some runs": (graphs.drawing(30, draws=2, runs=6), 4),
    "once": (graphs.drawing(1, runs=97), 95),
    "before a conditional": (graphs.drawing_before_a_conditional(50, runs=8), None),
    "too many numbers": (graphs.drawing(120, samples=600, runs=4), 2),
    "more numbers than are drawn together": (graphs.drawing(60, draws=2, samples=1 << 13, runs=6), 3),
    "one iteration after the other": (graphs.drawing(9, draws=2, runs=3, parallel_iterations=1), 0),
    "in as many iterations as cost nothing": (graphs.drawing(0, runs=4), 4),
}


@pytest.mark.parametrize("kind", DRAWING)
def test_draws_that_come_in_turn_leave_dataflow(kind):
    build, runs_by_dataflow = DRAWING[kind]
    found, count = results(build)
    wanted, _ = results(build, by_steps=False)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert runs_by_dataflow is None or count == runs_by_dataflow


def shaped_by_a_variable(g):
    """How many numbers are drawn follows from what an iteration before computed, without the numbers."""

    def step(values, constants):
        drawn = g.RandomUniform(g.Shape(values[0]), dtype="float32", seed=3, seed2=5)
        return [g.ConcatV2([values[0], values[0]], constants[0]), drawn]

    initial = [g.constant(np.zeros(1, np.float32)), g.constant(np.zeros(1, np.float32))]
    outs = counted(g, "f", 4, initial, [g.constant(0)], step)
    return [[outs[2].name]] * 60


def test_what_decides_over_the_number_of_draws_is_waited_for():
    found, count = results(shaped_by_a_variable)
    wanted, _ = results(shaped_by_a_variable, by_steps=False)
    np.testing.assert_equal(found, wanted)
    assert 20 < count < 60


def until_three(g, name, body, initial, constants):
    """A loop whose body knows its counter."""
    fixed = [g.constant(3), g.constant(1), *map(g.constant, constants)]
    return loop(g, name, [g.constant(0), *map(g.constant, initial)], fixed, lambda v, c: g.Less(v[0], c[0]), body)


def in_an_inner_loop(g):
    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            zero = g.constant(0)
        return [g.AddV2(values[0], fixed[1]), inner_loop(g, [zero, values[1]], fixed[:2])]

    return [[until_three(g, "outer", body, [np.zeros(1, np.float32)], [])[1].name]]


def inner_loop(g, initial, constants):
    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            shape = g.constant(graphs.shape_of(1))
        drawn = g.RandomUniform(shape, dtype="float32", seed=3, seed2=5)
        return [g.AddV2(values[0], fixed[1]), g.AddV2(values[1], drawn)]

    return loop(g, "inner", initial, constants, lambda values, fixed: g.Less(values[0], fixed[0]), body)[1]


def after_a_conditional(g):
    """The draw waits for whichever branch was taken."""

    def step(values, constants):
        left, right = g.Switch(constants[0], g.Less(constants[0], constants[0]))
        merged = g.Merge([g.Neg(left), right])[0]
        return [g.ConcatV2([values[0], g.RandomUniform(merged, dtype="float32", seed=3, seed2=5)], constants[1])]

    outs = counted(g, "f", 4, [g.constant(np.zeros(0, np.float32))], [g.constant([-1]), g.constant(0)], step)
    return [[outs[1].name]]


def in_a_function(g):
    name = define(g, "draw", ["int32"], lambda b, s: [b.RandomUniform(s, dtype="float32", seed=3, seed2=5)])

    def step(values, constants):
        drawn = g.PartitionedCall([constants[0]], Tout=["float32"], f=FuncRef(name))
        return [g.ConcatV2([values[0], drawn[0]], constants[1])]

    outs = counted(g, "f", 4, [g.constant(np.zeros(0, np.float32))], [g.constant([1]), g.constant(0)], step)
    return [[outs[1].name]]


def beside_a_counter(g):
    """A variable counts in the same loop, and the order of both is the executor's."""
    v, _ = graphs.variable(g, np.float32(0))
    held = g.RefEnter(v, frame_name="f", is_constant=True)

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            added, shape = g.AssignAdd(held, g.constant(1.0)), g.constant(graphs.shape_of())
        drawn = g.AddV2(added, g.RandomUniform(shape, dtype="float32", seed=3, seed2=5))
        return [g.AddV2(values[0], fixed[1]), g.AddV2(values[1], drawn)]

    return [[until_three(g, "f", body, [np.float32(0)], [])[1].name]]


@pytest.mark.parametrize("build", [in_an_inner_loop, after_a_conditional, in_a_function, beside_a_counter])
def test_where_being_cheap_is_not_enough_dataflow_stays(build):
    plan = plan_of(build)
    assert plan.needs_dataflow
    assert plan.in_turn is None


def test_hooks_see_dataflow():
    graph, (fetches, *_) = built(graphs.drawing(120))
    session, plain = Session(graph), Session(graph)
    seen = []

    def hook(node, call, inputs):
        seen.append(node.op)
        return call(*inputs)

    for i in range(4):
        drawn = session.run(list(fetches), hook=hook if i % 2 else None)
        np.testing.assert_array_equal(drawn, plain.run(list(fetches)))
    assert seen.count("RandomUniform") == 240
    assert seen.count("NextIteration") == 480


def drawing_as_often_as_fed(g, runs=12):
    """How many iterations there are is fed, and how many numbers each of them draws."""
    count, shape = g.Placeholder(dtype="int32", shape=[], name="count"), g.Placeholder(dtype="float32", name="x")

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            one, axis = g.constant(1), g.constant([0])
        drawn = g.RandomStandardNormal(fixed[1], dtype="float32", seed=3, seed2=5)
        return [g.AddV2(values[0], one), g.ConcatV2([values[1], g.Sum(drawn, axis, keep_dims=True)], fixed[2])]

    initial, constants = [g.constant(0), g.constant(np.zeros(0, np.float32))], [count, g.Shape(shape), g.constant(0)]
    outs = loop(g, "f", initial, constants, lambda values, fixed: g.Less(values[0], fixed[0]), body)
    return [[outs[1].name]] * runs


def test_each_number_of_iterations_and_each_shape_has_an_order_of_its_own():
    runs = [(60, 700), (60, 700), (61, 700), (60, 700), (61, 700), (60, 900), (61, 700), (60, 900), (1, 700), (60, 700)]
    feeds = [{"count:0": count, "x:0": np.zeros(size, np.float32)} for count, size in runs]
    found, count = results(lambda g: drawing_as_often_as_fed(g, len(runs)), feeds=feeds)
    wanted, _ = results(lambda g: drawing_as_often_as_fed(g, len(runs)), by_steps=False, feeds=feeds)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert count == 6


def trained_with_dropout(g):
    """A loop that drops values out, and its gradient: how often that goes back follows from the loop."""
    w = g.constant(normal(30, 30, scale=0.1))

    def step(values, fixed):
        with g.control_dependencies([values[0]]):
            shape = g.constant(graphs.shape_of(30, 30))
        kept = g.Cast(g.Less(g.RandomUniform(shape, dtype="float32", seed=3, seed2=5), fixed[0]), DstT="float32")
        return [g.Mul(g.Tanh(g.MatMul(values[0], fixed[1])), kept)]

    outs = counted(g, "f", 11, [g.constant(normal(30, 30))], [g.constant(np.float32(0.5)), w], step)
    loss = g.Sum(g.Square(outs[1]), g.constant([0, 1]))
    (grad,) = add_gradients(g.graph, [loss], [w])
    return [[loss.name, grad.name]] * 14


def test_the_gradient_of_a_loop_that_draws_follows_it():
    found, count = results(trained_with_dropout)
    wanted, _ = results(trained_with_dropout, by_steps=False)
    for a, b in zip(found, wanted, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert count < 14


def until_large(g):
    """The loop goes on until the numbers that it draws say so."""

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            shape = g.constant(graphs.shape_of(2000))
        drawn = g.Max(g.RandomStandardNormal(shape, dtype="float32", seed=3, seed2=5), fixed[0], keep_dims=True)
        return [g.ConcatV2([values[0], drawn], fixed[1])]

    constants = [g.constant([0]), g.constant(0), g.constant(np.float32(3.7))]
    initial = [g.constant(np.zeros(1, np.float32))]
    return [[loop(g, "f", initial, constants, lambda v, c: g.Less(g.Max(v[0], c[0]), c[2]), body)[0].name]] * 5


def test_loops_that_go_on_until_a_draw_ends_them_have_no_rehearsal():
    assert plan_of(until_large).rehearsal is None


def test_another_run_that_draws_meanwhile_is_no_rehearsal():
    record = DrawRecord(frozenset({"node"}))
    stream = Philox(3, 0)
    for iteration in (1, 0):
        record.iteration = iteration
        record.stream("node", stream).take(8)
    assert record.places() == {"node": Places((1, 0), 8)}
    record.iteration = 2
    record.stream("node", stream).take(8)
    stream.take(8)
    assert record.places() is None


def test_hooked_runs_go_on_where_rehearsed_ones_ended():
    graph, (fetches, *_) = built(graphs.drawing(120, samples=600))
    session, plain = Session(graph), Session(graph)
    for i in range(8):
        hook = (lambda node, call, inputs: call(*inputs)) if i % 3 == 2 else None
        np.testing.assert_array_equal(session.run(list(fetches), hook=hook), plain.run(list(fetches)))
