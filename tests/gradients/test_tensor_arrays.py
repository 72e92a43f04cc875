"""Gradients of TensorArrays: each computation has arrays of gradients of its own."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients


@pytest.mark.parametrize("names", [("gradients", "gradients"), ("one", "two"), ("gradients", "other")])
def test_computations_share_no_array(names: tuple[str, str]) -> None:
    """The derivative of x² both times, in one run."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[3], name="x")
    handle, flow = b.TensorArrayV3(3, dtype="float", clear_after_read=False)
    flow = b.TensorArrayScatterV3(handle, [0, 1, 2], x, flow)
    b.Square(b.TensorArrayGatherV3(handle, [0, 1, 2], flow, dtype="float"), name="y")
    graph, first = gradients(b.graph, "y:0", "x:0", name=names[0])
    graph, second = gradients(graph, "y:0", "x:0", name=names[1])
    for grad in tfg.Session(graph).run([*first, *second], {"x:0": np.float32([1, 2, 3])}):
        np.testing.assert_array_equal(grad, [2, 4, 6])
