"""Implementation of `tfg explain`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import click

from ...core.explaining.graph_facts import explain, missing_ops
from ...core.graph.graph import Graph
from ...core.op_libraries.op_listing import describe_op, is_declared
from ...core.registry.catalog import CATALOG
from ...core.runtime.session.function_signatures import entry_points
from ...core.support import dataclasses
from ...core.support.errors import NotFoundError
from ...core.support.places import exists, is_folder
from ...formats.api.names import Names
from ...formats.codecs.source import ReadOnce, describe, read_source
from ...formats.detect import recording_kind
from ...formats.state import has_graph, unread_values
from .. import render
from ..commands.explain import ExplainOptions
from ..engines import report_sections
from ..sections.explain_sections import (
    MAX_ROWS,
    fate_sections,
    graph_sections,
    missing_sections,
    node_sections,
    partition_sections,
    race_sections,
    recording_sections,
)
from ..sections.ops_sections import detail_sections, detail_tables


def run(options: ExplainOptions) -> None:
    """Explain a graph, nodes, a recording, or an op."""
    reader = options.reader
    reader.load_libraries()
    if not exists(options.graph) and is_op(options.graph):
        if options.sizes:
            raise click.UsageError("--shape and --batch need a graph, and an op has no sizes")
        if options.raw:
            raise click.UsageError("--raw needs a graph, and an op has no nodes")
        explain_op(options.graph, options.format_)
    elif not show_recording(source := ReadOnce(options.graph), options):
        graph, is_sound = (reader.load(options.graph), True) if options.about_runs else reader.look_closely(source)
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
    if is_declared(word) or not word.isidentifier():
        return is_declared(word)
    close = get_close_matches(word, list(CATALOG), 3, 0.8)
    if close:
        raise NotFoundError(
            f"'{word}' is neither a file nor an op",
            hint=f"did you mean {' or '.join(close)}? Try `tfg explain {close[0]}`",
        )
    return False


def explain_op(name: str, format_: str) -> None:
    """Describe an op type."""
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
        from ..sections.layers_sections import summary_sections

        report = layers(self.graph, tuple(names.outputs.values()))
        return tuple(summary_sections(report, self._max_rows, self.path)) if report.layers else ()

    @property
    def _max_rows(self) -> int:
        """The largest number of rows of a table; CSV has all."""
        return sys.maxsize if self.options.format_ == "csv" else MAX_ROWS
