"""Shapes behind the handles of tensor arrays."""

from __future__ import annotations

import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.inference.inference import infer


@pytest.mark.parametrize(("second", "expected"), [([2, 3], "(2,3)"), ([4, 3], "(?,3)"), ([3], "<unknown>")])
def test_a_read_has_the_shape_that_covers_what_is_written(second, expected) -> None:
    g = GraphBuilder()
    handle, flow = g.TensorArrayV3(2, dtype="float", name="array")
    x = g.Placeholder(dtype="float", shape=[2, 3])
    y = g.Placeholder(dtype="float", shape=second)
    flow = g.TensorArrayWriteV3(handle, 0, x, flow)
    flow = g.TensorArrayWriteV3(handle, 1, y, flow)
    read = g.TensorArrayReadV3(handle, 0, flow, dtype="float")
    assert str(infer(g.graph).shape(read)) == expected


def test_what_is_scattered_loses_the_dimension_that_counts() -> None:
    g = GraphBuilder()
    handle, flow = g.TensorArrayV3(5, dtype="float")
    x = g.Placeholder(dtype="float", shape=[5, 2, 3])
    flow = g.TensorArrayScatterV3(handle, [0, 1, 2, 3, 4], x, flow)
    stacked = g.TensorArrayGatherV3(handle, [1, 2], flow, dtype="float")
    assert str(infer(g.graph).shape(stacked)) == "(2,2,3)"
