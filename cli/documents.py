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
    from ..core.comparing.graph_diff import Snapshot
    from ..core.comparing.value_comparison import NodeComparison, TimeComparison
    from ..core.comparing.verify_rewrite import Drawn, LoneRefusal
    from ..core.engines.engine_report import EngineReport
    from ..core.explaining.graph_facts import MissingOp, TensorFacts
    from ..core.explaining.node_facts import NodeFacts
    from ..core.explaining.node_listing import NodeRecord
    from ..core.explaining.race_report import RunRaces
    from ..core.explaining.stages import RecoveredStage
    from ..core.flops.formulas import Formula
    from ..core.gradients.jacobian import GradientCheck
    from ..core.graph.metagraph import Signature
    from ..core.op_libraries.op_listing import FamilyCoverage, MissingFor, OpDetail, OpSummary
    from ..core.passes.pass_listing import PassFacts
    from ..core.passes.pipeline import NodeFate, OptimizeReport
    from ..core.runtime.session.runner import StepResult
    from ..core.support.versions import Versions
    from ..core.training.trainer import Progress
    from ..formats.api.checkpoints import TensorRow


# These are dictionaries and not dataclasses, since options add keys: a key that is not asked for is absent, and a field of a
# dataclass would be null.


class Steps(TypedDict):
    """The fetched values."""

    steps: Sequence[StepResult]
    """The steps that fetched; empty if nothing was fetched."""


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


class Gradients(TypedDict):
    """The gradients that were added to a graph."""

    gradients: Sequence[Gradient]
    """An entry for each x."""


class GradientChecks(TypedDict):
    """Gradients beside central differences."""

    checks: Sequence[GradientCheck]
    """An entry for each pair of y and x."""


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


class Derivatives(TypedDict):
    """Values of derivatives."""

    derivatives: Sequence[DerivativeValues]
    """An entry for each x."""


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


class Passes(TypedDict):
    """All passes."""

    passes: Sequence[PassFacts]
    """The passes in their order."""


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


class Snapshots(TypedDict):
    """What each stage of a construction, or each pass, changed."""

    snapshots: Sequence[Snapshot]
    """The stages in their order."""


class Stages(TypedDict):
    """The stages of construction, recovered from a finished graph."""

    stages: Sequence[RecoveredStage]
    """The stages in their order."""


class MissingOps(TypedDict):
    """The ops of a graph that tfg cannot run."""

    missing: Sequence[MissingOp]
    """An entry for each op; empty if every op has a kernel."""


class Nodes(TypedDict):
    """The meaning of nodes."""

    nodes: Sequence[NodeFacts]
    """The nodes in the order of the command line."""


class Outcomes(TypedDict):
    """What becomes of nodes when the graph is optimized."""

    nodes: Sequence[NodeFate]
    """The nodes in the order of the command line."""


class Races(TypedDict):
    """Accesses to state whose order no path settles."""

    runs: Sequence[RunRaces]
    """An entry for each run."""


class OpDetails(TypedDict):
    """What tfg has for ops."""

    ops: Sequence[OpDetail]
    """The ops in the order of the command line."""


class Ops(TypedDict):
    """A list of ops."""

    ops: Sequence[OpSummary]
    """The ops by name."""


class Coverage(TypedDict):
    """How many ops have what."""

    families: Sequence[FamilyCoverage]
    """The counts of each family."""
    total: FamilyCoverage
    """The counts of all families together."""


class Formulas(TypedDict):
    """How the FLOPs of ops are counted."""

    formulas: Sequence[Formula]
    """The formulas by family."""


class MissingParts(TypedDict):
    """What tfg lacks for the ops of a graph."""

    missing: Sequence[MissingFor]
    """An entry for each op that lacks a part."""


class Sample(TypedDict):
    """A sample graph."""

    name: str
    """The name, which `tfg samples NAME` takes."""
    path: str
    """Where the file or the folder is."""


class Samples(TypedDict):
    """The sample graphs that come with tfg."""

    samples: Sequence[Sample]
    """The samples by name."""


class Schema(NamedTuple):
    """A kind of JSON document."""

    type: str
    """The module and class that describe the document."""
    command: str
    """A command line that prints the document."""


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
    "tfg.dump.elements/1": Schema(f"{_HERE}.Steps", "tfg dump GRAPH --elements ITERATOR"),
    "tfg.dump.snapshots/1": Schema(f"{_HERE}.Snapshots", "tfg dump GRAPH GRAPH"),
    "tfg.dump.stages/1": Schema(f"{_HERE}.Stages", "tfg dump GRAPH --stages"),
    "tfg.explain/1": Schema("core.explaining.graph_facts.GraphFacts", "tfg explain GRAPH"),
    "tfg.explain.engine/1": Schema("core.engines.engine_report.EngineReport", "tfg explain GRAPH --engine NAME"),
    "tfg.explain.missing/1": Schema(f"{_HERE}.MissingOps", "tfg explain GRAPH --missing"),
    "tfg.explain.nodes/1": Schema(f"{_HERE}.Nodes", "tfg explain GRAPH NODE"),
    # As `tfg ops NAME`, under a name of its own: the first word of a schema is the command that printed it.
    "tfg.explain.op/1": Schema(f"{_HERE}.OpDetails", "tfg explain OP"),
    "tfg.explain.optimized/1": Schema(f"{_HERE}.Outcomes", "tfg explain GRAPH NODE --optimized"),
    "tfg.explain.partition/1": Schema("core.explaining.device_partition.PartitionFacts", "tfg explain GRAPH --partition"),
    "tfg.explain.recording/1": Schema("formats.recordings.Recording", "tfg explain EVENTS"),
    "tfg.explain.races/1": Schema(f"{_HERE}.Races", "tfg explain GRAPH --races"),
    "tfg.flops/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH"),
    "tfg.flops.cluster/1": Schema("core.flops.timings.ClusterMeasurement", "tfg flops GRAPH --measured --on grpc://HOST:PORT"),
    "tfg.flops.layers/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH --view layer"),
    "tfg.flops.measured/1": Schema(f"{_FLOPS}.MeasuredData", "tfg flops GRAPH --measured"),
    "tfg.flops.nodes/1": Schema(f"{_FLOPS}.CountByNode", "tfg flops GRAPH --view node"),
    "tfg.flops.scopes/1": Schema(f"{_FLOPS}.CountByScope", "tfg flops GRAPH --view scope"),
    "tfg.flops.tfprof/1": Schema(f"{_FLOPS}.Differences", "tfg flops GRAPH --compat tfprof"),
    "tfg.flops.timings/1": Schema(f"{_FLOPS}.Timings", "tfg flops GRAPH --run-metadata FILE"),
    "tfg.flops.variables/1": Schema(f"{_FLOPS}.VariableCosts", "tfg flops GRAPH --per-variable"),
    "tfg.grad/1": Schema(f"{_HERE}.Gradients", "tfg grad GRAPH --y TENSOR --x TENSOR"),
    "tfg.grad.check/1": Schema(f"{_HERE}.GradientChecks", "tfg grad GRAPH --y TENSOR --x TENSOR --check"),
    "tfg.grad.values/1": Schema(f"{_HERE}.Derivatives", "tfg grad GRAPH --y TENSOR --x TENSOR --jacobian"),
    "tfg.layers/1": Schema("core.flops.model_layers.LayersReport", "tfg layers GRAPH"),
    "tfg.layers.tree/1": Schema("core.flops.model_layers.LayerTree", "tfg layers GRAPH --tree"),
    "tfg.ops/1": Schema(f"{_HERE}.Ops", "tfg ops"),
    "tfg.ops.coverage/1": Schema(f"{_HERE}.Coverage", "tfg ops --coverage"),
    "tfg.ops.details/1": Schema(f"{_HERE}.OpDetails", "tfg ops NAME"),
    "tfg.ops.formulas/1": Schema(f"{_HERE}.Formulas", "tfg ops --flops"),
    "tfg.ops.missing/1": Schema(f"{_HERE}.MissingParts", "tfg ops --missing GRAPH"),
    "tfg.optimize/1": Schema(f"{_HERE}.Optimize", "tfg optimize GRAPH"),
    "tfg.optimize.passes/1": Schema(f"{_HERE}.Passes", "tfg optimize --list"),
    "tfg.path/1": Schema("core.explaining.node_paths.NodePath", "tfg path GRAPH A B"),
    "tfg.run/1": Schema(f"{_HERE}.Steps", "tfg run GRAPH --fetch TENSOR"),
    "tfg.run.choices/1": Schema(f"{_HERE}.Choices", "tfg run GRAPH"),
    "tfg.run.result/1": Schema(f"{_HERE}.Result", "tfg run GRAPH --each PATTERN --output FILE.jsonl"),
    "tfg.samples/1": Schema(f"{_HERE}.Samples", "tfg samples"),
    "tfg.scalars/1": Schema("formats.recordings.EventLog", "tfg scalars LOGS"),
    "tfg.train/1": Schema(f"{_HERE}.Train", "tfg train GRAPH --loss TENSOR"),
    "tfg.train.least_squares/1": Schema("formats.api.training_runs.FitReport", "tfg train GRAPH --loss TENSOR --optimizer lm"),
}
"""Each schema, by its name. The number behind the slash grows when a key goes or changes its meaning, not for new keys."""
