"""`tfg check`: list all problems of graphs."""

from __future__ import annotations

import click

from ..helps import GroupedCommand
from ..options import GraphReader, ci_format_option, graph_options


@click.command(cls=GroupedCommand)
@click.argument("graphs", metavar="GRAPH...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Count warnings as errors in the exit code.")
@ci_format_option
@graph_options
def command(graphs: tuple[str, ...], strict: bool, format_: str, reader: GraphReader) -> int:
    """List the problems of each GRAPH and its functions, such as bad attributes, wrong dtypes and effects that never run.

    Exit code: 0 for no errors, 3 for errors, 1 if a GRAPH cannot be read.

    \b
    tfg check graph.pb
    tfg check graph.pb --strict --format json
    tfg check models/*.pb --format github
    """
    from ..jobs.check_job import CheckJob

    return CheckJob(graphs, reader, strict, format_).run()
