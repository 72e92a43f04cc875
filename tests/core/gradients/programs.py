"""Ways in which a value gets into the body of a loop, a conditional or a function: programs built with TensorFlow.

Each context takes a function and a tensor of shape [2, 3] and applies the function somewhere inside; contexts nest.
"""

from __future__ import annotations

import contextlib

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
UNOPTIMIZED = v1.ConfigProto()
"""TensorFlow as an oracle runs a graph once: to rewrite gradients of loops first takes most of the time of the run."""
UNOPTIMIZED.graph_options.rewrite_options.disable_meta_optimizer = True


def direct(f, h):
    return f(h)


def call(f, h):
    return tf.function(f)(h)


def taken(f, h):
    return tf.cond(tf.reduce_sum(h) > -100.0, lambda: f(h), lambda: h * 2.0)


def passing(f, h):
    """The branch that is not taken hands its input on."""
    return tf.cond(tf.reduce_sum(h) > 100.0, lambda: h, lambda: f(h))


def twice(f, h):
    """Two conditionals in a row on one predicate."""
    predicate = tf.reduce_sum(h) > -100.0
    h = tf.cond(predicate, lambda: f(h), lambda: h)
    return tf.cond(predicate, lambda: f(h) * 0.5, lambda: h * 2.0)


def case(f, h):
    index = tf.cast(tf.reduce_sum(h) > -100.0, tf.int32)
    return tf.switch_case(index, [lambda: h * 3.0, lambda: f(h), lambda: f(h) * 2.0])


def loop(f, h):
    return tf.while_loop(lambda i, q: i < 3, lambda i, q: (i + 1, f(q)), [tf.constant(0), h])[1]


def mapped(f, h):
    return tf.map_fn(lambda row: f(row[None, :])[0], h)


def scanned(f, h):
    return tf.scan(lambda a, row: f((a + row)[None, :])[0], h)


def folded(f, h):
    return tf.foldl(lambda a, row: a * 0.5 + f(row[None, :]), h, initializer=h)


def array(f, h):
    count = tf.shape(h)[0]
    rows = tf.TensorArray(tf.float32, count, clear_after_read=False).unstack(h)

    def body(i, written):
        return i + 1, written.write(i, f(rows.read(i)[None, :])[0])

    written = tf.while_loop(lambda i, written: i < count, body, [tf.constant(0), tf.TensorArray(tf.float32, count)])[1]
    return tf.ensure_shape(written.stack(), h.shape)


CONTEXTS = {f.__name__: f for f in (direct, call, taken, passing, twice, case, loop, mapped, scanned, folded, array)}
LOOPS = ("loop", "mapped", "scanned", "folded", "array")
INNER = {1: ("direct", "twice", "loop", "array"), 2: ("direct", "call", "case", "loop", "array")}
"""What is nested in each context, by the version of control flow; the others are alike."""
RECORDED = (
    ("call", "loop"),
    ("taken", "loop"),
    ("loop", "twice"),
    ("twice", "direct"),
    ("case", "mapped"),
    ("loop", "array"),
    ("scanned", "call"),
    ("folded", "passing"),
    ("loop", "loop"),
)
SOURCES = ("x:0", "k:0", "w:0", "r:0", "e:0", "er:0", "unused:0")
"""Argument, captured tensor, resource variable, reference variable, both gathered from, and one that nothing reads."""


def program(outer: str, inner: str, version: int):
    """The graph with `y`, TensorFlow's gradients with respect to SOURCES (None where it has none) and the feeds."""
    with control_flow(version), tf.Graph().as_default() as graph:
        # TensorFlow itself fails on rows that are gathered in nested V1 loops.
        gathers = version == 2 or not {outer, inner} <= set(LOOPS)
        used = uses(np.random.default_rng(0), gathers)
        y = CONTEXTS[outer](lambda h: CONTEXTS[inner](used, h), graph.get_tensor_by_name("x:0"))
        tf.identity(y, name="y")
        v1.global_variables_initializer()
        return graph, differentiated(graph, SOURCES)


def uses(rng, gathers):
    """Placeholders and variables, and the function that uses them all."""
    v1.placeholder(tf.float32, [2, 3], name="x")
    k = v1.placeholder(tf.float32, [3], name="k")
    w, r, e, er, _ = (
        v1.get_variable(name, initializer=small(rng, rows, 3), use_resource=name not in ("r", "er"))
        for name, rows in (("w", 3), ("r", 3), ("e", 5), ("er", 5), ("unused", 2))
    )

    def function(h):
        rows = (tf.gather(e, [1, 3, 1])[:1], tf.gather(er, [0, 2])[:1]) if gathers else (e[:1], er[:1])
        return tf.tanh(h @ w + k + (h * h) @ r + rows[0] + rows[1] * h)

    return function


def small(rng, *shape):
    return rng.uniform(-0.5, 0.5, shape).astype(np.float32)


def feeds():
    rng = np.random.default_rng(1)
    return {"x:0": small(rng, 2, 3), "k:0": small(rng, 3)}


def differentiated(graph, sources):
    """The bytes of the graph as it is, and its gradients with respect to `sources`."""
    definition = graph.as_graph_def().SerializeToString()
    grads = tf.gradients(graph.get_tensor_by_name("y:0"), [graph.get_tensor_by_name(name) for name in sources])
    return definition, [None if grad is None else tf.convert_to_tensor(grad) for grad in grads]


def second_gradients(graph, grads, sources):
    """TensorFlow's gradients of half the sum of the squares of gradients."""
    with graph.as_default():
        halves = [tf.nn.l2_loss(grad) for grad in grads if grad is not None]
        result = tf.gradients(halves, [graph.get_tensor_by_name(name) for name in sources])
        return [None if grad is None else tf.convert_to_tensor(grad) for grad in result]


def values(graph, grads, given):
    """What TensorFlow computes for the gradients; None stays None."""
    with v1.Session(graph=graph, config=UNOPTIMIZED) as session:
        session.run("init")
        elements = iter(session.run([grad for grad in grads if grad is not None], given))
    return [None if grad is None else next(elements) for grad in grads]


@contextlib.contextmanager
def control_flow(version: int):
    """Build loops and conditionals of V1 (frames, Switch and Merge) or V2 (functions)."""
    before = v1.control_flow_v2_enabled()
    (v1.enable_control_flow_v2 if version == 2 else v1.disable_control_flow_v2)()
    try:
        yield
    finally:
        (v1.enable_control_flow_v2 if before else v1.disable_control_flow_v2)()
