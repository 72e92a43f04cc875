"""`tfg path`: find the way from one node of a graph to another."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.explaining.node_paths import NodePath, PathStep
from ..main import COMPARISON_FAILED, DONE
from ..options import GraphReader, format_option, raw_option, signature_option
from ..render import Section, Table, Text
from ..requests import argument, command_of, option, part, request


@request
class PathOptions:
    """Tell whether node A of GRAPH reaches node B, by a shortest path of nodes.

    A and B are nodes, tensors, layers, or inputs and outputs of the signature. The path follows data, and if no data leads
    from A to B, also nodes that only wait for others. Exit code: 0 if A reaches B, 3 if not.

    \b
    tfg path frozen.pb input logits
    tfg path saved_model_folder hidden output_0 --all
    tfg path train.pb dropout/rate loss --quiet && echo it counts
    """

    graph: str = argument()
    start: str = argument("A")
    end: str = argument("B")
    # JSON has the nodes of all paths anyway.
    everything: bool = option(
        "--all", excludes="--format=json", help="List the nodes of all paths from A to B. Default: those of a shortest path."
    )
    signature: str | None = signature_option()
    raw: bool = raw_option()
    format_: str = format_option()
    # Not `quiet_option`, which drops notes: this one drops the answer, as grep -q does.
    quiet: bool = option("-q", "--quiet", help="Print nothing: the exit code tells.")
    reader: GraphReader = part(GraphReader)


def _run(options: PathOptions) -> int:
    """Print the path; return 3 if there is none."""
    from ...formats.api.analyses import path
    from .. import render

    graph = options.reader.load(options.graph)
    result = path(graph, options.start, options.end, signature=options.signature, raw=options.raw)
    if not options.quiet:
        render.emit("tfg.path/1", result, options.format_, lambda: _sections(result, options.everything))
    return DONE if result.reaches else COMPARISON_FAILED


def _sections(path: NodePath, everything: bool) -> Iterator[Section]:
    """Yield the verdict and the path; with `everything` the nodes of all paths in place of a shortest."""
    yield Text(path.headline())
    if everything and path.reaches:
        yield Table(("node",), [(name,) for name in (path.start, *path.between, path.end)], "nodes")
    elif path.reaches:
        yield Table(("node", "op", "reads"), [(step.name, step.op, _read(step, path)) for step in path.steps], "path")


def _read(step: PathStep, path: NodePath) -> str:
    # A step of the path that reads nothing of the one before follows a control input.
    return step.reads or ("" if step is path.steps[0] else "(waits)")


command = command_of(PathOptions, _run)
