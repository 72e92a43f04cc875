"""Gradients saved with a module beside those that TensorFlow takes of it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.gradients import gradients
from tfg.core.runtime.session.runner import Runner

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

from tests.core.gradients import custom  # noqa: E402 - needs TensorFlow


def test_as_tensorflow(tmp_path: pathlib.Path) -> None:
    want = custom.saved(str(tmp_path))
    graph = tfg.load(str(tmp_path))
    for name, tensor in graph.meta.signatures["serving_default"].outputs.items():
        extended, names = gradients(graph, tensor.tensor, ["serving_default_x:0", "w:0"])
        runner = Runner(tfg.Session(extended))
        runner.assign("w", lambda _: custom.W)
        for mine, theirs in zip(runner.session.run(names, {"serving_default_x:0": custom.X}), want[name], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("op", ["Identity", "Neg"])
def test_the_gradient_of_another_op(op: str) -> None:
    """gradient_override_map gives a rounding the gradient of another op."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [3], name="x")
        with graph.gradient_override_map({"Round": op}):
            y = tf.square(tf.round(x * 3.0), name="y")
        definition = graph.as_graph_def().SerializeToString()
        theirs = tf.gradients(y, x)
        with tf.compat.v1.Session(graph=graph) as session:
            want = session.run(theirs, {x: [0.4, 1.3, -2.2]})
    extended, names = gradients(tfg.load(definition), "y:0", "x:0", name="gradients_tfg")
    np.testing.assert_allclose(tfg.Session(extended).run(names, {"x:0": np.float32([0.4, 1.3, -2.2])}), want, rtol=1e-6)
