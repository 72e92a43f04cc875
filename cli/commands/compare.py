"""`tfg compare`: run two graphs, or two engines, on the same feeds and find the first difference."""

from __future__ import annotations

from ..options import (
    GraphReader,
    ci_format_option,
    couple,
    fast_math_option,
    feed_option,
    fetch_option,
    quiet_option,
    tolerance_option,
)
from ..requests import Positive, argument, command_of, excluding, option, part, request
from ..sessions import SessionOptions, session_options


@request
class CompareOptions:
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

    before: str = argument()
    # --passes and --engines stand for it; the job counts that one of the three is there.
    after: str | None = argument(required=False)
    passes: str | None = option(metavar="LIST", help="Instead of AFTER: BEFORE after these passes, or after `default`.")
    fast_math: bool = fast_math_option(needs="--passes")
    engines: tuple[str, str] | None = option(
        type=couple, help="Instead of AFTER: BEFORE on two engines, e.g. numpy,openvino or xla,openvino:bf16."
    )
    fetches: tuple[str, ...] = fetch_option("Tensor or operation to run; repeatable. Default: all outputs.")
    feeds: tuple[tuple[str, str], ...] = feed_option()
    tolerance: float = tolerance_option("the comparison")
    measured: bool = option(
        excludes={"--engines": "an engine runs groups of nodes, not single nodes, not single nodes"},
        help="Also time the nodes of both graphs; the largest slowdown of AFTER comes first.",
    )
    # JSON has the whole list; a slowdown behind the tenth seldom matters.
    top: Positive = option(default=10, needs="--measured", help="Number of rows that --measured shows.")
    show_all: bool = option("--all", help="Show every compared node, not only the first difference.")
    format_: str = ci_format_option()
    # Options of a run are not bound to one of the graphs: both run in equal sessions.
    session: SessionOptions = part(session_options, excluding("--engine", "--engines", "--engines names the engines"))
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(CompareOptions, "compare_job.run")
