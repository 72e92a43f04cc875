"""Models as people have them, from a first look to a trained model that TensorFlow loads again, and gives what tfg gives."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


def keras_cnn(package, folder):
    keras = pytest.importorskip(package)
    layers = keras.layers
    model = keras.Sequential([
        layers.Input((8, 8, 3), name="image"), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.2), layers.Dense(5, activation="softmax"),
    ])  # fmt: skip
    model.export(folder, verbose=False) if package == "keras" else model.save(folder, save_format="tf")
    return model


def lstm(package):
    keras = pytest.importorskip(package)
    layers = keras.layers
    return keras.Sequential([
        layers.Input((6,), name="words"), layers.Embedding(20, 8), layers.LSTM(7), layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip


def keras_lstm(package, folder):
    model = lstm(package)
    model.export(folder, verbose=False) if package == "keras" else model.save(folder, save_format="tf")
    return model


def compiled_lstm(package, folder):
    """Its restore op leaves out the variables that its signature reads: TensorFlow loads it from Python only."""
    model = lstm(package)
    model.compile("adam", "mse")
    model.fit(WORDS, np.ones(len(WORDS)), verbose=0)
    tf.saved_model.save(model, folder)
    return model


def two_signatures(_, folder):
    class Affine(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.b = tf.Variable([0.5, -0.5], name="b")

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def predict(self, x):
            return {"y": tf.matmul(x, self.w) + self.b}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def double(self, x):
            return {"twice": 2 * self.predict(x)["y"]}

    model = Affine()
    tf.saved_model.save(model, folder, signatures={"predict": model.predict, "double": model.double})
    return model


def estimator_export(_, folder):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name="features")
        kernel = v1.get_variable("dnn/kernel", [3, 4], initializer=v1.glorot_uniform_initializer(seed=1), use_resource=True)
        bias = v1.get_variable("dnn/bias", [4], initializer=v1.zeros_initializer(), use_resource=True)
        probabilities = tf.nn.softmax(tf.matmul(x, kernel) + bias)
        session.run(v1.global_variables_initializer())
        signature = v1.saved_model.signature_def_utils.predict_signature_def({"features": x}, {"probabilities": probabilities})
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], signature_def_map={"predict": signature})
        builder.save()


RNG = np.random.RandomState(0)
IMAGES, WORDS = RNG.rand(16, 8, 8, 3).astype(np.float32), RNG.randint(0, 20, (16, 6)).astype(np.float32)
ROWS = RNG.rand(16, 3).astype(np.float32)
TOURS = {
    "cnn of Keras 3": (keras_cnn, "keras", "serving_default", IMAGES, RNG.randint(0, 5, 16), "crossentropy"),
    "cnn of tf_keras": (keras_cnn, "tf_keras", "serving_default", IMAGES, RNG.randint(0, 5, 16), "crossentropy"),
    "lstm of Keras 3": (keras_lstm, "keras", "serving_default", WORDS, RNG.randint(0, 2, 16), "crossentropy"),
    "lstm of tf_keras": (keras_lstm, "tf_keras", "serving_default", WORDS, RNG.randint(0, 2, 16), "mae"),
    "compiled lstm of Keras 3": (compiled_lstm, "keras", "serving_default", WORDS, RNG.randint(0, 2, 16), "mse"),
    "compiled lstm of tf_keras": (compiled_lstm, "tf_keras", "serving_default", WORDS, RNG.randint(0, 2, 16), "mse"),
    "module": (two_signatures, "", "predict", ROWS[:, :2], ROWS[:, 1:], "mse"),
    "estimator": (estimator_export, "", "predict", ROWS, RNG.randint(0, 4, 16), "crossentropy"),
}


@pytest.fixture(scope="module", params=TOURS)
def tour(request, tmp_path_factory):
    """The name of a model, its folder, and the model."""
    make, package, *_ = TOURS[request.param]
    folder = str(tmp_path_factory.mktemp("tour") / "model")
    return request.param, folder, make(package, folder)


def test_the_whole_way(tour, tmp_path):
    name, model, _ = tour
    *_, signature, inputs, labels, loss = TOURS[name]
    trained, optimized = (str(tmp_path / part) for part in ("trained", "optimized"))
    np.save(tmp_path / "x.npy", inputs)
    np.save(tmp_path / "labels.npy", labels)
    word, output = words_of(model, signature)
    feed = ("--signature", signature, "--feed", f"{word}=@{tmp_path / 'x.npy'}")

    assert f"signature {signature}" in succeeded("explain", model)
    before = fetched(model, feed, output, tmp_path)
    close(before, in_tensorflow(model, signature, word, inputs, output))
    assert "coverage: 100.0 %" in succeeded("flops", model, "--signature", signature, "--batch", 16)
    succeeded("optimize", model, *feed, "--verify", "--save-model", optimized)
    close(in_tensorflow(optimized, signature, word, inputs, output), before)

    learning = ("--loss", loss, "--feed", f"labels=@{tmp_path / 'labels.npy'}", "--optimizer", "adam", "--steps", 4)
    succeeded("train", model, *feed, *learning, "--lr", "0.01", "--save-model", trained)
    after = fetched(trained, feed, output, tmp_path)
    assert np.abs(after - before).max() > 1e-3
    close(after, in_tensorflow(trained, signature, word, inputs, output))


@pytest.mark.parametrize("tour", ["cnn of tf_keras", "lstm of tf_keras"], indirect=True)
def test_keras_loads_what_was_trained(tour, tmp_path):
    """tf_keras has its own model again, of its own class, with the new weights."""
    tf_keras = pytest.importorskip("tf_keras")
    name, model, _ = tour
    trained = str(tmp_path / "trained")
    inputs = TOURS[name][3]
    np.save(tmp_path / "x.npy", inputs)
    word, output = words_of(model, "serving_default")
    feed = ("--feed", f"{word}=@{tmp_path / 'x.npy'}")
    labels = ("--feed", f"labels={[1] * 16}")
    succeeded("train", model, *feed, *labels, "--loss", "crossentropy", "--steps", 3, "--save-model", trained)
    loaded = tf_keras.models.load_model(trained)
    assert isinstance(loaded, tf_keras.Sequential)
    close(loaded.predict(inputs, verbose=0), fetched(trained, feed, output, tmp_path))


@pytest.mark.parametrize("kind", ["mse", "mae", "crossentropy"])
@pytest.mark.parametrize("classes", [1, 3])
def test_losses_by_name_are_those_of_keras(kind, classes, tmp_path):
    keras = importlib.import_module("keras")
    rows = RNG.rand(8, classes).astype(np.float32)
    labels = RNG.rand(8, classes).astype(np.float32)
    keras_name = {"crossentropy": "binary_crossentropy" if classes == 1 else "categorical_crossentropy"}.get(kind, kind)
    functions = {"mse": keras.losses.MeanSquaredError(), "mae": keras.losses.MeanAbsoluteError()}
    expected = functions[kind](labels, rows) if kind in functions else getattr(keras.losses, keras_name)(labels, rows)
    from tfg.core.training.losses import add_loss

    g = tfg.GraphBuilder()
    output, given = (g.Placeholder(dtype="float", shape=[None, classes], name=name) for name in ("output", "labels"))
    result = add_loss(g.graph, kind, output, given)
    value = tfg.Session(g.graph).run(result.name, {"output:0": rows, "labels:0": labels})
    np.testing.assert_allclose(value, np.mean(expected), rtol=1e-5)


def test_flops_are_those_of_the_model_however_it_was_written(tmp_path):
    """A frozen graph, a SavedModel and an export() of one Keras model."""
    saved, exported, frozen = (str(tmp_path / name) for name in ("saved", "exported", "frozen.pb"))
    model = keras_cnn("tf_keras", saved)
    model.export(exported)
    succeeded("convert", saved, frozen, "--freeze", "--signature", "serving_default")
    reports = [run("flops", path, "--batch", 2, "--format", "json").json for path in (saved, exported, frozen)]
    totals = [report["total"]["flops"] for report in reports]
    assert len(set(totals)) == 1 and totals[0] > 10_000


def succeeded(*words):
    done = run(*words)
    assert done.code == 0, done.err
    return done.out


def words_of(model, signature):
    """The name of a signature's input and of its output."""
    result = tfg.load(model).meta.signatures[signature]
    return next(iter(result.inputs)), next(iter(result.outputs))


def fetched(model, feed, output, folder):
    succeeded("run", model, *feed, "--fetch", output, "--output", folder / "out.npy")
    return np.load(folder / "out.npy")


def in_tensorflow(model, signature, word, inputs, output):
    loaded = tf.saved_model.load(model)
    return loaded.signatures[signature](**{word: tf.constant(inputs)})[output].numpy()


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


COUNTED = {"cnn": (305, 8), "lstm": (616, 0), "module": (6, 0), "estimator": (16, 0)}
"""How many elements of variables a model trains, and how many others it has."""


def test_variables_are_counted_once(tour):
    """As many as the model says itself, whatever handles, optimizers and metrics its file has besides."""
    name, folder, model = tour
    trainable, other = COUNTED[name.removeprefix("compiled ").partition(" of ")[0]]
    if hasattr(model, "trainable_weights"):
        assert trainable == sum(int(np.prod(weight.shape)) for weight in model.trainable_weights)
    held = {held.purpose: held.elements for held in tfg.explain(tfg.load(folder)).holdings}
    assert (held["trainable"], held.get("other", 0)) == (trainable, other)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_the_values_of_layers_are_those_of_keras(package, tmp_path):
    keras = pytest.importorskip(package)
    layers = keras.layers
    words = layers.Input((16,), dtype="int32", name="words")
    x = layers.Embedding(50, 8, name="embed")(words)
    x = layers.LayerNormalization(name="norm")(x + layers.MultiHeadAttention(2, 4, name="attention")(x, x))
    x = layers.LSTM(12, return_sequences=True, name="lstm")(x)
    x = layers.GlobalAveragePooling1D(name="average")(x)
    model = keras.Model(words, layers.Dense(3, activation="softmax", name="head")(x))
    model.export(tmp_path) if package == "tf_keras" else model.export(tmp_path, verbose=False)
    rows = np.arange(32, dtype=np.int32).reshape(2, 16)
    values = tfg.Model(tmp_path).activations(rows)
    names = ["embed", "attention", "norm", "lstm", "average", "head"]
    inner = keras.Model(words, [model.get_layer(name).output for name in names])
    for name, expected in zip(names, inner(rows)):
        np.testing.assert_allclose(values[name], expected.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)
