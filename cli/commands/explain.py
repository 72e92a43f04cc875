"""`tfg explain`: describe a graph, a node or an op in plain words."""

from __future__ import annotations

from ..options import GraphReader, fast_math_option, fetch_option, format_option, raw_option, signature_option
from ..placeholder_options import SizeOptions
from ..requests import argument, command_of, excluding, option, part, request


@request
class ExplainOptions:
    """Describe GRAPH, or the role of each NODE in GRAPH. If GRAPH is the name of an op type, describe the op.

    Inputs, outputs and memory are those of the model's usual signature. --raw lists the placeholders and results of the file,
    and finds nodes by the names of the file alone.

    \b
    tfg explain graph.pb
    tfg explain saved_model_folder --signature serving_default
    tfg explain graph.pb Variable/read init
    tfg explain events.out.tfevents.1700000000.host
    tfg explain MatMul
    tfg explain graph.pb Variable/read --fetch loss
    tfg explain graph.pb Variable/read --optimized --fetch loss
    tfg explain graph.pb --batch 32
    tfg explain graph.pb --missing
    tfg explain graph.pb --races --fetch loss --fetch train_op
    tfg explain graph.pb --engine openvino --fetch logits
    tfg explain graph.pb --partition --fetch train_op
    """

    graph: str = argument()
    nodes: tuple[str, ...] = argument("[NODE]...", nargs=-1)
    # One option for two questions, as both are about a run of these tensors.
    fetches: tuple[str, ...] = fetch_option(
        "Explain why fetching this tensor runs each NODE or not. With --races, --engine or "
        "--partition: a tensor or operation of the run."
    )
    optimized: bool = option(help="Report the outcome for each NODE when the graph is optimized for --fetch.")
    fast_math: bool = fast_math_option(needs="--optimized")
    missing: bool = option(
        excludes="--optimized --fetch --signature", help="List the ops that tfg cannot run, and the ops that TensorFlow lacks."
    )
    # Of no session: nothing runs, and the division of the plan is all that is told.
    engine: str | None = option(
        metavar="NAME", help="Report the nodes of --fetch that this engine would run, and why it leaves the others."
    )
    races: bool = option(
        excludes="--missing --optimized", help="List races in each run: reads, writes and random draws that no path orders."
    )
    partition: bool = option(
        excludes="--races --missing --optimized --engine",
        help="Report the device of each node on a cluster, and the tensors that cross between devices in a step.",
    )
    signature: str | None = signature_option()
    # The others are about the nodes of the file, which a run sees.
    raw: bool = raw_option(excludes="--missing --races --optimized --engine --partition --fetch")
    sizes: SizeOptions = part(
        SizeOptions,
        excluding("--shape --batch", "--missing", "the ops do not depend on sizes"),
        excluding("--shape --batch", "--races", "races do not depend on sizes"),
    )
    format_: str = format_option("table", "json", "csv")
    reader: GraphReader = part(GraphReader)

    @property
    def about_runs(self) -> bool:
        """Return True if the fetches form a run, rather than a question about a node."""
        return self.races or self.partition or self.engine is not None


command = command_of(ExplainOptions, "explain_job.run")
