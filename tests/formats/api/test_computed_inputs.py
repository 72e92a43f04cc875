"""Signatures that feed tensors which the graph computes: counts, views and models begin there, rewrites keep the tensors."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg import Graph, GraphBuilder
from tfg.core.graph.metagraph import MetaGraph, Signature, SignatureTensor
from tfg.core.types.dtypes import float32, string
from tfg.core.types.shapes import Shape

FED = {"a": np.float32([[1, 2]]), "b": np.float32([[10, 20]])}
EXPECTED = [[31.0, 62.0]]  # a + 3 b


@pytest.fixture
def graph() -> Graph:
    """A model that parses texts, with a signature that begins behind the parser."""
    g = GraphBuilder()
    rows = g.Placeholder(dtype=string, shape=[None, 4], name="rows")
    number = g.Identity(g.StringToNumber(rows, name="parse"), name="number")
    left, right = g.Split(1, number, num_split=2, name="halves")
    tripled = g.Mul(right, 3.0, name="tripled")
    g.AddV2(left, tripled, name="y")
    half, texts = Shape((None, 2)), Shape((None, 4))
    outputs = {"y": SignatureTensor("y:0", float32, half)}
    begins = {
        "serving_default": {name: SignatureTensor(f"halves:{i}", float32, half) for i, name in enumerate("ab")},
        "whole": {"number": SignatureTensor("number:0", float32, texts)},
        "texts": {"rows": SignatureTensor("rows:0", string, texts)},
    }
    g.graph.meta = MetaGraph(signatures={name: Signature(name, inputs, outputs) for name, inputs in begins.items()})
    return g.graph


def test_a_count_begins_at_the_inputs(graph):
    report = tfg.flops(graph)
    assert str(report.total().flops) == "4*N"
    # Fetched by its name, the output is what the whole graph computes.
    assert {node.op for node in tfg.flops(graph, "y").nodes} > {"StringToNumber", "Split"}
    assert {node.op for node in report.nodes}.isdisjoint({"StringToNumber", "Split"})
    assert [layer.name for layer in tfg.layers(graph).layers] == ["tripled", "y"]


def test_measured_runs_draw_the_inputs(graph):
    assert "a" not in graph
    measured = tfg.profile(graph)
    assert {node.op for node in measured.nodes} <= {"Placeholder", "Const", "Mul", "AddV2"}


def test_a_view_has_the_stated_shapes(graph):
    view = tfg.model_view(graph).graph
    assert {node.name: str(node.attrs["shape"]) for node in view if node.op == "Placeholder"} == {"a": "(?,2)", "b": "(?,2)"}


def test_a_frozen_graph_has_placeholders_in_place_of_the_inputs(graph):
    frozen = tfg.freeze(graph)
    placeholders = [node.name for node in frozen if node.op == "Placeholder"]
    assert len(placeholders) == 2 and "rows" not in frozen
    feeds = dict(zip(sorted(placeholders), FED.values()))
    assert tfg.Session(frozen).run("y:0", feeds).tolist() == EXPECTED


def test_an_optimized_graph_serves_every_signature(graph):
    optimized = tfg.optimize(graph).graph
    whole = np.float32([[1, 2, 10, 20]])
    for name, feeds in {"serving_default": FED, "whole": {"number": whole}, "texts": {"rows": whole.astype(str)}}.items():
        assert tfg.Model(optimized, signature=name)(**feeds)["y"].tolist() == EXPECTED, name


def test_an_onnx_model_takes_the_inputs(graph, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    tfg.convert(graph, tmp_path / "m.onnx")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    assert sorted(each.name for each in session.get_inputs()) == ["a", "b"]
    assert session.run(None, FED)[0].tolist() == EXPECTED
