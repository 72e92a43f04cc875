"""A constant predicate chooses its branch before anything else looks at the graph, and updates on the other branch are no
obstacle to freezing.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.graph.callers import all_nodes
from tfg.core.graph.frames import MERGE, SWITCH
from tfg.core.support.errors import FailedPreconditionError
from tfg.core.types.tensors import FuncRef

X = np.float32([1, 2])


def v1(b, training, x):
    """Return w * x, and in training w after an assignment; a V1 conditional."""
    w = b.variable(np.float32(3), "w")
    reference = b.RefSwitch(w.handle, training)[1]
    updated = b.Assign(reference, b.Switch(b.constant(np.float32(4)), training)[1])
    otherwise = b.Mul(b.Switch(w.value, training)[0], b.Switch(x, training)[0])
    return b.Merge([otherwise, b.Mul(updated, b.Switch(x, training)[1])])[0]


def functional(b, training, x):
    """Return the same by an If in a called function."""
    w = b.variable(np.float32(3), "w", resource=True)

    def updated(g, x, handle):
        g.AssignAddVariableOp(handle, np.float32(1), name="update")
        return [g.Mul(x, 4.0)]

    types = ["float32", "resource"]
    then = define(b, "then", types, updated, stateful=True)
    function = b.graph.functions[then]
    b.graph.functions[then] = dataclasses.replace(function, control_results=[function.body["update"]])
    read = define(b, "read", types, lambda g, x, w: [g.Mul(x, g.ReadVariableOp(w, dtype="float32"))], stateful=True)

    def choice(g, training, x, handle):
        return g.If(
            training, [x, handle], Tout=["float32"], then_branch=FuncRef(then), else_branch=FuncRef(read), output_shapes=[[2]]
        )

    called = define(b, "f", ["bool", *types], choice, stateful=True)
    return b.StatefulPartitionedCall([training, x, w.handle], f=FuncRef(called), Tout=["float32"])[0]


def graph_of(kind, flag):
    """Return the graph of a kind; `flag` computes the predicate from the placeholder `training`."""
    b = tfg.GraphBuilder()
    training = b.Placeholder(dtype="bool", shape=[], name="training")
    b.Identity(kind(b, flag(b, training), b.Placeholder(dtype="float32", shape=[2], name="x")), name="y")
    b.global_variables_initializer(name="init")
    return b.graph


def same(b, training):
    return training


def negated(b, training):
    return b.LogicalNot(b.LogicalNot(training))


@pytest.mark.parametrize("keep_functions", [False, True])
@pytest.mark.parametrize("flag", [same, negated])
@pytest.mark.parametrize("kind", [v1, functional])
def test_the_live_branch_is_frozen(kind, flag, keep_functions):
    graph = tfg.fill_placeholders(graph_of(kind, flag), {"training:0": False})
    frozen = tfg.freeze(graph, {"w": np.float32(3)}, "y:0", keep_functions=keep_functions)
    np.testing.assert_array_equal(tfg.Session(frozen).run("y:0", {"x:0": X}), 3 * X)


@pytest.mark.parametrize("kind", [v1, functional])
def test_the_branch_with_updates_is_refused_while_it_may_run(kind):
    with pytest.raises(FailedPreconditionError):
        tfg.freeze(graph_of(kind, same), {"w": np.float32(3)}, "y:0", keep_functions=True)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("flag", [same, negated])
@pytest.mark.parametrize("kind", [v1, functional])
def test_a_flag_that_is_set_leaves_the_branch_that_runs(kind, flag, training):
    before = graph_of(kind, flag)
    b = tfg.GraphBuilder(before)
    b.Neg(b.Mul(before.output("x:0"), b.constant(np.float32(2), name="two"), name="apart"), name="unread")
    graph = tfg.fill_placeholders(before, {"training:0": training})
    assert not {node.op for node in all_nodes(graph)} & {*SWITCH, *MERGE, "If", "LogicalNot"}
    assert {"training", "y", "two", "apart", "unread"} <= {node.name for node in graph}
    session = tfg.Session(graph)
    session.run("init")
    np.testing.assert_array_equal(session.run("y:0", {"x:0": X}), (4 if training else 3) * X)


def test_callers_of_one_function_choose_their_own_branches():
    """A caller sets the flag, another feeds it, a third has the other constant."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[], name="x")
    flag, fed = (b.Placeholder(dtype="bool", shape=[], name=name) for name in ("flag", "fed"))
    branches = {
        "then_branch": FuncRef(define(b, "then", ["float"], lambda g, x: [g.Neg(x)])),
        "else_branch": FuncRef(define(b, "other", ["float"], lambda g, x: [g.Square(x)])),
    }

    def choice(g, flag, x):
        return g.StatelessIf(flag, [x], Tout=["float"], output_shapes=[[]], **branches)

    def call(g, name, flag, x):
        return g.PartitionedCall([flag, x], f=FuncRef(name), Tout=["float"])

    inner = define(b, "inner", ["bool", "float"], choice)
    outer = define(b, "outer", ["bool", "float"], lambda g, *args: call(g, inner, *args))
    for name, predicate in (("a", flag), ("b", fed), ("c", b.constant(False))):
        b.Identity(call(b, outer, predicate, x)[0], name=name)
    graph = tfg.fill_placeholders(b.graph, {"flag:0": True})
    assert [node.op for node in all_nodes(graph)].count("StatelessIf") == 1
    results = tfg.Session(graph).run(["a:0", "b:0", "c:0"], {"x:0": 3.0, "fed:0": True})
    assert [float(value) for value in results] == [-3.0, -3.0, 9.0]


def test_nothing_else_changes():
    """A constant argument that is no flag stays an argument, and an unread branch of a fed predicate stays."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[], name="x")
    b.Placeholder(dtype="bool", shape=[], name="flag")
    f = define(b, "f", ["float", "float"], lambda g, x, y: [g.Mul(x, y)])
    b.PartitionedCall([x, b.constant(2.0)], f=FuncRef(f), Tout=["float"])
    b.Switch(x, b.Placeholder(dtype="bool", shape=[], name="fed"), name="open")
    graph = tfg.fill_placeholders(b.graph, {"flag:0": True})
    before = {node.name: (node.op, len(node.inputs)) for node in b.graph}
    after = {node.name: (node.op, len(node.inputs)) for node in graph}
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == {"flag"}
