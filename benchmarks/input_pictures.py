"""JPEG files through a network: tfg with NumPy and with `auto`, and TensorFlow with batches of 32, in turns.

python -m benchmarks.input_pictures [--tensorflow PYTHON] [--network ResNet50] [--pictures N] [--rounds N]

The networks are those that `python -m benchmarks --tensorflow PYTHON` freezes.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile

import numpy as np

import tfg

from .input_rows import Times, measured
from .works import NETWORKS, network_file

SCRIPT = """
import sys
import numpy as np
import tensorflow as tf

path, feed, fetch, size = *sys.argv[1:4], int(sys.argv[4])
definition = tf.compat.v1.GraphDef.FromString(open(path, "rb").read())
run = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(definition, name=""), []).prune(feed, fetch)
def picture(path):
    pixels = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [size, size])
    return pixels / 255
files = tf.data.Dataset.list_files("jpg/*.jpg", shuffle=False)
pictures = files.map(picture, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(2)
np.savez("tensorflow.npz", *[run(batch).numpy() for batch in pictures])
"""


def write_pictures(folder: pathlib.Path, count: int) -> None:
    """Write `count` smooth JPEG files of 500 x 375 pixels into the folder jpg."""
    from PIL import Image

    (folder / "jpg").mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for number in range(count):
        colors = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        colors.resize((500, 375), Image.Resampling.BICUBIC).save(folder / "jpg" / f"{number:05}.jpg", quality=90)


def ways(network: str, tensorflow: str | None) -> dict[str, list[str]]:
    """Return the commands by name."""
    path = str(network_file(network))
    graph = tfg.load(path)
    (source,) = (node for node in graph if node.op == "Placeholder")
    size, fetch = source.attrs["shape"].dims[1], list(graph)[-1].name
    feed = f"{source.name}=@each?resize={size},{size}&scale=1/255"
    run = [sys.executable, "-m", "tfg", "run", path, "--fetch", fetch, "--feed", feed, "--each", "jpg"]
    run += ["--overwrite", "--quiet", "--output", "out.npz", "--engine"]
    commands = {f"{network}, NumPy": [*run, "numpy"], f"{network}, auto": [*run, "auto"]}
    if tensorflow:
        words = [path, f"{source.name}:0", f"{fetch}:0", str(size)]
        commands[f"{network}, TensorFlow, batches of 32"] = [os.path.abspath(tensorflow), "-c", SCRIPT, *words]
    return commands


def main() -> None:
    """Print pictures a second and the CPU time of a picture, without the start of the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow")
    parser.add_argument("--network", choices=NETWORKS, default="MobileNetV2")
    parser.add_argument("--pictures", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    commands, times = ways(options.network, options.tensorflow), Times()
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        write_pictures(pathlib.Path(few), 32)
        write_pictures(pathlib.Path(many), 32 + options.pictures)
        for _ in range(options.rounds):
            for way, command in commands.items():
                times.add(way, *(measured(command, pathlib.Path(folder)) for folder in (few, many)))
    times.show(options.pictures, "pictures")


if __name__ == "__main__":
    main()
