"""The JSON of the commands."""

from __future__ import annotations

import json

from tests.cli.running import SAMPLES, tfg

XOR = SAMPLES / "xor.pbtxt"


def test_the_first_key_names_the_schema():
    found = tfg("optimize", "--list", "--format", "json").json
    assert next(iter(found.items())) == ("schema", "tfg.optimize.passes/1")


def test_a_number_and_its_formula_have_two_keys():
    total = tfg("flops", XOR, "--fetch", "logits", "--format", "json").json["total"]
    assert total["flops"] is None and "N" in total["flops_formula"]
    total = tfg("flops", XOR, "--fetch", "logits", "--batch", 4, "--format", "json").json["total"]
    assert total["flops"] == int(total["flops_formula"])


def test_steps_that_fetch_nothing_are_an_empty_list():
    assert tfg("run", XOR, "--init", "--format", "json").json == {"schema": "tfg.run/1", "steps": []}


def test_a_file_of_results_names_its_schema(tmp_path):
    assert tfg("run", XOR, "--init", "--feed", "x=[[0,1]]", "--fetch", "logits", "-o", tmp_path / "r.json").code == 0
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "tfg.run/1"
