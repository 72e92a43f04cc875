"""Elements a second of input pipelines in tfg and in TensorFlow: CPU time of the process, the best of interleaved rounds.

usage: python -m benchmarks.pipelines [NAME ...]        where TensorFlow is installed

Each pipeline is a tf.data program, saved as a GraphDef; both run its initializer and then IteratorGetNext to the end. CPU time
counts all threads, so that what TensorFlow does in parallel is not counted as faster than it is.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tfg

from . import _traces

ROUNDS = 5
RNG = np.random.RandomState(0)


def slices(folder: pathlib.Path) -> tf.data.Dataset:
    """Images and labels shuffled and batched: elements are the images."""
    images, labels = RNG.randint(0, 256, (20_000, 28, 28)).astype(np.uint8), RNG.randint(0, 10, 20_000)
    return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1000, seed=1).batch(100)


def mapped(folder: pathlib.Path) -> tf.data.Dataset:
    """A small function of numbers."""
    return tf.data.Dataset.range(5_000).map(lambda x: tf.cast(x, tf.float32) * 2.0 + 1.0).batch(100)


def records(folder: pathlib.Path) -> tf.data.Dataset:
    """Examples of two features, parsed in batches."""
    path = str(folder / "examples.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5_000):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=RNG.rand(16))),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    spec = {"x": tf.io.FixedLenFeature([16], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    return tf.data.TFRecordDataset(path).batch(100).map(lambda batch: tf.io.parse_example(batch, spec))


def images(folder: pathlib.Path) -> tf.data.Dataset:
    """PNG files decoded and resized."""
    picture = np.kron(RNG.randint(0, 256, (16, 16, 3)), np.ones((8, 8, 1))).astype(np.uint8)
    data = tf.raw_ops.EncodePng(image=picture, compression=-1)
    encoded = tf.data.Dataset.from_tensors(data).repeat(200)
    return encoded.map(lambda png: tf.image.resize(tf.io.decode_png(png, channels=3), [64, 64])).batch(20)


PIPELINES: dict[str, tuple[Callable[[pathlib.Path], tf.data.Dataset], int]] = {
    "slices, shuffle, batch": (slices, 20_000),
    "map of a small function": (mapped, 5_000),
    "TFRecord, parse_example": (records, 5_000),
    "decode_png, resize": (images, 200),
}
"""Name -> (program, how many elements go in)."""


def saved(program: Callable[[pathlib.Path], tf.data.Dataset], folder: pathlib.Path) -> tuple[bytes, str, list[str]]:
    """(GraphDef, name of the initializer, names of the tensors of an element)."""
    with tf.Graph().as_default() as graph:
        iterator = tf.compat.v1.data.make_initializable_iterator(program(folder))
        names = [tensor.name for tensor in tf.nest.flatten(iterator.get_next())]
        return graph.as_graph_def().SerializeToString(), iterator.initializer.name, names


def in_tensorflow(definition: bytes) -> tuple[Callable[..., object], type[Exception]]:
    graph = _traces.imported(tf.compat.v1.GraphDef.FromString(definition))
    return tf.compat.v1.Session(graph=graph).run, tf.errors.OutOfRangeError


def in_tfg(definition: bytes) -> tuple[Callable[..., object], type[Exception]]:
    return tfg.Session(tfg.load(definition), files=tfg.FileAccess.everything()).run, tfg.errors.OutOfRangeError


def seconds(run: Callable[..., object], ends: type[Exception], initializer: str, names: list[str]) -> float:
    """CPU seconds of one pass."""
    start = time.process_time()
    run(initializer)
    while True:
        try:
            run(names)
        except ends:
            return time.process_time() - start


def main() -> None:
    chosen = sys.argv[1:] or list(PIPELINES)
    print(f"{'pipeline':26}{'tfg':>12}{'TensorFlow':>12}{'ratio':>8}   elements a CPU second")
    for name in chosen:
        program, count = PIPELINES[name]
        with tempfile.TemporaryDirectory() as folder:
            definition, initializer, names = saved(program, pathlib.Path(folder))
            ways = (in_tfg(definition), in_tensorflow(definition))
            rounds = [[seconds(*way, initializer, names) for way in ways] for _ in range(ROUNDS)]
        rates = [count / min(times) for times in zip(*rounds)]
        print(f"{name:26}{rates[0]:12,.0f}{rates[1]:12,.0f}{rates[0] / rates[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main()
