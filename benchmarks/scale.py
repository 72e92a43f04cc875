"""CPU seconds, peak memory and growth of tfg's work on graphs of four forms, from a thousand nodes to a million.

usage: python -m benchmarks.scale [--sizes 1k,10k,100k] [--forms chain,wide,functions,blocks] [--only WORK,...]
       [--tensorflow PYTHON]

With --tensorflow, an interpreter with TensorFlow imports each graph too, and runs it once. Each work on each graph is a
separate process, ended after --limit CPU seconds; larger graphs are then skipped. `slope` is the growth exponent between
the two largest sizes: 1 is linear.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

import tfg
from benchmarks.scale_graphs import KEPT, PLAIN_FORMS, UNKNOWN, shape_of, write_graph
from tfg.core.explaining.stages import recover_stages
from tfg.core.graph.graph import Graph
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.planning.planner import compile_plan

IN_TENSORFLOW = r"""
import os, pathlib, re, sys, time
import numpy as np
import tensorflow as tf

def peak():
    return int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) * 1024

work, path = sys.argv[1:]
before, start = peak(), time.process_time()
graph = tf.Graph()
with graph.as_default():
    tf.import_graph_def(tf.compat.v1.GraphDef.FromString(pathlib.Path(path).read_bytes()), name="")
if work == "run":
    before, start = peak(), time.process_time()
    x = graph.get_tensor_by_name("x:0")
    with tf.compat.v1.Session(graph=graph) as session:
        session.run([op for op in graph.get_operations() if op.name == "init"])
        session.run("y:0", {x: np.zeros(x.shape, np.float32)})
print(time.process_time() - start, before, peak(), flush=True)
os._exit(0)
"""
"""Loads a graph in TensorFlow, or runs a loaded graph once, and prints what `measure` prints."""
TICK = 1e-3
"""The least seconds of CPU that are told: some systems count in steps."""


def command(*arguments: str) -> None:
    """Run a tfg command in this process and discard the output."""
    from tfg.cli.main import run

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert run(arguments) == 0


def kept(graph: Graph) -> list[str]:
    """Return the usual fetches of a graph."""
    return [name for name in KEPT if name.partition(":")[0] in graph]


def run_once(graph: Graph) -> None:
    dims = graph["x"].attrs["shape"].dims
    session = tfg.Session(graph)
    session.run([name for name in kept(graph) if name == "init"])
    session.run("y:0", {"x:0": np.zeros(dims, np.float32)})


def plan(graph: Graph) -> None:
    compile_plan(graph, [graph.output("y:0")], [graph.output("x:0")])


def model(graph: Graph) -> None:
    """Make the view of a signature of the graph: calls are dissolved."""
    arguments = [{name: SignatureTensor(f"{name}:0")} for name in ("x", "y")]
    graph.meta = MetaGraph(signatures={"model": Signature("model", *arguments)})
    tfg.model_view(graph)


ON_FILES: Mapping[str, Callable[[str], object]] = {
    "load": tfg.load,
    "dump": lambda path: command("dump", path),
    "list": lambda path: command("dump", path, "--format", "list"),
    "text": lambda path: command("convert", path, os.devnull, "--text", "--quiet"),
    "binary": lambda path: command("convert", path, os.devnull, "--quiet"),
    "parse": lambda path: tfg.load(f"{path}txt"),
    "check": lambda path: command("check", path),
    "diff": lambda path: command("diff", path, path),
    "view": lambda path: command("view", path, "-o", os.devnull, "--quiet"),
}
ON_GRAPHS: Mapping[str, Callable[[Graph], object]] = {
    "explain": tfg.explain,
    "stages": recover_stages,
    "model": model,
    "plan": plan,
    "run": run_once,
    "flops": lambda graph: tfg.count_flops(graph, ["y:0"]),
    "gradients": lambda graph: tfg.gradients(graph, "y:0", ["x:0"]),
    "optimize": lambda graph: tfg.optimize(graph, kept(graph), ["x:0"]),
}
WITHOUT_SHAPES = {
    "flops-unknown": ON_GRAPHS["flops"],
    "optimize-unknown": ON_GRAPHS["optimize"],
}
"""Work on the same graph with an input of unknown rank."""


def measure(work: str, path: str) -> None:
    """Do the work on a file; print the CPU seconds, and the peak memory of this process in bytes before and after."""
    graph = None if work in ON_FILES else tfg.load(path)
    before, start = peak(), time.process_time()
    if graph is None:
        ON_FILES[work](path)
    else:
        (ON_GRAPHS | WITHOUT_SHAPES)[work](graph)
    print(max(time.process_time() - start, TICK), before, peak(), flush=True)
    os._exit(0)


def peak() -> int:
    """Return the peak memory of this process; `ru_maxrss` would include the peak of the parent process."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) * 1024  # type: ignore[index]


def in_process(command: Sequence[str], work: str, path: str, limit: int) -> tuple[float, int] | None:
    """Return (CPU seconds, bytes of memory) of a work by a command, None for a work over the limit."""
    line = f"ulimit -t {limit}; exec {shlex.join([*command, work, path])}"
    done = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return None
    seconds, before, after = done.stdout.split()
    return float(seconds), int(after) - int(before)


def number_of(text: str) -> int:
    """The number that `1k`, `100k` or `1M` stands for."""
    return int(text.replace("k", "000").replace("M", "000000"))


def graph_path(folder: pathlib.Path, form: str, size: int, work: str) -> pathlib.Path:
    """Return the file with the graph for a work, written at the first use."""
    is_unknown = work in WITHOUT_SHAPES
    path = folder / f"{form}-{size}{'-unknown' * is_unknown}.pb"
    if not path.exists():
        write_graph(path, form, size, UNKNOWN if is_unknown else shape_of(form))
    text = path.with_suffix(".pbtxt")
    if work == "parse" and not text.exists():
        command("convert", str(path), str(text), "--quiet")
    return path


def power(small: tuple[int, float], large: tuple[int, float]) -> float:
    """Return the growth exponent between two sizes with measurements."""
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])


def report(folder: pathlib.Path, form: str, work: str, sizes: list[int], limit: int, tensorflow: str = "") -> None:
    """Print a line: seconds for each size, bytes per node of the largest size, slope between the two largest."""
    own = [sys.executable, "-m", "benchmarks.scale", "--measure"]
    command, name = ([tensorflow, "-c", IN_TENSORFLOW], f"{work} (TensorFlow)") if tensorflow else (own, work)
    results: list[tuple[int, float, int]] = []
    for size in sizes:
        measured = in_process(command, work, str(graph_path(folder, form, size, work)), limit)
        if measured is None:
            break
        results.append((size, *measured))
    cells = [f"{seconds:9.3f}" for _, seconds, _ in results] + ["        -"] * (len(sizes) - len(results))
    slope = ""
    if len(results) > 1:
        slope = f"{power(results[-2][:2], results[-1][:2]):6.2f}"
    memory = f"{results[-1][2] / results[-1][0]:8.0f}" if results else ""
    print(f"{form:10}{name:18}{''.join(cells)}{memory:>9}{slope:>7}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works = [*ON_FILES, *ON_GRAPHS, *WITHOUT_SHAPES]
    parser.add_argument("--sizes", default="1k,10k,100k")
    parser.add_argument("--forms", default=",".join(PLAIN_FORMS))
    parser.add_argument("--only", default=",".join(works))
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--tensorflow", metavar="PYTHON", default="", help="An interpreter with TensorFlow.")
    parser.add_argument("--folder", type=pathlib.Path, help="Keep the graphs here, for the next time.")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
    sizes = options.sizes.split(",")
    print(f"{'form':10}{'work':18}{''.join(f'{size:>9}' for size in sizes)}  B/node  slope")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        for form in options.forms.split(","):
            for work in options.only.split(","):
                counts = list(map(number_of, sizes))
                report(folder, form, work, counts, options.limit)
                if options.tensorflow and work in ("load", "run"):
                    report(folder, form, work, counts, options.limit, options.tensorflow)


if __name__ == "__main__":
    main()
