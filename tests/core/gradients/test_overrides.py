"""Other gradients for ops: guided backpropagation, deconvolution, the straight-through estimator, and one's own."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tests.functions import define
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.types.tensors import FuncRef

X = np.float32([-1, 2, 3, -4])
W = np.float32([5, -6, 7, 8])


def rectified(op="Relu"):
    """y = sum of op(x) * w."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[4], name="x")
    g.Sum(g.Mul(g.apply(op, x), W), [0], name="y")
    return g.graph


def gradient(graph, overrides):
    graph, (name,) = tfg.gradients(tfg.override_gradients(graph, overrides), "y:0", "x:0")
    return tfg.Session(graph).run(name, {"x:0": X})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("guided", [0, 0, 7, 0]),  # where the input and what arrives are positive
        ("deconv", [5, 0, 7, 8]),  # where what arrives is positive
        ("straight_through", W),
        ("Identity", W),
        ("Relu", [0, -6, 7, 0]),
    ],
)
def test_the_gradient_of_a_rectifier(name, expected):
    np.testing.assert_array_equal(gradient(rectified(), {"Relu": name}), expected)


def test_a_gradient_gets_through_an_op_that_has_none():
    np.testing.assert_array_equal(gradient(rectified("Sign"), {"Sign": "straight_through"}), W)


def test_other_graphs_and_ops_keep_their_gradients():
    graph = rectified()
    tfg.override_gradients(graph, {"Relu": "guided"})
    np.testing.assert_array_equal(gradient(graph, {"Mul": "guided"}), [0, -6, 7, 0])


def test_nodes_of_functions_have_it_too():
    g = tfg.GraphBuilder()
    define(g, "then", ["float"], lambda b, x: [b.Relu(x)])
    define(g, "other", ["float"], lambda b, x: [b.Neg(x)])
    flag, x = g.Placeholder(dtype="bool", shape=[], name="flag"), g.Placeholder(dtype="float", shape=[4], name="x")
    taken = g.If(flag, [x], then_branch=FuncRef("then"), else_branch=FuncRef("other"), Tout=["float"])[0]
    g.Sum(g.Mul(taken, W), [0], name="y")
    graph, (name,) = tfg.gradients(tfg.override_gradients(g.graph, {"Relu": "guided"}), "y:0", "x:0")
    session = tfg.Session(graph)
    np.testing.assert_array_equal(session.run(name, {"x:0": X, "flag:0": True}), [0, 0, 7, 0])
    np.testing.assert_array_equal(session.run(name, {"x:0": X, "flag:0": False}), -W)


@pytest.mark.parametrize(
    ("overrides", "error", "text"),
    [
        ({"Relu6": "guided"}, NotFoundError, "no node has the op 'Relu6'"),
        ({"Relu": "guidde"}, NotFoundError, "no gradient is called 'guidde'"),
        ({"Sum": "deconv"}, InvalidArgumentError, "for ops of one input"),
        ({"Placeholder": "guided"}, InvalidArgumentError, "has no gradient that could be guided"),
    ],
)
def test_mistakes_are_named(overrides, error, text):
    with pytest.raises(error, match=text):
        tfg.override_gradients(rectified(), overrides)


def test_the_command_line_takes_gradients_of_ones_own(tmp_path):
    tfg.save(rectified(), tmp_path / "g.pb")
    library = tmp_path / "doubled.py"
    library.write_text(
        "from tfg.core.registry.registry import gradient\n"
        '@gradient("Doubled")\n'
        "def doubled(g, node, grad):\n"
        "    return [g.AddV2(grad, grad)]\n"
    )
    line = ("grad", tmp_path / "g.pb", "--y", "y", "--x", "x", "--feed", "x=[-1,2,3,-4]", "--format", "json")
    assert run(*line, "--override", "Relu=guided").json["gradients"][0]["value"] == [0, 0, 7, 0]
    own = run(*line, "--override", "Relu=Doubled", "--op-library", library)
    assert own.json["gradients"][0]["value"] == [10, -12, 14, 16]
    jacobian = run(*line, "--override", "Relu=deconv", "--jacobian").json["derivatives"][0]["jacobian"]
    assert jacobian == [5, 0, 7, 8]
