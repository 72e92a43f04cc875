"""Ops that TensorFlow 2 lacks: their origin, and remedies."""

from __future__ import annotations

import pytest

from tests.cli.running import tfg
from tests.functions import define
from tfg import GraphBuilder
from tfg.core.graph.foreign_ops import foreign, removed_ops
from tfg.core.graph.graph import Graph
from tfg.core.registry.catalog import CATALOG
from tfg.core.types import dtypes
from tfg.core.types.tensors import FuncRef
from tfg.formats import save

ENGINE = {"InT": [dtypes.float32], "OutT": [dtypes.float32]}


FORMS = {
    "TensorFlow 2": ("segment", {"segment_func": FuncRef("segment")}),
    "TensorFlow 1": ("segment", {"segment_funcdef_name": b"segment", "serialized_segment": bytes(10_000)}),
    "by its own name": ("engine_native_segment", {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_function_that_holds_the_nodes_of_an_engine_is_named_and_called(form, tmp_path):
    name, attrs = FORMS[form]
    g = GraphBuilder()
    x = g.Placeholder(dtype=dtypes.float32, shape=[2], name="x")
    define(g, name, ["float"], lambda b, v: [b.AddV2(v, v)])
    node = g.graph.add_node("engine", "TRTEngineOp", [x], attrs=ENGINE | attrs)
    g.graph.add_node("y", "Neg", [node.output()], attrs={"T": dtypes.float32})
    path = tmp_path / "g.pb"
    save(g.graph, path)
    assert f"function '{name}' holds the original nodes of 'engine'" in tfg("check", path).out
    assert f"function '{name}' holds the original nodes of 'engine'" in tfg("explain", path, "--missing").out
    assert f"Function '{name}' holds its original nodes." in tfg("explain", path, "engine").out
    done = tfg("run", path, "--map-op", "TRTEngineOp=PartitionedCall", "--fetch", "y", "--feed", "x=[1,2]")
    assert "[-2., -4.]" in done.out, done.err


@pytest.mark.parametrize(("op", "package"), [
    ("GatherTree", "tf.contrib.seq2seq"),
    ("Resampler", "tf.contrib.resampler"),
    ("ImageProjectiveTransform", "tf.contrib.image"),
    ("Rpc", "tf.contrib.rpc"),
    ("XRTExecute", "tensorflow/compiler/xrt"),
])  # fmt: skip
def test_the_package_of_an_op_that_was_removed_is_named(op, package, tmp_path):
    graph = Graph()
    graph.add_node("n", op)
    save(graph, tmp_path / "g.pb")
    words = f"an op of {package}, last available in TensorFlow 1.15"
    for command in (("check",), ("explain", "--missing"), ("ops", "--missing")):
        assert words in tfg(*command, tmp_path / "g.pb").out, command
    assert words in tfg("explain", tmp_path / "g.pb", "n").out
    refused = tfg("run", tmp_path / "g.pb", "--target", "n")
    assert words in refused.err and "--op-library" in refused.err and "tfg convert --from" in refused.err
    if op == "GatherTree":  # others are patterns that match ops of TensorFlow 2
        assert words in tfg("ops", op).err


def test_no_op_that_there_is_counts_as_removed():
    assert not [op for op in removed_ops() if op in CATALOG]
    assert foreign("Addons>Resampler")[0] == "an op of the package tensorflow-addons"
