"""Every public function on arguments of plainly wrong types: a result, a TfgError or a TypeError, nothing else."""

from __future__ import annotations

import contextlib
import inspect
import pickle
import traceback
from importlib.util import find_spec

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.support.errors import TfgError
from tfg.core.types.dtypes import float32

WRONG = (
    3, -1.5, None, b"\0", "", "abc", "y:99", [1], ["y", None], {"x:0": "abc"}, {3: 3}, object(), len, float, np.ones((2, 0)),
)  # fmt: skip

EVENTS = SAMPLES / "recordings" / "events.out.tfevents.linear_regression"


def sample():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2], name="x")
    g.Sum(g.Square(x), 0, name="y")
    return g.graph


def pipeline():
    """A dataset of 0, 1, 2 ..."""
    g = tfg.GraphBuilder()
    start, stop, step = (np.int64(number) for number in (0, 9, 1))
    g.RangeDataset(start, stop, step, output_types=["int64"], output_shapes=[[]], name="range")
    return g.graph


def trained():
    g = tfg.GraphBuilder()
    g.Sum(g.Square(g.variable(3.0, name="v")), [], name="loss")
    g.global_variables_initializer()
    return g.graph


def pictured():
    """A model of pictures (2, 2, 3) with two classes."""
    g = tfg.GraphBuilder()
    pictures = g.Placeholder(dtype="float", shape=[None, 2, 2, 3], name="x")
    g.MatMul(g.Mean(pictures, np.int32([1, 2])), np.ones((3, 2), np.float32), name="y")
    return g.graph


def clustered():
    g = tfg.GraphBuilder()
    g.Exp(g.Exp(g.Placeholder(dtype="float", shape=[], name="x")), name="y")
    return tfg.optimize(g.graph, "y:0", passes="cluster")[0]


def script(folder):
    """Return the path of a script that builds a graph of a node."""
    path = folder / "build.py"
    path.write_text("def build(g):\n    g.Placeholder(dtype='float', name='x')\n")
    return str(path)


def of_inspection(folder, graph, feeds, path):
    """Return valid arguments of the functions that look at graphs."""
    return {
        "explain": (tfg.explain, {"graph": graph, "nodes": "y"}),
        "count_flops": (tfg.count_flops, {"graph": graph, "fetches": ["y:0"], "feeds": ["x:0"]}),
        "check": (tfg.check, {"graph": graph}),
        "compare": (tfg.compare, {"before": graph, "after": graph, "fetches": "y:0", "feeds": feeds, "tolerance": 1e-5}),
        "compare_states": (tfg.compare_states, {"before": {"v": np.ones(2)}, "after": {"v": np.ones(2)}}),
        "diff": (tfg.diff, {"before": graph, "after": graph}),
        "draw": (tfg.draw, {"graph": graph, "format": "text", "max_nodes": 5, "highlight": ["y"]}),
        "describe_recording": (tfg.describe_recording, {"source": path}),
        "flops": (tfg.flops, {"graph": graph, "fetches": ["y:0"]}),
        "model_view": (tfg.model_view, {"graph": graph, "signature": None, "raw": True}),
        "layers": (tfg.layers, {"graph": graph, "fetches": ["y:0"]}),
        "flops_rows": (tfg.flops_rows, {"report": tfg.flops(graph, ["y:0"]), "view": "layer", "depth": 2}),
        "ops": (tfg.ops, {"names": "MatMul", "family": None}),
        "op_coverage": (tfg.op_coverage, {}),
        "missing_parts": (tfg.missing_parts, {"graph": graph}),
        "write_wrappers": (tfg.write_wrappers, {"ops": ["MatMul"]}),
        "flops_formulas": (tfg.flops_formulas, {"ops": ["MatMul"]}),
        "list_nodes": (tfg.list_nodes, {"graph": graph, "name": "y", "to": "y:0"}),
        "explain_partition": (tfg.explain_partition, {"graph": graph, "fetches": ["y:0"]}),
        "explain_races": (tfg.explain_races, {"graph": graph, "fetches": ["y:0"]}),
        "missing_ops": (tfg.missing_ops, {"graph": graph}),
        "node_fates": (tfg.node_fates, {"graph": graph, "names": ["Square"], "fetches": ["y:0"]}),
        "compare_checkpoints": (
            tfg.compare_checkpoints,
            {
                "first": tfg.read_checkpoint(str(folder / "v.npz")),
                "second": tfg.read_checkpoint(str(folder / "v.npz")),
                "pattern": "v",
            },
        ),
        "FlopsCounter": (tfg.FlopsCounter, {"graph": graph, "fetches": ["y:0"], "feeds": ["x:0"]}),
        "draw_each": (tfg.draw_each, {"graph": graph, "parts": "stages", "format": "text"}),
        "diff_snapshots": (tfg.diff_snapshots, {"snapshots": [("loaded", graph)]}),
        "list_passes": (tfg.list_passes, {}),
        "stream_nodes": (tfg.stream_nodes, {"source": path, "chosen": tfg.NodeFilter(op="Sum")}),
        "recover_stages": (tfg.recover_stages, {"graph": graph}),
        "path": (tfg.path, {"graph": graph, "start": "x", "end": "y"}),
        "view": (tfg.view, {"graph": graph, "fetches": "y:0"}),
    }


def of_changes(folder, graph, feeds, path):
    """Return valid arguments of the functions that read, change and write graphs."""
    return {
        "load": (tfg.load, {"source": path}),
        "save": (tfg.save, {"graph": graph, "path": path}),
        "gradients": (tfg.gradients, {"graph": graph, "ys": "y:0", "xs": "x:0"}),
        "override_gradients": (tfg.override_gradients, {"graph": graph, "overrides": {"Square": "straight_through"}}),
        "optimize": (tfg.optimize, {"graph": graph, "fetches": "y:0", "feeds": ["x:0"]}),
        "convert": (tfg.convert, {"graph": graph, "path": str(folder / "h.pbtxt"), "outputs": "y:0", "inputs": ["x:0"]}),
        "fill_placeholders": (tfg.fill_placeholders, {"graph": graph, "values": {"x:0": [1.0, 2.0]}, "shapes": {"x:0": [2]}}),
        "save_model": (
            tfg.save_model,
            {"graph": graph, "path": str(folder / "model"), "signatures": {"two": ({"a": "x:0"}, {"b": "y:0"})}},
        ),
        "expose": (tfg.expose, {"graph": graph, "words": ["y"]}),
        "for_tensorflow": (tfg.for_tensorflow, {"graph": graph, "release": "1.13"}),
        "to_inference": (tfg.to_inference, {"graph": graph, "outputs": "y:0", "averages": False}),
        "extract": (tfg.extract, {"graph": graph, "outputs": "y:0", "inputs": ["x:0"]}),
        "freeze": (tfg.freeze, {"graph": graph, "outputs": "y:0", "inputs": ["x:0"]}),
        "unfreeze": (tfg.unfreeze, {"graph": graph, "variables": "y/reduction_indices", "outputs": "y:0"}),
        "join": (tfg.join, {"first": graph, "second": graph, "connect": {"x": "x"}, "second_state": {"v": np.ones(2)}}),
        "prepend": (tfg.prepend, {"graph": pictured(), "kind": "image", "mean": [1, 2, 3], "scale": 0.5, "bgr": True}),
        "append": (tfg.append, {"graph": pictured(), "top_k": 1, "labels": ["a", "b"], "output": "y"}),
        "reduce": (tfg.reduce, {"graph": graph, "fails": lambda part: "y" in part, "fetches": "y:0", "feeds": feeds}),
        "clear_devices": (tfg.clear_devices, {"graph": graph}),
        "inline_functions": (tfg.inline_functions, {"graph": graph}),
        "optimization_stages": (tfg.optimization_stages, {"graph": graph, "fetches": ["y:0"]}),
        "map_ops": (tfg.map_ops, {"graph": graph.copy(), "mapping": {"Square": "Neg"}}),
        "load_op_library": (tfg.load_op_library, {"name": "json"}),
        "call_function": (tfg.call_function, {"graph": clustered(), "word": "cluster_0"}),
        "run_script": (tfg.run_script, {"path": script(folder)}),
        "load_part": (tfg.load_part, {"source": path}),
        "load_for_passes": (tfg.load_for_passes, {"source": path, "passes": "prune", "disable": ["cse"]}),
        "strip_default_attrs": (tfg.strip_default_attrs, {"graph": graph.copy()}),
        "GraphBuilder": (tfg.GraphBuilder, {}),
    }


def of_runs(folder, graph, feeds):
    """Return valid arguments of the functions and classes that run graphs."""
    return {
        "jacobian": (tfg.jacobian, {"graph": graph, "y": "y:0", "x": "x:0", "feeds": feeds}),
        "vjp": (tfg.vjp, {"graph": graph, "y": "y:0", "x": "x:0", "v": 1.0, "feeds": feeds}),
        "read_labels": (tfg.read_labels, {"path": __file__}),
        "top_classes": (tfg.top_classes, {"scores": [0.5, 0.25], "k": 1, "labels": ["a", "b"]}),
        "profile": (tfg.profile, {"graph": graph, "fetches": "y:0", "feeds": feeds}),
        "run_each": (tfg.run_each, {"graph": graph, "fetches": "y:0", "sweep": {"x:0": [np.ones(2, np.float32)]}}),
        "SessionSetup": (tfg.SessionSetup, {"optimize": "fuse", "allow_files": (str(folder),)}),
        "run_batch": (
            tfg.run_batch,
            {"graph": graph, "fetches": "y:0", "sweep": {"x:0": [np.ones(2, np.float32)]}, "out_dir": str(folder / "batch")},
        ),
        "map_batches": (tfg.map_batches, {"graph": graph, "fetches": "y:0", "batch": 1}),
        "first_elements": (tfg.first_elements, {"graph": pipeline(), "name": "range", "count": 2}),
        "read_checkpoint": (tfg.read_checkpoint, {"path": str(folder / "v.npz")}),
        "train": (tfg.train, {"graph": trained(), "loss": "loss:0", "steps": 1, "optimizer": "sgd"}),
        "fit": (tfg.fit, {"graph": trained(), "residuals": "Square:0", "iterations": 1}),
        "Clipping": (tfg.Clipping, {"kind": "norm", "limit": 1.0}),
        "verify": (tfg.verify, {"before": graph, "after": graph, "fetches": "y:0", "steps": 1}),
        "check_gradient": (tfg.check_gradient, {"graph": graph, "y": "y:0", "x": "x:0", "feeds": feeds}),
        "initialize": (tfg.initialize, {"session": tfg.Session(trained()), "operation": "init"}),
        "restore": (tfg.restore, {"session": tfg.Session(trained()), "state": {"v": np.float32(1)}}),
        "engine_runtime": (tfg.engine_runtime, {"engine": "numpy"}),
        "describe_cache": (tfg.describe_cache, {"clear": False}),
        "find_optimizer": (tfg.find_optimizer, {"name": "adam"}),
        "optimizer_name": (tfg.optimizer_name, {"word": "Gradient_Descent"}),
        "check_numerics": (tfg.check_numerics, {"node": graph["y"], "call": lambda: np.ones(2), "inputs": []}),
        "KernelRecorder": (tfg.KernelRecorder, {"with_shapes": True}),
        "average_checkpoints": (
            tfg.average_checkpoints,
            {"checkpoints": [tfg.read_checkpoint(str(folder / "v.npz"))] * 2, "weights": [1.0, 2.0]},
        ),
        "match_checkpoint": (
            tfg.match_checkpoint,
            {"checkpoint": tfg.read_checkpoint(str(folder / "v.npz")), "graph": trained()},
        ),
        "read_events": (tfg.read_events, {"path": EVENTS, "tag": "loss", "kinds": ["scalars"]}),
        "write_checkpoint": (tfg.write_checkpoint, {"path": str(folder / "w"), "values": {"v": np.ones(2)}}),
        "Session": (tfg.Session, {"graph": graph}),
        "Model": (tfg.Model, {"source": graph, "outputs": "y"}),
        "Session.run": (tfg.Session(graph).run, {"fetches": "y:0", "feeds": feeds}),
        "FileAccess.only": (tfg.FileAccess.only, {"readable": [str(folder)]}),
        "FileAccess.everything": (tfg.FileAccess.everything, {}),
    }


def right_arguments(folder):
    """Return valid arguments of each public function."""
    graph = sample()
    path = str(folder / "g.pb")
    tfg.save(graph, path)
    feeds = {"x:0": np.ones(2, np.float32)}
    tfg.write_checkpoint(str(folder / "v.npz"), {"v": np.ones(2)})
    by_name = (
        of_inspection(folder, graph, feeds, path) | of_changes(folder, graph, feeds, path) | of_runs(folder, graph, feeds)
    )
    if find_spec("jax") is not None:
        by_name["explain_engine"] = (tfg.explain_engine, {"graph": graph, "engine": "xla", "fetches": "y:0"})
        by_name["to_jax"] = (tfg.to_jax, {"graph": graph, "fetches": "y:0", "feeds": ["x:0"]})
    products = {"graph": graph, "y": "y:0", "x": "x:0", "v": np.ones(2, np.float32), "feeds": feeds}
    return by_name | {name: (getattr(tfg, name), products) for name in ("jvp", "hessian_vector")}


def call(function, arguments):
    """Call with arguments by name, and with arguments of *args by position."""
    parameters = inspect.signature(function).parameters
    spread = [arguments[p.name] for p in parameters.values() if p.kind is p.VAR_POSITIONAL and p.name in arguments]
    first = [p.name for p in parameters.values() if spread and p.kind is p.POSITIONAL_OR_KEYWORD]
    named = {n: a for n, a in arguments.items() if n not in first and parameters[n].kind is not parameters[n].VAR_POSITIONAL}
    return function(*(arguments[name] for name in first), *spread, **named)


MADE_BY_TFG = {
    "Accuracy", "BatchProgress", "BatchReport", "BuiltVariable", "CacheReport", "CachedChoice", "Checkpoint",
    "CheckpointMatch", "ClusterFacts", "ClusterSession", "Comparison", "DType", "Drawing", "EngineReport", "EventLog",
    "Exposed", "FailedInput", "FitReport", "FlopsReport", "FlopsRow", "ForInference", "ForTensorflow", "Formula",
    "Function", "Joined", "GradientCheck", "Graph", "GraphComparison", "GraphDiff", "GraphFacts", "GraphPage",
    "InputResult", "Iteration", "Layer", "LayerBlock", "LayerTree", "LayersReport", "LeastSquares", "Measurement",
    "MissingFor", "MissingOp",
    "ModelView", "NamedLoss", "Node", "NodeCost", "NodeFacts", "NodeFate", "NodeFilter", "NodeListing", "NodePath",
    "OnnxExport", "OpCoverage", "OpDetail", "OpSummary", "OptimizeReport", "Optimized", "Optimizer", "Output",
    "PartitionFacts", "PassFacts", "PathStep", "Problem", "ProblemCode", "Progress", "RecordStream", "Recording",
    "RecoveredStage", "Restored", "Rows", "RunRaces", "Section", "SessionLike",
    "Shape", "Signature", "SignatureTensor", "Snapshot", "SourceNode", "StableHloExport", "StateComparison", "StepResult",
    "Survey",
    "Tensor", "TensorRow", "TfjsExport", "Tier", "Timing", "TopClasses", "Trainer", "TrainingReport", "Unfrozen",
    "VariableValues", "Verification",
}  # fmt: skip
"""Classes with objects made only by functions of tfg."""


@pytest.mark.slow
def test_every_public_name_is_tried(tmp_path):
    tried = {name.partition(".")[0] for name in right_arguments(tmp_path)}
    assert tried | {"describe_cluster", "explain_engine", "to_jax"} == set(tfg.__all__) - MADE_BY_TFG - {"errors"}
    assert all(isinstance(getattr(tfg, name), type) for name in MADE_BY_TFG)
    for function, arguments in right_arguments(tmp_path).values():
        call(function, arguments)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(type(wrong).__name__))
def test_wrong_types_are_refused(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (function, arguments) in right_arguments(tmp_path).items():
        for parameter in inspect.signature(function).parameters:
            try:
                call(function, arguments | {parameter: wrong})
            except (TfgError, TypeError):
                continue
            except Exception as error:
                pytest.fail(f"{name}({parameter}={wrong!r}): {error!r}", pytrace=False)


def annotated(function, kind):
    """Return the parameters of a function with a type."""
    return [name for name, p in inspect.signature(function).parameters.items() if p.annotation in (kind, f"{kind} | None")]


CHANGING = {"call_function", "clear_devices", "gradients", "map_ops", "strip_default_attrs"}
"""The functions that change their graph."""


def test_all_functions_but_those_that_change_a_graph_take_a_path(tmp_path):
    functions = {name: function for name, (function, _) in right_arguments(tmp_path).items()}
    assert {name for name, function in functions.items() if annotated(function, "Graph")} - {"GraphBuilder"} == CHANGING
    for name in CHANGING:
        with pytest.raises(TypeError, match="graph must be Graph, not str") as caught:
            call(functions[name], right_arguments(tmp_path)[name][1] | {"graph": "model.pb"})
        assert "tfg.load" in caught.value.hint


@pytest.mark.slow
def test_the_path_of_a_graph_stands_for_the_graph(tmp_path):
    tried = set()
    for name, (function, arguments) in right_arguments(tmp_path).items():
        for parameter in annotated(function, "GraphLike"):
            if isinstance(arguments.get(parameter), tfg.Graph):
                tfg.save(arguments[parameter], tmp_path / "input.pb")
                call(function, arguments | {parameter: tmp_path / "input.pb"})
                tried.add(name)
    assert {"explain", "optimize", "Session", "Model", "flops", "jacobian", "train", "save"} <= tried


class _Unwritable:
    """Something that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


UNWRITABLE = (10**5000, _Unwritable(), [10**5000], [[1], [2, 3]], [_Unwritable(), None], {}, "\udc80", ...)


@pytest.mark.parametrize("dtype", ["float32", "int32", "string", "bool", "bfloat16", "complex64", "variant", "qint8"])
@pytest.mark.parametrize("wrong", UNWRITABLE, ids=range(len(UNWRITABLE)))
def test_what_is_fed_is_refused_in_words(wrong, dtype):
    """The values include numbers with more digits than Python prints, and objects that fail when printed."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype=dtype, name="x")
    y = g.Identity(x)
    with contextlib.suppress(TfgError, TypeError):
        tfg.Session(g.graph).run([y.name], {"x:0": wrong})


def right_edits(graph):
    """Public methods of a graph and of its builder with what they take."""
    x, y, square = graph.output("x:0"), graph.node("y"), graph.node("Square")
    builder = tfg.GraphBuilder(graph)
    return [
        (graph.add_node, {"name": "n", "op": "Neg", "inputs": [x], "control_inputs": [y], "attrs": {"T": float32}}),
        (graph.remove_node, {"node": y}),
        (graph.remove_nodes, {"nodes": [y]}),
        (graph.rename_node, {"node": y, "name": "other"}),
        (graph.set_inputs, {"node": square, "inputs": [x], "control_inputs": []}),
        (graph.set_input, {"node": square, "index": 0, "value": x}),
        (graph.add_control_input, {"node": y, "control": x.node}),
        (graph.remove_control_input, {"node": y, "control": x.node}),
        (graph.replace_all_uses, {"old": square.output(), "new": x}),
        (graph.replace_control_uses, {"old": x.node, "new": square}),
        (graph.consumers, {"output": x}),
        (graph.control_consumers, {"node": x.node}),
        (graph.reorder, {"nodes": list(graph)}),
        (builder.apply, {"op": "Neg", "inputs": x, "name": "n"}),
        (builder.constant, {"value": 1, "dtype": "float", "name": "c"}),
        (builder.variable, {"value": 1.0, "name": "v", "dtype": "float", "resource": True, "trainable": False}),
        (builder.as_output, {"value": x}),
        (builder.group, {"nodes": [x, y], "name": "all"}),
        (builder.name_scope, {"name": "scope"}),
        (builder.device, {"device": "/cpu:0"}),
        (builder.colocate_with, {"target": x}),
        (builder.control_dependencies, {"controls": [x]}),
        (builder.global_variables_initializer, {"name": "init"}),
    ]


def entered(function, arguments):
    """What the function does, a block that it opens included."""
    made = call(function, arguments)
    if hasattr(made, "__enter__"):
        with made:
            pass


@pytest.mark.slow
@pytest.mark.parametrize("index", range(len(right_edits(sample()))))
def test_wrong_edits_are_refused_and_leave_the_graph_sound(index):
    function, right = right_edits(sample())[index]
    entered(function, right)
    for parameter in right:
        for wrong in WRONG:
            graph = sample()
            function, arguments = right_edits(graph)[index]
            with contextlib.suppress(TfgError, TypeError):
                entered(function, arguments | {parameter: wrong})
            with contextlib.suppress(TfgError):
                graph.check()
            assert all(node in value.node.uses for node in graph for value in node.inputs)
            assert {"x", "Square"} <= {node.name for node in graph}


def test_a_traceback_shows_the_hint_once():
    with pytest.raises(tfg.errors.NotFoundError) as caught:
        sample()["Sqare"]
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("nearest names: Square") == 1
    assert "no node 'Sqare'" in text


ERRORS = [error for error in vars(tfg.errors).values() if inspect.isclass(error) and issubclass(error, TfgError)]


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_has_its_hint_as_a_note(error):
    raised = error("nothing", node="n", op="Neg", hint="look elsewhere")
    assert raised.__notes__ == ["hint: look elsewhere"]
    assert "hint: look elsewhere" in "".join(traceback.format_exception(raised))
    assert not hasattr(error("nothing"), "__notes__")


@pytest.mark.parametrize(
    "look",
    [
        lambda graph: graph["accurcy"],
        lambda graph: graph.node("accurcy"),
        lambda graph: graph.output("accurcy:0"),
        lambda graph: tfg.Session(graph).run("accurcy:0"),
        lambda graph: tfg.Session(graph).run([], {"accurcy:0": 1}),
        lambda graph: tfg.explain(graph, "accurcy"),
        lambda graph: tfg.optimize(graph, "accurcy:0"),
        lambda graph: tfg.extract(graph, ["accurcy:0"]),
        lambda graph: tfg.count_flops(graph, ["accurcy:0"]),
    ],
)
def test_a_misspelt_name_brings_the_nearest(look):
    g = tfg.GraphBuilder()
    g.Neg(g.Placeholder(dtype="float", name="x"), name="accuracy")
    with pytest.raises(tfg.errors.NotFoundError) as caught:
        look(g.graph)
    assert caught.value.__notes__ == ["hint: nearest names: accuracy"]


def test_an_error_from_another_process_has_its_hint_once():
    error = tfg.errors.NotFoundError("nothing", hint="look elsewhere")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["hint: look elsewhere"]
    assert not hasattr(tfg.errors.NotFoundError("nothing"), "__notes__")
