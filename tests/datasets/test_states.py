"""Random numbers in functions of datasets: each iterator draws them from the beginning, as in TensorFlow."""

import numpy as np

from tests.pipelines import elements, function, int64, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session import Session

REAL = elements(("float32", ()))


def test_each_iterator_draws_the_same_numbers():
    g = GraphBuilder()

    def drawn(b, x):
        return [b.RandomUniform(np.int32([]), dtype="float32", seed=3, seed2=4)]

    made = function(g, "drawn", ["int64"], drawn, stateful=True)
    mapped = g.MapDataset(numbers(g, 3), [], f=made, Targuments=[], **REAL)
    iterator = g.IteratorV2(shared_name="", container="", **REAL)
    g.MakeIterator(g.RepeatDataset(mapped, int64(2), **REAL), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **REAL)
    session = Session(g.graph)
    session.run("start")
    found = [float(session.run("next:0")) for _ in range(6)]
    assert len(set(found)) == 6
    session.run("start")
    assert [float(session.run("next:0")) for _ in range(6)] == found
