"""The work of `tfg flops`, from its options to its output."""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from ...core.flops import FlopsReport, count_flops
from ...core.flops.flops_report import magnitude, total
from ...core.flops.layers import NO_LAYER, layers_by_path
from ...core.flops.views import rows as rows_of
from ...core.flops.views import scopes_of, select
from ...core.graph.graph import Graph
from ...core.support.errors import InvalidArgumentError
from .. import render
from ..documents import flops as documents
from ..names import Names
from ..sections import flops_sections
from ..sessions import SessionOptions

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.timings import ClusterMeasurement


_ROWS_OF_A_TABLE: Final = 20


@dataclasses.dataclass(frozen=True, slots=True)
class FlopsOptions:
    """The options of `tfg flops`, apart from those that open a session for --measured."""

    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...]
    batch: int | None
    sizes: tuple[tuple[str, str], ...]
    trips: tuple[tuple[str, str], ...]
    backward: bool
    loss: str | None
    wrt: str
    per_variable: bool
    view: str
    top: int | None
    depth: int
    name: str
    op_pattern: str
    min_flops: float
    compat: str | None
    run_metadata: str | None
    measured: bool
    warmup: int
    runs: int
    trace: str | None
    strict: bool
    format_: str
    quiet: bool

    @property
    def rows_shown(self) -> int | None:
        """The number of rows to show, None for all of them: `top`, or what a table has room for."""
        return self.top if self.top is not None or self.format_ != "table" else _ROWS_OF_A_TABLE


class FlopsJob:
    """One `tfg flops`: its options, the graph, what is fetched and fed."""

    def __init__(self, graph: Graph, session: SessionOptions, options: FlopsOptions) -> None:
        self.options = options
        self.session = session
        self.graph = graph
        self.names = Names(graph, session.signature)
        self.fetches = tuple(self.names.fetches(options.fetches or self.names.outputs).values()) or self._guessed_fetches()
        self.gradients: Mapping[str, str] = {}
        if options.backward or options.loss or options.per_variable:
            from ...core.flops.training_steps import with_backward

            loss = self.names.output(options.loss or self._loss()).name
            self.graph, self.gradients = with_backward(self.graph, loss, options.wrt)
            self.fetches = (*self.fetches, *self.gradients.values())

    def count(self) -> FlopsReport:
        """The count from shapes."""
        trips = {loop: _whole_number("--trips", loop, text) for loop, text in self.options.trips}
        feeds = [self.names.input(item.partition("=")[0].strip()).name for item in self.options.feeds]
        values = self._feeds(required=False)
        with render.Working("counting", self.options.quiet):
            report = count_flops(self.graph, self.fetches, feeds, shapes=self._shapes(), values=values, trips=trips)
        numbers = {_symbol(size, report): _whole_number("--size", size, text) for size, text in self.options.sizes}
        if self.options.batch is not None:
            numbers["N"] = self.options.batch
        return report.substituted(numbers) if numbers else report

    def measure(self) -> Any:
        """A Measurement of real runs; writes the trace where one is asked for."""
        from ...core.flops.measured import chrome_trace, measure

        session = self.session.local(self.graph)
        self.session.prepare(session, self.options.quiet)
        feeds = self._feeds(required=True)
        found = measure(session, self.fetches, feeds, warmup=self.options.warmup, runs=self.options.runs)
        self._write_trace(chrome_trace(found), len(found.events))
        return found

    def measure_on_cluster(self) -> ClusterMeasurement:
        """What the servers of a cluster note of real runs, beside the count; writes the trace where one is asked for."""
        from ...core.flops.timings import ClusterMeasurement, device_trace, joined, mean_of

        session = self.session.on_cluster(self.graph, self.options.quiet)
        self.session.prepare(session, self.options.quiet)
        feeds, runs = self._feeds(required=True), self.options.runs
        for _ in range(self.options.warmup):
            session.run(self.fetches, feeds)
        wall, traces = [], []
        for _ in range(runs):
            started = time.perf_counter()
            session.run(self.fetches, feeds)
            wall.append(time.perf_counter() - started)
            traces.append(session.traced(self.fetches, feeds))
        self._recorded = [node_time for trace in traces for node_time in trace]
        timings = mean_of(joined(self.count(), self._recorded), runs)
        self._write_trace(device_trace(traces[-1]), len(traces[-1]))
        return ClusterMeasurement(timings, statistics.mean(wall), runs, tuple(traces[-1]))

    def _write_trace(self, trace: dict[str, Any], events: int) -> None:
        if self.options.trace:
            flops_sections.write_trace(self.options.trace, trace, events, self.options.quiet)

    def variables(self, report: FlopsReport) -> Mapping[str, Any]:
        """For --per-variable: (own, all) totals of the backward pass."""
        from ...core.flops.training_steps import per_variable

        return per_variable(self.graph, self.gradients, report)

    def run_metadata(self, report: FlopsReport) -> Any:
        """TensorFlow's own timings beside the counts."""
        from ...core.flops.timings import joined

        return joined(report, self._recorded)

    def comparison(self, report: FlopsReport) -> Any:
        """tf.profiler's formulas beside these."""
        from ...core.flops.tfprof import compare

        return compare(self.graph, report, self._shapes(), self.options.batch)

    def _shapes(self) -> dict[str, Any]:
        """The shapes that are given, by themselves, with a value or in a RunMetadata."""
        shapes = {self.names.input(name).name: shape for name, shape in self.options.shapes}
        for name, value in self._feeds(required=False).items():
            shapes.setdefault(name, value.shape)
        if self._recorded:
            from ...core.flops.timings import recorded_shapes

            shapes = recorded_shapes(self.graph, self._recorded) | shapes
        return shapes

    @functools.cached_property
    def _recorded(self) -> list[Any]:
        """The executions in the RunMetadata."""
        from ...formats.run_metadata import read_run_metadata

        path = self.options.run_metadata
        return read_run_metadata(path) if path else []

    def _feeds(self, required: bool) -> dict[str, Any]:
        parted = [[part.strip() for part in item.partition("=")] for item in self.options.feeds]
        bare = [name for name, equals, _ in parted if not equals]
        if required and bare:
            raise click.UsageError(f"--measured runs the graph: give --feed {bare[0]}=VALUE")
        return self.names.feeds((name, text) for name, equals, text in parted if equals)

    def _loss(self) -> str:
        """What the backward pass starts from: the first fetch with a value, or the loss that the graph's own updates go by."""
        from ...core.explaining.roles import Roles

        losses = [name for name in self.fetches if ":" in name] or [node.output().name for node in Roles(self.graph).losses]
        if not losses:
            problem = f"'{self.fetches[0]}' has no value to differentiate, and no loss stands out in this graph"
            raise InvalidArgumentError(problem, hint="name one with --loss")
        return losses[0]

    def _guessed_fetches(self) -> tuple[str, ...]:
        """The graph's outputs, as `tfg explain` finds them."""
        from ...core.explaining.graph_facts import explain_graph

        signatures = self.graph.meta.signatures if self.graph.meta is not None else {}
        if signatures:
            several = ", ".join(signatures)
            raise InvalidArgumentError(f"the graph has several signatures: {several}", hint="--signature says which to count")
        facts = explain_graph(self.graph)
        names = tuple(tensor.name for tensor in facts.outputs) or facts.train_ops
        if not names:
            raise InvalidArgumentError("no output stands out in this graph", hint="name one with --fetch")
        listed = ", ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        render.note(f"counting what {listed} run; --fetch chooses others", self.options.quiet)
        return names


def _symbol(size: str, report: FlopsReport) -> str:
    """The symbol that a user means; InvalidArgumentError where nothing counted depends on it."""
    for symbol in (size, f"n[{size}]"):
        if symbol in report.symbols:
            return symbol
    known = ", ".join(report.symbols) or "none"
    raise InvalidArgumentError(f"--size {size}: what is counted depends on no such size", hint=f"the sizes are: {known}")


def _whole_number(option: str, name: str, text: str) -> int:
    if not text.isdecimal():
        raise InvalidArgumentError(f"{option} {name}={text}: '{text}' is no whole number from 0 on")
    return int(text)


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
        return measurement.by_key(lambda node: scopes_of(node.path, job.options.depth))
    if view == "layer":
        layers = layers_by_path(job.count().nodes)
        return measurement.by_key(lambda node: [layers.get(node.path, NO_LAYER)])
    return measurement.by_op()


def _show_cluster(job: FlopsJob) -> Sequence[object]:
    measurement, top = job.measure_on_cluster(), job.options.rows_shown
    render.emit(
        "tfg.flops.cluster/1",
        documents.cluster_data(measurement, top),
        job.options.format_,
        lambda: flops_sections.cluster_sections(measurement, top),
    )
    return [timing for timing in measurement.timings if timing.name in job.graph and timing.flops is None]


def show_count(job: FlopsJob) -> Sequence[object]:
    """Print the count in the chosen view; return the nodes whose FLOPs are unknown."""
    report, options = job.count(), job.options
    format_, top = options.format_, options.rows_shown
    if options.per_variable:
        variables = job.variables(report)
        data = documents.variable_data(variables)
        render.emit("tfg.flops.variables/1", data, format_, lambda: flops_sections.variable_sections(variables))
    elif options.run_metadata:
        timings = job.run_metadata(report)
        sections = functools.partial(flops_sections.timing_sections, timings, top)
        render.emit("tfg.flops.timings/1", {"timings": timings[:top]}, format_, sections)
    elif options.compat:
        differences = job.comparison(report)
        sections = functools.partial(flops_sections.comparison_sections, differences)
        render.emit("tfg.flops.tfprof/1", {"ops": differences}, format_, sections)
    else:
        _show_view(report, options)
    return report.unknown()


def _show_view(report: FlopsReport, options: FlopsOptions) -> None:
    nodes = select(report, options.name, options.op_pattern, options.min_flops)
    top = options.rows_shown
    if options.format_ == "csv":
        by_section = {name: [node for node in nodes if node.section == name] for name in report.sections()}
        sections = {name: rows_of(report, options.view, options.depth, members)[:top] for name, members in by_section.items()}
        everything = magnitude(total(nodes).flops) or 1.0
        render.emit("", None, options.format_, lambda: flops_sections.count_csv(sections, everything))
        return
    rows = rows_of(report, options.view, options.depth, nodes)
    render.emit(
        documents.SCHEMAS[options.view],
        documents.count_data(report, documents.view_rows(options.view, nodes, rows[:top])),
        options.format_,
        lambda: flops_sections.count_sections(report, rows, top, options.view == "scope"),
    )
