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


class Encoder(tf.Module):
    """A matrix and a vector, below an attribute with a dot and a slash in the name, as Keras gives them to layers."""

    def __init__(self, value, name="encoder", matrix="w"):
        super().__init__()
        layer = tf.Module()
        setattr(layer, matrix, tf.Variable(np.full((2, 3), value, np.float32)))
        layer.b = tf.Variable(np.full(3, value, np.float32))
        setattr(self, name, layer)


def trained(model):
    """An optimizer with slots for the variables of a model, and a checkpoint of both."""
    import tf_keras

    optimizer = tf_keras.optimizers.legacy.Adam(0.125)
    optimizer.apply_gradients([(2.0 * tf.ones_like(variable), variable) for variable in model.trainable_variables])
    return optimizer, tf.train.Checkpoint(model=model, optimizer=optimizer)


def written(folder, value=1.0):
    _, checkpoint = trained(Encoder(value))
    return checkpoint.write(str(folder / f"trained-{value}"))


def test_a_renamed_checkpoint_restores_the_objects_of_its_new_names(tmp_path):
    """Variables and their slots, also at a new depth and with one variable of another name."""
    prefix, path = written(tmp_path), str(tmp_path / "renamed.ckpt")
    pairs = ("model/encoder/w=model/b..o.Sdy/kernel", "model/encoder=model/b..o.Sdy")
    done = run("checkpoint", prefix, *(word for pair in pairs for word in ("--rename", pair)), "-o", path)
    assert done.code == 0, done.err
    model = Encoder(5.0, "b.o/dy", "kernel")
    optimizer, checkpoint = trained(model)
    for variable in optimizer.variables()[1:]:
        variable.assign(tf.fill(variable.shape, 9.0))
    checkpoint.read(path).assert_consumed()
    expected = tf.train.load_checkpoint(prefix)
    layer = getattr(model, "b.o/dy")
    for own, name in ((layer.kernel, "w"), (layer.b, "b")):
        np.testing.assert_array_equal(own, expected.get_tensor(f"model/encoder/{name}/.ATTRIBUTES/VARIABLE_VALUE"))
        for slot in "mv":
            key = f"model/encoder/{name}/.OPTIMIZER_SLOT/optimizer/{slot}/.ATTRIBUTES/VARIABLE_VALUE"
            np.testing.assert_array_equal(optimizer.get_slot(own, slot), expected.get_tensor(key))


@pytest.mark.parametrize("words", [("--exclude", "optimizer"), ("--name", "model/")])
def test_a_part_of_a_checkpoint_restores_the_objects_of_the_part(words, tmp_path):
    prefix, path = written(tmp_path), str(tmp_path / "part.ckpt")
    assert run("checkpoint", prefix, *words, "-o", path).code == 0
    model = Encoder(5.0)
    status = tf.train.Checkpoint(model=model).read(path)
    status.assert_existing_objects_matched()
    if words[0] == "--exclude":
        status.assert_consumed()
    expected = tf.train.load_checkpoint(prefix).get_tensor("model/encoder/b/.ATTRIBUTES/VARIABLE_VALUE")
    np.testing.assert_array_equal(model.encoder.b, expected)


def test_two_layers_exchange_their_values_also_where_lists_of_the_model_name_the_variables(tmp_path):
    model = Module()
    model.listed = list(model.parts)
    prefix, path = tf.train.Checkpoint(model=model).write(str(tmp_path / "a")), str(tmp_path / "b.ckpt")
    (keys,) = {
        name.rsplit("/", 3)[0] for name, _ in tf.train.list_variables(prefix) if name.endswith("/1/.ATTRIBUTES/VARIABLE_VALUE")
    }
    assert run("checkpoint", prefix, "--rename", f"{keys}/0={keys}/1", "--rename", f"{keys}/1={keys}/0", "-o", path).code == 0
    tf.train.Checkpoint(model=model).read(path).assert_consumed()
    assert [float(part) for part in model.parts] == [1.0, 0.0, 2.0]


def test_an_average_of_checkpoints_restores_as_any_of_them(tmp_path):
    first, second, path = written(tmp_path, 1.0), written(tmp_path, 3.0), str(tmp_path / "mean.ckpt")
    assert run("checkpoint", first, "--average", second, "--weights", "1,3", "-o", path).code == 0
    model = Encoder(0.0)
    optimizer, checkpoint = trained(model)
    checkpoint.read(path).assert_consumed()
    key = "model/encoder/w/.ATTRIBUTES/VARIABLE_VALUE"
    one, other = (tf.train.load_checkpoint(prefix).get_tensor(key).astype(np.float64) for prefix in (first, second))
    np.testing.assert_array_equal(model.encoder.w, (0.25 * one + 0.75 * other).astype(np.float32))
    assert optimizer.iterations.numpy() == 1
