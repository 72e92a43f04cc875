"""Growth of the work of each command with the graph, by the number of executed Python lines, on graphs of many forms.

usage: python -m benchmarks.growth [--size N] [--forms NAME,...] [--commands NAME,...]

Each command runs on each form at N, 2 N and 4 N nodes; pairs with an exponent above MOST are listed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfg.cli.main import run
from tfg.formats.protos.graph_pb2 import FunctionDef, GraphDef, NodeDef

from . import hard_functions, hard_graphs, scale_files, scale_graphs
from .scale import power

MOST = 1.3
"""The largest exponent of the graph's size in the growth of work."""
COMMANDS: Mapping[str, str] = {
    "check": "check {path}",
    "compare": "compare {path} {path} --fetch y:0 --quiet",
    "convert": "convert {path} {out}.pb --quiet",
    "convert text": "convert {path} {out}.pbtxt --quiet",
    "convert inline": "convert {path} {out}.pb --inline-functions --quiet",
    "convert frozen": "convert {path} {out}.pb --freeze {init} --to y --quiet",
    "convert cut": "convert {path} {out}.pb --to y --clear-devices --strip-default-attrs --quiet",
    "convert folder": "convert {path} {out}_model/ {init} --to y --quiet",
    "convert onnx": "convert {path} {out}.onnx {init} --to y --quiet",
    "convert stablehlo": "convert {path} {out}.stablehlo {init} --to y --quiet",
    "checkpoint": "checkpoint {out}.npz",
    "diff": "diff {path} {half}",
    "diff numbers": "diff {path} {numbered}",
    "draw": "draw {path} -o {out}.dot --quiet",
    "draw all": "draw {path} -o {out}.dot --all --flops --shapes --functions --quiet",
    "draw colocation": "draw {path} -o {out}.dot --color-by colocation --depth 3 --quiet",
    "draw text": "draw {path} --format text --quiet",
    "dump": "dump {path}",
    "dump model": "dump {path} --model",
    "dump list": "dump {path} --format list",
    "dump json": "dump {path} --format json",
    "explain": "explain {path}",
    "explain node": "explain {path} y x",
    "explain fetch": "explain {path} y x --fetch y",
    "explain optimized": "explain {path} y x --optimized --fetch y",
    "explain missing": "explain {path} --missing",
    "explain races": "explain {path} --races --fetch y",
    "explain partition": "explain {path} --partition --fetch y",
    "flops": "flops {path} --fetch y",
    "flops backward": "flops {path} --fetch y --backward --loss y",
    "join": "join {path} {path} -o {out}.pb --quiet",
    "layers": "layers {path} --fetch y",
    "path": "path {path} x y",
    "flops scopes": "flops {path} --fetch y --view scope",
    "grad": "grad {path} --y y --x x -o {out}.pb",
    "optimize": "optimize {path} --fetch y -o {out}.pb --quiet",
    "optimize all": "optimize {path} --fetch y -o {out}.pb --passes default,layout --cluster --no-costs --quiet",
    "reduce": "reduce {path} --fetch y --feed x={ones} {init} --test {fails} -o {out}.pb --quiet",
    "run": "run {path} --fetch y --feed x={ones} {init} --quiet",
    "run xla": "run {path} --fetch y --feed x={ones} {init} --engine xla --quiet",
    "unfreeze": "unfreeze {path} -o {out}_free/ --to y --quiet",
    "train": "train {path} --loss y --feed x={ones} --steps 1 -o {out}.pb --quiet",
    "view": "view {path} -o {out}.html --quiet",
    "checkpoint safetensors": "checkpoint {tensors}.safetensors --stats",
    "dump events": "dump {events}",
    "dump tfjs": "dump {tfjs}",
    "dump trace": "dump {trace}",
    "explain events": "explain {events}",
    "scalars": "scalars {events}",
    "explain tfjs": "explain {tfjs}",
    "explain trace": "explain {trace}",
    "flops trace": "flops {path} --fetch y --run-metadata {trace}",
}
"""The measured arguments of each command that reads a graph or variables."""
OTHER_FILES = tuple(
    command for command, words in COMMANDS.items() if any(f"{{{name}}}" in words for name in scale_files.WRITERS)
)
"""The commands that read other files than graphs."""
_WITH_OTHER_FILES = ("chain", "variables")
"""The forms of the graphs from which other files are written."""
WITHOUT_GRAPHS = ("cache", "cluster", "completion", "ops", "samples")
"""The commands that read no file of a user."""
_RUNNING = ("compare", "convert frozen", "convert folder", "reduce", "run", "run xla", "train")
"""They take as long as the graph asks for."""
_VAST = ("twice", "forked_conditionals", "mutual")
"""The forms with exponential or endless runs."""
LARGE_RESULTS: Mapping[tuple[str, str], str] = {
    ("loops_in_loops", "run xla"): "XLA's compiler ends at hundreds of loops inside each other",
    ("cases", "grad"): "each branch returns what the backward pass of any takes, as in TensorFlow",
    ("cases", "flops backward"): "as its gradient",
    ("cases", "train"): "as its gradient",
    **dict.fromkeys(
        (
            ("nested", "grad"),
            ("deep_calls", "grad"),
            ("nested", "flops backward"),
            ("deep_calls", "flops backward"),
            ("deep_conditionals", "grad"),
            ("while_in_while", "grad"),
        ),
        "each function returns what the backward passes of those inside take, as in TensorFlow",
    ),
    ("loops_in_loops", "grad"): "each loop keeps its values in a stack for each loop around it, as in TensorFlow",
    ("loops_in_loops", "train"): "as its gradient",
    ("loops_in_loops", "flops backward"): "as its gradient",
    **dict.fromkeys(
        (("loops_in_loops", command) for command in ("draw all", "flops", "flops scopes", "layers", "optimize", "view")),
        "the FLOPs of a node have a factor for each loop around the node",
    ),
}
"""The commands whose results grow faster than the graph, with the reason."""

BOUNDED: Mapping[tuple[str, str], str] = {
    ("twice", "convert onnx"): "inlining all function calls makes the model far larger than the graph",
    ("twice", "convert stablehlo"): "functions call each other more than 10,000 times",
    ("twice", "grad"): "more than the limit of 10,000",
    ("forked_conditionals", "grad"): "more than the limit of 10,000",
}
"""The commands whose results double with each level of calls, also in TensorFlow, and the error that limits the results."""

Form = tuple[Callable[[int], Iterator[NodeDef]], Callable[[int], Iterator[FunctionDef]]]


def no_functions(count: int) -> Iterator[FunctionDef]:
    """The library of a graph without functions."""
    return iter(())


FORMS: Mapping[str, Form] = {
    **{name: (form, scale_graphs.LIBRARIES.get(name, no_functions)) for name, form in scale_graphs.FORMS.items()},
    **{name: (form, no_functions) for name, form in hard_graphs.FORMS.items()},
    **hard_functions.FORMS,
}
"""The families of graphs: the functions that make about this number of nodes, and the functions of the graph."""


def pairs() -> list[tuple[str, str]]:
    """Return the forms and the commands that are to grow with a small power."""
    every = [(form, command) for form in FORMS for command in COMMANDS]
    left_out = {*LARGE_RESULTS, *BOUNDED, *itertools.product(_VAST, _RUNNING)}
    left_out |= set(itertools.product(FORMS.keys() - set(_WITH_OTHER_FILES), OTHER_FILES))
    return [pair for pair in every if pair not in left_out]


def write_graph(path: pathlib.Path, form: str, count: int) -> bool:
    """Write a graph of a form; return whether the graph has an initializer."""
    nodes, functions = FORMS[form]
    graph = GraphDef(node=[scale_graphs.placeholder(scale_graphs.shape_of(form)), *nodes(count)])
    graph.library.function.extend(functions(count))
    path.write_bytes(graph.SerializeToString())
    return any(made.name == "init" for made in graph.node)


def renumbered(graph: GraphDef) -> GraphDef:
    """Return a graph with increased numbers in the names of nodes and functions, as after another export."""
    functions = {function.signature.name for function in graph.library.function}
    bodies = [node for function in graph.library.function for node in function.node_def]
    for function in graph.library.function:
        function.signature.name += "_7"
    for node in (*graph.node, *bodies):
        node.op += "_7" if node.op in functions else ""
        for value in node.attr.values():
            for reference in (value.func, *value.list.func) if value.WhichOneof("value") in ("func", "list") else ():
                reference.name += "_7" if reference.name else ""
    for gradient in graph.library.gradient:
        gradient.function_name += "_7"
        gradient.gradient_func += "_7"
    for node in graph.node:
        node.name += "_7"
        node.input[:] = [":".join((f"{name}_7", *index)) for name, *index in (text.split(":") for text in node.input)]
    return graph


def words(folder: pathlib.Path, form: str, command: str, count: int) -> list[str]:
    """Write a graph of a form, and variables for `checkpoint`; return the words of a command on the graph."""
    path, half, numbered, out = (folder / name for name in ("graph.pb", "half.pb", "numbered.pb", "out"))
    has_initializer = write_graph(path, form, count)
    write_graph(half, form, count // 2)
    if command == "diff numbers":
        numbered.write_bytes(renumbered(GraphDef.FromString(path.read_bytes())).SerializeToString())
    if command == "checkpoint":
        np.savez(f"{out}.npz", **{f"layer_{i}/kernel": np.float32(i) for i in range(count)})
    others = {name: folder / name for name in scale_files.WRITERS if f"{{{name}}}" in COMMANDS[command]}
    for name, other in others.items():
        scale_files.WRITERS[name](other, GraphDef.FromString(path.read_bytes()))
    values = {
        **others, "path": path, "half": half, "numbered": numbered, "out": out, "init": "--init" if has_initializer else "",
        "ones": "ones(2,4,4,4)" if form == "blocks" else "ones(4)", "fails": f"{sys.executable} -c raise(SystemExit(1))",
    }  # fmt: skip
    results = [word.format_map(values) for word in COMMANDS[command].split()]
    return [word for word in results if word]


def complete(given: Sequence[str]) -> None:
    """Run a command, with a result or a refusal; raise AssertionError after a fault."""
    errors = io.StringIO()
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(errors):
        code = run(given)
    assert code in (0, 1, 3) and "bug in tfg" not in errors.getvalue(), f"{' '.join(given)}: {code} {errors.getvalue()}"


def lines(given: Sequence[str]) -> int:
    """Return the number of Python lines that a command executes, with repetitions; raise AssertionError after a fault."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        complete(given)
    finally:
        sys.settrace(before)
    return count


def growth(folder: pathlib.Path, form: str, command: str, size: int) -> tuple[float, list[int]]:
    """Return the exponent of a command's growth from a size to four times the size, and the three line counts.

    A larger exponent from twice to four times the size counts instead, for work that grows ever faster.
    """
    counts = [lines(words(folder, form, command, size * times)) for times in (1, 2, 4)]
    return max(power((1, counts[0]), (4, counts[2])), power((2, counts[1]), (4, counts[2]))), counts


def main() -> None:
    """Measure the requested pairs, and print the pairs that grow too fast."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--commands", default=",".join(COMMANDS))
    options = parser.parse_args()
    forms, commands = options.forms.split(","), options.commands.split(",")
    chosen = [pair for pair in pairs() if pair[0] in forms and pair[1] in commands]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for command in commands:
            complete(words(folder, "variables", command, 40))  # what is imported and found once is there
        for form, command in chosen:
            exponent, counts = growth(folder, form, command, options.size)
            if exponent > MOST:
                print(f"{form:20}{command:20}{exponent:6.2f}  {counts}", flush=True)


if __name__ == "__main__":
    main()
