"""`tfg optimize`: rewrite a graph to run faster, and report the changes."""

from __future__ import annotations

from ..models import save_model_option
from ..options import (
    GraphReader,
    fast_math_option,
    feed_option,
    fetch_option,
    format_option,
    graph_output_option,
    quiet_option,
    text_option,
    tolerance_option,
)
from ..placeholder_options import PlaceholderOptions
from ..requests import Positive, argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options_for


@request
class OptimizeOptions:
    """Optimize GRAPH for its fetches: the same results with less work.

    Each rewrite is exact, rounding (a few units in the last place of the operands, or the sign of a zero) or relaxed. The
    report names the class of each rewrite.

    \b
    tfg optimize model.pb -o fast.pb --fetch y --verify
    tfg optimize train.pb --fetch train --fetch loss --passes "prune,fold,cse"
    tfg optimize model.pb -o fast.pb --passes "default,fuse{onednn=true}"
    tfg optimize model.pb -o for_opencv.pb --portable
    tfg optimize --list
    """

    # None with --list, which shows the passes of every graph.
    graph: str | None = argument(required=False)
    output: str | None = graph_output_option("Write the optimized graph here; - is standard output.")
    text: bool = text_option()
    save_model: str | None = save_model_option()
    fetches: tuple[str, ...] = fetch_option("Tensor or operation that must stay the same; repeatable.")
    feeds: tuple[tuple[str, str], ...] = feed_option()
    placeholders: PlaceholderOptions = part(PlaceholderOptions)
    passes: str | None = option(
        metavar="LIST", help='Passes to run, e.g. "prune,fold{limit=1MB},cse" or "default,layout"; see --list.'
    )
    disable: tuple[str, ...] = option(metavar="PASS", help="Leave this pass out; repeatable.")
    portable: bool = option(
        help="Make only ops that tf2onnx, OpenCV, TensorFlow.js and TensorFlow Lite read: no _FusedConv2D, for example."
    )
    fast_math: bool = fast_math_option()
    cluster: bool = option(
        help="At the end, group pure nodes into a single function call, and report the nodes that XLA supports."
    )
    keep: tuple[str, ...] = option(metavar="NODE", help="Keep this node; repeatable.")
    # Apart from --feed, since a pass needs to know that a tensor is fed and not its value.
    fed: tuple[str, ...] = option(
        metavar="TENSOR", help="A tensor that every run feeds, like the tensors of --feed; repeatable."
    )
    # A tensor that may be fed cannot be folded, nor merged with an equal one.
    overridable: tuple[str, ...] = option(metavar="TENSOR", help="A tensor that a run may feed; repeatable.")
    verify: bool = option(help="Run both graphs on the same feeds; exit with 3 if they differ.")
    unverified: bool = option(
        needs="--verify", help="Write the graph even if --verify finds no feeds that the graph runs on; exit with 3."
    )
    tolerance: float | None = tolerance_option(
        "--verify", "1e-6 if all rewrites are exact, otherwise 1e-4; more for 16-bit floats and weights", needs="--verify"
    )
    steps: Positive | None = option(
        needs="--verify", help="Number of consecutive runs that --verify compares. Default: 3 with variables, otherwise 1."
    )
    session: SessionOptions = part(session_options_for("--verify", "--save-model"))
    # On by default, as the reader of a report asks what was gained.
    costs: bool = option(
        "--costs/--no-costs", default=True, help="Count FLOPs and bytes before and after; with -v or JSON after each pass."
    )
    list_: bool = option(help="List the passes with their options, and exit.")
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(OptimizeOptions, "optimize_job.run")
