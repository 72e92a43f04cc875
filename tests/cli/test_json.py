"""The JSON of the commands: the name of the schema, and the keys in docs/json.md."""

from __future__ import annotations

import ast
import json
import pathlib
import re

import pytest

import tfg
from tests.cli.json_schemas import faults, listing
from tests.cli.running import SAMPLES, STAGES
from tests.cli.running import tfg as run
from tfg.cli.documents import SCHEMAS
from tfg.formats.protos.run_metadata_pb2 import RunMetadata

ROOT = pathlib.Path(tfg.__file__).parent
XOR, SQUARE, SCALER, KERAS = (
    SAMPLES / name for name in ("xor.pbtxt", "square.pbtxt", "scaler_saved_model", "keras_classifier")
)
SKIPGRAM, LINE = SAMPLES / "skipgram.pbtxt", SAMPLES / "linear_regression.pbtxt"
POINTS = ("--feed", "x=[1, 2]", "--feed", "y=[3, 6]")
RECORDINGS = pathlib.Path(__file__).parents[1] / "formats/recorded/recordings"
COUNT = ("flops", XOR, "--fetch", "loss")
GRAD = ("grad", LINE, "--y", "loss", "--x", "w")
OF_CLUSTERS = {"tfg.cluster/1", "tfg.flops.cluster/1"}
"""Schemas that tests/formats/cluster looks at."""
LINES = {
    "tfg.check/1": [("check", SKIPGRAM, XOR), ("check", XOR, SAMPLES / "nothing.pb")],
    "tfg.check.code/1": [("check", "--explain", "cycle")],
    "tfg.checkpoint/1": [("checkpoint", KERAS / "variables/variables"), ("checkpoint", KERAS, "--stats")],
    "tfg.checkpoint.compare/1": [("checkpoint", KERAS, "--compare", SCALER)],
    "tfg.checkpoint.for/1": [("checkpoint", KERAS, "--for", SCALER), ("checkpoint", SCALER, "--for", SCALER)],
    "tfg.checkpoint.values/1": [
        ("checkpoint", SCALER / "variables/variables", "--values", "scale/.ATTRIBUTES/VARIABLE_VALUE")
    ],
    "tfg.compare/1": [
        ("compare", SQUARE, SQUARE, "--fetch", "loss", "--init", "--all"),
        ("compare", SQUARE, SAMPLES / "square_loss.pbtxt", "--fetch", "loss", "--init"),
    ],
    "tfg.diff/1": [("diff", SQUARE, SAMPLES / "square_loss.pbtxt"), ("diff", KERAS, SCALER), ("diff", KERAS, KERAS)],
    "tfg.dump/1": [("dump", XOR), ("dump", SCALER, "--shapes")],
    "tfg.dump.snapshots/1": [("dump", *STAGES), ("dump", XOR, "--after", "all", "--fetch", "loss")],
    "tfg.dump.stages/1": [("dump", XOR, "--stages")],
    "tfg.explain/1": [("explain", graph) for graph in (XOR, SKIPGRAM, SCALER, KERAS)],
    "tfg.explain.missing/1": [("explain", SKIPGRAM, "--missing")],
    "tfg.explain.nodes/1": [("explain", XOR, "loss", "--fetch", "train"), ("explain", STAGES[1], "init", "Variable/read")],
    "tfg.explain.op/1": [("explain", "Conv2D")],
    "tfg.explain.optimized/1": [("explain", XOR, "loss", "--optimized", "--fetch", "loss")],
    "tfg.explain.partition/1": [("explain", XOR, "--partition", "--fetch", "train")],
    "tfg.explain.recording/1": [("explain", RECORDINGS / "events_v2"), ("explain", RECORDINGS / "run_metadata")],
    "tfg.explain.races/1": [
        ("explain", SQUARE, "--races"),
        ("explain", XOR, "--races", "--fetch", "loss", "--fetch", "train"),
    ],
    "tfg.flops/1": [COUNT, (*COUNT, "--backward"), (*COUNT, "--batch", 4), ("flops", SCALER)],
    "tfg.flops.layers/1": [(*COUNT, "--view", "layer")],
    "tfg.flops.measured/1": [(*COUNT, "--measured", "--init", "--feed", "x=[[0,1]]", "--feed", "y=[[1]]", "--runs", 1)],
    "tfg.flops.nodes/1": [(*COUNT, "--view", "node")],
    "tfg.flops.scopes/1": [(*COUNT, "--view", "scope")],
    "tfg.flops.tfprof/1": [(*COUNT, "--compat", "tfprof")],
    "tfg.flops.timings/1": [(*COUNT, "--run-metadata", "metadata.pb")],
    "tfg.flops.variables/1": [(*COUNT, "--per-variable")],
    "tfg.grad/1": [GRAD, (*GRAD, "--init", *POINTS)],
    "tfg.grad.check/1": [(*GRAD, "--init", *POINTS, "--check")],
    "tfg.grad.values/1": [(*GRAD, "--init", *POINTS, *more) for more in (("--jacobian",), ("--vjp", "1"), ("--jvp", "1"))],
    "tfg.layers/1": [("layers", SAMPLES / "keras_classifier")],
    "tfg.layers.tree/1": [("layers", SAMPLES / "keras_classifier", "--tree")],
    "tfg.ops/1": [("ops",), ("ops", "^Conv")],
    "tfg.ops.coverage/1": [("ops", "--coverage")],
    "tfg.ops.details/1": [("ops", "MatMul", "VariableV2", "If", "RandomUniform")],
    "tfg.ops.formulas/1": [("ops", "--flops")],
    "tfg.ops.missing/1": [("ops", "--missing", SKIPGRAM), ("ops", "--missing", XOR)],
    "tfg.optimize/1": [
        ("optimize", XOR, "--fetch", "loss"),
        ("optimize", SQUARE, "--fetch", "loss", "--verify", "--init", "--no-costs"),
    ],
    "tfg.optimize.passes/1": [("optimize", "--list")],
    "tfg.path/1": [("path", XOR, "x", "loss"), ("path", XOR, "loss", "x")],
    "tfg.run/1": [
        ("run", XOR, "--init", "--feed", "x=[[0,1]]", "--fetch", "logits", "--fetch", "init"),
        ("run", SCALER, "--feed", "x=[[1, 2]]"),
        ("run", XOR, "--init"),
    ],
    "tfg.run.choices/1": [("run", XOR), ("run", SCALER)],
    "tfg.cache/1": [("cache",)],
    "tfg.samples/1": [("samples",)],
    "tfg.scalars/1": [("scalars", RECORDINGS / "events_v2")],
    "tfg.train/1": [("train", LINE, "--loss", "loss", *POINTS, "--steps", 2, *more) for more in ((), ("--dump-stages",))],
    "tfg.train.least_squares/1": [("train", LINE, "--loss", "sub", "--optimizer", "lm", *POINTS, "--steps", 2)],
}
"""Command lines that print a document of each schema."""
MORE = {"tfg.dump.elements/1", "tfg.explain.engine/1", "tfg.run.result/1"}
"""Schemas with a test of their own."""


def test_every_schema_is_tried():
    assert set(LINES) | OF_CLUSTERS | MORE == set(SCHEMAS)


def test_every_schema_of_the_code_is_in_the_table():
    texts = set()
    for path in (*(ROOT / "cli").rglob("*.py"), *(ROOT / "formats" / "batches").glob("*.py")):
        if path.name != "documents.py":
            constants = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
            texts |= {value for value in constants if isinstance(value, str) and re.fullmatch(r"tfg\.[\w.]+/\d+", value)}
    assert texts == set(SCHEMAS)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("schema", LINES)
def test_documents_are_as_described(schema, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    metadata = RunMetadata()
    times = metadata.step_stats.dev_stats.add(device="/device:CPU:0")
    times.node_stats.add(node_name="logits", timeline_label="logits = Add()", op_end_rel_micros=3)
    (tmp_path / "metadata.pb").write_bytes(metadata.SerializeToString())
    for words in LINES[schema]:
        done = run(*words, "--format", "json")
        assert done.out, done.err
        document = done.json
        assert document["schema"] == schema
        assert faults(document) == [], words


@pytest.mark.slow
def test_every_key_is_described():
    kinds = {}
    for schema in SCHEMAS:
        listing["objects"](listing["document_type"](schema), kinds)
    missing = [f"{kind.__name__}.{key.name}" for kind in kinds for key in listing["keys"](kind) if not key.meaning]
    assert len(kinds) > 100 and missing == []


def test_a_document_that_is_not_as_described_is_seen():
    problem = {"severity": "error", "kind": "k", "node": 3, "op": None, "function": None, "message": "m"}
    graph = {"graph": "g", "problems": [problem], "unreadable": None, "more": 1}
    document = {"schema": "tfg.check/1", "graphs": [graph], "errors": "1", "warnings": True}
    assert sorted(faults(document)) == [
        "tfg.check/1.errors is '1', and not integer",
        "tfg.check/1.graphs[0].more is described nowhere",
        "tfg.check/1.graphs[0].problems[0].code is missing",
        "tfg.check/1.graphs[0].problems[0].hint is missing",
        "tfg.check/1.graphs[0].problems[0].node is 3, and not string",
        "tfg.check/1.warnings is True, and not integer",
    ]


def test_the_first_key_names_the_schema():
    report = run("optimize", "--list", "--format", "json").json
    assert next(iter(report.items())) == ("schema", "tfg.optimize.passes/1")


def test_a_number_and_its_formula_have_two_keys():
    total = run("flops", XOR, "--fetch", "logits", "--format", "json").json["total"]
    assert total["flops"] is None and "N" in total["flops_formula"]
    total = run("flops", XOR, "--fetch", "logits", "--batch", 4, "--format", "json").json["total"]
    assert total["flops"] == int(total["flops_formula"])


def test_steps_that_fetch_nothing_are_an_empty_list():
    assert run("run", XOR, "--init", "--format", "json").json == {"schema": "tfg.run/1", "steps": []}


def test_a_file_of_results_names_its_schema(tmp_path):
    assert run("run", XOR, "--init", "--feed", "x=[[0,1]]", "--fetch", "logits", "-o", tmp_path / "r.json").code == 0
    assert faults(json.loads((tmp_path / "r.json").read_text())) == []


def test_a_line_of_many_results_names_its_schema(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"x": [[0, 1]]}\n{"x": [[1, 1]]}\n')
    words = ("--init", "--fetch", "logits", "--each", tmp_path / "in.jsonl", "-o", tmp_path / "r.jsonl")
    assert run("run", XOR, *words).code == 0
    (shard,) = tmp_path.glob("r-*.jsonl")
    documents = [json.loads(line) for line in shard.read_text().splitlines()]
    assert [document["schema"] for document in documents] == ["tfg.run.result/1"] * 2
    assert [fault for document in documents for fault in faults(document)] == []
