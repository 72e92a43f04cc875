"""`tfg check`: list all problems of graphs."""

from __future__ import annotations

from ..options import GraphReader, ci_format_option
from ..requests import argument, command_of, option, part, request


@request
class CheckOptions:
    """List the problems of each GRAPH and its functions, such as bad attributes, wrong dtypes and effects that never run.

    Exit code: 0 for no errors, 3 for errors, 1 if a GRAPH cannot be read.

    \b
    tfg check graph.pb
    tfg check graph.pb --strict --format json
    tfg check models/*.pb --format github
    tfg check graph.pb --strict --ignore colocation,no-kernel
    tfg check --explain colocation
    """

    # Not required by click: with --explain there is none, and the job asks for one otherwise.
    graphs: tuple[str, ...] = argument("GRAPH...", nargs=-1)
    strict: bool = option(help="Count warnings as errors in the exit code.")
    ignored: tuple[str, ...] = option("--ignore", metavar="CODE[,...]", help="Leave out problems of this code; repeatable.")
    code: str | None = option("--explain", metavar="CODE", help="Explain the problems of this code, without a GRAPH.")
    format_: str = ci_format_option()
    reader: GraphReader = part(GraphReader)


command = command_of(CheckOptions, "check_job.run")
