"""Implementation of `tfg check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from ...core.explaining.problem_codes import ProblemCode
from ...core.explaining.problems import ERROR, WARNING, Problem
from ...core.support import dataclasses
from ...core.support.errors import TfgError
from ...core.support.words import counted
from ...formats.api.analyses import check
from .. import render
from ..commands.check import CheckOptions
from ..findings import FORMATS, Finding, print_findings
from ..main import COMPARISON_FAILED, DONE, REFUSED
from ..next_steps import in_commands

_COLUMNS = ("severity", "problem", "node", "op", "description", "next step")


@dataclasses.dataclass(frozen=True, slots=True)
class CheckedGraph:
    """A graph that was checked."""

    graph: str
    """The path as given."""
    problems: tuple[Problem, ...]
    """All problems, errors first."""
    unreadable: str | None = None
    """Why the file holds no graph that can be checked; null if it does."""

    @property
    def has_errors(self) -> bool:
        """True if a problem keeps the graph from running."""
        return any(problem.severity == ERROR for problem in self.problems)


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """The problems of graphs."""

    graphs: tuple[CheckedGraph, ...]
    """The graphs in the order of the command line."""
    errors: int
    """How many errors all graphs have together."""
    warnings: int
    """How many warnings all graphs have together."""


def run(options: CheckOptions) -> int:
    """Print the problems of graphs, or explain a code; return 3 for errors."""
    if options.code is not None:
        if options.graphs:
            raise click.UsageError("--explain describes a code: leave out GRAPH")
        return explain_problem(options.code, options.format_)
    if not options.graphs:
        raise click.UsageError("Missing argument 'GRAPH...'.")
    return CheckJob(options).run()


def explain_problem(code: str, format_: str) -> int:
    """Show the meaning of a code of problems."""
    meaning = ProblemCode.named(code)
    render.emit("tfg.check.code/1", meaning, format_, lambda: [render.Text(f"{meaning.code}: {meaning.meaning}")])
    return DONE


class CheckJob:
    """A run of `tfg check`: the graphs, and the output format."""

    def __init__(self, options: CheckOptions) -> None:
        self.options = options
        self.format_ = options.format_

    def run(self) -> int:
        """Check all graphs, show their problems, and return the exit code of the worst."""
        graphs = tuple(map(self._checked, self.options.graphs))
        # A graph that cannot be read has no problems to count; the exit code tells of it.
        counts = Counter(problem.severity for graph in graphs for problem in graph.problems)
        if self.format_ in FORMATS:
            print_findings(list(_findings(graphs)), self.format_)
        else:
            report = Check(graphs, counts[ERROR], counts[WARNING])
            render.emit("tfg.check/1", report, self.format_, lambda: self._sections(report))
        # In this order and not by the numbers: a file that cannot be read (1) is worse than a problem (3).
        return max(map(self._exit_code, graphs), key=(DONE, COMPARISON_FAILED, REFUSED).index)

    def _checked(self, path: str) -> CheckedGraph:
        """Check a graph. Beside other graphs, and for a machine, an unreadable file is a finding and no end of the work."""
        try:
            # Leniently, as a broken node is what the command is to report, and there may be more than one.
            graph, faults = self.options.reader.load_leniently(path)
        except TfgError as error:
            if len(self.options.graphs) == 1 and self.format_ not in FORMATS:
                raise
            return CheckedGraph(path, (), error.summary)
        with render.Working("checking"):
            return CheckedGraph(path, check(graph, faults, ignore=self.options.ignored))

    def _exit_code(self, graph: CheckedGraph) -> int:
        if graph.unreadable is not None:
            return REFUSED
        return COMPARISON_FAILED if graph.has_errors or (self.options.strict and graph.problems) else DONE

    def _sections(self, report: Check) -> Iterator[render.Section]:
        if self.format_ == "csv":
            rows = [(graph.graph, *row) for graph in report.graphs for row in _rows(graph)]
            yield render.Table(("graph", *_COLUMNS), rows)
            return
        # The output for one graph does not repeat its name.
        is_alone = len(report.graphs) == 1
        for graph in report.graphs:
            rows = _rows(graph)
            if rows:
                yield render.Table(_COLUMNS, rows, "" if is_alone else graph.graph)
        yield render.Text(_summary(report.graphs[0].problems) if is_alone else list(_summaries(report)))


def _rows(graph: CheckedGraph) -> list[tuple[str, ...]]:
    if graph.unreadable is not None:
        return [(ERROR, "unreadable", "", "", graph.unreadable, "")]
    return [(p.severity, p.kind, _place(p) or "", p.op or "", p.message, p.hint or "") for p in graph.problems]


def _summaries(report: Check) -> Iterator[str]:
    """Yield a line for each graph, then a total."""
    for graph in report.graphs:
        yield f"{graph.graph}: {'cannot be read' if graph.unreadable is not None else _summary(graph.problems)}"
    sound = sum(not graph.problems and graph.unreadable is None for graph in report.graphs)
    yield f"{sound} of {counted(len(report.graphs), 'graph')} without problems"


def _summary(problems: Sequence[Problem]) -> str:
    counts = Counter(problem.severity for problem in problems)
    return " and ".join(counted(count, severity) for severity, count in counts.items()) or "no problems"


def _place(problem: Problem) -> str | None:
    return problem.node if problem.function is None else f"{problem.function}: {problem.node or ''}"


def _findings(graphs: Sequence[CheckedGraph]) -> Iterator[Finding]:
    for graph in graphs:
        if graph.unreadable is not None:
            yield Finding(ERROR, "unreadable", graph.unreadable, graph.graph)
        for problem in graph.problems:
            # GitHub and SARIF have one text for a finding, and no place for the next step.
            hint = f"; {in_commands(problem.hint)}" if problem.hint else ""
            yield Finding(problem.severity, problem.code, problem.message + hint, graph.graph, _place(problem))
