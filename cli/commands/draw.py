"""`tfg draw`: draw a graph as Graphviz source, SVG, PNG, PDF or text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import PICTURES
from ..helps import GroupedCommand
from ..options import GraphReader, OutputFile, Seconds, excluding, gathered, quiet_option, reading_options
from ..selection import selection_options

if TYPE_CHECKING:
    from ..jobs.draw_job import DrawOptions

_FORMATS = tuple(known.word for known in PICTURES.formats)


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.option("-o", "--output", "out", type=OutputFile(PICTURES, may_be_stdout=True), default="-", metavar="FILE",
              help="Write the picture here, as .svg, .png, .pdf, .dot or .txt.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(_FORMATS), help="Format of the picture, if FILE has no extension.")
@selection_options
@click.option("--function", metavar="NAME", help="Draw the body of this function instead of the graph.")
@click.option("--functions", is_flag=True, help="Draw the graph, and each of its functions as a separate picture.")
@click.option("--stages", is_flag=True, help="Draw a picture for each construction stage, with new nodes in red.")
@click.option("--depth", type=click.IntRange(0), help="Open name scopes to depth N, instead of as many as fit.")
@click.option("--expand", multiple=True, metavar="SCOPE", help="Open this name scope; repeatable.")
@click.option("--max-nodes", type=click.IntRange(2), help="Open scopes up to N boxes. Default: 40, for text 18.")
@click.option("--all", "everything", is_flag=True, help="Also draw constants, identities and NoOps.")
@click.option("--shapes", is_flag=True, help="Label edges with dtypes and inferred shapes.")
@click.option("--flops", is_flag=True, help="Colour boxes by their share of the FLOPs, and print the share.")
@click.option(
    "--color-by",
    "colour",
    type=click.Choice(("device", "colocation", "stage")),
    help="Colour boxes by this property. Default: kind.",
)
@click.option("--highlight", multiple=True, metavar="NODE", help="Draw this node with a red border; repeatable.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", default=20, show_default=True,
              help="Time limit.")  # fmt: skip
@quiet_option
@reading_options
@gathered("draw_job.DrawOptions")
@excluding("--flops", "--color-by", "both options set the colours")
@excluding("--flops", "--function", "FLOPs are counted for the graph")
@excluding("--function", "--functions --stages")
@excluding("--functions", "--stages")
def command(graph: str, out: str, format_: str | None, reader: GraphReader, options: DrawOptions) -> None:
    """Draw GRAPH, with solid data edges, dashed control edges, and a diamond at references to variables.

    Name scopes open as far as the picture fits on a screen. Constants, identities and NoOps are hidden. Graphviz lays
    out svg and png if its program `dot` is installed; otherwise the package graphviz-pure does. pdf needs `dot`.

    \b
    tfg draw graph.pb --format text
    tfg draw graph.pb -o graph.svg --flops
    tfg draw graph.pb --around loss --hops 3 --shapes -o loss.svg
    """
    from ..jobs.draw_job import DrawJob, Paper

    paper = Paper.of(out, format_)
    DrawJob(reader.look(graph), paper, options).write()
