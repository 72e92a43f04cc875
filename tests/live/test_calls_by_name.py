"""Functions of TensorFlow 1, whose calls have the function's name for their op: values and gradients beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.gradients import gradients

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

from tensorflow.python.framework.function import Defun  # noqa: E402 - needs TensorFlow

from tests.core.gradients.programs import control_flow, v1  # noqa: E402

X = np.array([2.0, 3.0])


@Defun(tf.float64)
def cube(x):
    return x * x * x


@Defun(tf.float64)
def outer(x):
    return cube(cube(x)) * 2.0


@Defun(tf.float64, noinline=True)
def apart(x):
    return x * tf.sin(x)


@Defun(tf.float64)
def several(x):
    return x * x, tf.cast(x * 10.0, tf.int32), x * x * x


@Defun(tf.float64, tf.int32)
def with_integer(x, n):
    return x * tf.cast(n, tf.float64) * x


@Defun(tf.float64, tf.float64)
def hundred(x, dy):
    return 100.0 * x * dy


@Defun(tf.float64, grad_func=hundred)
def declared(x):
    return x * x * x


@Defun(tf.float64)
def calls_declared(x):
    return declared(x) * 2.0


@Defun(tf.float64)
def prints(x):
    with tf.control_dependencies([v1.Print(x, [], first_n=0)]):
        return x * x * x


@Defun(tf.float64)
def passes_on(x):
    return x, x * x


def several_read(x):
    a, b, c = several(x)
    return a * tf.cast(b, tf.float64) + c


def captured(x):
    w = tf.constant([3.0, 4.0], tf.float64) * x

    @Defun(tf.float64)
    def product(a):
        return a * a * w

    return product(x)


def in_loop(x):
    body = lambda i, a: (i + 1, tf.ensure_shape(cube(a) * 0.5, [2]))  # noqa: E731
    return v1.while_loop(lambda i, a: i < 2, body, [0, x])[1]


PROGRAMS = {
    "one": cube,
    "nested": outer,
    "not inlined": apart,
    "one of several": lambda x: several(x)[2],
    "several": several_read,
    "integer": lambda x: with_integer(x, tf.constant(3)),
    "declared": declared,
    "calls declared": calls_declared,
    "stateful": prints,
    "passes on": lambda x: passes_on(x)[0] * passes_on(x)[1],
    "captured": captured,
    "loop": in_loop,
    "branch": lambda x: v1.cond(tf.reduce_sum(x) > 0, lambda: cube(x), lambda: x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(name: str) -> None:
    """Its own gradients, and the SymbolicGradient that TensorFlow put there, as they are and optimized."""
    with control_flow(1), tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float64, [2], name="x")
        y = tf.identity(PROGRAMS[name](x), name="y")
        definition = graph.as_graph_def().SerializeToString()
        dx = tf.identity(tf.gradients(y, x)[0], name="dx")
        differentiated = graph.as_graph_def().SerializeToString()
        with v1.Session(graph=graph) as session:
            want = session.run([y, dx], {x: X})
    extended, (grad,) = gradients(tfg.load(definition), "y:0", "x:0")
    result = tfg.Session(extended).run(["y:0", grad], {"x:0": X})
    np.testing.assert_allclose(result, want)
    theirs = tfg.load(differentiated)
    for version in (theirs, tfg.optimize(theirs, ["y", "dx"])[0]):
        np.testing.assert_allclose(tfg.Session(version).run(["y:0", "dx:0"], {"x:0": X}), want)
