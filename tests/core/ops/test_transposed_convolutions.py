"""Transposed convolutions in ONNX whose sizes only the run knows, as in networks for images of any size."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg import GraphBuilder

# Padding, stride, filter and size, and TensorFlow's result for the rows 1, 2, 3 and the filter 1, 2 ...
CASES = [
    ("SAME", 2, 3, 5, [2, 5, 4, 9, 6]),
    ("SAME", 2, 4, 6, [2, 5, 8, 9, 14, 9]),
    ("SAME", 3, 2, 7, [1, 2, 0, 2, 4, 0, 3]),
    ("VALID", 2, 3, 8, [1, 2, 5, 4, 9, 6, 9, 0]),
    ("EXPLICIT", 2, 3, 5, [2, 5, 4, 9, 6]),
]


@pytest.mark.engine
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("padding, stride, width, size, expected", CASES)
def test_sizes_that_the_run_computes(tmp_path, padding, stride, width, size, expected, count):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[None, None, None, 1], name="x")
    rows = b.Placeholder(dtype="int32", shape=[], name="rows")
    sizes = b.Pack([b.StridedSlice(b.Shape(x), [0], [1], [1], shrink_axis_mask=1), rows, np.int32(1), np.int32(1)])
    # The vector may hold the rows and columns alone.
    sizes = b.Pack([rows, np.int32(1)]) if count == 2 else sizes
    pads = [0, 0, 1, 1, 0, 0, 0, 0] if padding == "EXPLICIT" else []
    kernel = np.arange(1, width + 1, dtype=np.float32).reshape(width, 1, 1, 1)
    b.Conv2DBackpropInput(sizes, kernel, x, strides=[1, stride, 1, 1], padding=padding, explicit_paddings=pads, name="y")
    tfg.convert(b.graph, tmp_path / "y.onnx", outputs="y:0")
    image = np.float32([1, 2, 3]).reshape(1, 3, 1, 1)
    (result,) = onnxruntime.InferenceSession(tmp_path / "y.onnx").run(None, {"x": image, "rows": np.array(size, np.int32)})
    assert result.reshape(-1).tolist() == expected and result.shape == (1, size, 1, 1)
