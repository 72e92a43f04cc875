"""`tfg flops`: count floating-point operations, forward and backward."""

from __future__ import annotations

from typing import Final, Literal

from ...core.support.file_formats import TRACES
from ...core.types.shapes import BatchSize
from ..options import (
    GraphReader,
    OutputFile,
    bare_feed_pair,
    batch_option,
    fetch_option,
    format_option,
    quiet_option,
    regex,
    shape_pair,
    size_option,
    trips_option,
)
from ..requests import Natural, Positive, argument, command_of, option, part, request
from ..sessions import SessionOptions, session_options_for

_ROWS_OF_A_TABLE: Final = 20
_UNCHOSEN: Final = "--per-variable --compat --run-metadata"
"""The options whose tables have rows that no other option chooses."""


@request
class FlopsOptions:
    """Count the floating-point operations of the nodes of GRAPH that the fetches run, by section.

    A multiply-add is 2 FLOPs and 1 MAC; transcendental functions (exp, log, tanh ...) are counted apart. Unknown dimensions
    stay symbols: N is the batch, n[Where] a size that depends on values, here the number of true elements.

    \b
    tfg flops resnet50.pb --batch 8
    tfg flops train.pb --fetch loss --backward --view scope --depth 2
    tfg flops model.pb --format json --strict
    tfg flops model.pb --measured --feed x='normal(8,224,224,3)' --trace trace.json
    """

    graph: str = argument()
    fetches: tuple[str, ...] = fetch_option("Count the run of this tensor or operation; repeatable.")
    feeds: tuple[tuple[str, str | None], ...] = option(
        "-f", "--feed", type=bare_feed_pair, help="Cut here: treat this tensor as fed; repeatable."
    )
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = option(
        "--shape", type=shape_pair, excludes="--measured", help="Shape of a placeholder or tensor; repeatable."
    )
    batch: BatchSize | None = batch_option(excludes="--measured")
    sizes: tuple[tuple[str, str], ...] = size_option()
    trips: tuple[tuple[str, str], ...] = trips_option()
    backward: bool = option(help="Also count the gradients: the gradients in the graph, or gradients built for --loss.")
    loss: str | None = option(metavar="TENSOR", help="Loss to differentiate. Default: the first fetch.")
    # Checked by the type, before a large graph is read.
    wrt: str = option(
        type=regex,
        default="",
        needs="--backward --loss --per-variable",
        help="Differentiate only with respect to matching variables.",
    )
    per_variable: bool = option(excludes="--measured", help="Show the backward pass by variable.")
    # Op, node and layer come from one count, so that their sums are equal.
    view: Literal["op", "node", "layer", "scope"] = option(
        default="op", excludes=_UNCHOSEN, help="Rows of the table; a layer is a scope that owns weights."
    )
    top: Positive | None = option(
        excludes="--per-variable --compat", help="Number of rows. Default: 20 in a table, all in JSON and CSV."
    )
    depth: Positive = option(default=3, needs="--view=scope", help="Number of scope levels.")
    name: str = option(type=regex, default="", excludes=f"{_UNCHOSEN} --measured", help="Only nodes whose name matches.")
    op_pattern: str = option(
        "--op", type=regex, default="", excludes=f"{_UNCHOSEN} --measured", help="Only nodes whose op matches."
    )
    # A float, as 1e9 is how such numbers are typed.
    min_flops: float = option(
        "--threshold",
        default=0,
        show_default=False,
        excludes=f"{_UNCHOSEN} --measured",
        help="Only nodes with at least N FLOPs.",
    )
    compat: Literal["tfprof"] | None = option(
        excludes="--measured --per-variable --run-metadata", help="Compare with the formulas of tf.profiler, op by op."
    )
    run_metadata: str | None = option(
        metavar="FILE",
        excludes="--measured --per-variable",
        help="Join the times of a RunMetadata or StepStats proto with the counts.",
    )
    measured: bool = option(help="Run the graph: exact shapes and iterations, time and rate of each op.")
    session: SessionOptions = part(session_options_for("--measured", cluster=True))
    warmup: Natural = option(default=1, needs="--measured", help="With --measured: number of runs before timing.")
    runs: Positive = option(default=3, needs="--measured", help="With --measured: number of timed runs.")
    trace: str | None = option(
        type=OutputFile(TRACES),
        metavar="FILE",
        needs="--measured",
        help="With --measured: write a Chrome trace, which Perfetto opens.",
    )
    # For a build that must notice an op without a formula.
    strict: bool = option(help="Exit with 3 if the cost of any node is unknown.")
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)

    @property
    def rows_shown(self) -> int | None:
        """Return the number of rows to show, None for all rows: `top`, or the default of a table."""
        return self.top if self.top is not None or self.format_ != "table" else _ROWS_OF_A_TABLE


command = command_of(FlopsOptions, "flops_job.run")
