"""JSON with the values of all inputs: by name, and requests in the forms of TensorFlow Serving."""

from __future__ import annotations

import base64
import json
import pathlib

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tfg import GraphBuilder, save

MODEL = SAMPLES / "scaler_saved_model"


@pytest.fixture
def two(tmp_path, monkeypatch):
    """A graph of numbers and strings."""
    monkeypatch.chdir(tmp_path)
    b = GraphBuilder()
    b.Square(b.Placeholder(dtype="float", shape=[None, 2], name="x"), name="y")
    b.Identity(b.Placeholder(dtype="string", shape=[None], name="s"), name="t")
    save(b.graph, "two.pb")
    return ("run", "two.pb", "--fetch", "y", "--fetch", "t")


SENTENCE = {"b64": base64.b64encode(b"\xff\0a").decode()}
REQUESTS = {
    "by name": {"x": [[1, 2], [3, 4]], "s": ["ab", SENTENCE]},
    "by tensors": {"x:0": [[1, 2], [3, 4]], "s": ["ab", SENTENCE]},
    "columns": {"inputs": {"x": [[1, 2], [3, 4]], "s": ["ab", SENTENCE]}},
    "rows": {"instances": [{"x": [1, 2], "s": "ab"}, {"s": SENTENCE, "x": [3, 4]}]},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("way", ["text", "file", "standard input", "line", "document in lines"])
@pytest.mark.parametrize("form", REQUESTS)
def test_requests_feed_all_inputs(form, way, two):
    """The forms of TensorFlow Serving, and an object by name, wherever JSON is read."""
    request = REQUESTS[form]
    pathlib.Path("r.json").write_text(json.dumps(request, indent=1 if way == "document in lines" else None))
    options = {
        "text": ("--feed", json.dumps(request)),
        "file": ("--feed", "@r.json"),
        "standard input": ("--feed", "-"),
    }.get(way, ("--each", "r.json"))
    place = ("-o", "o.npz") if "--feed" in options else ("--out-dir", ".")
    done = tfg(*two, *options, *place, stdin=json.dumps(request))
    assert done.code == 0, done.err
    with np.load("o.npz" if "--feed" in options else "r-000001.npz") as made:
        assert made["y"].tolist() == [[1, 4], [9, 16]] and made["t"].tolist() == [b"ab", b"\xff\0a"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("request_", [{"instances": [[1, 2]]}, {"inputs": [[1, 2]]}, [[1, 2]]], ids=str)
@pytest.mark.parametrize("options", [("--feed", "-"), ("--each", "r.json", "--out-dir", "o")], ids=" ".join)
def test_a_value_without_a_name_feeds_the_only_input(request_, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("r.json").write_text(json.dumps(request_))
    done = tfg("run", MODEL, "--format", "json", *options, stdin=json.dumps(request_))
    result = json.loads(done.out or pathlib.Path("o/r-000001.json").read_text())
    assert result["steps"][0]["values"][1]["value"] == [[2, 6]], done.err


@pytest.mark.parametrize("options", [("--feed", "@r.json"), ("--each", "r.json", "--out-dir", "o")], ids=" ".join)
def test_a_request_names_its_signature(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("serving_default", "index"):
        pathlib.Path("r.json").write_text(json.dumps({"signature_name": name, "inputs": [[1, 2]]}))
        done = tfg("run", MODEL, *options)
        is_other = name == "index"
        assert done.code == is_other and ("the request is for signature 'index'" in done.err) is is_other, done.err


@pytest.mark.parametrize(("text", "message"), [
    ('{"instances": []}', "must be a list of rows"),
    ('{"instances": {"x": 1}}', "must be a list of rows"),
    ('{"instances": [{"x": [1, 2]}, {"s": "a"}]}', "row 2 of 'instances' must have the inputs x"),
    ('{"instances": [{"x": [1, 2]}, 3]}', "row 2 of 'instances' must have the inputs x"),
    ('{"instances": [1], "inputs": [1]}', "a request with 'instances' cannot have 'inputs'"),
    ('{"instances": [1], "x": 1}', "a request with 'instances' cannot have 'x'"),
    ('{"instances": [[1, 2]]}', "2 inputs"),
    ('{"inputs": {"z": 1}}', "'z'"),
    ('{"inputs": {"s": [{"b64": "=!"}]}}', "is not base64"),
    ('{"inputs": {"x": [{"b64": "AAAA"}]}}', "cannot be fed to a tensor of dtype float"),
    ('{"x": [[1, 2]]', "not JSON at character 15: the text ends too early"),
    ("@two.pb", "TENSOR=@two.pb"),
])  # fmt: skip
def test_requests_that_are_none(text, message, two):
    done = tfg(*two, "--feed", text)
    assert done.code == 1 and message in done.err, done.err


def test_an_input_may_be_called_as_a_part_of_a_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    b = GraphBuilder()
    both = [b.Placeholder(dtype="float", shape=[None], name=name) for name in ("inputs", "mask")]
    b.Mul(*both, name="y")
    save(b.graph, "g.pb")
    values = {"inputs": [1, 2], "mask": [3, 4]}
    for text in (values, {"inputs": values}):
        done = tfg("run", "g.pb", "--fetch", "y", "--feed", json.dumps(text), "--format", "json")
        assert done.json["steps"][0]["values"][0]["value"] == [3, 8], done.err


@pytest.mark.slow
def test_a_request_gives_flops_and_training_their_feeds(two):
    rows = '{"instances": [{"x": [1, 2], "s": "a"}]}'
    counted = tfg("flops", "two.pb", "--fetch", "y", "--measured", "--feed", rows, "--format", "json")
    assert counted.code == 0, counted.err
    b = GraphBuilder()
    w = b.variable([2.0], "w")
    b.Mul(w, b.Placeholder(dtype="float", shape=[1], name="x"), name="y")
    save(b.graph, "train.pb")
    feeds = ("--feed", '{"x": [1], "z": [5]}')
    done = tfg("train", "train.pb", "--loss", "mse(y, z)", "--init", *feeds, "--steps", 1, "--format", "json")
    assert done.code == 0 and done.json["history"][0]["loss"] == 9, (done.out, done.err)
