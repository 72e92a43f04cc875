"""Every form of loop and conditional around smooth functions of a vector of two doubles: programs built with TensorFlow.

usage: python -m tests.core.gradients.loop_forms        records RECORDED into loop_forms.npz
"""

from __future__ import annotations

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.function import Defun

from tests.core.gradients.programs import control_flow

v1 = tf.compat.v1
TARGET = pathlib.Path(__file__).with_name("loop_forms.npz")
_SHAPES = [tf.TensorShape([]), tf.TensorShape(None)]


def repeated(times, f, x, **options):
    """What `f` makes of `x`, time and again; it takes the counter, too."""
    return v1.while_loop(lambda i, a: i < times, lambda i, a: [i + 1, f(i, a)], [0, x], **options)[1]


def power(x):
    return repeated(3, lambda i, a: a * x, x)


def no_iteration(x):
    return repeated(0, lambda i, a: tf.sin(a) * x, x**3)


def one_at_a_time(x):
    return repeated(3, lambda i, a: tf.sin(a) * x, x, parallel_iterations=1)


def several_variables(x):
    def body(i, a, b):
        return i + 1, a * b, tf.sin(b) + a * x

    _, a, b = v1.while_loop(lambda i, a, b: i < 3, body, [0, x, x * x])
    return a * b


def invariants(x):
    y, z = x * x, tf.sin(x)
    return repeated(3, lambda i, a: a * y + z, x)


def unread_variable(x):
    return v1.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b * x), [0, x, x])[1]


def until_large(x):
    return v1.while_loop(lambda a: tf.reduce_sum(a) < 50.0, lambda a: [a * x + a], [x])


def growing(x):
    grown = repeated(
        2, lambda i, a: tf.concat([a, tf.sin(a) * a], 0), x, shape_invariants=[_SHAPES[0], tf.TensorShape([None])]
    )
    return tf.reshape(tf.reduce_sum(grown * grown), [1]) * x


def broadcasting(x):
    return repeated(3, lambda i, a: a * x[0] + tf.reduce_sum(a), x)


def nested(x):
    return repeated(2, lambda i, a: repeated(2, lambda j, b: tf.sin(b) * a * x, a) + a, x)


def nested_thrice(x):
    def middle(a, b):
        return repeated(2, lambda k, c: c * b * tf.cos(x), b) + tf.sin(a * b)

    return repeated(2, lambda i, a: repeated(2, lambda j, b: middle(a, b), a), x)


def branch(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: x**4, lambda: x)


def nested_branch(x):
    def outer():
        return v1.cond(tf.reduce_sum(x) > 1, lambda: x**3 * tf.exp(x), lambda: x) * x

    return v1.cond(tf.reduce_sum(x) > 0, outer, lambda: x)


def cases(x):
    return tf.switch_case(tf.cast(tf.reduce_sum(x) > 0, tf.int32), [lambda: x, lambda: x**3 * tf.sin(x), lambda: x * 2.0])


def by_turns(i, first, second):
    return v1.cond(tf.equal(i % 2, 0), first, second)


def branch_in_loop(x):
    return repeated(4, lambda i, a: by_turns(i, lambda: tf.sin(a) * x, lambda: a * a), x)


def nested_branch_in_loop(x):
    def inner(i, a):
        return v1.cond(i > 1, lambda: tf.sin(a) * x * a, lambda: a * x * x)

    return repeated(4, lambda i, a: by_turns(i, lambda: inner(i, a), lambda: a * a), x)


def loop_in_branch(x):
    return v1.cond(tf.reduce_sum(x) > 0, lambda: one_at_a_time(x), lambda: x * x)


def loop_in_branch_not_taken(x):
    return v1.cond(tf.reduce_sum(x) < 0, lambda: one_at_a_time(x), lambda: x**3)


def loop_in_branch_in_loop(x):
    def inner(a):
        return repeated(2, lambda j, b: tf.sin(b) * a, a * x)

    return repeated(3, lambda i, a: by_turns(i, lambda: inner(a), lambda: a * x), x)


def branch_in_condition(x):
    go_on = v1.placeholder_with_default(True, [])

    def condition(i, a):
        return v1.cond(go_on, lambda: i < 3, lambda: False)

    return v1.while_loop(condition, lambda i, a: [i + 1, tf.sin(a) * x], [0, x])[1]


def value_in_condition(x):
    def condition(i, a):
        return v1.cond(i < 2, lambda: tf.reduce_sum(a) < 100.0, lambda: False)

    return v1.while_loop(condition, lambda i, a: [i + 1, tf.sin(a) * x], [0, x])[1]


def loop_in_condition(x):
    def condition(i, a):
        return repeated(2, lambda j, s: s + i, 0) < 5

    return v1.while_loop(condition, lambda i, a: [i + 1, a * tf.sin(x)], [0, x])[1]


def call_in_condition(x):
    @Defun(tf.int32)
    def goes_on(i):
        return i < 3

    def condition(i, a):
        return tf.ensure_shape(goes_on(i), [])

    return v1.while_loop(condition, lambda i, a: [i + 1, tf.sin(a) * x], [0, x])[1]


def matrix_exponential(x):
    matrix = tf.stack([tf.stack([x[0] * 0.1, x[1] * 0.2]), tf.stack([x[1] * 0.3, x[0] * 0.1])])
    return tf.linalg.expm(matrix)


def array_written(x):
    def body(i, a, array):
        return i + 1, tf.sin(a) * x, array.write(i, a * x)

    array = tf.TensorArray(tf.float64, 4, element_shape=[2])
    return v1.while_loop(lambda i, a, array: i < 4, body, [0, x, array])[2].stack() ** 2


def array_read(x):
    array = tf.TensorArray(tf.float64, 3, element_shape=[2], clear_after_read=False)
    array = array.unstack(tf.stack([x, x * x, tf.sin(x)]))
    return repeated(3, lambda i, a: a * array.read(i) * x, x)


def mapped(x):
    return tf.map_fn(lambda e: tf.sin(e) * e * e, x)


def scanned(x):
    return tf.scan(lambda a, e: a * e * x, tf.stack([x, x * x, x + 1.0]))


def folded(x):
    return tf.foldl(lambda a, e: tf.sin(a) * e + a * x, tf.stack([x, x * x, x + 1.0]))


def called(f, x):
    """A call of a function by its name, of whose result TensorFlow knows no shape."""
    return tf.ensure_shape(Defun(tf.float64, func_name=f"called_{f.__name__}")(f)(x), [2])


def call_in_loop(x):
    @Defun(tf.float64)
    def square(a):
        return tf.sin(a) * a

    return repeated(3, lambda i, a: tf.ensure_shape(square(a), [2]) * x, x)


def loop_in_call(x):
    return called(lambda_named("body", lambda a: repeated(3, lambda i, b: tf.sin(b) * a, a, shape_invariants=_SHAPES)), x)


def nested_loop_in_call(x):
    def inner(a, b):
        return repeated(2, lambda j, c: tf.sin(c) * a * b, b, shape_invariants=_SHAPES)

    return called(lambda_named("body", lambda a: repeated(2, lambda i, b: inner(a, b), a, shape_invariants=_SHAPES)), x)


def branch_in_call(x):
    return called(lambda_named("body", lambda a: v1.cond(tf.reduce_sum(a) > 0, lambda: a**3 * tf.sin(a), lambda: a)), x)


def branch_in_call_in_loop(x):
    @Defun(tf.float64, tf.int32)
    def turn(a, i):
        return by_turns(i, lambda: a * tf.sin(a), lambda: a * a)

    return repeated(3, lambda i, a: tf.ensure_shape(turn(a, i), [2]) * x, x)


def branch_in_loop_in_call(x):
    def body(a):
        return repeated(4, lambda i, b: by_turns(i, lambda: tf.sin(b) * a, lambda: b * b), a, shape_invariants=_SHAPES)

    return called(body, x)


def lambda_named(name, f):
    """Defun takes the name of a function for that of the node that calls it."""
    f.__name__ = name
    return f


FORMS = {
    f.__name__: f
    for f in (
        power, no_iteration, one_at_a_time, several_variables, invariants, unread_variable, until_large, growing, broadcasting,
        nested, nested_thrice, branch, nested_branch, cases, branch_in_loop, nested_branch_in_loop, loop_in_branch,
        loop_in_branch_not_taken, loop_in_branch_in_loop, branch_in_condition, value_in_condition, loop_in_condition,
        call_in_condition, matrix_exponential, array_written, array_read, mapped, scanned, folded, call_in_loop, loop_in_call,
        nested_loop_in_call, branch_in_call, branch_in_call_in_loop, branch_in_loop_in_call,
    )
}  # fmt: skip
RECORDED = (
    "power", "no_iteration", "several_variables", "unread_variable", "growing", "nested", "nested_branch", "branch_in_loop",
    "nested_branch_in_loop", "loop_in_branch", "loop_in_branch_in_loop", "value_in_condition", "loop_in_condition",
    "array_read", "array_written", "mapped", "loop_in_call", "branch_in_call", "branch_in_loop_in_call",
)  # fmt: skip
"""Those that are held without TensorFlow, as V1 control flow."""
DIFFERENTIATED = ("power", "nested", "branch_in_loop", "nested_branch_in_loop", "loop_in_branch_in_loop", "array_read")
"""Those of which TensorFlow's own graph of the first gradient is held, too."""


def program(name: str, version: int) -> bytes:
    """The graph of `y`, a number, by `x:0`."""
    with control_flow(version), tf.Graph().as_default() as graph:
        _value(name)
        return graph.as_graph_def().SerializeToString()


def differentiated(name: str, version: int) -> bytes:
    """The same with TensorFlow's gradient as `dx`."""
    with control_flow(version), tf.Graph().as_default() as graph:
        x, y = _value(name)
        tf.identity(tf.gradients(y, x)[0], name="dx")
        return graph.as_graph_def().SerializeToString()


def _value(name):
    x = v1.placeholder(tf.float64, [2], name="x")
    return x, tf.reduce_sum(FORMS[name](x), name="y")


def main() -> None:
    graphs = {name: program(name, 1) for name in RECORDED}
    graphs |= {f"{name}_differentiated": differentiated(name, 1) for name in DIFFERENTIATED}
    np.savez_compressed(TARGET, **{name: np.frombuffer(graph, np.uint8) for name, graph in graphs.items()})


if __name__ == "__main__":
    main()
