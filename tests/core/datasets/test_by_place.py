"""Elements by their places, and cardinalities that functions tell: where TensorFlow's own graphs wait for ever."""

import numpy as np
import pytest

from tests.pipelines import NUMBER, function, int64, numbers, text
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import OutOfRangeError


def test_an_endless_cache_gives_elements_by_place():
    g = GraphBuilder()
    even = function(g, "even", ["int64"], lambda b, x: [b.Equal(b.FloorMod(x, int64(2)), int64(0))])
    kept = g.FilterDataset(numbers(g, 5), [], predicate=even, Targuments=[], **NUMBER)
    cache = g.CacheDataset(g.RepeatDataset(kept, int64(-1), **NUMBER), text(""), **NUMBER)
    g.GetElementAtIndex(cache, g.Placeholder(dtype="int64", shape=(), name="place"), name="element", **NUMBER)
    session = Session(g.graph)
    assert [session.run("element:0", {"place:0": np.int64(i)}) for i in (7, 0, 5, 1)] == [2, 0, 4, 2]


@pytest.mark.parametrize("place", [-4, -1, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_there_are_no_other_places(shuffled, place):
    g = GraphBuilder()
    dataset = numbers(g, 3)
    if shuffled:
        dataset = g.ShuffleDataset(dataset, int64(2), int64(0), int64(0), **NUMBER)
    g.GetElementAtIndex(dataset, int64(place), name="element", **NUMBER)
    with pytest.raises(OutOfRangeError, match=rf"Index out of range \[0, 3\):{place}"):
        Session(g.graph).run("element:0")


def test_a_cardinality_that_functions_tell():
    g = GraphBuilder()
    inner = function(g, "inner", ["int64"], lambda b, x: [b.RangeDataset(int64(0), x, int64(1), **NUMBER)])
    flat = g.FlatMapDataset(numbers(g, 4), [], f=inner, Targuments=[], **NUMBER)
    g.DatasetCardinality(flat, cardinality_options=b"\x08\x02", name="count")
    assert Session(g.graph).run("count:0") == 0 + 1 + 2 + 3
