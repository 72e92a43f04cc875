"""What tests/core/gradients/tensorflow_registry.txt says of TensorFlow's gradients is so, and overrides give TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.core.gradients.test_marks import in_tensorflow
from tfg.core.registry.catalog import CATALOG

tf = pytest.importorskip("tensorflow")
from tensorflow.python.framework import ops  # noqa: E402

pytestmark = pytest.mark.live


def test_the_registry_is_tensorflows() -> None:
    registered = ops.gradient_registry
    theirs = {op: "none" if registered.lookup(op) is None else "function" for op in registered.list() if op in CATALOG}
    assert {op: kind for op, kind in in_tensorflow().items() if op in CATALOG} == theirs


def test_guided_backpropagation_is_that_of_an_override_map() -> None:
    @tf.RegisterGradient("GuidedForTfg")
    def guided(op, grad):
        return tf.where(grad > 0, tf.raw_ops.ReluGrad(gradients=grad, features=op.outputs[0]), tf.zeros_like(grad))

    random = np.random.default_rng(0)
    image, kernel, dense = (random.normal(size=shape).astype(np.float32) for shape in ((1, 6, 6, 2), (3, 3, 2, 4), (64, 3)))
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, image.shape, name="x")
        with graph.gradient_override_map({"Relu": "GuidedForTfg"}):
            y = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "VALID"))
            y = tf.nn.relu(tf.matmul(tf.reshape(y, (1, 64)), dense), name="y")
        expected = session.run(tf.gradients(y, x)[0], {x: image})
        message = graph.as_graph_def().SerializeToString()
    loaded = tfg.override_gradients(tfg.load(message), {"Relu": "guided"})
    extended, (name,) = tfg.gradients(loaded, "y:0", "x:0")
    np.testing.assert_allclose(tfg.Session(extended).run(name, {"x:0": image}), expected, rtol=1e-5, atol=1e-6)
