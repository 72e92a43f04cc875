"""Lists with elements of varying size: TensorFlow's results in onnxruntime or a refusal, never other results."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import tfg
from tfg.core.onnx.exporting import export
from tfg.core.support.errors import UnimplementedError
from tfg.formats.onnx_model import run_onnx, save_onnx

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

with np.load(pathlib.Path(__file__).with_name("lists.npz")) as archive:
    RECORDED = {name: archive[name] for name in archive.files}
PROGRAMS = sorted(name.removesuffix("/graph") for name in RECORDED if name.endswith("/graph"))
REFUSED = ("uneven", "growing", "branching")
"""Loops that write elements of a different size in each iteration."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_elements_of_unequal_sizes(program, tmp_path):
    name = program.partition("/")[0]
    graph = tfg.load(RECORDED[f"{program}/graph"].tobytes())
    *inputs, output = RECORDED[f"{program}/names"].tolist()
    if name in REFUSED:
        with pytest.raises(UnimplementedError, match="the elements of a list may differ in size"):
            export(graph, {word: graph.output(word) for word in inputs}, {"y": graph.output(output)})
        return
    model = export(graph, {word: graph.output(word) for word in inputs}, {"y": graph.output(output)})
    save_onnx(model, str(tmp_path / "model.onnx"))
    for i in range(2):
        feeds = {word: RECORDED[f"{name}/{i}/{j}"] for j, word in enumerate(inputs)}
        (result,) = run_onnx(str(tmp_path / "model.onnx"), feeds)
        np.testing.assert_allclose(result, RECORDED[f"{name}/{i}"], rtol=1e-6)
