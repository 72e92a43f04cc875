"""`tfg optimize`: rewrite a graph so that it runs faster, and say what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .. import render
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..models import save_model_option
from ..options import (
    GraphReader,
    fast_math_option,
    feed_option,
    format_option,
    gathered,
    graph_options,
    graph_output_options,
    needing,
    quiet_option,
)
from ..placeholder_options import PlaceholderOptions, placeholder_options
from ..sessions import SessionOptions, session_options_for
from ..tolerance import tolerance_option

if TYPE_CHECKING:
    from ...core.graph.graph import Graph
    from ..jobs.optimize_job import OptimizeOptions


@click.command(cls=GroupedCommand)
@click.argument("graph", required=False)
@graph_output_options("Write the optimized graph here; - is standard output.")
@save_model_option
@click.option("-F", "--fetch", "fetches", multiple=True, metavar="NAME", help="What must stay the same; repeatable.")
@feed_option
@placeholder_options
@click.option("--passes", metavar="LIST", help='Run these: "prune,fold{limit=1MB},cse", "default,layout"; see --list.')
@click.option("--disable", multiple=True, metavar="PASS", help="Leave this pass out; repeatable.")
@fast_math_option
@click.option(
    "--cluster",
    is_flag=True,
    help="At the end group what only computes into one function call, and say how much of it XLA takes.",
)
@click.option("--keep", multiple=True, metavar="NODE", help="Keep this node; repeatable.")
@click.option("--fed", multiple=True, metavar="TENSOR", help="Every run feeds this, as it does what --feed names; repeatable.")
@click.option("--overridable", multiple=True, metavar="TENSOR", help="A run may feed this, but need not; repeatable.")
@click.option("--verify", is_flag=True, help="Run both graphs on the same feeds; exit with 3 where they differ.")
@click.option(
    "--unverified", is_flag=True, help="Write the graph even where --verify finds no feeds that it runs on; exit with 3."
)
@tolerance_option("--verify", "1e-6 where all rewrites are exact, else 1e-4; more for 16-bit floats")
@click.option(
    "--steps", type=click.IntRange(1), help="The runs in a row --verify compares; 3 where there are variables, or else 1."
)
@session_options_for("--verify", "--save-model")
@click.option("--costs/--no-costs", default=True, help="Count FLOPs and bytes after each pass, which takes half of the time.")
@click.option("--list", "list_", is_flag=True, help="List the passes with their options, and exit.")
@format_option()
@quiet_option
@graph_options
@gathered("optimize_job.OptimizeOptions")
@needing("--unverified --tolerance --steps", "--verify")
def command(
    graph: str | None, reader: GraphReader, list_: bool, session: SessionOptions, placeholders: PlaceholderOptions,
    options: OptimizeOptions,
) -> int:  # fmt: skip
    """Optimize GRAPH for its fetches: the same results with less work.

    A rewrite is exact, rounding (a few units in the last place of the operands, or the sign of a zero) or relaxed. The report
    names the class of each.

    \b
    tfg optimize model.pb -o fast.pb --fetch y --verify
    tfg optimize train.pb --fetch train --fetch loss --passes "prune,fold,cse"
    tfg optimize model.pb -o fast.pb --passes "default,fuse{onednn=true}"
    tfg optimize --list
    """
    from ..jobs.optimize_job import OptimizeJob
    from ..names import Names
    from ..sections.optimize_sections import passes_json, passes_sections, report_sections

    if list_:
        render.emit("tfg.optimize.passes/1", passes_json(), options.format_, passes_sections)
        return DONE
    if graph is None:
        raise click.UsageError("GRAPH is needed, or --list")
    loaded = _loaded(graph, reader, session, options)
    placeholders.apply(loaded, Names(loaded, session.signature))
    job = OptimizeJob(loaded, session, options)
    report = job.run()
    if options.quiet and options.format_ == "table":
        return DONE if job.passed else COMPARISON_FAILED
    with render.beside(options.output):
        render.emit(
            "tfg.optimize/1", job.as_json(), options.format_, lambda: (*report_sections(report), *job.verdict_sections())
        )
    return DONE if job.passed else COMPARISON_FAILED


def _loaded(graph: str, reader: GraphReader, session: SessionOptions, options: OptimizeOptions) -> Graph:
    """The graph, checked as far as the passes keep it."""
    from ...core.passes.pipeline import choose_passes

    chosen = choose_passes(options.passes, options.disable)
    if any(one.mends for one in chosen):
        return reader.load_unchecked(graph)
    is_cut = bool(options.fetches or session.signature) and any(one.name == "prune" for one in chosen)
    return reader.load_part(graph) if is_cut else reader.load(graph)
