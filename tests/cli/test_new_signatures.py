"""Signatures of a SavedModel that is written: defined, copied, renamed and dropped."""

from __future__ import annotations

import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run

XOR, SCALER = SAMPLES / "xor.pbtxt", SAMPLES / "scaler_saved_model"
CLASSIFY = ("--signature", "classify", "--input", "points=x", "--output", "probability=probability", "--output=raw=logits")
HIDDEN = ("--signature=hidden", "--output", "features=hidden/activation")


def arguments(model):
    signatures = tfg.load(str(model)).meta.signatures
    return {name: (one.fed, one.fetched) for name, one in signatures.items()}


@pytest.fixture
def model(tmp_path):
    out = f"{tmp_path}/out/"
    done = run("convert", XOR, out, "--init", "--seed", "1", *CLASSIFY, *HIDDEN)
    assert done.code == 0 and "wrote a SavedModel with signatures classify, hidden to" in done.err
    return out


def test_signatures_are_defined(model):
    assert arguments(model) == {
        "classify": ({"points": "x:0"}, {"probability": "probability:0", "raw": "logits:0"}),
        "hidden": ({"x": "x:0"}, {"features": "hidden/activation:0"}),
    }
    shown = run("run", model, "--signature", "classify", "--feed", "points=[[0,1]]", "--format", "json").json
    assert [value["name"] for value in shown["steps"][0]["values"]] == ["probability", "raw"]


def test_a_signature_may_be_named_twice(tmp_path):
    words = ("--signature", "hidden", "--input", "hidden:points=x", "--output", "hidden:features=hidden/activation")
    assert run("convert", XOR, f"{tmp_path}/out/", "--init", *words, "--output", "other:y=logits").code == 0
    assert arguments(tmp_path / "out") == {
        "hidden": ({"points": "x:0"}, {"features": "hidden/activation:0"}), "other": ({"x": "x:0"}, {"y": "logits:0"}),
    }  # fmt: skip


def test_all_signatures_are_dropped(model, tmp_path):
    out = f"{tmp_path}/none/"
    done = run("convert", model, out, "--drop-signature", "classify", "--drop-signature", "hidden")
    assert done.code == 0 and "wrote a SavedModel with no signature to" in done.err
    assert arguments(out) == {}
    tfg.save_model(tfg.load(model), tmp_path / "python", dropped=["classify", "hidden"])
    assert arguments(tmp_path / "python") == {}


def test_a_name_before_the_argument_does_the_same(tmp_path):
    words = (
        "--input",
        "classify:points=x",
        "--signature-output",
        "classify:raw=logits",
        "--signature-output",
        "y=probability",
    )
    assert run("convert", XOR, f"{tmp_path}/out/", "--init", *words).code == 0
    assert arguments(tmp_path / "out") == {
        "classify": ({"points": "x:0"}, {"raw": "logits:0"}),
        "serving_default": ({"x": "x:0"}, {"y": "probability:0"}),
    }


def test_signatures_are_copied_renamed_dropped_and_replaced(tmp_path):
    before = arguments(SCALER)
    out = tmp_path / "out"
    words = ("--copy-signature", "serving_default=twice", "--rename-signature", "index=lookup")
    done = run("convert", SCALER, f"{out}/", *words)
    assert done.code == 0 and "removed its Python objects and functions" in done.err
    expected = {"twice": before["serving_default"], "serving_default": before["serving_default"], "lookup": before["index"]}
    assert arguments(out) == expected
    again = tmp_path / "again"
    words = ("--drop-signature", "lookup", "--signature", "serving_default", "--input", "v=x", "--output", "w=scaled")
    assert run("convert", out, f"{again}/", *words).code == 0
    assert arguments(again) == {
        "twice": before["serving_default"],
        "serving_default": ({"v": "serving_default_x:0"}, {"w": "StatefulPartitionedCall_1:1"}),
    }
    feed = ("--feed", "v=[[1, 2]]", "--format", "json")
    assert run("run", again, *feed).json["steps"][0]["values"][0]["value"] == [[2.0, 6.0]]


def test_a_part_keeps_the_outputs_of_new_signatures(tmp_path):
    done = run("convert", XOR, f"{tmp_path}/out/", "--freeze", "--init", *CLASSIFY, *HIDDEN)
    assert done.code == 0 and len(arguments(tmp_path / "out")) == 2
    assert not [node for node in tfg.load(f"{tmp_path}/out") if node.op == "VariableV2"]


def test_an_input_with_a_value_is_no_argument_any_more(tmp_path):
    words = ("--set", "x=[[1, 2]]", "--drop-signature", "index")
    assert run("convert", SCALER, f"{tmp_path}/out/", *words).code == 0
    assert arguments(tmp_path / "out")["serving_default"][0] == {}
    assert run("convert", SCALER, f"{tmp_path}/shaped/", "--shape", "x=3,2").code == 0
    assert str(tfg.load(f"{tmp_path}/shaped").meta.signatures["serving_default"].inputs["x"].shape) == "(3,2)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--drop-signature", "indexe"), "the model has no signature 'indexe'"),
        (("--copy-signature", "index=serving_default"), "signature 'serving_default' already exists"),
        (("--rename-signature", "nothing=a"), "hint: the signatures are index, serving_default"),
        (("--signature", "a", "--input", "x=x"), "--to in `tfg convert`, --fetch elsewhere"),
        (("--signature", "a", "--output", "y=nothing"), "the graph has no such node"),
        (("--signature", "__saved_model_init_op", "--output", "y=scaled"), "cannot be named"),
    ],
)
def test_refusals(tmp_path, words, message):
    done = run("convert", SCALER, f"{tmp_path}/out/", *words)
    assert done.code == 1 and message in done.err
    assert not (tmp_path / "out").exists()


def test_signatures_are_for_saved_models(tmp_path):
    done = run("convert", SCALER, tmp_path / "out.pb", "--drop-signature", "index")
    assert done.code == 2 and "--drop-signature needs" in done.err
