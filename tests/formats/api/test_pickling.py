"""`pickle` and `copy` of what the library returns: graphs and reports travel, sessions say what to take instead."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tfg.core.support.errors import InvalidArgumentError

XOR = SAMPLES / "xor.pbtxt"
KERAS = SAMPLES / "keras_classifier"
FEEDS = {"x:0": np.zeros((4, 2), np.float32), "y:0": np.zeros((4, 1), np.float32)}
GRAPHS = [XOR, KERAS, SAMPLES / "scaler_saved_model", SAMPLES / "countdown.pbtxt"]
WAYS = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "copy": copy.copy, "deepcopy": copy.deepcopy}

REPORTS = {
    "MetaGraph": lambda _: tfg.load(KERAS).meta,
    "Signature": lambda _: tfg.load(KERAS).meta.usual_signature,
    "check": tfg.check,
    "compare": lambda graph: tfg.compare(graph, graph, ["loss:0"], FEEDS),
    "diff": lambda graph: tfg.diff(graph, tfg.load(KERAS)),
    "draw": lambda graph: tfg.draw(graph, "dot"),
    "error": lambda _: InvalidArgumentError("message", node="node", op="op", hint="hint"),
    "explain": tfg.explain,
    "explain, node": lambda graph: tfg.explain(graph, "loss"),
    "explain_partition": tfg.explain_partition,
    "explain_races": tfg.explain_races,
    "find_optimizer": lambda _: tfg.find_optimizer("adam"),
    "flops": lambda graph: tfg.flops(graph, ["loss:0"]),
    "list_nodes": lambda graph: tfg.list_nodes(graph, shapes=True),
    "list_passes": lambda _: tfg.list_passes(),
    "node_fates": lambda graph: tfg.node_fates(graph, ["loss"], ["loss:0"]),
    "ops": lambda _: tfg.ops("MatMul"),
    "optimize": lambda graph: tfg.optimize(graph, ["loss:0"])[1],
    "profile": lambda graph: tfg.profile(graph, ["loss:0"], FEEDS),
    "recover_stages": tfg.recover_stages,
    "verify": lambda graph: tfg.verify(graph, graph, ["loss:0"], FEEDS),
}
HELD = {
    "EngineRuntime": lambda _: tfg.engine_runtime("auto"),
    "Session": tfg.Session,
    "TrainingReport": lambda graph: tfg.train(graph, "loss:0", FEEDS, steps=1),
    "VariableValues": lambda graph: tfg.Session(graph).variables,
}


def attributes(node):
    """The attributes as texts and tensors; two unknown sizes are never equal."""
    return {name: value if isinstance(value, tfg.Tensor) else repr(value) for name, value in node.attrs.items()}


def contents(graph):
    """All that a graph says: nodes, edges, attributes, functions, and what is beside them in a file."""
    bodies = [graph, *(function.body for function in graph.functions.values())]
    edges = [[(n.name, n.op, n.device, attributes(n), n.input_names()) for n in body] for body in bodies]
    return list(graph.functions), edges, graph.versions, graph.meta, graph.needless, graph.is_untrusted


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.name)
def test_a_graph_is_the_same_and_apart(path, way):
    graph = tfg.load(path)
    made = way(graph)
    assert contents(made) == contents(graph)
    assert made is not graph and not {id(node) for node in made} & {id(node) for node in graph}


@pytest.mark.parametrize("way", [WAYS["pickle"], WAYS["deepcopy"]], ids=["pickle", "deepcopy"])
def test_a_graph_runs_and_is_written_as_before(way, tmp_path):
    graph = tfg.load(KERAS)
    feeds = {"serving_default_measurements:0": np.ones((1, 4), np.float32)}
    wanted = tfg.Session(graph).run("StatefulPartitionedCall_1:0", feeds)
    assert np.array_equal(tfg.Session(way(graph)).run("StatefulPartitionedCall_1:0", feeds), wanted)
    for name, each in (("a.meta", graph), ("b.meta", way(graph))):
        tfg.save(each, tmp_path / name)
    assert (tmp_path / "a.meta").read_bytes() == (tmp_path / "b.meta").read_bytes()


def test_a_changed_graph_keeps_its_changes(way):
    graph, _ = tfg.optimize(tfg.load(XOR), ["loss:0"])
    graph.add_node("added", "NoOp")
    assert contents(way(graph)) == contents(graph)


def test_a_graph_without_versions_stays_without(way):
    """In a file, no version is an old version, in which the shape () of a placeholder means any shape."""
    graph = tfg.Graph()
    graph.add_node("x", "Placeholder", attrs={"dtype": tfg.load(XOR)["x"].attr("dtype"), "shape": tfg.Shape([])})
    assert contents(way(graph)) == contents(graph)


@pytest.mark.slow
def test_a_long_chain_of_nodes_does_not_nest(way):
    g = tfg.GraphBuilder()
    value = g.constant(1.0)
    for _ in range(3000):
        value = g.Neg(value)
    assert len(way(g.graph)) == 3001
    assert way(value).name == value.name


def test_nodes_and_outputs_stay_in_their_graph(way):
    graph = tfg.load(XOR)
    made, node, output = way((graph, graph["loss"], graph.output("loss:0")))
    assert node is made["loss"] and output is made.output("loss:0")


def test_a_node_outside_of_a_graph_is_refused(way):
    graph = tfg.load(XOR)
    node = graph.add_node("added", "NoOp")
    graph.remove_nodes([node])
    with pytest.raises(InvalidArgumentError, match=r"'added'.* a node outside of a graph"):
        way(node)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["__inference___call___200", "__inference_signature_wrapper___call___222"])
def test_a_function_is_the_same(name, way, tmp_path):
    function = tfg.load(KERAS).functions[name]
    made = way(function)
    assert contents(made.body) == contents(function.body)
    assert [arg.name for arg in made.args] == [arg.name for arg in function.args]
    assert all(arg is made.body[arg.name] for arg in made.args)
    tfg.save(function.body, tmp_path / "body.pb")
    assert [node.input_names() for node in tfg.load(tmp_path / "body.pb")] == [n.input_names() for n in function.body]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_the_same(name, way):
    report = REPORTS[name](tfg.load(XOR))
    made = way(report)
    assert made == report or repr(made) == repr(report)
    if hasattr(report, "to_dict"):
        assert made.to_dict() == report.to_dict()


def test_an_export_keeps_its_graph(way, tmp_path):
    pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
    export = tfg.convert(tfg.load(KERAS), tmp_path / "g.onnx", ["StatefulPartitionedCall_1:0"])
    made = way(export)
    assert made.path == export.path
    assert all(output is made.graph.output(output.name) for output in made.outputs.values())


def test_constants_and_values_of_checkpoints(way, tmp_path):
    values = {"numbers": np.arange(3), "strings": np.array([b"a", b"bc"], object), "equal": np.zeros((1000, 1000))}
    tfg.write_checkpoint(tmp_path / "c", values)
    made = way(tfg.read_checkpoint(tmp_path / "c"))
    for name, value in values.items():
        assert np.array_equal(made[name], value)
    tensor = tfg.Tensor.from_numpy(np.broadcast_to(np.float32(2), (1 << 20,)))
    assert way(tensor) == tensor
    assert len(pickle.dumps(tensor)) < 1000


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", [WAYS["pickle"], WAYS["deepcopy"]], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("name", HELD)
def test_what_holds_a_session_says_what_to_take_instead(name, way):
    with pytest.raises(TypeError, match="holds locks and compiled programs, so it cannot be pickled or copied") as raised:
        way(HELD[name](tfg.load(XOR)))
    assert "pickle" in raised.value.hint


def test_a_session_is_not_copied_by_accident():
    with pytest.raises(TypeError, match="this Session holds locks"):
        copy.copy(tfg.Session(tfg.load(XOR)))


def test_the_hint_of_a_session_leads_to_the_same_values():
    session = tfg.Session(tfg.load(XOR), seed=1)
    session.run("init")
    graph, values = pickle.loads(pickle.dumps((session.graph, dict(session.variables))))
    other = tfg.Session(graph)
    tfg.restore(other, values)
    assert np.array_equal(other.run("loss:0", FEEDS), session.run("loss:0", FEEDS))


@pytest.mark.slow
def test_another_process_reads_a_graph():
    code = "import pickle, sys; print(len(pickle.load(sys.stdin.buffer)))"
    graph = tfg.load(KERAS)
    done = subprocess.run([sys.executable, "-P", "-c", code], input=pickle.dumps(graph), capture_output=True, timeout=600)
    assert (done.stdout.split(), done.stderr) == ([str(len(graph)).encode()], b"")
