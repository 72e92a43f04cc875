"""The passes of a training step are told apart wherever it stands; what a variable's gradient costs is its own."""

from __future__ import annotations

import numpy as np

from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tfg import GraphBuilder
from tfg.core.flops import count_flops


def step(b, x, w):
    """A product, its gradient as a tape names it, and a step down it."""
    read = b.ReadVariableOp(w, dtype="float")
    b.MatMul(x, read, name="product")
    gradient = b.MatMul(x, x, transpose_a=True, name="gradient_tape/product/MatMul")
    scaled = b.Mul(gradient, b.constant(np.float32(0.1)), name="scaled")
    update = b.AssignSubVariableOp(w, scaled, name="update")
    with b.control_dependencies([update]):
        return [b.Sum(b.graph.output("product:0"), b.constant(np.int32([0, 1])), name="loss")]


def test_a_training_step_in_a_function_is_divided():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[4, 3], name="x")
    w = g.variable(np.zeros((3, 3), np.float32), name="w", resource=True)
    define(g, "step", ["float", "resource"], step)
    g.StatefulPartitionedCall([x, w.handle], Tout=["float"], f="step", name="call")
    sections = count_flops(g.graph, ["call:0"]).sections()
    assert sections["forward"].flops == 2 * 4 * 3 * 3 + 12 - 1
    assert sections["backward"].flops == 2 * 4 * 3 * 3
    assert sections["update"].flops == 9 + 9


def test_gradients_that_tensorflow_built_cost_each_variable_what_it_alone_needs():
    """Four rows through 2 x 8 and 8 x 1: products of 2 m n k each, sums over the batch of (4 - 1) a bias."""
    report = run("flops", SAMPLES / "xor.pbtxt", "--fetch", "loss", "--per-variable", "--batch", "4", "--format", "json").json
    own = {costs["variable"]: costs["own"]["flops"] for costs in report["variables"]}
    assert own == {"hidden/kernel": 128, "output/kernel": 64, "hidden/bias": 24, "output/bias": 3}


def test_the_loss_of_a_train_op_is_found(tmp_path):
    """A fetch without a value has the backward pass that the graph's own updates go by."""
    by_loss, by_train = (
        run("flops", SAMPLES / "xor.pbtxt", "--fetch", name, "--per-variable", "--batch", "4", "--format", "json").json
        for name in ("loss", "train")
    )
    assert by_train == by_loss and by_train
    (tmp_path / "none.pbtxt").write_text('node { name: "none" op: "NoOp" }')
    done = run("flops", tmp_path / "none.pbtxt", "--fetch", "none", "--backward")
    assert done.code == 1 and "--loss" in done.err
