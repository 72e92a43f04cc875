"""`tfg explain`: say in plain words what a graph, or each of its nodes, is for."""

from __future__ import annotations

import click

from . import render
from .explain_sections import fate_sections, graph_sections, missing_sections, node_sections, race_sections
from .options import GraphReader, format_option, graph_options


@click.command()
@click.argument("graph")
@click.argument("nodes", nargs=-1, metavar="[NODE]...")
@click.option(
    "--fetch",
    "fetches",
    multiple=True,
    metavar="TENSOR",
    help="Say why fetching this runs each NODE, or that it does not. With --races: what is run together (repeatable).",
)
@click.option("--optimized", is_flag=True, help="Say what becomes of each NODE when the graph is optimized for --fetch.")
@click.option("--missing", is_flag=True, help="List the ops that tfg cannot run, and those that TensorFlow does not have.")
@click.option("--races", is_flag=True, help="List reads, writes and random draws whose order no path settles, run by run.")
@format_option("table", "json", "csv")
@graph_options
def command(
    graph: str,
    nodes: tuple[str, ...],
    fetches: tuple[str, ...],
    optimized: bool,
    missing: bool,
    races: bool,
    format_: str,
    reader: GraphReader,
) -> None:
    """Say in plain words what GRAPH is, or what each NODE of it is for.

    \b
    tfg explain graph.pb
    tfg explain graph.pb Variable/read init
    tfg explain graph.pb Variable/read --fetch loss
    tfg explain graph.pb Variable/read --optimized --fetch loss
    tfg explain graph.pb --missing
    tfg explain graph.pb --races --fetch loss --fetch train_op
    """
    from ..core.explaining.graphs import explain_graph, missing_ops

    loaded = reader.look(graph)
    if races:
        from ..core.explaining.race_report import explain_races

        runs = explain_races(loaded, fetches)
        render.emit({"runs": runs}, format_, lambda: race_sections(runs))
        return
    if len(fetches) > 1:
        raise click.UsageError("several --fetch go with --races only")
    fetch = fetches[0] if fetches else None
    if (fetch or optimized) and not nodes:
        raise click.UsageError("--fetch and --optimized are about a NODE: name at least one")
    if missing:
        ops = missing_ops(loaded)
        render.emit({"missing": ops}, format_, lambda: missing_sections(ops, graph))
    elif optimized:
        from ..core.passes.outcomes import node_fates
        from ..core.passes.pipeline import guessed_fetches

        fates = node_fates(loaded, nodes, (fetch,) if fetch else guessed_fetches(loaded))
        render.emit({"nodes": fates}, format_, lambda: fate_sections(fates))
    elif nodes:
        from ..core.explaining.nodes import Explainer

        explainer = Explainer(loaded)
        facts = tuple(explainer.explain(name, fetch) for name in nodes)
        render.emit({"nodes": facts}, format_, lambda: node_sections(facts))
    else:
        whole = explain_graph(loaded, graph)
        render.emit(whole, format_, lambda: graph_sections(whole))
