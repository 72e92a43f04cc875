"""`tfg view`: write a graph as an interactive page for the browser."""

from __future__ import annotations

from typing import Final

from ...core.support.file_formats import PAGES
from ..options import GraphReader, OutputFile, feed_option, fetch_option, output_option, quiet_option, raw_option
from ..placeholder_options import SizeOptions
from ..requests import Positive, argument, command_of, excluding, needing, option, part, request
from ..sessions import SessionOptions, byte_size, session_options_for

_RUN: Final = "--measured --values"
"""The options that run the graph."""


@request
class ViewOptions:
    """Write GRAPH as a single HTML file, with collapsible scopes, node search, FLOPs, stages and functions.

    The page shows the model of a signature: its layers by the names that the author gave, without calls, arguments and
    handles. --raw shows the file's own nodes.

    Any browser opens the file from disk. The page needs no network.

    \b
    tfg view graph.pb
    tfg view saved_model_folder -o model.html --open
    tfg view graph.pb --measured --feed x='normal(8,3)'
    tfg view saved_model_folder --values --feed image=@cat.jpg --labels labels.txt
    tfg view graph.pb --overlay times.json
    tfg view old_saved_model --diff new_saved_model
    tfg view graph.pb --state model.ckpt-1000 --max-values 20M
    """

    graph: str = argument()
    out: str | None = output_option(
        OutputFile(PAGES, may_be_stdout=True), "Write the page here. Default: the name of GRAPH with .html, in this folder."
    )
    fetches: tuple[str, ...] = fetch_option("Count the FLOPs of this tensor or operation. Default: the outputs.")
    raw: bool = raw_option()
    no_flops: bool = option(help="Don't count FLOPs.")
    other: str | None = option(
        "--diff",
        metavar="AFTER",
        help="Show GRAPH and AFTER in a page, as one and side by side, with the differences that `tfg diff` finds.",
    )
    overlays: tuple[str, ...] = option(
        "--overlay",
        metavar="FILE.json",
        help="Colour nodes by a JSON file: {NODE: VALUE}, or output of `flops --measured` or `compare --all`; repeatable.",
    )
    run_metadata: str | None = option(metavar="FILE", help="Colour nodes by the times of a run recorded by TensorFlow.")
    sizes: SizeOptions = part(SizeOptions, excluding("--shape --batch", "--diff", "the page shows both graphs as they are"))
    measured: bool = option(excludes="--diff", help="Run the graph, and colour nodes by their times.")
    values: bool = option(
        help="Run the graph, and show the value of each tensor: statistics, a histogram, and a picture of images, feature "
        "maps, matrices and sequences."
    )
    feeds: tuple[tuple[str, str], ...] = feed_option(needs=_RUN)
    # Values of each input in one page, to look from one input to the next.
    each: tuple[str, ...] = option(
        metavar="PATTERN",
        needs="--values",
        excludes="--diff",
        help="Show the values for each matching input, as `tfg run --each` reads them; --feed TENSOR=@each names the tensor.",
    )
    # The first run of a training shows initial values, which tell little.
    steps: Positive = option(
        default=1, show_default=False, needs="--values", help="Run N times, and show the values of the last run. Default: 1."
    )
    labels: str | None = option(
        metavar="FILE", needs="--values", help="Show scores by class, with the labels in FILE, in the order of the classes."
    )
    # A limit on bytes and not on tensors, since the page has to be sent and opened.
    max_values: int = option(
        type=byte_size,
        default="1M",
        help="Bytes of pictures and of values for download that the page holds, the smallest first; 0 for none.",
    )
    open: bool = option(help="Open the page in the browser.")
    # --state also serves without a run: the page shows the values of variables.
    session: SessionOptions = part(
        session_options_for(*_RUN.split(), start=True),
        needing("--init --init-op", _RUN),
        needing("--signature", f"{_RUN} --shape --batch"),
    )
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(ViewOptions, "view_job.run")
