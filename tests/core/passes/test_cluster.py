"""Pure nodes become a single call; both graphs of the samples become as small as possible."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tests.core.passes.rewriting import placeholder, rewritten
from tfg.core.building.builder import GraphBuilder
from tfg.core.passes.pipeline import optimize

CLUSTER = "prune,fold,cse,cluster"


def load(name):
    return tfg.load(str(SAMPLES / f"{name}.pbtxt"))


def test_one_kernel_with_one_input_and_one_output():
    graph = load("one_kernel")
    after, report = optimize(graph, ["y:0"], ["x:0"], CLUSTER)
    assert [(node.name, node.op) for node in after] == [("x", "Placeholder"), ("y", "PartitionedCall")]
    body = after.functions[after.node("y").attrs["f"].name].body
    assert sorted(node.op for node in body) == ["AddV2", "Const", "Mul", "_Arg"]
    assert report.fates["b"] == "merged with w"
    for x in (np.float32(3), np.float32(-1)):
        assert tfg.Session(after).run("y:0", {"x:0": x}) == tfg.Session(graph).run("y:0", {"x:0": x})


def test_all_constant_graph_becomes_one_constant():
    after, _ = optimize(load("all_constant"), ["y:0"])
    (only,) = after
    assert (only.name, only.op) == ("y", "Const")
    assert only.attrs["value"].numpy() == np.float32(1.6)


def test_option(tmp_path):
    out = str(tmp_path / "out.pbtxt")
    done = command("optimize", SAMPLES / "one_kernel.pbtxt", "--cluster", "--verify", "--text", "-o", out)
    assert done.code == 0
    assert "XLA supports 2 of 2 nodes in 'cluster_0'" in done.err
    assert len(tfg.load(out)) == 2


def test_what_xla_leaves_of_a_cluster_is_said(tmp_path):
    b = GraphBuilder()
    text = b.Placeholder(dtype="string", shape=[], name="text")
    b.Neg(b.Square(b.StringLength(text)), name="y")
    tfg.save(b.graph, str(tmp_path / "in.pb"))
    done = command("optimize", tmp_path / "in.pb", "--cluster", "-o", tmp_path / "out.pb")
    assert "XLA supports 2 of 3 nodes in 'cluster_0'; not 1 StringLength: XLA does not support " in done.err
    assert "XLA" not in command("optimize", tmp_path / "in.pb", "-o", tmp_path / "out.pb").err


def test_several_fetches_keep_their_names():
    def build(b):
        x = placeholder(b, "x")
        return b.Neg(b.Abs(x), name="first"), b.Exp(x, name="second")

    result = rewritten(build, CLUSTER)
    assert result.ops() == ["Identity", "Identity", "PartitionedCall", "Placeholder"]


@pytest.mark.parametrize("resource", [False, True])
def test_effects_stay_outside(resource):
    """A read after a write cannot be in the same call as the write."""
    b = tfg.GraphBuilder()
    v = b.variable(np.ones((2, 3), "f"), "v", resource=resource)
    x = placeholder(b, "x")
    b.global_variables_initializer()
    op, read = ("AssignAddVariableOp", "ReadVariableOp") if resource else ("AssignAdd", "Identity")
    attrs = {"dtype": "float32"} if resource else {}
    written = b.apply(op, v.handle, b.Neg(b.Abs(x)), **attrs)
    with b.control_dependencies([written]):
        after_write = b.apply(read, v.handle, **attrs)
    y = b.Exp(b.Neg(after_write), name="y")
    after, _ = optimize(b.graph, ["y:0", "init"], ["x:0"], CLUSTER)
    assert {"Exp", "PartitionedCall"} <= {node.op for node in after}
    sessions = [tfg.Session(graph) for graph in (b.graph, after)]
    for session in sessions:
        session.run("init")
    for _ in range(2):
        results = [session.run(y.name, {"x:0": np.full((2, 3), 0.5, "f")}) for session in sessions]
        np.testing.assert_allclose(*results)
