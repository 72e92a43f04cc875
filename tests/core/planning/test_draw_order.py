"""Loops with draws in turn run iteration by iteration, and draw the numbers of TensorFlow's order."""

import numpy as np
import pytest

from tests.cases import order_of_effects as graphs
from tests.cases.control_flow import counted, loop
from tests.functions import define
from tfg import Session
from tfg.core.building.builder import GraphBuilder
from tfg.core.planning.planner import compile_plan
from tfg.core.runtime.execute import dataflow
from tfg.core.types.tensors import FuncRef


def built(build):
    g = GraphBuilder()
    return g.graph, build(g)


def plan_of(build):
    graph, (fetches, *_) = built(build)
    return compile_plan(graph, [graph.output(name) for name in fetches])


def results(build, by_steps=True):
    """Return the results of each run, and the number of runs by dataflow."""
    graph, steps = built(build)
    session = Session(graph)
    by_dataflow = []
    run = dataflow._DataflowRun.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataflow._DataflowRun, "run", lambda self: by_dataflow.append(self) or run(self))
        if not by_steps:
            patch.setattr(dataflow.DataflowProgram, "draws_in_turn", property(lambda self: False))
        outcomes = [session.run(list(fetches)) for fetches in steps]
        return outcomes, len(by_dataflow)


DRAWING = {
    "at once": (graphs.drawing(120, runs=4), 1),
    "after some runs": (graphs.drawing(30, draws=2, runs=6), 4),
    "once": (graphs.drawing(1, runs=97), 95),
    "before a conditional": (graphs.drawing_before_a_conditional(50, runs=8), None),
    "too many numbers": (graphs.drawing(120, samples=600, runs=4), 4),
    "too many numbers in two draws": (graphs.drawing(60, draws=2, samples=1 << 13, runs=6), 6),
    "one iteration after the other": (graphs.drawing(9, draws=2, runs=3, parallel_iterations=1), 0),
    "in as many iterations as cost nothing": (graphs.drawing(0, runs=4), 4),
}


@pytest.mark.parametrize("kind", DRAWING)
def test_draws_that_come_in_turn_leave_dataflow(kind):
    build, runs_by_dataflow = DRAWING[kind]
    result, count = results(build)
    expected, _ = results(build, by_steps=False)
    for a, b in zip(result, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert runs_by_dataflow is None or count == runs_by_dataflow


def shaped_by_a_variable(g):
    """The number of draws follows from the previous iteration's computation, without the drawn numbers."""

    def step(values, constants):
        drawn = g.RandomUniform(g.Shape(values[0]), dtype="float32", seed=3, seed2=5)
        return [g.ConcatV2([values[0], values[0]], constants[0]), drawn]

    initial = [g.constant(np.zeros(1, np.float32)), g.constant(np.zeros(1, np.float32))]
    outs = counted(g, "f", 4, initial, [g.constant(0)], step)
    return [[outs[2].name]] * 60


def test_what_decides_over_the_number_of_draws_is_waited_for():
    result, count = results(shaped_by_a_variable)
    expected, _ = results(shaped_by_a_variable, by_steps=False)
    np.testing.assert_equal(result, expected)
    assert 20 < count < 60


def until_three(g, name, body, initial, constants):
    """Return a loop whose body reads the counter."""
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
