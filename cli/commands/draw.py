"""`tfg draw`: draw a graph as Graphviz source, SVG, PNG, PDF or text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import PICTURES
from ..helps import GroupedCommand
from ..options import GraphReader, OutputFile, excluding, gathered, quiet_option, reading_options
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
@click.option("--function", metavar="NAME", help="The body of this function instead of the graph.")
@click.option("--functions", is_flag=True, help="The graph, and each of its functions as a picture of its own.")
@click.option("--stages", is_flag=True, help="One picture for each stage of the construction, what it adds in red.")
@click.option("--depth", type=click.IntRange(0), help="Open name scopes to depth N, instead of as many as fit.")
@click.option("--expand", multiple=True, metavar="SCOPE", help="Open this name scope; repeatable.")
@click.option("--max-nodes", type=click.IntRange(2), help="Open scopes up to N boxes. Default: 40, for text 18.")
@click.option("--all", "everything", is_flag=True, help="Draw constants, identities and NoOps too.")
@click.option("--shapes", is_flag=True, help="Write dtypes and inferred shapes at the edges.")
@click.option("--flops", is_flag=True, help="Colour by share of the FLOPs, and write it into the boxes.")
@click.option(
    "--color-by", "colour", type=click.Choice(("device", "colocation", "stage")), help="Colour by this, not by kind."
)
@click.option("--highlight", multiple=True, metavar="NODE", help="Draw this node with a red border; repeatable.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", default=20, show_default=True,
              help="Give up after this time.")  # fmt: skip
@quiet_option
@reading_options
@gathered("draw_job.DrawOptions")
@excluding("--flops", "--color-by", "both colour the boxes")
@excluding("--flops", "--function", "the graph is what is counted")
@excluding("--function", "--functions --stages")
@excluding("--functions", "--stages")
def command(graph: str, out: str, format_: str | None, reader: GraphReader, options: DrawOptions) -> None:
    """Draw GRAPH: data edges solid, control edges dashed, references to variables with a diamond.

    Name scopes are opened as far as they fit on a screen; constants, identities and NoOps are left out. Graphviz lays
    svg and png out where its program `dot` is installed, the package graphviz-pure elsewhere; pdf needs `dot`.

    \b
    tfg draw graph.pb --format text
    tfg draw graph.pb -o graph.svg --flops
    tfg draw graph.pb --around loss --hops 3 --shapes -o loss.svg
    """
    from ..jobs.draw_job import DrawJob, Paper

    paper = Paper.of(out, format_)
    DrawJob(reader.look(graph), paper, options).write()
