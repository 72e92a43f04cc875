"""`tfg dump`: print the nodes of a graph, or the changes of each construction stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ...core.explaining.node_listing import ORDERS, list_nodes
from ...core.support.errors import InvalidArgumentError
from ...core.support.escaping import printable_line, printable_proto
from .. import render
from ..helps import GroupedCommand
from ..options import GraphReader, Seconds, excluding, fetch_option, format_option, graph_options, needing
from ..sections.dump_sections import DumpedGraph, node_sections, snapshot_sections, stage_sections
from ..selection import ListingSelection, selection_options


@click.command(cls=GroupedCommand)
@click.argument("graphs", nargs=-1, metavar="[GRAPH]...")
@click.option(
    "--script", metavar="FILE", help="Run a script that uses tfg.GraphBuilder and dump each stage that the script marks."
)
@click.option("--stages", is_flag=True, help="Recover the stages of a finished graph: variables, model, loss ...")
@click.option("--stage", metavar="NAME", help="With several graphs or a script: show only the graph after this stage.")
@click.option("--after", metavar="PASS", help="Show the changes of an optimization pass: load, prune, fold ... or all.")
@fetch_option("With --after: a tensor to optimize for; repeatable.")
@click.option("--elements", metavar="NAME", help="Show the first elements of this dataset or iterator.")
@click.option("--take", type=click.IntRange(1), help="With --elements: the number of elements.  [default: 3]")
@click.option("--allow-files", multiple=True, metavar="DIR", help="With --elements: let the graph use the files in DIR.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="With --elements: time limit.")
@click.option("--init-op", metavar="NAME", help="With --elements: first run this operation, not the graph's initializer.")
@click.option(
    "--state", metavar="FILE", help="With --elements: restore the variables from an .npz or .safetensors file or a checkpoint."
)
@click.option("--seed", type=int, help="With --elements: seed of random ops without a seed.")
@selection_options
@click.option("--sort", type=click.Choice(ORDERS), default="graph", show_default=True, help="Order of the nodes.")
@click.option("--shapes", is_flag=True, help="Infer the shapes of all outputs. Default: show only declared shapes.")
@format_option("table", "list", "text", "json", "csv")
@graph_options
@needing("--fetch", "--after")
@needing("--take --allow-files --timeout --init-op --state --seed", "--elements")
@excluding("--stage", "--stages --after")
@excluding("--stages --after", "--script")
@excluding("--stages", "--after")
@excluding("--elements", "--script --stages --after --stage --sort --shapes")
@excluding("--name --exclude --op --scope --device --to --around", "--elements", "--elements shows elements, not nodes")
@excluding("--sort", "--script --stages --after")
@excluding("--shapes", "--script --stages --after")
@excluding("--name --exclude --op --scope --device --to --around", "--after", "--after shows all changes of a pass")
def command(
    graphs: tuple[str, ...], script: str | None, stages: bool, stage: str | None, after: str | None, fetches: tuple[str, ...],
    elements: str | None, take: int | None, allow_files: tuple[str, ...], timeout: float | None, init_op: str | None,
    state: str | None, seed: int | None, selection: ListingSelection, sort: str, shapes: bool, format_: str,
    reader: GraphReader,
) -> None:  # fmt: skip
    """Print the nodes of GRAPH: name, op, outputs, inputs, device, colocation and attributes.

    Several GRAPHs are snapshots of a graph under construction: the command compares each snapshot with the previous one.

    \b
    tfg dump graph.pb
    tfg dump graph.pb --op "Variable.*" --format list
    tfg dump graph.pb --around loss --hops 1 --sort topological
    tfg dump sample_graphs/variable_2/*.pbtxt
    tfg dump --script build.py --format text
    tfg dump --stages train_graph.pb
    tfg dump graph.pb --after fold --fetch y
    tfg dump train_graph.pb --elements IteratorGetNext --take 3
    """
    if bool(graphs) == bool(script):
        raise click.UsageError("give either GRAPH files or --script")
    if elements is not None:
        session = {"allow_files": allow_files, "timeout": timeout, "init_op": init_op, "state": state, "seed": seed}
        _dump_elements(graphs, elements, take or 3, session, format_, reader)
    elif after is not None:
        _dump_optimization(graphs, after, fetches, format_, reader)
    elif stages:
        _dump_stages(graphs, selection, format_, reader)
    elif script or len(graphs) > 1:
        _dump_snapshots(graphs, script, stage, selection, format_, reader)
    else:
        _dump_file(graphs[0], shapes, selection, sort, format_, reader)


def _dump_file(path: str, shapes: bool, selection: ListingSelection, sort: str, format_: str, reader: GraphReader) -> None:
    """Dump the nodes of a graph; stream a large file if no option needs all nodes."""
    whole = shapes or format_ == "json" or selection.needs_edges or sort != "graph"
    stream = None if whole else reader.stream(path)
    if stream is None:
        graph = reader.look(path)
        _dump_graph(DumpedGraph(graph, path, shapes, sort), selection, format_)
        return
    from ..jobs.dump_job import dump_stream

    dump_stream(stream, selection.filter, format_)
    reader.note_broken(stream.faults)


def _dump_graph(dump: DumpedGraph, selection: ListingSelection, format_: str) -> None:
    graph, chosen = dump.graph, selection.filter
    if format_ == "text":
        render.print_text(printable_proto(dump.text(selection.of(graph))))
        return
    with render.Working("inferring shapes", quiet=not dump.shapes):
        listing = list_nodes(
            graph, name=chosen.name, op=chosen.op, scope=chosen.scope, exclude=chosen.exclude, device=chosen.device,
            to=selection.to, around=selection.around, hops=selection.hops, shapes=dump.shapes, order=dump.order,
        )  # fmt: skip
    nodes, functions = listing.nodes, listing.functions
    result = {"graph": dump.name, "versions": graph.versions, "nodes": nodes, "functions": functions}
    render.emit("tfg.dump/1", result, format_, lambda: node_sections(dump, nodes, functions, format_))


def _dump_snapshots(
    graphs: tuple[str, ...],
    script: str | None,
    stage: str | None,
    selection: ListingSelection,
    format_: str,
    reader: GraphReader,
) -> None:
    from ...core.building.scripting import run_script
    from ...core.comparing.graph_diff import diff_snapshots

    snapshots = run_script(script) if script else [(path, reader.load(path)) for path in graphs]
    if stage is not None:
        stages = dict(snapshots)
        if stage not in stages:
            raise InvalidArgumentError(f"unknown stage '{stage}'", hint=f"the stages are {', '.join(stages)}")
        _dump_graph(DumpedGraph(stages[stage], stage), selection, format_)
    elif format_ == "text":
        for name, graph in snapshots:
            text = printable_proto(DumpedGraph(graph, name).text(selection.of(graph)))
            render.print_text(f"# stage: {printable_line(name)}\n{text}")
    else:
        if selection.is_of_some:
            raise click.UsageError("tables show all changes of each stage: to choose nodes, add --stage or --format text")
        result = diff_snapshots(snapshots)
        data = {"snapshots": result}
        render.emit("tfg.dump.snapshots/1", data, format_, lambda: snapshot_sections(result, format_))


def _dump_stages(graphs: tuple[str, ...], selection: ListingSelection, format_: str, reader: GraphReader) -> None:
    from ...core.explaining.stages import recover_stages

    if len(graphs) != 1:
        raise click.UsageError("--stages takes one finished graph")
    graph = reader.load(graphs[0])
    with render.Working("recovering stages"):
        result = recover_stages(graph, selection.of(graph))
    render.emit("tfg.dump.stages/1", {"stages": result}, format_, lambda: stage_sections(result, format_))


def _dump_elements(
    graphs: tuple[str, ...], name: str, take: int, session: Mapping[str, Any], format_: str, reader: GraphReader
) -> None:
    """The first elements of a pipeline, which is run for them in a session of those options."""
    from ...formats.api.dataset_elements import first_elements
    from ..sections.run_sections import write_steps
    from ..sessions import SessionOptions

    if len(graphs) != 1:
        raise click.UsageError("--elements takes one graph")
    if format_ not in ("table", "json"):
        raise click.UsageError(f"elements have the formats table and json, not {format_}")
    graph, options = reader.load(graphs[0]), SessionOptions(**session)
    with options.limits():
        steps = first_elements(
            graph, name, take, open_session=lambda graph: options.with_variables(graph, quiet=False).session
        )
        write_steps(steps, format_, None, schema="tfg.dump.elements/1")


def _dump_optimization(
    graphs: tuple[str, ...], after: str, fetches: tuple[str, ...], format_: str, reader: GraphReader
) -> None:
    """Dump the changes of each pass, or of a single pass."""
    from ...core.comparing.graph_diff import diff_snapshots
    from ...core.passes.pipeline import optimization_stages

    if len(graphs) != 1:
        raise click.UsageError("--after takes one graph")
    graph = reader.load(graphs[0])
    with render.Working("optimizing"):
        snapshots = optimization_stages(graph, fetches)
    shown = tuple(s for s in diff_snapshots(snapshots) if after in ("all", s.stage))
    if not shown:
        names = ", ".join(dict.fromkeys(name for name, _ in snapshots))
        raise InvalidArgumentError(f"pass '{after}' does not change this graph", hint=f"the passes that do are {names}, all")
    render.emit("tfg.dump.snapshots/1", {"snapshots": shown}, format_, lambda: snapshot_sections(shown, format_))
