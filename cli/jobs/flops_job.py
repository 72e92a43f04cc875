"""Implementation of `tfg flops`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...core.flops import FlopsReport
from ...core.graph.graph import Graph
from ...core.runtime.session.function_signatures import as_called
from ...core.support import dataclasses
from ...formats.api.counting import FlopsCounter, counted_fetches, flops_rows, profile
from ...formats.api.names import Names
from .. import render
from ..commands.flops import FlopsOptions
from ..documents import flop_counts as documents
from ..main import COMPARISON_FAILED, DONE
from ..models import note_drawn_feeds, note_unread_values
from ..options import whole_numbers
from ..sections import flops_sections

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.timings import ClusterMeasurement


def run(options: FlopsOptions) -> int:
    """Count, or measure, and print; return 3 for unknown costs with --strict."""
    graph = options.reader.load(options.graph)
    note_unread_values(graph, options.quiet)
    job = FlopsJob(graph, options)
    unknown = (show_measured if options.measured else show_count)(job)
    return COMPARISON_FAILED if options.strict and unknown else DONE


class FlopsJob:
    """A run of `tfg flops`: the options, the graph, the fetches and the feeds."""

    def __init__(self, graph: Graph, options: FlopsOptions) -> None:
        self.options = options
        self.session = options.session
        graph = graph if options.fetches else as_called(graph)
        words = filter(None, (*options.fetches, options.loss))
        self.names = names = Names(graph, options.session.signature).exposing(words, render.noting(options.quiet))
        graph = names.graph
        self.given = tuple(names.by_name(options.feeds))
        fetches = tuple(names.fetches(options.fetches or names.outputs).values()) or self._guessed_fetches(graph)
        self.counter = FlopsCounter(
            graph, fetches, [names.input(name).name for name, _ in self.given],
            shapes={names.input(name).name: shape for name, shape in options.shapes}, values=self.feeds(required=False),
            trips=whole_numbers("--trips", options.trips), sizes=whole_numbers("--size", options.sizes), batch=options.batch,
            backward=options.backward or options.per_variable,
            loss=names.output(options.loss).name if options.loss else None, wrt=options.wrt,
            run_metadata=options.run_metadata,
        )  # fmt: skip

    def count(self) -> FlopsReport:
        """The count from shapes."""
        with render.Working("counting", self.options.quiet):
            return self.counter.report

    def measure(self) -> Measurement:
        """Measure real runs; write the trace if the options ask for a trace."""
        measurement = profile(
            self.counter.graph, self.counter.fetches, self.feeds(required=True), warmup=self.options.warmup,
            runs=self.options.runs, open_session=lambda graph: self.session.open(graph, self.options.quiet).session,
        )  # fmt: skip
        self._write_trace(measurement.trace(), len(measurement.events))
        return note_drawn_feeds(measurement, self.options.quiet)

    def measure_on_cluster(self) -> ClusterMeasurement:
        """Measure real runs on a cluster, from the notes of its servers; write the trace if the options ask for a trace."""
        session = self.session.on_cluster(self.counter.graph, self.options.quiet)
        self.session.prepare(session, self.options.quiet)
        feeds = self.feeds(required=True)
        measurement = self.counter.measure_on_cluster(session, feeds, warmup=self.options.warmup, runs=self.options.runs)
        self._write_trace(measurement.trace(), len(measurement.times))
        return measurement

    def _write_trace(self, trace: dict[str, Any], events: int) -> None:
        if self.options.trace:
            flops_sections.write_trace(self.options.trace, trace, events, self.options.quiet)

    def feeds(self, required: bool) -> dict[str, Any]:
        """Return the values to feed; raise a usage error for a feed without a required value."""
        bare = [name for name, text in self.given if text is None]
        if required and bare:
            raise click.UsageError(f"--measured runs the graph: add --feed {bare[0]}=VALUE")
        return self.names.feeds(pair for pair in self.given if pair[1] is not None)

    def _guessed_fetches(self, graph: Graph) -> tuple[str, ...]:
        """The graph's outputs, as `tfg explain` finds them."""
        names = counted_fetches(graph)
        listed = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        render.note(f"counting the nodes that {listed} run; --fetch chooses others", self.options.quiet)
        return names


def show_measured(job: FlopsJob) -> Sequence[object]:
    """Print the times of real runs; return the nodes whose FLOPs are unknown."""
    if job.session.on is not None:
        return _show_cluster(job)
    measurement, options = job.measure(), job.options
    rows = _measured_rows(measurement, job)[: options.rows_shown]
    render.emit(
        "tfg.flops.measured/1",
        documents.measured_data(measurement, rows),
        options.format_,
        lambda: flops_sections.measured_sections(measurement, rows),
    )
    unknown: Sequence[object] = measurement.unknown()
    return unknown


def _measured_rows(measurement: Measurement, job: FlopsJob) -> list[MeasuredNode]:
    """Return the rows of the chosen view, the slowest first."""
    view = job.options.view
    if view == "node":
        return measurement.by_node()
    if view == "scope":
        return measurement.by_scope(job.options.depth)
    if view == "layer":
        return measurement.by_layer(job.count())
    return measurement.by_op()


def _show_cluster(job: FlopsJob) -> Sequence[object]:
    measurement, top = job.measure_on_cluster(), job.options.rows_shown
    render.emit(
        "tfg.flops.cluster/1",
        dataclasses.replace(measurement, timings=measurement.timings[:top]),
        job.options.format_,
        lambda: flops_sections.cluster_sections(measurement, top),
    )
    return [timing for timing in measurement.timings if timing.name in job.counter.graph and timing.flops is None]


def show_count(job: FlopsJob) -> Sequence[object]:
    """Print the count in the chosen view; return the nodes whose FLOPs are unknown."""
    report, options = job.count(), job.options
    format_, top = options.format_, options.rows_shown
    if options.per_variable:
        variables = job.counter.by_variable()
        data = documents.variable_data(variables)
        render.emit("tfg.flops.variables/1", data, format_, lambda: flops_sections.variable_sections(variables))
    elif options.run_metadata:
        timings = job.counter.timings()
        sections = functools.partial(flops_sections.timing_sections, timings, top)
        render.emit("tfg.flops.timings/1", {"timings": timings[:top]}, format_, sections)
    elif options.compat:
        differences = job.counter.beside_profiler()
        sections = functools.partial(flops_sections.comparison_sections, differences)
        render.emit("tfg.flops.tfprof/1", {"ops": differences}, format_, sections)
    else:
        _show_view(report, options)
    return report.unknown()


def _show_view(report: FlopsReport, options: FlopsOptions) -> None:
    nodes = report.select(options.name, options.op_pattern, options.min_flops)
    top = options.rows_shown
    if options.format_ == "csv":
        chosen = functools.partial(report.select, options.name, options.op_pattern, options.min_flops)
        sections = {
            name: flops_rows(report, options.view, options.depth, chosen(section=name), whole=nodes)[:top]
            for name in report.sections()
        }
        render.emit("", None, options.format_, lambda: flops_sections.count_csv(sections))
        return
    rows = flops_rows(report, options.view, options.depth, nodes)
    render.emit(
        documents.SCHEMAS[options.view],
        documents.count_data(report, documents.view_rows(options.view, nodes, rows[:top])),
        options.format_,
        lambda: flops_sections.count_sections(report, rows, top, options.view == "scope"),
    )
