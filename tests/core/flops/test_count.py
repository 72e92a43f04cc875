"""What is counted: only what runs, as often as it runs, symbols where sizes are unknown, and nothing silently left out."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from tests.cases import control_flow as loops
from tests.cli.running import tfg
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.flops import count_flops
from tfg.core.flops.flops_report import magnitude
from tfg.core.flops.measured import measure
from tfg.core.flops.training_steps import with_backward
from tfg.core.flops.views import by_node, by_op, by_scope, readable, shortened, what_is_short
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.dims import Dim, dim_min, floor_div
from tfg.formats.saving import save


def dense(g, x, inputs, outputs, scope):
    """x W + b and its ReLU, under a scope."""
    with g.name_scope(scope):
        w, b = g.variable(np.zeros((inputs, outputs), np.float32), "w"), g.variable(np.zeros(outputs, np.float32), "b")
        return g.Relu(g.BiasAdd(g.MatMul(x, w), b))


@pytest.fixture
def model():
    """Two layers of unknown batch, a loss, and a node that nothing fetches."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    hidden = dense(g, x, 4, 3, "one")
    y = dense(g, hidden, 3, 2, "two")
    g.MatMul(x, np.ones((4, 50), np.float32), name="dead")
    g.Mean(y, [0, 1], name="loss")
    return g


def costs(report):
    return {node.path: node.cost.flops for node in report.nodes}


def test_only_what_runs_is_counted_and_the_batch_is_a_symbol(model):
    report = count_flops(model.graph, ["loss:0"])
    assert str(report.total().macs) == "18*N"
    assert str(report.total().flops) == "48*N"  # 36 for multiply-adds, 10 for biases and ReLUs, 2 for the mean
    assert "dead" not in costs(report)
    assert report.symbols == {"N": "the batch: dimension 0 of every placeholder"}
    assert report.coverage == 1
    assert report.total().parameters == 4 * 3 + 3 + 3 * 2 + 2
    assert report.substituted({"N": 8}).total().flops == 8 * 48
    assert count_flops(model.graph, ["loss:0"], shapes={"x": (8, 4)}).total().flops == 8 * 48
    assert costs(count_flops(model.graph, ["loss:0"], feeds=["one/Relu:0"])).keys().isdisjoint({"one/MatMul"})


def test_several_unknown_dimensions_make_a_polynomial():
    g = GraphBuilder()
    q = g.Placeholder(dtype="float32", shape=[None, None, 8], name="q")
    scores = g.Softmax(g.BatchMatMulV2(q, q, adj_y=True))
    total = count_flops(g.graph, [scores.name]).total()
    assert readable(total.macs) == "8 x N x q_1^2"
    assert readable(total.flops) == "20 x N x q_1^2 - 2 x N x q_1"
    assert readable(total.transcendentals) == "1 x N x q_1^2"
    assert magnitude(total.macs) == 8 * 100**2


def test_what_has_no_formula_is_listed(model):
    g = model
    g.graph.add_node("custom", "FooOp", [g.graph.output("two/Relu:0")], (), {}, "")
    report = count_flops(g.graph, ["custom"])
    assert [(node.path, node.op, node.reason) for node in report.unknown()] == [("custom", "FooOp", "its op is unknown")]
    assert 0.9 < report.coverage < 1


def test_unknown_shapes_say_where_they_come_from():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", name="x")
    y = g.Square(x, name="y")
    report = count_flops(g.graph, [y.name])
    assert [node.path for node in report.unknown()] == ["y"]
    assert "shapes=" in report.unknown()[0].reason


def test_sections_of_a_training_step(model):
    g = model
    graph, gradients = with_backward(g.graph, "loss:0")
    h = GraphBuilder(graph)
    steps = [
        h.ApplyGradientDescent(graph.output(f"{name}:0"), 0.1, graph.output(gradient)) for name, gradient in gradients.items()
    ]
    train = h.group([step.node for step in steps], "train")
    sections = count_flops(graph, [train.name, "loss:0"], shapes={"x": (5, 4)}).sections()
    assert list(sections) == ["forward", "backward", "update"]
    assert sections["update"].flops == 2 * (12 + 3 + 6 + 2)
    # Each layer's weights, and the input of the second layer: no gradient flows to x.
    assert sections["backward"].macs == 5 * (12 + 6 + 6)
    assert sections["forward"].macs == 5 * (12 + 6)


def test_initializers_are_a_section():
    g = GraphBuilder()
    g.variable(g.Mul(g.constant(np.ones(10, np.float32)), 2.0), "v")
    init = g.global_variables_initializer()
    sections = count_flops(g.graph, [init.name]).sections()
    assert list(sections) == ["initializer"]
    assert sections["initializer"].flops == 10


def test_backward_for_some_variables(model):
    graph, gradients = with_backward(model.graph, "loss:0", "two/w")
    assert len(gradients) == 1
    assert count_flops(graph, list(gradients.values()), shapes={"x": (5, 4)}).sections()["backward"].macs == 5 * 6
    with pytest.raises(InvalidArgumentError, match="no variable or weight that matches 'nothing'"):
        with_backward(model.graph, "loss:0", "nothing")
    g = GraphBuilder()
    g.Square(g.Placeholder(dtype="float32", shape=[2], name="x"), name="y")
    with pytest.raises(InvalidArgumentError, match=r"'y:0' depends on no variable or weight$"):
        with_backward(g.graph, "y:0")


def test_functions_and_their_calls_are_followed():
    g = GraphBuilder()
    define(g, "square", ["float32"], lambda b, x: [b.Square(x)])
    define(g, "twice", ["float32"], lambda b, x: [b.PartitionedCall(
        b.PartitionedCall([x], Tout=["float32"], f="square"), Tout=["float32"], f="square")[0]])  # fmt: skip
    x = g.Placeholder(dtype="float32", shape=[7])
    y = g.PartitionedCall([x], Tout=["float32"], f="twice", name="call")[0]
    report = count_flops(g.graph, [y.name])
    assert report.total().flops == 14
    assert [n.path for n in report.nodes if n.op == "Square"] == [
        "call/PartitionedCall/Square", "call/PartitionedCall_1/Square"]  # fmt: skip


def test_a_function_reads_the_parameters_of_its_caller():
    g = GraphBuilder()
    define(g, "dense", ["float32", "float32"], lambda b, x, w: [b.MatMul(x, w)])
    w = g.Identity(g.VariableV2(shape=[3, 3], dtype="float32"))
    once = g.PartitionedCall([g.Placeholder(dtype="float32", shape=(2, 3)), w], Tout=["float32"], f="dense")
    twice = g.PartitionedCall([once[0], w], Tout=["float32"], f="dense")
    assert count_flops(g.graph, [twice[0].name]).total().parameters == 9


def test_a_function_that_calls_itself_is_refused():
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, x: [b.PartitionedCall([x], Tout=["float32"], f="f")[0]])
    y = g.PartitionedCall([1.0], Tout=["float32"], f="f")[0]
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        count_flops(g.graph, [y.name])


def branches(g, condition, op="If"):
    define(g, "cheap", ["float32"], lambda b, x: [b.Neg(x)])
    define(g, "dear", ["float32"], lambda b, x: [b.Square(b.Square(x))])
    x = g.Placeholder(dtype="float32", shape=[7])
    if op == "Case":
        return g.Case(condition, [x], Tout=["float32"], branches=["cheap", "dear"], name="choice")[0]
    return g.If(condition, [x], Tout=["float32"], then_branch="cheap", else_branch="dear", name="choice")[0]


@pytest.mark.parametrize("op, value, flops, said", [
    ("If", None, 14, "else is counted"), ("If", True, 7, "then runs"), ("If", False, 14, "else runs"),
    ("Case", 0, 7, "0 runs"), ("Case", 9, 14, "1 runs"),
])  # fmt: skip
def test_branches(op, value, flops, said):
    g = GraphBuilder()
    condition = g.Placeholder(dtype="bool", shape=[]) if value is None else g.constant(value)
    report = count_flops(g.graph, [branches(g, condition, op).name])
    assert report.total().flops == flops
    assert any(said in note for note in report.notes)


@pytest.mark.parametrize("value, flops, said", [(None, 6, "true is counted"), (False, 3, "false runs")])
def test_branches_of_switches(value, flops, said):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[3])
    p = g.Placeholder(dtype="bool", shape=[]) if value is None else g.constant(value)
    left, right = g.Switch(x, p)
    merged, _ = g.Merge([g.Neg(left), g.Square(g.Square(right))])
    report = count_flops(g.graph, [g.Neg(merged).name])
    assert report.total().flops == flops + 3
    assert any(said in note for note in report.notes)


def counting(g, limit, op="While"):
    define(g, "condition", ["int32", "float32"], lambda b, i, x: [b.Less(i, limit)])
    define(g, "body", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, 1), b.Square(x)])
    x = g.Placeholder(dtype="float32", shape=[7])
    return g.apply(op, [g.constant(0), x], cond="condition", body="body", name="loop")[1]


@pytest.mark.parametrize("op", ["While", "StatelessWhile"])
def test_while(op):
    g = GraphBuilder()
    report = count_flops(g.graph, [counting(g, 5, op).name])
    assert costs(report)["loop/Square"] == 35
    assert costs(report)["loop/Less"] == 6
    assert any("5 iterations" in note for note in report.notes)


def test_trips_that_cannot_be_derived_are_a_symbol_until_they_are_given():
    g = GraphBuilder()
    define(g, "condition", ["float32"], lambda b, x: [b.Less(b.Sum(x, [0]), 10.0)])
    define(g, "body", ["float32"], lambda b, x: [b.Square(x)])
    y = g.While([g.Placeholder(dtype="float32", shape=[7])], cond="condition", body="body", name="loop")[0]
    report = count_flops(g.graph, [y.name])
    assert str(costs(report)["loop/Square"]) == "7*trips[loop]"
    assert "trips[loop]" in report.symbols
    assert costs(count_flops(g.graph, [y.name], trips={"loop": 4}))["loop/Square"] == 28


def test_loops_of_switches():
    g = GraphBuilder()
    (fetches,) = loops.doubling(g)
    report = count_flops(g.graph, fetches)
    assert {str(node.times) for node in report.nodes if node.op == "AddV2"} == {"5"}
    assert report.total().flops >= 5 * (1 + 3)


def test_nested_loops():
    g = GraphBuilder()
    (fetches,) = loops.loop_in_loop(g)
    report = count_flops(g.graph, fetches)
    (multiplied,) = [node for node in report.nodes if node.op == "Mul"]
    assert (multiplied.times, multiplied.cost.flops) == (6, 18)
    assert report.unknown() == []


def test_views(model):
    report = count_flops(model.graph, ["loss:0"], shapes={"x": (5, 4)})
    assert [row.name for row in by_op(report.nodes)][:2] == ["MatMul", "BiasAdd"]
    assert by_node(report.nodes)[0].name == "one/MatMul"
    rows = {row.name: row for row in by_scope(report.nodes, depth=1)}
    assert rows["one"].totals.flops + rows["two"].totals.flops + rows["loss"].totals.flops == report.total().flops
    (one,) = [row for row in by_scope(report.nodes, depth=2) if row.name == "one"]
    assert one.own == one.totals.flops
    assert [node.path for node in report.select("^two/", "MatMul")] == ["two/MatMul"]
    assert all(node.cost.flops >= 60 for node in report.select(min_flops=60))


N, H, LONG = Dim.symbol("N"), Dim.symbol("H"), Dim.symbol("n[StatefulPartitionedCall:0,0]")


@pytest.mark.parametrize(
    "value, text",
    [
        (7_716_000_000, "7.72 G"),
        (2000 * N * H + 5, "2 k x H x N + 5"),
        # With N = 1 and H = 100: 200,000, 5,000,000, 30,000 and 70,000.
        (2000 * N * H + 500 * N * H * H + 30_000 * N + 700 * H, "500 x H^2 x N + 2 k x H x N + 2 terms"),
        (-2000 * N * H + 500 * N * H * H + 30_000 * N + 700 * H, "500 x H^2 x N - 2 k x H x N + 2 terms"),
        (floor_div(dim_min(N * N * N * H, 3 * H * N + 20_000) + 1, 17) * 4000, "4 k x f(H, N)"),
        (LONG * H * 40 + LONG * 7 + 1, "40 x H x n[StatefulPartitionedCall:0,0] + 2 terms"),
    ],
)
def test_long_sums_are_shortened(value, text):
    assert shortened(value) == text
    # What is not shown whole is explained below the table.
    assert bool(what_is_short([1, value])) == ("term" in text or "f(" in text)


def test_what_is_shortened_is_whole_in_json(tmp_path):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, None, None, 3], name="x")
    for i in range(4):
        x = g.Conv2D(x, g.constant(np.ones((3, 3, 3, 3), np.float32)), strides=[1, 2, 2, 1], padding="SAME", name=f"conv{i}")
    save(g.graph, tmp_path / "g.pb")
    table = tfg("flops", tmp_path / "g.pb")
    whole = tfg("flops", tmp_path / "g.pb", "--format", "json").json["total"]["flops_formula"]
    assert " + 3 terms" in table.out and "f(N) for a long factor of N; the JSON has all" in table.out
    # Window of 3 x 3 x 3, 3 channels out, in each of the places that are left.
    sizes = {"N": 2, "x_1": 101, "x_2": 57}
    halves = [(-(-101 // 2**i), -(-57 // 2**i)) for i in range(1, 5)]
    assert eval(whole.replace("^", "**"), sizes) == sum(2 * 2 * h * w * 27 * 3 for h, w in halves)


@pytest.mark.parametrize("value, text", [(0, "0"), (999, "999"), (7_716_000_000, "7.72 G"), (123_400, "123 k")])
def test_readable(value, text):
    assert readable(value) == text


@pytest.fixture
def path(model, tmp_path):
    save(model.graph, str(tmp_path / "model.pb"))
    return tmp_path / "model.pb"


def test_json(path):
    report = tfg("flops", path, "--fetch", "loss:0", "--view", "node", "--format", "json").json
    forward = report["sections"]["forward"]
    assert (forward["flops"], forward["flops_formula"]) == (None, "48*N")
    assert report["coverage"] == 1
    assert report["unknown"] == []
    assert {"name", "op", "flops", "macs", "bytes", "times"} <= report["rows"][0].keys()
    assert json.loads(tfg("flops", path, "--fetch", "loss", "--batch", 8, "--format", "json").out)["total"]["flops"] == 384


def test_outputs_are_guessed_and_named(path):
    done = tfg("flops", path)
    assert done.code == 0
    assert "counting the nodes that" in done.err and "--fetch" in done.err
    assert "coverage: 100.0 %" in done.out


def test_backward_of_the_command(path):
    done = tfg("flops", path, "--fetch", "loss", "--backward", "--batch", 5)
    assert "backward : forward = " in done.out


def test_strict_exits_with_3(model, tmp_path):
    model.graph.add_node("custom", "FooOp", [model.graph.output("two/Relu:0")], (), {}, "")
    save(model.graph, str(tmp_path / "custom.pb"))
    done = tfg("flops", tmp_path / "custom.pb", "--fetch", "custom", "--strict")
    assert done.code == 3
    assert "unknown: FooOp x1" in done.out
    assert tfg("flops", tmp_path / "custom.pb", "--fetch", "loss", "--strict").code == 0


def test_library_functions_need_a_definition():
    g = GraphBuilder()
    y = g.PartitionedCall([1.0], Tout=["float32"], f="missing")[0]
    with pytest.raises(InvalidArgumentError, match="no function 'missing'"):
        count_flops(g.graph, [y.name])


def growing(g):
    """A loop that appends a column in each of five iterations, as decoders do, and squares what it has."""
    define(g, "condition", ["int32", "float32"], lambda b, i, x: [b.Less(i, 5)])

    def body(b, i, x):
        column = b.Slice(x, [0, 0], [-1, 1])
        return [b.AddV2(i, 1), b.ConcatV2([b.Square(x), column], 1)]

    define(g, "body", ["int32", "float32"], body)
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    shapes = {"output_shapes": [[], [None, None]]}
    return g.Neg(g.While([g.constant(0), x], cond="condition", body="body", name="loop", **shapes)[1], name="after")


@pytest.mark.slow
def test_a_loop_whose_tensors_grow_counts_each_iteration_at_its_size():
    g = GraphBuilder()
    y = growing(g)
    report = count_flops(g.graph, [y.name])
    assert report.unknown() == []
    assert str(costs(report)["loop/Square"]) == f"{4 + 5 + 6 + 7 + 8}*N"
    assert str(costs(report)["after"]) == "9*N"
    measured = measure(Session(g.graph), [y.name], {"x:0": np.ones((2, 4), np.float32)}, runs=1)
    assert measured.flops == report.substituted({"N": 2}).total().flops


def test_what_a_loop_starts_with_is_no_constant_in_it():
    g = GraphBuilder()
    define(g, "condition", ["int32"], lambda b, i: [b.Less(i, 5)])
    define(g, "body", ["int32"], lambda b, i: [b.AddV2(i, b.Size(b.Fill(b.Reshape(b.Maximum(i, 1), [1]), 1.0)))])
    (y,) = g.While([g.constant(1)], cond="condition", body="body", name="loop")
    assert count_flops(g.graph, [y.name], trips={"loop": 3}).coverage == 1


@pytest.mark.parametrize("name", ["For", "MapDefun", "BatchFunction"])
def test_other_ops_that_call_functions(name):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[6, 7])
    if name == "For":
        define(g, "f", ["int32", "float32"], lambda b, i, v: [b.Square(v)])
        y = g.For(0, 10, 2, [x], body="f")[0]
    elif name == "MapDefun":
        define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
        y = g.MapDefun([x], [], output_types=["float32"], output_shapes=[[7]], f="f")[0]
    else:
        define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
        options = {"num_batch_threads": 1, "max_batch_size": 8, "batch_timeout_micros": 1}
        y = g.BatchFunction([x], [], Tout=["float32"], f="f", **options)[0]
    report = count_flops(g.graph, [y.name])
    assert report.unknown() == []
    assert report.total().flops == {"For": 5 * 42, "MapDefun": 42, "BatchFunction": 42}[name]


def test_views_of_the_command(path):
    tree = tfg("flops", path, "--fetch", "loss", "--batch", 5, "--view", "scope", "--depth", 2)
    assert "own FLOPs" in tree.out and "  one/MatMul" in tree.out
    nodes = tfg("flops", path, "--fetch", "loss", "--batch", 5, "--view", "node", "--format", "csv", "--threshold", 60).out
    assert [line.split(",")[:2] for line in nodes.splitlines()] == [
        ["section", "name"], ["forward", "one/MatMul"], ["forward", "two/MatMul"]
    ]  # fmt: skip


def test_csv_keeps_the_sections(path):
    """And their rows add up to the totals of the sections; the shares to one."""
    command = ("flops", path, "--fetch", "loss", "--backward", "--batch", 5, "--format")
    rows = list(csv.DictReader(io.StringIO(tfg(*command, "csv").out)))
    expected = {name: section["flops"] for name, section in tfg(*command, "json").json["sections"].items()}
    assert set(expected) == {"forward", "backward"}
    assert expected == {name: sum(int(row["flops"]) for row in rows if row["section"] == name) for name in expected}
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1, abs=1e-4)


def test_backward_by_variable(path):
    done = tfg("flops", path, "--fetch", "loss", "--per-variable", "--batch", 5)
    assert [line.split()[0] for line in done.out.splitlines()[2:]] == ["one/w", "two/w", "one/b", "two/b"]
    variables = tfg("flops", path, "--fetch", "loss", "--per-variable", "--batch", 5, "--format", "json").json["variables"]
    variables = {costs["variable"]: costs for costs in variables}
    assert variables["one/w"]["own"]["macs"] == 5 * 12
    assert variables["one/w"]["all"]["macs"] == 5 * (12 + 6)


def test_comparison_with_tf_profiler(path):
    done = tfg("flops", path, "--fetch", "loss", "--compat", "tfprof")
    assert "not counted by tf.profiler: shapes are unknown" in done.out
    assert "tf.profiler has no formula" in done.out
    report = tfg("flops", path, "--fetch", "loss", "--compat", "tfprof", "--batch", 5, "--format", "json").json
    assert next(d for d in report["ops"] if d["op"] == "BiasAdd")["profiler"] == 5 * (3 + 2)


@pytest.mark.parametrize("options, text", [
    (["--trips", "loop=x"], "not a whole number"), (["--fetch", "missing"], "missing"), (["--shape", "x"], "not of the form"),
    (["--trips", "loop=3"], "unknown loop 'loop'"), (["--backward", "--loss", "missing"], "missing"),
])  # fmt: skip
def test_what_users_get_wrong(path, options, text):
    done = tfg("flops", path, "--fetch", "loss", *options)
    assert done.code in (1, 2)
    assert text in done.err and "Traceback" not in done.err


def test_what_an_iteration_hands_on_outside_of_any_loop():
    """A graph that nobody can run is counted as far as it goes."""
    g = GraphBuilder()
    value = g.NextIteration(g.Placeholder(dtype="float32", name="x"))
    g.MatMul(value, g.constant(np.ones((3, 4), np.float32)), name="y")
    report = count_flops(g.graph, ["y"])
    assert [cost.path for cost in report.unknown()]
