"""A pass begun later returns the rest of a full pass; skipped elements are not computed."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.drawn_pipelines import pipelines
from tests.pipelines import NUMBER, function, int64, numbers, slices
from tfg.core.building.builder import GraphBuilder
from tfg.core.datasets.iterators import IteratorState
from tfg.core.graph.graph import Graph
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import OutOfRangeError, TfgError
from tfg.core.types.arrays import object_array

MANY = 2**40


def with_states(graph: Graph) -> Graph:
    g = GraphBuilder(graph)
    handle = graph.node("start").inputs[1]
    g.SerializeIterator(handle, name="keep")
    g.DeserializeIterator(handle, g.Placeholder(dtype="variant", shape=(1,), name="kept"), name="back")
    return graph


def outcome(session: Session) -> object:
    try:
        return np.asarray(session.run("next:0")).tolist()
    except OutOfRangeError:
        return "end"
    except TfgError as error:
        return type(error).__name__


@pytest.mark.slow
@settings(max_examples=75, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=pipelines(), count=st.integers(0, 20))
def test_a_restored_iterator_goes_on_as_the_kept_one(graph, count):
    session = Session(with_states(graph), seed=3)
    session.run("start")
    for _ in range(count):
        outcome(session)
    state = session.run("keep:0")
    left = [outcome(session) for _ in range(8)]
    session.run("start")
    session.run("back", {"kept:0": state})
    assert [outcome(session) for _ in range(8)] == left


def jumping(make):
    """Return a session with an iterator over the dataset of `make`."""
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(make(g), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    return Session(with_states(g.graph))


def squares(g, data, op="MapDataset"):
    square = function(g, "square", ["int64"], lambda b, x: [b.Mul(x, x)])
    calls = [int64(2)] if op.startswith("Parallel") else []
    return getattr(g, op)(data, [], *calls, f=square, Targuments=[], preserve_cardinality=True, **NUMBER)


def sums_of_pairs(g):
    both = g.ZipDataset([numbers(g, MANY), numbers(g, 10, MANY)], output_types=["int64"] * 2, output_shapes=[(), ()])
    add = function(g, "add", ["int64", "int64"], lambda b, x, y: [b.AddV2(x, y)])
    return g.MapDataset(both, [], f=add, Targuments=[], preserve_cardinality=True, **NUMBER)


def sums_of_batches(g, op="BatchDatasetV2"):
    three = {"output_types": ["int64"], "output_shapes": [(None,)]}
    if op == "BatchDatasetV2":
        data = g.BatchDatasetV2(numbers(g, MANY), int64(3), np.array(True), **three)
    else:
        shape, padding = g.constant(np.array([], np.int64)), [g.constant(int64(0))]
        data = g.PaddedBatchDatasetV2(
            numbers(g, MANY), int64(3), [shape], padding, np.array(True), Toutput_types=["int64"], output_shapes=[(None,)]
        )
    total = function(g, "total", ["int64"], lambda b, x: [b.Sum(x, np.int32([0]))])
    return g.MapDataset(data, [], f=total, Targuments=[], preserve_cardinality=True, **NUMBER)


JUMPS = {
    "zip": (sums_of_pairs, lambda i: 2 * i + 10),
    "batch": (sums_of_batches, lambda i: 9 * i + 3),
    "padded batch": (lambda g: sums_of_batches(g, "PaddedBatchDatasetV2"), lambda i: 9 * i + 3),
    "range": (lambda g: numbers(g, MANY), lambda i: i),
    "map": (lambda g: squares(g, numbers(g, MANY)), lambda i: i * i),
    "parallel map": (lambda g: squares(g, numbers(g, MANY), "ParallelMapDatasetV2"), lambda i: i * i),
    "repeat": (lambda g: g.RepeatDataset(slices(g, np.arange(7)), int64(-1), **NUMBER), lambda i: i % 7),
    "shard": (lambda g: g.ShardDataset(numbers(g, MANY), int64(3), int64(1), **NUMBER), lambda i: 3 * i + 1),
    "skip, take": (
        lambda g: g.TakeDataset(g.SkipDataset(numbers(g, MANY), int64(5), **NUMBER), int64(MANY // 2), **NUMBER),
        lambda i: i + 5,
    ),
    "concatenate": (
        lambda g: g.ConcatenateDataset(numbers(g, 3), g.PrefetchDataset(numbers(g, MANY), int64(1), **NUMBER), **NUMBER),
        lambda i: i - 3,
    ),
}


@pytest.mark.parametrize("name", JUMPS)
def test_what_has_places_is_jumped_over(name):
    make, element = JUMPS[name]
    session, count = jumping(make), 10**8
    session.run("start")
    session.run("back", {"kept:0": object_array([IteratorState(count, ()).stored()], (1,))})
    assert [int(session.run("next:0")) for _ in range(3)] == [element(count + i) for i in range(3)]
