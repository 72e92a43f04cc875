"""Devices of nodes and traffic between devices: expected from TensorFlow's servers, which the live tests try again."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import ROOT
from tests.cli.running import tfg as run_tfg
from tfg.core.explaining.device_partition import CLIENT, explain_partition
from tfg.core.support.errors import InvalidArgumentError

PS, WORKER = "/job:ps/task:0", "/job:worker/task:1"
PS_CPU, WORKER_CPU, HOME = (
    "/job:ps/replica:0/task:0/device:CPU:0",
    "/job:worker/replica:0/task:1/device:CPU:0",
    f"{CLIENT}/device:CPU:0",
)
PARTS = ROOT / "tests" / "formats" / "cluster" / "recorded" / "parts.pb"
"""The partitions of y = x w + b by a TensorFlow 2.21 master: w and b on the ps, x fed and y computed on a worker."""


def program() -> tfg.Graph:
    g = tfg.GraphBuilder()
    with g.device(PS):
        w = g.VariableV2(dtype="float32", shape=[3, 2], name="w")
        handle = g.VarHandleOp(dtype="float32", shape=[2], name="b")
    with g.device(WORKER):
        x = g.Placeholder(dtype="float32", shape=[4, 3], name="x")
        y = g.AddV2(g.MatMul(x, w), g.ReadVariableOp(handle, dtype="float32"), name="y")
        g.Identity(w, name="copied")
        g.Assign(w, np.zeros((3, 2), np.float32), name="written")
    g.Neg(y, name="unplaced")
    g.Shape(y, name="shape")
    with g.device(PS), g.control_dependencies([y.node]):
        g.NoOp(name="after")
    return g.graph


def test_nodes_go_where_tensorflow_puts_them():
    devices = explain_partition(program()).devices
    assert devices["w"] == devices["written"] == devices["ReadVariableOp"] == PS_CPU
    assert devices["copied"] == devices["y"] == devices["shape"] == WORKER_CPU
    assert devices["unplaced"] == HOME


def test_what_crosses_is_counted_once_for_each_target():
    facts = explain_partition(program())
    by_name = {(c.tensor, c.kind, c.target): (c.source, c.bytes, c.consumers) for c in facts.crossings}
    assert by_name == {
        ("w:0", "reference", WORKER_CPU): (PS_CPU, 24, ("MatMul", "copied")),
        ("ReadVariableOp:0", "tensor", WORKER_CPU): (PS_CPU, 8, ("y",)),
        ("written/value:0", "tensor", PS_CPU): (WORKER_CPU, 24, ("written",)),
        ("y:0", "tensor", HOME): (WORKER_CPU, 32, ("unplaced",)),
        ("^y", "control", PS_CPU): (WORKER_CPU, 0, ("after",)),
        ("x:0", "feed", WORKER_CPU): (HOME, 48, ("x",)),
    }
    assert facts.bytes == 24 + 8 + 24 + 32 + 48


def test_only_what_the_fetches_run_crosses():
    facts = explain_partition(program(), ["copied:0"])
    assert set(facts.devices) == {"w", "copied"}
    assert [(c.tensor, c.kind) for c in facts.crossings] == [("w:0", "reference"), ("copied:0", "fetch")]


def test_demands_that_contradict_each_other():
    written, read = explain_partition(program()).conflicts
    assert "'written' (Assign) asks for" in written or "'written' (Assign) asks for" in read
    g = tfg.GraphBuilder()
    with g.device(PS):
        v = g.VariableV2(dtype="float32", shape=[], name="v")
    with g.device(WORKER):
        g.Identity(v, name="i").node.set_attr("_class", [b"loc:@v"])
    conflicts = explain_partition(g.graph).conflicts
    assert any("job ps and worker" in conflict for conflict in conflicts)


def test_sizes_that_only_a_run_tells():
    g = tfg.GraphBuilder()
    with g.device(PS):
        g.Identity(g.Placeholder(dtype="float32", shape=[None, 2], name="x"))
        g.Identity(g.Placeholder(dtype="string", shape=[2], name="s"))
    assert [c.bytes for c in explain_partition(g.graph).crossings] == [None, None]


def test_the_command_shows_it(tmp_path):
    tfg.save(program(), tmp_path / "g.pb")
    done = run_tfg("explain", tmp_path / "g.pb", "--partition", "--fetch", "copied")
    assert done.code == 0 and "2 crossings a step: 48 bytes" in done.out
    assert run_tfg("explain", tmp_path / "g.pb", "--partition", "--format", "json").json["devices"]["w"] == PS_CPU
    assert run_tfg("explain", tmp_path / "g.pb", "y", "--partition").code == 2


def test_parts_of_a_divided_graph_run_together():
    assigned = ("--assign", "w=[[1],[2]]", "--assign", "bias=[3]")
    done = run_tfg("run", PARTS, *assigned, "--fetch", "y", "--feed", "_recv_x_0=[[1,1]]", "--format", "json")
    assert done.json["steps"][0]["values"][0]["value"] == [[6]]
    assert run_tfg("run", PARTS, *assigned, "--target", "_send_y_0", "--feed", "_recv_x_0=[[1,1]]").code == 0


def test_what_nobody_sends_is_to_be_fed():
    done = run_tfg("run", PARTS, "--assign", "w=[[1],[2]]", "--fetch", "MatMul")
    assert done.code == 1 and "node '_recv_x_0' (_Recv): no node of this graph sends 'x:0'" in done.err


def test_parts_are_explained():
    results = {(c.kind, c.source, c.target) for c in explain_partition(tfg.load(str(PARTS))).crossings}
    client = "/job:worker/replica:0/task:0/device:CPU:0"
    assert results == {
        ("feed", client, client),
        ("tensor", client, WORKER_CPU),
        ("tensor", PS_CPU, WORKER_CPU),
        ("tensor", WORKER_CPU, client),
    }


def test_a_tensor_has_one_sender():
    g = tfg.GraphBuilder()
    names = {"tensor_name": "t", "send_device": "/cpu:0", "send_device_incarnation": 1, "recv_device": "/cpu:1"}
    for i in range(2):
        g.apply("_Send", np.float32(i), name=f"s{i}", **names)
    g.apply("_Recv", tensor_type="float32", name="r", **names)
    with pytest.raises(InvalidArgumentError, match="'s0' sends the same tensor"):
        tfg.Session(g.graph).run("r:0")


def test_a_receiver_waits_for_what_its_sender_waits_for():
    g = tfg.GraphBuilder()
    names = {"tensor_name": "t", "send_device": "/cpu:0", "send_device_incarnation": 1, "recv_device": "/cpu:1"}
    v = g.VariableV2(dtype="float32", shape=[], name="v")
    with g.control_dependencies([g.Assign(v, np.float32(3)).node]):
        g.apply("_Send", np.float32(1), name="s", **names)
    received = g.apply("_Recv", tensor_type="float32", name="r", **names)
    with g.control_dependencies([received.node]):
        g.Identity(v, name="read")
    assert tfg.Session(g.graph).run("read:0") == 3
