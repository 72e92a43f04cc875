"""Each kind of SavedModel, written again in each way, gives in TensorFlow the results of the original."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from tests.cli.running import tfg as run

tf = pytest.importorskip("tensorflow")

from tests.live.test_saved_model_tour import estimator_export, keras_cnn, keras_lstm, two_signatures  # noqa: E402

pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]


class Scaler(tf.Module):
    """Three outputs, one a string, by a vocabulary that is an asset and a table of constants."""

    def __init__(self, vocabulary):
        super().__init__()
        self.scale = tf.Variable([2.0, 3.0], name="scale")
        initializer = tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.numbers = tf.lookup.StaticHashTable(initializer, -1)
        words = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant(["no", "yes"]))
        self.words = tf.lookup.StaticHashTable(words, "unknown")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="x")])
    def serve(self, x):
        numbers = self.numbers.lookup(x)
        scaled = tf.cast(numbers, tf.float32)[:, None] * self.scale
        return {"numbers": numbers, "scaled": scaled, "words": self.words.lookup(numbers)}


def tables(_, folder):
    vocabulary = folder + ".txt"
    with open(vocabulary, "w", encoding="ascii") as file:
        file.write("red\ngreen\n")
    model = Scaler(vocabulary)
    tf.saved_model.save(model, folder, signatures=model.serve)


class Doubled(tf.Module):
    """The gradient saved with it is 5 times what arrives, and reads the argument."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(self, x):
        plain = tf.custom_gradient(lambda y: (y * 2.0, lambda dy: dy * 5.0))
        reading = tf.custom_gradient(lambda y: (y * 2.0, lambda dy: dy * y))
        return {"plain": plain(x @ self.w), "reading": reading(x @ self.w)}


def custom_gradient(_, folder):
    model = Doubled()
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(model, folder, signatures=model.serve, options=options)


class Partial(tf.Module):
    """Its input reaches no output."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def serve(self, x):
        return {"y": self.w * 2.0}


def unread_input(_, folder):
    model = Partial()
    tf.saved_model.save(model, folder, signatures=model.serve)


def reference_variables(_, folder):
    """A model of TensorFlow 1 with two signatures, variables that are references, and a table with its own initializer."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=False)
        y = tf.add(x @ w, 1.0, name="y")
        words = tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant(["yes", "no"]))
        answer = tf.lookup.StaticHashTable(words, "unknown").lookup(tf.where(y > 2, "a", "c"))
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        describe = v1.saved_model.signature_def_utils.predict_signature_def
        signatures = {"serving_default": describe({"x": x}, {"y": y, "answer": answer}), "only": describe({"x": x}, {"y": y})}
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], signatures, main_op=v1.tables_initializer())
        builder.save()


RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((3, 3)).astype(np.float32)
EXPORTS = {
    "cnn of Keras 3": (keras_cnn, "keras", RNG.random((2, 8, 8, 3), np.float32)),
    "cnn of tf_keras": (keras_cnn, "tf_keras", RNG.random((2, 8, 8, 3), np.float32)),
    "lstm of Keras 3": (keras_lstm, "keras", RNG.integers(0, 20, (2, 6)).astype(np.float32)),
    "module": (two_signatures, "", ROWS[:, :2]),
    "estimator": (estimator_export, "", ROWS),
    "tables": (tables, "", np.array([b"green", b"blue"], object)),
    "custom gradient": (custom_gradient, "", ROWS[:, :2]),
    "unread input": (unread_input, "", ROWS[:, :2]),
    "TensorFlow 1": (reference_variables, "", ROWS[:, :2]),
}
WAYS = {
    "run": ("run", "--save-model"),
    "convert": ("convert", "--kind", "saved_model"),
    "optimize": ("optimize", "--save-model"),
    "optimize, one pass": ("optimize", "--passes", "prune", "--save-model"),
    "train": ("train", "--lr", "0", "--steps", "1", "--save-model"),
}


@pytest.fixture(scope="module", params=EXPORTS)
def export(request, tmp_path_factory):
    """The folder of a model, its inputs and its results by either loader of TensorFlow."""
    make, package, inputs = EXPORTS[request.param]
    folder = str(tmp_path_factory.mktemp("models") / "model")
    make(package, folder)
    return folder, inputs, by_v2(folder, inputs), by_v1(folder, inputs)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
def test_results_are_those_of_the_original(export, way, tmp_path):
    folder, inputs, expected, wanted_v1 = export
    out = str(tmp_path / "out")
    command, *options = WAYS[way]
    done = run(command, folder, *options, out, *loss(command, expected, folder, inputs, tmp_path))
    assert done.code == 0, done.err
    same(by_v2(out, inputs), expected)
    same(by_v1(out, inputs), wanted_v1)


def test_keras_takes_it_as_a_layer(export, tmp_path):
    keras = pytest.importorskip("keras")
    folder, inputs, expected, _ = export
    out = str(tmp_path / "out")
    assert run("optimize", folder, "--save-model", out).code == 0
    name = min(expected)
    layer = keras.layers.TFSMLayer(out, call_endpoint=name)
    same({name: {key: value.numpy() for key, value in layer(tf.constant(inputs)).items()}}, {name: expected[name]})


def loss(command, expected, folder, inputs, tmp_path):
    """What makes a training step of a command: the sum of a float output, by the first signature that has one."""
    if command != "train":
        return []
    signature, outputs = min(expected.items())
    word = next(key for key in sorted(outputs) if outputs[key].dtype == np.float32)
    with_input = words_of(tf.saved_model.load(folder).signatures[signature])[0]
    np.save(tmp_path / "x.npy", inputs.astype("S") if inputs.dtype == object else inputs)
    return ["--signature", signature, "--loss", word, "--feed", f"{with_input}=@{tmp_path / 'x.npy'}"]


def by_v2(folder, inputs, names=None):
    """The results of every signature, or of the named, by tf.saved_model.load."""
    signatures = tf.saved_model.load(folder).signatures
    return {
        name: {key: value.numpy() for key, value in call(**dict.fromkeys(words_of(call), tf.constant(inputs))).items()}
        for name, call in signatures.items()
        if names is None or name in names
    }


def words_of(call):
    return list(call.structured_input_signature[1])


def by_v1(folder, inputs, names=None):
    """The results of every signature, or of the named, by the loader of TensorFlow 1."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        signatures = v1.saved_model.load(session, ["serve"], folder).signature_def
        return {
            name: session.run(
                {key: info.name for key, info in signature.outputs.items()},
                {info.name: inputs for info in signature.inputs.values()},
            )
            for name, signature in signatures.items()
            if (not name.startswith("__") if names is None else name in names)
        }


def same(result, expected):
    assert result.keys() == expected.keys()
    for name, outputs in expected.items():
        assert result[name].keys() == outputs.keys()
        for key, value in outputs.items():
            if value.dtype == np.float32:
                np.testing.assert_allclose(result[name][key], value, rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(result[name][key], value)


def test_a_model_joined_with_itself_computes_everything_twice(export, tmp_path):
    """Variables, tables, files and functions of both are apart, and each signature is there for both."""
    folder, inputs, expected, _ = export
    out = str(tmp_path / "out")
    done = run("join", folder, folder, "-o", out + "/")
    assert done.code == 0 and "named 'model/...'" in done.err, done.err
    usual = "serving_default" if "serving_default" in expected else min(expected) if len(expected) == 1 else None
    both = {prefix: {f"{prefix}{key}": value for key, value in expected.get(usual, {}).items()} for prefix in ("", "model_")}
    wanted = {f"{prefix}{name}": expected[name] for name in expected if name != usual for prefix in both}
    wanted |= {usual: {**both[""], **both["model_"]}} if usual is not None else {}
    same(by_v2(out, inputs), wanted)
    same(by_v1(out, inputs), wanted)


@pytest.mark.parametrize("second", ["unread input", "TensorFlow 1", "custom gradient"])
@pytest.mark.parametrize("first, word", [("custom gradient", "plain"), ("TensorFlow 1", "y")])
def test_one_model_takes_the_result_of_another(first, word, second, tmp_path):
    folders = [str(tmp_path / name) for name in ("one", "two")]
    for name, folder in zip((first, second), folders):
        EXPORTS[name][0]("", folder)
    out = str(tmp_path / "out")
    assert run("join", *folders, "-o", out + "/", "--connect", f"x={word}").code == 0
    before = by_v2(folders[0], ROWS[:, :2])["serving_default"]
    after = by_v2(folders[1], before.pop(word))["serving_default"]
    wanted = before | {key if key not in before else f"two_{key}": value for key, value in after.items()}
    same({"": by_v2(out, ROWS[:, :2])["serving_default"]}, {"": wanted})


@pytest.mark.parametrize("export", ["cnn of Keras 3"], indirect=True)
def test_a_model_takes_pictures_and_gives_labels(export, tmp_path):
    """As TensorFlow decodes, resizes and scales them, in base64 too; a model of batches, by both loaders."""
    folder = export[0]
    pixels = RNG.integers(0, 256, (20, 30, 3), np.uint8)
    data = [tf.io.encode_jpeg(pixels).numpy(), tf.io.encode_png(pixels[:9]).numpy()]
    resized = [tf.image.resize(tf.io.decode_image(one), (8, 8))[..., ::-1] for one in data]
    scores = min(by_v2(folder, (np.stack(resized) - np.float32([1, 2, 3])) / 255).items())[1]["output_0"]
    (tmp_path / "labels.txt").write_text("".join(f"label {number}\n" for number in range(scores.shape[1])))
    ends = ("--prepend", "image", "--prepend", "base64", "--bgr", "--mean", "1,2,3", "--scale", "1/255")
    out = str(tmp_path / "out")
    done = run("convert", folder, out + "/", *ends, "--append", f"top_k=2,labels={tmp_path / 'labels.txt'}")
    assert done.code == 0, done.err
    best, places = tf.math.top_k(scores, 2)
    labels = np.array([[b"label %d" % place for place in row] for row in places.numpy()], object)
    strings = np.array([base64.b64encode(one) for one in data], object)
    for loaded in (by_v2, by_v1):
        result = loaded(out, strings, ["serving_default"])["serving_default"]
        np.testing.assert_allclose(result["scores"], best, rtol=1e-4)
        np.testing.assert_array_equal(result["classes"], labels)


def test_the_note_names_the_loss_of_custom_gradients(tmp_path):
    custom_gradient(None, str(tmp_path / "model"))
    done = run("optimize", tmp_path / "model", "--save-model", tmp_path / "out")
    assert done.code == 0 and "2 custom gradients" in done.err
    model = tf.saved_model.load(str(tmp_path / "out"))
    with tf.GradientTape() as tape, pytest.raises((LookupError, tf.errors.NotFoundError)):
        x = tf.constant([[1.0, 2.0]])
        tape.watch(x)
        tape.gradient(model.signatures["serving_default"](x=x)["plain"], x)
