"""Crops of images without channels."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder, Session


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops_of_no_channels_are_empty(method):
    b = GraphBuilder()
    image = b.Placeholder(dtype="float32", shape=None, name="x")
    boxes, indices, size = np.zeros((4, 4), np.float32), np.zeros(4, np.int32), np.int32([3, 4])
    b.CropAndResize(image, boxes, indices, size, method=method, name="y")
    assert Session(b.graph).run("y:0", {"x:0": np.zeros((1, 1, 1, 0), np.float32)}).shape == (4, 3, 4, 0)
