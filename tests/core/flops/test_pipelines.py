"""What the functions of a pipeline cost for each element: apart from what the fetches run."""

import numpy as np
import pytest

from tests.pipelines import elements, function, int64, slices
from tfg.core.building.builder import GraphBuilder
from tfg.core.flops import count_flops

ROW, ROWS = elements(("float32", (3,))), elements(("float32", (None, 3)))


def doubled_and_scaled(g):
    """Adds 3 numbers for each row, then multiplies each batch of two rows by a matrix of 3 x 3."""
    double = function(g, "double", ["float32"], lambda b, x: [b.AddV2(x, x)])
    scale = function(g, "scale", ["float32", "float32"], lambda b, x, w: [b.MatMul(x, w)])
    full = elements(("float32", (2, 3)))
    data = g.MapDataset(slices(g, np.ones((4, 3), np.float32)), [], f=double, Targuments=[], **ROW)
    data = g.BatchDatasetV2(data, int64(2), np.array(True), **full)
    factor = g.constant(np.ones((3, 3), np.float32))
    return g.MapDataset(data, [factor], f=scale, Targuments=["float32"], **full)


def initializable():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **ROWS)
    g.MakeIterator(doubled_and_scaled(g), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **ROWS)
    g.Neg(g.graph.node("next").output(), name="y")
    return g.graph


def one_shot():
    g = GraphBuilder()
    made = function(g, "made", [], lambda b: [slices(b, np.ones((4, 3), np.float32))], stateful=True)
    iterator = g.OneShotIterator(dataset_factory=made, shared_name="", container="", **ROW)
    g.IteratorGetNext(iterator, name="next", **ROW)
    return g.graph


@pytest.mark.parametrize("fetch", ["y", "next:0"])
def test_functions_are_counted_for_each_element(fetch):
    report = count_flops(initializable(), [fetch])
    results = [(part.dataset, part.function, part.cost.flops) for part in report.pipeline]
    assert results == [("MapDataset", "double", 3), ("MapDataset_1", "scale", 2 * 2 * 3 * 3)]
    assert [node.path for node in report.nodes if "double" in node.path or "MapDataset" in node.path] == []


def test_a_number_for_a_symbol_leaves_the_pipeline_in_the_report():
    report = count_flops(initializable(), ["y"])
    counted = report.substituted({"n[next]": 2})
    assert report.total().flops != counted.total().flops == 2 * 3
    assert counted.pipeline == report.pipeline != ()


def test_a_feed_in_the_pipelines_place_costs_nothing():
    assert count_flops(initializable(), ["y"], ["next:0"]).pipeline == ()


def test_a_pipeline_without_functions_costs_nothing():
    assert count_flops(one_shot(), ["next:0"]).pipeline == ()
