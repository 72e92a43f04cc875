"""`tfg compare`: run two graphs, or two engines, on the same feeds and find the first difference."""

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
    fetch_option,
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
@click.option("--passes", metavar="LIST", help="Instead of AFTER: BEFORE after these passes, or after `default`.")
@fast_math_option
@click.option(
    "--engines", type=Couple(), help="Instead of AFTER: BEFORE on two engines, e.g. numpy,openvino or xla,openvino:bf16."
)
@fetch_option("Tensor or operation to run; repeatable. Default: all outputs.")
@feed_option
@tolerance_option("the comparison")
@click.option(
    "--measured", is_flag=True, help="Also time the nodes of both graphs; the largest slowdown of AFTER comes first."
)
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Number of rows that --measured shows."
)
@click.option("--all", "show_all", is_flag=True, help="Show every compared node, not only the first difference.")
@ci_format_option
@excluding("--engine", "--engines", "--engines names the engines")
@needing("--fast-math", "--passes")
@needing("--top", "--measured")
@excluding("--measured", "--engines", "an engine runs groups of nodes, not single nodes, not single nodes")
@session_options
@quiet_option
@graph_options
@gathered("compare_job.CompareOptions")
def command(
    before: str, after: str | None, format_: str, reader: GraphReader, session: SessionOptions, options: CompareOptions
) -> int:
    """Run BEFORE and AFTER on the same feeds and find the first node, in execution order, with different values.

    Nodes match by name, or by their computation if the names changed; nodes of called functions match too. The report also
    names the first node with NaN or infinity. Placeholders without a feed get the same random values in both graphs. Either
    graph may be an .onnx file, which onnxruntime runs (the extra `onnx`). Two states (checkpoints, .npz or .safetensors files)
    are compared variable by variable. Exit code: 0 if all values agree, 3 if some differ.

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
