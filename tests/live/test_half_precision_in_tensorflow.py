"""TensorFlow runs the graphs that float16 and bfloat16 change, fused kernels of 16-bit floats among them."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.formats.saving import to_bytes

tf = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
X = np.random.default_rng(0).normal(size=(2, 6, 6, 2)).astype(np.float32)


def frozen():
    """Two convolutions and three products, each with a bias and an activation, as TensorFlow freezes them."""
    draw = np.random.default_rng(1)

    def weights(*shape):
        return draw.normal(size=shape).astype(np.float32) / 3

    with tf.Graph().as_default() as graph:
        h = tf.compat.v1.placeholder(tf.float32, (None, 6, 6, 2), name="x")
        for channels, size in ((2, 4), (4, 3)):
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, weights(3, 3, channels, size), 1, "SAME"), weights(size)))
        h = tf.reshape(h, (-1, 108))
        for rows, columns, activation in ((108, 8, tf.nn.relu), (8, 8, tf.tanh), (8, 3, tf.nn.softmax)):
            h = activation(tf.nn.bias_add(h @ weights(rows, columns), weights(columns)))
        tf.identity(h, name="y")
    return graph.as_graph_def()


def in_tensorflow(definition):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(definition, name="")
        return session.run("y:0", {"x:0": X})


@pytest.mark.parametrize("name, dtype", [("float16", "half"), ("bfloat16", "bfloat16")])
def test_tensorflow_runs_a_graph_in_16_bits(name, dtype):
    original = frozen()
    graph, report = tfg.optimize(tfg.load(original.SerializeToString()), ["y:0"], ["x:0"], f"default,{name}")
    products = [(node.op, str(node.attrs["T"])) for node in graph if "Conv2D" in node.op or "MatMul" in node.op]
    assert sorted(products) == [("Conv2D", dtype)] * 2 + [("MatMul", dtype)] + [("_FusedMatMul", dtype)] * 2
    expected, changed = in_tensorflow(original), in_tensorflow(tf.compat.v1.GraphDef.FromString(to_bytes(graph)))
    tolerance = report.tolerance * np.abs(expected).max()
    np.testing.assert_allclose(changed, expected, atol=tolerance)
    np.testing.assert_allclose(tfg.Session(graph).run("y:0", {"x:0": X}), changed, atol=tolerance)
