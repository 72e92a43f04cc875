"""Record training programs of TF1 with TensorFlow's own steps into tf1_graphs.npz.

    /path/to/tensorflow-venv/bin/python -m tests.core.training.record_tf1_graphs

A program is recorded twice: up to the loss, with the losses of TensorFlow's SGD and Adam on it; and with its own training
step, with the loss after each of twenty steps and the variables at the end. All have V1 control flow and, but for some,
reference variables. The predicate `p` changes from step to step.
"""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from tests.core.training.nets import RATE, STEPS, tf1_feeds, waves

v1 = tf.compat.v1
TARGET = pathlib.Path(__file__).with_name("tf1_graphs.npz")


def variable(name, value, **options):
    return v1.get_variable(name, initializer=np.asarray(value), use_resource=options.pop("resource", False), **options)


def squares(output, y):
    return tf.reduce_mean(tf.square(output - y))


def net(x, name="", resource=False):
    """Two layers; the gradient of the first reads the weight of the second."""
    w = variable(f"{name}w0", waves(3, 4), resource=resource)
    b = variable(f"{name}b0", waves(4, start=3), resource=resource)
    v = variable(f"{name}w1", waves(4, 2, start=5), resource=resource)
    return tf.matmul(tf.tanh(tf.matmul(x, w) + b), v)


def stepped(optimizer, loss, **options):
    return optimizer.minimize(loss, gate_gradients=optimizer.GATE_GRAPH, **options)


def sgd():
    return v1.train.GradientDescentOptimizer(RATE)


def averages(x, y, p):
    """Adam, then moving averages of all weights."""
    loss = squares(net(x), y)
    step = stepped(v1.train.AdamOptimizer(RATE), loss)
    with tf.control_dependencies([step]):
        return loss, tf.train.ExponentialMovingAverage(0.9).apply(v1.trainable_variables())


def averages_of_resources(x, y, p):
    loss = squares(net(x, resource=True), y)
    step = stepped(v1.train.MomentumOptimizer(RATE, 0.9), loss)
    with tf.control_dependencies([step]):
        return loss, tf.train.ExponentialMovingAverage(0.9).apply(v1.trainable_variables())


def batch_norm(x, y, p):
    """Moments of the batch or moving moments by the predicate, with updates on the branch that trains."""
    hidden = tf.matmul(x, variable("w", waves(3, 4)))
    mean, var = (
        variable("mean", np.zeros(4, np.float32), trainable=False),
        variable("var", np.ones(4, np.float32), trainable=False),
    )
    gamma = variable("gamma", np.ones(4, np.float32))

    def training():
        m, s = tf.nn.moments(hidden, [0])
        updates = [v1.assign(mean, 0.9 * mean + 0.1 * m), v1.assign(var, 0.9 * var + 0.1 * s)]
        with tf.control_dependencies(updates):
            return tf.identity(m), tf.identity(s)

    m, s = v1.cond(p, training, lambda: (tf.identity(mean), tf.identity(var)))
    normal = tf.nn.batch_normalization(hidden, m, s, None, gamma, 1e-3)
    loss = squares(tf.matmul(tf.tanh(normal), variable("v", waves(4, 2, start=5))), y)
    return loss, stepped(sgd(), loss)


def accumulation(x, y, p):
    """Gradients that are added up, and applied in every fourth step on a branch."""
    loss = squares(net(x), y)
    optimizer = sgd()
    pairs = optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH)
    sums = [variable(f"sum{i}", np.zeros(v.shape, np.float32), trainable=False) for i, (_, v) in enumerate(pairs)]
    count = variable("count", np.int32(0), trainable=False)
    added = [v1.assign_add(total, grad) for total, (grad, _) in zip(sums, pairs)]
    with tf.control_dependencies([*added, v1.assign_add(count, 1)]):
        is_due = tf.equal(count % 4, 0)

    def apply():
        step = optimizer.apply_gradients([(tf.identity(total), v) for total, (_, v) in zip(sums, pairs)])
        with tf.control_dependencies([step]):
            cleared = [v1.assign(total, tf.zeros_like(total)) for total in sums]
        with tf.control_dependencies(cleared):
            return tf.constant(1)

    return loss, v1.cond(is_due, apply, lambda: tf.constant(0)).op


def loss_scale(x, y, p):
    """A scale that doubles with each step, and halves, without a step, where a gradient is large."""
    loss = squares(net(x), y)
    scale = variable("scale", np.float32(8), trainable=False)
    optimizer = sgd()
    pairs = optimizer.compute_gradients(loss * scale, gate_gradients=optimizer.GATE_GRAPH)
    is_small = tf.reduce_max(tf.abs(pairs[-1][0])) < 100.0

    def apply():
        step = optimizer.apply_gradients([(grad / scale, v) for grad, v in pairs])
        with tf.control_dependencies([step]):
            return tf.identity(v1.assign(scale, scale * 2.0))

    return loss, v1.cond(is_small, apply, lambda: tf.identity(v1.assign(scale, scale / 2.0))).op


def recurrent(x, y, p):
    """A weight that a V1 loop reads in each iteration."""
    w, v = variable("w", waves(3, 3)), variable("v", waves(3, 2, start=2))
    hidden = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + x)), [0, x])[1]
    loss = squares(tf.matmul(hidden, v), y)
    return loss, stepped(v1.train.RMSPropOptimizer(RATE), loss)


def decayed_embedding(x, y, p):
    """Rows of an embedding, one weight in two layers, and a rate that decays with the global step."""
    e, w = variable("e", waves(6, 3)), variable("w", waves(3, 3, start=7))
    rows = tf.reduce_sum(tf.nn.embedding_lookup(e, tf.cast(tf.abs(x[:, :2]) * 6, tf.int32)), 1)
    hidden = tf.tanh(tf.matmul(tf.tanh(tf.matmul(rows, w)), w))
    loss = squares(hidden[:, :2], y) + 0.1 * tf.nn.l2_loss(w)
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.1, step, 3, 0.9)
    return loss, stepped(v1.train.AdagradOptimizer(rate), loss, global_step=step)


def clipped(x, y, p):
    """Gradients clipped together."""
    loss = squares(net(x), y)
    optimizer = v1.train.MomentumOptimizer(RATE, 0.9)
    grads, variables = zip(*optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH))
    return loss, optimizer.apply_gradients(zip(tf.clip_by_global_norm(grads, 0.1)[0], variables))


def branches(x, y, p):
    """Another layer on each branch, the first inside another conditional, and counters of both."""
    w, v, u = variable("w", waves(3, 3)), variable("v", waves(3, 3, start=4)), variable("u", waves(3, 2, start=9))
    yes, no = (variable(name, np.float32(0), trainable=False) for name in ("yes", "no"))

    def counted(counter, make):
        with tf.control_dependencies([v1.assign_add(counter, 1.0)]):
            return make()

    def inner():
        return v1.cond(tf.reduce_sum(v) > 0, lambda: tf.tanh(tf.matmul(x, w)), lambda: tf.matmul(x, v))

    hidden = v1.cond(p, lambda: counted(yes, inner), lambda: counted(no, lambda: tf.tanh(tf.matmul(x, v))))
    loss = squares(tf.matmul(hidden, u), y)
    return loss, stepped(sgd(), loss)


def reader(x, y, p):
    """A conditional beside the step that reads a weight on a branch, and keeps the best sum of the other branch."""
    loss = squares(net(x), y)
    best = variable("best", np.float32(-100), trainable=False)
    w = next(v for v in v1.trainable_variables() if v.op.name == "w1")
    total = v1.cond(p, lambda: tf.reduce_sum(w), lambda: tf.identity(v1.assign(best, tf.maximum(best, loss))))
    with tf.control_dependencies([total]):
        return loss, sgd().minimize(loss)


PROGRAMS = (
    averages, averages_of_resources, batch_norm, accumulation, loss_scale, recurrent, decayed_embedding, clipped, branches,
    reader,
)  # fmt: skip
OPTIMIZERS = {"sgd": sgd, "adam": lambda: v1.train.AdamOptimizer(RATE)}


def built(program, optimizer=None):
    """Build a program with its own step, or with an optimizer's, and return the graph up to the loss and as a whole."""
    x = v1.placeholder(tf.float32, [None, 3], "x")
    y = v1.placeholder(tf.float32, [None, None] if program is branches else [None, 2], "y")
    y.set_shape([None, 2])
    p = v1.placeholder(tf.bool, [], "p")
    loss, step = program(x, y, p)
    loss = tf.identity(loss, "loss")
    v1.global_variables_initializer()
    graph = tf.compat.v1.get_default_graph()
    forward = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["loss", "init"])
    step = step if optimizer is None else stepped(optimizer, loss)
    return tf.group(step, name="step"), forward


def recorded(program, optimizer=None):
    """Return the forward graph, the whole graph and its initializer, the loss after each step, the variables at the end, and
    the names of the trained variables.
    """
    with tf.Graph().as_default() as graph:
        step, forward = built(program, optimizer)
        init = v1.global_variables_initializer()
        with v1.Session(graph=graph) as session:
            session.run(init)
            losses = []
            for number in range(STEPS):
                session.run(step, tf1_feeds(number))
                losses.append(session.run("loss:0", {**tf1_feeds(number), "p:0": False}))
            values = {v.op.name: session.run(v) for v in v1.global_variables()}
            trained = [v.op.name for v in v1.trainable_variables()]
        whole = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["loss", "step", init.name])
        return forward, whole, init.name, np.float32(losses), values, trained


if __name__ == "__main__":
    v1.disable_eager_execution()
    v1.disable_control_flow_v2()
    contents = {}
    for program in PROGRAMS:
        key = program.__name__
        _, whole, init, losses, values, trained = recorded(program)
        contents[f"{key}/own/graph"] = np.frombuffer(whole.SerializeToString(), np.uint8)
        contents[f"{key}/own/init"] = np.array(init)
        contents[f"{key}/own/losses"] = losses
        contents[f"{key}/trained"] = np.array(trained)
        contents |= {f"{key}/own/value/{name}": value for name, value in values.items()}
        for name, make in OPTIMIZERS.items():
            forward, *_, losses, _, _ = recorded(program, make())
            contents[f"{key}/forward"] = np.frombuffer(forward.SerializeToString(), np.uint8)
            contents[f"{key}/{name}/losses"] = losses
    np.savez_compressed(TARGET, **contents)
