"""Training graphs made for inference: what is decided, and what is left to the user."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.tensors import FuncRef

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def decided(graph, *outputs, **options):
    return tfg.to_inference(graph, outputs, **options)


def ran(graph, fetch, **feeds):
    session = tfg.Session(graph)
    if tfg.explain(graph).variables:
        tfg.initialize(session)
    return session.run(f"{fetch}:0", feeds)


@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [
        ("is_training", "bool", False), ("net/phase_train", "bool", False), ("isTraining", "bool", False),
        ("keras_learning_phase", "bool", False), ("training", "int32", 0), ("is_test", "bool", True),
        ("inference_mode", "bool", True), ("keep_prob", "float", 1.0), ("KeepProb", "half", 1.0),
        ("dropout_rate", "float", 0.0),
    ],
)  # fmt: skip
def test_flags_are_known_by_their_names(name, dtype, value):
    g = tfg.GraphBuilder()
    flag = g.Placeholder(dtype=dtype, shape=[], name=name)
    g.Identity(flag, name="y")
    result = decided(g.graph, "y")
    assert result.settings == {name: value} and result.decisions[0].keeps_results
    assert ran(result.graph, "y") == value


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("constrained", "bool", []), ("x", "bool", []), ("training", "float", []), ("training", "bool", [3]),
        ("train_x", "string", []), ("train_steps", "int32", []), ("learning_rate", "float", []),
    ],
)  # fmt: skip
def test_other_placeholders_stay(name, dtype, shape):
    g = tfg.GraphBuilder()
    g.Identity(g.Placeholder(dtype=dtype, shape=shape, name=name), name="y")
    result = decided(g.graph, "y")
    assert result.settings == {} and name in result.graph
    assert [one.node for one in result.decisions if one.is_left] == ([name] if dtype == "bool" and not shape else [])


def averaged(is_resource, update):
    """y = x - mean(x), while an update lets the variable `average`, at first 1, follow the mean; a loss, and its gradient."""
    g = tfg.GraphBuilder()
    x, labels = (g.Placeholder(dtype="float", shape=[None, 2], name=name) for name in ("x", "labels"))
    average = g.variable(np.float32([1, 1]), name="average", resource=is_resource, trainable=False)
    w = g.variable(np.float32([[1, 0], [0, 1]]), name="w", resource=is_resource)
    mean = g.Mean(x, [0], name="mean")
    assign = g.AssignSubVariableOp if is_resource else g.AssignSub
    if update == "difference":
        done = assign(average, g.Mul(g.Sub(average, mean), 0.1), name="update")
    else:
        mixed = g.AddV2(g.Mul(average, 0.9), g.Mul(mean, 0.1))
        done = (g.AssignVariableOp if is_resource else g.Assign)(average, mixed, name="update")
    node = done if isinstance(done, tfg.Node) else done.node
    with g.control_dependencies([node]):
        y = g.MatMul(g.Sub(x, mean), w, name="y")
    loss = g.Mean(g.Square(g.Sub(y, labels)), [0, 1], name="loss")
    return tfg.gradients(g.graph, loss.name, w.value.name)[0]


@pytest.mark.parametrize("is_resource", [False, True])
@pytest.mark.parametrize("update", ["difference", "mixture"])
def test_averages_take_the_place_of_statistics_and_updates_go(is_resource, update):
    graph = averaged(is_resource, update)
    result = decided(graph, "y")
    changes = {one.node: one.change for one in result.decisions}
    assert changes["mean"] == "its average average takes its place" and changes["update"] == "is gone"
    assert changes["labels"] == "is gone" and "labels" not in result.graph and "loss" not in result.graph
    np.testing.assert_allclose(ran(result.graph, "y", x=X), X - 1)


def test_the_result_that_a_loss_compares_is_found():
    graph = averaged(False, "difference")
    assert decided(graph).outputs == ("y:0",)


def test_an_update_that_tells_nothing_of_training_stays():
    g = tfg.GraphBuilder()
    state = g.variable(np.float32(2), name="state", resource=True)
    done = g.AssignAddVariableOp(state, g.Placeholder(dtype="float", shape=[], name="x"), name="update")
    with g.control_dependencies([done if isinstance(done, tfg.Node) else done.node]):
        g.Identity(g.ReadVariableOp(state, dtype="float"), name="y")
    result = decided(g.graph, "y")
    assert [one.node for one in result.decisions if one.is_left] == ["update"]
    assert ran(result.graph, "y", x=np.float32(3)) == 5


def test_a_batch_normalization_without_averages_is_left():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 2, 2, 2], name="x")
    one, none = np.ones(2, np.float32), np.zeros(0, np.float32)
    g.Identity(g.FusedBatchNormV3(x, one, one, none, none, is_training=True, name="bn")[0], name="y")
    result = decided(g.graph, "y")
    assert [(one.node, one.is_left) for one in result.decisions] == [("bn", True)]
    assert result.graph["bn"].attrs["is_training"] is True


def test_moving_averages_take_the_place_of_variables():
    g = tfg.GraphBuilder()
    w = g.variable(np.float32([1, 2]), name="w", resource=True)
    g.variable(np.float32([10, 20]), name="w/ExponentialMovingAverage", resource=True)
    g.Mul(g.Placeholder(dtype="float", shape=[2], name="x"), w, name="y")
    np.testing.assert_array_equal(ran(decided(g.graph, "y").graph, "y", x=np.float32([1, 1])), [1, 2])
    result = decided(g.graph, "y", averages=True)
    np.testing.assert_array_equal(ran(result.graph, "y", x=np.float32([1, 1])), [10, 20])
    assert not result.decisions[0].keeps_results


def test_averages_that_are_not_there_are_an_error():
    g = tfg.GraphBuilder()
    g.Mul(g.Placeholder(dtype="float", shape=[2], name="x"), g.variable(np.float32([1, 2])), name="y")
    with pytest.raises(InvalidArgumentError, match="no moving averages"):
        decided(g.graph, "y", averages=True)


def test_a_flag_decides_in_functions():
    g = tfg.GraphBuilder()
    args = ["float"]
    then = define(g, "then", args, lambda b, x: [b.Mul(x, np.float32(5))])
    other = define(g, "other", args, lambda b, x: [b.Neg(x)])
    flag = g.Placeholder(dtype="bool", shape=[], name="training")
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    g.Identity(g.If(flag, [x], then_branch=FuncRef(then), else_branch=FuncRef(other), Tout=args)[0], name="y")
    result = decided(g.graph, "y")
    assert "If" not in {node.op for node in result.graph}
    np.testing.assert_array_equal(ran(result.graph, "y", x=X[1]), -X[1])
