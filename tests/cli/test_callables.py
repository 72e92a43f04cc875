"""`--function`: Python's functions on the objects of a SavedModel, and functions of a library, as entry points.

`record_callables.py` made callables_model, and TensorFlow computed the values below from the loaded model.
"""

from __future__ import annotations

import pathlib

import pytest

from tests.cli.running import SAMPLES, tfg
from tests.functions import define
from tfg import GraphBuilder, Model, layers
from tfg.formats import load, save

MODEL = pathlib.Path(__file__).with_name("callables_model")
FED = ("--feed", "x=[[1,2]]")


def test_explain_lists_them_and_the_commands_that_run_them():
    facts = tfg("explain", MODEL, "--format", "json").json
    assert [(c["name"], [i["name"] for i in c["inputs"]], c["outputs"]) for c in facts["callables"]] == [
        ("__call__", ["x"], ["parts.0", "parts.1", "sum"]),
        ("double[0]", ["value"], ["output_0"]),
        ("double[1]", ["value"], ["output_0"]),
        ("index", ["words"], ["output_0"]),
        ("scale.apply", ["x"], ["output_0"]),
    ]
    assert f"tfg run {MODEL} --function __call__ --feed 'x=uniform(1,2)'" in facts["next_commands"]
    assert "--function" in tfg("explain", MODEL).out


@pytest.mark.parametrize(("name", "feeds", "results"), [
    ("__call__", ["x=[[1,2]]"], {"sum": 8.0, "parts.0": [[2.0, 6.0]], "parts.1": [[11.0, 22.0]]}),
    ("index", ['words=["two","x"]'], {"output_0": [2, -1]}),
    ("double[0]", ["value=2"], {"output_0": 4.0}),
    ("double[1]", ["value=[1,2]"], {"output_0": [2, 4]}),
    ("scale.apply", ["x=[[1,2]]"], {"output_0": [[2.0, 6.0]]}),
])  # fmt: skip
def test_each_runs(name, feeds, results):
    done = tfg("run", MODEL, "--function", name, *(word for feed in feeds for word in ("--feed", feed)), "--format", "json")
    assert done.code == 0, done.err
    assert {row["name"]: row["value"] for row in done.json["steps"][-1]["values"]} == results


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", [
    ("flops", "{m}", "--function", "__call__"),
    ("view", "{m}", "--function", "__call__", "-o", "{out}.html"),
    ("explain", "{m}", "--function", "scale.apply"),
    ("dump", "{m}", "--function", "__call__"),
    ("draw", "{m}", "--function", "__call__", "--format", "text"),
    ("draw", "{m}", "--function", "apply", "--format", "text"),
    ("grad", "{m}", "--function", "scale.apply", "--y", "output_0", "--x", "x", *FED),
    ("optimize", "{m}", "--function", "__call__", "--verify", *FED),
    ("optimize", "{m}", "--function", "scale.apply", "-o", "{out}.pb"),
    ("convert", "{m}", "{out}.onnx", "--function", "__call__", "--verify"),
    ("convert", "{m}", "{out}/", "--function", "__call__"),
])  # fmt: skip
def test_each_command_takes_one(way, tmp_path):
    if "{out}.onnx" in way:
        pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    done = tfg(*(word.format(m=MODEL, out=tmp_path / "out") for word in way))
    assert done.code == 0, done.err


def test_one_that_was_frozen_runs_by_the_names_of_its_results(tmp_path):
    frozen = tmp_path / "frozen.pb"
    assert tfg("convert", MODEL, frozen, "--function", "scale.apply", "--freeze").code == 0
    assert not [node.name for node in load(frozen) if node.op == "VarHandleOp"]
    assert "[[2., 6.]]" in tfg("run", frozen, "--fetch", "output_0", *FED).out


def test_one_that_was_cut_out_is_all_that_is_written(tmp_path):
    cut = tmp_path / "cut.pb"
    assert tfg("convert", MODEL, cut, "--function", "double[0]").code == 0
    assert [node.name for node in load(cut)] == ["value", "__inference_double_42", "output_0"]


def test_a_name_that_is_none_or_several():
    several = tfg("run", MODEL, "--function", "double")
    assert "error: 'double' names 2 functions\nhint: choose a function: 'double[0]', 'double[1]'" in several.err
    assert "hint: the functions are __call__" in tfg("run", MODEL, "--function", "call").err
    assert "index" in tfg("draw", MODEL, "--function", "indx").err
    assert "the graph has no functions" in tfg("run", SAMPLES / "xor.pbtxt", "--function", "f").err


@pytest.mark.parametrize("name", ["__inference_twice_12", "twice"])
def test_a_function_of_any_library_is_found_by_the_name_that_python_had(name, tmp_path):
    g = GraphBuilder()
    define(g, "__inference_twice_12", ["float"], lambda b, v: [b.AddV2(v, v)])
    define(g, "__inference_handled_3", ["resource"], lambda b, v: [b.ReadVariableOp(v, dtype="float")])
    save(g.graph, tmp_path / "g.pb")
    done = tfg("run", tmp_path / "g.pb", "--function", name, "--feed", "a0=[1,2]")
    assert "[2., 4.]" in done.out, done.err
    assert "takes the handle 'a0'" in tfg("run", tmp_path / "g.pb", "--function", "handled").err


def test_the_function_of_a_sample_is_what_its_signature_calls():
    model = SAMPLES / "scaler_saved_model"
    names = [c["name"] for c in tfg("explain", model, "--format", "json").json["callables"]]
    assert names
    assert tfg("flops", model, "--function", names[0]).code == 0


def test_a_run_without_a_signature_names_the_functions():
    """As a run of a model with signatures, it shows the inputs, and the commands that run the functions."""
    done = tfg("run", MODEL)
    assert done.code == 0 and done.out.startswith("inputs\n")
    assert "--function __call__" in done.out


@pytest.mark.parametrize("command", ["layers", "flops"])
def test_counts_are_of_the_function_that_python_calls(command):
    """A model without signatures is counted by `__call__`, as tfg.Model calls it."""
    whole = tfg(command, MODEL, "--format", "json").json
    assert whole == tfg(command, MODEL, "--function", "__call__", "--format", "json").json
    assert tfg("layers", MODEL, "--format", "json").json["trainable"] == 2  # the factor
    assert Model(MODEL).layers == layers(MODEL)
