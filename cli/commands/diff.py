"""`tfg diff`: compare two graphs node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..findings import FORMATS, print_findings, table_findings
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import GraphReader, ci_format_option, graph_options, quiet_option

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import GraphDiff


@click.command(cls=GroupedCommand)
@click.argument("before")
@click.argument("after")
@click.option("--strict-names", is_flag=True, help="Match nodes and functions by name alone, and compare the full names.")
@ci_format_option
@quiet_option
@graph_options
def command(before: str, after: str, strict_names: bool, format_: str, quiet: bool, reader: GraphReader) -> int:
    """Compare BEFORE with AFTER: nodes, functions, signatures, variables with their values, assets, versions.

    The comparison ignores the order of nodes, the numbers that TensorFlow adds to names, and the nodes that save variables.
    Functions match by their computation. Exit code: 0 if all sections are equal, 3 if they differ. `tfg view BEFORE
    --diff AFTER` shows both graphs and the differences in a page.

    \b
    tfg diff graph.pb optimized.pb
    tfg diff old_saved_model new_saved_model
    tfg diff graph.pb graph.pbtxt --quiet && echo equal
    """
    from .. import render
    from ..sections.diff_sections import diff_sections

    result = _diff_as_read(before, after, strict_names, quiet, reader) or _diff(before, after, strict_names, quiet, reader)
    if format_ in FORMATS:
        tables = (section for section in diff_sections(result, "csv") if isinstance(section, render.Table))
        print_findings(table_findings(tables, after, "different graph"), format_)
    elif not quiet:
        render.emit("tfg.diff/1", result, format_, lambda: diff_sections(result, format_))
    return DONE if result.is_empty else COMPARISON_FAILED


def _diff(before: str, after: str, strict_names: bool, quiet: bool, reader: GraphReader) -> GraphDiff:
    from ...formats.api.analyses import diff
    from ..render import Working

    graphs = reader.load(before), reader.load(after)
    with Working("comparing", quiet):
        return diff(*graphs, strict_names=strict_names)


def _diff_as_read(before: str, after: str, strict_names: bool, quiet: bool, reader: GraphReader) -> GraphDiff | None:
    """Compare two large files while reading; return None if the graphs must be loaded."""
    streams = [stream for path in (before, after) if (stream := reader.stream(path)) is not None]
    if len(streams) < 2:
        return None
    from ...formats.streaming import diff_streams
    from ..render import Working

    with Working("comparing", quiet):
        return diff_streams(*streams, strict_names=strict_names)
