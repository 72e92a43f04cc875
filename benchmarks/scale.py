"""CPU seconds, peak memory and growth of tfg's work on graphs of four forms, from a thousand nodes to a million.

usage: python -m benchmarks.scale [--sizes 1k,10k,100k] [--forms chain,wide,functions,blocks] [--only WORK,...]

Each piece of work on each graph is a process of its own, ended after --limit CPU seconds; larger graphs are then not
tried. `slope` is the power of the number of nodes with which time grows between the two largest sizes: 1 is linear.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import tfg
from tfg.core import dtypes
from tfg.core.explaining.stages import recover_stages
from tfg.core.graph import Graph
from tfg.core.planning.planner import compile_plan
from tfg.core.shapes import Shape
from tfg.core.tensors import FuncRef, Tensor
from tfg.formats.attrs import encode_attr
from tfg.formats.protos.graph_pb2 import FunctionDef, GraphDef, NodeDef

FLOAT = {"T": dtypes.float32}
UNKNOWN = Shape()
BODY, BLOCK, MOST = 8, 14, 50_000
TICK = 1e-3
"""The least seconds of CPU that are told: some systems count in steps."""


def node(name: str, op: str, *inputs: str, **attrs: Any) -> NodeDef:
    """A NodeDef with attributes given as plain values."""
    return NodeDef(name=name, op=op, input=inputs, attr={key: encode_attr(value) for key, value in attrs.items()})


def constant(name: str, *dims: int) -> NodeDef:
    value = Tensor.from_numpy(np.full(dims, 0.5, np.float32))
    return node(name, "Const", dtype=dtypes.float32, value=value)


def placeholder(shape: Shape) -> NodeDef:
    return node("x", "Placeholder", dtype=dtypes.float32, shape=shape)


def chain(count: int) -> Iterator[NodeDef]:
    """x + c + c + ..."""
    yield constant("c", 4)
    last = "x"
    for i in range(count):
        yield node(f"layer_{i // 100}/add_{i}", "AddV2", last, "c", **FLOAT)
        last = f"layer_{i // 100}/add_{i}"
    yield node("y", "Identity", last, **FLOAT)


def wide(count: int) -> Iterator[NodeDef]:
    """One value that many nodes take, and nodes that take what up to MOST of these give."""
    sums = []
    for start in range(0, count, MOST):
        names = [f"branch_{i}" for i in range(start, min(start + MOST, count))]
        for name in names:
            yield node(name, "Tanh", "x", **FLOAT)
        sums.append(f"sum_{start}")
        yield node(sums[-1], "AddN", *names, N=len(names), **FLOAT)
    yield node("y", "AddN", *sums, N=len(sums), **FLOAT)


def calls(count: int) -> Iterator[NodeDef]:
    """Calls one after the other, each of a function of its own; a call and its function are ten nodes."""
    last = "x"
    kinds = {"Tin": [dtypes.float32], "Tout": [dtypes.float32]}
    for i in range(count // (BODY + 2)):
        yield node(f"call_{i}", "PartitionedCall", last, f=FuncRef(f"f_{i}"), **kinds)
        last = f"call_{i}"
    yield node("y", "Identity", last, **FLOAT)


def functions(count: int) -> Iterator[FunctionDef]:
    """What `calls` calls."""
    for i in range(count // (BODY + 2)):
        function = FunctionDef(ret={"r": f"t{BODY - 1}:y:0"})
        function.signature.name = f"f_{i}"
        function.signature.input_arg.add(name="a", type=dtypes.float32.number)
        function.signature.output_arg.add(name="r", type=dtypes.float32.number)
        inputs = ["a", *(f"t{k}:y:0" for k in range(BODY))]
        function.node_def.extend(node(f"t{k}", "Tanh", inputs[k], **FLOAT) for k in range(BODY))
        yield function


def blocks(count: int) -> Iterator[NodeDef]:
    """The residual blocks of a convolutional network in inference: weights, convolution, batch norm, ReLU, sum."""
    last = "x"
    for i in range(count // BLOCK):
        yield from residual_block(f"block_{i}", last)
        last = f"block_{i}/out"
    yield node("y", "Identity", last, **FLOAT)


def residual_block(scope: str, last: str) -> Iterator[NodeDef]:
    statistics = [f"{scope}/{name}" for name in ("gamma", "beta", "mean", "variance")]
    yield constant(f"{scope}/kernel", 1, 1, 4, 4)
    for name in statistics:
        yield constant(name, 4)
    for name in (f"{scope}/kernel", *statistics):
        yield node(f"{name}/read", "Identity", name, **FLOAT)
    reads = [f"{name}/read" for name in statistics]
    yield node(f"{scope}/conv", "Conv2D", last, f"{scope}/kernel/read", strides=[1, 1, 1, 1], padding=b"SAME", **FLOAT)
    yield node(f"{scope}/norm", "FusedBatchNormV3", f"{scope}/conv", *reads, U=dtypes.float32, is_training=False, **FLOAT)
    yield node(f"{scope}/relu", "Relu", f"{scope}/norm", **FLOAT)
    yield node(f"{scope}/out", "AddV2", f"{scope}/relu", last, **FLOAT)


FORMS: Mapping[str, Callable[[int], Iterator[NodeDef]]] = {"chain": chain, "wide": wide, "functions": calls, "blocks": blocks}
"""Graphs of about so many nodes from the placeholder `x` to `y`."""


def write_graph(path: pathlib.Path, form: str, count: int, shape: Shape) -> None:
    with open(path, "wb") as file:
        file.write(GraphDef(node=[placeholder(shape)]).SerializeToString())
        for found in FORMS[form](count):
            file.write(GraphDef(node=[found]).SerializeToString())
        if form == "functions":
            file.write(GraphDef(library={"function": functions(count)}).SerializeToString())


def command(*arguments: str) -> None:
    """A command of tfg in this process, what it prints thrown away."""
    from tfg.cli.main import run

    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        assert run(arguments) == 0


def run_once(graph: Graph) -> None:
    dims = graph["x"].attrs["shape"].dims
    tfg.Session(graph).run("y:0", {"x:0": np.zeros(dims, np.float32)})


def plan(graph: Graph) -> None:
    compile_plan(graph, [graph.output("y:0")], [graph.output("x:0")])


ON_FILES: Mapping[str, Callable[[str], object]] = {
    "load": tfg.load,
    "dump": lambda path: command("dump", path),
    "list": lambda path: command("dump", path, "--format", "list"),
    "text": lambda path: command("convert", path, os.devnull, "--text", "--quiet"),
    "parse": lambda path: tfg.load(f"{path}txt"),
}
ON_GRAPHS: Mapping[str, Callable[[Graph], object]] = {
    "explain": tfg.explain,
    "stages": recover_stages,
    "plan": plan,
    "run": run_once,
    "flops": lambda graph: tfg.count_flops(graph, ["y:0"]),
    "gradients": lambda graph: tfg.gradients(graph, "y:0", ["x:0"]),
    "optimize": lambda graph: tfg.optimize(graph, ["y:0"], ["x:0"]),
}
WITHOUT_SHAPES = {
    "flops-unknown": ON_GRAPHS["flops"],
    "optimize-unknown": ON_GRAPHS["optimize"],
}
"""Work on the same graph, of whose input not even the rank is known."""


def measure(work: str, path: str) -> None:
    """Do the work on a file; print its CPU seconds, and the largest memory of this process in bytes, before and after."""
    graph = None if work in ON_FILES else tfg.load(path)
    before, start = peak(), time.process_time()
    if graph is None:
        ON_FILES[work](path)
    else:
        (ON_GRAPHS | WITHOUT_SHAPES)[work](graph)
    print(max(time.process_time() - start, TICK), before, peak(), flush=True)
    os._exit(0)


def peak() -> int:
    """The largest memory of this process so far; `ru_maxrss` would be that of the process that started it, if larger."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) * 1024  # type: ignore[index]


def in_process(work: str, path: str, limit: int) -> tuple[float, int] | None:
    """(CPU seconds, bytes of memory) of a piece of work, None where it took more than the limit."""
    bound = f"ulimit -t {limit}; exec "
    line = " ".join((sys.executable, "-m", "benchmarks.scale", "--measure", work, path))
    done = subprocess.run(["bash", "-c", bound + line], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return None
    seconds, before, after = done.stdout.split()
    return float(seconds), int(after) - int(before)


def number_of(text: str) -> int:
    """The number that `1k`, `100k` or `1M` stands for."""
    return int(text.replace("k", "000").replace("M", "000000"))


def graph_path(folder: pathlib.Path, form: str, size: int, work: str) -> pathlib.Path:
    """The file with the graph for a piece of work, written when it is first asked for."""
    is_unknown = work in WITHOUT_SHAPES
    path = folder / f"{form}-{size}{'-unknown' * is_unknown}.pb"
    if not path.exists():
        shape = UNKNOWN if is_unknown else Shape((2, 4, 4, 4) if form == "blocks" else (4,))
        write_graph(path, form, size, shape)
    text = path.with_suffix(".pbtxt")
    if work == "parse" and not text.exists():
        command("convert", str(path), str(text), "--quiet")
    return path


def power(small: tuple[int, float], large: tuple[int, float]) -> float:
    """The power of the size with which something grows, from two sizes and what it was there."""
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])


def report(folder: pathlib.Path, form: str, work: str, sizes: list[int], limit: int) -> None:
    """One line: seconds for each size, bytes a node of the largest, slope between the two largest."""
    found: list[tuple[int, float, int]] = []
    for size in sizes:
        measured = in_process(work, str(graph_path(folder, form, size, work)), limit)
        if measured is None:
            break
        found.append((size, *measured))
    cells = [f"{seconds:9.3f}" for _, seconds, _ in found] + ["        -"] * (len(sizes) - len(found))
    slope = ""
    if len(found) > 1:
        slope = f"{power(found[-2][:2], found[-1][:2]):6.2f}"
    memory = f"{found[-1][2] / found[-1][0]:8.0f}" if found else ""
    print(f"{form:10}{work:18}{''.join(cells)}{memory:>9}{slope:>7}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works = [*ON_FILES, *ON_GRAPHS, *WITHOUT_SHAPES]
    parser.add_argument("--sizes", default="1k,10k,100k")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--only", default=",".join(works))
    parser.add_argument("--limit", type=int, default=200)
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
                report(folder, form, work, list(map(number_of, sizes)), options.limit)


if __name__ == "__main__":
    main()
