"""`tfg check`: list all that is wrong with a graph, not only the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ...core.support.words import counted
from .. import render
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import GraphReader, format_option, graph_options

if TYPE_CHECKING:
    from ...core.explaining.problems import Problem


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.option("--strict", is_flag=True, help="Let warnings count as errors for the exit code.")
@format_option("table", "json", "csv")
@graph_options
def command(graph: str, strict: bool, format_: str, reader: GraphReader) -> int:
    """List all problems of GRAPH and its functions: what cannot run, never runs, or contradicts itself.

    Exit code 0 where there are no errors, 3 where there are.

    \b
    tfg check graph.pb
    tfg check graph.pb --strict --format json
    """
    from ...core.explaining.problems import ERROR, find_problems

    loaded, faults = reader.load_leniently(graph)
    with render.Working("looking for problems"):
        problems = find_problems(loaded, faults)
    render.emit("tfg.check/1", {"problems": problems}, format_, lambda: _sections(problems, format_))
    return COMPARISON_FAILED if any(strict or problem.severity == ERROR for problem in problems) else DONE


def _sections(problems: Sequence[Problem], format_: str) -> Iterator[render.Section]:
    rows = [(p.severity, p.kind, _place(p), p.op or "", p.message, p.hint or "") for p in problems]
    if rows or format_ == "csv":
        yield render.Table(("severity", "problem", "node", "op", "what is wrong", "what to do"), rows)
    counts = Counter(problem.severity for problem in problems)
    found = " and ".join(counted(count, severity) for severity, count in counts.items())
    yield render.Text(found or "nothing is wrong with it")


def _place(problem: Problem) -> str:
    node = problem.node or ""
    return node if problem.function is None else f"{problem.function}: {node}"
