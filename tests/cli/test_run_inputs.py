"""`tfg run` on tables and pictures, and the best classes of a classifier."""

from __future__ import annotations

import csv
import json
import pathlib

import numpy as np
import pytest

import tfg as library
from tests.cli.running import tfg
from tfg import GraphBuilder, Session
from tfg.core.support.errors import DataLossError, InvalidArgumentError
from tfg.formats.api.step_results import read_labels, top_classes
from tfg.formats.saving import save

SCORES = [[0.1, 0.7, 0.2], [0.4, 0.2, 0.4]]


@pytest.fixture
def scaler(tmp_path):
    """A graph of y = (2a, 3a) and s = a + b."""
    g = GraphBuilder()
    a, b = g.Placeholder(dtype="float32", shape=[None], name="a"), g.Placeholder(dtype="float32", shape=[None], name="b")
    g.Pack([g.Mul(a, np.float32(2)), g.Mul(a, np.float32(3))], axis=1, name="y")
    g.AddV2(a, b, name="s")
    save(g.graph, str(tmp_path / "g.pb"))
    (tmp_path / "t.csv").write_text("a,b,note\n1,0.5,x\n3,0.1,y\n")
    return tmp_path


@pytest.fixture
def mean(tmp_path):
    """A graph of the mean of a batch of pictures of 2 by 2, and two of them in folders."""
    g = GraphBuilder()
    images = g.Placeholder(dtype="float32", shape=[None, 2, 2, 3], name="images")
    g.Mean(images, [1, 2, 3], name="mean")
    save(g.graph, str(tmp_path / "g.pb"))
    for name, value in (("a", 51), ("sub/b", 102)):
        encoded = Session(g.graph).run(g.EncodePng(np.full((4, 4, 3), value, np.uint8)).name)
        (tmp_path / "photos" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "photos" / f"{name}.png").write_bytes(encoded.item() if isinstance(encoded, np.ndarray) else encoded)
    (tmp_path / "photos" / "readme.md").write_text("no picture")
    return tmp_path


def test_columns_in_and_out(scaler):
    t, out = scaler / "t.csv", scaler / "y.csv"
    words = ("run", scaler / "g.pb", "--feed", f"a=@{t}:a", "--feed", f"b=@{t}:b", "--fetch", "y", "--fetch", "s")
    assert tfg(*words, "--output", out).code == 0
    assert out.read_text() == "y_0,y_1,s\n2.0,3.0,1.5\n6.0,9.0,3.1\n"
    assert tfg(*words, "--format", "csv").out == out.read_text()


def test_steps_are_rows(tmp_path):
    g = GraphBuilder()
    g.AssignAdd(g.variable(np.float32(0), name="count").handle, np.float32(0.5), name="total")
    g.global_variables_initializer()
    save(g.graph, str(tmp_path / "g.pb"))
    done = tfg("run", tmp_path / "g.pb", "--init", "--fetch", "total", "--steps", 3, "--format", "csv")
    assert done.out == "step,total\n1,0.5\n2,1.0\n3,1.5\n"


def test_tensors_that_are_no_table(scaler):
    words = ("run", scaler / "g.pb", "--feed", "a=[1,2]", "--feed", "b=[1]", "--format", "csv")
    done = tfg(*words, "--fetch", "a", "--fetch", "b")
    assert done.code == 1 and "unequal numbers of rows" in done.err and "npz" in done.err


def test_a_run_for_each_row(scaler):
    feeds = ("--feed", "a=@each:a", "--feed", "b=@each:b")
    words = ("run", scaler / "g.pb", "--each", scaler / "t.csv", "--fetch", "s", "--fetch", "y")
    assert tfg(*words, *feeds, "--output", scaler / "r.csv").code == 0
    assert (scaler / "r-00000-of-00001.csv").read_text() == "name,s,y_0,y_1\nt-000001,1.5,2.0,3.0\nt-000002,3.1,6.0,9.0\n"
    assert tfg(*words, *feeds, "--out-dir", scaler / "o").code == 0
    assert np.load(scaler / "o" / "t-000002.npz")["y"].tolist() == [[6, 9]]
    refused = tfg(*words, "--out-dir", scaler / "p")
    assert refused.code == 1 and "'note'" in refused.err and "@each:COLUMN" in refused.err


def test_a_run_for_each_picture_of_a_folder(mean):
    words = ("run", mean / "g.pb", "--each", mean / "photos", "--fetch", "mean", "--output", mean / "r.csv")
    done = tfg(*words, "--feed", "images=@each?resize=2,2&scale=1/255")
    assert done.code == 0, done.err
    rows = list(csv.DictReader((mean / "r-00000-of-00001.csv").read_text().splitlines()))
    assert [(row["name"], round(float(row["mean"]), 6)) for row in rows] == [("a", 0.2), ("sub/b", 0.4)]
    assert tfg(*words[:3], mean / "photos" / "*.md", *words[4:]).code == 1
    assert tfg(*words, "--feed", "images=@each?size=2").code == 1


def test_the_best_classes(tmp_path):
    g = GraphBuilder()
    g.Identity(g.Placeholder(dtype="float32", shape=[None, 3], name="x"), name="probs")
    save(g.graph, str(tmp_path / "g.pb"))
    (tmp_path / "labels.txt").write_text("cat\ndog\nbird\n")
    words = ("run", tmp_path / "g.pb", "--feed", f"x={SCORES}", "--fetch", "probs", "--top-k", 2)
    shown = tfg(*words, "--labels", tmp_path / "labels.txt").out.splitlines()
    assert [line.split() for line in shown[3:]] == [
        ["0", "1", "dog", "0.7"], ["0", "2", "bird", "0.2"], ["1", "0", "cat", "0.4"], ["1", "2", "bird", "0.4"],
    ]  # fmt: skip
    values = {item["name"]: item["value"] for item in tfg(*words, "--format", "json").json["steps"][0]["values"]}
    assert values["probs/classes"] == [[1, 2], [0, 2]]
    (tmp_path / "few.txt").write_text("cat\ndog\n")
    refused = tfg(*words, "--labels", tmp_path / "few.txt")
    assert refused.code == 1 and "2 labels do not fit 3 classes" in refused.err
    assert tfg(*words[:-2], "--labels", tmp_path / "few.txt").code == 2


def test_no_rows_have_no_classes(tmp_path):
    g = GraphBuilder()
    g.Identity(g.Placeholder(dtype="float32", shape=[None, 3], name="x"), name="probs")
    save(g.graph, str(tmp_path / "g.pb"))
    shown = tfg("run", tmp_path / "g.pb", "--feed", "x=zeros(0,3)", "--fetch", "probs", "--top-k", 2)
    assert shown.code == 0, shown.err
    assert "probs" in shown.out


def test_classes_in_python():
    top = library.top_classes(SCORES, 2, ["a", "b", "c"])
    assert top.labels.tolist() == [[b"b", b"c"], [b"a", b"c"]]
    assert top_classes(np.array([3, 1, 2]), 9).classes.tolist() == [0, 2, 1]
    with pytest.raises(InvalidArgumentError):
        top_classes(1.0)


def test_forms_of_labels(tmp_path):
    path = tmp_path / "labels"
    for text in ("a\nb\n", json.dumps(["a", "b"]), json.dumps({"1": ["n2", "b"], "0": ["n1", "a"]})):
        path.write_text(text)
        assert read_labels(path) == ["a", "b"]
    path.write_text('{"0": "a", "2": "c"}')
    with pytest.raises(DataLossError, match="lacks a label"):
        read_labels(path)


@pytest.mark.parametrize("name, text", [("t.csv", "a,b,note\n"), ("t.jsonl", ""), ("t.ndjson", "\n\n")])
def test_a_file_without_rows_is_named(scaler, name, text):
    (scaler / name).write_text(text)
    done = tfg("run", scaler / "g.pb", "--each", scaler / name, "--fetch", "y", "--out-dir", scaler / "out")
    assert done.code == 1 and f"{name}' has no rows" in done.err
    assert not (scaler / "out").exists()


UNREADABLE = {
    "objects": np.array(["a", None], object),
    "times": np.array(["2020-01-01"], "datetime64[D]"),
    "records": np.zeros(2, [("a", "<i4"), ("b", "O")]),
}


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    """A graph of -x, and an archive of x and of arrays that tfg cannot read."""
    monkeypatch.chdir(tmp_path)
    b = GraphBuilder()
    w = b.variable([5.0], "w")
    x = b.Placeholder(dtype="float", shape=None, name="x")
    b.Neg(x, name="y")
    b.Mul(w, x, name="z")
    save(b.graph, "g.pb")
    np.savez("mixed.npz", **UNREADABLE, x=np.float32([1, 2]))
    np.savez("state.npz", **UNREADABLE, w=np.float32([7]))


def test_members_of_an_archive_are_read_beside_python_objects(mixed):
    """By --feed, --each, --state, and by the commands and functions for archives."""
    for words in (
        ("--fetch", "y", "--feed", "x=@mixed.npz:x", "--format", "json"),
        ("--fetch", "y", "--each", "mixed.npz", "--out-dir", ".", "--format", "json"),
    ):
        done = tfg("run", "g.pb", *words)
        result = json.loads(done.out or pathlib.Path("mixed.json").read_text())
        assert result["steps"][0]["values"][0]["value"] == [-1, -2], done.err
    done = tfg("run", "g.pb", "--fetch", "z", "--feed", "x=2", "--state", "state.npz", "--format", "json")
    assert done.json["steps"][0]["values"][0]["value"] == [14] and "position" not in done.err
    done = tfg("checkpoint", "mixed.npz", "--stats", "--format", "json")
    assert [row["name"] for row in done.json["tensors"]] == [*sorted(UNREADABLE), "x"]
    assert done.err.count("Python objects") == 2 and done.err.count("has no TensorFlow equivalent") == 1
    done = tfg("checkpoint", "mixed.npz", "--compare", "mixed.npz", "--format", "json")
    statuses = {row["name"]: row["status"] for row in done.json["tensors"]}
    assert done.code == 3 and statuses == {**dict.fromkeys(UNREADABLE, "different"), "x": "equal"}
    assert library.read_checkpoint("mixed.npz")["x"].tolist() == [1, 2]


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_member_that_cannot_be_read_says_why(name, mixed):
    told = "TensorFlow equivalent" if name == "times" else "Python objects"
    np.savez("bad.npz", x=UNREADABLE[name])
    for words in (
        ("run", "g.pb", "--fetch", "y", "--feed", f"x=@mixed.npz:{name}"),
        ("run", "g.pb", "--fetch", "y", "--feed", f"x=@each:{name}", "--each", "mixed.npz", "--out-dir", "o"),
        ("run", "g.pb", "--fetch", "y", "--each", "bad.npz", "--out-dir", "o"),
        ("checkpoint", "mixed.npz", "--values", name),
        ("checkpoint", "mixed.npz", "--name", name, "--output", "o.npz"),
    ):
        done = tfg(*words)
        assert done.code == 1 and told in done.err, (words, done.err)


def test_strings_of_results_are_numpy_strings_and_can_be_fed(tmp_path):
    """A single file, a file per result, and shards."""
    b = GraphBuilder()
    b.StringUpper(b.Placeholder(dtype="string", shape=None, name="x"), name="y")
    save(b.graph, tmp_path / "g.pb")
    words = ("run", tmp_path / "g.pb", "--fetch", "y")
    assert tfg(*words, "--feed", 'x=[["a", "bcd"], ["", "ef"]]', "-o", tmp_path / "r.npz").code == 0
    upper = [[b"A", b"BCD"], [b"", b"EF"]]
    with np.load(tmp_path / "r.npz") as archive:
        assert (archive.files, archive["y"].tolist()) == (["y"], upper)
    assert tfg(*words, "--feed", f"x=@{tmp_path}/r.npz:y", "-o", tmp_path / "again.npz").code == 0
    assert np.load(tmp_path / "again.npz")["y"].tolist() == upper
    (tmp_path / "in").mkdir()
    np.savez(tmp_path / "in" / "first.npz", x=np.array([["a", "bcd"], ["", "ef"]]))
    for options in (["--out-dir", tmp_path / "out"], ["--output", tmp_path / "all.npz", "--shard-size", 3]):
        assert tfg(*words, "--each", tmp_path / "in" / "*.npz", *options).code == 0
    assert np.load(tmp_path / "out" / "first.npz")["y"].tolist() == upper
    assert np.load(tmp_path / "all-00000-of-00001.npz")["first/y"].tolist() == upper


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """A graph with a placeholder of strings."""
    monkeypatch.chdir(tmp_path)
    b = GraphBuilder()
    b.StringUpper(b.Placeholder(dtype="string", shape=None, name="x"), name="y")
    save(b.graph, "g.pb")


@pytest.mark.parametrize("options", [
    ("run", "g.pb", "--fetch", "y", "--feed", "x=['ab']"),
    ("run", "g.pb", "--fetch", "y", "--feed", "x=-"),
    ("run", "g.pb", "--fetch", "y", "--sweep", "x=ab,['ab']", "--out-dir", "o"),
    ("run", "g.pb", "--fetch", "y", "--each", "lines.jsonl", "--out-dir", "o"),
    ("convert", "g.pb", "o.pb", "--set", "x=['ab']"),
    ("flops", "g.pb", "--fetch", "y", "--measured", "--feed", "x=['ab']"),
    ("compare", "g.pb", "g.pb", "--fetch", "y", "--feed", "x=['ab']"),
    ("optimize", "g.pb", "--fetch", "y", "--verify", "--feed", "x=['ab']"),
    ("train", "g.pb", "--loss", "mse(y, labels)", "--feed", "x=ab", "--feed", "labels=['ab']"),
], ids=" ".join)  # fmt: skip
def test_no_option_takes_a_list_with_a_slip_for_a_text(options, texts, tmp_path):
    (tmp_path / "lines.jsonl").write_text("['ab']\n")
    done = tfg(*options, stdin="['ab']\n")
    assert done.code == 1 and "not JSON at character 2: strings take double quotes" in done.err, done.err
    assert not (tmp_path / "o.pb").exists()
