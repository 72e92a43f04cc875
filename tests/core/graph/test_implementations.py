"""Functions that implement the same interface for several devices: the CPU function runs, as in TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cases.implementations import WAYS, call, implementations, loop
from tests.functions import define
from tfg.core.explaining.footprint import peak_memory
from tfg.core.explaining.node_facts import Explainer
from tfg.core.flops.count import count_flops
from tfg.core.graph.instantiation import implementation
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import inline_functions, optimize
from tfg.core.transforms.freezing import freeze
from tfg.core.types.tensors import Tensor
from tfg.formats import load, to_bytes

X = {"x:0": np.float32(0)}


def built(way=call):
    """Return the graph of a call of `f0`, for any device; `f1` is for GPUs, and `f2`, which adds 3, for CPUs."""
    g = tfg.GraphBuilder()
    implementations(g, None, "GPU", "CPU")
    g.Identity(way(g, g.Placeholder(dtype="float32", shape=[], name="x")), name="y")
    return g.graph


@pytest.mark.parametrize("way", WAYS)
def test_every_capability_sees_the_function_that_runs(way):
    graph = load(to_bytes(built(way)))
    expected = tfg.Session(graph).run("y:0", X)
    assert expected == (6 if way is loop else 3)
    for changed in (
        optimize(graph, ["y:0"], ["x:0"])[0],
        optimize(graph, ["y:0"], ["x:0"], "prune")[0],
        optimize(graph, ["y:0"], ["x:0"], "inline,prune")[0],
        optimize(graph, ["y:0"], ["x:0"], "specialize,prune")[0],
        inline_functions(graph)[0],
        freeze(graph, {}, ["y:0"]),
    ):
        assert tfg.Session(load(to_bytes(changed))).run("y:0", X) == expected


def test_flops_are_those_of_the_function_that_runs():
    graph = built()
    graph.functions["f2"].body.node("AddV2").change_op("Sub")
    before = count_flops(graph, ["y:0"])
    assert [cost.op for cost in before.nodes if cost.cost.flops] == ["Sub"]


def test_explain_names_the_function_that_runs():
    assert "On a CPU, f2 replaces f0" in Explainer(built()).explain("PartitionedCall").role


def test_a_handle_goes_to_the_implementation_that_runs():
    """Freezing copies the running function; the copy implements no interface."""
    g = tfg.GraphBuilder()
    v = g.variable(np.float32(5), "v", resource=True)
    for name, make in (("any", g.Neg), ("cpu", g.Square)):
        op = make(g.constant(0.0)).node.op
        define(g, name, ["resource"], lambda b, handle, op=op: [b.apply(op, b.ReadVariableOp(handle, dtype="float32"))])
        g.graph.functions[name].attrs = {"api_implements": b"read", "api_preferred_device": name.upper().encode()}
    call(g, v.handle, "any", name="y")
    frozen = freeze(g.graph, {"v": Tensor.from_numpy(np.float32(5))}, ["y:0"])
    assert tfg.Session(frozen).run("y:0") == 25


def test_memory_is_that_of_the_function_that_runs():
    """The function for CPUs makes 1,000 elements of 4 bytes on the way to its sum; the one that the call names makes none."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[])
    define(g, "any", ["float32"], lambda b, x: [b.Neg(x)])
    define(g, "cpu", ["float32"], lambda b, x: [b.Sum(b.Fill(b.constant([1000]), x), b.constant(0))])
    for name in ("any", "cpu"):
        g.graph.functions[name].attrs = {"api_implements": b"f", "api_preferred_device": name.upper().encode()}
    call(g, x, "any", name="y")
    assert peak_memory(g.graph, ["y:0"], infer(g.graph)).bytes >= 4_000


def forward_and_backward(kept):
    """Return a library whose forward functions of an interface keep `kept[i]` values for the backward functions."""
    g = tfg.GraphBuilder()
    for device, count in zip((None, "CPU"), kept):
        name = f"forward_{device}"
        define(g, name, ["float32"], lambda b, x, count=count: [x] * (1 + count))
        g.graph.functions[name].attrs = {
            "api_implements": b"i", "backward_function_name": b"b", **({"api_preferred_device": b"CPU"} if device else {}),
        }  # fmt: skip
    return g.graph.functions


@pytest.mark.parametrize(("kept", "runs"), [((2, 2), "forward_CPU"), ((1, 2), "forward_None")])
def test_forward_functions_change_where_they_keep_the_same(kept, runs):
    assert implementation(forward_and_backward(kept), "forward_None") == runs
