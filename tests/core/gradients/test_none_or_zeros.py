"""Second gradients are None where no path leads, zeros where one does that counts for nothing: as in TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.types.tensors import FuncRef


def program(make):
    """A graph of a variable `v` of shape [3, 2], `x` of shape [2], and y = make(g, handle, x)."""
    g = GraphBuilder()
    handle = g.VarHandleOp(dtype="float32", shape=[3, 2], name="v")
    g.add("AssignVariableOp", [handle, g.constant(np.arange(6, dtype=np.float32).reshape(3, 2))], {"dtype": "float32"}, "init")
    x = g.PlaceholderWithDefault(g.constant([1.0, 2.0]), shape=[2], name="x")
    g.Identity(make(g, handle, x), name="y")
    return g.graph


def row(g, handle, i):
    return g.ResourceGather(handle, i, dtype="float32")


def loop(step, name="step"):
    """Three iterations of a = step(i, a, handle)."""

    def make(g, handle, x):
        types = ["int32", "float32", "resource"]
        cond = define(g, f"{name}_more", types, lambda b, i, a, h: [b.Less(i, b.constant(3))])
        body = define(g, name, types, lambda b, i, a, h: [b.AddV2(i, b.constant(1)), step(b, i, a, h), h])
        return g.While([g.constant(0), x, handle], cond=FuncRef(cond), body=FuncRef(body), output_shapes=[[], [2], []])[1]

    return make


def inner_loop(step):
    return lambda b, i, a, h: loop(lambda b, i, a, h: step(b, h, a), "inner")(b, h, a)


def call(function):
    return lambda g, handle, x: called(g, function, handle, x)


def called(g, function, handle, x):
    name = define(g, "function", ["resource", "float32"], lambda b, h, a: [function(b, h, a)])
    return g.StatefulPartitionedCall([handle, x], f=FuncRef(name), Tout=["float32"])[0]


def taken(g, function, handle, x):
    """What stands on the branch that is taken."""
    names = {
        "then_branch": FuncRef(define(g, "yes", ["resource", "float32"], lambda b, h, a: [function(b, h, a)])),
        "else_branch": FuncRef(define(g, "no", ["resource", "float32"], lambda b, h, a: [a])),
    }
    return g.If(g.constant(True), [handle, x], Tout=["float32"], **names)[0]


def added(g, handle, x):
    return g.AddV2(x, row(g, handle, g.constant(1)))


def added_by_coordinates(g, handle, x):
    return g.AddV2(x, g.ResourceGatherNd(handle, g.constant([1]), dtype="float32"))


PROGRAMS = {
    "rows added in a loop, whose numbers alone it saves": (
        loop(lambda b, i, a, h: b.AddV2(a, row(b, h, b.Mod(i, b.constant(3))))),
        None,
    ),
    "rows squared in a loop": (
        loop(lambda b, i, a, h: b.AddV2(a, b.Square(row(b, h, b.Mod(i, b.constant(3)))))),
        [[0, 4], [8, 12], [16, 20]],
    ),
    "rows added in a call": (call(lambda b, h, a: b.AddV2(a, row(b, h, b.constant(1)))), None),
    "rows added in a call in a loop": (loop(lambda b, i, a, h: called(b, added, h, a)), None),
    "rows by coordinates added in a call in a loop": (
        loop(lambda b, i, a, h: called(b, added_by_coordinates, h, a)),
        np.zeros((3, 2)),
    ),
    "rows added on a branch in a loop": (loop(lambda b, i, a, h: taken(b, added, h, a)), np.zeros((3, 2))),
    "rows added in a loop in a loop": (loop(inner_loop(added)), np.zeros((3, 2))),
    "rows by coordinates added in a loop in a loop": (loop(inner_loop(added_by_coordinates)), np.zeros((3, 2))),
    "a call that hands its gradient a constant": (
        call(lambda b, h, a: b.Mul(b.AddV2(a, row(b, h, b.constant(1))), b.constant(2.0))),
        np.zeros((3, 2)),
    ),
    "a call that hands its gradient another argument": (
        call(lambda b, h, a: b.AddV2(b.Square(a), row(b, h, b.constant(1)))),
        np.zeros((3, 2)),
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_gradient_by_the_variable(name):
    """Of half the squares of the first: 4v where y is the sum of v * v."""
    make, want = PROGRAMS[name]
    graph, first = gradients(program(make), "y", ["v", "x"], name="first")
    g = GraphBuilder(graph)
    graph, (second,) = gradients(graph, [g.L2Loss(graph.output(grad)).name for grad in first], ["v"], name="second")
    assert (second is None) == (want is None)
    if want is not None:
        session = tfg.Session(graph)
        session.run("init")
        np.testing.assert_allclose(session.run(second), want)


@pytest.mark.parametrize("step", [added, added_by_coordinates])
@pytest.mark.parametrize("within", [called, inner_loop])
def test_second_gradient_by_what_the_rows_are_added_to(step, within):
    """None, though the gradient of the outer loop takes the handle that the inner loop or call hands on."""
    steps = {called: lambda b, i, a, h: called(b, step, h, a), inner_loop: inner_loop(step)}
    graph, first = gradients(program(loop(steps[within])), "y", ["v", "x"], name="first")
    g = GraphBuilder(graph)
    _, second = gradients(graph, [g.L2Loss(graph.output(grad)).name for grad in first], ["x"], name="second")
    assert second == [None]
    session = tfg.Session(graph)
    session.run("init")
    np.testing.assert_allclose(session.run(first[0])[1], 3.0 if within is called else 9.0)


def test_handles_that_change_places():
    """The variables behind handles that iterations hand on in turn get what is read of each: y = x * v * w * v."""
    g = GraphBuilder()
    handles = [g.VarHandleOp(dtype="float32", shape=[2], shared_name=name, name=name) for name in "vw"]
    starts = [g.AssignVariableOp(h, g.constant(value), dtype="float32") for h, value in zip(handles, ([1.5, 2.0], [0.5, 3.0]))]
    g.group(starts, name="init")
    x = g.constant([0.3, 0.4])
    types = ["int32", "float32", "resource", "resource"]
    cond = define(g, "more", types, lambda b, i, a, h, k: [b.Less(i, b.constant(3))])

    def step(b, i, a, h, k):
        return [b.AddV2(i, b.constant(1)), b.Mul(a, b.ReadVariableOp(h, dtype="float32")), k, h]

    body = define(g, "step", types, step)
    g.Identity(g.While([g.constant(0), x, *handles], cond=FuncRef(cond), body=FuncRef(body))[1], name="y")
    graph, names = gradients(g.graph, "y", ["v", "w"])
    session = tfg.Session(graph)
    session.run("init")
    by_v, by_w = session.run(names)
    np.testing.assert_allclose(by_v, [2 * 0.3 * 1.5 * 0.5, 2 * 0.4 * 2 * 3], rtol=1e-6)
    np.testing.assert_allclose(by_w, [0.3 * 1.5**2, 0.4 * 2**2], rtol=1e-6)
