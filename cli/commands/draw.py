"""`tfg draw`: draw a graph as Graphviz source, SVG, PNG, PDF or text."""

from __future__ import annotations

from typing import Literal

import click

from ...core.support.file_formats import PICTURES
from ..options import (
    GraphReader,
    ListingSelection,
    OutputFile,
    Seconds,
    output_option,
    quiet_option,
    raw_option,
    signature_option,
)
from ..requests import Natural, argument, command_of, option, part, request

# From the table of formats, so that --format and the extensions know the same.
_FORMATS = tuple(known.word for known in PICTURES.formats)


@request
class DrawOptions:
    """Draw GRAPH, with solid data edges, dashed control edges, and a diamond at references to variables.

    The picture shows the model of a signature: its layers by the names that the author gave, without calls, arguments and
    handles. --raw, --functions and --stages draw the file's own nodes.

    Name scopes open as far as the picture fits on a screen. Constants, identities and NoOps are hidden. Graphviz lays
    out svg and png if its program `dot` is installed; otherwise the package graphviz-pure does. pdf needs `dot`.

    \b
    tfg draw graph.pb
    tfg draw graph.pb -o graph.svg --flops
    tfg draw graph.pb --around loss --hops 3 --shapes -o loss.svg
    """

    graph: str = argument()
    out: str = output_option(
        OutputFile(PICTURES, may_be_stdout=True), "Write the picture here, as .svg, .png, .pdf, .dot or .txt.", default="-"
    )
    format_: str | None = option(
        type=click.Choice(_FORMATS),
        help="Format of the picture, if FILE has no extension. Default: text at a terminal, else dot.",
    )
    # The choice of `dump`, so that a list of nodes and their picture take the same words.
    selection: ListingSelection = part(ListingSelection)
    signature: str | None = signature_option(excludes="--raw --function --functions --stages")
    raw: bool = raw_option()
    # Of the picture and not of the reader: --functions and --stages draw other parts of the same graph.
    function: str | None = option(
        metavar="NAME", excludes="--functions --stages", help="Draw the body of this function instead of the graph."
    )
    functions: bool = option(excludes="--stages", help="Draw the graph, and each of its functions as a separate picture.")
    stages: bool = option(help="Draw a picture for each construction stage, with new nodes in red.")
    depth: Natural | None = option(help="Open name scopes to depth N, instead of as many as fit.")
    expand: tuple[str, ...] = option(metavar="SCOPE", help="Open this name scope; repeatable.")
    max_nodes: int | None = option(type=click.IntRange(2), help="Open scopes up to N boxes. Default: 40, for text 18.")
    everything: bool = option("--all", help="Also draw constants, identities and NoOps.")
    shapes: bool = option(help="Label edges with dtypes and inferred shapes.")
    flops: bool = option(
        excludes={"--color-by": "both options set the colours", "--function": "FLOPs are counted for the graph"},
        help="Colour boxes by their share of the FLOPs, and print the share.",
    )
    colour: Literal["device", "colocation", "stage"] | None = option(
        "--color-by", help="Colour boxes by this property. Default: kind."
    )
    highlight: tuple[str, ...] = option(metavar="NODE", help="Draw this node with a red border; repeatable.")
    # The layout of a large graph may take Graphviz minutes.
    timeout: float = option(type=Seconds(), metavar="SECONDS", default=20, help="Time limit.")
    quiet: bool = quiet_option()
    # The option --function above has another meaning here.
    reader: GraphReader = part(GraphReader, without="function")


command = command_of(DrawOptions, "draw_job.run")
