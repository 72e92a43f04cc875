"""Records residual_network.npz: a small ResNet, TensorFlow's loss, gradients and training steps. Needs TensorFlow.

python -m tests.core.engines.record_residual_network
"""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow.compat.v1 as tf

FILE = pathlib.Path(__file__).with_name("residual_network.npz")
RATE, STEPS = 0.05, 4


def weights(name, *shape):
    values = np.random.default_rng(len(name)).normal(0, 0.4, shape)
    return tf.get_variable(name, initializer=values.astype(np.float32), use_resource=True)


def normalized(x, name):
    count = x.shape[-1]
    scale = tf.get_variable(f"{name}/gamma", initializer=np.linspace(0.5, 1.5, count, dtype=np.float32), use_resource=True)
    offset = tf.get_variable(f"{name}/beta", initializer=np.linspace(-0.2, 0.2, count, dtype=np.float32), use_resource=True)
    return tf.nn.fused_batch_norm(x, scale, offset, is_training=True)[0]


def build():
    """A convolution, a residual block of two, pooling and a classifier, with batch normalization in training mode."""
    x = tf.placeholder(tf.float32, [None, 12, 12, 3], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    stem = tf.nn.relu(normalized(tf.nn.conv2d(x, weights("stem/kernel", 3, 3, 3, 8), 2, "SAME"), "stem"))
    pooled = tf.nn.max_pool2d(stem, 3, 1, "SAME")
    inner = tf.nn.relu(normalized(tf.nn.conv2d(pooled, weights("block/one/kernel", 3, 3, 8, 8), 1, "SAME"), "block/one"))
    block = normalized(tf.nn.conv2d(inner, weights("block/second/kernel", 1, 1, 8, 8), 1, "SAME"), "block/second")
    features = tf.reduce_mean(tf.nn.avg_pool2d(tf.nn.relu(pooled + block), 2, 2, "VALID"), [1, 2])
    logits = tf.add(tf.matmul(features, weights("classifier/kernel", 8, 5)), weights("classifier/bias", 5), name="logits")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return x, labels, tf.reduce_mean(losses, name="loss")


def main() -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        x, labels, loss = build()
        variables = tf.trainable_variables()
        gradients = tf.gradients(loss, variables)
        train = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        session.run(tf.global_variables_initializer())
        rng = np.random.default_rng(0)
        feeds = {x: rng.normal(size=(6, 12, 12, 3)).astype(np.float32), labels: np.int32([0, 1, 2, 3, 4, 0])}
        names = [variable.op.name for variable in variables]
        recorded = {f"variable/{name}": value for name, value in zip(names, session.run(variables))}
        recorded |= {f"gradient/{name}": value for name, value in zip(names, session.run(gradients, feeds))}
        recorded["rate"] = np.float32(RATE)
        recorded["losses"] = np.float32([session.run([loss, train], feeds)[0] for _ in range(STEPS)])
        recorded |= {f"trained/{name}": value for name, value in zip(names, session.run(variables))}
        definition = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["loss"])
        recorded["graph"] = np.frombuffer(definition.SerializeToString(), np.uint8)
        np.savez_compressed(FILE, x=feeds[x], labels=feeds[labels], **recorded)
        print(recorded["losses"], FILE.stat().st_size)


if __name__ == "__main__":
    main()
