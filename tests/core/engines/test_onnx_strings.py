"""Strings in ONNX models: pieces of strings, and bytes that are no text. Skipped where onnxruntime is not installed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.onnx.exporting import export  # noqa: E402
from tfg.core.support.errors import UnimplementedError  # noqa: E402
from tfg.formats.onnx_model import run_onnx, save_onnx  # noqa: E402


def exported(builder, inputs, outputs):
    graph = builder.graph
    return export(graph, {name: graph.output(name) for name in inputs}, {name: graph.output(name) for name in outputs})


def test_constants_that_are_no_text_are_refused(tmp_path):
    b = GraphBuilder()
    bytes_ = b.constant(np.array(b"\xff", object), name="c")
    b.StringJoin([b.Placeholder(dtype="string", shape=[], name="x"), bytes_], name="y")
    with pytest.raises(UnimplementedError) as refusal:
        save_onnx(exported(b, ["x"], ["y"]), tmp_path / "m.onnx")
    assert any("UTF-8" in line for line in refusal.value.details)


def test_constants_of_text_are_not_refused(tmp_path):
    b = GraphBuilder()
    text = np.array("ä".encode(), object)
    b.StringJoin([b.Placeholder(dtype="string", shape=[], name="x"), b.constant(text, name="c")], name="y")
    save_onnx(exported(b, ["x"], ["y"]), tmp_path / "m.onnx")
    assert run_onnx(tmp_path / "m.onnx", {"x": np.array(b"1", object)})[0].item() == "1ä".encode()


def test_pieces_without_the_empty_pieces(tmp_path):
    b = GraphBuilder()
    b.StringSplit(
        b.Placeholder(dtype="string", shape=[None], name="x"), b.constant(np.array(b",", object)), skip_empty=True, name="y"
    )
    save_onnx(exported(b, ["x"], ["y:0", "y:1", "y:2"]), tmp_path / "m.onnx")
    places, pieces, shape = run_onnx(tmp_path / "m.onnx", {"x": np.array([b",a,,b", b"", b"c"], object)})
    assert (places.tolist(), pieces.tolist()) == ([[0, 0], [0, 1], [2, 0]], [b"a", b"b", b"c"])
    assert shape.tolist() == [3, 2]


@pytest.mark.parametrize(("delimiter", "reason"), [(b", ", "one delimiter"), (b"", "one delimiter")])
def test_splits_that_onnx_lacks_are_refused(delimiter, reason):
    b = GraphBuilder()
    b.StringSplit(b.Placeholder(dtype="string", shape=[None], name="x"), b.constant(np.array(delimiter, object)), name="y")
    with pytest.raises(UnimplementedError) as refusal:
        exported(b, ["x"], ["y:1"])
    assert any(reason in line for line in refusal.value.details)
