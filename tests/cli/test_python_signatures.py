"""SavedModels that `tfg.save_model` writes, and their signatures."""

from __future__ import annotations

import pytest

import tfg
from tfg.core.support.errors import AlreadyExistsError, NotFoundError

MODEL = "sample_graphs/scaler_saved_model"


def signatures(folder):
    return {name: (dict(s.fed), dict(s.fetched)) for name, s in tfg.load(folder).meta.signatures.items()}


def test_signatures_are_defined_copied_renamed_and_dropped(tmp_path):
    graph = tfg.load(MODEL)
    before = signatures(MODEL)
    scaled = before["serving_default"][1]["scaled"]
    fed = before["serving_default"][0]["x"]
    names = tfg.save_model(
        graph, tmp_path / "model",
        copied={"serving_default": "again"}, renamed={"serving_default": "first"}, dropped="index",
        signatures={"whole": ({"a:b": fed}, {"c:d": scaled}), "needed": ({}, {"y": scaled})},
    )  # fmt: skip
    assert names == ("again", "first", "needed", "whole")
    assert signatures(tmp_path / "model") == {
        "again": before["serving_default"], "first": before["serving_default"],
        "whole": ({"a:b": fed}, {"c:d": scaled}), "needed": ({"x": fed}, {"y": scaled}),
    }  # fmt: skip


def test_a_folder_with_files_stays(tmp_path):
    tfg.save_model(tfg.load(MODEL), tmp_path / "model")
    with pytest.raises(AlreadyExistsError):
        tfg.save_model(tfg.load(MODEL), tmp_path / "model")


def test_signatures_that_are_not_there(tmp_path):
    with pytest.raises(NotFoundError, match="'absent'"):
        tfg.save_model(tfg.load(MODEL), tmp_path / "model", dropped="absent")
    assert not (tmp_path / "model").exists()
