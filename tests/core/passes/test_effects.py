"""Passes keep the executed part of a call's or conditional's body when they change the readers of the results.

TensorFlow runs the nodes of a lowered conditional and of an inlined call that lead to results with a reader; a control
input is not a reader. A pass that turns a read into a control edge, or removes the read, therefore removes effects.
"""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.passes.rewriting import placeholder
from tests.functions import define
from tfg.core.passes.pipeline import optimize
from tfg.core.types.tensors import FuncRef

LOWERED = {"_lower_using_switch_merge": True}
OUT = ["float32"] * 4
PASSES = ("default", "fold,structure,arithmetic,dependency")


def body(g, handle, x):
    """Return four results, each except the last behind a separate write, and a write without a result."""

    def after_adding(amount, make):
        with g.control_dependencies([g.AssignAddVariableOp(handle, g.Mul(x, np.float32(amount)), dtype="float32")]):
            return make()

    results = [
        after_adding(1, lambda: g.Square(x)),
        after_adding(10, lambda: g.constant(np.float32([3, 4]))),
        after_adding(100, lambda: g.Fill(g.constant(np.int32([2])), x)),
        g.Neg(x),
    ]
    after_adding(1000, lambda: None)
    return results


def function(b, name, makes=body, controlled=False):
    made = define(b, name, ["resource", "float32"], makes, stateful=True)
    if controlled:
        result = b.graph.functions[made]
        result.control_results.extend(node for node in result.body if node.op == "AssignAddVariableOp")
    return FuncRef(made)


def conditional(op, attrs, constant=False):
    def make(b, handle, x):
        choice = {"If": True, "Case": np.int32(0)}[op.removeprefix("Stateless")]
        if not constant:
            choice = b.PlaceholderWithDefault(choice, shape=[], name="choice")
        branches = [function(b, "yes"), function(b, "no", lambda g, handle, x: [x, g.constant(np.float32([1, 1])), x, x])]
        named = {"branches": branches} if op == "Case" else dict(zip(("then_branch", "else_branch"), branches))
        results = b.apply(op, choice, [handle, x], Tout=OUT, name="call", **named)
        results[0].node.attrs.update(attrs)
        return results

    return make


def call(controlled=False, op="StatefulPartitionedCall"):
    def make(b, handle, x):
        return b.apply(op, [handle, x], Tout=OUT, f=function(b, "f", controlled=controlled), name="call")

    return make


def nested(b, handle, x):
    def outer(g, handle, x):
        result = conditional("If", LOWERED)(g, handle, x)
        with g.control_dependencies([g.Identity(result[0])]):
            first = g.constant(np.float32(2))
        return [first, result[1], result[2], result[3]]

    inner_library = b.graph.functions
    made = define(b, "outer", ["resource", "float32"], outer, stateful=True)
    inner_library.update(b.graph.functions[made].body.functions)
    return b.apply("StatefulPartitionedCall", [handle, x], Tout=OUT, f=FuncRef(made), name="call")


CALLS = {
    "lowered If": conditional("If", LOWERED),
    "If": conditional("If", {}),
    "lowered Case": conditional("Case", LOWERED),
    "lowered If of a constant": conditional("If", LOWERED, constant=True),
    "If of a constant": conditional("If", {}, constant=True),
    "Case of a constant": conditional("Case", {}, constant=True),
    "call": call(),
    "call with control results": call(controlled=True),
    "If in a call": nested,
}


def after(b, *nodes):
    with b.control_dependencies(nodes):
        return b.constant(np.float32(7))


READS = {
    "an Identity is waited for": lambda b, r: after(b, b.Identity(r[0])),
    "an Identity of a known value is waited for": lambda b, r: after(b, b.Identity(r[1])),
    "Identities in a row": lambda b, r: after(b, b.Identity(b.Identity(r[2]))),
    "an Identity is read and waited for": lambda b, r: (lambda i: b.Add(b.Neg(i), after(b, i)))(b.Identity(r[0])),
    "the node is waited for": lambda b, r: after(b, r[0].node),
    "a known value is read": lambda b, r: b.Square(r[1]),
    "a shape is read": lambda b, r: b.Shape(r[2]),
    "what makes no difference": lambda b, r: after(b, b.Mul(r[0], np.float32(1))),
    "times zero": lambda b, r: b.Mul(b.Reshape(r[2], np.int32([-1])), np.float32([0, 0])),
    "less itself": lambda b, r: b.Sub(r[2], r[2]),
    "to a shape that is known": lambda b, r: b.Reshape(b.constant(np.float32([1, 2])), b.Shape(r[2])),
    "to a shape that comes with effects": lambda b, r: b.Reshape(
        b.constant(np.float32([5])), b.Cast(b.Reshape(b.Minimum(r[0], np.float32(1)), np.int32([1])), DstT="int32")
    ),
    "nothing is read but what has no effect": lambda b, r: b.Abs(r[3]),
    "two results": lambda b, r: b.AddV2(r[1], after(b, b.Identity(r[2]))),
    "a NoOp waits": lambda b, r: after(b, b.group([b.Identity(r[0]), b.Identity(r[1])])),
    "an IdentityN": lambda b, r: after(b, b.add("IdentityN", [[r[0], r[1]]], {})),
    "a switch that is known": lambda b, r: b.Select(b.constant(True), b.constant(np.float32(1)), r[0]),
}


def graph_of(call, read):
    b = tfg.GraphBuilder()
    v = b.variable(np.float32(1), "v", resource=True)
    b.global_variables_initializer()
    target = READS[read](b, CALLS[call](b, v.handle, placeholder(b, "x", ())))
    value = b.ReadVariableOp(v.handle, dtype="float32", name="value")
    return b.graph, target.name, value.name


def left_in_variable(graph, target, value):
    session = tfg.Session(graph)
    session.run("init")
    results = [session.run(target, {"x:0": np.float32(number)}) for number in (1, 2)]
    return [*results, session.run(value)]


@pytest.mark.sampled(32)
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("call", CALLS)
def test_just_as_much_runs_as_before(call, read):
    graph, target, value = graph_of(call, read)
    want = left_in_variable(graph, target, value)
    for passes in PASSES:
        optimized, _ = optimize(graph.copy(), ["init", target, value], ["x:0"], passes)
        for got, expected in zip(left_in_variable(optimized, target, value), want, strict=True):
            np.testing.assert_array_equal(got, expected, err_msg=passes)
