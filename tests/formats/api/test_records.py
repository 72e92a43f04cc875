"""Records of nodes, passes, clusters and runs: the data of the commands for Python."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command
from tfg.core.building.builder import GraphBuilder
from tfg.formats import loading

FEEDS = {"x:0": np.ones((1, 2), np.float32)}


@pytest.fixture
def model():
    """y = x w of a (1,2) and a (2,3) matrix: 12 FLOPs; negative = -y: 3 FLOPs."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[1, 2], name="x")
    y = g.MatMul(x, np.ones((2, 3), np.float32), name="y")
    g.Neg(y, name="negative")
    return g.graph


@pytest.mark.parametrize("streamed_from", [0, 1 << 40])
def test_nodes_of_a_file(model, tmp_path, monkeypatch, streamed_from):
    monkeypatch.setattr(loading, "STREAMED_FROM", streamed_from)
    path = tmp_path / "graph.pb"
    tfg.save(model, path)
    assert [(record.name, record.inputs) for record in tfg.stream_nodes(path, tfg.NodeFilter(op="MatMul|Neg"))] == [
        ("y", ("x", "y/b")),
        ("negative", ("y",)),
    ]
    assert len(list(tfg.stream_nodes(path))) == len(model)
    with pytest.raises(tfg.errors.NotFoundError, match="no node matches the filter: op 'Exp'"):
        list(tfg.stream_nodes(path, tfg.NodeFilter(op="Exp")))


@pytest.mark.parametrize("streamed_from", [0, 1 << 40])
def test_nodes_of_functions_come_last(tmp_path, monkeypatch, streamed_from):
    monkeypatch.setattr(loading, "STREAMED_FROM", streamed_from)
    g = GraphBuilder()
    g.Exp(g.Exp(g.Placeholder(dtype="float", shape=[], name="x")), name="y")
    clustered, _ = tfg.optimize(g.graph, "y:0", passes="cluster")
    path = tmp_path / "graph.pb"
    tfg.save(clustered, path)
    records = list(tfg.stream_nodes(path, tfg.NodeFilter(op="PartitionedCall|Exp")))
    assert [(record.op, record.function) for record in records] == [
        ("PartitionedCall", None), ("Exp", "cluster_0"), ("Exp", "cluster_0"),
    ]  # fmt: skip


def test_stages_without_a_node_are_an_error(model):
    assert [stage.name for stage in tfg.recover_stages(model, tfg.NodeFilter(op="MatMul"))] == ["model"]
    with pytest.raises(tfg.errors.NotFoundError, match="no node matches the filter: op 'Exp'"):
        tfg.recover_stages(model, tfg.NodeFilter(op="Exp"))


def test_shares_of_a_part_are_of_the_whole(model):
    """The product has 12 of 15 FLOPs."""
    report = tfg.flops(model, "negative:0")
    product = report.select(op="MatMul", section="forward")
    assert [row.share for row in tfg.flops_rows(report, "node", nodes=product)] == [1.0]
    assert [row.share for row in tfg.flops_rows(report, "op", nodes=product, whole=report.nodes)] == [12 / 15]
    assert [row.share for row in tfg.flops_rows(report, "scope", nodes=product, whole=report.nodes)] == [12 / 15]
    assert report.select(op="MatMul", section="backward") == []


def test_csv_has_shares_of_all_sections(model, tmp_path):
    """The gradient of the product by x is another product, with 12 FLOPs, and of the negation a negation, with 3."""
    path = tmp_path / "graph.pb"
    tfg.save(model, path)
    rows = command("flops", path, "--fetch", "negative", "--format", "csv").out.splitlines()
    shares = {row.split(",")[1]: row.split(",")[3] for row in rows[1:]}
    assert (shares["MatMul"], shares["Neg"]) == ("0.800000", "0.200000")


@pytest.mark.slow
def test_a_recorder_measures_a_run(model):
    recorder = tfg.KernelRecorder(with_shapes=True)
    tfg.Session(model).run("negative:0", FEEDS, hook=recorder)
    measurement = recorder.measurement()
    assert {node.path: node.flops for node in measurement.nodes if node.flops} == {"y": 12, "negative": 3}
    assert measurement.flops == 15 and 0 < measurement.op_seconds <= measurement.wall
    assert recorder.measurement(2.0).wall == 2.0
    with pytest.raises(tfg.errors.InvalidArgumentError, match="no shapes"):
        tfg.KernelRecorder().measurement()
    assert tfg.KernelRecorder(with_shapes=True).measurement().nodes == ()


def test_a_hook_stops_at_the_first_nan():
    g = GraphBuilder()
    g.Log(g.Placeholder(dtype="float", shape=[], name="x"), name="y")
    with pytest.raises(tfg.errors.InvalidArgumentError, match="1 Inf of 1 element"):
        tfg.Session(g.graph).run("y:0", {"x:0": np.float32(0)}, hook=tfg.check_numerics)


def test_the_report_has_the_clusters():
    g = GraphBuilder()
    g.Neg(g.Square(g.StringLength(g.Placeholder(dtype="string", shape=[], name="text"), name="length")), name="y")
    (cluster,) = tfg.optimize(g.graph, "y:0", passes="default,cluster")[1].clusters
    (refused,) = cluster.refused
    assert (cluster.function, cluster.nodes, cluster.supported) == ("cluster_0", 3, 2)
    assert (refused.op, refused.count, refused.nodes) == ("StringLength", 1, ("length",))
    assert tfg.optimize(g.graph, "y:0")[1].clusters == ()


def test_passes_have_options_and_rules():
    passes = {one.name: one for one in tfg.list_passes()}
    assert passes["prune"].default and not passes["cluster"].default
    assert passes["cluster"].options == {"minimum": 2}
    assert any(rule.algebra for rule in passes["arithmetic"].rules)


@pytest.fixture
def broken(tmp_path):
    """The file of a graph in which y = -x is sound, and bad = Neg() lacks the input."""
    path = tmp_path / "broken.pbtxt"
    attr = 'attr { key: "T" value { type: DT_FLOAT } }'
    path.write_text(
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
        f'node {{ name: "y" op: "Neg" input: "x" {attr} }} node {{ name: "bad" op: "Neg" {attr} }}'
    )
    return path


def test_a_part_of_a_broken_graph(broken):
    part = tfg.load_part(broken)
    assert [node.name for node in part] == ["x", "y"]
    assert tfg.Session(part).run("y:0", {"x:0": np.float32(2)}) == -2
    with pytest.raises(tfg.errors.InvalidArgumentError, match="bad"):
        part["bad"]


def test_passes_decide_what_is_checked(broken):
    assert [node.name for node in tfg.load_for_passes(broken, "prune")] == ["x", "y"]
    assert len(tfg.load_for_passes(broken, "repair,prune")) == 3
    for arguments in ({"passes": "cse"}, {"disable": ["prune"]}, {"has_fetches": False}):
        with pytest.raises(tfg.errors.InvalidArgumentError, match="bad"):
            tfg.load_for_passes(broken, **arguments)


def test_optimizers_have_hyperparameters():
    """The defaults of tf.compat.v1.train.AdamOptimizer."""
    assert tfg.find_optimizer("Adam").hyperparameters == {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
    assert tfg.optimizer_name("Levenberg_Marquardt") == "lm"
    assert tfg.NamedLoss.parse("mse(y, labels)") == tfg.NamedLoss("mse", "y", "labels")
    assert tfg.NamedLoss.parse("loss:0") is None


@pytest.fixture
def counter():
    """A variable `w` = 3 with an initializer, and a placeholder x."""
    g = GraphBuilder()
    g.Mul(g.variable(3.0, name="w"), g.Placeholder(dtype="float", shape=[], name="x"), name="y")
    g.global_variables_initializer()
    return g.graph


def test_a_session_is_initialized_and_restored(counter):
    session = tfg.Session(counter)
    assert tfg.initialize(session) == ("init",)
    assert session.variables["w"] == 3
    restored = tfg.restore(session, {"w": np.float32(5), "other": np.float32(1)})
    assert (restored.restored, restored.absent, restored.unknown) == (("w",), (), ("other",))
    assert session.variables["w"] == 5
    assert tfg.initialize(session, "init") == ("init",) and session.variables["w"] == 3
    with pytest.raises(tfg.errors.InvalidArgumentError, match="no value of any variable"):
        tfg.restore(session, {"other": np.float32(1)})


def test_ops_are_read_as_other_ops(counter):
    counter["y"].change_op("MyMul")
    assert tfg.map_ops(counter, {"MyMul": "AddV2"}) == 1
    session = tfg.Session(counter)
    tfg.initialize(session)
    assert session.run("y:0", {"x:0": np.float32(2)}) == 5


def test_a_function_is_called_as_a_graph(model):
    clustered, _ = tfg.optimize(model, "negative:0", passes="cluster")
    tfg.call_function(clustered, "cluster_0")
    signature = clustered.meta.usual_signature
    (tensor,), (fetch,) = signature.fed.values(), signature.fetched.values()
    assert tfg.Session(clustered).run(fetch, {tensor: np.ones((1, 2), np.float32)}).tolist() == [[-2, -2, -2]]


def test_a_script_has_stages(tmp_path):
    path = tmp_path / "build.py"
    path.write_text("def build(g):\n    g.constant(1.0, name='one')\n    g.stage('first')\n    g.constant(2.0, name='two')\n")
    assert [(name, len(graph)) for name, graph in tfg.run_script(str(path))] == [("first", 1), ("end", 2)]
