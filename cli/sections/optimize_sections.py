"""How `tfg optimize` shows its passes and what they did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.flops.views import shortened
from ...core.passes.base.costs import GraphCost
from ...core.passes.base.graph_pass import Pass
from ...core.passes.order import all_passes
from ...core.passes.pipeline import OptimizeReport, PassRecord
from ...core.support.words import counted
from .. import render

_MAX_OPS = 12


def passes_json() -> list[dict[str, Any]]:
    return [
        {
            "name": kind.name,
            "summary": kind.summary,
            "default": kind.in_default_pipeline,
            "options": kind.defaults(),
            "accuracy": kind.accuracies(),
            "rules": [
                {"name": rule.name, "algebra": rule.algebra, "accuracy": rule.accuracy, "relaxed_where": rule.relaxed_where}
                for rules in kind.rule_sets
                for rule in rules.rules
            ],
        }
        for kind in all_passes()
    ]


def passes_sections() -> Iterator[render.Section]:
    rows = [
        (kind.name, kind.in_default_pipeline, ", ".join(kind.accuracies()), _options(kind), kind.summary)
        for kind in all_passes()
    ]
    yield render.Table(("pass", "default", "accuracy", "options", "what it does"), rows)


def _options(kind: type[Pass]) -> str:
    return ", ".join(f"{name}={value}" for name, value in kind.defaults().items())


def report_sections(report: OptimizeReport) -> Iterator[render.Section]:
    if not report.passes:
        yield render.Text("no pass ran: none was chosen; --list shows them")
        return
    busy = [r for r in report.passes if r.fired or r.refused or r.nodes_after != r.nodes_before]
    columns = ("pass", "round", "nodes", "FLOPs", "transcendental", "bytes moved", "ms", "fired", "refused")
    yield render.Table(columns, list(_stage_rows(report, busy)))
    if len(busy) < len(report.passes):
        yield render.Text(f"passes that found nothing to do: {len(report.passes) - len(busy)}")
    yield from _refusals(report)
    yield render.Table(("op", "before", "after"), list(_op_rows(report)))


def _stage_rows(report: OptimizeReport, busy: Sequence[PassRecord]) -> Iterator[tuple[Any, ...]]:
    """What there is at the start and after each pass that did something."""
    if report.passes:
        yield "at the start", "", report.nodes_before, *_cost(report.passes[0].cost_before), "", "", ""
    for r in busy:
        yield r.name, r.round, r.nodes_after, *_cost(r.cost_after), round(1000 * r.seconds, 1), _fired(r), len(r.refused)


def _cost(cost: GraphCost | None) -> tuple[str, str, str]:
    if cost is None:
        return "", "", ""
    more = f" + {counted(cost.uncounted, 'node')}" if cost.uncounted else ""
    return shortened(cost.flops) + more, shortened(cost.transcendentals), shortened(cost.bytes)


def _op_rows(report: OptimizeReport) -> Iterator[tuple[str, int, int]]:
    """The ops of which most nodes came or went, those that are left in one row, and the total."""
    before, after = report.ops_before, report.ops_after
    counts = {op: (before.get(op, 0), after.get(op, 0)) for op in {*before, *after}}
    ops = sorted(counts, key=lambda op: (-abs(counts[op][0] - counts[op][1]), -counts[op][0], op))
    yield from ((op, *counts[op]) for op in ops[:_MAX_OPS])
    rest = [counts[op] for op in ops[_MAX_OPS:]]
    if rest:
        yield f"{len(rest)} other types", sum(pair[0] for pair in rest), sum(pair[1] for pair in rest)
    yield "total", report.nodes_before, report.nodes_after


def _fired(record: PassRecord) -> str:
    return ", ".join(f"{rule} x{count} ({record.accuracy[rule]})" for rule, count in record.fired.items())


def _refusals(report: OptimizeReport) -> Iterator[render.Section]:
    """What each pass refused in any round, by reason, with one node as an example."""
    grouped: dict[tuple[str, str, str], dict[str, None]] = {}
    for record in report.passes:
        for refusal in record.refused:
            grouped.setdefault((record.name, refusal.rule, refusal.reason), {})[refusal.node] = None
    if grouped:
        rows = [(name, rule, len(nodes), reason, next(iter(nodes))) for (name, rule, reason), nodes in grouped.items()]
        yield render.Table(("pass", "rule", "refused", "why", "for example"), rows)
