"""Constants that become variables: which, with which values, where they are read, and what stays constant."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.types.tensors import FuncRef

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def frozen():
    """A layer by constants, with the Identities that freezing leaves, and constants that are no parameters."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 3], name="x")
    kernel = g.Identity(g.constant(np.eye(3, 2, dtype=np.float32), name="fc/kernel"), name="fc/kernel/read")
    bias = g.Identity(g.constant(np.float32([1, 2]), name="fc/bias"), name="fc/bias/read")
    logits = g.BiasAdd(g.MatMul(x, kernel, name="fc/MatMul"), bias, name="fc/BiasAdd")
    g.Sum(logits, [1], name="y")
    return g.graph


def ran(graph, *fetches, **feeds):
    session = tfg.Session(graph)
    if tfg.explain(graph).variables:
        tfg.initialize(session)
    return session.run(list(fetches), feeds)


def test_parameters_become_variables_of_the_same_values():
    graph = frozen()
    unfrozen = tfg.unfreeze(graph)
    assert list(unfrozen.values) == ["fc/kernel", "fc/bias"] == list(unfrozen.trainable) and unfrozen.left == {}
    assert {node.op for node in graph} >= {"Const"} and not tfg.explain(graph).variables  # the graph itself is as before
    assert [variable.purpose for variable in tfg.explain(unfrozen.graph).variables] == ["trainable"] * 2
    np.testing.assert_array_equal(ran(unfrozen.graph, "y", x=X), ran(graph, "y", x=X))
    report = tfg.train(unfrozen.graph, "mse(y)", {"x": X, "labels": np.float32([0, 0])}, steps=2)
    assert report.losses[-1] < report.losses[0]


@pytest.mark.parametrize("words", ["fc", ["fc/kernel", "fc/bias"]])
def test_layers_and_constants_are_chosen(words):
    assert set(tfg.unfreeze(frozen(), words).values) == {"fc/kernel", "fc/bias"}


def test_a_constant_of_integers_is_a_variable_that_is_not_trained():
    graph = frozen()
    axes = graph["y"].inputs[1].node.name
    unfrozen = tfg.unfreeze(graph, axes)
    assert list(unfrozen.values) == [axes] and unfrozen.trainable == ()


@pytest.mark.parametrize(
    ("word", "error", "text"),
    [("fc/MatMul", InvalidArgumentError, "not a constant"), ("fc/kernal", NotFoundError, "fc/kernal")],
)
def test_what_is_no_constant_is_named(word, error, text):
    with pytest.raises(error, match=text):
        tfg.unfreeze(frozen(), word)


def test_a_graph_without_parameters_is_refused():
    g = tfg.GraphBuilder()
    g.Exp(g.Placeholder(dtype="float", shape=[], name="x"), name="y")
    with pytest.raises(InvalidArgumentError, match="no constant parameters"):
        tfg.unfreeze(g.graph)


def test_averages_are_not_trained():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 4, 4, 2], name="x")
    scale, offset, mean, variance = (
        g.constant(np.float32([1, 2]), name=name) for name in ("scale", "offset", "mean", "variance")
    )
    g.FusedBatchNormV3(x, scale, offset, g.Identity(mean), variance, is_training=False, name="y")
    unfrozen = tfg.unfreeze(g.graph)
    assert set(unfrozen.values) - set(unfrozen.trainable) == {"mean", "variance"}


def test_a_constant_of_a_branch_is_read_in_the_branch():
    """The read waits for what the constant waited for, so the untaken branch has no value."""
    g = tfg.GraphBuilder()
    p = g.Placeholder(dtype="bool", shape=[], name="p")
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    off, on = g.Switch(x, p)
    with g.control_dependencies([g.Identity(on, name="pivot").node]):
        weight = g.constant(np.float32([3, 4]), name="weight")
    g.Merge([off, g.Mul(on, weight)], name="y")
    unfrozen = tfg.unfreeze(g.graph)
    assert list(unfrozen.values) == ["weight"]
    for taken in (True, False):
        np.testing.assert_array_equal(
            ran(unfrozen.graph, "y:0", x=np.float32([1, 1]), p=taken), ran(g.graph, "y:0", x=np.float32([1, 1]), p=taken)
        )


def loop():
    """v * 2 + outside until a sum of at least 20; the 2 is a constant inside of the loop."""
    g = tfg.GraphBuilder()
    outside = g.Enter(g.constant(np.float32([1, 2]), name="outside"), frame_name="loop", is_constant=True)
    start = g.Enter(g.Placeholder(dtype="float", shape=[2], name="x"), frame_name="loop")
    merge = g.graph.add_node("merge", "Merge", [start] * 2, (), {"T": start.dtype, "N": 2})
    with g.control_dependencies([merge]):
        more = g.LoopCond(g.Less(g.Sum(merge.output(), [0]), 20.0))
        inside = g.constant(np.float32([2, 2]), name="inside")
    leaving, staying = g.Switch(merge.output(), more)
    g.graph.set_input(merge, 1, g.NextIteration(g.Add(g.Mul(staying, inside), outside)))
    g.Exit(leaving, name="y")
    return g.graph


def test_a_constant_of_a_loop_stays():
    graph = loop()
    unfrozen = tfg.unfreeze(graph)
    assert list(unfrozen.values) == ["outside"] and unfrozen.left == {"inside": "it lies in a loop"}
    np.testing.assert_array_equal(ran(unfrozen.graph, "y", x=X[0, :2]), ran(graph, "y", x=X[0, :2]))
    with pytest.raises(InvalidArgumentError, match="it lies in a loop"):
        tfg.unfreeze(graph, "inside")


def test_a_constant_of_a_function_stays():
    g = tfg.GraphBuilder()
    args = ["float"]
    weight = np.float32([2, 3])
    then, other = (define(g, name, args, lambda b, x: [b.Mul(x, weight)]) for name in ("then", "other"))
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    choice = g.Placeholder(dtype="bool", shape=[], name="p")
    taken = g.If(choice, [x], then_branch=FuncRef(then), else_branch=FuncRef(other), Tout=args)[0]
    g.Mul(taken, g.constant(weight, name="weight"), name="y")
    unfrozen = tfg.unfreeze(g.graph)
    assert list(unfrozen.values) == ["weight"] and set(unfrozen.left.values()) == {"it lies in a function"}


@pytest.mark.parametrize("value", [np.zeros((0, 3), np.float32), np.float16([1, 2, 3])])
def test_a_written_model_has_the_values(value, tmp_path):
    g = tfg.GraphBuilder()
    g.AddV2(g.Placeholder(dtype=str(value.dtype), shape=value.shape, name="x"), g.constant(value, name="w"), name="y")
    unfrozen = tfg.unfreeze(g.graph, "w")
    tfg.save_model(unfrozen.graph, tmp_path / "model")
    np.testing.assert_array_equal(tfg.read_checkpoint(tmp_path / "model")["w"], value)
