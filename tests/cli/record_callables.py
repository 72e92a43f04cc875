"""Make callables_model: a SavedModel without signatures whose functions only Python calls. Needs TensorFlow.

python -m tests.cli.record_callables
"""

from __future__ import annotations

import pathlib
import shutil
import tempfile

import tensorflow as tf

FOLDER = pathlib.Path(__file__).with_name("callables_model")


class Scale(tf.Module):
    """A part of the model with a separate variable."""

    def __init__(self):
        super().__init__()
        self.factor = tf.Variable([2.0, 3.0], name="factor")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def apply(self, x):
        return x * self.factor


class Model(tf.Module):
    """Variables, a table that a file fills, structures as results, and a function that is traced twice."""

    def __init__(self, vocabulary):
        super().__init__()
        self.scale = Scale()
        self.vocabulary = tf.saved_model.Asset(vocabulary)
        lines = tf.lookup.TextFileInitializer(
            self.vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)
        self.offset = tf.constant([10.0, 20.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def __call__(self, x):
        scaled = self.scale.apply(x)
        return {"sum": tf.reduce_sum(scaled), "parts": (scaled, x + self.offset)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "words")])
    def index(self, words):
        return self.table.lookup(words)

    @tf.function
    def double(self, value):
        return value + value


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = pathlib.Path(folder, "vocabulary.txt")
        vocabulary.write_text("zero\none\ntwo\n")
        model = Model(str(vocabulary))
        model.double.get_concrete_function(tf.TensorSpec([], tf.float32))
        model.double.get_concrete_function(tf.TensorSpec([2], tf.int32))
        shutil.rmtree(FOLDER, ignore_errors=True)
        tf.saved_model.save(model, str(FOLDER), signatures={})
    (FOLDER / "fingerprint.pb").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
