"""Losses over sampled candidates (nce, sampled softmax) and their gradients, beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.gradients import gradients

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
FEEDS = {"x:0": np.int32([1, 3, 1, 7]), "t:0": np.int64([[2], [5], [0], [11]])}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("loss", ["nce_loss", "sampled_softmax_loss"])
def test_as_tensorflow(loss: str, parts: int, use_resource: bool) -> None:
    """The weights in one variable or parted into two; the sampler draws the same candidates from its seed."""
    v1 = tf.compat.v1
    rng = np.random.default_rng(0)

    def variable(name, *shape):
        return v1.get_variable(name, initializer=rng.normal(size=shape).astype(np.float32), use_resource=use_resource)

    with tf.Graph().as_default() as graph:
        v1.set_random_seed(3)
        x, t = v1.placeholder(tf.int32, [4], name="x"), v1.placeholder(tf.int64, [4, 1], name="t")
        table, biases = variable("table", 20, 5), variable("biases", 20)
        weights = [variable(f"weights{i}", 20 // parts, 5) for i in range(parts)]
        sampled = tf.random.log_uniform_candidate_sampler(t, 1, 6, True, 20, seed=5)
        hidden = tf.nn.embedding_lookup(table, x)
        losses = getattr(v1.nn, loss)(weights, biases, t, hidden, 6, 20, sampled_values=sampled, partition_strategy="div")
        tf.reduce_mean(losses, name="loss")
        v1.global_variables_initializer()
        definition = graph.as_graph_def().SerializeToString()
        names = [f"{v.op.name}:0" for v in (table, biases, *weights)]
        theirs = tf.gradients(graph.get_tensor_by_name("loss:0"), [graph.get_tensor_by_name(name) for name in names])
        with v1.Session() as session:
            session.run("init")
            want = session.run(["loss:0", *map(tf.convert_to_tensor, theirs)], FEEDS)
    extended, ours = gradients(tfg.load(definition), "loss:0", names, name="gradients_tfg")
    session = tfg.Session(extended)
    session.run("init")
    for mine, expected in zip(session.run(["loss:0", *ours], FEEDS), want, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-5)
