"""Write the sample graphs that TensorFlow itself makes.

usage: make_samples.py [NAME ...]        needs an installed TensorFlow
"""

from __future__ import annotations

import pathlib
import shutil
import sys
from collections.abc import Callable

import tensorflow as tf
from google.protobuf import text_format

SAMPLES = pathlib.Path(__file__).parents[1] / "sample_graphs"
v1 = tf.compat.v1


def write(graph: tf.Graph, name: str) -> None:
    (SAMPLES / f"{name}.pbtxt").write_text(text_format.MessageToString(graph.as_graph_def()))


def variable(value: object, name: str) -> tf.Tensor:
    return v1.get_variable(name, initializer=value, use_resource=False)


def linear_regression(graph: tf.Graph) -> None:
    """y = w x + b by least squares and gradient descent."""
    x = v1.placeholder(tf.float32, [None], "x")
    y = v1.placeholder(tf.float32, [None], "y")
    w = variable(tf.zeros([]), "w")
    b = variable(tf.zeros([]), "b")
    prediction = tf.add(w * x, b, name="prediction")
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    v1.global_variables_initializer()


def xor(graph: tf.Graph) -> None:
    """A network of 2, 8 and 1 units that learns XOR by Adam."""
    v1.set_random_seed(1)
    x = v1.placeholder(tf.float32, [None, 2], "x")
    y = v1.placeholder(tf.float32, [None, 1], "y")
    w1 = variable(tf.random.truncated_normal([2, 8], seed=2), "hidden/kernel")
    b1 = variable(tf.zeros([8]), "hidden/bias")
    hidden = tf.tanh(tf.nn.bias_add(tf.matmul(x, w1), b1), name="hidden/activation")
    w2 = variable(tf.random.truncated_normal([8, 1], seed=3), "output/kernel")
    b2 = variable(tf.zeros([1]), "output/bias")
    logits = tf.nn.bias_add(tf.matmul(hidden, w2), b2, name="logits")
    tf.sigmoid(logits, name="probability")
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    step = v1.train.get_or_create_global_step()
    v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step, name="train")
    v1.global_variables_initializer()


def square(graph: tf.Graph) -> None:
    """loss = var ** 2 under gradient descent with rate 0.1, and under momentum."""
    var = variable(tf.constant(1.0), "var")
    loss = tf.pow(var, 2.0, name="loss")
    v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="sgd")
    v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="momentum")
    v1.global_variables_initializer()


def square_loss(graph: tf.Graph) -> None:
    """Build loss = var ** 2 alone; the docs add an optimizer with `tfg train`."""
    tf.pow(variable(tf.constant(1.0), "var"), 2.0, name="loss")
    v1.global_variables_initializer()


def weight_decay(graph: tf.Graph) -> None:
    """Build a graph in which an assignment multiplies the kernel by 0.9 in every tenth step."""
    v1.disable_control_flow_v2()
    kernel = variable(tf.constant([[1.0, 2.0], [3.0, 4.0]]), "kernel")
    global_step = variable(tf.constant(0), "global_step")
    count = v1.assign_add(global_step, 1, name="count")
    is_tenth = tf.equal(count % 10, 0, name="is_tenth")
    v1.cond(is_tenth, lambda: v1.assign(kernel, 0.9 * kernel, name="decay"), lambda: kernel, name="step")
    v1.global_variables_initializer()


def countdown(graph: tf.Graph) -> None:
    """Build a variable that decreases by a fed value, or by 1.5: incremental assign_sub."""
    rest = variable(tf.constant(10.0), "rest")
    amount = v1.placeholder_with_default(1.5, [], "amount")
    v1.assign_sub(rest, amount, name="take")
    v1.global_variables_initializer()


def collatz(graph: tf.Graph) -> None:
    """Build a count of the steps of n/2 or 3n+1 down to 1: a V1 while loop around a V1 cond."""
    v1.disable_control_flow_v2()
    n = v1.placeholder(tf.int32, [], "n")

    def step(value: tf.Tensor, count: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return v1.cond(tf.equal(value % 2, 0), lambda: value // 2, lambda: 3 * value + 1), count + 1

    _, count = v1.while_loop(lambda value, count: value > 1, step, [n, tf.constant(0)])
    tf.identity(count, name="steps")


GRAPHS: dict[str, Callable[[tf.Graph], None]] = {
    function.__name__: function for function in (linear_regression, xor, square, square_loss, weight_decay, countdown, collatz)
}


class Scaler(tf.Module):
    """An affine map with variables, and a table of the input names."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable([2.0, 3.0], name="scale")
        self.calls = tf.Variable(0, dtype=tf.int64, name="calls")
        initializer = tf.lookup.KeyValueTensorInitializer(["width", "height"], tf.constant([0, 1], tf.int64))
        self.table = tf.lookup.StaticHashTable(initializer, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def apply(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        self.calls.assign_add(1)
        return {"scaled": x * self.scale, "calls": self.calls.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "names")])
    def index(self, names: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"indices": self.table.lookup(names)}


def scaler_saved_model() -> None:
    folder = SAMPLES / "scaler_saved_model"
    shutil.rmtree(folder, ignore_errors=True)
    module = Scaler()
    tf.saved_model.save(module, str(folder), {"serving_default": module.apply, "index": module.index})
    (folder / "fingerprint.pb").unlink(missing_ok=True)


def keras_classifier() -> None:
    """Export a small Keras 3 model by the method export: each weight has several handles in the graph."""
    import keras

    folder = SAMPLES / "keras_classifier"
    shutil.rmtree(folder, ignore_errors=True)
    keras.utils.set_random_seed(1)
    layers = keras.layers
    classifier = keras.Sequential([
        layers.Input((4,), name="measurements"), layers.Dense(8, activation="relu", name="hidden"),
        layers.BatchNormalization(name="normalized"), layers.Dense(3, activation="softmax", name="classes"),
    ])  # fmt: skip
    classifier.export(str(folder), verbose=False)
    (folder / "fingerprint.pb").unlink(missing_ok=True)


MODELS: dict[str, Callable[[], None]] = {"scaler_saved_model": scaler_saved_model, "keras_classifier": keras_classifier}


def main() -> None:
    wanted = sys.argv[1:] or [*GRAPHS, *MODELS]
    for name, build in MODELS.items():
        if name in wanted:
            build()
    v1.disable_eager_execution()
    for name, draw in GRAPHS.items():
        if name in wanted:
            with tf.Graph().as_default() as graph:
                draw(graph)
            write(graph, name)


main()
