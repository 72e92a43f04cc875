"""First and second gradients by variables that loops read, write or only take: None just where TensorFlow has None."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live
v1 = tf.compat.v1

SOURCES = ["v:0", "x:0"]


def looped(step, more=lambda i, a, v: i < 3):
    def build(v, x):
        return tf.while_loop(lambda i, a: more(i, a, v), lambda i, a: (i + 1, step(i, a, v, x)), [0, x])[1]

    return build


def written(v, amount, value):
    with tf.control_dependencies([v.assign_add(amount * tf.ones([6, 2]))]):
        return tf.identity(value)


def rows(v, i):
    return tf.reduce_sum(tf.gather(v, [i, i + 2]), 0)


PROGRAMS = {
    "rows": looped(lambda i, a, v, x: a * rows(v, i) * x),
    "squares of rows": looped(lambda i, a, v, x: a + rows(v, i) ** 2),
    "all of it added": looped(lambda i, a, v, x: a + tf.reduce_sum(v.read_value(), 0)),
    "both": looped(lambda i, a, v, x: a * v.read_value()[0] + rows(v, i) ** 3),
    "only written": looped(lambda i, a, v, x: written(v, 0.0, a * x)),
    "written with what a loop computes": looped(lambda i, a, v, x: written(v, a[0], a * x)),
    "only its shape": looped(lambda i, a, v, x: a * tf.cast(tf.shape(v.read_value())[0], tf.float32) * x),
    "stopped": looped(lambda i, a, v, x: a * tf.stop_gradient(v.read_value())[0] * x),
    "in the condition": looped(
        lambda i, a, v, x: a * x, lambda i, a, v: tf.cast(i, tf.float32) < 2 * tf.reduce_max(v.read_value())
    ),
    "chosen": looped(lambda i, a, v, x: a * tf.cast(tf.argmax(tf.gather(v, i)), tf.float32) + x),
    "in a loop in a loop": looped(
        lambda i, a, v, x: tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * tf.gather(v, i + j) ** 2), [0, a])[1]
    ),
    "in a conditional": looped(lambda i, a, v, x: tf.cond(i > 1, lambda: a * rows(v, 1) * x, lambda: a * x)),
    "in a call": looped(lambda i, a, v, x: tf.function(lambda b: b * tf.gather(v, 1) ** 2, autograph=False)(a)),
    "in map_fn": lambda v, x: tf.map_fn(
        lambda i: tf.gather(v, i) ** 2 * x, tf.constant([1, 2, 4]), fn_output_signature=tf.float32
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_tensorflow(program):
    definition, want = theirs(PROGRAMS[program])
    graph, first = gradients(tfg.load(definition), "y:0", SOURCES, name="first")
    g = GraphBuilder(graph)
    squares = [g.L2Loss(graph.output(name)).name for name in first if name is not None]
    graph, second = gradients(graph, squares, SOURCES, name="second")
    session = tfg.Session(graph)
    for name, value in zip([*first, *second], want, strict=True):
        session.run("init")
        assert (name is None) == (value is None)
        if name is not None:
            np.testing.assert_allclose(session.run(name), value, rtol=1e-4, atol=1e-5)


def theirs(build):
    """The graph of a program, and TensorFlow's first and second gradients."""
    switched = v1.control_flow_v2_enabled(), v1.resource_variables_enabled()
    v1.enable_control_flow_v2()
    v1.enable_resource_variables()
    try:
        with tf.Graph().as_default() as graph:
            v = v1.get_variable("v", initializer=np.arange(1, 13, dtype=np.float32).reshape(6, 2) / 7)
            x = v1.placeholder_with_default(np.float32([0.3, 0.4]), [2], name="x")
            y = tf.identity(build(v, x), name="y")
            tf.group(v.initializer, name="init")
            definition = graph.as_graph_def().SerializeToString()
            first = tf.gradients(y, [v.handle, x])
            squares = [tf.nn.l2_loss(tf.convert_to_tensor(grad)) for grad in first if grad is not None]
            results = [
                None if grad is None else tf.convert_to_tensor(grad) for grad in first + tf.gradients(squares, [v.handle, x])
            ]
            return definition, [None if grad is None else value_of(graph, grad) for grad in results]
    finally:
        (v1.enable_control_flow_v2 if switched[0] else v1.disable_control_flow_v2)()
        (v1.enable_resource_variables if switched[1] else v1.disable_resource_variables)()


def value_of(graph, tensor):
    with v1.Session(graph=graph) as session:
        session.run("init")
        return session.run(tensor)
