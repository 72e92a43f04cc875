"""Implementation of `tfg explain`: what it finds, and how it shows that."""

from __future__ import annotations

import collections
import functools
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from ...core.explaining.graph_facts import CallableFacts, GraphFacts, MissingOp, explain, facts_without_detail, missing_ops
from ...core.graph.graph import Graph
from ...core.registry.catalog import CATALOG
from ...core.runtime.session.function_signatures import entry_points
from ...core.support import dataclasses
from ...core.support.errors import NotFoundError
from ...core.support.grouping import grouped
from ...core.support.hints import Hint
from ...core.support.places import exists, is_folder
from ...core.support.words import counted, size_in_bytes
from ...formats.api.names import Names
from ...formats.codecs.source import ReadOnce, describe, read_source
from ...formats.detect import recording_kind
from ...formats.state import has_graph, unread_values
from .. import render
from ..commands.explain import ExplainOptions
from ..render import Quantity, Section, Table, Text

if TYPE_CHECKING:
    from ...core.explaining.device_partition import PartitionFacts
    from ...core.explaining.node_facts import ControlFacts, NodeFacts
    from ...core.explaining.pipeline_words import PipelineFacts
    from ...core.explaining.race_report import RunRaces
    from ...core.passes.pipeline import NodeFate
    from ...formats.recordings import Recording

MAX_ROWS = 30
_MAX_ALIKE = 4
_PURPOSES = {
    "trainable": "trainable variables",
    "slots": "slot variables",
    "other": "other variables",
    "constants": "constants",
    "unused": "unused handles",
}
_QUOTED = re.compile("'[^']*'")


def graph_sections(facts: GraphFacts, max_rows: int = MAX_ROWS, layers: Sequence[Section] = ()) -> Iterator[Section]:
    """The whole graph, from numbers to the next commands.

    `layers` are sections about the layers of a model; they take the place of the file's functions and ops.
    """
    shown = [*facts_without_detail(facts).items(), *_footprint(facts)]
    yield Table(("fact", "value"), [(name, str(value)) for name, value in shown], name="facts")
    for title, tensors in (("inputs", facts.inputs), ("outputs", facts.outputs)):
        if tensors:
            yield _cut(("name", "op", "dtype", "shape"), [(t.name, t.op, t.dtype, t.shape) for t in tensors], title, max_rows)
    yield from layers
    yield from map(_pipeline, facts.pipelines)
    if facts.variables:
        columns = ("name", "purpose", "kind", "dtype", "shape", "initializer", "slot of")
        # A SavedModel of TF2 has handles of variables that no function reads.
        used = [variable for variable in facts.variables if variable.purpose != "unused"] or facts.variables
        rows = [(v.name, v.purpose, v.kind, v.dtype, v.shape, v.initializer, v.slot_of) for v in used]
        yield _cut(columns, rows, "variables", max_rows)
    if facts.signatures:
        from ..models import signature_table

        yield from map(signature_table, facts.signatures)
    if facts.callables:
        listed = [(c.name, _arguments(c), ", ".join(c.outputs), c.function) for c in facts.callables]
        yield _cut(
            ("--function", "takes", "gives", "function"), listed, "functions of the model's objects", max_rows
        )._replace(name="callables")
    if facts.functions and not layers:
        called = [(f.name, f.nodes, ", ".join(f.callers[:3])) for f in facts.functions]
        yield _cut(("function", "nodes", "called by"), called, "functions", max_rows)
    if not layers:
        yield _cut(("op", "count", "kernel"), [(op.op, op.count, op.kernel) for op in facts.ops], "ops", max_rows)
    if facts.missing:
        names = ", ".join(f"{op.op} ({op.count})" for op in facts.missing)
        yield Text((names, "--missing describes these ops"), "ops without a kernel")
    if facts.conflicts:
        yield Text(facts.conflicts, "colocated nodes on different devices")
    if layers:
        yield Text(["--raw shows the functions and ops of the file"])
    # At the end, where a terminal leaves the eye.
    yield Text(facts.next_commands, "next", "commands")


def _arguments(called: CallableFacts) -> str:
    return ", ".join(f"{tensor.name}: {tensor.dtype} {tensor.shape}" for tensor in called.inputs)


def _pipeline(facts: PipelineFacts) -> Text:
    """Return the stages of an input pipeline, a line each, then the components of its elements."""
    components = ", ".join(f"{part.dtype}{part.shape}" for part in facts.components)
    begins = f"; begins with {facts.iterator}" if facts.iterator else ""
    begun = f"; begun by {', '.join(facts.begun_by)}" if facts.begun_by else begins
    return Text((*facts.stages, f"gives {components or 'nothing'}{begun}"), f"input pipeline of {facts.node}")


def _footprint(facts: GraphFacts) -> Iterator[tuple[str, str]]:
    """Yield the bytes of the graph's tensors, and the memory of a run."""
    for held in facts.holdings:
        noun = "parameter" if held.purpose == "trainable" else "element"
        yield _PURPOSES[held.purpose], f"{counted(held.elements, noun)}, {size_in_bytes(held.bytes)}, in {held.tensors:,}"
    peak = facts.peak_memory
    if peak is not None and peak.node:
        more = f"; {counted(peak.unknown, 'value')} of unknown rank not counted" if peak.unknown else ""
        names = ", ".join(peak.fetches[:3]) + (" ..." if len(peak.fetches) > 3 else "")
        yield "memory of a run", f"about {size_in_bytes(peak.bytes)} for {names} at {peak.node}, with unknown sizes as 1{more}"


def _cut(columns: tuple[str, ...], rows: Sequence[tuple[object, ...]], title: str, max_rows: int = MAX_ROWS) -> Table:
    """Return a table with at most `max_rows` rows; the title states the total."""
    if len(rows) > max_rows:
        title = f"{title} (the first {max_rows} of {len(rows)}; --format json has all)"
    return Table(columns, rows[:max_rows], title)


def race_sections(runs: Sequence[RunRaces], format_: str) -> Iterator[Section]:
    """The races of each run that has any."""
    if format_ == "csv":
        rows = [
            (run.fetches, race.function, race.state, race.first, race.second, race.words) for run in runs for race in run.races
        ]
        yield Table(("fetches", "function", "state", "first", "second", "race"), rows, name="races")
        return
    for run in runs:
        if run.races:
            lines = [f"in function '{race.function}': {race.words}" if race.function else race.words for race in run.races]
            lines += ["and more races"] * run.has_more
            yield Text("\n".join(lines), f"races of {', '.join(run.fetches)}")
    if not any(run.races for run in runs):
        names = [name for run in runs for name in run.fetches]
        more = f" and {len(names) - MAX_ROWS} more" if len(names) > MAX_ROWS else ""
        yield Text(f"no races in {', '.join(names[:MAX_ROWS])}{more}" if names else "no races: no node writes or draws")


def partition_sections(facts: PartitionFacts, max_rows: int = MAX_ROWS) -> Iterator[Section]:
    """Yield the number of nodes on each device, the tensors that cross between devices, and placement conflicts."""
    counts = collections.Counter(facts.devices.values())
    yield Table(("device", "nodes"), [(device, count) for device, count in sorted(counts.items())], "devices")
    if not facts.crossings:
        yield Text("no tensor crosses between devices")
    else:
        columns = ("tensor", "what", "from", "to", "dtype", "shape", "bytes")
        # What costs the network most comes first.
        ranked = sorted(facts.crossings, key=lambda c: -(c.bytes or 0))
        rows = [(c.tensor, c.kind, c.source, c.target, c.dtype, c.shape, _bytes(c.bytes)) for c in ranked]
        yield _cut(columns, rows, "crossings of a step", max_rows)._replace(name="crossings")
        unknown = sum(crossing.bytes is None for crossing in facts.crossings)
        more = f", and {counted(unknown, 'tensor')} of sizes known only at run time" if unknown else ""
        yield Text(f"{counted(len(facts.crossings), 'crossing')} a step: {facts.bytes:,} bytes{more}")
    if facts.conflicts:
        yield Text("\n".join(facts.conflicts), "placement conflicts")


def _bytes(size: int | None) -> Quantity:
    return Quantity(size, "?" if size is None else f"{size:,}")


def fate_sections(fates: Sequence[NodeFate]) -> Iterator[Section]:
    """Yield the outcomes of nodes."""
    yield Table(
        ("node", "op", "op after", "outcome"),
        [(f.name, f.op, f.op_after or "", f.fate) for f in fates],
        name="outcomes",
    )
    refused = [(fate.name, reason) for fate in fates for reason in fate.refused]
    if refused:
        yield Table(("node", "not changed, because"), refused, name="refused")


def missing_sections(missing: Sequence[MissingOp], graph: str, format_: str) -> Iterator[Section]:
    """Ops that cannot run, and how to read them as others."""
    if not missing and format_ != "csv":
        yield Text("every op of the graph has a kernel")
        return
    rows = [(op.op, op.count, op.known, op.reason, op.nodes[0]) for op in missing]
    yield Table(("op", "count", "in TensorFlow", "description", "first node"), rows, "ops without a kernel")
    maps = [f"--map-op {op.op}={op.map_to}" for op in missing if op.map_to]
    if maps:
        yield Text(
            f"tfg explain {graph} {' '.join(maps)}",
            "to read these ops as ops that tfg knows, in any command",
            "commands",
        )


def node_sections(nodes: Sequence[NodeFacts], format_: str) -> Iterator[Section]:
    """Yield the sections of each node: a paragraph, the control inputs, the device, and the consumers."""
    if format_ == "csv":
        columns = ("node", "op", "function", "stage", "role", "inputs", "device")
        rows = [(f.node.name, f.node.op, f.function, f.stage, f.role, f.node.inputs, f.node.device) for f in nodes]
        yield Table(columns, rows, name="nodes")
        return
    for facts in nodes:
        yield Text(list(_node_lines(facts)), f"{facts.node.name} ({facts.node.op})")


def _node_lines(facts: NodeFacts) -> Iterator[str]:
    yield Hint("  ", facts.role)
    yield f"  stage: {facts.stage} ({facts.evidence})"
    if facts.layer is not None:
        yield f"  the output of layer {facts.layer}"
    if facts.source is not None:
        yield f"  in the file: {facts.source}"
    if facts.function is not None:
        yield f"  in function {facts.function}, called by {', '.join(facts.callers) or 'no node'}"
    if facts.node.outputs:
        yield f"  outputs: {', '.join(map(str, facts.node.outputs))}"
    if facts.node.inputs:
        yield f"  inputs: {', '.join(facts.node.inputs)}"
    yield from _control_lines(facts.control_inputs)
    yield from _placement_lines(facts)
    shown = [c.name if c.tensor is not None else f"{c.name} (waits for it)" for c in facts.consumers[:8]]
    more = len(facts.consumers) - len(shown)
    yield f"  consumers: {', '.join(shown) or 'none'}" + (f" and {more} more" if more > 0 else "")
    if facts.fetch is not None:
        why = " -> ".join(facts.fetch.path) if facts.fetch.runs else "does not run"
        yield f"  fetch {facts.fetch.fetch}: {why}"


def _control_lines(controls: Sequence[ControlFacts]) -> Iterator[str]:
    """Yield a line for each control input; similar control inputs beyond the first ones share a line."""
    # Without the quoted names, by which similar sentences differ.
    alike = grouped((_QUOTED.sub("", control.meaning), control) for control in controls)
    for together in alike.values():
        # One line for the rest saves nothing where the rest is one line.
        shown = together if len(together) <= _MAX_ALIKE else together[: _MAX_ALIKE - 1]
        yield from (f"  ^{control.name}: {control.meaning}" for control in shown)
        if len(together) > len(shown):
            yield f"  ^ and {len(together) - len(shown)} more like this"


def _placement_lines(facts: NodeFacts) -> Iterator[str]:
    if facts.loc_chain:
        names = " -> loc:@".join(facts.loc_chain)
        yield f"  colocated: loc:@{names}: will be placed on the device of '{facts.loc_chain[-1]}'"
    group = facts.colocation
    if group is not None:
        where = group.device or "any device"
        yield f"  colocation group of {len(group.members)} ({', '.join(group.members[:5])}): {where}"
        for conflict in group.conflicts:
            yield f"  conflict: {conflict}"
        for name in group.missing:
            yield f"  loc:@{name} names a node that is not in the graph"
    elif facts.node.device:
        yield f"  device: {facts.node.device}"


def recording_sections(recording: Recording, path: str) -> Iterator[Section]:
    """Show the facts, tags and graphs of a recording, and the line that reads its graph."""
    facts = {
        "kind": recording.kind,
        "writer": recording.writer,
        "events": recording.events,
        "duration": f"{recording.seconds:.6g} s" if recording.events else "",
        "truncated": "yes, or still being written" if recording.is_cut else "",
        "executions of nodes": recording.executions,
        "devices": ", ".join(recording.devices),
    }
    yield Table(("fact", "value"), [(name, value) for name, value in facts.items() if value])
    tags = [(tag.run, tag.tag, tag.kind, tag.count, tag.first_step, tag.last_step) for tag in recording.tags]
    if tags:
        columns = ("run", "tag", "kind", "count", "first step", "last step")
        # A single file has no runs, and no column for them.
        first = 0 if any(tag.run for tag in recording.tags) else 1
        yield Table(columns[first:], [row[first:] for row in tags], "tags")
    if any(tag.kind == "scalars" for tag in recording.tags):
        yield Text(f"tfg scalars {shlex.quote(path)}", "values", "commands")
    if recording.graphs:
        graphs = [(graph.what, graph.nodes, graph.is_read) for graph in recording.graphs]
        yield Table(("graph", "nodes", "read by tfg"), graphs, "graphs")
        yield Text(f"tfg dump {shlex.quote(path)}\ntfg convert {shlex.quote(path)} graph.pb", "graph", "commands")


def run(options: ExplainOptions) -> None:
    """Explain a graph, nodes, a recording, or an op."""
    reader = options.reader
    reader.load_libraries()
    # A file with the name of an op is a graph.
    if not exists(options.graph) and is_op(options.graph):
        if options.sizes:
            raise click.UsageError("--shape and --batch need a graph, and an op has no sizes")
        if options.raw:
            raise click.UsageError("--raw needs a graph, and an op has no nodes")
        explain_op(options.graph, options.format_)
    # Standard input and addresses are read once, for the question whether this is a recording and for the graph.
    elif not show_recording(source := ReadOnce(options.graph), options):
        # Questions about runs need a graph that runs; all others are for looking, also at broken graphs.
        graph, is_sound = (reader.load(options.graph), True) if options.about_runs else reader.look_closely(source)
        # Before the names are resolved, since another batch makes another graph.
        graph = options.sizes.applied(graph, options.signature, options.fetches)
        ExplainJob(options.graph, graph, is_sound, options).run()


def show_recording(source: ReadOnce, options: ExplainOptions) -> bool:
    """Show the contents of an event file, a folder of them or a RunMetadata file; return False for any other."""
    is_model = is_folder(source) and has_graph(source.path)
    if is_model or options.nodes or options.about_runs or options.missing or options.sizes or options.raw:
        return False
    if not is_folder(source) and recording_kind(read_source(source), describe(source)) is None:
        return False
    from ...formats.recordings import describe_recording  # lazy: most files are graphs

    recording = describe_recording(source)
    if recording is None:
        return False
    render.emit("tfg.explain.recording/1", recording, options.format_, lambda: recording_sections(recording, source.path))
    return True


def is_op(word: str) -> bool:
    """Return True for the name of an op, False for other words; NotFoundError for a word near the name of an op."""
    from ...core.op_libraries.op_listing import is_declared  # lazy: most words are files

    if is_declared(word) or not word.isidentifier():
        return is_declared(word)
    # So close to the name of an op that no file is meant.
    close = get_close_matches(word, list(CATALOG), 3, 0.8)
    if close:
        raise NotFoundError(
            f"'{word}' is neither a file nor an op",
            hint=f"did you mean {' or '.join(close)}? Try `tfg explain {close[0]}`",
        )
    return False


def explain_op(name: str, format_: str) -> None:
    """Describe an op type."""
    from ...core.op_libraries.op_listing import describe_op
    from .ops_job import detail_sections, detail_tables

    detail = describe_op(name)
    sections = functools.partial(detail_tables, [detail]) if format_ == "csv" else functools.partial(detail_sections, detail)
    render.emit("tfg.explain.op/1", {"ops": [detail]}, format_, sections)


class ExplainJob:
    """A run of `tfg explain`: the graph, its soundness, and the options."""

    def __init__(self, path: str, graph: Graph, is_sound: bool, options: ExplainOptions) -> None:
        self.path = path
        self.is_sound = is_sound
        self.options = options
        self.names = Names(graph, options.signature)
        if options.about_runs or options.optimized:
            words = (*options.nodes, *options.fetches)
            self.names = self.names.exposing(words, render.note)
        self.graph = self.names.graph
        self.nodes = tuple(map(self.names.node, options.nodes))
        self.fetches = tuple(map(self.names.node_or_tensor, options.fetches))
        self._check()

    def _check(self) -> None:
        options = self.options
        for name in ("races", "missing", "partition"):
            if options.nodes and getattr(options, name):
                raise click.UsageError(f"--{name} describes the graph: leave out NODE")
        if options.about_runs:
            return
        if len(self.fetches) > 1:
            raise click.UsageError("more than one --fetch needs --engine, --partition or --races")
        if (self.fetches or options.optimized) and not options.nodes:
            raise click.UsageError("--fetch and --optimized describe nodes: name at least one NODE")

    def run(self) -> None:
        """Show the facts that the options ask for."""
        options = self.options
        if options.partition:
            self._partition()
        elif options.races:
            self._races()
        elif options.engine is not None:
            from ...formats.api.analyses import explain_engine
            from ..engines import report_sections

            report = explain_engine(self.graph, options.engine, self.fetches)
            render.emit("tfg.explain.engine/1", report, options.format_, lambda: report_sections(report))
        elif options.missing:
            missing = missing_ops(self.graph)
            render.emit(
                "tfg.explain.missing/1",
                {"missing": missing},
                options.format_,
                lambda: missing_sections(missing, self.path, options.format_),
            )
        elif options.optimized:
            self._fates()
        elif self.nodes:
            self._nodes()
        else:
            self._graph()

    def _partition(self) -> None:
        from ...core.explaining.device_partition import explain_partition

        parts = explain_partition(self.graph, self.fetches)
        render.emit("tfg.explain.partition/1", parts, self.options.format_, lambda: partition_sections(parts, self._max_rows))

    def _races(self) -> None:
        from ...core.explaining.race_report import explain_races

        runs = explain_races(self.graph, self.fetches)
        render.emit(
            "tfg.explain.races/1", {"runs": runs}, self.options.format_, lambda: race_sections(runs, self.options.format_)
        )

    def _fates(self) -> None:
        from ...core.passes.pipeline import node_fates

        fates = node_fates(self.graph, self.nodes, self.fetches, fast_math=self.options.fast_math)
        render.emit("tfg.explain.optimized/1", {"nodes": fates}, self.options.format_, lambda: fate_sections(fates))

    def _nodes(self) -> None:
        options = self.options
        facts = explain(
            self.graph,
            *self.nodes,
            fetch=next(iter(self.fetches), None),
            signature=options.signature,
            is_sound=self.is_sound,
            raw=options.raw,
        )
        render.emit("tfg.explain.nodes/1", {"nodes": facts}, options.format_, lambda: node_sections(facts, options.format_))

    def _graph(self) -> None:
        signature = self.names.asked.name if self.names.asked is not None else None
        with render.Working("reading the graph"):
            facts = explain(
                self.graph, signature=signature, raw=self.options.raw, path=self.path, is_sound=self.is_sound,
                variables_unread=unread_values(self.graph),
            )  # fmt: skip
            facts = dataclasses.replace(facts, next_commands=self.options.sizes.carried(facts.next_commands))
            layers = self._layers()
        render.emit("tfg.explain/1", facts, self.options.format_, lambda: graph_sections(facts, self._max_rows, layers))

    def _layers(self) -> Sequence[render.Section]:
        """Return the table of the layers of a model, as text is for people; JSON and CSV of `tfg layers` have them."""
        options, names = self.options, self.names
        is_model = names.signature is not None or bool(entry_points(self.graph))
        if options.format_ != "table" or options.raw or not self.is_sound or not is_model:
            return ()
        from ...formats.api.counting import layers
        from .layers_job import summary_sections

        report = layers(self.graph, tuple(names.outputs.values()))
        return tuple(summary_sections(report, self._max_rows, self.path)) if report.layers else ()

    @property
    def _max_rows(self) -> int:
        """The largest number of rows of a table; CSV has all."""
        return sys.maxsize if self.options.format_ == "csv" else MAX_ROWS
