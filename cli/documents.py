"""The JSON of the commands: the names of all schemas, and the types that describe the documents.

Reports that are documents by themselves, such as `GraphDiff`, lie in `core` and `formats`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, NotRequired, TypedDict

# Imported at run time, since scripts/list_json.py looks types up among the names of this module. Commands import the module
# only for type checkers, so none waits for NumPy.
import numpy as np

if TYPE_CHECKING:
    from ..core.comparing.element_differences import Comparison
    from ..core.comparing.value_comparison import NodeComparison, TimeComparison
    from ..core.comparing.verify_rewrite import Drawn, LoneRefusal
    from ..core.engines.engine_report import EngineReport
    from ..core.explaining.graph_facts import TensorFacts
    from ..core.explaining.node_listing import NodeRecord
    from ..core.graph.metagraph import Signature
    from ..core.passes.pipeline import OptimizeReport
    from ..core.runtime.session.runner import StepResult
    from ..core.support.versions import Versions
    from ..core.training.trainer import Progress
    from ..formats.api.checkpoints import TensorRow


# These are dictionaries and not dataclasses, since options add keys: a key that is not asked for is absent, and a field of a
# dataclass would be null.


class Result(TypedDict):
    """The result for one of many inputs, a line of a file."""

    name: str
    """The name of the input, with the values of --sweep."""
    steps: Sequence[StepResult]
    """The steps that fetched."""


class Choices(TypedDict):
    """What can be run of a graph."""

    signatures: Sequence[Signature]
    """The signatures of a SavedModel."""
    inputs: Sequence[TensorFacts]
    """The placeholders."""
    outputs: Sequence[TensorFacts]
    """The tensors that no node reads."""
    next_commands: Sequence[str]
    """Command lines that run the graph."""


class CheckpointTensors(TypedDict):
    """The tensors of a checkpoint."""

    checkpoint: str
    """The prefix or the file as given."""
    tensors: Sequence[TensorRow]
    """The chosen tensors by name."""


class CheckpointValues(TypedDict):
    """Values of tensors of a checkpoint."""

    checkpoint: str
    """The prefix or the file as given."""
    values: Mapping[str, np.ndarray]
    """The elements of each tensor, by its name."""


class Compare(TypedDict):
    """How far the values of two graphs differ."""

    first: NodeComparison | None
    """The first value that differs, in the order of execution; null if all agree."""
    first_nonfinite: NodeComparison | None
    """The first value with a NaN or an infinity in the second graph and not in the first; null if there is none."""
    compared: int
    """How many values both graphs have."""
    only_before: Sequence[str]
    """Nodes of the first graph without a counterpart."""
    only_after: Sequence[str]
    """Nodes of the second graph without a counterpart."""
    engines: NotRequired[Sequence[EngineReport]]
    """With --engines: what each engine ran."""
    times: NotRequired[TimeComparison]
    """With --measured: the times of the nodes."""
    nodes: NotRequired[Sequence[NodeComparison]]
    """With --all: every value that was compared."""


class Gradient(TypedDict):
    """The gradient with respect to a tensor."""

    x: str
    """The tensor."""
    gradient: str | None
    """The tensor that is the gradient; null if no y depends on x."""
    value: NotRequired[np.ndarray]
    """With --feed, --init or --state: the gradient's elements."""


class DerivativeValues(TypedDict):
    """Derivatives of y with respect to x."""

    y: str
    """The tensor that is differentiated."""
    x: str
    """The tensor to differentiate with respect to."""
    jacobian: NotRequired[np.ndarray]
    """With --jacobian: all derivatives; the dimensions of y before the dimensions of x."""
    vjp: NotRequired[np.ndarray]
    """With --vjp: v^T J, shaped as x."""
    jvp: NotRequired[np.ndarray]
    """With --jvp: J v, shaped as y."""
    hessian_vector: NotRequired[np.ndarray]
    """With --hessian-vector: H v, shaped as x."""


class Optimize(TypedDict):
    """What the passes did to a graph."""

    report: OptimizeReport
    """The passes and their effect."""
    verification: Sequence[Comparison]
    """With --verify: an entry for each fetch; empty without."""
    drawn: NotRequired[Drawn]
    """With --verify: the feeds that were drawn."""
    refusals: NotRequired[Sequence[LoneRefusal]]
    """With --verify: feeds that only one of the two graphs refuses."""
    unverified: NotRequired[str]
    """Why the graph was not verified, where --unverified let it be written all the same."""


class Train(TypedDict):
    """A training by gradient steps."""

    optimizer: str
    """The name of the optimizer."""
    variables: Sequence[str]
    """The variables that were trained."""
    train_op: str
    """The op that makes a step."""
    init_op: str
    """The op that initializes what training added."""
    history: Sequence[Progress]
    """The loss of each step, before the step's update."""
    stages: Mapping[str, Sequence[str]]
    """With --dump-stages: the nodes that each phase added, by the phase's name; empty without."""


class Dump(TypedDict):
    """The nodes of a graph."""

    graph: str
    """The path as given, or the name of the stage."""
    versions: Versions | None
    """The versions of GraphDef that the graph was written for; null for a graph of a script that states none."""
    nodes: Sequence[NodeRecord]
    """The chosen nodes."""
    functions: Mapping[str, Sequence[NodeRecord]]
    """The chosen nodes of each function, by the name of the function."""


class Sample(TypedDict):
    """A sample graph."""

    name: str
    """The name, which `tfg samples NAME` takes."""
    path: str
    """Where the file or the folder is."""


class Schema(NamedTuple):
    """A kind of JSON document; with a `key`, the document has this key alone, whose value is a list."""

    type: str
    """The module and class that describe the document, or an element of the list."""
    command: str
    """A command line that prints the document."""
    key: str = ""
    meaning: str = ""
    """The meaning of the key."""


# The types are named as text: a caller who looks for the name of a schema does not import the modules of all reports.
_HERE: Final = "cli.documents"
_FLOPS: Final = "cli.jobs.flops_job"
SCHEMAS: Final = {
    "tfg.cache/1": Schema("core.engines.remembered_choices.CacheReport", "tfg cache"),
    "tfg.check/1": Schema("cli.jobs.check_job.Check", "tfg check GRAPH..."),
    "tfg.check.code/1": Schema("core.explaining.problem_codes.ProblemCode", "tfg check --explain CODE"),
    "tfg.checkpoint/1": Schema(f"{_HERE}.CheckpointTensors", "tfg checkpoint PREFIX"),
    "tfg.checkpoint.compare/1": Schema("formats.api.checkpoints.StateComparison", "tfg checkpoint PREFIX --compare OTHER"),
    "tfg.checkpoint.for/1": Schema("formats.api.checkpoints.CheckpointMatch", "tfg checkpoint PREFIX --for GRAPH"),
    "tfg.checkpoint.values/1": Schema(f"{_HERE}.CheckpointValues", "tfg checkpoint PREFIX --values TENSOR"),
    "tfg.cluster/1": Schema("formats.cluster.survey.Survey", "tfg cluster ADDRESS"),
    "tfg.compare/1": Schema(f"{_HERE}.Compare", "tfg compare BEFORE AFTER"),
    "tfg.diff/1": Schema("core.comparing.graph_diff.GraphDiff", "tfg diff BEFORE AFTER"),
    "tfg.dump/1": Schema(f"{_HERE}.Dump", "tfg dump GRAPH"),
    # Each element of an iterator is told as a step of a run that fetched it.
    "tfg.dump.elements/1": Schema("core.runtime.session.runner.StepResult", "tfg dump GRAPH --elements ITERATOR", "steps",
        "The fetched values of each step; empty if nothing was fetched."),
    "tfg.dump.snapshots/1": Schema("core.comparing.graph_diff.Snapshot", "tfg dump GRAPH GRAPH", "snapshots",
        "What each stage of a construction, or each pass, changed, in their order."),
    "tfg.dump.stages/1": Schema("core.explaining.stages.RecoveredStage", "tfg dump GRAPH --stages", "stages",
        "The stages of construction, recovered from a finished graph, in their order."),
    "tfg.explain/1": Schema("core.explaining.graph_facts.GraphFacts", "tfg explain GRAPH"),
    "tfg.explain.engine/1": Schema("core.engines.engine_report.EngineReport", "tfg explain GRAPH --engine NAME"),
    "tfg.explain.missing/1": Schema("core.explaining.graph_facts.MissingOp", "tfg explain GRAPH --missing", "missing",
        "The ops of a graph that tfg cannot run; empty if every op has a kernel."),
    "tfg.explain.nodes/1": Schema("core.explaining.node_facts.NodeFacts", "tfg explain GRAPH NODE", "nodes",
        "The meaning of nodes, in the order of the command line."),
    # As `tfg ops NAME`, under a name of its own: the first word of a schema is the command that printed it.
    "tfg.explain.op/1": Schema("core.op_libraries.op_listing.OpDetail", "tfg explain OP", "ops", "What tfg has for an op."),
    "tfg.explain.optimized/1": Schema("core.passes.pipeline.NodeFate", "tfg explain GRAPH NODE --optimized", "nodes",
        "What becomes of nodes when the graph is optimized, in the order of the command line."),
    "tfg.explain.partition/1": Schema("core.explaining.device_partition.PartitionFacts", "tfg explain GRAPH --partition"),
    "tfg.explain.recording/1": Schema("formats.recordings.Recording", "tfg explain EVENTS"),
    "tfg.explain.races/1": Schema("core.explaining.race_report.RunRaces", "tfg explain GRAPH --races", "runs",
        "Accesses to state whose order no path settles, an entry for each run."),
    "tfg.flops/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH"),
    "tfg.flops.cluster/1": Schema("core.flops.timings.ClusterMeasurement", "tfg flops GRAPH --measured --on grpc://HOST:PORT"),
    "tfg.flops.layers/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH --view layer"),
    "tfg.flops.measured/1": Schema(f"{_FLOPS}.MeasuredData", "tfg flops GRAPH --measured"),
    "tfg.flops.nodes/1": Schema(f"{_FLOPS}.CountByNode", "tfg flops GRAPH --view node"),
    "tfg.flops.scopes/1": Schema(f"{_FLOPS}.CountByScope", "tfg flops GRAPH --view scope"),
    "tfg.flops.tfprof/1": Schema("core.flops.tfprof.ProfilerDifference", "tfg flops GRAPH --compat tfprof", "ops",
        "The counts of tf.profiler beside these, op by op."),
    "tfg.flops.timings/1": Schema("core.flops.timings.Timing", "tfg flops GRAPH --run-metadata FILE", "timings",
        "Times that TensorFlow measured, beside the counts, the slowest node first."),
    "tfg.flops.variables/1": Schema(f"{_FLOPS}.VariableCost", "tfg flops GRAPH --per-variable", "variables",
        "The backward pass by variable, the largest FLOPs first."),
    "tfg.grad/1": Schema(f"{_HERE}.Gradient", "tfg grad GRAPH --y TENSOR --x TENSOR", "gradients",
        "The gradients that were added to a graph, an entry for each x."),
    "tfg.grad.check/1": Schema("core.gradients.jacobian.GradientCheck", "tfg grad GRAPH --y TENSOR --x TENSOR --check",
        "checks", "Gradients beside central differences, an entry for each pair of y and x."),
    "tfg.grad.values/1": Schema(f"{_HERE}.DerivativeValues", "tfg grad GRAPH --y TENSOR --x TENSOR --jacobian", "derivatives",
        "Values of derivatives, an entry for each x."),
    "tfg.layers/1": Schema("core.flops.model_layers.LayersReport", "tfg layers GRAPH"),
    "tfg.layers.tree/1": Schema("core.flops.model_layers.LayerTree", "tfg layers GRAPH --tree"),
    "tfg.ops/1": Schema("core.op_libraries.op_listing.OpSummary", "tfg ops", "ops", "The ops by name."),
    "tfg.ops.coverage/1": Schema("core.op_libraries.op_listing.OpCoverage", "tfg ops --coverage"),
    "tfg.ops.details/1": Schema("core.op_libraries.op_listing.OpDetail", "tfg ops NAME", "ops",
        "What tfg has for ops, in the order of the command line."),
    "tfg.ops.formulas/1": Schema("core.flops.formulas.Formula", "tfg ops --flops", "formulas",
        "How the FLOPs of ops are counted, by family."),
    "tfg.ops.missing/1": Schema("core.op_libraries.op_listing.MissingFor", "tfg ops --missing GRAPH", "missing",
        "What tfg lacks for the ops of a graph, an entry for each op that lacks a part."),
    "tfg.optimize/1": Schema(f"{_HERE}.Optimize", "tfg optimize GRAPH"),
    "tfg.optimize.passes/1": Schema("core.passes.pass_listing.PassFacts", "tfg optimize --list", "passes",
        "All passes in their order."),
    "tfg.path/1": Schema("core.explaining.node_paths.NodePath", "tfg path GRAPH A B"),
    "tfg.run/1": Schema("core.runtime.session.runner.StepResult", "tfg run GRAPH --fetch TENSOR", "steps",
        "The fetched values of each step; empty if nothing was fetched."),
    "tfg.run.choices/1": Schema(f"{_HERE}.Choices", "tfg run GRAPH"),
    "tfg.run.result/1": Schema(f"{_HERE}.Result", "tfg run GRAPH --each PATTERN --output FILE.jsonl"),
    "tfg.samples/1": Schema(f"{_HERE}.Sample", "tfg samples", "samples", "The sample graphs that come with tfg, by name."),
    "tfg.scalars/1": Schema("formats.recordings.EventLog", "tfg scalars LOGS"),
    "tfg.train/1": Schema(f"{_HERE}.Train", "tfg train GRAPH --loss TENSOR"),
    "tfg.train.least_squares/1": Schema("formats.api.training_runs.FitReport", "tfg train GRAPH --loss TENSOR --optimizer lm"),
}  # fmt: skip
"""Each schema, by its name. The number behind the slash grows when a key goes or changes its meaning, not for new keys."""
