"""`tfg compare`: run two graphs, or two engines, on the same feeds and find the first node whose value differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..helps import GroupedCommand
from ..main import COMPARISON_FAILED, DONE
from ..options import (
    Couple,
    GraphReader,
    ci_format_option,
    excluding,
    fast_math_option,
    feed_option,
    gathered,
    graph_options,
    needing,
    quiet_option,
)
from ..sessions import SessionOptions, session_options
from ..tolerance import tolerance_option

if TYPE_CHECKING:
    from ..jobs.compare_job import CompareOptions


@click.command(cls=GroupedCommand)
@click.argument("before")
@click.argument("after", required=False)
@click.option("--passes", metavar="LIST", help="Instead of AFTER: what these passes, or `default`, make of BEFORE.")
@fast_math_option
@click.option(
    "--engines", type=Couple(), help="Instead of AFTER: BEFORE by two engines, as numpy,openvino or xla,openvino:bf16."
)
@click.option(
    "-F", "--fetch", "fetches", multiple=True, metavar="NAME", help="What to run, by default all outputs; repeatable."
)
@feed_option
@tolerance_option("the comparison")
@click.option("--measured", is_flag=True, help="Also time the nodes of both: the largest slowdown of AFTER first.")
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="How many rows --measured shows."
)
@click.option("--all", "show_all", is_flag=True, help="Show every node that was compared, not only the first that differs.")
@ci_format_option
@excluding("--engine", "--engines", "these two run the graph")
@needing("--fast-math", "--passes")
@needing("--top", "--measured")
@excluding("--measured", "--engines", "an engine runs groups of nodes")
@session_options
@quiet_option
@graph_options
@gathered("compare_job.CompareOptions")
def command(
    before: str, after: str | None, format_: str, reader: GraphReader, session: SessionOptions, options: CompareOptions
) -> int:
    """Run BEFORE and AFTER on the same feeds and find the first node, in the order of execution, whose value differs.

    Nodes are matched by name, and where names were changed by what they compute; nodes in called functions, too. The first
    node that became NaN or infinite is named apart. Placeholders that are not fed get random values, the same in both. One of
    the two may be an .onnx file, whose outputs onnxruntime computes (the extra `onnx`). Two states (checkpoints, .npz or
    .safetensors files) are compared variable by variable. Exit code 0 where all agree, 3 where they do not.

    \b
    tfg compare graph.pb optimized.pb
    tfg compare old_saved_model new_saved_model --signature serving_default --all
    tfg compare graph.pb --passes default,layout --fetch y
    tfg compare before.pb after.pb --measured --top 5
    tfg compare graph.pb graph.onnx
    tfg compare graph.pb --engines numpy,openvino
    tfg compare model.ckpt-1000 model.ckpt-2000
    """
    from .. import render
    from ..findings import FORMATS, print_findings
    from ..jobs.compare_job import compare_files

    job = compare_files(before, after, reader, session, options)
    if format_ in FORMATS:
        print_findings(job.findings(before, after), format_)
        return DONE if job.result.agrees else COMPARISON_FAILED
    render.emit("tfg.compare/1", job.as_json(), format_, lambda: job.sections(format_))
    return DONE if job.result.agrees else COMPARISON_FAILED
