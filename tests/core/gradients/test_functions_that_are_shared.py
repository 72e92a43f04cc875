"""The functions of calls, conditionals and loops are differentiated once for all that are alike, apart for others."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.gradients import gradients
from tfg.core.gradients.swept_values import origins
from tfg.core.support.errors import ResourceExhaustedError
from tfg.core.types.tensors import FuncRef

FORMS = ("call", "If", "Case", "While")


def apply_form(b, form, name, x):
    """One call of a function on x: by itself, in both branches of a conditional or as the only turn of a loop."""
    if form == "call":
        return b.PartitionedCall([x], Tout=["float32"], f=FuncRef(name))[0]
    if form == "If":
        return b.StatelessIf(True, [x], Tout=["float32"], then_branch=FuncRef(name), else_branch=FuncRef(name))[0]
    if form == "Case":
        return b.StatelessCase(np.int32(1), [x], Tout=["float32"], branches=[FuncRef(name)] * 3)[0]
    return b.StatelessWhile([np.int32(0), x], cond=FuncRef("once"), body=FuncRef(f"{name}_turn"))[1]


def nested(form, depth):
    """The square of x, 1.01 times it 2 ** depth times over: functions call the ones below twice."""
    g = tfg.GraphBuilder()
    define(g, "once", ["int32", "float32"], lambda b, i, x: [b.Less(i, np.int32(1))])

    def add(name, make):
        define(g, name, ["float32"], lambda b, x: [make(b, x)])
        define(g, f"{name}_turn", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, np.int32(1)), make(b, x)])

    add("f0", lambda b, x: b.Mul(x, b.constant(np.float32(1.01))))
    for level in range(1, depth + 1):
        add(f"f{level}", lambda b, x, name=f"f{level - 1}": apply_form(b, form, name, apply_form(b, form, name, x)))
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    y = apply_form(g, form, f"f{depth}", g.Square(x))
    return g.graph, y, x


@pytest.mark.parametrize("form", FORMS)
def test_calls_in_calls_have_the_gradient_of_what_they_compute(form):
    graph, y, x = nested(form, 3)
    graph, [grad] = gradients(graph, y.name, x.name)
    result = tfg.Session(graph).run(grad, {"x": np.float32(3)})
    np.testing.assert_allclose(result, 2 * 3 * 1.01**8, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_each_level_takes_as_many_functions_as_the_one_below(form):
    counts = []
    for depth in (2, 3, 4):
        graph, y, x = nested(form, depth)
        before = len(graph.functions)
        counts.append(len(gradients(graph, y.name, x.name)[0].functions) - before)
    assert counts[2] - counts[1] == counts[1] - counts[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["If", "Case"])
def test_levels_that_would_save_too_much_are_refused(form):
    graph, y, x = nested(form, 40)
    with pytest.raises(ResourceExhaustedError, match="would save"):
        gradients(graph, y.name, x.name)


def test_handles_of_variables_of_other_shapes_are_told_apart():
    """A loop notes the shape of the variable that it reads, and so do the functions that the loop stands in."""
    g = tfg.GraphBuilder()
    types = ["int32", "float32", "resource"]

    def turn(b, i, x, handle):
        squares = b.Square(b.ReadVariableOp(handle, dtype="float32"))
        return [b.AddV2(i, np.int32(1)), b.AddV2(x, b.Sum(squares, np.int32(0))), handle]

    def loop(b, handle):
        start = [b.constant(np.int32(0)), b.constant(np.float32(0)), handle]
        return [b.While(start, cond=FuncRef("thrice"), body=FuncRef("turn"))[1]]

    define(g, "thrice", types, lambda b, i, x, handle: [b.Less(i, np.int32(3))])
    define(g, "turn", types, turn)
    define(g, "f", ["resource"], loop)
    handles = [g.VarHandleOp(dtype="float32", shape=[n], shared_name=f"v{n}", name=f"v{n}") for n in (2, 3)]
    for n, handle in zip((2, 3), handles):
        g.AssignVariableOp(handle, np.arange(1, n + 1, dtype=np.float32), name=f"init{n}")
    y = g.AddV2(*(g.PartitionedCall([handle], Tout=["float32"], f=FuncRef("f"))[0] for handle in handles))
    graph, grads = gradients(g.graph, y.name, [handle.name for handle in handles])
    session = tfg.Session(graph)
    session.run(["init2", "init3"])
    for n, grad in zip((2, 3), session.run(grads)):
        np.testing.assert_array_equal(grad, 6 * np.arange(1, n + 1, dtype=np.float32))


def test_where_a_handle_comes_from_takes_no_time_by_the_calls():
    """Forty functions, each of which hands a handle to the one below twice."""
    g = tfg.GraphBuilder()
    define(g, "h0", ["resource"], lambda b, h: [b.Identity(h)])

    def call(b, name, h):
        branches = {"then_branch": FuncRef(name), "else_branch": FuncRef(name)}
        return b.If(True, [h], Tout=["resource"], **branches)[0]

    for level in range(1, 41):
        define(g, f"h{level}", ["resource"], lambda b, h, name=f"h{level - 1}": [call(b, name, call(b, name, h))])
    handle = g.VarHandleOp(dtype="float32", shape=[2], shared_name="v")
    assert origins(call(g, "h40", handle), g.graph.functions, None) == [handle]
