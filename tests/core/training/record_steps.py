"""Record twenty steps of TensorFlow's own optimizers on small nets, into steps.json.

    /path/to/tensorflow-venv/bin/python -m tests.core.training.record_steps

The nets: two layers; an embedding whose rows occur several times; one weight in two layers, which the loss also decays.
TF1's optimizers run in V1 graphs, for reference and resource variables. Keras has no V1 form: its optimizers run eagerly.
Nadam of TF1 lay in contrib, and was TensorFlow's update op with two powers: the op is called so here.
"""

import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from tests.core.training.nets import IDS, RATE, ROWS, STEPS, VARIABLES, X, Y, numbers

TARGET = pathlib.Path(__file__).with_name("steps.json")


def two_layers(ids, w0, b0, w1):
    return tf.reduce_mean(tf.square(tf.tanh(tf.matmul(X, w0) + b0) @ w1 - Y))


def embedding(ids, e, w):
    rows = tf.reduce_sum(tf.nn.embedding_lookup(e, ids), 1)
    return tf.reduce_mean(tf.square(tf.tanh(rows) @ w - Y))


def shared(ids, w, v):
    hidden = tf.tanh(tf.tanh(X @ w) @ w)
    return tf.reduce_mean(tf.square(hidden @ v - Y)) + 0.1 * tf.nn.l2_loss(w)


NETS = {"two_layers": two_layers, "embedding": embedding, "shared": shared}


def ids_of(step):
    """The rows of the embedding in a step."""
    return np.roll(IDS, -ROWS * step, 0)[:ROWS]


def eager_steps(net, update):
    """Return the losses of the steps, and the values afterwards, of `update(variables, gradients)`."""
    variables = [tf.Variable(value) for value in VARIABLES[net].values()]
    losses = []
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            loss = NETS[net](ids_of(step), *variables)
        update(variables, [tf.convert_to_tensor(grad) for grad in tape.gradient(loss, variables)])
        losses.append(loss.numpy())
    return numbers(losses, [variable.numpy() for variable in variables])


def nadam():
    """Return an update of TensorFlow's op ApplyAdam with `use_nesterov`."""
    slots, powers = {}, [0.9, 0.999]

    def update(variables, grads):
        for variable, grad in zip(variables, grads):
            m, v = slots.setdefault(variable.ref(), [tf.Variable(tf.zeros_like(variable)) for _ in range(2)])
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, beta1_power=np.float32(powers[0]),
                beta2_power=np.float32(powers[1]), lr=RATE, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=grad, use_nesterov=True,
            )  # fmt: skip
        powers[0], powers[1] = np.float32(powers[0]) * np.float32(0.9), np.float32(powers[1]) * np.float32(0.999)

    return update


def keras(make):
    """Return the update of a Keras optimizer."""
    optimizer = make()
    return lambda variables, grads: optimizer.apply_gradients(zip(grads, variables))


EAGER = {
    "adamw": lambda: keras(lambda: tf.keras.optimizers.AdamW(RATE, weight_decay=0.004)),
    "adamax": lambda: keras(lambda: tf.keras.optimizers.Adamax(RATE, epsilon=1e-8)),
    "nadam": nadam,
}
train = tf.compat.v1.train
OPTIMIZERS = {
    "sgd": lambda: train.GradientDescentOptimizer(RATE),
    "momentum": lambda: train.MomentumOptimizer(RATE, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(RATE, 0.9, use_nesterov=True),
    "adagrad": lambda: train.AdagradOptimizer(RATE),
    "adadelta": lambda: train.AdadeltaOptimizer(RATE, 0.95),
    "rmsprop": lambda: train.RMSPropOptimizer(RATE),
    "adam": lambda: train.AdamOptimizer(RATE),
    "ftrl": lambda: train.FtrlOptimizer(RATE),
}


def graph_steps(net, make, is_resource):
    """Return the losses of the steps, and the values afterwards, of an optimizer of TF1."""
    with tf.Graph().as_default() as graph:
        values = VARIABLES[net].items()
        variables = [tf.compat.v1.Variable(value, name=name, use_resource=is_resource) for name, value in values]
        ids = tf.compat.v1.placeholder(tf.int32, [None, 2])
        loss = NETS[net](ids, *variables)
        optimizer = make()
        update = optimizer.apply_gradients(optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH))
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.global_variables_initializer())
            losses = []
            for step in range(STEPS):
                losses.append(session.run(loss, {ids: ids_of(step)}))
                session.run(update, {ids: ids_of(step)})
            return numbers(losses, session.run(variables))


if __name__ == "__main__":
    recorded = {}
    for net in NETS:
        for name, make in EAGER.items():
            recorded[f"{name}/ref/{net}"] = recorded[f"{name}/resource/{net}"] = eager_steps(net, make())
        for name, make in OPTIMIZERS.items():
            for is_resource in (False, True):
                recorded[f"{name}/{'resource' if is_resource else 'ref'}/{net}"] = graph_steps(net, make, is_resource)
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(recorded.items())]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
