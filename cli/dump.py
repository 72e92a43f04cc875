"""`tfg dump`: print the nodes of a graph, or what each construction stage changed."""

from __future__ import annotations

import click

from ..core.errors import InvalidArgumentError
from ..core.escaping import printable_line, printable_proto
from ..core.explaining.listing import Filter, list_functions, list_nodes, require_nodes
from . import render
from .dump_sections import Dump, node_sections, snapshot_sections, stage_sections
from .options import GraphReader, format_option, graph_options


@click.command()
@click.argument("graphs", nargs=-1, metavar="[GRAPH]...")
@click.option("--script", metavar="FILE", help="Run a script on tfg.GraphBuilder and dump each stage it marks.")
@click.option("--stages", is_flag=True, help="Recover the stages of a finished graph: variables, model, loss ...")
@click.option("--stage", metavar="NAME", help="Of several graphs or a script: only the graph after this stage.")
@click.option("--after", metavar="PASS", help="Show what optimizing changes: load, prune, fold ... or all.")
@click.option("--fetch", "fetches", multiple=True, metavar="NAME", help="With --after: what to optimize for; repeatable.")
@click.option("--name", default="", metavar="REGEX", help="Only nodes in whose name this is found.")
@click.option("--op", default="", metavar="REGEX", help="Only nodes whose whole op type matches.")
@click.option("--scope", default="", metavar="SCOPE", help="Only nodes in this name scope.")
@click.option("--shapes", is_flag=True, help="Infer the shapes of all outputs, not only show those that nodes declare.")
@format_option("table", "list", "text", "json", "csv")
@graph_options
def command(
    graphs: tuple[str, ...], script: str | None, stages: bool, stage: str | None, after: str | None, fetches: tuple[str, ...],
    name: str, op: str, scope: str, shapes: bool, format_: str, reader: GraphReader,
) -> None:  # fmt: skip
    """Print the nodes of GRAPH: name, op, outputs, inputs, device, colocation and attributes.

    Several GRAPHs are snapshots of one graph under construction: each is compared with the one before.

    \b
    tfg dump graph.pb
    tfg dump graph.pb --op "Variable.*" --format list
    tfg dump sample_graphs/variable_2/*.pbtxt
    tfg dump --script build.py --format text
    tfg dump --stages train_graph.pb
    tfg dump graph.pb --after fold --fetch y
    """
    chosen = Filter(name, op, scope)
    if bool(graphs) == bool(script):
        raise click.UsageError("give either graph files or --script")
    if after is not None:
        _dump_optimization(graphs, after, fetches, format_, reader)
    elif stages:
        _dump_stages(graphs, format_, reader)
    elif script or len(graphs) > 1:
        _dump_snapshots(graphs, script, stage, chosen, format_, reader)
    else:
        _dump_file(graphs[0], shapes, chosen, format_, reader)


def _dump_file(path: str, shapes: bool, chosen: Filter, format_: str, reader: GraphReader) -> None:
    """The nodes of a graph; those of a large file as they are read, where nothing is asked that takes all of them."""
    stream = None if shapes or format_ == "json" else reader.stream(path)
    if stream is None:
        _dump_graph(Dump.of(reader.look(path), path, shapes), chosen, format_)
        return
    from .dump_job import dump_stream

    dump_stream(stream, path, chosen, format_)
    reader.note_broken(stream.faults)


def _dump_graph(dump: Dump, chosen: Filter, format_: str) -> None:
    if format_ == "text":
        render.print_text(printable_proto(dump.text(chosen)))
        return
    nodes, functions = list_nodes(dump.graph, chosen, dump.inference), list_functions(dump.graph, chosen)
    require_nodes([*nodes, *functions.values()], chosen)
    result = {"graph": dump.name, "versions": dump.graph.versions, "nodes": nodes, "functions": functions}
    render.emit(result, format_, lambda: node_sections(dump, nodes, functions, format_))


def _dump_snapshots(
    graphs: tuple[str, ...], script: str | None, stage: str | None, chosen: Filter, format_: str, reader: GraphReader
) -> None:
    from ..core.building.scripting import run_script
    from ..core.explaining.diff import diff_snapshots

    snapshots = run_script(script) if script else [(path, reader.load(path)) for path in graphs]
    if stage is not None:
        found = dict(snapshots)
        if stage not in found:
            raise InvalidArgumentError(f"there is no stage '{stage}'", hint=f"the stages are {', '.join(found)}")
        _dump_graph(Dump(found[stage], stage), chosen, format_)
    elif format_ == "text":
        for name, graph in snapshots:
            render.print_text(f"# stage: {printable_line(name)}\n{printable_proto(Dump(graph, name).text(chosen))}")
    else:
        result = diff_snapshots(snapshots)
        render.emit(result, format_, lambda: snapshot_sections(result, format_))


def _dump_stages(graphs: tuple[str, ...], format_: str, reader: GraphReader) -> None:
    from ..core.explaining.stages import recover_stages

    if len(graphs) != 1:
        raise click.UsageError("--stages takes one finished graph")
    result = recover_stages(reader.load(graphs[0]))
    render.emit(result, format_, lambda: stage_sections(result, format_))


def _dump_optimization(
    graphs: tuple[str, ...], after: str, fetches: tuple[str, ...], format_: str, reader: GraphReader
) -> None:
    """What each pass changes, or one of them."""
    from ..core.explaining.diff import diff_snapshots
    from ..core.passes.pipeline import guessed_fetches, optimization_stages

    if len(graphs) != 1:
        raise click.UsageError("--after takes one graph")
    graph = reader.load(graphs[0])
    snapshots = optimization_stages(graph, fetches or guessed_fetches(graph))
    shown = tuple(s for s in diff_snapshots(snapshots) if after in ("all", s.stage))
    if not shown:
        names = ", ".join(dict.fromkeys(name for name, _ in snapshots))
        raise InvalidArgumentError(f"'{after}' is none of the stages that change this graph", hint=f"these do: {names}, all")
    render.emit(shown, format_, lambda: snapshot_sections(shown, format_))
