"""Record the exports that `tests/cli/test_diff.py` compares.

usage: python -m tests.cli.record_exports    (needs TensorFlow and Keras 3)

Each model is exported twice in a process, where TensorFlow numbers functions and names anew, and once in another process.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import zipfile

ARCHIVE = pathlib.Path(__file__).with_name("exports.zip")


def keras_model(units: int = 3):
    import keras

    keras.utils.set_random_seed(1)
    layers = [keras.Input((4,), name="x"), keras.layers.Dense(units, "relu", name="hidden"), keras.layers.Dense(2, name="out")]
    return keras.Sequential(layers)


def export_keras(folder: pathlib.Path, is_first: bool) -> None:
    """Export a Keras model twice, rebuilt, with another weight, a wider layer and another layer."""
    import keras

    model = keras_model()
    model.export(folder / "keras")
    if not is_first:
        return
    model.export(folder / "keras_again")
    keras_model().export(folder / "keras_rebuilt")
    weights = model.get_weights()
    weights[0] = weights[0] + 0.25
    model.set_weights(weights)
    model.export(folder / "keras_retrained")
    keras_model(units=5).export(folder / "keras_wider")
    layers = [keras.Input((4,), name="x"), keras.layers.Dense(3, "tanh", name="hidden"), keras.layers.Dense(2, name="out")]
    keras.utils.set_random_seed(1)
    keras.Sequential(layers).export(folder / "keras_tanh")


def module(scale: float, vocabulary: str):
    """A model with conditionals, loops, a custom gradient, a table filled from an asset, and functions that call functions."""
    import tensorflow as tf

    class Model(tf.Module):
        def __init__(self):
            super().__init__("model")
            self.scale = tf.Variable(scale, name="scale")
            self.steps = tf.Variable(0, name="steps")
            self.vocabulary = tf.saved_model.Asset(vocabulary)
            initializer = tf.lookup.TextFileInitializer(self.vocabulary, tf.string, 0, tf.int64, 1, delimiter=",")
            self.table = tf.lookup.StaticHashTable(initializer, -1)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def halve(self, x):
            return tf.cond(tf.reduce_sum(x) > 1.0, lambda: x / 2.0, lambda: x)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def step(self, x):
            @tf.custom_gradient
            def clipped(y):
                return y * 2.0, lambda grad: tf.clip_by_value(grad, -1.0, 1.0)

            return clipped(self.halve(x)) * self.scale

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x"), tf.TensorSpec([], tf.string, name="word")])
        def serve(self, x, word):
            self.steps.assign_add(1)
            rounds = self.table.lookup(word)
            _, y = tf.while_loop(lambda i, _: i < rounds, lambda i, y: (i + 1, self.step(y)), (tf.constant(0, tf.int64), x))
            return {"y": y, "rounds": rounds}

    return Model()


def export_module(folder: pathlib.Path, is_first: bool) -> None:
    """Export a tf.Module twice, with another asset, another signature and another variable."""
    import tensorflow as tf

    words = folder / "words.csv"
    words.write_text("one,1\ntwo,2\n")
    model = module(0.5, str(words))
    tf.saved_model.save(model, folder / "module", signatures=model.serve)
    if is_first:
        tf.saved_model.save(model, folder / "module_again", signatures=model.serve)
        signatures = {"serving_default": model.step, "halve": model.halve}
        tf.saved_model.save(model, folder / "module_signature", signatures=signatures)
        words.write_text("one,1\ntwo,3\n")
        other = module(0.5, str(words))
        tf.saved_model.save(other, folder / "module_asset", signatures=other.serve)
    words.unlink()


def export_v1(folder: pathlib.Path, is_first: bool) -> None:
    """Export a V1 graph with a saver, and build the same network twice in a graph."""
    import tensorflow as tf

    def network(value):
        x = tf.compat.v1.placeholder(tf.float32, [None, 2], "x")
        w = tf.compat.v1.get_variable("w", initializer=[[value], [2.0]])
        hidden = tf.matmul(x, w)
        out = tf.cond(tf.reduce_sum(hidden) > 0, lambda: hidden + 1.0, lambda: hidden - 1.0)
        return x, tf.add(tf.add(out, 1.0), 2.0)

    for name in ("v1", "v1_again")[: 1 + is_first]:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            x, y = network(1.0)
            session.run(tf.compat.v1.global_variables_initializer())
            tf.compat.v1.saved_model.simple_save(session, str(folder / name), {"x": x}, {"y": y})
    for name in ("v1_plain", "v1_renumbered") if is_first else ():
        with tf.Graph().as_default() as graph:
            if name == "v1_renumbered":
                tf.add(1.0, tf.cond(tf.constant(True), lambda: tf.constant(2.0), lambda: tf.constant(3.0)))
            network(1.0)
            tf.io.write_graph(graph, str(folder), f"{name}.pbtxt")


def main(arguments: list[str]) -> None:
    """Export into a folder, or record all from two processes."""
    if arguments:
        folder, is_first = pathlib.Path(arguments[0]), arguments[1] == "first"
        export_keras(folder, is_first)
        export_module(folder, is_first)
        export_v1(folder, is_first)
        return
    with tempfile.TemporaryDirectory() as temporary:
        for which in ("first", "second"):
            folder = pathlib.Path(temporary, which)
            folder.mkdir()
            subprocess.run([sys.executable, "-m", __spec__.name, str(folder), which], check=True)
        for path in folder.iterdir():
            path.rename(pathlib.Path(temporary, "first", f"{path.name}_elsewhere"))
        _pack(pathlib.Path(temporary, "first"))


def _pack(folder: pathlib.Path) -> None:
    """Write the files that tfg reads into the archive, with the same bytes for the same files."""
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "fingerprint.pb":
                archive.writestr(zipfile.ZipInfo(str(path.relative_to(folder))), path.read_bytes(), zipfile.ZIP_LZMA)


if __name__ == "__main__":
    main(sys.argv[1:])
