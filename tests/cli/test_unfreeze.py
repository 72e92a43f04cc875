"""`tfg unfreeze`: a frozen graph becomes a SavedModel that trains."""

from __future__ import annotations

import pytest

from tests.cli.running import SAMPLES, tfg


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    path = tmp_path_factory.mktemp("frozen") / "frozen.pb"
    assert tfg("convert", SAMPLES / "keras_classifier", path, "--freeze").code == 0
    return path


@pytest.mark.slow
def test_the_model_has_the_variables_and_trains(frozen, tmp_path):
    model = tmp_path / "model"
    done = tfg("unfreeze", frozen, "-o", model, "--verify")
    assert done.code == 0 and " yes" in done.out
    assert "8 variables with 99 elements, 2 of them not trained" in done.err
    counts = [tfg("layers", path, "--format", "json").json for path in (frozen, model)]
    assert [(count["parameters"], count["trainable"]) for count in counts] == [(99, 0), (99, 83)]
    signature = tfg("explain", model, "--format", "json").json["signatures"][0]
    (fed,), (fetched,) = signature["inputs"], signature["outputs"]
    words = ("--loss", f"mse({fetched})", "--feed", f"{fed}=ones(4,4)", "--feed", "labels=zeros(4,3)", "--steps", "2")
    assert tfg("train", model, *words).code == 0


def test_a_layer_and_an_output_are_chosen(frozen, tmp_path):
    model = tmp_path / "model"
    done = tfg("unfreeze", frozen, "-o", model, "--variable", "hidden", "--to", "hidden")
    assert done.code == 0 and "2 variables with 40 elements" in done.err
    assert tfg("layers", model, "--format", "json").json["parameters"] == 40


def test_errors_name_the_next_step(frozen, tmp_path):
    assert "nearest" in tfg("unfreeze", frozen, "-o", tmp_path / "m", "--variable", "sequential/hidden/kernel").err
    assert tfg("unfreeze", frozen).code == 2
    again = tfg("unfreeze", frozen, "-o", SAMPLES / "keras_classifier")
    assert again.code == 1 and "already" in again.err
