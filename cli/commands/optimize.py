"""`tfg optimize`: rewrite a graph to run faster, and report the changes."""

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
    fetch_option,
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
    from ..jobs.optimize_job import OptimizeOptions


@click.command(cls=GroupedCommand)
@click.argument("graph", required=False)
@graph_output_options("Write the optimized graph here; - is standard output.")
@save_model_option
@fetch_option("Tensor or operation that must stay the same; repeatable.")
@feed_option
@placeholder_options
@click.option(
    "--passes", metavar="LIST", help='Passes to run, e.g. "prune,fold{limit=1MB},cse" or "default,layout"; see --list.'
)
@click.option("--disable", multiple=True, metavar="PASS", help="Leave this pass out; repeatable.")
@fast_math_option
@click.option(
    "--cluster",
    is_flag=True,
    help="At the end, group pure nodes into a single function call, and report the nodes that XLA supports.",
)
@click.option("--keep", multiple=True, metavar="NODE", help="Keep this node; repeatable.")
@click.option(
    "--fed", multiple=True, metavar="TENSOR", help="A tensor that every run feeds, like the tensors of --feed; repeatable."
)
@click.option("--overridable", multiple=True, metavar="TENSOR", help="A tensor that a run may feed; repeatable.")
@click.option("--verify", is_flag=True, help="Run both graphs on the same feeds; exit with 3 if they differ.")
@click.option(
    "--unverified", is_flag=True, help="Write the graph even if --verify finds no feeds that the graph runs on; exit with 3."
)
@tolerance_option("--verify", "1e-6 if all rewrites are exact, otherwise 1e-4; more for 16-bit floats and weights")
@click.option(
    "--steps",
    type=click.IntRange(1),
    help="Number of consecutive runs that --verify compares. Default: 3 with variables, otherwise 1.",
)
@session_options_for("--verify", "--save-model")
@click.option("--costs/--no-costs", default=True, help="Count FLOPs and bytes after each pass; this doubles the time.")
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

    Each rewrite is exact, rounding (a few units in the last place of the operands, or the sign of a zero) or relaxed. The
    report names the class of each rewrite.

    \b
    tfg optimize model.pb -o fast.pb --fetch y --verify
    tfg optimize train.pb --fetch train --fetch loss --passes "prune,fold,cse"
    tfg optimize model.pb -o fast.pb --passes "default,fuse{onednn=true}"
    tfg optimize --list
    """
    from ...core.passes.pass_listing import list_passes
    from ...formats.runs.names import Names
    from ..jobs.optimize_job import OptimizeJob
    from ..sections.optimize_sections import passes_sections, report_sections

    if list_:
        passes = list_passes()
        render.emit("tfg.optimize.passes/1", {"passes": passes}, options.format_, lambda: passes_sections(passes))
        return DONE
    if graph is None:
        raise click.UsageError("missing argument GRAPH; --list needs none")
    has_fetches = bool(options.fetches or session.signature)
    loaded = reader.load_for_passes(graph, options.passes, options.disable, has_fetches)
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
