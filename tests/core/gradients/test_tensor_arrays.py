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


@pytest.mark.parametrize("order", [1, 2, 3])
def test_arrays_of_gradients_have_gradients(order: int) -> None:
    """Of the fourth power, through an array that is written and read; TensorFlow refuses from the second order on."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="double", shape=[2], name="x")
    handle, flow = b.TensorArrayV3(2, dtype="double", clear_after_read=False)
    for i, element in enumerate(b.Unpack(x, num=2, axis=0)):
        flow = b.TensorArrayWriteV3(handle, i, element, flow)
    values = b.TensorArrayGatherV3(handle, [0, 1], flow, dtype="double")
    b.Square(b.Square(values), name="y")
    graph, tensor = b.graph, "y:0"
    for sweep in range(order):
        graph, (tensor,) = gradients(graph, tensor, "x:0", name=f"sweep_{sweep}")
    at = np.array([0.7, 1.2])
    expected = {1: 4 * at**3, 2: 12 * at**2, 3: 24 * at}[order]
    np.testing.assert_allclose(tfg.Session(graph).run(tensor, {"x:0": at}), expected)
