"""Output sections of `tfg optimize`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.flops.views import shortened
from ...core.passes.base.costs import GraphCost
from ...core.passes.pass_listing import PassFacts
from ...core.passes.pipeline import ClusterFacts, OptimizeReport, PassRecord
from ...core.support.grouping import grouped
from ...core.support.log import is_told
from ...core.support.words import counted, some
from .. import render

_MAX_OPS = 12
_MAX_REASONS = 3
"""The number of reasons shown for the nodes of a cluster that XLA does not support."""


def passes_sections(passes: Sequence[PassFacts]) -> Iterator[render.Section]:
    """Yield a table of the passes."""
    rows = [(one.name, one.default, ", ".join(one.accuracy), _options(one), one.summary) for one in passes]
    yield render.Table(("pass", "default", "accuracy", "options", "description"), rows)


def _options(one: PassFacts) -> str:
    return ", ".join(f"{name}={value}" for name, value in one.options.items())


def cluster_text(cluster: ClusterFacts) -> str:
    """Return the number of nodes of a cluster that XLA supports, and the first reasons against the others."""
    left = "".join(f"; not {nodes.count} {nodes.op}: {nodes.reason}" for nodes in cluster.refused[:_MAX_REASONS])
    return f"XLA supports {cluster.supported} of {counted(cluster.nodes, 'node')} in '{cluster.function}'{left}"


def unportable_text(report: OptimizeReport, portable: bool) -> str:
    """Return the ops that other readers of the graph do not know, and how the graph does without them."""
    ops = ", ".join(f"{count:,} {op}" for op, count in report.unportable.items())
    step = "they were in the graph before" if portable else "other readers need `--portable`"
    return f"only tfg and TensorFlow on CPUs know {ops}: {step}"


def unread_texts(report: OptimizeReport) -> Iterator[str]:
    """Yield the ops that each program does not read of a portable graph."""
    for reader, ops in report.unread.items():
        shown = [f"{count:,} {op}" for op, count in ops.items()]
        yield f"{reader} does not read: {some(shown)}"


def report_sections(report: OptimizeReport) -> Iterator[render.Section]:
    """Yield the tables of a report: a row for each pass that changed the graph, or with -v for each round of a pass."""
    if not report.passes:
        yield render.Text("no pass ran: no pass was chosen; --list shows all passes")
        return
    busy = [record for record in report.passes if record.fired or record.nodes_after != record.nodes_before]
    rows = _round_rows(report) if is_told() else _pass_rows(report, busy)
    yield render.Table(
        ("pass", "nodes", "FLOPs", "transcendental", "bytes moved", "ms", "fired", "refused"),
        list(rows),
        name="passes",
        minor=("transcendental", "bytes moved", "FLOPs"),
    )
    idle = {record.name for record in report.passes} - {record.name for record in busy}
    if idle and not is_told():
        yield render.Text(f"passes that changed nothing: {len(idle)}; -v shows every round")
    if report.weight_errors:
        yield _weight_table(report)
    yield from _refusals(report)
    yield render.Table(("op", "before", "after"), list(_op_rows(report)), name="ops")


def _weight_table(report: OptimizeReport) -> render.Table:
    """Return the error of the weights of each layer, the largest relative error first."""
    layers = grouped((error.layer, error) for error in report.weight_errors)
    ranked = sorted(layers.items(), key=lambda item: -max(error.relative for error in item[1]))
    rows = [
        (
            layer, len(errors), sum(e.bytes_before for e in errors), sum(e.bytes_after for e in errors),
            f"{max(e.largest for e in errors):.3g}", f"{max(e.relative for e in errors):.3g}",
        )
        for layer, errors in ranked
    ]  # fmt: skip
    columns = ("layer", "weights", "bytes before", "bytes after", "largest error", "relative error")
    return render.Table(columns, rows, "errors of weights", "weights")


def _round_rows(report: OptimizeReport) -> Iterator[tuple[Any, ...]]:
    """Yield the start, and the graph after each pass of each round."""
    yield "at the start", report.nodes_before, *_cost(report.passes[0].cost_before), "", "", ""
    for record in report.passes:
        milliseconds = round(1000 * record.seconds, 1)
        fired = _fired(record.fired, record.accuracy)
        name = f"{record.name} (round {record.round})"
        yield name, record.nodes_after, *_cost(record.cost_after), milliseconds, fired, len(record.refused)


def _pass_rows(report: OptimizeReport, busy: Sequence[PassRecord]) -> Iterator[tuple[Any, ...]]:
    """Yield the start, the change of the number of nodes by each pass over all rounds, and the end."""
    yield "at the start", report.nodes_before, *_cost(report.passes[0].cost_before), "", "", ""
    for name in dict.fromkeys(record.name for record in busy):
        rounds = [record for record in report.passes if record.name == name]
        change = sum(record.nodes_after - record.nodes_before for record in rounds)
        fired: Counter[str] = Counter()
        for record in rounds:
            fired.update(record.fired)
        classes = {rule: accuracy for record in rounds for rule, accuracy in record.accuracy.items()}
        milliseconds = round(sum(1000 * record.seconds for record in rounds), 1)
        refused = sum(len(record.refused) for record in rounds)
        yield name, f"{change:+}" if change else "", "", "", "", milliseconds, _fired(fired, classes), refused
    total = round(sum(1000 * record.seconds for record in report.passes), 1)
    yield "at the end", report.nodes_after, *_cost(report.passes[-1].cost_after), total, "", ""


def _cost(cost: GraphCost | None) -> tuple[Any, Any, Any]:
    if cost is None:
        return "", "", ""
    more = f" + {counted(cost.uncounted, 'node')}" if cost.uncounted else ""
    flops = render.Quantity(cost.flops, shortened(cost.flops) + more)
    transcendentals = render.Quantity(cost.transcendentals, shortened(cost.transcendentals))
    return flops, transcendentals, render.Quantity(cost.bytes, shortened(cost.bytes))


def _op_rows(report: OptimizeReport) -> Iterator[tuple[str, int, int]]:
    """Yield the ops with the largest changes in node count, the other ops in a single row, and the total."""
    before, after = report.ops_before, report.ops_after
    counts = {op: (before.get(op, 0), after.get(op, 0)) for op in {*before, *after}}
    ops = sorted(counts, key=lambda op: (-abs(counts[op][0] - counts[op][1]), -counts[op][0], op))
    yield from ((op, *counts[op]) for op in ops[:_MAX_OPS])
    rest = [counts[op] for op in ops[_MAX_OPS:]]
    if rest:
        yield f"{len(rest)} other types", sum(pair[0] for pair in rest), sum(pair[1] for pair in rest)
    yield "total", report.nodes_before, report.nodes_after


def _fired(fired: Mapping[str, int], accuracy: Mapping[str, Any]) -> str:
    return ", ".join(f"{rule} x{count} ({accuracy[rule]})" for rule, count in fired.items())


def _refusals(report: OptimizeReport) -> Iterator[render.Section]:
    """Yield the refusals of each pass over all rounds, by reason, with a node as an example."""
    grouped: dict[tuple[str, str, str], dict[str, None]] = {}
    for record in report.passes:
        for refusal in record.refused:
            grouped.setdefault((record.name, refusal.rule, refusal.reason), {})[refusal.node] = None
    if grouped:
        rows = [(name, rule, len(nodes), reason, next(iter(nodes))) for (name, rule, reason), nodes in grouped.items()]
        yield render.Table(("pass", "rule", "refused", "why", "for example"), rows, name="refused")
