"""`tfg samples`: the graphs of the README are there without a clone."""

from __future__ import annotations

import tomllib

from tests.cli.running import ROOT, SAMPLES
from tests.cli.running import tfg as run


def test_all_samples_are_listed_and_copied(tmp_path):
    listed = {sample["name"] for sample in run("samples", "--format", "json").json["samples"]}
    assert listed == {path.name for path in SAMPLES.iterdir() if not path.name.startswith("_")}
    target = tmp_path / "copied"
    assert run("samples", "--output", target).code == 0
    assert {path.name for path in target.iterdir()} == listed
    assert run("run", target / "scaler_saved_model", "--feed", "x=[[1, 2]]").code == 0


def test_one_is_copied_by_its_name_and_over_nothing(tmp_path):
    assert run("samples", "xor.pbtxt", "--output", tmp_path).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["xor.pbtxt"]
    done = run("samples", "xor.pbtxt", "--output", tmp_path)
    assert done.code == 1 and "already exists" in done.err
    assert "all_constant.pbtxt" in run("samples", "nosuch").err


def test_a_wheel_has_every_sample():
    """The package data of pyproject.toml cover every file of every sample."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["tfg"]
    data = {path for pattern in patterns for path in ROOT.resolve().glob(pattern) if path.is_file()}
    files = {path for path in SAMPLES.resolve().rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert files <= data
