"""tfg: inspect, explain, run, train and rewrite TensorFlow graphs, without installing TensorFlow."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # built in, so that Ctrl-C cannot fall into its import
import functools
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
from .core.runtime.execute import openblas_kernels  # noqa: E402
from .core.runtime.state import checkpoint_store  # noqa: E402
from .core.support import display  # noqa: E402
from .core.support import errors as errors  # noqa: E402

# A public name is listed here and nowhere else: `scripts/regenerate.py names` derives `formats/api/public_names.txt`.
# `A as A` is how type checkers know that a name is public; the names of a module share a line, which isort would divide.
if TYPE_CHECKING:  # isort: off
    from collections.abc import Mapping

    from .core.building.builder import GraphBuilder as GraphBuilder, run_script as run_script
    from .core.building.built_variables import BuiltVariable as BuiltVariable
    from .core.comparing.element_differences import Comparison as Comparison
    from .core.comparing.graph_diff import GraphDiff as GraphDiff, Snapshot as Snapshot, diff_snapshots as diff_snapshots
    from .core.comparing.value_comparison import GraphComparison as GraphComparison
    from .core.engines.engine_report import EngineReport as EngineReport
    from .core.engines.remembered_choices import (
        CachedChoice as CachedChoice,
        CacheReport as CacheReport,
        describe_cache as describe_cache,
    )
    from .core.explaining.device_partition import PartitionFacts as PartitionFacts, explain_partition as explain_partition
    from .core.explaining.graph_facts import (
        GraphFacts as GraphFacts,
        MissingOp as MissingOp,
        explain as explain,
        missing_ops as missing_ops,
    )
    from .core.explaining.node_facts import NodeFacts as NodeFacts
    from .core.explaining.node_listing import NodeFilter as NodeFilter, NodeListing as NodeListing, list_nodes as list_nodes
    from .core.explaining.node_paths import NodePath as NodePath, PathStep as PathStep
    from .core.explaining.problem_codes import ProblemCode as ProblemCode
    from .core.explaining.problems import Problem as Problem
    from .core.explaining.race_report import RunRaces as RunRaces, explain_races as explain_races
    from .core.explaining.stages import RecoveredStage as RecoveredStage, recover_stages as recover_stages
    from .core.flops import count_flops as count_flops
    from .core.flops.flops_report import FlopsReport as FlopsReport, NodeCost as NodeCost, Section as Section
    from .core.flops.formulas import Formula as Formula, flops_formulas as flops_formulas
    from .core.flops.measured import KernelRecorder as KernelRecorder, Measurement as Measurement
    from .core.flops.model_layers import (
        Layer as Layer,
        LayerBlock as LayerBlock,
        LayersReport as LayersReport,
        LayerTree as LayerTree,
    )
    from .core.flops.timings import Timing as Timing
    from .core.flops.views import FlopsRow as FlopsRow
    from .core.gradients import gradients as gradients
    from .core.gradients.backward import override_gradients as override_gradients
    from .core.gradients.jacobian import (
        GradientCheck as GradientCheck,
        check_gradient as check_gradient,
        hessian_vector as hessian_vector,
        jacobian as jacobian,
        jvp as jvp,
        vjp as vjp,
    )
    from .core.graph.graph import Function as Function, Graph as Graph, Node as Node, Output as Output
    from .core.graph.metagraph import Signature as Signature, SignatureTensor as SignatureTensor
    from .core.explaining.model_view import ModelView as ModelView, SourceNode as SourceNode, model_view as model_view
    from .core.op_libraries.library_loading import load_op_library as load_op_library
    from .core.op_libraries.op_listing import (
        MissingFor as MissingFor,
        OpCoverage as OpCoverage,
        OpDetail as OpDetail,
        OpSummary as OpSummary,
        missing_parts as missing_parts,
        op_coverage as op_coverage,
        ops as ops,
    )
    from .core.op_libraries.op_map import map_ops as map_ops
    from .core.op_libraries.wrappers import write_wrappers as write_wrappers
    from .core.passes.base.accuracy import Accuracy as Accuracy
    from .core.passes.pass_listing import PassFacts as PassFacts, list_passes as list_passes
    from .core.passes.pipeline import (
        ClusterFacts as ClusterFacts,
        NodeFate as NodeFate,
        Optimized as Optimized,
        OptimizeReport as OptimizeReport,
        inline_functions as inline_functions,
        node_fates as node_fates,
        optimization_stages as optimization_stages,
        optimize as optimize,
    )
    from .core.runtime.execute.limits import check_numerics as check_numerics
    from .core.runtime.execute.tiers import Tier as Tier
    from .core.runtime.session.function_signatures import call_function as call_function
    from .core.runtime.session.runner import Restored as Restored, StepResult as StepResult
    from .core.runtime.session.session import Session as Session
    from .core.runtime.session.session_like import SessionLike as SessionLike
    from .core.runtime.session.variable_values import VariableValues as VariableValues
    from .core.runtime.state.file_access import FileAccess as FileAccess
    from .core.support.display import Rows as Rows
    from .core.training.losses import NamedLoss as NamedLoss
    from .core.training.optimizers import (
        Optimizer as Optimizer,
        find_optimizer as find_optimizer,
        optimizer_name as optimizer_name,
    )
    from .core.training.train_step import Clipping as Clipping
    from .core.training.trainer import (
        Iteration as Iteration,
        LeastSquares as LeastSquares,
        Progress as Progress,
        Trainer as Trainer,
    )
    from .core.transforms.subgraphs import clear_devices as clear_devices, strip_default_attrs as strip_default_attrs
    from .core.types.dtypes import DType as DType
    from .core.types.shapes import Shape as Shape
    from .core.types.tensors import Tensor as Tensor
    from .formats import load as load, save as save
    from .formats.api.analyses import check as check, diff as diff, explain_engine as explain_engine, path as path
    from .formats.api.callable_model import Model as Model
    from .formats.api.changes import (
        ForInference as ForInference,
        ForTensorflow as ForTensorflow,
        Unfrozen as Unfrozen,
        convert as convert,
        extract as extract,
        fill_placeholders as fill_placeholders,
        for_tensorflow as for_tensorflow,
        freeze as freeze,
        reduce as reduce,
        to_inference as to_inference,
        unfreeze as unfreeze,
    )
    from .formats.api.checkpoints import (
        Checkpoint as Checkpoint,
        CheckpointMatch as CheckpointMatch,
        StateComparison as StateComparison,
        TensorRow as TensorRow,
        average_checkpoints as average_checkpoints,
        compare_checkpoints as compare_checkpoints,
        match_checkpoint as match_checkpoint,
        read_checkpoint as read_checkpoint,
        write_checkpoint as write_checkpoint,
    )
    from .formats.api.comparisons import compare as compare, compare_states as compare_states
    from .formats.api.counting import (
        FlopsCounter as FlopsCounter,
        flops as flops,
        flops_rows as flops_rows,
        layers as layers,
        profile as profile,
    )
    from .formats.api.drawing import Drawing as Drawing, draw as draw, draw_each as draw_each
    from .formats.api.dumping import (
        RecordStream as RecordStream,
        first_elements as first_elements,
        stream_nodes as stream_nodes,
    )
    from .formats.api.joins import Joined as Joined, append as append, join as join, prepend as prepend
    from .formats.api.model_export import (
        OnnxExport as OnnxExport,
        StableHloExport as StableHloExport,
        TfjsExport as TfjsExport,
        to_jax as to_jax,
    )
    from .formats.api.model_saving import save_model as save_model
    from .formats.api.outputs import Exposed as Exposed, expose as expose
    from .formats.api.partial_loading import load_for_passes as load_for_passes, load_part as load_part
    from .formats.api.prepared_sessions import engine_runtime as engine_runtime, initialize as initialize, restore as restore
    from .formats.api.session_setup import SessionSetup as SessionSetup
    from .formats.api.step_results import TopClasses as TopClasses, read_labels as read_labels, top_classes as top_classes
    from .formats.api.training_runs import FitReport as FitReport, TrainingReport as TrainingReport, fit as fit, train as train
    from .formats.api.verification import Verification as Verification, verify as verify
    from .formats.api.viewing import GraphPage as GraphPage, view as view
    from .formats.batches.batch_runs import (
        BatchProgress as BatchProgress,
        BatchReport as BatchReport,
        FailedInput as FailedInput,
        run_batch as run_batch,
    )
    from .formats.batches.each_inputs import InputResult as InputResult, run_each as run_each
    from .formats.batches.table_batches import map_batches as map_batches
    from .formats.cluster.cluster_session import ClusterSession as ClusterSession
    from .formats.cluster.survey import Survey as Survey, describe_cluster as describe_cluster
    from .formats.recordings import (
        EventLog as EventLog,
        Recording as Recording,
        describe_recording as describe_recording,
        read_events as read_events,
    )

__version__ = "0.1.0"

if not TYPE_CHECKING:  # else any name would pass for a public one

    def __getattr__(name: str) -> Any:
        """The public names, imported at first touch so that `import tfg` costs nothing."""
        if name == "__all__":
            return __dir__()
        if name in (modules := _modules_of_names()):
            return getattr(importlib.import_module(f".{modules[name]}", __name__), name)
        raise AttributeError(f"module 'tfg' has no attribute '{name}'")


@functools.cache
def _modules_of_names() -> dict[str, str]:
    """Map the public names to their modules: the imports that only type checkers make, as a derived file has them."""
    with open(os.path.join(os.path.dirname(__file__), "formats", "api", "public_names.txt"), encoding="utf-8") as file:
        return {name: module for module, *names in map(str.split, file) for name in names}


def __dir__() -> list[str]:
    """The public names, whether they are imported yet or not."""
    return sorted(_modules_of_names())


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
