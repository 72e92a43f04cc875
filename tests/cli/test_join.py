"""`tfg join`: what it writes, and what it says."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

SCALER = str(SAMPLES / "scaler_saved_model")
X = ("--feed", "x=[[1, 2]]")


def scaled(model):
    done = run("run", model, "--fetch", "scaled", *X, "--format", "json")
    assert done.code == 0, done.err
    return done.json["steps"][0]["values"][0]["value"]


def trained(folder, name, value):
    """A MetaGraph of one variable, y = x * w, and a checkpoint of it."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 2], name="x")
    g.Mul(x, g.variable(np.float32([0, 0]), "w"), name="y")
    g.global_variables_initializer()
    tfg.save(g.graph, folder / f"{name}.meta")
    tfg.write_checkpoint(folder / f"{name}.ckpt", {"w": np.float32(value)})


def test_a_saved_model_holds_both_and_the_note_tells_the_prefix(tmp_path):
    done = run("join", SCALER, SCALER, "-o", f"{tmp_path}/out/", "--connect", "x=scaled")
    assert done.code == 0 and "nodes of the second are named 'scaler_saved_model/...'" in done.err
    assert "wrote a SavedModel with signatures index, scaler_saved_model_index, serving_default" in done.err
    assert scaled(tmp_path / "out") == [[4, 18]]


def test_two_checkpoints_make_one_model(tmp_path):
    for name, value in (("one", [2, 3]), ("two", [10, 100])):
        trained(tmp_path, name, value)
    states = ("--first-state", f"{tmp_path}/one.ckpt", "--second-state", f"{tmp_path}/two.ckpt")
    done = run("join", tmp_path / "one.meta", tmp_path / "two.meta", "-o", f"{tmp_path}/both/", "--connect", "x=y", *states)
    assert done.code == 0, done.err
    assert {name: value.tolist() for name, value in tfg.read_checkpoint(tmp_path / "both").items()} == {
        "w": [2, 3], "two/w": [10, 100],
    }  # fmt: skip
    assert tfg.Model(tmp_path / "both")(x=np.float32([[1, 1]]))["y"].tolist() == [[20, 300]]


def test_a_graph_file_lacks_the_values_and_says_so(tmp_path):
    done = run("join", SCALER, SCALER, "-o", tmp_path / "out.pb", "--connect", "x=scaled", "--second-prefix", "again")
    assert done.code == 0 and "the file lacks the values of its 4 variables: end the name of OUT with a slash" in done.err
    assert "again/scale" in tfg.load(tmp_path / "out.pb")
    assert not run("join", SCALER, SCALER, "-q", "-o", tmp_path / "quiet.pb").err


@pytest.mark.slow
def test_wrong_connections_are_refused_before_anything_is_written(tmp_path):
    for words, message in (
        (("--connect", "x=scaled", "--connect", "x=calls"), "input 'x' is connected twice"),
        (("--connect", "x=calls"), "it takes float, and the tensor is int64"),
        (("--connect", "x"), "'x' is not of the form INPUT=TENSOR"),
        (("--connect", "x=scaled", "--second-prefix", ""), "both graphs have Const"),
        (("--first-state", "no"), "--first-state needs --output=*/"),
    ):
        target = tmp_path / "out.pb" if "--first-state" in words else f"{tmp_path}/out/"
        done = run("join", SCALER, SCALER, "-o", target, *words)
        assert done.code in (1, 2) and message in done.err and not any(tmp_path.iterdir()), done.err


def test_a_model_without_its_checkpoint_is_refused(tmp_path):
    shutil.copytree(SCALER, tmp_path / "model", ignore=shutil.ignore_patterns("variables"))
    done = run("join", SCALER, tmp_path / "model", "-o", f"{tmp_path}/out/", "--connect", "x=scaled")
    assert done.code == 1 and "variables.index" in done.err and not (tmp_path / "out").exists()


def test_merge_is_join(tmp_path):
    done = run("merge", SCALER, SCALER, "-o", tmp_path / "out.pb")
    assert done.code == 0 and "this is `tfg join" in done.err
