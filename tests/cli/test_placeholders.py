"""Placeholders: `--set` and `--shape` put constants and shapes in their place; a hint shows a feed for a missing value."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

XOR = SAMPLES / "xor.pbtxt"


@pytest.fixture
def graph(tmp_path):
    """y = x * k + d, where `k` has a default and `x` any number of rows of two."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None, 2], name="x")
    k = b.PlaceholderWithDefault(np.float32(2), shape=[], name="k")
    b.AddV2(b.Mul(x, k), np.float32(1), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


def value(graph, *feeds):
    session = tfg.Session(tfg.load(graph))
    return session.run("y:0", dict(feeds)).tolist()


@pytest.mark.parametrize("command", ["convert", "optimize"])
def test_a_value_takes_the_place_of_a_placeholder(graph, tmp_path, command):
    out = tmp_path / "out.pb"
    words = (graph, out) if command == "convert" else (graph, "-o", out, "--fetch", "y")
    assert run(command, *words, "--set", "k=3", "--set", "x=[[1,10]]").code == 0
    assert value(out) == [[4.0, 31.0]]
    assert {node.op for node in tfg.load(out)} <= {"Const", "Mul", "AddV2"}


def test_python_fills_placeholders(graph):
    filled = tfg.fill_placeholders(tfg.load(graph), {"k:0": 3}, {"x:0": [2, None]})
    assert str(filled["x"].attr("shape")) == "(2,?)"
    assert tfg.Session(filled).run("y:0", {"x:0": np.ones((2, 2), np.float32)}).tolist() == [[4.0, 4.0], [4.0, 4.0]]


@pytest.mark.parametrize("command", ["convert", "optimize"])
@pytest.mark.parametrize(("sizes", "declared"), [("4,?", "(4,?)"), ("4,7", "(4,7)"), ("?,?", "(?,?)"), ("3", "(3)")])
def test_a_static_shape_takes_the_place_of_another(graph, tmp_path, command, sizes, declared):
    out = tmp_path / "out.pb"
    words = (graph, out) if command == "convert" else (graph, "-o", out, "--fetch", "y")
    assert run(command, *words, "--shape", f"x={sizes}").code == 0
    assert str(tfg.load(out)["x"].attr("shape")) == declared
    assert f"float {declared}" in run("dump", out, "--shapes", "--name", "^y$").out


def test_a_cut_takes_values_and_shapes(graph, tmp_path):
    out = tmp_path / "out.pb"
    assert run("convert", graph, out, "--to", "y", "--from", "Mul", "--set", "Mul=[[5, 6]]").code == 0
    assert value(out) == [[6.0, 7.0]]
    assert run("convert", graph, out, "--to", "y", "--from", "Mul", "--shape", "Mul=3,2").code == 0
    assert str(tfg.load(out)["Mul"].attr("shape")) == "(3,2)"


def test_a_cut_of_a_model_file_takes_values(graph, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    out = tmp_path / "out.onnx"
    assert run("convert", graph, out, "--to", "y", "--from", "Mul", "--set", "Mul=[[5, 6]]").code == 0
    model = onnxruntime.InferenceSession(out)
    assert not model.get_inputs()
    assert model.run(None, {})[0].tolist() == [[6.0, 7.0]]


def test_a_cut_of_a_program_takes_values(graph, tmp_path):
    export = pytest.importorskip("jax.export", reason="the extra tfg[xla] is not installed")
    out = tmp_path / "out.stablehlo"
    assert run("convert", graph, out, "--to", "y", "--from", "Mul", "--set", "Mul=[[5, 6]]").code == 0
    assert export.deserialize(bytearray(out.read_bytes())).call()["y"].tolist() == [[6.0, 7.0]]


def test_a_model_file_has_a_value_and_a_shape_at_two_cuts(tmp_path):
    """y = w * x + k, with x set, k an input of two rows, and w a variable."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    b = tfg.GraphBuilder()
    w = b.variable([2.0, 3.0], name="w")
    x, k = (b.Identity(b.Placeholder(dtype="float", name=f"{name}_in"), name=name) for name in "xk")
    b.AddV2(b.Mul(w, x), k, name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    out = tmp_path / "out.onnx"
    cuts = ("--from", "x", "--from", "k", "--set", "x=[5, 7]", "--shape", "k=2,2")
    assert run("convert", tmp_path / "g.pb", out, "--to", "y", "--init", *cuts).code == 0
    model = onnxruntime.InferenceSession(out)
    [fed] = model.get_inputs()
    assert fed.shape == [2, 2]
    value = np.array([[1, 2], [3, 4]], np.float32)
    assert model.run(None, {fed.name: value})[0].tolist() == [[11.0, 23.0], [13.0, 25.0]]


def test_a_cut_at_a_later_output_takes_values_and_shapes(tmp_path):
    b = tfg.GraphBuilder()
    halves = b.Split(np.int32(1), b.Placeholder(dtype="float", shape=[None, 4], name="x"), num_split=2, name="halves")
    b.Sub(halves[0], halves[1], name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    out = tmp_path / "out.pb"
    words = ("convert", tmp_path / "g.pb", out, "--to", "y", "--from", "halves:1")
    assert run(*words, "--set", "halves:1=[[10, 20]]").code == 0
    assert value(out, ("x:0", [[1, 2, 3, 4]])) == [[-9.0, -18.0]]
    assert run(*words, "--shape", "halves:1=7,2").code == 0
    assert "(7,2)" in run("dump", out, "--op", "Placeholder", "--name", "halves").out


@pytest.mark.parametrize(("cut", "word"), [("serving_default_x", "x"), ("x", "serving_default_x:0"), ("x", "x")])
def test_a_cut_and_a_value_may_name_a_tensor_in_two_ways(tmp_path, cut, word):
    out = tmp_path / "out.pb"
    words = ("convert", SAMPLES / "scaler_saved_model", out, "--to", "scaled", "--from", cut)
    done = run(*words, "--set", f"{word}=[[1, 10]]")
    assert done.code == 0, done.err
    assert not [node for node in tfg.load(out) if node.is_placeholder]


@pytest.mark.parametrize(
    ("option", "word", "message"),
    [
        ("--set", "y=1", "node 'y' (AddV2): it is not a placeholder"),
        ("--set", "x=[1,2]", "node 'x' (Placeholder): shapes (?,2) and (2) must have the same rank"),
        ("--set", "x=[[1,2,3]]", "node 'x' (Placeholder): dimensions 2 and 3 must be equal"),
        ("--set", "x=text", "--set x: "),
        ("--set", "z=1", "no node 'z'"),
        ("--shape", "y=1", "node 'y' (AddV2): it is not a placeholder"),
    ],
)
def test_refusals(graph, tmp_path, option, word, message):
    done = run("convert", graph, tmp_path / "out.pb", option, word)
    assert done.code == 1 and message in done.err
    assert not (tmp_path / "out.pb").exists()


@pytest.mark.parametrize("command", ["convert", "optimize"])
def test_the_hint_for_a_tensor_that_is_no_placeholder_names_a_command(graph, tmp_path, command):
    words = (graph, tmp_path / "out.pb") if command == "convert" else (graph, "--fetch", "y")
    assert "hint: `tfg convert --from Mul` puts a placeholder in its place" in run(command, *words, "--set", "Mul=1").err


def test_a_shape_that_the_graph_contradicts_is_refused(tmp_path):
    b = tfg.GraphBuilder()
    b.MatMul(b.Placeholder(dtype="float", name="x"), np.ones((3, 2), np.float32), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    done = run("convert", tmp_path / "g.pb", tmp_path / "out.pb", "--shape", "x=4,5")
    assert done.code == 1 and "x (4,5) does not fit 1 node:\n  'y': " in done.err


@pytest.mark.parametrize("words", [("--set", "k=1", "--set", "k:0=2"), ("--shape", "x=1,2", "--shape", "x=3,2")])
def test_a_placeholder_is_set_once(graph, tmp_path, words):
    done = run("convert", graph, tmp_path / "out.pb", *words)
    assert done.code == 1 and "is already set" in done.err
    assert not (tmp_path / "out.pb").exists()


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("True", "write true"),
        ("FALSE", "write false"),
        ("None", "write true or false"),
        ("NULL", "write true or false"),
        ("yes", "write true or false"),
        ("", "write true or false"),
        ("[TRUE,false]", "write [true,false]"),
    ],
)
@pytest.mark.parametrize(
    "words",
    ["convert {graph} {out} --set flag={text}", "optimize {graph} --set flag={text}", "run {graph} --feed flag={text}"],
)
def test_words_that_are_no_json_have_a_next_step(tmp_path, words, text, hint):
    b = tfg.GraphBuilder()
    b.LogicalNot(b.Placeholder(dtype="bool", shape=[], name="flag"), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    line = words.format(graph=tmp_path / "g.pb", out=tmp_path / "out.pb", text=text)
    done = run(*line.split(" "), *(() if words.startswith("convert") else ("--fetch", "y")))
    assert done.code == 1 and hint in done.err, done.err


def test_a_note_counts_what_no_run_needs(tmp_path):
    b = tfg.GraphBuilder()
    x, flag = b.Placeholder(dtype="float", shape=[], name="x"), b.Placeholder(dtype="bool", shape=[], name="flag")
    off, on = b.Switch(x, flag)
    b.Merge([off, b.Exp(b.Neg(on))], name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    assert (
        "leaves out 3 nodes that no run needs"
        in run("convert", tmp_path / "g.pb", tmp_path / "o.pb", "--set", "flag=false").err
    )
    assert "leaves out" not in run("convert", tmp_path / "g.pb", tmp_path / "o.pb", "--set", "x=1").err


def test_arguments_of_a_signature_are_named(tmp_path):
    """The input `x` of a SavedModel is the tensor serving_default_x:0."""
    out = tmp_path / "out.pb"
    assert run("convert", SAMPLES / "scaler_saved_model", out, "--shape", "x=7,2", "--to", "scaled").code == 0
    assert str(tfg.load(out)["serving_default_x"].attr("shape")) == "(7,2)"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8", "uint64", "bool", "complex64", "string"])
@pytest.mark.parametrize("shape", [None, [], [2, 3], [None, 4], [0]])
def test_the_hint_for_a_value_that_is_missing_or_does_not_fit_is_a_feed_that_works(dtype, shape, tmp_path):
    b = tfg.GraphBuilder()
    b.Identity(b.Placeholder(dtype=dtype, shape=shape, name="x"), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    misfit = {"string": '[[["a"]]]', "bool": "[[[true]]]"}.get(dtype, "[[[1]]]")
    for feed in ((), ("--feed", f"x={misfit}"))[: 1 if shape is None else 2]:
        done = run("run", tmp_path / "g.pb", "--fetch", "y", *feed)
        hint = re.search(r"^hint: `(--feed .*)` feeds an example$", done.err, re.MULTILINE)
        assert done.code == 1 and hint is not None
        done = run("run", tmp_path / "g.pb", "--fetch", "y", *shlex.split(hint[1]))
        assert done.code == 0, done.err


@pytest.mark.parametrize(("feed", "hint"), [
    (("x=uniform(2)",), "x=uniform(1,2)"),
    (("x=0",), "x=uniform(1,2)"),
    (("names=ab", "--signature", "index"), 'names=["text"]'),
])  # fmt: skip
def test_the_hint_has_the_words_of_the_signature(feed, hint):
    done = run("run", SAMPLES / "scaler_saved_model", "--feed", *feed)
    assert done.code == 1 and f"hint: `--feed '{hint}'` feeds an example" in done.err, done.err


def test_the_hint_for_a_picture_is_a_picture(tmp_path):
    """A string that an op of the graph parses."""
    b = tfg.GraphBuilder()
    b.DecodePng(b.Placeholder(dtype="string", shape=[None], name="x"), name="y")
    tfg.save(b.graph, tmp_path / "g.pb")
    assert "--feed 'x=strings(1)'" in run("run", tmp_path / "g.pb", "--fetch", "y", "--feed", "x=ab").err


@pytest.fixture
def incomplete(tmp_path):
    """A file of y = x - parts:1, without the node x, and with a node parts whose attributes lack a dtype."""
    float_attr = 'attr { key: "T" value { type: DT_FLOAT } }'
    path = tmp_path / "incomplete.pbtxt"
    path.write_text(
        f'node {{ name: "parts" op: "Split" {float_attr} }}'
        f'node {{ name: "y" op: "Sub" input: "x" input: "parts:1" {float_attr} }}'
    )
    return path


def test_missing_and_broken_nodes_at_cuts_become_placeholders(incomplete, tmp_path):
    out = tmp_path / "out.pb"
    done = run("convert", incomplete, out, "--to", "y", "--from", "x", "--from", "parts:1")
    assert done.code == 0 and "'x:0' is missing or broken" in done.err and "'parts:1'" in done.err
    assert value(out, ("x:0", 5.0), ("parts/output_1:0", [1.0, 2.0])) == [4.0, 3.0]
    part = tfg.load_part(incomplete, inputs=["x", "parts:1"])
    assert {node.op for node in tfg.extract(part, "y:0", ["x", "parts:1"])} == {"Placeholder", "Sub"}


def test_an_input_that_the_file_lacks_has_a_next_step(incomplete, tmp_path):
    """The command of the hint works as it stands, with an output in the place of OUTPUT."""
    refused = run("convert", incomplete, tmp_path / "out.pb", "--to", "y", "--from", "parts:1")
    assert refused.code == 1
    _, *words = shlex.split(re.search("`(tfg convert .*)` makes it a placeholder", refused.err)[1])
    places = {"GRAPH": incomplete, "OUT": tmp_path / "out.pb", "OUTPUT": "y"}
    assert run(*(places.get(word, word) for word in words), "--from", "parts:1").code == 0


def test_a_cut_without_a_dtype_is_refused(incomplete, tmp_path):
    """A node that another node only waits for says no dtype."""
    with open(incomplete, "a") as file:
        file.write('node { name: "end" op: "NoOp" input: "^start" }')
    refused = run("convert", incomplete, tmp_path / "out.pb", "--to", "end", "--from", "start")
    assert refused.code == 1 and "neither its op nor a reader tells the dtype" in refused.err
