"""tfg: inspect, explain, run, train and rewrite TensorFlow graphs, without installing TensorFlow."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # built in, so that Ctrl-C cannot fall into its import
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any


def _is_command() -> bool:
    """Return True where this process is `tfg` or `python -m tfg`."""
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    if program == "-m":
        return sys.orig_argv[sys.orig_argv.index("-m") :][1:2] == ["tfg"] if "-m" in sys.orig_argv else False
    return os.path.splitext(os.path.basename(program))[0] == "tfg"


if _is_command():
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # ends the process; a traceback helps nobody
        from .core.support import early_exit

        early_exit.quit_on_signals()
    from .core.support.deferred_imports import defer_imports

    defer_imports()

from .core.codecs import message_types  # noqa: E402
from .core.graph import graph_services  # noqa: E402
from .core.runtime.guards import openblas_kernels  # noqa: E402
from .core.runtime.state import checkpoint_store  # noqa: E402
from .core.support import display, errors  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .core.building.builder import GraphBuilder, run_script
    from .core.building.built_variables import BuiltVariable
    from .core.comparing.element_differences import Comparison
    from .core.comparing.graph_diff import GraphDiff, Snapshot, diff_snapshots
    from .core.comparing.value_comparison import GraphComparison
    from .core.engines.engine_report import EngineReport
    from .core.engines.remembered_choices import CachedChoice, CacheReport, describe_cache
    from .core.explaining.device_partition import PartitionFacts, explain_partition
    from .core.explaining.graph_facts import GraphFacts, MissingOp, explain, missing_ops
    from .core.explaining.node_facts import NodeFacts
    from .core.explaining.node_listing import NodeFilter, NodeListing, list_nodes
    from .core.explaining.node_paths import NodePath, PathStep
    from .core.explaining.problem_codes import ProblemCode
    from .core.explaining.problems import Problem
    from .core.explaining.race_report import RunRaces, explain_races
    from .core.explaining.stages import RecoveredStage, recover_stages
    from .core.flops import count_flops
    from .core.flops.flops_report import FlopsReport, NodeCost, Section
    from .core.flops.formulas import Formula, flops_formulas
    from .core.flops.measured import KernelRecorder, Measurement
    from .core.flops.model_layers import Layer, LayerBlock, LayersReport, LayerTree
    from .core.flops.timings import Timing
    from .core.flops.views import FlopsRow
    from .core.gradients import gradients
    from .core.gradients.backward import override_gradients
    from .core.gradients.jacobian import GradientCheck, check_gradient, hessian_vector, jacobian, jvp, vjp
    from .core.graph.graph import Function, Graph, Node, Output
    from .core.graph.metagraph import Signature, SignatureTensor
    from .core.model.model_view import ModelView, SourceNode, model_view
    from .core.op_libraries.library_loading import load_op_library
    from .core.op_libraries.op_listing import MissingFor, OpCoverage, OpDetail, OpSummary, missing_parts, op_coverage, ops
    from .core.op_libraries.op_map import map_ops
    from .core.op_libraries.wrappers import write_wrappers
    from .core.passes.base.accuracy import Accuracy
    from .core.passes.pass_listing import PassFacts, list_passes
    from .core.passes.pipeline import (
        ClusterFacts,
        NodeFate,
        Optimized,
        OptimizeReport,
        inline_functions,
        node_fates,
        optimization_stages,
        optimize,
    )
    from .core.runtime.guards.limits import check_numerics
    from .core.runtime.optimize.tiers import Tier
    from .core.runtime.session.function_signatures import call_function
    from .core.runtime.session.runner import Restored, StepResult
    from .core.runtime.session.session import Session
    from .core.runtime.session.session_like import SessionLike
    from .core.runtime.session.variable_values import VariableValues
    from .core.runtime.state.file_access import FileAccess
    from .core.support.display import Rows
    from .core.training.losses import NamedLoss
    from .core.training.optimizers import Optimizer, find_optimizer, optimizer_name
    from .core.training.train_step import Clipping
    from .core.training.trainer import Iteration, LeastSquares, Progress, Trainer
    from .core.transforms.subgraphs import clear_devices, strip_default_attrs
    from .core.types.dtypes import DType
    from .core.types.shapes import Shape
    from .core.types.tensors import Tensor
    from .formats import load, save
    from .formats.api.analyses import check, diff, explain_engine, path
    from .formats.api.callable_model import Model
    from .formats.api.changes import (
        ForInference,
        ForTensorflow,
        Unfrozen,
        convert,
        extract,
        fill_placeholders,
        for_tensorflow,
        freeze,
        reduce,
        to_inference,
        unfreeze,
    )
    from .formats.api.checkpoints import (
        Checkpoint,
        CheckpointMatch,
        StateComparison,
        TensorRow,
        average_checkpoints,
        compare_checkpoints,
        match_checkpoint,
        read_checkpoint,
        write_checkpoint,
    )
    from .formats.api.comparisons import compare, compare_states
    from .formats.api.counting import FlopsCounter, flops, flops_rows, layers, profile
    from .formats.api.drawing import Drawing, draw, draw_each
    from .formats.api.dumping import RecordStream, first_elements, stream_nodes
    from .formats.api.joins import Joined, append, join, prepend
    from .formats.api.model_export import OnnxExport, StableHloExport, TfjsExport, to_jax
    from .formats.api.model_saving import save_model
    from .formats.api.outputs import Exposed, expose
    from .formats.api.partial_loading import load_for_passes, load_part
    from .formats.api.prepared_sessions import engine_runtime, initialize, restore
    from .formats.api.session_setup import SessionSetup
    from .formats.api.step_results import TopClasses, read_labels, top_classes
    from .formats.api.training_runs import FitReport, TrainingReport, fit, train
    from .formats.api.verification import Verification, verify
    from .formats.api.viewing import GraphPage, view
    from .formats.batches.batch_runs import BatchProgress, BatchReport, FailedInput, run_batch
    from .formats.batches.each_inputs import InputResult, run_each
    from .formats.batches.table_batches import map_batches
    from .formats.cluster.cluster_session import ClusterSession
    from .formats.cluster.survey import Survey, describe_cluster
    from .formats.recordings import EventLog, Recording, describe_recording, read_events

__version__ = "0.1.0"

_LAZY = {
    "Accuracy": "core.passes.base.accuracy",
    "BatchProgress": "formats.batches.batch_runs",
    "BatchReport": "formats.batches.batch_runs",
    "BuiltVariable": "core.building.built_variables",
    "CacheReport": "core.engines.remembered_choices",
    "CachedChoice": "core.engines.remembered_choices",
    "Checkpoint": "formats.api.checkpoints",
    "CheckpointMatch": "formats.api.checkpoints",
    "Clipping": "core.training.train_step",
    "ClusterFacts": "core.passes.pipeline",
    "ClusterSession": "formats.cluster.cluster_session",
    "Comparison": "core.comparing.element_differences",
    "DType": "core.types.dtypes",
    "Drawing": "formats.api.drawing",
    "EngineReport": "core.engines.engine_report",
    "EventLog": "formats.recordings",
    "Exposed": "formats.api.outputs",
    "FailedInput": "formats.batches.batch_runs",
    "FileAccess": "core.runtime.state.file_access",
    "FitReport": "formats.api.training_runs",
    "FlopsCounter": "formats.api.counting",
    "FlopsReport": "core.flops.flops_report",
    "FlopsRow": "core.flops.views",
    "ForInference": "formats.api.changes",
    "ForTensorflow": "formats.api.changes",
    "Formula": "core.flops.formulas",
    "Function": "core.graph.graph",
    "GradientCheck": "core.gradients.jacobian",
    "Graph": "core.graph.graph",
    "GraphBuilder": "core.building.builder",
    "GraphComparison": "core.comparing.value_comparison",
    "GraphDiff": "core.comparing.graph_diff",
    "GraphFacts": "core.explaining.graph_facts",
    "GraphPage": "formats.api.viewing",
    "InputResult": "formats.batches.each_inputs",
    "Iteration": "core.training.trainer",
    "Joined": "formats.api.joins",
    "KernelRecorder": "core.flops.measured",
    "Layer": "core.flops.model_layers",
    "LayerBlock": "core.flops.model_layers",
    "LayerTree": "core.flops.model_layers",
    "LayersReport": "core.flops.model_layers",
    "LeastSquares": "core.training.trainer",
    "Measurement": "core.flops.measured",
    "MissingFor": "core.op_libraries.op_listing",
    "MissingOp": "core.explaining.graph_facts",
    "Model": "formats.api.callable_model",
    "ModelView": "core.model.model_view",
    "NamedLoss": "core.training.losses",
    "Node": "core.graph.graph",
    "NodeCost": "core.flops.flops_report",
    "NodeFacts": "core.explaining.node_facts",
    "NodeFate": "core.passes.pipeline",
    "NodeFilter": "core.explaining.node_listing",
    "NodeListing": "core.explaining.node_listing",
    "NodePath": "core.explaining.node_paths",
    "OnnxExport": "formats.api.model_export",
    "OpCoverage": "core.op_libraries.op_listing",
    "OpDetail": "core.op_libraries.op_listing",
    "OpSummary": "core.op_libraries.op_listing",
    "OptimizeReport": "core.passes.pipeline",
    "Optimized": "core.passes.pipeline",
    "Optimizer": "core.training.optimizers",
    "Output": "core.graph.graph",
    "PartitionFacts": "core.explaining.device_partition",
    "PassFacts": "core.passes.pass_listing",
    "PathStep": "core.explaining.node_paths",
    "Problem": "core.explaining.problems",
    "ProblemCode": "core.explaining.problem_codes",
    "Progress": "core.training.trainer",
    "RecordStream": "formats.api.dumping",
    "Recording": "formats.recordings",
    "RecoveredStage": "core.explaining.stages",
    "Restored": "core.runtime.session.runner",
    "Rows": "core.support.display",
    "RunRaces": "core.explaining.race_report",
    "Section": "core.flops.flops_report",
    "Session": "core.runtime.session.session",
    "SessionLike": "core.runtime.session.session_like",
    "SessionSetup": "formats.api.session_setup",
    "Shape": "core.types.shapes",
    "Signature": "core.graph.metagraph",
    "SignatureTensor": "core.graph.metagraph",
    "Snapshot": "core.comparing.graph_diff",
    "SourceNode": "core.model.model_view",
    "StableHloExport": "formats.api.model_export",
    "StateComparison": "formats.api.checkpoints",
    "StepResult": "core.runtime.session.runner",
    "Survey": "formats.cluster.survey",
    "Tensor": "core.types.tensors",
    "TensorRow": "formats.api.checkpoints",
    "TfjsExport": "formats.api.model_export",
    "Tier": "core.runtime.optimize.tiers",
    "Timing": "core.flops.timings",
    "TopClasses": "formats.api.step_results",
    "Trainer": "core.training.trainer",
    "TrainingReport": "formats.api.training_runs",
    "Unfrozen": "formats.api.changes",
    "VariableValues": "core.runtime.session.variable_values",
    "Verification": "formats.api.verification",
    "append": "formats.api.joins",
    "average_checkpoints": "formats.api.checkpoints",
    "call_function": "core.runtime.session.function_signatures",
    "check": "formats.api.analyses",
    "check_gradient": "core.gradients.jacobian",
    "check_numerics": "core.runtime.guards.limits",
    "clear_devices": "core.transforms.subgraphs",
    "compare": "formats.api.comparisons",
    "compare_checkpoints": "formats.api.checkpoints",
    "compare_states": "formats.api.comparisons",
    "convert": "formats.api.changes",
    "count_flops": "core.flops",
    "describe_cache": "core.engines.remembered_choices",
    "describe_cluster": "formats.cluster.survey",
    "describe_recording": "formats.recordings",
    "diff": "formats.api.analyses",
    "diff_snapshots": "core.comparing.graph_diff",
    "draw": "formats.api.drawing",
    "draw_each": "formats.api.drawing",
    "engine_runtime": "formats.api.prepared_sessions",
    "explain": "core.explaining.graph_facts",
    "explain_engine": "formats.api.analyses",
    "explain_partition": "core.explaining.device_partition",
    "explain_races": "core.explaining.race_report",
    "expose": "formats.api.outputs",
    "extract": "formats.api.changes",
    "fill_placeholders": "formats.api.changes",
    "find_optimizer": "core.training.optimizers",
    "first_elements": "formats.api.dumping",
    "fit": "formats.api.training_runs",
    "flops": "formats.api.counting",
    "flops_formulas": "core.flops.formulas",
    "flops_rows": "formats.api.counting",
    "for_tensorflow": "formats.api.changes",
    "freeze": "formats.api.changes",
    "gradients": "core.gradients",
    "hessian_vector": "core.gradients.jacobian",
    "initialize": "formats.api.prepared_sessions",
    "inline_functions": "core.passes.pipeline",
    "jacobian": "core.gradients.jacobian",
    "join": "formats.api.joins",
    "jvp": "core.gradients.jacobian",
    "layers": "formats.api.counting",
    "list_nodes": "core.explaining.node_listing",
    "list_passes": "core.passes.pass_listing",
    "load": "formats",
    "load_for_passes": "formats.api.partial_loading",
    "load_op_library": "core.op_libraries.library_loading",
    "load_part": "formats.api.partial_loading",
    "map_batches": "formats.batches.table_batches",
    "map_ops": "core.op_libraries.op_map",
    "match_checkpoint": "formats.api.checkpoints",
    "missing_ops": "core.explaining.graph_facts",
    "missing_parts": "core.op_libraries.op_listing",
    "model_view": "core.model.model_view",
    "node_fates": "core.passes.pipeline",
    "op_coverage": "core.op_libraries.op_listing",
    "ops": "core.op_libraries.op_listing",
    "optimization_stages": "core.passes.pipeline",
    "optimize": "core.passes.pipeline",
    "optimizer_name": "core.training.optimizers",
    "override_gradients": "core.gradients.backward",
    "path": "formats.api.analyses",
    "prepend": "formats.api.joins",
    "profile": "formats.api.counting",
    "read_checkpoint": "formats.api.checkpoints",
    "read_events": "formats.recordings",
    "read_labels": "formats.api.step_results",
    "recover_stages": "core.explaining.stages",
    "reduce": "formats.api.changes",
    "restore": "formats.api.prepared_sessions",
    "run_batch": "formats.batches.batch_runs",
    "run_each": "formats.batches.each_inputs",
    "run_script": "core.building.builder",
    "save": "formats",
    "save_model": "formats.api.model_saving",
    "stream_nodes": "formats.api.dumping",
    "strip_default_attrs": "core.transforms.subgraphs",
    "to_inference": "formats.api.changes",
    "to_jax": "formats.api.model_export",
    "top_classes": "formats.api.step_results",
    "train": "formats.api.training_runs",
    "unfreeze": "formats.api.changes",
    "verify": "formats.api.verification",
    "view": "formats.api.viewing",
    "vjp": "core.gradients.jacobian",
    "write_checkpoint": "formats.api.checkpoints",
    "write_wrappers": "core.op_libraries.wrappers",
}
__all__ = [
    "Accuracy",
    "BatchProgress",
    "BatchReport",
    "BuiltVariable",
    "CacheReport",
    "CachedChoice",
    "Checkpoint",
    "CheckpointMatch",
    "Clipping",
    "ClusterFacts",
    "ClusterSession",
    "Comparison",
    "DType",
    "Drawing",
    "EngineReport",
    "EventLog",
    "Exposed",
    "FailedInput",
    "FileAccess",
    "FitReport",
    "FlopsCounter",
    "FlopsReport",
    "FlopsRow",
    "ForInference",
    "ForTensorflow",
    "Formula",
    "Function",
    "GradientCheck",
    "Graph",
    "GraphBuilder",
    "GraphComparison",
    "GraphDiff",
    "GraphFacts",
    "GraphPage",
    "InputResult",
    "Iteration",
    "Joined",
    "KernelRecorder",
    "Layer",
    "LayerBlock",
    "LayerTree",
    "LayersReport",
    "LeastSquares",
    "Measurement",
    "MissingFor",
    "MissingOp",
    "Model",
    "ModelView",
    "NamedLoss",
    "Node",
    "NodeCost",
    "NodeFacts",
    "NodeFate",
    "NodeFilter",
    "NodeListing",
    "NodePath",
    "OnnxExport",
    "OpCoverage",
    "OpDetail",
    "OpSummary",
    "OptimizeReport",
    "Optimized",
    "Optimizer",
    "Output",
    "PartitionFacts",
    "PassFacts",
    "PathStep",
    "Problem",
    "ProblemCode",
    "Progress",
    "RecordStream",
    "Recording",
    "RecoveredStage",
    "Restored",
    "Rows",
    "RunRaces",
    "Section",
    "Session",
    "SessionLike",
    "SessionSetup",
    "Shape",
    "Signature",
    "SignatureTensor",
    "Snapshot",
    "SourceNode",
    "StableHloExport",
    "StateComparison",
    "StepResult",
    "Survey",
    "Tensor",
    "TensorRow",
    "TfjsExport",
    "Tier",
    "Timing",
    "TopClasses",
    "Trainer",
    "TrainingReport",
    "Unfrozen",
    "VariableValues",
    "Verification",
    "append",
    "average_checkpoints",
    "call_function",
    "check",
    "check_gradient",
    "check_numerics",
    "clear_devices",
    "compare",
    "compare_checkpoints",
    "compare_states",
    "convert",
    "count_flops",
    "describe_cache",
    "describe_cluster",
    "describe_recording",
    "diff",
    "diff_snapshots",
    "draw",
    "draw_each",
    "engine_runtime",
    "errors",
    "explain",
    "explain_engine",
    "explain_partition",
    "explain_races",
    "expose",
    "extract",
    "fill_placeholders",
    "find_optimizer",
    "first_elements",
    "fit",
    "flops",
    "flops_formulas",
    "flops_rows",
    "for_tensorflow",
    "freeze",
    "gradients",
    "hessian_vector",
    "initialize",
    "inline_functions",
    "jacobian",
    "join",
    "jvp",
    "layers",
    "list_nodes",
    "list_passes",
    "load",
    "load_for_passes",
    "load_op_library",
    "load_part",
    "map_batches",
    "map_ops",
    "match_checkpoint",
    "missing_ops",
    "missing_parts",
    "model_view",
    "node_fates",
    "op_coverage",
    "ops",
    "optimization_stages",
    "optimize",
    "optimizer_name",
    "override_gradients",
    "path",
    "prepend",
    "profile",
    "read_checkpoint",
    "read_events",
    "read_labels",
    "recover_stages",
    "reduce",
    "restore",
    "run_batch",
    "run_each",
    "run_script",
    "save",
    "save_model",
    "stream_nodes",
    "strip_default_attrs",
    "to_inference",
    "to_jax",
    "top_classes",
    "train",
    "unfreeze",
    "verify",
    "view",
    "vjp",
    "write_checkpoint",
    "write_wrappers",
]


if not TYPE_CHECKING:  # else any name would pass for a public one

    def __getattr__(name: str) -> Any:
        """The public names, imported at first touch so that `import tfg` costs nothing."""
        if name in _LAZY:
            return getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
        raise AttributeError(f"module 'tfg' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names, whether they are imported yet or not."""
    return sorted([*__all__, "__version__"])


def _checkpoint_store() -> checkpoint_store.CheckpointStore:
    store: checkpoint_store.CheckpointStore = importlib.import_module(".formats", __name__).FileCheckpointStore()
    return store


def _message_type(descriptors: bytes | None, name: str) -> message_types.MessageType | None:
    formats = importlib.import_module(".formats.codecs.message_descriptors", __name__)
    message: message_types.MessageType | None = formats.described_type(descriptors, name)
    return message


def _display() -> display.Display:
    notebook: display.Display = importlib.import_module(".formats.api.notebook", __name__).NotebookDisplay()
    return notebook


class _GraphServices:
    """Graphs as the files of `formats`, and as the models of `explaining`."""

    def encode(self, graph: Graph) -> bytes:
        data: bytes = importlib.import_module(".formats", __name__).to_bytes(graph)
        return data

    def decode(self, data: bytes) -> Graph:
        graph: Graph = importlib.import_module(".formats", __name__).load(data)
        return graph

    def load(self, path: str | os.PathLike[str]) -> Graph:
        graph: Graph = importlib.import_module(".formats", __name__).load(path)
        return graph

    def signature(self, graph: Graph, *, infers_shapes: bool) -> Signature:
        facts = importlib.import_module(".core.explaining.graph_facts", __name__)
        signature: Signature = facts.implied_signature(graph, infers_shapes=infers_shapes)
        return signature

    def variables(self, graph: Graph) -> Mapping[str, SignatureTensor]:
        parts = importlib.import_module(".core.explaining.graph_facts", __name__)
        variables: Mapping[str, SignatureTensor] = parts.used_variables(graph)
        return variables


openblas_kernels.use_avx512()
checkpoint_store.provide_store(_checkpoint_store)
message_types.provide_message_types(_message_type)
graph_services.provide_services(_GraphServices())
display.provide_display(_display)
