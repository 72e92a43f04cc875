"""`tfg view`: write a graph as an interactive page for the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import PAGES
from ..helps import GroupedCommand
from ..options import (
    GraphReader,
    OutputFile,
    excluding,
    feed_option,
    fetch_option,
    gathered,
    graph_options,
    needing,
    quiet_option,
)
from ..sessions import ByteSize, SessionOptions, session_options_for

if TYPE_CHECKING:
    from ..jobs.view_job import ViewOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.option("-o", "--output", "out", type=OutputFile(PAGES, may_be_stdout=True), metavar="FILE",
              help="Write the page here. Default: the name of GRAPH with .html, in this folder.")  # fmt: skip
@fetch_option("Count the FLOPs of this tensor or operation. Default: the outputs.")
@click.option("--no-flops", is_flag=True, help="Don't count FLOPs.")
@click.option(
    "--diff",
    "other",
    metavar="AFTER",
    help="Show GRAPH and AFTER in a single page, with the differences that `tfg diff` finds.",
)
@click.option("--overlay", "overlays", multiple=True, metavar="FILE.json",
              help="Colour nodes by a JSON file: {NODE: VALUE}, or output of `flops --measured` or `compare --all`; "
              "repeatable.")  # fmt: skip
@click.option("--run-metadata", metavar="FILE", help="Colour nodes by the times of a run recorded by TensorFlow.")
@click.option("--measured", is_flag=True, help="Run the graph, and colour nodes by their times.")
@feed_option
@click.option("--max-values", type=ByteSize(), default="1M", show_default=True,
              help="Bytes of values that the page holds for download, the smallest first; 0 for none.")  # fmt: skip
@click.option("--open", is_flag=True, help="Open the page in the browser.")
@session_options_for("--measured", start=True)
@needing("--feed --init --init-op", "--measured")
@excluding("--measured", "--diff")
@quiet_option
@graph_options
@gathered("view_job.ViewOptions")
def command(
    graph: str, out: str | None, other: str | None, reader: GraphReader, session: SessionOptions, options: ViewOptions
) -> None:
    """Write GRAPH as a single HTML file, with collapsible scopes, node search, FLOPs, stages and functions.

    Any browser opens the file from disk. The page needs no network.

    \b
    tfg view graph.pb
    tfg view saved_model_folder -o model.html --open
    tfg view graph.pb --measured --feed x='normal(8,3)'
    tfg view graph.pb --overlay times.json
    tfg view old_saved_model --diff new_saved_model
    tfg view graph.pb --state model.ckpt-1000 --max-values 20M
    """
    from ..jobs.view_job import ViewJob

    if options.open and out == "-":
        raise click.UsageError("--open needs a file: name the file with -o")
    loaded, is_sound = reader.look_closely(graph)
    ViewJob(loaded, is_sound, graph, session, options, reader.load(other) if other is not None else None).write(out)
