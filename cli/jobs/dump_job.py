"""Implementation of `tfg dump`."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from ...core.explaining.node_listing import NodeFilter, NodeRecord, list_nodes
from ...core.graph.graph import Graph
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.escaping import printable_line, printable_proto
from ...core.support.places import exists
from ...core.support.words import counted, some
from .. import render
from ..commands.dump import DumpOptions
from ..sections.dump_sections import (
    COLUMNS,
    DumpedGraph,
    function_section,
    node_rows,
    node_sections,
    snapshot_sections,
    stage_sections,
)

if TYPE_CHECKING:
    from ...formats.graphdef import NodeStream


def run(options: DumpOptions) -> None:
    """Dump nodes, stages, changes or elements, as the options ask."""
    if bool(options.graphs) == bool(options.script):
        raise click.UsageError("give either GRAPH files or --script")
    if options.stage is not None and len(options.graphs) == 1:
        raise click.UsageError("--stage chooses among several graphs, or the stages of --script: give more than one GRAPH")
    if options.elements is not None:
        _dump_elements(options, options.elements)
    elif options.after is not None:
        _dump_optimization(options, options.after)
    elif options.stages:
        _dump_stages(options)
    elif options.script or len(options.graphs) > 1:
        _dump_snapshots(options)
    else:
        _dump_file(options, options.graphs[0])


def _dump_file(options: DumpOptions, path: str) -> None:
    """Dump the nodes of a graph; stream a large file if no option needs all nodes."""
    selection = options.selection
    listed = options.shapes or options.format_ == "json" or selection.needs_edges or options.sort != "graph"
    stream = None if listed or options.model else options.reader.stream(path)
    if stream is None:
        _dump_graph(DumpedGraph(_graph(options, path), path, options.shapes, options.sort), options)
        return
    _dump_stream(stream, selection.filter, options.format_)
    options.reader.note_broken(stream.faults)


def _graph(options: DumpOptions, path: str) -> Graph:
    """Return the graph of a file, or the model in it."""
    graph = options.reader.look(path)
    if not options.model:
        return graph
    from ...core.model.model_view import model_view

    view = model_view(graph, options.signature).graph
    unread = graph.variables.keys() - view.variables.keys()
    if unread:
        render.note(f"left out {counted(len(unread), 'variable')} that the signature does not read: {some(sorted(unread))}")
    return view


def _dump_graph(dump: DumpedGraph, options: DumpOptions) -> None:
    graph, selection, format_ = dump.graph, options.selection, options.format_
    chosen = selection.filter
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


def _require_file(word: str, graph: str) -> None:
    """Raise NotFoundError for a word that is no file: the name of a node, or a pattern, which --name takes."""
    if word != "-" and not exists(word):
        expression = word.rstrip("*").replace("*", ".*")
        line = f"tfg dump {shlex.quote(graph)} --name {shlex.quote(expression)}"
        raise NotFoundError(f"file '{word}' does not exist", hint=f"to list nodes by their names: `{line}`")


def _dump_snapshots(options: DumpOptions) -> None:
    from ...core.building.builder import run_script
    from ...core.comparing.graph_diff import diff_snapshots

    selection, stage, format_ = options.selection, options.stage, options.format_
    script = options.script
    for word in options.graphs[1:]:
        _require_file(word, options.graphs[0])
    snapshots = run_script(script) if script else [(path, options.reader.load(path)) for path in options.graphs]
    if stage is not None:
        stages = dict(snapshots)
        if stage not in stages:
            raise InvalidArgumentError(f"unknown stage '{stage}'", hint=f"the stages are {', '.join(stages)}")
        _dump_graph(DumpedGraph(stages[stage], stage), options)
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


def _dump_stages(options: DumpOptions) -> None:
    from ...core.explaining.stages import recover_stages

    graph = _only_graph(options, "--stages takes one finished graph")
    format_ = options.format_
    with render.Working("recovering stages"):
        result = recover_stages(graph, options.selection.of(graph))
    render.emit("tfg.dump.stages/1", {"stages": result}, format_, lambda: stage_sections(result, format_))


def _only_graph(options: DumpOptions, problem: str) -> Graph:
    """Return the graph of a command line with one graph; a usage error for several."""
    if len(options.graphs) != 1:
        raise click.UsageError(problem)
    return options.reader.load(options.graphs[0])


def _dump_elements(options: DumpOptions, name: str) -> None:
    """The first elements of a pipeline, which is run for them in a session of those options."""
    from ...formats.api.dumping import first_elements
    from ..sections.run_sections import write_steps
    from ..sessions import SessionOptions

    if len(options.graphs) == 1 and options.format_ not in ("table", "json"):
        raise click.UsageError(f"elements have the formats table and json, not {options.format_}")
    graph = _only_graph(options, "--elements takes one graph")
    session = SessionOptions(
        allow_files=options.allow_files, timeout=options.timeout, init_op=options.init_op, state=options.state,
        state_map=options.state_map, seed=options.seed,
    )  # fmt: skip
    with session.limits():
        steps = first_elements(
            graph, name, options.take or 3,
            open_session=lambda graph: session.with_variables(graph, quiet=False).session,
        )  # fmt: skip
        write_steps(steps, options.format_, None, schema="tfg.dump.elements/1")


def _dump_optimization(options: DumpOptions, after: str) -> None:
    """Dump the changes of each pass, or of a single pass."""
    from ...core.comparing.graph_diff import diff_snapshots
    from ...core.passes.pipeline import optimization_stages

    graph, format_ = _only_graph(options, "--after takes one graph"), options.format_
    with render.Working("optimizing"):
        snapshots = optimization_stages(graph, options.fetches)
    shown = tuple(s for s in diff_snapshots(snapshots) if after in ("all", s.stage))
    if not shown:
        names = ", ".join(dict.fromkeys(name for name, _ in snapshots))
        raise InvalidArgumentError(f"pass '{after}' does not change this graph", hint=f"the passes that do are {names}, all")
    render.emit("tfg.dump.snapshots/1", {"snapshots": shown}, format_, lambda: snapshot_sections(shown, format_))


def _function_rows(records: Iterable[NodeRecord]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of nodes, with the function of each at the end."""
    nodes, same = itertools.tee(records)
    return ((*row, node.function or "") for node, row in zip(nodes, node_rows(same)))


def _dump_stream(stream: NodeStream, chosen: NodeFilter, format_: str) -> None:
    """Print the matching nodes of the graph, then of functions; NotFoundError if no node matches."""
    from ...formats.api.dumping import stream_nodes
    from ...formats.graphdef import NodePrinter
    from ...formats.saving import to_text

    if format_ == "text":
        texts = map(NodePrinter().text, chosen.apply(stream.nodes()))
        render.print_lines(printable_proto(text).rstrip("\n") for text in texts)
        if chosen.is_empty:
            render.print_text(printable_proto(to_text(stream.rest())))
        return
    records = stream_nodes(stream, chosen)
    if format_ == "csv":
        render.require_table("nodes")
        render.print_csv((*COLUMNS, "function"), _function_rows(records))
        return
    if format_ == "list":
        render.print_lines(printable_line(record.line) for record in records.nodes())
    else:
        render.print_rows(COLUMNS, node_rows(records.nodes()))
    functions = records.functions()
    first = list(itertools.islice(functions, 1))
    if first:
        render.print_lines([""])
        all_of_them = itertools.chain(first, functions)
        render.print_sections(function_section(function, body, format_) for function, body in all_of_them)
