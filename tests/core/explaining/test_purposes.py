"""The variables of a model in `tfg explain`: used variables by purpose; other handles are listed as unused."""

from __future__ import annotations

import re

import numpy as np

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.core.graph.metagraph import MetaGraph, VariableInfo

KERAS = SAMPLES / "keras_classifier"
"""4 x 8 + 8 and 8 x 3 + 3 weights, 2 x 8 of the normalization that are trained and 2 x 8 moving averages."""


def holdings(graph):
    return {held.purpose: (held.tensors, held.elements) for held in tfg.explain(graph).holdings}


def test_keras_3_writes_each_weight_several_times():
    assert holdings(tfg.load(KERAS)) == {
        "trainable": (6, 83),
        "other": (2, 16),
        "constants": (1, 1),
        "unused": (16, 2 * 99),
    }


def test_explain_and_flops_agree_on_the_parameters():
    counted = run("flops", KERAS, "--format", "json").json
    assert counted["sections"]["forward"]["parameters"] == 83 + 16


def test_the_table_has_used_variables_first():
    facts = dict(re.findall(r"^(\S.*?) {2,}(.*)$", run("explain", KERAS).out, re.MULTILINE))
    assert facts["variables"] == "8"
    assert facts["trainable variables"] == "83 parameters, 332 bytes, in 6"
    assert facts["unused handles"] == "198 elements, 792 bytes, in 16"
    purposes = [variable["purpose"] for variable in run("explain", KERAS, "--format", "json").json["variables"]]
    assert sorted(purposes) == ["other"] * 2 + ["trainable"] * 6 + ["unused"] * 16


def test_an_integer_is_not_trained():
    """tf.Variable marks integers as trainable nevertheless."""
    variables = tfg.explain(tfg.load(SAMPLES / "scaler_saved_model")).variables
    assert {variable.name: variable.purpose for variable in variables} == {"calls": "other", "scale": "trainable"}


def test_optimizers_slots_stand_apart():
    assert holdings(tfg.load(SAMPLES / "xor.pbtxt"))["trainable"] == (4, 33)
    assert holdings(tfg.load(SAMPLES / "xor.pbtxt"))["slots"] == (10, 68)


def test_a_collection_says_what_is_trainable():
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    weights = b.VariableV2(dtype="float32", shape=[3], name="weights")
    average = b.VariableV2(dtype="float32", shape=[3], name="average")
    b.AddN([x, b.Identity(weights), b.Identity(average)], name="y")
    names = {"trainable_variables": ["weights:0"], "variables": ["weights:0", "average:0"]}
    b.graph.meta = MetaGraph(variables={key: tuple(map(VariableInfo, listed)) for key, listed in names.items()})
    assert holdings(b.graph) == {"trainable": (1, 3), "other": (1, 3)}


def test_without_signatures_every_variable_counts():
    b = tfg.GraphBuilder()
    b.variable(np.zeros(5, np.float32), name="v")
    assert holdings(b.graph)["other"] == (1, 5)
