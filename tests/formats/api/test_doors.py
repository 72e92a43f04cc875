"""The functions of `tfg`: what each returns, against hand calculation and the command of its name."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command
from tfg.core.building.builder import GraphBuilder


@pytest.fixture
def model():
    """y = x w + 1 with w = 2, and loss = mean((y - 7)^2)."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None], name="x")
    w = g.variable(2.0, name="w")
    y = g.AddV2(g.Mul(x, w), 1.0, name="y")
    g.Mean(g.Square(g.Sub(y, 7.0)), [0], name="loss")
    g.global_variables_initializer()
    return g.graph


FEEDS = {"x:0": np.float32([1, 3])}


def test_check_finds_problems_of_graphs_and_files(model, tmp_path):
    assert tfg.check(model) == ()
    model["y"].change_op("NoSuchOp")
    assert any(problem.node == "y" and problem.severity == "error" for problem in tfg.check(model))
    broken = tmp_path / "broken.pbtxt"
    broken.write_text('node { name: "y" op: "Neg" input: "nothing" attr { key: "T" value { type: DT_FLOAT } } }')
    assert [problem.node for problem in tfg.check(str(broken))][:1] == ["y"]
    assert command("check", broken).code == 3


def test_compare_says_where_two_graphs_part(model):
    other = model.copy()
    assert tfg.compare(model, other, "loss:0", FEEDS).agrees
    other.node("Sub/y").set_attr("value", tfg.GraphBuilder().constant(8.0).node.attrs["value"])
    result = tfg.compare(model, other, "loss:0", FEEDS)
    assert not result.agrees
    assert result.first.tensor == "Sub/y:0" and result.first.largest_difference == 1
    assert tfg.compare(model, other, "y:0").agrees  # the feeds are drawn


def test_compare_with_what_passes_make(model):
    """A negation of a negation goes, and the values stay; training steps begin from the same variables."""
    g = GraphBuilder(model)
    y = g.Neg(g.Neg(model.output("y:0")), name="twice")
    g.Sub(g.AssignSub(model.output("w:0"), 0.5), 0.0, name="step")
    result = tfg.compare(model, fetches=["twice:0", "step:0"], feeds=FEEDS, passes="default")
    assert result.agrees and {y.name, "step:0"} <= {node.tensor for node in result.nodes}
    assert result.only_before == ("Neg",)


def test_compare_names_that_differ(model):
    other = model.copy()
    other.rename_node(other["loss"], "cost")
    with pytest.raises(tfg.errors.NotFoundError, match="loss"):
        tfg.compare(model, other, "loss:0", FEEDS)
    assert tfg.compare(model, other, {"loss:0": "cost:0"}, FEEDS).agrees


def test_compare_by_two_engines(model):
    """Each run begins from the initial values: 2 less 0.5, not 2 less 0.5 twice."""
    GraphBuilder(model).AssignSub(model.output("w:0"), 0.5, name="step")
    result = tfg.compare(model, fetches=["step:0", "y:0"], feeds=FEEDS, engines=("numpy", "numpy"))
    assert result.agrees and {"step:0", "y:0"} <= {node.tensor for node in result.nodes}
    assert result.engines == ()


def test_compare_times_nodes(model):
    """Which node comes first depends on the load of the machine; that each has its times does not."""

    def built(op):
        g = GraphBuilder()
        x = g.Placeholder(dtype="float", shape=[None], name="x")
        g.Exp(getattr(g, op)(g.Tanh(x), name="heavy"), name="y")
        return g.graph

    result = tfg.compare(built("Neg"), built("Erfinv"), "y:0", {"x:0": np.full(200_000, 0.3, np.float32)}, measured=True)
    assert {"heavy", "Tanh", "y"} <= {row.node for row in result.times.nodes}
    assert tfg.compare(model, model, "y:0").times is None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"passes": "default", "engines": ("numpy", "numpy")},
        {"engines": ("numpy",)},
        {"engines": ("numpy", "numpy"), "measured": True},
        {"engines": ("numpy", "none")},
        {"passes": "none"},
        {"passes": "default", "signature": "none"},
    ],
)
def test_compare_refuses_what_does_not_fit(model, options):
    with pytest.raises((tfg.errors.InvalidArgumentError, tfg.errors.NotFoundError)):
        tfg.compare(model, fetches="y:0", feeds=FEEDS, **options)


def test_compare_states():
    result = tfg.compare_states({"a": np.float32([1, 2])}, {"a": np.float32([1, 2.5])})
    assert [(row.tensor, row.largest_difference, row.passed) for row in result.nodes] == [("a", 0.5, False)]


def test_diff(model):
    other = model.copy()
    other.rename_node(other["loss"], "cost")
    result = tfg.diff(model, other)
    assert ([node.name for node in result.added], [node.name for node in result.removed]) == (["cost"], ["loss"])
    assert tfg.diff(model, model.copy()).is_empty


def test_flops_counts_what_the_command_counts(model, tmp_path):
    """Of y = x w + 1 the product and the sum are N each; the gradient of w needs the backward pass."""
    report = tfg.flops(model, "y:0", sizes={"N": 5})
    assert report.total().flops == 10 and report.symbols == {}
    assert str(tfg.flops(model, "y:0").total().flops) == "2*N"
    with pytest.raises(tfg.errors.InvalidArgumentError, match="not depend on this size"):
        tfg.flops(model, "y:0", sizes={"M": 5})
    trained = tfg.flops(model, "loss:0", backward=True, values=FEEDS)
    assert set(trained.sections()) == {"forward", "backward"}
    counter = tfg.FlopsCounter(model, "loss:0", backward=True, sizes={"N": 2})
    own, everything = counter.by_variable()["w"]
    assert own == everything and own.flops == trained.sections()["backward"].flops
    tfg.save(model, tmp_path / "g.pb")
    shown = command("flops", tmp_path / "g.pb", "--fetch", "loss", "--backward", "--batch", "2", "--format", "json").json
    assert shown["total"]["flops"] == trained.total().flops
    assert [row.op for row in tfg.FlopsCounter(model, "y:0", sizes={"N": 2}).beside_profiler()] != []


def test_profile_takes_a_session_of_the_caller(model):
    session = tfg.Session(model)
    session.run("init")
    measurement = tfg.profile(model, "y:0", FEEDS, open_session=lambda graph: session)
    assert measurement.flops == 4 and {node.op for node in measurement.nodes} >= {"Mul", "AddV2"}
    with pytest.raises(TypeError, match="Session"):
        tfg.profile(model, "y:0", FEEDS, open_session=lambda graph: None)


def test_freeze_takes_initial_values_values_and_sessions(model):
    session = tfg.Session(model)
    session.run("init")
    for values, factor in ((None, 2), ({"w": np.float32(5)}, 5), (session, 2)):
        frozen = tfg.freeze(model, values, "y:0")
        assert not [node for node in frozen if node.op == "VariableV2"]
        np.testing.assert_array_equal(tfg.Session(frozen).run("y:0", FEEDS), [factor + 1, 3 * factor + 1])
    with pytest.raises(tfg.errors.FailedPreconditionError, match="'w' has no value"):
        tfg.freeze(model, {}, "y:0")


def test_extract_cuts(model):
    part = tfg.extract(model, "loss:0", ["y:0"])
    assert "w" not in part and part["y"].op == "Placeholder"
    assert tfg.Session(part).run("loss:0", {"y:0": np.float32([4, 7])}) == 4.5


def test_convert_writes_what_the_name_says(model, tmp_path):
    for name in ("m.pb", "m.pbtxt", "m.pb.gz"):
        tfg.convert(model, tmp_path / name)
        assert tfg.diff(tfg.load(str(tmp_path / name)), model).is_empty
    tfg.convert(model, tmp_path / "part.pb", "y:0")
    assert "loss" not in tfg.load(str(tmp_path / "part.pb"))
    with pytest.raises(tfg.errors.InvalidArgumentError):
        tfg.convert(model, tmp_path / "m.tflite")


def test_convert_writes_onnx(model, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    path = tmp_path / "m.onnx"
    written = tfg.convert(model, path, "y:0", state={"w": np.float32(4)}, shapes={"x:0": (2,)})
    assert list(written.inputs) == ["x"] and all(row.passed for row in written.verify())
    session = runtime.InferenceSession(str(path))
    np.testing.assert_allclose(session.run(["y"], {"x": np.float32([1, 3])})[0], [5, 13])


def test_reduce_keeps_what_fails(model):
    part = tfg.reduce(model, lambda graph: any(node.op == "Square" for node in graph), "loss:0", FEEDS)
    assert [node.op for node in part if node.op not in ("Const", "NoOp", "Identity", "Placeholder")] == ["Square"]
    with pytest.raises(tfg.errors.InvalidArgumentError, match="whole graph"):
        tfg.reduce(model, lambda graph: False, "loss:0", FEEDS)


def test_reduce_tells_where_the_graph_stops(model):
    b = tfg.GraphBuilder(model)
    b.CheckNumerics(b.Log(b.Neg(b.Square(model.output("y:0")))), message="no number", name="checked")
    errors = []
    part = tfg.reduce(model, lambda graph: "checked" in graph, "checked:0", FEEDS, on_error=errors.append)
    assert [error.node for error in errors] == ["checked"] and "loss" not in part


def test_verify_compares_fetches(model):
    other = model.copy()
    assert tfg.verify(model, other, "loss:0").passed
    other.node("Sub/y").set_attr("value", tfg.GraphBuilder().constant(8.0).node.attrs["value"])
    result = tfg.verify(model, other, "loss:0", FEEDS)  # ((3 - 8)^2 + (7 - 8)^2) / 2 - 8
    assert [(row.fetch, row.largest_difference, row.passed) for row in result.comparisons] == [("loss:0", 5, False)]
    assert tfg.verify(model, other, "y:0", FEEDS, steps=2).steps == 2
    assert tfg.verify(model, other, "loss:0", FEEDS, tolerance=1.0).passed
    smaller, report = tfg.optimize(model, "loss:0")
    assert tfg.verify(model, smaller, "loss:0", tolerance=report.accuracy, state={"w": np.float32(5)}).passed


def test_explain_of_a_signature_takes_its_inputs_and_outputs(tmp_path):
    """The signature of a written SavedModel has the outputs that the fetch names."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None], name="x")
    b.Neg(b.Abs(x, name="middle"), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    assert command("convert", tmp_path / "g.pb", f"{tmp_path}/model/", "--to", "middle:0").code == 0
    graph = tfg.load(str(tmp_path / "model"))
    facts = tfg.explain(graph, signature="serving_default", path="model")
    assert [tensor.name for tensor in facts.outputs] == ["middle"]
    shown = command("explain", tmp_path / "model", "--signature", "serving_default", "--format", "json").json
    assert [tensor["name"] for tensor in shown["outputs"]] == ["middle"]
    of_file = tfg.explain(graph, signature="serving_default", raw=True)
    assert [tensor.name for tensor in of_file.outputs] == ["middle:0"]
    with pytest.raises(tfg.errors.InvalidArgumentError, match="no signature 'other'"):
        tfg.explain(graph, signature="other")


def test_explain_says_what_runs_where(model):
    assert [run.fetches for run in tfg.explain_races(model, ["loss:0"])] == [("loss:0",)]
    devices = tfg.explain_partition(model, ["y:0"]).devices
    assert {"x", "w", "y"} <= set(devices) and "loss" not in devices
    assert tfg.missing_ops(model) == ()
    model["Square"].change_op("NoSuchOp")
    assert [(missing.op, missing.nodes) for missing in tfg.missing_ops(model)] == [("NoSuchOp", ("Square",))]


def test_node_fates_tell_what_optimizing_does(model):
    constant = tfg.GraphBuilder(model).Neg(tfg.GraphBuilder(model).constant(1.0, name="one"), name="minus")
    tfg.GraphBuilder(model).Add(constant, model.output("y:0"), name="z")
    (fate,) = tfg.node_fates(model, ["minus"], ["z:0"])
    assert fate.op == "Neg" and fate.op_after in ("Const", None)


def test_train_takes_gradient_steps(model):
    """d loss / d w = mean(2 (x w - 6) x) = -4 - 0 over x = 1, 3 at w = 2: -4."""
    report = tfg.train(model, "loss:0", FEEDS, steps=2, optimizer="sgd", lr=0.1)
    assert report.losses[0] == pytest.approx(8)  # (3 - 7)^2 and (7 - 7)^2
    assert report.losses[1] == pytest.approx((3.4 - 7) ** 2 / 2 + (8.2 - 7) ** 2 / 2)  # w = 2.4
    assert report.variables == ("w",)
    assert "w" in report.state and [row["step"] for row in report.to_records()] == [1, 2]
    assert report.session.run("w:0") == report.state["w"]
    first = tfg.train(model, "loss:0", FEEDS, steps=1, optimizer="sgd", lr=0.1, state={"w": np.float32(3)})
    assert first.losses == [pytest.approx((4 - 7) ** 2 / 2 + (10 - 7) ** 2 / 2)]


def test_train_ends_where_the_loss_is_not_finite(model):
    seen = []
    report = tfg.train(model, "loss:0", FEEDS, steps=200, optimizer="sgd", lr=1e20, on_step=seen.append)
    assert len(report.history) < 200 and not np.isfinite(report.losses[-1])
    assert tuple(seen) == report.history


def test_train_takes_a_loss_by_name_and_clips(model):
    """d loss / d w = mean(2 (x w + 1 - 7) x) = -4; a clipped gradient of -1 moves w from 2 to 2.1."""
    by_name = tfg.train(model, "mse(y, labels)", FEEDS | {"labels": np.float32([7, 7])}, steps=1, optimizer="sgd", lr=0.1)
    assert by_name.losses == [pytest.approx(8)] and by_name.state["w"] == pytest.approx(2.4)
    clipped = tfg.train(model, "loss:0", FEEDS, steps=1, optimizer="sgd", lr=0.1, clipping=tfg.Clipping("value", 1))
    assert clipped.state["w"] == pytest.approx(2.1)
    with pytest.raises(tfg.errors.InvalidArgumentError, match="labels"):
        tfg.train(model, "mse(y)", FEEDS)


def test_train_ends_where_the_caller_says_so(model):
    report = tfg.train(model, "loss:0", FEEDS, on_start=lambda trainer: 3, on_step=lambda step: step.step < 5)
    assert [step.step for step in report.history] == [4, 5] and not report.has_diverged


def test_fit_solves_least_squares(model):
    """(w - 6)^2 + (3 w - 6)^2 is least at w = 2.4, with half the sum (3.6^2 + 1.2^2) / 2 = 7.2."""
    report = tfg.fit(model, "mse(y, labels)", FEEDS | {"labels": np.float32([7, 7])})
    assert report.converged and report.cost == pytest.approx(7.2, rel=1e-5)
    assert report.parameters == pytest.approx([2.4], rel=1e-4) and report.state["w"] == pytest.approx(2.4, rel=1e-4)
    assert tfg.fit(model, "Sub:0", FEEDS, state={"w": np.float32(9)}).cost == pytest.approx(7.2, rel=1e-5)
    seen = []
    tfg.fit(model, "Sub:0", FEEDS, iterations=1, on_step=seen.append)
    assert [iteration.number for iteration in seen] == [1]


def test_a_session_of_the_caller_runs_the_graph(model):
    graphs = []

    def opened(graph):
        graphs.append(graph)
        session = tfg.Session(graph, seed=3)
        session.run("init")
        return session

    report = tfg.train(model, "loss:0", FEEDS, steps=1, open_session=opened)
    assert report.session.graph is graphs[0] and report.session.seed == 3


@pytest.mark.parametrize("name", ["state.npz", "state.ckpt"])
def test_checkpoints_round_trip(tmp_path, name):
    values = {"a/w": np.float32([[1, 2]]), "n": np.int64(7)}
    tfg.write_checkpoint(tmp_path / name, values)
    read = tfg.read_checkpoint(tmp_path / name)
    assert list(read) == ["a/w", "n"] and "b" not in read and read.get("b") is None
    for key, value in values.items():
        np.testing.assert_array_equal(read[key], value)
        assert read[key].dtype == value.dtype
    assert repr(read) == f"<Checkpoint {name}: 2 tensors>"
    assert read.to_records()[0] == {"name": "a/w", "dtype": "float", "shape": [1, 2], "elements": 2}
    with pytest.raises(tfg.errors.NotFoundError) as caught:
        read["a/v"]
    assert caught.value.hint == "nearest names: a/w"


def test_checkpoints_are_described_and_compared(tmp_path):
    tfg.write_checkpoint(tmp_path / "a.npz", {"w": np.float32([1, 2]), "b": np.float32([0])})
    tfg.write_checkpoint(tmp_path / "b.npz", {"w": np.float32([1, 2.5]), "c": np.float32([0])})
    first, second = (tfg.read_checkpoint(tmp_path / name) for name in ("a.npz", "b.npz"))
    rows = first.describe(statistics=True)
    assert [(row.name, row.bytes, row.statistics.max) for row in rows if row.name == "w"] == [("w", 8, 2)]
    assert list(first.matching("^w")) == ["w"]
    result = tfg.compare_checkpoints(first, second)
    assert {row.name: row.status for row in result.tensors} == {"b": "missing", "c": "missing", "w": "different"}
    assert tfg.compare_checkpoints(first, second, pattern="w", tolerance=0.5).equal
    shown = command("checkpoint", tmp_path / "a.npz", "--compare", tmp_path / "b.npz", "--format", "json")
    assert [row["status"] for row in shown.json["tensors"]] == [row.status for row in result.tensors]


def test_draw_without_a_program(model):
    assert "loss" in str(tfg.draw(model, "text"))
    assert str(tfg.draw(model, "dot")).startswith("digraph")
    with pytest.raises(tfg.errors.InvalidArgumentError, match="unknown format 'gif'"):
        tfg.draw(model, "gif")


def test_draw_takes_the_options_of_the_command(model):
    part = str(tfg.draw(model, "dot", nodes=["x", "Mul", "y"], shapes=True, everything=True))
    assert "loss" not in part and "float" in part
    assert tfg.draw(model, "dot", color_by="device").data != tfg.draw(model, "dot", flops=True, fetches=["y:0"]).data
    stages = tfg.draw_each(model, "stages", "text")
    assert stages[0].title == "variables" and "loss" in str(stages[-1])
    assert [drawing.title for drawing in tfg.draw_each(model, "functions", "dot")] == [""]
    with pytest.raises(tfg.errors.InvalidArgumentError, match="unknown colouring 'age'"):
        tfg.draw(model, "dot", color_by="age")
    with pytest.raises(tfg.errors.NotFoundError, match="no node matches"):
        tfg.draw(model, "dot", nodes=[])


def test_ops_says_what_the_command_says():
    (detail,) = tfg.ops("MatMul")
    assert command("ops", "MatMul", "--format", "json").json["ops"][0]["spec"] == detail.spec
    assert [op.name for op in tfg.ops("^Conv2D$")] == ["Conv2D"]
    with pytest.raises(tfg.errors.NotFoundError):
        tfg.ops("NoSuchOpAtAll")


def test_nodes_are_those_of_dump(model, tmp_path):
    path = tmp_path / "g.pb"
    tfg.save(model, path)
    listing = tfg.list_nodes(model, op="Mul|AddV2", order="name", shapes=True)
    assert [(node.name, str(node.outputs[0])) for node in listing.nodes] == [("Mul", "float (?)"), ("y", "float (?)")]
    done = command("dump", path, "--op", "Mul|AddV2", "--sort", "name", "--shapes", "--format", "json").json
    assert [node["name"] for node in done["nodes"]] == [node.name for node in listing.nodes]
    assert {node.name for node in tfg.list_nodes(model, around="y", hops=1).nodes} == {"y", "y/y", "Mul", "Sub"}
    assert {node.name for node in tfg.list_nodes(model, to="y:0", exclude="/").nodes} == {"y", "Mul", "x", "w"}
    for wrong in ({"order": "size"}, {"op": "("}, {"name": "none"}, {"to": "none"}):
        with pytest.raises(tfg.errors.TfgError):
            tfg.list_nodes(model, **wrong)


def test_elements_are_those_of_dump(tmp_path):
    """0, 2, 4 ... times a variable: 3 at first, or the value of a state."""
    g = GraphBuilder()
    g.VariableV2(dtype="int64", shape=[], name="v")
    g.Assign(g.graph.output("v:0"), np.int64(3), name="v/Assign")
    numbers = {"output_types": ["int64"], "output_shapes": [[]]}
    step = g.Mul(g.Identity(g.graph.output("v:0")), np.int64(2))
    g.RangeDataset(np.int64(0), np.int64(99), step, name="even", **numbers)
    first = [[value.value.item() for value in element.values] for element in tfg.first_elements(g.graph, "even", 3)]
    assert first == [[0], [6], [12]]
    (_, second) = tfg.first_elements(g.graph, "even", 2, state={"v": np.int64(5)})
    assert second.values[0].value == 10
    tfg.save(g.graph, tmp_path / "g.pb")
    done = command("dump", tmp_path / "g.pb", "--elements", "even", "--format", "json").json
    assert [step["values"][0]["value"] for step in done["steps"]] == [0, 6, 12]
    with pytest.raises(tfg.errors.InvalidArgumentError, match="neither a dataset nor an iterator"):
        tfg.first_elements(g.graph, "v")


def test_pipelines_read_the_tables_of_their_graph(tmp_path):
    """The step of the range is the value of key 1 in a table."""
    g = GraphBuilder()
    table = g.HashTableV2(key_dtype="int64", value_dtype="int64", name="table")
    g.InitializeTableV2(table, np.int64([1]), np.int64([7]), name="fill")
    step = g.LookupTableFindV2(table, np.int64(1), np.int64(0))
    g.RangeDataset(np.int64(0), np.int64(99), step, name="sevens", output_types=["int64"], output_shapes=[[]])
    elements = tfg.first_elements(g.graph, "sevens", 3)
    assert [value.value.item() for element in elements for value in element.values] == [0, 7, 14]
    tfg.save(g.graph, tmp_path / "g.pb")
    done = command("dump", tmp_path / "g.pb", "--elements", "sevens", "--format", "json").json
    assert [step["values"][0]["value"] for step in done["steps"]] == [0, 7, 14]


def test_op_coverage_and_formulas_are_those_of_ops():
    coverage = tfg.op_coverage()
    assert command("ops", "--coverage", "--format", "json").json["total"]["kernels"] == coverage.total.kernels
    formula = tfg.flops_formulas("MatMul")[0]
    assert formula.ops == ("MatMul",)
    assert command("ops", "MatMul", "--flops", "--format", "json").json["formulas"][0]["flops"] == formula.flops
    custom = {op["name"] for op in command("ops", "--custom", "--format", "json").json["ops"]}
    assert {op.name for op in tfg.ops(custom=True)} == custom, "op libraries that other tests loaded"


def test_wrappers_build_graphs():
    text = tfg.write_wrappers(["Neg", "AddV2"])
    scope: dict = {}
    exec(text, scope)
    g = GraphBuilder()
    result = scope["add_v2"](g, 1.0, scope["neg"](g, 2.0))
    assert tfg.Session(g.graph).run(result.name) == -1
    assert command("ops", "Neg", "AddV2", "--wrap").out.strip() == text.strip()
    with pytest.raises(tfg.errors.NotFoundError, match="no op is called 'Negg'"):
        tfg.write_wrappers(["Negg"])


def test_missing_parts(model):
    assert tfg.missing_parts(model) == ()
    model["y"].change_op("NoSuchOp")
    assert [(row.op, row.missing) for row in tfg.missing_parts(model)] == [("NoSuchOp", ("interface",))]


def test_a_measurement_by_scope_and_its_trace(model):
    measurement = tfg.profile(model, "loss:0", FEEDS)
    assert {row.path for row in measurement.by_scope(1)} >= {"y", "loss"}
    events = [event for event in measurement.trace()["traceEvents"] if event["ph"] == "X"]
    assert {event["args"]["node"] for event in events} >= {"y", "loss"}


@pytest.fixture
def counting():
    """y = 2 x + offset, and the number of runs so far."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None], name="x")
    offset = g.variable(1.0, name="offset")
    count = g.variable(0.0, name="count")
    g.AddV2(g.AddV2(x, x), offset, name="y")
    g.Identity(g.AssignAdd(count, 1.0), name="counted")
    g.Log(g.CheckNumerics(x, message="not finite"), name="log")
    g.global_variables_initializer()
    return g.graph


@pytest.fixture
def arrays(tmp_path):
    for i in range(3):
        np.savez(tmp_path / f"a{i}.npz", x=np.float32([i, i + 1]))
    return str(tmp_path / "*.npz")


def test_each_input_runs(counting, arrays, tmp_path):
    """The results are 2 x + 1, those of the command; a run that writes begins from the initial values."""
    results = {result.name: result.values["y:0"] for result in tfg.run_each(counting, arrays, "y:0")}
    assert {name: list(value) for name, value in results.items()} == {"a0": [1, 3], "a1": [3, 5], "a2": [5, 7]}
    assert [result.values["counted:0"] for result in tfg.run_each(counting, arrays, "counted:0")] == [1, 1, 1]
    tfg.save(counting, tmp_path / "g.pb")
    options = "--init", "--fetch", "y:0", "--each", arrays, "--out-dir", tmp_path / "out"
    assert command("run", tmp_path / "g.pb", *options).code == 0
    for name, value in results.items():
        assert list(np.load(tmp_path / "out" / f"{name}.npz")["y:0"]) == list(value)


def test_each_part_and_setting_runs(counting, tmp_path):
    for i in range(3):
        np.savez(tmp_path / f"a{i}.npz", other=np.float32([10 * i]))
    results = list(tfg.run_each(counting, str(tmp_path), ["y:0"], parts={"x:0": "other"}, sweep={"offset": [0, 5]}))
    assert [(result.name, result.values["y:0"].tolist()) for result in results] == [
        ("a0,offset=0", [0]), ("a0,offset=5", [5]), ("a1,offset=0", [20]), ("a1,offset=5", [25]), ("a2,offset=0", [40]),
        ("a2,offset=5", [45]),
    ]  # fmt: skip
    swept = tfg.run_each(counting, (), "y:0", sweep={"x:0": [[1.0], [2.0]]}, state={"offset": np.float32(3)})
    assert [result.values["y:0"].tolist() for result in swept] == [[5], [7]]


def test_each_failure_is_a_result_or_an_end(counting, tmp_path):
    for name, value in (("a", 1.0), ("b", np.nan), ("c", 1.0)):
        np.save(tmp_path / f"{name}.npy", np.float32([value]))
    pattern = str(tmp_path / "*.npy")
    results = list(tfg.run_each(counting, pattern, "log:0", keep_going=True))
    assert [(result.name, result.error is None) for result in results] == [("a", True), ("b", False), ("c", True)]
    assert results[1].error.node == "CheckNumerics" and "not finite" in repr(results[1])
    with pytest.raises(tfg.errors.InvalidArgumentError, match="not finite"):
        list(tfg.run_each(counting, pattern, "log:0"))
    for wrong in ({"inputs": "none/*.npy"}, {"fetches": "none"}, {"parts": {"none": "x"}}, {"parts": {"x:0": "?none=1"}}):
        with pytest.raises(tfg.errors.TfgError):
            tfg.run_each(counting, **{"inputs": pattern, **wrong})


def test_a_fit_in_a_session_without_values_names_the_variable():
    g = tfg.GraphBuilder()
    g.Square(g.variable(3.0, name="v"), name="residuals")
    with pytest.raises(tfg.errors.FailedPreconditionError, match="variable 'v' has no value") as caught:
        tfg.fit(g.graph, "residuals:0", open_session=tfg.Session)
    assert "open_session" in caught.value.hint
