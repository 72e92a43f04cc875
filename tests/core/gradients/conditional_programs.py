"""V1 conditionals in all arrangements: programs of an input [2, 3], a weight [3, 3] and a predicate, built with TensorFlow."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.core.gradients.programs import control_flow, differentiated, second_gradients, small, values

v1 = tf.compat.v1


def dropout_twice(x, w, t):
    def dropout(h):
        return v1.cond(t, lambda: h * tf.constant([[0.0, 2.0, 2.0]]), lambda: h)

    return dropout(dropout(x @ w) @ w)


def batch_norm_twice(x, w, t):
    mov = v1.get_variable("mov", initializer=np.float32([0.1, 0.2, 0.3]), use_resource=False)

    def normalized(h):
        m, v = v1.cond(t, lambda: tf.nn.moments(h, [0]), lambda: (tf.identity(mov), tf.abs(mov) + 1.0))
        return tf.nn.batch_normalization(h, m, v, None, None, 1e-3)

    return normalized(normalized(x @ w) @ w)


def pass_both(x, w, t):
    a, b = v1.cond(t, lambda: (x, x * 2.0), lambda: (x @ w, x))
    return a * b


def nested_same(x, w, t):
    def inner():
        return v1.cond(t, lambda: x @ w, lambda: x * 3.0)

    y = v1.cond(t, inner, lambda: v1.cond(t, lambda: x, lambda: x * x))
    return v1.cond(t, lambda: y * y, lambda: y)


def nested_other(x, w, t):
    q = tf.reduce_sum(x) > 0
    y = v1.cond(t, lambda: v1.cond(q, lambda: x @ w, lambda: x), lambda: v1.cond(q, lambda: x * x, lambda: x @ w * 2.0))
    return v1.cond(q, lambda: y * y, lambda: v1.cond(t, lambda: y, lambda: tf.sin(y)))


def into_loop(x, w, t):
    y = v1.cond(t, lambda: x @ w, lambda: x)
    y = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, v1.cond(t, lambda: h @ w, lambda: h + y)), [0, y])[1]
    return v1.cond(t, lambda: y, lambda: y * y)


def loop_in_branch(x, w, t):
    def f():
        return tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h @ w)), [0, x])[1]

    y = v1.cond(t, f, lambda: x)
    return v1.cond(t, lambda: y * 2.0, lambda: tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, h * h @ w), [0, y])[1])


def two_in_loop(x, w, t):
    def body(i, h):
        q = tf.equal(i % 2, 0)
        h = v1.cond(q, lambda: tf.tanh(h @ w), lambda: h)
        h = v1.cond(q, lambda: h, lambda: tf.sin(h) @ w)
        h = v1.cond(t, lambda: v1.cond(q, lambda: h * h, lambda: h), lambda: h * 2.0)
        return i + 1, h

    return tf.while_loop(lambda i, h: i < 4, body, [0, x])[1]


def case_v1(x, w, t):
    return v1.case([(t, lambda: x @ w), (tf.reduce_sum(x) > 0, lambda: x * x)], default=lambda: x)


def ref_pred(x, w, t):
    p = v1.get_variable("p", initializer=True, use_resource=False, trainable=False)
    y = v1.cond(p, lambda: x @ w, lambda: x)
    y = v1.cond(p, lambda: y * y, lambda: y)
    return tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, v1.cond(p, lambda: h * h, lambda: h)), [0, y])[1]


def logical(x, w, t):
    y = v1.cond(tf.logical_not(t), lambda: x @ w, lambda: x)
    return v1.cond(t, lambda: y * y, lambda: v1.cond(tf.logical_not(t), lambda: y @ w, lambda: y))


def sparse_branch(x, w, t):
    y = v1.cond(t, lambda: tf.gather(w, [0, 1]), lambda: x)
    return v1.cond(t, lambda: y * x, lambda: tf.gather(w, [2, 2]) * y)


def const_branch(x, w, t):
    y = v1.cond(t, lambda: tf.ones([2, 3]), lambda: x @ w)
    z = v1.cond(t, lambda: x, lambda: tf.zeros([2, 3]))
    return y * z + y


def in_call(x, w, t):
    @tf.function
    def f(a):
        y = tf.cond(t, lambda: a @ w, lambda: a)
        return tf.cond(t, lambda: y, lambda: y * y)

    return v1.cond(t, lambda: f(x), lambda: f(x * 2.0))


PROGRAMS = {
    f.__name__: f
    for f in (
        dropout_twice, batch_norm_twice, pass_both, nested_same, nested_other, into_loop, loop_in_branch, two_in_loop, case_v1,
        ref_pred, logical, sparse_branch, const_branch, in_call,
    )
}  # fmt: skip
SOURCES = ("x:0", "w:0")


def program(name: str):
    """The graph as bytes, the feeds for both branches, and TensorFlow's first and second gradients under each.

    None for the second where TensorFlow takes none of V1 loops.
    """
    rng = np.random.default_rng(0)
    with control_flow(1), tf.Graph().as_default() as graph:
        x, t = v1.placeholder(tf.float32, [2, 3], name="x"), v1.placeholder(tf.bool, [], name="t")
        w = v1.get_variable("w", initializer=small(rng, 3, 3), use_resource=len(name) % 2 == 0)
        tf.identity(PROGRAMS[name](x, w, t), name="y")
        v1.global_variables_initializer()
        definition, first = differentiated(graph, SOURCES)
        has_loop = any(op.type == "Enter" for op in graph.get_operations())
        second = None if has_loop else second_gradients(graph, first, SOURCES)
        cases = [{"x:0": small(rng, 2, 3), "t:0": np.bool_(chosen)} for chosen in (True, False)]
        return definition, [(feeds, values(graph, first, feeds), second and values(graph, second, feeds)) for feeds in cases]
