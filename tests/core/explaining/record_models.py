"""Record the models of `test_recorded_models.py`, one of each kind, with the numbers that TensorFlow has.

usage: TF_USE_LEGACY_KERAS=1 python -m tests.core.explaining.record_models    (needs TensorFlow, Keras 3 and tf_keras)
"""

from __future__ import annotations

import io
import json
import lzma
import pathlib
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

ARCHIVE = pathlib.Path(__file__).with_name("models.tar.xz")
SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
Numbers = dict[str, Any]
v1 = tf.compat.v1


def numbers(weights: Sequence[Any], trained: Sequence[Any]) -> Numbers:
    """Return the numbers of weights and of their elements; `parameters` are those that outputs depend on."""
    sizes = [int(np.prod(weight.shape)) for weight in weights]
    trainable = [int(np.prod(weight.shape)) for weight in trained]
    return {
        "variables": len(sizes), "trainable_variables": len(trainable), "parameters": sum(sizes), "trainable": sum(trainable),
    }  # fmt: skip


def keras_numbers(model: Any) -> Numbers:
    """Return the numbers of a Keras model, and its summary without layers that compute nothing."""
    counts = numbers(model.weights, model.trainable_weights)
    assert counts["parameters"] == model.count_params()
    computing = [layer for layer in model.layers if type(layer).__name__ not in ("InputLayer", "Dropout", "Flatten")]
    return counts | {
        "layers": [[layer.name, type(layer).__name__, layer.count_params()] for layer in computing],
        "shapes": [list(layer.output.shape) for layer in computing],
    }


def images(module: Any) -> Any:
    """Return a classifier of images with each kind of layer that networks for images have."""
    picture = module.Input((8, 8, 3), name="image")
    x = module.layers.Rescaling(1 / 255, name="rescaling")(picture)
    x = module.layers.Conv2D(4, 3, activation="relu", name="stem")(x)
    x = module.layers.BatchNormalization(name="norm")(x)
    x = module.layers.MaxPooling2D(name="pool")(x)
    x = module.layers.DepthwiseConv2D(2, name="depthwise")(x)
    x = module.layers.Dropout(0.5, name="dropout")(x)
    x = module.layers.GlobalAveragePooling2D(name="average")(x)
    return module.Model(picture, module.layers.Dense(3, activation="softmax", name="classes")(x), name="flowers")


def text(module: Any) -> Any:
    """Return a classifier of sequences with a recurrent layer."""
    words = module.Input((5,), name="words", dtype="int32")
    x = module.layers.Embedding(7, 4, name="embedding")(words)
    x = module.layers.LSTM(3, name="lstm")(x)
    return module.Model(words, module.layers.Dense(2, name="classes")(x), name="text")


def trained(model: Any, shape: tuple[int, ...], classes: int) -> Any:
    """Return a model after a step of Adam, whose slots are in the file."""
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(np.zeros((2, *shape), np.float32), np.zeros(2, np.int32) % classes, verbose=0)
    return model


def keras3_export(path: str) -> Numbers:
    """Write a model of Keras 3 for serving."""
    model = images(keras)
    model.export(path, verbose=False)
    return keras_numbers(model)


def keras3_saved(path: str) -> Numbers:
    """Write a trained model of Keras 3 by tf.saved_model.save."""
    model = trained(images(keras), (8, 8, 3), 3)
    tf.saved_model.save(model, path)
    return keras_numbers(model)


def keras3_text(path: str) -> Numbers:
    """Write a model of Keras 3 with a recurrent layer."""
    model = text(keras)
    model.export(path, verbose=False)
    return keras_numbers(model)


def keras2(path: str) -> Numbers:
    """Write a trained model of Keras 2 with the file keras_metadata.pb."""
    model = trained(images(tf_keras), (8, 8, 3), 3)
    model.save(path, save_format="tf")
    return keras_numbers(model)


def keras2_text(path: str) -> Numbers:
    """Write a model of Keras 2 with a recurrent layer."""
    model = text(tf_keras)
    model.save(path, save_format="tf")
    return keras_numbers(model)


class Dense(tf.Module):
    """A layer of a tf.Module, in a scope of its own."""

    def __init__(self, inputs: int, units: int, name: str) -> None:
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(tf.random.stateless_normal([inputs, units], [1, units]), name="w")
            self.b = tf.Variable(tf.zeros(units), name="b")

    @tf.Module.with_name_scope
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x @ self.w + self.b)


class Perceptron(tf.Module):
    """A model with scopes, and with a variable that no training changes."""

    def __init__(self) -> None:
        super().__init__(name="perceptron")
        with self.name_scope:
            self.hidden = Dense(4, 6, "hidden")
            self.logits = Dense(6, 2, "logits")
            self.scale = tf.Variable(2.0, trainable=False, name="scale")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    @tf.Module.with_name_scope
    def __call__(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"logits": self.logits(self.hidden(x)) * self.scale}


def module(path: str) -> Numbers:
    """Write a tf.Module with scopes."""
    model = Perceptron()
    tf.saved_model.save(model, path, signatures=model.__call__)
    return numbers(model.variables, model.trainable_variables)


class Plain(tf.Module):
    """A model whose variables lie in no scope, with two signatures."""

    def __init__(self) -> None:
        super().__init__()
        self.w1 = tf.Variable(tf.ones([4, 6]), name="w1")
        self.b1 = tf.Variable(tf.zeros(6), name="b1")
        self.w2 = tf.Variable(tf.ones([6, 2]), name="w2")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def features(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"features": tf.nn.relu(x @ self.w1 + self.b1)}

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def predict(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"probabilities": tf.nn.softmax(self.features(x)["features"] @ self.w2)}


def module_plain(path: str) -> Numbers:
    """Write a tf.Module without scopes."""
    model = Plain()
    tf.saved_model.save(model, path, signatures={SERVING: model.predict, "features": model.features})
    return numbers(model.variables, model.trainable_variables)


def slim(x: tf.Tensor) -> tf.Tensor:
    """Return a network with the scopes and variables of TF-Slim."""
    with v1.variable_scope("net"):
        with v1.variable_scope("conv1"):
            kernel = v1.get_variable("weights", [3, 3, 1, 4])
            x = tf.nn.conv2d(x, kernel, 1, "SAME", name="Conv2D")
            x = tf.nn.relu(tf.nn.bias_add(x, v1.get_variable("biases", [4]), name="BiasAdd"), name="Relu")
        x = tf.nn.max_pool2d(x, 2, 2, "VALID", name="pool1")
        x = tf.reshape(x, [-1, 16], name="flatten")
        with v1.variable_scope("logits"):
            x = v1.nn.xw_plus_b(x, v1.get_variable("weights", [16, 3]), v1.get_variable("biases", [3]), name="BiasAdd")
    return tf.nn.softmax(x, name="predictions")


def write_v1(path: str, signatures: Callable[[], dict[str, Any]]) -> Numbers:
    """Write the default graph with initialized variables as a SavedModel; return the numbers of its model."""
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, [tf.saved_model.SERVING], signatures())
        v1.logging.set_verbosity(v1.logging.ERROR)
        builder.save()
    return v1_numbers()


def v1_numbers() -> Numbers:
    """Return the numbers of the default graph: no output reads the counter of steps or the slots of an optimizer."""
    counts = numbers(v1.global_variables(), v1.trainable_variables())
    return counts | {"parameters": counts["trainable"]}


def estimator(path: str) -> Numbers:
    """Write a model as an Estimator exports it: parsed examples, a step counter, and several signatures."""
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        examples = v1.placeholder(tf.string, [None], "input_example_tensor")
        features = v1.parse_example(examples, {"x": v1.FixedLenFeature([4], tf.float32)}, name="ParseExample/ParseExample")
        hidden = v1.layers.dense(features["x"], 5, tf.nn.relu, name="dnn/hiddenlayer_0")
        logits = v1.layers.dense(hidden, 3, name="dnn/logits")
        scores = tf.nn.softmax(logits, name="head/predictions/probabilities")

        def signatures() -> dict[str, Any]:
            classify = v1.saved_model.classification_signature_def(examples, None, scores)
            predict = v1.saved_model.predict_signature_def({"examples": examples}, {"probabilities": scores})
            return {SERVING: classify, "predict": predict}

        return write_v1(path, signatures)


def tf1_slim(path: str) -> Numbers:
    """Write a model of TF1 with the scopes of TF-Slim."""
    with tf.Graph().as_default():
        image = v1.placeholder(tf.float32, [None, 4, 4, 1], "image")
        scores = slim(image)
        return write_v1(path, lambda: {SERVING: v1.saved_model.predict_signature_def({"image": image}, {"scores": scores})})


def tf1_training(path: str) -> Numbers:
    """Write a training graph of tf.layers with Adam as a MetaGraphDef beside a checkpoint."""
    with tf.Graph().as_default():
        image = v1.placeholder(tf.float32, [None, 8, 8, 1], "image")
        label = v1.placeholder(tf.int64, [None], "label")
        x = v1.layers.conv2d(image, 4, 3, activation=tf.nn.relu, name="conv")
        x = v1.layers.flatten(v1.layers.max_pooling2d(x, 2, 2, name="pool"))
        logits = v1.layers.dense(x, 3, name="logits")
        loss = v1.losses.sparse_softmax_cross_entropy(label, logits)
        step = v1.train.get_or_create_global_step()
        v1.train.AdamOptimizer().minimize(loss, step, name="train")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, f"{path}/model.ckpt")
        pathlib.Path(path, "checkpoint").unlink()  # it has the path of this folder
        return v1_numbers() | {"inputs": {"image:0": [None, 8, 8, 1], "label:0": [None]}}


def frozen(path: str) -> Numbers:
    """Write a frozen GraphDef of the model of Keras 3."""
    model = images(keras)
    called = tf.function(lambda image: model(image, training=False))
    function = called.get_concrete_function(tf.TensorSpec((None, 8, 8, 3), tf.float32, name="image"))
    pathlib.Path(path).mkdir()
    graph = convert_variables_to_constants_v2(function).graph
    tf.io.write_graph(graph, path, "graph.pb", as_text=False)
    inputs, outputs = {"image:0": list(model.inputs[0].shape)}, {"Identity:0": list(model.outputs[0].shape)}
    return keras_numbers(model) | {"inputs": inputs, "outputs": outputs, "variables": 0, "trainable_variables": 0}


MODELS: tuple[Callable[[str], Numbers], ...] = (
    keras3_export, keras3_saved, keras3_text, keras2, keras2_text, module, module_plain, estimator, tf1_slim, tf1_training,
    frozen,
)  # fmt: skip


def loaded(folder: pathlib.Path) -> dict[str, Numbers]:
    """Return the names and shapes of the usual signatures of SavedModels, as TensorFlow loads them."""
    arguments = {}
    for path in folder.glob("*/saved_model.pb"):
        signature = tf.saved_model.load(str(path.parent)).signatures[SERVING]
        inputs, outputs = signature.structured_input_signature[1], signature.structured_outputs
        arguments[path.parent.name] = {
            "inputs": {name: list(spec.shape) for name, spec in inputs.items()},
            "outputs": {name: list(spec.shape) for name, spec in outputs.items()},
        }
    return arguments


def packed(folder: pathlib.Path) -> bytes:
    """Return the files of a folder as an archive without times and owners."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "fingerprint.pb"):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            archive.addfile(entry, io.BytesIO(path.read_bytes()))
    return lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main() -> None:
    tf.random.set_seed(1)
    keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counts = {write.__name__: write(str(folder / write.__name__)) for write in MODELS}
        for model, arguments in loaded(folder).items():
            counts[model] |= arguments
        (folder / "numbers.json").write_text(json.dumps(counts, indent=1))
        data = packed(folder)
    ARCHIVE.write_bytes(data)
    print(f"{len(counts)} models, {len(data)} bytes")


if __name__ == "__main__":
    main()
