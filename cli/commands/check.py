"""`tfg check`: list all problems of graphs."""

from __future__ import annotations

import click

from ..helps import GroupedCommand
from ..options import GraphReader, ci_format_option, graph_options


@click.command(cls=GroupedCommand)
@click.argument("graphs", metavar="GRAPH...", nargs=-1)
@click.option("--strict", is_flag=True, help="Count warnings as errors in the exit code.")
@click.option("--ignore", "ignored", multiple=True, metavar="CODE[,...]", help="Leave out problems of this code; repeatable.")
@click.option("--explain", "code", metavar="CODE", help="Explain the problems of this code, without a GRAPH.")
@ci_format_option
@graph_options
def command(
    graphs: tuple[str, ...], strict: bool, ignored: tuple[str, ...], code: str | None, format_: str, reader: GraphReader
) -> int:
    """List the problems of each GRAPH and its functions, such as bad attributes, wrong dtypes and effects that never run.

    Exit code: 0 for no errors, 3 for errors, 1 if a GRAPH cannot be read.

    \b
    tfg check graph.pb
    tfg check graph.pb --strict --format json
    tfg check models/*.pb --format github
    tfg check graph.pb --strict --ignore colocation,no-kernel
    tfg check --explain colocation
    """
    from ..jobs.check_job import CheckJob, explain_problem

    if code is not None:
        if graphs:
            raise click.UsageError("--explain describes a code: leave out GRAPH")
        return explain_problem(code, format_)
    if not graphs:
        raise click.UsageError("Missing argument 'GRAPH...'.")
    return CheckJob(graphs, reader, strict, ignored, format_).run()
