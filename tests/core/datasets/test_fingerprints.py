"""Fingerprints of datasets: equal for equal pipelines, with any names of functions and nodes."""

import pytest

from tests.pipelines import NUMBER, function, int64, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import NotFoundError
from tfg.core.types.tensors import FuncRef


def mapped(g, name, factor, size=5):
    made = function(g, name, ["int64"], lambda b, x: [b.Mul(x, int64(factor))])
    return g.MapDataset(numbers(g, size), [], f=made, Targuments=[], **NUMBER)


@pytest.mark.parametrize(
    "name, factor, size, same", [("one", 3, 5, True), ("other", 3, 5, True), ("other", 4, 5, False), ("other", 3, 6, False)]
)
def test_fingerprints(name, factor, size, same):
    g = GraphBuilder()
    g.DatasetFingerprint(mapped(g, "one", 3), name="first")
    g.DatasetFingerprint(mapped(g, name, factor, size), name="second")
    first, second = Session(g.graph).run(["first:0", "second:0"])
    assert first.dtype == "uint64"
    assert (first == second) == same


@pytest.mark.parametrize("op", ["DatasetFingerprint", "DatasetToGraphV2"])
def test_a_dataset_whose_function_is_missing(op):
    g = GraphBuilder()
    dataset = mapped(g, "one", 3)
    dataset.node.set_attr("f", FuncRef("gone"))
    g.add(op, [dataset], {}, "op")
    with pytest.raises(NotFoundError, match="'gone'"):
        Session(g.graph).run(["op:0"])
