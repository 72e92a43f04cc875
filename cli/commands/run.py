"""`tfg run`: run a graph: feed, fetch, train, save variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import FOLDERS, RUN_RESULTS, STATES, TRACES
from ..helps import GroupedCommand
from ..models import save_model_option
from ..options import (
    FileName,
    GraphReader,
    OutputFile,
    Pair,
    StepCount,
    excluding,
    feed_option,
    fetch_option,
    gathered,
    graph_options,
    needing,
    quiet_option,
)
from ..sessions import SessionOptions, cluster_session_options

if TYPE_CHECKING:
    from ..jobs.run_job import RunOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@fetch_option("Tensor to print; FUNCTION/NODE for a tensor in a function; repeatable.")
@feed_option
@click.option("--target", "targets", multiple=True, metavar="OP", help="Operation to run, such as a train step; repeatable.")
@click.option(
    "--steps",
    type=StepCount(),
    default="1",
    show_default=True,
    help="Number of steps; `epoch` runs to the end of an iterator.",
)
@click.option(
    "--fetch-every", type=click.IntRange(1), default=1, metavar="N", help="Fetch in every N-th step and in the last step."
)
@click.option(
    "--assign",
    type=Pair("VARIABLE", "VALUE"),
    multiple=True,
    help="Assign a value to a variable before the steps; repeatable.",
)
@click.option(
    "--assign-add", type=Pair("VARIABLE", "VALUE"), multiple=True, help="Add a value to a variable before the steps."
)
@click.option(
    "--assign-sub", type=Pair("VARIABLE", "VALUE"), multiple=True, help="Subtract a value from a variable before the steps."
)
@click.option("--save-state", type=OutputFile(STATES), metavar="FILE",
              help="At the end, write the variables to an .npz or .safetensors file or a checkpoint.")  # fmt: skip
@save_model_option
@click.option("-o", "--output", "out", type=OutputFile(RUN_RESULTS, may_be_stdout=True), metavar="FILE",
              help="Write the results here, as .npy, .npz, .json, .csv or .txt. For --each, --sweep: shards, "
              "FILE-00000-of-00010, as .npz, .tfrecord, .jsonl or .csv.")  # fmt: skip
@click.option("--shard-size", type=click.IntRange(1), default=1000, show_default=True, metavar="N",
              help="With --each or --sweep, and --output: number of results in a shard.")  # fmt: skip
@click.option(
    "--format", "format_", type=click.Choice(("table", "json", "csv", "npy", "npz")), help="Format of the printed results."
)
@click.option("--each", multiple=True, metavar="PATTERN",
              help="Run once for each matching file, or file of a folder: .npz, .npy, TFRecord, pictures, lines of "
              "JSON, rows of CSV. Arrays are fed by name, or by --feed TENSOR=@each:KEY or @each?scale=1/255.")  # fmt: skip
@click.option("--sweep", type=Pair("NAME", "V1,V2"), multiple=True, help="Run once with each value of a tensor or variable.")
@click.option("--out-dir", type=OutputFile(FOLDERS, makes_folders=True), metavar="DIR",
              help="With --each or --sweep: folder with a file for each result. A job skips the results that it "
              "already has.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="With --each or --sweep: run all inputs again, even if --out-dir has results.")
@click.option("--keep-going", is_flag=True, help="With --each or --sweep: continue after a failure.")
@click.option(
    "--cache-stats",
    is_flag=True,
    help="Cache values between steps that no write, feed or random draw changes; print the savings.",
)
@click.option("--optimize", type=click.Choice(("none", "fuse")), default="fuse", show_default=True,
              help="Execution of repeated runs: call each kernel separately, or run groups of steps as a unit.")  # fmt: skip
@click.option("--check-numerics", is_flag=True, help="Stop at the first NaN or Inf, and name the node and its inputs.")
@click.option("--top-k", type=click.IntRange(1), metavar="N", help="Show the N best classes of each row of fetched scores.")
@click.option(
    "--labels",
    type=FileName(),
    metavar="FILE",
    help="With --top-k: file with the labels of the classes, a line each, or JSON.",
)
@click.option(
    "--profile",
    type=OutputFile(TRACES),
    metavar="FILE",
    help="Write a Chrome trace of the last step for Perfetto; show the costliest nodes and the memory peak.",
)
@cluster_session_options
@quiet_option
@graph_options
@gathered("run_job.RunOptions")
@excluding("--check-numerics --cache-stats --optimize --profile", "--on=grpc*", "the servers run the kernels")
@excluding("--profile", "--check-numerics --each --sweep")
@excluding("--out-dir", "--output", "results go to shards")
@excluding("--shard-size", "--out-dir", "each result has its own file")
@needing("--out-dir --keep-going --overwrite", "--each --sweep")
@excluding("--save-state --save-model --cache-stats", "--each --sweep")
@needing("--shard-size", "--each --sweep")
@needing("--fetch-every", "--steps")
@needing("--labels", "--top-k")
@needing(
    "--steps --cache-stats --optimize",
    "--fetch --target --signature --function --feed --each --check-numerics --profile --top-k --output",
)
def command(graph: str, reader: GraphReader, session: SessionOptions, options: RunOptions) -> int:
    """Run GRAPH and print the fetched values.

    A run has this order: initializer, --state, --assign (then --assign-add, --assign-sub), --steps, --save-state. Variables
    live as long as the command; --save-state and --state carry them to the next command. Without further options, the
    command lists the outputs and operations that can run.

    \b
    tfg run saved_model_folder
    tfg run graph.pb --fetch y --feed x='[[1, 2, 3]]'
    tfg run train.pb --init --target train --fetch loss --steps 100 --fetch-every 10 --save-state s.npz
    tfg run saved_model_folder --feed x=@x.npy --format json
    tfg run saved_model_folder --each 'inputs/*.npz' --on local:4 --out-dir results
    """
    options.check()
    if options.is_of_many:
        from ..jobs.each_job import run_each

        return run_each(graph, reader, session, options)
    from ..jobs.run_job import RunJob
    from ..sections.run_sections import show_choices, write_steps

    loaded = reader.load(graph)
    if options.asks_nothing and not session.changes_state and session.signature is None and reader.function is None:
        return show_choices(loaded, graph, options.format)
    job = RunJob(loaded, session, options)
    results = job.run()
    write_steps(results, options.format, options.out, options.quiet)
    return job.exit_code
