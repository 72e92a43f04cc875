"""`tfg reduce`: find the smallest graph for which a command still fails."""

from __future__ import annotations

from ...core.support.file_formats import REDUCED
from ..options import GraphReader, OutputFile, feed_option, fetch_option, output_option, quiet_option
from ..requests import argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options


@request
class ReduceOptions:
    """Find the smallest part of GRAPH for which COMMAND still fails, with the exit code and the error of the whole graph.

    The graph runs once, and constants hold the values of nodes that are left out. The tensors of --fetch need every node of
    the result. Placeholders of --feed stay, so that COMMAND can feed them.

    \b
    tfg reduce graph.pb --fetch y --test 'tfg run {} --fetch y --check-numerics' -o small.pbtxt
    """

    graph: str = argument()
    fetches: tuple[str, ...] = fetch_option("Tensor or operation that the command runs; repeatable.")
    # A line for a shell, so that a pipe or two commands can decide.
    test: str = option(required=True, metavar="COMMAND", help="Failing command; {} stands for the graph's file.")
    output: str = output_option(
        OutputFile(REDUCED, may_be_stdout=True), "Write the graph here, as text unless FILE ends in .pb or .meta.", default="-"
    )
    feeds: tuple[tuple[str, str], ...] = feed_option()
    session: SessionOptions = part(session_options)
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(ReduceOptions, "reduce_job.run")
