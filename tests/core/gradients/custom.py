"""A module with gradients of its own in all places, saved with them: built with TensorFlow.

    PYTHONPATH=FOLDER_THAT_HOLDS_tfg /path/to/tensorflow-venv/bin/python -m tests.core.gradients.custom

records custom.npz: the SavedModel, the feeds, and TensorFlow's gradients of each output by x and by w.
"""

from __future__ import annotations

import pathlib
import tempfile

import numpy as np
import tensorflow as tf

TARGET = pathlib.Path(__file__).with_name("custom.npz")
X = np.float32([[0.3, 0.6], [1.0, 2.0]])
W = np.float32([[1.2, 0.7], [0.3, -0.4]])


@tf.custom_gradient
def straight_through(x):
    return tf.round(x), lambda dy: dy * 3.0


@tf.custom_gradient
def clipped(x, y):
    """Reads its result and its argument; says something even where nothing arrives."""
    z = tf.tanh(x) * y

    def grad(dz):
        return tf.clip_by_value(dz * z, -1.0, 1.0), tf.reduce_sum(dz * tf.tanh(x), 0) + 7.0

    return z, grad


@tf.custom_gradient
def one_sided(x, y):
    return x * y, lambda d: (None, d * x * 5.0)


class Module(tf.Module):
    def __init__(self):
        self.w = tf.Variable(W, name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(self, x):
        looped = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, clipped(h, self.w[1]) + x), [0, x])[1]
        branch = tf.cond(tf.reduce_sum(x) > 0, lambda: straight_through(x @ self.w) * x, lambda: x)
        return {
            "straight": straight_through(x @ self.w) * x,
            "clipped": clipped(x, self.w[0]),
            "sided": one_sided(x @ self.w, x),
            "nested": self.inner(x),
            "looped": looped,
            "branch": branch,
        }

    @tf.function
    def inner(self, x):
        w = self.w

        @tf.custom_gradient
        def sine(a):
            def grad(d, variables=None):
                return d * tf.cos(a) * 10.0, [tf.zeros_like(w) + tf.reduce_sum(d)]

            return tf.sin(a) * w.read_value()[0], grad

        return sine(x)


def saved(folder):
    """Save the module with its gradients; returns TensorFlow's gradients by x and w before it is saved.

    TensorFlow cannot differentiate the While of the module that it loads: the handle's shape is lost.
    """
    module = Module()
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        outputs = module.serve(x)
    grads = {name: [g.numpy() for g in tape.gradient(y, [x, module.w])] for name, y in outputs.items()}
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(module, folder, signatures=module.serve, options=options)
    return grads


def main():
    with tempfile.TemporaryDirectory() as folder:
        grads = saved(folder)
        arrays = {"graph": np.frombuffer(pathlib.Path(folder, "saved_model.pb").read_bytes(), np.uint8)}
    for name, (by_x, by_w) in grads.items():
        arrays |= {f"{name}/x": by_x, f"{name}/w": by_w}
    np.savez_compressed(TARGET, x=X, w=W, **arrays)


if __name__ == "__main__":
    main()
