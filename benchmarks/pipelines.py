"""Time of a pass over input pipelines in tfg and in TensorFlow: wall and CPU time, the minimum of interleaved rounds.

usage: python -m benchmarks.pipelines [NAME ...]        needs TensorFlow

Each pipeline is a tf.data program, saved as a GraphDef; both run the initializer and then IteratorGetNext to the end. CPU
time counts all threads. The machine should be idle: both libraries use several threads, and the threads wait for a busy
core.
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
import simplejpeg
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


def jpegs(folder: pathlib.Path) -> tf.data.Dataset:
    """A folder of JPEGs of 500 x 375, decoded, resized and scaled."""
    down, across = np.mgrid[:375, :500]
    for i in range(200):
        waves = [127 + 100 * np.sin(across / RNG.uniform(10, 60) + down / RNG.uniform(10, 60)) for _ in range(3)]
        picture = (np.stack(waves, -1) + RNG.normal(0, 6, (375, 500, 3))).clip(0, 255).astype(np.uint8)
        (folder / f"{i:04}.jpg").write_bytes(simplejpeg.encode_jpeg(picture, quality=90, colorsubsampling="420"))

    def read(path: tf.Tensor) -> tf.Tensor:
        return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [224, 224]) / 255.0

    files = tf.data.Dataset.list_files(str(folder / "*.jpg"), shuffle=False)
    return files.map(read, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)


def examples(folder: pathlib.Path) -> tf.data.Dataset:
    """Return parsed Examples of three features, with variable lengths of a feature."""
    path = str(folder / "single.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5_000):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=RNG.rand(16))),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"word"] * (i % 5))),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    spec = {
        "x": tf.io.FixedLenFeature([16], tf.float32),
        "y": tf.io.FixedLenFeature([], tf.int64),
        "words": tf.io.VarLenFeature(tf.string),
    }

    def parse(record: tf.Tensor) -> tuple[tf.Tensor, ...]:
        example = tf.io.parse_single_example(record, spec)
        return example["x"], example["y"], tf.size(example["words"].values)

    records = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return records.batch(64).prefetch(tf.data.AUTOTUNE)


def texts(folder: pathlib.Path) -> tf.data.Dataset:
    """Lines of 3 to 39 words as numbers of a vocabulary, in padded batches."""
    words = [f"word{i}" for i in range(2_000)]
    path = folder / "lines.txt"
    path.write_text("".join(" ".join(RNG.choice(words, RNG.randint(3, 40))) + "\n" for _ in range(10_000)))
    numbers = tf.lookup.KeyValueTensorInitializer(words, tf.range(len(words), dtype=tf.int64))
    table = tf.lookup.StaticHashTable(numbers, -1)
    lines = tf.data.TextLineDataset(str(path))
    result = lines.map(lambda line: table.lookup(tf.strings.split(line)), num_parallel_calls=tf.data.AUTOTUNE)
    return result.padded_batch(64, padded_shapes=[None]).prefetch(tf.data.AUTOTUNE)


PIPELINES: dict[str, Callable[[pathlib.Path], tf.data.Dataset]] = {
    "slices, shuffle, batch": slices,
    "map of a small function": mapped,
    "TFRecord, parse_example": records,
    "decode_png, resize": images,
    "folder of JPEGs": jpegs,
    "TFRecord, parse_single_example": examples,
    "text in padded batches": texts,
}
"""Name -> program."""


def saved(program: Callable[[pathlib.Path], tf.data.Dataset], folder: pathlib.Path) -> tuple[bytes, list[str], list[str]]:
    """Return (GraphDef, names of initializers with the iterator's last, names of the tensors of an element)."""
    with tf.Graph().as_default() as graph:
        iterator = tf.compat.v1.data.make_initializable_iterator(program(folder))
        names = [tensor.name for tensor in tf.nest.flatten(iterator.get_next())]
        tables = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.TABLE_INITIALIZERS)
        return graph.as_graph_def().SerializeToString(), [op.name for op in (*tables, iterator.initializer)], names


def in_tensorflow(definition: bytes) -> tuple[Callable[..., object], type[Exception]]:
    graph = _traces.imported(tf.compat.v1.GraphDef.FromString(definition))
    return tf.compat.v1.Session(graph=graph).run, tf.errors.OutOfRangeError


def in_tfg(definition: bytes) -> tuple[Callable[..., object], type[Exception]]:
    return tfg.Session(tfg.load(definition), files=tfg.FileAccess.everything()).run, tfg.errors.OutOfRangeError


def seconds(
    run: Callable[..., object], ends: type[Exception], initializers: list[str], names: list[str]
) -> tuple[float, float]:
    """Return (wall seconds, CPU seconds) of a pass."""
    for initializer in initializers[:-1]:
        run(initializer)
    start, cpu_start = time.perf_counter(), time.process_time()
    run(initializers[-1])
    while True:
        try:
            run(names)
        except ends:
            return time.perf_counter() - start, time.process_time() - cpu_start


def main() -> None:
    chosen = sys.argv[1:] or list(PIPELINES)
    print(f"{'pipeline':32}{'tfg ms':>10}{'TensorFlow':>12}{'ratio':>8}{'CPU ms':>10}{'TensorFlow':>12}{'ratio':>8}")
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            definition, initializers, names = saved(PIPELINES[name], pathlib.Path(folder))
            ways = (in_tfg(definition), in_tensorflow(definition))
            rounds = [[seconds(*way, initializers, names) for way in ways] for _ in range(ROUNDS)]
        least = [[1e3 * min(times) for times in zip(*passes)] for passes in zip(*rounds)]
        figures = [f"{own:10.0f}{other:12.0f}{own / other:8.2f}" for own, other in zip(*least)]
        print(f"{name:32}{''.join(figures)}", flush=True)


if __name__ == "__main__":
    main()
