"""`tfg diff`: compare two graphs node by node."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...core.explaining.diff import GraphDiff, diff_graphs
from .. import render
from ..findings import FORMATS, print_findings, table_findings
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import GraphReader, ci_format_option, graph_options, quiet_option
from ..sections.dump_sections import change_rows


@click.command(cls=GroupedCommand)
@click.argument("before")
@click.argument("after")
@ci_format_option
@quiet_option
@graph_options
def command(before: str, after: str, format_: str, quiet: bool, reader: GraphReader) -> int:
    """Compare BEFORE with AFTER: nodes added, removed and changed, functions, versions. The order of nodes does not count.

    Exit code 0 where they are equal, 3 where they differ.

    \b
    tfg diff graph.pb optimized.pb
    tfg diff graph.pb graph.pbtxt --quiet && echo equal
    """
    result = _diff_as_read(before, after, quiet, reader)
    if result is None:
        graphs = reader.load(before), reader.load(after)
        with render.Working("comparing", quiet):
            result = diff_graphs(*graphs)
    if format_ in FORMATS:
        tables = (section for section in _sections(result, "csv") if isinstance(section, render.Table))
        print_findings(table_findings(tables, after, "different graph"), format_)
    elif not quiet:
        render.emit("tfg.diff/1", result, format_, lambda: _sections(result, format_))
    return DONE if result.is_empty else COMPARISON_FAILED


def _diff_as_read(before: str, after: str, quiet: bool, reader: GraphReader) -> GraphDiff | None:
    """Compare two large files of nodes while they are read; None where the graphs have to be loaded."""
    streams = [stream for path in (before, after) if (stream := reader.stream(path)) is not None]
    if len(streams) < 2:
        return None
    from ...formats.streaming import diff_streams

    with render.Working("comparing", quiet):
        return diff_streams(*streams)


def _sections(diff: GraphDiff, format_: str) -> Iterator[render.Section]:
    rows = change_rows(diff)
    if rows or format_ == "csv":
        yield render.Table(("change", "name", "op", "detail"), rows)
    functions = [f"+ {name}" for name in diff.functions_added] + [f"- {name}" for name in diff.functions_removed]
    for f in diff.functions_changed:
        functions.append(f"~ {f.name}: {len(f.added)} added, {len(f.removed)} removed, {len(f.changed)} changed")
    if functions:
        yield render.Text(functions, "functions")
    if diff.versions is not None:
        yield render.Text(str(diff.versions))
    summary = "the graphs are equal" if diff.is_empty else diff.summary
    yield render.Text(f"{diff.nodes_before} and {diff.nodes_after} nodes: {summary}")
