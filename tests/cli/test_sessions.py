"""The options of a session mean the same in every command that runs a graph."""

from __future__ import annotations

import shutil
import time
from unittest import mock

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES, process
from tests.cli.running import tfg as run
from tests.functions import define
from tests.opcases import string_array as strings
from tfg import GraphBuilder
from tfg.core.explaining.default_fetches import guessed_fetches
from tfg.core.runtime.session.runner import Runner
from tfg.formats import to_bytes
from tfg.formats.protos.meta_graph_pb2 import SavedModel

SCALER = SAMPLES / "scaler_saved_model"
OBJECTS = SCALER / "variables" / "variables"
"""A checkpoint of TF2: the keys are paths of objects, not names of variables."""
SCALED, X = "StatefulPartitionedCall_1:1", "serving_default_x"
FEED = ("--feed", f"{X}=[[1,2]]")
WAYS = {
    "run": ("--fetch", SCALED, *FEED),
    "grad": ("--y", SCALED, "--x", X, "--jacobian", *FEED),
    "flops": ("--measured", "--fetch", SCALED, *FEED),
    "optimize": ("--verify", "--fetch", SCALED, *FEED),
    "train": ("--loss", SCALED, "--steps", "1", *FEED),
    "convert": ("{out}", "--freeze", "--to", "scale/Read/ReadVariableOp"),
}
"""The command lines that run the scaler, whose variables have no initializer in the graph."""


@pytest.fixture
def bare(tmp_path):
    """The scaler's graph alone, without values of variables."""
    path = tmp_path / "bare.pb"
    run("convert", SCALER, path)
    return path


def call(command, graph, *more):
    arguments = [word.format(out=graph.parent / "out.pb") for word in WAYS[command]]
    return run(command, graph, *arguments, *more)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", WAYS)
def test_variables_come_from_checkpoints_of_objects(command, bare):
    assert call(command, bare).code == 1
    done = call(command, bare, "--state", OBJECTS)
    assert done.code == 0, done.err


@pytest.mark.sampled(5)
@pytest.mark.parametrize("command", sorted(set(WAYS) - {"convert"}))
def test_a_signature_names_what_is_fed_and_fetched(command):
    words = [word.replace(X, "x").replace(SCALED, "scaled") for word in WAYS[command]]
    done = run(command, SCALER, *words, "--signature", "serving_default")
    assert done.code == 0, done.err
    assert "has no signature 'none'" in run(command, SCALER, *words, "--signature", "none").err


def test_a_signature_says_what_is_kept(tmp_path):
    out = tmp_path / "out.pb"
    assert run("convert", SCALER, out, "--signature", "serving_default").code == 0
    graph = tfg.load(str(out))
    assert X in graph and "index_names" not in graph


def test_a_signature_says_what_is_counted():
    rows = run("flops", SCALER, "--signature", "serving_default", "--view", "node", "--format", "json").json["rows"]
    assert {row["name"].split("/")[0] for row in rows if row["flops"]} == {"StatefulPartitionedCall_1"}


def test_derivatives_are_taken_where_state_puts_the_variables(tmp_path):
    """A session on a copy of a SavedModel's graph does not overwrite assigned values with the model's values."""
    np.savez(tmp_path / "state.npz", scale=np.float32([7, 8]))
    done = run("grad", SCALER, *WAYS["grad"], "--state", tmp_path / "state.npz", "--format", "json")
    (result,) = done.json["derivatives"]
    assert np.reshape(result["jacobian"], (2, 2)).tolist() == [[7, 0], [0, 8]]


def test_training_goes_on_from_the_values_of_a_saved_model(tmp_path):
    first, second = (tmp_path / name for name in ("first.npz", "second.npz"))
    assert run("run", SCALER, "--assign-add", "calls=0", "--save-state", first).code == 0
    done = run("train", SCALER, *WAYS["train"], "--lr", "0", "--save-state", second)
    assert done.code == 0, done.err
    with np.load(first) as before, np.load(second) as after:
        np.testing.assert_array_equal(before["scale"], after["scale"])


@pytest.mark.parametrize("arguments", [
    ("grad", "{}", "--y", SCALED, "--x", X, "--seed", "1"),
    ("flops", "{}", "--init"),
    ("optimize", "{}", "--allow-files", "."),
    ("convert", "{}", "out.pb", "--seed", "1"),
])  # fmt: skip
def test_options_without_effect_are_refused(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*(word.format(SCALER) for word in arguments))
    assert (done.code, " needs --" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def endless(path):
    """Write a graph with an endless y and an endless initializer; constant folding cannot compute either."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[], name=X)
    v = g.variable(np.float32(1), name="v")
    define(g, "yes", ["float"], lambda b, value: [b.Less(b.Abs(value), b.constant(np.float32(np.inf)))])
    define(g, "same", ["float"], lambda b, value: [b.Neg(value)])
    loop = g.StatelessWhile([g.Mul(v, x)], cond="yes", body="same", name="loop")[0]
    g.Mul(loop, x, name="y")
    tfg.save(g.graph, str(path))
    return path


@pytest.mark.parametrize("command", sorted(set(WAYS) - {"convert"}))
@pytest.mark.slow
def test_every_command_keeps_to_its_time(command, tmp_path):
    words = [word.replace(SCALED, "y").replace("[[1,2]]", "1") for word in WAYS[command]]
    words += ["--init-op", "v/Assign"]
    start = time.monotonic()
    done = process(command, endless(tmp_path / "endless.pb"), *words, "--timeout", "0.5")
    assert (done.code, "exceeded its time limit of 0.5 seconds" in done.err) == (1, True), done.err
    assert time.monotonic() - start < 200


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", WAYS)
def test_every_command_limits_its_memory(command, bare):
    with mock.patch("tfg.core.runtime.execute.process_limits.limit_memory") as limit:
        call(command, bare, "--state", OBJECTS, "--max-memory", "1G")
    limit.assert_called_once_with(1 << 30)


def test_what_only_saves_is_no_output(tmp_path):
    """TF2 puts calls that save and restore into a SavedModel's graph: nobody fetches them unless they are named."""
    g = GraphBuilder()
    prefix = g.Placeholder(dtype="string", shape=[], name="saver_filename")
    g.Square(g.Placeholder(dtype="float", shape=[], name="x"), name="y")

    def save(b, path):
        names, value = b.constant(strings(["v"])), b.constant(np.float32(1))
        with b.control_dependencies([b.SaveV2(path, names, b.constant(strings([""])), [value])]):
            return [b.Identity(path)]

    define(g, "save", ["string"], save, stateful=True)
    define(g, "outer", ["string"], lambda b, path: [b.StatefulPartitionedCall([path], Tout=["string"], f="save")[0]])
    g.StatefulPartitionedCall([prefix], Tout=["string"], f="outer", name="saves")
    facts = tfg.explain(g.graph)
    assert [tensor.name for tensor in facts.inputs] == ["x:0"]
    assert [tensor.name for tensor in facts.outputs] == ["y:0"]
    assert guessed_fetches(g.graph) == ("y:0",)


def saved_model(path, asset):
    """Write a SavedModel that loads the text of a file into a table at the start; `asset` is the file's name."""
    graph = GraphBuilder()
    table = graph.HashTableV2(key_dtype="string", value_dtype="int64", name="table")
    start = graph.InitializeTableFromTextFileV2(table, graph.constant(str(asset)), key_index=-2, value_index=-1, name="start")
    graph.group([start], name="main_op")
    graph.LookupTableFindV2(table, graph.constant("word"), graph.constant(np.int64(-1)), name="found")
    model = SavedModel(saved_model_schema_version=1)
    meta = model.meta_graphs.add()
    meta.meta_info_def.tags.append("serve")
    meta.graph_def.ParseFromString(to_bytes(graph.graph))
    meta.collection_def["saved_model_main_op"].node_list.value.append("main_op")
    (path / "saved_model.pb").write_bytes(model.SerializeToString())
    return path


def test_a_saved_model_reads_its_own_folder_and_no_other(tmp_path):
    model, outside = tmp_path / "model", tmp_path / "outside"
    (model / "assets").mkdir(parents=True)
    for path in (model / "assets" / "words", outside):
        path.write_text("word\n")
    (model / "assets" / "link").symlink_to(outside)
    for name, code in (("assets/words", 0), ("assets/link", 1), ("../outside", 1)):
        done = run("run", saved_model(model, model / name), "--fetch", "found")
        assert done.code == code, done.err
        assert ("node 'start'" in done.err) == bool(code)
    runner = Runner(tfg.Session(tfg.load(str(saved_model(model, model / "assets" / "words")))))
    assert runner.session.run("found:0") == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    ("run", "{}", "--fetch", "probability", "-f", "x=[[1, 2]]"),
    ("convert", "{}", "frozen.pb", "--freeze", "--to", "probability"),
    ("convert", "{}", "web/model.json", "--to", "probability"),
])  # fmt: skip
def test_a_graph_without_values_gets_the_checkpoint_beside_it(words, tmp_path, monkeypatch):
    """Of the same name as a .meta file, else the latest or the only one of the folder; several are not guessed among."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").mkdir()
    for prefix in ("train/model-1", "train/model-2"):
        assert run("run", SAMPLES / "xor.pbtxt", "--init", "--save-state", prefix).code == 0
    assert run("convert", SAMPLES / "xor.pbtxt", "train/model-1.meta").code == 0
    shutil.copy(SAMPLES / "xor.pbtxt", "train/graph.pbtxt")

    def said(graph):
        done = run(*(word.format(graph) for word in words))
        assert done.code == 1
        return done.err

    if words[0] == "convert":
        done = run(*(word.format("train/model-1.meta") for word in words))
        assert done.code == 0 and "taking the values of the checkpoint 'train/model-1'" in done.err
    else:
        assert "--state train/model-1" in said("train/model-1.meta") and "lies beside the graph" in said("train/model-1.meta")
    assert "--state FILE" in said("train/graph.pbtxt")
    (tmp_path / "train" / "checkpoint").write_text('model_checkpoint_path: "/home/trainer/model-2"\n')
    assert "--state train/model-2" in said("train/graph.pbtxt")
    done = run(*(word.format("train/graph.pbtxt") for word in words), "--state", "train/model-2")
    assert done.code == 0
