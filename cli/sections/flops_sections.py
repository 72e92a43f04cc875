"""Tables, remarks and JSON of `tfg flops`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.flops import FlopsReport, NodeCost
from ...core.flops.flops_report import Section, magnitude, typical
from ...core.flops.views import FlopsRow, readable, shortened
from ...core.support.hints import Hint
from ...core.support.words import counted
from ...formats.codecs.source import write_file
from .. import render
from ..render import Quantity

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.timings import ClusterMeasurement, Timing

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
    shown = [row for row in rows if magnitude(row.totals.flops) or magnitude(row.totals.transcendentals)][:top]
    own = ("own FLOPs",) if is_tree else ()
    yield render.Table(
        ("name", "nodes", "share", "", *own, *_COLUMNS), [_row(row, is_tree) for row in shown], minor=(*_MINOR, "")
    )
    values = [value for totals in (*report.sections().values(), *(row.totals for row in shown)) for value in _totals(totals)]
    is_cut = any(shortened(value) != readable(value) for value in values)
    yield render.Text(
        [*_remarks(report), *(["long sums show the largest terms; --format json has all terms"] if is_cut else [])]
    )


def _row(row: FlopsRow, is_tree: bool) -> tuple[Any, ...]:
    own = (_metric(row.own),) if is_tree else ()
    bar = "#" * round(20 * row.share)
    return ("  " * row.depth + row.name, row.nodes, _share(row.share), bar, *own, *_readable(row.totals))


def count_csv(sections: Mapping[str, Sequence[FlopsRow]]) -> Iterator[render.Section]:
    """Yield a table of the rows of each section, with numbers and formulas."""
    totals = ("flops", "macs", "transcendentals", "bytes", "parameters")
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


def variable_sections(costs: Mapping[str, Any]) -> Iterator[render.Section]:
    """Yield the cost of the backward pass for each variable, the most expensive first."""
    ranked = sorted(costs.items(), key=lambda item: -magnitude(item[1][0].flops))
    yield render.Table(
        ("variable", "own FLOPs", "own MACs", "FLOPs with inputs"),
        [(name, *map(_metric, (own.flops, own.macs, whole.flops))) for name, (own, whole) in ranked],
    )


def measured_sections(measurement: Measurement, rows: Sequence[MeasuredNode]) -> Iterator[render.Section]:
    """Time, rate and intensity of each row, an op or a node."""
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
    known, nodes = len(measurement.nodes) - len(measurement.unknown()), counted(len(measurement.nodes), "node")
    yield f"coverage: {known} of {nodes}{_listed(measurement.unknown())}"
    with_profile = (
        f" (with the profile {measurement.profiled * 1e3:.3f} ms)" if measurement.profiled != measurement.wall else ""
    )
    yield (
        f"wall time of a run {measurement.wall * 1e3:.3f} ms{with_profile}, "
        f"sum of op times {measurement.op_seconds * 1e3:.3f} ms, means of {counted(measurement.runs, 'run')}"
    )
    if measurement.memory_path:
        yield f"memory peak: values of {readable(measurement.memory)}B after {measurement.memory_path}"
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
