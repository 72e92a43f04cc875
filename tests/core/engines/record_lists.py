"""Loops and lists with elements of varying size, with TensorFlow's results.

    PYTHONPATH=FOLDER_THAT_HOLDS_tfg /path/to/tensorflow-venv/bin/python -m tests.core.engines.record_lists

records lists.npz: each program as a graph with While nodes and as a graph with V1 loops, two sets of feeds, and the
results.
"""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
from tensorflow.python.ops import list_ops

TARGET = pathlib.Path(__file__).with_name("lists.npz")


def array(size):
    return tf.TensorArray(tf.float32, size=size, infer_shape=False, element_shape=[None])


def uneven(x, n):
    parts = array(tf.shape(n)[0])
    for i in tf.range(tf.shape(n)[0]):
        parts = parts.write(i, x[: n[i]])
    return parts.concat()


def growing(x):
    parts, part = array(3), x
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(part, tf.TensorShape([None]))])
        parts = parts.write(i, part)
        part = tf.concat([part, x], 0)
    return parts.concat()


def branching(x, c):
    parts = array(3)
    for i in tf.range(3):
        parts = parts.write(i, tf.cond(c[i] > 0, lambda: x[:1], lambda: x))
    return parts.concat()


def rows(x):
    parts = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
    for i in tf.range(tf.shape(x)[0]):
        parts = parts.write(i, tf.nn.relu(x[i]))
    return parts.stack()


def masked(x):
    mask = tf.boolean_mask(x, x > 0)
    parts = tf.TensorArray(tf.float32, size=3)
    for i in tf.range(3):
        parts = parts.write(i, mask * tf.cast(i, tf.float32))
    return parts.stack()


def mapped(x):
    return tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)


def pair(x, y):
    return array(2).write(0, x).write(1, y).concat()


def pushed(x, n):
    parts = list_ops.empty_tensor_list([None], tf.float32)
    for i in range(2):
        parts = list_ops.tensor_list_push_back(parts, x[: n[i]])
    return list_ops.tensor_list_concat(parts, tf.float32)


VECTOR, MATRIX, NUMBERS = (tf.TensorSpec(shape, dtype) for shape, dtype in (
    ([None], tf.float32), ([None, None], tf.float32), ([None], tf.int32),
))  # fmt: skip
ROW, GRID = np.float32([1, -2, 3]), np.float32([[1, -2, 3], [4, 5, -6]])
PROGRAMS = {
    uneven: ((VECTOR, NUMBERS), [(ROW, np.int32([2, 2])), (ROW, np.int32([1, 2, 3]))]),
    growing: ((VECTOR,), [(ROW,), (ROW[:1],)]),
    branching: ((VECTOR, VECTOR), [(ROW, ROW), (ROW, -ROW)]),
    rows: ((MATRIX,), [(GRID,), (GRID[:1, :2],)]),
    masked: ((VECTOR,), [(ROW,), (ROW[:1],)]),
    mapped: ((MATRIX,), [(GRID,), (GRID[:, :1],)]),
    pair: ((VECTOR, VECTOR), [(ROW, ROW), (ROW[:1], ROW)]),
    pushed: ((VECTOR, NUMBERS), [(ROW, np.int32([2, 2])), (ROW, np.int32([1, 2]))]),
}


def main():
    arrays = {}
    for program, (specs, feeds) in PROGRAMS.items():
        traced = tf.function(program).get_concrete_function(*specs)
        for form in ("functional", "v1"):
            frozen = convert_variables_to_constants_v2(traced, lower_control_flow=form == "v1")
            name = f"{program.__name__}/{form}"
            arrays[f"{name}/graph"] = np.frombuffer(frozen.graph.as_graph_def().SerializeToString(), np.uint8)
            arrays[f"{name}/names"] = np.array([tensor.name for tensor in (*frozen.inputs, *frozen.outputs)])
        for i, values in enumerate(feeds):
            arrays[f"{program.__name__}/{i}"] = traced(*map(tf.constant, values)).numpy()
            arrays |= {f"{program.__name__}/{i}/{j}": value for j, value in enumerate(values)}
    np.savez_compressed(TARGET, **arrays)


if __name__ == "__main__":
    main()
