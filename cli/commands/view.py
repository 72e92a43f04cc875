"""`tfg view`: write a graph as an interactive page for the browser."""

from __future__ import annotations

from ...core.support.file_formats import PAGES
from ..options import (
    GraphReader,
    OutputFile,
    feed_option,
    fetch_option,
    graph_options,
    quiet_option,
    raw_option,
)
from ..placeholder_options import SizeOptions
from ..requests import argument, command_of, excluding, needing, option, options_of, part, request, together
from ..sessions import ByteSize, SessionOptions, session_options_for


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
    tfg view graph.pb --overlay times.json
    tfg view old_saved_model --diff new_saved_model
    tfg view graph.pb --state model.ckpt-1000 --max-values 20M
    """

    graph: str = argument()
    out: str | None = option(
        "-o",
        "--output",
        type=OutputFile(PAGES, may_be_stdout=True),
        metavar="FILE",
        help="Write the page here. Default: the name of GRAPH with .html, in this folder.",
    )
    fetches: tuple[str, ...] = fetch_option("Count the FLOPs of this tensor or operation. Default: the outputs.")
    raw: bool = raw_option()
    no_flops: bool = option(help="Don't count FLOPs.")
    other: str | None = option(
        "--diff", metavar="AFTER", help="Show GRAPH and AFTER in a single page, with the differences that `tfg diff` finds."
    )
    overlays: tuple[str, ...] = option(
        "--overlay",
        metavar="FILE.json",
        help="Colour nodes by a JSON file: {NODE: VALUE}, or output of `flops --measured` or `compare --all`; repeatable.",
    )
    run_metadata: str | None = option(metavar="FILE", help="Colour nodes by the times of a run recorded by TensorFlow.")
    sizes: SizeOptions = part(
        together(
            excluding("--shape --batch", "--diff", "the page shows both graphs as they are"), options_of(SizeOptions, "sizes")
        )
    )
    measured: bool = option(excludes="--diff", help="Run the graph, and colour nodes by their times.")
    feeds: tuple[tuple[str, str], ...] = feed_option(needs="--measured")
    max_values: int = option(
        type=ByteSize(),
        default="1M",
        show_default=True,
        help="Bytes of values that the page holds for download, the smallest first; 0 for none.",
    )
    open: bool = option(help="Open the page in the browser.")
    session: SessionOptions = part(
        together(
            needing("--init --init-op", "--measured"),
            needing("--signature", "--measured --shape --batch"),
            session_options_for("--measured", start=True),
        )
    )
    quiet: bool = quiet_option()
    reader: GraphReader = part(graph_options)


command = command_of(ViewOptions, "view_job.run")
