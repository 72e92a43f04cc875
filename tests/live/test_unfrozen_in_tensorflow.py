"""TensorFlow loads and trains the models that `unfreeze` makes of its frozen graphs, by functions and by sessions."""

from __future__ import annotations

import numpy as np
import pytest

import tfg

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 4, 4, 1)


def image_model(x):
    """A convolution, a batch normalization of inference, a branch with a constant, and a dense layer."""
    kernel = v1.get_variable("conv/kernel", initializer=tf.ones((3, 3, 1, 2)) / 9)
    y = tf.nn.conv2d(x, kernel, 1, "SAME")
    gamma, beta, mean, variance = (v1.get_variable(f"bn/{n}", initializer=tf.constant([1.0, 0.5])) for n in "gbmv")
    y, *_ = v1.nn.fused_batch_norm(y, gamma, beta, mean, variance, is_training=False)
    y = v1.cond(tf.reduce_sum(x) > 0, lambda: y * tf.constant([2.0, 3.0]), lambda: y - tf.constant([1.0, 2.0]))
    dense = v1.get_variable("dense/kernel", initializer=tf.ones((32, 3)) / 32)
    return tf.matmul(tf.reshape(y, (-1, 32)), dense, name="y")


def recurrent_model(x):
    """A loop that takes a weight from outside and has a constant inside."""
    w = v1.get_variable("w", initializer=tf.eye(4) / 2)

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w) + tf.constant([[0.1, 0.2, 0.3, 0.4]]))

    rows = tf.reshape(x, (-1, 4))
    _, h = v1.while_loop(lambda i, h: i < 3, body, (0, rows))
    return tf.identity(h, name="y")


def frozen(build, path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.disable_control_flow_v2()
        build(v1.placeholder(tf.float32, (None, 4, 4, 1), name="x"))
        session.run(v1.global_variables_initializer())
        result = session.run("y:0", {"x:0": X})
        message = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    path.write_bytes(message.SerializeToString())
    return result


@pytest.mark.parametrize(
    ("build", "trainable", "left"),
    [
        (image_model, {"conv/kernel", "bn/g", "bn/b", "dense/kernel", "cond/Const"}, set()),  # of the dearer branch
        (recurrent_model, {"w"}, {"while/Const_1"}),
    ],
)
def test_tensorflow_trains_the_model(build, trainable, left, tmp_path):
    expected = frozen(build, tmp_path / "frozen.pb")
    unfrozen = tfg.unfreeze(tmp_path / "frozen.pb")
    assert set(unfrozen.trainable) == trainable and set(unfrozen.left) == left
    tfg.save_model(unfrozen.graph, tmp_path / "model")

    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    np.testing.assert_allclose(serve(tf.constant(X))["y"], expected, rtol=1e-5, atol=1e-6)
    assert {variable.name.removesuffix(":0") for variable in serve.trainable_variables} == trainable
    if build is recurrent_model:  # TensorFlow differentiates no loop of a graph that it imports
        report = tfg.train(tmp_path / "model", "mse(y)", {"x": X, "labels": np.zeros((8, 4), np.float32)}, steps=3)
        assert report.losses[2] < report.losses[0]
        return
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        loss = tf.reduce_mean(graph.get_tensor_by_name("y:0") ** 2)
        step = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
        losses = [session.run([loss, step], {"x:0": X})[0] for _ in range(3)]
    assert losses[2] < losses[0]
