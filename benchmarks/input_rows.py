"""Rows of a table through a small perceptron: tfg one by one and in blocks, and TensorFlow with batches of 32, in turns.

python -m benchmarks.input_rows [--tensorflow PYTHON] [--rows N]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import tfg

COLUMNS = 20
SCRIPT = """
import csv, sys
import tensorflow as tf

definition = tf.compat.v1.GraphDef.FromString(open("mlp.pb", "rb").read())
run = tf.compat.v1.wrap_function(lambda: tf.import_graph_def(definition, name=""), []).prune("x:0", "y:0")
columns = [tf.float32] * int(sys.argv[1])
rows = tf.data.experimental.CsvDataset("rows.csv", columns, header=True).batch(32).map(lambda *a: tf.stack(a, 1)).prefetch(2)
with open("tensorflow.csv", "w", newline="") as file:
    csv.writer(file).writerows(row for batch in rows for row in run(batch).numpy().tolist())
"""


def write_inputs(folder: pathlib.Path, count: int) -> None:
    """Write a perceptron of 20, 64 and 1 units, and rows as CSV and as JSON lines."""
    rng = np.random.default_rng(0)
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, COLUMNS], name="x")
    wide, narrow = (rng.normal(size=shape).astype(np.float32) for shape in ((COLUMNS, 64), (64, 1)))
    hidden = g.Relu(g.BiasAdd(g.MatMul(x, wide), np.zeros(64, np.float32)))
    g.Sigmoid(g.BiasAdd(g.MatMul(hidden, narrow), np.zeros(1, np.float32)), name="y")
    tfg.save(g.graph, folder / "mlp.pb")
    rows = rng.normal(size=(count, COLUMNS)).round(4).tolist()
    names = ",".join(f"c{i}" for i in range(COLUMNS))
    (folder / "rows.csv").write_text("\n".join([names, *(",".join(map(str, row)) for row in rows), ""]))
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps({'x': [row]})}\n" for row in rows))


def ways(tensorflow: str | None) -> dict[str, list[str]]:
    """Return the commands by name."""
    run = [sys.executable, "-m", "tfg", "run", "mlp.pb", "--fetch", "y", "--overwrite", "--quiet", "--output", "out.csv"]
    commands = {
        "CSV, one by one": [*run, "--each", "rows.csv", "--batch", "1"],
        "CSV, in blocks": [*run, "--each", "rows.csv"],
        "JSON lines, in blocks": [*run, "--each", "rows.jsonl"],
    }
    if tensorflow:
        commands["CSV, TensorFlow, batches of 32"] = [os.path.abspath(tensorflow), "-c", SCRIPT, str(COLUMNS)]
    return commands


def measured(command: list[str], folder: pathlib.Path) -> tuple[float, float]:
    """Return the wall time and the CPU time of a process, its start included."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Times:
    """Wall and CPU times of processes that work on few inputs and on many, by the name of the way."""

    def __init__(self) -> None:
        self._added: dict[str, list[tuple[float, float]]] = {}

    def add(self, way: str, few: tuple[float, float], many: tuple[float, float]) -> None:
        """Add the times of a round."""
        self._added.setdefault(way, []).append((many[0] - few[0], many[1] - few[1]))

    def show(self, count: int, inputs: str) -> None:
        """Print the medians for `count` inputs, which are called `inputs`."""
        for way, rounds in self._added.items():
            wall, cpu = (statistics.median(column) for column in zip(*rounds))
            print(f"{way}: {count / wall:,.0f} {inputs} a second, {cpu / count * 1e6:,.0f} us of CPU time each")


def main() -> None:
    """Print rows a second and the CPU time of a row, without the start of the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    times = Times()
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        write_inputs(pathlib.Path(few), 1)
        write_inputs(pathlib.Path(many), 1 + options.rows)
        for _ in range(options.rounds):
            for way, command in ways(options.tensorflow).items():
                times.add(way, *(measured(command, pathlib.Path(folder)) for folder in (few, many)))
    times.show(options.rows, "rows")


if __name__ == "__main__":
    main()
