"""Called functions become nodes of the graph around them, effects and order kept."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests import opcases
from tests.comparison import assert_same as compare
from tests.core.passes.rewriting import assert_same, placeholder, rewritten
from tests.functions import define
from tests.recorded_answers import answers
from tfg.core.passes.pipeline import optimize
from tfg.core.types.tensors import FuncRef


def call(b, name, *values, op="PartitionedCall", types=("float32",)):
    return b.apply(op, list(values), Tout=list(types), f=FuncRef(name))


def test_calls_in_calls():
    def build(b):
        inner = define(b, "inner", ["float32"], lambda g, x: [g.Neg(x)])
        outer = define(b, "outer", ["float32"], lambda g, x: [g.Abs(call(g, inner, x)[0])])
        return call(b, outer, placeholder(b, "x"))[0]

    result = rewritten(build, "inline,dependency,prune")
    assert result.text == "Abs(Neg(x))"
    assert not result.after.functions


def test_a_fetched_call_keeps_its_name():
    def build(b):
        name = define(b, "f", ["float32"], lambda g, x: [g.Neg(x), g.Abs(x)])
        made = call(b, name, placeholder(b, "x"), types=("float32", "float32"))
        return made

    result = rewritten(build, "inline,prune")
    assert "IdentityN" in result.ops()


def test_effects_and_their_order_stay():
    b = tfg.GraphBuilder()
    v = b.variable(np.float32(1), "v", resource=True)
    b.global_variables_initializer()

    def body(g, handle, x):
        write = g.AssignAddVariableOp(handle, x, dtype="float32")
        with g.control_dependencies([write]):
            return [g.ReadVariableOp(handle, dtype="float32")]

    def require_write(graph, name):
        graph.functions[name].control_results.append(graph.functions[name].body.node("AssignAddVariableOp"))

    name = define(b, "add", ["resource", "float32"], body, stateful=True)
    require_write(b.graph, name)
    first = call(b, name, v.handle, placeholder(b, "x", ()), op="StatefulPartitionedCall")[0]
    with b.control_dependencies([first]):
        second = b.ReadVariableOp(v.handle, dtype="float32")
    after, _ = optimize(b.graph, ["init", second.name], ["x:0"])
    assert not any(node.op == "StatefulPartitionedCall" for node in after)
    results = []
    for graph in (b.graph, after):
        session = tfg.Session(graph)
        session.run("init")
        results.append([session.run(second.name, {"x:0": np.float32(2)}).item() for _ in range(2)])
    assert results == [[3, 5], [3, 5]]


def assigning(g, handle, x, p):
    """A write that does not wait for x."""
    return x, g.AssignVariableOp(handle, g.constant(np.float32(5)))


def reading(g, handle, x, p):
    """A read that does not wait for x."""
    read = g.ReadVariableOp(handle, dtype="float32", name="read")
    return g.AddV2(read, x), read.node


def choosing(g, handle, x, p):
    """A conditional, of which TensorFlow lets the branch that does not need x run before x is there."""
    branches = {"then_branch": "adds", "else_branch": "assigns"}
    return x, g.If(p, [handle, x, p], Tout=["float32"], **branches, _lower_using_switch_merge=True, name="choice")[0].node


def with_an_end(b, name, body):
    """Define a function of a handle, a number and a truth value; `body` returns the result and an end of the call."""
    ends = []

    def make(g, handle, x, p):
        result, end = body(g, handle, x, p)
        ends.append(end)
        return [g.Identity(result)]

    define(b, name, ["resource", "float32", "bool"], make, stateful=True)
    b.graph.functions[name].control_results += ends


@pytest.mark.parametrize("body", [assigning, reading, choosing])
def test_accesses_wait_for_the_arguments_of_the_call(body):
    """The argument comes after an update of v: so does all that the call does."""
    b = tfg.GraphBuilder()
    v = b.variable(np.float32(1), "v", resource=True)
    with_an_end(b, "adds", lambda g, handle, x, p: (x, g.AssignAddVariableOp(handle, x)))
    with_an_end(b, "assigns", assigning)
    with_an_end(b, "late", body)
    with b.control_dependencies([b.AssignAddVariableOp(v.handle, b.constant(np.float32(2)))]):
        before = b.ReadVariableOp(v.handle, dtype="float32", name="before")
    p = b.Placeholder(dtype="bool", shape=[], name="p")
    b.Identity(call(b, "late", v.handle, before, p, op="StatefulPartitionedCall")[0], name="y")
    assert tfg.explain_races(b.graph, ["y:0"])[0].races == ()
    after, _ = optimize(b.graph, ["before:0", "y:0"])
    assert not any(node.op == "StatefulPartitionedCall" for node in after)
    assert tfg.explain_races(after, ["before:0", "y:0"])[0].races == ()
    assert all(node.control_inputs for node in after if node.op == "If")


def test_refusals():
    def recursive(b):
        name = define(b, "f", ["float32"], lambda g, x: [g.Neg(x)])
        b.graph.functions[name].body.node("Neg").change_op("Neg")
        inner = tfg.GraphBuilder(b.graph.functions[name].body)
        inner.PartitionedCall([inner.graph.output("Neg:0")], Tout=["float32"], f=FuncRef(name))
        return call(b, name, placeholder(b, "x"))[0]

    assert "calls itself" in rewritten(recursive, "inline").reasons

    def drawing(b):
        name = define(b, "f", ["float32"], lambda g, x: [g.AddV2(x, g.RandomUniform([2, 3], dtype="float32", seed=1))])
        x = placeholder(b, "x")
        return b.AddV2(call(b, name, x)[0], call(b, name, b.Neg(x))[0])

    assert "several places" in rewritten(drawing, "inline").reasons


def test_constants_of_a_body_need_no_control_edges():
    b = tfg.GraphBuilder()
    name = define(b, "f", ["float32"], lambda g, x: [g.Mul(x, 2.0)])
    y = call(b, name, placeholder(b, "x"))[0]
    after, _ = optimize(b.graph, [y.name], ["x:0"])
    assert not any(node.control_inputs for node in after)
    assert_same(b.graph, after, [y.name], {"x:0": np.ones((2, 3), "f")})


@pytest.mark.parametrize("key", ["effects", "only effects", "effects, lowered"])
def test_effects_that_no_result_needs_run_as_recorded(key):
    """A call without results runs them, and a call with results and a lowered conditional leave them out."""
    case = next(case for case in opcases.load_cases("functional") if case.key == key)
    b = tfg.GraphBuilder()
    steps = case.build(b)
    after, _ = optimize(b.graph, [name for step in steps for name in step])
    session = tfg.Session(after)
    for step, recorded in zip(steps, answers("functional").steps(key), strict=True):
        for got, expected in zip(session.run(list(step)), recorded["results"], strict=True):
            compare(got, expected)


def test_reading_a_constant_result_keeps_the_effects_of_the_call():
    """In TensorFlow an effect of a body runs only if the effect leads to a read result or is a control output."""
    b = tfg.GraphBuilder()
    v = b.variable(np.float32(1), "v", resource=True)

    def body(g, handle):
        with g.control_dependencies([g.AssignVariableOp(handle, g.constant(np.float32(5)), dtype="float32")]):
            return [g.Identity(g.constant(np.float32(3)))]

    define(b, "assign", ["resource"], body, stateful=True)
    call = b.StatefulPartitionedCall([v.handle], Tout=["float32"], f="assign")
    total = b.AddV2(call[0], 1.0)
    b.global_variables_initializer()
    after, _ = optimize(b.graph, [total.name, v.value.name, "init"], passes="fold,inline,fold,prune")
    session = tfg.Session(after)
    session.run("init")
    assert session.run(total.name) == 4
    assert session.run(v.value.name) == 5
