"""Called functions become nodes of the graph around them, effects and order kept."""

from __future__ import annotations

import numpy as np

import tfg
from tests.core.passes.rewriting import assert_same, placeholder, rewritten
from tests.functions import define
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
