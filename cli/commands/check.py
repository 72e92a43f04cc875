"""`tfg check`: list all that is wrong with graphs, not only the first."""

from __future__ import annotations

import click

from ..helps import GroupedCommand
from ..options import GraphReader, ci_format_option, graph_options


@click.command(cls=GroupedCommand)
@click.argument("graphs", metavar="GRAPH...", nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="Let warnings count as errors for the exit code.")
@ci_format_option
@graph_options
def command(graphs: tuple[str, ...], strict: bool, format_: str, reader: GraphReader) -> int:
    """List all problems of each GRAPH and its functions: what cannot run, never runs, or contradicts itself.

    Exit code 0 where there are no errors, 3 where there are, 1 where a GRAPH cannot be read.

    \b
    tfg check graph.pb
    tfg check graph.pb --strict --format json
    tfg check models/*.pb --format github
    """
    from ..jobs.check_job import CheckJob

    return CheckJob(graphs, reader, strict, format_).run()
