"""`tfg reduce`: find the smallest graph for which a command still fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import REDUCED
from ..helps import GroupedCommand
from ..options import GraphReader, OutputFile, feed_option, fetch_option, gathered, graph_options, quiet_option
from ..sessions import SessionOptions, session_options

if TYPE_CHECKING:
    from ..jobs.reduce_job import ReduceOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@fetch_option("Tensor or operation that the command runs; repeatable.")
@click.option("--test", required=True, metavar="COMMAND", help="Failing command; {} stands for the graph's file.")
@click.option("-o", "--output", type=OutputFile(REDUCED, may_be_stdout=True), default="-", metavar="FILE",
              help="Write the graph here, as text unless FILE ends in .pb or .meta.")  # fmt: skip
@feed_option
@session_options
@quiet_option
@graph_options
@gathered("reduce_job.ReduceOptions")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: ReduceOptions) -> None:
    """Find the smallest part of GRAPH for which COMMAND still fails, with the exit code and the error of the whole graph.

    The graph runs once, and constants hold the values of nodes that are left out. The tensors of --fetch need every node of
    the result. Placeholders of --feed stay, so that COMMAND can feed them.

    \b
    tfg reduce graph.pb --fetch y --test 'tfg run {} --fetch y --check-numerics' -o small.pbtxt
    """
    from ..jobs.reduce_job import ReduceJob

    ReduceJob(reader.load(graph), session, options).run()
