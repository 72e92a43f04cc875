"""Time of `tfg flops` on a frozen ResNet-50 (1,831 nodes, batch unknown) as a process, beside tf.profiler.

usage: flops.py [PYTHON_WITH_TENSORFLOW]
"""

from __future__ import annotations

import lzma
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
GRAPH = ROOT / "tests" / "core" / "flops" / "graphs" / "resnet50.pb.xz"
RUNS = 9
SCRIPT = """
import sys, tensorflow as tf
definition = tf.compat.v1.GraphDef.FromString(open(sys.argv[1], "rb").read())
with tf.Graph().as_default() as graph:
    tf.import_graph_def(definition, name="")
    options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    options["output"] = "none"
    print(tf.compat.v1.profiler.profile(graph, cmd="op", options=options).total_float_ops)
"""


def measure(command: list[str], runs: int) -> tuple[float, float]:
    """(median seconds, MiB of the largest child so far)."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "resnet50.pb")
        pathlib.Path(path).write_bytes(lzma.decompress(GRAPH.read_bytes()))
        ours = [sys.executable, "-c", "from tfg.cli.main import main; main()", "flops", path]
        print("tfg flops    {:6.3f} s  {:7.1f} MiB".format(*measure(ours, RUNS)))
        if sys.argv[1:]:
            print("tf.profiler  {:6.3f} s  {:7.1f} MiB".format(*measure([sys.argv[1], "-c", SCRIPT, path], 3)))


if __name__ == "__main__":
    main()
