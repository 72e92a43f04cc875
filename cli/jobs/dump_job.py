"""Implementation of `tfg dump`: nodes, snapshots, stages, and how they are shown."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from ...core.explaining.node_listing import (
    MOST_ALIKE,
    NodeFilter,
    NodeRecord,
    attribute_text,
    list_nodes,
    ordered,
    own_attributes,
)
from ...core.graph.graph import Function, Graph
from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError, NotFoundError
from ...core.support.escaping import printable_line, printable_proto
from ...core.support.keyed_cache import KeyedCache
from ...core.support.places import exists
from ...core.support.words import counted, some
from .. import render
from ..commands.dump import DumpOptions
from ..render import Section, Table, Text

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import FunctionChange, GraphDiff, Snapshot
    from ...core.comparing.node_changes import FieldChange
    from ...core.explaining.stages import RecoveredStage
    from ...formats.graphdef import NodeStream
    from ..documents import Dump

_MAX_VALUE: Final = 200
"""The largest number of characters of a value in a row of changes."""


class DumpedGraph(NamedTuple):
    """A graph to be dumped, under the name that was given for it; its order, and whether shapes are inferred."""

    graph: Graph
    name: str
    shapes: bool = False
    order: str = "graph"

    def text(self, chosen: NodeFilter) -> str:
        """The chosen nodes, or the whole graph, in protobuf's text format."""
        from ...formats.graphdef import NodePrinter
        from ...formats.saving import to_text

        if chosen.is_empty:
            return to_text(self.graph)
        return "".join(map(NodePrinter().text, ordered(chosen.apply(self.graph), self.order)))


def node_sections(
    dump: DumpedGraph, nodes: Sequence[NodeRecord], functions: Mapping[str, Sequence[NodeRecord]], format_: str
) -> Iterator[Section]:
    """Yield the nodes of the graph, then of each function."""
    if format_ == "csv":
        yield _node_table(
            [*nodes, *(node for body in functions.values() for node in body)], with_function=bool(functions)
        )._replace(name="nodes")
        return
    if nodes or not functions:
        yield _show(format_)(nodes)
    for name, body in functions.items():
        yield function_section(dump.graph.functions[name], body, format_)


def function_section(function: Function, body: Sequence[NodeRecord], format_: str) -> Section:
    """Return the nodes of a function below its signature, and some of them below its name: the signature may be long."""
    # The signature stands above a whole body, which it explains; above a few nodes it would hide them.
    count = len(function.pattern.body)
    title = _function_text(function) if len(body) == count else f"{function.name}: {len(body):,} of {counted(count, 'node')}"
    return _show(format_)(body, f"function {title}")


def _show(format_: str) -> Callable[..., Section]:
    return _node_lines if format_ == "list" else _node_table


def _function_text(function: Function) -> str:
    """A function's signature: `f(x: float, w: resource) -> (y: float)`."""
    signature = function.signature
    arguments, results = (
        ", ".join(f"{arg.name}: {arg.dtype or arg.type_attr or arg.type_list_attr}" for arg in args)
        for args in (signature.inputs, signature.outputs)
    )
    return f"{function.name}({arguments}) -> ({results})"


def _node_lines(nodes: Sequence[NodeRecord], title: str = "") -> Text:
    return Text([node.line for node in nodes], title, "code")


COLUMNS: Final = ("name", "op", "outputs", "inputs", "device", "colocation", "attributes")


def node_rows(nodes: Iterable[NodeRecord]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of all columns for each node; alike records, which share their attributes, share texts too."""
    shared: KeyedCache[tuple[int, int], tuple[NodeRecord, str, str, str]] = KeyedCache(MOST_ALIKE)
    for node in nodes:
        # By identity, as alike records share the objects. The cache holds the record, so that no other object gets its
        # address.
        key = id(node.attributes), id(node.outputs)
        known = shared.get(key)
        if known is None:
            colocation = ", ".join(f"loc:@{name}" for name in node.colocation)
            known = node, ", ".join(map(str, node.outputs)), colocation, attribute_text(own_attributes(node))
            if node.inputs:  # as records do, for the value of a node without inputs may be large
                shared[key] = known
        _, outputs, colocation, attributes = known
        yield node.name, node.op, outputs, ", ".join(node.arguments), node.device, colocation, attributes


def _node_table(nodes: Sequence[NodeRecord], title: str = "", with_function: bool = False) -> Table:
    columns: dict[str, Sequence[str]] = dict.fromkeys(COLUMNS, ()) | dict(zip(COLUMNS, zip(*node_rows(nodes))))
    if with_function:
        columns["function"] = tuple(node.function or "" for node in nodes)
    # Most graphs name no devices and no colocations.
    shown = [name for name, cells in columns.items() if any(cells) or name in ("name", "op", "outputs", "inputs")]
    return Table(tuple(shown), list(zip(*(columns[name] for name in shown))), title)


def snapshot_sections(snapshots: Sequence[Snapshot], format_: str) -> Iterator[Section]:
    """Yield the changes of each stage."""
    if format_ == "csv":
        staged = [(snapshot.stage, *row) for snapshot in snapshots for row in change_rows(snapshot.diff)]
        yield Table(("stage", "change", "name", "op", "detail"), staged)
        return
    for number, snapshot in enumerate(snapshots, 1):
        title = f"stage {number}: {snapshot.stage} ({counted(snapshot.nodes, 'node')}; {snapshot.diff.summary})"
        rows = change_rows(snapshot.diff)
        if not rows:
            yield Text(snapshot.note or "the graph is empty", title)
        elif format_ == "list":
            yield Text(list(map(_change_line, rows)), title, "code")
        else:
            yield Table(("change", "name", "op", "detail"), rows, title)


_SIGNS = {"added": "+", "removed": "-"}


def _change_line(row: tuple[str, str, str, str]) -> str:
    change, name, op, detail = row
    return f"~ {name} ({op}): {detail}" if change == "changed" else f"{_SIGNS[change]} {name} = {op}{detail}"


def change_rows(diff: GraphDiff | FunctionChange) -> list[tuple[str, str, str, str]]:
    """(change, name, op, detail) of every node that differs."""
    rows = [("removed", node.name, node.op, _arguments(node)) for node in diff.removed]
    rows += [("added", node.name, node.op, _arguments(node)) for node in diff.added]
    rows += [("changed", change.name, change.op, "; ".join(map(short_change, change.changes))) for change in diff.changed]
    return rows


def _arguments(node: NodeRecord) -> str:
    text = f"({', '.join(node.arguments)})"
    location = {"_class": "loc:@" + ", loc:@".join(node.colocation)} if node.colocation else {}
    attributes = attribute_text(own_attributes(node) | location)
    return f"{text} {{{attributes}}}" if attributes else text


def short_change(change: FieldChange) -> str:
    """Return a change of a field with the first part of long values; JSON has all of them."""
    return str(dataclasses.replace(change, before=_shortened(change.before), after=_shortened(change.after)))


def _shortened(value: str | None) -> str | None:
    return value if value is None or len(value) <= _MAX_VALUE else f"{value[: _MAX_VALUE - 3]}..."


def stage_sections(stages: Sequence[RecoveredStage], format_: str) -> Iterator[Section]:
    """An overview, then the nodes of each stage with the evidence."""
    if format_ == "csv":
        rows = [(stage.name, node.name, node.op, node.evidence) for stage in stages for node in stage.nodes]
        yield Table(("stage", "name", "op", "evidence"), rows)
        return
    overview = [(number, stage.name, len(stage.nodes), stage.evidence) for number, stage in enumerate(stages, 1)]
    yield Table(("number", "stage", "nodes", "evidence"), overview)
    for number, stage in enumerate(stages, 1):
        title = f"stage {number}: {stage.name} ({counted(len(stage.nodes), 'node')})"
        if format_ == "list":
            yield Text([f"{node.name} = {node.op}: {node.evidence}" for node in stage.nodes], title)
        else:
            yield Table(("name", "op", "evidence"), [(n.name, n.op, n.evidence) for n in stage.nodes], title)


def run(options: DumpOptions) -> None:
    """Dump nodes, stages, changes or elements, as the options ask."""
    if bool(options.graphs) == bool(options.script):
        raise click.UsageError("give either GRAPH files or --script")
    # A graph alone has no stages to choose from, unless a script makes them.
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
    # Shapes, edges and an order need the whole graph; everything else is printed node by node, in constant memory.
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
    from ...core.explaining.model_view import model_view

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
    result: Dump = {"graph": dump.name, "versions": graph.versions, "nodes": nodes, "functions": functions}
    render.emit("tfg.dump/1", result, format_, lambda: node_sections(dump, nodes, functions, format_))


def _require_file(word: str, graph: str) -> None:
    """Raise NotFoundError for a word that is no file: the name of a node, or a pattern, which --name takes."""
    if word != "-" and not exists(word):
        # Users of a shell write `conv*`, and --name takes a regular expression.
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
        # Recovered from the whole graph, of which the choice shows a part.
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
    from ..sessions import SessionOptions
    from .run_job import write_steps

    if len(options.graphs) == 1 and options.format_ not in ("table", "json"):
        raise click.UsageError(f"elements have the formats table and json, not {options.format_}")
    graph = _only_graph(options, "--elements takes one graph")
    # Only elements need a session, so the command has these few options and not those of a run.
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
    # Both sides advance together, so `tee` holds one record.
    nodes, same = itertools.tee(records)
    return ((*row, node.function or "") for node, row in zip(nodes, node_rows(same)))


def _dump_stream(stream: NodeStream, chosen: NodeFilter, format_: str) -> None:
    """Print the matching nodes of the graph, then of functions; NotFoundError if no node matches."""
    from ...formats.api.dumping import stream_nodes
    from ...formats.graphdef import NodePrinter

    if format_ == "text":
        # One printer for all nodes, which keeps the texts of equal attributes.
        texts = map(NodePrinter().text, chosen.apply(stream.nodes()))
        render.print_lines(printable_proto(text).rstrip("\n") for text in texts)
        if chosen.is_empty:
            for text in stream.rest_texts():
                render.print_text(printable_proto(text))
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
    # To know whether there is a function without reading them all.
    first = list(itertools.islice(functions, 1))
    if first:
        render.print_lines([""])
        all_of_them = itertools.chain(first, functions)
        render.print_sections(function_section(function, body, format_) for function, body in all_of_them)
