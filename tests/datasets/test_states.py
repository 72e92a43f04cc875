"""States of iterators: random numbers of their functions begin anew, what was serialized goes on where it stood."""

import numpy as np
import pytest

from tests.pipelines import NUMBER, elements, function, int64, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.errors import InvalidArgumentError
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


@pytest.mark.parametrize("renewed", [False, True])
def test_an_iterator_goes_on_where_its_state_was_kept(renewed):
    g = GraphBuilder()
    options = {"reshuffle_each_iteration": renewed}
    made = g.ShuffleDataset(numbers(g, 8), int64(8), int64(1), int64(2), **options, **NUMBER)
    made = g.RepeatDataset(made, int64(2), **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(made, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    g.SerializeIterator(iterator, name="keep")
    g.DeserializeIterator(iterator, g.Placeholder(dtype="variant", shape=(), name="kept"), name="back")
    session = Session(g.graph)
    session.run("start")
    before = [int(session.run("next:0")) for _ in range(5)]
    state = session.run("keep:0")
    after = [int(session.run("next:0")) for _ in range(11)]
    assert sorted(before + after) == sorted([*range(8)] * 2)
    session.run("start")
    session.run("back", {"kept:0": state})
    assert [int(session.run("next:0")) for _ in range(11)] == after


def test_what_is_no_state_is_refused():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(numbers(g, 8), iterator, name="start")
    g.DeserializeIterator(iterator, numbers(g, 3), name="back")
    session = Session(g.graph)
    session.run("start")
    with pytest.raises(InvalidArgumentError, match="state of an iterator"):
        session.run("back")
