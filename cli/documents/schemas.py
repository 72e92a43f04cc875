"""The names of all schemas, and the types that describe them."""

from __future__ import annotations

from typing import Final, NamedTuple


class Schema(NamedTuple):
    """A kind of JSON document."""

    type: str
    """The module and class that describe the document."""
    command: str
    """A command line that prints the document."""


_FLOPS = "cli.documents.flop_counts"
_GRAPHS = "cli.documents.graphs"
_RUNS = "cli.documents.runs"
SCHEMAS: Final = {
    "tfg.cache/1": Schema("core.engines.remembered_choices.CacheReport", "tfg cache"),
    "tfg.check/1": Schema(f"{_GRAPHS}.Check", "tfg check GRAPH..."),
    "tfg.check.code/1": Schema("core.explaining.problem_codes.ProblemCode", "tfg check --explain CODE"),
    "tfg.checkpoint/1": Schema(f"{_RUNS}.CheckpointTensors", "tfg checkpoint PREFIX"),
    "tfg.checkpoint.compare/1": Schema("formats.api.checkpoints.StateComparison", "tfg checkpoint PREFIX --compare OTHER"),
    "tfg.checkpoint.for/1": Schema("formats.api.checkpoints.CheckpointMatch", "tfg checkpoint PREFIX --for GRAPH"),
    "tfg.checkpoint.values/1": Schema(f"{_RUNS}.CheckpointValues", "tfg checkpoint PREFIX --values TENSOR"),
    "tfg.cluster/1": Schema("formats.cluster.survey.Survey", "tfg cluster ADDRESS"),
    "tfg.compare/1": Schema(f"{_RUNS}.Compare", "tfg compare BEFORE AFTER"),
    "tfg.diff/1": Schema("core.comparing.graph_diff.GraphDiff", "tfg diff BEFORE AFTER"),
    "tfg.dump/1": Schema(f"{_GRAPHS}.Dump", "tfg dump GRAPH"),
    "tfg.dump.elements/1": Schema(f"{_RUNS}.Steps", "tfg dump GRAPH --elements ITERATOR"),
    "tfg.dump.snapshots/1": Schema(f"{_GRAPHS}.Snapshots", "tfg dump GRAPH GRAPH"),
    "tfg.dump.stages/1": Schema(f"{_GRAPHS}.Stages", "tfg dump GRAPH --stages"),
    "tfg.explain/1": Schema("core.explaining.graph_facts.GraphFacts", "tfg explain GRAPH"),
    "tfg.explain.engine/1": Schema("core.engines.engine_report.EngineReport", "tfg explain GRAPH --engine NAME"),
    "tfg.explain.missing/1": Schema(f"{_GRAPHS}.MissingOps", "tfg explain GRAPH --missing"),
    "tfg.explain.nodes/1": Schema(f"{_GRAPHS}.Nodes", "tfg explain GRAPH NODE"),
    "tfg.explain.op/1": Schema(f"{_GRAPHS}.OpDetails", "tfg explain OP"),
    "tfg.explain.optimized/1": Schema(f"{_GRAPHS}.Outcomes", "tfg explain GRAPH NODE --optimized"),
    "tfg.explain.partition/1": Schema("core.explaining.device_partition.PartitionFacts", "tfg explain GRAPH --partition"),
    "tfg.explain.recording/1": Schema("formats.recordings.Recording", "tfg explain EVENTS"),
    "tfg.explain.races/1": Schema(f"{_GRAPHS}.Races", "tfg explain GRAPH --races"),
    "tfg.flops/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH"),
    "tfg.flops.cluster/1": Schema("core.flops.timings.ClusterMeasurement", "tfg flops GRAPH --measured --on grpc://HOST:PORT"),
    "tfg.flops.layers/1": Schema(f"{_FLOPS}.CountByOp", "tfg flops GRAPH --view layer"),
    "tfg.flops.measured/1": Schema(f"{_FLOPS}.MeasuredData", "tfg flops GRAPH --measured"),
    "tfg.flops.nodes/1": Schema(f"{_FLOPS}.CountByNode", "tfg flops GRAPH --view node"),
    "tfg.flops.scopes/1": Schema(f"{_FLOPS}.CountByScope", "tfg flops GRAPH --view scope"),
    "tfg.flops.tfprof/1": Schema(f"{_FLOPS}.Differences", "tfg flops GRAPH --compat tfprof"),
    "tfg.flops.timings/1": Schema(f"{_FLOPS}.Timings", "tfg flops GRAPH --run-metadata FILE"),
    "tfg.flops.variables/1": Schema(f"{_FLOPS}.VariableCosts", "tfg flops GRAPH --per-variable"),
    "tfg.grad/1": Schema(f"{_RUNS}.Gradients", "tfg grad GRAPH --y TENSOR --x TENSOR"),
    "tfg.grad.check/1": Schema(f"{_RUNS}.GradientChecks", "tfg grad GRAPH --y TENSOR --x TENSOR --check"),
    "tfg.grad.values/1": Schema(f"{_RUNS}.Derivatives", "tfg grad GRAPH --y TENSOR --x TENSOR --jacobian"),
    "tfg.layers/1": Schema("core.flops.model_layers.LayersReport", "tfg layers GRAPH"),
    "tfg.layers.tree/1": Schema("core.flops.model_layers.LayerTree", "tfg layers GRAPH --tree"),
    "tfg.ops/1": Schema(f"{_GRAPHS}.Ops", "tfg ops"),
    "tfg.ops.coverage/1": Schema(f"{_GRAPHS}.Coverage", "tfg ops --coverage"),
    "tfg.ops.details/1": Schema(f"{_GRAPHS}.OpDetails", "tfg ops NAME"),
    "tfg.ops.formulas/1": Schema(f"{_GRAPHS}.Formulas", "tfg ops --flops"),
    "tfg.ops.missing/1": Schema(f"{_GRAPHS}.MissingParts", "tfg ops --missing GRAPH"),
    "tfg.optimize/1": Schema(f"{_RUNS}.Optimize", "tfg optimize GRAPH"),
    "tfg.optimize.passes/1": Schema(f"{_RUNS}.Passes", "tfg optimize --list"),
    "tfg.path/1": Schema("core.explaining.node_paths.NodePath", "tfg path GRAPH A B"),
    "tfg.run/1": Schema(f"{_RUNS}.Steps", "tfg run GRAPH --fetch TENSOR"),
    "tfg.run.choices/1": Schema(f"{_RUNS}.Choices", "tfg run GRAPH"),
    "tfg.run.result/1": Schema(f"{_RUNS}.Result", "tfg run GRAPH --each PATTERN --output FILE.jsonl"),
    "tfg.samples/1": Schema(f"{_GRAPHS}.Samples", "tfg samples"),
    "tfg.scalars/1": Schema("formats.recordings.EventLog", "tfg scalars LOGS"),
    "tfg.train/1": Schema(f"{_RUNS}.Train", "tfg train GRAPH --loss TENSOR"),
    "tfg.train.least_squares/1": Schema("formats.api.training_runs.FitReport", "tfg train GRAPH --loss TENSOR --optimizer lm"),
}
"""Each schema, by its name. The number behind the slash grows when a key goes or changes its meaning, not for new keys."""
