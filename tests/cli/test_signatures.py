"""SavedModels by their signatures: the words of a command are names of inputs and outputs, none need be looked up."""

from __future__ import annotations

import pytest

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.graph.metagraph import argument_tensor

SCALER = SAMPLES / "scaler_saved_model"
X = ("--feed", "x=[[1, 2]]")
CALLS = {
    "run": ("--fetch", "scaled", *X),
    "flops": ("--fetch", "scaled"),
    "optimize": ("--fetch", "scaled", "--verify", *X),
    "grad": ("--y", "scaled", "--x", "x", *X),
    "train": ("--loss", "scaled", "--steps", "1", *X),
    "compare": ("--passes", "default", "--fetch", "scaled", *X),
    "explain": ("scaled", "--fetch", "scaled"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", CALLS)
@pytest.mark.parametrize("signature", [(), ("--signature", "serving_default")])
def test_words_are_names_of_the_usual_signature(command, signature):
    done = run(command, SCALER, *CALLS[command], *signature)
    assert done.code == 0, done.err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", CALLS)
def test_words_may_have_the_form_of_tensors(command):
    """`x:0` is the argument `x`, where the graph has no node of this name; `x:1` is none."""
    words = [{"x": "x:0", "scaled": "scaled:0", X[1]: "x:0=[[1, 2]]"}.get(word, word) for word in CALLS[command]]
    done = run(command, SCALER, *words)
    assert done.code == 0, done.err
    assert run("run", SCALER, "--feed", "x:1=[[1, 2]]").code == 1


def test_tensors_of_the_graph_come_before_arguments():
    """A node may be called as an argument whose tensor is another."""
    assert argument_tensor("x:0", {"x": "serving_x:0"}, {"y"}) == "serving_x:0"
    assert argument_tensor("x:0", {"x": "serving_x:0"}, {"x"}) == "x:0"
    assert argument_tensor("x", {"x": "serving_x:0"}, {"x"}) == "serving_x:0"


@pytest.mark.parametrize("command", CALLS)
def test_a_signature_that_is_not_there_is_named(command):
    done = run(command, SCALER, *CALLS[command], "--signature", "nosuch")
    assert (done.code, "has no signature 'nosuch'" in done.err) == (1, True)
    assert "index, serving_default" in done.err


def test_a_model_alone_shows_its_signatures_and_what_to_type():
    done = run("run", SCALER)
    assert done.code == 0
    assert "signature index" in done.out and "names     index_names:0              string  (?)" in done.out
    assert "--signature serving_default --feed 'x=uniform(1,2)'" in done.out
    shown = run("run", SCALER, "--format", "json").json
    assert [signature["name"] for signature in shown["signatures"]] == ["index", "serving_default"]


def test_what_is_shown_to_type_runs():
    for line in run("run", SCALER, "--format", "json").json["next_commands"]:
        words = line.replace("'", "").split()[1:]
        assert run(*words).code == 0, line


def test_a_graph_without_signatures_shows_inputs_and_outputs():
    done = run("run", SAMPLES / "xor.pbtxt")
    assert done.code == 0
    assert "x:0   Placeholder  float  (?,2)" in done.out and "--fetch loss:0" in done.out


def test_feeds_alone_fetch_all_outputs():
    assert {"scaled", "calls"} == {
        item["name"] for item in run("run", SCALER, *X, "--format", "json").json["steps"][0]["values"]
    }


@pytest.mark.parametrize("arguments", [("--fetch", "scaled"), ("--signature", "serving_default")])
def test_a_missing_input_is_named_as_the_user_names_it(arguments):
    done = run("run", SCALER, *arguments)
    assert done.code == 1
    assert "input 'x' of signature 'serving_default' is not fed: it takes float (?,2)" in done.err
    assert "--feed 'x=uniform(1,2)'" in done.err


def test_a_node_in_a_function_is_fetched_by_both_names():
    """The callers in the chosen signature run; every step shows the result of the node in this step."""
    inner = "__inference_apply_24"
    fetches = ("--fetch", f"{inner}/Read/ReadVariableOp", "--fetch", "scaled", "--fetch", f"{inner}/mul/ReadVariableOp:0")
    steps = run("run", SCALER, *X, *fetches, "--steps", "2", "--format", "json").json["steps"]
    values = [[item["value"] for item in step["values"]] for step in steps]
    assert values == [[1, [[2.0, 6.0]], [2.0, 3.0]], [2, [[2.0, 6.0]], [2.0, 3.0]]]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("__inference_apply_24/nosuch", "in function '__inference_apply_24': the graph has no node 'nosuch'"),
        ("__inference_apply_24/mul:3", "output 3 does not exist"),
        ("__inference_apply_24/x", "'__inference_apply_24/x' did not run"),
        ("__inference__destroyer_68/Const", "no node calls it"),
    ],
)
def test_a_node_in_a_function_that_cannot_be_shown_is_named(word, expected):
    done = run("run", SCALER, *X, "--fetch", word)
    assert done.code == 1 and expected in done.err


def test_a_node_in_a_loop_of_a_function_shows_its_last_value(tmp_path):
    graph = tmp_path / "loop.pbtxt"
    graph.write_text(_LOOP)
    done = run("run", graph, "--fetch", "y", "--fetch", "body/next", "--fetch", "condition/less", "--format", "json")
    assert [item["value"] for item in done.json["steps"][0]["values"]] == [3, 3, False]


_LOOP = """
node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
node { name: "y" op: "StatelessWhile" input: "zero" attr { key: "T" value { list { type: DT_INT32 } } }
  attr { key: "cond" value { func { name: "condition" } } } attr { key: "body" value { func { name: "body" } } } }
library {
  function {
    signature { name: "condition" input_arg { name: "i" type: DT_INT32 } output_arg { name: "r" type: DT_BOOL } }
    node_def { name: "three" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 3 } } } }
    node_def { name: "less" op: "Less" input: "i" input: "three:output:0" attr { key: "T" value { type: DT_INT32 } } }
    ret { key: "r" value: "less:z:0" }
  }
  function {
    signature { name: "body" input_arg { name: "i" type: DT_INT32 } output_arg { name: "r" type: DT_INT32 } }
    node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
    node_def { name: "next" op: "AddV2" input: "i" input: "one:output:0" attr { key: "T" value { type: DT_INT32 } } }
    ret { key: "r" value: "next:z:0" }
  }
}
"""


def test_a_wrong_input_is_refused_with_those_there_are():
    done = run("run", SCALER, "--feed", "y=1")
    assert "signature 'serving_default' has no input 'y'" in done.err and "its inputs: 'x'" in done.err


def test_explaining_a_signature_leaves_out_the_others():
    done = run("explain", SCALER, "--signature", "index")
    assert "signature index" in done.out and "signature serving_default" not in done.out
    assert "serving_default_x:0" not in done.out and "StatefulPartitionedCall_1" not in done.out.partition("functions\n")[0]
    report = run("explain", SCALER, "--signature", "index", "--format", "json").json
    assert [tensor["name"] for tensor in report["inputs"]] == ["names"]
    assert [tensor["name"] for tensor in report["outputs"]] == report["peak_memory"]["fetches"] == ["indices"]
    of_file = run("explain", SCALER, "--signature", "index", "--raw", "--format", "json").json
    assert [tensor["name"] for tensor in of_file["inputs"]] == ["index_names:0"]


def test_a_tensor_is_explained_by_its_node_and_one_that_is_not_there_refused():
    assert run("explain", SAMPLES / "xor.pbtxt", "loss:0").out == run("explain", SAMPLES / "xor.pbtxt", "loss").out
    assert "output 3 does not exist" in run("explain", SAMPLES / "xor.pbtxt", "loss:3").err


@pytest.mark.parametrize("fetch", [(), ("--fetch", "StatefulPartitionedCall_1"), ("--fetch", "scaled")])
def test_flops_of_a_model_are_those_of_its_usual_signature(fetch):
    """Two products a row; the counter is added to whatever is fetched."""
    total = run("flops", SCALER, *fetch, "--format", "json").json["total"]
    assert total["flops_formula"] == "2*N + 1"


def test_flops_of_several_signatures_are_never_summed(tmp_path):
    from tfg.formats.protos.meta_graph_pb2 import SavedModel

    model = SavedModel.FromString((SCALER / "saved_model.pb").read_bytes())
    signatures = model.meta_graphs[0].signature_def
    signatures["other"].CopyFrom(signatures["serving_default"])
    del signatures["serving_default"]
    (tmp_path / "saved_model.pb").write_bytes(model.SerializeToString())
    done = run("flops", tmp_path)
    assert done.code == 1 and "several signatures: index, other" in done.err
    assert run("flops", tmp_path, "--signature", "other", "--format", "json").json["total"]["flops_formula"] == "2*N + 1"
