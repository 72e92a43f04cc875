"""A training graph of TensorFlow, made for inference, gives in TensorFlow the results of the model built for inference."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1
averaging = importlib.import_module("tensorflow.python.training.moving_averages")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 4, 4, 2)


def normalized(x, scope, is_training, is_fused):
    with v1.variable_scope(scope):
        one, zero, shape = v1.ones_initializer(), v1.zeros_initializer(), [x.shape[-1]]
        gamma, beta = (v1.get_variable(name, shape, initializer=one) for name in ("gamma", "beta"))
        mean = v1.get_variable("moving_mean", shape, initializer=zero, trainable=False)
        variance = v1.get_variable("moving_variance", shape, initializer=one, trainable=False)
    if not is_training:
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
    if is_fused:
        y, *statistics = v1.nn.fused_batch_norm(x, gamma, beta, is_training=True)[:3]
    else:
        statistics = tf.nn.moments(x, [0])
        y = tf.nn.batch_normalization(x, *statistics, beta, gamma, 1e-3)
    for average, value in zip((mean, variance), statistics):
        update = averaging.assign_moving_average(average, value, 0.9, zero_debias=False)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, update)
    return y


def net(x, is_training, keep):
    dropout = v1.nn.dropout if is_training else lambda y, **_: y
    y = tf.nn.conv2d(x, v1.get_variable("conv", (3, 3, 2, 4)), 1, "SAME")
    y = dropout(tf.nn.relu(normalized(y, "bn1", is_training, True)), rate=0.4)
    y = tf.matmul(tf.reshape(y, (-1, 64)), v1.get_variable("w", (64, 5)))
    y = dropout(tf.nn.relu(normalized(y, "bn2", is_training, False)), keep_prob=keep)
    return tf.matmul(y, v1.get_variable("w2", (5, 3)), name="logits")


def trained(prefix, is_resource):
    """Write a training graph after five steps, with its checkpoint."""
    random = np.random.default_rng(0)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.disable_control_flow_v2()
        v1.set_random_seed(1)
        v1.get_variable_scope().set_use_resource(is_resource)
        x, labels = v1.placeholder(tf.float32, (None, 4, 4, 2), name="x"), v1.placeholder(tf.float32, (None, 3), name="labels")
        keep = v1.placeholder(tf.float32, (), name="keep_prob")
        loss = tf.reduce_mean(tf.square(net(x, True, keep) - labels), name="loss")
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            step = v1.train.AdamOptimizer(0.05).minimize(loss)
        with tf.control_dependencies([step]):
            train = tf.train.ExponentialMovingAverage(0.8).apply(v1.trainable_variables())
        followed = [variable for variable in v1.global_variables() if "ExponentialMovingAverage" in variable.name]
        session.run([v.initializer for v in v1.global_variables() if v not in followed])
        session.run([v.initializer for v in followed])
        for _ in range(5):
            session.run(train, {x: random.normal(size=(8, 4, 4, 2)), labels: random.normal(size=(8, 3)), keep: 0.7})
        v1.train.Saver().save(session, prefix)


def expected(prefix, averages):
    with tf.Graph().as_default(), v1.Session() as session:
        result = net(tf.constant(X), False, None)
        names = {variable.op.name: variable for variable in v1.global_variables()}
        suffix = "/ExponentialMovingAverage" if averages else ""
        saved = {name if "moving_" in name else name + suffix: variable for name, variable in names.items()}
        v1.train.Saver(saved).restore(session, prefix)
        return session.run(result)


@pytest.mark.parametrize("is_resource", [False, True])
def test_the_model_of_inference(is_resource, tmp_path):
    prefix = str(tmp_path / "model.ckpt")
    trained(prefix, is_resource)
    for options, averages in (((), False), (("--ema",), True)):
        folder = tmp_path / f"model{averages}"
        done = run("convert", prefix + ".meta", f"{folder}/", "--inference", *options, "--state", prefix)
        assert done.code == 0, done.err
        serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
        (result,) = serve(tf.constant(X)).values()
        np.testing.assert_allclose(result, expected(prefix, averages), rtol=1e-4, atol=1e-5)
        assert set(tfg.Model(folder).signature.inputs) == {"x"}
