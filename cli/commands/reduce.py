"""`tfg reduce`: find the smallest graph for which a command still fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import REDUCED
from ..helps import GroupedCommand
from ..options import GraphReader, OutputFile, feed_option, gathered, graph_options, quiet_option
from ..sessions import SessionOptions, session_options

if TYPE_CHECKING:
    from ..jobs.reduce_job import ReduceOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.option(
    "-F", "--fetch", "fetches", multiple=True, required=True, metavar="NAME", help="What the command runs; repeatable."
)
@click.option("--test", required=True, metavar="COMMAND", help="What fails; {} in it is the graph's file.")
@click.option("-o", "--output", type=OutputFile(REDUCED, may_be_stdout=True), default="-", metavar="FILE",
              help="Where to write the graph, as text unless FILE ends in .pb or .meta.")  # fmt: skip
@feed_option
@session_options
@quiet_option
@graph_options
@gathered("reduce_job.ReduceOptions")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: ReduceOptions) -> None:
    """Find the smallest part of GRAPH for which COMMAND fails as for the whole: by exit code, and error but for numbers.

    The graph is run once; where a part takes values that are left out, constants hold them. What --fetch names runs all that
    is kept; what --feed names stays, so that COMMAND may feed it.

    \b
    tfg reduce graph.pb --fetch y --test 'tfg run {} --fetch y --check-numerics' -o small.pbtxt
    """
    from ..jobs.reduce_job import ReduceJob

    ReduceJob(reader.load(graph), session, options).run()
