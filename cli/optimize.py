"""`tfg optimize`: rewrite a graph so that it runs faster, and say what changed and what did not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ..core.flops.views import readable
from ..core.passes.costs import GraphCost
from ..core.passes.pipeline import PASSES, OptimizeReport, PassRecord
from . import render
from .main import COMPARISON_FAILED, DONE
from .options import GraphReader, feed_option, format_option, gathered, graph_options, quiet_option
from .sessions import SessionOptions, session_options

_MAX_OPS = 12


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What `tfg optimize` is told beside how to open the sessions of --verify."""

    output: str | None
    fetches: tuple[str, ...]
    feeds: tuple[tuple[str, str], ...]
    passes: str | None
    disable: tuple[str, ...]
    cluster: bool
    keep: tuple[str, ...]
    fed: tuple[str, ...]
    overridable: tuple[str, ...]
    verify: bool
    tolerance: float
    steps: int | None
    costs: bool
    text: bool
    format_: str
    quiet: bool

    def check(self) -> None:
        """Refuse options that would have no effect."""
        if self.steps and not self.verify:
            raise click.UsageError("--steps is for --verify")
        if self.text and not self.output:
            raise click.UsageError("--text is for --output")


@click.command()
@click.argument("graph", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write the optimized graph here; - is standard output.")
@click.option("--fetch", "fetches", multiple=True, metavar="NAME", help="What must stay the same; repeatable.")
@feed_option
@click.option("--passes", metavar="LIST", help='Run these: "prune,fold{limit=1MB},cse", "default,layout"; see --list.')
@click.option("--disable", multiple=True, metavar="PASS", help="Leave this pass out; repeatable.")
@click.option("--cluster", is_flag=True, help="At the end group what only computes into one function call.")
@click.option("--keep", multiple=True, metavar="NODE", help="Keep this node; repeatable.")
@click.option("--fed", multiple=True, metavar="TENSOR", help="Every run feeds this, as it does what --feed names; repeatable.")
@click.option("--overridable", multiple=True, metavar="TENSOR", help="A run may feed this, but need not; repeatable.")
@click.option("--verify", is_flag=True, help="Run both graphs on the same feeds; exit with 3 where they differ.")
@click.option("--tolerance", type=float, default=1e-4, show_default=True, help="What --verify lets pass.")
@click.option(
    "--steps", type=click.IntRange(1), help="How many runs in a row --verify compares; 3 where there are variables, or else 1."
)
@session_options
@click.option("--costs/--no-costs", default=True, help="Count FLOPs and bytes after each pass, which takes half of the time.")
@click.option("--text", is_flag=True, help="Write text.")
@click.option("--list", "list_", is_flag=True, help="List the passes with their options, and exit.")
@format_option("table", "json")
@quiet_option
@graph_options
@gathered(OptimizeOptions)
def command(graph: str | None, reader: GraphReader, list_: bool, session: SessionOptions, options: OptimizeOptions) -> int:
    """Optimize GRAPH for its fetches: the same results with less work.

    \b
    tfg optimize model.pb -o fast.pb --fetch y --verify
    tfg optimize train.pb --fetch train --fetch loss --passes "prune,fold,cse"
    tfg optimize model.pb -o fast.pb --passes "default,fuse{onednn=true}"
    tfg optimize --list
    """
    if list_:
        render.emit(_passes_json(), options.format_, _passes_sections)
        return DONE
    if graph is None:
        raise click.UsageError("GRAPH is needed, or --list")
    from .optimizing import Optimization

    options.check()
    session.refuse_without("--verify", options.verify)
    job = Optimization(reader.load(graph), session, options)
    report = job.run()
    render.emit(job.as_json(), options.format_, lambda: (*_sections(report), *job.verdict_sections()))
    return DONE if job.passed else COMPARISON_FAILED


def _passes_json() -> list[dict[str, Any]]:
    return [
        {"name": kind.name, "summary": kind.summary, "default": kind.in_default_pipeline, "options": kind.defaults()}
        for kind in PASSES
    ]


def _passes_sections() -> Iterator[render.Section]:
    rows = [
        (kind.name, kind.in_default_pipeline, ", ".join(f"{k}={v}" for k, v in kind.defaults().items()), kind.summary)
        for kind in PASSES
    ]
    yield render.Table(("pass", "default", "options", "what it does"), rows)


def _sections(report: OptimizeReport) -> Iterator[render.Section]:
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
        yield r.name, r.round, r.nodes_after, *_cost(r.cost_after), round(1000 * r.seconds, 1), _fired(r.fired), len(r.refused)


def _cost(cost: GraphCost | None) -> tuple[str, str, str]:
    if cost is None:
        return "", "", ""
    more = f" + {cost.uncounted} nodes" if cost.uncounted else ""
    return readable(cost.flops) + more, readable(cost.transcendentals), readable(cost.bytes)


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


def _fired(fired: Any) -> str:
    return ", ".join(f"{rule} x{count}" for rule, count in fired.items())


def _refusals(report: OptimizeReport) -> Iterator[render.Section]:
    """What each pass refused when it last ran, by reason, with one node as an example."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for record in {record.name: record for record in report.passes}.values():
        for refusal in record.refused:
            grouped.setdefault((record.name, refusal.rule, refusal.reason), []).append(refusal.node)
    if grouped:
        rows = [(name, rule, len(nodes), reason, nodes[0]) for (name, rule, reason), nodes in grouped.items()]
        yield render.Table(("pass", "rule", "refused", "why", "for example"), rows)
