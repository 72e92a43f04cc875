"""Write TensorFlow.js models with the converter itself: a sample, and models in each encoding for the tests.

Needs TensorFlow, tf_keras and tensorflowjs. The converter imports packages that graph models do not need: modules without
contents stand for those that are not installed. Set TF_USE_LEGACY_KERAS=1.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import types

import numpy as np
import tensorflow as tf

ROOT = pathlib.Path(__file__).parents[1]
SAMPLE = ROOT / "sample_graphs" / "iris_tfjs"
RECORDED = ROOT / "tests" / "formats" / "recorded" / "tfjs"
MEASUREMENTS = np.array([[5.1, 3.5, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5], [5.9, 3.0, 4.2, 1.5]], np.float32)

for top, modules in {"tensorflow_decision_forests": (), "jax": ("jax.experimental", "jax.experimental.jax2tf")}.items():
    if importlib.util.find_spec(top) is None:
        sys.modules.update((name, types.ModuleType(name)) for name in (top, *modules))
np.object = object
"""The converter asks for a name that NumPy has no more."""


class Iris(tf.Module):
    """A classifier with a table of names, and with weights that are floats, integers, truth values and strings."""

    def __init__(self) -> None:
        super().__init__()
        draw = np.random.default_rng(454)
        self.hidden = tf.Variable(draw.normal(size=(4, 6)).astype(np.float32), name="hidden/kernel")
        self.bias = tf.Variable(np.full(6, 2, np.float32), name="hidden/bias")
        self.classes = tf.Variable(draw.normal(size=(6, 3)).astype(np.float32) / 2, name="classes/kernel")
        names = tf.constant(["setosa", "versicolor", "virginica"])
        initializer = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1, 2], tf.int64), names)
        self.table = tf.lookup.StaticHashTable(initializer, "?")
        self.mask = tf.constant([True, False, True, True, True, True])
        self.order = tf.constant([2, 0, 1])

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="measurements")])
    def __call__(self, measurements: tf.Tensor) -> dict[str, tf.Tensor]:
        hidden = tf.where(self.mask, tf.nn.relu(measurements @ self.hidden + self.bias), 0.0)
        logits = tf.gather(hidden @ self.classes, self.order, axis=1)
        return {"probabilities": tf.nn.softmax(logits), "classes": self.table.lookup(tf.argmax(logits, 1))}


def main() -> None:
    import tf_keras
    from tensorflowjs.converters import keras_h5_conversion, tf_saved_model_conversion_v2

    for folder in (SAMPLE, RECORDED):
        shutil.rmtree(folder, ignore_errors=True)
    model = Iris()
    results = {name: value.numpy().tolist() for name, value in model(MEASUREMENTS).items()}
    results["classes"] = [name.decode() for name in results["classes"]]
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(model, folder, model.__call__)
        encodings = {
            SAMPLE: {"quantization_dtype_map": {"uint8": "*"}}, RECORDED / "float32": {"weight_shard_size_bytes": 37},
            RECORDED / "uint16": {"quantization_dtype_map": {"uint16": "*"}},
            RECORDED / "float16": {"quantization_dtype_map": {"float16": "*"}},
        }  # fmt: skip
        for target, options in encodings.items():
            tf_saved_model_conversion_v2.convert_tf_saved_model(folder, str(target), skip_op_check=True, **options)
    layers = tf_keras.Sequential([tf_keras.layers.Input((4,)), tf_keras.layers.Dense(3)])
    keras_h5_conversion.save_keras_model(layers, str(RECORDED / "layers"))
    expected = {"measurements": MEASUREMENTS.tolist(), **results}
    (RECORDED / "expected.json").write_text(json.dumps(expected) + "\n")


main()
