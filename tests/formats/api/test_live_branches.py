"""A constant predicate chooses the branch that is frozen and converted: updates on the other branch are no obstacle."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
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
        g.AssignAddVariableOp(handle, np.float32(1))
        return [g.Mul(x, 4.0)]

    types = ["float32", "resource"]
    then = define(b, "then", types, updated, stateful=True)
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
