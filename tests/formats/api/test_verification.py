"""`--verify`: wrong rewrites of each kind are found, and right ones pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.comparing.verify_rewrite import fetches_in_turn
from tfg.core.explaining.default_fetches import default_runs
from tfg.core.graph.graph import Graph
from tfg.core.passes.base.graph_pass import Pass, PassContext
from tfg.core.passes.pipeline import optimize
from tfg.core.registry import registry
from tfg.core.support.errors import PermissionDeniedError
from tfg.formats.api.verification import private_copy
from tfg.formats.codecs.node_def import input_texts


class Wrong(Pass):
    """A pass with a fault."""

    change: Callable[[Graph], None]
    name: ClassVar[str] = "wrong"
    summary: ClassVar[str] = "change results"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        self.change(graph)


def placeholder(b, name, shape=(None, 3), dtype="float"):
    return b.Placeholder(dtype=dtype, shape=list(shape) if shape is not None else None, name=name)


def variable(b, name, value):
    handle = b.VarHandleOp(dtype="float", shape=[], name=name, shared_name=name)
    b.AssignVariableOp(handle, b.constant(np.float32(value)), name=f"init_{name}")
    return handle


def replaced(node, make):
    """Return a change that puts the output that `make` builds in the place of an output."""

    def change(graph):
        old = graph.output(f"{node}:0")
        users = [(user, place) for user in old.node.uses for place, value in enumerate(user.inputs) if value == old]
        new = make(GraphBuilder(graph), old)
        for user, place in users:
            graph.set_input(user, place, new)

    return change


def broadcast(b):
    x, y = placeholder(b, "x"), placeholder(b, "y")
    shape = b.Shape(b.AddV2(x, y), name="shape")
    b.BroadcastTo(x, b.Identity(shape), name="out")
    return ["out:0"], replaced("shape", lambda b, old: b.Shape(b.graph.output("x:0")))


def one_axis(b):
    x, y = placeholder(b, "x", (None, None)), placeholder(b, "y", (None, None))
    shape = b.Shape(b.AddV2(x, y), name="shape")
    b.BroadcastTo(x, b.Identity(shape), name="out")

    def of_first_axis(b, old):
        rows, columns = (b.Slice(source, b.constant(np.int32([at])), b.constant(np.int32([1])))
                         for source, at in ((old, 0), (b.Shape(b.graph.output("x:0")), 1)))  # fmt: skip
        return b.ConcatV2([rows, columns], b.constant(np.int32(0)))

    return ["out:0"], replaced("shape", of_first_axis)


def empty_mean(b):
    x = placeholder(b, "x")
    mean = b.Mean(x, b.constant(np.int32([0])), name="mean")
    b.Identity(mean, name="out")

    def rounded_up(b, old):
        size = b.Maximum(b.Cast(b.Size(b.graph.output("x:0")), DstT="float"), b.constant(np.float32(3)))
        total = b.Sum(b.graph.output("x:0"), b.constant(np.int32([0])))
        return b.Div(b.Mul(total, b.constant(np.float32(3))), size)

    return ["out:0"], replaced("mean", rounded_up)


def v1_branch(b):
    x, p = placeholder(b, "x"), placeholder(b, "p", (), "bool")
    off, on = b.Switch(x, p)
    b.Identity(b.Merge([b.Neg(off, name="off"), b.Exp(on, name="on")])[0], name="out")
    return ["out:0"], replaced("off", lambda b, old: b.Abs(old))


def computed_branch(b):
    x = placeholder(b, "x", (3,))
    off, on = b.Switch(x, b.Greater(b.Sum(x, b.constant(np.int32([0]))), b.constant(np.float32(2.5))))
    b.Identity(b.Merge([b.Neg(off, name="off"), b.Exp(on, name="on")])[0], name="out")
    return ["out:0"], replaced("on", lambda b, old: b.Neg(old))


def branch_of_a_call(b):
    """A conditional in a function: x is negated above 2.5, which no drawn feed reaches by chance."""
    define(b, "neg", ["float"], lambda f, x: [f.Neg(x)])
    define(b, "exp", ["float"], lambda f, x: [f.Exp(x)])

    def choice(f, x):
        is_large = f.Greater(x, f.constant(np.float32(2.5)))
        return [f.StatelessIf(is_large, [x], Tout=["float"], then_branch="neg", else_branch="exp", name="choice")[0]]

    define(b, "outer", ["float"], choice)
    called = b.PartitionedCall([placeholder(b, "x", ())], Tout=["float"], f="outer", name="call")[0]
    b.Identity(called, name="out")

    def change(graph):
        graph.functions["neg"] = graph.functions["exp"]

    return ["out:0"], change


def dropped_update(b):
    v = variable(b, "v", 1)
    x = placeholder(b, "x", ())
    b.AssignAddVariableOp(v, x, name="add")
    b.Identity(x, name="out")
    b.graph.add_control_input(b.graph.node("out"), b.graph.node("add"))

    def change(graph):
        graph.remove_control_input(graph.node("out"), graph.node("add"))

    return ["out:0", "init_v"], change


def dead_update(b):
    """An update that another branch switches off."""
    v, p = variable(b, "v", 1), placeholder(b, "p", (), "bool")
    b.Identity(b.Switch(p, p)[1], name="pivot")
    b.AssignAddVariableOp(v, b.constant(np.float32(1)), name="add")
    return ["add"], lambda graph: graph.add_control_input(graph.node("add"), graph.node("pivot"))


def initializer(b):
    variable(b, "v", 1), variable(b, "w", 2)
    b.NoOp(name="init")
    for name in ("init_v", "init_w"):
        b.graph.add_control_input(b.graph.node("init"), b.graph.node(name))
    return ["init"], lambda graph: graph.remove_control_input(graph.node("init"), graph.node("init_w"))


def factor(b):
    x = placeholder(b, "x")
    h = b.MatMul(x, b.constant(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)), name="h")
    b.Tanh(h, name="out")
    return ["out:0"], replaced("h", lambda b, old: b.Mul(old, b.constant(np.float32(1.001))))


KINDS = [
    broadcast, one_axis, empty_mean, v1_branch, computed_branch, branch_of_a_call, dropped_update, dead_update, initializer,
    factor,
]  # fmt: skip


def graphs(kind):
    """Return a graph, its fetches, and the right and the wrong rewrite."""
    b = GraphBuilder()
    fetches, change = kind(b)
    right, _ = tfg.optimize(b.graph, fetches, passes="prune,cse", overridable=["pivot:0"] if "pivot" in b.graph else ())
    wrong, _ = optimize(b.graph, fetches, (), [Wrong(change)])
    return b.graph, fetches, right, wrong


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_rewrites_are_found(kind):
    graph, fetches, right, wrong = graphs(kind)
    assert tfg.verify(graph, right, fetches).passed
    assert not tfg.verify(graph, wrong, fetches).passed


@pytest.mark.parametrize("kind", [broadcast, dropped_update])
def test_wrong_files_are_found(kind, tmp_path):
    graph, fetches, right, wrong = graphs(kind)
    for one, passed in ((right, True), (wrong, False)):
        tfg.convert(one, tmp_path / "graph.pb")
        assert tfg.verify(graph, tmp_path / "graph.pb", fetches).passed is passed


def table_model(folder, *, keys=(b"b", b"c"), outputs=("found", "twice")):
    """Write a SavedModel that looks words up in a table, twice the number in a second output; return the path."""
    b = GraphBuilder()
    words = placeholder(b, "words", (None,), "string")
    table = b.HashTableV2(key_dtype="string", value_dtype="int64", shared_name="t", name="table")
    texts = np.empty(len(keys), object)
    texts[:] = keys
    b.LookupTableImportV2(table, b.constant(texts), b.constant(np.arange(7, 7 + len(keys))), name="fill")
    numbers = b.LookupTableFindV2(table, words, b.constant(np.int64(-1)), name="found")
    b.Mul(numbers, b.constant(np.int64(2)), name="twice")
    signature = ({"words": "words:0"}, {"a": f"{outputs[0]}:0", "b": f"{outputs[1]}:0"})
    tfg.save_model(b.graph, folder, signatures={"serving_default": signature, "second": signature})
    return folder


def test_a_saved_model_stands_alone(tmp_path):
    model = tfg.load(table_model(tmp_path / "model"))
    assert tfg.verify(model, table_model(tmp_path / "same")).passed
    assert not tfg.verify(model, table_model(tmp_path / "swapped", outputs=("twice", "found"))).passed
    assert not tfg.verify(model, table_model(tmp_path / "lost", keys=(b"b",))).passed


def test_every_signature_is_there_and_is_run(tmp_path):
    model = tfg.load(table_model(tmp_path / "model"))
    tfg.save_model(model, tmp_path / "less", dropped=["second"])
    result = tfg.verify(model, tmp_path / "less")
    assert not result.passed and "no signature 'second'" in result.refusals[0].error


def test_files_of_the_original_are_out_of_reach(tmp_path):
    """A written model with the path of a file in the original's folder runs nowhere else."""
    folder = table_model(tmp_path / "model")
    (folder / "assets").mkdir()
    (folder / "assets" / "words.txt").write_text("b\nc\n")
    model, allowed = tfg.load(folder), tfg.FileAccess.only(readable=[tmp_path])
    extended = model.copy()
    builder = GraphBuilder(extended)
    builder.Identity(builder.ReadFile(builder.constant(str(folder / "assets" / "words.txt").encode())), name="text")
    tfg.convert(extended, tmp_path / "graph.pb")

    def opened(graph):
        return tfg.Session(graph, files=allowed)

    assert tfg.verify(extended, extended, "text:0", open_session=opened).passed
    result = tfg.verify(extended, tmp_path / "graph.pb", "text:0", open_session=opened)
    assert not result.passed and "may not read" in result.refusals[0].error


def network(depth, factor=1.0):
    """Return a network of dense layers; `factor` is a fault of the last one."""
    rng, b = np.random.default_rng(0), GraphBuilder()
    hidden = placeholder(b, "x", (None, 32))
    for _ in range(depth):
        weights = rng.standard_normal((32, 32)) * np.sqrt(2 / 32)
        hidden = b.Relu(b.MatMul(hidden, b.constant(weights.astype(np.float32))))
    b.Mul(hidden, b.constant(np.float32(factor)), name="out")
    return b.graph


def in_double(graph):
    """Return the network with its products in double precision: the same up to float32's roundings."""
    result = graph.copy()
    b = GraphBuilder(result)
    for node in [node for node in graph if node.op == "MatMul"]:
        own = result.node(node.name)
        wide = b.MatMul(*(b.Cast(value, DstT="double") for value in own.inputs))
        result.replace_all_uses(own.output(), b.Cast(wide, DstT="float"))
    return result


@pytest.mark.slow
def test_the_tolerance_grows_with_the_depth():
    graph = network(200)
    result = tfg.verify(graph, in_double(graph), "out:0", tolerance=tfg.Accuracy.EXACT)
    assert result.passed and result.comparisons[0].tolerance_needed > 1e-6
    assert not tfg.verify(graph, in_double(graph), "out:0", tolerance=1e-7).passed


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 200])
def test_an_error_of_a_thousandth_is_no_rounding(depth):
    assert not tfg.verify(network(depth), network(depth, 1.001), "out:0", tolerance=tfg.Accuracy.EXACT).passed


def test_dead_in_both_is_equal():
    b = GraphBuilder()
    v1_branch(b)
    fetches = ["out:0", "off:0", "on:0"]
    right, _ = tfg.optimize(b.graph, fetches)
    assert tfg.verify(b.graph, right, fetches).passed
    alive = b.graph.copy()
    builder = GraphBuilder(alive)
    alive.replace_all_uses(alive.output("off:0"), builder.Identity(alive.output("x:0")))
    alive.set_input(alive.node("off"), 0, alive.output("x:0"))
    assert not tfg.verify(b.graph, alive, fetches).passed


def test_dead_ends_are_no_default_outputs():
    b = GraphBuilder()
    v1_branch(b)
    b.Identity(b.Switch(b.graph.output("x:0"), b.graph.output("p:0"))[1], name="end")
    assert default_runs(b.graph) == [("out:0",)]
    assert tfg.verify(b.graph, tfg.optimize(b.graph, ["out:0"])[0]).passed


def test_a_branch_alone_is_an_output():
    b = GraphBuilder()
    b.Exp(b.Switch(placeholder(b, "x"), placeholder(b, "p", (), "bool"))[1], name="end")
    assert default_runs(b.graph) == [("end:0",)]


def test_what_both_refuse_is_told():
    b = GraphBuilder()
    b.AddV2(placeholder(b, "x"), placeholder(b, "y"), name="out")
    drawn = tfg.verify(b.graph, b.graph.copy(), "out:0").drawn
    assert {"x (1,3), y (2,3)", "x (2,3), y (1,3)", "x (0,3), y (0,3)"} <= set(drawn.compared)
    assert "x (3,3), y (2,3)" in drawn.refused and not drawn.one_sided


def test_a_pure_op_may_go_with_its_error():
    b = GraphBuilder()
    rows = b.Reshape(placeholder(b, "x"), b.constant(np.int32([-1, 6])))
    b.Reshape(rows, b.constant(np.int32([-1])), name="out")
    result = tfg.verify(b.graph, tfg.optimize(b.graph, ["out:0"])[0], "out:0")
    assert result.passed and "x (1,3)" in result.drawn.accepted


def test_a_lost_assertion_is_found():
    b = GraphBuilder()
    x = placeholder(b, "x", (None,))
    few = b.Less(b.Size(x), b.constant(np.int32(3)))
    b.Assert(few, [b.constant(b"too many")], name="assert")
    b.Identity(x, name="out")
    b.graph.add_control_input(b.graph.node("out"), b.graph.node("assert"))
    lost = b.graph.copy()
    lost.remove_control_input(lost.node("out"), lost.node("assert"))
    assert tfg.verify(b.graph, b.graph.copy(), "out:0").passed
    (refusal,) = tfg.verify(b.graph, lost, "out:0").refusals
    assert (refusal.by, refusal.feeds) == ("original", "x (3)")


def test_predicates_that_took_one_side_are_told():
    b = GraphBuilder()
    x = placeholder(b, "x", ())
    off, on = b.Switch(x, b.Greater(b.Square(x), b.constant(np.float32(-1)), name="always"))
    b.Identity(b.Merge([off, on])[0], name="out")
    assert tfg.verify(b.graph, b.graph.copy(), "out:0").drawn.one_sided == ("always:0",)


WRITTEN = {
    "graph.pb": ("--to", "out"), "graph.pbtxt": (), "graph.meta": (), "model/": ("--to", "out"),
    "frozen.pb": ("--freeze", "--to", "out"), "cut.pb": ("--from", "h", "--to", "out"), "model.onnx": ("--to", "out"),
    "model.stablehlo": ("--to", "out"),
}  # fmt: skip


def need_the_runtime(name):
    """Skip the test where the library that runs a model of this name is not installed."""
    if name.endswith(".onnx"):
        pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    if name.endswith(".stablehlo"):
        pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")


@pytest.mark.parametrize("name", WRITTEN)
def test_convert_verifies_what_it_writes(name, tmp_path):
    need_the_runtime(name)
    b = GraphBuilder()
    factor(b)
    tfg.convert(b.graph, tmp_path / "in.pb")
    done = run("convert", tmp_path / "in.pb", f"{tmp_path}/{name}", *WRITTEN[name], "--verify")
    assert done.code == 0 and "compared in" in done.out, done.err


def difference(path):
    """Write a graph with a difference, which is another number in the other order."""
    b = GraphBuilder()
    h = b.MatMul(placeholder(b, "x"), b.constant(np.ones((3, 4), np.float32)), name="h")
    b.Sub(b.Tanh(h), b.Sigmoid(h), name="out")
    tfg.convert(b.graph, path)
    return path


def write_wrongly(monkeypatch):
    """Let all writers write b - a, or a + b, for a - b."""

    def wrong_inputs(node):
        return input_texts(node)[:: -1 if node.op == "Sub" else 1]

    monkeypatch.setattr("tfg.formats.graphdef.input_texts", wrong_inputs)
    for table, lowering_of in ((registry._ONNX, registry.onnx_lowering), (registry._LOWERINGS, registry.lowering)):
        assert lowering_of("Sub") is not None
        monkeypatch.setitem(table, "Sub", lowering_of("AddV2"))


@pytest.mark.parametrize("name", WRITTEN)
def test_convert_finds_what_a_writer_does_wrong(name, tmp_path, monkeypatch):
    need_the_runtime(name)
    source = difference(tmp_path / "in.pb")
    write_wrongly(monkeypatch)
    done = run("convert", source, f"{tmp_path}/{name}", *WRITTEN[name], "--verify")
    assert done.code == 3 and "differ" in done.out, done.err


PLACES = [("-o", "{}/out.pb"), ("--save-model", "{}/out"), ("-o", "{}/out.pb", "--save-model", "{}/out")]


@pytest.mark.parametrize("place", PLACES)
def test_optimize_finds_what_a_writer_does_wrong(place, tmp_path, monkeypatch):
    source = difference(tmp_path / "in.pb")
    write_wrongly(monkeypatch)
    words = (word.format(tmp_path) for word in place)
    done = run("optimize", source, "--fetch", "out:0", "--verify", *words)
    assert done.code == 3 and not list(tmp_path.glob("out*")), done.err


@pytest.mark.parametrize("place", PLACES)
def test_optimize_writes_what_it_verified(place, tmp_path, monkeypatch):
    graph, fetches, right, wrong = graphs(broadcast)
    tfg.convert(graph, tmp_path / "in.pb")
    command = ("optimize", tmp_path / "in.pb", "--fetch", "out:0", "--verify", "--format", "json")
    command += tuple(word.format(tmp_path) for word in place)
    for rewrite, code in ((wrong, 3), (right, 0)):
        monkeypatch.setattr("tfg.cli.jobs.optimize_job.optimize", made_by(rewrite, optimize(graph, fetches)[1]))
        done = run(*command)
        assert done.code == code, done.err
        written = len(place) // 2 if code == 0 else 0
        assert len(list(tmp_path.glob("out*"))) == written and ("wrote" in done.err) is bool(written)
        assert {"x (1,3), y (2,3)"} <= set(done.json["drawn"]["compared"]) and done.json["refusals"] == []
    assert all(tfg.verify(graph, path, "out:0").passed for path in tmp_path.glob("out*"))


def made_by(graph, report):
    """Return a function that stands for `optimize` and returns the same graph each time."""
    return lambda *arguments, **options: (graph.copy(), report)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.onnx", "model.stablehlo"])
def test_a_wrong_model_is_found(name, tmp_path):
    """A model of another graph, beside the graph that it should be of."""
    need_the_runtime(name)
    graph, fetches, _, wrong = graphs(factor)
    right = tfg.convert(graph, tmp_path / name, fetches)
    assert right.verify().passed
    tfg.convert(wrong, tmp_path / name, fetches)
    assert not right.verify().passed


@pytest.mark.slow
def test_sizes_beyond_what_a_program_declares_are_not_asked_for(tmp_path):
    """A StableHLO program of a sum has one batch for its inputs, an ONNX file a size for each."""
    need_the_runtime("m.stablehlo")
    b = GraphBuilder()
    b.AddV2(placeholder(b, "x"), placeholder(b, "y"), name="out")
    drawn = tfg.convert(b.graph, tmp_path / "m.stablehlo", "out:0").verify().drawn
    assert "x (1,3), y (2,3)" in drawn.undeclared and "x (1,3), y (1,3)" in drawn.compared
    need_the_runtime("m.onnx")
    assert "x (1,3), y (2,3)" in tfg.convert(b.graph, tmp_path / "m.onnx", "out:0").verify().drawn.compared


@pytest.mark.parametrize("shape, compared", [(None, {"x ()", "x (2,2)"}), ((), {"x ()"})])
def test_an_input_of_unknown_rank_is_no_scalar(shape, compared, tmp_path):
    need_the_runtime("m.onnx")
    b = GraphBuilder()
    b.Neg(placeholder(b, "x", shape), name="out")
    drawn = tfg.convert(b.graph, tmp_path / "m.onnx", "out:0").verify().drawn
    assert compared <= set(drawn.compared) and not drawn.undeclared


@pytest.mark.parametrize("name", ["out.pb", "out.onnx"])
def test_convert_tells_how_to_compare_on_other_feeds(name, tmp_path):
    need_the_runtime(name)
    b = GraphBuilder()
    x = placeholder(b, "x", (None,))
    wanted = b.constant(np.arange(5, 1000, dtype=np.int32))
    b.GatherV2(x, wanted, b.constant(np.int32(0)), name="out")
    tfg.convert(b.graph, tmp_path / "in.pb")
    done = run("convert", tmp_path / "in.pb", tmp_path / name, "--to", "out", "--verify")
    assert done.code == 1 and "fails on all random feeds of 1 placeholder: x" in done.err
    assert f"tfg compare IN {tmp_path / name} --feed NAME=VALUE" in done.err


def racing(change=lambda b: None):
    """Return a graph of two racing updates of v, and a value that waits for the first; `change` adds a fault."""
    b = GraphBuilder()
    v = variable(b, "v", 1)
    b.AssignAddVariableOp(v, b.constant(np.float32(2), name="two"), name="add")
    b.AssignVariableOp(v, b.Mul(b.ReadVariableOp(v, dtype="float"), b.constant(np.float32(3), name="three")), name="triple")
    b.Neg(b.constant(np.float32(5)), name="out")
    b.graph.add_control_input(b.graph.node("out"), b.graph.node("add"))
    change(b.graph)
    return b.graph


RACING = {"out:0": "out:0", "add": "add", "triple": "triple", "init_v": "init_v"}


def test_racing_fetches_are_compared_in_turn():
    """v + 2 and 3 v have two results together, and one each."""
    graph = racing()
    assert fetches_in_turn(graph, RACING) == [["out:0", "add"], ["triple"], ["init_v"]]
    reordered = graph.copy()
    reordered.add_control_input(reordered.node("add"), reordered.node("triple"))
    for fetches in (["add", "triple"], ["triple", "out:0"]):
        assert tfg.verify(graph, tfg.optimize(graph, fetches)[0], fetches).passed
    assert not tfg.verify(graph, reordered, ["add", "triple"]).passed  # the triple runs where `add` alone is wanted


@pytest.mark.parametrize("constant", ["two", "three"])
def test_a_wrong_update_among_racing_ones_is_found(constant):
    def change(graph):
        graph.replace_all_uses(graph.output(f"{constant}:0"), GraphBuilder(graph).constant(np.float32(7)))

    assert not tfg.verify(racing(), racing(change), ["out:0", "triple"]).passed


def test_fetches_whose_order_is_given_run_together():
    graph = racing(lambda graph: graph.add_control_input(graph.node("triple"), graph.node("add")))
    assert fetches_in_turn(graph, {"add": "add", "triple": "triple"}) == [["add", "triple"]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.pbtxt")), ids=lambda path: path.stem)
def test_samples_verify_without_a_word(path):
    options = ("--op-library", SAMPLES / "skipgram_ops.py") if path.stem == "skipgram" else ()
    done = run("optimize", path, "--verify", *options)
    assert done.code == 0, done.out + done.err


def test_a_link_out_of_a_model_stays_closed(tmp_path):
    (tmp_path / "secret").write_text("secret")
    folder = table_model(tmp_path / "model")
    (folder / "link").symlink_to(tmp_path / "secret")
    with private_copy(folder) as copied, pytest.raises(PermissionDeniedError):
        b = GraphBuilder()
        b.Identity(b.ReadFile(b.constant(f"{copied}/link".encode())), name="text")
        tfg.Session(b.graph, files=tfg.FileAccess.only(readable=[copied])).run("text:0")
