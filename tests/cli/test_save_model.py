"""Trained, assigned, optimized and converted models as SavedModels, with weights, signatures and assets."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import call_with_an_unread_input
from tfg.core.runtime.session.restored_variables import restored_variables
from tfg.formats.state import read_state

SCALER = SAMPLES / "scaler_saved_model"
PREFIX = SCALER / "variables" / "variables"
KEY = "scale/.ATTRIBUTES/VARIABLE_VALUE"
X = ("--feed", "x=[[1, 1]]")


def scaled(model, *more):
    done = run("run", model, "--fetch", "scaled", *X, *more, "--format", "json")
    assert done.code == 0, done.err
    return done.json["steps"][0]["values"][0]["value"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [
    ("run", "--save-model", "{out}", "--assign", "scale=[5, 7]"),
    ("run", "--save-model", "{out}", "--state", "{state}"),
    ("convert", "{out}", "--kind", "saved_model", "--state", "{state}"),
    ("train", "--loss", "scaled", "--lr", "0", "--steps", "1", *X, "--state", "{state}", "--save-model", "{out}"),
    ("optimize", "--state", "{state}", "--save-model", "{out}", "--verify"),
])  # fmt: skip
def test_new_values_of_variables_are_in_the_model_that_is_written(command, tmp_path):
    np.savez(tmp_path / "state.npz", scale=np.float32([5, 7]))
    out = tmp_path / "out"
    name, *words = (word.format(out=out, state=tmp_path / "state.npz") for word in command)
    done = run(name, SCALER, *words)
    assert done.code == 0 and "wrote a SavedModel with signatures index, serving_default" in done.err
    assert scaled(out) == [[5, 7]]
    assert (
        run("run", out, "--signature", "index", "--feed", 'names=["height"]').out
        == run("run", SCALER, "--signature", "index", "--feed", 'names=["height"]').out
    )


@pytest.mark.parametrize("words", [
    ("convert", "graph.pbtxt", "model/", "--init"),
    ("train", "graph.pbtxt", "--loss", "loss", "--steps", "1", "-f", "x=[[1, 2]]", "-f", "y=[[1]]", "--save-model", "model"),
])  # fmt: skip
def test_a_graph_without_a_signature_gets_one_of_its_outputs(words, tmp_path, monkeypatch):
    """The outputs that explain finds, as tfg.save_model takes."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "xor.pbtxt", "graph.pbtxt")
    assert run(*words).code == 0
    signature = tfg.load("model").meta.signatures["serving_default"]
    assert (set(signature.inputs), set(signature.outputs)) == ({"x", "y"}, {"loss", "probability"})


def test_a_graph_without_outputs_asks_for_one(tmp_path):
    g = tfg.GraphBuilder()
    g.Placeholder(dtype="float", name="x")
    tfg.save(g.graph, tmp_path / "graph.pb")
    refused = run("convert", tmp_path / "graph.pb", f"{tmp_path / 'model'}/")
    assert refused.code == 1 and "name at least one output, such as x:0: --to in" in refused.err


def test_objects_functions_and_keys_stay(tmp_path):
    out = tmp_path / "out"
    assert run("run", SCALER, "--assign-add", "scale=[1, 1]", "--save-model", out).code == 0
    before, after = tfg.load(str(SCALER)), tfg.load(str(out))
    assert after.meta.objects == before.meta.objects
    assert set(after.functions) == set(before.functions)
    old, new = (read_state(model / "variables" / "variables") for model in (SCALER, out))
    assert old.keys() == new.keys()
    np.testing.assert_array_equal(new[KEY].numpy(), old[KEY].numpy() + 1)


def test_an_input_that_nothing_needs_stays_in_the_signature(tmp_path):
    tfg.save(call_with_an_unread_input(None, [None, 3]), str(tmp_path / "graph.pbtxt"))
    model, out, again = (tmp_path / name for name in ("model", "out", "again"))
    assert run("convert", tmp_path / "graph.pbtxt", model, "--kind", "saved_model", "--to", "y").code == 0
    assert run("optimize", model, "--verify", "--save-model", out).code == 0
    assert run("convert", out, again, "--kind", "saved_model", "--signature", "serving_default").code == 0
    for written in (out, again):
        inputs = tfg.load(str(written)).meta.signatures["serving_default"].inputs
        assert {name: str(argument.shape) for name, argument in inputs.items()} == {"x": "<unknown>", "unread": "(?,3)"}


def test_assets_go_along(tmp_path):
    model, out = tmp_path / "model", tmp_path / "out"
    shutil.copytree(SCALER, model)
    (model / "assets").mkdir()
    (model / "assets" / "words.txt").write_text("a")
    assert run("run", model, "--save-model", out).code == 0
    assert (out / "assets" / "words.txt").read_text() == "a"


@pytest.mark.parametrize("link", ["assets", "assets/words.txt", "assets/sub", "keras_metadata.pb"])
def test_a_model_takes_no_file_along_that_is_not_its_own(link, tmp_path):
    model, out, secrets = tmp_path / "model", tmp_path / "out", tmp_path / "secrets"
    shutil.copytree(SCALER, model)
    secrets.mkdir()
    (secrets / "key").write_text("secret")
    (model / link).parent.mkdir(exist_ok=True)
    (model / link).symlink_to(secrets / "key" if "." in link else secrets)
    done = run("run", model, "--save-model", out)
    problem = "is a link to a place outside the model's folder" if "." in link else "is a link to a folder"
    assert done.code == 1 and problem in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "secrets"]


def test_a_checkpoint_is_written_in_the_form_of_the_one_that_was_read(tmp_path):
    prefix = tmp_path / "new"
    assert run("run", SCALER, "--assign", "scale=[8, 9]", "--save-state", prefix).code == 0
    assert read_state(prefix).keys() == read_state(PREFIX).keys()
    assert scaled(SCALER, "--state", prefix) == [[8, 9]]


def test_a_graph_says_from_which_object_its_variables_are_restored():
    assert restored_variables(tfg.load(str(SCALER)))[KEY] == "scale"


@pytest.mark.parametrize("content", ["a file", None])
def test_nothing_is_ever_written_over(content, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    if content is not None:
        (out / "x").write_text(content)
    done = run("run", SCALER, "--save-model", out)
    assert done.code == (0 if content is None else 1)
    assert content is None or "is not empty" in done.err
    assert not list(tmp_path.glob(".tfg-*"))


def test_a_graph_without_signatures_gets_one_of_what_is_fetched(tmp_path):
    out = tmp_path / "out"
    words = ("--init", "--seed", "3", "--fetch", "probability", "--feed", "x=[[0, 1]]")
    first = run("run", SAMPLES / "xor.pbtxt", *words, "--save-model", out)
    assert run("run", out, "--feed", "x=[[0, 1]]").out == first.out
    assert run("run", out, "--format", "json").json["signatures"][0]["inputs"].keys() == {"x"}


def test_variables_without_values_are_no_model(tmp_path):
    done = run("convert", SAMPLES / "xor.pbtxt", tmp_path / "out", "--kind", "saved_model", "--to", "probability")
    assert done.code == 1 and "ninitialized" in done.err
    assert not list(tmp_path.iterdir())


def test_a_frozen_model_needs_no_variables(tmp_path):
    out = tmp_path / "out"
    words = ("--kind", "saved_model", "--freeze", "--init", "--to", "probability")
    assert run("convert", SAMPLES / "xor.pbtxt", out, *words).code == 0
    assert sorted(path.name for path in out.iterdir() if path.name != "assets") == ["saved_model.pb"]


@pytest.mark.parametrize("words", [("convert", "{model}", "{out}"), ("optimize", "{model}", "-o", "{out}")])
def test_a_graph_that_left_its_variables_behind_says_what_it_needs(words, tmp_path):
    out = tmp_path / "out.pb"
    done = run(*(word.format(model=SCALER, out=out) for word in words))
    assert f"the file lacks the values of its 2 variables: run it with --state {PREFIX}" in done.err
    assert run("run", out, "--fetch", "StatefulPartitionedCall_1:1", "--feed", "serving_default_x=[[1, 1]]",
               "--state", PREFIX).code == 0  # fmt: skip


def test_the_file_of_a_model_finds_the_rest_beside_it(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(SCALER, model)
    assert scaled(model / "saved_model.pb") == scaled(SCALER)


def test_tags_choose_among_graphs_of_a_saved_model_only():
    done = run("dump", SAMPLES / "xor.pbtxt", "--tags", "serve")
    assert done.code == 1 and "tags choose among the graphs of a SavedModel" in done.err


@pytest.mark.slow
def test_an_operation_is_compared_by_the_variables_it_leaves():
    done = run("optimize", SAMPLES / "xor.pbtxt", "--fetch", "train", "--verify", "--feed", "x=[[0, 1]]", "--feed", "y=[[1]]")
    assert done.code == 0 and "variable hidden/kernel/Adam " in done.out


def test_a_fetch_that_leaves_nothing_behind_is_not_called_verified(tmp_path):
    g = tfg.GraphBuilder()
    g.NoOp(name="nothing")
    tfg.save(g.graph, str(tmp_path / "nothing.pb"))
    done = run("optimize", tmp_path / "nothing.pb", "--fetch", "nothing", "--verify")
    assert done.code == 1 and "nothing to compare: nothing" in done.err


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ending", [".pb", ".pbtxt"])
@pytest.mark.parametrize("options", [(), ("--inline-functions",)])
def test_a_frozen_model_has_its_values(options, ending, tmp_path):
    frozen = tmp_path / f"frozen{ending}"
    done = run("convert", SAMPLES / "keras_classifier", frozen, "--freeze", *options)
    assert done.code == 0 and "lacks the values" not in done.err
    feed = ("--feed", "measurements=[[5.1, 3.5, 1.4, 0.2]]", "--format", "json")
    model = run("run", SAMPLES / "keras_classifier", *feed).json["steps"][0]["values"][0]["value"]
    fed = ("--feed", "serving_default_measurements=[[5.1, 3.5, 1.4, 0.2]]", "--fetch", "StatefulPartitionedCall_1:0")
    values = run("run", frozen, *fed, "--format", "json").json["steps"][0]["values"][0]["value"]
    np.testing.assert_array_equal(values, model)


def test_the_variables_that_remain_are_counted(tmp_path):
    """Handles that nothing of the model uses need no values."""
    done = run("convert", SAMPLES / "keras_classifier", tmp_path / "graph.pb")
    assert "the file lacks the values of its 8 variables" in done.err
    done = run("convert", SAMPLES / "keras_classifier", tmp_path / "part.pb", "--to", "serving_default_measurements")
    assert done.code == 0 and "lacks the values" not in done.err


@pytest.mark.parametrize(("name", "code"), [("v1.b", 0), ("model.pb", 1), ("model.onnx", 1)])
def test_a_folder_may_have_a_dot(tmp_path, name, code):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text("""
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    """)
    done = run("run", graph, "--fetch", "y", "--feed", "x=1.0", "--save-model", tmp_path / name)
    assert done.code == code, done.err
    assert (tmp_path / name / "saved_model.pb").exists() == (code == 0)
