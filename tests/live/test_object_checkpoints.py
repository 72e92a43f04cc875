"""Values of TensorFlow's object checkpoints reach a SavedModel's variables through each format, and go back to TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import tfg as run
from tfg.formats.loading import load

tf = pytest.importorskip("tensorflow")

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
X = np.array([[1.0, -2.0, 0.5, 3.0]], np.float32)
FORMATS = ("npz", "safetensors", "ckpt")


def dense(layers, model):
    """Two layers, so that names of weights are duplicates up to a suffix; trained once, so that an optimizer has slots."""
    network = model([layers.Dense(3, activation="tanh"), layers.BatchNormalization(), layers.Dense(2)])
    network.compile("adam", "mse")
    network.fit(np.ones((4, 4), np.float32), np.ones((4, 2), np.float32), verbose=0)
    return network


def exported(folder):
    import keras

    network = dense(keras.layers, keras.Sequential)
    network.export(folder, verbose=False)
    return network, lambda: network(X), network.weights


def keras_saved(folder):
    import keras

    network = dense(keras.layers, keras.Sequential)
    tf.saved_model.save(network, folder)
    return network, lambda: network(X), network.weights


def legacy_keras(folder):
    import tf_keras

    network = dense(tf_keras.layers, tf_keras.Sequential)
    network.save(folder)
    return network, lambda: network(X), network.weights


class Module(tf.Module):
    """Three variables share a name, and two differ by their scopes."""

    def __init__(self):
        super().__init__()
        self.parts = [tf.Variable(np.float32(i), name="same") for i in range(3)]
        with tf.name_scope("a"):
            self.w = tf.Variable(np.ones((4, 2), np.float32), name="w")
        with tf.name_scope("b"):
            self.v = tf.Variable(np.ones(2, np.float32), name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    def serve(self, x):
        return {"y": x @ self.w + self.v + self.parts[0] - 10.0 * self.parts[1] + 100.0 * self.parts[2]}


def module(folder):
    model = Module()
    tf.saved_model.save(model, folder, signatures=model.serve)
    return model, lambda: model.serve(tf.constant(X))["y"], model.variables


def changed(variables):
    for number, variable in enumerate(variables):
        variable.assign(np.linspace(0.1, 1.0 + number, int(np.prod(variable.shape)), dtype=np.float32).reshape(variable.shape))


def result(folder, state):
    (argument,) = load(folder).meta.usual_signature.fed
    done = run("run", folder, "--feed", f"{argument}={X.tolist()}", "--state", state, "--format", "json")
    assert done.code == 0, done.err
    (value,) = done.json["steps"][0]["values"]
    return value["value"]


@pytest.mark.parametrize("make", [exported, keras_saved, legacy_keras, module], ids=lambda make: make.__name__)
def test_values_of_an_object_checkpoint_reach_the_model_through_each_format(make, tmp_path):
    folder, prefix = str(tmp_path / "model"), str(tmp_path / "trained")
    model, call, variables = make(folder)
    changed(variables)
    expected = call().numpy()
    tf.train.Checkpoint(model).write(prefix)
    np.testing.assert_allclose(result(folder, prefix), expected, rtol=1e-5)
    for form in FORMATS:
        copy, saved = tmp_path / f"copy.{form}", tmp_path / f"saved.{form}"
        assert run("checkpoint", prefix, "-o", copy).code == 0
        np.testing.assert_allclose(result(folder, copy), expected, rtol=1e-5)
        assert run("run", folder, "--state", prefix, "--save-state", saved).code == 0
        np.testing.assert_allclose(result(folder, saved), expected, rtol=1e-5)
    for variable in variables:
        variable.assign(tf.zeros_like(variable))
    tf.train.Checkpoint(model).read(str(tmp_path / "saved.ckpt")).assert_existing_objects_matched()
    np.testing.assert_allclose(call().numpy(), expected, rtol=1e-5)
