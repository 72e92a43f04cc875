"""`tfg flops`: count floating-point operations, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...core.support.file_formats import TRACES
from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    GraphReader,
    OutputFile,
    Pair,
    Regex,
    ShapePair,
    excluding,
    fetch_option,
    format_option,
    gathered,
    graph_options,
    needing,
    quiet_option,
)
from ..sessions import SessionOptions, session_options_for

if TYPE_CHECKING:
    from ..jobs.flops_job import FlopsOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@fetch_option("Count the run of this tensor or operation; repeatable.")
@click.option(
    "-f", "--feed", "feeds", multiple=True, metavar="TENSOR[=VALUE]", help="Cut here: treat this tensor as fed; repeatable."
)
@click.option("--shape", "shapes", type=ShapePair(), multiple=True, help="Shape of a placeholder or tensor; repeatable.")
@click.option("--batch", type=click.IntRange(0), metavar="N", help="Batch size: the value of the symbol N.")
@click.option(
    "--size", "sizes", type=Pair("SIZE", "NUMBER"), multiple=True, help="A size that depends on values of the run; repeatable."
)
@click.option("--trips", type=Pair("LOOP", "NUMBER"), multiple=True, help="Number of iterations of a loop; repeatable.")
@click.option(
    "--backward", is_flag=True, help="Also count the gradients: the gradients in the graph, or gradients built for --loss."
)
@click.option("--loss", metavar="TENSOR", help="Loss to differentiate. Default: the first fetch.")
@click.option("--wrt", type=Regex(), default="", help="Differentiate only with respect to matching variables.")
@click.option("--per-variable", is_flag=True, help="Show the backward pass by variable.")
@click.option(
    "--view",
    type=click.Choice(("op", "node", "layer", "scope")),
    default="op",
    show_default=True,
    help="Rows of the table; a layer is a scope that owns weights.",
)
@click.option("--top", type=click.IntRange(1), help="Number of rows. Default: 20 in a table, all in JSON and CSV.")
@click.option("--depth", type=click.IntRange(1), default=3, show_default=True, help="Number of scope levels.")
@click.option("--name", type=Regex(), default="", help="Only nodes whose name matches.")
@click.option("--op", "op_pattern", type=Regex(), default="", help="Only nodes whose op matches.")
@click.option("--threshold", "min_flops", type=float, default=0, help="Only nodes with at least N FLOPs.")
@click.option("--compat", type=click.Choice(("tfprof",)), help="Compare with the formulas of tf.profiler, op by op.")
@click.option("--run-metadata", metavar="FILE", help="Join the times of a RunMetadata or StepStats proto with the counts.")
@click.option("--measured", is_flag=True, help="Run the graph: exact shapes and iterations, time and rate of each op.")
@session_options_for("--measured", cluster=True)
@click.option(
    "--warmup", type=click.IntRange(0), default=1, show_default=True, help="With --measured: number of runs before timing."
)
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="With --measured: number of timed runs.")
@click.option("--trace", type=OutputFile(TRACES), metavar="FILE",
              help="With --measured: write a Chrome trace, which Perfetto opens.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with 3 if the cost of any node is unknown.")
@format_option()
@quiet_option
@graph_options
@gathered("flops_job.FlopsOptions")
@needing("--warmup --runs --trace", "--measured")
@needing("--depth", "--view=scope")
@needing("--wrt", "--backward --loss --per-variable")
@excluding("--per-variable --compat --run-metadata --batch --shape --size --trips", "--measured")
@excluding("--name --op --threshold", "--per-variable --compat --run-metadata --measured")
@excluding("--view", "--per-variable --compat --run-metadata")
@excluding("--top", "--per-variable --compat")
@excluding("--compat --run-metadata", "--per-variable")
@excluding("--compat", "--run-metadata")
def command(graph: str, reader: GraphReader, session: SessionOptions, options: FlopsOptions) -> int:
    """Count the floating-point operations of the nodes of GRAPH that the fetches run, by section.

    A multiply-add is 2 FLOPs and 1 MAC; transcendental functions (exp, log, tanh ...) are counted apart. Unknown dimensions
    stay symbols: N is the batch, n[Where] a size that depends on values, here the number of true elements.

    \b
    tfg flops resnet50.pb --batch 8
    tfg flops train.pb --fetch loss --backward --view scope --depth 2
    tfg flops model.pb --format json --strict
    tfg flops model.pb --measured --feed x='normal(8,224,224,3)' --trace trace.json
    """
    from ..jobs.flops_job import FlopsJob, show_count, show_measured

    job = FlopsJob(reader.load(graph), session, options)
    unknown = (show_measured if options.measured else show_count)(job)
    return COMPARISON_FAILED if options.strict and unknown else DONE
