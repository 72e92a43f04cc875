"""`tfg explain`: describe a graph, a node or an op in plain words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ..helps import GroupedCommand
from ..options import (
    GraphReader,
    excluding,
    fast_math_option,
    fetch_option,
    format_option,
    gathered,
    graph_options,
    needing,
    signature_option,
)

if TYPE_CHECKING:
    from ..jobs.explain_job import ExplainOptions


@click.command(cls=GroupedCommand)
@click.argument("graph")
@click.argument("nodes", nargs=-1, metavar="[NODE]...")
@fetch_option(
    "Explain why fetching this tensor runs each NODE or not. With --races, --engine or --partition: a tensor or "
    "operation of the run."
)
@click.option("--optimized", is_flag=True, help="Report the outcome for each NODE when the graph is optimized for --fetch.")
@fast_math_option
@click.option("--missing", is_flag=True, help="List the ops that tfg cannot run, and the ops that TensorFlow lacks.")
@click.option(
    "--engine", metavar="NAME", help="Report the nodes of --fetch that this engine would run, and why it leaves the others."
)
@click.option("--races", is_flag=True, help="List races in each run: reads, writes and random draws that no path orders.")
@click.option(
    "--partition",
    is_flag=True,
    help="Report the device of each node on a cluster, and the tensors that cross between devices in a step.",
)
@signature_option
@format_option("table", "json", "csv")
@graph_options
@gathered("explain_job.ExplainOptions")
@needing("--fast-math", "--optimized")
@excluding("--races", "--missing --optimized")
@excluding("--partition", "--races --missing --optimized --engine")
@excluding("--missing", "--optimized --fetch --signature")
def command(graph: str, reader: GraphReader, options: ExplainOptions) -> None:
    """Describe GRAPH, or the role of each NODE in GRAPH. If GRAPH is the name of an op type, describe the op.

    \b
    tfg explain graph.pb
    tfg explain saved_model_folder --signature serving_default
    tfg explain graph.pb Variable/read init
    tfg explain events.out.tfevents.1700000000.host
    tfg explain MatMul
    tfg explain graph.pb Variable/read --fetch loss
    tfg explain graph.pb Variable/read --optimized --fetch loss
    tfg explain graph.pb --missing
    tfg explain graph.pb --races --fetch loss --fetch train_op
    tfg explain graph.pb --engine openvino --fetch logits
    tfg explain graph.pb --partition --fetch train_op
    """
    from ...formats.codecs.source import ReadOnce
    from ..jobs.explain_job import ExplainJob, explain_op, is_op, show_recording

    reader.load_libraries()
    if not os.path.exists(graph) and is_op(graph):
        explain_op(graph, options.format_)
    elif not show_recording(source := ReadOnce(graph), options):
        loaded, is_sound = (reader.load(graph), True) if options.about_runs else reader.look_closely(source)
        ExplainJob(graph, loaded, is_sound, options).run()
