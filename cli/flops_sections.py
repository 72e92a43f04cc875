"""Tables, remarks and JSON of `tfg flops`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.flops import FlopsReport, NodeCost
from ..core.flops.report import magnitude, typical
from ..core.flops.views import Row, by_node, by_op, by_scope, readable, select
from . import render

if TYPE_CHECKING:
    from ..core.flops.measured import MeasuredNode, Measurement
    from ..core.flops.timings import Timing
    from .flops_job import FlopsJob, FlopsOptions

_COLUMNS = ("FLOPs", "MACs", "transcendental", "bytes moved", "parameters")


def show_measured(job: FlopsJob) -> Sequence[object]:
    """Print what a run took; what could not be counted."""
    found, options = job.measure(), job.options
    render.emit(
        measured_json(found),
        options.format_,
        lambda: measured_sections(found, options.view == "node", options.top),
    )
    return found.unknown()


def show_count(job: FlopsJob) -> Sequence[object]:
    """Print the count in the view asked for; what could not be counted."""
    report, options = job.count(), job.options
    format_, top = options.format_, options.top
    if options.per_variable:
        variables = job.variables(report)
        named = {name: {"own": own, "all": whole} for name, (own, whole) in variables.items()}
        render.emit(named, format_, lambda: variable_sections(variables))
    elif options.run_metadata:
        timings = job.run_metadata(report)
        render.emit(timings, format_, lambda: timing_sections(timings, top))
    elif options.compat:
        differences = job.comparison(report)
        render.emit(differences, format_, lambda: comparison_sections(differences))
    elif format_ == "csv":
        render.emit(None, format_, lambda: count_csv(rows_of(report, options)))
    else:
        rows, is_tree = rows_of(report, options), options.view == "scope"
        render.emit(count_json(report), format_, lambda: count_sections(report, rows, top, is_tree))
    return report.unknown()


def rows_of(report: FlopsReport, options: FlopsOptions) -> list[Row]:
    """The rows of the view asked for."""
    nodes = select(report, options.name, options.op_pattern, options.min_flops)
    if options.view == "scope":
        return by_scope(nodes, options.depth)
    return by_op(nodes) if options.view == "op" else by_node(nodes)


def count_sections(report: FlopsReport, rows: Sequence[Row], top: int, is_tree: bool) -> Iterator[render.Section]:
    """Totals by section, the rows of a view with a bar each, and the remarks."""
    yield render.Table(
        ("section", "nodes", *_COLUMNS), [(name, s.nodes, *_readable(s)) for name, s in report.sections().items()]
    )
    shown = [row for row in rows if magnitude(row.totals.flops) or magnitude(row.totals.transcendentals)][:top]
    own = ("own FLOPs",) if is_tree else ()
    yield render.Table(("name", "nodes", "share", "", *own, *_COLUMNS), [_row(row, is_tree) for row in shown])
    yield render.Text(list(_remarks(report)))


def _row(row: Row, is_tree: bool) -> tuple[Any, ...]:
    own = (readable(row.own),) if is_tree else ()
    bar = "#" * round(20 * row.share)
    return ("  " * row.depth + row.name, row.nodes, f"{100 * row.share:.1f} %", bar, *own, *_readable(row.totals))


def count_csv(rows: Sequence[Row]) -> Iterator[render.Section]:
    """All rows of a view with plain numbers."""
    columns = ("name", "nodes", "share", "flops", "macs", "transcendentals", "bytes", "parameters")
    yield render.Table(columns, [(r.name, r.nodes, f"{r.share:.6f}", *map(str, _totals(r.totals))) for r in rows])


def variable_sections(found: Mapping[str, Any]) -> Iterator[render.Section]:
    """What the backward pass costs for each variable, the dearest first."""
    ranked = sorted(found.items(), key=lambda item: -magnitude(item[1][0].flops))
    yield render.Table(
        ("variable", "own FLOPs", "own MACs", "FLOPs of all it needs"),
        [(name, readable(own.flops), readable(own.macs), readable(whole.flops)) for name, (own, whole) in ranked],
    )


def measured_sections(found: Measurement, by_node: bool, top: int) -> Iterator[render.Section]:
    """Time, rate and intensity by op or by node, the slowest first."""
    nodes = sorted(found.nodes, key=lambda node: -node.seconds) if by_node else found.by_op()
    everything = found.op_seconds or 1.0
    yield render.Table(
        ("name", "calls", "ms", "share", "", "FLOPs", "GFLOP/s", "of peak", "FLOPs/byte"),
        [_measured_row(node, everything, found.peak) for node in nodes[:top]],
    )
    yield render.Text(list(_measured_remarks(found)))


def _measured_row(node: MeasuredNode, everything: float, peak: float) -> tuple[Any, ...]:
    share = node.seconds / everything
    return (
        node.path, f"{node.calls:g}", f"{node.seconds * 1e3:.3f}", f"{100 * share:.1f} %", "#" * round(20 * share),
        readable(node.flops), f"{node.rate / 1e9:.2f}", f"{100 * node.rate / peak:.1f} %", f"{node.intensity:.2f}",
    )  # fmt: skip


def _measured_remarks(found: Measurement) -> Iterator[str]:
    unknown: dict[str, int] = {}
    for node in found.unknown():
        unknown[node.op] = unknown.get(node.op, 0) + 1
    yield f"coverage: {len(found.nodes) - len(found.unknown())} of {len(found.nodes)} nodes" + _listed(unknown)
    yield (
        f"wall time of a run {found.wall * 1e3:.3f} ms (with the profile {found.profiled * 1e3:.3f} ms), "
        f"sum of op times {found.op_seconds * 1e3:.3f} ms, means of {found.runs} runs"
    )
    rate = found.flops / found.wall if found.wall else 0.0
    yield (
        f"{readable(found.flops)} FLOPs at {rate / 1e9:.2f} GFLOP/s: {100 * rate / found.peak:.1f} % of the "
        f"{found.peak / 1e9:.1f} GFLOP/s that a large float32 matrix product reaches here"
    )


def timing_sections(timings: Sequence[Timing], top: int) -> Iterator[render.Section]:
    """TensorFlow's times beside the counts, the slowest first."""
    yield render.Table(
        ("node", "op", "calls", "ms", "FLOPs", "GFLOP/s", "device"),
        [
            (t.name, t.op, t.calls, f"{t.seconds * 1e3:.3f}", _maybe(t.flops), f"{t.rate / 1e9:.2f}", t.device)
            for t in timings[:top]
        ],
    )
    counted = sum(t.flops is not None for t in timings)
    yield render.Text(f"{counted} of {len(timings)} timed nodes have a count")


def _maybe(flops: Any) -> str:
    return "" if flops is None else readable(flops)


def comparison_sections(report: Any) -> Iterator[render.Section]:
    """tf.profiler's figures beside these, op by op."""
    yield render.Table(
        ("op", "nodes", "tfg FLOPs", "tf.profiler", "why they differ"),
        [(d.op, d.nodes, readable(d.flops), readable(d.profiler), d.reason) for d in report],
    )
    ours, theirs = sum(magnitude(d.flops) for d in report), sum(magnitude(d.profiler) for d in report)
    yield render.Text(f"total: {readable(int(ours))} here, {readable(int(theirs))} by tf.profiler's formulas")


def _readable(section: Any) -> tuple[str, ...]:
    return tuple(map(readable, _totals(section)))


def _totals(section: Any) -> tuple[Any, ...]:
    return (section.flops, section.macs, section.transcendentals, section.bytes, section.parameters)


def _listed(unknown: Mapping[str, int]) -> str:
    return f", unknown: {', '.join(f'{op} x{count}' for op, count in unknown.items())}" if unknown else ""


def _remarks(report: FlopsReport) -> Iterator[str]:
    """The coverage, what the symbols mean, and the decisions that the numbers rest on."""
    unknown: dict[str, int] = {}
    for node in report.unknown():
        unknown[node.op] = unknown.get(node.op, 0) + 1
    yield f"coverage: {100 * report.coverage:.1f} % of {len(report.nodes):,} nodes{_listed(unknown)}"
    for node in report.unknown()[:5]:
        yield f"  {node.path} ({node.op}): {node.reason}"
    yield from (f"{symbol}: {text}" for symbol, text in report.symbols.items())
    others = [symbol for symbol in report.symbols if symbol != "N"]
    if others:
        yield "shares, ratios and choices: for " + ", ".join(f"{symbol} = {typical(symbol)}" for symbol in report.symbols)
    yield from report.notes
    yield from _backward_ratio(report)


def _backward_ratio(report: FlopsReport) -> Iterator[str]:
    sections = report.sections()
    if "backward" in sections and "forward" in sections:
        forward, backward = (magnitude(sections[name].flops) for name in ("forward", "backward"))
        if forward:
            yield f"backward : forward = {backward / forward:.3g}"


def count_json(report: FlopsReport) -> dict[str, Any]:
    """The whole count; numbers, or strings where symbols remain."""
    return {
        "fetches": report.fetches,
        "sections": report.sections(),
        "total": report.total(),
        "coverage": report.coverage,
        "unknown": [{"node": n.path, "op": n.op, "reason": n.reason} for n in report.unknown()],
        "symbols": report.symbols,
        "notes": report.notes,
        "nodes": list(_node_records(report.nodes)),
    }


def measured_json(found: Measurement) -> dict[str, Any]:
    """The whole measurement but for the events, which are the trace's."""
    names = ("wall", "profiled", "op_seconds", "flops", "runs", "peak")
    nodes = [render.plain(node) | {"rate": node.rate, "intensity": node.intensity} for node in found.nodes]
    return {name: getattr(found, name) for name in names} | {"nodes": nodes}


def _node_records(nodes: Iterable[NodeCost]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield {
            "name": node.path,
            "op": node.op,
            "section": node.section,
            "flops": node.cost.flops,
            "macs": node.cost.macs,
            "transcendentals": node.cost.transcendentals,
            "bytes": node.bytes,
            "parameters": node.parameters,
            "times": node.times,
        }
