"""Record forward graphs with TensorFlow's gradients of y with respect to x0, x1 ... into recorded.npz.

usage: python -m tests.core.gradients.record_graphs        where tfg and TensorFlow are installed
"""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from tests.core.gradients import conditional_programs, programs

tf.compat.v1.disable_eager_execution()
TARGET = pathlib.Path(__file__).with_name("recorded.npz")


@tf.function
def tanh_layer(x, w):
    return tf.tanh(tf.matmul(x, w)) * 2


def power(x, w):
    return tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [tf.constant(0), x])[1]


def branch(x, w):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, w) ** 2, lambda: tf.matmul(x, w) * x)


def cases(x, w):
    index = tf.cast(tf.reduce_sum(x) > 100, tf.int32)
    return tf.switch_case(index, [lambda: tf.exp(tf.matmul(x, w)), lambda: x])


def nested(x, w):
    def inner(h):
        return tf.while_loop(lambda j, q: j < 2, lambda j, q: (j + 1, q * w[0, 0] + tf.sin(q)), [0, h])[1]

    def body(i, h):
        return i + 1, tf.cond(tf.reduce_sum(h) > 0, lambda: tf.tanh(tf.matmul(h, w)), lambda: inner(h))

    return tf.while_loop(lambda i, h: i < 3, body, [tf.constant(0), x])[1]


def mapped(x, w):
    return tf.map_fn(lambda row: tf.reduce_sum(row[None, :] @ w * row), x)


def looked_up(x, w):
    rows = tf.gather(w, [0, 2, 0])
    return tf.nn.softmax(tf.matmul(x, rows, transpose_b=True)) * tf.reduce_max(x)


def twice(x, w):
    y = tf.matmul(tf.sin(x), w)
    return tf.gradients(tf.reduce_sum(y**3), x)[0] * x


FUNCTIONS = {
    "call": tanh_layer,
    "while": power,
    "cond": branch,
    "case": cases,
    "nested": nested,
    "map": mapped,
    "gather": looked_up,
    "second_order": twice,
}


def record(function, shapes, rng):
    """The forward graph, its feeds and TensorFlow's gradients."""
    feeds = {f"x{i}:0": rng.standard_normal(shape).astype(np.float32) for i, shape in enumerate(shapes)}
    with tf.Graph().as_default() as graph:
        xs = [tf.compat.v1.placeholder(tf.float32, shape, name=f"x{i}") for i, shape in enumerate(shapes)]
        y = tf.identity(function(*xs), name="y")
        definition = graph.as_graph_def().SerializeToString()
        grads = [tf.convert_to_tensor(g) for g in tf.gradients(y, xs) if g is not None]
        with tf.compat.v1.Session(graph=graph) as session:
            return definition, feeds, session.run(grads, feeds)


def of_program(outer, inner, version):
    """The same of a program with variables; the gradients are by programs.SOURCES, but for the last, which has none."""
    graph, (definition, grads) = programs.program(outer, inner, version)
    result = programs.values(graph, grads, programs.feeds())
    assert result[-1] is None and all(grad is not None for grad in result[:-1])
    return definition, programs.feeds(), result[:-1]


def entry(key, definition, feeds, grads):
    """What the archive holds of one program."""
    arrays = {f"{key}/graph": np.frombuffer(definition, np.uint8)}
    arrays |= {f"{key}/feed/{tensor}": value for tensor, value in feeds.items()}
    return arrays | {f"{key}/grad/{i}": value for i, value in enumerate(grads)}


def main():
    rng = np.random.default_rng(0)
    arrays = {}
    for version, control_flow in ((1, tf.compat.v1.disable_control_flow_v2), (2, tf.compat.v1.enable_control_flow_v2)):
        control_flow()
        for name, function in FUNCTIONS.items():
            key = f"{name}_v{version}"
            arrays |= entry(key, *record(function, [(2, 3), (3, 3)], rng))
        for outer, inner in programs.RECORDED:
            arrays |= entry(f"{outer}_{inner}_v{version}", *of_program(outer, inner, version))
    for name in conditional_programs.PROGRAMS:
        definition, cases = conditional_programs.program(name)
        for chosen, (feeds, grads, _) in zip((True, False), cases):
            arrays |= entry(f"{name}_{chosen}_v1", definition, feeds, [grad for grad in grads if grad is not None])
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
