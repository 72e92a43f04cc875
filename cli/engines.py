"""Options that let an engine run part of a graph, and the report of the engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..core.support.engine_names import NUMPY, VARIABLE
from ..core.support.words import counted
from . import render
from .main import COMPARISON_FAILED
from .requests import option, request

if TYPE_CHECKING:
    from ..core.engines.automatic import AutoRuntime
    from ..core.engines.engine_report import EngineReport
    from ..core.engines.engine_runtime import EngineRuntime
    from ..core.engines.protocol import Mesh
    from ..core.graph.graph import Graph

_MAX_REFUSALS = 30
_LONG_SECONDS = 10.0
"""The least seconds of a run in NumPy before the command suggests an engine."""
_MINOR = ("in", "out", "compiled", "compile s", "engine ms", "NumPy ms", "steps", "share")
"""The columns of the groups that a narrow terminal leaves out first."""


@request
class EngineOptions:
    """The options of an engine. All sessions of a command share a runtime."""

    engine: str | None = option(
        default=None,
        metavar="NAME",
        help="Run supported parts on this engine: openvino, xla, or auto (the fastest installed engine). The rest runs in "
        "NumPy. Default: TFG_ENGINE, else numpy for a run and auto for many.",
    )
    precision: str | None = option(
        default=None,
        metavar="TYPE",
        help="Arithmetic of the engine: f32 (as in the graph); for openvino also bf16 and f16; fast chooses the fastest type "
        "that is near enough.",
    )
    engine_report: bool = option(
        default=None, help="At the end, list the nodes that ran on the engine, and the reasons for the others."
    )
    verify_engine: bool = option(default=None, help="Also run the graph in NumPy, and name the first tensor that differs.")

    @property
    def chosen(self) -> str:
        """Return the name of the engine."""
        return self.engine or os.environ.get(VARIABLE) or NUMPY

    @property
    def is_named(self) -> bool:
        """Return True if the user names an engine, or NumPy."""
        return bool(self.engine or os.environ.get(VARIABLE))

    def runtime(self, mesh: Mesh | None = None) -> EngineRuntime | AutoRuntime | None:
        """Return the runtime of the engine, on a mesh if given, or of all engines to choose from; None for NumPy.

        Raise a usage error for options of an engine without an engine.
        """
        if self.chosen == NUMPY:
            for option in ("precision", "engine_report", "verify_engine"):
                if getattr(self, option):
                    raise click.UsageError(f"--{option.replace('_', '-')} needs --engine")
            return None
        from ..formats.api.prepared_sessions import engine_runtime

        return engine_runtime(self.engine, self.precision, verify=self.verify_engine, measure=self.engine_report, mesh=mesh)

    def finished(self, runtime: EngineRuntime | AutoRuntime | None, code: Any) -> Any:
        """Print the report if the options ask for a report; return the command's exit code, or 3 if results differ from
        NumPy's.
        """
        if runtime is None:
            return code
        report = runtime.report()
        if self.engine_report:
            for line in render.plain_text(report_sections(report)):
                render.note(line)
        for difference in report.differences:
            render.note(f"error: engine '{report.engine}' differs at {difference.tensor} ({difference.op}): {difference.by}")
        return COMPARISON_FAILED if report.differences else code


NO_ENGINE = EngineOptions()


def suggest_engine(graph: Graph, names: Iterable[str], seconds: float, quiet: bool) -> None:
    """Suggest at a terminal, after a long run in NumPy, the engine for most of the run, and how to install the engine."""
    if seconds < _LONG_SECONDS or quiet or not sys.stderr.isatty():
        return
    from ..core.engines.automatic import suggested_engine

    suggestion = suggested_engine(graph, [graph.fetch(name) for name in names])
    if suggestion is not None:
        install = f", once installed by {suggestion.install}" if suggestion.install else ""
        part = f"{suggestion.share:.0%} of the nodes"
        render.note(f"NumPy took {seconds:.0f} s: --engine {suggestion.engine} would run {part}{install}")


def report_sections(report: EngineReport) -> Iterator[render.Section]:
    """Yield the groups of an engine, and the nodes left to NumPy."""
    yield render.Text(_summary(report), f"engine {report.engine}")
    if report.groups:
        columns = ("engine", "group up to", "steps", "in", "out", "compiled", "compile s", "runs", "run s", "share",
                   "engine ms", "NumPy ms", "NumPy because", "next step")  # fmt: skip
        rows = [
            (
                g.engine, g.last, g.steps, g.inputs, g.outputs, g.compiled, f"{g.compile_seconds:.3f}", g.runs,
                f"{g.seconds:.4f}", "" if g.share is None else f"{g.share:.0%}", _milliseconds(g.engine_seconds),
                _milliseconds(g.numpy_seconds), g.reason or "", g.next_step or "",
            )
            for g in report.groups
        ]  # fmt: skip
        yield render.Table(columns, rows, "groups", minor=_MINOR)
    yield from _rounded(report)
    yield from _choices(report)
    if report.refused:
        refused = [(r.op, r.count, ", ".join(r.nodes), r.reason, r.next_step) for r in report.refused[:_MAX_REFUSALS]]
        more = f" (the first {_MAX_REFUSALS} of {len(report.refused)} kinds)" if len(report.refused) > _MAX_REFUSALS else ""
        yield render.Table(("op", "nodes", "such as", "reason", "next step"), refused, f"left to NumPy{more}", "refused")


def _rounded(report: EngineReport) -> Iterator[render.Section]:
    """Yield a table of times and errors of types with fewer bits."""
    rounded = [(group, group.rounded) for group in report.groups if group.rounded is not None]
    if rounded:
        columns = ("group up to", "type", "ms", "ms in the graph's types", "off by", "computed in it")
        rows = [
            (
                g.last, r.precision, _milliseconds(r.seconds), _milliseconds(r.exact_seconds), f"{r.difference:.2g}",
                "yes" if g.precision else "no",
            )
            for g, r in rounded
        ]  # fmt: skip
        yield render.Table(columns, rows, "--precision fast", "rounded")


def _choices(report: EngineReport) -> Iterator[render.Section]:
    """Yield a table of the choices of `auto`, with the time of each alternative."""
    if report.choices:
        ways = list(dict.fromkeys(way for choice in report.choices for way in choice.seconds))
        rows = [
            (
                c.fetches, c.shapes, *(_milliseconds(c.seconds.get(way)) for way in ways),
                f"{c.kept}, remembered" if c.is_remembered else c.kept,
            )
            for c in report.choices
        ]  # fmt: skip
        yield render.Table(("fetches", "shapes of feeds", *(f"{way} ms" for way in ways), "kept"), rows, "runs")


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3f}"


def _summary(report: EngineReport) -> list[str]:
    taken = sum(group.steps for group in report.groups)
    lines = [f"{counted(taken, 'step')} in {counted(len(report.groups), 'group')}"]
    if report.note:
        lines.append(report.note)
    if report.in_small_groups:
        lines.append(f"{counted(report.in_small_groups, 'step')} left to NumPy, as their groups would be too small")
    return lines
