"""`tfg run --profile`: a trace of the last step, the costliest nodes and the memory peak."""

from __future__ import annotations

import json

import numpy as np

from tests.cli.running import SAMPLES, tfg
from tfg import GraphBuilder
from tfg.formats.saving import save


def counting(folder):
    """Write a graph with a step that adds 1 to a variable and computes a product."""
    g = GraphBuilder()
    count = g.variable(np.float32(0), name="count")
    x = g.Placeholder(dtype="float32", shape=[8, 8], name="x")
    product = g.MatMul(x, x, name="product")
    g.AssignAdd(count.handle, g.Sum(product, [0, 1], name="sum"), name="step")
    g.global_variables_initializer()
    save(g.graph, str(folder / "g.pb"))
    return str(folder / "g.pb")


def test_the_last_step_is_profiled(tmp_path):
    trace = tmp_path / "trace.json"
    words = ("run", counting(tmp_path), "--init", "--feed", "x=ones(8,8)", "--fetch", "step", "--steps", 3)
    plain, done = tfg(*words), tfg(*words, "--profile", trace)
    assert (done.code, done.out) == (0, plain.out)
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    assert [event["args"]["node"] for event in events].count("product") == 1
    assert next(event for event in events if event["args"]["node"] == "product")["args"]["flops"] == 2 * 8**3
    assert "memory peak: values of" in done.err and "product" in done.err
    assert f"to {trace}" in done.err


def test_a_run_without_values_has_no_memory_peak(tmp_path):
    done = tfg("run", SAMPLES / "all_constant.pbtxt", "--profile", tmp_path / "t.json")
    assert done.code == 0 and "wall time" in done.err and "memory peak" not in done.err


def test_ten_nodes_are_shown(tmp_path):
    g = GraphBuilder()
    value = g.Placeholder(dtype="float32", shape=[4], name="x")
    for number in range(20):
        value = g.Neg(value, name=f"neg_{number}")
    save(g.graph, str(tmp_path / "g.pb"))
    done = tfg("run", tmp_path / "g.pb", "--feed", "x=ones(4)", "--fetch", "neg_19", "--profile", tmp_path / "t.json")
    assert sum(line.startswith("neg_") for line in done.err.splitlines()) == 10


def test_options_that_profile_nothing(tmp_path):
    path = counting(tmp_path)
    fetched = ("--feed", "x=ones(8,8)", "--fetch", "product")
    assert tfg("run", path, "--profile", tmp_path / "t.json").code == 2
    assert tfg("run", path, *fetched, "--profile", tmp_path / "t.json", "--check-numerics").code == 2
    assert tfg("run", path, *fetched, "--profile", tmp_path / "t.npz").code == 1
