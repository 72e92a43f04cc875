"""Input pipelines in `tfg run`: started by --init, a step per element, ended after the last element."""

import numpy as np
import pytest

from tests.cli.running import tfg
from tests.pipelines import NUMBER, function, int64, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.runner import Orders, Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, OutOfRangeError
from tfg.formats import to_bytes


def pipeline(size):
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(numbers(g, size), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return g.graph


def looking_up(g, name="filled"):
    """Return a pipeline with lookups in a table that a node fills."""
    table = g.HashTableV2(key_dtype="int64", value_dtype="int64", shared_name="", container="", use_node_name_sharing=True)
    g.LookupTableImportV2(table, np.arange(3), np.int64([5, 7, 9]), name=name)
    result = function(g, "found", ["int64", "resource"], lambda b, x, t: [b.LookupTableFindV2(t, x, int64(-1))], stateful=True)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(g.MapDataset(numbers(g, 4), [table], f=result, Targuments=["resource"], **NUMBER), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return table


def test_tables_are_filled_before_iterators_begin():
    g = GraphBuilder()
    looking_up(g)
    runner = Runner(Session(g.graph))
    assert runner.initialize() == ("filled", "start")
    assert [int(runner.session.run("next:0")) for _ in range(4)] == [5, 7, 9, -1]


def test_tables_that_the_initializer_fills_or_a_value_is_fed_to_are_left_to_it():
    g = GraphBuilder()
    table = looking_up(g)
    fed = g.Placeholder(dtype="int64", shape=(3,), name="fed")
    g.LookupTableImportV2(table, fed, fed, name="of_fed")
    with g.control_dependencies([g.graph.node("filled")]):
        g.NoOp(name="init")
    assert Runner(Session(g.graph)).initialize() == ("init", "start")


def test_steps_end_with_the_elements(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(to_bytes(pipeline(3)))
    done = tfg("run", path, "--init", "--fetch", "next:0", "--steps", "epoch", "--format", "json")
    assert [step["values"][0]["value"] for step in done.json["steps"]] == [0, 1, 2]
    assert "'next' has no more elements after 3 steps" in done.err


@pytest.mark.parametrize("steps", [2, 3])
def test_steps_that_are_counted_end_too(steps):
    runner = Runner(Session(pipeline(2)))
    assert runner.initialize() == ("start",)
    outcome = [result.step for result in runner.steps(Orders({"x": "next:0"}, {}, steps=steps))]
    assert outcome == [1, 2]
    assert runner.exhausted == ("next" if steps > 2 else None)


def test_a_pipeline_without_elements_is_an_error():
    runner = Runner(Session(pipeline(0)))
    runner.initialize()
    with pytest.raises(OutOfRangeError, match="End of sequence"):
        list(runner.steps(Orders({"x": "next:0"}, {}, steps=None)))


def test_steps_of_an_epoch_need_an_iterator():
    g = GraphBuilder(pipeline(2))
    g.Square(g.constant(3.0), name="constant")
    with pytest.raises(InvalidArgumentError, match="no iterator gives elements to constant:0"):
        next(Runner(Session(g.graph)).steps(Orders({"x": "constant:0"}, {}, steps=None)))


def test_an_iterator_that_two_nodes_begin_is_left_to_the_user():
    graph = pipeline(2)
    g = GraphBuilder(graph)
    g.MakeIterator(numbers(g, 5), graph.node("IteratorV2").output(), name="other")
    g.Placeholder(dtype="int64", shape=(), name="fed")
    runner = Runner(Session(graph))
    assert runner.initialize("other") == ("other",)
    assert np.asarray(runner.session.run("next:0")) == int64(0)
