"""`tfg.load(untrusted=True)` through the library: all graphs made from such a graph are limited, and all runs of them."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.support.errors import DeadlineExceededError, InvalidArgumentError

XOR = SAMPLES / "xor.pbtxt"
SCALER = SAMPLES / "scaler_saved_model"
KERAS = SAMPLES / "keras_classifier"
X, Y = "serving_default_measurements:0", "StatefulPartitionedCall_1:0"
FEEDS = {"x:0": np.zeros((4, 2), np.float32), "y:0": np.zeros((4, 1), np.float32)}
ONNX, CLUSTER, XLA = ("convert",), ("ClusterSession", "run_batch, cluster"), ("to_jax", "explain_engine")
"""Functions that need the packages of an extra."""
CLOSED = {"ModelView", "GraphBuilder", "Graph", "Function", "Node", "Recording", "Snapshot", "LeastSquares"}
"""Classes that hold what they are given, and run nothing."""

MADE = {
    "clear_devices": lambda g, _: (tfg.clear_devices(g), g)[1],
    "convert": lambda g, folder: tfg.convert(g, folder / "g.onnx", [Y]).graph,
    "copy.copy": lambda g, _: copy.copy(g),
    "copy.deepcopy": lambda g, _: copy.deepcopy(g),
    "extract": lambda g, _: tfg.extract(g, [Y]),
    "fill_placeholders": lambda g, _: tfg.fill_placeholders(g, {X: np.zeros((1, 4), np.float32)}),
    "freeze": lambda g, _: tfg.freeze(g),
    "freeze, functions": lambda g, _: tfg.freeze(g, keep_functions=True),
    "gradients": lambda g, _: tfg.gradients(g, [Y], [X])[0],
    "override_gradients": lambda g, _: tfg.override_gradients(g, {"MatMul": "guided"}),
    "for_tensorflow": lambda g, _: tfg.for_tensorflow(g, "2.0").graph,
    "to_inference": lambda g, _: tfg.to_inference(g, [Y]).graph,
    "unfreeze": lambda g, _: tfg.unfreeze(tfg.freeze(g)).graph,
    "inline_functions": lambda g, _: tfg.inline_functions(g)[0],
    "model_view": lambda g, _: tfg.model_view(g).graph,
    "map_ops": lambda g, _: (tfg.map_ops(g, {"MatMul": "Add"}), g)[1],
    "optimization_stages": lambda g, _: tfg.optimization_stages(g, [Y])[-1][1],
    "optimize": lambda g, _: tfg.optimize(g, [Y])[0],
    "optimize, functions": lambda g, _: tfg.optimize(g, [Y], passes="specialize")[0],
    "pickle": lambda g, _: pickle.loads(pickle.dumps(g)),
    "reduce": lambda g, _: tfg.reduce(g, lambda part: X[:-2] in part, [Y]),
    "strip_default_attrs": lambda g, _: (tfg.strip_default_attrs(g), g)[1],
}
"""Graphs made from a SavedModel with functions."""
RUNS = {
    "Session": lambda g, _: tfg.Session(g).run("init"),
    "Session.on_graph": lambda g, _: tfg.Session(tfg.load(XOR)).on_graph(g).run("init"),
    "check_gradient": lambda g, _: tfg.check_gradient(g, "loss:0", "x:0", FEEDS),
    "compare": lambda g, _: tfg.compare(g, g, ["loss:0"], FEEDS),
    "first_elements": lambda g, _: tfg.first_elements(g, "loss", 1),
    "fit": lambda g, _: tfg.fit(g, "loss:0", FEEDS, iterations=1),
    "freeze": lambda g, _: tfg.freeze(g),
    "hessian_vector": lambda g, _: tfg.hessian_vector(g, "loss:0", "x:0", FEEDS["x:0"], FEEDS),
    "jacobian": lambda g, _: tfg.jacobian(g, "loss:0", "x:0", FEEDS),
    "jvp": lambda g, _: tfg.jvp(g, "loss:0", "x:0", FEEDS["x:0"], FEEDS),
    "map_batches": lambda g, _: tfg.map_batches(g, ["loss:0"], {"y:0": FEEDS["y:0"]}, batch=1)({"x": FEEDS["x:0"][None]}),
    "profile": lambda g, _: tfg.profile(g, ["loss:0"], FEEDS),
    "reduce": lambda g, _: tfg.reduce(g, lambda part: True, ["init"], on_error=_reraise),
    "run_each": lambda g, _: list(tfg.run_each(g, (), ["loss:0"], FEEDS, sweep={"hidden/bias": [0.0]})),
    "save_model": lambda g, folder: tfg.save_model(g, folder / "model"),
    "train": lambda g, _: tfg.train(g, "loss:0", FEEDS, steps=1),
    "verify": lambda g, _: tfg.verify(g, g, ["init"]),
    "vjp": lambda g, _: tfg.vjp(g, "loss:0", "x:0", np.float32(1), FEEDS),
}
"""Functions that run kernels in sessions."""
REFUSED = {
    "ClusterSession": lambda g, _: tfg.ClusterSession(g, "grpc://localhost:1"),
    "Session, files": lambda g, _: tfg.Session(g, files=tfg.FileAccess.everything()),
    "Session.on_graph, files": lambda g, folder: tfg.Session(
        tfg.load(XOR), files=tfg.FileAccess.only([folder])
    ).on_graph(g),
    "run_batch, cluster": lambda g, folder: tfg.run_batch(
        g, (), ["loss:0"], FEEDS, out_dir=folder, on="grpc://localhost:1", sweep={"hidden/bias": [0.0]}
    ),
    "run_batch, files": lambda g, folder: tfg.run_batch(
        g, (), ["loss:0"], FEEDS, out_dir=folder, sweep={"hidden/bias": [0.0]},
        session=tfg.SessionSetup(allow_files=(str(folder),)),
    ),
    "to_jax": lambda g, _: tfg.to_jax(g, ["loss:0"]),
}  # fmt: skip
"""Uses that contradict the switch."""
READ = {
    "FlopsCounter": lambda g: tfg.FlopsCounter(g, ["loss:0"]).report.total().flops,
    "check": tfg.check,
    "count_flops": lambda g: tfg.count_flops(g, ["loss:0"]).total().flops,
    "diff": lambda g: tfg.diff(g, g.copy()),
    "diff_snapshots": lambda g: tfg.diff_snapshots([("a", g)]),
    "draw": lambda g: tfg.draw(g, "dot").data,
    "draw_each": lambda g: [drawing.data for drawing in tfg.draw_each(g, "stages", "dot")],
    "explain": tfg.explain,
    "explain_engine": lambda g: tfg.explain_engine(g, "xla", ["loss:0"]).groups,
    "explain_partition": tfg.explain_partition,
    "explain_races": tfg.explain_races,
    "flops": lambda g: tfg.flops(g, ["loss:0"]).total().flops,
    "layers": lambda g: tfg.layers(g, ["loss:0"]).layers,
    "list_nodes": tfg.list_nodes,
    "missing_ops": tfg.missing_ops,
    "missing_parts": tfg.missing_parts,
    "node_fates": lambda g: tfg.node_fates(g, ["loss"], ["loss:0"]),
    "recover_stages": tfg.recover_stages,
    "view": lambda g: tfg.view(g).html,
}
"""Functions that run nothing, or only constants within limits of their own."""


def _reraise(error):
    raise error


@pytest.fixture
def need(request):
    name = request.node.callspec.params["name"]
    if name in ONNX:
        pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
    if name in CLUSTER:
        pytest.importorskip("grpc", reason="the extra tfg[cluster] is not installed")
    if name in XLA:
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")


def test_every_function_of_a_graph_is_in_a_table():
    known = {name.partition(",")[0] for table in (MADE, RUNS, REFUSED, READ) for name in table} | CLOSED
    known |= {
        "call_function",
        "save",
        "run_batch",
        "OnnxExport",
        "StableHloExport",
        "TfjsExport",
    }  # in place, or with tests of their own below
    lacking = []
    for name in tfg.__all__:
        public = getattr(tfg, name)
        if name not in known and (inspect.isfunction(public) or inspect.isclass(public)):
            parameters = inspect.signature(public).parameters.values()
            lacking += [name for parameter in parameters if "Graph" in str(parameter.annotation).split(" | ")]
    assert not set(lacking) - {"Checkpoint", "RecordStream"}


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("need")
@pytest.mark.parametrize("name", MADE)
def test_a_graph_made_from_an_untrusted_graph_is_untrusted(name, tmp_path):
    made = MADE[name](tfg.load(KERAS, untrusted=True), tmp_path)
    assert made.is_untrusted
    assert all(function.body.is_untrusted for function in made.functions.values())


@pytest.mark.parametrize("load", [tfg.load, tfg.load_part, tfg.load_for_passes])
def test_functions_of_an_untrusted_graph_are_untrusted(load):
    for graph in (loaded := load(SCALER, untrusted=True), loaded.copy(), loaded.emptied()):
        assert graph.functions and all(function.body.is_untrusted for function in graph.functions.values())
    assert not any(function.body.is_untrusted for function in load(SCALER).functions.values())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RUNS)
def test_every_run_has_the_limits(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tfg.core.runtime.execute.limits.UNTRUSTED_SECONDS", 1e-9)
    with pytest.raises(DeadlineExceededError):
        RUNS[name](tfg.load(XOR, untrusted=True), tmp_path)


@pytest.mark.usefixtures("need")
@pytest.mark.parametrize("name", REFUSED)
def test_what_contradicts_is_refused_with_the_reason(name, tmp_path):
    with pytest.raises(InvalidArgumentError, match="untrusted=True, so"):
        REFUSED[name](tfg.load(XOR, untrusted=True), tmp_path)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.usefixtures("need")
@pytest.mark.parametrize("name", READ)
def test_reading_gives_the_same(name):
    untrusted, trusted = (repr(READ[name](tfg.load(XOR, untrusted=untrusted))) for untrusted in (True, False))
    assert untrusted.replace("tfg --untrusted ", "tfg ") == trusted


@pytest.mark.slow
@pytest.mark.parametrize("on", [None, "local:1"])
def test_a_batch_has_the_limits(on, tmp_path):
    """A stranger's graph fills 40 GB in each process; the results of the others are written."""
    g = tfg.GraphBuilder()
    g.Fill(g.Placeholder(dtype="int32", shape=[2], name="size"), g.constant(1.0), name="ones")
    tfg.save(g.graph, tmp_path / "g.pb")
    graph = tfg.load(tmp_path / "g.pb", untrusted=True)
    sizes = [np.int32([2, 2]), np.int32([100_000, 100_000])]
    report = tfg.run_batch(graph, (), ["ones:0"], out_dir=tmp_path, sweep={"size:0": sizes}, on=on, keep_going=True)
    assert report.done == 1
    (failed,) = report.failed
    assert "would hold 40,000,000,000 bytes" in failed.error


@pytest.mark.slow
def test_a_saved_model_is_saved_verified_and_run(tmp_path):
    """The switch closes no door that the graph has by itself: the files of its model."""
    graph = tfg.load(SCALER, untrusted=True)
    tfg.save_model(graph, tmp_path / "model")
    assert tfg.verify(graph, tmp_path / "model").passed
    session = tfg.Session(graph)
    expected = tfg.Session(tfg.load(SCALER)).run("StatefulPartitionedCall_1:0", {"serving_default_x:0": [[1.0, 2.0]]})
    feeds = {"serving_default_x:0": [[1.0, 2.0]]}
    assert np.array_equal(session.on_graph(graph.copy()).run("StatefulPartitionedCall_1:0", feeds), expected)


def test_no_runtime_runs_a_converted_model(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    export = tfg.convert(tfg.load(KERAS, untrusted=True), tmp_path / "g.onnx", [Y])
    for run in (export.verify, lambda: export.run({})):
        with pytest.raises(InvalidArgumentError, match="onnxruntime does not run its model"):
            run()
