"""Implementation of `tfg flops`: counting and measuring, the JSON of the counts, tables and remarks."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from ...core.explaining.default_fetches import counted_fetches
from ...core.flops import FlopsReport, NodeCost, Section
from ...core.flops.flops_report import PipelineCost, magnitude, typical
from ...core.flops.views import FlopsRow, readable, shortened, what_is_short
from ...core.graph.graph import Graph
from ...core.support import dataclasses
from ...core.support.hints import Hint
from ...core.support.json_documents import plain
from ...core.support.words import counted
from ...core.transforms.subgraphs import as_served
from ...core.types.dims import DimLike
from ...formats.api.counting import FlopsCounter, flops_rows, profile
from ...formats.api.names import Names
from ...formats.codecs.source import write_file
from .. import render
from ..commands.flops import FlopsOptions
from ..main import COMPARISON_FAILED, DONE
from ..models import note_drawn_feeds, note_unread_values
from ..options import whole_numbers
from ..render import Quantity

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.timings import ClusterMeasurement, Timing


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
        # Without names to fetch, a model counts as what its user calls; fetches name nodes of the file.
        graph = as_served(graph, options.fetches, options.session.signature)
        words = filter(None, (*options.fetches, options.loss))
        self.names = names = Names(graph, options.session.signature).exposing(words, render.noting(options.quiet))
        graph = names.graph
        # As text: a feed without a value is a cut for the count, and an error only for a measurement.
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
            write_trace(self.options.trace, trace, events, self.options.quiet)

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
        measured_data(measurement, rows),
        options.format_,
        lambda: measured_sections(measurement, rows),
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
        lambda: cluster_sections(measurement, top),
    )
    # Servers also time nodes that they add themselves, which have no count.
    return [timing for timing in measurement.timings if timing.name in job.counter.graph and timing.flops is None]


def show_count(job: FlopsJob) -> Sequence[object]:
    """Print the count in the chosen view; return the nodes whose FLOPs are unknown."""
    report, options = job.count(), job.options
    format_, top = options.format_, options.rows_shown
    if options.per_variable:
        variables = variable_costs(job.counter.by_variable())
        render.emit("tfg.flops.variables/1", {"variables": variables}, format_, lambda: variable_sections(variables))
    elif options.run_metadata:
        timings = job.counter.timings()
        sections = functools.partial(timing_sections, timings, top)
        render.emit("tfg.flops.timings/1", {"timings": timings[:top]}, format_, sections)
    elif options.compat:
        differences = job.counter.beside_profiler()
        sections = functools.partial(comparison_sections, differences)
        render.emit("tfg.flops.tfprof/1", {"ops": differences}, format_, sections)
    else:
        _show_view(report, options)
    return report.unknown()


def _show_view(report: FlopsReport, options: FlopsOptions) -> None:
    nodes = report.select(options.name, options.op_pattern, options.min_flops)
    top = options.rows_shown
    # Rows by section: shares are of the whole count, so that the rows of all sections add up to 1.
    if options.format_ == "csv":
        chosen = functools.partial(report.select, options.name, options.op_pattern, options.min_flops)
        sections = {
            name: flops_rows(report, options.view, options.depth, chosen(section=name), whole=nodes)[:top]
            for name in report.sections()
        }
        render.emit("", None, options.format_, lambda: count_csv(sections))
        return
    rows = flops_rows(report, options.view, options.depth, nodes)
    render.emit(
        SCHEMAS[options.view],
        count_data(report, view_rows(options.view, nodes, rows[:top])),
        options.format_,
        lambda: count_sections(report, rows, top, options.view == "scope"),
    )


SCHEMAS = {"op": "tfg.flops/1", "layer": "tfg.flops.layers/1", "scope": "tfg.flops.scopes/1", "node": "tfg.flops.nodes/1"}
"""The schema of each view."""


@dataclasses.dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of a view."""

    name: str
    """The op, the layer, the name scope or the node."""
    share: float
    """The share of all FLOPs, from 0 to 1."""
    flops: DimLike
    """Floating-point operations; a multiply-add is 2."""
    macs: DimLike
    """Multiply-adds."""
    transcendentals: DimLike
    """Calls of exp, log, tanh and the like, which `flops` leaves out."""
    bytes: DimLike
    """Bytes read and written."""
    parameters: DimLike
    """Elements of variables and constants."""
    intensity: float
    """FLOPs a byte; symbols count as the sizes that the table names."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpRow(ViewRow):
    """All nodes of an op, or of a layer."""

    nodes: int
    """How many nodes the row stands for."""


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeRow(ViewRow):
    """All nodes of a name scope."""

    nodes: int
    """How many nodes lie in the scope, at any depth."""
    depth: int
    """How many scopes are around this one."""
    own_flops: DimLike
    """FLOPs of nodes that lie in no deeper scope."""


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRow(ViewRow):
    """A node."""

    op: str
    """The op of the node."""
    section: str
    """`forward`, `backward`, `update` or `initializer`."""
    times: DimLike
    """How often the node runs."""


class Uncounted(TypedDict):
    """A node without a count."""

    node: str
    """The name, behind the names of calls that lead to the node."""
    op: str
    """The op of the node."""
    reason: str
    """Why the node has no count."""


class Count(TypedDict):
    """The count of a graph, in a view."""

    fetches: Sequence[str]
    """What the count runs."""
    sections: Mapping[str, Section]
    """The totals of `forward`, `backward`, `update` and `initializer`; sections without nodes are left out."""
    total: Section
    """The totals of all sections."""
    coverage: float
    """The share of nodes that are counted or do no work, from 0 to 1."""
    unknown: Sequence[Uncounted]
    """The nodes without a count."""
    symbols: Mapping[str, str]
    """The meaning of each symbol in the formulas."""
    notes: Sequence[str]
    """Trip counts, branches and other decisions that the numbers rest on."""
    pipeline: Sequence[PipelineCost]
    """The costs of input pipelines for each element; part of no total."""
    rows: Sequence[ViewRow]
    """The rows of the view."""


class CountByOp(Count):
    """The count of a graph by op, or by layer."""

    rows: Sequence[OpRow]  # type: ignore[misc]
    """The ops or layers, the most FLOPs first."""


class CountByScope(Count):
    """The count of a graph by name scope."""

    rows: Sequence[ScopeRow]  # type: ignore[misc]
    """The scopes, each behind the scope around it."""


class CountByNode(Count):
    """The count of a graph by node."""

    rows: Sequence[NodeRow]  # type: ignore[misc]
    """The nodes, the most FLOPs first."""


def count_data(report: FlopsReport, rows: Sequence[ViewRow]) -> Count:
    """Return the totals of a count and the rows of a view."""
    return {
        "fetches": report.fetches,
        "sections": report.sections(),
        "total": report.total(),
        "coverage": report.coverage,
        "unknown": [{"node": n.path, "op": n.op, "reason": n.reason} for n in report.unknown()],
        "symbols": report.symbols,
        "notes": report.notes,
        "pipeline": report.pipeline,
        "rows": rows,
    }


def view_rows(view: str, nodes: Sequence[NodeCost], rows: Sequence[FlopsRow]) -> list[ViewRow]:
    """Return the rows of a view with the keys of its schema."""
    # Only rows of nodes tell more than the sums of a row: the op, the section, and how often the node runs.
    by_path = {node.path: node for node in nodes} if view == "node" else {}
    return [_view_row(view, row, by_path.get(row.name)) for row in rows]


def _view_row(view: str, row: FlopsRow, node: NodeCost | None) -> ViewRow:
    sums = row.totals
    values = (row.name, row.share, sums.flops, sums.macs, sums.transcendentals, sums.bytes, sums.parameters, sums.intensity)
    if node is not None:
        return NodeRow(*values, node.op, node.section, node.times)
    return OpRow(*values, row.nodes) if view in ("op", "layer") else ScopeRow(*values, row.nodes, row.depth, row.own)


class VariableCost(TypedDict):
    """The backward pass of a variable."""

    variable: str
    """The name of the variable."""
    own: Section
    """The nodes that only this variable's gradient needs."""
    all: Section
    """All nodes that the variable's gradient needs."""


def variable_costs(costs: Mapping[str, tuple[Section, Section]]) -> list[VariableCost]:
    """Return the costs of the backward pass by variable, the largest first."""
    # By magnitude, as polynomials of symbols have no order.
    ranked = sorted(costs.items(), key=lambda item: -magnitude(item[1][0].flops))
    return [{"variable": name, "own": own, "all": everything} for name, (own, everything) in ranked]


class MeasuredRow(TypedDict):
    """An op, a layer, a scope or a node in the average run."""

    path: str
    """The name of the op, the layer, the scope or the node."""
    op: str
    """The op; "" where the row stands for several."""
    calls: float
    """How often it ran."""
    seconds: float
    """The time in kernels, without functions that were called."""
    flops: int
    """Floating-point operations; a multiply-add is 2."""
    transcendentals: int
    """Calls of exp, log, tanh and the like."""
    bytes: int
    """Bytes read and written."""
    shapes: str
    """The shapes of inputs and outputs."""
    reason: str
    """Why the node has no count; "" where it has."""
    rate: float
    """FLOPs a second."""
    intensity: float
    """FLOPs a byte."""


class MeasuredData(TypedDict):
    """A measurement."""

    wall: float
    """Seconds of a run."""
    profiled: float
    """Seconds of a run with the profile."""
    op_seconds: float
    """Seconds in all kernels of a run."""
    flops: int
    """FLOPs of a run."""
    runs: int
    """How many runs were timed."""
    peak: float
    """FLOPs a second of a large float32 matrix product on this machine."""
    memory: int
    """The largest number of bytes that values held at a time."""
    memory_path: str
    """The node at which the memory of values peaked."""
    drawn: str
    """The feeds that were drawn, in words: those of the placeholders without a value."""
    rows: Sequence[MeasuredRow]
    """The rows of the view, the slowest first."""


def measured_data(measurement: Measurement, rows: Sequence[MeasuredNode]) -> MeasuredData:
    """Return a measurement with the rows of a view; the events are the trace's."""
    return {
        "wall": measurement.wall,
        "profiled": measurement.profiled,
        "op_seconds": measurement.op_seconds,
        "flops": measurement.flops,
        "runs": measurement.runs,
        "peak": measurement.peak,
        "memory": measurement.memory,
        "memory_path": measurement.memory_path,
        "drawn": measurement.drawn,
        "rows": [plain(row) | {"rate": row.rate, "intensity": row.intensity} for row in rows],
    }


_COLUMNS = ("FLOPs", "MACs", "transcendental", "bytes moved", "FLOPs/byte", "parameters")
_MINOR = ("transcendental", "bytes moved", "MACs", "FLOPs/byte")
"""The columns that a narrow terminal leaves out first."""


def count_sections(report: FlopsReport, rows: Sequence[FlopsRow], top: int | None, is_tree: bool) -> Iterator[render.Section]:
    """Totals by section, the rows of a view with a bar each, and the remarks."""
    yield render.Table(
        ("section", "nodes", *_COLUMNS),
        [(name, s.nodes, *_readable(s)) for name, s in report.sections().items()],
        minor=_MINOR,
    )
    if report.pipeline:
        costs = [(part.dataset, part.function, *_readable(part.cost)) for part in report.pipeline]
        yield render.Table(("dataset", "function", *_COLUMNS), costs, "input pipeline, per element", minor=_MINOR)
    # Rows without arithmetic, mostly reshapes, would push the others off the screen.
    shown = [row for row in rows if magnitude(row.totals.flops) or magnitude(row.totals.transcendentals)][:top]
    own = ("own FLOPs",) if is_tree else ()
    yield render.Table(
        ("name", "nodes", "share", "", *own, *_COLUMNS), [_row(row, is_tree) for row in shown], minor=(*_MINOR, "")
    )
    values = [value for totals in (*report.sections().values(), *(row.totals for row in shown)) for value in _totals(totals)]
    yield render.Text([*_remarks(report), *what_is_short(values)])


def _row(row: FlopsRow, is_tree: bool) -> tuple[Any, ...]:
    own = (_metric(row.own),) if is_tree else ()
    bar = "#" * round(20 * row.share)
    return ("  " * row.depth + row.name, row.nodes, _share(row.share), bar, *own, *_readable(row.totals))


def count_csv(sections: Mapping[str, Sequence[FlopsRow]]) -> Iterator[render.Section]:
    """Yield a table of the rows of each section, with numbers and formulas."""
    totals = ("flops", "macs", "transcendentals", "bytes", "parameters")
    # Numbers and formulas in columns of their own: a program needs a number, or None, in each cell.
    columns = ("section", "name", "nodes", "share", *totals, "intensity", *(f"{name}_formula" for name in totals))
    cells = [
        (
            section,
            row.name,
            row.nodes,
            f"{row.share:.6f}",
            *(value if isinstance(value, int) else None for value in _totals(row.totals)),
            f"{row.totals.intensity:.6f}",
            *map(str, _totals(row.totals)),
        )
        for section, rows in sections.items()
        for row in rows
    ]
    yield render.Table(columns, cells)


def variable_sections(costs: Sequence[VariableCost]) -> Iterator[render.Section]:
    """Yield the cost of the backward pass for each variable."""
    yield render.Table(
        ("variable", "own FLOPs", "own MACs", "FLOPs with inputs"),
        [(c["variable"], *map(_metric, (c["own"].flops, c["own"].macs, c["all"].flops))) for c in costs],
    )


def measured_sections(measurement: Measurement, rows: Sequence[MeasuredNode]) -> Iterator[render.Section]:
    """Time, rate and intensity of each row, an op or a node."""
    # If no kernel ran, all shares are 0.
    everything = measurement.op_seconds or 1.0
    yield render.Table(
        ("name", "calls", "ms", "share", "", "FLOPs", "GFLOP/s", "of peak", "FLOPs/byte"),
        [_measured_row(node, everything, measurement.peak) for node in rows],
    )
    yield render.Text(list(_measured_remarks(measurement)))


def _measured_row(node: MeasuredNode, everything: float, peak: float) -> tuple[Any, ...]:
    share = node.seconds / everything
    return (
        node.path, f"{node.calls:g}", f"{node.seconds * 1e3:.3f}", _share(share), "#" * round(20 * share),
        Quantity(node.flops, readable(node.flops)), f"{node.rate / 1e9:.2f}", _share(node.rate / peak),
        f"{node.intensity:.2f}",
    )  # fmt: skip


def _measured_remarks(measurement: Measurement) -> Iterator[str]:
    # A node without a count is a hole in the rate below, so it is told first.
    known, nodes = len(measurement.nodes) - len(measurement.unknown()), counted(len(measurement.nodes), "node")
    yield f"coverage: {known} of {nodes}{_listed(measurement.unknown())}"
    # The hook of the profile costs time itself: users compare the run without it.
    with_profile = (
        f" (with the profile {measurement.profiled * 1e3:.3f} ms)" if measurement.profiled != measurement.wall else ""
    )
    yield (
        f"wall time of a run {measurement.wall * 1e3:.3f} ms{with_profile}, "
        f"sum of op times {measurement.op_seconds * 1e3:.3f} ms, means of {counted(measurement.runs, 'run')}"
    )
    if measurement.memory_path:
        yield f"memory peak: values of {readable(measurement.memory)}B after {measurement.memory_path}"
    # By the time of a run without the profile, which itself takes time.
    rate = measurement.flops / measurement.wall if measurement.wall else 0.0
    yield (
        f"{readable(measurement.flops)} FLOPs at {rate / 1e9:.2f} GFLOP/s: {100 * rate / measurement.peak:.1f} % of the "
        f"{measurement.peak / 1e9:.1f} GFLOP/s that a large float32 matrix product reaches here"
    )


def write_trace(path: str, trace: Mapping[str, Any], events: int, quiet: bool) -> None:
    """Write a trace in the Trace Event Format, and note the number of events."""
    write_file(path, [json.dumps(trace).encode()])
    render.note(f"wrote {counted(events, 'event')} to {path}", quiet)


def timing_sections(timings: Sequence[Timing], top: int | None) -> Iterator[render.Section]:
    """TensorFlow's times beside the counts, the slowest first."""
    yield render.Table(
        ("node", "op", "calls", "ms", "FLOPs", "GFLOP/s", "device"),
        [
            (t.name, t.op, f"{t.calls:g}", f"{t.seconds * 1e3:.3f}", _maybe(t.flops), f"{t.rate / 1e9:.2f}", t.device)
            for t in timings[:top]
        ],
        name="timings",
    )
    counted = sum(t.flops is not None for t in timings)
    yield render.Text(f"{counted} of {len(timings)} timed nodes have a count")


def cluster_sections(measurement: ClusterMeasurement, top: int | None) -> Iterator[render.Section]:
    """Yield the servers' times next to the counts, and the wall time on this machine."""
    yield from timing_sections(measurement.timings, top)
    # By device, as devices work side by side and the wall time is that of the slowest.
    busy: dict[str, float] = {}
    for timing in measurement.timings:
        busy[timing.device] = busy.get(timing.device, 0.0) + timing.seconds
    yield render.Table(
        ("device", "ms a run"), [(device, f"{seconds * 1e3:.3f}") for device, seconds in busy.items()], name="devices"
    )
    yield render.Text(
        f"wall time of a run {measurement.wall * 1e3:.3f} ms, mean of {measurement.runs}; times of nodes are the servers'"
    )


def _maybe(flops: Any) -> Any:
    return "" if flops is None else _metric(flops)


def comparison_sections(report: Any) -> Iterator[render.Section]:
    """Yield tf.profiler's counts next to tfg's counts, op by op."""
    yield render.Table(
        ("op", "nodes", "tfg FLOPs", "tf.profiler", "reason for the difference"),
        [(d.op, d.nodes, _metric(d.flops), _metric(d.profiler), d.reason) for d in report],
    )
    ours, theirs = sum(magnitude(d.flops) for d in report), sum(magnitude(d.profiler) for d in report)
    yield render.Text(f"total: {readable(int(ours))} here, {readable(int(theirs))} by tf.profiler's formulas")


def _share(share: float) -> Quantity:
    return Quantity(share, f"{100 * share:.1f} %")


def _metric(value: Any) -> Quantity:
    return Quantity(value, shortened(value))


def _readable(section: Section) -> tuple[Any, ...]:
    *moving, parameters = map(_metric, _totals(section))
    return (*moving, f"{section.intensity:.2f}", parameters)


def _totals(section: Any) -> tuple[Any, ...]:
    return (section.flops, section.macs, section.transcendentals, section.bytes, section.parameters)


def _listed(unknown: Iterable[NodeCost | MeasuredNode]) -> str:
    ops = Counter(node.op for node in unknown)
    return f", unknown: {', '.join(f'{op} x{count}' for op, count in ops.items())}" if ops else ""


def _remarks(report: FlopsReport) -> Iterator[str]:
    """Yield the coverage, the meaning of the symbols, and the assumptions behind the numbers."""
    yield f"coverage: {100 * report.coverage:.1f} % of {counted(len(report.nodes), 'node')}{_listed(report.unknown())}"
    for node in report.unknown()[:5]:
        yield Hint(f"  {node.path} ({node.op}): ", node.reason)
    yield from (Hint(f"{symbol}: ", text) for symbol, text in report.symbols.items())
    if report.symbols:
        yield "shares, FLOPs/byte and choices: for " + ", ".join(f"{symbol} = {typical(symbol)}" for symbol in report.symbols)
    yield from report.notes
    yield from _backward_ratio(report)


def _backward_ratio(report: FlopsReport) -> Iterator[str]:
    sections = report.sections()
    if "backward" in sections and "forward" in sections:
        forward, backward = (magnitude(sections[name].flops) for name in ("forward", "backward"))
        if forward:
            yield f"backward : forward = {backward / forward:.3g}"
