"""`tfg run`: run a graph: feed, fetch, train, keep the variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import GraphReader, Pair, StepCount, feed_option, gathered, graph_options, quiet_option
from .sessions import SessionOptions, session_options

if TYPE_CHECKING:
    from .run_job import RunOptions


@click.command()
@click.argument("graph")
@click.option("--fetch", "fetches", multiple=True, metavar="TENSOR", help="A tensor whose value to print; repeatable.")
@feed_option
@click.option("--target", "targets", multiple=True, metavar="OP", help="An operation to run, as a train step; repeatable.")
@click.option("--steps", type=StepCount(), default="1", show_default=True, help="How often; `epoch`: to an iterator's end.")
@click.option("--fetch-every", type=click.IntRange(1), default=1, metavar="K", help="Fetch in every K-th step, and the last.")
@click.option("--assign", type=Pair("VARIABLE", "VALUE"), multiple=True, help="Assign a value before the steps; repeatable.")
@click.option("--assign-add", type=Pair("VARIABLE", "VALUE"), multiple=True, help="Add a value before the steps.")
@click.option("--assign-sub", type=Pair("VARIABLE", "VALUE"), multiple=True, help="Subtract a value before the steps.")
@click.option("--save-state", metavar="FILE", help="At the end write the variables: to an .npz file or a checkpoint.")
@click.option("--out", metavar="FILE", help="Write what was fetched here; .npy, .npz or .json says how.")
@click.option("--format", "format_", type=click.Choice(("table", "json", "npy", "npz")), help="How to print what was fetched.")
@click.option("--cache-stats", is_flag=True, help="Keep between steps what no write, feed or draw changes; say what it saved.")
@click.option("--check-numerics", is_flag=True, help="Stop at the first NaN or Inf: say which node made it, and of what.")
@session_options
@quiet_option
@graph_options
@gathered("run_job.RunOptions")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> int:
    """Run GRAPH and print what was fetched.

    The order: initializer, --state, --assign (then --assign-add, --assign-sub), --steps, --save-state. Variables live as long
    as the command; --save-state and --state carry them from one to the next.

    \b
    tfg run graph.pb --fetch y --feed x='[[1, 2, 3]]'
    tfg run train.pb --init --target train --fetch loss --steps 100 --fetch-every 10 --save-state s.npz
    tfg run saved_model_folder --signature serving_default --feed x=@x.npy --format json
    """
    from .run_job import RunJob
    from .run_sections import write_steps

    job = RunJob(reader.load(graph), session, options)
    results = job.run()
    write_steps(results, options.format, options.out)
    return job.exit_code
